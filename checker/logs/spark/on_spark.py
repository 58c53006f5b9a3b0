"""The audit of logs on a Spark cluster, for logs that are too large for a machine; see `spread`.

There are three shuffles. The hashes of names go to partitions that number them, and the numbers
come back. Then the events, 21 bytes each, go to the passes, one per group of senders. All executors
read the logs by their paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from antecede.checker.engine.spark.cluster import Cluster, check_available, persisted, wait_for
from antecede.checker.logs.judge.findings import Audit, How, no_sends
from antecede.checker.logs.readers.formats import check_events
from antecede.checker.logs.readers.records import Fields
from antecede.checker.logs.readers.sources import check_names
from antecede.checker.logs.spark import spread
from antecede.checker.logs.spark.pieces import SPLIT, Split, names_at, read, splits_of
from antecede.checker.support.errors import InputError


def audit(
    names: Sequence[str],
    format: str | None = None,
    fields: Fields | None = None,
    *,
    given: str | None = None,
    how: How | None = None,
    master: str | None = None,
    size: int = SPLIT,
    tick: Callable[[], None] = lambda: None,
) -> Audit:
    """Judge logs on a cluster; see `checker.logs.audit.audit`, which has the same result.

    The logs are files of JSON objects or of Parquet, and folders of them. All executors must see
    them. A piece has `size` bytes. `tick` is called every second, and may raise.

    Raises:
        InputError: a log cannot be read, or Spark is missing.
        ClusterError: Spark gave up.
    """
    check_names(names)
    if given is not None:
        raise InputError(
            "--parser is for ShiViz logs, and --on spark reads JSON objects and Parquet"
        )
    check_available(master)
    fields = fields or Fields()
    splits = splits_of(names, format, fields, size)
    cluster = Cluster.start(master, tick=tick)
    try:
        how = how or How()
        return how.tolerated(_audit(cluster.sc, splits, fields, tick, unfinished=how.unfinished))
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
    pieces = persisted(sc.parallelize(splits, len(splits)).map(lambda split: read(split, fields)))
    infos = wait_for(sc, pieces.map(spread.info_of).collect, tick, name="read the logs")
    whole = spread.together(splits, infos, sc.defaultParallelism)
    _check(whole, infos)
    shared = sc.broadcast(whole)
    blocks = _numbered(sc, pieces, shared, len(splits))
    groups = range(len(whole.groups))
    # The keys are pairs of a group and a piece: each group gets all pieces, in their order.
    passes = (
        blocks.flatMap(lambda pair: [((group, pair[0]), pair[1]) for group in groups])
        .repartitionAndSortWithinPartitions(len(groups), lambda key: key[0])
        .mapPartitionsWithIndex(lambda group, keyed: _judged(group, keyed, shared, unfinished))
    )
    results: list[spread.Found] = wait_for(sc, passes.collect, tick, name="judge the logs")
    return spread.merged(results, whole, _names(sc, splits, fields, results, tick))


def _check(whole: spread.Whole, infos: Sequence[spread.Info]) -> None:
    """Refuse logs without events, with too many other lines, or without causal-sends."""
    splits, events = whole.splits, Counter[str]()
    for split, info in zip(splits, infos, strict=True):
        events[split.whole] += info.events
    home = {split.path: split.whole for split in splits}
    wholes = [home[each.log] for each in whole.foreign]
    check_events(events, [(split.whole, "jsonl") for split in splits], whole.foreign, wholes)
    if not any(info.sends for info in infos):
        paths = [*dict.fromkeys(s.path for s in splits)]
        raise no_sends(paths, sum(events.values()), whole.foreign)


def _numbered(sc: Any, pieces: Any, whole: Any, count: int) -> Any:
    """Return a (piece, block) pair per piece, each pair in its own partition."""
    width = min(count, max(sc.defaultParallelism, 1))
    numbers = (
        pieces.mapPartitionsWithIndex(
            lambda at, there: (pair for piece in there for pair in spread.buckets(at, piece, width))
        )
        .partitionBy(width, int)
        .mapPartitionsWithIndex(
            lambda bucket, parts: spread.ranked(bucket, width, (part for _, part in parts))
        )
        .partitionBy(count, int)
        .mapPartitions(lambda parts: [[numbers for _, numbers in parts]])  # a list per piece
    )
    return pieces.zip(numbers).mapPartitionsWithIndex(
        lambda at, pairs: (
            (at, spread.block_of(piece, there, whole.value)) for piece, there in pairs
        )
    )


def _judged(
    group: int, keyed: Iterable[tuple[tuple[int, int], spread.Block]], whole: Any, unfinished: bool
) -> list[spread.Found]:
    blocks = ((at, block) for (_, at), block in keyed)
    return [spread.judged(group, blocks, whole.value, unfinished=unfinished)]


def _names(
    sc: Any,
    splits: Sequence[Split],
    fields: Fields,
    found: Sequence[spread.Found],
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
    job = sc.parallelize(lookups, len(lookups)).map(
        lambda asked: names_at(asked[0], fields, asked[1])
    )
    tables = wait_for(sc, job.collect, tick, name="look up the names of events")
    return {number: name for names in tables for number, name in names.items()}
