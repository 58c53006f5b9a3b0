"""The job that the driver gives to tasks, and their reports."""

from __future__ import annotations

from collections import Counter
from typing import Any

from attrs import define, frozen

from antecede.checker.engine.spark.row_accounting import RowCounts
from antecede.checker.engine.spark.rows import BlockWeights, Expanded
from antecede.checker.engine.storage.arrays import Words


@frozen
class Job:
    """The instructions for every task of one job.

    Attributes:
        run: tells searches apart, because workers keep composites between tasks.
        number: tells the reports of jobs apart.
        owners: partitions.
        known: bit set of the properties not to report any more.
        links: whether states' links are wanted.
        advances: the level before is done; the next one is to be expanded.
        graded: every state has one depth only, so only the next level can be met again.
        weights: levels are sums of weights; without the depths of any states.
        least: the least progress in the level; visited states with less are dropped. Or, by weight,
            the least lead of the states that wait.
        folder: where tasks put what they send, if all of them are on this machine.
        stragglers: per partition, states that belong to the next level if they are new, with
            their links: the driver expanded their parents, which had missed table entries.
        settled: all stragglers are known to be new.
        combinations: the columns of actors whose combinations are to be reported.
    """

    run: str
    number: int
    owners: int
    known: int
    links: bool
    advances: bool
    graded: bool
    weights: BlockWeights
    least: int
    folder: str | None
    stragglers: dict[int, tuple[Words, Words]]
    settled: bool = False
    combinations: tuple[int, ...] = ()

    @property
    def by_weight(self) -> bool:
        """Levels are sums of weights."""
        return self.weights.on

    @property
    def starts_anew(self) -> bool:
        """The next level depends only on rows that are sent in this job."""
        return self.graded and self.advances


@frozen(eq=False)
class Shipment:
    """Rows that one partition sends to another.

    Attributes:
        sender, place: the partition, and how many parcels it sent before.
        rows, notes: the rows, and a note for each; or none are wanted. They may be in files.
        base: the number of a row. Notes give the number of a parent as its distance from this row.
        count: how many rows there are.
        flat: they are flat rows although other rows are not, because they have composites without
            a number.
    """

    sender: int
    place: int
    rows: Words
    notes: Any
    base: int
    count: int
    flat: bool


@define(eq=False)
class ExpandReport:
    """The report of the first task of a partition.

    Attributes:
        expanded: the result of the expansion, with some of the postponed rows, as flat rows.
        held: row counts of the partition before the job.
        sent: rows that it gave to each owner.
        sent_bytes: that it gave to the shuffle.
        straggler_links: the links of the stragglers that were new.
        composites: records of composites that have no number yet, as far as rows that were sent
            have them.
        seconds: at work.
    """

    expanded: Expanded
    held: RowCounts
    sent: Words
    sent_bytes: int
    straggler_links: Words
    composites: Words
    seconds: float


@frozen(eq=False)
class MergeReport:
    """The report of the second task of a partition.

    Attributes:
        before: row counts before the job; zero if the task did not read them.
        held: row counts after the job.
        received: partition -> rows that it sent here.
        postponed: how many of its rows wait for table entries, as this task was told.
        new: how many states were new.
        waiting: where levels are sums of weights, how many states have each mark.
        links: of those, if they are wanted: arrays one after the other, which may be in a file.
        visited: states of earlier depths in it.
        least: the least progress among the following ones.
        preview: some states of the next level, as flat rows; the driver finds out their misses.
        combinations: as `first_combinations` returns them for the new states; none if no global
            property is asked.
        seconds: at work.
    """

    before: RowCounts
    held: RowCounts
    received: dict[int, int]
    postponed: int
    new: int
    waiting: Counter[int]
    links: list[Any]
    visited: int
    least: int
    preview: Words
    combinations: Words
    seconds: float

    @property
    def following(self) -> int:
        """States of the next depth in the partition now."""
        return self.held.following
