"""Mutants: small semantic changes of correct protocols, and the checks that should notice them.

A TOML file per protocol lists its mutants and the checks that are claimed to hold. A mutant
replaces one piece of the real source (`old`, which occurs exactly once) by another (`new`). Its
module, and the modules that import it, are imported from the changed text on demand.
"""

from __future__ import annotations

import importlib
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from attrs import evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Protocol
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.support.registry import default_properties, protocol_named
from antecede.protocols import REGISTRY

ROOT = Path(__file__).parent.parent.parent
FILES = sorted(
    Path(__file__).parent.glob("*.toml"), key=lambda file: list(REGISTRY).index(file.stem)
)
BOUNDS = Bounds(max_states=10_000_000, max_seconds=300)
EXPLANATIONS = ("equivalent: ", "needs ")
MOST_SECONDS = 1.0
"""The limit of processor time for one call of a handler. Correct handlers need less."""


@frozen
class Mutant:
    """A change of a protocol's source.

    Attributes:
        name: its name within the protocol.
        breaks: the broken guarantee, in words.
        old: the source text to replace.
        new: the replacement.
        file: the file in `protocols/`.
        survives: the reason why no check detects it: `equivalent: …` or `needs …`; empty if a check
            should detect it.
        deeper: for `needs …`, larger checks; one of them detects the mutant.
        endless: a number of states greater than in the first check of the real protocol. The
            mutant's check exceeds it, because it never ends.
    """

    name: str
    breaks: str
    old: str
    new: str
    file: str
    survives: str = ""
    deeper: tuple[Spec, ...] = ()
    endless: int | None = None


@frozen
class Mutants:
    """A protocol's mutants, and the checks that are claimed to hold, in their order."""

    protocol: str
    checks: tuple[Spec, ...]
    mutants: tuple[Mutant, ...]


@frozen
class Outcome:
    """The first check that found something.

    Attributes:
        spec: the check.
        found: the property violated, the error, or the reason why there is no final state.
        length: the length of the counterexample; None for an error.
    """

    spec: Spec
    found: str
    length: int | None


def mutants_in(file: Path) -> Mutants:
    """Read a file of mutants."""
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    protocol = table["protocol"]
    home = home_of(protocol).rpartition(".")[2] + ".py"
    mutants = tuple(
        Mutant(**{"file": home, **entry, "deeper": checks_from(protocol, entry.get("deeper", ()))})
        for entry in table["mutants"]
    )
    return Mutants(protocol, checks_from(protocol, table["checks"]), mutants)


def checks_from(protocol: str, tables: Sequence[Mapping[str, Any]]) -> tuple[Spec, ...]:
    """Return the checks that `tables` describe, each for every size, workload and network.

    Without properties they have the default ones and all invariants.
    """
    invariants = [f"invariant:{name}" for name in protocol_named(protocol).invariants]
    properties = (*default_properties(), *invariants)
    found = []
    for table in tables:
        values = {"protocol": protocol, "properties": properties, **table}
        values["properties"] = tuple(values["properties"])
        networks = values.pop("networks", [values.pop("network", "unordered")])
        workloads = values.pop("workloads", [values.pop("workload", "any")])
        found += [
            Spec(actors=actors, messages=messages, workload=workload, network=network, **values)
            for actors, messages in values.pop("sizes")
            for workload in workloads
            for network in networks
        ]
    return tuple(found)


def home_of(protocol: str) -> str:
    """Return the module that defines a registered protocol."""
    module, _, _ = REGISTRY[protocol].partition(":")
    return module


def source_of(file: str) -> str:
    """Return the real source of a file in `protocols/`."""
    return (ROOT / "protocols" / file).read_text(encoding="utf-8")


def changed_source(mutant: Mutant) -> str:
    """Return the source with the change.

    Raises:
        ValueError: `old` does not occur exactly once, or equals `new`.
    """
    source = source_of(mutant.file)
    times = source.count(mutant.old)
    if times != 1 or mutant.old == mutant.new:
        raise ValueError(f"{mutant.name}: `old` occurs {times} times in {mutant.file}; give once")
    return source.replace(mutant.old, mutant.new)


def mutated(protocol: str, mutant: Mutant) -> Protocol:
    """Return a registered protocol with the change in its source."""
    module = f"antecede.protocols.{mutant.file.removesuffix('.py')}"
    _, _, name = REGISTRY[protocol].partition(":")
    with _apart(_OneModule(module, mutant.file, changed_source(mutant))):
        made: Protocol = getattr(importlib.import_module(home_of(protocol)), name)
    return limited(evolve(made, name=f"{protocol} with {mutant.name}"))


class _OneModule(MetaPathFinder, InspectLoader):
    """Finds one module, with a source of its own."""

    def __init__(self, module: str, file: str, source: str) -> None:
        self.module, self.file, self.source = module, file, source

    def find_spec(self, fullname: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname == self.module else None

    def get_source(self, _fullname: str) -> str:
        return self.source

    def get_code(self, _fullname: str) -> Any:
        return compile(self.source, f"changed {self.file}", "exec")


@contextmanager
def _apart(finder: MetaPathFinder) -> Iterator[None]:
    """Import all of `protocols` anew with the help of `finder`; forget it afterwards."""
    real = _without_protocols()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _without_protocols()
        sys.modules.update(real)


def _without_protocols() -> dict[str, ModuleType]:
    """Take the package out of the imported modules."""
    names = [name for name in sys.modules if name.startswith("antecede.protocols")]
    return {name: sys.modules.pop(name) for name in names}


class EndlessError(Exception):
    """A handler did not return."""


def limited(protocol: Protocol) -> Protocol:
    """Return `protocol` with handlers that give up when they do not return."""
    timeout = protocol.timeout
    return evolve(
        protocol,
        initial=_limited(protocol.initial),
        causal_send=_limited(protocol.causal_send),
        receive=_limited(protocol.receive),
        timeout=None if timeout is None else _limited(timeout),
    )


def _limited(handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    def call(*arguments: Any) -> Any:
        before = signal.signal(signal.SIGVTALRM, _give_up)
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
        try:
            return handler(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)

    return call


def _give_up(_signal: int, _frame: FrameType | None) -> None:
    raise EndlessError("it does not return")


def detected(
    protocol: Protocol, checks: Sequence[Spec], engine: str = "local"
) -> tuple[Outcome | None, tuple[str, ...]]:
    """Run `checks` in their order up to the first that finds something.

    Returns:
        (outcome or None, the checks that were not completed).
    """
    unfinished = []
    for spec in checks:
        options = Options(engine=engine, threads=1 if engine == "local" else None)
        report = check(spec, options, BOUNDS, protocol=protocol, selfcheck="off")
        result = report.result.of_this_search
        if result.verdict is Verdict.INCOMPLETE:
            unfinished.append(f"{label(spec)}: {result.stopped_by}")
        elif result.verdict is not Verdict.HOLDS:
            return _outcome(spec, result), tuple(unfinished)
    return None, tuple(unfinished)


def without_end(protocol: Protocol, spec: Spec, most: int) -> Outcome | None:
    """Return the outcome of a check that reaches `most` states; None if it ends before."""
    bounds = evolve(BOUNDS, max_states=most)
    result = check(spec, Options(engine="plain"), bounds, protocol=protocol, selfcheck="off").result
    if result.verdict is not Verdict.INCOMPLETE:
        return None
    return Outcome(spec, f"{most:,} states and no end", None)


def _outcome(spec: Spec, result: Result) -> Outcome:
    path = result.counterexample
    if result.verdict is Verdict.VACUOUS:
        ends = bool(result.counts.final_states)
        why = " and ".join(result.never) if ends else "no run comes to an end"
        return Outcome(spec, f"VACUOUS, because {why}", None)
    if path is None:
        # The message of a handler's error has the call, which can be long. Its kind is enough.
        kind = (result.error or "").partition(" raised ")[2].partition(":")[0]
        return Outcome(spec, kind or str(result.error), None)
    return Outcome(spec, path.violates or "", path.length)


def label(spec: Spec) -> str:
    """Return a check in few words; a script has its own numbers of messages."""
    sized = [f"{spec.actors}×{spec.messages}", *([spec.workload] if spec.workload != "any" else [])]
    words = [spec.workload] if ":" in spec.workload else sized
    words += [str(spec.network), *(["can-deliver"] if "can-deliver" in spec.properties else [])]
    return " ".join(words)
