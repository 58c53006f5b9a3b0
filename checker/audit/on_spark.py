"""The audit of logs on a Spark cluster, for logs that are too large for a machine; see `spread`.

There are three shuffles. The hashes of names go to partitions that number them, and the numbers
come back. Then the events, 21 bytes each, go to the passes, one per group of senders. All executors
read the logs by their paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from antecede.checker.audit.audit import check_events, check_names
from antecede.checker.audit.findings import Audit, no_sends
from antecede.checker.audit.records import Fields
from antecede.checker.audit.splits import SPLIT, Piece, Split, names_at, read, splits_of
from antecede.checker.audit.spread import (
    Block,
    Found,
    Info,
    block_of,
    buckets,
    info_of,
    judged,
    merged,
    ranked,
    together,
)
from antecede.checker.spark.cluster import Cluster, check_available, persisted, wait_for


def audit(
    names: Sequence[str],
    format: str | None = None,
    fields: Fields | None = None,
    *,
    unfinished: bool = False,
    master: str | None = None,
    log: bool = False,
    size: int = SPLIT,
    tick: Callable[[], None] = lambda: None,
) -> Audit:
    """Judge logs on a cluster; the result equals the result of `checker.audit.audit.audit`.

    Args:
        names: files of JSON objects or of Parquet, and folders of them, visible to all executors.
        format: None or `jsonl`.
        fields: the names of the records' fields.
        unfinished: only count undelivered messages, and do not list them.
        master: the address of the cluster; see `checker.spark.cluster`.
        log: leave Spark's log on the terminal.
        size: bytes per piece.
        tick: called every second; it may raise.

    Raises:
        InputError: a log cannot be read, or Spark is missing.
        ClusterError: Spark gave up.
    """
    check_names(names)
    check_available(master)
    fields = fields or Fields()
    splits = splits_of(names, format, fields, size)
    cluster = Cluster.start(master, log=log, tick=tick)
    try:
        return _audit(cluster.sc, splits, fields, tick, unfinished=unfinished)
    finally:
        cluster.stop()


def _audit(
    sc: Any,
    splits: list[Split],
    fields: Fields,
    tick: Callable[[], None],
    *,
    unfinished: bool,
) -> Audit:
    pieces = persisted(sc.parallelize(splits, len(splits)).map(partial(read, fields=fields)))
    infos = wait_for(sc, pieces.map(info_of).collect, tick)
    whole = together(splits, infos, sc.defaultParallelism)
    _check(splits, infos)
    shared = sc.broadcast(whole)
    blocks = _numbered(sc, pieces, shared, len(splits))
    groups = len(whole.groups)
    passes = (
        blocks.flatMap(partial(_for_all, groups=groups))
        .repartitionAndSortWithinPartitions(groups, _group_of)
        .mapPartitionsWithIndex(partial(_judged, whole=shared, unfinished=unfinished), True)
    )
    results: list[Found] = wait_for(sc, passes.collect, tick)
    return merged(results, whole, _names(sc, splits, fields, results, tick))


def _check(splits: Sequence[Split], infos: Sequence[Info]) -> None:
    """Refuse logs without events or without causal-sends."""
    events: Counter[str] = Counter()
    for split, info in zip(splits, infos, strict=True):
        events[split.whole] += info.events
    check_events(events, [(split.whole, "jsonl") for split in splits])
    if not any(info.sends for info in infos):
        raise no_sends([*dict.fromkeys(s.path for s in splits)], sum(events.values()))


def _numbered(sc: Any, pieces: Any, whole: Any, count: int) -> Any:
    """Return a (piece, block) pair per piece, each pair in its own partition."""
    width = min(count, max(sc.defaultParallelism, 1))
    numbers = (
        pieces.mapPartitionsWithIndex(partial(_hashes, count=width))
        .partitionBy(width, _key)
        .mapPartitionsWithIndex(partial(_ranked, count=width))
        .partitionBy(count, _key)
        .mapPartitions(_together)
    )
    return pieces.zip(numbers).mapPartitionsWithIndex(partial(_blocks, whole=whole))


def _key(key: int) -> int:
    return key


def _group_of(key: tuple[int, int]) -> int:
    return key[0]


def _hashes(at: int, pieces: Iterable[Piece], count: int) -> Iterator[Any]:
    for piece in pieces:
        yield from buckets(at, piece, count)


def _ranked(bucket: int, parts: Iterable[tuple[int, Any]], count: int) -> Iterator[Any]:
    yield from ranked(bucket, count, (part for _, part in parts))


def _together(parts: Iterable[tuple[int, Any]]) -> Iterator[list[Any]]:
    """Yield the one list of a partition, so that it can be zipped with its piece."""
    yield [numbers for _, numbers in parts]


def _blocks(at: int, pairs: Iterable[tuple[Piece, Any]], whole: Any) -> Iterator[tuple[int, Block]]:
    for piece, numbers in pairs:
        yield at, block_of(piece, numbers, whole.value)


def _for_all(numbered: tuple[int, Block], groups: int) -> Iterator[tuple[tuple[int, int], Block]]:
    at, block = numbered
    return (((group, at), block) for group in range(groups))


def _judged(
    group: int, blocks: Iterable[tuple[tuple[int, int], Block]], whole: Any, unfinished: bool
) -> Iterator[Found]:
    ordered = ((at, block) for (_, at), block in blocks)
    yield judged(group, ordered, whole.value, unfinished=unfinished)


def _names(
    sc: Any,
    splits: Sequence[Split],
    fields: Fields,
    found: Sequence[Found],
    tick: Callable[[], None],
) -> Mapping[int, str]:
    """Return the names of the messages in findings, by reading their lines again."""
    wanted: dict[int, dict[int, int]] = {}
    for one in found:
        for number, (piece, line) in one.places.items():
            wanted.setdefault(piece, {})[line] = number
    if not wanted:
        return {}
    lookups = [(splits[piece], lines) for piece, lines in wanted.items()]
    job = sc.parallelize(lookups, len(lookups)).map(partial(_names_at, fields=fields))
    return {
        number: name for names in wait_for(sc, job.collect, tick) for number, name in names.items()
    }


def _names_at(asked: tuple[Split, dict[int, int]], fields: Fields) -> dict[int, str]:
    split, wanted = asked
    return names_at(split, fields, wanted)
