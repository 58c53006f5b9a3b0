"""Sentences and tables about the search: reductions, reasons for slowness, statistics."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from antecede.checker.render.prose import aligned
from antecede.checker.render.terminal import elapsed, wrapped
from antecede.checker.search.options import Options
from antecede.checker.search.result import Counts, Result
from antecede.checker.support.amounts import counted, memory


def symmetry_figures(result: Result) -> Mapping[str, Any]:
    """Return the statistics on symmetry of an engine; empty if it reports none."""
    figures: Mapping[str, Any] = result.statistics.get("symmetry", {})
    return figures


def explored_text(result: Result, options: Options) -> str:
    """Return in a sentence or two what was explored, in how much time and memory."""
    counts = result.size
    states = counted(counts.unique_states, "state")
    cost = f"in {elapsed(result.seconds)}"
    if options.search == "random":
        walks = f"{counted(options.walks, 'random walk')} (seed {options.seed})"
        return f"Saw {states} in {walks}, up to {_steps(counts)} deep, {cost}."
    reduced = _reduced(result)
    if result.counterexample is not None or result.error is not None:
        return f"Explored {states} {cost}{reduced}."
    every = "Explored every reachable state: " if result.visited_all else "Explored "
    transitions = counted(max(counts.total_states - 1, 0), "transition")
    return (
        f"{every}{states}, {transitions}, up to {_steps(counts)} deep, {cost} and "
        f"{memory(result.peak_memory_bytes)}{reduced}."
    )


def _steps(counts: Counts) -> str:
    return counted(max(counts.depth - 1, 0), "step")


def _reduced(result: Result) -> str:
    """Return what symmetry made of the numbers, in brackets; "" if it was off."""
    symmetry = symmetry_figures(result)
    if not symmetry or not symmetry["on"]:
        return ""
    if result.unreduced is None:
        return f" (each stands for up to {symmetry['permutations']} that differ in actors' names)"
    return f" ({counted(result.counts.unique_states, 'state')} after symmetry reduction)"


def plainly_text(result: Result) -> str:
    """Return the reason why the plain engine replaced the local engine, or ""."""
    reason = result.statistics.get("explored_plainly")
    return wrapped(f"Explored in plain Python: {reason}.") if reason else ""


def symmetry_text(result: Result) -> str:
    """Return the effect of symmetry, or the reason why it was off."""
    symmetry, whole = symmetry_figures(result), result.unreduced
    if not symmetry:
        return ""
    if not symmetry["on"]:
        return wrapped(f"  Symmetry is off: {symmetry['reason']}.", "  ")
    if whole is None:
        return wrapped(
            f"  Symmetry: each unique state above stands for up to {symmetry['permutations']} "
            "states that differ only in the names of actors.",
            "  ",
        )
    explored = result.counts
    return wrapped(
        f"  Symmetry: antecede explored only {counted(explored.unique_states, 'unique state')} and "
        f"{explored.total_states:,} total states, because up to {symmetry['permutations']} states "
        "differ only in the names of actors.",
        "  ",
    )


def graph_text(result: Result) -> str:
    """Return a sentence on the graph of the search for cycles or recoverable states, or ""."""
    if cycles := result.statistics.get("cycles"):
        return wrapped(
            f"  Searched for starvation: {counted(cycles['states'], 'state')} and "
            f"{counted(cycles['edges'], 'transition')} in which the marked message (the message "
            "whose delivery is judged) is undelivered.",
            "  ",
        )
    graph: Mapping[str, Any] = result.statistics.get("graph", {})
    if not graph:
        return ""
    text = (
        f"  Graph of states: {counted(graph['states'], 'state')} and "
        f"{counted(graph['edges'], 'transition')}{' up to symmetry' if graph['symmetric'] else ''}."
    )
    return wrapped(f"{text} {replayed_text(result).strip()}".rstrip(), "  ")


def replayed_text(result: Result) -> str:
    """Return how far a counterexample of recoverability was repeated, if not to the end, or ""."""
    path = result.counterexample
    if path is None or path.looked_at is None:
        return ""
    return wrapped(
        "antecede replayed the counterexample in plain Python and explored only "
        f"{path.looked_at:,} of the states after it. None of them satisfies the property."
    )


def rounds_on_spark_text(result: Result) -> str:
    """Return why no level was explored on Spark, if `--engine spark` was asked for, or ""."""
    facts = result.statistics
    if facts.get("rounds_on_spark", 1):
        return ""
    largest = max(facts["states_per_depth"], default=0)
    if largest >= facts["spark_threshold"]:
        return wrapped(
            "Nothing ran on Spark: the search ended before a level was explored there. The first "
            f"level for Spark had {counted(largest, 'state')}."
        )
    return wrapped(
        f"Nothing ran on Spark: the largest level had {counted(largest, 'state')}, fewer than "
        f"the threshold of {facts['spark_threshold']:,} (--spark-threshold)."
    )


def statistics_text(result: Result) -> str:
    """Return the statistics of the engine: transitions by kind, memory, tables, depths."""
    figures = dict(result.statistics)
    parts = []
    if kinds := figures.pop("transitions", None):
        rows = [("transition", "total", "new states")]
        rows += [
            (k, f"{v['total']:,}", f"{v['new']:,}" if "new" in v else "-")
            for k, v in sorted(kinds.items())
        ]
        wide = max(len(row[0]) for row in rows)
        parts.append("\n".join(f"  {a:<{wide}}  {b:>15}  {c:>15}" for a, b, c in rows))
    depths = figures.pop("states_per_depth", [])
    rounds = figures.pop("rounds", [])
    for told_before in (
        "symmetry",
        "explored_plainly",
        "cycles",
        "compared_with_forms",
        "delivers",
        "undelivered",
    ):
        figures.pop(told_before, None)
    for name in ("python_seconds", "selfcheck_seconds"):
        if name in figures and result.seconds:
            spent = figures[name]
            figures[name] = f"{spent:.3f}, {spent / result.seconds:.0%} of the time"
    if memo := figures.get("remembered_successors"):
        share = f"{memo['share']:.1%} of {memo['of'] or 0:,}"
        figures["remembered_successors"] = (
            f"none, because {memo['reason']}" if memo["reason"] else share
        )
    if graph := figures.pop("graph", None):
        figures["graph"] = (
            f"{graph['bytes']:,} bytes, made and searched in {graph['seconds']:.2f} s"
        )
    if graded := figures.pop("graded", None):
        figures["one_depth_per_state"] = "yes" if graded["on"] else f"no: {graded['reason']}"
    if weights := figures.pop("weights", None):
        figures["levels_by_weight"] = ", ".join(f"{kind} {n}" for kind, n in weights.items())
    lines = [
        f"  {name.replace('_', ' ')}: {_figure(value)}"
        for name, value in figures.items()
        if value is not None
    ]
    if depths:
        lines.append(f"  states per depth: {', '.join(f'{n:,}' for n in depths)}")
    parts.append("\n".join(wrapped(line, "    ") for line in lines))
    if rounds:
        parts.append(rounds_text(rounds))
    return "\n\n".join(part for part in parts if part)


def rounds_text(rounds: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of the rounds on a cluster."""
    names = list(rounds[0])
    cells = [[name.replace("_", " ") for name in names]]
    cells += [[_figure(found[name]) for name in names] for found in rounds]
    return textwrap.indent(aligned(cells, ">"), "  ")


def _figure(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"


def slowness_text(result: Result) -> str:
    """Return the reason why a search was slow, if the protocol causes it."""
    facts = result.statistics
    spent, calls = facts.get("python_seconds", 0.0), facts.get("protocol_calls", 0)
    if result.seconds < 2 or spent < result.seconds / 2:
        return ""
    return wrapped(
        f"{spent / result.seconds:.0%} of the time went into {counted(calls, 'call')} of handlers, "
        f"because actors have {facts['actor_states']:,} different states."
    )


def checkpoint_text(result: Result) -> str:
    """Return the reason why the last checkpoint is missing, if it is."""
    problem = (result.statistics.get("checkpoints") or {}).get("problem")
    return wrapped(f"The last checkpoint was not written: {problem}.") if problem else ""
