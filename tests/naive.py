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
"""

from __future__ import annotations

from typing import Any, NamedTuple

from antecede.checker.model import Message, Protocol, Step


class Counts(NamedTuple):
    unique: int  # states, as the history tells them apart
    total: int  # transitions, and one for the start
    depth: int  # levels of the breadth-first search
    finals: int  # states without a successor
    violation: dict[str, int]  # property -> transitions of a shortest run that violates it


class Actor(NamedTuple):
    local: Any  # the protocol's state
    plan: tuple[Any, ...]
    knows: frozenset[Any] = frozenset()  # the past of this actor's next event
    sent: tuple[Any, ...] = ()  # the past of each message sent, in order; it includes the message
    log: tuple[Any, ...] = ()  # (key, past) of each message delivered, in order


class State(NamedTuple):
    actors: tuple[Actor, ...]
    net: tuple[Any, ...]  # (source, destination, packet) in flight, in network-send order
    left: frozenset[Any]  # (message, past, destination) still to be delivered


def judge(message: Message, log: Any) -> set[str]:
    """Return the properties that a delivery of the message violates at an actor with this log."""
    violated = set()
    if any((message.sender, message.number) in past for _, past in log):
        violated.add("causal-delivery")
    if any(sender == message.sender and number > message.number for (sender, number), _ in log):
        violated.add("fifo-delivery")
    return violated


def remembered(state: State, channel: slice, history: str, judged: set[str]) -> Any:
    """Return the values that a history records of a state.

    `knowledge` drops delivered messages from every past. `clocks` keeps the pasts of actors and of
    undelivered messages. `full` also keeps the pasts of all sent messages and the logs. All three
    record which of the properties `judged` the delivery of a message would violate now.
    """
    kept = {key for actor in state.actors for key in actor.knows}
    if history == "knowledge":
        kept = {(message.sender, message.number) for message, _, _ in state.left}
    actors: tuple[Any, ...] = state.actors
    if history != "full":
        actors = tuple((a.local, a.plan, a.knows & kept) for a in state.actors)
    left = []
    for message, past, to in state.left:
        violated = judge(message, state.actors[to].log) & judged
        left.append((message, past & kept, to, frozenset(violated)))
    channels: dict[Any, Any] = {}  # the order of packets counts only within a channel
    for packet in state.net:
        channels[packet[channel]] = (*channels.get(packet[channel], ()), packet)
    return actors, frozenset(channels.items()), frozenset(left)


def delivered(actor: Actor, key: Any, past: frozenset[Any]) -> Actor:
    """Return the actor after a delivery, which its log, its plan and its knowledge record."""
    plan = [(choices, awaited - {key}) for choices, awaited in actor.plan]
    receives = [index for index, (_, awaited) in enumerate(plan) if "receive" in awaited]
    if receives:  # the first one takes the message
        accepted, awaited = plan.pop(receives[0])
        if key not in accepted:  # blocked forever: put a receive that accepts nothing in its place
            plan.insert(receives[0], ((), awaited))
    log = (*actor.log, (key, past))
    return actor._replace(plan=tuple(plan), knows=actor.knows | past, log=log)


def finish(state: State, i: int, actor: Actor, step: Step) -> tuple[State, set[str]]:
    """Return the state after a step of actor `i`, and the properties that its deliveries violate.

    `actor` replaces the actor `i` of the state. At a causal-send it has the message sent already.
    """
    left, violated = state.left, set[str]()
    for message in step.deliveries:
        expected = {item for item in left if (item[0], item[2]) == (message, i)}  # one, or none
        violated |= judge(message, actor.log) if expected else {"integrity"}
        for _, past, _ in expected:
            actor = delivered(actor, (message.sender, message.number), past)
        left -= expected
    actors = (*state.actors[:i], actor._replace(local=step.state), *state.actors[i + 1 :])
    net = (*state.net, *((i, to, packet) for to, packet in step.sends))
    return State(actors, net, left), violated


def causal_sends(state: State, protocol: Protocol, i: int) -> Any:
    actor = state.actors[i]
    choices, awaited = actor.plan[0] if actor.plan else ((), ())
    for destinations in () if awaited else choices:
        message = Message(i, len(actor.sent) + 1, destinations)
        past = actor.knows | {(i, message.number)}
        sender = actor._replace(plan=actor.plan[1:], knows=past, sent=(*actor.sent, past))
        left = state.left | {(message, past, to) for to in destinations}
        step = protocol.causal_send(actor.local, message)
        yield finish(state._replace(left=left), i, sender, step)


def successors(state: State, protocol: Protocol, channel: slice) -> Any:
    """Yield (next state, properties violated) for each transition that is enabled."""
    for i, actor in enumerate(state.actors):
        yield from causal_sends(state, protocol, i)
        for action in protocol.actions.values():
            step = action(actor.local)
            if step and step != Step(actor.local):  # enabled, and it changes something
                yield finish(state, i, actor, step)
    for index, (source, i, packet) in enumerate(state.net):
        earlier = [other[channel] for other in state.net[:index]]
        if state.net[index][channel] not in earlier:  # the first packet of its channel
            rest = state._replace(net=state.net[:index] + state.net[index + 1 :])
            step = protocol.receive(state.actors[i].local, source, packet)
            yield finish(rest, i, state.actors[i], step)


def first_lost(depths: Any, edges: Any, good: set[Any]) -> int | None:
    """Return the least depth of a state from which no path leads to a good one, or None."""
    while back := {state for state in edges.keys() - good if good.intersection(edges[state])}:
        good |= back
    return min((depths[state] for state in edges.keys() - good), default=None)


def explore(protocol: Protocol, plan: Any, network: str, history: str, properties: Any) -> Counts:
    """Search breadth-first, to the end of the first level that violates a property.

    If no level does, judge the ways back: to a state with nothing undelivered (`can-deliver`),
    with no second message undelivered, or with no plan left (`can-end`).

    `plan` has one plan per actor. On `fifo` a channel is named by (source, destination), and it is
    a queue. On `unordered` it is named by (source, destination, packet). Its packets are equal, so
    that it does not matter which one is received.
    """
    channel = slice(2 if network == "fifo" else 3)
    encoding = channel, history, {"causal-delivery", *properties}
    in_flight = protocol.in_flight or (lambda _actor, _actors: ())
    actors = tuple(Actor(protocol.initial(i, len(plan)), row) for i, row in enumerate(plan))
    net = tuple((i, *send) for i in range(len(plan)) for send in in_flight(i, len(plan)))
    level, violation = [State(actors, net, frozenset())], dict[str, int]()
    seen, total, depth, finals = {remembered(level[0], *encoding): 0}, 1, 1, 0  # values -> depth
    edges, good = dict[Any, Any](), dict[str, set[Any]]()
    while level and not violation:
        next_level = []
        for state in level:  # its shortest run has `depth - 1` transitions
            after = list(successors(state, protocol, channel))
            total, finals = total + len(after), finals + (not after)
            planned = any(actor.plan for actor in state.actors)
            unfinished = {"all-delivered": state.left, "finishes": planned}
            violation |= {p: depth - 1 for p in properties if not after and unfinished.get(p)}
            here = remembered(state, *encoding)
            edges[here] = [remembered(successor, *encoding) for successor, _ in after]
            late = any(message.number == 2 for message, _, _ in state.left)
            ways_back = {"can-deliver": state.left, "can-end": planned, "can-deliver-second": late}
            for name in ways_back.keys() & {*properties}:
                good.setdefault(name, set()).update(() if ways_back[name] else (here,))
            for (successor, violated), values in zip(after, edges[here], strict=True):
                violation |= dict.fromkeys(violated.intersection(properties), depth)
                if values not in seen:
                    seen[values] = depth
                    next_level.append(successor)
        level, depth = next_level, depth + bool(next_level)
    if not violation:  # every state was met
        lost = {name: first_lost(seen, edges, found) for name, found in good.items()}
        violation = {name: length for name, length in lost.items() if length is not None}
    return Counts(len(seen), total, depth, finals, violation)
