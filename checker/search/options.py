"""Options and bounds of a search; its findings do not depend on them."""

from __future__ import annotations

from pathlib import Path

from attrs import asdict, evolve, frozen

from antecede.checker.amounts import memory
from antecede.checker.settings import setting

SEARCHES = {
    "breadth": "breadth-first, level by level: shortest counterexamples, exact counts",
    "depth": "depth-first: the same verdict, a longer counterexample",
    "random": "random walks from the initial state (--walks, --seed): may find a violation, but "
    "never show that there is none",
}

ENGINES = {
    "local": "compiled code on all cores of this machine; calls each handler once per new argument",
    "spark": "the same compiled code on a Spark cluster, for levels with many states",
    "plain": "plain Python, for small systems; the reference for the other engines",
}

MEMORY = {
    "auto": "forget the visited states of earlier levels once there are many, where every state is "
    "proved to have one depth only, or one sum of weights of transitions",
    "keep": "keep all visited states",
    "sweep-line": "as auto, and elsewhere drop visited states that can never be met again (the "
    "sweep-line method)",
}


@frozen
class Options:
    """Options of a search; every engine takes this record and heeds its part."""

    search: str = setting("breadth", str, "Order of the search.", choices=SEARCHES)
    engine: str = setting(
        "local",
        str,
        "Search engine: local (compiled code on this machine), spark (a cluster) or plain (plain "
        "Python).",
        choices=ENGINES,
    )
    threads: int | None = setting(
        None,
        int,
        "Number of threads of --engine local.",
        least=1,
        most=1024,
        otherwise="one per core",
    )
    symmetry: bool | None = setting(
        None,
        bool,
        "Keep only one of the states that differ only in the names of actors. Needs breadth-first "
        "search, a compiled engine, and a protocol and workload that treat all actors alike.",
        otherwise="on, but off under --history full",
    )
    memory: str = setting(
        "auto",
        str,
        "Which visited states a breadth-first search forgets to save memory. keep: none. auto: the "
        "states that it provably cannot reach again, if they are many. sweep-line: such states "
        "also in systems where auto forgets none.",
        choices=MEMORY,
    )
    check_progress: bool = setting(
        False,
        bool,
        "With --memory sweep-line: verify at every transition that the forgotten states cannot be "
        "reached again.",
    )
    traces: bool = setting(
        True,
        bool,
        "Store for each state how it was reached. Without this, the search needs less memory, and "
        "a second search finds the counterexample.",
    )
    spill: Path | None = setting(
        None,
        Path,
        "Keep the data of the search in files in this folder, except the visited states, so that "
        "it needs less memory.",
    )
    spill_visited: bool = setting(
        False, bool, "With --spill: keep the visited states in files as well."
    )
    checkpoint: Path | None = setting(
        None, Path, "Save the search in this folder every few minutes. --resume continues it."
    )
    checkpoint_seconds: float = setting(
        180.0, float, "Shortest time between two saves of --checkpoint, in seconds.", above=0.0
    )
    resume: Path | None = setting(
        None,
        Path,
        "Continue the search that --checkpoint saved in this folder. Give the same check as "
        "before.",
        present=True,
    )
    master: str | None = setting(
        None,
        str,
        "Spark cluster: local[N], spark://HOST:PORT, yarn or k8s://…",
        metavar="URL",
        otherwise="as spark-submit sets it, or all cores of this machine",
    )
    partitions: int | None = setting(
        None,
        int,
        "Number of parts into which Spark divides the states.",
        least=1,
        most=1 << 20,
        otherwise="one per core",
    )
    spark_threshold: int = setting(
        300_000,
        int,
        "Use the cluster only for levels with at least this number of states. Smaller levels are "
        "faster on this machine.",
        least=1,
        metavar="STATES",
    )
    spark_log: bool = setting(False, bool, "Show Spark's log on the terminal.")
    walks: int = setting(1000, int, "Number of random walks of --search random.", least=1)
    seed: int = setting(
        0, int, "Seed of the random walks of --search random.", least=-(10**18), most=10**18
    )

    # For measurements and tests.
    block: int | None = setting(None, int, least=1, public=False)
    """Entries that one thread may send to one owner in a chunk; None: what the engine chooses."""
    forget_from: int | None = setting(1 << 20, int, least=0, public=False)
    """Visited states from which on it is worth forgetting earlier levels; None: never. What shows
    later that it was wrong to do so makes the search begin again; most of what can show does so
    in far fewer states."""
    collect_from: int = setting(1 << 22, int, least=0, public=False)
    """Composites from which on it is worth looking which ones are still in use."""
    spark_files: bool = setting(True, bool, public=False)
    """Where driver and executors are one process (`local[N]`), tasks hand over blocks in files,
    and the shuffle carries where they are."""

    @property
    def forget(self) -> int | None:
        """Earlier levels are forgotten from this many visited states on; None: never."""
        return None if self.memory == "keep" else self.forget_from

    @property
    def unsaved(self) -> Options:
        """These options for another search of the same question, which saves no checkpoints.

        The folder belongs to the first search, as does what is in it.
        """
        return evolve(self, checkpoint=None, resume=None)

    @property
    def sweep_line(self) -> bool:
        """Drop visited states that can never be met again (the sweep-line method)."""
        return self.memory == "sweep-line"


@frozen
class Bounds:
    """When to give up; None means never."""

    max_states: int | None = setting(
        None, int, "Stop after this number of unique states (distinct states).", least=1
    )
    max_depth: int | None = setting(
        None,
        int,
        "Do not search beyond states at this depth. The initial state has depth 1.",
        least=1,
    )
    max_seconds: float | None = setting(
        None, float, "Stop after this number of seconds.", above=0.0
    )
    max_memory: int | None = setting(
        None,
        int,
        "Stop when the process uses this much memory, such as 500M or 4G.",
        least=1,
        most=1 << 60,
        metavar="SIZE",
    )

    bound: tuple[str, ...] = setting(
        (),
        tuple,
        "Do not search beyond states in which the measure NAME of an actor reaches N. NAME is a "
        "measure that the protocol declares (see antecede list), held (messages in the actor's "
        "state) or greatest (its greatest number). Runs in plain Python. You can repeat this "
        "option.",
        metavar="NAME=N",
    )

    def over(self, others: Bounds) -> Bounds:
        """Return these bounds, completed by `others`."""
        given = {key: value for key, value in asdict(self).items() if value not in (None, ())}
        return evolve(others, **given)

    def nearest(self, states: int, seconds: float, used: int) -> tuple[float, str] | None:
        """Return the share and the option of the bound of which most is used up, or None."""
        parts = {
            "--max-states": (states, self.max_states),
            "--max-seconds": (seconds, self.max_seconds),
            "--max-memory": (used, self.max_memory),
        }
        return max(
            ((part / most, name) for name, (part, most) in parts.items() if most), default=None
        )

    def hit(self, states: int, seconds: float, used: int) -> str | None:
        """Return which of the bounds but the depth is reached, in words, or None."""
        if self.max_states is not None and states >= self.max_states:
            return f"--max-states {self.max_states:,} reached"
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return f"--max-seconds {self.max_seconds:g} reached"
        if self.max_memory is not None and used >= self.max_memory:
            return most_memory_text(self.max_memory)
        return None


def most_memory_text(most: int) -> str:
    """Return the reason of a search that reached --max-memory, a number of bytes."""
    return f"--max-memory {memory(most)} reached"
