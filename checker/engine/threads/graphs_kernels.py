"""The graph of states as arrays: numbered breadth-first, edges as compressed rows.

`checker.engine.threads.graph` makes a graph after a search, if a property asks which states can
recover or which endless runs are fair. It expands all states once more. The slots of all threads'
visited sets are numbered one after the other, and name the states before they have numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel, prefetch
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.fields_kernels import composite_in, field_of
from antecede.checker.engine.rows.hashing_kernels import hash_words, home
from antecede.checker.engine.rows.rows_kernels import copy_row
from antecede.checker.engine.visited.sets_kernels import CAPACITY, slot_of
from antecede.checker.graphs import backwards, cycles
from antecede.checker.search.graph import Passes

spread = kernel(backwards.spread)


def as_numpy(value: Any) -> Any:
    """Return Python's arrays as NumPy arrays on the same memory, also those in a named tuple."""
    if isinstance(value, tuple):
        return type(value)(*map(as_numpy, value))
    return np.asarray(memoryview(value)) if isinstance(value, (bytearray, array)) else value


def on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled function that takes Python's arrays, which it views as NumPy arrays."""
    compiled = kernel(function)

    def called(*args: Any) -> Any:
        return compiled(*map(as_numpy, args))

    return called


COMPILED = Passes(
    on_arrays(cycles.number_components),
    on_arrays(cycles.sort_components),
    on_arrays(cycles.judge_components),
    on_arrays(cycles.reach),
)
"""The compiled passes over a state graph."""

NUMBERED, LINKED, ENDED = range(3)
"""Slots of a graph's figures: numbered states, edges, states whose edges are complete."""
NEXT = 12
"""Prefetch distance: the number of successors between a prefetch and its use."""


class Growing(NamedTuple):
    """A state graph under construction.

    Attributes:
        number: uint32; per slot of the concatenated visited sets, the state's number plus 1;
            0: not numbered yet.
        first: per state, the index of its first edge.
        target: uint32; per edge, the number of its target state.
        conditions: uint8; per state, the bit set of wanted conditions that hold there.
        label: uint16; per edge, the kind of its transition; or empty.
        rows: the rows of newly numbered states, for the next level; flat.
        figures: slots as named above, updated.
    """

    number: np.ndarray[Any, Any]
    first: np.ndarray[Any, Any]
    target: np.ndarray[Any, Any]
    conditions: np.ndarray[Any, Any]
    label: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]
    figures: np.ndarray[Any, Any]


@kernel
def find_states(out, size, row_words, slots, figures, offset, number, found):
    """Look up `size` entries in one thread's visited set; return whether it has all of them.

    Per entry, `found` gets -1 - n if the state has the number n, otherwise the number of its slot.
    The slots of this set are numbered from `offset` on.
    """
    out, slots, found, number = borrow(out), borrow(slots), borrow(found), borrow(number)
    stride = row_words + 1
    complete = True
    # Three steps per row, NEXT rows apart: fetch its slot, find it and fetch its number, read that.
    for e in range(size + NEXT):
        if e + NEXT < size:
            later = home(hash_words(out, (e + NEXT) * stride, row_words), figures[CAPACITY])
            prefetch(slots, later * row_words)
        if e < size:
            slot = slot_of(slots, figures, out, e * stride, row_words)
            complete = complete and slot >= 0
            found[e] = max(slot, 0) + offset
            prefetch(number, found[e])
        if e >= NEXT and number[found[e - NEXT]]:
            found[e - NEXT] = -np.int64(number[found[e - NEXT]])
    return complete


@inlined
def conditions_of(row, at, geo, wanted):
    """Return the bit set of the wanted conditions that hold in the state row[at:].

    A condition holds in a state if it holds for the composite of each part.
    """
    conditions = np.int64(255)
    for part in range(geo[g.PARTS]):
        composite = composite_in(row, at, field_of(geo, part))
        conditions &= wanted[part * geo[g.REN_STRIDE] + composite]
    return conditions


@inlined
def end_states(count, ended, edges, first):
    """Let the edges of the next `count` states end here; return how many states have ended."""
    for _ in range(count):
        ended += 1
        first[ended] = edges
    return ended


@kernel
def link(outbox, found, begin, end, tables, wanted, graph, fresh):
    """Add the edges from the states begin … end - 1 of a level to a graph; number new states.

    The edges are the successors that one thread sent, in the order of sending, so they come in the
    order of their sources.

    Args:
        outbox: as `expand` leaves it.
        found: int64 of shape (owners, entries); per successor, what `find_states` found.
        wanted: uint8; the bits that composite g of part p allows, at p * geo[REN_STRIDE] + g. A
            state gets the bits that all its composites allow.
        graph: has room for an edge and a new state per successor; `first` has one element per state
            expanded before, plus one.
        fresh: the number of rows in graph.rows so far.

    Returns:
        The number of rows in graph.rows: the new states of the next level.
    """
    geo, out, order = tables.geo, borrow(outbox.out), borrow(outbox.order)
    number, target = borrow(graph.number), borrow(graph.target)
    conditions, first = borrow(graph.conditions), borrow(graph.first)
    rows, row_words = borrow(graph.rows), geo[g.ROW_WORDS]
    stride = row_words + 1
    label = borrow(graph.label)
    labelled = graph.label.shape[0] > 0
    states, edges, ended = graph.figures[NUMBERED], graph.figures[LINKED], graph.figures[ENDED]
    owners = found.shape[0]
    room = out.shape[0] // owners
    at = np.zeros(owners, np.int64)
    here = begin
    for e in range(outbox.sizes.sum()):
        owner = np.int64(order[e])
        entry = at[owner]
        at[owner] = entry + 1
        start = owner * room + entry * stride
        parent = (out[start + row_words] >> g.LABEL_SHIFT) // owners
        # Edges come in the order of their sources, so all states before this one are complete.
        # A state without successors sends nothing, and ends here, too.
        ended = end_states(parent - here, ended, edges, first)
        here = max(here, parent)
        if entry + NEXT < found.shape[1]:
            prefetch(number, max(found[owner, entry + NEXT], 0))
        slot = found[owner, entry]
        # A state may have got its number since `find_states` looked, from an edge before this one.
        named = -slot if slot < 0 else np.int64(number[slot])
        if named == 0:  # the first edge to this state, so the state gets the next number
            copy_row(out, start, rows, fresh * row_words, row_words)
            conditions[states] = conditions_of(out, start, geo, wanted)
            states += 1
            fresh += 1
            number[slot] = named = states
        target[edges] = named - 1
        if labelled:
            label[edges] = out[start + row_words] >> g.KIND_SHIFT & g.KIND_MASK
        edges += 1
    ended = end_states(end - here, ended, edges, first)
    graph.figures[NUMBERED], graph.figures[LINKED], graph.figures[ENDED] = states, edges, ended
    return fresh
