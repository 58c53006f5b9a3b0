"""The distributed audit: processes logs in pieces, and merges the results.

Reading is the most expensive part, so pieces are read in parallel. Knowledge must be followed in
causal order, which is sequential. However, an actor's knowledge of one sender never depends on its
knowledge of another sender. So the clocks are divided by senders. Each group of senders has its own
pass over all events, which are small by then. The pass keeps its share of every clock, and judges
the deliveries of its senders' messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from antecede.checker.logs.events import columns_kernels as c
from antecede.checker.logs.events.batches import Batch, two_homes
from antecede.checker.logs.events.space import Array
from antecede.checker.logs.judge import layout_kernels as k
from antecede.checker.logs.judge.findings import Audit, Finding, sentence
from antecede.checker.logs.judge.judge import MOST_CHAINS, Judge
from antecede.checker.logs.readers.sources import Foreign
from antecede.checker.logs.spark.pieces import Piece, Split
from antecede.checker.support.errors import InputError

SENDERS = 256
"""The least number of senders in a group; a pass for fewer senders is not worth its cost."""

TOKEN = re.compile("\0([0-9]+)\0")
"""Replaces the name of a message by its number until names are known."""


@frozen(eq=False)
class Info:
    """Summary of a piece before names are merged.

    Attributes:
        first: int64 per actor; the line of its first event, or -1 if it has none.
        error: the reason why it cannot be read, or None.
    """

    lines: int
    events: int
    sends: int
    actors: tuple[str, ...]
    first: Array
    torn: tuple[int, ...]
    foreign: Foreign | None
    error: str | None


def info_of(piece: Piece) -> Info:
    """Return the summary of a piece."""
    first = np.full(len(piece.actors), -1, np.int64)
    rows = piece.events[::-1]
    first[rows[:, c.ACTOR]] = rows[:, c.PLACE]
    sends = int((piece.events[:, c.KIND] == c.SENT).sum())
    return Info(
        piece.lines, len(rows), sends, piece.actors, first, piece.torn, piece.foreign, piece.error
    )


@frozen(eq=False)
class Whole:
    """Summary of all pieces together.

    Attributes:
        starts: per piece, the number of lines before it in its file.
        actors: names, by number.
        numbers: name -> number.
        groups: ranges of chunks of senders; see `tables.fresh`.
        torn: files and torn lines.
        foreign: the lines of each file that are no events.
    """

    splits: tuple[Split, ...]
    starts: tuple[int, ...]
    actors: tuple[str, ...]
    numbers: Mapping[str, int]
    groups: tuple[tuple[int, int], ...]
    torn: tuple[tuple[str, int], ...]
    foreign: tuple[Foreign, ...]


def together(splits: Sequence[Split], infos: Sequence[Info], most: int) -> Whole:
    """Merge the summaries of the pieces, and divide senders into at most `most` groups.

    Raises:
        InputError: a piece cannot be read, or an actor has events in two logs.
    """
    home: dict[str, str] = {}
    numbers: dict[str, int] = {}
    starts: list[int] = []
    torn: list[tuple[str, int]] = []
    foreign: dict[str, Foreign] = {}
    for index, (split, info) in enumerate(zip(splits, infos, strict=True)):
        if info.error is not None:
            raise InputError(info.error)
        same = index and splits[index - 1].path == split.path
        starts.append(starts[-1] + infos[index - 1].lines if same else 0)
        torn += [(split.path, starts[-1] + line) for line in info.torn]
        if (more := info.foreign) is not None:
            moved = evolve(more, log=split.path, first=more.first and more.first + starts[-1])
            foreign[split.path] = _added(foreign.get(split.path), moved)
        for number in np.argsort(info.first, kind="stable"):
            name = info.actors[number]
            numbers.setdefault(name, len(numbers))
            line = int(info.first[number])
            if line >= 0 and home.setdefault(name, split.whole) != split.whole:
                raise two_homes(name, home[name], split.path, starts[-1] + line)
    chunks = -(-len(numbers) // k.WIDTH)
    count = max(1, min(most, -(-len(numbers) // SENDERS)))
    bounds = [chunks * n // count for n in range(count + 1)]
    groups = tuple(pairwise(bounds))
    others = tuple(foreign.values())
    return Whole(tuple(splits), tuple(starts), tuple(numbers), numbers, groups, tuple(torn), others)


def _added(one: Foreign | None, other: Foreign) -> Foreign:
    """Return the other lines of two pieces of a file; the first piece comes first."""
    if one is None:
        return other
    lines, odd = one.lines + other.lines, one.odd + other.odd
    return evolve(one if one.why else other, lines=lines, odd=odd)


# Numbers of messages


def buckets(at: int, piece: Piece, count: int) -> Iterable[tuple[int, tuple[int, Array, Array]]]:
    """Yield (bucket, (piece, its own numbers, hashes)) for the names of its messages."""
    bucket = (piece.hashes[:, 0].astype(np.uint64) % np.uint64(count)).astype(np.int64)
    for number in range(count):
        own = np.flatnonzero(bucket == number)
        if own.size:
            yield number, (at, own.astype(np.int32), piece.hashes[own])


def ranked(
    bucket: int, count: int, parts: Iterable[tuple[int, Array, Array]]
) -> Iterable[tuple[int, tuple[Array, Array]]]:
    """Yield (piece, (its own numbers, the global numbers)) for the names of a bucket."""
    taken = list(parts)
    if not taken:
        return
    hashes = np.concatenate([part[2] for part in taken])
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    there = hashes[order]
    new = np.ones(len(there), bool)
    new[1:] = (there[1:] != there[:-1]).any(axis=1)
    numbers = np.empty(len(there), np.int64)
    numbers[order] = (np.cumsum(new) - 1) * count + bucket
    end = 0
    for at, own, _ in taken:
        yield at, (own, numbers[end : end + len(own)])
        end += len(own)


@frozen(eq=False)
class Block:
    """The events of a piece, with global numbers; only destination sets have the piece's numbers.

    Attributes:
        kinds: uint8; c.SENT or c.GOT.
        actors, sets: int32.
        messages: int64.
        lines: int32.
        members: the sets.
        named: names of messages from lines with several events, where a line is ambiguous.
    """

    kinds: Array
    actors: Array
    messages: Array
    sets: Array
    lines: Array
    members: tuple[tuple[int, ...], ...]
    named: Mapping[int, str]


def block_of(piece: Piece, numbers: Iterable[tuple[Array, Array]], whole: Whole) -> Block:
    """Return the events of a piece with the global numbers of its messages."""
    messages = np.zeros(len(piece.hashes), np.int64)
    for own, there in numbers:
        messages[own] = there
    actors = np.array([whole.numbers[name] for name in piece.actors], np.int32)
    rows = piece.events
    return Block(
        rows[:, c.KIND].astype(np.uint8),
        actors[rows[:, c.ACTOR]],
        messages[rows[:, c.MESSAGE]],
        rows[:, c.TO].astype(np.int32),
        rows[:, c.PLACE].astype(np.int32),
        tuple(tuple(sorted(int(actors[a]) for a in members)) for members in piece.sets),
        {int(messages[number]): name for number, name in piece.named.items()},
    )


# Judging


@define(eq=False)
class Pass:
    """Judges the messages of a group of senders.

    Attributes:
        most: the greatest number of a message, plus one.
        sets: the numbers of destination sets.
        named: names of messages that came with the pieces.
        asked: other messages in findings, whose names must be looked up later.
    """

    whole: Whole
    group: tuple[int, int]
    judge: Judge = field(init=False)
    most: int = 0
    sets: dict[tuple[int, ...], int] = field(factory=dict)
    named: dict[int, str] = field(factory=dict)
    asked: set[int] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        """Let the judge ask for names here."""
        self.judge = Judge(self, group=self.group)

    def take(self, at: int, block: Block) -> None:
        """Judge the events of the next piece."""
        count = len(block.kinds)
        if not count:
            return
        self.most = max(self.most, int(block.messages.max()) + 1)
        self.named |= block.named
        new = [members for members in dict.fromkeys(block.members) if members not in self.sets]
        self.sets |= {members: len(self.sets) + at for at, members in enumerate(new)}
        sets = np.array([*(self.sets[members] for members in block.members), -1], np.int64)
        batch = Batch(actors=len(self.whole.actors), messages=self.most)
        batch.set_ends = np.cumsum([*map(len, new)], dtype=np.int64)
        batch.members = np.fromiter(chain.from_iterable(new), np.int32)
        for begin in range(0, count, len(batch.rows)):
            part = slice(begin, min(begin + len(batch.rows), count))
            batch.events = part.stop - begin
            rows = batch.rows[: batch.events]
            rows[:, c.KIND], rows[:, c.ACTOR] = block.kinds[part], block.actors[part]
            rows[:, c.MESSAGE], rows[:, c.TO] = block.messages[part], sets[block.sets[part]]
            rows[:, c.PLACE] = block.lines[part].astype(np.int64) | (at << c.PLACE_BITS)
            self.judge.take(batch)
            batch.set_ends, batch.members = batch.set_ends[:0], batch.members[:0]

    def actor(self, number: int) -> str:
        """Return an actor's name."""
        return self.whole.actors[number]

    def message(self, number: int) -> str:
        """Return a message's name, or a token with its number."""
        if number in self.named:
            return self.named[number]
        self.asked.add(number)
        return f"\0{number}\0"

    def place(self, where: int) -> tuple[str, int]:
        """Return the file and the line of a place."""
        piece, line = _split(where)
        return self.whole.splits[piece].path, self.whole.starts[piece] + line

    def places(self) -> dict[int, tuple[int, int]]:
        """Return a piece and a line in it about each message in `asked`, by message number."""
        found = self.judge.tables.found[: self.judge.tables.counter[k.FOUND]]
        columns = (found[:, column].tolist() for column in (k.MESSAGE, k.PLACE))
        place_of = dict(zip(*columns, strict=True))
        remaining = np.array(sorted(self.asked - place_of.keys()), np.int64)
        for _, events in self.judge.rows():
            if not remaining.size:
                break
            events = events[np.isin(events[:, k.MESSAGE], remaining)]
            there, first = np.unique(events[:, k.MESSAGE], return_index=True)
            tagged = events[first, k.TAGGED]
            place_of |= zip(there.tolist(), (tagged >> 2).tolist(), strict=True)
            remaining = np.setdiff1d(remaining, there)
        return {number: _split(place_of[number]) for number in self.asked}


def _split(where: int) -> tuple[int, int]:
    """Return the piece and the line in it of a place."""
    return where >> c.PLACE_BITS, where & ((1 << c.PLACE_BITS) - 1)


@frozen(eq=False)
class Found:
    """The result of a pass.

    Attributes:
        audit: the audit, with tokens in place of messages' names.
        places: number of a message -> a piece, and a line in it.
    """

    audit: Audit
    places: Mapping[int, tuple[int, int]]


def judged(
    group: int, blocks: Iterable[tuple[int, Block]], whole: Whole, *, unfinished: bool
) -> Found:
    """Judge all events, in order, for a group of senders."""
    one = Pass(whole, whole.groups[group])
    try:
        for piece, block in blocks:
            one.take(piece, block)
        paths = [split.path for split in whole.splits]
        audit = one.judge.result(paths, unfinished=unfinished or group > 0)
        return Found(audit, one.places())
    finally:
        one.judge.close()


def merged(found: Sequence[Found], whole: Whole, names: Mapping[int, str]) -> Audit:
    """Return the merged audit of all passes, with the names of messages."""
    order = {path: index for index, path in enumerate(dict.fromkeys(s.path for s in whole.splits))}
    first = found[0].audit
    findings = [f for f in first.findings if f.kind != "causal-delivery"]
    findings += [f for one in found for f in one.audit.findings if f.kind == "causal-delivery"]
    findings.sort(key=lambda finding: (finding.actor, order[finding.log], finding.line))
    chains = 0
    for index, finding in enumerate(findings):
        if finding.what == "late" and (chains := chains + 1) > MOST_CHAINS:
            finding = evolve(finding, chain=(), events=())
        findings[index] = _named(finding, names)
    return evolve(
        first,
        logs=tuple(order),
        findings=tuple(findings),
        undelivered=tuple(_named(finding, names) for finding in first.undelivered),
        torn=whole.torn,
        foreign=whole.foreign,
    )


def _named(finding: Finding, names: Mapping[int, str]) -> Finding:
    """Return a finding with the names of messages in place of their tokens."""

    def name(text: Any) -> Any:
        return text and TOKEN.sub(lambda found: names.get(int(found[1]), found[0]), text)

    first, second = name(finding.first), name(finding.second)
    return evolve(
        finding,
        text=sentence(finding.what, finding.actor, first, second or "", finding.missing),
        first=first,
        second=second,
        chain=tuple(map(name, finding.chain)),
        events=tuple(evolve(event, message=name(event.message)) for event in finding.events),
    )
