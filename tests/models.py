"""Tiny systems of known size, with a derivation of each count, and one seeded bug per property."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

from attrs import evolve, frozen

from antecede.checker.model import Message, Property, Protocol, Step, with_item
from antecede.properties import DEFAULT
from antecede.protocols import hybrid_basic
from tests.naive import Counts, Crashes, explore

EVERY_SAFETY = (*DEFAULT, "fifo-delivery")


def plan_of(workload: str, actors: int, messages: int, labels: tuple[str, ...] = ()) -> Any:
    """Return the plan of `tests.naive` for a workload in the notation of `--workload`.

    The application chooses one of the labels for each message to which the workload gives none.
    """

    def statement(choices: Any, awaited: Any, label: Any = None) -> Any:
        if "receive" in awaited:
            return choices, awaited
        offered = (label,) if label is not None else labels or (None,)
        return tuple((to, each) for to in choices for each in offered), awaited

    rows = _rows_of(workload, actors, messages)
    return tuple(tuple(statement(*entry) for entry in row) for row in rows)


def _rows_of(workload: str, actors: int, messages: int) -> Any:
    """Return, per actor, its sends and receives, each perhaps with the label of the message."""
    kind, _, argument = workload.partition(":")
    others = [tuple((j,) for j in range(actors) if j != i) for i in range(actors)]
    nothing = frozenset[Any]()
    if kind == "any":
        return tuple(((choice, nothing),) * messages for choice in others)
    if kind == "broadcast":
        return tuple((((sum(choice, ()),), nothing),) * messages for choice in others)
    if kind == "multicast":
        groups = [_groups(sum(choice, ())) for choice in others]
        return tuple(((choice, nothing),) * messages for choice in groups)
    if kind == "self":
        return (((tuple((j,) for j in range(actors)), nothing),) * messages,) * actors
    sends = json.loads(argument)
    if kind == "script":
        return tuple(tuple(_listed(to, nothing) for to in row) for row in sends)
    if kind == "program":
        return _plan_of_programs(sends)
    rows = [[send for send in sends if send["from"] == i] for i in range(actors)]
    keys = {s["name"]: (i, n) for i, row in enumerate(rows) for n, s in enumerate(row, 1)}
    return tuple(
        tuple(
            (
                (tuple(s["to"]),),
                frozenset(keys[name] for name in s.get("after", ())),
                s.get("label"),
            )
            for s in row
        )
        for row in rows
    )


def _listed(to: Any, awaited: frozenset[Any]) -> Any:
    """Return the statement for a message of a script."""
    to, label = (to["to"], to["label"]) if isinstance(to, dict) else (to, None)
    return ((tuple(sorted(_receivers(to))),), awaited, label)


def _plan_of_programs(programs: Any) -> Any:
    sends = [[s for s in row if "send" in s] for row in programs]
    keys = {s["send"]: (i, n) for i, row in enumerate(sends) for n, s in enumerate(row, 1)}

    def statement(entry: Any) -> Any:
        if "send" in entry:
            return ((tuple(entry["to"]),), frozenset[Any](), entry.get("label"))
        names = entry["receive"]
        names = keys if names == "any" else [names] if isinstance(names, str) else names
        return (frozenset(keys[name] for name in names), frozenset(["receive"]))

    return tuple(tuple(map(statement, row)) for row in programs)


def _receivers(to: int | list[int]) -> tuple[int, ...]:
    return (to,) if isinstance(to, int) else tuple(to)


def _groups(members: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return all non-empty groups of members."""
    sizes = range(1, len(members) + 1)
    return tuple(group for size in sizes for group in combinations(members, size))


def naive_counts(
    protocol: Protocol,
    actors: int,
    messages: int,
    *,
    workload: str = "any",
    network: str = "unordered",
    history: str = "knowledge",
    properties: tuple[str | Property, ...] = DEFAULT,
    crashes: Crashes = Crashes(),
    labels: tuple[str, ...] = (),
) -> Counts:
    """Return the reference checker's counts for a system given in the command line's terms."""
    plan = plan_of(workload, actors, messages, labels)
    return explore(protocol, plan, network, history, properties, crashes)


@frozen
class Toy:
    """The state of a toy protocol: the actor, and the messages that it holds."""

    actor: int
    actors: int
    held: tuple[Message, ...] = ()


@frozen
class Data:
    """A message in a toy protocol's packet."""

    message: Message


def send_at_once(state: Toy, message: Message) -> Step:
    return Step(state, sends=tuple((d, Data(message)) for d in message.destinations))


def deliver_on_arrival(state: Toy, _src: int, packet: Data) -> Step:
    return Step(state, deliveries=(packet.message,))


def toy(
    name: str,
    causal_send: Callable[[Toy, Message], Step] = send_at_once,
    receive: Callable[[Toy, int, Data], Step] = deliver_on_arrival,
) -> Protocol:
    """Return a toy protocol. The default handlers are correct on a `fifo` network."""
    return Protocol(
        name=f"toy-{name}",
        summary="a toy",
        source="tests",
        initial=lambda actor, actors: Toy(actor, actors),
        causal_send=causal_send,
        receive=receive,
    )


def deliver_the_first_copy(state: Toy, _src: int, packet: Data) -> Step:
    """Deliver a message unless `held` records an earlier delivery."""
    if packet.message in state.held:
        return Step(state)
    return Step(evolve(state, held=(*state.held, packet.message)), deliveries=(packet.message,))


@frozen
class Ack:
    """The acknowledgement of the only message of a toy that resends."""


def _resending_receive(state: Toy, src: int, packet: Data | Ack) -> Step:
    if isinstance(packet, Ack):
        return Step(evolve(state, held=()))
    step = deliver_the_first_copy(state, src, packet)
    return evolve(step, sends=((src, Ack()),))


def _resending_send(state: Toy, message: Message) -> Step:
    return evolve(send_at_once(state, message), state=evolve(state, held=(message,)))


def _resend(state: Toy) -> Step | None:
    """Send the unacknowledged messages again; only those that the actor itself sent."""
    unacknowledged = [m for m in state.held if m.sender == state.actor]
    return send_at_once(state, unacknowledged[0]) if unacknowledged else None


def _send_to_the_next_actor(state: Toy, message: Message) -> Step:
    sends = tuple(((d + 1) % state.actors, Data(message)) for d in message.destinations)
    return Step(state, sends=sends)


def _send_twice(state: Toy, message: Message) -> Step:
    once = send_at_once(state, message)
    return Step(state, sends=once.sends * 2)


def _send_in_pairs_swapped(state: Toy, message: Message) -> Step:
    if not state.held:
        return Step(evolve(state, held=(message,)))
    pair = (message, *state.held)
    return Step(evolve(state, held=()), sends=tuple((m.receiver, Data(m)) for m in pair))


def _send_the_first_only(state: Toy, message: Message) -> Step:
    if message.number == 1:
        return send_at_once(state, message)
    return Step(evolve(state, held=(*state.held, message)))


def _forged(message: Message) -> Message:
    return evolve(message, number=message.number + 1)


DIRECT = toy("direct")
LOSES = toy("loses", causal_send=lambda state, _message: Step(state))
KEEPS = toy(
    "keeps",
    receive=lambda state, _src, packet: Step(evolve(state, held=(*state.held, packet.message))),
)
SENDS_THE_FIRST = toy("sends-the-first", causal_send=_send_the_first_only)
DELIVERS_TWICE = toy(
    "delivers-twice",
    receive=lambda state, _src, packet: Step(state, deliveries=(packet.message,) * 2),
)
SENDS_TWICE = toy("sends-twice", causal_send=_send_twice)
WRONG_ACTOR = toy("wrong-actor", causal_send=_send_to_the_next_actor)
DELIVERS_OWN = toy(
    "delivers-own", causal_send=lambda state, message: Step(state, deliveries=(message,))
)
FORGES = toy(
    "forges",
    receive=lambda state, _src, packet: Step(state, deliveries=(_forged(packet.message),)),
)
SWAPS = toy("swaps", causal_send=_send_in_pairs_swapped)
DELIVERS_ONCE = toy("delivers-once", receive=deliver_the_first_copy)
RESENDS = Protocol(
    name="toy-resends",
    summary="a toy",
    source="tests",
    initial=Toy,
    causal_send=_resending_send,
    receive=_resending_receive,
    timeout=_resend,
)


def _collect(state: Toy, _src: int, packet: Data) -> Step:
    return Step(evolve(state, held=(*state.held, packet.message)))


def _flush(state: Toy) -> Step | None:
    """Deliver all collected messages."""
    return Step(evolve(state, held=()), deliveries=state.held) if state.held else None


COLLECTS = evolve(toy("collects", receive=_collect), actions={"flush": _flush})
"""It delivers collected messages at any time, by an action."""


@frozen
class Hello:
    """In flight at the start, from every actor to every other one."""


def _greeted(state: Toy, src: int, packet: Data | Hello) -> Step:
    return Step(state) if isinstance(packet, Hello) else deliver_on_arrival(state, src, packet)


def _greetings(actor: int, actors: int) -> tuple[tuple[int, Hello], ...]:
    return tuple((other, Hello()) for other in range(actors) if other != actor)


GREETS = evolve(toy("greets", receive=_greeted), in_flight=_greetings)
"""A greeting is in flight from every actor to every other one at the start."""


@frozen
class Model:
    """A system with the expected counts, under one history encoding or under all three."""

    name: str
    protocol: Protocol
    actors: int
    workload: str
    counts: Counts
    messages: int = 1
    network: str = "unordered"
    histories: tuple[str, ...] = ("knowledge", "clocks", "full")
    properties: tuple[str, ...] = DEFAULT


def _counts(
    unique: int, total: int, depth: int, finals: int, violation: Mapping[str, int] | None = None
) -> Counts:
    return Counts(unique, total, depth, finals, dict(violation or {}))


CHAIN = (
    'reaction:[{"name":"m1","from":0,"to":[2]},{"name":"m2","from":0,"to":[1]},'
    '{"name":"m3","from":1,"to":[2],"after":["m2"]}]'
)
"""Alice, Bob and Carol of the Cykas paper's Figure 1, and the source's classic counterexample."""

PING_PONG = (
    'reaction:[{"name":"ping","from":0,"to":[1]},{"name":"pong","from":1,"to":[0],'
    '"after":["ping"]}]'
)

MODELS = (
    # Unsent, in flight, delivered.
    Model("one-shot", DIRECT, 2, "script:[[1],[]]", _counts(3, 3, 3, 1)),
    # Two independent copies of one-shot: 3 * 3 states, 2 * 3 * 2 transitions.
    Model("two-pairs", DIRECT, 4, "script:[[1],[],[3],[]]", _counts(9, 13, 5, 1)),
    # The message is unsent, or at each of the two destinations in flight or delivered: 1 + 2 * 2.
    Model(
        "one-to-two",
        DIRECT,
        3,
        'reaction:[{"name":"m","from":0,"to":[1,2]}]',
        _counts(5, 6, 4, 1),
    ),
    # A chain: ping unsent, in flight, delivered; then pong in flight, delivered.
    Model("ping-pong", DIRECT, 2, PING_PONG, _counts(5, 5, 5, 1)),
    # (sent s, delivered d <= s): 4 + 3 + 2 + 1 states, 6 causal-sends, 6 receives.
    Model(
        "stream-in-order",
        DIRECT,
        2,
        "script:[[1,1,1],[]]",
        _counts(10, 13, 7, 1),
        network="fifo",
        properties=EVERY_SAFETY,
    ),
    # s sent and any subset of them delivered: 1 + 2 + 4 + 8 states; causal-sends from the first
    # seven, receives of packets in flight (0 + 1 + 4 + 12). Causality is violated, but unchecked.
    Model(
        "stream-reordered",
        DIRECT,
        2,
        "script:[[1,1,1],[]]",
        _counts(15, 25, 7, 1),
        histories=("knowledge", "clocks"),
        properties=("integrity", "all-delivered"),
    ),
    # As before, with the order of the deliveries: 1 + 2 + 5 + 16 partial sequences; 8 causal-sends
    # from s < 3, and a receive for each way to prolong a sequence (1 + 4 + 15); 3! final states.
    Model(
        "stream-reordered-full",
        DIRECT,
        2,
        "script:[[1,1,1],[]]",
        _counts(24, 29, 7, 6),
        histories=("full",),
        properties=("integrity", "all-delivered"),
    ),
    # Two messages in opposite directions: 3 * 3 states as in two-pairs, because no sender learns
    # of the other message before its delivery there, and then the message is forgotten.
    Model("crossing", DIRECT, 2, "any", _counts(9, 13, 5, 1), histories=("knowledge",)),
    # Unsent, in flight, collected, delivered, in either direction: 4 * 4 states, 2 * 3 * 4
    # transitions.
    Model("collecting", COLLECTS, 2, "any", _counts(16, 25, 7, 1), histories=("knowledge",)),
    # A message in either direction (unsent, in flight, delivered) and a greeting (in flight,
    # received): 3 * 3 * 2 * 2 states; a step of a message in 2 * 12 places, twice, one of a
    # greeting in 18, twice.
    Model("greeting", GREETS, 2, "any", _counts(36, 85, 7, 1), histories=("knowledge",)),
    # As before, but on FIFO links the greeting is received before the message: per direction (m, g)
    # without (delivered, in flight), 5 states with 5 transitions.
    Model(
        "greeting-in-order",
        GREETS,
        2,
        "any",
        _counts(25, 51, 7, 1),
        network="fifo",
        histories=("knowledge",),
    ),
    # Clocks remember, while one message is in flight and the other delivered, which came first
    # (2 more states, 2 more transitions); afterwards all clocks are (1, 1).
    Model("crossing-clocks", DIRECT, 2, "any", _counts(11, 15, 5, 1), histories=("clocks",)),
    # `full` remembers it forever: sent concurrently, or either after the other.
    Model("crossing-full", DIRECT, 2, "any", _counts(13, 15, 5, 3), histories=("full",)),
    # all-delivered: the causal-send is the only transition.
    Model("loses", LOSES, 2, "script:[[1],[]]", _counts(2, 2, 2, 1, {"all-delivered": 1})),
    # all-delivered: received and never delivered.
    Model("keeps", KEEPS, 2, "script:[[1],[]]", _counts(3, 3, 3, 1, {"all-delivered": 2})),
    # all-delivered: (sent s, received r <= 1) without (0, 1), 5 transitions; the end is (2, 1).
    Model(
        "sends-the-first",
        SENDS_THE_FIRST,
        2,
        "script:[[1,1],[]]",
        _counts(5, 6, 4, 1, {"all-delivered": 3}),
    ),
    # integrity: the second delivery of the same step. The last state is not expanded any more.
    Model(
        "delivers-twice",
        DELIVERS_TWICE,
        2,
        "script:[[1],[]]",
        _counts(3, 3, 3, 0, {"integrity": 2}),
    ),
    # integrity: two equal envelopes are one transition, so a chain: two, one, none in flight.
    Model("sends-twice", SENDS_TWICE, 2, "script:[[1],[]]", _counts(4, 4, 4, 0, {"integrity": 3})),
    Model(
        "sends-twice-in-order",
        SENDS_TWICE,
        2,
        "script:[[1],[]]",
        _counts(4, 4, 4, 0, {"integrity": 3}),
        network="fifo",
    ),
    # As before, but integrity is unchecked. The second delivery leaves the history unchanged.
    Model(
        "sends-twice-unchecked",
        SENDS_TWICE,
        2,
        "script:[[1],[]]",
        _counts(4, 4, 4, 1),
        properties=("causal-delivery", "all-delivered"),
    ),
    # integrity: delivered where it was not sent. Unchecked, it is still undelivered at the end.
    Model(
        "wrong-actor", WRONG_ACTOR, 3, "script:[[1],[],[]]", _counts(3, 3, 3, 0, {"integrity": 2})
    ),
    Model(
        "wrong-actor-unchecked",
        WRONG_ACTOR,
        3,
        "script:[[1],[],[]]",
        _counts(3, 3, 3, 1, {"all-delivered": 2}),
        properties=("causal-delivery", "all-delivered"),
    ),
    # integrity: delivered at the sender, by the causal-send; that it stays undelivered at its
    # destination would show one level later.
    Model(
        "delivers-own", DELIVERS_OWN, 2, "script:[[1],[]]", _counts(2, 2, 2, 0, {"integrity": 1})
    ),
    # integrity: a message that no actor causal-sent.
    Model("forges", FORGES, 2, "script:[[1],[]]", _counts(3, 3, 3, 0, {"integrity": 2})),
    # causal-delivery and fifo-delivery: a chain of two causal-sends and two receives, the first
    # message coming second. The last state is not expanded any more.
    Model(
        "swaps",
        SWAPS,
        2,
        "script:[[1,1],[]]",
        _counts(5, 5, 5, 0, {"causal-delivery": 4, "fifo-delivery": 4}),
        network="fifo",
        properties=EVERY_SAFETY,
    ),
    # causal-delivery, not fifo-delivery: Carol gets m3 before m1. Before the first causal-send 1
    # state; then m1 in flight or delivered times 5 stages of the chain m2, m3: 1 + 5 + 2 * 4
    # transitions. Five transitions lead to m3 delivered and m1 in flight, the sixth delivers m1.
    Model(
        "chain",
        DIRECT,
        3,
        CHAIN,
        _counts(11, 15, 7, 0, {"causal-delivery": 6}),
        network="fifo",
        histories=("knowledge",),
        properties=EVERY_SAFETY,
    ),
)

UNRELIABLE = (
    # Unsent, in flight, delivered, lost: an envelope in flight is received or lost.
    Model(
        "one-shot-lossy",
        DIRECT,
        2,
        "script:[[1],[]]",
        _counts(4, 4, 3, 2, {"all-delivered": 2}),
        network="lossy",
    ),
    # Nothing lost: (sent s, delivered d <= s), 6 states, 3 causal-sends, 3 receptions, and as many
    # losses as there are envelopes in flight, 4. The first lost: the second unsent, in flight or
    # delivered, 2 transitions. The second lost: the first in flight or delivered, 1 transition.
    Model(
        "two-shots-one-lost",
        DIRECT,
        2,
        "script:[[1,1],[]]",
        _counts(11, 14, 5, 3, {"all-delivered": 4}),
        network="fifo+lossy:1",
    ),
    # The envelope stays, and its second reception violates integrity though it changes no state.
    Model(
        "one-shot-duplicating",
        DIRECT,
        2,
        "script:[[1],[]]",
        _counts(3, 4, 3, 0, {"integrity": 3}),
        network="duplicating",
    ),
    # A second reception that changes nothing is no transition, so delivered is final.
    Model(
        "deliver-once-duplicating",
        DELIVERS_ONCE,
        2,
        "script:[[1],[]]",
        _counts(3, 3, 3, 1),
        network="duplicating",
    ),
    # On a fifo channel the head stays or leaves: unsent, in flight, delivered with the envelope
    # still there or gone. A reception that changes nothing but the channel is a transition.
    Model(
        "deliver-once-fifo-duplicating",
        DELIVERS_ONCE,
        2,
        "script:[[1],[]]",
        _counts(4, 5, 3, 1),
        network="fifo+duplicating",
    ),
    # The message (M) and its ACK (A) are in flight or not. Unsent: 1 state, 1 transition. Nothing
    # delivered yet: with M received or lost, without it resent. Delivered, not acknowledged: M and
    # A each or not, 4 states, 2 + 3 + 4 + 1 transitions (both are received or lost; a timeout where
    # there is no M). Acknowledged: M or A or neither, 2 + 2 + 0. The deepest: received, resent
    # beside the ACK, acknowledged, received again: the second ACK.
    Model(
        "resends-lossy",
        RESENDS,
        2,
        "script:[[1],[]]",
        _counts(10, 19, 6, 1),
        network="lossy",
    ),
    # Without losses, of these: unsent; M in flight; delivered with A, or with both after a
    # timeout; acknowledged with M, A or neither. 1 + 1 + (2 + 2) + (1 + 1 + 0) transitions.
    Model(
        "resends-unordered",
        RESENDS,
        2,
        "script:[[1],[]]",
        _counts(7, 9, 6, 1),
    ),
)
"""Systems on networks that lose or duplicate, or with timeouts. `tests.naive` supports neither."""


@frozen
class Paired:
    """The state of `pairs`: the messages that an actor holds, and its progress."""

    me: int
    phase: int = 0
    kept: tuple[Message, ...] = ()


def pairs(*, timeout: bool) -> Protocol:
    """Return a protocol where actor 1 sends, and actor 2 delivers, two messages at once.

    Actor 0 sends one message to 2 and then one to 1, whereupon 1 begins. On FIFO channels causal
    delivery is violated after 8 transitions: 2 delivers two messages of 1 before the message of 0.
    Both messages of 1 are needed for that. No handler depends on the number of a message.

    Args:
        timeout: whether it has a timeout, which is never enabled.
    """

    def causal_send(state: Paired, message: Message) -> Step:
        (to,) = message.destinations
        if state.me == 0:
            goes = (state.phase, to) in ((0, 2), (1, 1))
            after = evolve(state, phase=state.phase + goes)
            return Step(after, ((to, Data(message)),) if goes else ())
        if not state.phase:
            return Step(state)
        if not state.kept:
            return Step(evolve(state, kept=(message,)))
        return Step(evolve(state, kept=()), tuple((to, Data(m)) for m in (*state.kept, message)))

    def receive(state: Paired, src: int, packet: Data) -> Step:
        if state.me == 1 or src == 0:
            return Step(evolve(state, phase=1), deliveries=(packet.message,))
        if not state.kept:
            return Step(evolve(state, kept=(packet.message,)))
        return Step(evolve(state, kept=()), deliveries=(*state.kept, packet.message))

    return Protocol(
        name="pairs",
        summary="a toy",
        source="tests",
        initial=lambda actor, _actors: Paired(actor),
        causal_send=causal_send,
        receive=receive,
        timeout=(lambda _state: None) if timeout else None,
    )


def without_permits() -> Protocol:
    """Return hybrid-basic without the part that keeps causal order across channels.

    Its messages never wait for a permit, so that it only keeps each channel in order.
    """

    def causal_send(state: Any, message: Message) -> Step:
        sends: list[tuple[int, Any]] = []
        for j in message.destinations:
            m = hybrid_basic.Msg(rcv=j, mid=state.ck, pid=state.ls[j], per=False, pl=message)
            ids = with_item(state.ls, j, state.ck)
            state = evolve(state, ls=ids, ck=state.ck + 1, u=state.u.add(m))
            sends.append((j, m))
        return Step(state, tuple(sends))

    return evolve(
        hybrid_basic.HYBRID_BASIC,
        name="hybrid-basic-without-permits",
        causal_send=causal_send,
        invariants={},
        witnesses={},
        normal=None,
    )
