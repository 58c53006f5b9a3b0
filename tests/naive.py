"""The reference checker: docs/model.md as sets and loops.

Every engine, history and reduction must agree with `explore` on small systems. So this file is
written to be read, not to be fast, and it imports only the vocabulary of the checker.

A message is named by its key, (sender, number). A *past* is the set of keys of the messages that
were causal-sent before an event. A `State` keeps every past in full. Only `remembered` knows the
histories: it reduces a state to the values that a history records, and the search takes two states
with equal values for one state.

A *plan* lists what an actor's application still has to do, as pairs. A send is (the choices of
destinations, the keys that must be delivered here before). A receive is (the keys that it accepts,
`{"receive"}`). The first pair is enabled if its second item is empty.

A property is one of the names that `FAULTS` and `explore` know, or a `Property` with a predicate.

It ignores a protocol's timeout, and knows only the networks in `CHANNELS`: none of them loses or
duplicates a packet.

A packet is (source, destination, what the protocol sent, its past). Only on the network `causal`,
the past has packets: those that were sent before, as far as its source knew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from antecede.checker.model import (
    Delivery,
    LabelledMessage,
    Message,
    Property,
    Protocol,
    Step,
    What,
    When,
)

FAULTS: Any = {
    "causal-delivery": lambda delivery: delivery.causally_late,
    "fifo-delivery": lambda delivery: delivery.fifo_late,
    "integrity": lambda delivery: not delivery.expected,
}


CHANNELS: Any = {
    "unordered": slice(3),
    "fifo": slice(2),
    "causal": slice(2),
    "mailbox": slice(1, 2),
    "instant": slice(0),
}
"""Network -> the parts of a packet that name its channel. A channel is a queue."""


class Counts(NamedTuple):
    unique: int  # states, as the history tells them apart
    total: int  # transitions, and one for the start
    depth: int  # levels of the breadth-first search
    finals: int  # states without a successor, except for crashes
    violation: dict[str, int]  # property -> transitions of a shortest run that violates it
    unreached: frozenset[str] = frozenset()  # properties that some state should show, and none does


class Crashes(NamedTuple):
    most: int = 0  # in a run
    of: Any = None  # the actors that may crash; None: all
    lost: bool = False  # packets to a crashed actor leave the network
    whole: bool = False  # no actor crashes in the middle of a step


class Crashed(NamedTuple):
    durable: Any  # what the actor finds when it recovers


class Actor(NamedTuple):
    local: Any  # the protocol's state, or Crashed
    plan: tuple[Any, ...]
    knows: frozenset[Any] = frozenset()  # the past of this actor's next event
    sent: tuple[Any, ...] = ()  # the past of each message sent, in order; it includes the message
    log: tuple[Any, ...] = ()  # (message, past) of each message delivered, in order
    met: frozenset[Any] = frozenset()  # the past of this actor's next packet


class State(NamedTuple):
    actors: tuple[Actor, ...]
    net: tuple[Any, ...]  # the packets in flight, in network-send order
    left: frozenset[Any]  # (message, past, destination) still to be delivered
    crashes: int = 0  # that may still happen

    def live(self, i: int) -> bool:
        """Return whether an actor has not crashed."""
        return not isinstance(self.actors[i].local, Crashed)

    def owed(self) -> Any:
        """Return what is left to be delivered from live actors to live actors."""
        return {item for item in self.left if self.live(item[0].sender) and self.live(item[2])}


def judge(message: Message, i: int, log: Any) -> Delivery:
    """Return the expected delivery of the message at actor `i`, which has this log."""
    known = any((message.sender, message.number) in past for _, past in log)
    later = any(m.sender == message.sender and m.number > message.number for m, _ in log)
    return Delivery(i, message, True, known, later)


def in_flight(packets: Any, net: Any) -> frozenset[Any]:
    """Return those packets that are in flight, with the same of their pasts."""
    return frozenset(
        (*packet[:3], in_flight(packet[3], net)) for packet in packets if packet in net
    )


def remembered(state: State, network: str, history: str, judged: set[str], ordered: bool) -> Any:
    """Return the values that a history records of a state.

    `knowledge` drops delivered messages from every past. `clocks` keeps the pasts of actors and of
    undelivered messages. `full` also keeps the pasts of all sent messages and the logs, without
    labels. All three record which of the properties `judged` the delivery of a message would
    violate now. If a property compares deliveries (`ordered`), every state records their order.
    """
    kept = {key for actor in state.actors for key in actor.knows}
    if history == "knowledge":
        kept = {(message.sender, message.number) for message, _, _ in state.left}
    orders = [tuple(m for m, _ in actor.log) if ordered else () for actor in state.actors]
    mets = [in_flight(actor.met, state.net) for actor in state.actors]
    actors: Any = [(a.local, a.plan, a.knows & kept) for a in state.actors]
    if history == "full":
        logs = [tuple((m.sender, m.number, past) for m, past in a.log) for a in state.actors]
        actors = [(a.local, a.plan, a.knows, a.sent) for a in state.actors] + logs
    left = []
    for message, past, to in state.left:
        delivery = judge(message, to, state.actors[to].log)
        violated = frozenset(p for p in judged if FAULTS[p](delivery))
        left.append((message, past & kept, to, violated))
    channels: dict[Any, Any] = {}  # the order of packets counts only within a channel
    for packet in state.net:
        name = packet[CHANNELS[network]]
        channels[name] = (*channels.get(name, ()), *in_flight([packet], state.net))
    return (*actors, *orders, *mets), frozenset(channels.items()), frozenset(left), state.crashes


def delivered(actor: Actor, message: Message, past: frozenset[Any]) -> Actor:
    """Return the actor after a delivery, which its log, its plan and its knowledge record."""
    key = (message.sender, message.number)
    plan = [(choices, awaited - {key}) for choices, awaited in actor.plan]
    receives = [index for index, (_, awaited) in enumerate(plan) if "receive" in awaited]
    if receives:  # the first one takes the message
        accepted, awaited = plan.pop(receives[0])
        if key not in accepted:  # blocked forever: put a receive that accepts nothing in its place
            plan.insert(receives[0], ((), awaited))
    log = (*actor.log, (message, past))
    return actor._replace(plan=tuple(plan), knows=actor.knows | past, log=log)


def finish(
    state: State, i: int, actor: Actor, step: Step, network: str
) -> tuple[State, list[Delivery]]:
    """Return the state after a step of actor `i`, and its deliveries.

    `actor` replaces the actor `i` of the state. At a causal-send it has the message sent already.
    """
    left, deliveries = state.left, list[Delivery]()
    for message in step.deliveries:
        expected = {item for item in left if (item[0], item[2]) == (message, i)}  # one, or none
        unexpected = Delivery(i, message, False, False, False)
        deliveries.append(judge(message, i, actor.log) if expected else unexpected)
        for _, past, _ in expected:
            actor = delivered(actor, message, past)
        left -= expected
    net = state.net
    for to, content in step.sends:
        net = (*net, (i, to, content, actor.met))
        if network == "causal":
            actor = actor._replace(met=actor.met | {net[-1]})
    actors = (*state.actors[:i], actor._replace(local=step.state), *state.actors[i + 1 :])
    return state._replace(actors=actors, net=net, left=left), deliveries


def causal_sends(state: State, protocol: Protocol, i: int) -> Any:
    actor = state.actors[i]
    choices, awaited = actor.plan[0] if actor.plan else ((), ())
    for destinations, label in () if awaited else choices:
        message = Message(i, len(actor.sent) + 1, destinations)
        if label is not None:
            message = LabelledMessage(i, message.number, destinations, label)
        past = actor.knows | {(i, message.number)}
        sender = actor._replace(plan=actor.plan[1:], knows=past, sent=(*actor.sent, past))
        left = state.left | {(message, past, to) for to in destinations}
        step = protocol.causal_send(actor.local, message)
        yield state._replace(left=left), i, sender, step


def steps(state: State, protocol: Protocol, network: str) -> Any:
    """Yield each step that is enabled, except for crashes, as the arguments of `finish`.

    On the network `instant`, nothing but receipts happens while a packet is in flight.
    """
    channel, waits = CHANNELS[network], network == "instant" and state.net
    for i, actor in enumerate(() if waits else state.actors):
        if isinstance(actor.local, Crashed):
            if protocol.recover:
                yield state, i, actor, protocol.recover(i, len(state.actors), actor.local.durable)
            continue
        yield from causal_sends(state, protocol, i)
        for action in protocol.actions.values():
            step = action(actor.local)
            if step and step != Step(actor.local):  # enabled, and it changes something
                yield state, i, actor, step
    for index, packet in enumerate(state.net):
        source, i, content, past = packet
        first = packet[channel] not in [other[channel] for other in state.net[:index]]
        behind = any(other[1] == i and other in past for other in state.net)
        if first and state.live(i) and not behind:
            rest = state._replace(net=state.net[:index] + state.net[index + 1 :])
            met = past | {packet} if network == "causal" else past
            actor = state.actors[i]._replace(met=state.actors[i].met | met)
            yield rest, i, actor, protocol.receive(actor.local, source, content)


def successors(state: State, protocol: Protocol, network: str) -> Any:
    """Yield (next state, deliveries) for each transition that is enabled, except for crashes."""
    for before, i, actor, step in steps(state, protocol, network):
        yield finish(before, i, actor, step, network)


def parts(sends: Any, lost: frozenset[int] = frozenset()) -> Any:
    """Yield each part of a step's packets that may get out: to each actor, the first ones."""
    if not sends:
        yield ()
        return
    first, *rest = sends
    if first[0] not in lost:
        yield from ((first, *part) for part in parts(rest, lost))
    yield from parts(rest, lost | {first[0]})


def crashes(state: State, protocol: Protocol, network: str, allowed: Crashes) -> Any:
    """Yield (next state, deliveries) for each crash that may happen.

    An actor crashes between two steps, or in the middle of one: it has delivered and written its
    disk, and only some packets get out. If none does, only a recovery shows that the step began.
    """
    actors = range(len(state.actors)) if allowed.of is None else allowed.of
    if not state.crashes:
        return
    live = [(i, state.actors[i]) for i in actors if state.live(i)]
    cut = [(state, i, actor, Step(actor.local), ()) for i, actor in live]
    for before, i, actor, step in () if allowed.whole else steps(state, protocol, network):
        sends = [s for s in step.sends if not allowed.lost or s[0] == i or state.live(s[0])]
        some = [p for p in parts(sends) if len(p) < len(sends) and (p or protocol.recover)]
        cut += [(before, i, actor, step, part) for part in some if i in actors]
    for before, i, actor, step, part in cut:
        down = Crashed(protocol.durable(step.state) if protocol.durable else None)
        last = Step(down, part, step.deliveries)
        after, deliveries = finish(before, i, actor, last, network)
        yield after._replace(crashes=state.crashes - 1), deliveries


def shows(prop: Any, state: State, deliveries: Any, final: bool) -> bool:
    """Return whether a state, or the deliveries that lead to it, violate or reach a property."""
    if isinstance(prop, str):
        planned = any(actor.plan for i, actor in enumerate(state.actors) if state.live(i))
        unfinished = {"all-delivered": bool(state.owed()), "finishes": planned}
        return any(map(FAULTS[prop], deliveries)) if prop in FAULTS else final and unfinished[prop]
    if prop.when is When.ALWAYS_POSSIBLE or (prop.at_end and not final):
        return False
    answers = [prop.predicate(thing) for thing in things(prop, state, deliveries)]
    if prop.when is When.SOMETIMES:
        return any(answers)
    return all(answers) is (prop.when is When.AT_SOME_FINAL_STATE)


def things(prop: Property, state: State, deliveries: Any) -> Any:
    """Return the arguments of the predicate of a property."""
    if prop.what is What.DELIVERY:
        return deliveries
    live = [i for i in range(len(state.actors)) if state.live(i)]
    states = tuple(state.actors[i].local for i in live)
    if prop.what in (What.LOCAL_STATE, What.GLOBAL_STATE):
        return states if prop.what is What.LOCAL_STATE else (states,)
    if prop.what is What.SEQUENCES:
        return [tuple(tuple(message for message, _ in state.actors[i].log) for i in live)]
    if prop.what is What.ENDED:
        return [not state.actors[i].plan for i in live]
    left = {message for message, _, _ in state.owed()}
    if prop.what is What.PARTLY_DELIVERED:
        got = {message for i in live for message, _ in state.actors[i].log}
        live = list(range(len(state.actors)))  # crashed senders, too
        left = {m for m, _, to in state.left if m in got and state.live(to)}
    ordered = sorted(left, key=lambda m: m.number)
    return [tuple(m for m in ordered if m.sender == i) for i in live]


def lost(wanted: set[Any], seen: dict[Any, int], edges: set[Any]) -> int | None:
    """Return the depth of the first state from which no wanted one can be reached, or None."""
    while found := {before for before, after in edges if after in wanted} - wanted:
        wanted = wanted | found
    return min((depth for values, depth in seen.items() if values not in wanted), default=None)


def explore(
    protocol: Protocol,
    plan: Any,
    network: str,
    history: str,
    properties: Any,
    allowed: Crashes = Crashes(),
) -> Counts:
    """Search breadth-first, to the end of the first level that violates a property.

    If every state was explored, judge the ways back: to a state with nothing undelivered
    (`can-deliver`), with no second message undelivered, or with no plan left (`can-end`).

    `plan` has one plan per actor. On `unordered` all packets of a channel are equal, so that it
    does not matter which one is received.
    """
    judged = {"causal-delivery"} | {p for p in properties if p in FAULTS}
    ordered = any(getattr(p, "what", None) is What.SEQUENCES for p in properties)
    encoding = network, history, judged, ordered
    at_first = protocol.in_flight or (lambda _actor, _actors: ())
    actors = tuple(Actor(protocol.initial(i, len(plan)), row) for i, row in enumerate(plan))
    start = State(actors, (), frozenset(), allowed.most)
    for i, actor in enumerate(actors):
        step = Step(actor.local, at_first(i, len(plan)))
        start, _ = finish(start, i, start.actors[i], step, network)
    level, total, depth, finals = [start], 1, 1, 0
    seen, edges = {remembered(start, *encoding): 0}, set[Any]()
    shown = {p: 0 for p in properties if shows(p, start, (), False)}
    sought = {p for p in properties if getattr(p, "sought", False)}
    wanted: Any = {p: set() for p in properties if getattr(p, "later", False)}
    while level and shown.keys() <= sought and len(shown) < max(len(properties), 1):
        next_level = []
        for state in level:  # its shortest run has `depth - 1` transitions
            here, after = remembered(state, *encoding), list(successors(state, protocol, network))
            crashed = list(crashes(state, protocol, network, allowed))
            total, finals = total + len(after) + len(crashed), finals + (not after)
            ends = {p: depth - 1 for p in properties if not after and shows(p, state, (), True)}
            shown = ends | shown
            for p in wanted:
                wanted[p] |= {here} if all(map(p.predicate, things(p, state, ()))) else set()
            for index, (successor, deliveries) in enumerate(after + crashed):
                net = tuple(p for p in successor.net if successor.live(p[1]) or not allowed.lost)
                successor = successor._replace(net=net)
                new = {p: depth for p in properties if shows(p, successor, deliveries, False)}
                shown = new | shown
                values = remembered(successor, *encoding)
                edges |= {(here, values)} if wanted and index < len(after) else set()
                if values not in seen:
                    seen[values] = depth
                    next_level.append(successor)
        level, depth = next_level, depth + bool(next_level)
    violation = {p: length for p, length in shown.items() if p not in sought}
    if not level:
        depths = {p: lost(good, seen, edges) for p, good in wanted.items()}
        violation |= {p: length for p, length in depths.items() if length is not None}
    names = {getattr(p, "name", p): length for p, length in violation.items()}
    unreached = frozenset(p.name for p in sought - shown.keys()) if not level else frozenset[str]()
    return Counts(len(seen), total, depth, finals, names, unreached)
