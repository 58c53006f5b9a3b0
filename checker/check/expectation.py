"""Compares the result of a search with the expectation of its spec."""

from __future__ import annotations

from antecede.checker.amounts import counted
from antecede.checker.check.spec import COUNT_KEYS, Spec
from antecede.checker.search.result import Result, Verdict


def decides(spec: Spec, result: Result) -> bool:
    """Return whether a result answers the spec's question; VACUOUS does only if it is expected."""
    if result.verdict is Verdict.VACUOUS:
        return spec.expect.verdict is not Verdict.HOLDS
    return result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)


def differences(spec: Spec, result: Result) -> tuple[str, ...]:
    """Return how `result` differs from what `spec` expects, in sentences.

    A search without a verdict differs in nothing. Counts and lengths are compared only if the
    search makes them exact.
    """
    expect, verdict = spec.expect, result.verdict
    if not decides(spec, result):
        return ()
    if verdict is not expect.verdict:
        return (f"expected {expect.verdict}, found {verdict}",)
    return (*_violation_differences(spec, result), *_count_differences(spec, result))


def _violation_differences(spec: Spec, result: Result) -> list[str]:
    differing = []
    violated = [name for name, verdict in result.properties.items() if verdict is Verdict.VIOLATED]
    if spec.expect.violates is not None and spec.expect.violates not in violated:
        differing.append(
            f"expected {spec.expect.violates} to be violated, found {', '.join(violated)}"
        )
    length = spec.expect.counterexample_length
    if length is not None and spec.search == "breadth":
        path = result.counterexample
        actual = "none" if path is None else f"{path.length}"
        if actual != str(length):
            expected = counted(length, "transition")
            differing.append(f"expected a counterexample of {expected}, found {actual}")
    return differing


def _count_differences(spec: Spec, result: Result) -> list[str]:
    exact: tuple[str, ...] = {
        "breadth": COUNT_KEYS,
        "depth": ("unique_states", "total_states", "final_states"),
    }.get(spec.search, ())
    if spec.search == "depth" and result.verdict is Verdict.VIOLATED:
        exact = ()
    counts = result.unreduced or result.counts
    return [
        f"expected {key.replace('_', ' ')} {number:,}, found {getattr(counts, key):,} "
        f"(history {spec.history})"
        for key, number in spec.expect.counts.get(spec.history, {}).items()
        if key in exact and number != getattr(counts, key)
    ]
