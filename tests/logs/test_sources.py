"""Logs from pipes, compressed files and several files: each is read once."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import threading
from pathlib import Path

import pytest

from antecede.checker.logs import audit as audits
from antecede.checker.logs.readers import sources
from antecede.checker.logs.readers.sources import Source
from antecede.checker.support.errors import InputError
from tests.conftest import COMMAND, Command, on_unix
from tests.logs.test_audit import ALICE_BOB_CAROL, log

COUNTS = "6 events of 3 actors: 3 sent, 3 processed"


def piped(data: bytes, *arguments: str) -> tuple[int, str]:
    """Audit what comes by standard input, which is a pipe."""
    done = subprocess.run([*COMMAND, "audit", *arguments], input=data, capture_output=True)
    return done.returncode, done.stdout.decode()


@pytest.mark.integration
@pytest.mark.parametrize("name", ["-", pytest.param("/dev/stdin", marks=on_unix)])
def test_standard_input_is_judged_like_a_file(tmp_path: Path, name: str) -> None:
    code, out = piped(log(tmp_path, ALICE_BOB_CAROL).read_bytes(), name)
    assert 1 == code
    assert COUNTS in out
    assert "m1 → m2 → m3" in out


@on_unix
def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    data, pipe = log(tmp_path, ALICE_BOB_CAROL).read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    found = audits.audit([str(pipe)])
    writer.join()
    assert ("m1", "m2", "m3") == found.findings[0].chain


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
def test_compressed_logs_are_read(tmp_path: Path, pack: str) -> None:
    file, data = tmp_path / "log", log(tmp_path, ALICE_BOB_CAROL).read_bytes()
    if pack == "gzip":
        file.write_bytes(gzip.compress(data[:100]) + gzip.compress(data[100:]))
    else:
        zstandard = pytest.importorskip("zstandard")
        parts = (data[:100], data[100:])
        file.write_bytes(b"".join(zstandard.ZstdCompressor().compress(part) for part in parts))
    assert 6 == audits.audit([str(file)]).events


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
def test_a_damaged_compressed_log_is_refused(tmp_path: Path, pack: str) -> None:
    lines = os.urandom(5000).hex().encode()
    if pack == "gzip":
        data = gzip.compress(lines)
    else:
        data = pytest.importorskip("zstandard").ZstdCompressor().compress(lines)
    for damaged in (data[: len(data) // 2], data[:30] + b"x" * 500 + data[530:]):
        file = tmp_path / "log"
        file.write_bytes(damaged)
        with pytest.raises(InputError):
            audits.audit([str(file)])


def test_logs_of_several_processes_are_judged_together_in_any_order(
    antecede: Command, tmp_path: Path
) -> None:
    lines = log(tmp_path, ALICE_BOB_CAROL).read_text().splitlines(keepends=True)
    for actor in ("carol", "bob", "alice"):
        own = [line for line in lines if f'"actor": "{actor}"' in line]
        (tmp_path / f"{actor}.jsonl").write_text("".join(own))
    for order in (("alice", "bob", "carol"), ("carol", "bob", "alice")):
        ran = antecede("audit", *(f"{name}.jsonl" for name in order), cwd=tmp_path)
        assert 1 == ran.code
        whole = " ".join(ran.out.split())
        assert "carol.jsonl, line 2: causal-delivery: carol processes m1 after m3" in whole
        assert "m3 sent in line bob.jsonl:2, processed in line carol.jsonl:1" in whole


def test_an_actor_in_two_logs_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        log(tmp_path, f"alice send {name} bob").rename(tmp_path / name)
    with pytest.raises(InputError, match=r"'alice' has events in .*one, too"):
        audits.audit([str(tmp_path / "one"), str(tmp_path / "two")])
    with pytest.raises(InputError, match="named twice"):
        audits.audit([str(tmp_path / "one"), str(tmp_path / "one")])


@pytest.mark.integration
@pytest.mark.parametrize("data", [b"", b"\n \n\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_log_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(data)
    with pytest.raises(InputError, match="is empty"):
        audits.audit([str(tmp_path / "log")])
    assert 2 == piped(data, "-")[0]


@pytest.mark.parametrize("name", ["", "a\0b", "\udcff", ".", "none"])
def test_what_cannot_be_opened_is_said(name: str, antecede: Command, tmp_path: Path) -> None:
    assert 2 == antecede("audit", name, cwd=tmp_path).code


def test_a_line_without_end_does_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sources, "LONGEST_LINE", 1 << 21)
    (tmp_path / "log").write_bytes(b"x" * (1 << 23))
    with pytest.raises(InputError, match="a line is longer than"):
        audits.audit([str(tmp_path / "log")])


def test_lines_are_the_same_however_they_arrive() -> None:
    class Trickle(io.BytesIO):
        def read1(self, _size: int | None = -1) -> bytes:
            return super().read(3)

    data = "one\r\n\nthrée and more\nlast".encode()
    whole = [*Source("log", io.BytesIO(data)).lines()]
    assert [(1, "one"), (2, ""), (3, "thrée and more"), (4, "last")] == whole
    trickling = Source("log", Trickle(data))
    assert "one" == trickling.first_line()
    assert whole == [*trickling.lines()]


def test_a_line_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b'{"actor": 1, "event": "deliver", "message": 1}\n\xff\n')
    with pytest.raises(InputError, match="line 2 is not UTF-8"):
        audits.audit([str(tmp_path / "log")])


def test_text_of_powershell_is_named(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('{"actor": "a"}\n', encoding="utf-16")
    with pytest.raises(InputError, match="line 1 is not UTF-8 text; it is UTF-16, which PowerSh"):
        audits.audit([str(tmp_path / "log")])
