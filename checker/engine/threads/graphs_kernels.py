"""The graph of states as arrays: numbered breadth-first, edges as compressed rows.

`checker.engine.threads.graph` makes a graph after a search, if a property asks which states can
recover or which endless runs are fair. It expands all states once more.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from antecede.checker.engine.compiled.jit import borrow, inlined, kernel, prefetch
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
        marks: uint8; per state, the bit set of wanted conditions that hold there.
        label: uint16; per edge, the kind of its transition; or empty.
        rows: the rows of newly numbered states, for the next level; flat.
        figures: slots as named above, updated.
    """

    number: np.ndarray[Any, Any]
    first: np.ndarray[Any, Any]
    target: np.ndarray[Any, Any]
    marks: np.ndarray[Any, Any]
    label: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]
    figures: np.ndarray[Any, Any]


@kernel
def find_states(out, size, row_words, slots, figures, offset, number, found):
    """Look up states in one thread's visited set, and write the number that each has in a graph.

    The graph is the kept graph of all states, for searches for cycles; a state gets its number when
    it is first linked. A thread owns the states whose hash selects it, and its visited set has
    them.

    Args:
        out: int64, flat; the states as entries: a row, and a word about a transition.
        size: the number of entries.
        row_words: the number of words of a row.
        slots: int64, flat; the visited set: `row_words` words per slot, -1 in an empty one.
        figures: int64; the numbers of the set named at `sets_kernels.CAPACITY`.
        offset: the slots of the sets of all threads are numbered one after the other; the number of
            this set's first slot.
        number: uint32; per slot of all sets, 1 + the number of its state; 0: it has none yet.
        found: output, int64; per entry, minus `number` if the state has a number; otherwise the
            number of its slot.

    Returns:
        Whether all states are in the set.
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


@kernel
def link(outbox, found, begin, end, tables, wanted, graph, fresh):
    """Add the edges from some expanded states to a graph, and number the states that are new in it.

    The graph is the kept graph of all states, for searches for cycles. The edges are the successors
    that one thread sent, in the order of sending, so they come in the order of their sources.

    Args:
        outbox: the successors of consecutive states, an `Outbox`, as `expand` leaves it.
        found: int64 of shape (owners, entries); per successor, what `find_states` found.
        begin, end: the range of the expanded states, as indices in their level.
        tables: a `Tables`. Only `geo` is read: the sizes and switches of this search.
        wanted: uint8; the bit set of conditions that composite g of part p allows, at p *
            geo[REN_STRIDE] + g. A composite is the number that stands for one actor's part of a
            state. A condition holds in a state if all its composites allow it.
        graph: a `Growing`, the graph; updated. It must have room for an edge and a new state per
            successor; `first` has one element per state expanded before, plus one.
        fresh: the number of rows in graph.rows so far.

    Returns:
        The number of rows in graph.rows: the new states of the next level.
    """
    geo, out, order = tables.geo, borrow(outbox.out), borrow(outbox.order)
    number, target, marks = borrow(graph.number), borrow(graph.target), borrow(graph.marks)
    rows, row_words = borrow(graph.rows), geo[g.ROW_WORDS]
    stride = row_words + 1
    first, label = borrow(graph.first), borrow(graph.label)
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
        parent = (out[start + row_words] >> 31) // owners
        # Edges come in the order of their sources, so all states before this one are complete.
        # A state without successors sends nothing, and ends here, too.
        while here < parent:
            ended += 1
            first[ended] = edges
            here += 1
        if entry + NEXT < found.shape[1]:
            prefetch(number, max(found[owner, entry + NEXT], 0))
        slot = found[owner, entry]
        # A state may have got its number since `find_states` looked, from an edge before this one.
        named = -slot if slot < 0 else np.int64(number[slot])
        if named == 0:  # the first edge to this state, so the state gets the next number
            copy_row(out, start, rows, fresh * row_words, row_words)
            marks[states] = conditions_of(out, start, geo, wanted)
            states += 1
            fresh += 1
            number[slot] = named = states
        target[edges] = named - 1
        if labelled:
            label[edges] = out[start + row_words] >> 16 & 0x7FFF
        edges += 1
    while here < end:
        ended += 1
        first[ended] = edges
        here += 1
    graph.figures[NUMBERED], graph.figures[LINKED], graph.figures[ENDED] = states, edges, ended
    return fresh
