"""Starts a Spark standalone cluster on this machine, runs a command on it, and stops it again.

python benchmarks/standalone.py -- antecede check cykas --engine spark --master {master}
python benchmarks/standalone.py     # tells the master's URL and runs until Ctrl-C

The cluster consists of a master and workers, each a process of its own, from the installed PySpark.
All processes listen on 127.0.0.1 only. Every user of this machine can use the cluster while it
runs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

from attrs import define, field

from antecede.checker.engine.spark.cluster import provide_java
from antecede.checker.support.errors import AntecedeError, ClusterError, InputError

LOOPBACK = "127.0.0.1"
PATIENCE = 120.0
"""The greatest time for the start of a process, in seconds, on a busy machine."""


def spark_home() -> str:
    """Return the folder of Spark: SPARK_HOME, or the installed PySpark.

    Raises:
        InputError: there is neither.
    """
    if find_spec("pyspark") is None:
        raise InputError("a Spark cluster needs PySpark: pip install 'pyspark>=4.0'")
    from pyspark.find_spark_home import _find_spark_home

    home = str(_find_spark_home())
    if not Path(home, "bin/spark-class").is_file():
        raise InputError(f"SPARK_HOME is {home!r}, and there is no bin/spark-class in it")
    return home


@define(eq=False)
class Standalone:
    """A running cluster.

    Attributes:
        folder: the folder of the processes' logs and the executors' files; removed at the end.
        master: the URL of the master.
        page: the URL of the master's web page.
        processes: the master and the workers, by name.
    """

    folder: Path
    master: str = ""
    page: str = ""
    processes: dict[str, subprocess.Popen[bytes]] = field(factory=dict)

    def start(self, workers: int, cores: int, memory: str, *, pin: bool = False) -> None:
        """Start the processes, and wait until the workers are registered.

        Args:
            workers: the number of workers.
            cores: the number of cores per worker.
            memory: the memory per worker.
            pin: whether a worker's JVMs and Python processes are restricted to `cores` cores of
                this machine; otherwise `cores` only limits the number of concurrent tasks.

        Raises:
            InputError: Spark or Java is missing.
            ClusterError: a process ended, or was not ready in time.
        """
        spark_home()
        provide_java(self.folder)
        self._spawn("master", "master.Master")
        self.master = self._said("master", r"Starting Spark master at (spark://\S+)")
        self.page = self._said("master", r"MasterWebUI.* started at (http://\S+)")
        for number in range(1, workers + 1):
            work = str(self.folder / f"work-{number}")
            size = ["--cores", str(cores), "--memory", memory, "--work-dir", work]
            self._spawn(f"worker-{number}", "worker.Worker", *size, self.master)
            if pin:
                self._pin(f"worker-{number}", (number - 1) * cores, cores)
        self._wait(lambda: self.workers_alive() == workers, "register the workers")

    def _pin(self, name: str, first: int, cores: int) -> None:
        """Restrict a process, and all processes that it starts, to some cores of this machine."""
        there = sorted(os.sched_getaffinity(0))
        chosen = {there[(first + k) % len(there)] for k in range(cores)}
        os.sched_setaffinity(self.processes[name].pid, chosen)

    def workers_alive(self) -> int:
        """Return the number of living workers, from the master."""
        direct = build_opener(ProxyHandler({}))
        with direct.open(f"{self.page}/json/", timeout=PATIENCE) as answer:
            state: dict[str, Any] = json.load(answer)
        return int(state["aliveworkers"])

    def stop(self) -> None:
        """End all processes, the workers before the master."""
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _spawn(self, name: str, kind: str, *arguments: str) -> None:
        environment = {
            **os.environ,
            "SPARK_CONF_DIR": str(self.folder),  # Spark's defaults, not this machine's settings
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
        }
        address = ["--host", LOOPBACK, "--port", "0", "--webui-port", "0"]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [
                    f"{spark_home()}/bin/spark-class",
                    f"org.apache.spark.deploy.{kind}",
                    *address,
                    *arguments,
                ],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that Ctrl-C ends the check before its cluster
            )

    def _said(self, name: str, pattern: str) -> str:
        """Wait for a line in a process's log that matches `pattern`, and return its group."""
        log = self.folder / f"{name}.log"

        def match() -> re.Match[str] | None:
            return re.search(pattern, log.read_text(errors="replace"))

        self._wait(lambda: match() is not None, f"start the {name}")
        found = match()
        assert found is not None
        return found[1]

    def _wait(self, ready: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not ready():
            for name, process in self.processes.items():
                if process.poll() is not None:
                    log = (self.folder / f"{name}.log").read_text(errors="replace")
                    last = (log.strip().splitlines() or ["it said nothing"])[-1]
                    raise ClusterError(f"cannot {what}: the {name} ended: {last}")
            if time.monotonic() > deadline:
                raise ClusterError(f"cannot {what} within {PATIENCE:.0f} seconds")
            time.sleep(0.1)


@contextmanager
def standalone(
    workers: int = 2, cores: int = 1, memory: str = "1g", *, pin: bool = False
) -> Iterator[Standalone]:
    """Start a cluster, and always stop it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="antecede-standalone-"))
    cluster = Standalone(folder)
    try:
        cluster.start(workers, cores, memory, pin=pin)
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def run(command: Sequence[str], cluster: Standalone) -> int:
    """Run a command with the URL in place of {master}; return its exit code."""
    filled = [part.replace("{master}", cluster.master) for part in command]
    try:
        process = subprocess.Popen(filled)
    except OSError as error:
        raise InputError(f"cannot run {filled[0]!r}: {error.strerror}") from None
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the command got the Ctrl-C, too, and prints its result
            continue
        except SystemExit:
            process.terminate()
            process.wait()
            raise


def main() -> int:
    """Parse the arguments, start, run, stop."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="default: 2")
    parser.add_argument("--cores", type=int, default=1, metavar="N", help="of each; default: 1")
    parser.add_argument("--memory", default="1g", help="of each worker's executors; default: 1g")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND …")
    arguments = parser.parse_args()
    if min(arguments.workers, arguments.cores) < 1:
        parser.error("--workers and --cores are at least 1")
    if not re.fullmatch(r"\d+[mg]", arguments.memory):
        parser.error(f"--memory is {arguments.memory!r}; give 1g or 1024m")
    command = arguments.command[arguments.command[:1] == ["--"] :]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with standalone(arguments.workers, arguments.cores, arguments.memory) as cluster:
            if command:
                return run(command, cluster)
            print(f"{cluster.master} is ready; Ctrl-C stops it.", flush=True)
            while True:
                signal.pause()
    except AntecedeError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0 if not command else 130


if __name__ == "__main__":
    sys.exit(main())
