"""Strong components and fairness on compressed rows: in plain Python and, the same ones, compiled.

Nothing here may use more of Python than Numba knows: `checker.tables.kernels.graphs` compiles it.
A state is *inside* if it belongs to the part of the graph that is asked about; `first` and `target`
are as of `checker.search.graph.Rows`, and a state without a row has no edges.
"""

from __future__ import annotations

from typing import Any

OWED, SENDS = 1, 2
"""What fairness speaks of: receptions and what actors do by themselves; and causal-sends."""


def number_components(first: Any, target: Any, inside: Any, numbers: Any) -> int:
    """Number the strong components of a part (Tarjan 1972, without recursion).

    It costs as much as the part is large.

    Args:
        first: where the edges of each state of the whole graph begin.
        target: per edge, the state that it leads to.
        inside: per state, whether it belongs to the part.
        numbers: per state -1; takes the number of its component, in the part.

    Returns:
        How many there are.
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
    """Write the states of each component behind each other.

    Args:
        numbers: as `number_components` leaves it.
        ends: zeros, one more than components; the states of component c end at ends[c], and
            begin at ends[c - 1].
        members: takes the states.
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
    first: Any,
    target: Any,
    label: Any,
    numbers: Any,
    ends: Any,
    members: Any,
    roles: Any,
    strong: bool,
    needs_send: bool,
    inside: Any,
    fair: Any,
    found: int,
) -> int:
    """Judge each component: may a fair run stay in it for ever?

    What is decided is no longer inside: the states of fair components, and of those that no part of
    can be fair. The rest lacks the states that enable what is never taken, and is to be cut again.

    Args:
        first: where the edges of each state of the whole graph begin.
        target: per edge, the state that it leads to.
        label: per edge, the number of its transition.
        numbers: per state, its component; -1: it is outside.
        ends: as `sort_components` leaves it.
        members: the states by component, as `sort_components` leaves them.
        roles: per label, OWED if fairness speaks of it, SENDS if it is a causal-send, or 0.
        strong: a transition enabled in some state must be taken, not only one enabled in all.
        needs_send: the run must causal-send again and again; otherwise any cycle will do.
        inside: updated.
        fair: per state, takes the number of its fair component, from `found` on.
        found: how many are known so far.

    Returns:
        How many are known now.
    """
    labels = len(roles)
    taken, stayed, offers = [-1] * labels, [-1] * labels, [0] * labels
    begin = 0
    for component in range(len(ends) - 1):
        end = int(ends[component])
        cyclic, sends = False, not needs_send
        met = [0 for _ in range(0)]
        for state in members[begin:end]:
            for edge in range(first[state], first[state + 1]):
                kind, after = int(label[edge]), int(target[edge])
                if roles[kind] == OWED:
                    if stayed[kind] != component:
                        stayed[kind], offers[kind] = component, 0
                        met.append(kind)
                    offers[kind] += 1
                if after < len(numbers) and numbers[after] == component:
                    taken[kind], cyclic = component, True
                    sends = sends or roles[kind] == SENDS
        refused = [
            kind
            for kind in met
            if taken[kind] != component and (strong or offers[kind] == end - begin)
        ]
        is_fair = cyclic and sends and len(refused) == 0
        for kind in refused:
            taken[kind] = -2 - component  # says that it is refused here
        for state in members[begin:end]:
            goes = is_fair or not (strong and cyclic and sends)
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
    """Mark the states that can be reached from one, itself included.

    Args:
        first: where the edges of each state begin.
        target: per edge, the state that it leads to.
        start: where to begin.
        seen: per state 0; takes 1.
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
