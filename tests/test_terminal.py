"""Output on a terminal: colours, line lengths, completion with Tab, one entry of a list."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from antecede import cli
from antecede.checker.commands.help_pages import PAGES
from antecede.checker.render import completion
from antecede.checker.render.catalogue import catalogue
from antecede.checker.render.terminal import VERDICTS, fitted
from antecede.checker.support.amounts import counted
from tests.conftest import ROOT, Command


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run the command on a terminal of 80 columns that has colours."""

    def run(*arguments: str, **environment: str) -> str:
        monkeypatch.delenv("NO_COLOR", raising=False)
        for name, value in {"COLUMNS": "80", "TERM": "xterm", **environment}.items():
            monkeypatch.setenv(name, value)
        with monkeypatch.context() as patched:
            stream = Terminal()
            patched.setattr(sys, "stdout", stream)
            cli.main([*arguments])
        return stream.getvalue()

    return run


CHECK = ("check", "--actors", "2", "--engine", "plain", "--quiet")


def test_a_verdict_has_its_colour_on_a_terminal(on_terminal: Callable[..., str]) -> None:
    green, red = click.style("HOLDS", "green", bold=True), click.style("VIOLATED", "red", bold=True)
    assert f"mfss: {green}\n" == on_terminal(*CHECK, "mfss")
    assert f"unordered: {red}\n" == on_terminal(*CHECK, "unordered")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colours_gets_none(
    environment: dict[str, str], on_terminal: Callable[..., str]
) -> None:
    assert "mfss: HOLDS\n" == on_terminal(*CHECK, "mfss", **environment)


def test_what_is_no_terminal_gets_no_colours(antecede: Command) -> None:
    assert "\x1b" not in antecede("check", "unordered", "--actors", "2", "--engine", "plain").out


def test_a_name_that_only_looks_like_a_verdict_has_no_colour() -> None:
    text = "HOLDS_x, ok.toml, FAILED=1, ERROR/x, the-HOLDS, Error(m1), tok, okay"
    assert not VERDICTS.search(text)
    assert ["ok", "HOLDS"] == VERDICTS.findall("ok          HOLDS   81 states  a.toml")
    assert ["NOT AS EXPECTED"] == VERDICTS.findall("x: NOT AS EXPECTED")


def test_a_long_line_breaks_at_a_space_and_never_in_a_number() -> None:
    line = "    states per depth: " + ", ".join(f"{n:,}" for n in range(1_000, 1_100))
    folded = fitted(line, 80).split("\n")
    assert max(map(len, folded)) <= 80
    assert line.split() == " ".join(folded).split()
    assert all(piece.startswith("    ") for piece in folded)


def test_a_drawing_is_not_folded() -> None:
    row = "  1    ●─Normal(m1)┄▷" + " " * 80 + "│"
    assert row == fitted(row, 40)


@pytest.mark.parametrize(
    "arguments",
    [
        ("cykas-secret-mode", "--workload", "script:[[1,2],[0,2],[0]]", "--verbose"),
        ("mfss", "--actors", "3", "--messages", "1", "--verbose"),
        ("mfss", "--actors", "2", "--max-states", "9"),
        ("hybrid-basic", "--network", "lossy:1", "--actors", "2", "--messages", "1"),
        (str(ROOT / "specs/protocols/cykas-unordered.toml"), "--max-states", "99"),
    ],
)
def test_a_report_fits_in_80_columns_but_for_the_drawing(
    arguments: tuple[str, ...], antecede: Command
) -> None:
    """A command is one line, so that it can be copied."""
    longer = "[│─╭╰]| peak |^  antecede "
    for line in antecede("check", *arguments, "--engine", "plain").out.splitlines():
        assert len(line) <= 80 or re.search(longer, line), line


def test_the_list_fits_in_80_columns() -> None:
    words = [line for line in catalogue().splitlines() if '"' not in line]
    assert max(map(len, words)) <= 80


def test_one_thing_is_one_thing() -> None:
    assert "1 state" == counted(1, "state")
    assert "2,000 states" == counted(2_000, "state")
    assert "0 entries" == counted(0, "entry", "entries")


# One thing of the list


def test_a_protocol_is_listed_with_what_it_declares(antecede: Command) -> None:
    ran = antecede("list", "mfss")
    assert 0 == ran.code
    assert "Mattern" in ran.out
    assert "one-unacknowledged" in ran.out
    assert "antecede check mfss" in ran.out


def test_a_name_of_two_things_is_listed_as_both(antecede: Command) -> None:
    out = antecede("list", "fifo").out
    assert "\n  protocol " in out
    assert "\n  network " in out


def test_what_has_parts_is_listed_part_by_part(antecede: Command) -> None:
    out = antecede("list", "fifo+lossy:1", "endless:2").out
    assert ["fifo", "lossy", "endless"] == [
        line for line in out.splitlines() if line and not line.startswith(" ")
    ]


def test_a_file_is_listed_with_its_protocols(antecede: Command, tmp_path: Path) -> None:
    source = (ROOT / "protocols" / "mfss.py").read_text()
    (tmp_path / "mine.py").write_text(f"{source}\nOTHER = MFSS\n")
    (tmp_path / "none.py").write_text("x = 1\n")
    ran = antecede("list", "mine.py", cwd=tmp_path)
    assert 0 == ran.code
    assert "mine.py:MFSS\n" in ran.out
    assert "antecede check mine.py:OTHER" in ran.out
    (tmp_path / "one.py").write_text(source)
    assert "antecede check one.py\n" in antecede("list", "one.py", cwd=tmp_path).out
    ran = antecede("list", "none.py", cwd=tmp_path)
    assert (2, "") == (ran.code, ran.out)
    assert "none.py defines no protocol" in ran.err


def test_actions_and_invariants_across_actors_are_listed(antecede: Command) -> None:
    out = antecede("list", str(ROOT / "specs" / "examples" / "token_ring.py")).out
    assert re.search("actions +pass, make-another\\n", out)
    assert re.search("invariants +one-token\\n", out)


def test_an_unknown_name_is_listed_with_its_neighbour(antecede: Command) -> None:
    ran = antecede("list", "cykass")
    assert 2 == ran.code
    assert "unknown name 'cykass'; did you mean 'cykas'?" in ran.err


# Completion with Tab


def offered(*words: str, cwd: Path) -> list[str]:
    """Return what the shell offers for the last word."""
    done = subprocess.run(
        [sys.executable, "-m", "antecede"],
        cwd=cwd,
        env={
            "PATH": "",
            "_ANTECEDE_COMPLETE": "zsh_complete",
            "COMP_WORDS": " ".join(["antecede", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[1::3]


@pytest.mark.integration
def test_the_shell_is_offered_protocols_and_files(tmp_path: Path) -> None:
    (tmp_path / "cyclic.toml").write_text("")
    assert {"cykas", "cyclic.toml"} < set(offered("check", "cy", cwd=tmp_path))


OFFERS = [
    ("target", "cykas-s", ["cykas-secret-mode"]),
    ("target", "sp", ["specs/", "specs/a.toml", "specs/more/"]),
    ("target", "specs/", ["specs/a.toml", "specs/more/"]),
    ("target", ".hid", [".hidden.toml"]),
    ("trace", "", ["specs/", "t.json"]),
    ("traced", "t", ["tree", "t.json"]),
    ("network", "du", ["duplicating", "duplicating+lossy"]),
    ("registered", "mfss,cykas-s", ["mfss,cykas-secret-mode"]),
    ("registered", "mfss,mfss", ["mfss,mfss-fifo"]),
    ("property", "causal-delivery,int", ["causal-delivery,integrity"]),
    ("target", "no/such/fol", []),
]


@pytest.mark.parametrize(("kind", "typed", "expected"), OFFERS)
def test_what_fits_is_offered(
    kind: str, typed: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("specs/a.toml", "specs/more/b.toml", "t.json", ".hidden.toml", "picture.svg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    found = completion.candidates(kind, typed)
    if kind == "traced":
        found = [name for name in found if not name.startswith("tree-")]
    assert expected == found


class Bash:
    """An interactive bash, with the completion that it is told to read."""

    def __init__(self, folder: Path) -> None:
        self.process, self.terminal = pty.fork()
        if self.process == 0:  # pragma: no cover
            os.chdir(folder)
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            known = {"PATH": path, "HOME": str(folder), "TERM": "dumb", "PS1": "$ "}
            known |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
            os.execve(str(shutil.which("bash")), ["bash", "--norc", "--noprofile", "-i"], known)
        self.typed('eval "$(_ANTECEDE_COMPLETE=bash_source antecede)"; echo READ""Y\n', "READY\r")

    def typed(self, keys: str, until: str) -> str:
        """Return what is seen from the time that keys are typed until there is `until`."""
        os.write(self.terminal, keys.encode())
        seen = ""
        while until not in seen:
            assert select.select([self.terminal], [], [], 60)[0], seen
            seen += os.read(self.terminal, 4096).decode(errors="replace")
        return seen

    def completed(self, start: str) -> str:
        """Return the line that the Tab key makes of a start."""
        seen = self.typed(f'{start}\t\x01echo GOT: \x05::DO""NE\n', "::DONE\r")
        return seen.rpartition("GOT: ")[2].partition("::DONE")[0]

    def end(self) -> None:
        os.write(self.terminal, b"exit\n")
        os.waitpid(self.process, 0)
        os.close(self.terminal)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_names_and_files(tmp_path: Path) -> None:
    (tmp_path / "ring.py").touch()
    bash = Bash(tmp_path)
    try:
        for start, rest in (
            ("antecede check cykas-s", "ecret-mode "),
            ("antecede check ri", "ng.py "),
            ("antecede check mfss --property causal-delivery,int", "egrity "),
        ):
            assert start + rest == bash.completed(start)
    finally:
        bash.end()


def takes_a_file(param: click.Parameter) -> bool:
    names_code = "FILE.py:" in str(param.metavar)  # beside other values
    return not names_code and any(
        word in str(param.metavar) for word in ("FILE", "FOLDER", "TRACE", "LOG")
    )


def test_every_option_that_takes_a_file_offers_files() -> None:
    for command in map(cli.command_named, PAGES):
        context = click.Context(command)
        for param in filter(takes_a_file, command.params):
            found = param.type.shell_complete(context, param, str(ROOT / "spec"))
            assert found, f"{command.name} {param.name}"
