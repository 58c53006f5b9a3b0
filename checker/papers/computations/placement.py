"""Which class of computations a protocol generates: all programs within bounds, one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from attrs import define, evolve, field, frozen

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.rows.symmetry import group
from antecede.checker.model import Protocol
from antecede.checker.papers.computations.classes import CLASSES, NAMES, rank
from antecede.checker.papers.computations.computation import Computation, Script, computations
from antecede.checker.papers.computations.generate import generating
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support import interrupts
from antecede.checker.support.errors import CapacityError, InputError
from antecede.checker.support.memory import memory_bytes
from antecede.checker.sweep.renamings import Renamings
from antecede.checker.sweep.smallest import renaming, scripted, scripts

MESSAGES = 4
"""The greatest number of messages in total, by default."""


@frozen
class Example:
    """A computation of a script."""

    script: Script
    computation: Computation

    @property
    def messages(self) -> int:
        """The number of messages."""
        return sum(map(len, self.script))


@frozen
class ClassRow:
    """The computations of one class, and how many of them the protocol generates."""

    name: str
    computations: int
    generated: int


@define(eq=False)
class Placement:
    """The computations of all programs within bounds, and those that a protocol generates.

    Attributes:
        spec: the question: protocol, actors, messages per actor, network.
        workloads: `any`, for all programs within the bounds, and scripts.
        most: with `any`, the greatest number of messages in total.
        programs: the number of programs that were enumerated.
        renamed: whether programs that rename the actors of another one were left out throughout.
        every, generated: per smallest class, the number of computations.
        missing: per smallest class, a smallest computation that is not generated, or None.
        found: per smallest class, a smallest computation that is generated, or None.
        states: the number of states that were explored.
        stuck: the number of final states in which a message is not delivered.
        stopped_by: the bound that ended the enumeration, or None.
    """

    spec: Spec
    workloads: tuple[str, ...]
    most: int
    programs: int = 0
    renamed: bool = True
    every: list[int] = field(factory=lambda: [0] * len(CLASSES))
    generated: list[int] = field(factory=lambda: [0] * len(CLASSES))
    missing: list[Example | None] = field(factory=lambda: [None] * len(CLASSES))
    found: list[Example | None] = field(factory=lambda: [None] * len(CLASSES))
    states: int = 0
    stuck: int = 0
    stopped_by: str | None = None

    @property
    def rows(self) -> list[ClassRow]:
        """The classes, from the smallest one, each with the classes that it contains."""
        sizes = range(1, len(CLASSES) + 1)
        return [ClassRow(NAMES[k - 1], sum(self.every[:k]), sum(self.generated[:k])) for k in sizes]

    @property
    def exactly(self) -> list[str]:
        """The classes of which the protocol generates all computations, and no others."""
        return [name for name in self.contained if name in self.containing]

    @property
    def contained(self) -> list[str]:
        """The classes of which the protocol generates all computations."""
        if not self.programs:
            return []
        return [row.name for row in self.rows if row.computations == row.generated]

    @property
    def containing(self) -> list[str]:
        """The classes that contain all computations that the protocol generates."""
        total = sum(self.generated)
        return [row.name for row in self.rows if row.generated == total]

    @property
    def beyond(self) -> tuple[str, Example] | None:
        """The smallest class with a computation that is not generated, and a smallest one of it."""
        index = next((k for k, example in enumerate(self.missing) if example is not None), None)
        if index is None:
            return None
        upper = max(index, NAMES.index(self.containing[0]))
        left = (example for example in self.missing[: upper + 1] if example is not None)
        return NAMES[upper], min(left, key=lambda example: example.messages)

    def add(self, script: Script, generated: set[Computation]) -> None:
        """Add the computations of one program."""
        for computation in computations(script):
            index = rank(computation)
            self.every[index] += 1
            is_generated = computation in generated
            self.generated[index] += is_generated
            examples = self.found if is_generated else self.missing
            if examples[index] is None:
                examples[index] = Example(script, computation)
        self.programs += 1


def check_question(spec: Spec, workloads: Sequence[str]) -> None:
    """Refuse a question that cannot be asked.

    Raises:
        InputError: something in it is unknown, or a workload has no scripts.
    """
    for workload in workloads:
        known = workload.partition(":")[0] in ("any", "script")
        if not known or system_of(evolve(spec, workload=workload)).workload.fan_out > 1:
            raise InputError(
                f"the workload {workload!r} has no classes of computations, which are defined for "
                "messages with one receiver; give --workload any, or script:JSON"
            )


def programs(spec: Spec, workloads: Sequence[str], most: int) -> Iterator[tuple[Script, bool]]:
    """Yield the programs of a question, and whether each stands for its renamings, too.

    The programs of `any` are the scripts in which each actor sends at most as many messages as the
    question says, and all together at most `most`. Those with few messages come first.
    """
    renamings, seen = group(spec.actors), set[Script]()
    if "any" in workloads:
        for messages in range(1, min(most, spec.actors * spec.messages) + 1):
            for script in scripts(spec.actors, messages):
                if max(map(len, script)) <= spec.messages:
                    seen.add(script)
                    yield script, True
    listed = [_script(spec.actors, text) for text in workloads if text != "any"]
    for script in sorted(listed, key=lambda one: sum(map(len, one))):
        if seen.isdisjoint(renaming(script, p) for p in renamings):
            seen.add(script)
            yield script, False


def _script(actors: int, text: str) -> Script:
    workload = workload_from(text, actors, 1)
    receivers = [
        [workload.choices(actor, place) for place in range(workload.most)]
        for actor in range(actors)
    ]
    return tuple(tuple(each[0][0] for each in own if each) for own in receivers)


def placed(
    spec: Spec,
    workloads: Sequence[str],
    most: int,
    bounds: Bounds,
    protocol: Protocol | None = None,
    watch: Callable[[Placement], None] = lambda _placement: None,
) -> Placement:
    """Return which computations a protocol generates, of all programs within bounds.

    A program that only renames the actors of another one is left out, unless the calls of the
    handlers show that names of actors matter.

    Args:
        spec: the question.
        workloads: `any`, for all programs within the bounds, and scripts.
        most: with `any`, the greatest number of messages in total.
        bounds: when to give up.
        protocol: takes the place of the protocol that the spec names.
        watch: called after each program.

    Raises:
        InputError: the question cannot be asked, or a handler of the protocol fails.
    """
    check_question(spec, workloads)
    result, began = Placement(spec, tuple(workloads), most), time.monotonic()

    def tick(states: int) -> None:
        seconds = time.monotonic() - began
        reason = bounds.hit(result.states + states, seconds, memory_bytes())
        if (reason := interrupts.wanted() or reason) is not None:
            raise CapacityError(reason)

    def run(script: Script, *, compared: bool) -> bool:
        """Add one program; return whether it stands for its renamings."""
        system, renamings = system_of(scripted(spec, script), protocol), Renamings()
        search = generating(renamings.watching(system) if compared else system)
        while search.frontier:
            search.round(lambda: tick(search.unique))
        tick(search.unique)
        result.states += search.unique
        result.stuck += search.stuck
        result.add(script, search.complete)
        watch(result)
        return renamings.difference is None

    try:
        for script, stands_for_others in programs(spec, workloads, most):
            if not run(script, compared=stands_for_others) and stands_for_others:
                result.renamed = False
                others = {renaming(script, p) for p in group(spec.actors)} - {script}
                for other in sorted(others):
                    run(other, compared=False)
    except CapacityError as end:
        result.stopped_by = str(end)
    return result
