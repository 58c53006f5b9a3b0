"""The Spark engine on a standalone cluster: a master and two workers of one core each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from antecede.checker.engine.spark.cluster import on_this_machine
from benchmarks.standalone import Standalone, standalone
from tests.conftest import ROOT, in_a_process
from tests.engine.spark.common import locally
from tests.engine.threads.test_local import small


@pytest.fixture(scope="module")
def cluster() -> Iterator[Standalone]:
    with standalone(workers=2, cores=1) as running:
        yield running


@pytest.mark.integration
def test_a_check_finds_what_the_local_engine_finds(cluster: Standalone, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    asked = ("check", "cykas-secret-mode", "--history", "clocks", "--expect", "violated")
    options = ("--engine", "spark", "--master", cluster.master, "--spark-threshold", "3000")
    output = ("--forget", "never", "--json", file, "--quiet")
    ran = in_a_process(*asked, *options, "--no-symmetry", *output, cwd=tmp_path)
    assert 0 == ran.code, ran.err
    assert "" == ran.err
    found = json.loads(file.read_text())
    expected = locally(small("cykas-secret-mode", 3, 2, history="clocks"))
    assert expected.statistics["states_per_depth"] == found["statistics"]["states_per_depth"]
    assert expected.counts.total_states == found["total_states"]
    assert 9 == found["counterexample"]["length"]
    assert 1 < found["statistics"]["rounds_on_spark"]
    assert 2 == cluster.workers_alive()


KILL = """
import os, signal, sys
from antecede.checker.search.loop import explore
from antecede.checker.engine.spark.transport import SparkTransport
from tests.engine.spark.common import SparkSearch
from tests.conftest import method
from tests.engine.threads.test_local import small

master, victim = sys.argv[1], int(sys.argv[2])
killed = []

class Killing(SparkTransport):
    def _run_job(self, level, pause, *, advances):
        if self.jobs.number == 2:
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)
        return super()._run_job(level, pause, advances=advances)

if __name__ == "__main__":
    system = small("mfss", 3, 1, history="full")
    options = method(engine="spark", master=master, spark_threshold=200, partitions=2)
    result = explore(system, SparkSearch(system, options=options, transport=Killing))
    print(len(killed), result.verdict, result.counts, result.stopped_by)
"""


@pytest.mark.integration
def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    script = tmp_path / "kill.py"
    script.write_text(KILL)
    with standalone(workers=2, cores=1) as cluster:
        victim = cluster.processes["worker-1"]
        done = subprocess.run(
            [sys.executable, str(script), cluster.master, str(victim.pid)],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        assert -signal.SIGKILL == victim.wait(600)
        assert cluster.processes["worker-2"].poll() is None
    expected = locally(small("mfss", 3, 1, history="full")).counts
    assert f"1 HOLDS {expected} None" == done.stdout.strip(), done.stderr[-2000:]


@pytest.mark.integration
def test_the_script_stops_its_cluster_and_tells_how_the_command_ended(tmp_path: Path) -> None:
    script = str(ROOT / "benchmarks/standalone.py")
    command = [sys.executable, "-c", "import sys; print(sys.argv[1]); sys.exit(7)", "{master}"]
    done = subprocess.run(
        [sys.executable, script, "--workers", "1", "--", *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=300,
        check=False,
    )
    assert 7 == done.returncode, done.stderr
    assert on_this_machine(done.stdout)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.integration
def test_settings_of_the_command_line_reach_the_cluster(
    cluster: Standalone, tmp_path: Path
) -> None:
    """One of them replaces a setting of the cluster, another one a setting of antecede."""
    (tmp_path / "spark-defaults.conf").write_text("spark.default.parallelism 7\n")
    events = tmp_path / "events"
    events.mkdir()
    settings = {
        "spark.default.parallelism": "3",
        "spark.rdd.compress": "true",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{events}",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    ran = in_a_process(
        *("check", "cykas", "--history", "clocks", "--engine", "spark"),
        *("--master", cluster.master, "--spark-threshold", "3000"),
        *(word for key, value in settings.items() for word in ("--spark-conf", f"{key}={value}")),
        cwd=tmp_path,
        SPARK_CONF_DIR=str(tmp_path),
    )
    assert 0 == ran.code, ran.err
    (log,) = events.iterdir()
    lines = map(json.loads, log.read_text().splitlines())
    (used,) = (each for each in lines if each["Event"] == "SparkListenerEnvironmentUpdate")
    assert settings.items() <= used["Spark Properties"].items()


CHANGING = """
import sys
from pathlib import Path
from attrs import evolve
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds
from tests.conftest import method
from tests.engine.spark.common import SparkSearch
from tests.engine.spark.test_repartition import changes
from tests.engine.threads.test_local import small

if __name__ == "__main__":
    name, master, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    system = small(name, 3, 2)
    options = method(
        engine="spark", master=master, spark_threshold=300, partition_states=200, forget="never",
        spark_conf=("spark.default.parallelism=5",), checkpoint=folder, checkpoint_seconds=1e-9,
    )
    first = SparkSearch(system, options=options)
    print(explore(system, first, Bounds(max_states=3_000)).verdict, len(changes(first)) > 1)
    chosen = evolve(options, spark_conf=("spark.default.parallelism=9",), checkpoint=None)
    again = SparkSearch(system, options=evolve(chosen, resume=folder))
    result = explore(system, again)
    path = result.counterexample
    print(result.verdict, result.counts, path and path.length, max(changes(again)))
"""


@pytest.mark.integration
@pytest.mark.parametrize("name", ["cykas", "cykas-secret-mode"])
def test_partitions_change_in_a_search_and_when_it_is_resumed(
    cluster: Standalone, tmp_path: Path, name: str
) -> None:
    script = tmp_path / "changing.py"
    script.write_text(CHANGING)
    done = subprocess.run(
        [sys.executable, str(script), name, cluster.master, str(tmp_path / "saved")],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    expected = locally(small(name, 3, 2))
    length = expected.counterexample and expected.counterexample.length
    assert [
        "INCOMPLETE True",
        f"{expected.verdict} {expected.counts} {length} 9",
    ] == done.stdout.splitlines(), done.stderr[-2000:]
