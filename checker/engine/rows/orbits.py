"""The orbits of composites under the renamings of a symmetric system; empty without symmetry.

An orbit has all composites that a renaming makes from one of them. The arrays give the orbit of
each composite, and the composite that each renaming makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.packing import wider
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.validation import numbers

MOST_ORDERED = 6
"""The most actors for whose orders there is room in `Orbits.choices`."""


@define(eq=False)
class Orbits:
    """The orbits of composites, in arrays that grow; kernels read them as `g.Renamings`.

    An orbit takes four bytes per permutation, and each of its composites eight bytes. Most orbits
    have as many composites as there are permutations.

    Attributes:
        actors: the number of things that are renamed: the actors, or their parts.
        perms: the group, the identity first; empty without symmetry.
        room: the number of composites per actor that there is room for.
        each: the number of parts of an actor, if its parts are renamed.
        keyed: representatives depend on the keys of orbits, and not on their numbers.
        targets, sources, products, kin, images, known, choices: as in `g.Renamings`.
    """

    actors: int
    perms: Sequence[Sequence[int]]
    room: int
    each: int = 1
    keyed: bool = False
    targets: Words = field(init=False)
    sources: Words = field(init=False)
    products: Any = field(init=False)
    kin: Words = field(init=False)
    images: Any = field(init=False)
    known: Words = field(init=False)
    choices: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Begin without composites."""
        perms = np.array(self.perms, np.int64).reshape(-1, self.actors)
        self.targets = perms.ravel()
        self.sources = np.argsort(perms, axis=1).ravel()
        place = {tuple(p): k for k, p in enumerate(perms.tolist())}
        products = [place[tuple(after[first].tolist())] for first in perms for after in perms]
        self.products = np.array(products, np.uint8)
        self.choices = _choices(self.sources.reshape(-1, self.actors)[:, :: self.each] // self.each)
        self.forget(self.room)

    @property
    def order(self) -> int:
        """The number of permutations; 0 without symmetry."""
        return len(self.targets) // self.actors

    def forget(self, room: int) -> None:
        """Forget all orbits, and make room for `room` composites of each actor."""
        self.room = room
        self.kin = np.full(self.actors * room * bool(self.order), -1, np.int64)
        self.images = np.empty(self.order * 256, np.int32)
        self.known = np.zeros(1, np.int64)

    def widen(self, room: int) -> None:
        """Make room for `room` composites of each actor."""
        if self.order:
            self.kin = wider(self.kin.reshape(self.actors, -1), room, -1)
        self.room = room

    def reserve(self, more: int) -> None:
        """Make room for `more` orbits."""
        used = int(self.known[0]) * self.order
        needed = used + more * self.order
        if needed > len(self.images):
            larger = np.empty(max(needed, 2 * len(self.images)), np.int32)
            larger[:used] = self.images[:used]
            self.images = larger

    def tables(self) -> g.Renamings:
        """Return the arrays that the kernels read."""
        return g.Renamings(
            self.targets,
            self.sources,
            self.products,
            self.kin,
            self.images,
            self.known,
            self.choices,
            g.KEY_SHIFT if self.keyed else g.ORBIT_SHIFT,
        )

    def closed(self, used: Any) -> Any:
        """Return whether each composite is in the orbit of one that is used.

        `used` and the result have the shape (actors, room).
        """
        if not self.order:
            return used
        orbit, _ = split(self.kin.reshape(used.shape))
        met = np.zeros(int(self.known[0]), np.bool_)
        met[orbit[used]] = True
        has_orbit = orbit >= 0
        closed = np.zeros_like(used)
        closed[has_orbit] = met[orbit[has_orbit]]
        return closed

    def kept(self, used: Any, numbers: Words) -> dict[str, Any]:
        """Return the orbits after composites were forgotten, as `record` would.

        Args:
            used: the composites that are kept, as `closed` returns them.
            numbers: their new numbers, of the same shape.
        """
        if not self.order:
            return {}
        kin = self.kin.reshape(used.shape)
        first = np.zeros(int(self.known[0]), np.int64)
        met = np.zeros(len(first), np.bool_)
        new_kin = np.full((self.actors, int(used.sum(axis=1).max())), -1, np.int64)
        for actor, chosen in enumerate(used):
            orbit, element = split(kin[actor, chosen])
            first[orbit] = self.sources[element * self.actors + actor]
            met[orbit] = True
        # Orbits stay in the order of their numbers, so the representative of a row does not change.
        place = np.cumsum(met) - 1
        for actor, chosen in enumerate(used):
            orbit, element = split(kin[actor, chosen])
            new_kin[actor, : len(orbit)] = place[orbit] << g.ORBIT_SHIFT | element
        targets = self.targets.reshape(self.order, -1).T[first[met]]
        images = self.images[: len(met) * self.order].reshape(-1, self.order)[met]
        return {"kin": new_kin, "images": numbers[targets, images].astype(np.int32).ravel()}

    def record(self, most: int) -> dict[str, Any]:
        """Return the orbits as data of a checkpoint; no actor has more than `most` composites."""
        if not self.order:
            return {}
        return {
            "kin": self.kin.reshape(self.actors, -1)[:, :most],
            "images": self.images[: int(self.known[0]) * self.order],
        }

    def adopt(self, record: dict[str, Any], room: int) -> None:
        """Take over the orbits of another run from its `record`, after `check`."""
        self.forget(room)
        if self.order:
            self.kin.reshape(self.actors, -1)[:, : record["kin"].shape[1]] = record["kin"]
            self.images = record["images"]
            self.known[0] = len(self.images) // self.order

    def check(self, record: dict[str, Any], counts: Words) -> None:
        """Check a `record` of another process: orbits consist of renamings of their composites.

        Raises:
            ValueError: this is no such record.
        """
        if not self.order:
            return
        most = int(counts.max())
        kin = numbers("orbits", record["kin"], np.int64, (self.actors, most), least=-1)
        flat = numbers("renamings", record["images"], np.int32)
        if len(flat) % self.order:
            raise ValueError("an orbit has too few renamings")
        images = flat.reshape(-1, self.order)
        first = np.full(len(images), -1, np.int64)
        for actor, count in enumerate(counts.tolist()):
            orbit, element = split(kin[actor, :count])
            if (orbit < 0).any() or (orbit >= len(images)).any() or (element >= self.order).any():
                raise ValueError("a composite has no orbit")
            if (kin[actor, count:] != -1).any():
                raise ValueError("a composite that does not exist has an orbit")
            if (images[orbit, element] != np.arange(count)).any():
                raise ValueError("a composite is not in its orbit")
            begins = self.sources[element * self.actors + actor]
            known, first[orbit] = first[orbit], begins
            if ((known != -1) & (known != begins)).any() or (first[orbit] != begins).any():
                raise ValueError("an orbit begins with two composites")
        targets = self.targets.reshape(self.order, -1).T
        if (first < 0).any() or (images >= counts[targets[first]]).any():
            raise ValueError("an orbit has a composite that does not exist")


def split(kin: Words) -> tuple[Words, Words]:
    """Return the orbits and the permutations in entries of `kin` without keys; -1 has orbit -1.

    Only a cluster's workers have keys, and they forget and save no composites one by one.
    """
    return kin >> g.ORBIT_SHIFT, kin & g.PERMUTATION_MASK


def _choices(sources: Words) -> Any:
    """Return `g.Renamings.choices`, from the actor that each permutation takes to each actor."""
    actors = sources.shape[1]
    if not len(sources) or actors > MOST_ORDERED:
        return np.empty(0, np.uint8)
    orders = np.array(list(permutations(range(actors))))
    digits = actors ** np.arange(actors)[::-1]
    best = (orders[:, sources] @ digits).argmin(axis=1)
    greater = np.zeros(len(orders), np.int64)
    for actor in range(1, actors):
        for other in range(actor):
            greater = greater << 1 | (orders[:, other] > orders[:, actor])
    choices = np.zeros(1 << actors * (actors - 1) // 2, np.uint8)
    choices[greater] = best
    return choices
