"""One check from end to end: a spec is explored, and the result compared with what it expects."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from attrs import evolve, frozen

from antecede.checker import interrupts
from antecede.checker.amounts import counted
from antecede.checker.engine import (
    explorer_at_once,
    kernels_are_compiled,
    pausing_explorer,
    plain_instead,
)
from antecede.checker.errors import (
    CapacityError,
    HandlerError,
    InputError,
    NumbersError,
    ProtocolError,
    ReplayError,
)
from antecede.checker.liveness import starvation
from antecede.checker.memory import nearly_gone, shortage
from antecede.checker.model import Protocol
from antecede.checker.paths.minimise import minimise
from antecede.checker.paths.path import Path
from antecede.checker.purity.opaque import with_opaque_messages
from antecede.checker.purity.selfcheck import watched
from antecede.checker.search.coverage import never_seen
from antecede.checker.search.handler_errors import run_to_failure
from antecede.checker.search.loop import (
    Explorer,
    Pausing,
    Progress,
    explore,
    memory_bytes,
    peak_memory_bytes,
)
from antecede.checker.search.measures import Measures, measure
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Counts, Result, Verdict
from antecede.checker.search.sample import sample
from antecede.checker.semantics.handlers import keep_running
from antecede.checker.semantics.transition import System
from antecede.checker.settings import checked
from antecede.checker.spec import COUNT_KEYS, Spec, judged_by, system_of

AS_EXPECTED, NOT_AS_EXPECTED, INPUT_ERROR, INCOMPLETE, INTERNAL_ERROR = range(5)
"""The exit codes."""

TRIAL = Bounds(max_states=2_000)
"""How far it is tried which properties can be judged where one message is followed."""

LATE = 1.0
"""Seconds after which a search that has not looked at --max-seconds is told."""


class InternalError(Exception):
    """The checker contradicts itself; its text says how."""


@frozen(eq=False)
class CheckReport:
    """What a check found, and how that differs from what its spec expects.

    Attributes:
        spec: what was asked for.
        options: how it was explored.
        system: what was explored.
        result: what was found.
        differences: from the expectation, in sentences; none if the verdict decides nothing.
        measures: what the protocol costs, where that was asked for.
        unmeasured: why it was not measured, in a sentence, where it was asked for and could not be.
        sample: a run, where one was asked for and nothing is violated.
    """

    spec: Spec
    options: Options
    system: System
    result: Result
    differences: tuple[str, ...]
    measures: Measures | None = None
    unmeasured: str | None = None
    sample: Path | None = None

    @property
    def run(self) -> Path | None:
        """What there is to look at: the counterexample, the run of a witness, or a sample."""
        grown = [growth.path for growth in self.result.grown]
        shown = (self.result.counterexample, self.sample, *self.result.shown.values(), *grown)
        return next((path for path in shown if path is not None), None)

    @property
    def as_expected(self) -> bool:
        """The verdict was reached, and all that the spec expects came true."""
        return decides(self.spec, self.result) and not self.differences

    @property
    def interrupted(self) -> bool:
        """The user, or somebody else's signal, ended the search."""
        return interrupts.is_interruption(self.result.stopped_by)

    @property
    def exit_code(self) -> int:
        """The exit code of `antecede check` for this check alone."""
        if self.result.verdict is Verdict.ERROR:
            return INPUT_ERROR
        if not decides(self.spec, self.result):
            return INCOMPLETE
        return AS_EXPECTED if self.as_expected else NOT_AS_EXPECTED


@frozen(eq=False)
class Refused:
    """A check that could not be made.

    Attributes:
        label: the spec's file, or its protocol.
        error: why.
    """

    label: str
    error: InputError | CapacityError

    @property
    def text(self) -> str:
        """What was refused, and why, in a sentence."""
        said = str(self.error)
        return said if said.startswith(self.label) else f"{self.label}: {said}"

    @property
    def exit_code(self) -> int:
        """The exit code of `antecede check` for this check alone."""
        return INCOMPLETE if isinstance(self.error, CapacityError) else INPUT_ERROR


Checked: TypeAlias = CheckReport | Refused
"""What comes of one of many checks."""


def exit_code_of(reports: Sequence[Checked]) -> int:
    """Return the exit code for several checks: what needs a person first comes first."""
    codes = {report.exit_code for report in reports}
    ranked = (INPUT_ERROR, NOT_AS_EXPECTED, INCOMPLETE)
    return next((code for code in ranked if code in codes), AS_EXPECTED)


def check(
    spec: Spec,
    options: Options = Options(),
    bounds: Bounds = Bounds(),
    *,
    protocol: Protocol | None = None,
    selfcheck: str = "on",
    minimised: bool = False,
    measured: bool = False,
    sampled: str | None = None,
    watch: Callable[[Progress], None] = lambda _progress: None,
) -> CheckReport:
    """Run the check that `spec` describes.

    Args:
        spec: what to check, and what to expect.
        options: how to explore; the search is the spec's.
        bounds: when to give up; they take the place of the spec's own.
        protocol: in place of the one that `spec` names.
        selfcheck: which of the protocol's calls to check for determinism and purity.
        minimised: shorten the counterexample, and bring its steps into a clear order.
        measured: measure what the protocol costs, too.
        sampled: which run to show where nothing is violated, one of `checker.search.sample`.
        watch: called now and then with the progress.

    Raises:
        InputError: a name or number in the spec cannot be used.
        InternalError: an engine and the semantics in plain Python disagree.
    """
    if bounds.bound:
        spec = evolve(spec, bound=bounds.bound)
    system = spec.system if protocol is None else system_of(spec, protocol)
    options = checked(evolve(options, search=spec.search))
    if system.workload.buffer is not None:
        starvation.refuse(options)
        options = starvation.method(system, options)
    plainly: dict[str, Any] = {}
    if reason := plain_instead(system, options):
        options = evolve(options, engine="plain")
        plainly = {"explored_plainly": reason}
    bounds = checked(bounds.over(spec.bounds))
    keep_running()
    saves = system.workload.buffer is not None and (options.checkpoint or options.resume)
    # A checkpoint is of all properties that are judged, so it is tried first which ones can be.
    tries = [(options.unsaved, TRIAL)] if saves else []
    tries.append((options, bounds))
    try:
        while tries:
            try:
                how, within = tries[0]
                result = _run(system, self_checking(system, selfcheck), how, within, watch)
                tries.pop(0)
            except NumbersError as error:
                asked = (*spec.properties, *(f"--bound {limit.text}" for limit in system.limits))
                if error.prop in asked:
                    raise
                system = _without(system, error.prop)
    except ProtocolError as error:
        result = _failed(system, error)
    except ReplayError as error:
        raise InternalError(
            f"a path that the search found cannot be replayed: {error} If your handlers are pure "
            "functions (--selfcheck all looks at every call), the checker is wrong."
        ) from error
    if result.failed:
        run = run_to_failure(system, _failure_searches(options), bounds, watch)
        result = evolve(result, counterexample=run)
    result = evolve(
        result,
        statistics={**result.statistics, **_repeat(options), **plainly},
        never=never_seen(system, result),
    )
    if minimised and result.counterexample is not None:
        result = evolve(result, counterexample=minimise(result.counterexample))
    report = CheckReport(spec, options, system, result, differences(spec, result))
    if sampled is not None and result.counterexample is None and result.error is None:
        report = evolve(report, sample=sample(system, sampled, options.seed))
    return _measured(report, bounds, watch) if measured else report


def _run(
    system: System,
    self_checking: System,
    options: Options,
    bounds: Bounds,
    watch: Callable[[Progress], None],
) -> Result:
    """Explore, and look for cycles where that is asked for."""
    if system.workload.buffer is not None:
        return _endless(system, self_checking, options, bounds, watch)
    made = partial(explorer_at_once, self_checking, options, bounds.max_depth)
    return _explored(system, made, options, bounds, watch)


def _without(system: System, name: str) -> System:
    """Return the system without one of its properties."""
    return evolve(system, properties=tuple(p for p in system.properties if p.name != name))


def _explored(
    system: System,
    made: Callable[[], Explorer],
    options: Options,
    bounds: Bounds,
    watch: Callable[[Progress], None],
    *,
    goes_on: bool = False,
) -> Result:
    """Explore; what takes too long or too much before the first look at a bound is ended, too.

    Args:
        system: what is explored.
        made: makes the explorer, which may take long.
        options: how to explore.
        bounds: when to give up.
        watch: called now and then with the progress.
        goes_on: the explorer is needed afterwards.
    """
    with interrupts.watched(_limits(options, bounds), nearly_gone):
        try:
            explorer = made()
        except KeyboardInterrupt as end:
            return _unstarted(system, f"{interrupts.reason_of(end)}, before the search began")
        return explore(system, explorer, bounds, watch, goes_on=goes_on)


def _endless(
    system: System,
    self_checking: System,
    options: Options,
    bounds: Bounds,
    watch: Callable[[Progress], None],
) -> Result:
    """Explore a workload without end: the search pauses, and goes on within wider bounds."""
    began, made = time.monotonic(), list[Pausing]()

    def explorer() -> Pausing:
        if not made:
            made.append(pausing_explorer(self_checking, options, bounds.max_depth))
        return made[0]

    def part(within: Bounds) -> Result:
        left = bounds.max_seconds and bounds.max_seconds - (time.monotonic() - began)
        within = evolve(within, max_seconds=left and max(left, 0.001))
        result = _explored(system, explorer, options, within, watch, goes_on=True)
        if (result.stopped_by or "").startswith("--max-seconds"):
            return evolve(result, stopped_by=bounds.hit(0, math.inf, 0))
        return result

    def tick() -> None:
        # --max-states is for the part of the graph that is looked at, not for this pass over it.
        hit = bounds.hit(0, time.monotonic() - began, memory_bytes())
        if (reason := interrupts.wanted() or hit) is not None:
            raise CapacityError(reason)

    try:
        first = starvation.FIRST[options.engine]
        return starvation.explored(
            system, bounds, part, lambda told: explorer().so_far(told), tick, first
        )
    finally:
        for search in made:
            search.close()


def _limits(options: Options, bounds: Bounds) -> Callable[[], str | None]:
    """Return what says, asked now and then, that a bound is passed which no search looked at."""
    began, seconds = time.monotonic(), bounds.max_seconds
    if options.engine != "plain" and not kernels_are_compiled():
        seconds = None  # to compile them takes longer than many a bound, and is done once

    def passed() -> str | None:
        if seconds is not None and time.monotonic() - began > seconds + LATE:
            return f"--max-seconds {seconds:g} reached"
        if bounds.max_memory is not None and memory_bytes() > bounds.max_memory:
            return f"--max-memory {bounds.max_memory / 1e9:,.1f} GB reached"
        return shortage()

    return passed


def check_all(
    specs: Iterable[Spec | Refused],
    options: Options = Options(),
    bounds: Bounds = Bounds(),
    *,
    selfcheck: str = "on",
    minimised: bool = False,
    measured: bool = False,
    sampled: str | None = None,
    watch: Callable[[Spec, Progress], None] = lambda _spec, _progress: None,
) -> Iterator[Checked]:
    """Run several checks, each as `check` does; one that cannot be made does not stop the others.

    An interruption ends them all.
    """
    for spec in specs:
        if isinstance(spec, Refused):
            yield spec
            continue
        try:
            report = check(
                spec,
                options,
                bounds,
                selfcheck=selfcheck,
                minimised=minimised,
                measured=measured,
                sampled=sampled,
                watch=partial(watch, spec),
            )
        except (InputError, CapacityError) as error:
            yield Refused(spec.label, error)
            continue
        yield report
        if report.interrupted:
            return


def self_checking(system: System, mode: str) -> System:
    """Return `system` with a protocol whose handlers check themselves as they are called.

    Raises:
        InputError: there is no such mode.
    """
    protocol = watched(system.protocol, mode)
    if system.workload.buffer is not None:
        repeats = system.network.duplicates or protocol.timeout is not None
        protocol = with_opaque_messages(protocol, system.protocol, repeats=repeats)
    properties = tuple(judged_by(protocol, p.name, system.workload) for p in system.properties)
    return evolve(system, protocol=protocol, properties=properties)


def _unstarted(system: System, reason: str) -> Result:
    """Return the result of a check that ended before its search began."""
    return Result(
        verdict=Verdict.INCOMPLETE,
        properties={p.name: Verdict.INCOMPLETE for p in system.properties},
        counts=Counts(0, 0, 0, 0),
        seconds=0.0,
        peak_memory_bytes=peak_memory_bytes(),
        stopped_by=reason,
    )


def _failed(system: System, error: ProtocolError) -> Result:
    """Return the result of a check whose protocol failed before the first transition."""
    failed = isinstance(error, HandlerError)
    result = evolve(_unstarted(system, ""), verdict=Verdict.ERROR, stopped_by=None)
    return evolve(result, error=str(error), failed=failed)


def _failure_searches(options: Options) -> tuple[Callable[[System], Explorer], ...]:
    """Return how to look for the run to a failing handler: breadth-first, then as it was found."""
    kept = evolve(options.unsaved, traces=True, memory="auto", check_progress=False)
    first = evolve(kept, search="breadth")
    tried = (first,) if options.search == "breadth" else (first, kept)
    return tuple(partial(explorer_at_once, options=each) for each in tried)


def _tick(result: Result, bounds: Bounds, watch: Callable[[Progress], None]) -> Callable[[], None]:
    """Return what a pass after the search calls now and then; it raises CapacityError."""
    started = time.monotonic()

    def tick() -> None:
        seconds = result.seconds + time.monotonic() - started
        watch(Progress(result.counts, 0, seconds, memory_bytes()))
        hit = bounds.hit(0, seconds, memory_bytes())
        if hit is not None:
            raise CapacityError(hit)

    return tick


def _measured(
    report: CheckReport, bounds: Bounds, watch: Callable[[Progress], None]
) -> CheckReport:
    """Return `report` with the measures, or with the reason why there are none."""
    result = report.result
    if result.verdict not in (Verdict.HOLDS, Verdict.VACUOUS, Verdict.VIOLATED):
        return evolve(report, unmeasured=f"the check is {result.verdict}")
    try:
        return evolve(report, measures=measure(report.system, _tick(result, bounds, watch)))
    except CapacityError as limit:
        return evolve(report, unmeasured=str(limit))
    except ProtocolError as error:
        return evolve(report, result=evolve(result, verdict=Verdict.ERROR, error=str(error)))


def _repeat(options: Options) -> dict[str, Any]:
    """Return what a random search needs to be repeated."""
    if options.search != "random":
        return {}
    return {"walks": options.walks, "seed": options.seed}


def decides(spec: Spec, result: Result) -> bool:
    """Return whether a result answers what was asked; what holds of nothing does if expected."""
    if result.verdict is Verdict.VACUOUS:
        return spec.expect.verdict is not Verdict.HOLDS
    return result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)


def differences(spec: Spec, result: Result) -> tuple[str, ...]:
    """Return how `result` differs from what `spec` expects, in sentences.

    A search that did not come to a verdict differs in nothing, for it says nothing. Counts and
    lengths are compared where the search makes them exact.
    """
    expect, verdict = spec.expect, result.verdict
    if not decides(spec, result):
        return ()
    if verdict is not expect.verdict:
        return (f"expected {expect.verdict}, found {verdict}",)
    found = [*_violation_differences(spec, result), *_count_differences(spec, result)]
    return tuple(found)


def _violation_differences(spec: Spec, result: Result) -> list[str]:
    found = []
    violated = [name for name, verdict in result.properties.items() if verdict is Verdict.VIOLATED]
    if spec.expect.violates is not None and spec.expect.violates not in violated:
        found.append(f"expected {spec.expect.violates} to be violated, found {', '.join(violated)}")
    length = spec.expect.counterexample_length
    if length is not None and spec.search == "breadth":
        path = result.counterexample
        shown = "none" if path is None else f"{path.length}"
        if shown != str(length):
            found.append(
                f"expected a counterexample of {counted(length, 'transition')}, found {shown}"
            )
    return found


def _count_differences(spec: Spec, result: Result) -> list[str]:
    exact: tuple[str, ...] = {
        "breadth": COUNT_KEYS,
        "depth": ("unique_states", "total_states", "final_states"),
    }.get(spec.search, ())
    if spec.search == "depth" and result.verdict is Verdict.VIOLATED:
        exact = ()
    counts = result.unreduced or result.counts
    return [
        f"expected {key.replace('_', ' ')} {number:,}, found {getattr(counts, key):,} "
        f"(history {spec.history})"
        for key, number in spec.expect.counts.get(spec.history, {}).items()
        if key in exact and number != getattr(counts, key)
    ]
