"""Helpers of the tests of the local engine."""

from __future__ import annotations

from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads.transport import Threads
from antecede.checker.search.loop import Explorer


def threads_of(search: Explorer) -> Threads:
    """Return what a search has on the threads of this process."""
    assert isinstance(search, TabulatedSearch)
    assert isinstance(search.threads, Threads)
    return search.threads
