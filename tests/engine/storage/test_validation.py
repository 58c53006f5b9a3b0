"""Numbers of a checkpoint are tested before they are used."""

from __future__ import annotations

import contextlib
import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from antecede.checker.engine.rows.table_filler import TableFiller
from antecede.checker.engine.storage import validation
from antecede.checker.support.errors import InputError
from tests.campaigns import changed_checkpoints
from tests.engine.storage.test_checkpoint import HOLDS, resumed, saved_in, stopped_after
from tests.engine.threads.test_local import small


@pytest.mark.parametrize("value", [-1, 8, True, 1.0, "1", None])
def test_a_count_is_a_whole_number_in_its_range(value: Any) -> None:
    assert validation.whole("a count", 7, most=7) == 7
    with pytest.raises(ValueError, match="a count is"):
        validation.whole("a count", value, most=7)


@pytest.mark.parametrize("value", [-0.5, float("nan"), float("inf"), "1", True])
def test_a_duration_is_a_number_that_is_not_negative(value: Any) -> None:
    assert validation.seconds("a time", 0.5) == 0.5
    with pytest.raises(ValueError, match="a time is"):
        validation.seconds("a time", value)


def test_an_array_has_its_type_its_shape_and_its_range() -> None:
    array = np.array([[1, 2], [3, 4]])
    assert validation.numbers("rows", array, np.int64, (None, 2), 1, 4) is array
    for kind, shape, least, most in [
        (np.int32, (2, 2), 0, 9),
        (np.int64, (4,), 0, 9),
        (np.int64, (2, 3), 0, 9),
        (np.int64, (2, 2), 2, 9),
        (np.int64, (2, 2), 0, 3),
    ]:
        with pytest.raises(ValueError, match="rows"):
            validation.numbers("rows", array, kind, shape, least, most)


def changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the state of a checkpoint's manifest, and renew its checksum."""
    file = saved_in(folder) / "manifest.json"
    manifest = json.loads(file.read_text().rsplit("\n", 2)[0])
    change(manifest["state"])
    text = json.dumps(manifest, indent=1, sort_keys=True)
    file.write_text(f"{text}\n{zlib.crc32(text.encode()):08x}\n")


def put(*path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a function that puts a value at a path of names in encoded tables."""

    def change(state: dict[str, Any]) -> None:
        pairs = state["pairs"]
        for name in path[:-1]:
            (found,) = [item for key, item in pairs if key == name]
            pairs = found["pairs"]
        assert path[-1] in [key for key, _ in pairs]
        pairs[:] = [[key, value if key == path[-1] else item] for key, item in pairs]

    return change


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("state", "frontier"), 0, "to be expanded is 0"),
        (("state", "frontier"), 10**6, "do not have their number"),
        (("state", "levels"), [1, -3], "a level is -3"),
        (("state", "moved_at"), 10**6, "a depth is 1000000"),
        (("state", "weights"), {"pairs": [["timeout", 1 << 40]]}, "a weight is"),
        (("state", "found"), {"pairs": [["no-such-property", [0]]]}, "not asked for"),
        (("seconds_before",), -1.0, "the time before is -1.0"),
        (("options", "block"), 0, "block is 0"),
        (("tables", "layout", "col_widths"), [1 << 20] * 9, "widths of columns"),
        (("tables", "layout", "row_widths"), [0, 0, 0], "widths in rows"),
        (("tables", "tabulation", "calls"), -1, "the number of calls"),
        (("assumptions", "weighs"), 2, "weighs is 2"),
    ],
)
def test_a_number_that_cannot_be_right_is_named(
    tmp_path: Path, path: tuple[str, ...], value: Any, said: str
) -> None:
    changed(tmp_path / "saved", put(*path, value=value))
    with pytest.raises(InputError, match=said):
        resumed(HOLDS, tmp_path / "saved")


SYMMETRIC = small("mfss", 3, 2, history="full")


@pytest.mark.integration
def test_an_index_that_is_too_great_is_refused_in_every_array(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    stopped_after(300, SYMMETRIC, folder)
    (saved,) = filter(Path.is_dir, folder.iterdir())
    whole = {file: file.read_bytes() for file in saved.iterdir()}
    survived = []
    for file in saved.glob("array-*.npy"):
        array = np.load(file)
        flat = array.reshape(-1)
        used = np.flatnonzero(flat >= 0)
        flat[used[len(used) // 2]] = np.iinfo(array.dtype).max
        np.save(file, array)
        renew(saved, file.name)
        with contextlib.suppress(InputError):
            resumed(SYMMETRIC, folder)
            survived.append((file.name, array.dtype.name, array.shape))
        for name, content in whole.items():
            name.write_bytes(content)
    # Only places of transitions are not indices: they are compared when a run is replayed.
    assert {kind for _, kind, _ in survived} <= {"uint16"}, survived


def renew(saved: Path, name: str) -> None:
    """Renew the checksum of an array in a checkpoint."""
    file, data = saved / "manifest.json", (saved / name).read_bytes()
    manifest = json.loads(file.read_text().rsplit("\n", 2)[0])
    manifest["files"][name] = [len(data), zlib.crc32(data)]
    text = json.dumps(manifest, indent=1, sort_keys=True)
    file.write_text(f"{text}\n{zlib.crc32(text.encode()):08x}\n")


@pytest.mark.integration
@pytest.mark.parametrize("number", range(3))
def test_a_search_survives_any_changed_number(tmp_path: Path, number: int) -> None:
    assert [] == changed_checkpoints.changed_checkpoint(random.Random(f"v/{number}"), tmp_path)


@pytest.mark.parametrize(
    ("array", "at", "value"),
    [
        ("kin", (0, 0), -1),
        ("kin", (0, 0), 1 << 40),
        ("kin", (0, 0), 7),
        ("kin", (1, 0), 1),
        ("images", 0, 1),
        ("images", 0, -1),
        ("images", -1, 1 << 20),
    ],
)
def test_an_orbit_consists_of_renamings(array: str, at: Any, value: int) -> None:
    filler = TableFiller(small("mfss", 3, 1), symmetric=True)
    layout = filler.layout
    record = layout.orbits.record(int(layout.counts.max()))
    layout.orbits.check(record, layout.counts)
    changed = {name: array.copy() for name, array in record.items()}
    changed[array][at] = value
    with pytest.raises(ValueError, match=r"orbit|renamings"):
        layout.orbits.check(changed, layout.counts)
