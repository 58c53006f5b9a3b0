"""A path as a space-time diagram in characters: one column per actor, time downwards.

A packet leaves its sender to the side, falls in a lane of its own while it is in flight, and enters
its receiver from the side. Where lines cross, the vertical one is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from attrs import define, evolve, frozen

from antecede.checker.model import Arm, CausalSend, Internal, Lose, Message, Timeout
from antecede.checker.paths.flights import Flight, flights_of
from antecede.checker.paths.path import Loop, Path, PathStep
from antecede.checker.render.prose import Remarks, Wording, bracket, failing, listed, waiting
from antecede.checker.semantics.values import contains, message_in

MARGIN = 5
"""Columns for the step numbers."""

FULL, SHORT, MARKS = "full", "short", "marks"
"""Which notes stand beside the steps: whole sentences, sentences without the receivers of sends,
or only what the drawing itself does not show."""

CORNERS = {
    (1, True, False): "╮",
    (-1, True, False): "╭",
    (1, False, False): "╯",
    (-1, False, False): "╰",
    (1, True, True): "┓",
    (-1, True, True): "┏",
    (1, False, True): "┛",
    (-1, False, True): "┗",
}
"""(side of the actor's column, is a network-send, is heavy) -> the corner to the packet's lane."""

TEES = {(1, False): "┤", (-1, False): "├", (1, True): "┫", (-1, True): "┣"}
"""(side, is heavy) -> the corner for a reception after which the packet stays in flight."""


@define(eq=False)
class _Line:
    """The line of a packet in the diagram.

    Attributes:
        left: the row of its network-send.
        arrived: the row of its last reception, or of its loss; None if there is neither.
        gap: the gap between two columns with its lane.
        lane: the number of its lane in the gap.
    """

    flight: Flight
    left: int = 0
    arrived: int | None = None
    gap: int = 0
    lane: int = 0
    heavy: bool = False


@frozen(eq=False)
class _Row:
    """One line of the diagram: a step with its number, or a further network-send of the step.

    A packet arrives at the row's actor, leaves it, or is lost on its way to it.
    """

    actor: int
    number: int | None = None
    note: str = ""
    wrong: Message | None = None
    arrives: _Line | None = None
    leaves: _Line | None = None
    loses: _Line | None = None


@frozen
class Diagram:
    """The lines of a diagram, and the labels of the packets in flight that it leaves out."""

    lines: tuple[str, ...]
    undrawn: tuple[str, ...]
    brief: bool = False

    @property
    def width(self) -> int:
        """The length of the longest line."""
        return max(map(len, self.lines))


def fitting(path: Path, remarks: Remarks, wide: int, *, beside_a_list: bool = False) -> Diagram:
    """Draw `path` with as many notes as fit into `wide` columns.

    Notes that a list of the steps has, too, are left out. If even a diagram without notes is wider,
    packets are labelled by their messages alone.
    """
    kinds = [] if beside_a_list else [(FULL, False), (SHORT, False)]
    for notes, brief in (*kinds, (MARKS, False), (MARKS, True)):
        drawn = diagram(path, remarks, notes, brief=brief)
        if drawn.width <= wide:
            break
    return drawn


def diagram(
    path: Path,
    remarks: Remarks = MappingProxyType({}),
    notes: str = FULL,
    *,
    brief: bool = False,
) -> Diagram:
    """Draw `path`.

    Args:
        path: the run.
        remarks: the faults of wrong deliveries, by step and message.
        notes: FULL, SHORT or MARKS.
        brief: whether the label of a packet is its message alone.
    """
    words = Wording.of(path)
    flights = flights_of(path)
    lines = {id(f): _Line(f) for f in flights.every}
    drawn = [line for line in lines.values() if line.flight.drawn]
    start, *sent = [
        tuple(lines[id(f)] for f in flights.sent[number]) for number in range(path.length + 1)
    ]
    met = [lines[id(f)] if (f := flights.met.get(s.number)) else None for s in path.steps]
    rows = [*_from_the_start(start)]
    _add_rows(rows, path, _Notes(words, remarks, notes), sent, met)
    shown = sorted(
        {row.actor for row in rows} | {end for f in drawn for end in (f.flight.src, f.flight.dst)}
        or {0}
    )
    if len(shown) == 1:
        shown = [*shown, *(i for i in range(path.system.actors) if i not in shown)][:2]
        shown.sort()
    place = {actor: at for at, actor in enumerate(shown)}
    _assign_lanes([f for f in drawn if f.arrived is not None], place)
    canvas = _Canvas(words, rows, drawn, place, path.loop, brief)
    undrawn = tuple(words.label(f.packet) for f in flights.in_flight if not f.drawn)
    return Diagram(canvas.lines(), undrawn, brief)


def _from_the_start(flights: tuple[_Line, ...]) -> Iterator[_Row]:
    """Yield a row for each packet that is in flight from the start."""
    for at, line in enumerate(line for line in flights if line.flight.drawn):
        line.left = at
        yield _Row(line.flight.src, leaves=line)


def _add_rows(
    rows: list[_Row],
    path: Path,
    notes: _Notes,
    sent: list[tuple[_Line, ...]],
    met: list[_Line | None],
) -> None:
    """Lay out the path: a row per step, and one for each further network-send of that step."""
    for step, leaving, line in zip(path.steps, sent, met, strict=True):
        row = notes.first_row(step)
        if line is not None:
            line.arrived = len(rows)
            line.heavy |= row.wrong is not None and contains(line.flight.packet, row.wrong)
            is_loss = isinstance(step.transition, Lose)
            row = evolve(row, loses=line) if is_loss else evolve(row, arrives=line)
        rows.append(row)
        for leaves in (each for each in leaving if each.flight.drawn):
            if line is not None or rows[-1].leaves is not None:
                rows.append(_Row(step.actor))
            leaves.left = len(rows) - 1
            rows[-1] = evolve(rows[-1], leaves=leaves)


@frozen
class _Notes:
    """Makes the notes beside the steps."""

    words: Wording
    remarks: Remarks
    kind: str

    def first_row(self, step: PathStep) -> _Row:
        """Return the first row of a step."""
        if isinstance(step.transition, Lose):
            label = self.words.label(step.transition.packet)
            return _Row(step.actor, step.number, f"{label} is lost")
        wrong = None
        for delivery in step.deliveries:
            if self.remarks.get((step.number, delivery.message), "too early") != "too early":
                wrong = delivery.message
        return _Row(step.actor, step.number, self._note(step), wrong)

    def _note(self, step: PathStep) -> str:
        who, held = self.words.actor(step.actor), waiting(step)
        own = [*self._trigger(step, held)]
        seen = [*self._deliveries(step)]
        own += [] if self.kind == MARKS else seen
        own += (f"and {crash}" for crash in self.words.crash(step.transition, brief=True))
        own += ["fails"] if failing(step) else []
        parts = [f"{who} {', '.join(own)}"] if own else []
        if self.kind == MARKS:
            parts += [*seen, *([f"{self.words.said(held)} waits"] if held is not None else [])]
        return ", ".join(parts)

    def _trigger(self, step: PathStep, held: Message | None) -> Iterator[str]:
        """Yield what triggers a step, as a predicate, if the drawing does not show it."""
        transition, words = step.transition, self.words
        if isinstance(transition, Arm):
            yield "decides to send"
        if isinstance(transition, Timeout):
            yield "times out"
        if isinstance(transition, Internal):
            yield words.acts(transition)
        if self.kind == MARKS:
            return
        waits = ", which waits" if held is not None else ""
        if isinstance(transition, CausalSend):
            assert step.message is not None
            to = f" to {listed([words.actor(d) for d in transition.destinations])}"
            yield f"sends {words.said(step.message)}{to if self.kind == FULL else ''}{waits}"
        elif held is not None:
            yield f"receives {words.said(held)}{waits}"

    def _deliveries(self, step: PathStep) -> Iterator[str]:
        """Yield the deliveries with their faults; as MARKS only those that have one."""
        told = dict.fromkeys(delivery.message for delivery in step.deliveries)
        for message in told:
            remark = self.remarks.get((step.number, message))
            said, fault = self.words.said(message), f", {remark}" if remark else ""
            if self.kind != MARKS:
                yield f"delivers {said}{fault}"
            elif remark:
                yield f"{said}{fault}"


def _assign_lanes(flights: list[_Line], place: Mapping[int, int]) -> None:
    """Give each received packet a gap on its way and a free lane in the gap."""
    busy: dict[tuple[int, int], list[_Line]] = defaultdict(list)

    def lane_in(gap: int, line: _Line) -> int:
        lane = 0
        while any(_overlap(line, other) for other in busy[gap, lane]):
            lane += 1
        return lane

    for line in flights:
        src, dst = place[line.flight.src], place[line.flight.dst]
        gaps = range(min(src, dst), max(src, dst)) or [min(src, len(place) - 2)]
        near_source = gaps if src <= dst else reversed(gaps)
        line.lane, line.gap = min(
            ((lane_in(gap, line), gap) for gap in near_source), key=lambda option: option[0]
        )
        busy[line.gap, line.lane].append(line)


def _overlap(one: _Line, other: _Line) -> bool:
    assert one.arrived is not None
    assert other.arrived is not None
    return one.left <= other.arrived and other.left <= one.arrived


class _Canvas:
    """Places columns, lanes and labels, and draws the rows."""

    def __init__(
        self,
        words: Wording,
        rows: list[_Row],
        flights: list[_Line],
        place: Mapping[int, int],
        loop: Loop | None,
        brief: bool,
    ) -> None:
        self.loop, self.brief = loop, brief
        self.words, self.rows, self.flights, self.place = words, rows, flights, place
        self.left_zone, self.right_zone = self._zones()
        self.lanes = [
            1 + max((f.lane for f in flights if f.gap == gap and f.arrived is not None), default=-1)
            for gap in range(len(place) - 1)
        ]
        self.columns = self._columns()

    def _label(self, line: _Line, *, sent: bool) -> str:
        message = message_in(line.flight.packet)
        if message is None or (sent and not self.brief):
            return self.words.label(line.flight.packet)
        return self.words.message(message)

    def _goes_right(self, line: _Line, actor: int) -> bool:
        """Return whether a line's line leaves (or meets) `actor` on its right side."""
        if line.arrived is None:
            to = self.place[line.flight.dst]
            at = self.place[actor]
            return to > at or (to == at < len(self.place) - 1)  # a self-send: where there is room
        return line.gap >= self.place[actor]

    def _zones(self) -> tuple[list[int], list[int]]:
        """Return per gap the room for labels beside its left and its right column."""
        left, right = [4] * (len(self.place) - 1), [4] * (len(self.place) - 1)
        for row in self.rows:
            for line in (row.arrives, row.leaves):
                if line is None:
                    continue
                at = self.place[row.actor]
                room = len(self._label(line, sent=line is row.leaves)) + 2
                room += 2 * (line.arrived is None)
                if self._goes_right(line, row.actor):
                    left[at] = max(left[at], room)
                else:
                    right[at - 1] = max(right[at - 1], room)
        return left, right

    def _columns(self) -> list[int]:
        names = [self.words.actor(actor) for actor in self.place]
        columns = [MARGIN + len(names[0]) // 2]
        for gap, lanes in enumerate(self.lanes):
            room = self.left_zone[gap] + 2 * lanes + self.right_zone[gap]
            apart = 2 + (len(names[gap]) + len(names[gap + 1])) // 2
            columns.append(columns[-1] + max(room, apart))
        return columns

    def _lane_column(self, line: _Line) -> int:
        return self.columns[line.gap] + self.left_zone[line.gap] + 2 * line.lane + 1

    def lines(self) -> tuple[str, ...]:
        """Return the drawn lines: names, a row of verticals, then all rows."""
        header = [" "] * (self.columns[-1] + 20)
        for actor, column in zip(self.place, self.columns, strict=True):
            name = self.words.actor(actor)
            header[column - len(name) // 2 : column - len(name) // 2 + len(name)] = name
        lines = ["".join(header).rstrip(), self._blank()]
        drawn = [self._drawn(at, row) for at, row in enumerate(self.rows)]
        rail = bracket(self._repeated())
        lines += [sign + line[1:] for (sign, _), line in zip(rail, drawn, strict=True)]
        return (*lines, self._blank())

    def _repeated(self) -> list[bool]:
        """Return for each row whether it belongs to a step that repeats forever."""
        flags, number = [], 0
        for row in self.rows:
            number = row.number or number
            flags.append(self.loop is not None and self.loop.covers(number))
        return flags

    def _blank(self) -> str:
        cells = [" "] * (self.columns[-1] + 1)
        for column in self.columns:
            cells[column] = "│"
        return "".join(cells)

    def _drawn(self, at: int, row: _Row) -> str:
        cells = list(self._blank())
        for line in self.flights:
            if line.arrived is not None and line.left < at < line.arrived:
                cells[self._lane_column(line)] = "┃" if line.heavy else "│"
        column = self.columns[self.place[row.actor]]
        if row.arrives is not None:
            self._line(cells, row.arrives, row, at, sent=False)
        if row.leaves is not None:
            self._line(cells, row.leaves, row, at, sent=True)
        if row.loses is not None:
            cells[self._lane_column(row.loses)] = "×"
        elif row.number is not None:
            cells[column] = "✗" if row.wrong else "●"
        if row.number is not None:
            cells[: MARGIN - 2] = f"{row.number:>{MARGIN - 2}}"
        return "".join(cells) + (f"   {row.note}" if row.note else "")

    def _line(self, cells: list[str], line: _Line, row: _Row, at_row: int, *, sent: bool) -> None:
        """Draw a line's horizontal part at the row of its network-send or of its reception."""
        column = self.columns[self.place[row.actor]]
        step = 1 if self._goes_right(line, row.actor) else -1
        label = self._label(line, sent=sent)
        if line.arrived is None:
            end = column + step * (len(label) + 3)
            cells[end - step], cells[end] = "┄", "▷" if step > 0 else "◁"
        else:
            end = self._lane_column(line)
            goes_on = not sent and at_row < line.arrived
            cells[end] = TEES[step, line.heavy] if goes_on else CORNERS[step, sent, line.heavy]
        for at in range(column + step, end, step):
            if cells[at] == " ":
                cells[at] = "━" if line.heavy else "─"
        start = column + 2 if step > 0 else column - 1 - len(label)
        cells[start : start + len(label)] = label
        if not sent:
            cells[column + step] = "◀" if step > 0 else "▶"
        elif row.number is None:
            cells[column] = "├" if step > 0 else "┤"
