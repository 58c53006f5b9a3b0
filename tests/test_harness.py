"""The tests' own assumptions: signals reach the processes that they start, and none hangs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import pytest

from tests.budget import FAST, INTEGRATION
from tests.conftest import ROOT

CHILD = (
    "import signal\n"
    "print([signal.getsignal(n) is signal.SIG_IGN for n in (signal.SIGINT, signal.SIGHUP)])\n"
)


def started_in_the_background(source: str) -> str:
    """Run Python as `nohup make test &` in a script does: with SIGINT and SIGHUP ignored."""

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=ROOT,
        preexec_fn=ignore,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_background_job_hands_on_which_signals_are_ignored() -> None:
    """The condition of the next test, which would otherwise prove nothing."""
    assert "[True, True]" == started_in_the_background(CHILD)


def test_children_of_the_tests_hear_signals_in_the_background_too() -> None:
    source = (
        "import subprocess, sys\n"
        "from tests.conftest import default_interrupts\n"
        "default_interrupts()\n"
        f"subprocess.run([sys.executable, '-c', {CHILD!r}], check=True)\n"
    )
    assert "[False, False]" == started_in_the_background(source)


def test_every_test_has_a_limit(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("timeout")
    assert 0 < float(pytestconfig.getini("timeout")) <= 1800


@pytest.mark.parametrize("file", ["Makefile", ".ci/run"])
def test_the_two_levels_are_asked_for_by_the_same_markers(file: str) -> None:
    asked = re.findall(r" -m '(.*)'$", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert [FAST, INTEGRATION] == asked
