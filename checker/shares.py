"""What runs on workers: the two tasks of a round, on a partition's share; see `checker.spark`."""

from __future__ import annotations

import time
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
SAMPLE = 1 << 17
"""Rows set aside that a task reports, for the driver to expand or to find out what they miss."""

PREVIEW = 1 << 14
"""States per partition that the driver expands ahead; most rows then miss nothing."""


@frozen(eq=False)
class Share:
    """What one partition holds; all rows flat.

    Attributes:
        columns: the widths of the codec.
        level: the states of the current depth; where every state has one depth only, those that
            are still to be expanded.
        todo: the numbers of those in their level.
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
        graded: every state has one depth only, so nothing but what follows can be met again.
        least: the least progress in the level; visited states with less are dropped.
        late: per partition, states that belong to what follows, too, if they are new, with their
            links: the driver expanded their parents, which had missed table entries.
    """

    run: str
    number: int
    owners: int
    known: int
    advances: bool
    graded: bool
    least: int
    late: dict[int, tuple[Words, Words]]


@frozen(eq=False)
class ExpandReport:
    """What the first task of a partition reports of a job.

    Attributes:
        expanded: what its expansion came to, without the rows, but for some of those that wait.
        sent_bytes: that it gave to the shuffle.
        late_links: of those of the late states that were new.
        seconds: at work.
    """

    expanded: Expanded
    sent_bytes: int
    late_links: Words
    seconds: float


@frozen(eq=False)
class MergeReport:
    """What the second task of a partition reports of a job.

    Attributes:
        links: of the states that were new.
        following, visited: states in the partition now.
        least: the least progress among the following ones.
        preview: some of the following states, for the driver to find out what they will miss.
        seconds: at work.
    """

    links: Words
    following: int
    visited: int
    least: int
    preview: Words
    seconds: float


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


def advanced(share: Share, job: Job, own: Composites, partition: int) -> Share:
    """Return a share as a job finds it: packed as the tables are now, its level to be expanded."""
    now = _repacked(share, own)
    if not job.advances:
        return now
    level, _ = _next_level(now, job, own, partition)
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
    )


def to_expand(
    share: Share, job: Job, own: Composites, partition: int
) -> tuple[Words, Words, Words]:
    """Return the states to be expanded, their numbers, and the links of the new late ones."""
    links = NOTHING
    if job.advances and partition in job.late:
        rows, links = _next_level(_repacked(share, own), job, own, partition)
    else:
        rows = share.following if job.advances else share.level
        rows = widened(rows, Codec.of(len(own.counts), share.columns), own.codec)
    words = own.codec.words
    if job.advances:
        return rows, np.arange(len(rows) // words), links
    if job.graded:
        return rows, share.todo, links
    return rows.reshape(-1, words)[share.todo].ravel(), share.todo, links


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
        # Where every state has one depth, there is nothing else, and the level is old.
        held = (share.following,) if job.graded else (share.visited, share.level, share.following)
        some, links = unseen(some, links, own.codec.words, held)
    return np.concatenate([share.following, some]), links


def expand_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the first task of a job: a partition's share -> successors by owner.

    Each is sent as a tuple (partition, rows, links). A pair goes to the partition itself: the
    numbers of the rows that were set aside and, if the next task has them from nowhere else, the
    rows.
    """

    def task(partition: int, shares: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        for _, share in shares:
            began = time.perf_counter()
            rows, numbers, late_links = to_expand(share, job, own, partition)
            done = expand_block(own, rows, numbers, partition, job.owners, job.known)
            sent = sum(
                rows.nbytes + links.nbytes
                for rows, links in zip(done.rows, done.links, strict=True)
            )
            some = done.waiting[: SAMPLE * own.codec.words]
            light = evolve(done, rows=[], links=[], waiting=some)
            report = ExpandReport(light, sent, late_links, time.perf_counter() - began)
            reports.add({(job.number, 0, partition): report})
            for owner in range(job.owners):
                if len(done.links[owner]):
                    yield owner, (partition, done.rows[owner], done.links[owner])
            if len(done.aside):
                yield partition, (done.aside, done.waiting if job.graded else NOTHING)

    return task


def merge_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the second task of a job: a share and what it was sent -> its next share."""

    def task(partition: int, parts: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        share, aside, waiting, sent = None, NOTHING, NOTHING, []
        for _, part in parts:
            if isinstance(part, Share):
                share = part
            elif len(part) == 3:
                sent.append(part)
            else:
                aside, waiting = part
        began = time.perf_counter()
        # The shuffle delivers in any order; the same order each time gives the same indices.
        sent.sort(key=lambda part: part[0])
        if job.graded:
            following = NOTHING if share is None else _repacked(share, own).following
            columns, none = own.codec.col_widths, NOTHING
            now = Share(columns, waiting, aside, none, none.astype(np.int32), following)
        else:
            assert share is not None
            now = evolve(advanced(share, job, own, partition), todo=aside)
        with wrapping():
            following, links = _merged(now, sent, own, graded=job.graded)
        words = own.codec.words
        report = MergeReport(
            links=links,
            following=len(following) // words,
            visited=0 if job.graded else (len(now.visited) + len(now.level)) // words,
            least=_least(following, own) if not job.graded else 0,
            preview=_preview(following.reshape(-1, words)),
            seconds=time.perf_counter() - began,
        )
        reports.add({(job.number, 1, partition): report})
        yield partition, evolve(now, following=following)

    return task


def orbits_task(job: Job, growths: list[Any]) -> Callable[[int, Iterator[Any]], Iterator[int]]:
    """Return a task that says how many states stand behind those of a partition's next level."""

    def task(partition: int, shares: Iterator[Any]) -> Iterator[int]:
        own = own_composites(job.run, growths)
        for _, share in shares:
            with wrapping():
                yield own.orbits(_repacked(share, own).following)

    return task


def _least(rows: Words, own: Composites) -> int:
    return int(own.progress(rows).min()) if len(rows) else 1 << 62


def _preview(rows: Any) -> Words:
    """Return some rows from everywhere."""
    return np.asarray(rows[:: max(len(rows) // PREVIEW, 1)].ravel(), np.int64)


def _merged(share: Share, sent: list[Any], own: Composites, *, graded: bool) -> tuple[Words, Words]:
    """Return the following states with those sent that are new, and the links of the new ones."""
    words = own.codec.words
    held = (share.following,) if graded else (share.visited, share.level, share.following)
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
