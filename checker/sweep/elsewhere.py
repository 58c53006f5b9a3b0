"""Runs as tasks of a Spark cluster, for sweeps and simulations."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve, frozen

from antecede.checker.support.errors import ClusterError
from antecede.checker.support.registry import with_objects

Item = TypeVar("Item")
Value = TypeVar("Value")


class TaskFailedError(Exception):
    """A task raised an unexpected exception on an executor: a bug of ours."""


@frozen
class _Raised:
    """The traceback of a task, as text, because not every exception can be pickled."""

    text: str


def on_spark(
    call: Callable[[Item], Value],
    items: Sequence[Item],
    master: str | None,
) -> Iterator[tuple[Item, Value | ClusterError]]:
    """Yield each item with the result of `call`, or with Spark's reason for giving it up.

    `call` is a function of an importable module, or a partial of one. The items are records with a
    field `protocol`; the longest calls should come first. Without a master, Spark runs on this
    machine.

    Raises:
        TaskFailedError: a call raised an exception.
        ClusterError: the cluster as a whole is lost.
    """
    # The import loads compiled kernels; `antecede list` must not wait for them.
    from antecede.checker.engine.spark.pool import scattered

    pairs = [(item, _elsewhere(item)) for item in items]
    for (item, _), value in scattered(partial(_returned, with_objects(call)), pairs, master):
        if isinstance(value, _Raised):
            raise TaskFailedError(f"a task failed on an executor: {item}\n{value.text}")
        yield item, value


def _returned(call: Callable[[Item], Value], pair: tuple[Item, Item]) -> Value | _Raised:
    """Call with the second item of a pair, which executors can find."""
    try:
        return call(pair[1])
    except Exception:
        return _Raised(traceback.format_exc())


def _elsewhere(item: Any) -> Any:
    """Return an item with a protocol that executors can find."""
    return evolve(item, protocol=found_anywhere(item.protocol))


def found_anywhere(protocol: str) -> str:
    """Return the name of a protocol, with an absolute path if it is in a file."""
    path, ending, name = protocol.partition(".py")
    return f"{Path(path + ending).resolve()}{name}" if ending else protocol
