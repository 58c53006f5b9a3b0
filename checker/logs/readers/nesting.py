"""Which spans are inside of others: intervals of numbers, so that no question walks up a trace.

a ──> b ──> c       begin  a 0, b 1, c 2, d 3       a: [0, 4)  b: [1, 3)  c: [2, 3)  d: [3, 4)
└───> d             end    a 4, b 3, c 3, d 4       c is inside of a and b
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


class Nesting(Generic[Name]):
    """The intervals of spans; spans that are inside of each other count as inside of none.

    Attributes:
        begin, end: span -> its interval, which contains the intervals of the spans inside.
    """

    def __init__(self, parents: Mapping[Name, Name], others: Iterable[Name] = ()) -> None:
        """Number the spans, given the parents of those that have one, and other spans."""
        inside = defaultdict[Name, list[Name]](list)
        outermost = dict.fromkeys(_on_circles(parents))
        for key, above in parents.items():
            if key not in outermost:
                inside[above].append(key)
        for key in (*inside, *others):
            if key not in parents:
                outermost[key] = None
        self.begin: dict[Name, int] = {}
        for each in outermost:
            left = [each]
            while left:
                key = left.pop()
                self.begin[key] = len(self.begin)
                left += inside.get(key, ())
        sizes = dict.fromkeys(self.begin, 1)
        for key in reversed(self.begin):
            if key not in outermost:
                sizes[parents[key]] += sizes[key]
        self.end = {key: self.begin[key] + size for key, size in sizes.items()}

    def nearest(self, keys: Collection[Name]) -> dict[Name, Name | None]:
        """Return the innermost of some spans that each is inside of; the outer ones come first."""
        around, found = list[Name](), dict[Name, Name | None]()
        for key in sorted(keys, key=self.begin.__getitem__):
            while around and self.end[around[-1]] <= self.begin[key]:
                around.pop()
            found[key] = around[-1] if around else None
            around.append(key)
        return found

    def first_inside(
        self, times: Mapping[Name, int], asked: Mapping[Name, int]
    ) -> Iterator[tuple[Name, float]]:
        """Yield the least time of a span inside of each `asked` one that is not below its number.

        The times are entered from the greatest to the least. So what was entered last into a range
        of places is its least time, and a tree of ranges finds it.
        """
        left = sorted(times, key=times.__getitem__)
        places = sorted(self.begin[key] for key in times)
        tree = [math.inf] * (2 * len(places))
        for key in sorted(asked, key=asked.__getitem__, reverse=True):
            while left and times[left[-1]] >= asked[key]:
                new = left.pop()
                at = bisect_left(places, self.begin[new]) + len(places)
                while at:
                    tree[at] = times[new]
                    at //= 2
            low = bisect_left(places, self.begin[key] + 1) + len(places)
            high = bisect_left(places, self.end[key]) + len(places)
            least = math.inf
            while low < high:
                if low % 2:
                    least = min(least, tree[low])
                if high % 2:
                    least = min(least, tree[high - 1])
                low, high = (low + 1) // 2, high // 2
            yield key, least


def _on_circles(parents: Mapping[Name, Name]) -> Iterator[Name]:
    """Yield the spans that are inside of themselves, through their parents."""
    seen = dict[Name, Name]()  # span -> the first span of the walk that came to it
    for start in parents:
        key = start
        while key in parents and key not in seen:
            seen[key] = start
            key = parents[key]
        if seen.get(key) == start and key in parents:
            first = key
            yield first
            while (key := parents[key]) != first:
                yield key


def in_known_order(before: Mapping[Name, AbstractSet[Name]]) -> list[list[Name]]:
    """Divide things into lists, so that each thing of a list comes before all of the next list.

    `before` has things that each thing comes after; these may leave out what follows from others.
    If some pairs of things have no known order, and cannot be in one list because others do, there
    is one list of all things, and each of them stands behind those that it comes after.
    """
    number = {name: at for at, name in enumerate(before)}
    after = defaultdict[Name, list[Name]](list)
    for name, those in before.items():
        for each in those:
            after[each].append(name)
    missing = {name: len(those) for name, those in before.items()}
    layers, known = list[list[Name]](), True
    layer = [name for name in before if not missing[name]]
    while layer:
        layers.append(layer)
        there, layer = {*layer}, []
        for each in layers[-1]:
            for name in after[each]:
                missing[name] -= 1
                if not missing[name]:
                    layer.append(name)
        known = known and all(len(before[name] & there) == len(there) for name in layer)
        layer.sort(key=number.__getitem__)
    placed = [name for each in layers for name in each]
    if known and len(placed) == len(before):
        return layers
    return [[*placed, *(name for name in before if missing[name])]]
