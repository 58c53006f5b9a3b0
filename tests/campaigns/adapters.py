"""Random rules as ordinary objects under the adapter, compared with the same rules as a protocol.

The objects have habits that real code has: they change what they sent or were given, keep `out`,
share variables, use asyncio and threads. Either the adapter finds what is found in the pure
protocol, or it refuses the object, exactly where its habit shows.

Some objects have a key or pickles that leave out a part of their state. The adapter may refuse
these objects, or report a verdict under the condition that nothing is left out. It may report a run
that violates a property only if the pure protocol has the same run.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import attrs
from attrs import evolve, frozen

from antecede.checker.adapters.packets import PickledPacket
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import CausalSend, Message, Protocol, Receive, Step, Timeout
from antecede.checker.paths.path import Path as Run
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.support.errors import InputError
from antecede.testing.adapter import Out, protocol
from tests.campaigns.draw import Case, drawn, smaller
from tests.campaigns.machine import Ack, Cell, Data, Nack
from tests.campaigns.user_properties import USER

SMALL, LARGE = 200, 4_000
"""States of a protocol that is compared, and states up to which its objects are explored."""

SHRINK_SECONDS = 30.0

FAR = 3600.0
"""Seconds after which work would be done that is left behind."""

RELEASE = threading.Event()
"""Ends the threads that are left behind; they would wait for it before they deliver."""


@frozen
class Habits:
    """An object's habits besides following its rules; the defaults are harmless.

    Attributes:
        copies: how the adapter copies it.
        keyed: it has a key.
        forgets: the field of a cell that `where` leaves out; empty if nothing is left out.
        where: what leaves it out: its key, the key of objects that are all equal, or its pickles.
        packets: of what its packets are made.
        changes: which objects it changes: those that it sent, that it was given, that it kept.
        out: which `out` it uses.
        shares: its variables that others share.
        runs: what runs its code.
    """

    copies: str = "pickle"
    keyed: bool = False
    forgets: str = ""
    where: str = "key"
    packets: str = "value"
    changes: tuple[str, ...] = ()
    out: str = "given"
    shares: str = "nothing"
    runs: str = "method"
    engine: str = "plain"


CHOICES: dict[str, tuple[Any, ...]] = {
    "copies": ("pickle", "pickle", "deepcopy", "replay"),
    "keyed": (False, True),
    "forgets": (*("",) * 6, "mode", "held", "seen", "mark", "credit", "unanswered"),
    "where": ("key", "equal objects", "getstate", "reduce"),
    "packets": ("value", "pair", "dictionary", "list", "object", "slots"),
    "changes": ((), ("sent",), ("given",), ("kept",), ("sent", "given"), ("sent", "kept")),
    "out": (*("given",) * 4, "first", "caught", "bound", "latest"),
    "shares": (*("nothing",) * 4, "cache", "default", "counter"),
    "runs": (
        *("method",) * 6,
        *("asyncio", "tasks", "thread", "async method"),
        *("task left", "loop left", "timer left", "thread left"),
    ),
    "engine": ("plain", "plain", "local"),
}
PICKLES = ("getstate", "reduce")
KEPT = ("first", "caught", "bound")
LEFT = ("task left", "loop left", "timer left", "thread left")


def habits_of(chance: random.Random) -> Habits:
    """Draw habits; at most one of those that are refused."""
    habits = Habits(**{name: chance.choice(choices) for name, choices in CHOICES.items()})
    if habits.copies == "deepcopy":
        habits = evolve(habits, keyed=True)
    if not habits.forgets:
        habits = evolve(habits, where="key")
    if habits.shares == "cache" and not habits.keyed and "kept" in habits.changes:
        # Pickles say which parts are one object. A cached step shares none with the packet.
        habits = evolve(habits, changes=())
    refused = [name for name in ("out", "shares", "runs") if is_refused(habits, name)]
    for name in refused if habits.forgets else refused[1:]:
        habits = evolve(habits, **{name: getattr(Habits(), name)})
    return habits


def is_refused(habits: Habits, name: str) -> bool:
    """Return whether the adapter refuses a habit once it shows."""
    harmless = ("given", "nothing", "cache", "default", "method", "asyncio", "tasks", "thread")
    return getattr(habits, name) not in harmless


def shows(habits: Habits, handler: str, called: bool, step: Step | None) -> bool:
    """Return whether a call shows that its object must be refused.

    Args:
        habits: of the object.
        handler: the method.
        called: another call has done something before.
        step: the call's result.
    """
    sends, deliveries = (step.sends, step.deliveries) if step is not None else ((), ())
    if habits.out in ("first", "caught"):
        return called and bool(sends or deliveries)
    if habits.out == "bound":
        return called and bool(deliveries)
    if habits.out == "latest":
        return bool(sends or deliveries)
    if habits.runs == "async method":
        return handler == "receive"
    return bool(deliveries) and (habits.shares == "counter" or habits.runs in LEFT)


class Refused(Exception):
    """Raised by the pure protocol where the object must be refused."""


def strict(pure: Protocol, habits: Habits) -> Protocol:
    """Return the protocol that fails where an object with these habits must be refused.

    Its states have what the object keeps: whether it has an `out`, and the latest packet.
    """
    keeps = "kept" in habits.changes and not habits.keyed

    def taken(handler: str, state: Any, *arguments: Any) -> Any:
        cell, called, packet = state
        step: Step | None = getattr(pure, handler)(cell, *arguments)
        if shows(habits, handler, called, step):
            raise Refused
        packet = arguments[1] if keeps and handler == "receive" else packet
        return step and evolve(step, state=(step.state, habits.out in KEPT, packet))

    def initial(actor: int, actors: int) -> Any:
        return pure.initial(actor, actors), False, None

    return Protocol(
        name="strict",
        summary=pure.summary,
        source=pure.source,
        initial=initial,
        causal_send=partial(taken, "causal_send"),
        receive=partial(taken, "receive"),
        timeout=pure.timeout and partial(taken, "timeout"),
    )


# Packets as real code makes them.


class Box:
    """A packet with a dictionary."""

    def __init__(self, kind: str, content: list[Any]) -> None:
        self.kind, self.content = kind, content


class Slim:
    """A packet without one."""

    __slots__ = ("content", "kind")

    def __init__(self, kind: str, content: list[Any]) -> None:
        self.kind, self.content = kind, content


VALUES: dict[str, Callable[[Any], Any]] = {
    "value": lambda packet: packet,
    "pair": lambda packet: (packet, packet),
}
"""Packets that are values; a receiver that keeps a pair keeps one object twice."""


def packed(form: str, packet: Any) -> Any:
    """Return a packet of a machine as an object that can change."""
    if form in VALUES:
        return VALUES[form](packet)
    many = isinstance(packet, Data)
    kind, content = type(packet).__name__, [list(e) for e in packet.messages] if many else [*packet]
    made: dict[str, Callable[[], Any]] = {
        "dictionary": lambda: {"kind": kind, "content": content},
        "list": lambda: [kind, content],
        "object": lambda: Box(kind, content),
        "slots": lambda: Slim(kind, content),
    }
    return made[form]()


def unpacked(form: str, packet: Any) -> Any:
    """Return the packet of a machine that an object stands for."""
    if form in VALUES:
        return packet if form == "value" else packet[0]
    if form == "dictionary":
        kind, content = packet["kind"], packet["content"]
    elif form == "list":
        kind, content = packet
    else:
        kind, content = packet.kind, packet.content
    if kind == "Data":
        return Data(tuple((to, message) for to, message in content))
    return {"Ack": Ack, "Nack": Nack}[kind](*content)


def spoil(packet: Any) -> None:
    """Change whatever can be changed in a packet."""
    if isinstance(packet, dict):
        packet.get("content", []).clear()
        packet.clear()
    elif isinstance(packet, list):
        packet[1].clear()
        packet[:] = ["Ack", [7]]
    elif isinstance(packet, Box | Slim):
        packet.content.clear()
        packet.kind = "spoilt"


PLANS: dict[int, tuple[Protocol, Habits]] = {}
"""The rules and habits of objects; an object knows their number."""


LOG: list[str] = []
"""A default argument that objects share."""


class Node:
    """The rules of a machine as an object that changes itself."""

    latest: ClassVar[Out | None] = None
    calls: ClassVar[int] = 0
    cache: ClassVar[dict[Any, Any]] = {}

    def __init__(self, plan: int, cell: Cell, log: list[str] = LOG) -> None:
        self.plan, self.log = plan, log
        self.tool: Any = None
        self.packet: Any = None
        self.take(cell)

    def take(self, cell: Cell) -> None:
        """Keep a cell's content in lists, sets and a dictionary."""
        self.fields = {f.name: getattr(cell, f.name) for f in attrs.fields(Cell)}
        for name in ("held", "unanswered"):
            self.fields[name] = [list(entry) for entry in self.fields[name]]
        self.fields["seen"] = set(cell.seen)

    def cell(self) -> Cell:
        """Return the object's content as a cell."""
        lists = {name: tuple(map(tuple, self.fields[name])) for name in ("held", "unanswered")}
        return Cell(**{**self.fields, **lists, "seen": frozenset(self.fields["seen"])})

    def causal_send(self, out: Out, message: Message) -> None:
        """Take a message."""
        self.follow(out, "causal_send", message)

    def receive(self, out: Out, src: int, packet: Any) -> Any:
        """Take a packet."""
        habits = PLANS[self.plan][1]
        if "kept" in habits.changes:
            spoil(self.packet)
            self.packet = packet
        value = unpacked(habits.packets, packet)
        if "given" in habits.changes:
            spoil(packet)
        self.follow(out, "receive", src, value)

    def timeout(self, out: Out) -> None:
        """Send again."""
        self.follow(out, "timeout")

    def follow(self, out: Out, handler: str, *arguments: Any) -> None:
        """Do what the rules say, with the object's habits."""
        pure, habits = PLANS[self.plan]
        asked = (self.cell(), *arguments)
        step = getattr(pure, handler)(*asked)
        if habits.shares == "cache":
            step = Node.cache.setdefault((self.plan, handler, asked), step)
        if step is None:
            return
        if habits.shares == "default" and not self.log:
            self.log.append(handler)
        Node.calls += 1
        if habits.shares == "counter" and Node.calls % 2:
            step = evolve(step, deliveries=())
        self.take(step.state)
        send, deliver = self.tools(habits.out, out)

        def perform(step: Step) -> None:
            for to, packet in step.sends:
                made = packed(habits.packets, packet)
                send(to, made)
                if "sent" in habits.changes:
                    spoil(made)
            for message in step.deliveries:
                deliver(message)

        RUNNERS[habits.runs](perform, step)

    def tools(self, which: str, out: Out) -> tuple[Callable[..., None], Callable[..., None]]:
        """Return what to send and deliver with."""
        if which == "bound":
            self.tool = self.tool or out.deliver
            return out.send, self.tool
        if which == "latest":
            used, Node.latest = Node.latest or out, out
            return used.send, used.deliver
        if which == "given":
            return out.send, out.deliver
        self.tool = self.tool or out
        tools = self.tool.send, self.tool.deliver
        return tools if which == "first" else (catching(tools[0]), catching(tools[1]))

    def key(self) -> Any:
        """Return what tells an object's states apart, or less if the object forgets a field."""
        forgets = PLANS[self.plan][1].forgets
        fields = {k: v for k, v in attrs.asdict(self.cell(), recurse=False).items() if k != forgets}
        return tuple(fields.items()), self.tool is not None


class Equal(Node):
    """Its objects are all equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal)

    def __hash__(self) -> int:
        return 0


class Pickling(Node):
    """Its pickles leave out the field that the object forgets, which then is as at the start."""

    def __init__(self, plan: int, cell: Cell, log: list[str] = LOG) -> None:
        super().__init__(plan, cell, log)
        self.first = cell

    def __getstate__(self) -> Any:
        forgets = PLANS[self.plan][1].forgets
        kept = {name: value for name, value in self.fields.items() if name != forgets}
        return {**self.__dict__, "fields": kept}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        self.take(self.first)
        self.fields |= state["fields"]


class Reducing(Pickling):
    """The same with `__reduce__`."""

    def __reduce__(self) -> Any:
        return object.__new__, (Reducing,), Pickling.__getstate__(self)


class AsyncNode(Node):
    """It does not see to it that its coroutines run."""

    async def receive(self, out: Out, src: int, packet: Any) -> Any:
        """Take a packet."""
        super().receive(out, src, packet)


def catching(tool: Callable[..., None]) -> Callable[..., None]:
    """Return a function that goes on after an error."""

    def use(*given: Any) -> None:
        with contextlib.suppress(Exception):
            tool(*given)

    return use


Perform = Callable[[Step], None]


def in_asyncio(perform: Perform, step: Step) -> None:
    async def main() -> None:
        await asyncio.sleep(0)
        perform(step)

    asyncio.run(main())


def in_tasks(perform: Perform, step: Step) -> None:
    async def work() -> None:
        await asyncio.sleep(0.0001)
        perform(step)

    async def main() -> None:
        await asyncio.gather(asyncio.create_task(work()), asyncio.sleep(0))

    asyncio.run(main())


def in_a_thread(perform: Perform, step: Step) -> None:
    thread = threading.Thread(target=catching(perform), args=(step,))
    thread.start()
    thread.join()


def leaving(how: str) -> Callable[[Perform, Step], None]:
    """Return what runs a step, and leaves its last delivery to something that goes on."""

    def run(perform: Perform, step: Step) -> None:
        perform(evolve(step, deliveries=step.deliveries[:-1]))
        if step.deliveries:
            last = Step(step.state, (), step.deliveries[-1:])
            leave[how](lambda: perform(last))

    return run


async def leave_task(work: Callable[[], None]) -> None:
    async def later() -> None:
        await asyncio.sleep(FAR)
        work()

    TASKS.add(asyncio.create_task(later()))


def leave_loop(work: Callable[[], None]) -> None:
    loop = asyncio.new_event_loop()
    LOOPS.callback(loop.close)
    loop.run_until_complete(leave_task(work))


async def leave_timer(work: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(FAR, work)


TASKS: set[asyncio.Task[None]] = set()
LOOPS = contextlib.ExitStack()
"""Closes the loops that are left behind. It is no list, because the adapter repeats calls with the
lists of the start, and would drop the loops that these calls make."""

leave: dict[str, Callable[[Callable[[], None]], Any]] = {
    "task left": lambda work: asyncio.run(leave_task(work)),
    "loop left": leave_loop,
    "timer left": lambda work: asyncio.run(leave_timer(work)),
    "thread left": lambda _work: threading.Thread(target=RELEASE.wait).start(),
}
RUNNERS: dict[str, Callable[[Perform, Step], None]] = {
    "method": lambda perform, step: perform(step),
    "async method": lambda perform, step: perform(step),
    "asyncio": in_asyncio,
    "tasks": in_tasks,
    "thread": in_a_thread,
    **{how: leaving(how) for how in leave},
}


KINDS: dict[str, type[Node]] = {
    "key": Node,
    "equal objects": Equal,
    "getstate": Pickling,
    "reduce": Reducing,
}
"""What leaves out a field -> the class of the objects."""


def objects(pure: Protocol, habits: Habits) -> Protocol:
    """Return the protocol whose actors are objects with the rules of another one."""
    plan = len(PLANS)
    PLANS[plan] = pure, habits
    kind = AsyncNode if habits.runs == "async method" else KINDS[habits.where]

    def make(actor: int, actors: int) -> Node:
        return kind(plan, pure.initial(actor, actors))

    if pure.timeout is not None:
        make.timeout = True  # type: ignore[attr-defined]
    key = kind.key if habits.keyed else None
    return protocol(make, name="objects", copies=habits.copies, key=key)


@frozen
class Outcome:
    """The result of a check.

    Attributes:
        end: `refused`, or the verdict.
        length: of the shortest run to a violation, or to the call that is refused.
        verdicts: of the properties: all of them, or after a violation those that are violated.
        counts: where they are the same for protocol and objects.
        said: why it was refused.
        conditions: of the verdict.
        run: to a violation or a refusal.
    """

    end: str
    length: int | None
    verdicts: tuple[tuple[str, str], ...]
    counts: Any = None
    said: str = attrs.field(default="", eq=False)
    conditions: tuple[str, ...] = attrs.field(default=(), eq=False)
    run: Run | None = attrs.field(default=None, eq=False, repr=False)


def outcome(case: Case, tried: Protocol, habits: Habits, engine: str, most: int) -> Outcome | None:
    """Return what a check of a case's question finds; None if it is too large."""
    report = check(
        case.spec("knowledge"),
        Options(engine=engine, threads=1),
        Bounds(max_states=most),
        protocol=tried,
        selfcheck="off" if tried.name in ("machine", "strict") else "on",
    )
    result, run = report.result, report.result.counterexample
    length = None if run is None else run.length
    if result.verdict is Verdict.ERROR:
        return Outcome("refused", length, (), said=result.error or "")
    if result.stopped_by is not None:
        return None
    violated = result.verdict is Verdict.VIOLATED
    verdicts = {
        name: str(v) for name, v in result.properties.items() if not violated or v == result.verdict
    }
    exact = habits.keyed and not habits.forgets and engine == "plain" and not violated
    counts = attrs.astuple(result.counts) if exact else None
    ordered = tuple(sorted(verdicts.items()))
    return Outcome(
        str(result.verdict), length, ordered, counts, conditions=result.conditions, run=run
    )


def agree(one: Outcome, other: Outcome, *, refusable: bool) -> bool:
    """Return whether two outcomes are the same, as far as that can be.

    Where a violation and a refusal of a habit are equally far from the start, either may be met
    first.
    """
    if None in (one.counts, other.counts):
        one, other = evolve(one, counts=None), evolve(other, counts=None)
    if "refused" not in (one.end, other.end) or not refusable:
        return one == other
    lengths = {one.length, other.length}
    ended = {"refused", str(Verdict.VIOLATED)}
    return {one.end, other.end} <= ended and (len(lengths) == 1 or None in lengths)


def difference(case: Case, habits: Habits) -> str | None:
    """Return how the objects of a case differ from its protocol, in words.

    Returns:
        None if they do not; "too large" if that cannot be said.
    """
    pure = case.protocol
    expected = outcome(case, strict(pure, habits), habits, "plain", SMALL)
    if expected is None:
        return "too large"
    Node.latest, Node.calls = None, 0
    try:
        actual = outcome(case, objects(pure, habits), habits, habits.engine, LARGE)
        if actual is None:
            return "too large"
        if habits.forgets:
            return wrong_if_forgetful(case, habits, expected, actual)
    finally:
        RELEASE.set()
        RELEASE.clear()
        LOOPS.close()
        for store in (PLANS, Node.cache, TASKS, LOG):
            store.clear()
    if habits.shares == "counter" and actual.end == "refused":
        # Its dropped deliveries may violate a property before two equal calls differ.
        actual = evolve(actual, length=None)
    violated = expected.end == str(Verdict.VIOLATED)
    if habits.shares == "default" and violated and "['log']" in actual.said:
        return None  # the violation was repeated with the original objects, which share the list
    refusable = any(is_refused(habits, name) for name in ("out", "shares", "runs"))
    if agree(expected, actual, refusable=refusable):
        return None
    return f"expected {expected}\nactual   {actual}"


def wrong_if_forgetful(
    case: Case, habits: Habits, expected: Outcome, actual: Outcome
) -> str | None:
    """Return why an outcome of objects that forget a field is wrong; None if it is not."""
    if actual.end == "refused":
        cause = "and its copy" if habits.where in PICKLES else "key()"
        if cause in actual.said or expected.end == "refused":
            return None
        return f"the refusal does not name {cause}: {actual.said}"
    if actual.run is not None:
        return wrong_violation(case, habits, actual)
    if not actual.conditions:
        return f"{actual.end} without a condition, with a {habits.where} without {habits.forgets}"
    return None


def wrong_violation(case: Case, habits: Habits, actual: Outcome) -> str | None:
    """Return why the pure protocol cannot do a violation of objects; None if it can."""
    assert actual.run is not None, "a run shows the violation"
    if (step := impossible_step(case.protocol, habits, actual.run)) is not None:
        return f"the pure protocol does something else in step {step} of the run"
    if actual.conditions:
        return None
    for name, verdict in actual.verdicts:
        if verdict == str(Verdict.VIOLATED):
            alone = evolve(case, properties=(name,))
            pure = outcome(alone, case.protocol, habits, "plain", LARGE)
            if pure is not None and pure.end != verdict:
                return f"the pure protocol never violates {name}: {pure}"
    return None


def impossible_step(pure: Protocol, habits: Habits, run: Run) -> int | None:
    """Return the number of the first step that the pure protocol does differently, or None."""
    cells = [pure.initial(actor, run.system.actors) for actor in range(run.system.actors)]
    for each in run.steps:
        step, cell = each.transition, cells[each.actor]
        again: Step | None
        if isinstance(step, CausalSend) and each.message is not None:
            again = pure.causal_send(cell, each.message)
        elif isinstance(step, Receive):
            again = pure.receive(cell, step.src, opened(habits.packets, step.packet))
        elif isinstance(step, Timeout) and pure.timeout is not None:
            again = pure.timeout(cell)
        else:
            continue
        sends = tuple((to, opened(habits.packets, packet)) for to, packet in each.step.sends)
        if again is None or (again.sends, again.deliveries) != (sends, each.step.deliveries):
            return each.number
        cells[each.actor] = again.state
    return None


def opened(form: str, packet: Any) -> Any:
    """Return the packet of a machine that a packet of the adapter stands for."""
    return unpacked(form, packet.opened() if isinstance(packet, PickledPacket) else packet)


def drawn_for_objects(seed: str) -> tuple[Case, Habits]:
    """Return a case of a machine, without what only values can show, and habits."""
    machines = (drawn(f"{seed}/{number}") for number in count())
    case = next(
        each for each in machines if each.kind == "machine" and each.actors * each.messages < 5
    )
    # A Twin is refused because it equals an Ack; objects made of lists are not equal.
    rules = json.loads(json.dumps(case.rules).replace("answer-twin", "answer"))
    properties = tuple(n for n in case.properties if ":" not in n and n not in USER)
    case = evolve(case, rules=rules, properties=properties, restarts="")
    return case, suited(case, habits_of(random.Random(seed)))


def suited(case: Case, habits: Habits) -> Habits:
    """Return the habits with a key if a case needs it.

    On some networks, calls that change nothing are left out. Pickles say which parts are one
    object, so an object that keeps an equal packet, parts of which it kept before, is changed.
    """
    if habits.forgets and habits.where in PICKLES:
        # The adapter calls originals, too, and refuses those that change a default argument.
        shares = "nothing" if habits.shares == "default" else habits.shares
        return evolve(habits, copies="pickle", keyed=False, changes=(), shares=shares)
    if habits.forgets:
        equal = habits.where == "equal objects"
        return evolve(habits, copies="deepcopy" if equal else habits.copies, keyed=True)
    if case.resends or "duplicating" in case.network:
        keeps_parts = habits.copies == "replay" or "kept" in habits.changes
        return evolve(habits, keyed=habits.keyed or keeps_parts)
    return habits


def simpler(case: Case, habits: Habits) -> Iterator[tuple[Case, Habits]]:
    """Yield what is a little simpler."""
    for name in CHOICES:
        if getattr(habits, name) != getattr(Habits(), name):
            simple = suited(case, evolve(habits, **{name: getattr(Habits(), name)}))
            if simple != habits:
                yield case, simple
    for other in smaller(case):
        yield other, suited(other, habits)


def shrunk(case: Case, habits: Habits) -> tuple[Case, Habits]:
    """Return the simplest case and habits found that still differ."""
    until = time.monotonic() + SHRINK_SECONDS
    for each in simpler(case, habits):
        if time.monotonic() > until:
            break
        with contextlib.suppress(InputError):  # such as copies without a key
            if difference(*each) not in (None, "too large"):
                return shrunk(*each)
    return case, habits


PATIENT_STATES = 100
"""More states than patient objects with a key have; without one, they may have any number."""

MOST_TIMEOUTS = 60
"""The most timeouts before a patient object delivers; the checker's bound is higher."""


class Patient:
    """It delivers from a certain timeout on, and its key, if it has one, is constant."""

    def __init__(self, patience: int) -> None:
        self.patience, self.timeouts, self.held = patience, 0, list[Message]()

    def causal_send(self, out: Out, message: Message) -> None:
        """Send the message itself."""
        for to in message.destinations:
            out.send(to, message)

    def receive(self, out: Out, src: int, packet: Message) -> None:
        """Keep the message."""
        self.held.append(packet)

    def timeout(self, out: Out) -> None:
        """Wait, or deliver one message."""
        self.timeouts += 1
        if self.timeouts >= self.patience and self.held:
            out.deliver(self.held.pop(0))


def wrong_if_patient(seed: str) -> str | None:
    """Return a wrong verdict on objects that deliver late; None if they are refused or right."""
    chance = random.Random(f"patient {seed}")
    patience = chance.randint(1, MOST_TIMEOUTS)
    copies = chance.choice(("pickle", "deepcopy", "replay"))
    prop = chance.choice(("all-delivered", "can-deliver"))
    engine = chance.choice(("plain", "local"))
    keyed = copies != "replay" or chance.random() < 0.5

    def make(_actor: int, _actors: int) -> Patient:
        return Patient(patience)

    make.timeout = True  # type: ignore[attr-defined]
    found = check(
        Spec("patient", actors=2, messages=1, properties=(prop,)),
        Options(engine=engine, threads=1),
        Bounds(max_states=PATIENT_STATES),
        protocol=protocol(make, copies=copies, key=(lambda _node: 0) if keyed else None),
    ).result
    if found.verdict is Verdict.INCOMPLETE and not keyed:
        return None
    if found.verdict is Verdict.ERROR and "key()" in str(found.error):
        return None
    if found.verdict is Verdict.HOLDS and found.conditions:
        return None
    how = f"copies by {copies}, with a key" if keyed else "without a key"
    return f"{found.verdict}, {prop}: they deliver from timeout {patience} on, {how}"


def compare_adapters(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare random objects with the protocol that they are; write down a difference.

    Also check some objects that deliver late although their key says that they do nothing.
    """
    late = wrong_if_patient(seed)
    tally["objects that deliver late"] += 1
    if late is not None:
        return [f"wrong_if_patient({seed!r}): {late}"]
    case, habits = drawn_for_objects(seed)
    found = difference(case, habits)
    if found == "too large":
        return []
    tally[f"objects by {habits.copies} with the protocol"] += 1
    if found is None:
        return []
    case, habits = shrunk(case, habits)
    file = folder / f"adapters-{seed.replace('/', '-')}.py"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(
        '"""Run it in the folder of the project."""\n\n'
        "from tests.campaigns.adapters import Habits, difference\n"
        "from tests.campaigns.draw import Case\n\n"
        f"print(difference(Case(**{attrs.asdict(case)!r}), Habits(**{attrs.asdict(habits)!r})))\n",
        encoding="utf-8",
    )
    return [f"{file}: {habits}\n{difference(case, habits)}"]
