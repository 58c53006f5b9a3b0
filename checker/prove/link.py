"""The link: compares an abstract model with the Python in every state of an exhaustive search.

Each explored transition corresponds to a declared sequence of abstract actions, whose guards must
be true. Also, these actions must causal-send and deliver the messages that the Python causal-sends
and delivers, in its order, and the messages must satisfy the model's axioms. No link can change
this. The relations after the actions determine the actors' states and the channels, which must
equal the Python's. Every conjunct must be true with every choice of the marked message, and no
urgent action may remain enabled. If the model makes a claim about quiescence, it must be quiescent
wherever the Python is. So a guard or an update that differs between the two appears as a run.

A concrete state is explored once, with the relations of the first path that reached it. The history
encoding decides which states are distinct: `full` distinguishes most histories, `knowledge` the
fewest.

A function of relations is computed once per distinct value of the relations that it reads, and a
handler is called once per distinct argument. The cost thus grows with the number of local states,
not of global states.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product, zip_longest
from typing import Any, TypeAlias

import z3
from attrs import define, evolve, field, frozen

from antecede.checker.model import CausalSend, Message, Packet, Protocol, Receive, State, Transition
from antecede.checker.paths.path import Path, replay
from antecede.checker.prove.formula import (
    Compiled,
    Sizes,
    Structure,
    about_sent,
    compiled,
    compiled_update,
    index_of,
)
from antecede.checker.prove.validate import validate
from antecede.checker.prove.vocabulary import SORTS, Action, Conjunct, Model, Update
from antecede.checker.render.prose import Wording
from antecede.checker.search.graph import StateGraph
from antecede.checker.semantics.reached import Edge
from antecede.checker.semantics.transition import (
    Outcome,
    System,
    enabled,
    initial_state,
    next_message,
)
from antecede.checker.semantics.values import message_in
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import shown

Event: TypeAlias = tuple[str | int, ...]
"""An abstract action: its name, then the numbers of its elements."""

APPLICATION = ("sent", "before", "delivered")
"""The relations that say what the application sends, and what is delivered to it."""

Values: TypeAlias = dict[str, Any]
"""Relation name -> bit mask; for a ghost, one mask per marked message; `dst` -> actor numbers."""


@frozen
class Element:
    """A message or another element of a small system, which a report names as its run does."""

    sort: str
    number: int


class Mismatch(Exception):
    """Model and Python differ; the texts and elements in `args` say together how."""

    def text(self, name: Callable[[Element], str]) -> str:
        """Return how they differ, with the names of elements."""
        return "".join(name(part) if isinstance(part, Element) else str(part) for part in self.args)


class BrokenConjunct(Mismatch):
    """A conjunct is not true in a state that the Python reaches."""


@frozen(eq=False)
class View:
    """The relations that belong to one concrete state, as the declarations of a link see them.

    Messages are numbered by sender, then by their number. The structure's elements have the same
    order.
    """

    system: System
    sizes: Sizes
    sorts: Mapping[str, tuple[str, ...]]
    values: Values

    def has(self, relation: str, *elements: int) -> bool:
        """Return whether a relation contains a tuple of elements."""
        index = index_of(self.sizes, self.sorts[relation], elements)
        return bool(self.values[relation] >> index & 1)

    def number(self, message: Message) -> int:
        """Return the element for a message."""
        return message.sender * self.system.messages + message.number - 1

    def message(self, m: int) -> Message:
        """Return the message for an element."""
        sender, number = divmod(m, self.system.messages)
        if "to" in self.sorts:
            to = tuple(a for a in range(self.system.actors) if self.has("to", m, a))
        else:
            to = (self.values["dst"][m],)
        return Message(sender, number + 1, to)

    def src(self, m: int) -> int:
        """Return the sender of an element."""
        return m // self.system.messages

    def dst(self, m: int) -> int:
        """Return the destination of an element."""
        return int(self.values["dst"][m])

    def sent(self, by: int | None = None, to: int | None = None) -> list[int]:
        """Return the causal-sent messages, in order; optionally only `by` or `to` an actor."""
        return [
            m
            for m in range(self.sizes["Message"])
            if self.values["sent"] >> m & 1
            and (by is None or self.src(m) == by)
            and (to is None or self.dst(m) == to)
        ]

    def first(self, found: Sequence[int], what: str) -> int:
        """Return the first message of a list.

        Raises:
            Mismatch: the list is empty.
        """
        if not found:
            raise Mismatch(f"the model has no message {what}")
        return found[0]


@frozen(eq=False)
class Link:
    """The relation between a model and its protocol's Python.

    Attributes:
        events: (view before, transition, outcome) -> the abstract actions of the transition.
        rebuild: (view, actor) -> the actor's state according to the model, in the form of `local`.
        local: an actor's state -> the part of it that the model describes.
        channels: view -> (src, dst, packet) of all packets in flight; None: they are not compared.
        rigid: (system, relation name) -> the tuples in a rigid relation.
    """

    events: Callable[[View, Transition, Outcome], Iterator[Event]]
    rebuild: Callable[[View, int], Any]
    local: Callable[[Any], Any] = lambda state: state
    channels: Callable[[View], Iterator[tuple[int, int, Packet]]] | None = None
    network: str = "unordered"
    workload: str = "any"
    rigid: Callable[[System, str], Iterator[tuple[int, ...]]] | None = None


@frozen(eq=False)
class Linked:
    """The result of a link.

    Attributes:
        difference: the difference between model and Python, or None.
        path: the run that shows the difference, or None.
        stopped_by: the bound or the signal that ended the exploration early, or None.
        breaks_conjunct: model and Python agree, and the run breaks a conjunct of the invariant.
        idle: the names of the model's actions that never happened.
        compares_channels: the link declares the packets in flight, so they were compared, too.
        alike: two explored states of an actor, as texts, for which `local` returns one value, so
            only a part of each state was compared; None if there are no two such states.
    """

    system: System
    states: int
    transitions: int
    seconds: float
    difference: str | None = None
    path: Path | None = None
    stopped_by: str | None = None
    breaks_conjunct: bool = False
    idle: tuple[str, ...] = ()
    compares_channels: bool = True
    alike: tuple[str, str] | None = None

    @property
    def compares_states(self) -> bool:
        """True if the link distinguishes all explored states of each actor."""
        return self.alike is None


@define(eq=False)
class Memo:
    """A formula that is evaluated once per distinct value of the symbols that it reads."""

    call: Compiled
    known: dict[Any, Any] = field(factory=dict)

    def value(self, values: Mapping[str, Any], *elements: int) -> Any:
        """Return the formula's value."""
        key = (*(values[name] for name in self.call.reads), *elements)
        result = self.known.get(key)
        if result is None:
            result = self.known[key] = self.call.call(*key)
        return result


Judged: TypeAlias = tuple[Conjunct, Memo]


def _is_step(event: Any) -> bool:
    """Return whether a link gave the name of an action and numbers."""
    if not isinstance(event, tuple | list) or not event or not isinstance(event[0], str):
        return False
    return all(isinstance(k, int) and not isinstance(k, bool) for k in event[1:])


class Machine:
    """A model over fixed numbers of elements, compiled to Python."""

    def __init__(self, model: Model, sizes: Sizes) -> None:
        """Compile a model."""
        self.model, self.sizes = model, sizes
        self.ghosts = tuple(r.name for r in model.relations if r.ghost)

        def memo(formula: Any, variables: Sequence[Any] = ()) -> Memo:
            return Memo(compiled(formula, sizes, variables))

        def updated(action: Action, update: Update) -> Memo:
            changed = update.relation, update.variables, update.formula
            return Memo(compiled_update(*changed, sizes, action.params))

        self.guards = {
            a.name: [(g.name, memo(g.formula, a.params)) for g in a.guards] for a in model.actions
        }
        self.updates = {
            a.name: [(u.relation.name, updated(a, u)) for u in a.updates] for a in model.actions
        }
        self.plain: list[Judged] = []
        self.about_r: list[Judged] = []
        for one in (*model.conjuncts, *model.claims):
            call = memo(one.formula)
            reads_marks = {*self.ghosts, "R", "D"} & set(call.call.reads)
            (self.about_r if reads_marks else self.plain).append((one, call))
        self.leftovers = [
            (a, memo(z3.Exists(list(a.params), a.guard))) for a in model.actions if a.urgent
        ]
        self.stopped = (
            [
                (a, memo(z3.Exists(list(a.params), a.guard)))
                for a in model.actions
                if not a.environment
            ]
            if model.quiescent is not None
            else []
        )
        self.axioms = [(name, memo(axiom)) for name, axiom in model.axioms]
        self.axioms_of_sent = [memo(about_sent(axiom)) for _, axiom in model.axioms]
        self.happened: set[str] = set()

    def run(self, values: Values, event: Event) -> Values:
        """Return the relations after an abstract action.

        Raises:
            Mismatch: a guard is false.
            InputError: the model has no such action, or no such elements.
        """
        self._check_event(event)
        name, elements = str(event[0]), [int(k) for k in event[1:]]
        for guard, memo in self.guards[name]:
            if not memo.value(values, *elements):
                params = next(a.params for a in self.model.actions if a.name == name)
                sorts = [param.sort().name() for param in params]
                raise Mismatch(
                    "the Python takes a step that the model forbids: ",
                    *_atom(name, sorts, elements),
                    f"; its guard {guard!r} is false",
                )
        after = dict(values)
        for relation, memo in self.updates[name]:
            if relation in self.ghosts:
                after[relation] = tuple(
                    memo.value(marked, *elements) for marked in self.marked(values)
                )
            else:
                after[relation] = memo.value(values, *elements)
        self.happened.add(name)
        return after

    def _check_event(self, event: Event) -> None:
        params = {a.name: [p.sort().name() for p in a.params] for a in self.model.actions}
        if not _is_step(event):
            raise InputError(
                f"the link takes the step {shown(event)}; give the name of an action and the "
                "numbers of its elements, such as ('deliver', 0)"
            )
        name, *elements = event
        if name not in params:
            raise InputError(
                f"the link takes a step for the action {name!r}, which the model does not have; "
                f"its actions are {', '.join(params)}"
            )
        sizes = [self.sizes[sort] for sort in params[str(name)]]
        fits = len(sizes) == len(elements) and all(
            0 <= int(k) < size for k, size in zip(elements, sizes, strict=True)
        )
        if not fits:
            raise InputError(
                f"the link takes the step {self._said(event)}; give the action {name!r} numbers "
                f"of elements below {', '.join(map(str, sizes))}, in this order"
            )

    def _said(self, event: Event) -> str:
        return f"{event[0]}({', '.join(map(str, event[1:]))})"

    def marked(self, values: Values) -> Iterator[Values]:
        """Yield the relations for each choice of the marked message."""
        for m in range(self.sizes["Message"]):
            yield {**values, **{name: values[name][m] for name in self.ghosts}, "R": m}

    def check_axioms(self, values: Values) -> None:
        """Check that the system with the messages that were causal-sent satisfies the axioms.

        Messages that were not causal-sent have arbitrary destinations. An axiom may be true of all
        messages, or of the causal-sent ones.

        Raises:
            Mismatch: an axiom is false of both.
        """
        for (name, memo), of_sent in zip(self.axioms, self.axioms_of_sent, strict=True):
            if not memo.value(values) and not of_sent.value(values):
                raise Mismatch(f"this system violates an axiom of the model: {name}")

    def check_rest(self, values: Values) -> None:
        """Check that only the application can act in the model; the Python is quiescent.

        Raises:
            Mismatch: another action is possible.
        """
        for action, memo in self.stopped:
            if memo.value(values):
                raise Mismatch(
                    "the Python is quiescent, because only the application can act, but the model "
                    f"can still take the action {action.name!r}"
                )

    def judge(self, values: Values) -> None:
        """Check every conjunct with every choice of the marked message and destination.

        Raises:
            Mismatch: a conjunct is false.
        """
        for action, memo in self.leftovers:
            if memo.value(values):
                raise Mismatch(
                    f"the Python does not take the action {action.name!r}, which the model would "
                    "take at once"
                )
        self._judge(self.plain, values)
        for marked in self.marked(values):
            for where in range(self.sizes["Actor"]):
                marked["D"] = where
                self._judge(self.about_r, marked, ", R being ", Element("Message", marked["R"]))
                if "to" not in values:
                    break

    def _judge(self, conjuncts: Sequence[Judged], values: Values, *where: str | Element) -> None:
        for one, memo in conjuncts:
            if not memo.value(values):
                raise BrokenConjunct(f"the conjunct {one.name!r} is not true ({one.says})", *where)


def link(
    model: Model,
    declared: Link,
    system: System,
    max_states: int | None = None,
    watch: Callable[[Structure], None] | None = None,
) -> Linked:
    """Explore the system together with the model.

    The history encoding of the system decides which states are distinct. `watch` is called with the
    relations of each state, once for each choice of the marked message.

    Raises:
        InputError: `validate` refuses the model.
    """
    return _Linker(validate(model), declared, _tabulated(system), watch).explore(max_states)


def _tabulated(system: System) -> System:
    """Return the system with handlers that are called once per distinct argument."""
    p: Protocol = system.protocol
    cached = evolve(
        p,
        causal_send=lru_cache(None)(p.causal_send),
        receive=lru_cache(None)(p.receive),
        timeout=None if p.timeout is None else lru_cache(None)(p.timeout),
    )
    return evolve(system, protocol=cached)


class _Linker:
    """One exploration of a system with its model."""

    def __init__(
        self,
        model: Model,
        declared: Link,
        system: System,
        watch: Callable[[Structure], None] | None,
    ) -> None:
        self.link, self.system, self.watch = declared, system, watch
        count = system.actors * system.messages
        self.sizes = {
            name: {"Actor": system.actors}.get(name, count) for name in SORTS if name in model.sorts
        }
        self.sorts = {r.name: tuple(s.name() for s in r.sorts) for r in model.relations}
        self.machine = Machine(model, self.sizes)
        self.compared: set[tuple[State, tuple[Any, ...]]] = set()
        self.mapped: list[dict[Any, Any]] = [{} for _ in range(system.actors)]
        self.delivers = False

    def view(self, values: Values) -> View:
        return View(self.system, self.sizes, self.sorts, values)

    def explore(self, max_states: int | None) -> Linked:
        started = time.monotonic()
        graph = StateGraph([initial_state(self.system)])
        values = {0: self._start()}
        difference = path = stopped = transition = None
        breaks, here = False, 0
        try:
            self.machine.check_axioms(values[0])
            self._compare(graph.states[0], values[0])
            for here, state in enumerate(graph.states):  # the list grows during the loop
                before, transition = values.pop(here), None
                transitions = enabled(self.system, state)
                if all(isinstance(one, CausalSend) for one in transitions):
                    self.machine.check_rest(before)
                for edge in graph.expand(self.system, transitions):
                    transition = edge.transition
                    after = self._step(state, before, edge)
                    if edge.new:
                        values[edge.number] = after
                stopped = interrupts.wanted()
                if max_states is not None and len(graph.states) > max_states:
                    stopped = f"{max_states} states"
                if stopped is not None:
                    break
        except Mismatch as mismatch:
            last = () if transition is None else (transition,)
            path = replay(self.system, (*graph.path_to(here), *last))
            difference = mismatch.text(self._namer(path))
            breaks = isinstance(mismatch, BrokenConjunct)
        if difference is None and stopped is None:
            self._refuse_nothing_compared(len(graph.states))
        return Linked(
            self.system,
            len(graph.states),
            len(graph.rows.target),
            time.monotonic() - started,
            difference,
            path,
            stopped,
            breaks,
            tuple(
                a.name for a in self.machine.model.actions if a.name not in self.machine.happened
            ),
            self.link.channels is not None,
            next((found for states in self.mapped if (found := _alike(states))), None),
        )

    def _namer(self, path: Path) -> Callable[[Element], str]:
        """Return the function that names elements as the report of a run does."""
        words, view = Wording.of(path), self.view({})
        messages = {view.number(message): name for message, name in words.names.items()}

        def name(element: Element) -> str:
            if element.sort == "Message":
                return messages.get(element.number, "a message that was not causal-sent")
            if element.sort == "Actor":
                return words.actor(element.number)
            return str(element.number)

        return name

    def _refuse_nothing_compared(self, states: int) -> None:
        """Refuse to call a model linked if no delivery or no actor's state was compared.

        Raises:
            InputError: no message is delivered, or the link maps all states to one value.
        """
        if not self.delivers:
            raise InputError(
                f"no message is delivered in any of the {states} explored states, so the link "
                "would say nothing; give more --actors or --messages, or correct the protocol"
            )
        changing = [list(values.values()) for values in self.mapped if len(values) > 1]
        if changing and all(one == values[0] for values in changing for one in values):
            raise InputError(
                "the link's `local` maps all states of each actor to one value, so their "
                "states would not be compared; let it return the parts that the model describes"
            )

    def _start(self) -> Values:
        """Return the initial relations; a message's destinations are set when it is causal-sent."""
        n, m = self.system.actors, self.sizes["Message"]
        values: Values = dict.fromkeys(self.sorts, 0)
        values |= dict.fromkeys(self.machine.ghosts, (0,) * m)
        values["src"] = tuple(k // self.system.messages for k in range(m))
        values["dst"] = tuple((k // self.system.messages + 1) % n for k in range(m))
        for relation in self.machine.model.relations:
            if relation.rigid and relation.name != "to":
                values[relation.name] = self._rigid(relation.name)
        if "to" in self.sorts:
            values["to"] = sum(
                1 << (k * n + a) for k in range(m) for a in range(n) if a != values["src"][k]
            )
        return values

    def _rigid(self, name: str) -> int:
        if self.link.rigid is None:
            raise InputError(f"the link does not define the rigid relation {name!r}")
        mask = 0
        for elements in self.link.rigid(self.system, name):
            mask |= 1 << index_of(self.sizes, self.sorts[name], elements)
        return mask

    def _step(self, state: State, values: Values, edge: Edge) -> Values:
        """Return the relations after a transition from a state with the given ones."""
        transition, outcome = edge.transition, edge.outcome
        if isinstance(transition, CausalSend):
            message = next_message(self.system, state, transition)
            values = self._addressed(values, message)
        python = self._application(values, transition, outcome)
        model = [_of_application(values)]
        for event in self.link.events(self.view(values), transition, outcome):
            values = self.machine.run(values, event)
            if _of_application(values) != model[-1]:
                model.append(_of_application(values))
        self._compare_application(python, model)
        if isinstance(transition, CausalSend):
            self.machine.check_axioms(values)
        self._compare(outcome.state, values)
        return values

    def _application(
        self, values: Values, transition: Transition, outcome: Outcome
    ) -> list[dict[str, int]]:
        """Return APPLICATION before a transition, and after each causal-send and delivery of it.

        The causal-sends and deliveries come from the Python, never from the link.

        Raises:
            Mismatch: the Python delivers a message that no model may deliver.
        """
        view, after = self.view(values), [_of_application(values)]
        if isinstance(transition, CausalSend):
            m = causal_sent(view, transition)
            earlier = [(u, m) for u in view.sent(by=transition.actor)]
            sends = self._with(after[-1], "sent", [(m,)])
            after.append(self._with(sends, "before", earlier))
        for delivery in outcome.deliveries:
            if not delivery.expected:
                raise Mismatch(
                    f"the Python delivers {delivery.message} at actor {delivery.actor}, where it "
                    "was not causal-sent to, or was delivered before"
                )
            where = (delivery.actor,) if "to" in self.sorts else ()
            elements = (view.number(delivery.message), *where)
            after.append(self._with(after[-1], "delivered", [elements]))
            self.delivers = True
        return after

    def _with(
        self, masks: dict[str, int], relation: str, added: Sequence[tuple[int, ...]]
    ) -> dict[str, int]:
        """Return the masks of APPLICATION with more tuples in a relation."""
        mask = masks[relation]
        for elements in added:
            mask |= 1 << index_of(self.sizes, self.sorts[relation], elements)
        return {**masks, relation: mask}

    def _compare_application(
        self, python: Sequence[dict[str, int]], model: Sequence[dict[str, int]]
    ) -> None:
        """Check that a transition's causal-sends and deliveries are the same, in the same order.

        Raises:
            Mismatch: they differ.
        """
        for was, of_python, of_model in zip_longest(python, python[1:], model[1:]):
            if of_python == of_model:
                continue
            raise Mismatch(
                "the causal-sends and deliveries of this step differ between the Python and the "
                "model:\n  Python: ",
                *self._gained(was, of_python),
                "\n  model:  ",
                *self._gained(was, of_model),
            )

    def _gained(self, was: dict[str, int], after: dict[str, int] | None) -> Sequence[str | Element]:
        """Return what an event of the application adds to the relations, as parts of a text."""
        atoms = [
            (", ", *_atom(name, self.sorts[name], elements))
            for name in APPLICATION
            for elements in product(*(range(self.sizes[sort]) for sort in self.sorts[name]))
            if after is not None
            and (after[name] & ~was[name]) >> index_of(self.sizes, self.sorts[name], elements) & 1
        ]
        return [part for atom in atoms for part in atom][1:] or ["nothing"]

    def _addressed(self, values: Values, message: Message) -> Values:
        """Set the destinations of a new message; until now they were arbitrary."""
        m, n = message.sender * self.system.messages + message.number - 1, self.system.actors
        after = dict(values)
        after["dst"] = (*values["dst"][:m], message.destinations[0], *values["dst"][m + 1 :])
        if "to" in self.sorts:
            others = values["to"] & ~(((1 << n) - 1) << m * n)
            after["to"] = others | sum(1 << (m * n + a) for a in message.destinations)
        return after

    def _compare(self, state: State, values: Values) -> None:
        """Check that the relations describe the state and satisfy the invariant."""
        key = (state, tuple(values.values()))
        if key in self.compared:
            return
        view = self.view(values)
        for actor, local in enumerate(state.actors):
            python, model = self.link.local(local), self.link.rebuild(view, actor)
            self.mapped[actor].setdefault(local, python)
            if python != model:
                raise Mismatch(
                    f"the state of actor {actor} differs between the Python and the model:\n"
                    f"  Python: {python}\n  model:  {model}{_if_texts_are_equal(python, model)}"
                )
        if self.link.channels is not None:
            self._compare_channels(state, view)
        self.machine.judge(values)
        self.compared.add(key)
        if self.watch is not None:
            for marked in self.machine.marked(values):
                self.watch(Structure(self.sizes, marked))

    def _compare_channels(self, state: State, view: View) -> None:
        assert self.link.channels is not None
        pairs = zip(self.system.pairs, state.channels, strict=True)
        python = Counter((src, dst, p) for (src, dst), channel in pairs for p in channel)
        try:
            model = Counter(self.link.channels(view))
        except TypeError as error:
            raise InputError(
                f"the function 'channels' of the link gives a packet that cannot be compared: "
                f"{error}"
            ) from error
        if python != model:
            raise Mismatch(
                "the packets in flight differ between the Python and the model:\n"
                f"  only in the Python: {list((python - model).elements())}\n"
                f"  only in the model:  {list((model - python).elements())}"
                + _if_texts_are_equal(
                    sorted(map(str, (python - model).elements())),
                    sorted(map(str, (model - python).elements())),
                )
            )


def _atom(name: str, sorts: Sequence[str], elements: Sequence[int]) -> Iterator[str | Element]:
    """Yield the parts of the text NAME(ELEMENT, ...)."""
    yield f"{name}("
    for at, (sort, number) in enumerate(zip(sorts, elements, strict=True)):
        if at:
            yield ", "
        yield Element(sort, number)
    yield ")"


def _if_texts_are_equal(python: Any, model: Any) -> str:
    """Return why two values with equal texts may differ, and the remedy; else nothing."""
    if str(python) != str(model):
        return ""
    classes = [f"{type(one).__module__}.{type(one).__qualname__}" for one in (python, model)]
    differ = "" if classes[0] == classes[1] else f" ({' and '.join(classes)})"
    return (
        f"\n  The two texts are equal, but the values{differ} are not. Perhaps a file was loaded "
        "twice, so that two classes have the same name. Then import the protocol in the file of "
        "the proof, and name it there, such as protocol='mine_proof.py:MINE'. Perhaps a class "
        "compares its objects by identity. Then define __eq__."
    )


def _alike(mapped: Mapping[Any, Any]) -> tuple[str, str] | None:
    """Return the texts of two states that are mapped to one value, or None if there are none."""
    first: dict[Any, Any] = {}
    unhashable: list[tuple[Any, Any]] = []
    for state, value in mapped.items():
        try:
            known = first.setdefault(value, state)
        except TypeError:
            known = next((other for other, same in unhashable if same == value), state)
            unhashable.append((state, value))
        if known is not state:
            return str(known), str(state)
    return None


def _of_application(values: Values) -> dict[str, int]:
    return {name: values[name] for name in APPLICATION}


# --- building blocks for declarations


def causal_sent(view: View, transition: CausalSend) -> int:
    """Return the message of a causal-send: the sender's next message."""
    return transition.actor * view.system.messages + len(view.sent(by=transition.actor))


def posted_in(view: View, actor: int, outcome: Outcome) -> Iterator[int]:
    """Yield the actor's own messages among the packets that a step sends, in order."""
    for _, packet in outcome.step.sends:
        message = message_in(packet)
        if message is not None and message.sender == actor:
            yield view.number(message)


def delivered_in(view: View, outcome: Outcome) -> Iterator[int]:
    """Yield the messages that a step delivers, in order."""
    for message in outcome.step.deliveries:
        yield view.number(message)


def received_message(view: View, transition: Receive) -> int:
    """Return the message in a received packet."""
    message = message_in(transition.packet)
    assert message is not None
    return view.number(message)
