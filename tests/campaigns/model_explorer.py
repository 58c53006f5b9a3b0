"""Explores an abstract model with a few actors and messages, and judges what was proved of it.

The ghosts `knows` and `tainted` are not taken from the model's updates. They are computed here
from the causal-sends and deliveries that happened.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from typing import TypeAlias

from attrs import frozen

from antecede.checker.prove.formula import compiled
from antecede.checker.prove.link import Event, Machine, Memo, Values
from antecede.checker.prove.vocabulary import CAUSAL_DELIVERY, FIFO_DELIVERY, Model

ACTORS, MESSAGES_EACH = 3, 2

Placement: TypeAlias = tuple[tuple[int, int], ...]
"""Sender and destination of every message."""


@cache
def placements(count: int, *, to_oneself: bool = False) -> tuple[Placement, ...]:
    """Return who may send how many messages to whom, up to the names of actors and messages."""
    pairs = [(s, d) for s, d in product(range(ACTORS), repeat=2) if to_oneself or s != d]
    distinct = set()
    for chosen in combinations_with_replacement(pairs, count):
        if max(Counter(sender for sender, _ in chosen).values()) <= MESSAGES_EACH:
            renamed = (
                tuple(sorted((names[s], names[d]) for s, d in chosen))
                for names in permutations(range(ACTORS))
            )
            distinct.add(min(renamed))
    return tuple(sorted(distinct))


@frozen
class History:
    """What happened, as seen from outside the system; all masks of messages.

    Attributes:
        knows: per actor, the messages that are causally before what it does next.
        past: per message, the messages that are causally before its causal-send.
        earlier: per message, what its sender causal-sent before it.
    """

    knows: tuple[int, ...]
    past: tuple[int, ...]
    earlier: tuple[int, ...]

    def after(self, placement: Placement, was: int, sent: int, delivered: int) -> History:
        """Return the history after more messages, than `was`, were sent, or some delivered."""
        knows, past, earlier = list(self.knows), list(self.past), list(self.earlier)
        for k, (sender, receiver) in enumerate(placement):
            if sent >> k & 1:
                own = [j for j, (other, _) in enumerate(placement) if other == sender]
                past[k], earlier[k] = knows[sender], sum(1 << j & was for j in own)
                knows[sender] |= 1 << k
            if delivered >> k & 1:
                knows[receiver] |= past[k] | 1 << k
        return History(tuple(knows), tuple(past), tuple(earlier))

    def overtaken(self, placement: Placement, delivered: int, claim: str) -> str | None:
        """Return which delivery violates causal delivery, or delivery in the sender's order."""
        before = {CAUSAL_DELIVERY.name: self.past, FIFO_DELIVERY.name: self.earlier}.get(claim)
        if before is None:
            return None
        for k, j in product(range(len(placement)), repeat=2):
            came = delivered >> k & 1 and not delivered >> j & 1
            if came and placement[k][1] == placement[j][1] and before[k] >> j & 1:
                return f"message {k} is delivered before message {j}"
        return None


State: TypeAlias = tuple[tuple[int, ...], History]
"""The masks of the relations that are no ghosts of the vocabulary, and what happened."""


class Explorer:
    """A model over three actors and a fixed number of messages.

    Attributes:
        delivers: whether some explored run delivers a message.
    """

    def __init__(self, model: Model, count: int) -> None:
        """Compile the model for `count` messages."""
        sizes = dict.fromkeys(model.sorts, count) | {"Actor": ACTORS}
        self.model, self.count = model, count
        self.machine = Machine(model, sizes)
        self.names = [r.name for r in model.relations if r.name not in ("knows", "tainted")]
        self.events: list[Event] = [
            (action.name, *elements)
            for action in model.actions
            for elements in product(*(range(sizes[p.sort().name()]) for p in action.params))
        ]
        rest = model.quiescent
        self.undone = None if rest is None else Memo(compiled(rest.undone, sizes))
        self.deliveries = {
            action.name
            for action in model.actions
            if any(update.relation.name == "delivered" for update in action.updates)
        }
        self.delivers = False
        self.environment = {action.name for action in model.actions if action.environment}

    def applies(self, placement: Placement) -> bool:
        """Return whether the axioms are true where messages are placed so."""
        values = self.values(self.start(), placement, 0)
        return all(memo.value(values) for _, memo in self.machine.axioms)

    def wrong(self, placement: Placement, marked: int, most: int) -> str | None:
        """Return a proved claim that one of the first `most` states violates, with the run to it.

        The message that is `marked` matters only to models that notice it.
        """
        start = self.start()
        parents: dict[State, tuple[State, Event] | None] = {start: None}
        queue = deque([start])
        while queue and len(parents) < most:
            state = queue.popleft()
            steps = list(self.steps(state, placement, marked))
            reason = self.untrue(state, placement, [event for event, _ in steps])
            if reason is not None:
                return f"{reason} after {_run(parents, state)}; sent from and to {placement}"
            for event, following in steps:
                if self.delivers_again(event, state, following):
                    return f"{event} delivers a message again after {_run(parents, state)}"
                if following not in parents:
                    parents[following] = (state, event)
                    queue.append(following)
        return None

    def start(self) -> State:
        """Return the initial state."""
        nothing = (0,) * self.count
        return (0,) * len(self.names), History((0,) * ACTORS, nothing, nothing)

    def values(self, state: State, placement: Placement, marked: int) -> Values:
        """Return all relations, the ghosts as they should be for a marked message."""
        masks, history = state
        return {
            **dict(zip(self.names, masks, strict=True)),
            "knows": sum((known >> marked & 1) << a for a, known in enumerate(history.knows)),
            "tainted": sum((past >> marked & 1) << k for k, past in enumerate(history.past)),
            "src": tuple(sender for sender, _ in placement),
            "dst": tuple(receiver for _, receiver in placement),
            "R": marked,
            "D": 0,
        }

    def steps(
        self, state: State, placement: Placement, marked: int
    ) -> Iterator[tuple[Event, State]]:
        """Yield what can happen, and the state after it."""
        values = self.values(state, placement, marked)
        for event in self.events:
            name, elements = str(event[0]), [int(k) for k in event[1:]]
            if not all(memo.value(values, *elements) for _, memo in self.machine.guards[name]):
                continue
            updates = self.machine.updates[name]
            changed = values | {r: memo.value(values, *elements) for r, memo in updates}
            sent, delivered = (changed[r] & ~values[r] for r in ("sent", "delivered"))
            history = state[1].after(placement, values["sent"], sent, delivered)
            yield event, (tuple(changed[r] for r in self.names), history)

    def delivers_again(self, event: Event, state: State, following: State) -> bool:
        """Return whether an event delivers a message that was delivered before."""
        place = self.names.index("delivered")
        return event[0] in self.deliveries and state[0][place] == following[0][place]

    def untrue(self, state: State, placement: Placement, events: Sequence[Event]) -> str | None:
        """Return a proved claim that is not true in a state; `events` can happen there."""
        values = self.values(state, placement, 0)
        self.delivers |= values["delivered"] > 0
        if unsent := values["delivered"] & ~values["sent"]:
            return f"message {unsent.bit_length() - 1} is delivered and was never causal-sent"
        overtaken = state[1].overtaken(placement, values["delivered"], self.model.safety.name)
        if overtaken is not None:
            return overtaken
        rests = {event[0] for event in events} <= self.environment
        for marked in range(self.count):
            values = self.values(state, placement, marked)
            for one, memo in (*self.machine.plain, *self.machine.about_r):
                if not memo.value(values):
                    return f"{one.name!r} is not true, R being message {marked},"
            if rests and self.undone is not None and self.undone.value(values):
                return "something is undone at quiescence"
        return None


def _run(parents: dict[State, tuple[State, Event] | None], state: State) -> str:
    """Return the events that lead to a state."""
    events = []
    while (step := parents[state]) is not None:
        state, event = step
        events.append(f"{event[0]}({', '.join(map(str, event[1:]))})")
    return ", ".join(reversed(events)) or "nothing"
