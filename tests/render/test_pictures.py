"""Pictures as PNG and PDF files."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from antecede import check, sweep
from antecede.checker.support import extras
from antecede.checker.support.errors import InputError
from tests.conftest import Command


def test_a_run_and_a_matrix_are_saved_as_pictures(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    run = check("unordered", actors=2, engine="plain").counterexample
    assert run is not None
    run.save(tmp_path / "run.png")
    run.save(tmp_path / "run.pdf")
    sweep("fifo", actors=2, engine="plain", workers=1).save(tmp_path / "matrix.png")
    for name in ("run.png", "matrix.png"):
        picture = (tmp_path / name).read_bytes()
        assert picture.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", picture[16:24])
        assert width > 500 < height * 5
    assert (tmp_path / "run.pdf").read_bytes().startswith(b"%PDF")


def test_without_the_package_the_error_names_the_extra_before_the_search(
    antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    for name in ("run.png", "run.pdf"):
        ran = antecede("check", "unordered", "--trace", tmp_path / name)
        assert (2, "") == (ran.code, ran.out)
        assert f"install it with: {extras.install_command('pictures')}" in ran.err
        run = check("unordered", actors=2, engine="plain").counterexample
        assert run is not None
        with pytest.raises(InputError, match=re.escape(extras.install_command("pictures"))):
            run.save(tmp_path / name)
    assert [] == [*tmp_path.iterdir()]
