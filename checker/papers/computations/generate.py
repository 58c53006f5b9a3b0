"""The complete computations that a protocol generates: a search that records all events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import define, evolve, field

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import CausalSend, Message, Receive, State, Transition
from antecede.checker.papers.computations.computation import Computation, Event, Script, linear
from antecede.checker.paths.path import Path, replay
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.semantics.history import Ghost, Oracle, Pending, Stamp, Taken, with_pending
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.semantics.values import contains
from antecede.checker.sweep.smallest import scripted


def recording() -> Oracle:
    """Return a history that keeps the events of each actor, in order, and judges no delivery."""

    def initial(_actor: int) -> Ghost:
        return Ghost(knows=0)

    def causal_send(ghost: Ghost, message: Message) -> Ghost:
        pending = (*ghost.pending, Pending(message, message.destinations, 0))
        return with_pending(_with_event(ghost, message, delivers=False), pending)

    def take(ghost: Ghost, message: Message, destination: int) -> Taken | None:
        entry = next((p for p in ghost.pending if p.message == message), None)
        if entry is None or destination not in entry.remaining:
            return None
        pending = tuple([p for p in ghost.pending if p is not entry])
        return Taken(with_pending(ghost, pending), 0, overtaken=False)

    def join(ghost: Ghost, _actor: int, message: Message, _stamp: Stamp) -> tuple[Ghost, bool]:
        return _with_event(ghost, message, delivers=True), False

    return Oracle("events", initial, causal_send, None, take, join, None)


def _with_event(ghost: Ghost, message: Message, *, delivers: bool) -> Ghost:
    event = Event((message.sender, message.number), delivers)
    return Ghost(0, ghost.pending, 0, (*ghost.stamps, event))


@define(eq=False)
class Generating(BreadthFirst):
    """Explores a system with a recording history; states with a complete computation have no next.

    Attributes:
        complete: the complete computations that were found.
        stuck: the number of final states in which a message is not delivered.
    """

    complete: set[Computation] = field(factory=set)
    stuck: int = 0

    def _expand(self, number: int) -> None:
        state = self.graph.states[number]
        if self._is_complete(state):
            self.complete.add(tuple(ghost.stamps for ghost in state.history))
            self.graph.skip()
            return
        super()._expand(number)

    def _is_complete(self, state: State) -> bool:
        return not any(ghost.pending for ghost in state.history) and all(
            self.system.workload.ended(actor, position)
            for actor, position in enumerate(state.workload)
        )

    def _judge_final(self, state: State, path: Callable[[], tuple[Transition, ...]]) -> None:
        super()._judge_final(state, path)
        self.stuck += 1


def generating(system: System) -> Generating:
    """Return a search for the complete computations of a system."""
    return Generating(evolve(system, properties=(), oracle=recording()))


def drawn(script: Script, computation: Computation) -> Path:
    """Return a run with this computation, of a protocol that delivers every message on arrival."""
    system = system_of(scripted(Spec("unordered", properties=("causal-delivery",)), script))
    return replay(system, tuple(_transitions(system, linear(computation))))


def _transitions(system: System, events: Iterable[Event]) -> Iterator[Transition]:
    state = initial_state(system)
    for event in events:
        transition = next(t for t in enabled(system, state) if _is(t, event))
        state = successor(system, state, transition).state
        yield transition


def _is(transition: Transition, event: Event) -> bool:
    """Return whether a transition of the protocol `unordered` is this event."""
    sender, number = event.message
    if isinstance(transition, CausalSend):
        return not event.delivers and transition.actor == sender
    if not isinstance(transition, Receive) or not event.delivers or transition.src != sender:
        return False
    return contains(transition.packet, Message(sender, number, (transition.dst,)))
