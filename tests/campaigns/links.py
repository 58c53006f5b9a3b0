"""Links with gaps: a link that says LINKED must be right about the Python, whatever it compares.

A case is a model that is PROVED, a change of its protocol's Python, and a gap in its link, such as
states that are not compared. If the link says LINKED, the reference checker explores the Python
within the same bounds. The Python must not violate what was proved of the model.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from attrs import evolve, frozen

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol, Step
from antecede.checker.prove import front
from antecede.checker.prove.front import model_named
from antecede.checker.prove.link import Event, Link, View, link
from antecede.checker.prove.vocabulary import Model
from antecede.checker.semantics.values import message_in
from antecede.checker.support.registry import load, protocol_named
from tests.models import plan_of
from tests.naive import explore

ACTORS, MESSAGES, MOST = 2, 2, 3_000

NAMES = ("fifo", "mfss", "mfss-fifo", "rst", "rst-no-deliv", "ses", "newtop", "cykas")


@frozen
class Case:
    """A link with a gap, and Python that was changed.

    Attributes:
        name: the protocol whose model and link are used.
        python: a name in PYTHONS.
        gaps: names in GAPS.
    """

    name: str
    python: str
    gaps: tuple[str, ...]


# --- changes of the Python


def _stepwise(protocol: Protocol, change: Callable[[Any, Any, Step], Step]) -> Protocol:
    """Return a protocol whose receptions are changed: `change(state, packet, step)`."""

    def receive(state: Any, src: int, packet: Any) -> Step:
        return change(state, packet, protocol.receive(state, src, packet))

    return evolve(protocol, receive=receive)


def at_once(_state: Any, packet: Any, step: Step) -> Step:
    """Deliver the message in a packet, and nothing else."""
    message = message_in(packet)
    return evolve(step, deliveries=() if message is None else (message,))


def twice(_state: Any, _packet: Any, step: Step) -> Step:
    """Deliver each message twice."""
    return evolve(step, deliveries=step.deliveries * 2)


def backwards(_state: Any, _packet: Any, step: Step) -> Step:
    """Deliver the messages of a step in the reverse order."""
    return evolve(step, deliveries=step.deliveries[::-1])


def silently(_state: Any, _packet: Any, step: Step) -> Step:
    """Deliver nothing."""
    return evolve(step, deliveries=())


def forgetful(state: Any, _packet: Any, step: Step) -> Step:
    """Forget what a reception changed, if it delivered something."""
    return evolve(step, state=state) if step.deliveries else step


PYTHONS: dict[str, Callable[[Protocol], Protocol]] = {
    "as it is": lambda protocol: protocol,
    "unordered": lambda _protocol: protocol_named("unordered"),
    "delivers at once": lambda protocol: _stepwise(protocol, at_once),
    "delivers twice": lambda protocol: _stepwise(protocol, twice),
    "delivers backwards": lambda protocol: _stepwise(protocol, backwards),
    "delivers nothing": lambda protocol: _stepwise(protocol, silently),
    "forgets": lambda protocol: _stepwise(protocol, forgetful),
}


# --- gaps of a link


def _only(declared: Link, keep: Callable[[Event], bool]) -> Link:
    def events(view: View, transition: Any, outcome: Any) -> Iterator[Event]:
        return (event for event in declared.events(view, transition, outcome) if keep(event))

    return evolve(declared, events=events)


def _backwards(declared: Link) -> Link:
    def events(view: View, transition: Any, outcome: Any) -> Iterator[Event]:
        return reversed(list(declared.events(view, transition, outcome)))

    return evolve(declared, events=events)


GAPS: dict[str, Callable[[Link], Link]] = {
    "no states": lambda one: evolve(one, rebuild=lambda _v, _a: None, local=lambda _s: None),
    "states by type": lambda one: evolve(
        one, rebuild=lambda view, actor: type(one.rebuild(view, actor)), local=type
    ),
    "no channels": lambda one: evolve(one, channels=None),
    "no deliveries": lambda one: _only(one, lambda event: event[0] != "deliver"),
    "no events": lambda one: _only(one, lambda _event: False),
    "only the first delivery": lambda one: _only(one, _first_of_each()),
    "events backwards": _backwards,
    "fewer sends": lambda one: evolve(one, workload="script:[[1],[]]"),
}


def _first_of_each() -> Callable[[Event], bool]:
    """Return a condition that keeps one delivery of all."""
    deliveries: set[Event] = set()

    def keep(event: Event) -> bool:
        if event[0] == "deliver":
            deliveries.add(event)
        return len(deliveries) <= 1

    return keep


def drawn(seed: str) -> Case:
    """Return the case of a seed."""
    chance = random.Random(f"link {seed}")
    gaps = chance.sample(list(GAPS), chance.choice((0, 1, 2, 2, 3)))
    return Case(chance.choice(NAMES), chance.choice(list(PYTHONS)), tuple(gaps))


# --- the comparison


def is_linked(case: Case, model: Model, python: Protocol, declared: Link) -> bool:
    """Return whether the link says LINKED; an exception says that it does not."""
    with mock.patch.object(front, "load", return_value=declared):
        try:
            declared, _ = front.declared(model, ACTORS, MESSAGES, "knowledge")
            system = system_of(spec_of(case.name, declared), python)
            found = link(model, declared, system, MOST)
        except Exception:  # a changed protocol or link may be unusable; then nothing is claimed
            return False
    return front.word(found) == "LINKED"


def spec_of(name: str, declared: Link) -> Spec:
    """Return the question about the bounds of the link."""
    return Spec(
        protocol=name,
        actors=ACTORS,
        messages=MESSAGES,
        network=declared.network,
        workload=declared.workload,
    )


def disagreement(case: Case, tally: Counter[str]) -> str | None:
    """Return what the Python violates although the link says LINKED, or None."""
    model = model_named(case.name)
    python = PYTHONS[case.python](protocol_named(case.name))
    assert model.link is not None
    declared = whole = load(model.link)
    for gap in case.gaps:
        declared = GAPS[gap](declared)
    tally["links with gaps, explored" if case.gaps else "links without gaps, explored"] += 1
    if not is_linked(case, model, python, declared):
        return None
    tally["LINKED with the reference checker"] += 1
    properties = [model.safety.name, "integrity"]
    properties += ["all-delivered"] if model.quiescent is not None else []
    plan = plan_of("any", ACTORS, MESSAGES)
    counts = explore(python, plan, whole.network, "knowledge", properties)
    return str(counts.violation) if counts.violation else None


def compare_links(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare what one random link says with the reference checker."""
    case = drawn(seed)
    violated = disagreement(case, tally)
    if violated is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"link-{seed.replace('/', '-')}.py"
    file.write_text(
        f'"""LINKED, and the Python violates {violated}.\n\n'
        'Run it in the folder of the project; the tests are imported."""\n\n'
        "from collections import Counter\n\n"
        "from tests.campaigns.links import Case, disagreement\n\n"
        f"print(disagreement({case!r}, Counter()))\n",
        encoding="utf-8",
    )
    return [f"{case}\nLINKED, and the Python violates {violated}\n  python {file}\n"]
