"""Runs all mutants, and writes docs/mutants.md and tests/mutants/detected.md.

The page has the scores. The other file has a row per mutant with the check that detects it.

python -m tests.mutants.run          # minutes on two cores
python -m tests.mutants.run cykas    # one protocol; writes nothing
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from attrs import frozen

from antecede.checker.render.files import write_whole
from antecede.checker.support.amounts import counted
from antecede.checker.support.registry import protocol_named
from tests.mutants.mutant import (
    FILES,
    ROOT,
    Mutant,
    Mutants,
    Outcome,
    detected,
    label,
    mutants_in,
    mutated,
    without_end,
)

PAGE = ROOT / "docs" / "mutants.md"
ROWS = ROOT / "tests" / "mutants" / "detected.md"
LEAST_SCORE = 0.95

HEAD = """# Mutants: which bugs do the checks detect?

A passing check is only as convincing as the bugs that it would catch. So we put bugs into correct
protocols on purpose, and see whether the checks find them. A *mutant* is a protocol with one small
deliberate change, such as a dropped condition or a forgotten update. Read this page before you
trust a verdict on one of these protocols, or to choose bounds for your own protocol.

```sh
python -m tests.mutants.run fifo   # the mutants of one protocol
make mutants                       # all of them; writes this page and the rows
```

We check each mutant within the bounds of a check that the real protocol passes. The check *detects*
the mutant if it finds a violation, if a function of the mutant fails, or if it never ends. If the
check does not detect a mutant, there are two possible explanations:

* *equivalent*: no property can distinguish the mutant from the real protocol.
* *needs*: only a larger check detects the mutant. Its row names this check and its result.

For each mutant, [the list of all mutants](../tests/mutants/detected.md) shows the change, and the
check that detects it.

The *score* of a protocol is the share of its mutants that our checks detect. Equivalent mutants do
not count, because no check can detect them. If a score is below 95 %, our checks are too weak, and
`make mutants` fails. It also fails if a mutant survives without an explanation, or if an
explanation is no longer true. The folder [tests/mutants](../tests/mutants) lists the mutants.
"""


ROWS_FROM_PAGE = "../tests/mutants/detected.md"
ROWS_HEAD = (
    """[Mutants](../../docs/mutants.md) explains the words. `make mutants` writes this file."""
)


@frozen
class Judged:
    """The results of the checks for one mutant, or for the real protocol if `mutant` is None.

    Attributes:
        outcome: the outcome of the check that detects it, or None.
        deeper: the outcome of its larger checks, or None.
        unfinished: the checks that were not completed.
    """

    protocol: str
    mutant: Mutant | None
    outcome: Outcome | None
    deeper: Outcome | None
    unfinished: tuple[str, ...]

    @property
    def problem(self) -> str:
        """A description of an unexpected result; empty if it is as expected."""
        if self.mutant is None:
            bad = bool(self.outcome or self.unfinished)
            return f"the real protocol: {self.words}" if bad else ""
        explanation = self.mutant.survives
        if self.outcome is not None:
            return f"it is detected, but said to survive: {explanation}" if explanation else ""
        if not explanation:
            return f"it survives unexplained {'; '.join(self.unfinished)}".strip()
        if self.unfinished:
            return f"it survives what came to no end: {'; '.join(self.unfinished)}"
        if explanation.startswith("needs ") and self.deeper is None:
            return "it survives the larger check, too"
        return ""

    @property
    def words(self) -> str:
        """The check that detects it, or the reason why none does."""
        if self.outcome is not None:
            return found_by(self.outcome)
        explanation = "" if self.mutant is None else self.mutant.survives
        if self.deeper is not None:
            return f"*{explanation}*; then: {found_by(self.deeper)}"
        return f"*{explanation}*" if explanation else "; ".join(self.unfinished)


def found_by(outcome: Outcome) -> str:
    """Return a check and its finding, in words."""
    length = "" if outcome.length is None else f", {counted(outcome.length, 'transition')}"
    return f"{label(outcome.spec)}: {outcome.found}{length}"


def judged(protocol: str, mutants: Mutants, mutant: Mutant | None) -> Judged:
    """Check one mutant, or the real protocol."""
    made = protocol_named(protocol) if mutant is None else mutated(protocol, mutant)
    if mutant is not None and mutant.endless is not None:
        ended = without_end(made, mutants.checks[0], mutant.endless)
        return Judged(protocol, mutant, ended, None, ())
    outcome, unfinished = detected(made, mutants.checks)
    deeper = None
    if outcome is None and mutant is not None and mutant.deeper:
        deeper, more = detected(made, mutant.deeper)
        unfinished += more
    return Judged(protocol, mutant, outcome, deeper, unfinished)


def run(files: Sequence[Path], processes: int) -> list[Judged]:
    """Check all mutants in `files` on several processes; return them in their order."""
    jobs = [
        (mutants.protocol, mutants, mutant)
        for mutants in map(mutants_in, files)
        for mutant in (None, *mutants.mutants)
    ]
    if processes == 1:
        return [judged(*job) for job in jobs]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        futures = [pool.submit(judged, *job) for job in jobs]
        for done, future in enumerate(as_completed(futures), 1):
            found = future.result()
            name = found.mutant.name if found.mutant else "(real)"
            problem = f"  {found.problem}" if found.problem else ""
            progress = f"{done}/{len(jobs)} {found.protocol} {name}{problem}"
            print(progress, file=sys.stderr, flush=True)
        return [future.result() for future in futures]


@frozen
class Score:
    """The numbers of mutants, of mutants that are not equivalent, and of detected ones."""

    mutants: int
    equivalent: int
    detected: int

    @property
    def score(self) -> float:
        """The share of detected mutants among those that are not equivalent."""
        return self.detected / max(1, self.mutants - self.equivalent)

    @property
    def cells(self) -> str:
        """For the table."""
        survivors = self.mutants - self.equivalent - self.detected
        numbers = (self.mutants, self.equivalent, self.detected, survivors)
        share = "100" if not survivors else f"{100 * self.score:.1f}"
        return " | ".join(map(str, numbers)) + f" | {share} %"


def score_of(found: Sequence[Judged]) -> Score:
    """Return the score of the mutants among what was judged."""
    mutants = [one for one in found if one.mutant is not None]
    equivalent = [
        one for one in mutants if one.mutant and one.mutant.survives.startswith("equivalent: ")
    ]
    caught = [one for one in mutants if one.outcome is not None and one not in equivalent]
    return Score(len(mutants), len(equivalent), len(caught))


def problems(found: Sequence[Judged]) -> list[str]:
    """Return all unexpected results in words."""
    wrong = [
        f"{one.protocol}, {one.mutant.name if one.mutant else 'unchanged'}: {one.problem}"
        for one in found
        if one.problem
    ]
    for protocol in dict.fromkeys(one.protocol for one in found):
        score = score_of([one for one in found if one.protocol == protocol]).score
        if score < LEAST_SCORE:
            wrong.append(f"{protocol}: the score is {100 * score:.0f} %")
    return wrong


def page(found: Sequence[Judged]) -> str:
    """Return the page: an introduction and the scores."""
    protocols = tuple(dict.fromkeys(one.protocol for one in found))
    parts = [HEAD, "| protocol | mutants | equivalent | detected | survive | score |"]
    parts.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    for protocol in protocols:
        cells = score_of([one for one in found if one.protocol == protocol]).cells
        parts.append(f"| [{protocol}]({ROWS_FROM_PAGE}#{protocol}) | {cells} |")
    parts.append(f"| all | {score_of(found).cells} |")
    return "\n".join(parts) + "\n"


def rows(found: Sequence[Judged]) -> str:
    """Return the file with a table per protocol: a row for each mutant."""
    parts = ["# The mutants and the checks that detect them", "", ROWS_HEAD]
    for protocol in dict.fromkeys(one.protocol for one in found):
        parts += section(protocol, [one for one in found if one.protocol == protocol])
    return "\n".join(parts) + "\n"


def section(protocol: str, found: Sequence[Judged]) -> list[str]:
    """Return the lines on one protocol."""
    file = next(file for file in FILES if file.stem == protocol)
    checks = ", ".join(dict.fromkeys(map(label, mutants_in(file).checks)))
    lines = ["", f"## {protocol}", "", f"Checks, in this order: {checks}.", ""]
    lines += ["| mutant | what it breaks | detected by |", "| --- | --- | --- |"]
    return lines + [row(one) for one in found if one.mutant is not None]


def row(one: Judged) -> str:
    """Return the row of one mutant."""
    assert one.mutant is not None
    return f"| {one.mutant.name} | {one.mutant.breaks} | {one.words} |"


def main() -> int:
    """Run what is asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("protocols", nargs="*", help="only these; then nothing is written")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    files = [file for file in FILES if not arguments.protocols or file.stem in arguments.protocols]
    found = run(files, arguments.processes)
    if arguments.protocols:
        print(page(found), rows(found), sep="\n")
    else:
        write_whole(str(PAGE), page(found))
        write_whole(str(ROWS), rows(found))
    wrong = problems(found)
    print("\n".join(wrong) or "everything as it should be", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
