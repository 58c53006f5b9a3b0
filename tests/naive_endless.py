"""The reference checker for endless workloads, with the history `marked` of docs/model.md.

One message of a run is marked. The state records which actors and messages depend on it: a message
is `PLAIN`, `MARKED` or `TAINTED` (its sender knew of the marked one). So messages need no numbers,
and the state space can be finite although runs are not. Every violation of causal delivery occurs
in a run whose marked message is the one that is delivered too late.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import networkx

from antecede.checker.model import Message, Protocol, Step

Rows = list[list[tuple[int, ...]]]  # per actor: the sets of destinations that it may send to
PLAIN, MARKED, TAINTED = range(3)
Counts = namedtuple("Counts", "unique total depth violation")  # violation: name -> length
# locals: the protocol's states; net: (source, destination, packet) in flight
# left: (message, destinations where it is not delivered yet)
# marker: the sender of the marked message, or None; knew: the actors that know of the message
# heard: the actors that know of it from a delivery
State = namedtuple("State", "locals net left marker knew heard", defaults=((), (), None, (), ()))


def finish(s: State, i: int, step: Step, fifo: bool) -> tuple[State, set[str]]:
    """Return the state after a step of actor `i`, and the properties that it violates."""
    left, knew, heard, violated = list(s.left), {*s.knew}, {*s.heard}, set[str]()
    for m in step.deliveries:
        expected = sorted((x for x in left if x[0] == m and i in x[1]), key=lambda x: len(x[1]))
        if not expected:
            violated.add("integrity")
            continue
        if m.number == MARKED and i in heard:
            violated.add("causal-delivery")
        oldest = expected[0]  # of equal messages: the one that lacks the fewest deliveries
        left.remove(oldest)
        if rest := tuple(d for d in oldest[1] if d != i):
            left.append((m, rest))
        if m.number != PLAIN:
            knew.add(i)
            heard.add(i)
    net = (*s.net, *((i, to, packet) for to, packet in step.sends))
    net = tuple(sorted(net, key=(lambda e: e[:2]) if fifo else repr))  # a stable sort
    states = (*s.locals[:i], step.state, *s.locals[i + 1 :])
    in_order = tuple(sorted(left, key=repr)), s.marker, tuple(sorted(knew)), tuple(sorted(heard))
    return State(states, net, *in_order), violated


def successors(s: State, protocol: Protocol, rows: Rows, buffer: int, fifo: bool) -> Iterator[Any]:
    """Yield (transition, whether it is a causal-send, next state, violated properties)."""
    for i, choices in enumerate(rows):
        undelivered = sum(m.sender == i for m, _ in s.left)
        for to in choices if undelivered < buffer else ():
            for marked in (False, True) if s.marker is None else (False,):
                number = MARKED if marked else TAINTED if i in s.knew else PLAIN
                m = Message(i, number, to)
                sent = s._replace(left=(*s.left, (m, to)))
                if marked:
                    sent = sent._replace(marker=i, knew=tuple(sorted({*s.knew, i})))
                step = protocol.causal_send(s.locals[i], m)
                yield ("send", i, to, marked), True, *finish(sent, i, step, fifo)
    channel = slice(2 if fifo else 3)
    for index, (src, dst, packet) in enumerate(s.net):
        if s.net[index][channel] not in [e[channel] for e in s.net[:index]]:  # first of its channel
            step = protocol.receive(s.locals[dst], src, packet)
            rest = s._replace(net=s.net[:index] + s.net[index + 1 :])
            yield ("receive", src, dst, packet), False, *finish(rest, dst, step, fifo)


def explore(
    protocol: Protocol,
    rows: Rows,
    buffer: int,
    fifo: bool = False,
    most: int = 10**9,
    deepest: int = 10**9,
) -> tuple[Counts, networkx.MultiDiGraph]:
    """Search breadth-first, to the end of the first level that violates a property.

    The search also ends after the level with the `most`-th state, or after `deepest` levels. Return
    the counts, and the graph of the states with the marked message undelivered.
    """
    start = State(tuple(protocol.initial(i, len(rows)) for i in range(len(rows))))
    seen, level, total, depth, violation = {start}, [start], 1, 0, dict[str, int]()
    graph = networkx.MultiDiGraph()
    while level and len(seen) < most and depth < deepest and not violation:
        depth, states, level = depth + 1, level, []
        for s in states:
            follows = any(m.number == MARKED for m, _ in s.left)
            if s.marker is not None and not follows:
                continue  # delivered everywhere: nothing is left to judge
            for name, sends, t, violated in successors(s, protocol, rows, buffer, fifo):
                total += 1
                violation |= dict.fromkeys(violated, depth)
                if t not in seen:
                    seen.add(t)
                    level.append(t)
                if follows:
                    graph.add_edge(s, t, name=name, sends=sends)
    graph.remove_nodes_from([s for s in graph if not any(m.number == MARKED for m, _ in s.left)])
    return Counts(len(seen), total, depth + bool(level), violation), graph


def starving_cycles(graph: Any, protocol: Protocol, rows: Rows, buffer: int, most: int) -> Any:
    """Yield the fair simple cycles of at most `most` transitions with a causal-send, as states.

    A cycle is fair if it takes every transition that all its states offer. Causal-sends are
    exempt: an application may stop.
    """

    def offered(s: State) -> set[Any]:
        return {
            name for name, sends, _, _ in successors(s, protocol, rows, buffer, False) if not sends
        }

    for states in networkx.simple_cycles(networkx.DiGraph(graph), length_bound=most):
        pairs = zip(states, states[1:] + states[:1], strict=True)
        edges = [edge for a, b in pairs for edge in graph[a][b].values()]
        neglected = set.intersection(*map(offered, states)) - {edge["name"] for edge in edges}
        if not neglected and any(edge["sends"] for edge in edges):
            yield states
