"""The reference checker for endless workloads, with the history `marked` of docs/model.md.

One message of a run is marked. The state records which actors and messages depend on it: a message
is `PLAIN`, `MARKED` or `TAINTED` (its sender knew of the marked one). So messages need no numbers,
and the state space can be finite although runs are not. Every violation of causal delivery occurs
in a run whose marked message is the one that is delivered too late.

A message *starves* in a run that never delivers it. The run is endless, or it ends in a state where
nothing at all can happen. The run must be fair (docs/liveness.md), which obliges the network and
the timers, but no application.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from itertools import product
from math import inf
from typing import Any

import networkx
from attrs import evolve

from antecede.checker.model import LabelledMessage, Message, Protocol, Step

Rows = list[list[tuple[int, ...]]]  # per actor: the sets of destinations that it may send to
PLAIN, MARKED, TAINTED = KINDS = range(3)
Counts = namedtuple("Counts", "unique total depth violation")  # violation: name -> length
# locals: the protocol's states; net: (source, destination, packet) in flight
# left: (message, destinations where it is not delivered yet)
# marker: the sender of the marked message, or None; knew: the actors that know of the message
# heard: the actors that know of it from a delivery; lost: the number of lost packets, if limited
State = namedtuple(
    "State", "locals net left marker knew heard lost", defaults=((), (), None, (), (), 0)
)
# fifo, duplicates: as in docs/model.md; once: equal packets in flight are one packet;
# distinct: messages of one kind have several numbers; budget: how many packets may be lost
# labels: those from which an application chooses
Net = namedtuple("Net", "fifo duplicates once distinct budget labels", defaults=((None,),))


def network_of(name: str, protocol: Protocol) -> Net:
    """Return the rules of a network for a protocol."""
    fifo, duplicates, lossy = "fifo" in name, "duplicating" in name, "lossy" in name
    once = protocol.timeout is not None or (duplicates and not fifo)
    budget = int(name.partition("lossy:")[2] or 0) if ":" in name else inf if lossy else 0
    return Net(fifo, duplicates, once, once and (lossy or fifo or not duplicates), budget)


def finish(s: State, i: int, step: Step, net: Net) -> tuple[State, set[str]]:
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
        if m.number % len(KINDS) != PLAIN:
            knew.add(i)
            heard.add(i)
    flying = s.net
    for to, packet in step.sends:
        if not net.once or (i, to, packet) not in flying:
            flying = (*flying, (i, to, packet))
    flying = tuple(sorted(flying, key=(lambda e: e[:2]) if net.fifo else repr))  # a stable sort
    states = (*s.locals[:i], step.state, *s.locals[i + 1 :])
    in_order = tuple(sorted(left, key=repr)), s.marker, tuple(sorted(knew)), tuple(sorted(heard))
    return State(states, flying, *in_order, s.lost), violated


def causal_sends(s: State, protocol: Protocol, rows: Rows, buffer: int, net: Net) -> Iterator[Any]:
    """Yield what `successors` yields, for the causal-sends."""
    for i, choices in enumerate(rows):
        undelivered = sum(m.sender == i for m, _ in s.left)
        for to, label in product(choices if undelivered < buffer else (), net.labels):
            for marked in (False, True) if s.marker is None else (False,):
                m = Message(i, MARKED if marked else TAINTED if i in s.knew else PLAIN, to)
                if label is not None:
                    m = LabelledMessage(i, m.number, to, label)
                while net.distinct and repr(m) in repr(s):  # the first number that is free
                    m = evolve(m, number=m.number + len(KINDS))
                sent = s._replace(left=(*s.left, (m, to)))
                if marked:
                    sent = sent._replace(marker=i, knew=tuple(sorted({*s.knew, i})))
                step = protocol.causal_send(s.locals[i], m)
                yield ("send", i, to, marked, label), *finish(sent, i, step, net)


def successors(s: State, protocol: Protocol, rows: Rows, buffer: int, net: Net) -> Iterator[Any]:
    """Yield (transition, next state, violated properties); fairness is about the transitions."""
    yield from causal_sends(s, protocol, rows, buffer, net)
    losses = set[State]()
    for index, (src, dst, packet) in enumerate(s.net):
        rest = s._replace(net=s.net[:index] + s.net[index + 1 :])
        if s.lost < net.budget and rest not in losses:
            losses.add(rest)
            yield ("lose",), rest._replace(lost=s.lost + (net.budget < inf)), set()
        channel = slice(2 if net.fifo else 3)
        if s.net[index][channel] in [e[channel] for e in s.net[:index]]:
            continue  # not the first of its channel, or received already
        step = protocol.receive(s.locals[dst], src, packet)
        for stays in {net.duplicates, net.duplicates and not net.fifo}:
            t, violated = finish(s if stays else rest, dst, step, net)
            if not stays or t != s or step.deliveries:
                yield ("receive", src, dst, packet, stays), t, violated
    acts = {"timeout": protocol.timeout or (lambda _: None), **protocol.actions}
    for i, local in enumerate(s.locals):
        for name, again in ((name, act(local)) for name, act in acts.items()):
            t, violated = finish(s, i, again or Step(local), net)
            if again and (t != s or again.deliveries):
                yield (name, i), t, violated


def explore(
    protocol: Protocol,
    rows: Rows,
    buffer: int,
    network: str = "unordered",
    most: float = inf,
    deepest: float = inf,
    safety: bool = True,
    labels: tuple[str | None, ...] = (None,),
) -> tuple[Counts, networkx.MultiDiGraph]:
    """Search breadth-first, to the end of the first level that violates a property of `safety`.

    The search also ends after the level with the `most`-th state, or after `deepest` levels. Return
    the counts, and the graph of the states with the marked message undelivered. The attribute
    `offers` of a state has its transitions, those included that lead out of this graph.
    """
    net, start = (
        network_of(network, protocol)._replace(labels=labels),
        State(tuple(protocol.initial(i, len(rows)) for i in range(len(rows)))),
    )
    seen, level, total, depth, violation = {start}, [start], 1, 0, dict[str, int]()
    graph = networkx.MultiDiGraph()
    while level and len(seen) < most and depth < deepest and not (safety and violation):
        depth, states, level = depth + 1, level, []
        for s in states:
            follows = any(m.number == MARKED for m, _ in s.left)
            if s.marker is not None and not follows:
                continue  # delivered everywhere: nothing is left to judge
            found = list(successors(s, protocol, rows, buffer, net))
            if follows:
                graph.add_node(s, offers={name for name, _, _ in found})
            for name, t, violated in found:
                total += 1
                violation = dict.fromkeys(violated, depth) | violation
                if t not in seen:
                    seen.add(t)
                    level.append(t)
                if follows:
                    graph.add_edge(s, t, name=name)
    graph.remove_nodes_from([s for s in graph if not any(m.number == MARKED for m, _ in s.left)])
    return Counts(len(seen), total, depth + bool(level), violation), graph


def starves(graph: networkx.MultiDiGraph, lossy: bool) -> bool:
    """Return whether a fair run never delivers the marked message; the graph is complete."""
    ends = any(not offers for _, offers in graph.nodes(data="offers"))
    return ends or stays_for_ever(graph, lossy)


def stays_for_ever(graph: networkx.MultiDiGraph, lossy: bool) -> bool:
    """Return whether a fair run can stay in a graph forever.

    At last such a run visits some states again and again, and no others. These states are strongly
    connected, and the run may take every transition between them. A transition that is owed and
    never taken there is no fault of a run that leaves out all states that offer it.
    """
    for states in networkx.strongly_connected_components(graph):
        part = graph.subgraph(states)
        taken = {name for _, _, name in part.edges(data="name")}
        neglected = neglects([part.nodes[s]["offers"] for s in part], taken, lossy)
        if taken and not neglected:
            return True
        rest = [s for s in part if not neglected & part.nodes[s]["offers"]]
        if taken and rest and stays_for_ever(part.subgraph(rest), lossy):
            return True
    return False


def neglects(offers: list[set[Any]], taken: set[Any], lossy: bool) -> set[Any]:
    """Return the transitions that a run treats unfairly, forever.

    Args:
        offers: per state that the run visits again and again, its transitions.
        taken: the transitions that the run takes again and again.
        lossy: whether the network loses packets.
    """
    always, sometimes = set.intersection(*offers), set.union(*offers)
    owed = {name for name in always if name[0] not in ("send", "lose")}
    if lossy:
        owed |= {name for name in sometimes if name[0] == "receive"}
    return owed - taken


def starving_cycles(graph: networkx.MultiDiGraph, most: int) -> Iterator[Any]:
    """Yield the fair simple cycles of at most `most` transitions, as states."""
    for states in networkx.simple_cycles(networkx.DiGraph(graph), length_bound=most):
        pairs = zip(states, states[1:] + states[:1], strict=True)
        taken = {edge["name"] for a, b in pairs for edge in graph[a][b].values()}
        if not neglects([graph.nodes[s]["offers"] for s in states], taken, lossy=False):
            yield states
