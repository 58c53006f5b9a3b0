"""`antecede.classes`: the class of computations that a protocol generates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from antecede.checker.api.arguments import NoArguments, converted, described, record_of, texts
from antecede.checker.api.progress import progress
from antecede.checker.api.protocols import Given, named
from antecede.checker.api.results import Report, Run
from antecede.checker.check.exploring import limited
from antecede.checker.check.spec import Spec
from antecede.checker.papers.computations import placement as placements
from antecede.checker.papers.computations import report
from antecede.checker.papers.computations.classes import NAMES
from antecede.checker.search.options import Bounds
from antecede.checker.support.errors import InputError, check_known


@frozen(eq=False, repr=False)
class ClassesResult(Report):
    """The result of `antecede.classes`.

    Examples:
        >>> from antecede import classes
        >>> result = classes("rst", max_messages=3)
        >>> result.exactly
        ('n-n', '1-n', 'mailbox', 'causal')
        >>> result.counts["fifo"]
        (58, 57)
    """

    _placement: placements.Placement

    @property
    def exactly(self) -> tuple[str, ...]:
        """The names of the classes whose computations the protocol generates, all and no others."""
        return tuple(self._placement.exactly)

    @property
    def contained(self) -> tuple[str, ...]:
        """The names of the classes whose computations the protocol generates, all of them."""
        return tuple(self._placement.contained)

    @property
    def containing(self) -> tuple[str, ...]:
        """The classes that contain all computations that the protocol generates."""
        return tuple(self._placement.containing)

    @property
    def counts(self) -> Mapping[str, tuple[int, int]]:
        """For each class, by its name, two numbers of computations of the programs.

        The first number counts the computations of the class, and the second one the computations
        of the class that the protocol generates.
        """
        return {row.name: (row.computations, row.generated) for row in self._placement.rows}

    @property
    def missing(self) -> Run | None:
        """A smallest computation that the protocol does not generate, or None."""
        path = report.missing_run(self._placement)
        return None if path is None else Run(path)

    @property
    def stopped_by(self) -> str | None:
        """The bound that ended the enumeration, or None if it is complete."""
        return self._placement.stopped_by

    def expect(self, name: str) -> ClassesResult:
        """Return this result if the protocol generates exactly the class of this name.

        Raises:
            AssertionError: it does not, or a bound ended the enumeration. The text is the report.
            InputError: there is no such class.
        """
        __tracebackhide__ = True  # pytest then shows the line of the test
        check_known("class", name, NAMES)
        if self.stopped_by is not None or name not in self.exactly:
            raise AssertionError(str(self))
        return self

    def __repr__(self) -> str:
        return f"<Classes: {report.verdict(self._placement)}>"

    def __str__(self) -> str:
        return report.text(self._placement)


@described(NoArguments)
def classes(
    protocol: Given,
    *,
    actors: int = 3,
    messages: int = 2,
    max_messages: int = placements.MESSAGES,
    network: str | None = None,
    workload: str | Sequence[str] = "any",
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_memory: int | str | None = None,
) -> ClassesResult:
    """Find the class of computations that a protocol generates.

    The result is about all programs within the bounds. It is no proof for larger ones.

    Args:
        protocol: a protocol as `check` takes it.
        actors: the number of actors.
        messages: the greatest number of messages of each actor.
        max_messages: the greatest number of messages of all actors together.
        network: the network; by default the one that the protocol needs.
        workload: any, or a script, or several of them.
        max_states: the bound on the states that are explored.
        max_seconds: the bound on the time.
        max_memory: the bound on the memory of the process, such as "4G".

    Raises:
        InputError: a name or a value cannot be used, or a handler of the protocol fails.

    Examples:
        In programs of three messages, these classes have the same computations, and the protocol
        `mfss` generates exactly these:

        >>> from antecede import classes
        >>> classes("mfss", max_messages=3).exactly
        ('n-n', '1-n', 'mailbox', 'causal')
    """
    given = {"max_states": max_states, "max_seconds": max_seconds, "max_memory": max_memory}
    bounds: Bounds = record_of(Bounds, {k: v for k, v in given.items() if v is not None})
    if type(max_messages) is not int or not 1 <= max_messages <= 12:
        raise InputError(f"max_messages is {max_messages!r}; give a number from 1 to 12")
    with named(protocol) as (name,), progress() as ticker:
        asked = {"actors": actors, "messages": messages, "network": network}
        spec = Spec(name, **converted(Spec, asked))
        with limited(bounds):
            found = placements.placed(
                spec,
                texts("workload", workload, "any"),
                max_messages,
                bounds,
                watch=lambda now: ticker.show(report.progress(now)),
            )
    return ClassesResult(found)
