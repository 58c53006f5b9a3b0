"""The tree paper's configurations, and its statements about them, for every step of small programs.

S. Blessing, S. Clebsch, S. Drossopoulou: Tree Topologies for Causal Message Delivery (as in
`protocols.tree`), sections 3 and 4. `protocols.tree` joins an out-queue and the in-queue behind it
to one channel. The lemmas are about queues, so both kinds of queue exist here, and M-Forward is a
step. `explored` takes every step of a program, and applies a statement to each of them.

Differences, where the print contradicts the text: M-Route pushes to an out-queue of its own node
and is only for messages with another destination. Definition 3.4 as printed forbids queues towards
parents; here queues are between neighbours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import permutations, product
from typing import Literal, TypeAlias

from attrs import evolve, frozen

from antecede.checker.model import CausalSend, Message, Receive, Transition
from antecede.protocols.tree import Node, Routes
from antecede.protocols.unordered import Data

Kind: TypeAlias = Literal["in", "out"]
Queue: TypeAlias = tuple[Kind, int, int]
"""In or Out of Figure 9: the kind, the node that has the queue, and the neighbour."""

Event: TypeAlias = tuple[Literal["Snd", "Rec"], Message]
"""Figure 3. The node of Snd is the message's sender."""

Pair: TypeAlias = tuple[Message, Message]


@frozen
class Configuration:
    """A tree, a history and a state.

    Attributes:
        routes: the tree, as `next` of Figure 4.
        history: Delta, the oldest event first.
        queues: Sigma without its empty queues, sorted; the head of a queue comes first.
    """

    routes: tuple[Routes, ...]
    history: tuple[Event, ...] = ()
    queues: tuple[tuple[Queue, tuple[Message, ...]], ...] = ()

    @property
    def sent(self) -> tuple[Message, ...]:
        """The messages with a Snd event."""
        return tuple(message for kind, message in self.history if kind == "Snd")

    def sent_by(self, node: int) -> int:
        """Return the number of messages that a node has sent."""
        return sum(message.sender == node for message in self.sent)

    @property
    def places(self) -> dict[Message, Queue]:
        """The queue of each message in the state."""
        return {message: queue for queue, messages in self.queues for message in messages}

    def precedes(self, first: Event, second: Event) -> bool:
        """Figure 7: both events are in the history, the first one earlier."""
        if first not in self.history or second not in self.history:
            return False
        return self.history.index(first) < self.history.index(second)

    def received(self, message: Message) -> bool:
        """Return whether the message has a Rec event."""
        return ("Rec", message) in self.history

    def path(self, node: int, message: Message) -> tuple[int, ...]:
        """Figures 5 and 9: the nodes from `node` to the message's destination."""
        nodes = [node]
        while nodes[-1] != message.receiver:
            nodes.append(self.routes[nodes[-1]][message.receiver])
        return tuple(nodes)


# Figure 3: the steps


@frozen
class Taken:
    """A step: its rule, its node, the neighbour (the node itself for M-Send), and the message."""

    rule: str
    node: int
    neighbour: int
    message: Message

    @property
    def transition(self) -> Transition | None:
        """The transition of `protocols.tree`, where M-Forward is none."""
        if self.rule == "M-Send":
            return CausalSend(self.node, self.message.destinations)
        packet = Data(self.message)
        return (
            None
            if self.rule == "M-Forward"
            else Receive(src=self.neighbour, dst=self.node, packet=packet)
        )


Program: TypeAlias = Sequence[Sequence[int]] | int
"""For each node, the destinations of its messages in the order in which it sends them.

A number stands for all programs with so many messages of all nodes together.
"""


def sends(at: Configuration, program: Program) -> Iterator[tuple[int, int]]:
    """Yield the node and the destination of each message that may be sent next."""
    if isinstance(program, int):
        if len(at.sent) < program:
            yield from permutations(range(len(at.routes)), 2)
        return
    for node, destinations in enumerate(program):
        yield from ((node, each) for each in destinations[at.sent_by(node) :][:1])


def steps(at: Configuration, program: Program) -> Iterator[tuple[Taken, Configuration]]:
    """Yield every step of Figure 3, with the next configuration."""
    for node, destination in sends(at, program):
        m = Message(node, at.sent_by(node) + 1, (destination,))
        after = evolve(at, history=(*at.history, ("Snd", m)))
        yield Taken("M-Send", node, node, m), pushed_out(after, node, m)
    for (kind, node, neighbour), (m, *_) in at.queues:
        after = popped(at, (kind, node, neighbour))
        if kind == "out":
            after = pushed(after, ("in", neighbour, node), m)
            yield Taken("M-Forward", node, neighbour, m), after
        elif m.receiver == node:
            after = evolve(after, history=(*at.history, ("Rec", m)))
            yield Taken("M-Receive", node, neighbour, m), after
        else:
            yield Taken("M-Route", node, neighbour, m), pushed_out(after, node, m)


def pushed(at: Configuration, queue: Queue, m: Message) -> Configuration:
    """PushIn of Figure 10, for any queue."""
    queues = dict(at.queues)
    queues[queue] = (*queues.get(queue, ()), m)
    return evolve(at, queues=tuple(sorted(queues.items())))


def pushed_out(at: Configuration, node: int, m: Message) -> Configuration:
    """PushOut of Figure 10."""
    return pushed(at, ("out", node, at.routes[node][m.receiver]), m)


def popped(at: Configuration, queue: Queue) -> Configuration:
    """PopIn and PopOut of Figure 10."""
    queues = dict(at.queues)
    _, *rest = queues.pop(queue)
    if rest:
        queues[queue] = tuple(rest)
    return evolve(at, queues=tuple(sorted(queues.items())))


# Section 3.3: well-formed configurations

Inclusion: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...]], bool]


def includes(p: tuple[int, ...], q: tuple[int, ...]) -> bool:
    """Figure 6: p is the end of q, and q is longer."""
    return len(p) < len(q) and q[-len(p) :] == p


def includes_or_equals(p: tuple[int, ...], q: tuple[int, ...]) -> bool:
    """Figure 6 without its premise: p is the end of q, or is q."""
    return p == q or includes(p, q)


def well_formed(at: Configuration, inclusion: Inclusion = includes) -> bool:
    """Definition 3.7, with the printed or another inclusion of paths in Definition 3.6.

    `protocols.tree` checks the tree (Definition 3.2).
    """
    queued = [message for _, messages in at.queues for message in messages]
    return (
        len(queued) == len(set(queued))  # Definition 3.3
        and all(is_on_its_route(at, *entry) for entry in at.queues)  # Definition 3.4
        and len(at.history) == len(set(at.history))  # Definition 3.5
        and all(m in at.sent and not at.received(m) for m in queued)  # Definition 3.6, the state
        and all(  # Definition 3.6, the path
            inclusion(at.path(node, m), at.path(m.sender, m))
            for (_, node, _), messages in at.queues
            for m in messages
        )
    )


def is_on_its_route(at: Configuration, queue: Queue, messages: Sequence[Message]) -> bool:
    """Definition 3.4: the queue leads its messages towards their destinations."""
    kind, node, neighbour = queue
    source, target = (node, neighbour) if kind == "out" else (neighbour, node)
    return all(m.receiver != source and at.routes[source][m.receiver] == target for m in messages)


# Section 3.4: cause and arrival

Case: TypeAlias = Callable[[Configuration, Message, Message], int]


def directly_causes(at: Configuration, m: Message, n: Message) -> bool:
    """Figure 7, `m <_Delta n`: m was received, or sent, where n was sent, before n was sent."""
    received = m.receiver == n.sender and at.precedes(("Rec", m), ("Snd", n))
    return received or (m.sender == n.sender and at.precedes(("Snd", m), ("Snd", n)))


def causes(at: Configuration, m: Message, n: Message) -> bool:
    """Figure 7, `m <<_Delta n`."""
    return directly_causes(at, m, n) or any(
        directly_causes(at, other, n) and causes(at, m, other) for other in at.sent
    )


def case_of(at: Configuration, m: Message, n: Message, repaired: Collection[int] = ()) -> int:
    """Figure 8, `m < n`: the number of the first case that holds, or 0.

    Args:
        repaired: the cases that have our repair. Case 2 also holds if n is in another out-queue of
            the node. Case 3 holds only if m is in an out-queue, or in the in-queue through which n
            would come. Case 5 holds only if m was received.
    """
    places = at.places
    here, there = places.get(m), places.get(n)
    if here and there:
        messages = dict(at.queues)[here]
        if here == there and messages.index(m) < messages.index(n):
            return 1
        if here[1] == there[1] and here[0] == "out" and here != there:
            if there[0] == "in" or 2 in repaired:
                return 2
        path = at.path(there[1], m)
        if here[1] != there[1] and includes(at.path(here[1], m), path):
            before = path[path.index(here[1]) - 1]
            if 3 not in repaired or here[0] == "out" or here[2] == before:
                return 3
    if m.receiver != n.receiver:
        return 4 if at.received(m) or at.received(n) else 0
    if 5 in repaired and not at.received(m):
        return 0
    return 5 if not at.received(n) or at.precedes(("Rec", m), ("Rec", n)) else 0


case_with_out_queues: Case = partial(case_of, repaired=(2,))
"""Figure 8 with the repair that Lemma 4.6 needs."""

case_repaired: Case = partial(case_of, repaired=(2, 3, 5))
"""Figure 8 with the three repairs that Lemma 4.4 needs."""


def consistent(at: Configuration, inclusion: Inclusion = includes, case: Case = case_of) -> bool:
    """Definition 3.8."""
    return well_formed(at, inclusion) and all(
        case(at, m, n) for m, n in permutations(at.sent, 2) if causes(at, m, n)
    )


# Sections 3.4 and 4: the statements. Each function returns why a step contradicts it, or "".

Statement: TypeAlias = Callable[[Configuration, Configuration], str]
"""(the configuration before a step, the one after it) -> a contradiction in words."""


EXAMPLE = (
    ("Snd m1", "Rec m1", "Snd m2", "Rec m2", "Snd m3", "Rec m3"),
    ("Snd m1", "Snd m2", "Rec m1", "Rec m2", "Snd m3", "Rec m3"),
)
"""Section 3.1: the two histories of the credit m1, the purchase m2 and the debit m3."""


def example_histories(_before: Configuration, after: Configuration) -> str:
    """Section 3.1: if the Shop asks for the debit after the purchase, EXAMPLE has the history."""
    history = tuple(in_words(after, f"{kind} {{}}", m) for kind, m in after.history)
    if len(history) < len(EXAMPLE[0]):
        return ""
    credit, buy, debit = after.sent
    if credit.sender != buy.sender or not after.precedes(("Rec", buy), ("Snd", debit)):
        return ""
    return "" if history in EXAMPLE else f"another history is {', '.join(history)}"


def lemma_4_3(before: Configuration, after: Configuration, inclusion: Inclusion = includes) -> str:
    """Lemma 4.3: a step keeps a configuration well-formed."""
    broken = well_formed(before, inclusion) and not well_formed(after, inclusion)
    return "the configuration is no longer well-formed" if broken else ""


def lemma_4_4(
    before: Configuration,
    after: Configuration,
    inclusion: Inclusion = includes,
    case: Case = case_of,
    only: int = 0,
) -> str:
    """Lemma 4.4: a step from a well-formed configuration keeps `m < n`.

    Args:
        before, after: the configurations.
        inclusion: when a path includes another one.
        case: `m < n`.
        only: if not 0, look only at pairs for which this case holds before the step.
    """
    if not well_formed(before, inclusion):
        return ""
    for m, n in permutations(before.sent, 2):
        held = case(before, m, n)
        if held and only in (0, held) and not case(after, m, n):
            return in_words(after, f"{{}} < {{}} held by case {held}, and holds no longer", m, n)
    return ""


def lemma_4_5(before: Configuration, after: Configuration, printed: bool = False) -> str:
    """Lemma 4.5: a cause is new only where the effect is sent, and is direct or through another.

    As printed, direct causes are those of the history before the step.
    """
    events = after.history[len(before.history) :]
    for m, n in permutations(after.sent if events else (), 2):
        if causes(before, m, n) or not causes(after, m, n):
            continue
        if events not in [(("Snd", n),), (("Rec", n),)]:
            return in_words(after, "{0} causes {1} by a step of another message", m, n)
        direct = directly_causes(before if printed else after, m, n)
        if not direct and not any(
            causes(before, m, other) and directly_causes(after, other, n) for other in after.sent
        ):
            return in_words(after, "{0} causes {1}, not as the lemma says", m, n)
    return ""


def lemma_4_6(before: Configuration, after: Configuration, case: Case = case_of) -> str:
    """Lemma 4.6: a step keeps a configuration consistent; equal paths include each other here."""
    if not consistent(before, includes_or_equals, case):
        return ""
    for m, n in permutations(after.sent, 2):
        if causes(after, m, n) and not case(after, m, n):
            return in_words(after, "{0} causes {1}, and {0} < {1} does not hold", m, n)
    return lemma_4_3(before, after, includes_or_equals)


def theorem_4_1(_before: Configuration, after: Configuration) -> str:
    """Theorem 4.1, read as its text: if the effect was received, then the cause before it."""
    for m, n in permutations(after.sent, 2):
        if _late(after, m, n) and after.received(n):
            return in_words(after, "{0} causes {1}, {1} is received, and {0} not before it", m, n)
    return ""


def theorem_4_1_as_printed(_before: Configuration, after: Configuration) -> str:
    """Theorem 4.1 as printed: if the cause was received, then before the effect was received."""
    for m, n in permutations(after.sent, 2):
        if _late(after, m, n) and after.received(m):
            return in_words(after, "{0} causes {1}, and Rec({0}) comes before no Rec({1})", m, n)
    return ""


def _late(at: Configuration, m: Message, n: Message) -> bool:
    """Return whether m causes n, both have one destination, and Rec(m) is not before Rec(n)."""
    received_before = at.precedes(("Rec", m), ("Rec", n))
    return m.receiver == n.receiver and not received_before and causes(at, m, n)


def arrival_is_irreflexive(
    _before: Configuration, after: Configuration, case: Case = case_of
) -> str:
    """Section 3.4: `m < m` is never possible."""
    for m in after.sent:
        if held := case(after, m, m):
            return in_words(after, f"{{0}} < {{0}} holds by case {held}", m)
    return ""


def arrival_is_symmetric(_before: Configuration, after: Configuration) -> str:
    """`m < n` implies `n < m`; section 3.4 denies it."""
    for m, n in permutations(after.sent, 2):
        if case_of(after, m, n) and not case_of(after, n, m):
            return in_words(after, "{0} < {1} holds, and {1} < {0} does not", m, n)
    return ""


def arrival_is_antisymmetric(_before: Configuration, after: Configuration) -> str:
    """`m < n` excludes `n < m`; section 3.4 denies it."""
    for m, n in permutations(after.sent, 2):
        if case_of(after, m, n) and case_of(after, n, m):
            return in_words(after, "{0} < {1} and {1} < {0} hold", m, n)
    return ""


def arrival_is_transitive(_before: Configuration, after: Configuration) -> str:
    """`m < n` and `n < o` imply `m < o`; section 3.4 denies it."""
    for m, n, o in permutations(after.sent, 3):
        if case_of(after, m, n) and case_of(after, n, o) and not case_of(after, m, o):
            return in_words(after, "{0} < {1} and {1} < {2} hold, and {0} < {2} does not", m, n, o)
    return ""


def cause_is_a_strict_order(_before: Configuration, after: Configuration) -> str:
    """Section 3.4: `m << m` never holds, and `<<` is transitive."""
    for m, n, o in product(after.sent, repeat=3):
        if causes(after, m, m):
            return in_words(after, "{0} causes itself", m)
        if causes(after, m, n) and causes(after, n, o) and not causes(after, m, o):
            return in_words(
                after, "{0} causes {1}, {1} causes {2}, {0} does not cause {2}", m, n, o
            )
    return ""


def in_words(at: Configuration, text: str, *messages: Message) -> str:
    """Return a text about messages, which are called m1, m2 and so on in the order of their Snd."""
    return text.format(*(f"m{at.sent.index(message) + 1}" for message in messages))


STATEMENTS: dict[str, Statement] = {
    "example-histories": example_histories,
    "lemma-4-3": lemma_4_3,
    "lemma-4-3-equal-paths": partial(lemma_4_3, inclusion=includes_or_equals),
    "lemma-4-4": lemma_4_4,
    "lemma-4-4-equal-paths": partial(lemma_4_4, inclusion=includes_or_equals),
    **{
        f"lemma-4-4-case-{number}": partial(lemma_4_4, inclusion=includes_or_equals, only=number)
        for number in (2, 3, 5)
    },
    "lemma-4-4-repaired": partial(lemma_4_4, inclusion=includes_or_equals, case=case_repaired),
    "lemma-4-5": lemma_4_5,
    "lemma-4-5-printed": partial(lemma_4_5, printed=True),
    "lemma-4-6-equal-paths": lemma_4_6,
    "lemma-4-6-repaired": partial(lemma_4_6, case=case_with_out_queues),
    "lemma-4-6-three-repairs": partial(lemma_4_6, case=case_repaired),
    "theorem-4-1": theorem_4_1,
    "theorem-4-1-printed": theorem_4_1_as_printed,
    "arrival-irreflexive": arrival_is_irreflexive,
    "arrival-irreflexive-repaired": partial(arrival_is_irreflexive, case=case_repaired),
    "arrival-symmetric": arrival_is_symmetric,
    "arrival-antisymmetric": arrival_is_antisymmetric,
    "arrival-transitive": arrival_is_transitive,
    "cause-strict-order": cause_is_a_strict_order,
}


# The search

Placed: TypeAlias = tuple[Kind, int, int, int]
"""A queue, and the number of the message in it, from 1 in the order of the Snd events."""


@frozen
class Explored:
    """The result of a search.

    Attributes:
        configurations: the number of configurations that were reached.
        run: a shortest run whose last step contradicts the statement, or None.
        contradiction: the contradiction and the run in words.
    """

    configurations: int
    run: tuple[Taken, ...] | None = None
    contradiction: str = ""


def explored_from(
    nodes: Sequence[Node], program: Program, name: str, placed: Sequence[Placed] = ()
) -> Explored:
    """Apply the statement called `name` to every step from the configuration of `beginning`.

    Raises:
        ValueError: that configuration is not consistent as printed.
    """
    start = beginning(tuple(node.routes for node in nodes), program, placed)
    if not consistent(start):
        raise ValueError("the first configuration is not consistent")
    return explored(start, program, STATEMENTS[name])


def beginning(
    routes: tuple[Routes, ...], program: Program, placed: Sequence[Placed] = ()
) -> Configuration:
    """Return the configuration before the first step.

    It is empty, or all messages of the program are sent and in the queues that `placed` says.
    """
    if not placed or isinstance(program, int):
        return Configuration(routes)
    sent = [
        Message(node, number, (destination,))
        for node, destinations in enumerate(program)
        for number, destination in enumerate(destinations, 1)
    ]
    at = Configuration(routes, tuple(("Snd", m) for m in sent))
    for kind, node, neighbour, number in placed:
        at = pushed(at, (kind, node, neighbour), sent[number - 1])
    return at


def explored(start: Configuration, program: Program, statement: Statement) -> Explored:
    """Apply a statement to every step that can be reached, breadth-first."""
    runs: dict[Configuration, tuple[Taken, ...]] = {start: ()}
    waiting = deque([start])
    while waiting:
        before = waiting.popleft()
        for step, after in steps(before, program):
            run = (*runs[before], step)
            if contradiction := statement(before, after):
                taken = ", ".join(in_words(after, f"{s.rule} {{}}", s.message) for s in run)
                return Explored(len(runs), run, f"after {taken}: {contradiction}")
            if after not in runs:
                runs[after] = run
                waiting.append(after)
    return Explored(len(runs))
