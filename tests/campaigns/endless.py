"""Random protocols that count, under applications that never stop: with and without a normal form.

A counting station numbers its packets per receiver, and compares a packet's number with the one
that it waits for. Only how far numbers are apart matters, so the station has a sound normal form.
It can also count modulo SIZE, which needs no form. Some stations have a fault on top: an actor that
acts by a number itself, or a form that forgets what matters.

A plain search without a form, with all messages numbered, determines the length of a shortest
violation of each property. Four things must hold:

* A check finds a violation of this length with the form, without it, and modulo SIZE. This includes
  invariants and witnesses of one actor's state and of all, and a limit on a counter.
* `tests/naive_endless.py` finds the same violations.
* With a faulty form, no check says of a starving message that it never starves.
* A message starves under the form if and only if it starves modulo SIZE.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from attrs import asdict, evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import (
    Delivery,
    Envelope,
    Message,
    NormalForm,
    Packet,
    Protocol,
    State,
    Step,
    with_item,
)
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.transition import enabled, initial_state, successor
from tests import naive_endless
from tests.campaigns.packets import WRONG, numbering

Numbered: TypeAlias = tuple[tuple[int, int, Message], ...]
"""(the other actor, number, message) of each packet that is kept."""

SIZE = 64
"""The modulus. No counter of an explored run reaches half of it."""

MOST = 150
"""The number of states to explore without a form; the last level is completed."""

FORMS = 800
"""The greatest number of states of a graph that is explored completely."""

NEAR, LEVEL, BEYOND = range(3)
"""A packet's number is smaller than, equal to, or greater than the awaited number."""

ACTIONS = ("deliver", "keep", "drop", "deliver-kept", "answer")
PREDICATES: Mapping[str, Callable[[tuple[Any, ...]], bool]] = {
    "invariant:few": lambda cells: any(max(cell.waits_for) > 1 for cell in cells),
    "invariant:near": lambda cells: sum(max(cell.waits_for) for cell in cells) > 2,
    "invariant:early": lambda cells: any(cell.phase == 1 for cell in cells),
    "witness:third": lambda cells: any(max(cell.sent) > 2 for cell in cells),
    "witness:all-keep": lambda cells: all(cell.kept for cell in cells),
}
"""Property -> predicate on all actors' states: they violate the invariant, or show the witness."""


@frozen
class Cell:
    """One actor's state: per other actor the next number to send, and the awaited number."""

    me: int
    sent: tuple[int, ...]
    waits_for: tuple[int, ...]
    phase: int = 0
    kept: Numbered = ()
    unanswered: Numbered = ()


@frozen
class Data:
    """A numbered message."""

    number: int
    message: Message


@frozen
class Answer:
    """A message was received."""


@frozen
class Counting:
    """A random station; all of its fields are JSON.

    Attributes:
        table: per phase, the action for a packet whose number is NEAR, LEVEL or BEYOND, and the
            next phase.
        resends: whether unanswered messages are sent again.
        fault: None, `limit` or the name of a field that the form forgets.
        network, workload, prop: as in a spec.
        bound: a limit on the greatest counter, or None.
    """

    table: tuple[tuple[tuple[str, int], ...], ...]
    resends: bool
    fault: str | None
    actors: int
    network: str
    workload: str
    prop: str
    bound: int | None

    def protocol(self, size: int | None = None, *, normal: bool = False) -> Protocol:
        """Return the station as a protocol."""
        return counting(self.table, self.resends, self.fault, size, normal=normal)

    def spec(self, prop: str | None = None) -> Spec:
        """Return the question about it."""
        return Spec(
            protocol="counting",
            actors=self.actors,
            network=self.network,
            workload=self.workload,
            properties=(prop or self.prop,),
            bound=() if self.bound is None else (f"greatest={self.bound}",),
        )


def counting(
    table: Any, resends: bool, fault: str | None, size: int | None = None, *, normal: bool = False
) -> Protocol:
    """Return the protocol of a table.

    Args:
        table: as in `Counting`.
        resends: as in `Counting`.
        fault: as in `Counting`.
        size: the modulus of the numbers, or None.
        normal: whether the protocol has its normal form.
    """

    def after(number: int) -> int:
        return (number + 1) % size if size else number + 1

    def relation(number: int, expected: int) -> int:
        apart = number - expected
        if size:
            apart = (apart + size // 2) % size - size // 2
        return NEAR if apart < 0 else BEYOND if apart else LEVEL

    def causal_send(cell: Cell, message: Message) -> Step:
        to = message.receiver
        number = cell.sent[to]
        sent = evolve(cell, sent=with_item(cell.sent, to, after(number)))
        if resends:
            sent = evolve(sent, unanswered=(*sent.unanswered, (to, number, message)))
        return Step(sent, ((to, Data(number, message)),))

    def receive(cell: Cell, src: int, packet: Packet) -> Step:
        if isinstance(packet, Answer):
            first = next((each for each in cell.unanswered if each[0] == src), None)
            left = tuple(each for each in cell.unanswered if each != first)
            return Step(evolve(cell, unanswered=left))
        if fault == "limit" and packet.number == 2:
            return Step(cell)
        action, phase = table[cell.phase][relation(packet.number, cell.waits_for[src])]
        cell = evolve(cell, phase=phase)
        if action == "drop":
            return Step(cell)
        if action == "keep":
            return Step(evolve(cell, kept=(*cell.kept, (src, packet.number, packet.message))))
        deliveries: tuple[Message, ...] = (packet.message,)
        if relation(packet.number, cell.waits_for[src]) != NEAR:
            waits_for = with_item(cell.waits_for, src, after(packet.number))
            cell = evolve(cell, waits_for=waits_for)
        if action == "deliver-kept":
            deliveries += tuple(message for _, _, message in cell.kept)
            cell = evolve(cell, kept=())
        sends = ((src, Answer()),) if action == "answer" else ()
        return Step(cell, sends, deliveries)

    def resend(cell: Cell) -> Step | None:
        sends = tuple((to, Data(number, m)) for to, number, m in cell.unanswered)
        return Step(cell, sends) if sends else None

    return Protocol(
        name="counting",
        summary="a random table that compares counters",
        source="a campaign of random systems",
        initial=lambda actor, actors: Cell(actor, (0,) * actors, (0,) * actors),
        causal_send=causal_send,
        receive=receive,
        timeout=resend if resends else None,
        normal=_form(fault) if normal else None,
        invariants={
            "few": lambda cell: max(cell.waits_for) < 2,
            "early": lambda cell: cell.phase != 1,
        },
        joint_invariants={"near": lambda cells: sum(max(c.waits_for) for c in cells) < 3},
        witnesses={"third": lambda cell: max(cell.sent) > 2},
        joint_witnesses={"all-keep": lambda cells: all(cell.kept for cell in cells)},
    )


def _form(fault: str | None) -> Callable[[tuple[Cell, ...], tuple[Envelope, ...]], NormalForm]:
    """Return a normal form, which counts numbers from the receiver's awaited number."""

    def normal(cells: tuple[Cell, ...], _flying: tuple[Envelope, ...]) -> NormalForm:
        def passed(src: int, dst: int) -> int:
            return cells[dst].waits_for[src]

        def state(actor: int, cell: Cell) -> Cell:
            sent = tuple(n - passed(actor, to) for to, n in enumerate(cell.sent))
            kept = tuple((src, n - passed(src, actor), m) for src, n, m in cell.kept)
            again = tuple((to, n - passed(actor, to), m) for to, n, m in cell.unanswered)
            zeros = (0,) * len(cells)
            small = evolve(cell, sent=sent, waits_for=zeros, kept=kept, unanswered=again)
            return evolve(small, **FORGETS.get(fault or "", {}))

        def written(envelope: Envelope) -> Packet:
            if isinstance(envelope.packet, Answer):
                return envelope.packet
            passed_here = passed(envelope.src, envelope.dst)
            return evolve(envelope.packet, number=envelope.packet.number - passed_here)

        return NormalForm(state, written)

    return normal


FORGETS: dict[str, dict[str, Any]] = {"kept": {"kept": ()}, "phase": {"phase": 0}}
"""Field -> the value that a faulty form writes."""


def drawn(seed: str) -> Counting:
    """Return the station of a seed."""
    chance = random.Random(f"endless {seed}")
    phases, actors = chance.choice((1, 2, 2)), chance.choice((2, 2, 3))
    table = tuple(
        (
            (chance.choice(ACTIONS), chance.randrange(phases)),
            (chance.choice(("deliver", *ACTIONS)), chance.randrange(phases)),
            (chance.choice(("keep", *ACTIONS)), chance.randrange(phases)),
        )
        for _ in range(phases)
    )
    networks = ("unordered", "fifo", "lossy:1", "fifo+lossy:1")
    others = [[j for j in range(actors) if j != i] for i in range(actors)]
    rows = [sorted(chance.sample(to, chance.randint(0, len(to)))) for to in others]
    buffer = chance.choice((1, 2))
    return Counting(
        table=table,
        resends=chance.random() < 0.2,
        fault=chance.choice((None, None, None, "limit", *FORGETS)),
        actors=actors,
        network=chance.choice(networks),
        workload=f"endless:{buffer}:{json.dumps(rows if any(rows) else others)}",
        prop=chance.choice((*WRONG, *PREDICATES)),
        bound=chance.choice((None, None, None, 2, 3)),
    )


def shortest(case: Counting) -> tuple[int | None, int]:
    """Return the length of a shortest violation, or None, and the depth of the search."""
    system = numbering(system_of(case.spec(), case.protocol()))
    wrong, judges = PREDICATES.get(case.prop), WRONG.get(case.prop)
    level = seen = {initial_state(system)}
    depth = 0
    while True:
        if wrong is not None and any(wrong(state.actors) for state in level):
            return depth, depth
        if not level or len(seen) >= MOST:
            return None, depth
        level = {state for state in level if _is_within(case, state)}
        outcomes = [successor(system, s, t) for s in level for t in enabled(system, s)]
        depth += 1
        if judges is not None and _breaks(judges, [d for o in outcomes for d in o.deliveries]):
            return depth, depth
        level = {outcome.state for outcome in outcomes} - seen
        seen = seen | level


def _is_within(case: Counting, state: State) -> bool:
    """Return whether a limit on the greatest counter lets a search go on from a state."""
    if case.bound is None:
        return True
    return max(map(_greatest, state.actors)) < case.bound


def _greatest(cell: Cell) -> int:
    numbers = (cell.me, cell.phase, *cell.sent, *cell.waits_for)
    pairs = (*cell.kept, *cell.unanswered)
    return max(*numbers, *(number for other, number, _ in pairs), *(other for other, *_ in pairs))


def _breaks(judges: Callable[[Delivery], bool], deliveries: list[Delivery]) -> bool:
    return any(map(judges, deliveries))


def checked(
    case: Counting, protocol: Protocol, bounds: Bounds, prop: str | None = None
) -> CheckReport | str:
    """Return the report of a check, or its exception as text."""
    try:
        return check(case.spec(prop), Options(), bounds, protocol=protocol, selfcheck="off")
    except Exception as error:  # any exception of a check is a finding
        return f"{type(error).__name__}: {error}"


def length_found(case: Counting, protocol: Protocol, depth: int) -> Any:
    """Return the length of a shortest run to a violation or witness, up to a depth."""
    report = checked(case, protocol, Bounds(max_depth=depth + 1))  # the first state has depth 1
    if isinstance(report, str):
        return report
    if report.result.error:
        return report.result.error
    path = report.result.counterexample or report.result.shown.get(case.prop)
    return path and path.length


def comparisons(case: Counting) -> Iterator[tuple[str, Any, Any]]:
    """Yield (description, expected value, actual value) for each comparison."""
    expected, depth = shortest(case)
    bare = case.protocol()
    yield "plain search and a check without a form", expected, length_found(case, bare, depth)
    if case.fault is None:
        formed = case.protocol(normal=True)
        yield "plain search and a check with a form", expected, length_found(case, formed, depth)
        modulo = case.protocol(SIZE)
        if case.prop in WRONG and case.bound is None:
            found = length_found(case, modulo, depth)
            yield "plain search and a check of counters modulo a number", expected, found
    elif case.bound is None and _starves(case, bare) == "VIOLATED":
        formed_verdict = _starves(case, case.protocol(normal=True))
        yield "starvation with a faulty form", False, formed_verdict == "HOLDS"
    if _naive_knows(case):
        yield "naive checker and plain search of endless runs", _naive_length(case, depth), expected
    if case.fault is None and not case.resends and case.bound is None:
        verdicts = (_starves(case, case.protocol(SIZE)), _starves(case, case.protocol(normal=True)))
        if None not in verdicts:
            yield "starvation modulo a number and with a form", *verdicts


def _naive_knows(case: Counting) -> bool:
    return case.prop in ("causal-delivery", "integrity") and case.bound is None


def _naive_length(case: Counting, depth: int) -> int | None:
    """Return the length of the shortest violation that the naive checker finds up to a depth."""
    buffer, rows = case.workload.removeprefix("endless:").split(":", 1)
    choices: naive_endless.Rows = [[(to,) for to in row] for row in json.loads(rows)]
    counts, _ = naive_endless.explore(
        case.protocol(), choices, int(buffer), case.network, deepest=depth, safety=False
    )
    found: int | None = counts.violation.get(case.prop)
    return found


def _starves(case: Counting, protocol: Protocol) -> str | None:
    """Return the verdict on starvation; None if there are too many states to give one."""
    report = checked(case, protocol, Bounds(max_states=FORMS), "no-starvation")
    if isinstance(report, str):
        return report
    found = report.result.verdict
    return None if found is Verdict.INCOMPLETE else str(found)


def compare_endless(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare one random station that counts; write the first disagreement as a protocol file."""
    case = drawn(seed)
    for name, expected, actual in comparisons(case):
        tally[name] += 1
        if expected != actual:
            return [_written(case, folder, seed, f"{name}: {expected} and {actual}")]
    return []


def _written(case: Counting, folder: Path, seed: str, wrong: str) -> str:
    """Write the protocols of a disagreement; return what was wrong, and how to see it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"endless-{seed.replace('/', '-')}.py"
    drawn_as = f"{case.table!r}, {case.resends}, {case.fault!r}"
    file.write_text(
        '"""Run it in the folder of the project; the tests are imported."""\n\n'
        "from tests.campaigns.endless import SIZE, counting\n\n"
        f"FORM = counting({drawn_as}, normal=True)\n"
        f"BARE = counting({drawn_as})\n"
        f"MODULO = counting({drawn_as}, SIZE)\n",
        encoding="utf-8",
    )
    bound = "" if case.bound is None else f" --bound greatest={case.bound}"
    line = (
        f"antecede check {file}:FORM --actors {case.actors} --network {case.network} "
        f"--workload '{case.workload}' --property {case.prop}{bound}"
    )
    return f"{wrong}\n  {json.dumps(asdict(case))}\n  {line}"
