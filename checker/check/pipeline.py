"""A check in five steps: resolve the question, choose the engine, explore, confirm, explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from attrs import evolve, frozen

from antecede.checker.check.afresh import Afresh, afresh
from antecede.checker.check.engine import explorer_at_once, plain_instead
from antecede.checker.check.exploring import (
    Around,
    Task,
    Watch,
    as_it_is,
    failed,
    limited,
    searched,
    unstarted,
)
from antecede.checker.check.report import Checked, CheckReport, Refused, differences
from antecede.checker.check.spec import Spec, judged_by, system_of
from antecede.checker.liveness import starvation
from antecede.checker.model import Property, Protocol
from antecede.checker.paths.confirm import refuse_merged
from antecede.checker.paths.minimise import minimise
from antecede.checker.purity.opaque import with_opaque_messages
from antecede.checker.purity.selfcheck import (
    look_back,
    repeat_afresh,
    seconds_spent,
    watched,
    watched_limit,
    watched_property,
)
from antecede.checker.search.emptiness import after_search, doubted
from antecede.checker.search.handler_errors import run_to_failure
from antecede.checker.search.loop import Explorer, Progress
from antecede.checker.search.never_seen import never_seen
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.crashes import of_live_actors
from antecede.checker.semantics.failing import failure_in, is_declared
from antecede.checker.semantics.tracing import Tracer, traced_handlers
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.support import interrupts
from antecede.checker.support.errors import (
    CapacityError,
    InputError,
    NumbersError,
    ProtocolError,
    ReplayError,
)
from antecede.checker.support.registry import property_names
from antecede.checker.support.settings import checked, setting

TRIAL = Bounds(max_states=2_000)
"""Bounds of the trial that finds out which properties an endless system can judge."""


class InternalError(Exception):
    """The checker contradicts itself; its text says how."""


@frozen
class Extras:
    """The work of a check besides its search."""

    minimise: bool = setting(
        False,
        bool,
        "Shorten a counterexample from a depth-first or random search, and group related steps.",
    )
    coverage: bool = setting(
        False,
        bool,
        "Also report which lines and conditions of the protocol's handlers never ran. Switches "
        "symmetry off.",
    )


def check(
    spec: Spec,
    options: Options = Options(),
    bounds: Bounds = Bounds(),
    *,
    protocol: Protocol | None = None,
    selfcheck: str = "on",
    extras: Extras = Extras(),
    watch: Watch = lambda _progress: None,
    around: Around = as_it_is,
    began: float | None = None,
) -> CheckReport:
    """Run the check that `spec` describes.

    Args:
        spec: what to check, and what to expect.
        options: how to explore; the spec names the search.
        bounds: when to give up; they replace the spec's own bounds. The time is the time of all
            stages together: search, self-check, failing run and explanation.
        protocol: replaces the protocol that `spec` names.
        selfcheck: which calls of handlers to check for determinism and purity.
        extras: what to do besides the search.
        watch: called now and then with the progress.
        around: returns the system to explore; it must behave as the one that it is given.
        began: the start of --max-seconds, on the monotonic clock; by default now.

    Raises:
        InputError: a name or number in the spec cannot be used.
        InternalError: an engine and the semantics in plain Python disagree.
    """
    if bounds.bound:
        spec = evolve(spec, bound=bounds.bound)
    system = spec.system if protocol is None else system_of(spec, protocol)
    options = checked(evolve(options, search=spec.search))
    bounds = checked(bounds.over(spec.bounds))
    if extras.coverage:
        options = _for_coverage(options)
    task = Task(spec, system, options, bounds, selfcheck, watch, around=around)
    task = with_engine(evolve(task, is_named=protocol is None))
    tracer = Tracer() if extras.coverage else None
    with limited(bounds, began):
        with traced_handlers(tracer):
            task, result = _explored_in_time(task)
        if interrupts.wanted() is not None:
            extras = Extras()
        # A counterexample that was found is not lost if the rest takes too long.
        try:
            result = _confirmed_or_failed(task, result)
            result = after_search(task.system, result)
            report = explained(task, result, extras)
            return report if tracer is None else _covered(report, tracer)
        except interrupts.Ended as end:
            reason = interrupts.reason_of(end)
            return evolve(explained(task, result, Extras()), unfinished=reason)


def _for_coverage(options: Options) -> Options:
    """Return options of a search that calls the handlers in this process, for all states.

    Raises:
        InputError: the engine calls them elsewhere.
    """
    if options.engine == "spark":
        raise InputError(
            "--coverage is for the engines local and plain; with --engine spark, other processes "
            "call the handlers"
        )
    return evolve(options, symmetry=False)


def _covered(report: CheckReport, tracer: Tracer) -> CheckReport:
    from antecede.checker.check.handler_coverage import coverage_of

    return evolve(report, coverage=coverage_of(report.system.protocol, tracer))


def _explored_in_time(task: Task) -> tuple[Task, Result]:
    """Explore the system; the result says so if there was no time for it."""
    try:
        return explored(task)
    except KeyboardInterrupt as end:
        return task, unstarted(task.system, interrupts.reason_of(end))


def _confirmed_or_failed(task: Task, result: Result) -> Result:
    try:
        return confirmed(task, result)
    except ProtocolError as error:
        return failed(task.system, error)


def check_all(
    specs: Iterable[Spec | Refused],
    options: Options = Options(),
    bounds: Bounds = Bounds(),
    *,
    selfcheck: str = "on",
    extras: Extras = Extras(),
    watch: Callable[[Spec, Progress], None] = lambda _spec, _progress: None,
    began: float | None = None,
) -> Iterator[Checked]:
    """Run several checks; one that cannot start does not stop the others.

    An interruption ends them all. `began` is the start of --max-seconds for the first
    check, on the monotonic clock.
    """
    for spec in specs:
        if isinstance(spec, Refused):
            yield spec
            continue
        watched_by = partial(watch, spec)
        try:
            report = check(
                spec,
                options,
                bounds,
                selfcheck=selfcheck,
                extras=extras,
                watch=watched_by,
                began=began,
            )
        except (InputError, CapacityError) as error:
            yield Refused(spec.label, error)
            continue
        finally:
            began = None
        yield report
        if report.interrupted:
            return


def with_engine(task: Task) -> Task:
    """Choose the engine: plain Python if the tables cannot judge the question."""
    options, statistics = task.options, {}
    if isinstance(task.system, EndlessSystem):
        starvation.refuse(options)
        options = starvation.method(task.system, options)
    if reason := plain_instead(task.system, options):
        options, statistics = evolve(options, engine="plain"), {"explored_plainly": reason}
    return evolve(task, options=options, statistics=statistics)


def explored(task: Task) -> tuple[Task, Result]:
    """Explore the system.

    Properties of an endless system that turn out to look at the numbers of messages are left out,
    unless the spec names them. A checkpoint fixes the properties, so a trial finds them first.
    """
    saves = task.options.checkpoint or task.options.resume
    if isinstance(task.system, EndlessSystem) and saves:
        trial = evolve(task, options=task.options.unsaved, bounds=TRIAL)
        task = evolve(task, system=_explored_without_numbers(trial)[0].system)
    return _explored_without_numbers(task)


def _explored_without_numbers(task: Task) -> tuple[Task, Result]:
    while True:
        try:
            return task, _checked(task, task.around(self_checking(task.system, task.selfcheck)))
        except NumbersError as error:
            if error.prop in task.asked:
                raise
            task = task.without(error.prop)
        except ProtocolError as error:
            return task, failed(task.system, error)
        except ReplayError as error:
            if task.options.resume is not None:
                raise InputError(
                    f"the checkpoint in {str(task.options.resume)!r} was changed: a run that "
                    "continues it cannot be replayed; start again"
                ) from error
            reason = str(error).rstrip(".")
            raise InternalError(
                f"a path that the search found cannot be replayed: {reason}. If your handlers are "
                "pure functions (--selfcheck all looks at every call), the checker is wrong."
            ) from error


def _checked(task: Task, self_checking: System) -> Result:
    """Explore a system whose handlers check themselves, and look back at their calls.

    Raises:
        ProtocolError: a handler is not a pure function.
    """
    if task.selfcheck == "off":
        return searched(task, self_checking)
    given = None if task.is_named else task.system.protocol
    with afresh(task.spec, given, selfcheck=task.selfcheck) as again:
        try:
            result = searched(task, self_checking)
        except ReplayError:
            _call_again(self_checking, again)  # it names the handler that is not pure, if one is
            raise
        if result.error is not None:
            return result
        if (end := interrupts.wanted()) is not None:
            return _unrepeated(result, end)
        try:
            _call_again(self_checking, again)
        except KeyboardInterrupt as interruption:
            return _unrepeated(result, interrupts.reason_of(interruption))
        statistics = {
            "selfcheck_seconds": seconds_spent(self_checking.protocol),
            "selfcheck_in_new_processes": again.outcome,
        }
        return evolve(result, statistics={**result.statistics, **statistics})


def _call_again(self_checking: System, again: Afresh) -> None:
    """Repeat calls of the search, in this process and in new ones.

    Raises:
        ProtocolError: a handler is not a pure function.
    """
    repeat_afresh(self_checking.protocol, again)
    look_back(self_checking.protocol)


def _unrepeated(result: Result, reason: str) -> Result:
    """Return a result whose self-check was ended: nothing HOLDS, but a violation is one."""
    if result.verdict is Verdict.VIOLATED or result.stopped_by is not None:
        return result
    return evolve(
        result,
        verdict=Verdict.INCOMPLETE,
        properties=dict.fromkeys(result.properties, Verdict.INCOMPLETE),
        stopped_by=f"{reason}, while the self-check repeated calls",
    )


def self_checking(system: System, mode: str) -> System:
    """Return `system` with a protocol whose handlers check themselves as they are called.

    Raises:
        InputError: there is no such mode.
    """
    protocol = watched(system.protocol, mode)
    if isinstance(system, EndlessSystem):
        repeats = system.network.duplicates or protocol.timeout is not None
        protocol = with_opaque_messages(protocol, system.protocol, repeats=repeats)
    properties = tuple(_self_checking(prop, protocol, system) for prop in system.properties)
    if system.crashes is not None:
        properties = tuple(map(of_live_actors, properties))
    limits = tuple(watched_limit(protocol, limit) for limit in system.limits)
    return evolve(system, protocol=protocol, properties=properties, limits=limits)


def _self_checking(prop: Property, protocol: Protocol, system: System) -> Property:
    """Return a property of `protocol` or of a user with a predicate that checks itself."""
    if is_declared(prop.name):
        return judged_by(protocol, [prop.name], system.workload)[0]
    return prop if prop.name in property_names() else watched_property(protocol, prop)


def confirmed(task: Task, result: Result) -> Result:
    """Confirm that a handler fails: find a run to the failure in plain Python.

    The exploration loop has already replayed every other counterexample.
    """
    if not result.failed:
        return result
    searches = _failure_searches(task.options)
    try:
        run = run_to_failure(task.system, searches, task.bounds, task.watch)
    except ReplayError:  # the handler did not fail again, for example because of a thread
        return result
    if run is None:
        return result
    refuse_merged(run)
    failure = failure_in(run.last.actors)
    if failure is None or not failure.traceback:  # the self-check says more about a wrong result
        return evolve(result, counterexample=run)
    return evolve(result, counterexample=run, error=failure.error)  # the search met another call


def _failure_searches(options: Options) -> tuple[Callable[[System], Explorer], ...]:
    """Return the searches for a failing handler: breadth-first, then the one that met it."""
    kept = evolve(options.unsaved, traces=True, forget="auto")
    first = evolve(kept, search="breadth")
    tried = (first,) if options.search == "breadth" else (first, kept)
    return tuple(partial(explorer_at_once, options=each) for each in tried)


def explained(task: Task, result: Result, extras: Extras) -> CheckReport:
    """Explain the result: compare it with the expectation, and add the extras."""
    system = task.system
    result = doubted(system, result)
    result = evolve(
        result,
        conditions=(*result.conditions, *_conditions(system, result)),
        statistics={**result.statistics, **_repeat(task.options), **task.statistics},
        never=never_seen(system, result),
    )
    if extras.minimise and result.counterexample is not None:
        result = evolve(result, counterexample=minimise(result.counterexample))
    return CheckReport(task.spec, task.options, system, result, differences(task.spec, result))


def _conditions(system: System, result: Result) -> list[str]:
    """Return the condition of a verdict if the author of a protocol chose its equal states."""
    unmerged = system.protocol.unmerged
    decided = result.verdict in (Verdict.HOLDS, Verdict.VACUOUS, Verdict.VIOLATED)
    if unmerged is None or not decided:
        return []
    condition = unmerged.condition()
    return [] if condition is None or _is_shown_by_steps(system, result) else [condition]


def _is_shown_by_steps(system: System, result: Result) -> bool:
    """Return whether the steps of the counterexample show the violation by themselves.

    A missing witness, a cycle and recoverability also depend on the equality of states. So does a
    final state if a transition that leads to an equal state is left out.
    """
    run = result.counterexample
    if run is None or run.loop is not None or not run.compared:
        return False
    leaves_out = system.protocol.timeout is not None or system.network.duplicates
    violated = [prop for prop in system.properties if prop.name == run.violates]
    return not any(prop.later or (prop.final and leaves_out) for prop in violated)


def _repeat(options: Options) -> dict[str, Any]:
    """Return the options that repeat a random search."""
    if options.search != "random":
        return {}
    return {"walks": options.walks, "seed": options.seed}
