"""The hybrid paper's data structures: sliding array, sliding map, indexable sliding map.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (the hybrid paper), section 5.3 and Figure 3.

Differences: these are immutable values, so an update returns a new structure, and equal contents
are equal values. Figure 3 optimises amortised cost (arrays of arrays, a bit-array beside a map).
The checker looks states up in tables instead of computing them again, so this is unnecessary here:
a window is one tuple, and an index is found by a linear search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Self, TypeVar

from attrs import evolve, frozen

E = TypeVar("E")


@frozen
class SlidingArray(Generic[E]):
    """The elements at the indexes from `first` up to, not including, `next`."""

    first: int = 0
    elements: tuple[E, ...] = ()

    @property
    def next(self) -> int:
        """The index at which the next element will be added."""
        return self.first + len(self.elements)

    @property
    def size(self) -> int:
        """The number of elements."""
        return len(self.elements)

    @property
    def peek(self) -> E:
        """The oldest element.

        Raises:
            IndexError: there is none.
        """
        return self[self.first]

    def add(self, element: E) -> SlidingArray[E]:
        """Return the array with `element` at `next`."""
        return evolve(self, elements=(*self.elements, element))

    def remove(self) -> SlidingArray[E]:
        """Return the array without its oldest element, which `peek` returns.

        Raises:
            IndexError: there is none.
        """
        if not self.elements:
            raise IndexError(f"nothing to remove: the window is empty at {self.first}")
        return SlidingArray(self.first + 1, self.elements[1:])

    def replace(self, index: int, element: E) -> SlidingArray[E]:
        """Return the array with `element` at `index`.

        Raises:
            IndexError: `index` is outside the window.
        """
        at = self._position(index)
        return evolve(self, elements=(*self.elements[:at], element, *self.elements[at + 1 :]))

    def __getitem__(self, index: int) -> E:
        """Return the element at `index`; IndexError outside the window."""
        return self.elements[self._position(index)]

    def __iter__(self) -> Iterator[E]:
        """Iterate over the elements, oldest first."""
        return iter(self.elements)

    def _position(self, index: int) -> int:
        if not self.first <= index < self.next:
            raise IndexError(f"index {index} is outside the window {self.first}..{self.next - 1}")
        return index - self.first


@frozen
class SlidingMap(Generic[E]):
    """A window of indexes from `first` to `next`; some indexes have an element.

    `first` is the index of the oldest element, or `next` if there is none. `slots` has None for a
    removed element, so the first slot is never None.
    """

    first: int = 0
    slots: tuple[E | None, ...] = ()

    @property
    def next(self) -> int:
        """The index that the next element will get."""
        return self.first + len(self.slots)

    def add(self, element: E) -> Self:
        """Return the map with `element` at `next`.

        Raises:
            ValueError: the map already has this element.
        """
        if element in self.slots:
            raise ValueError(f"{element!r} is in the map already")
        return evolve(self, slots=(*self.slots, element))

    def remove(self, element: E) -> Self:
        """Return the map without `element`; unchanged if it was not there."""
        if element not in self.slots:
            return self
        left = [None if slot == element else slot for slot in self.slots]
        gone = next((at for at, slot in enumerate(left) if slot is not None), len(left))
        return evolve(self, first=self.first + gone, slots=tuple(left[gone:]))

    def __contains__(self, element: object) -> bool:
        """Return whether `element` is in the map."""
        return element is not None and element in self.slots

    def __iter__(self) -> Iterator[E]:
        """Iterate over the elements, oldest first."""
        return (slot for slot in self.slots if slot is not None)


@frozen
class IndexableSlidingMap(SlidingMap[E]):
    """A sliding map that also gives access by index; its slots are the paper's 1 + E."""

    def index(self, element: E) -> int | None:
        """Return the index of `element`, or None if it is not in the map."""
        return self.first + self.slots.index(element) if element in self else None

    @property
    def peek(self) -> E:
        """The oldest element.

        Raises:
            IndexError: there is none.
        """
        if not self.slots:
            raise IndexError(f"nothing to peek at: the window is empty at {self.first}")
        oldest = self.slots[0]
        assert oldest is not None, "the first slot of a sliding map has an element"
        return oldest

    def __getitem__(self, index: int) -> E | None:
        """Return the element at `index` of the window, or None if it was removed.

        Raises:
            IndexError: `index` is outside the window.
        """
        if not self.first <= index < self.next:
            raise IndexError(f"index {index} is outside the window {self.first}..{self.next - 1}")
        return self.slots[index - self.first]
