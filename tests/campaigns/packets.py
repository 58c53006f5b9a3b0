"""Random protocols on networks that store equal packets as one, which must not lose a message.

A station treats messages as opaque. It sends, keeps and delivers them according to tables, indexed
by its phase. Three things must hold for every station:

* A timeout that is never enabled changes nothing, because no two packets of a run are equal.
* Under an endless workload, the system that follows one message reaches the states of the system
  that numbers all messages, apart from the numbers, with as many transitions. Here stations may
  also repeat what is not answered.
* A check finds a violation of the same length as the system that numbers all messages does.

Two more things must hold of a station without a timeout, whose packets are counted separately:

* The same station as a class of Python objects has the same verdict and the same length.
* If it asks for the number of a message, in whatever way, the check is refused.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from attrs import asdict, evolve, frozen

from antecede.checker.adapters.objects import COPIES
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Delivery, Message, Packet, Protocol, State, Step
from antecede.checker.paths.path import for_replay
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.semantics.values import parts
from antecede.testing.adapter import Out, protocol
from tests.questions import HIDING, Question

Table: TypeAlias = tuple[tuple[tuple[str, int], ...], ...]
"""Per phase, (action, next phase) for a message to send and for a message received."""

Pairs: TypeAlias = tuple[tuple[int, Message], ...]

SENDS = ("send", "keep", "kept-first", "kept-last")
RECEIPTS = ("deliver", "keep", "kept-first", "kept-last", "answer")
TIMEOUTS = ("none", "never", "resend")
WRONG: dict[str, Callable[[Delivery], bool]] = {
    "causal-delivery": lambda delivery: delivery.causally_late,
    "integrity": lambda delivery: not delivery.expected,
    "fifo-delivery": lambda delivery: delivery.fifo_late,
}
MOST = 400
"""The number of states to explore with numbered messages; the last level is completed.

The levels of the system that follows one message contain more states. Some had 13 times as many.
"""


@frozen
class Cell:
    """One actor's state; `kept` and `unanswered` hold (destination, message) pairs."""

    me: int
    phase: int = 0
    kept: Pairs = ()
    unanswered: Pairs = ()


@frozen
class Data:
    """A message."""

    message: Message


@frozen
class Answer:
    """A message was received."""


@frozen
class Station:
    """A random station with its system; all fields are JSON.

    Attributes:
        table: the actions of the stations.
        timeout: one of TIMEOUTS.
        actors: the number of actors.
        network: a network kind.
        workload: an endless workload.
        prop: the property to check.
        asks: one of QUESTIONS; a station that does not ask has the empty one.
    """

    table: Table
    timeout: str
    actors: int
    network: str
    workload: str
    prop: str
    asks: str = ""

    @property
    def protocol(self) -> Protocol:
        """The station as a protocol."""
        return station(self.table, self.timeout)

    @property
    def curious(self) -> Protocol:
        """The station, which asks for numbers; it loses messages with great ones."""
        return losing(self.protocol, QUESTIONS[self.asks])

    @property
    def spec(self) -> Spec:
        """The question about it."""
        return Spec(
            protocol="station",
            actors=self.actors,
            network=self.network,
            workload=self.workload,
            properties=(self.prop,),
        )


def station(table: Table, timeout: str) -> Protocol:
    """Return the protocol of a table."""

    def causal_send(cell: Cell, message: Message) -> Step:
        action, phase = table[cell.phase][0]
        fresh = tuple((to, message) for to in message.destinations)
        mine, rest = _split(cell, lambda to: to != cell.me)
        after = evolve(rest, phase=phase)
        if action == "keep":
            return Step(evolve(cell, phase=phase, kept=(*cell.kept, *fresh)))
        pairs = {"kept-first": (*mine, *fresh), "kept-last": (*fresh, *mine)}.get(action, fresh)
        after = after if action != "send" else evolve(cell, phase=phase)
        if timeout == "resend":
            after = evolve(after, unanswered=(*after.unanswered, *pairs))
        return Step(after, tuple((to, Data(m)) for to, m in pairs))

    def receive(cell: Cell, src: int, packet: Packet) -> Step:
        if isinstance(packet, Answer):
            first = next((pair for pair in cell.unanswered if pair[0] == src), None)
            at = cell.unanswered.index(first) if first else 0
            return Step(evolve(cell, unanswered=cell.unanswered[:at] + cell.unanswered[at + 1 :]))
        action, phase = table[cell.phase][1]
        here, rest = _split(cell, lambda to: to == cell.me)
        cell, rest = evolve(cell, phase=phase), evolve(rest, phase=phase)
        message, held = packet.message, tuple(m for _, m in here)
        if action == "keep":
            return Step(evolve(cell, kept=(*cell.kept, (cell.me, message))))
        if action == "kept-first":
            return Step(rest, deliveries=(*held, message))
        if action == "kept-last":
            return Step(rest, deliveries=(message, *held))
        answers = ((src, Answer()),) if action == "answer" else ()
        return Step(cell, answers, (message,))

    def repeat(cell: Cell) -> Step | None:
        sends = tuple((to, Data(m)) for to, m in cell.unanswered)
        return Step(cell, sends) if sends else None

    return Protocol(
        name="station",
        summary="a random table",
        source="a campaign of random systems",
        initial=lambda actor, _actors: Cell(actor),
        causal_send=causal_send,
        receive=receive,
        timeout={"none": None, "never": lambda _cell: None, "resend": repeat}[timeout],
    )


FOURTH = frozenset(Message(sender, 4, (to,)) for sender in range(3) for to in range(3))
QUESTIONS: dict[str, Question] = {
    "constants": lambda message: any(message == fourth for fourth in FOURTH),
    "set-of-constants": FOURTH.__contains__,
    **{way: hide(lambda message: message.number > 3, False) for way, hide in HIDING.items()},
}
"""Ways to ask for the number of a message; no search of a few states meets such a number."""


def losing(bare: Protocol, is_lost: Question) -> Protocol:
    """Return a protocol that ignores some messages of its application."""

    def causal_send(cell: Cell, message: Message) -> Step:
        return Step(cell) if is_lost(message) else bare.causal_send(cell, message)

    return evolve(bare, causal_send=causal_send)


class Machine:
    """A station without a timeout as a Python object."""

    def __init__(self, table: Table, actor: int) -> None:
        self.table, self.cell = table, Cell(actor)

    def causal_send(self, out: Out, message: Message) -> None:
        """Send or keep a message."""
        self._take(out, station(self.table, "none").causal_send(self.cell, message))

    def receive(self, out: Out, src: int, packet: Packet) -> None:
        """Deliver or keep what a packet has."""
        self._take(out, station(self.table, "none").receive(self.cell, src, Data(packet["data"])))

    def _take(self, out: Out, step: Step) -> None:
        self.cell = step.state
        for to, packet in step.sends:
            out.send(to, {"data": packet.message})
        for message in step.deliveries:
            out.deliver(message)


def objects(table: Table, copies: str) -> Protocol:
    """Return the protocol whose actors are Python objects."""

    def make(actor: int, _actors: int) -> Machine:
        return Machine(table, actor)

    keyed = copies == "deepcopy"
    return protocol(make, copies=copies, key=(lambda machine: machine.cell) if keyed else None)


def _split(
    cell: Cell, wanted: Callable[[int], bool]
) -> tuple[tuple[tuple[int, Message], ...], Cell]:
    """Return the kept pairs of some destinations, and the cell without them."""
    chosen = tuple(pair for pair in cell.kept if wanted(pair[0]))
    return chosen, evolve(cell, kept=tuple(pair for pair in cell.kept if pair not in chosen))


def drawn(seed: str) -> Station:
    """Return the station of a seed."""
    chance = random.Random(f"packets {seed}")
    phases, actors = chance.choice((1, 2, 2, 3)), chance.choice((2, 3, 3))
    timeout = chance.choice(TIMEOUTS)
    receipts = RECEIPTS if timeout == "resend" else RECEIPTS[:-1]

    def entry(actions: tuple[str, ...]) -> tuple[str, int]:
        return chance.choice(actions), chance.randrange(phases)

    asks = chance.choice(sorted(QUESTIONS))
    networks = ["unordered", "fifo", "lossy:1", "fifo+lossy:1"]
    if timeout == "resend":
        networks += ["fifo+duplicating", "duplicating+lossy:1", "duplicating"]
    network, prop = chance.choice(networks), chance.choice(list(WRONG))
    if network == "duplicating":  # a copy may count as another message, once integrity is violated
        prop = "integrity"
    return Station(
        table=tuple((entry(SENDS), entry(receipts)) for _ in range(phases)),
        timeout=timeout,
        actors=actors,
        network=network,
        workload=f"endless:2:{json.dumps(_rows(chance, actors))}",
        prop=prop,
        asks=asks,
    )


def _rows(chance: random.Random, actors: int) -> list[list[int]]:
    """Draw the destinations of each actor; at least one actor sends."""
    others = [[j for j in range(actors) if j != i] for i in range(actors)]
    rows = [sorted(chance.sample(to, chance.randint(0, len(to)))) for to in others]
    return rows if any(rows) else others


def levels(system: System, most: int) -> Iterator[tuple[set[State], bool]]:
    """Yield the states of each level, and whether a transition to one violates the property."""
    wrong = WRONG[system.properties[0].name]
    level = seen = {initial_state(system)}
    violated = False
    while level and len(seen) < most:
        yield level, violated
        outcomes = [successor(system, s, t) for s in level for t in enabled(system, s)]
        violated = any(wrong(delivery) for each in outcomes for delivery in each.deliveries)
        level = {each.state for each in outcomes} - seen
        seen = seen | level


def numbering(system: System) -> System:
    """Return the system with all messages numbered."""
    oracle = oracle_named("clocks", system.actors, 1, track_order=True)
    return evolve(for_replay(system), oracle=oracle)


def bare(value: Any) -> Any:
    """Return a state or packet without the numbers of its messages."""
    if isinstance(value, Message):
        return value.sender, value.destinations
    inside = parts(value)
    return (type(value).__name__, *map(bare, inside)) if inside else value


def outline(system: System, state: State) -> str:
    """Return the part of a state that does not depend on the numbers of messages."""
    channels = [[repr(bare(packet)) for packet in channel] for channel in state.channels]
    if system.network.name == "duplicating":  # nothing ever leaves, so copies make no difference
        channels = [sorted(set(channel)) for channel in channels]
    elif not system.network.name.startswith("fifo"):
        channels = [sorted(channel) for channel in channels]
    undelivered = [
        sorted(repr((p.message.destinations, p.remaining)) for p in ghost.pending)
        for ghost in state.history
    ]
    return repr((bare(state.actors), channels, undelivered, state.losses))


def outlines(system: System, depth: int) -> list[int]:
    """Return the number of new outlines per depth, up to the last depth with a new one."""
    met, counts = set[str](), list[int]()
    for level, _ in islice(levels(system, 100 * MOST), depth):
        new = {outline(system, state) for state in level} - met
        if not new:
            break
        met |= new
        counts.append(len(new))
    return counts


def checked_length(case: Station, depth: int, tried: Protocol | None = None) -> Any:
    """Return the length of a shortest violation that a check finds up to a depth."""
    try:
        report = check(
            case.spec,
            Options(),
            Bounds(max_depth=depth),
            protocol=tried or case.protocol,
            selfcheck="off",
        )
    except Exception as error:  # any exception of a check is a finding
        return f"{type(error).__name__}: {error}"
    if report.result.verdict is Verdict.ERROR:
        return "refused" if "messages" in str(report.result.error) else report.result.error
    path = report.result.counterexample
    return None if path is None else path.length


def finite_figures(case: Station, timeout: str) -> Any:
    """Return the figures of a check whose workload sends each row once."""
    script = case.workload.replace("endless:2", "script")
    spec = evolve(case.spec, workload=script, properties=(*WRONG, "all-delivered"))
    try:
        report = check(spec, protocol=station(case.table, timeout), selfcheck="off")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    path = report.result.counterexample
    verdicts = {name: str(verdict) for name, verdict in report.result.properties.items()}
    assert report.result.verdict is not Verdict.ERROR
    return verdicts, report.result.counts, path and path.length


def comparisons(case: Station) -> Iterator[tuple[str, Any, Any]]:
    """Yield (description, expected value, actual value) for each comparison."""
    system = system_of(case.spec, case.protocol)
    violated = [wrong for _, wrong in levels(numbering(system), MOST)]
    length = violated.index(True) if True in violated else None
    before = len(violated) if length is None else length  # a second copy may count as a message
    yield (
        "states with all messages numbered and with one followed",
        outlines(numbering(system), before),
        outlines(system, before),
    )
    depth = len(violated) if length is None else length + 1
    yield "all messages numbered and a check", length, checked_length(case, depth)
    if case.timeout == "none":
        few = min(depth, 6)  # objects are slow
        for copies in COPIES:
            yield (
                f"a check of a protocol and of objects copied by {copies}",
                checked_length(case, few),
                checked_length(case, few, objects(case.table, copies)),
            )
    yield "a question about a number", "refused", checked_length(case, 3, case.curious)
    if case.timeout == "never":
        bare_case = evolve(case, timeout="none")
        yield (
            "endless without a timeout and with one that is never enabled",
            checked_length(bare_case, depth),
            checked_length(case, depth),
        )
        yield (
            "finite without a timeout and with one that is never enabled",
            finite_figures(case, "none"),
            finite_figures(case, "never"),
        )


def compare_packets(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare one random station; write the first disagreement as a protocol file."""
    case = drawn(seed)
    for name, expected, actual in comparisons(case):
        tally[name] += 1
        if expected != actual:
            return [_written(case, folder, seed, f"{name}: {expected} and {actual}")]
    return []


def _written(case: Station, folder: Path, seed: str, wrong: str) -> str:
    """Write the protocol of a disagreement; return a description and a command that shows it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"packets-{seed.replace('/', '-')}.py"
    file.write_text(
        '"""Run it in the folder of the project; the tests are imported."""\n\n'
        "from tests.campaigns.packets import station\n\n"
        f"PROTOCOL = station({case.table!r}, {case.timeout!r})\n",
        encoding="utf-8",
    )
    line = (
        f"antecede check {file}:PROTOCOL --actors {case.actors} --network {case.network} "
        f"--workload '{case.workload}' --property {case.prop}"
    )
    return f"{wrong}\n  {json.dumps(asdict(case))}\n  {line}"
