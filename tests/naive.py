"""The reference checker: model.md as sets and loops, over a past that is kept in full."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from antecede.checker.model import Message, Protocol, Step

Counts = namedtuple("Counts", "unique total depth finals violation")  # violation: name -> length
State = namedtuple("State", "actors net left")  # left: (message, past, destination)s to deliver
# A past holds keys (sender, number); plan: sends (choice, awaited), receives (keys, "receive").
Actor = namedtuple("Actor", "local plan knows sent log", defaults=(frozenset(), (), ()))


def judge(m: Message, log: Any) -> frozenset[str]:
    told = any((m.sender, m.number) in past for _, past in log)
    late = any(sender == m.sender and number > m.number for (sender, number), _ in log)
    return frozenset(x for x, bad in (("causal-delivery", told), ("fifo-delivery", late)) if bad)


def remembered(s: State, channel: slice, history: str, judged: set[str]) -> Any:
    undelivered = {(m.sender, m.number) for m, _, _ in s.left}  # two that agree are one state
    kept = undelivered if history == "knowledge" else {k for a in s.actors for k in a.knows}
    left = ((m, past & kept, d, judge(m, s.actors[d].log) & judged) for m, past, d in s.left)
    net = ((e[channel], tuple(x for x in s.net if x[channel] == e[channel])) for e in s.net)
    actors = (a if history == "full" else (a.local, a.plan, a.knows & kept) for a in s.actors)
    return tuple(actors), frozenset(net), frozenset(left)


def finish(s: State, i: int, a: Actor, step: Step) -> tuple[State, set[str]]:
    """Let actor `i` take the step; also return the properties that its deliveries violate."""
    left, broken = s.left, set[str]()
    for m in step.deliveries:
        key, expected = (m.sender, m.number), {e for e in left if (e[0], e[2]) == (m, i)}
        broken |= judge(m, a.log) if expected else {"integrity"}
        for _, past, _ in expected:
            plan = [(choice, awaited - {key}) for choice, awaited in a.plan]
            for k in [k for k, p in enumerate(plan) if "receive" in p[1]][:1]:  # () is for ever
                plan[k : k + 1] = [] if key in plan[k][0] else [((), plan[k][1])]
            a = Actor(a.local, tuple(plan), a.knows | past, a.sent, (*a.log, (key, past)))
        left -= expected
    actors = (*s.actors[:i], a._replace(local=step.state), *s.actors[i + 1 :])
    return State(actors, s.net + tuple((i, *send) for send in step.sends), left), broken


def successors(s: State, protocol: Protocol, channel: slice) -> Any:
    for i, a in enumerate(s.actors):
        for destinations in a.plan[0][0] if a.plan and not a.plan[0][1] else ():
            m, past = Message(i, len(a.sent) + 1, destinations), a.knows | {(i, len(a.sent) + 1)}
            sender = a._replace(plan=a.plan[1:], knows=past, sent=(*a.sent, past))
            left = s.left | {(m, past, d) for d in destinations}
            yield finish(State(s.actors, s.net, left), i, sender, protocol.causal_send(a.local, m))
        for act in protocol.actions.values():
            yield from [finish(s, i, a, x) for x in [act(a.local)] if x and x != Step(a.local)]
    for at, (src, dst, packet) in enumerate(s.net):
        if s.net[at][channel] not in [e[channel] for e in s.net[:at]]:  # the first of its channel
            step = protocol.receive(s.actors[dst].local, src, packet)
            yield finish(s._replace(net=s.net[:at] + s.net[at + 1 :]), dst, s.actors[dst], step)


def explore(protocol: Protocol, plan: Any, network: str, history: str, properties: Any) -> Counts:
    encoding = slice(2 if network == "fifo" else 3), history, {"causal-delivery", *properties}
    actors = tuple(Actor(protocol.initial(i, len(plan)), row) for i, row in enumerate(plan))
    flying = protocol.in_flight or (lambda _actor, _actors: ())
    net = tuple((i, *send) for i in range(len(plan)) for send in flying(i, len(plan)))
    level, violation = [State(actors, net, frozenset())], dict[str, int]()
    seen, total, depth, finals = {remembered(level[0], *encoding): level[0]}, 1, 0, 0
    while level and not violation:  # to the end of the level in which a violation was seen
        depth, states, level = depth + 1, level, []
        for s in states:
            after = list(successors(s, protocol, encoding[0]))
            total, finals = total + len(after), finals + (not after)
            unfinished = {"all-delivered": s.left, "finishes": any(a.plan for a in s.actors)}
            violation |= {p: depth - 1 for p in properties if not after and unfinished.get(p)}
            for t, broken in after:
                violation |= dict.fromkeys(broken.intersection(properties), depth)
                level += [t] if seen.setdefault(remembered(t, *encoding), t) is t else []
    return Counts(len(seen), total, depth + bool(level), finals, violation)
