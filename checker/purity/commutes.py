"""Is a protocol's normal form sound: does it commute with every transition?

After a state's normal form the same transitions must be enabled, up to how their packets are
written; they must deliver the same messages, and lead to states with the same normal forms.

A check looks at random runs before it relies on a form, and afterwards at every form that it
relied on: at the form itself, and at a few states that really come to it. That finds faults and
does not prove that there are none, because a form stands for any number of states. No number of
comparisons finds a counter that matters first at 10⁹. So what a check says under a normal form it
says on the condition that the form is sound.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from attrs import define, field, frozen

from antecede.checker.errors import ProtocolError
from antecede.checker.model import Delivery, NormalForm, State, Transition
from antecede.checker.semantics.marked import is_over
from antecede.checker.semantics.normal import normal_form, renamed, renaming_of
from antecede.checker.semantics.transition import System, enabled, initial_state, successor

WALKS, STEPS = 3, 100
"""How many random runs are looked at, and how long they are."""

MOST_STATES = 2
"""States that are compared with a form, each reached by a run of its own."""

TICK = 64
"""Comparisons after which it is asked whether there is time left."""


@frozen
class Offer:
    """A transition that a state enables, and what comes of it.

    Attributes:
        name: the transition as the normal form calls it.
        deliveries: what it delivers.
        form: the normal form of the state after it.
        after: that state.
    """

    name: Transition
    deliveries: tuple[Delivery, ...]
    form: State
    after: State = field(eq=False)


Offered: TypeAlias = Mapping[Transition, frozenset[Offer]]
"""By name; a form may give two packets one name, so there may be several."""


@define(eq=False)
class FormCheck:
    """Compares states of a system with their normal forms.

    Attributes:
        system: a system that applies its protocol's normal form.
        compared: how many states were compared.
    """

    system: System
    compared: int = 0
    _normal: NormalForm = field(init=False)
    _whole: System = field(init=False)
    _offered: dict[State, int] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Make the system that leaves states as they are."""
        assert self.system.normal is not None
        self._normal, self._whole = self.system.normal, self.system.with_states_as_they_are()

    def walk(self, seed: int = 0) -> None:
        """Compare the states on a few random runs.

        Raises:
            ProtocolError: as of `compare`.
        """
        rng = random.Random(seed)
        for _ in range(WALKS):
            state = initial_state(self._whole)
            for _ in range(STEPS):
                if not (offers := self.compare(state)):
                    break
                state = rng.choice(offers).after

    def cover(self, forms: int, tick: Callable[[], None], seed: int = 0) -> None:
        """Compare states with every normal form that can be reached while a message is followed.

        It takes three to four times as long as to explore the forms, and a kilobyte for each state.
        States are taken in random order, so that many are far from the start.

        Args:
            forms: how many a search met; where there are more, no more than these are compared.
            tick: called now and then; it may raise.
            seed: of the order.

        Raises:
            ProtocolError: as of `compare`.
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
            What the state enables.

        Raises:
            ProtocolError: its normal form enables or does something else; says what.
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
        found, renaming = list[Offer](), renaming_of(self._normal, state)
        for step in enabled(self._whole, state):
            outcome = successor(self._whole, state, step)
            name, after = renamed(step, renaming), outcome.state
            found.append(Offer(name, outcome.deliveries, self._form(after), after))
        return found

    def _unsound(self, fault: str) -> ProtocolError:
        return ProtocolError(
            f"the normal form of {self.system.protocol.name} is not sound: {fault}; leave `normal` "
            "out, or let it commute with every step"
        )


def by_name(offers: Iterable[Offer]) -> Offered:
    """Return offers by the names of their transitions."""
    found: dict[Transition, set[Offer]] = {}
    for offer in offers:
        found.setdefault(offer.name, set()).add(offer)
    return {name: frozenset(several) for name, several in found.items()}


def _digest(offered: Offered) -> int:
    """Return a number that equal offers share; it takes less room than they do."""
    return hash(frozenset(offered.values()))


def difference(one: Offered, other: Offered) -> str | None:
    """Return where the offers of a state and of its normal form differ, in words, or None."""
    for step in (*(one.keys() - other.keys()), *(other.keys() - one.keys())):
        which = "the state" if step in one else "its normal form"
        return f"of a state and its normal form only {which} enables {step}"
    for step, mine in one.items():
        if {offer.deliveries for offer in mine} != {offer.deliveries for offer in other[step]}:
            return f"{step} delivers something else after the normal form"
        if mine != other[step]:
            return f"{step} leads somewhere else after the normal form"
    return None
