"""Medians over many rows, as DataFrames: groups, sorted values, and the ranks that bound a median.

What the rows are is not known here. `checker.simulate.statistics` computes the same in plain
Python, and judges this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from antecede.checker.spark.cluster import Cluster

Ranks: TypeAlias = Callable[[int], tuple[int, int] | None]
Found: TypeAlias = dict[tuple[Any, ...], tuple[float, float | None, float | None, int]]
"""Per group: the median, the low and high values that bound it, and how many values there are."""


def medians(
    cluster: Cluster, rows: Any, groups: Sequence[str], measure: str, ranks: Ranks, most: int
) -> Found:
    """Return the median of a column, per group, with two of the values that bound it.

    Args:
        cluster: where to compute it.
        rows: a DataFrame.
        groups: columns that tell groups apart.
        measure: the column; rows where it is null do not count.
        ranks: how many values there are -> the places, from 0, of the two sorted values that bound
            the median, or None if none do.
        most: no group has more values than that.
    """
    kept = rows.where(f"`{measure}` IS NOT NULL")
    grouped = kept.groupBy(*groups).agg({measure: "collect_list"})
    values = f"`collect_list({measure})`"
    bounds = [(count, *(ranks(count) or (-1, -1))) for count in range(1, most + 1)]
    places = cluster.session.createDataFrame(bounds, "count INT, low INT, high INT")
    sorted_rows = grouped.selectExpr(
        *(f"`{name}`" for name in groups),
        f"sort_array({values}) AS listed",
        f"size({values}) AS count",
    )
    found = sorted_rows.join(places, "count").selectExpr(
        *(f"`{name}`" for name in groups),
        "(listed[(count - 1) DIV 2] + listed[count DIV 2]) / 2 AS median",
        "CASE WHEN low >= 0 THEN listed[low] END AS low",
        "CASE WHEN low >= 0 THEN listed[high] END AS high",
        "count",
    )
    return {tuple(row[: len(groups)]): tuple(row[len(groups) :]) for row in found.collect()}


def paired(rows: Any, groups: Sequence[str], name: str, of: str, over: str, how: str) -> Any:
    """Return a DataFrame with a row for each pair of rows that agree in all groups.

    Args:
        rows: a DataFrame.
        groups: the columns that both rows of a pair have in common.
        name: the column that tells the rows of a pair apart.
        of: its value in one row of a pair, called `mine`.
        over: its value in the other, called `its`.
        how: an expression over the columns of both; the result is the column `value`.
    """
    mine = rows.where(f"`{name}` = '{of}'").alias("mine")
    its = rows.where(f"`{name}` = '{over}'").alias("its")
    joined = mine.join(its, list(groups))
    return joined.selectExpr(*(f"`{group}`" for group in groups), f"{how} AS value")
