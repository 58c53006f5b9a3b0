"""Tests whether a protocol's normal form is sound: it must commute with every transition.

A state and its normal form must enable the same transitions, up to the renaming of packets. The
transitions must deliver the same messages and lead to states with the same normal forms.

A check tests random runs before it relies on a form. Afterwards it tests every form that it relied
on: the form itself, and a few reachable states with this form. The test finds faults, but it does
not prove soundness, because a form represents any number of states. For example, it cannot find a
counter that matters only from 10⁹ on. So every verdict under a normal form has the condition that
the form is sound.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from attrs import define, field, frozen

from antecede.checker.model import Delivery, Normaliser, State, Transition
from antecede.checker.semantics.marked import is_over
from antecede.checker.semantics.normal import normal_form, renaming_of, rewritten
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.support.errors import ProtocolError

WALKS, STEPS = 3, 100
"""The number of random runs, and their length in transitions."""

MOST_STATES = 2
"""The number of states that are compared with each form. Each is reached by another run."""

TICK = 64
"""The number of comparisons between two calls of `tick`."""


@frozen
class Offer:
    """A transition that a state enables, and its effects.

    Attributes:
        name: the transition, renamed as in the normal form.
        form: the normal form of the next state.
    """

    name: Transition
    deliveries: tuple[Delivery, ...]
    form: State
    after: State = field(eq=False)


Offered: TypeAlias = Mapping[Transition, frozenset[Offer]]
"""Name -> offers. There can be several, because a form may merge two packets."""


@define(eq=False)
class FormCheck:
    """Compares states of a system with their normal forms.

    Attributes:
        system: a system that applies its protocol's normal form.
    """

    system: System
    compared: int = 0
    _normal: Normaliser = field(init=False)
    _whole: System = field(init=False)
    _offered: dict[State, int] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Build the system without the normal form."""
        assert self.system.normal is not None
        self._normal, self._whole = self.system.normal, self.system.with_states_as_they_are()

    def walk(self, seed: int = 0) -> None:
        """Compare the states of a few random runs.

        Raises:
            ProtocolError: as in `compare`.
        """
        rng = random.Random(seed)
        for _ in range(WALKS):
            state = initial_state(self._whole)
            for _ in range(STEPS):
                if not (offers := self.compare(state)):
                    break
                state = rng.choice(offers).after

    def cover(self, forms: int, tick: Callable[[], None], seed: int = 0) -> None:
        """Compare states with every normal form that is reachable before the marked delivery.

        This takes three to four times as long as the exploration of the forms, and a kilobyte per
        state. States are taken in random order, because then most of them are far from the start.

        Args:
            forms: the number of forms that a search met; no more than these are compared.
            tick: called now and then; it may raise.
            seed: the seed of the random order.

        Raises:
            ProtocolError: as in `compare`.
        """
        rng, start = random.Random(seed), initial_state(self._whole)
        met, waiting = {self._form(start): {start}}, [start]
        while waiting:
            at = rng.randrange(len(waiting))
            waiting[at], waiting[-1] = waiting[-1], waiting[at]
            for offer in self.compare(waiting.pop()):
                if len(met) >= forms and offer.form not in met:
                    continue
                states = met.setdefault(offer.form, set())
                over = is_over(offer.form.history)
                if not over and len(states) < MOST_STATES and offer.after not in states:
                    states.add(offer.after)
                    waiting.append(offer.after)
            if self.compared % TICK == 0:
                tick()

    def compare(self, state: State) -> list[Offer]:
        """Compare a state with its normal form.

        Returns:
            The offers of the state.

        Raises:
            ProtocolError: its normal form has other offers; the message has the difference.
        """
        self.compared += 1
        small, offers = self._form(state), self._offers(state)
        if small not in self._offered:
            if self._form(small) != small:
                raise self._unsound("the normal form of a normal form is another one")
            self._offered[small] = _digest(by_name(self._offers(small)))
        if _digest(by_name(offers)) != self._offered[small]:
            fault = difference(by_name(offers), by_name(self._offers(small)))
            raise self._unsound(fault or "handlers do not do the same thing twice")
        return offers

    def _form(self, state: State) -> State:
        return normal_form(self._normal, self._whole.network, state)

    def _offers(self, state: State) -> list[Offer]:
        offers, renaming = list[Offer](), renaming_of(self._normal, state)
        for step in enabled(self._whole, state):
            outcome = successor(self._whole, state, step)
            name = rewritten(step, state, self._whole.network, renaming.packet)
            after = outcome.state
            offers.append(Offer(name, outcome.deliveries, self._form(after), after))
        return offers

    def _unsound(self, fault: str) -> ProtocolError:
        return ProtocolError(
            f"the normal form of {self.system.protocol.name} is not sound: {fault}; leave `normal` "
            "out, or let it commute with every step"
        )


def by_name(offers: Iterable[Offer]) -> Offered:
    """Return offers by the names of their transitions."""
    offered: dict[Transition, set[Offer]] = {}
    for offer in offers:
        offered.setdefault(offer.name, set()).add(offer)
    return {name: frozenset(several) for name, several in offered.items()}


def _digest(offered: Offered) -> int:
    """Return a hash of offers, which takes less memory than the offers."""
    return hash(frozenset(offered.values()))


def difference(one: Offered, other: Offered) -> str | None:
    """Return the difference between a state's offers and its form's in words, or None."""
    for step in (*(one.keys() - other.keys()), *(other.keys() - one.keys())):
        which = "the state" if step in one else "its normal form"
        return f"of a state and its normal form only {which} enables {step}"
    for step, mine in one.items():
        if {offer.deliveries for offer in mine} != {offer.deliveries for offer in other[step]}:
            return f"{step} delivers something else after the normal form"
        if mine != other[step]:
            return f"{step} leads somewhere else after the normal form"
    return None
