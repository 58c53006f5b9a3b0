"""The tree of all runs of one system, with runs written as paths of numbers.

A path is written as the numbers of its transitions in their enabled order, such as 0.2.1. That
order is the same in every process, so a path names the same state everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.check.spec import Spec
from antecede.checker.explore.judgement import violated_by
from antecede.checker.model import Protocol, Transition
from antecede.checker.paths.path import Path, attempted, extended, replay_keys
from antecede.checker.render.about import explanation_of
from antecede.checker.render.prose import Wording
from antecede.checker.semantics.failing import guarded
from antecede.checker.semantics.transition import System, enabled
from antecede.checker.support.errors import InputError, ProtocolError
from antecede.checker.support.registry import (
    declared_names,
    property_named,
    protocol_named,
    protocol_names,
)

Numbers: TypeAlias = tuple[int, ...]

MOST_STEPS = 300
"""The greatest length of a path. The diagram of a longer one is unreadable."""

REMEMBERED = 1024
"""The number of cached paths, so that a step does not replay all earlier steps."""


class NoSuchState(InputError):
    """A path of numbers that leads nowhere; `before` is its longest valid prefix."""

    def __init__(self, text: str, before: Numbers) -> None:
        super().__init__(text)
        self.before = before


@frozen
class Choice:
    """A transition that is enabled at the end of a path.

    Attributes:
        number: its index in the enabled order.
        text: its effects in words; if it fails, who sends or receives what, and the error.
        violates: the properties that it violates.
        fails: whether the protocol raises an error.
    """

    number: int
    text: str
    violates: tuple[str, ...] = ()
    fails: bool = False


@frozen(eq=False)
class Tree:
    """All runs of the system that `spec` describes."""

    spec: Spec
    system: System = field()
    _at: Callable[[Numbers], Path] = field(init=False)

    @system.default
    def _described(self) -> System:
        system = self.spec.system
        return system if self.spec.properties else with_witnesses(system)

    @_at.default
    def _remembering(self) -> Callable[[Numbers], Path]:
        return lru_cache(maxsize=REMEMBERED)(self._one_step_on)

    @property
    def objects(self) -> dict[str, Protocol]:
        """The protocol by its name, if it is an object of a program and not of a file."""
        name, protocol = self.spec.protocol, self.system.protocol
        if name in protocol_names():
            return {} if protocol_named(name) is protocol else {name: protocol}
        return {name: protocol} if name == protocol.name else {}

    def path(self, numbers: Numbers) -> Path:
        """Return the path that `numbers` name, without a judgement.

        Raises:
            NoSuchState: a number is not the index of an enabled transition.
            ProtocolError: a handler of the protocol fails.
        """
        if len(numbers) > MOST_STEPS:
            raise NoSuchState(
                f"the path has {len(numbers)} steps; this page goes to {MOST_STEPS} at most",
                numbers[:MOST_STEPS],
            )
        for length in range(len(numbers)):  # fill the cache, so that recursion stays shallow
            self._at(numbers[:length])
        return self._at(numbers)

    def _one_step_on(self, numbers: Numbers) -> Path:
        if not numbers:
            return replay_keys(self.system, ())
        *before, number = numbers
        path = self._at(tuple(before))
        transitions = enabled(path.system, path.last)
        if number >= len(transitions):
            raise NoSuchState(
                f"step {len(numbers)} of the path is {number}, but {_how_many(len(transitions))}",
                tuple(before),
            )
        return extended(path, transitions[number])

    def choices(self, numbers: Numbers) -> tuple[Choice, ...]:
        """Return the choices at the end of a path of numbers."""
        path = self.path(numbers)
        transitions = enabled(path.system, path.last)
        return tuple(
            self._choice(path, number, transition) for number, transition in enumerate(transitions)
        )

    def _choice(self, path: Path, number: int, transition: Transition) -> Choice:
        try:
            after = extended(path, transition)
            violates = violated_by(after)
        except ProtocolError as error:
            tried = attempted(path, transition)
            trigger = Wording.of(tried).transition(transition, tried.steps[-1].message)
            return Choice(number, f"{trigger}: {error}", fails=True)
        shown = evolve(after, violates=violates[0]) if violates else after
        text = Wording.of(after).step(after.steps[-1], explanation_of(shown).remarks)
        return Choice(number, text, violates)

    def numbers_of(self, transitions: Iterable[Transition]) -> Numbers:
        """Return the path of numbers for `transitions` from the initial state."""
        numbers: Numbers = ()
        for transition in transitions:
            path = self.path(numbers)
            numbers = (*numbers, enabled(path.system, path.last).index(transition))
        return numbers

    def numbers_of_keys(self, keys: Iterable[str]) -> Numbers:
        """Return the path of numbers for the transition keys of a trace.

        Raises:
            ReplayError: a transition is not enabled at its step; names the step.
        """
        return self.numbers_of(replay_keys(self.system, keys).transitions)


def with_witnesses(system: System) -> System:
    """Return `system` with the witnesses of its protocol added to its properties."""
    protocol = system.protocol
    shown = (property_named(name, protocol) for name in declared_names(protocol, "witness"))
    return evolve(
        system, properties=(*system.properties, *(guarded(protocol, prop) for prop in shown))
    )


def numbers_in(text: str) -> Numbers:
    """Return the path that a text such as 0.2.1 names; the empty text names the initial state.

    Raises:
        InputError: it is no such text.
    """
    if text and not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})*", text):
        short = text if len(text) <= 40 else f"{text[:40]}…"
        raise InputError(f"the path {short!r} is not made of numbers with points, such as 0.2.1")
    return tuple(map(int, text.split("."))) if text else ()


def text_of(numbers: Numbers) -> str:
    """Return how a path is written."""
    return ".".join(map(str, numbers))


def _how_many(transitions: int) -> str:
    if not transitions:
        return "the run is over there"
    if transitions == 1:
        return "only transition 0 is enabled there"
    return f"the transitions enabled there are 0 to {transitions - 1}"
