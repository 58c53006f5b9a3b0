"""Comparison of many ways to explore one system."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from unittest.mock import patch

from attrs import astuple, define, evolve, frozen

from antecede import properties as package
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import system_of
from antecede.checker.engine.threads import expansion
from antecede.checker.model import Message, Protocol, Step, What, When
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.judge import looks_at_message
from antecede.checker.semantics.ordering import ORDERINGS
from antecede.protocols.unordered import UNORDERED
from tests.campaigns.draw import SAFETY, Case
from tests.campaigns.emptiness import can_be_violated
from tests.campaigns.user_properties import REGISTRY, USER
from tests.engine.spark.common import without_cluster
from tests.models import naive_counts
from tests.naive import CHANNELS, Crashes

HISTORIES = ("knowledge", "clocks", "full")
SMALL, LARGE = 350, 10_000
"""States up to which the plain engine is the reference, and up to which the local one is."""

Figures: TypeAlias = dict[str, Any]


@frozen
class Comparison:
    """Two answers that should be the same.

    Attributes:
        case: the system.
        history: the encoding that both used, or the second one.
        reference, tried: the two ways, as options of `antecede check`.
        expected, actual: their answers.
    """

    case: Case
    history: str
    reference: str
    tried: str
    expected: Figures
    actual: Figures

    @property
    def agrees(self) -> bool:
        """Whether the two answers are equal, and answers at all."""
        return self.expected == self.actual and "raised" not in self.expected


ENGINES: dict[str, Options] = {
    "--engine plain": Options(engine="plain"),
    "--no-symmetry --threads 1": Options(symmetry=False, threads=1),
    "--no-symmetry --threads 2 --no-traces": Options(symmetry=False, threads=2, traces=False),
    "--no-symmetry --threads 1 # forgets at once": Options(
        symmetry=False, threads=1, forget_from=0
    ),
    "--threads 1": Options(threads=1),
    "--threads 2 # forgets at once": Options(threads=2, forget_from=0),
    "--threads 3 --forget never # small blocks": Options(threads=3, forget="never", block=32),
    "--threads 1 --no-traces": Options(threads=1, traces=False),
    "--symmetry --threads 2 --no-traces": Options(symmetry=True, threads=2, traces=False),
}
"""Breadth-first searches that must agree. One of the first two is the reference.

Here, threads share even single rows; see `LEAST_SHARE`.
"""

SPARK = {
    "--engine spark --spark-threshold 1 --partitions 2": Options(
        engine="spark", spark_threshold=1, partitions=2
    )
}

IN_THE_DRIVER = {
    f"--engine spark --spark-threshold {threshold} --partitions {partitions}{text} # here": Options(
        engine="spark", spark_threshold=threshold, partitions=partitions, **chosen
    )
    for text, chosen in (
        ("", {}),
        (" --no-symmetry", {"symmetry": False}),
        (" --no-symmetry --forget never", {"symmetry": False, "forget": "never"}),
        (" --no-traces", {"traces": False}),
    )
    for threshold, partitions in ((1, 2), (30, 3))
} | {
    f"--engine spark --spark-threshold 1 --partition-states {states}{text} # here": Options(
        engine="spark", spark_threshold=1, partition_states=states, **chosen
    )
    for states in (1, 9)
    for text, chosen in (
        ("", {}),
        (" --no-symmetry", {"symmetry": False}),
        (" --no-symmetry --forget never", {"symmetry": False, "forget": "never"}),
    )
}
"""Searches on Spark without a cluster: this process runs all tasks. A shell ignores the comment."""


def figures(result: Result) -> Figures:
    """Return the parts of a result that must not depend on the engine."""
    path = result.counterexample
    return {
        "verdicts": {name: str(verdict) for name, verdict in result.properties.items()},
        "counts": astuple(result.unreduced or result.counts),
        "remarks": result.remarks,
        "shortest": path and (path.violates, path.length),
    }


def searched(
    case: Case,
    history: str,
    options: Options,
    bound: int,
    search: str = "breadth",
    *,
    in_the_driver: bool = False,
) -> Any:
    """Return the figures of a search, or its exception; None if it hit a bound."""
    try:
        small = patch.object(expansion, "LEAST_SHARE", 1)
        registered = patch.object(package, "REGISTRY", REGISTRY)
        with small, registered, without_cluster(apart=True) if in_the_driver else nullcontext():
            report = check(
                case.spec(history, search),
                options,
                Bounds(max_states=bound),
                protocol=case.protocol,
                selfcheck="off",
            )
    except Exception as error:  # any exception of an engine is a finding
        return {"raised": f"{type(error).__name__}: {error}"}
    if report.result.stopped_by:  # even if a violation was found: its level was not counted whole
        return None
    if report.result.verdict is Verdict.ERROR:  # searches may meet different errors first
        return {"refused": True}
    return figures(report.result)


def resumed(
    case: Case, history: str, options: Options, states: int, *, in_the_driver: bool = False
) -> Any:
    """Return the figures of a search that stops at a number of states and goes on afterwards.

    It returns None if the search was not stopped, or saved nothing.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        saving = evolve(options, checkpoint=folder, checkpoint_seconds=1e-6)
        found = searched(case, history, saving, states, in_the_driver=in_the_driver)
        if found is not None or not any(folder.iterdir()):
            return None
        going_on = evolve(options, resume=folder)
        return searched(case, history, going_on, 4 * LARGE, in_the_driver=in_the_driver)


@define
class Happened:
    """A record of the calls of a protocol's handlers during a search."""

    sends: bool = False
    delivers: bool = False

    def noting(self, protocol: Protocol) -> Protocol:
        """Return the protocol with handlers that record their calls here."""

        def causal_send(state: Any, message: Message) -> Step:
            self.sends = True
            return self._noted(protocol.causal_send(state, message))

        def receive(state: Any, src: int, packet: Any) -> Step:
            return self._noted(protocol.receive(state, src, packet))

        return evolve(protocol, causal_send=causal_send, receive=receive)

    def _noted(self, step: Step) -> Step:
        self.delivers |= bool(step.deliveries)
        return step

    def empty(
        self, properties: tuple[str, ...], states: int, finals: int, receivers: int
    ) -> list[str]:
        """Return the properties, none of them a witness, whose subject never occurs.

        Args:
            properties: their names.
            states: the number of states.
            finals: the number of final states.
            receivers: the greatest number of receivers of a message.
        """
        of_user = {
            What.DELIVERY: not self.delivers,
            What.SEQUENCES: not self.delivers,
            What.UNDELIVERED: not self.sends,
            What.PARTLY_DELIVERED: not self.sends or receivers < 2,
        }
        nothing = {
            **{
                name: of_user.get(prop.what) or (prop.final and not finals)
                for name, prop in USER.items()
            },
            "causal-delivery": not self.delivers,
            "integrity": not self.delivers,
            "fifo-delivery": not self.delivers,
            "all-delivered": not self.sends or not finals,
            "can-deliver": not self.sends,
            "can-deliver-second": not self.sends,
            "no-starvation": not self.sends,
            "finishes": not finals,
        }
        return sorted(
            name
            for name in properties
            if not is_sought(name) and (states == 1 or nothing.get(name))
        )


def naive_figures(case: Case, history: str) -> Figures:
    """Return the figures of the reference checker."""
    happened = Happened()
    counts = naive_counts(
        happened.noting(case.protocol),
        case.actors,
        case.messages,
        workload=case.workload,
        network=case.network,
        history=history,
        properties=tuple(USER.get(name, name) for name in case.properties),
        crashes=_crashes(case),
        labels=tuple(filter(None, case.labels.split(","))),
    )
    receivers = most_receivers(case)
    empty = happened.empty(case.properties, counts.unique, counts.finals, receivers)
    violated = sorted(counts.violation.keys() | counts.unreached)
    if not violated:
        empty = sorted({*empty, *impossible(case)})
    return {
        "violated": violated,
        "vacuous": [] if violated else empty,
        "counts": None if _may_track_order(case) else tuple(counts[:4]),
        "length": min(counts.violation.values(), default=None),
    }


def _flood(state: Any, message: Message) -> Step:
    return Step(state, sends=tuple((i, message) for i in range(state)))


FLOOD = Protocol(
    name="flood",
    initial=lambda _actor, actors: actors,
    causal_send=_flood,
    receive=lambda state, _src, message: Step(state, deliveries=(message, message)),
)
"""Every actor delivers every message twice, at any time: also wrong deliveries are in its runs."""


def impossible(case: Case) -> Iterator[str]:
    """Yield the properties of order that no protocol can violate, by the reference checker."""
    for name in case.properties:
        prop: Any = USER.get(name, name)
        protocol = UNORDERED
        if name in USER:
            if prop.what is What.DELIVERY and prop.when is When.ALWAYS:
                protocol = FLOOD
            elif prop.what is What.SEQUENCES and not prop.sought and case.crashes == "0":
                prop = evolve(prop, when=When.ALWAYS)  # a silent protocol ends anywhere
            else:
                continue
        elif name not in ("causal-delivery", "fifo-delivery"):
            continue
        counts = naive_counts(
            protocol,
            case.actors,
            case.messages,
            workload=case.workload,
            properties=(prop,),
            labels=tuple(filter(None, case.labels.split(","))),
        )
        if not counts.violation:
            yield name


def most_receivers(case: Case) -> int:
    """Return the greatest number of receivers of a message."""
    kind, _, listed = case.workload.partition(":")
    if kind in ("broadcast", "multicast"):
        return case.actors - 1
    if kind in ("any", "self"):
        return 1
    rows = json.loads(listed)
    if kind == "script":
        return max((len(to) for row in rows for to in row if isinstance(to, list)), default=1)
    entries = rows if kind == "reaction" else chain.from_iterable(rows)
    return max((len(entry.get("to", ())) for entry in entries), default=1)


def _crashes(case: Case) -> Crashes:
    """Return the crashes of a case for the reference checker."""
    between = case.crashes.removesuffix(":whole")
    most, _, names = between.partition(":of=")
    of = {int(name) for name in names.split(",")} if names else None
    return Crashes(int(most), of, case.to_crashed == "lost", between != case.crashes)


def _may_track_order(case: Case) -> bool:
    """Return whether a property of a user can make engines record which messages are overtaken.

    The reference checker records it only for `fifo-delivery`, so it can count fewer states.
    """
    return any(prop.what is What.DELIVERY for prop in case.user)


def is_sought(prop: str) -> bool:
    """Return whether a property is violated if no run shows it."""
    return (
        prop.startswith("witness:") or prop == "can-finish" or (prop in USER and USER[prop].sought)
    )


def naive_knows(case: Case) -> bool:
    """Return whether the reference checker can explore a system."""
    return (
        case.network in CHANNELS
        and (case.sends, case.clock_at, case.resends) == ("joint", "causal-send", False)
        and set(case.properties) <= {*SAFETY, "finishes", *USER}
    )


def comparisons(case: Case, chance: random.Random, *, spark: bool = False) -> Iterator[Comparison]:
    """Explore a system in many ways, and yield all pairs of answers that should be equal.

    A system that is too large yields nothing.
    """
    other = chance.choice(HISTORIES[1:])
    first: Figures | None = None
    for history in ("knowledge", other):
        reference, expected = "--engine plain", None
        if (case.actors, case.messages) != (3, 2):
            expected = searched(case, history, ENGINES[reference], SMALL)
        if expected is None:
            reference = "--no-symmetry --threads 1"
            expected = searched(case, history, ENGINES[reference], LARGE)
        if expected is None:
            return
        yield from _against_naive(case, history, reference, expected)
        yield from _against_lemma(case, history, reference, expected)
        tried = [name for name in ENGINES if name != reference]
        local = tried[0] if reference == "--engine plain" else None
        names = [*filter(None, [local]), *chance.sample(tried[1:], 2)]
        choices = {name: ENGINES[name] for name in names if name != "--engine plain"}
        on_spark = chance.choice(sorted(IN_THE_DRIVER))
        if not only_plain_judges(case):
            choices[on_spark] = IN_THE_DRIVER[on_spark]
            choices |= SPARK if spark else {}
        for name, options in choices.items():
            here = name in IN_THE_DRIVER
            actual = searched(case, history, options, 4 * LARGE, in_the_driver=here)
            yield Comparison(case, history, reference, name, expected, actual)
        yield from _resumed(case, history, reference, expected, choices, chance)
        yield from _in_depth(case, history, reference, expected, chance)
        if first is None:
            first = expected
        else:
            yield between(case, history, reference, first, expected)


def only_plain_judges(case: Case) -> bool:
    """Return whether only plain Python can explore a system and judge its properties."""
    if case.network in ORDERINGS:
        return True
    later = "can-deliver" in case.properties or any(prop.later for prop in case.user)
    return any(map(looks_at_message, case.user)) or (case.crashes != "0" and later)


def _against_naive(case: Case, history: str, name: str, found: Figures) -> Iterator[Comparison]:
    if name != "--engine plain" or not naive_knows(case) or "verdicts" not in found:
        return
    given = {
        said: sorted(p for p, verdict in found["verdicts"].items() if verdict == said)
        for said in ("VIOLATED", "VACUOUS")
    }
    actual = {
        "violated": given["VIOLATED"],
        "vacuous": [] if given["VIOLATED"] else given["VACUOUS"],
        "counts": None if _may_track_order(case) else found["counts"],
        "length": found["shortest"] and found["shortest"][1],
    }
    expected = naive_figures(case, history)
    yield Comparison(case, history, "tests/naive.py", name, expected, actual)


def _against_lemma(case: Case, history: str, name: str, found: Figures) -> Iterator[Comparison]:
    """Compare with the rules on what no protocol can violate: this one has not violated it."""
    if "verdicts" not in found:
        return
    with patch.object(package, "REGISTRY", REGISTRY):
        system = system_of(case.spec(history), case.protocol)
    violated = [p for p in system.properties if found["verdicts"][p.name] == "VIOLATED"]
    wrong = [prop.name for prop in violated if can_be_violated(system, prop) is False]
    rules = "checker/search/emptiness.py"
    yield Comparison(case, history, rules, name, {"impossible": []}, {"impossible": wrong})


def _resumed(
    case: Case,
    history: str,
    reference: str,
    expected: Figures,
    choices: dict[str, Options],
    chance: random.Random,
) -> Iterator[Comparison]:
    """Compare with one of the searches, stopped somewhere and resumed."""
    if chance.random() > 0.3 or "counts" not in expected:
        return
    name = chance.choice(sorted(set(choices) - set(SPARK)))
    states = chance.randint(2, max(expected["counts"][0], 2))
    here = name in IN_THE_DRIVER
    actual = resumed(case, history, choices[name], states, in_the_driver=here)
    if actual is not None:
        yield Comparison(
            case, history, reference, f"{name} # stopped and resumed", expected, actual
        )


def _in_depth(
    case: Case, history: str, name: str, found: Figures, chance: random.Random
) -> Iterator[Comparison]:
    """Compare with depth-first search: it finds equal violations and, without one, equal counts."""
    if chance.random() > 0.3 or "verdicts" not in found:
        return
    engine = chance.choice(("plain", "local")) if name == "--engine plain" else "local"
    options = Options(engine=engine)
    actual = searched(case, history, options, 2 * found["counts"][0] + SMALL, "depth")
    if actual is None:  # below a shallow violation there may be any number of states
        return
    if actual == {"refused": True}:  # in a state that the other search did not reach
        return
    expected, broken = found, "VIOLATED" in found["verdicts"].values()
    if "verdicts" in actual:
        expected = {"violated": broken, "counts": None if broken else _of_depth(found)}
        actual = {
            "violated": "VIOLATED" in actual["verdicts"].values(),
            "counts": None if broken else _of_depth(actual),
        }
    yield Comparison(case, history, name, f"--engine {engine} --search depth", expected, actual)


def _of_depth(found: Figures) -> Any:
    """Return the counts of a depth-first search that must be equal: all except for the depth."""
    unique, total, _, finals = found["counts"]
    return unique, total, finals


def between(case: Case, history: str, name: str, first: Figures, second: Figures) -> Comparison:
    """Compare two encodings of the history: they have the same verdicts and shortest length.

    After a violation a search ends with its level, which may be the last level under only one of
    the encodings. Under this one, unviolated properties are HOLDS, unreached witnesses are
    VIOLATED, and ways back are judged. Under the other one, all of these are INCOMPLETE.
    """
    kept = ("verdicts", "shortest", "raised", "refused")
    expected, actual = both = tuple({k: f[k] for k in kept if k in f} for f in (first, second))
    if all(found.get("shortest") for found in both):
        violated = [
            [n for n, v in found["verdicts"].items() if v == "VIOLATED" and not is_sought(n)]
            for found in both
        ]
        at_once = [[name for name in names if not is_later(name)] for names in violated]
        for found, names, others in zip(both, at_once, violated, strict=True):
            found["verdicts"] = names if all(at_once) else others
        if all(at_once) and any(is_later(found["shortest"][0]) for found in both):
            expected, actual = ({**found, "shortest": None} for found in both)
    return Comparison(case, history, "--history knowledge", name, expected, actual)


def is_later(prop: str) -> bool:
    """Return whether a property is judged when all states are known."""
    return prop == "can-deliver" or (prop in USER and USER[prop].later)
