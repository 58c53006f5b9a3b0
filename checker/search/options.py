"""Options of a search, and bounds that end a search early.

A search is the part of a check that visits states of the system. Options change the time and the
memory that a search needs.

Question: Where does `--max-memory` or another bound end a search? `Bounds`.
"""

from __future__ import annotations

from pathlib import Path

from attrs import asdict, evolve, frozen

from antecede.checker.support.amounts import memory
from antecede.checker.support.settings import setting

SEARCHES = {
    "breadth": "breadth-first, level by level: shortest counterexamples, exact counts",
    "depth": "depth-first: the same verdict, a longer counterexample",
    "random": "random walks from the initial state (--walks, --seed): may find a violation, but "
    "never show that there is none",
}
"""The orders in which a search can visit states, by name, each with its meaning."""

ENGINES = {
    "local": "compiled code on all cores of this machine; calls each handler once per new argument",
    "spark": "the same compiled code on a Spark cluster, for levels with many states",
    "plain": "plain Python, for small systems; the reference for the other engines",
}
"""The engines, the parts of the checker that visit states, by name, each with its meaning."""

FORGET = {
    "auto": "forget the visited states of earlier levels once there are many, where every state is "
    "proved to have one depth only, or one sum of weights of transitions",
    "never": "keep all visited states",
}
"""The choices of the option `forget`, each with its meaning."""


@frozen
class Options:
    """The options of a search: its order, its engine, and its use of threads, memory and clusters.

    They do not change the verdict, with one exception: random walks cannot show that a property
    holds. Each engine uses only the options that concern it. `antecede check --help-all` describes
    each option.

    Examples:
        >>> from antecede.checker.search.options import Options
        >>> options = Options(search="depth", engine="plain")
        >>> options.search, options.walks
        ('depth', 1000)
    """

    search: str = setting(
        "breadth",
        str,
        "Order of the search: breadth (breadth-first, finds shortest counterexamples), depth "
        "(depth-first) or random (random walks, may miss violations).",
        choices=SEARCHES,
    )
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
    forget: str = setting(
        "auto",
        str,
        "Whether a breadth-first search may forget visited states. auto: if they are many, it "
        "forgets those that it provably cannot reach again. never: it keeps all.",
        choices=FORGET,
    )
    spill: Path | None = setting(
        None,
        Path,
        "Keep the data of the search in files in this folder, except the visited states, so that "
        "it needs less memory.",
    )
    checkpoint: Path | None = setting(
        None, Path, "Save the search in this folder every few minutes. --resume continues it."
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
    spark_threshold: int = setting(
        300_000,
        int,
        "Use the cluster only for levels with at least this number of states. Smaller levels are "
        "faster on this machine.",
        least=1,
        metavar="STATES",
    )
    spark_conf: tuple[str, ...] = setting(
        (),
        tuple,
        "A setting of Spark, such as spark.executor.memory=4g. It replaces antecede's and the "
        "cluster's. You can repeat this option.",
        metavar="KEY=VALUE",
        whole=True,
    )
    walks: int = setting(1000, int, "Number of random walks of --search random.", least=1)
    seed: int = setting(
        0, int, "Seed of the random walks of --search random.", least=-(10**18), most=10**18
    )

    # For measurements and tests.
    traces: bool = setting(True, bool, public=False)
    """Store for each state how it was reached. False: a second search finds the counterexample."""
    checkpoint_seconds: float = setting(180.0, float, above=0.0, public=False)
    """The shortest time between two saves of a checkpoint."""
    partitions: int | None = setting(None, int, least=1, most=1 << 20, public=False)
    """The number of parts into which Spark divides the states. None: it follows their number."""
    partition_states: int = setting(1 << 16, int, least=1, public=False)
    """The states of a part, unless there are so many that each core has a part. A task has a fixed
    cost, and with fewer states this would be the greater part of its costs.
    """
    block: int | None = setting(None, int, least=1, public=False)
    """The most entries that one thread may pass to one other thread at once. None: the engine
    chooses.
    """
    forget_from: int | None = setting(1 << 20, int, least=0, public=False)
    """A search that has visited this number of states may forget states of earlier depths. None: it
    forgets none. A search that later meets a state that it has forgotten starts again. This
    number is so large because most systems whose states have several depths show it earlier.
    """
    collect_from: int = setting(1 << 22, int, least=0, public=False)
    """A search whose tables have this number of entries looks which entries are still used. An
    entry stands for a part of states.
    """
    spark_files: bool = setting(True, bool, public=False)
    """True if Spark's tasks may exchange data in files when all of them run in one process
    (`local[N]`). The tasks then send only the places of the files over Spark.
    """

    @property
    def forgets_after(self) -> int | None:
        """The number of visited states after which a search may forget states of earlier depths.

        None if the search keeps all visited states.
        """
        return None if self.forget == "never" else self.forget_from

    @property
    def unsaved(self) -> Options:
        """These options for another search, without `checkpoint` and `resume`.

        A folder of checkpoints belongs to one search, so a second search must not write to it.
        """
        return evolve(self, checkpoint=None, resume=None)


@frozen
class Bounds:
    """The bounds that end a search before it has visited every state. None means no bound.

    A search that reaches a bound has the verdict INCOMPLETE, unless it has found a violation.

    Attributes:
        max_states: the number of different states.
        max_depth: the greatest depth of a state: the number of states on a shortest path to it. The
            initial state has depth 1.
        max_seconds: the time in seconds.
        max_memory: the memory of the process in bytes.
        bound: limits on states, as texts such as "queue=5". A measure such as `queue` is a number
            that the protocol computes from an actor's state.

    Examples:
        >>> from antecede.checker.search.options import Bounds
        >>> Bounds(max_seconds=60.0).max_states is None
        True
    """

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
        "state) or greatest (its greatest number). in-flight=N is about packets in flight, and "
        "FILE.py:NAME is a property that states must satisfy. Runs in plain Python. You can repeat "
        "this option.",
        metavar="NAME=N|FILE.py:NAME",
    )

    def over(self, others: Bounds) -> Bounds:
        """Return these bounds, with the bounds of another record where these have none.

        Args:
            others: the bounds that are used where these bounds are None or empty.

        Examples:
            >>> from antecede.checker.search.options import Bounds
            >>> both = Bounds(max_depth=5).over(Bounds(max_depth=9, max_states=100))
            >>> both.max_depth, both.max_states
            (5, 100)
        """
        given = {key: value for key, value in asdict(self).items() if value not in (None, ())}
        return evolve(others, **given)

    def nearest(self, states: int, seconds: float, used: int) -> tuple[float, str] | None:
        """Return the bound that the search has used up most, or None if there is no such bound.

        Args:
            states: the number of different states so far.
            seconds: the time so far, in seconds.
            used: the memory of the process in bytes.

        Returns:
            The used share of the bound (1.0 when it is reached) and its option, such as
            "--max-states".
        """
        parts = {
            "--max-states": (states, self.max_states),
            "--max-seconds": (seconds, self.max_seconds),
            "--max-memory": (used, self.max_memory),
        }
        return max(
            ((part / most, name) for name, (part, most) in parts.items() if most), default=None
        )

    def hit(self, states: int, seconds: float, used: int) -> str | None:
        """Return the bound that the search has reached, in words, or None if it has reached none.

        The bound `max_depth` is never returned, because a search only goes no deeper.

        Args:
            states: the number of different states so far.
            seconds: the time so far, in seconds.
            used: the memory of the process in bytes.
        """
        if self.max_states is not None and states >= self.max_states:
            return f"--max-states {self.max_states:,} reached"
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return f"--max-seconds {self.max_seconds:g} reached"
        if self.max_memory is not None and used >= self.max_memory:
            return most_memory_text(self.max_memory)
        return None


def most_memory_text(most: int) -> str:
    """Return the text that says that a search has reached the bound `--max-memory`.

    Args:
        most: the bound in bytes.
    """
    return f"--max-memory {memory(most)} reached"
