"""Costly tests are named, and cheap ones are not: see `budget.py`."""

from __future__ import annotations

import pytest

from tests import budget
from tests.budget import Budget, slowness
from tests.conftest import ROOT

pytest_plugins = ["pytester"]

BURN = """
import subprocess, sys, time
import psutil, pytest

def burn():
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass

PYTHON = [sys.executable, "-Sc"]
"""


def run(pytester: pytest.Pytester, source: str, shared: float = 1000) -> list[str]:
    """Run tests, with a limit of half of what `burn` uses; return those that are too costly."""
    pytester.makepyfile(BURN + source)
    markers = "\n  ".join(f"{name}: dear" for name in budget.DEARER)
    pytester.makeini(f"[pytest]\nmarkers =\n  {markers}")
    plugin = Budget(0.1, shared)
    record = pytester.inline_run("-p", "no:cacheprovider", plugins=[plugin])
    named = [report for report in record.getfailures() if "is too costly" in str(report.longrepr)]
    assert (record.ret == pytest.ExitCode.TESTS_FAILED) == bool(named)
    return [report.nodeid.split("::")[1] for report in named]


def test_a_test_that_burns_is_named_and_one_that_waits_is_not(pytester: pytest.Pytester) -> None:
    source = "def test_burns(): burn()\n\ndef test_waits(): time.sleep(0.2)"
    assert ["test_burns"] == run(pytester, source)


@pytest.mark.parametrize("marker", budget.DEARER)
def test_a_test_of_a_dearer_level_may_burn(pytester: pytest.Pytester, marker: str) -> None:
    assert [] == run(pytester, f"@pytest.mark.{marker}\ndef test_burns(): burn()")


def test_a_child_that_was_waited_for_counts(pytester: pytest.Pytester) -> None:
    code = "import time\\nwhile time.process_time() < 0.2: pass"
    source = f"def test_starts(): subprocess.run([*PYTHON, '{code}'], check=True)"
    assert ["test_starts"] == run(pytester, source)


def test_a_child_that_still_runs_counts_once(pytester: pytest.Pytester) -> None:
    source = """
STARTED = []

def test_starts():
    STARTED.append(subprocess.Popen([*PYTHON, "while True: pass"]))
    while psutil.Process(STARTED[0].pid).cpu_times().user < 0.2:
        time.sleep(0.01)

def test_ends():
    STARTED[0].kill()
    STARTED[0].wait()
"""
    assert ["test_starts"] == run(pytester, source)


def test_what_an_earlier_test_started_is_not_charged_to_the_one_that_ends_it(
    pytester: pytest.Pytester,
) -> None:
    """The process has waited for one of its own, whose time comes with it."""
    source = '''
BURNS = "import time\\nwhile time.process_time() < 0.2: pass"
CODE = f"""import subprocess, sys
subprocess.run([*{PYTHON}, {BURNS!r}])
print(flush=True)
sys.stdin.read()"""
STARTED = []

@pytest.mark.integration
def test_starts():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    STARTED.append(subprocess.Popen([*PYTHON, CODE], **pipes))
    STARTED[0].stdout.readline()

def test_ends():
    STARTED[0].communicate()
'''
    assert [] == run(pytester, source)


SHARED = """
@pytest.fixture(scope="module")
def inner(): burn()

@pytest.fixture(scope="module")
def outer(inner): burn()

def test_first(outer): pass

def test_second(outer): pass
"""


def test_a_shared_fixture_is_not_charged_to_the_first_test(pytester: pytest.Pytester) -> None:
    assert [] == run(pytester, SHARED)


def test_a_shared_fixture_has_a_limit_of_its_own(pytester: pytest.Pytester) -> None:
    assert ["test_first"] == run(pytester, SHARED, shared=0.1)


def test_a_fixture_of_one_test_is_charged_to_it(pytester: pytest.Pytester) -> None:
    source = "@pytest.fixture\ndef mine(): burn()\n\ndef test_uses(mine): pass"
    assert ["test_uses"] == run(pytester, source)


def test_a_test_that_fails_anyway_fails_for_its_own_reason(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BURN + "def test_fails():\n    burn()\n    assert 1 == 2")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[Budget(0.1, 1)])
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])


@pytest.mark.integration
def test_workers_name_dear_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(
        "from tests.budget import Budget\n"
        "def pytest_configure(config): config.pluginmanager.register(Budget(0.1, 1))\n"
    )
    pytester.makepyfile(BURN + "def test_burns(): burn()\n\ndef test_cheap(): pass")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", "2")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*test_burns is too costly for the fast level*"])


def test_a_slow_processor_has_a_larger_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert slowness() >= 1
    usual = Budget.here()
    monkeypatch.setattr(budget, "USUAL", budget.USUAL / 1000)
    assert slowness() > 100
    assert Budget.here().seconds > 10 * usual.seconds
    assert Budget.here().seconds > 100 * budget.SECONDS


def test_this_run_has_the_budget(pytestconfig: pytest.Config) -> None:
    assert isinstance(pytestconfig.pluginmanager.get_plugin("budget"), Budget)
