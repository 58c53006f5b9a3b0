"""Standard streams and files that cannot be written to, and lines that GitHub would obey."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from antecede.checker.support.errors import InputError
from antecede.checker.support.streams import Escaping
from antecede.checker.sweep.kept import Kept
from tests.conftest import COMMAND, ROOT, Command, Ran, in_a_process

CHECK = ("check", "mfss", "--actors", "2", "--messages", "2", "--engine", "plain", "--quiet")
HELD = "mfss: HOLDS\n"


def shell(redirection: str, *arguments: str, cwd: Path, **environment: str) -> Ran:
    """Run the command with standard streams as a shell redirects them."""
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *COMMAND, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.integration
@pytest.mark.parametrize("arguments", [CHECK, ("list", "mfss"), ("--version",), ("check", "-h")])
@pytest.mark.parametrize(
    ("redirection", "reason"),
    [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")],
)
def test_a_report_that_nobody_can_read_is_an_error(
    tmp_path: Path, arguments: tuple[str, ...], redirection: str, reason: str
) -> None:
    ran = shell(redirection, *arguments, cwd=tmp_path)
    assert Ran(2, "", f"Error: cannot write to standard output: {reason}\n") == ran


@pytest.mark.integration
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_the_report_needs_no_standard_error(tmp_path: Path, redirection: str) -> None:
    assert Ran(0, HELD, "") == shell(redirection, *CHECK, cwd=tmp_path)
    assert Ran(2, "", "") == shell(redirection, "check", "nobody", cwd=tmp_path)


@pytest.mark.integration
def test_a_file_that_is_opened_does_not_become_a_standard_stream(tmp_path: Path) -> None:
    asked = (*CHECK, "--json", "found.json")
    assert 2 == shell("<&- >&- 2>&-", *asked, cwd=tmp_path).code
    ran = shell("<&- 2>&-", *asked, cwd=tmp_path)
    assert Ran(0, HELD, "") == ran
    assert '"HOLDS"' in (tmp_path / "found.json").read_text()


@pytest.mark.integration
def test_a_log_on_a_closed_standard_input_is_empty(tmp_path: Path) -> None:
    ran = shell("<&-", "audit", "-", cwd=tmp_path)
    assert Ran(2, "", "Error: standard input is empty: there is nothing to judge\n") == ran


@pytest.mark.integration
def test_a_deleted_folder_is_said_so(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; "$@"', "sh", *COMMAND, *CHECK],
        cwd=gone,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (2, "") == (done.returncode, done.stdout)
    reason = "No such file or directory; change to another one"
    assert f"Error: the current folder cannot be used: {reason}\n" == done.stderr


# Files


@pytest.mark.parametrize("option", ["--json", "--junit", "--sarif"])
@pytest.mark.parametrize(
    ("file", "reason"),
    [("/dev/full", "No space left on device"), ("link", "Too many levels of symbolic links")],
)
def test_a_result_that_cannot_be_written_is_an_error(
    antecede: Command, tmp_path: Path, option: str, file: str, reason: str
) -> None:
    (tmp_path / "link").symlink_to("link")
    ran = antecede(*CHECK, option, file, cwd=tmp_path)
    assert (2, f"Error: cannot write to '{file}': {reason}\n") == (ran.code, ran.err)


@pytest.mark.parametrize("arguments", [("sweep", "mfss", "--actors", "2"), ("simulate", "mfss")])
def test_a_device_cannot_hold_rows_which_are_read_again(
    antecede: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    ran = antecede(*arguments, "--output", "/dev/full", cwd=tmp_path)
    assert 2 == ran.code
    assert ran.err.startswith("Error: cannot keep rows in '/dev/full'")


def test_a_device_without_an_end_is_no_spec(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    ran = antecede("check", "endless.toml", cwd=tmp_path)
    assert 2 == ran.code
    assert "is a device" in ran.err


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from antecede.checker.render.files import append
append(sys.argv[1], "x" * 600)
append(sys.argv[1], "y" * 600)
"""


@pytest.mark.integration
def test_what_does_not_fit_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    file.touch()
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"InputError: cannot write to '{file}': File too large" in done.stderr
    assert "x" * 600 == file.read_text()


def test_a_row_for_which_there_is_no_space_ends_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rows.jsonl"
    kept = Kept(file, ("number",), "a test")
    rows = kept.run([1, 2], lambda n: {"number": n}, lambda items: ({"number": n} for n in items))
    next(rows)
    full = Path("/dev/full").open("ab")  # noqa: SIM115
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", lambda *_: full)
        with pytest.raises(InputError, match="No space left on device"):
            next(rows)
    assert [{"number": 1}] == kept.rows()


# GitHub


@pytest.mark.parametrize(
    ("pieces", "escaped"),
    [
        (["::error::x"], r":\u003aerror::x"),
        (["a\n \t::error::x"], "a\n \t:\\u003aerror::x"),
        (["a\r::error::x\n"], "a\r:\\u003aerror::x\n"),
        ([":", ":error::x"], r":\u003aerror::x"),
        (["a\n ", ":", ":error::x"], "a\n :\\u003aerror::x"),
        (["a ##[error]x"], r"a ##\u005berror]x"),
        (["a #", "#", "[error]x"], r"a ##\u005berror]x"),
        (["a", "::b ", "c::d"], "a::b c::d"),
        (["::a\n::b"], ":\\u003aa\n:\\u003ab"),
        ([":a", ":: x:", ":"], ":a:: x::"),
    ],
)
def test_what_github_would_obey_is_escaped(pieces: list[str], escaped: str) -> None:
    escaping = Escaping()
    assert escaped == "".join(map(escaping, pieces))


OBEYED = re.compile(r"(?m)^\s*::.*|.*##\[.*")

PROTOCOL = """
import sys, attrs
from antecede.protocols.unordered import UNORDERED as base

def receive(state, src, packet):
    print("::warning::printed")
    sys.stderr.write("##[error]written")
    raise ValueError("::error::raised\\n::error::in the second line\\n##[group]")

PROTOCOL = attrs.evolve(base, name="::notice::named ##[group]", receive=receive)
"""

ADAPTER = """
import sys

class Broken:
    def __init__(self, actor, actors):
        print("::warning::made", file=sys.stderr)

    def causal_send(self, out, message):
        raise ValueError("x\\n::error::raised ##[group]")

    def receive(self, out, src, packet):
        pass
"""

LOG = """\
{"actor": "::error::a", "event": "causal-send", "message": "\\n::error::m1", "to": ["::c"]}
{"actor": "::error::a", "event": "causal-send", "message": "##[error]m2", "to": ["::c"]}
{"actor": "::c", "event": "deliver", "message": "##[error]m2"}
{"actor": "::c", "event": "deliver", "message": "\\n::error::m1"}
"""

PROGRAM = "import sys; print('::error::of a program', file=sys.stderr, flush=True)"

IN_JOB: dict[str, tuple[str, ...]] = {
    "check": ("check", "broken.py:PROTOCOL", "--actors", "2", "--engine", "plain"),
    "specs": ("check", "::error::.toml", "::warning::x.toml", "##[group]"),
    "audit": ("audit", "log.jsonl"),
    "audit as JSON": ("audit", "log.jsonl", "--json", "-"),
    "sweep": ("sweep", "broken.toml", "--actors", "2", "--workers", "1"),
    "test": ("test", "adapter.py:Broken", "--actors", "2"),
    "program": ("test", f'pipe:{sys.executable} -c "{PROGRAM}"', "--actors", "2"),
    "usage": ("check", "--::error::x\n::error::y"),
    "argument": ("check", "::error::x\n::error::y"),
}


def files(folder: Path) -> None:
    (folder / "broken.py").write_text(PROTOCOL)
    (folder / "broken.toml").write_text(
        'protocol = "broken.py:PROTOCOL"\ntitle = "::error::title"\n'
    )
    (folder / "::error::.toml").write_text('protocol = "::error::\\n::error::"\n')
    (folder / "adapter.py").write_text(ADAPTER)
    (folder / "log.jsonl").write_text(LOG)


def obeyed(ran: Ran) -> list[str]:
    """Return the lines that the runner would obey, without the command's own annotations."""
    found = [line for text in (ran.out, ran.err) for line in OBEYED.findall(text)]
    return [line for line in found if "title=antecede%3A " not in line]


@pytest.mark.integration
@pytest.mark.parametrize("name", IN_JOB)
def test_no_text_from_outside_is_a_command_in_a_job_of_github(tmp_path: Path, name: str) -> None:
    files(tmp_path)
    ran = in_a_process(*IN_JOB[name], cwd=tmp_path, GITHUB_ACTIONS="true")
    assert ran.out or ran.err
    assert [] == obeyed(ran)


@pytest.mark.integration
def test_what_a_worker_prints_is_printed_and_escaped(tmp_path: Path) -> None:
    files(tmp_path)
    ran = in_a_process(*IN_JOB["sweep"], cwd=tmp_path, GITHUB_ACTIONS="true")
    assert r":\u003awarning::printed" in ran.err


@pytest.mark.integration
def test_marks_are_commands_in_a_job(tmp_path: Path) -> None:
    files(tmp_path)
    ran = in_a_process(*IN_JOB["check"], cwd=tmp_path, GITHUB_ACTIONS="true")
    assert [] == obeyed(ran)
    assert 1 == len([line for line in ran.out.splitlines() if line.startswith("::error ")])


@pytest.mark.integration
def test_outside_of_jobs_nothing_is_escaped(tmp_path: Path) -> None:
    files(tmp_path)
    ran = in_a_process(*IN_JOB["check"], cwd=tmp_path)
    assert "\n::warning::printed" in f"\n{ran.err}"
