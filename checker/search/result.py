"""Records for the result of a check: verdicts, counts of states, and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

from antecede.checker.paths.growth import Growth
from antecede.checker.paths.path import Path


class Verdict(StrEnum):
    """The verdict on one property, or on a whole check.

    Each verdict is also a string, so you can compare it with "HOLDS".

    Attributes:
        HOLDS: the search explored every reachable state, and no run violates the property.
        VIOLATED: a run violates the property. Or the property asks for an example, and none exists.
        VACUOUS: nothing is violated, and nothing could be. Either no run comes to the states or
            events that the property is about, such as a final state, in which nothing more can
            happen. Or no order of the messages of this workload violates the property, whatever the
            protocol does.
        INCOMPLETE: a bound, such as `max_states`, or Ctrl-C ended the search before it had a
            verdict.
        ERROR: a function of the protocol raised an exception or returned an unusable value.

    Examples:
        >>> from antecede import check
        >>> check("mfss", actors=3, messages=1).verdict == "VACUOUS"
        True
        >>> check("mfss", actors=2, messages=2).verdict == "HOLDS"
        True
    """

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    VACUOUS = "VACUOUS"
    INCOMPLETE = "INCOMPLETE"
    ERROR = "ERROR"


@frozen
class Counts:
    """The number of states that a search explored, and how far they are from the initial state.

    Attributes:
        unique_states: the number of different states, with the initial state.
        total_states: the number of generated states, with the initial state. A state that is
            reached by three transitions (atomic steps) counts three times.
        depth: the number of states on a shortest path to the state that is farthest away. It is 1
            if there is only the initial state.
        final_states: the number of different states in which nothing more can happen.

    Examples:
        >>> from antecede import check
        >>> counts = check("mfss", actors=2, messages=1).counts
        >>> counts.unique_states <= counts.total_states
        True
    """

    unique_states: int
    total_states: int
    depth: int
    final_states: int


class LimitReached(str):
    """The reason of a search that visited every state within the limits of `--bound`, in words.

    Nothing else ended the search early, and some runs go beyond the limits.
    """


@frozen(eq=False)
class Result:
    """The outcome of one check.

    Attributes:
        verdict: HOLDS only if every property holds and the search was exhaustive.
        properties: name -> verdict.
        counts: the size of the explored part.
        seconds: wall-clock time of the search.
        peak_memory_bytes: the greatest memory of the whole process so far.
        stopped_by: the bound that ended the search early, in words, or None. A `LimitReached` if
            only the limits of `--bound` did.
        counterexample: the shortest found, replayed; None unless the verdict is VIOLATED, or a
            handler failed: then the run that leads there.
        error: the error, if the verdict is ERROR.
        failed: whether the error is that a handler raised or returned an unusable value.
        shown: witness -> a replayed run that reaches it, if one was found.
        grown: the shortest run found to each limit that was reached.
        conditions: the unproved conditions of the verdict, in sentences.
        vacuous: property -> why there is nothing to judge, in words, if its verdict is VACUOUS.
        empty: the properties in `vacuous` that no protocol can violate; see `search.emptiness`.
        remarks: what weakens the verdict HOLDS on a property, in sentences.
        never: the events that never happened in a complete search, in words.
        unreduced: the counts without symmetry, which are the same for all engines. None if symmetry
            was used and the search ended within a level.
        statistics: further figures of the engine, by name.
    """

    verdict: Verdict
    properties: Mapping[str, Verdict]
    counts: Counts
    seconds: float
    peak_memory_bytes: int
    stopped_by: str | None = None
    counterexample: Path | None = None
    error: str | None = None
    failed: bool = False
    shown: Mapping[str, Path] = field(factory=dict)
    grown: tuple[Growth, ...] = ()
    conditions: tuple[str, ...] = ()
    vacuous: Mapping[str, str] = field(factory=dict)
    empty: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    unreduced: Counts | None = None
    statistics: Mapping[str, Any] = field(factory=dict)

    @property
    def visited_all(self) -> bool:
        """Whether the search surely visited every state that the system can reach."""
        return self.stopped_by is None and self.error is None and self.counterexample is None

    @property
    def of_this_search(self) -> Result:
        """The result without doubts: a property that no protocol can violate HOLDS.

        It is for tables that compare protocols, and say themselves what a row cannot show.
        """
        held = dict.fromkeys(self.empty, Verdict.HOLDS)
        if not held:
            return self
        verdicts = {**self.properties, **held}
        return evolve(self, properties=verdicts, verdict=overall(verdicts))

    @property
    def size(self) -> Counts:
        """The numbers of states that reports show.

        With symmetry reduction, a search visits only one of the states that differ in the names of
        actors. The numbers then still include the other states, if the search could count them.
        """
        return self.unreduced or self.counts


def overall(verdicts: Mapping[str, Verdict]) -> Verdict:
    """Return the verdict on a whole check, which is the worst verdict on one of its properties.

    Args:
        verdicts: the verdict on each property. From worst to best: ERROR, VIOLATED, INCOMPLETE,
            VACUOUS and HOLDS.

    Examples:
        >>> from antecede.checker.search.result import Verdict, overall
        >>> overall({"causal-delivery": Verdict.VIOLATED, "integrity": Verdict.HOLDS})
        <Verdict.VIOLATED: 'VIOLATED'>
    """
    for worst in (Verdict.ERROR, Verdict.VIOLATED, Verdict.INCOMPLETE, Verdict.VACUOUS):
        if worst in verdicts.values():
            return worst
    return Verdict.HOLDS
