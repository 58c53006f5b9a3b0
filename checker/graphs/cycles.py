"""Strong components and fairness on compressed rows.

This module may use only Python that Numba supports, because `checker.engine.threads.graphs_kernels`
compiles it. The plain functions are also used. A state is *inside* if it belongs to the examined
part of the graph. `first` and `target` are as in `checker.search.graph.Rows`. A state without a row
has no edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

FREE, WEAK, STRONG = range(3)
"""What fairness demands of a transition.

FREE: nothing. WEAK: a run takes it if it stays enabled. STRONG: a run takes it if it is enabled
again and again.
"""


class Edges(NamedTuple):
    """The edges of the whole graph.

    Attributes:
        first: per state, the index of its first edge.
        target: per edge, its target state.
        label: per edge, the number of its transition.
    """

    first: Any
    target: Any
    label: Any


class Components(NamedTuple):
    """The strong components of the inside states.

    Attributes:
        numbers: per state, its component; -1 if it is not inside.
        ends: from `sort_components`.
        members: the states by component, from `sort_components`.
    """

    numbers: Any
    ends: Any
    members: Any


def number_components(first: Any, target: Any, inside: Any, numbers: Any) -> int:
    """Number the strong components of the inside states (Tarjan 1972, without recursion).

    The cost is linear in the number of inside states and their edges.

    Args:
        first: per state of the whole graph, the index of its first edge.
        target: per edge, its target state.
        inside: per state, whether it is inside.
        numbers: output; -1 per state before, the component of each inside state afterwards.

    Returns:
        The number of components.
    """
    size = len(first) - 1
    met, low, at, path, open_states = [0] * size, [0] * size, [0] * size, [0] * size, [0] * size
    count = time = opened = 0
    for root in range(size):
        depth = int(inside[root] and not met[root])
        if depth:
            path[0] = root
        while depth:
            state = path[depth - 1]
            if not met[state]:
                time += 1
                met[state] = low[state] = time
                at[state] = int(first[state])
                open_states[opened] = state
                opened += 1
            if at[state] < first[state + 1]:
                after = int(target[at[state]])
                at[state] += 1
                if after >= size or not inside[after]:
                    continue
                if not met[after]:
                    path[depth] = after
                    depth += 1
                elif numbers[after] < 0:
                    low[state] = min(low[state], met[after])
                continue
            depth -= 1
            if depth:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[state])
            if low[state] == met[state]:
                member = -1
                while member != state:
                    opened -= 1
                    member = open_states[opened]
                    numbers[member] = count
                count += 1
    return count


def sort_components(numbers: Any, ends: Any, members: Any) -> None:
    """Group the inside states by component (counting sort).

    Args:
        numbers: per state, its component, from `number_components`.
        ends: output; zeros before, one more than components. The states of component c are
            members[ends[c - 1]:ends[c]].
        members: output; the states.
    """
    for number in numbers:
        ends[number + 1] += 1
    ends[0] = 0  # those outside
    for number in range(1, len(ends)):
        ends[number] += ends[number - 1]
    for state in range(len(numbers)):
        if numbers[state] >= 0:
            members[ends[numbers[state]]] = state
            ends[numbers[state]] += 1


def judge_components(
    edges: Edges, parts: Components, demands: Any, inside: Any, fair: Any, found: int
) -> int:
    """Judge each component: can a fair run stay in it forever?

    The function removes decided states from `inside`: the states of fair components, and states
    that no fair run can visit again and again. These are the states that enable a transition that
    is demanded but leads out of the component. The caller then splits the rest into components
    again.

    Args:
        edges: the edges of the whole graph.
        parts: the components of the inside states.
        demands: per label, FREE, WEAK or STRONG.
        inside: per state, whether it is inside; updated.
        fair: output; per state, the number of its fair component, from `found` on.
        found: the number of fair components before.

    Returns:
        The number of fair components afterwards.
    """
    first, target, label = edges.first, edges.target, edges.label
    numbers, ends, members = parts.numbers, parts.ends, parts.members
    labels = len(demands)
    taken, stayed, offers = [-1] * labels, [-1] * labels, [0] * labels
    begin = 0
    for component in range(len(ends) - 1):
        end = int(ends[component])
        cyclic = False
        met = [0 for _ in range(0)]
        for state in members[begin:end]:
            for edge in range(first[state], first[state + 1]):
                kind, after = int(label[edge]), int(target[edge])
                if demands[kind] != FREE:
                    if stayed[kind] != component:
                        stayed[kind], offers[kind] = component, 0
                        met.append(kind)
                    offers[kind] += 1
                if after < len(numbers) and numbers[after] == component:
                    taken[kind], cyclic = component, True
        refused = [
            kind
            for kind in met
            if taken[kind] != component and (demands[kind] == STRONG or offers[kind] == end - begin)
        ]
        is_fair = cyclic and len(refused) == 0
        for kind in refused:
            taken[kind] = -2 - component  # marks it as neglected here
        for state in members[begin:end]:
            goes = is_fair or not cyclic
            for edge in range(first[state], first[state + 1]):
                goes = goes or taken[int(label[edge])] == -2 - component
            if goes:
                inside[state] = 0
            if is_fair:
                fair[state] = found
        found += is_fair
        begin = end
    return found


def reach(first: Any, target: Any, start: int, seen: Any) -> None:
    """Mark the states that are reachable from `start`, itself included.

    Args:
        first: per state, the index of its first edge.
        target: per edge, its target state.
        start: the first state.
        seen: output; 0 per state before, 1 for reachable states afterwards.
    """
    waiting = [start]
    seen[start] = 1
    while len(waiting) > 0:
        state = waiting.pop()
        if state >= len(first) - 1:
            continue
        for edge in range(first[state], first[state + 1]):
            after = int(target[edge])
            if not seen[after]:
                seen[after] = 1
                waiting.append(after)
