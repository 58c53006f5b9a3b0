"""The layout of a space-time diagram, computed from a path and independent of the drawing.

Simultaneous events of one packet share a point: a causal-send and its network-send, a reception and
its delivery. Other effects of the transition follow just below.

Question: Where is a counterexample drawn? From this layout, `svg` draws for pages and `diagram` on
the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from attrs import define, evolve, field

from antecede.checker.model import (
    Arm,
    CausalSend,
    Internal,
    LocalState,
    Lose,
    Message,
    Predicate,
    Receive,
    Timeout,
)
from antecede.checker.paths.flights import Flight, Flights, flights_of
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.paths.violation import Violation, lost, wrong_order
from antecede.checker.render.about import explanation_of
from antecede.checker.render.geometry import (
    BESIDE,
    BUFFER,
    HEAD,
    LONGEST_BESIDE,
    LONGEST_LABEL,
    NAME,
    NARROWEST,
    NUMBERS,
    ROW,
    SLOT,
    TEXT,
    WIDEST,
    Arrow,
    Box,
    Bracket,
    Label,
    Layout,
    Mark,
    Point,
    Row,
    Span,
    crosses,
    cut,
    overlap,
    text_width,
)
from antecede.checker.render.prose import Remarks, Wording, failing, listed, loop_text, waiting
from antecede.checker.semantics.crashes import CRASH, RECOVER, Crashed, cut_of, is_live
from antecede.checker.semantics.failing import failure_in
from antecede.checker.semantics.judge import pending
from antecede.checker.semantics.values import contains, message_in

CRASHED = "crashed"
"""The mode of an actor between a crash and its recovery."""
_FAILS, _CRASHES = "fails", "crashes"
"""The labels of a step where a handler or a predicate fails, or where the actor crashes."""

_NO_LABEL = Label("", 0, 0)


def layout_of(path: Path) -> Layout:
    """Lay out `path`, with room for every label.

    Where a label goes depends on the distances between the actors' lines only. So a label that does
    not fit on the left fits after all lines have moved to the right.
    """
    layout = _Planner(path).layout()
    lacking = NUMBERS - min((label.box[0] for label in layout.labels), default=NUMBERS)
    return _Planner(path, lacking).layout() if lacking > 0 else layout


@define(eq=False)
class _Planner:
    """Places rows first, then marks, and then the labels of arrows where they cover least.

    Attributes:
        indent: how much further to the right all lines are.
        slots: (step number, item) -> the slot of a mark within its step. The item is "step", a
            message delivered, or a flight that leaves.
        y: step number -> the position of its first slot.
    """

    path: Path
    indent: float = 0.0
    words: Wording = field(init=False)
    remarks: Remarks = field(init=False)
    flights: Flights = field(init=False)
    violation: Violation | None = field(init=False)
    late: list[Flight] = field(init=False, factory=list)
    chain: list[Flight] = field(init=False, factory=list)
    slots: dict[tuple[int, object], int] = field(init=False, factory=dict)
    y: dict[int, float] = field(init=False, factory=dict)
    x: list[float] = field(init=False, factory=list)
    taken: list[Box] = field(init=False, factory=list)
    shafts: list[tuple[Flight, Arrow]] = field(init=False, factory=list)
    bottom: float = field(init=False, default=0.0)

    def layout(self) -> Layout:
        """Return the layout. Each part is placed after the parts that it depends on."""
        path = self.path
        self.words, self.remarks = Wording.of(path), explanation_of(path).remarks
        self.flights = flights_of(path)
        self.violation = wrong_order(path)
        rows = self._rows()
        right = self._columns()
        trail = tuple(self._trail())
        self.shafts = [
            (f, shaft) for f in self.flights.every if f.drawn for shaft in self._shafts(f)
        ]
        marks = (*self._marks(), *self._missing())
        self.taken += [(m.x - 8, m.y - 8, m.x + 8, m.y + 8) for m in marks]
        self.taken += [m.label.box for m in marks if m.label is not None]
        spans = tuple(self._spans())
        arrows = tuple(self._arrows())
        loop = self._loop(rows)
        notes = self.x[-1] + right
        wide = [text_width(row.short, bold=row.wrong) for row in rows]
        wide += [text_width(loop.shown, bold=True)] if loop is not None else []
        layout = Layout(
            width=notes + max(wide, default=0.0) + 12,
            height=self.bottom + 10,
            columns=tuple((x, cut(self.words.actor(i))) for i, x in enumerate(self.x)),
            top=HEAD - 14,
            notes=notes,
            rows=rows,
            spans=spans,
            trail=trail,
            arrows=arrows,
            marks=marks,
            modes=tuple(self._modes()),
            undrawn=tuple(self._undrawn()),
            loop=loop,
        )
        beyond = max([0.0, *(label.box[2] - notes for label in layout.labels)]) + 12
        return evolve(layout, width=layout.width + beyond, notes=notes + beyond)

    # Rows and columns

    def _rows(self) -> tuple[Row, ...]:
        rows, top = [], HEAD
        for step in self.path.steps:
            count = self._place_slots(step)
            self.y[step.number] = top + ROW / 2
            height = ROW + (count - 1) * SLOT
            wrong = any((step.number, d.message) in self.remarks for d in step.deliveries)
            rows.append(
                Row(
                    step.number,
                    top,
                    top + height,
                    self.y[step.number],
                    note_of(self.words, step, self.remarks),
                    wrong,
                    self.flights.is_control(step),
                )
            )
            top += height
        self.bottom = top + (34 if lost(self.path) else 16)
        return tuple(rows)

    def _loop(self, rows: tuple[Row, ...]) -> Bracket | None:
        """Return the bracket around the steps that repeat forever, or None."""
        if self.path.loop is None or not self.path.repeats:
            return None
        first = rows[self.path.loop.after]
        return Bracket(first.top + 5, rows[-1].bottom - 5, loop_text(self.path))

    def _place_slots(self, step: PathStep) -> int:
        """Give each mark of a step a slot, and return the number of slots."""
        number, held = step.number, waiting(step)
        self.slots[number, "step"] = 0
        used = 1
        shared = isinstance(step.transition, Receive) and held is None
        for delivery in step.deliveries:
            at = 0 if shared else used
            self.slots[number, delivery.message] = at
            used, shared = max(used, at + 1), False
        shared = step.message is not None
        for _, group in groupby(self._leaving(step), key=lambda f: f.packet):
            flights = list(group)
            own = shared and contains(flights[0].packet, step.message)  # type: ignore[arg-type]
            for flight in flights:
                self.slots[number, flight] = 0 if own else used
            used, shared = used + (not own), shared and not own
        if cut_of(step.transition) is not None:
            self.slots[number, CRASH] = used
            used += 1
        return used

    def _leaving(self, step: PathStep) -> list[Flight]:
        return [f for f in self.flights.sent[step.number] if f.drawn]

    def _columns(self) -> float:
        """Place the actors' lines; return the room to the right of the last one."""
        last = self.path.system.actors - 1
        left = right = 40.0
        beside = [*self._never()]
        beside += [(s.actor, text) for s in self.path.steps for text in self._labels_beside(s)]
        for actor, text in beside:
            wide = text_width(text) + 34
            left = max(left, wide) if actor == 0 else left
            right = max(right, wide) if actor == last else right
        texts = [cut(self.words.label(f.packet)) for f in self.flights.every if f.drawn]
        widest = max(map(text_width, texts), default=0.0) + 70
        heads = [text_width(cut(self.words.actor(i)), NAME, bold=True) for i in range(last + 1)]
        gap = min(max(NARROWEST, widest, max(heads) + 16), WIDEST)
        left, right = max(left, heads[0] / 2 - NUMBERS + 6), max(right, heads[-1] / 2 + 6)
        self.x = [NUMBERS + self.indent + left + i * gap for i in range(last + 1)]
        return right

    def _labels_beside(self, step: PathStep) -> Iterator[str]:
        if (held := waiting(step)) is not None:
            yield self._waits(held)
        if failing(step):
            yield _FAILS
        if cut_of(step.transition) is not None:
            yield _CRASHES
        for delivery in step.deliveries:
            yield self._delivered(step, delivery.message)

    def _waits(self, message: Message) -> str:
        return f"{self._short(message)} waits"

    def _short(self, message: Message) -> str:
        """Return a message's name, cut to LONGEST_BESIDE so that columns stay close."""
        return cut(self.words.message(message), LONGEST_BESIDE)

    def _delivered(self, step: PathStep, message: Message) -> str:
        remark = self.remarks.get((step.number, message))
        return self._short(message) + (f" {remark}" if remark else "")

    def _at(self, step: PathStep, what: object = "step") -> Point:
        """Return the point of a mark."""
        slot = self.slots.get((step.number, what), 0)
        return self.x[step.actor], self.y[step.number] + slot * SLOT

    def _leaves(self, flight: Flight) -> Point:
        """Return the start of an arrow; above the first row if it is in flight from the start."""
        if flight.sent is None:
            return self.x[flight.src], HEAD - 8
        return self._at(flight.sent, flight)

    # Marks

    def _marks(self) -> Iterator[Mark]:
        for step in self.path.steps:
            if isinstance(step.transition, Lose):
                continue
            yield from self._trigger(step)
            yield from self._deliveries(step)
            yield from self._network_sends(step)
            if cut_of(step.transition) is not None:
                x, y = self._at(step, CRASH)
                label = self._free_beside(_CRASHES, step, x, y)
                yield Mark(Internal.kind, x, y, step.number, label)
            held = waiting(step)
            if failing(step):
                x, y = self._at(step)
                label = self._free_beside(_FAILS, step, x, y)
                yield Mark("failure", x, y, step.number, label, wrong=True)
            if held is not None:
                x, y = self._at(step)
                side = self._side(step)
                label = self._beside(self._waits(held), x + 6 * side, y, side)
                stuck = self._is_stuck(held)
                yield Mark("wait", x + 15 * side, y, step.number, label, stuck)

    def _trigger(self, step: PathStep) -> Iterator[Mark]:
        x, y = self._at(step)
        if isinstance(step.transition, CausalSend):
            assert step.message is not None
            wrong = self._is_stuck(step.message)
            yield Mark("causal-send", x, y, step.number, wrong=wrong)
        elif isinstance(step.transition, Internal) and step.transition.name in (CRASH, RECOVER):
            label = self._free_beside(self.words.acts(step.transition), step, x, y)
            yield Mark(step.transition.kind, x, y, step.number, label)
        elif isinstance(step.transition, Arm | Timeout | Internal):
            yield Mark(step.transition.kind, x, y, step.number)
        elif not any(self._at(step, d.message)[1] == y for d in step.deliveries):
            control = self.flights.met[step.number].control
            yield Mark("receive", x, y, step.number, control=control)

    def _deliveries(self, step: PathStep) -> Iterator[Mark]:
        for delivery in step.deliveries:
            x, y = self._at(step, delivery.message)
            label = self._free_beside(self._delivered(step, delivery.message), step, x, y)
            wrong = (step.number, delivery.message) in self.remarks
            yield Mark("deliver", x, y, step.number, label, wrong)

    def _network_sends(self, step: PathStep) -> Iterator[Mark]:
        leaving = {self._at(step, f): f for f in self._leaving(step)}
        for (x, y), flight in leaving.items():
            yield Mark("network-send", x, y, step.number, control=flight.control)

    def _side(self, step: PathStep) -> int:
        """Return the better side for a mark's label: away from its arrow.

        The outer lines have their labels outside.
        """
        if step.actor in (0, len(self.x) - 1):
            return -1 if step.actor == 0 else 1
        if isinstance(step.transition, Receive):
            return 1 if step.transition.src < step.actor else -1
        leaving = self._leaving(step)
        return -1 if leaving and leaving[0].dst > step.actor else 1

    def _beside(self, text: str, x: float, y: float, side: int) -> Label:
        return Label(text, x + BESIDE * side, y + 4.5, "start" if side > 0 else "end")

    def _free_beside(self, text: str, step: PathStep, x: float, y: float) -> Label:
        """Return a mark's label, placed where no arrow crosses it if possible."""
        side = self._side(step)
        options = [self._beside(text, x, y, side)]
        if step.actor not in (0, len(self.x) - 1):
            options += [self._beside(text, x, y + lower, -side) for lower in (0, 11)]
            options.append(self._beside(text, x, y + 11, side))
        lines = [shaft.points for _, shaft in self.shafts]
        return min(options, key=lambda label: sum(crosses(line, label.box) for line in lines))

    def _is_stuck(self, message: Message) -> bool:
        """Return whether the path shows that `message` is never delivered."""
        return message in lost(self.path)

    def _missing(self) -> Iterator[Mark]:
        """Yield a mark at the end of each line where a message should have been delivered."""
        for actor, text in self._never():
            x, y = self.x[actor], self.bottom - 10
            label = self._beside(text, x, y, -1 if actor == 0 else 1)
            yield Mark("missing", x, y, self.path.length, label, wrong=True)

    def _never(self) -> Iterator[tuple[int, str]]:
        """Yield (actor, text) with the messages that are never delivered at the actor."""
        missing = lost(self.path)
        for actor in range(self.path.system.actors):
            here = missing if is_live(self.path.last, actor) else ()
            owed = [m for m in here if actor in pending(self.path.last, m)]
            if owed:
                names = listed([self._short(m) for m in owed])
                several = names if len(names) <= LONGEST_LABEL else f"{len(owed)} messages"
                yield actor, f"{several} never delivered"

    # Spans

    def _spans(self) -> Iterator[Span]:
        for actor, x in enumerate(self.x):
            for top, bottom in self._buffered(actor):
                yield Span(BUFFER, x, top, bottom)
            for name, predicate in self._modes().items():
                shown = [
                    _shows(predicate, state.actors[actor])
                    for state in (self.path.initial, *(s.state for s in self.path.steps))
                ]
                for top, bottom in self._runs(shown):
                    label = None
                    if name != CRASHED:  # the marks at its ends have labels
                        label = self._span_label(cut(name.replace("-", " ")), actor, top, bottom)
                    yield Span(name, x, top, bottom, label)

    def _modes(self) -> dict[str, Predicate]:
        """Return the witnesses except for the witness of waiting, which the buffers show.

        If actors may crash, CRASHED is one more mode.
        """
        witnesses = self.path.system.protocol.witnesses
        modes = {name: shows for name, shows in witnesses.items() if name != "waited"}
        crashes = self.path.system.crashes is not None
        return modes | {CRASHED: lambda state: isinstance(state, Crashed)} if crashes else modes

    def _span_label(self, text: str, actor: int, top: float, bottom: float) -> Label:
        """Return a span's label: upright beside it if there is room, else below it."""
        side, half = (-1 if actor == 0 else 1), text_width(text) / 2
        x = self.x[actor]
        if bottom - top < 2 * half + 6:
            return self._beside(text, x, bottom + 4, side)
        options = [
            Label(text, x + (22 if side > 0 else -14), y, turned=True)
            for y in _spread(top + half, bottom - half)
        ]
        best = min(options, key=lambda label: sum(overlap(label.box, b) for b in self.taken))
        self.taken.append(best.box)
        return best

    def _runs(self, shown: list[bool]) -> Iterator[tuple[float, float]]:
        """Yield (top, bottom) of each stretch of steps with a true value."""
        start: float | None = HEAD - 10 if shown[0] else None
        for step, (before, now) in zip(self.path.steps, pairwise(shown), strict=True):
            _, y = self._at(step, CRASH)  # the first slot, if the actor does not crash in the step
            if now and not before:
                start = y
            elif before and not now:
                assert start is not None
                yield start, y
                start = None
        if start is not None:
            yield start, self.bottom

    def _buffered(self, actor: int) -> Iterator[tuple[float, float]]:
        """Yield (top, bottom) of each stretch of time while a message waits at `actor`."""
        ends: list[tuple[float, float]] = []
        for step in self.path.steps:
            held = waiting(step)
            if held is not None and step.actor == actor:
                ends.append((self._at(step)[1], self._freed(step, held)))
        merged: list[tuple[float, float]] = []
        for top, bottom in sorted(ends):
            if merged and top <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(bottom, merged[-1][1]))
            else:
                merged.append((top, bottom))
        yield from merged

    def _freed(self, waits: PathStep, message: Message) -> float:
        """Return the position where a message that waits is sent, delivered or lost in a crash."""
        for step in self.path.steps[waits.number :]:
            if step.actor != waits.actor:
                continue
            if isinstance(waits.transition, CausalSend):
                for flight in self.flights.sent[step.number]:
                    if contains(flight.packet, message):
                        return self._at(step, flight)[1]
            if any(d.message == message for d in step.deliveries):
                return self._at(step, message)[1]
            state = step.state.actors[step.actor]
            if isinstance(state, Crashed) and not contains(state, message):
                return self._at(step)[1]
        return self.bottom

    # The violation

    def _trail(self) -> Iterator[tuple[Point, Point]]:
        """Yield the pieces of the happens-before chain, and mark the arrows of the violation."""
        violation = self.violation
        if violation is None:
            return
        self._route(violation.first, violation.actor, self.late)
        for one, other in pairwise(violation.chain):
            if one.sender == other.sender:
                yield self._at(self._sending(one)), self._at(self._sending(other))
                continue
            yield from self._route(one, other.sender, self.chain)
            start = self._at(self._delivering(one, other.sender), one)
            yield start, self._at(self._sending(other))
        yield from self._route(violation.second, violation.actor, self.chain)

    def _sending(self, message: Message) -> PathStep:
        return next(s for s in self.path.steps if s.message == message)

    def _delivering(self, message: Message, actor: int) -> PathStep:
        return next(
            step
            for step in self.path.steps
            for d in step.deliveries
            if (d.actor, d.message) == (actor, message)
        )

    def _route(self, message: Message, actor: int, used: list[Flight]) -> list[tuple[Point, Point]]:
        """Return the pieces from a message's causal-send to its delivery, with its relays."""
        pieces: list[tuple[Point, Point]] = []
        arrived = self._delivering(message, actor)
        here, until, point = actor, arrived.number, self._at(arrived, message)
        seen: set[int] = set()
        while (flight := self.flights.carrying(message, here, until)) and id(flight) not in seen:
            seen.add(id(flight))
            used.append(flight)
            reception = self._at(flight.receptions[0])
            start = self._leaves(flight)
            pieces += [(reception, point), (start, reception)]
            here, until, point = flight.src, flight.since, start
            if here == message.sender:
                break
        pieces.append((self._at(self._sending(message)), point))
        return [(start, end) for start, end in reversed(pieces) if start != end]

    # Arrows

    def _arrows(self) -> Iterator[Arrow]:
        for flight, shaft in self.shafts:
            label = self._arrow_label(flight, shaft)
            self.taken.append(label.box)
            role = "late" if flight in self.late else "chain" if flight in self.chain else ""
            yield evolve(shaft, label=label, role=role)

    def _shafts(self, flight: Flight) -> Iterator[Arrow]:
        """Yield the arrows of a flight, without their labels and roles."""
        start = self._leaves(flight)
        towards = 1 if self.x[flight.dst] >= start[0] else -1
        for step in flight.receptions:
            yield self._shaft(flight, start, self._at(step), "received", step.number)
        if flight.lost is not None:
            end = self.x[flight.dst] - 26 * towards, self.y[flight.lost.number]
            yield self._shaft(flight, start, end, "lost", flight.lost.number)
        if flight.in_flight:
            end = start[0] + 44 * towards, start[1] + 13
            yield self._shaft(flight, start, end, "in-flight", None)

    def _shaft(self, flight: Flight, start: Point, end: Point, kind: str, met: int | None) -> Arrow:
        loops = flight.src == flight.dst
        return Arrow((start, end), kind, "", _NO_LABEL, flight.since, met, flight.control, loops)

    def _arrow_label(self, flight: Flight, shaft: Arrow) -> Label:
        """Place the label where it covers least, preferably near the sender."""
        (x1, y1), (x2, y2) = shaft.points
        text = cut(self.words.label(flight.packet))
        if shaft.end == "in-flight":
            side = 1 if x2 > x1 else -1
            return Label(f"{text} in flight", x2 + 7 * side, y2 + 4, "start" if side > 0 else "end")
        if x1 == x2:
            return Label(text, x1 + 46, (y1 + y2) / 2, "start")
        lean = abs(y2 - y1) / max(abs(x2 - x1), 1.0)
        lift = 5 + min(lean, 0.6) * text_width(text) / 2
        options = []
        for order, part in enumerate((0.28, 0.2, 0.36, 0.44, 0.52, 0.64, 0.76, 0.86)):
            x, y = x1 + (x2 - x1) * part, y1 + (y2 - y1) * part
            for label in (Label(text, x, y - lift), Label(text, x, y + lift + TEXT - 4)):
                options.append((self._cost(label) + 2 * order, label))
        return min(options, key=lambda option: option[0])[1]

    def _cost(self, label: Label) -> float:
        """Return a measure of how much of the drawing a label covers."""
        left, top, right, _ = box = label.box
        cost = sum(40.0 for other in self.taken if overlap(box, other))
        cost += sum(25.0 for x in self.x if left - 4 < x < right + 4)
        cost += sum(6.0 for _, shaft in self.shafts if crosses(shaft.points, box))
        return cost + (100 if top < HEAD - 24 else 0)

    def _undrawn(self) -> Iterator[str]:
        for f in self.flights.in_flight:
            if not f.drawn:
                ends = f"{self.words.actor(f.src)} to {self.words.actor(f.dst)}"
                yield f"{self.words.value(f.packet)} ({ends})"


def note_of(words: Wording, step: PathStep, remarks: Remarks) -> str:
    """Return the effects of a step in few words, except for those that the arrows show."""
    transition, held = step.transition, waiting(step)
    delivered = [part.removeprefix("delivers ") for part in words.deliveries(step, remarks)]
    delivers = [f"delivers {listed(delivered)}"] if delivered else []
    if isinstance(transition, Receive) and delivered and held is None:
        parts = [f"{words.actor(step.actor)} {delivers[0]}"]
    else:
        parts = [words.trigger(transition, step.message, brief=True), *delivers]
    if step.message is None:
        sends = {words.label(p): None for _, p in step.step.sends if message_in(p) is not None}
        parts += [f"sends {listed(list(sends))}"] if sends else []
    parts += (f"and {crash}" for crash in words.crash(transition, brief=True))
    if failed := failing(step):
        parts.append(f"and {failed} fails")
    return ", ".join(parts) + (f"; {words.said(held)} waits" if held is not None else "")


def _spread(low: float, high: float) -> Iterator[float]:
    """Yield positions from the middle of a range to its ends."""
    middle, half = (low + high) / 2, max((high - low) / 2, 0.0)
    for part in (0.0, -0.5, 0.5, -1.0, 1.0):
        yield middle + part * half


def _shows(witness: Predicate, state: LocalState) -> bool:
    """Return whether a state satisfies a witness; False if the protocol or the witness fails."""
    if failure_in((state,)):
        return False
    try:
        return bool(witness(state))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return False
