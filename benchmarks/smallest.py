"""Writes docs/bounds.md: the smallest bound that reveals each bug that we know.

python benchmarks/smallest.py            # about 20 minutes on two cores; keeps what is done
python benchmarks/smallest.py --redraw   # writes the page again from the kept results

The bugs are the mutants in tests/mutants, and the protocols that fail in a spec. The results are
in figures/smallest.json. A bug whose sources have not changed is not searched again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from attrs import asdict, frozen

from antecede.checker.amounts import counted
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, load_spec, system_of
from antecede.checker.model import Protocol
from antecede.checker.registry import default_properties, protocol_named
from antecede.checker.render.files import write_whole
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.simulate.chart import Panel, Point, chart
from antecede.checker.sweep.smallest import SIZED, Level, difference, levels, size
from antecede.checker.tables.fingerprint import fingerprint

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.mutants.mutant import (  # noqa: E402 -- the tests are beside this folder
    FILES,
    Mutants,
    changed_source,
    label,
    mutants_in,
    mutated,
)

PAGE = ROOT / "docs" / "bounds.md"
PICTURE = ROOT / "docs" / "images" / "bounds.svg"
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
ESCAPES = "cykas-yct-acked"
"""The protocol that holds with 3 actors and 3 messages each, and fails with one message more."""

Found: TypeAlias = dict[str, Any]
"""A JSON object of `figures/smallest.json`."""


@frozen
class Bug:
    """A protocol that is known to fail.

    Attributes:
        protocol: its name, or that of the protocol that the mutant changes.
        mutant: the name of the mutant; empty for a protocol that fails as it is.
        network: the network on which it fails.
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
        """Return a digest of the sources and limits that the result depends on."""
        spec = Spec(self.protocol, max(ACTORS[1], 3), 1, self.network, properties=self.delivery)
        changed = changed_source(self._mutant()) if self.mutant else ""
        rests_on = [fingerprint(system_of(spec)), changed, self.delivery, ACTORS, MESSAGES]
        return hashlib.blake2b(
            json.dumps(rests_on, default=str).encode(), digest_size=8
        ).hexdigest()


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
    page = (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")
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
    """Return the check that detects a mutant, and its finding, from the mutants page."""
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
    treats = partial(_treats, spec, protocol)
    bounds: list[Found] = []
    most = MESSAGES + 1 if bug.workload in SIZED else MESSAGES
    seen = set[tuple[int, int]]()
    for largest, actors in ((FEW, ACTORS), (most, ACTORS[:-1]), (most, ACTORS[-1:])):
        for level in levels(spec, actors, largest, treats):
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


def _treats(spec: Spec, protocol: Protocol, actors: int) -> str | None:
    return difference(spec, Options(), actors, protocol)


def first_failure(level: Level, protocol: Protocol, end: float) -> Found | str | None:
    """Return the shortest failure of a level, the reason why it was not completed, or None.

    If the time is over after a failure, it is the shortest failure so far.
    """
    found: list[Found] = []
    stopped = None
    for spec in level.specs:
        left = end - time.monotonic()
        if left <= 0:
            stopped = f"{SECONDS:g} s"
            break
        result = explored(spec, protocol, left)
        if result.verdict is Verdict.INCOMPLETE:
            stopped = str(result.stopped_by)
        if (failure := _failure(spec, result)) is not None:
            found.append(failure)
    return min(found, key=lambda one: one["length"], default=stopped)


def explored(spec: Spec, protocol: Protocol, seconds: float) -> Result:
    """Return the result of a check: first in plain Python, which starts at once."""
    run = partial(check, spec, protocol=protocol, selfcheck="off")
    if protocol.timeout is None:
        result = run(Options(engine="plain"), Bounds(max_states=SMALL)).result
        if result.verdict is not Verdict.INCOMPLETE:
            return result
    return run(Options(threads=1), Bounds(max_states=MOST_STATES, max_seconds=seconds)).result


def _failure(spec: Spec, result: Result) -> Found | None:
    path = result.counterexample
    if path is None:
        return None
    return {"workload": spec.workload, "violates": path.violates, "length": path.length}


def run(bugs: Sequence[Bug], processes: int, minutes: float, *, again: bool) -> list[Found]:
    """Return the results for all bugs; search for those that have none, and keep each result.

    Args:
        bugs: the bugs, in the order of the results.
        processes: the number of searches that run at once.
        minutes: start no search after this time.
        again: at last, search again for bugs whose search ended early.
    """
    kept = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {"bugs": []}
    digests = {bug.key: bug.digest() for bug in bugs}
    done = {
        each["key"]: each for each in kept["bugs"] if each["digest"] == digests.get(each["key"])
    }
    todo = [bug for bug in bugs if bug.key not in done]
    todo += [bug for bug in bugs if again and bug.key in done and _stopped_early(done[bug.key])]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context) as pool:
        futures = {pool.submit(searched, bug): bug for bug in todo}
        try:
            for number, future in enumerate(as_completed(futures, minutes * 60), 1):
                bug = futures[future]
                result = future.result()
                done[bug.key] = {"key": bug.key, "digest": digests[bug.key], **result}
                _keep({**kept, "bugs": [done[each.key] for each in bugs if each.key in done]})
                words = f"{number}/{len(todo)} {bug.key}: {_told(result)}"
                print(words, file=sys.stderr, flush=True)
        except TimeoutError:
            pool.shutdown(cancel_futures=True)
    return [done[bug.key] for bug in bugs if bug.key in done]


def _stopped_early(found: Found) -> bool:
    return any(found[judged]["stopped"] for judged in JUDGED)


def _keep(data: Found) -> None:
    write_whole(str(DATA), json.dumps(data, indent=1) + "\n")


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
    each = [s for level in levels(asked, (3,), 4, lambda _n: None) for s in level.specs]
    costs = [_cost(spec) for spec in each]
    violated = [cost for cost in costs if cost["verdict"] == "VIOLATED"]
    states = sum(cost["states"] for cost in costs)
    return {"free": free, "scripts": len(each), "states": states, "violated": violated}


def _cost(spec: Spec) -> Found:
    result = check(spec, selfcheck="off").result
    path, counts = result.counterexample, result.unreduced or result.counts
    return {
        "workload": spec.workload,
        "messages": spec.messages,
        "verdict": str(result.verdict),
        "length": path.length if path else None,
        "states": counts.unique_states,
    }


# The page

HEAD = """# How large must a bound be?

A bounded check says nothing about larger bounds. This page measures how much a bound reveals. For
each bug that we know, it shows the fewest messages and actors with which the bug violates a
property.

To search for the smallest bound that reveals a bug in your own protocol:

```sh
antecede sweep chat.py:CHAT --smallest
antecede sweep chat.py:CHAT --smallest --actors 3 --max-messages 5 --max-seconds 600
```

## The search

A *bound* is a number of messages of all actors together, and a number of actors. The search goes
through the bounds in this order: fewer messages first, and among equal numbers of messages, fewer
actors first. It stops at the first bound with a violation. If several scripts of this bound lead
to a
violation, it reports the one with the shortest counterexample.

For each bound, the search explores all *scripts*. A script lists, for each actor, the receivers of
its messages. For example, `[[2,1],[2],[]]` says that actor 0 sends to actor 2 and then to actor 1,
and that actor 1 sends to actor 2. Every run with at most k messages follows a script with at most k
messages. So if no script leads to a violation, free choice with as many messages in total does not
either. A script is much smaller than free choice, because the receivers are fixed.

Two scripts that differ only in the names of actors have the same result if the protocol treats all
actors alike. In this case, the search explores only one of them. To find out, antecede compares the
handlers of different actors in a small check. `--no-symmetry` explores all scripts.

With `--workload broadcast`, `multicast` or `self`, the search varies the number of messages that
each actor sends. The other workloads have no bounds to vary.

The search ends with exit code 0 if it found the smallest bound, or if it explored all scripts
within `--max-messages` and `--actors` and none is violated. If `--max-seconds` or another limit
ended it earlier, the exit code is 3. All checks are [rows of the
sweep](files.md#rows-of-a-sweep---output-filejsonl---parquet-file), so the same command continues
where it stopped.
"""


def page(data: Found, left: Mapping[str, str]) -> str:
    """Return the page."""
    bugs = counted_bugs(data["bugs"])
    parts = [HEAD, *_result(bugs), *_escape(data["escape"]), *_conclusion(bugs)]
    parts += [*_long_tail(bugs), *_protocols(bugs), *_method(data, bugs, left)]
    return "\n".join(parts) + "\n"


def counted_bugs(bugs: Sequence[Found]) -> list[Found]:
    """Return the bugs of messages with one receiver, which the shares on the page refer to."""
    return [
        bug for bug in bugs if bug["workload"] == "script" and (bug["unicast"] or revealed(bug))
    ]


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


def figure(bugs: Sequence[Found]) -> str:
    """Return the picture: the share of bugs against the number of messages."""
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
    return chart("The share of bugs that a bound reveals", panels, inches=(8, 4))


def _among(actors: int) -> str:
    return f"{actors} actors" if actors == ACTORS[0] else f"up to {actors} actors"


def _result(bugs: Sequence[Found]) -> list[str]:
    best = share(bugs, "deliveries", ACTORS[-1], MESSAGES)
    rows = []
    for messages in range(1, MESSAGES + 1):
        cells = [share(bugs, judged, actors, messages) for judged in JUDGED for actors in ACTORS]
        rows.append(f"| {messages} | {' | '.join(f'{cell:.0f} %' for cell in cells)} |")
    return [
        f"""## Results

The table and the picture show {counted(len(bugs), "bug")} that appear with messages to
one receiver. A cell is the share of the bugs that the scripts within this bound reveal. The first
columns count violations
of the properties of deliveries (causal or FIFO delivery, integrity, delivery of all messages), and
handlers that fail. The last columns also count violations of the protocol's own invariants.
""",
        f"| messages | {' | '.join(_heads())} |",
        f"| ---: |{' ---: |' * len(_heads())}",
        *rows,
        f"""
![The share of bugs that a bound reveals](images/bounds.svg)

Within the largest of these bounds, {best:.0f} % of the bugs violate a property of
deliveries. Each of the other bugs violates only an invariant, or the search ran out of time before
it reached a bound that
is large enough.
""",
    ]


def _heads() -> list[str]:
    return [
        f"{_among(actors)}{'' if judged == 'deliveries' else ', with invariants'}"
        for judged in JUDGED
        for actors in ACTORS
    ]


def _escape(found: Found) -> list[str]:
    *_, free = found["free"]
    (script,) = found["violated"]
    command = (
        f"antecede check {ESCAPES} --actors 3 --workload '{script['workload']}' "
        "--property causal-delivery --expect violated"
    )
    return [
        f"""## A bug that 3 x 3 does not reveal

The Cykas paper says that a process acknowledges every message, but its algorithms do not
acknowledge a YCT. We added this ACK. The bound of the paper is 3 actors with 3 messages each and
free choice of the receivers. Within this bound, the new protocol {free["verdict"]}: none of its
{counted(free["states"], "state")} violates a property. But the protocol is wrong. It violates
causal delivery if one actor sends 4 messages, one more than the bound allows:

```sh
{command}
```

The counterexample has {counted(script["length"], "transition")}. Up to this bound, the search with
3 actors explores {counted(found["scripts"], "script")} with {counted(found["states"], "state")} in
total, and only this script is violated. So the search finds a bug that a check with a thousand
times as many states does not find. The reason is that a script lets one actor send many messages
while the other actors send none. Free choice with 4 messages for each actor finds the bug, too, but
it is much larger.
"""
    ]


def _conclusion(bugs: Sequence[Found]) -> list[str]:
    """Return what the numbers say about bounded verification."""
    two, three = (share(bugs, "deliveries", actors, MESSAGES) for actors in ACTORS[:2])
    few, invariants = (share(bugs, judged, 3, 3) for judged in JUDGED)
    four = [bug for bug in bugs if _needs(bug, ACTORS[2])]
    tail = [bug for bug in bugs if (least := _least(bug, "deliveries")) and least["messages"] > 3]
    return [
        f"""## What this says about bounded checks

* **Two actors are not enough.** Two actors reveal {two:.0f} % of the bugs, and three actors reveal
  {three:.0f} %. Causal order is a relation among three actors.
* **More messages reveal more than more actors.** {_need(len(tail))} a fourth message, and
  {_need(len(four)).lower()} a fourth actor. So add a message before you add an actor.
* **Most bugs are small.** Three messages among three actors reveal {few:.0f} % of the bugs.
* **Some bugs are not.** A check that holds excludes most bugs, but it is no proof.
  [`antecede prove`](proofs.md) proves some protocols for all bounds.
* **Invariants reveal bugs earlier.** If the invariants are checked, three messages among three
  actors reveal {invariants:.0f} % of the bugs.
* **Uneven scripts matter.** Free choice gives every actor the same number of messages, so it grows
  fast. A script lets one actor send many messages at a small cost.

The bugs are not a random sample. Most of them are mutants, and we wrote the mutants such that our
checks can detect them. So the share of all bugs that a bound reveals may be smaller.
"""
    ]


def _need(bugs: int) -> str:
    return f"{counted(bugs, 'bug')} {'needs' if bugs == 1 else 'need'}" if bugs else "No bug needs"


def _needs(bug: Found, actors: int) -> bool:
    """Return whether deliveries reveal a bug with so many actors, and not with fewer."""
    numbers = [found["actors"] for found in bug["deliveries"]["bounds"]]
    return min(numbers, default=0) == actors


def _least(bug: Found, judged: str) -> Found | None:
    """Return the smallest bound that reveals a bug, in the order of the search."""
    order = ("messages", "actors")
    bounds: list[Found] = bug[judged]["bounds"]
    return min(bounds, key=lambda found: [found[name] for name in order], default=None)


def _long_tail(bugs: Sequence[Found]) -> list[str]:
    lines = ["## The bugs that need the largest bounds", ""]
    lines.append("These bugs need at least four messages to violate a property of deliveries:")
    lines += ["", "| protocol | mutant | network | smallest script | violates | transitions |"]
    lines.append("| --- | --- | --- | --- | --- | ---: |")
    for bug in bugs:
        least = _least(bug, "deliveries")
        if least is not None and least["messages"] > 3:
            cells = [_name(bug), bug["mutant"] or "-", bug["network"]]
            cells += [f"`{least['workload'].removeprefix('script:')}`", least["violates"]]
            lines.append(f"| {' | '.join(cells)} | {least['length']} |")
    return [*lines, ""]


def _name(bug: Found) -> str:
    """Return the name of a protocol; of a file, the name in it."""
    path, _, name = bug["protocol"].partition(":")
    return f"{Path(path).stem}:{name}" if name else str(path)


def _protocols(bugs: Sequence[Found]) -> list[str]:
    lines = ["## The smallest bounds of each protocol", ""]
    lines.append(
        "The column *n* counts the bugs for which *n* is the fewest messages in total with which a "
        "property of deliveries is violated. *invariant* counts the bugs that only an invariant "
        "reveals. *open* counts the bugs that no completed check reveals."
    )
    many = [str(messages) for messages in range(1, MESSAGES + 1)]
    lines += ["", f"| protocol | bugs | {' | '.join(many)} | invariant | open |"]
    lines.append(f"| --- |{' ---: |' * (len(many) + 3)}")
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
        cells = [name, len(group), *numbers, only, len(unseen) - only]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return [*lines, ""]


def _method(data: Found, bugs: Sequence[Found], left: Mapping[str, str]) -> list[str]:
    every: list[Found] = data["bugs"]
    reasons = Counter(left.values())
    broadcast = [bug for bug in every if bug["workload"] == "broadcast"]
    sizes = Counter(
        f"{least['actors']} x {least['messages'] // least['actors']}"
        for bug in broadcast
        if (least := _least(bug, "deliveries"))
    )
    several = len(every) - len(broadcast) - len(bugs)
    missing = data["searched_of"] - len(every)
    late = f"* {counted(missing, 'bug')} were not searched, because the time was over.\n"
    lost = late if missing else ""
    told = ", ".join(f"{number} at {bound}" for bound, number in sorted(sizes.items()))
    return [
        f"""## How these numbers were measured

`python benchmarks/smallest.py` wrote this page from {counted(len(every), "bug")}. The bugs are the
[mutants](mutants.md) that violate a property, and the protocols that fail in a spec in
[specs](../specs). Each bug is checked on the network on which it is known to fail. The search tries
{", ".join(map(str, ACTORS))} actors and up to {MESSAGES} messages. It takes at most {SECONDS:g}
seconds for each bug and each list of properties.

* {counted(len(broadcast), "bug")} are bugs in broadcasts, and not in the table. Their smallest
  bounds, in actors x messages per actor, are: {told}.
* {counted(several, "mutant")} are left out because the checks detect them only with messages to
  several receivers, or to the sender itself, and no script revealed them.
* {counted(reasons["equivalent"], "mutant")} are left out because they are equivalent to the real
  protocol, {reasons["liveness"]} because they only prevent the delivery of messages
  (`can-deliver`), and {reasons[NO_END]} because their runs never end. They violate no safety
  property.
{lost}
The search for these bugs stopped at the bound in the last column, because its time was over or a
check had more than {counted(MOST_STATES, "state")}. The table of results counts only bounds that
were completed, and bounds with a violation:
""",
        "| protocol | mutant | network | properties | stopped at |",
        "| --- | --- | --- | --- | --- |",
        *_stopped(bugs),
    ]


def _stopped(bugs: Sequence[Found]) -> list[str]:
    """Return a row for each search that ended early."""
    rows = []
    for bug in bugs:
        for judged, words in JUDGED.items():
            if (end := bug[judged]["stopped"]) is not None:
                cells = [_name(bug), bug["mutant"] or "-", bug["network"], words, size(*end[:2])]
                rows.append(f"| {' | '.join(cells)} |")
    return rows


def write(data: Found, left: Mapping[str, str]) -> None:
    """Write the page and its picture."""
    write_whole(str(PAGE), wrapped(page(data, left)))
    write_whole(str(PICTURE), figure(counted_bugs(data["bugs"])))


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
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    if arguments.redraw:
        data = json.loads(DATA.read_text(encoding="utf-8"))
        write(data, data["left"])
        return
    bugs, left = every_bug()
    found = run(bugs, arguments.processes, arguments.minutes, again=arguments.again)
    data = {"searched_of": len(bugs), "escape": escape(), "left": left, "bugs": found}
    _keep(data)
    write(data, left)


if __name__ == "__main__":
    main()
