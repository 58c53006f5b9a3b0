"""What runs on workers: the two tasks of a round, on a partition's share; see `checker.spark`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from attrs import evolve, frozen

from checker.blocks import (
    Codec,
    Composites,
    Expanded,
    expand_block,
    new_set,
    settled,
    unseen,
    widened,
)
from checker.supply import wrapping
from checker.tabulate import Words

NOTHING = np.empty(0, np.int64)
PREVIEW = 1 << 14
"""States per partition that the driver expands ahead; most rows then miss nothing."""


@frozen(eq=False)
class Share:
    """What one partition holds; all rows flat.

    Attributes:
        columns: the widths of the codec.
        level: the states of the current depth.
        todo: indices of those that are to be expanded.
        visited: states of earlier depths that may be met again.
        progress: of each of them; see `Composites.progress`.
        following: the states of the next depth found so far.
    """

    columns: tuple[int, ...]
    level: Words
    todo: Words
    visited: Words
    progress: Words
    following: Words


@frozen
class Job:
    """What every task of one job is told.

    Attributes:
        run: tells searches apart, for the composites that workers keep between tasks.
        number: tells jobs apart, for what tasks report.
        owners: partitions.
        known: bit set of the properties not to report any more.
        advances: the level before is done; what follows it is to be expanded.
        least: the least progress in the level; visited states with less are dropped.
        late: per partition, states that belong to what follows, too, if they are new, with their
            links: the driver expanded their parents, which had missed table entries.
    """

    run: str
    number: int
    owners: int
    known: int
    advances: bool
    least: int
    late: dict[int, tuple[Words, Words]]


@frozen(eq=False)
class ExpandReport:
    """What the first task of a partition reports of a job.

    Attributes:
        expanded: what its expansion came to, without the rows.
        sent_bytes: that it gave to the shuffle.
    """

    expanded: Expanded
    sent_bytes: int


@frozen(eq=False)
class MergeReport:
    """What the second task of a partition reports of a job.

    Attributes:
        links: of the states that were new.
        late_links: of those of the late states that were new.
        following, visited: states in the partition now.
        least: the least progress among the following ones.
        preview: some of the following states, for the driver to find out what they will miss.
    """

    links: Words
    late_links: Words
    following: int
    visited: int
    least: int
    preview: Words


_OWN: dict[str, Composites] = {}
"""This process's composites; a worker that starts anew makes them again."""


def own_composites(run: str, growths: Iterable[Any]) -> Composites:
    """Return this process's composites, with tables of the latest version."""
    if run not in _OWN:
        _OWN.clear()
        _OWN[run] = Composites()
    own = _OWN[run]
    for place, growth in enumerate(growths):
        if place > own.version:
            own.learn(growth.value)
    return own


def advanced(share: Share, job: Job, own: Composites, partition: int) -> tuple[Share, Words]:
    """Return a share as a job finds it, and the links of the late states that turned out new.

    It is packed as the tables are now, and its level is the one to expand.
    """
    now = _repacked(share, own)
    if not job.advances:
        return now, NOTHING
    level, links = _next_level(now, job, own, partition)
    words = own.codec.words
    left = own.progress(now.level)
    kept, stays = now.progress >= job.least, left >= job.least
    visited = [now.visited.reshape(-1, words)[kept], now.level.reshape(-1, words)[stays]]
    return Share(
        columns=now.columns,
        level=level,
        todo=np.arange(len(level) // words),
        visited=np.concatenate(visited).ravel(),
        progress=np.concatenate([now.progress[kept], left[stays].astype(np.int32)]),
        following=NOTHING,
    ), links


def level_of(share: Share, job: Job, own: Composites, partition: int) -> tuple[Words, Words]:
    """Return the level of a share as a job finds it, and the indices of what is to be expanded."""
    if job.advances and partition in job.late:
        level, _ = _next_level(_repacked(share, own), job, own, partition)
    else:
        rows = share.following if job.advances else share.level
        level = widened(rows, Codec.of(len(own.counts), share.columns), own.codec)
    return level, np.arange(len(level) // own.codec.words) if job.advances else share.todo


def _repacked(share: Share, own: Composites) -> Share:
    """Return a share packed as the tables are now."""
    before, after = Codec.of(len(own.counts), share.columns), own.codec
    level, visited, following = (
        widened(rows, before, after) for rows in (share.level, share.visited, share.following)
    )
    return Share(after.col_widths, level, share.todo, visited, share.progress, following)


def _next_level(share: Share, job: Job, own: Composites, partition: int) -> tuple[Words, Words]:
    """Return the level that follows, late states included, and the links of those."""
    if partition not in job.late:
        return share.following, NOTHING
    some, links = job.late[partition]
    with wrapping():
        held = (share.visited, share.level, share.following)
        some, links = unseen(some, links, own.codec.words, held)
    return np.concatenate([share.following, some]), links


def expand_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the first task of a job: a partition's share -> successors by owner."""

    def task(partition: int, shares: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        for _, share in shares:
            level, todo = level_of(share, job, own, partition)
            done = expand_block(own, level, todo, partition, job.owners, job.known)
            sent = sum(
                rows.nbytes + links.nbytes
                for rows, links in zip(done.rows, done.links, strict=True)
            )
            light = evolve(done, rows=[], links=[])
            reports.add({(job.number, 0, partition): ExpandReport(light, sent)})
            for owner in range(job.owners):
                if len(done.links[owner]):
                    yield owner, (partition, done.rows[owner], done.links[owner])
            yield partition, done.aside

    return task


def merge_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the second task of a job: a share and what it was sent -> its next share."""

    def task(partition: int, parts: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        share, aside, sent = None, NOTHING, []
        for _, part in parts:
            if isinstance(part, Share):
                share = part
            elif isinstance(part, tuple):
                sent.append(part)
            else:
                aside = part
        if share is None:
            return
        # The shuffle delivers in any order; the same order each time gives the same indices.
        sent.sort(key=lambda part: part[0])
        now, late_links = advanced(share, job, own, partition)
        with wrapping():
            following, links = _merged(now, sent, own)
        after = evolve(now, todo=aside, following=following)
        words = own.codec.words
        report = MergeReport(
            links=links,
            late_links=late_links,
            following=len(following) // words,
            visited=(len(now.visited) + len(now.level)) // words,
            least=int(own.progress(following).min()) if len(following) else 1 << 62,
            preview=_preview(following.reshape(-1, words)),
        )
        reports.add({(job.number, 1, partition): report})
        yield partition, after

    return task


def _preview(rows: Any) -> Words:
    """Return some rows from everywhere."""
    return np.asarray(rows[:: max(len(rows) // PREVIEW, 1)].ravel(), np.int64)


def _merged(share: Share, sent: list[Any], own: Composites) -> tuple[Words, Words]:
    """Return the following states with those sent that are new, and the links of the new ones."""
    words = own.codec.words
    held = (share.visited, share.level, share.following)
    incoming = sum(len(links) for _, _, links in sent)
    if incoming * words < sum(map(len, held)):
        rows = np.concatenate([NOTHING, *(rows for _, rows, _ in sent)])
        links = np.concatenate([NOTHING, *(links for _, _, links in sent)])
        rows, links = unseen(rows, links, words, held)
        return np.concatenate([share.following, rows]), links
    seen = new_set(words, sum(len(rows) for rows in held) // words + incoming)
    for rows in held:
        settled(seen, rows, np.empty(len(rows) // words, np.int64))
    new = [settled(seen, rows, links) for _, rows, links in sent]
    seen.close()
    rows = np.concatenate([share.following, *(rows for rows, _ in new)])
    return rows, np.concatenate([NOTHING, *(links for _, links in new)])
