"""Decides claims within bounds: runs the checks and measurements that they rest on."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from attrs import define, evolve, field, frozen

from antecede.checker.check.exploring import limited, until
from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport, differences
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol
from antecede.checker.papers.claims.claim import (
    LAWS,
    Check,
    Claim,
    Evidence,
    Relation,
    Ruling,
    Runs,
    Source,
    Unchecked,
)
from antecede.checker.papers.claims.measures import Measures, measure
from antecede.checker.papers.computations.placement import MESSAGES, placed
from antecede.checker.papers.computations.report import verdict as sentence
from antecede.checker.paths.path import Path, replay
from antecede.checker.render.prose import length_text
from antecede.checker.render.text import growth_line
from antecede.checker.search.loop import Progress
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import LimitReached, Verdict
from antecede.checker.semantics.question import Question, as_asked, options_of
from antecede.checker.support import interrupts
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import CapacityError, InputError
from antecede.checker.support.extras import check_installed
from antecede.checker.support.registry import load, protocol_named

SIZES = (2, 3, 4)
"""The numbers of actors for which a law is measured; `--quick` leaves out the last one."""

QUICK_PROGRAMS = 2
"""The number of messages of all programs of the tree paper that `--quick` explores at most."""


@frozen(eq=False)
class Finding:
    """The result of one piece of evidence.

    Attributes:
        ruling: the ruling by this evidence alone.
        command: the command that repeats it; empty if nothing was run.
        path: a counterexample or a run to a bound, or None.
        report: the report of the check that found the path, or None.
    """

    ruling: Ruling
    command: str
    text: str
    path: Path | None = None
    report: CheckReport | None = None
    seconds: float = 0.0


@frozen(eq=False)
class Judged:
    """A claim with the results of its evidence."""

    source: str
    claim: Claim
    findings: tuple[Finding, ...]

    @property
    def ruling(self) -> Ruling:
        """The worst ruling of all evidence: REFUTED, UNDECIDED, CONSISTENT, then CONFIRMED."""
        rulings = {finding.ruling for finding in self.findings}
        for worst in (Ruling.REFUTED, Ruling.UNDECIDED, Ruling.CONSISTENT):
            if worst in rulings:
                return worst
        return Ruling.CONFIRMED

    @property
    def reason(self) -> str:
        """The reason why it is undecided; empty if it is decided."""
        if self.ruling is not Ruling.UNDECIDED:
            return ""
        return "; ".join(f.text for f in self.findings if f.ruling is Ruling.UNDECIDED)


Named = Callable[[str], Protocol]
"""A function from names to protocols; tests inject seeded bugs here."""


@define(eq=False)
class Judge:
    """Runs evidence, and each check or measurement only once.

    Attributes:
        quick: whether to use the smaller bounds.
        named: returns the protocol of a name.
        failed: whether a handler failed in a check whose claim does not say that it does.
    """

    options: Options
    bounds: Bounds
    quick: bool = False
    watch: Callable[[Spec, Progress], None] = lambda _spec, _progress: None
    named: Named = protocol_named
    interrupted: bool = False
    failed: bool = False
    _reports: dict[tuple[Question, tuple[str, ...]], CheckReport] = field(factory=dict)
    _measures: dict[Question, Measures | str] = field(factory=dict)

    def judged(self, source: Source) -> Iterator[Judged]:
        """Decide the claims of a source one by one; an interruption ends it."""
        for claim in source.claims:
            findings = tuple(self.finding(evidence, claim.key) for evidence in claim.evidence)
            yield Judged(source.name, claim, findings)
            if self.interrupted:
                return

    def finding(self, evidence: Evidence, key: str = "") -> Finding:
        """Run one piece of evidence of the claim with this key, within the bounds.

        A name that this version does not know leaves the claim open.
        """
        if isinstance(evidence, Unchecked):
            return Finding(Ruling.UNDECIDED, "", evidence.reason)
        if isinstance(evidence, Runs):
            return Finding(Ruling.UNDECIDED, "", "rows of antecede simulate decide it")
        started = time.monotonic()
        try:
            with limited(self.bounds):
                outcome = self._run(evidence, key)
        except InputError as error:
            outcome = Finding(Ruling.UNDECIDED, "", str(error))
        except KeyboardInterrupt as end:
            outcome = Finding(Ruling.UNDECIDED, "", interrupts.reason_of(end))
            self.interrupted = interrupts.is_interruption(outcome.text)
        return evolve(outcome, seconds=time.monotonic() - started)

    def _run(self, evidence: Check, key: str) -> Finding:
        table, spec = evidence.table, evidence.spec
        if "statement" in table:
            return self._stated(evidence, f"antecede claims --claim {key}")
        if "proof" in table:
            return _judged_proof(table["proof"], fails=table.get("fails", False))
        if "law" in table:
            return self._growth(evidence, f"antecede claims --claim {key}")
        if self.quick and evidence.quick is not None:
            spec = evidence.quick
        if "generates_all" in table:
            return self._placed(spec, table["generates_all"], table["generates_only"])
        if "kept" in table:
            return _judged_kept(self._report(spec), evidence.relation[0])
        if "raises" in table:
            return _judged_failure(self._report(spec, may_fail=True), table["raises"])
        if not table.keys() & {"measure", "control_packets", "final_invariants"}:
            return _judged_check(self._report(spec), within=table.get("within", False))
        found = self._measured(spec)
        command = f"antecede claims --claim {key}"
        if isinstance(found, str):
            return Finding(Ruling.UNDECIDED, command, f"{question_of(spec)}: not measured: {found}")
        ruling, text = _compared(evidence, found)
        states = counted(found.states, "state")
        return Finding(ruling, command, f"{question_of(spec)}: {text} ({states})")

    def _stated(self, evidence: Check, command: str) -> Finding:
        """Explore the paper's configurations. A run from the empty one is also one of `tree`."""
        name, fails = evidence.table["statement"], evidence.table.get("fails", False)
        placed = tuple(map(tuple, evidence.table.get("placed", ())))
        system = system_of(evidence.spec, self.named(evidence.spec.protocol))
        nodes = [system.protocol.initial(actor, system.actors) for actor in range(system.actors)]
        programs = evidence.table.get("programs", 0)
        program = min(programs, QUICK_PROGRAMS if self.quick else programs) or _script(
            evidence.spec
        )
        explored_from = load("antecede.protocols.tree_lemmas:explored_from")
        found = explored_from(nodes, program, name, placed)
        if found.run is None:
            text = f"{name} holds ({counted(found.configurations, 'configuration')})"
            return Finding(Ruling.UNDECIDED if fails else Ruling.CONFIRMED, command, text)
        text = f"{name} fails {found.contradiction}"
        taken = [step.transition for step in found.run if step.transition is not None]
        path = None if placed else replay(system, taken)
        return Finding(Ruling.CONFIRMED if fails else Ruling.REFUTED, command, text, path)

    def _placed(self, spec: Spec, lower: str, upper: str) -> Finding:
        """Enumerate the computations that a protocol generates, in small programs."""
        command = shlex.join(["antecede", "classes", spec.protocol, "--actors", str(spec.actors)])
        found = placed(spec, ("any",), MESSAGES, self.bounds, self.named(spec.protocol))
        if found.stopped_by is not None:
            return Finding(Ruling.UNDECIDED, command, f"INCOMPLETE: {found.stopped_by}")
        lies_between = lower in found.contained and upper in found.containing
        size = f"{found.programs} programs, {counted(sum(found.every), 'computation')}"
        ruling = Ruling.CONSISTENT if lies_between else Ruling.REFUTED
        return Finding(ruling, command, f"{sentence(found).rstrip('.')} ({size})")

    def _report(self, spec: Spec, *, may_fail: bool = False) -> CheckReport:
        key = (as_asked(spec), spec.bound)
        if key not in self._reports:
            self._reports[key] = check(
                spec,
                self.options,
                self.bounds,
                protocol=self.named(spec.protocol),
                selfcheck="off",
                watch=lambda progress: self.watch(spec, progress),
            )
        known = self._reports[key]
        report = evolve(known, spec=spec, differences=differences(spec, known.result))
        self.interrupted = self.interrupted or report.interrupted
        self.failed |= known.result.verdict is Verdict.ERROR and not may_fail
        return report

    def _growth(self, evidence: Check, command: str) -> Finding:
        """Measure every size. A value above the law leaves the claim undecided."""
        table, values, agrees = evidence.table, [], True
        name, law, factor = table["measure"], table["law"], table.get("factor", 1)
        sizes = tuple(table.get("sizes", SIZES))
        for actors in (sizes[:-1] if self.quick else ()) or sizes:
            spec = evolve(evidence.spec, actors=actors)
            found = self._measured(spec)
            if isinstance(found, str):
                return Finding(
                    Ruling.UNDECIDED, command, f"{question_of(spec)}: not measured: {found}"
                )
            value, most = getattr(found, name), factor * LAWS[law](actors, found)
            agrees = agrees and value <= most
            values.append(f"{value} of {most} for {actors} actors")
        bound = law if factor == 1 else f"{factor}·({law})"
        what = f"{question_of(spec)}: {name.replace('_', ' ')}"
        text = f"{what}, at most {bound}: {', '.join(values)}"
        return Finding(Ruling.CONSISTENT if agrees else Ruling.UNDECIDED, command, text)

    def _measured(self, spec: Spec) -> Measures | str:
        """Return the measures, or the reason why there are none."""
        key = as_asked(evolve(spec, properties=()))
        if key not in self._measures:
            system = system_of(spec, self.named(spec.protocol))
            try:
                look = until(self.bounds.max_seconds)
                self._measures[key] = measure(system, lambda _states: look())
            except CapacityError as limit:
                self._measures[key] = str(limit)
        return self._measures[key]


def _script(spec: Spec) -> list[list[int]]:
    """Return the destinations of each actor's messages, for the workload `script`."""
    program: list[list[int]] = json.loads(spec.workload.removeprefix("script:"))
    return program


def _judged_check(report: CheckReport, *, within: bool = False) -> Finding:
    """Return the finding of a check, which compares its verdict with the claim.

    With `within`, the claim is only about the runs within the bounds of `--bound`.
    """
    result, spec = report.result, report.spec
    command = command_of(spec)
    counts = result.size
    path = result.counterexample
    if result.verdict is Verdict.INCOMPLETE:
        if within and isinstance(result.stopped_by, LimitReached):
            states = counted(counts.unique_states, "state")
            text = f"no violation within the bounds, which some runs exceed ({states})"
            return Finding(Ruling.CONFIRMED, command, text)
        text = f"INCOMPLETE: {result.stopped_by}"
        return Finding(Ruling.UNDECIDED, command, text)
    if result.verdict is Verdict.VACUOUS:
        why = " and ".join(dict.fromkeys(result.vacuous.values()))
        return Finding(Ruling.UNDECIDED, command, f"VACUOUS: {why}")
    if result.verdict is Verdict.ERROR:
        return Finding(Ruling.UNDECIDED, command, f"ERROR: {result.error}")
    as_claimed = Ruling.CONFIRMED if report.as_expected else Ruling.REFUTED
    if result.verdict is Verdict.HOLDS:
        if spec.expect.verdict is Verdict.VIOLATED:
            text = f"no violation within these bounds ({counted(counts.unique_states, 'state')})"
            return Finding(Ruling.UNDECIDED, command, text)
        text = f"HOLDS ({counted(counts.unique_states, 'state')})"
        return Finding(as_claimed, command, " if ".join([text, *result.conditions]))
    names = [name for name, verdict in result.properties.items() if verdict is Verdict.VIOLATED]
    length = "" if path is None else f" after {length_text(path)}"
    text = f"{', '.join(names)} VIOLATED{length}"
    return Finding(as_claimed, command, text, path, report)


def _judged_proof(name: str, *, fails: bool) -> Finding:
    """Return the finding of the proof of a model; a proof that fails decides nothing.

    Raises:
        InputError: Z3 is not installed.
    """
    check_installed("prove", "a proof")
    with interrupts.looking():  # importing z3 takes a while
        model = load("antecede.checker.prove.front:model_named")(name)
        proof = load("antecede.checker.prove.obligations:prove")(model)
    ruling = Ruling.REFUTED if fails else Ruling.CONFIRMED
    return Finding(
        ruling if str(proof.answer) == "PROVED" else Ruling.UNDECIDED,
        f"antecede prove {name}",
        f"{proof.answer}: {model.safety.name}, for every number of actors and messages",
    )


def _judged_failure(report: CheckReport, exception: str) -> Finding:
    """Return the finding of a check in which a handler should raise an exception."""
    result, command = report.result, command_of(report.spec)
    if result.failed and f" raised {exception}" in str(result.error):
        path = result.counterexample
        length = "" if path is None else f" in step {path.length}"
        return Finding(
            Ruling.CONFIRMED, command, f"a handler raises {exception}{length}", path, report
        )
    return Finding(Ruling.UNDECIDED, command, f"no handler raised {exception}: {result.verdict}")


def _judged_kept(report: CheckReport, relation: Relation) -> Finding:
    """Return the finding of a search under a bound, which an actor may have reached."""
    result, command = report.result, command_of(report.spec)
    bound = report.spec.bound[-1]
    run = next((growth for growth in result.grown if growth.limit.text == bound), None)
    if run is not None:
        ruling = Ruling.REFUTED if relation is Relation.AT_MOST else Ruling.CONFIRMED
        return Finding(ruling, command, growth_line(run), report.run, report)
    if result.verdict is Verdict.HOLDS:
        ruling = Ruling.CONFIRMED if relation is Relation.AT_MOST else Ruling.UNDECIDED
        states = counted(result.counts.unique_states, "state")
        return Finding(ruling, command, f"no actor reaches {bound} ({states})")
    reason = result.stopped_by or result.error or result.verdict
    return Finding(Ruling.UNDECIDED, command, f"{bound} was not seen: {reason}")


def _compared(evidence: Check, found: Measures) -> tuple[Ruling, str]:
    """Return the ruling by some measures, and a text about them."""
    table = evidence.table
    if "measure" in table:
        return _compared_value(table["measure"], *evidence.relation, found)
    if "control_packets" in table:
        return _compared_kinds(set(table["control_packets"]), found)
    names = table["final_invariants"]
    broken = [name for name in names if not found.final_invariants[name]]
    if broken:
        return Ruling.REFUTED, f"some run ends, and then {_for_all_actors(broken, holds=False)}"
    if not found.acyclic:
        return Ruling.UNDECIDED, "runs need not end"
    return Ruling.CONFIRMED, f"every run ends, and then {_for_all_actors(names, holds=True)}"


def _for_all_actors(names: Sequence[str], *, holds: bool) -> str:
    """Return whether predicates hold, as a clause: the predicate `sent` holds for all actors."""
    quoted = " and ".join(f"`{name}`" for name in names)
    if len(names) == 1:
        return f"the predicate {quoted} {'holds' if holds else 'does not hold'} for all actors"
    return f"the predicates {quoted} {'hold' if holds else 'do not hold'} for all actors"


def _compared_value(
    name: str, relation: Relation, claimed: int, found: Measures
) -> tuple[Ruling, str]:
    value = getattr(found, name)
    text = f"{name.replace('_', ' ')}: {value}, claimed {relation} {claimed}"
    if value > claimed and relation is not Relation.AT_LEAST:
        return Ruling.REFUTED, text
    if value < claimed and relation is not Relation.AT_MOST:
        return Ruling.UNDECIDED, text
    return Ruling.CONFIRMED, text


def _compared_kinds(claimed: set[str], found: Measures) -> tuple[Ruling, str]:
    kinds = set(found.control_kinds)
    text = f"control packets: {', '.join(sorted(kinds)) or 'none'}"
    if kinds - claimed:
        return Ruling.REFUTED, text
    if claimed - kinds:
        return Ruling.UNDECIDED, f"{text}; no {', '.join(sorted(claimed - kinds))} in these bounds"
    return Ruling.CONFIRMED, text


def question_of(spec: Spec) -> str:
    """Return the protocol that is measured, with the options of its system."""
    asked = evolve(spec, properties=())
    return shlex.join([spec.protocol, *chain.from_iterable(options_of(asked))])


def command_of(spec: Spec) -> str:
    """Return the command that repeats a check."""
    words = ["antecede", "check", spec.protocol, *chain.from_iterable(options_of(spec))]
    words += chain.from_iterable(("--bound", bound) for bound in spec.bound)
    if spec.bounds.max_states is not None:
        words += ["--max-states", str(spec.bounds.max_states)]
    if spec.expect.verdict is Verdict.VIOLATED:
        words += ["--expect", "violated"]
    return shlex.join(words)
