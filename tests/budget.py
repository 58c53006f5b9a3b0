"""A budget of processor time for each test of the fast level; `conftest.py` registers it.

A test without the marker of a costlier level that uses more fails in its teardown, and the message
names it. Wall time does not count: a machine under load is slow, but no test becomes costlier.
A fixture of a class, a module or the session has a budget of its own, because the test that happens
to come first is not to blame for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import psutil
import pytest
from attrs import Factory, define

SECONDS = 1.0
"""What a test may use on a processor that needs `USUAL` for the loop in `slowness`."""

TOLERANCE = 6.0
"""The same test uses more beside others, and if it is the first to import or to load kernels."""

SHARED = 10.0
"""What a fixture may use that several tests share."""

USUAL = 0.02

DEARER = ("integration", "smoke", "slow")
"""The markers of tests that may use more."""

FAST = "(smoke or not integration) and not slow"
"""The tests of `make test`, for pytest's option -m."""

INTEGRATION = "integration and not smoke and not slow"
"""The tests of `make integration`."""


def slowness() -> float:
    """Return how many times slower than usual this processor is, and at least 1."""

    def loop() -> float:
        began = time.process_time()
        seen: dict[tuple[int, int], int] = {}
        for i in range(100_000):
            seen[i % 1000, i % 7] = seen.get((i % 1000, i % 7), 0) + i
        return time.process_time() - began

    return max(1.0, min(loop() for _ in range(5)) / USUAL)


@define
class Meter:
    """Measures processor time, with that of all processes below this one."""

    own: float = Factory(lambda: sum(os.times()[:4]))
    running: dict[tuple[int, float], float] = Factory(lambda: _running())

    def seconds(self) -> float:
        """Return the processor time since the meter was made.

        Children that were waited for are in the times of this process, and what ran already is
        taken out of that again. Of the processes that run now, only those of this test count: what
        an earlier test left, such as Spark's JVM, belongs to nobody.
        """
        now = _running()
        still = sum(used for process, used in now.items() if process not in self.running)
        ended = sum(used for process, used in self.running.items() if process not in now)
        return sum(os.times()[:4]) - self.own + still - ended


def _running() -> dict[tuple[int, float], float]:
    """Return the processor time of each process below this one, by number and start.

    It includes that of the children that the process has waited for: whoever waits for the process
    gets both at once.
    """
    used = {}
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            used[child.pid, child.create_time()] = sum(child.cpu_times()[:4])
    return used


class Budget:
    """The plugin.

    Attributes:
        seconds: what a test may use.
        shared: what a shared fixture may use.
    """

    def __init__(self, seconds: float, shared: float) -> None:
        self.seconds = seconds
        self.shared = shared
        self._meter = Meter()
        self._elsewhere = 0.0  # spent on shared fixtures in this test
        self._within = False  # a shared fixture asks for others
        self._dear: list[str] = []

    @classmethod
    def here(cls) -> Budget:
        """Return the budget for this processor."""
        scale = slowness()
        return cls(SECONDS * TOLERANCE * scale, SHARED * scale)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Charge a shared fixture to nobody."""
        if self._within or fixturedef.scope == "function":
            return (yield)
        meter, self._within = Meter(), True
        try:
            return (yield)
        finally:
            used, self._within = meter.seconds(), False
            self._elsewhere += used
            if used > self.shared:
                said = f"the {fixturedef.scope} fixture {fixturedef.argname} used {used:.1f} s"
                self._dear.append(f"{said}; the limit is {self.shared:.1f} s")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        """Open the account of a test."""
        self._meter, self._elsewhere, self._dear = Meter(), 0.0, []
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Let the end of a test fail that used too much."""
        report: pytest.TestReport = yield
        if call.when != "teardown":
            return report
        used = self._meter.seconds() - self._elsewhere
        item.user_properties.append(("processor_seconds", round(used, 3)))
        if used > self.seconds:
            self._dear.append(f"it used {used:.1f} s; the limit is {self.seconds:.1f} s")
        if report.passed and self._dear and not any(map(item.get_closest_marker, DEARER)):
            report.outcome = "failed"
            report.longrepr = (
                f"{item.nodeid} is too costly for the fast level. Processor time with children: "
                f"{'; '.join(self._dear)}. Make it cheaper, or mark it "
                "@pytest.mark.integration (see CONTRIBUTING.md)."
            )
        return report
