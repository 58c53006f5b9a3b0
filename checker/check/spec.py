"""Specs: a question, bounds and an expected answer, from a TOML file or from options.

Question: How does a spec or a command line become a system? `system_of`.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from antecede.checker.model import Property, Protocol, What, When
from antecede.checker.purity.opaque import limit_on_opaque_messages, of_opaque_messages
from antecede.checker.search.options import SEARCHES, Bounds
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.crashes import (
    Crashes,
    closable,
    crashes_from,
    of_live_actors,
    refuse_own,
)
from antecede.checker.semantics.failing import (
    FAILURES,
    FINAL_RETURNS,
    PREDICATE_RETURNS,
    deferring,
    guarded,
)
from antecede.checker.semantics.handlers import called
from antecede.checker.semantics.history import HISTORIES, oracle_named
from antecede.checker.semantics.judge import looks_at_order, records_deliveries
from antecede.checker.semantics.limits import AnyLimit, Limit, limits_from
from antecede.checker.semantics.marked import marked_oracle
from antecede.checker.semantics.names import Names, fitted, names_from
from antecede.checker.semantics.network import Network, network_named
from antecede.checker.semantics.question import MODEL, Question
from antecede.checker.semantics.transition import EndlessSystem, System, refuse_crowd
from antecede.checker.semantics.workload import (
    SUMMARIES,
    EndlessWorkload,
    Workload,
    choosing,
    labels_text,
    recording,
    split,
)
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.errors import InputError, check_known, unknown
from antecede.checker.support.reading import toml_in
from antecede.checker.support.registry import (
    PACKAGE,
    PIPE,
    declared_names,
    default_properties,
    property_named,
    protocol_named,
    with_code,
)
from antecede.checker.support.settings import (
    check_text,
    check_value,
    checked,
    given_for,
    is_kind,
    kind_named,
    settings_of,
    shown,
)

_BOUNDS = tuple(known for known in settings_of(Bounds) if known.name != "bound")
"""The bounds of a search, except for `bound`, which limits an actor's state."""

(_NETWORK,) = (known for known in settings_of(Question) if known.name == "network")

COUNT_KEYS = ("unique_states", "total_states", "depth", "final_states")


@frozen
class Expectation:
    """The expected result of a check.

    Attributes:
        verdict: HOLDS, VIOLATED or VACUOUS.
        counterexample_length: the length of a shortest counterexample in transitions, or None.
        violates: the property that should be violated, or None.
        counts: history -> count name -> exact number, for complete searches.
    """

    verdict: Verdict = Verdict.HOLDS
    counterexample_length: int | None = None
    violates: str | None = None
    counts: Mapping[str, Mapping[str, int]] = field(factory=dict)


@frozen
class OwnProperties:
    """Properties that a program gave as records, and that no file has."""

    records: tuple[Property, ...] = ()

    def named(self, name: str) -> Property | None:
        """Return the property of a name, or None."""
        return next((prop for prop in self.records if prop.name == name), None)

    def __reduce__(self) -> Any:
        """Take the functions along to another process, which cannot import them."""
        if not self.records:
            return OwnProperties, ()
        return _unpickled, (with_code(self.records),)


def _unpickled(records: bytes) -> OwnProperties:
    return OwnProperties(pickle.loads(records))


@frozen
class Spec(Question):
    """A question, the search that should answer it, and the answer that is expected.

    Bounds on the command line override the spec's.

    Attributes:
        bound: limits on an actor's state, as `--bound` takes them.
        own: the properties that a program gave as records; `properties` has their names, too.
    """

    title: str = ""
    search: str = "breadth"
    bound: tuple[str, ...] = ()
    bounds: Bounds = Bounds()
    expect: Expectation = Expectation()
    file: str | None = None
    names: Names = field(factory=Names, converter=names_from)
    own: OwnProperties = OwnProperties()

    @property
    def label(self) -> str:
        """The name of a shipped spec, the spec's file, or its protocol."""
        if self.file and Path(self.file).is_relative_to(SHIPPED):
            return str(Path(self.file).relative_to(SHIPPED).with_suffix(""))
        return self.file or self.protocol

    @cached_property
    def system(self) -> System:
        """The system of this spec, built once; raises InputError as `system_of`."""
        return system_of(self)


@frozen
class Texts:
    """What the texts of a spec mean by themselves, whatever the protocol is."""

    spec: Spec
    workload: Workload
    names: Names
    crashes: Crashes | None


@frozen
class Parts:
    """The parts of a system, found by their names and not yet fitted to each other."""

    texts: Texts
    protocol: Protocol
    network: Network
    properties: tuple[Property, ...]
    limits: tuple[AnyLimit, ...]


def system_of(spec: Spec, protocol: Protocol | None = None) -> System:
    """Build the system that `spec` describes; `protocol` replaces its protocol.

    Raises:
        InputError: a name or number in it is unusable.
        CapacityError: it has too many actors for the memory.
    """
    return assemble(resolve(parse(spec), protocol))


def parse(spec: Spec) -> Texts:
    """Read the texts and numbers of a spec.

    Raises:
        InputError: one of them is unusable by itself.
        CapacityError: there are too many actors for the memory.
    """
    checked(spec)
    refuse_crowd(spec.actors)  # before anything is made for each actor
    check_known("search", spec.search, SEARCHES, "search")
    workload = workload_from(spec.workload, spec.actors, spec.messages)
    if spec.labels:
        workload = choosing(workload, spec.labels, spec.actors)
    if (workload.labels or workload.offers) and spec.protocol.startswith(PIPE):
        raise InputError("a program that is connected over a pipe gets no labels; leave them out")
    names = fitted(spec.names, spec.actors, workload)
    return Texts(spec, workload, names, crashes_from(spec.crashes, spec.to_crashed, spec.actors))


def resolve(texts: Texts, protocol: Protocol | None = None) -> Parts:
    """Find what the names in a spec mean; `protocol` replaces its protocol.

    Raises:
        InputError: a name means nothing.
    """
    spec, workload = texts.spec, texts.workload
    protocol = protocol or protocol_named(spec.protocol)
    if protocol.on_request is not None and workload.requests is not None:
        asked = (workload.requests,)
        protocol = called(protocol, "on_request", protocol.on_request, asked)
    names = _names_of_properties(texts, protocol)
    properties = judged_by(protocol, names, workload, spec.own)
    if spec.expect.violates is not None:
        check_known("property in expect.violates", spec.expect.violates, names)
    limits = limits_from(spec.bound, protocol)
    return Parts(texts, protocol, _network(spec, protocol), properties, limits)


def assemble(parts: Parts) -> System:
    """Fit parts to each other, and make a system of them.

    Raises:
        InputError: they do not go together.
    """
    if (fault := next(_faults(parts), None)) is not None:
        raise InputError(fault)
    texts, spec = parts.texts, parts.texts.spec
    workload = split(texts.workload) if spec.sends == "split" else texts.workload
    network, properties = parts.network, parts.properties
    if records_deliveries(properties):
        workload = recording(workload)
    if texts.crashes is not None:
        network, properties = closable(network), tuple(map(of_live_actors, properties))
    shared: dict[str, Any] = {
        "protocol": parts.protocol,
        "actors": spec.actors,
        "messages": workload.most,
        "network": network,
        "properties": properties,
        "workload": workload,
        "names": texts.names,
        "reference": spec.protocol,
    }
    track_order = any(map(looks_at_order, properties))
    system: System
    if isinstance(workload, EndlessWorkload):
        limits = [
            limit_on_opaque_messages(each) for each in parts.limits if isinstance(each, Limit)
        ]
        oracle = marked_oracle(track_order=track_order)
        system = EndlessSystem(**shared, oracle=oracle, limits=tuple(limits))
    else:
        oracle = oracle_named(
            spec.history,
            spec.actors,
            workload.most,
            self_sends=workload.self_sends,
            track_order=track_order,
            clock_at=spec.clock_at,
        )
        system = System(**shared, oracle=oracle, limits=parts.limits, crashes=texts.crashes)
    return _deferring(spec, system) if set(FAILURES) & set(spec.properties) else system


def _faults(parts: Parts) -> Iterator[str]:
    """Yield a sentence for each rule that the parts of a system break together."""
    yield from _faults_of_crashes(parts)
    endless = isinstance(parts.texts.workload, EndlessWorkload)
    yield from _faults_of_endless(parts) if endless else _faults_of_finite(parts)


def _faults_of_crashes(parts: Parts) -> Iterator[str]:
    spec, crashes = parts.texts.spec, parts.texts.crashes
    if crashes is None:
        if spec.to_crashed != "kept":
            yield (
                "--to-crashed says what happens to packets to a crashed actor; give --crashes 1, "
                "too"
            )
        return
    refuse_own(parts.protocol)
    if isinstance(parts.texts.workload, EndlessWorkload):
        yield (
            "--crashes is for applications that end, and the workload is endless; give --workload "
            "any, with --property can-deliver if you ask whether a message waits forever"
        )
    if spec.bound:
        yield (
            f"--bound {','.join(spec.bound)} looks at the states of all actors, and --crashes "
            "allows actors without a state; give --max-depth or --max-states instead"
        )
    yield from _fault_of_ordering(parts.network, "--crashes")


def _faults_of_endless(parts: Parts) -> Iterator[str]:
    """Yield faults of a question about a workload that never ends."""
    spec, protocol, network = parts.texts.spec, parts.protocol, parts.network
    workload = parts.texts.workload.text
    if sequences := [p.name for p in parts.properties if p.what is What.SEQUENCES]:
        yield (
            f"{', '.join(sequences)} compares the deliveries of whole runs, and under the workload "
            f"{workload} runs have no end; give --workload any and --messages 2"
        )
    yield from _fault_of_ordering(network, f"the workload {workload}")
    if whole := [limit.text for limit in parts.limits if not isinstance(limit, Limit)]:
        yield (
            f"--bound {','.join(whole)} is for workloads that end; under {workload}, give a "
            "measure of an actor's state"
        )
    if network.merges and not protocol.shows_messages:
        yield (
            f"{protocol.name} is a class or program of your own, which hides the messages that it "
            "keeps; an endless workload must see them if the code has a timeout, or if the network "
            "is duplicating+lossy. Give --workload any and --messages 2"
        )
    if spec.clock_at != "causal-send":
        yield 'endless workloads need clock_at = "causal-send"'
    for prop in parts.properties:
        if prop.at_end or prop.when is When.ALWAYS_POSSIBLE:
            yield (
                f"{prop.name} is about runs that end, and the workload is endless; give "
                f"{', '.join(default_properties(endless=True))}, or an invariant or witness"
            )


def _faults_of_finite(parts: Parts) -> Iterator[str]:
    for prop in parts.properties:
        if prop.when is When.EVENTUALLY_IF_FAIR:
            yield f"{prop.name} is about applications that never stop; give --workload endless:1"


def _fault_of_ordering(network: Network, asker: str) -> Iterator[str]:
    """Yield the fault of a network that relates the packets of several channels."""
    if network.ordering is not None:
        yield (
            f"{asker} needs the network unordered or fifo, which may also be duplicating or lossy; "
            f"the network is {network.name}"
        )


def judged_by(
    protocol: Protocol,
    names: Iterable[str],
    workload: Workload,
    own: OwnProperties = OwnProperties(),
) -> tuple[Property, ...]:
    """Return properties by their names, with checks of their predicates."""
    found = [own.named(name) or property_named(name, protocol) for name in names]
    properties = [guarded(protocol, prop) for prop in found]
    endless = isinstance(workload, EndlessWorkload)
    return tuple(map(of_opaque_messages, properties) if endless else properties)


def _names_of_properties(texts: Texts, protocol: Protocol) -> tuple[str, ...]:
    """Return the names of the properties that the spec asks for, or of the default ones.

    For a failure in the trace of a failing run, these are the properties whose functions can fail.
    A normal form can make an infinite graph finite, but invariants need states without a form. So
    if the protocol has a form, its invariants are not among the defaults of an endless workload.
    """
    spec, endless = texts.spec, isinstance(texts.workload, EndlessWorkload)
    names = [name for name in spec.properties if name not in FAILURES]
    if FINAL_RETURNS in spec.properties:
        names += declared_names(protocol, "final")
    if PREDICATE_RETURNS in spec.properties:
        names += declared_names(protocol, "invariant") + declared_names(protocol, "witness")
    if names:
        return tuple(dict.fromkeys(names))
    has_form = endless and protocol.normal is not None and not spec.bound
    return default_properties(None if has_form else protocol, endless=endless)


def _network(spec: Spec, protocol: Protocol) -> Network:
    """Return the network of the spec, or by default the network that the protocol needs."""
    retransmits = protocol.timeout is not None
    if spec.network is not None:
        return network_named(spec.network, retransmits=retransmits)
    try:
        check_value(_NETWORK, protocol.network)
        return network_named(protocol.network, retransmits=retransmits)
    except InputError as error:
        raise InputError(
            f"the protocol {protocol.name!r} declares a network that cannot be used: {error}"
        ) from None


def _deferring(spec: Spec, system: System) -> System:
    """Return a system with properties on failures, as in the trace of a failing run."""
    shown = deferring(system, told=True)
    asked = tuple(p for p in shown.properties if p.name in spec.properties)
    return evolve(shown, properties=asked)


def overridden(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """Return `spec` with some fields replaced by `values`.

    If they change the explored system, the expected verdict remains, but the exact numbers are
    dropped. A different expected verdict in `values` replaces the whole expectation. If actors or
    messages change, their names are dropped.
    """
    if not values:
        return spec  # keeps its cached system
    changed = evolve(spec, **{key: value for key, value in values.items() if key != "expect"})
    if changed.network != spec.network and changed.network == protocol_named(spec.protocol).network:
        spec = evolve(spec, network=spec.network or changed.network)
    if changed.actors != spec.actors:
        changed = evolve(changed, names=Names())
    elif (changed.workload, changed.messages) != (spec.workload, spec.messages):
        changed = evolve(changed, names=evolve(changed.names, messages=()))
    if any(getattr(changed, name) != getattr(spec, name) for name in (*MODEL, "properties")):
        bare = evolve(spec.expect, counterexample_length=None, counts={})
        changed = evolve(changed, expect=bare)
    verdict = values.get("expect", spec.expect.verdict)
    if verdict is not spec.expect.verdict:
        changed = evolve(changed, expect=Expectation(verdict))
    return changed


SHIPPED = PACKAGE / "specs"
"""The folder of the specs that come with antecede; it exists in a clone and when installed."""


def load_spec(path: Path) -> Spec:
    """Read one spec from a TOML file."""
    table = toml_in(path, "the spec")
    try:
        spec = _beside(spec_from(table, str(path)), path)
        _ = spec.system
    except InputError as error:
        raise error.reworded(f"{path}: {error}") from None
    return spec


def _beside(spec: Spec, path: Path) -> Spec:
    """Resolve the files of the protocol, properties and bounds relative to the spec's folder."""

    def beside(reference: str) -> str:
        if ".py" not in reference or Path(reference).is_absolute():
            return reference
        return str(path.parent / reference)

    expect = spec.expect
    if expect.violates is not None:
        expect = evolve(expect, violates=beside(expect.violates))
    return evolve(
        spec,
        protocol=beside(spec.protocol),
        properties=tuple(map(beside, spec.properties)),
        bound=tuple(map(beside, spec.bound)),
        expect=expect,
    )


def spec_from(table: Mapping[str, Any], file: str | None = None) -> Spec:
    """Make a spec of a TOML table.

    Raises:
        InputError: a wrong key or a value of the wrong type.
    """
    bounds = {known.name: known for known in _BOUNDS}
    values = {key: value for key, value in table.items() if key not in bounds}
    if is_kind(values.get("crashes"), int):
        values["crashes"] = str(values["crashes"])
    if is_kind(values.get("labels"), list):
        values["labels"] = labels_text(values["labels"])
    _check_kinds(values, KINDS, "key")
    if "protocol" not in table:
        raise InputError("the spec lacks the key 'protocol'")
    for several in ("properties", "bound"):
        values[several] = tuple(table.get(several, ()))
    given = {key: given_for(bounds[key], table[key]) for key in table if key in bounds}
    values["bounds"] = Bounds(**given)
    values["expect"] = _expectation(table.get("expect", {}))
    if isinstance(table.get("workload"), Mapping):
        values["workload"] = _workload_text(table["workload"])
    return Spec(**values, file=file)


KINDS: Mapping[str, type] = {
    **{known.name: known.kind for known in settings_of(Question)},
    "protocol": str,
    "properties": list,
    "title": str,
    "search": str,
    "bound": list,
    "expect": dict,
    "names": dict,
    **{known.name: known.kind for known in _BOUNDS},
}
"""Key of a spec -> the kind of its value. A workload can also be a table."""

KEYS = frozenset(KINDS) - {"title"}
"""The keys that identify a TOML file as a spec. Many other files have a title, too."""


def _check_kinds(table: Mapping[str, Any], kinds: Mapping[str, type], thing: str) -> None:
    for key, value in table.items():
        check_known(thing, key, kinds)
        if not (is_kind(value, kinds[key]) or (key == "workload" and isinstance(value, Mapping))):
            raise InputError(f"{key} is {shown(value)}; it must be {kind_named(kinds[key])}")
        for text in value if isinstance(value, list) else (value,):
            if kinds[key] in (str, list) and not isinstance(value, Mapping):
                check_text(key, text)


def _workload_text(table: Mapping[str, Any]) -> str:
    """Return the one-line form of a `[workload]` table."""
    kind = table.get("kind")
    check_known("workload kind", kind, SUMMARIES)
    argument = "programs" if kind == "program" else "sends"
    for key in table:
        check_known("key of workload", key, ("kind", argument))
    if argument not in table:
        return str(kind)
    return f"{kind}:{json.dumps(table[argument])}"


EXPECTED = {v.lower(): v for v in (Verdict.HOLDS, Verdict.VIOLATED, Verdict.VACUOUS)}
"""The verdicts that a spec can expect, by the names that it uses for them."""


def expected_verdict(text: str) -> Verdict:
    """Return the verdict for `holds`, `violated` or `vacuous`."""
    if text.lower() not in EXPECTED:
        raise unknown("expected verdict", text, EXPECTED)
    return EXPECTED[text.lower()]


def _expectation(table: Mapping[str, Any]) -> Expectation:
    kinds = {"verdict": str, "counterexample_length": int, "violates": str, "counts": dict}
    _check_kinds(table, kinds, "key of expect")
    values = dict(table)
    values["verdict"] = expected_verdict(table.get("verdict", "holds"))
    for history, counts in table.get("counts", {}).items():
        check_known("history in expect.counts", history, HISTORIES)
        _check_kinds({history: counts}, {history: dict}, "history in expect.counts")
        _check_kinds(counts, dict.fromkeys(COUNT_KEYS, int), f"count of {history}")
    return Expectation(**values)
