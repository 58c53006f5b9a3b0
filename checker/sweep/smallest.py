"""The smallest bound that lets a protocol violate a property: from few messages to many.

A search goes through *levels*. A level is all questions with the same number of messages in total
and the same number of actors. Levels with fewer messages come first. If two levels have equally
many messages, the level with fewer actors comes first. The search completes each level and stops at
the first level that has a violation. If a level has several violations, it reports the violation
with the shortest counterexample.

For messages with one destination, the questions of a level are its scripts. Every run with k
messages follows one of the scripts of k messages, so together they are as strong as free choice,
and each of them is small. A script that renames the actors of another one is skipped, unless the
check of that one shows that names of actors matter.

Question: How is the smallest bound found that reveals a bug?
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.check.exploring import until
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.rows.symmetry import group
from antecede.checker.render.prose import listed
from antecede.checker.render.ticker import Ticker
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import has_options, options_of
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import CapacityError, InputError
from antecede.checker.support.registry import is_object
from antecede.checker.sweep.kept import Row
from antecede.checker.sweep.processes import Workers
from antecede.checker.sweep.renamings import Renamings
from antecede.checker.sweep.sweep import asked_for, in_workers, kept_in, row_of, sweep

Script: TypeAlias = tuple[tuple[int, ...], ...]
"""Per actor the destinations of its messages, in order."""

ACTORS = (2, 3, 4)
"""The numbers of actors to try by default."""

MESSAGES = 4
"""The greatest number of messages in total to try by default."""

SCRIPTED = ("any", "script")
"""Workloads whose runs are the runs of scripts."""

SIZED = ("broadcast", "multicast", "self")
"""Workloads that are tried as they are, with different numbers of messages per actor."""


def scripts(actors: int, messages: int, *, renamed: bool = False) -> Iterator[Script]:
    """Yield the scripts with exactly `messages` messages in total.

    Of scripts that differ only in the names of actors, one is yielded: the first actor sends the
    most messages, and the tuple is the smallest. With `renamed`, all scripts are yielded, also
    those that rename the actors of another script. `group` makes the renamings.
    """
    renamings = group(actors)
    for lengths in product(range(messages, -1, -1), repeat=actors):
        if sum(lengths) != messages:
            continue
        orders = [tuple(lengths[p.index(i)] for i in range(actors)) for p in renamings]
        if not renamed and lengths != max(orders):
            continue
        keeping = [p for p, order in zip(renamings, orders, strict=True) if order == lengths]
        for script in _of_lengths(lengths):
            if renamed or all(script <= renaming(script, p) for p in keeping):
                yield script


def _of_lengths(lengths: Sequence[int]) -> Iterator[Script]:
    """Yield the scripts that let actor i send lengths[i] messages."""
    others = [[j for j in range(len(lengths)) if j != i] for i in range(len(lengths))]
    yield from product(*(product(others[i], repeat=n) for i, n in enumerate(lengths)))


def renaming(script: Script, p: Sequence[int]) -> Script:
    """Return a script with actor i renamed to p[i]."""
    rows: list[tuple[int, ...]] = [()] * len(script)
    for actor, destinations in enumerate(script):
        rows[p[actor]] = tuple(p[j] for j in destinations)
    return tuple(rows)


def compared_row(spec: Spec, options: Options, bounds: Bounds) -> Row:
    """Run one check and return its row, with how names of actors matter to it."""
    renamings = Renamings()
    row = row_of(spec, options, bounds, renamings.watching)
    return {**row, "names_matter": renamings.difference}


@frozen
class Level:
    """The questions with the same numbers of messages and actors."""

    messages: int
    actors: int
    specs: tuple[Spec, ...]

    @property
    def size(self) -> str:
        """The bound in words."""
        return size(self.messages, self.actors)

    def renamings_of(self, workloads: Collection[str]) -> tuple[Spec, ...]:
        """Return the scripts that only rename the actors of these scripts of the level."""
        known = {spec.workload for spec in self.specs}
        found = {
            one.workload: one
            for spec in self.specs
            if spec.workload in workloads and spec.workload.startswith(SCRIPT)
            for p in group(self.actors)
            if (one := scripted(spec, renaming(_script(spec.workload), p))).workload not in known
        }
        return tuple(found.values())


def size(messages: int, actors: int) -> str:
    """Return a bound in words."""
    return f"{counted(messages, 'message')} among {actors} actors"


def check_question(spec: Spec) -> None:
    """Refuse a question that cannot be asked, or whose workload has no sizes to try.

    Raises:
        InputError: something in it is unknown, or it has such a workload.
    """
    if spec.workload.partition(":")[0] not in (*SCRIPTED, *SIZED):
        raise InputError(
            f"--smallest cannot vary the workload {spec.workload!r}; give --workload with one of: "
            f"{', '.join((*SCRIPTED, *SIZED))}"
        )
    system_of(evolve(spec, workload="any"))


def levels(
    spec: Spec, actors: Sequence[int], most: int, *, renamed: bool = False
) -> Iterator[Level]:
    """Yield the levels of a question in their order.

    Args:
        spec: the question; its numbers of actors and messages are replaced.
        actors: the numbers of actors to try.
        most: the greatest number of messages in total.
        renamed: also yield scripts that rename the actors of another script.
    """
    kind = spec.workload.partition(":")[0]
    for messages, number in product(range(1, most + 1), sorted(set(actors))):
        if kind in SIZED:
            each, rest = divmod(messages, number)
            if not rest:
                yield Level(messages, number, (evolve(spec, actors=number, messages=each),))
            continue
        found = scripts(number, messages, renamed=renamed)
        yield Level(messages, number, tuple(scripted(spec, script) for script in found))


SCRIPT = "script:"
"""How the text of a script's workload begins."""


def scripted(spec: Spec, script: Script) -> Spec:
    """Return the question about one script."""
    text = SCRIPT + json.dumps(script, separators=(",", ":"))
    return evolve(spec, actors=len(script), messages=sum(map(len, script)), workload=text)


def _script(workload: str) -> Script:
    """Return the script of a workload."""
    return tuple(map(tuple, json.loads(workload.removeprefix(SCRIPT))))


def rows_of(level: Level, run: Callable[[Sequence[Spec]], list[Row]]) -> list[Row]:
    """Return the rows of a level, including renamings of the scripts to which names matter.

    `run` returns the rows of some checks. A row says in `names_matter` whether names matter to its
    check. The row of a sweep without --smallest does not say so; then they may.
    """
    rows = run(level.specs)
    differing = {row["workload"] for row in rows if row.get("names_matter", "not compared")}
    return rows + run(level.renamings_of(differing))


@frozen
class Smallest:
    """The result of a search for the smallest numbers of actors and messages that show a violation.

    Attributes:
        question: the protocol and the other settings, without the numbers of actors and messages.
        level: the smallest numbers that show a violation, or None.
        row: the row of the check that found the violation, or a function of the protocol that
            failed. None if there is no such check.
        explored: the rows of the checks of all smaller numbers.
        failures: the rows of `level` whose check ended because a function of the protocol failed.
        stopped_by: the reason why the search ended before it had an answer, or None.
    """

    question: Spec
    level: Level | None = None
    row: Row | None = None
    explored: tuple[Row, ...] = field(factory=tuple)
    failures: tuple[Row, ...] = field(factory=tuple)
    stopped_by: str | None = None

    @property
    def unfinished(self) -> list[Row]:
        """The rows of the checks without a verdict. One of them may hide a smaller violation."""
        return [row for row in self.explored if row["verdict"] not in ("HOLDS", "VACUOUS")]

    @property
    def vacuous(self) -> list[Row]:
        """The rows of the checks without any event that the property is about."""
        return [r for r in self.explored if r["verdict"] == "VACUOUS" and not cannot_fail(r)]

    @property
    def empty(self) -> list[Row]:
        """The rows of the checks in which no protocol can violate some property."""
        return list(filter(cannot_fail, self.explored))

    @property
    def decided(self) -> bool:
        """The bound is the smallest one, or nothing within the limits is violated."""
        if self.row is not None:
            return not self.unfinished
        empty = len(self.empty) == len(self.explored)
        return not (self.stopped_by or self.unfinished or self.vacuous or empty)


def cannot_fail(row: Row) -> bool:
    """Return whether no protocol can violate a property with the messages of a check.

    A level has many scripts with so few messages. So they are counted, and decide nothing.
    """
    names = row.get("cannot_fail")
    return bool(names) and row.get("vacuous") == names


def smallest(spec: Spec, todo: Iterator[Level], run: Callable[[Level], list[Row]]) -> Smallest:
    """Return the smallest violation of a question.

    The levels `todo` are in their order. `run` returns the rows of a level's checks; it raises
    CapacityError when the time is over.
    """
    explored: list[Row] = []
    try:
        for level in todo:
            rows = run(level)
            failures = tuple(row for row in rows if row["verdict"] == "ERROR")
            found = [row for row in rows if row["verdict"] == "VIOLATED"] or failures
            if found:
                return Smallest(spec, level, min(found, key=_length), tuple(explored), failures)
            explored += rows
    except CapacityError as end:
        return Smallest(spec, explored=tuple(explored), stopped_by=str(end))
    return Smallest(spec, explored=tuple(explored))


def _length(row: Row) -> tuple[int, str]:
    """Order short counterexamples before long ones."""
    return row.get("counterexample_length") or 0, str(row["workload"])


@frozen
class Search:
    """A search for smallest bounds.

    Attributes:
        actors: the numbers of actors to try.
        most: the greatest number of messages in total.
        bounds: `max_seconds` limits each search, the others limit each check.
        processes: the number of checks that run at once.
        file: the file that keeps the rows of the checks.
        told: takes a line on each level that was completed.
    """

    actors: tuple[int, ...]
    most: int
    options: Options
    bounds: Bounds
    processes: int
    file: Path
    ticker: Ticker
    told: Callable[[str], None]

    def of(self, specs: Sequence[Spec]) -> Iterator[Smallest]:
        """Yield the result for each question."""
        for spec in specs:
            check_question(spec)
        with Workers(self.processes) as workers, kept_in(self.file).noted():
            for spec in specs:
                run = partial(self._rows, workers, until(self.bounds.max_seconds))
                yield smallest(spec, levels(spec, self.actors, self.most, renamed=self._all), run)

    @property
    def _all(self) -> bool:
        """All scripts are explored, so that it does not matter whether names matter."""
        return self.options.symmetry is False

    def _rows(self, workers: Workers, end: Callable[[], None], level: Level) -> list[Row]:
        """Return the rows of a level; run the checks whose rows are not in the file.

        Raises:
            CapacityError: the time is over.
        """
        rows = rows_of(level, partial(self._checked, workers, end, level))
        verdicts = Counter(
            "that cannot fail" if cannot_fail(row) else str(row["verdict"]) for row in rows
        )
        shown = ", ".join(f"{number:,} {verdict}" for verdict, number in verdicts.items())
        self.told(f"{level.specs[0].protocol}, {level.size}: {shown}")
        return rows

    def _checked(
        self, workers: Workers, end: Callable[[], None], level: Level, specs: Sequence[Spec]
    ) -> list[Row]:
        end()
        bounds = evolve(self.bounds, max_seconds=None)
        run = partial(
            in_workers,
            workers=workers,
            ticker=self.ticker,
            what=f"{level.size}: ",
            until=end,
            row_of=row_of if self._all else compared_row,
        )
        rows = asked_for(specs, self.file, self.options, bounds)
        return rows + list(sweep(specs, run, self.file, self.options, bounds))


def text(found: Smallest) -> str:
    """Return the result as a few lines."""
    spec, row = found.question, found.row
    head = f"{spec.protocol} on {spec.network}" if spec.network else spec.protocol
    if found.level is None or row is None:
        end = f" The search ended early: {found.stopped_by}." if found.stopped_by else ""
        lines = [f"{head}: {_nothing(found)}{end}"]
    else:
        lines = [f"{head}: {row['verdict']} at {found.level.size}", *_failure(found.level, row)]
        if found.failures and row not in found.failures:
            lines += _failure(found.level, found.failures[0])
        if found.explored:
            lines.append(f"  No smaller bound is violated: {_amount(found.explored)}.")
    if found.unfinished:
        lines.append(
            f"  {counted(len(found.unfinished), 'smaller check')} reached no verdict, so a smaller "
            "bound may be violated."
        )
    if found.empty:
        names = {name for row in found.empty for name in row["cannot_fail"].split(",")}
        lines.append(
            f"  In {len(found.empty):,} of these checks, no order of the messages can violate "
            f"{listed(sorted(names))}."
        )
    if found.level is None and (within := _collection(found)):
        lines.append(f"  {within}")
    if found.vacuous:
        lines.append(f"  {counted(len(found.vacuous), 'check')} ended with VACUOUS.")
    return "\n".join(lines)


def _nothing(found: Smallest) -> str:
    """Return the result of a search that found no violation, as a sentence."""
    if not found.explored:
        return "no level was completed."
    reached = max((_total(row), row["actors"]) for row in found.explored)
    return f"no violation up to {size(*reached)} ({_amount(found.explored)})."


KNOWN_BUGS = Path(__file__).with_name("known_bugs.json")
"""Per bug of the collection in docs/bounds.md, the smallest bounds that reveal it.

`benchmarks/smallest.py` writes the file. A bound is [messages of all actors, actors]. The bugs are
those of protocols for messages with one receiver, and violate a property of deliveries.
"""


def share(bounds: Collection[tuple[int, int]]) -> float:
    """Return the share of known bugs that some of these bounds reveal, from 0 to 1.

    Args:
        bounds: (messages of all actors, actors) of each bound.
    """
    known: list[list[tuple[int, int]]] = json.loads(KNOWN_BUGS.read_text(encoding="utf-8"))
    shown = [
        any(m <= most and a <= actors for m, a in bug for most, actors in bounds) for bug in known
    ]
    return sum(shown) / len(known)


def _collection(found: Smallest) -> str:
    """Return how many known bugs the explored bounds reveal, in a sentence, or ""."""
    usual = found.question.workload in SCRIPTED and not found.question.properties
    if not usual or not found.explored or found.unfinished:
        return ""
    bounds = {(_total(row), row["actors"]) for row in found.explored}
    percent = f"{100 * share(bounds):.0f} %"
    return f"{percent} of the bugs of our collection show within this bound (docs/bounds.md)."


def _total(row: Row) -> int:
    """Return the number of messages of all actors; a script's row has this number."""
    messages: int = row["messages"]
    return messages if str(row["workload"]).startswith("script:") else messages * row["actors"]


def _failure(level: Level, row: Row) -> list[str]:
    """Return lines on the violated check, with the command that repeats it."""
    if row["verdict"] == "ERROR":
        return [f"  {row['workload']}: {row['error']}"]
    spec = evolve(level.specs[0], workload=row["workload"])
    told = shlex.join([spec.protocol, *(word for pair in options_of(spec) for word in pair)])
    length = counted(row["counterexample_length"], "transition")
    violated = f"  {row['workload']} violates {row['violates']} after {length}."
    # No command finds a protocol that a program gave.
    if is_object(spec.protocol) or not has_options(spec):
        return [violated]
    return [violated, f"  See the run: antecede check {told}"]


def _amount(rows: Sequence[Row]) -> str:
    states = sum(row.get("unique_states") or 0 for row in rows)
    return f"{counted(len(rows), 'check')}, {counted(states, 'state')}"
