"""Writes docs/bounds.md: the smallest bound that reveals each bug that we know.

python benchmarks/smallest.py            # about two hours on one core; keeps what is done
python benchmarks/smallest.py --minutes 10   # starts no search later, and says what is left
python benchmarks/smallest.py --redraw   # writes the page again from the kept results

The bugs are the mutants in tests/mutants, and the protocols that fail in a spec. The results are
in figures/smallest.json. A bug whose code has not changed is not searched again. First every bug is
searched by scripts, then by free choice at each of the sizes FREE, the small ones first.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from attrs import asdict, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, load_spec, system_of
from antecede.checker.model import Protocol
from antecede.checker.papers.simulate.chart import Chart, Panel, Point
from antecede.checker.render.files import write_whole
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.support.amounts import counted
from antecede.checker.support.registry import default_properties, protocol_named
from antecede.checker.support.sources import bare
from antecede.checker.sweep.renamings import Renamings
from antecede.checker.sweep.smallest import KNOWN_BUGS, SIZED, Level, levels

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.drawings import keep_chart  # noqa: E402 -- the same
from benchmarks.page import code_of, digest_of, lines_of, rendered  # noqa: E402 -- this folder is no package
from tests.mutants.mutant import FILES, Mutants, changed_source, label, mutants_in, mutated  # noqa: E402 -- the tests are beside this folder

PAGE = ROOT / "docs" / "bounds.md"
CHART = ROOT / "docs" / "images" / "bounds.json"
DATA = ROOT / "benchmarks" / "figures" / "smallest.json"
ACTORS = (2, 3, 4)
MESSAGES = 5
SECONDS = 45.0
"""The limit for one bug and one list of properties, so that few large systems cannot delay all."""
MOST_STATES = 3_000_000
NO_END = "no final state, or no end"
FEW = 3
"""Bounds with more messages come last if they have many actors, because they have most scripts."""
SMALL = 200
"""The states of a check for which plain Python is faster than tables."""
LIVENESS = ("can-deliver", "no-starvation", "can-finish", "finishes")
SAFETY = ("causal-delivery", "fifo-delivery", "integrity")
"""Properties that a run violates however it goes on."""
FREE = ((2, 2), (3, 1), (3, 2), (3, 3))
"""Actors and messages per actor of the checks with free choice."""
ESCAPES = "cykas-yct-acked"
"""The protocol that holds with 3 actors and 3 messages each, and fails with one message more."""

Found: TypeAlias = dict[str, Any]
"""A JSON object of `figures/smallest.json`."""


@frozen
class Bug:
    """A protocol that is known to fail.

    Attributes:
        protocol: its name, or the name of the protocol that the mutant changes.
        mutant: the name of the mutant; empty for a protocol that fails as it is.
        network: a network where it fails.
        workload: `script` or `broadcast`.
        delivery: the properties of deliveries that it is checked for.
        unicast: it is known to fail with messages that have one destination.
    """

    protocol: str
    mutant: str
    network: str
    workload: str
    delivery: tuple[str, ...]
    unicast: bool = True

    @property
    def key(self) -> str:
        """Identify the bug."""
        return f"{self.protocol} {self.mutant} {self.network} {self.workload}"

    def made(self) -> Protocol:
        """Return the protocol with the bug."""
        return (
            mutated(self.protocol, self._mutant()) if self.mutant else protocol_named(self.protocol)
        )

    def _mutant(self) -> Any:
        mutants = next(m for m in map(mutants_in, FILES) if m.protocol == self.protocol)
        return next(one for one in mutants.mutants if one.name == self.mutant)

    def digest(self) -> str:
        """Return a digest of the code and the bounds that the result depends on.

        It leaves out the checker's own code, which a change should not make a bug's result wrong.
        """
        spec = Spec(self.protocol, max(ACTORS[1], 3), 1, self.network, properties=self.delivery)
        system = system_of(spec)
        code = code_of(system)
        changed = bare(changed_source(self._mutant())) if self.mutant else ""
        return digest_of([sorted(code.items()), changed, self.delivery, ACTORS, MESSAGES])


def variants() -> Iterator[Bug]:
    """Yield the protocols that fail in a spec, each once per network and workload."""
    for file in sorted((ROOT / "specs").rglob("*.toml")):
        spec = load_spec(file)
        kind = spec.workload.partition(":")[0]
        violates = spec.expect.violates or ""
        if spec.expect.verdict is not Verdict.VIOLATED or violates in LIVENESS:
            continue
        if kind not in ("any", "script", "broadcast"):
            continue
        name = (
            str(Path(spec.protocol).relative_to(ROOT)) if ".py" in spec.protocol else spec.protocol
        )
        network = spec.network or protocol_named(spec.protocol).network
        workload = "broadcast" if kind == "broadcast" else "script"
        shown = tuple(p for p in spec.properties if not p.startswith("invariant:"))
        fifo = ("fifo-delivery", "integrity", "all-delivered")
        delivery = fifo if "fifo-delivery" in shown else default_properties()
        yield Bug(name, "", network, workload, delivery)


def mutants() -> tuple[list[Bug], dict[str, str]]:
    """Return the mutants that violate a property, and why the others are left out."""
    bugs, left = list[Bug](), dict[str, str]()
    page = (ROOT / "tests" / "mutants" / "detected.md").read_text(encoding="utf-8")
    for of in map(mutants_in, FILES):
        section = page.partition(f"## {of.protocol}\n")[2].partition("\n## ")[0]
        lines = [line.strip("| ").split(" | ") for line in section.splitlines()]
        rows = {cells[0]: cells[-1] for cells in lines if len(cells) == 3}
        for one in of.mutants:
            where = f"{of.protocol} {one.name}"
            if one.survives:
                left[where] = one.survives.partition(":")[0]
                continue
            spec, finding = _detected(of, rows[one.name])
            if not finding.partition(", ")[2].endswith(("transition", "transitions")):
                left[where] = NO_END
            elif finding.startswith(LIVENESS):
                left[where] = "liveness"
            else:
                bugs.append(_bug(of.protocol, one.name, spec))
    return bugs, left


def _detected(of: Mutants, cell: str) -> tuple[Spec, str]:
    """Return the check that detects a mutant, and its finding, from the row of the mutant."""
    spec = next(spec for spec in of.checks if cell.startswith(f"{label(spec)}: "))
    return spec, cell.removeprefix(f"{label(spec)}: ")


def _bug(protocol: str, mutant: str, spec: Spec) -> Bug:
    delivery = tuple(p for p in spec.properties if not p.startswith("invariant:"))
    network = spec.network or protocol_named(protocol).network
    kind = spec.workload.partition(":")[0]
    workload = "broadcast" if kind == "broadcast" else "script"
    return Bug(protocol, mutant, network, workload, delivery, kind in ("any", "script"))


def searched(bug: Bug) -> Found:
    """Return the smallest bounds that reveal a bug, with and without its protocol's invariants."""
    began, protocol = time.monotonic(), bug.made()
    invariants = tuple(f"invariant:{name}" for name in protocol_named(bug.protocol).invariants)
    delivery = frontier(bug, protocol, bug.delivery)
    every = frontier(bug, protocol, (*bug.delivery, *invariants)) if invariants else delivery
    seconds = round(time.monotonic() - began, 1)
    return {**asdict(bug), "deliveries": delivery, "invariants": every, "seconds": seconds}


def frontier(bug: Bug, protocol: Protocol, properties: tuple[str, ...]) -> Found:
    """Return the smallest bounds: fewer messages would need more actors, and vice versa."""
    end = time.monotonic() + SECONDS
    spec = Spec(bug.protocol, network=bug.network, workload=bug.workload, properties=properties)
    bounds: list[Found] = []
    most = MESSAGES + 1 if bug.workload in SIZED else MESSAGES
    seen = set[tuple[int, int]]()
    for largest, actors in ((FEW, ACTORS), (most, ACTORS[:-1]), (most, ACTORS[-1:])):
        for level in levels(spec, actors, largest):
            bound = (level.messages, level.actors)
            if bound in seen or any(_includes(level, found) for found in bounds):
                continue
            seen.add(bound)
            failed = first_failure(level, protocol, end)
            if isinstance(failed, str):
                return {"bounds": bounds, "stopped": [*bound, failed]}
            if failed is not None:
                bounds.append({"messages": level.messages, "actors": level.actors, **failed})
    return {"bounds": bounds, "stopped": None}


def _includes(level: Level, found: Found) -> bool:
    """Return whether a level has at least the messages and actors of a bound."""
    return bool(found["actors"] <= level.actors and found["messages"] <= level.messages)


def first_failure(level: Level, protocol: Protocol, end: float) -> Found | str | None:
    """Return the shortest failure of a level, the reason why it was not completed, or None.

    If the time is over after a failure, it is the shortest failure so far.
    """
    found: list[Found] = []
    stopped = None
    todo = list(level.specs)
    for spec in todo:  # renamings of scripts to which names matter are added meanwhile
        left = end - time.monotonic()
        if left <= 0:
            stopped = f"{SECONDS:g} s"
            break
        result, names_matter = explored(spec, protocol, left)
        if names_matter:
            todo += [one for one in level.renamings_of({spec.workload}) if one not in todo]
        if result.verdict is Verdict.INCOMPLETE:
            stopped = str(result.stopped_by)
        if (failure := _failure(spec, result)) is not None:
            found.append(failure)
    return min(found, key=lambda one: one["length"], default=stopped)


def explored(spec: Spec, protocol: Protocol, seconds: float) -> tuple[Result, bool]:
    """Return the result of a check, and whether names of actors matter to it.

    The check runs in plain Python first, which starts at once.
    """
    renamings = Renamings()
    run = partial(check, spec, protocol=protocol, selfcheck="off", around=renamings.watching)
    if protocol.timeout is None:
        result = run(Options(engine="plain"), Bounds(max_states=SMALL)).result
        if result.verdict is not Verdict.INCOMPLETE:
            return result, renamings.difference is not None
    result = run(Options(threads=1), Bounds(max_states=MOST_STATES, max_seconds=seconds)).result
    return result, renamings.difference is not None


def _failure(spec: Spec, result: Result) -> Found | None:
    path = result.counterexample
    if path is None:
        return None
    return {"workload": spec.workload, "violates": path.violates, "length": path.length}


def found_again(bug: Bug, old: Found) -> Found:
    """Return the result of an earlier search if its violations are found again, or search.

    The result says that nothing searched for smaller bounds again.
    """
    protocol = bug.made()
    invariants = tuple(f"invariant:{name}" for name in protocol_named(bug.protocol).invariants)
    for judged, properties in (
        ("deliveries", bug.delivery),
        ("invariants", (*bug.delivery, *invariants)),
    ):
        for bound in old[judged]["bounds"]:
            size = {"workload": bound["workload"], "actors": bound["actors"]}
            if bug.workload in SIZED:
                size["messages"] = bound["messages"] // bound["actors"]
            spec = Spec(bug.protocol, network=bug.network, properties=properties, **size)
            again = _failure(spec, explored(spec, protocol, SECONDS)[0])
            if again is None or again.items() - bound.items():
                return searched(bug)
    return {**asdict(bug), **{name: old[name] for name in (*JUDGED, "seconds")}, "kept": True}


def free_choice(bug: Bug, found: Found, actors: int, messages: int) -> Found:
    """Return what free choice finds in deliveries, with this many messages of each actor.

    A run of a script, or of free choice with fewer messages, is also a run of this free choice, in
    which some actors send no more. So if it violates safety, the check is not needed.

    Args:
        bug: the bug.
        found: the smallest bounds of scripts, and the results of smaller free choices.
        actors, messages: the size.
    """
    made = bug.made()
    if (by := implied(bug, made, found, actors, messages)) is not None:
        return {"verdict": str(Verdict.VIOLATED), "by": by}
    spec = Spec(bug.protocol, actors, messages, bug.network, properties=bug.delivery)
    bounds = Bounds(max_states=MOST_STATES, max_seconds=SECONDS)
    result = check(
        spec, Options(threads=1), bounds, protocol=made, selfcheck="off"
    ).result.of_this_search
    states = {"by": "any", "states": result.size.unique_states}
    if (failure := _failure(spec, result)) is not None:
        return {"verdict": str(Verdict.VIOLATED), **states, **failure}
    return {"verdict": str(result.verdict), **states}


def implied(bug: Bug, protocol: Protocol, found: Found, actors: int, messages: int) -> str | None:
    """Return a smaller free choice, or a script, that violates safety; None if none is known."""
    for fewer in range(1, messages):
        smaller = found.get("free", {}).get(f"{actors} x {fewer}", {"verdict": ""})
        if smaller["verdict"] == Verdict.VIOLATED and smaller.get("violates", SAFETY[0]) in SAFETY:
            return f"{actors} x {fewer}"
    for bound in found["deliveries"]["bounds"]:
        script = json.loads(bound["workload"].removeprefix("script:"))
        if len(script) <= actors and max(map(len, script)) <= messages:
            script += [[]] * (actors - len(script))  # more actors, which send nothing
            workload = f"script:{json.dumps(script, separators=(',', ':'))}"
            spec = Spec(bug.protocol, actors, 1, bug.network, workload, properties=bug.delivery)
            failure = _failure(spec, explored(spec, protocol, SECONDS)[0])
            if failure is not None and failure["violates"] in SAFETY:
                return workload
    return None


def has_free_choice(bug: Bug) -> bool:
    """Return whether the bug can appear with messages that have one receiver."""
    return bug.workload == "script" and bug.unicast


def run(
    bugs: Sequence[Bug], processes: int, minutes: float, *, again: bool, keep_old: bool
) -> list[Found]:
    """Return the results for all bugs; search for those that have none, and keep each result.

    Results of changed code are kept until they are replaced, so that an interruption loses nothing.

    Args:
        bugs: the bugs, in the order of the results.
        processes: the number of searches that run at once.
        minutes: start no search after this time.
        again: at last, search again for bugs whose search ended early, or whose result is old.
        keep_old: of bugs whose code has changed, only find the violations again.
    """
    end = time.monotonic() + minutes * 60
    kept = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {"bugs": []}
    digests = {bug.key: bug.digest() for bug in bugs}
    rows: dict[str, Found] = {row["key"]: row for row in kept["bugs"]}

    def keep(bug: Bug, row: Found) -> None:
        rows[bug.key] = {"key": bug.key, "digest": digests[bug.key], **row}
        _keep({**kept, "bugs": [rows[each.key] for each in bugs if each.key in rows]})

    def is_new(bug: Bug) -> bool:
        return rows.get(bug.key, {}).get("digest") != digests[bug.key]

    todo = [bug for bug in bugs if is_new(bug)]
    todo += [bug for bug in bugs if again and not is_new(bug) and _is_partial(rows[bug.key])]
    todo.sort(key=lambda bug: rows.get(bug.key, {}).get("seconds", 0.0))

    def job(bug: Bug) -> tuple[Any, ...]:
        old = rows.get(bug.key)
        return (found_again, bug, old) if keep_old and old and is_new(bug) else (searched, bug)

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context) as pool:
        for bug, row in _done(pool, {bug: job(bug) for bug in todo}, end):
            keep(bug, row)
        for actors, messages in FREE:
            size = f"{actors} x {messages}"
            jobs = {
                bug: (free_choice, bug, rows[bug.key], actors, messages)
                for bug in bugs
                if has_free_choice(bug) and not is_new(bug)
                if size not in rows[bug.key].get("free", {})
            }
            for bug, row in _done(pool, jobs, end):
                old = rows[bug.key]
                keep(bug, {**old, "free": {**old.get("free", {}), size: row}})
    return [rows[bug.key] for bug in bugs if not is_new(bug)]


def _done(
    pool: ProcessPoolExecutor, jobs: Mapping[Bug, tuple[Any, ...]], end: float
) -> Iterator[tuple[Bug, Found]]:
    """Yield each bug with its result as soon as its job has ended; start none after `end`."""
    futures = {pool.submit(_in_time, end, *job): bug for bug, job in jobs.items()}
    for number, future in enumerate(as_completed(futures), 1):
        bug, result = futures[future], future.result()
        if result is None:
            continue
        told = _told(result) if "deliveries" in result else result
        print(f"{number}/{len(jobs)} {bug.key}: {told}", file=sys.stderr, flush=True)
        yield bug, result


def _in_time(end: float, job: Callable[..., Found], *arguments: Any) -> Found | None:
    """Return the result of a job, or None if it would start after `end`.

    The monotonic clock of Linux and macOS is the same in all processes.
    """
    return job(*arguments) if time.monotonic() < end else None


def _stopped_early(found: Found) -> bool:
    return any(found[judged]["stopped"] for judged in JUDGED)


def _is_partial(found: Found) -> bool:
    return _stopped_early(found) or "kept" in found


def _keep(data: Found) -> None:
    write_whole(str(DATA), lines_of(data, 2) + "\n")


def _told(result: Found) -> str:
    bounds = result["deliveries"]["bounds"], result["invariants"]["bounds"]
    words = [" ".join(f"{b['actors']}x{b['messages']}" for b in each) or "-" for each in bounds]
    return f"{' | '.join(words)}, {result['seconds']} s"


def every_bug() -> tuple[list[Bug], dict[str, str]]:
    """Return all bugs, each once, and why the other mutants are left out."""
    found, left = mutants()
    bugs = dict[str, Bug]()
    for bug in (*variants(), *found):
        bugs.setdefault(bug.key, bug)
    return list(bugs.values()), left


def escape() -> Found:
    """Return what free choice and scripts find in the protocol ESCAPES, and their costs."""
    deliveries = default_properties()
    free = [_cost(Spec(ESCAPES, 3, messages, properties=deliveries)) for messages in (1, 2, 3)]
    asked = Spec(ESCAPES, properties=deliveries)
    each = [s for level in levels(asked, (3,), 4) for s in level.specs]
    costs = [_cost(spec) for spec in each]
    violated = [cost for cost in costs if cost["verdict"] == "VIOLATED"]
    states = sum(cost["states"] for cost in costs)
    return {"free": free, "scripts": len(each), "states": states, "violated": violated}


def _cost(spec: Spec) -> Found:
    result = check(spec, selfcheck="off").result.of_this_search
    path, counts = result.counterexample, result.size
    return {
        "workload": spec.workload,
        "messages": spec.messages,
        "verdict": str(result.verdict),
        "length": path.length if path else None,
        "states": counts.unique_states,
    }


# The page


def page(data: Found, left: Mapping[str, str]) -> str:
    """Return the page; its template is pages/bounds.md."""
    every: list[Found] = data["bugs"]
    bugs = counted_bugs(every)
    broadcast = [bug for bug in every if bug["workload"] == "broadcast"]
    sizes = Counter(
        f"{least['actors']} x {least['messages'] // least['actors']}"
        for bug in broadcast
        if (least := _least(bug, "deliveries"))
    )

    def percent(judged: str, actors: int, messages: int) -> str:
        return f"{share(bugs, judged, actors, messages):.0f} %"

    return rendered(
        "bounds.md",
        every=every,
        bugs=bugs,
        totals=range(1, MESSAGES + 1),
        heads=_heads(),
        percent=percent,
        escape=data["escape"],
        free=data["escape"]["free"][-1],
        script=data["escape"]["violated"][0],
        four=[bug for bug in bugs if _needs(bug, ACTORS[2])],
        tail=[
            bug for bug in bugs if (found := _least(bug, "deliveries")) and found["messages"] > 3
        ],
        protocols=_protocols(bugs),
        reasons=Counter(left.values()),
        broadcast=broadcast,
        several=len(every) - len(broadcast) - len(bugs),
        sizes=", ".join(f"{number} at {bound}" for bound, number in sorted(sizes.items())),
        free_rows=list(free_rows(bugs)),
        free_bugs=len([bug for bug in bugs if "free" in bug]),
        seen=len([bug for bug in bugs if "free" in bug and bug["deliveries"]["bounds"]]),
        stopped=[bug for bug in bugs if _stopped_early(bug)],
        kept=[bug for bug in every if "kept" in bug],
        ACTORS=ACTORS,
        ESCAPES=ESCAPES,
        JUDGED=JUDGED,
        MESSAGES=MESSAGES,
        MOST_STATES=MOST_STATES,
        NO_END=NO_END,
        SECONDS=SECONDS,
        counted=counted,
        need=need,
    )


def counted_bugs(bugs: Sequence[Found]) -> list[Found]:
    """Return the bugs of messages with one receiver, which the shares on the page refer to."""
    return [
        bug for bug in bugs if bug["workload"] == "script" and (bug["unicast"] or revealed(bug))
    ]


def free_rows(bugs: Sequence[Found]) -> Iterator[list[str]]:
    """Yield per size with free choice: the size, its share, and the numbers of bugs per result."""
    for actors, messages in FREE:
        size = f"{actors} x {messages}"
        found = [bug["free"][size]["verdict"] for bug in bugs if size in bug.get("free", {})]
        shown = found.count("VIOLATED") + found.count("ERROR")
        passed = found.count("HOLDS") + found.count("VACUOUS")
        open_, of = len(found) - shown - passed, len([bug for bug in bugs if "free" in bug])
        share_ = f"{'at least ' if open_ or len(found) < of else ''}{100 * shown / of:.0f} %"
        rest = [] if of == len(found) else [f"{of - len(found)} not searched"]
        rest = [*([f"{open_} too large"] if open_ else []), *rest]
        yield [size, share_, str(shown), str(passed), ", ".join(rest) or "0"]


def revealed(bug: Found) -> bool:
    """Return whether some bound reveals a bug."""
    return bool(bug["deliveries"]["bounds"] or bug["invariants"]["bounds"])


def within(bug: Found, judged: str, actors: int, messages: int) -> bool:
    """Return whether a bound reveals a bug.

    Args:
        bug: the bug.
        judged: `deliveries`, or `invariants` for both.
        actors: the greatest number of actors.
        messages: the greatest number of messages of all actors together.
    """
    bounds = bug["deliveries"]["bounds"] + (bug[judged]["bounds"] if judged == "invariants" else [])
    return any(found["actors"] <= actors and found["messages"] <= messages for found in bounds)


def share(bugs: Sequence[Found], judged: str, actors: int, messages: int) -> float:
    """Return the share of bugs that a bound reveals, in percent."""
    return 100 * sum(within(bug, judged, actors, messages) for bug in bugs) / len(bugs)


JUDGED = {"deliveries": "deliveries only", "invariants": "also the protocol's invariants"}


def figure(bugs: Sequence[Found]) -> Chart:
    """Return the chart: the share of bugs against the number of messages."""
    many = range(1, MESSAGES + 1)
    panels = [
        Panel(
            f"checked: {title}",
            "messages of all actors together",
            "bugs revealed, %",
            {
                _among(actors): [Point(k, share(bugs, judged, actors, k)) for k in many]
                for actors in ACTORS
            },
            ticks=many,
            from_zero=True,
        )
        for judged, title in JUDGED.items()
    ]
    return Chart("The share of bugs that a bound reveals", panels, inches=(8, 4))


def _among(actors: int) -> str:
    return f"{actors} actors" if actors == ACTORS[0] else f"up to {actors} actors"


def _heads() -> list[str]:
    return [
        f"{_among(actors)}{'' if judged == 'deliveries' else ', with invariants'}"
        for judged in JUDGED
        for actors in ACTORS
    ]


def need(bugs: int) -> str:
    return f"{counted(bugs, 'bug')} {'needs' if bugs == 1 else 'need'}" if bugs else "No bug needs"


def _needs(bug: Found, actors: int) -> bool:
    """Return whether deliveries reveal a bug with this number of actors, and not with fewer."""
    numbers = [found["actors"] for found in bug["deliveries"]["bounds"]]
    return min(numbers, default=0) == actors


def _least(bug: Found, judged: str) -> Found | None:
    """Return the smallest bound that reveals a bug, in the order of the search."""
    order = ("messages", "actors")
    bounds: list[Found] = bug[judged]["bounds"]
    return min(bounds, key=lambda found: [found[name] for name in order], default=None)


def _protocols(bugs: Sequence[Found]) -> Iterator[list[object]]:
    """Yield a row per protocol: the number of its bugs, and of bugs for each smallest bound."""
    groups: dict[str, list[Found]] = {}
    for bug in bugs:
        groups.setdefault(bug["protocol"] if bug["mutant"] else "broken protocols", []).append(bug)
    for name, group in groups.items():
        least = [_least(bug, "deliveries") for bug in group]
        numbers = [
            sum(found is not None and found["messages"] == messages for found in least)
            for messages in range(1, MESSAGES + 1)
        ]
        unseen = [bug for bug in group if not bug["deliveries"]["bounds"]]
        only = sum(revealed(bug) for bug in unseen)
        yield [name, len(group), *numbers, only, len(unseen) - only]


def write(data: Found, left: Mapping[str, str]) -> None:
    """Write the page and its chart."""
    write_whole(str(PAGE), wrapped(page(data, left)))
    keep_chart(figure(counted_bugs(data["bugs"])), CHART)
    write_whole(str(KNOWN_BUGS), known_bugs(data))


def known_bugs(data: Found) -> str:
    """Return the smallest bounds that reveal each bug, from which sweeps compute shares."""
    bounds = (bug["deliveries"]["bounds"] for bug in counted_bugs(data["bugs"]))
    rows = [[[found["messages"], found["actors"]] for found in each] for each in bounds]
    return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n"


def wrapped(text: str) -> str:
    """Return a page with its paragraphs in lines of at most 120 columns."""
    parts, lines = list[str](), list[str]()
    verbatim = False
    for line in [*text.splitlines(), ""]:
        verbatim ^= line.startswith("```")
        plain = verbatim or not line or line.startswith(("|", "!", "#", "```"))
        if lines and (plain or line.startswith("* ")):
            indent = "  " if lines[0].startswith("* ") else ""
            whole = " ".join(each.strip() for each in lines)
            parts.append(
                textwrap.fill(
                    whole,
                    120,
                    subsequent_indent=indent,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            )
            lines = []
        if plain:
            parts.append(line)
        else:
            lines.append(line)
    return "\n".join(parts).rstrip() + "\n"


def main() -> None:
    """Search, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--redraw", action="store_true", help="from the kept results")
    parser.add_argument("--minutes", type=float, default=25.0, help="start no search later")
    parser.add_argument("--again", action="store_true", help="repeat searches that ended early")
    parser.add_argument("--keep", action="store_true", help="results that are found again")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    if arguments.redraw:
        data = json.loads(DATA.read_text(encoding="utf-8"))
        write(data, data["left"])
        return
    bugs, left = every_bug()
    found = run(
        bugs,
        arguments.processes,
        arguments.minutes,
        again=arguments.again,
        keep_old=arguments.keep,
    )
    if len(found) < len(bugs):
        raise SystemExit(f"{len(bugs) - len(found)} bugs are left; run this again")
    data = {"escape": escape(), "left": left, "bugs": found}
    _keep(data)
    write(data, left)


if __name__ == "__main__":
    main()
