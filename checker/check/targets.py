"""The targets of a command: protocols, specs, and the specs in folders.

A spec that cannot be read is kept with the reason, so that it does not stop the others. A TOML file
that is not a spec, such as `pyproject.toml`, is skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from attrs import frozen

from antecede.checker.check.report import Refused
from antecede.checker.check.spec import KEYS, SHIPPED, Spec, load_spec, overridden
from antecede.checker.support.errors import InputError
from antecede.checker.support.reading import toml_in
from antecede.checker.support.registry import is_object, protocol_names


@frozen
class Targets:
    """The specs for the user's targets.

    Attributes:
        specs: the specs in order, each file once; a `Refused` has the reason.
        others: TOML files in the folders that are not specs.
        many: whether each result is reported in one line.
    """

    specs: tuple[Spec | Refused, ...]
    others: tuple[Path, ...]
    many: bool

    @property
    def readable(self) -> tuple[Spec, ...]:
        """The specs that can be checked."""
        return tuple(spec for spec in self.specs if isinstance(spec, Spec))

    def strictly(self) -> tuple[Spec, ...]:
        """Return the specs.

        Raises:
            InputError: one of them cannot be read.
        """
        for spec in self.specs:
            if isinstance(spec, Refused):
                raise spec.error
        return self.readable


def targets_of(names: Sequence[str], given: Mapping[str, Any] | None = None) -> Targets:
    """Return the specs for the targets of a command.

    Args:
        names: protocols, FILE.py:OBJECT, SPEC.toml, or folders; or shipped specs without path and
            ending, such as `museum/partisan-unordered`, or `museum` for all of them, or `specs`.
        given: values that override the specs', by the names of their fields.

    Raises:
        InputError: a folder has no spec.
    """
    by_place: dict[str, Spec | Refused] = {}
    others: list[Path] = []
    places = [place_of(name) for name in names]
    for name in places:
        if not os.path.isdir(name):
            by_place.setdefault(name, _read(name, given or {}))
            continue
        files = sorted(_toml_files(Path(name)))
        specs = [file for file in files if _looks_like_a_spec(file)]
        others += [file for file in files if file not in specs]
        if not specs:
            raise InputError(f"there is no spec (*.toml with a protocol) in the folder {name!r}")
        for file in specs:
            by_place.setdefault(str(file), _read(str(file), given or {}))
    many = len(by_place) > 1 or any(map(os.path.isdir, places))
    return Targets(tuple(by_place.values()), tuple(dict.fromkeys(others)), many)


def place_of(name: str) -> str:
    """Return the path of a shipped spec or folder for its short name; other names are unchanged.

    Files of the user and registered protocols come first.
    """
    plain = re.fullmatch(r"[\w-]+(/[\w-]+)*", name) is not None
    if not plain or os.path.lexists(name) or name in protocol_names():
        return name
    shipped = (SHIPPED / f"{name}.toml", SHIPPED / name, *([SHIPPED] if name == "specs" else []))
    # os.path.exists does not raise if a name is too long for a file.
    return next((str(path) for path in shipped if os.path.exists(path)), name)


def spec_named(name: str) -> Spec:
    """Return a spec by its file or its short name, or the default question about a protocol.

    Raises:
        InputError: there is no such thing, or it is a folder.
    """
    if is_object(name):
        return Spec(protocol=name)
    place = place_of(name)
    if os.path.isdir(place):
        raise InputError(f"{name!r} is a folder of specs; give one spec or protocol")
    return load_spec(Path(place)) if place.endswith(".toml") else Spec(protocol=place)


def shipped_for_broadcasts() -> frozenset[str]:
    """Return the protocols for which a shipped spec has the workload `broadcast`.

    Each of their packets goes to all actors, so they need this workload.
    """
    tables = (toml_in(file, "the spec") for file in (SHIPPED / "protocols").glob("*.toml"))
    return frozenset(t["protocol"] for t in tables if t.get("workload") == "broadcast")


def _read(name: str, given: Mapping[str, Any]) -> Spec | Refused:
    """Return the spec for a name, or a `Refused` with the error."""
    try:
        spec = overridden(spec_named(name), given)
        _ = spec.system
    except InputError as error:
        return Refused(name, error)
    return spec


def _toml_files(folder: Path) -> Iterator[Path]:
    """Yield the TOML files in a folder and its subfolders, except for hidden ones."""
    for file in folder.rglob("*.toml"):
        if not any(part.startswith(".") for part in file.relative_to(folder).parts):
            yield file


def _looks_like_a_spec(file: Path) -> bool:
    """Return whether a file is meant as a spec; one that is not valid TOML may be one."""
    try:
        table = toml_in(file, "the spec")
    except InputError:
        return True
    near = get_close_matches("protocol", table, 1, cutoff=0.8)  # "protocl" is a misspelt spec
    named = any(key == "protocol" or isinstance(table[key], str) for key in near)
    return named or len(KEYS & table.keys()) > 1
