"""The function `antecede.test`, which runs real code on a network that the checker controls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import frozen

from antecede.checker.adapters import run as adapters
from antecede.checker.api.arguments import (
    RECORDS,
    AdapterArguments,
    check_amount,
    described,
    record_of,
    with_names,
)
from antecede.checker.api.progress import progress
from antecede.checker.api.protocols import Given, named
from antecede.checker.api.results import CheckResult
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec
from antecede.checker.render.progress import watching
from antecede.checker.search.options import Bounds, Options

if TYPE_CHECKING:
    from typing import Unpack


@frozen(eq=False, repr=False)
class TestResult(CheckResult):
    """The result of `antecede.test`: whether real code delivers its messages correctly.

    The first search of `test` is breadth-first, and random walks may follow. The verdict, the
    counts and the counterexample come from the last search. `print(result)` shows the reports of
    all searches.
    """

    __test__ = False  # pytest would take the class for tests

    _reports: tuple[CheckReport, ...]

    def __str__(self) -> str:
        return adapters.text(self._reports)


@described(AdapterArguments, *RECORDS)
def test(
    adapter: Given,
    *,
    engine: str = "local",
    walks: int = Options().walks,
    seed: int = Options().seed,
    selfcheck: str = "on",
    **arguments: Unpack[AdapterArguments],
) -> TestResult:
    """Run real code on a network that the checker controls, and look for violated properties.

    The network is simulated: the checker lets packets arrive in many orders. The first part of the
    search is breadth-first. It stops after 20,000 states, or at the bounds that you give, and takes
    half of `max_seconds`. If it finds nothing within these limits, random walks follow.

    Args:
        adapter: the code: a class with the methods causal_send(out, message) and receive(out, src,
            packet), FILE.py:CLASS, or pipe:COMMAND for a program in any language.
        engine: the part of the checker that explores the runs: `local` (compiled code, the default)
            or `plain` (plain Python).
        walks: the number of random walks, runs that take a random step in every state. 0 for none.
        seed: the seed of the random numbers of the walks. Equal seeds give equal walks.
        selfcheck: which calls of the code are repeated, to find code whose results are not
            determined by its arguments: `on` (some calls, the default), `all` or `off`.
        arguments: the further options of the command `antecede test`, with `_` in place of `-`.
            They are listed below.

    Returns:
        The verdict and the counts of the last search, and the counterexample if there is one.

    Raises:
        InputError: a name or a value cannot be used, or the class lacks a method.

    Examples:
        >>> from antecede import test
        >>> class Node:
        ...     def __init__(self, actor, actors):
        ...         pass
        ...     def causal_send(self, out, message):
        ...         out.send(message.receiver, message)
        ...     def receive(self, out, src, packet):
        ...         out.deliver(packet)
        >>> test(Node, actors=2, messages=2, engine="plain").counterexample  # doctest: +SKIP
        <Run: causal-delivery VIOLATED after 4 transitions>
    """
    check_amount("walks", walks, least=0, optional=False)
    given: dict[str, Any] = {"engine": engine, "seed": seed, "walks": max(walks, 1)}
    given |= with_names(arguments)
    with named(adapter) as (name,), progress() as ticker:
        given["protocol"] = name
        spec = record_of(Spec, given)
        done = adapters.run(
            spec,
            record_of(Options, given),
            adapters.bounded(record_of(Bounds, given)),
            selfcheck=selfcheck,
            walks=walks > 0,
            watch=partial(watching(ticker), spec),
        )
    return TestResult(done[-1], done)


test.__test__ = False  # type: ignore[attr-defined]
