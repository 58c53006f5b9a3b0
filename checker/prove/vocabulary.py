"""The vocabulary of abstract models: sorts, relations, actions, conjuncts, the marked message.

A model describes the states of a protocol as relations over actors and messages, for any number of
both. One arbitrary message R is marked. The ghost relations `knows` and `tainted` contain the
actors and messages that are causally after R. Because R is arbitrary, a proof about R is a proof
about every message.

Formulas are z3's own expressions. `antecede.checker.prove.formula` also evaluates them on finite
structures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import z3
from attrs import evolve, field, frozen

Formula: TypeAlias = Any
"""A z3 expression of sort Bool."""

Term: TypeAlias = Any
"""A z3 expression of one of the sorts below."""

ACTOR: Any = z3.DeclareSort("Actor")
MESSAGE: Any = z3.DeclareSort("Message")
TIME: Any = z3.DeclareSort("Time")
"""Values of a logical clock; only models with clocks have them."""

SORTS: dict[str, Any] = {"Actor": ACTOR, "Message": MESSAGE, "Time": TIME}

src: Any = z3.Function("src", MESSAGE, ACTOR)
dst: Any = z3.Function("dst", MESSAGE, ACTOR)
R: Any = z3.Const("R", MESSAGE)
"""The marked message."""
D: Any = z3.Const("D", ACTOR)
"""A destination of the marked message, for models with several destinations per message."""


def _variables(names: str, sort: Any) -> Any:
    """Return variables of a sort, one per name; a single one is not in a list."""
    variables = [z3.Const(name, sort) for name in names.split()]
    return variables if len(variables) > 1 else variables[0]


def messages(names: str) -> Any:
    """Return message variables, one per name."""
    return _variables(names, MESSAGE)


def actors(names: str) -> Any:
    """Return actor variables, one per name."""
    return _variables(names, ACTOR)


def times(names: str) -> Any:
    """Return variables for clock values, one per name."""
    return _variables(names, TIME)


@frozen(eq=False)
class Relation:
    """A relation of the model's state, or a relation that never changes.

    Attributes:
        words: its meaning as a sentence, with {0}, {1} for the arguments.
        rigid: no action changes it; it describes the system's structure, such as a tree.
        ghost: it depends on which message is marked.
    """

    name: str
    sorts: tuple[Any, ...]
    words: str
    rigid: bool = False
    ghost: bool = False
    symbol: Any = field(init=False)

    @symbol.default
    def _declared(self) -> Any:
        return z3.Function(self.name, *self.sorts, z3.BoolSort())

    def __call__(self, *arguments: Term) -> Formula:
        """Return the atom that applies the relation to `arguments`."""
        return self.symbol(*arguments)

    @property
    def formals(self) -> tuple[Any, ...]:
        """One variable per argument."""
        return tuple(z3.Const(f"u{k}", sort) for k, sort in enumerate(self.sorts))

    @property
    def empty(self) -> Formula:
        """The formula that the relation contains nothing."""
        return z3.ForAll(list(self.formals), z3.Not(self(*self.formals)))


@frozen(eq=False)
class Update:
    """The value of a relation after an action: `formula` over `variables`, in the state before."""

    relation: Relation
    variables: tuple[Any, ...]
    formula: Formula


@frozen(eq=False)
class Guard:
    """A condition of an action.

    Attributes:
        formula: a formula over the action's parameters.
        needed: the proof is expected to fail without the guard; `prove --mutants` checks that.
    """

    name: str
    formula: Formula
    needed: bool = False


@frozen(eq=False)
class Action:
    """A step of the model, for all values of its parameters that satisfy the guards.

    Attributes:
        guards: the guards; all of them must be true.
        updates: the changes of relations; all formulas read the state before.
        words: the action as a sentence, with {0}, {1} for the parameters.
        urgent: the protocol takes the action as soon as it can, within the same step; the link
            checks that no urgent action is still enabled after a step.
        environment: the application takes the action, so it may still be enabled at quiescence.
    """

    name: str
    params: tuple[Any, ...]
    guards: tuple[Guard, ...]
    updates: tuple[Update, ...]
    words: str
    urgent: bool = False
    environment: bool = False

    @property
    def guard(self) -> Formula:
        """The conjunction of all guards."""
        return z3.And([guard.formula for guard in self.guards])


@frozen(eq=False)
class Conjunct:
    """One part of the inductive invariant.

    Attributes:
        says: the conjunct as a sentence.
        formula: a closed formula.
        lemma: the corresponding lemma of the paper, or "".
        needed: the proof is expected to fail without the conjunct.
    """

    name: str
    says: str
    formula: Formula
    lemma: str = ""
    needed: bool = True


@frozen(eq=False)
class Quiescence:
    """Nothing is left undone at quiescence, where only the application can act.

    Attributes:
        undone: the condition that must be false at quiescence; closed.
        least: instances of the least-element principle: (message variable, property). If some
            message has the property, then some message has it and none `before` it does. That is
            true because `before` is a strict order and finitely many messages were sent.
    """

    undone: Formula
    says: str
    least: tuple[tuple[Any, Formula], ...] = ()

    def principles(self) -> tuple[Formula, ...]:
        """Return the instances as closed formulas."""
        return tuple(_least(*instance) for instance in self.least)


def _least(x: Term, holds: Formula) -> Formula:
    y = z3.FreshConst(x.sort(), "y")
    earlier = z3.substitute(holds, (x, y))
    first = z3.And(holds, z3.ForAll([y], z3.Implies(before(y, x), z3.Not(earlier))))
    return z3.Implies(z3.Exists([x], holds), z3.Exists([x], first))


@frozen(eq=False)
class Model:
    """An abstract model of a protocol, its claims, and the invariant that proves them.

    Attributes:
        protocol: the name or FILE.py:OBJECT of the modelled protocol.
        source: citations of the protocol and of its pen-and-paper proof, if there is one.
        relations: all relations, including ghosts.
        conjuncts: the parts of the inductive invariant.
        safety: the safety property that the invariant must imply.
        axioms: assumptions about the system (for example, about trees); rigid.
        quiescent: what is claimed at quiescence, if anything is.
        expected: PROVED, or FAILED for a model of a broken protocol.
        link: FILE.py:OBJECT or module:OBJECT of the link to the Python, or None.
    """

    protocol: str
    title: str
    source: str
    relations: tuple[Relation, ...]
    actions: tuple[Action, ...]
    conjuncts: tuple[Conjunct, ...]
    safety: Conjunct
    axioms: tuple[tuple[str, Formula], ...] = ()
    quiescent: Quiescence | None = None
    expected: str = "PROVED"
    link: str | None = None

    def action(self, name: str) -> Action:
        """Return the action with this name."""
        return next(action for action in self.actions if action.name == name)

    def relation(self, name: str) -> Relation:
        """Return the relation with this name."""
        return next(relation for relation in self.relations if relation.name == name)

    @property
    def changing(self) -> tuple[Relation, ...]:
        """The relations that are no ghosts and not rigid."""
        return tuple(one for one in self.relations if not (one.rigid or one.ghost))

    @property
    def claims(self) -> tuple[Conjunct, ...]:
        """The safety claim, and integrity, which every model owes."""
        many = any(relation.name == "to" for relation in self.relations)
        return self.safety, INTEGRITY_OF_MANY if many else INTEGRITY

    @property
    def stopped(self) -> tuple[Formula, ...]:
        """Closed formulas which say that only the application can act."""
        return tuple(
            z3.Not(z3.Exists(list(action.params), action.guard))
            for action in self.actions
            if not action.environment
        )

    @property
    def sorts(self) -> tuple[str, ...]:
        """The names of the sorts of its relations; always with actors and messages."""
        used = {s.name() for r in self.relations for s in r.sorts} | {"Actor", "Message"}
        return tuple(name for name in SORTS if name in used)


# --- updates


def becomes(relation: Relation, variables: Sequence[Any], formula: Formula) -> Update:
    """Return the update that sets the relation to `formula`, over `variables`."""
    return Update(relation, tuple(variables), formula)


def gains(relation: Relation, *arguments: Term) -> Update:
    """Return the update that adds the tuple `arguments` to the relation."""
    u = relation.formals
    same = z3.And([a == b for a, b in zip(u, arguments, strict=True)])
    return Update(relation, u, z3.Or(relation(*u), same))


def gains_all(relation: Relation, variables: Sequence[Any], formula: Formula) -> Update:
    """Return the update that adds all tuples that satisfy `formula`."""
    return Update(relation, tuple(variables), z3.Or(relation(*variables), formula))


def loses_all(relation: Relation, variables: Sequence[Any], formula: Formula) -> Update:
    """Return the update that removes all tuples that satisfy `formula`."""
    return Update(relation, tuple(variables), z3.And(relation(*variables), z3.Not(formula)))


# --- the parts of every model: the application's events, their order, and R's ghosts

sent = Relation("sent", (MESSAGE,), "{0} was causal-sent")
before = Relation("before", (MESSAGE, MESSAGE), "{0} was causal-sent before {1} by the same actor")
delivered = Relation("delivered", (MESSAGE,), "{0} was delivered")
knows = Relation("knows", (ACTOR,), "{0} causally knows of R", ghost=True)
tainted = Relation("tainted", (MESSAGE,), "{0} was causal-sent by one who knew of R", ghost=True)
APPLICATION = (sent, before, delivered, knows, tainted)

to = Relation("to", (MESSAGE, ACTOR), "{0} is for {1}", rigid=True)
delivered_at = Relation("delivered", (MESSAGE, ACTOR), "{0} was delivered at {1}")
APPLICATION_OF_MANY = (sent, before, to, delivered_at, knows, tainted)
"""The relations of the application if a message may have several destinations."""

c: Any = z3.Const("c", MESSAGE)
"""The message of an action."""
_u, _v, _x = messages("u v x")
_a, _b = actors("a b")


def causal_send(
    guards: Sequence[Guard] = (), updates: Sequence[Update] = (), params: Sequence[Any] = ()
) -> Action:
    """Return the action by the application of src(c) that hands c to the protocol.

    The action updates R's ghosts. `guards`, `updates` and further `params` are the protocol's own.
    """
    return Action(
        name="causal-send",
        params=(c, *params),
        guards=(Guard("never causal-sent before", z3.Not(sent(c))), *guards),
        updates=(
            gains(sent, c),
            gains_all(before, (_u, _v), z3.And(_v == c, sent(_u), src(_u) == src(c))),
            gains_all(tainted, (_u,), z3.And(_u == c, knows(src(c)))),
            gains_all(knows, (_a,), z3.And(c == R, _a == src(R))),
            *updates,
        ),
        words="{0} is causal-sent",
        environment=True,
    )


def deliver(
    guards: Sequence[Guard], updates: Sequence[Update] = (), *, urgent: bool = False
) -> Action:
    """Return the action that delivers c at dst(c), and updates R's ghosts."""
    return Action(
        name="deliver",
        params=(c,),
        guards=(*guards, Guard("not delivered before", z3.Not(delivered(c)))),
        updates=(
            gains(delivered, c),
            gains_all(knows, (_a,), z3.And(_a == dst(c), z3.Or(c == R, tainted(c)))),
            *updates,
        ),
        words="{0} is delivered",
        urgent=urgent,
    )


def deliver_at(
    guards: Sequence[Guard], updates: Sequence[Update] = (), *, urgent: bool = False
) -> Action:
    """Return the action that delivers c at one destination a, and updates R's ghosts."""
    return Action(
        name="deliver",
        params=(c, _a),
        guards=(
            *guards,
            Guard("is a destination", to(c, _a)),
            Guard("not delivered there before", z3.Not(delivered_at(c, _a))),
        ),
        updates=(
            gains(delivered_at, c, _a),
            gains_all(knows, (_b,), z3.And(_b == _a, z3.Or(c == R, tainted(c)))),
            *updates,
        ),
        words="{0} is delivered at {1}",
        urgent=urgent,
    )


def whenever(variables: Sequence[Term], given: Sequence[Formula], then: Formula) -> Formula:
    """Return that, for all values of the variables, the formulas `given` together imply `then`."""
    premise = given[0] if len(given) == 1 else z3.And(given)
    return z3.ForAll(variables, z3.Implies(premise, then))


def until_delivered(variables: Sequence[Term], given: Sequence[Formula], then: Formula) -> Formula:
    """Return that, until R is delivered, the formulas `given` together imply `then`."""
    return whenever(variables, [z3.Not(delivered(R)), *given], then)


CAUSAL_DELIVERY = Conjunct(
    "causal-delivery",
    "no message that depends on R is delivered at R's destination before R",
    whenever([_x], [tainted(_x), delivered(_x), dst(_x) == dst(R)], delivered(R)),
)
CAUSAL_DELIVERY_OF_MANY = Conjunct(
    "causal-delivery",
    "no message that depends on R is delivered at D, a destination of both, before R",
    whenever([_x], [tainted(_x), to(R, D), delivered_at(_x, D)], delivered_at(R, D)),
)
FIFO_DELIVERY = Conjunct(
    "fifo-delivery",
    "no message that R's sender causal-sent to R's destination after R is delivered before R",
    whenever([_x], [before(R, _x), delivered(_x), dst(_x) == dst(R)], delivered(R)),
)
INTEGRITY = Conjunct(
    "integrity",
    "only causal-sent messages are delivered",
    z3.ForAll([_x], z3.Implies(delivered(_x), sent(_x))),
)
INTEGRITY_OF_MANY = Conjunct(
    "integrity",
    "only causal-sent messages are delivered, and only at their destinations",
    z3.ForAll([_x, _a], z3.Implies(delivered_at(_x, _a), z3.And(sent(_x), to(_x, _a)))),
)
"""The claim that every model owes. Each message is delivered at most once, and a message with one
destination is delivered there, because `deliver` and `deliver_at` have these guards."""
PROPERTIES = (
    CAUSAL_DELIVERY,
    CAUSAL_DELIVERY_OF_MANY,
    FIFO_DELIVERY,
    INTEGRITY,
    INTEGRITY_OF_MANY,
)
"""The properties that models may claim under these names."""

NO_SELF_SENDS = ("no actor sends to itself", z3.ForAll([_x], src(_x) != dst(_x)))
NO_SELF_SENDS_OF_MANY = (
    "no actor sends to itself",
    z3.ForAll([_x], z3.Not(to(_x, src(_x)))),
)

GHOST_IS_OF_SENT = (
    Conjunct(
        "knowing-needs-a-send",
        "actors know of R only after its causal-send",
        z3.ForAll([_a], z3.Implies(knows(_a), sent(R))),
    ),
    Conjunct(
        "tainted-was-sent",
        "a message that depends on R was causal-sent, and so was R",
        z3.ForAll([_x], z3.Implies(tainted(_x), z3.And(sent(_x), sent(R)))),
        needed=False,
    ),
)
"""A conjunct that is true in every model."""


def replaced(
    actions: Sequence[Action], name: str, change: Callable[[Action], Action]
) -> tuple[Action, ...]:
    """Return the actions, with `change` applied to the action with this name."""
    return tuple(change(action) if action.name == name else action for action in actions)


def without_guard(action: Action, name: str) -> Action:
    """Return the action without the guard with this name."""
    assert name in [guard.name for guard in action.guards]
    return evolve(action, guards=tuple(g for g in action.guards if g.name != name))
