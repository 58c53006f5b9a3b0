"""The classes of complete computations that the literature names, from the smallest to the largest.

A *linear order* of a computation is an order of all its events that respects the order of each
actor and has every causal-send before its delivery. Each class says which linear orders, or which
orders of deliveries, its computations have. `docs/classes.md` proves that each class contains the
classes before it, and that 1-n and mailbox are the same for complete computations.

Sources: B. Charron-Bost, F. Mattern, G. Tel: Synchronous, asynchronous, and causally ordered
communication, Distributed Computing 9, 1996 (synchronous: RSC, causal, FIFO). A. Engels, S. Mauw,
M. Reniers: A hierarchy of communication models for Message Sequence Charts, Science of Computer
Programming 44, 2002 (queues of a channel, a receiver, a sender, and of all). The names mailbox,
1-n and n-n are those of C. Di Giusto, D. Ferré, L. Laversa, E. Lozes: A Partial Order View of
Message-Passing Communication Models, POPL 2023. We had the full text of neither of the last two,
so the definitions are in our words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, permutations

from attrs import frozen

from antecede.checker.papers.computations.computation import Computation, Graph, Key


@frozen(eq=False)
class ComputationClass:
    """A class of complete computations.

    Attributes:
        name: the name in the literature.
        definition: what its computations have in common.
        contains: computation -> whether it is in the class.
    """

    name: str
    definition: str
    contains: Callable[[Computation], bool]


def synchronous(computation: Computation) -> bool:
    """Return whether some linear order has every delivery directly after its causal-send.

    Then a message and its delivery are one event, and these events have no cycle of causes.
    """
    messages = {key: number for number, key in enumerate(_keys(computation))}
    after: list[set[int]] = [set() for _ in messages]
    for events in computation:
        for first, second in pairwise(events):
            after[messages[first.message]].add(messages[second.message])
    left = set(range(len(after)))
    while free := left - set().union(*(after[number] for number in left)):
        left -= free
    return not left


def n_to_n(computation: Computation) -> bool:
    """Return whether some linear order has all deliveries in the order of the causal-sends.

    The search lets one queue hold the undelivered messages. It delivers the first one as soon as
    its receiver is ready, because waiting makes nothing else possible. So it only tries the orders
    of the causal-sends.
    """
    receiver = {e.message: i for i, own in enumerate(computation) for e in own if e.delivers}
    seen = set[tuple[tuple[int, ...], tuple[Key, ...]]]()
    todo: list[tuple[tuple[int, ...], tuple[Key, ...]]] = [((0,) * len(computation), ())]
    while todo:
        done, queue = todo.pop()
        while queue:
            actor = receiver[queue[0]]
            place = done[actor]
            if computation[actor][place : place + 1] != ((queue[0], True),):
                break
            done, queue = _one_more(done, actor), queue[1:]
        if (done, queue) in seen:
            continue
        seen.add((done, queue))
        if all(place == len(own) for place, own in zip(done, computation, strict=True)):
            return True
        for actor, own in enumerate(computation):
            if done[actor] < len(own) and not own[done[actor]].delivers:
                todo.append((_one_more(done, actor), (*queue, own[done[actor]].message)))
    return False


def one_to_n(computation: Computation) -> bool:
    """Return whether some linear order delivers each sender's messages in causal-send order."""
    graph = Graph(computation)
    pairs = [
        (graph.delivery[m], graph.delivery[k])
        for m, k in permutations(graph.send, 2)
        if m[0] == k[0] and graph.send[m] < graph.send[k]
    ]
    return graph.order(pairs) is not None


def mailbox(computation: Computation) -> bool:
    """Return whether some linear order delivers at each actor in the order of the causal-sends."""
    graph = Graph(computation)
    pairs = [(graph.send[m], graph.send[k]) for m, k in _delivered_in_order(graph)]
    return graph.order(pairs) is not None


def causal(computation: Computation) -> bool:
    """Return whether no actor delivers a message before one whose causal-send happened before."""
    graph = Graph(computation)
    later = graph.later()
    return not any(later[graph.send[k]] >> graph.send[m] & 1 for m, k in _delivered_in_order(graph))


def fifo(computation: Computation) -> bool:
    """Return whether every actor delivers each sender's messages in causal-send order."""
    graph = Graph(computation)
    return not any(
        m[0] == k[0] and graph.send[k] < graph.send[m] for m, k in _delivered_in_order(graph)
    )


def asynchronous(computation: Computation) -> bool:
    """Return whether the events have a linear order, as those of every computation do."""
    return Graph(computation).order() is not None


CLASSES = tuple(
    ComputationClass(*each)
    for each in (
        (
            "synchronous",
            "some linear order has each delivery directly after its causal-send",
            synchronous,
        ),
        ("n-n", "some linear order has all deliveries in the order of the causal-sends", n_to_n),
        (
            "1-n",
            "some linear order delivers the messages of each sender in the order of their "
            "causal-sends",
            one_to_n,
        ),
        (
            "mailbox",
            "some linear order delivers the messages to each receiver in the order of their "
            "causal-sends",
            mailbox,
        ),
        (
            "causal",
            "of two messages to one receiver, the one whose causal-send happened before is "
            "delivered first",
            causal,
        ),
        (
            "fifo",
            "messages from one sender to one receiver are delivered in the order of their "
            "causal-sends",
            fifo,
        ),
        ("asynchronous", "every complete computation", asynchronous),
    )
)
"""The classes; each one contains the classes before it."""

NAMES = tuple(each.name for each in CLASSES)


def rank(computation: Computation) -> int:
    """Return the index in CLASSES of the smallest class with this computation.

    It asks the largest class first, and stops at the first class without the computation, because
    no smaller class has it.
    """
    for index in reversed(range(len(CLASSES))):
        if not CLASSES[index].contains(computation):
            return index + 1
    return 0


def _keys(computation: Computation) -> list[Key]:
    return [event.message for own in computation for event in own if not event.delivers]


def _delivered_in_order(graph: Graph) -> Iterator[tuple[Key, Key]]:
    """Yield the pairs of messages to one actor that are delivered in this order."""
    for m, k in permutations(graph.send, 2):
        first, second = graph.delivery[m], graph.delivery[k]
        if first < second and graph.actor[first] == graph.actor[second]:
            yield m, k


def _one_more(done: tuple[int, ...], actor: int) -> tuple[int, ...]:
    return (*done[:actor], done[actor] + 1, *done[actor + 1 :])
