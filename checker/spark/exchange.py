"""What the driver tells the tasks of a job, and what they report of it."""

from __future__ import annotations

from collections import Counter

from attrs import define, frozen

from antecede.checker.spark.conservation import Held
from antecede.checker.spark.rows import Expanded, Weighing
from antecede.checker.tables.tabulate import Words


@frozen
class Job:
    """What every task of one job is told.

    Attributes:
        run: tells searches apart, for the composites that workers keep between tasks.
        number: tells jobs apart, for what tasks report.
        owners: partitions.
        known: bit set of the properties not to report any more.
        links: whether states' links are wanted.
        advances: the level before is done; what follows it is to be expanded.
        graded: every state has one depth only, so nothing but what follows can be met again.
        weighing: levels are sums of weights; without the depths of any states.
        least: the least progress in the level; visited states with less are dropped. Or, by weight,
            the least lead of the states that wait.
        folder: where tasks put what they send, if all of them are on this machine.
        stragglers: per partition, states that belong to what follows, too, if they are new, with
            their links: the driver expanded their parents, which had missed table entries.
        joint: something is asked of all actors' states at once.
    """

    run: str
    number: int
    owners: int
    known: int
    links: bool
    advances: bool
    graded: bool
    weighing: Weighing
    least: int
    folder: str | None
    stragglers: dict[int, tuple[Words, Words]]
    joint: bool = False

    @property
    def by_weight(self) -> bool:
        """Levels are sums of weights."""
        return self.weighing.on

    @property
    def starts_anew(self) -> bool:
        """What follows depends on nothing but what is sent in this job."""
        return self.graded and self.advances


@define(eq=False)
class ExpandReport:
    """What the first task of a partition reports of a job.

    Attributes:
        expanded: what its expansion came to, without the rows, but for some of those that wait.
        held: what the partition held.
        sent: rows that it gave to each owner.
        sent_bytes: that it gave to the shuffle.
        straggler_links: of those of the stragglers that were new.
        seconds: at work.
    """

    expanded: Expanded
    held: Held
    sent: Words
    sent_bytes: int
    straggler_links: Words
    seconds: float


@frozen(eq=False)
class MergeReport:
    """What the second task of a partition reports of a job.

    Attributes:
        found: what the partition held before, if this task had need of it.
        held: what it holds now.
        received: partition -> rows that it sent here.
        postponed: how many of its rows wait for table entries, as this task was told.
        new: how many states were new.
        waiting: where levels are sums of weights, how many states have each mark.
        links: of those, if they are wanted; may be in a file.
        visited: states of earlier depths in it.
        least: the least progress among the following ones.
        preview: some of the following states, for the driver to find out what they will miss.
        combinations: of actors' states among the new states, with their indices in the next depth;
            see `checker.spark.joint`. There are none where nothing is asked of them.
        seconds: at work.
    """

    found: Held
    held: Held
    received: dict[int, int]
    postponed: int
    new: int
    waiting: Counter[int]
    links: Words
    visited: int
    least: int
    preview: Words
    combinations: Words
    seconds: float

    @property
    def following(self) -> int:
        """States of the next depth in the partition now."""
        return self.held.following
