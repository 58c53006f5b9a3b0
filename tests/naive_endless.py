"""The reference checker for runs without end: one message is followed, see docs/model.md."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import networkx

from antecede.checker.model import Message, Protocol, Step

Rows = list[list[tuple[int, ...]]]  # per actor the destinations of the messages that it may send
PLAIN, MARKED, TAINTED = range(3)
Counts = namedtuple("Counts", "unique total depth violation")  # violation: name -> length
# left: (message, where it is not delivered yet)s; marker: who sent the marked message, or None;
# knew: who knows of it; heard: who learnt of it by a delivery.
State = namedtuple("State", "locals net left marker knew heard", defaults=((), (), None, (), ()))


def finish(s: State, i: int, step: Step, fifo: bool) -> tuple[State, set[str]]:
    """Let actor `i` take the step; also return what its deliveries violate."""
    left, knew, heard, broken = list(s.left), {*s.knew}, {*s.heard}, set[str]()
    for m in step.deliveries:
        due = sorted((x for x in left if x[0] == m and i in x[1]), key=lambda x: len(x[1]))
        broken |= set() if due else {"integrity"}
        broken |= {"causal-delivery"} if due and m.number == MARKED and i in heard else set()
        for x in due[:1]:  # the oldest of equal ones
            left.remove(x)
            left += [(m, tuple(d for d in x[1] if d != i))] if len(x[1]) > 1 else []
            if m.number != PLAIN:
                knew, heard = knew | {i}, heard | {i}
    net = (*s.net, *((i, to, packet) for to, packet in step.sends))
    net = tuple(sorted(net, key=(lambda e: e[:2]) if fifo else repr))  # a stable sort
    everybody = (*s.locals[:i], step.state, *s.locals[i + 1 :])
    ordered = tuple(sorted(left, key=repr)), s.marker, *(tuple(sorted(x)) for x in (knew, heard))
    return State(everybody, net, *ordered), broken


def successors(s: State, protocol: Protocol, rows: Rows, buffer: int, fifo: bool) -> Iterator[Any]:
    """Yield (transition, whether it is a causal-send, state after it, what it violates)."""
    for i, choices in enumerate(rows):
        waiting = sum(m.sender == i for m, _ in s.left)
        for to in choices if waiting < buffer else ():
            for marked in (False, True) if s.marker is None else (False,):
                number = MARKED if marked else TAINTED if i in s.knew else PLAIN
                m = Message(i, number, to)
                sent = s._replace(left=(*s.left, (m, to)))
                if marked:
                    sent = sent._replace(marker=i, knew=tuple(sorted({*s.knew, i})))
                step = protocol.causal_send(s.locals[i], m)
                yield ("send", i, to, marked), True, *finish(sent, i, step, fifo)
    for at, (src, dst, packet) in enumerate(s.net):
        ahead = [e if not fifo else e[:2] for e in s.net[:at]]
        if ((src, dst) if fifo else (src, dst, packet)) not in ahead:
            step = protocol.receive(s.locals[dst], src, packet)
            rest = s._replace(net=s.net[:at] + s.net[at + 1 :])
            yield ("receive", src, dst, packet), False, *finish(rest, dst, step, fifo)


def explore(
    protocol: Protocol,
    rows: Rows,
    buffer: int,
    fifo: bool = False,
    most: int = 10**9,
    deepest: int = 10**9,
) -> tuple[Counts, networkx.MultiDiGraph]:
    """Return counts, and the graph of the states in which the marked message is undelivered."""
    start = State(tuple(protocol.initial(i, len(rows)) for i in range(len(rows))))
    seen, level, total, depth, violation = {start}, [start], 1, 0, dict[str, int]()
    graph = networkx.MultiDiGraph()
    while level and len(seen) < most and depth < deepest and not violation:
        depth, states, level = depth + 1, level, []
        for s in states:
            follows = any(m.number == MARKED for m, _ in s.left)
            if s.marker is not None and not follows:
                continue  # delivered everywhere: nothing is left to judge
            for name, sends, t, broken in successors(s, protocol, rows, buffer, fifo):
                total += 1
                violation |= dict.fromkeys(broken, depth)
                level += [] if t in seen else [t]
                seen.add(t)
                if follows:
                    graph.add_edge(s, t, name=name, sends=sends)
    graph.remove_nodes_from([s for s in graph if not any(m.number == MARKED for m, _ in s.left)])
    return Counts(len(seen), total, depth + bool(level), violation), graph


def starving_cycles(graph: Any, protocol: Protocol, rows: Rows, buffer: int, most: int) -> Any:
    """Yield the simple cycles of at most `most` transitions that are fair, with a causal-send."""

    def offered(s: State) -> set[Any]:
        return {
            name for name, sends, _, _ in successors(s, protocol, rows, buffer, False) if not sends
        }

    for states in networkx.simple_cycles(networkx.DiGraph(graph), length_bound=most):
        pairs = zip(states, states[1:] + states[:1], strict=True)
        edges = [edge for a, b in pairs for edge in graph[a][b].values()]
        never = set.intersection(*map(offered, states)) - {edge["name"] for edge in edges}
        if not never and any(edge["sends"] for edge in edges):
            yield states
