"""Specs: a question, bounds and an expected answer, from a TOML file or from options."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from antecede.checker.model import Property, Protocol, What, Where
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
    PREDICATE_RETURNS,
    REST_RETURNS,
    deferring,
    guarded,
)
from antecede.checker.semantics.handlers import called
from antecede.checker.semantics.history import HISTORIES, Oracle, oracle_named
from antecede.checker.semantics.judge import looks_at_order, records_deliveries
from antecede.checker.semantics.limits import AnyLimit, Limit, limits_from
from antecede.checker.semantics.marked import marked_oracle
from antecede.checker.semantics.names import Names, fitted, names_from
from antecede.checker.semantics.network import Network, network_named
from antecede.checker.semantics.question import MODEL, Question
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.semantics.workload import (
    SUMMARIES,
    EndlessWorkload,
    Workload,
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


def system_of(spec: Spec, protocol: Protocol | None = None) -> System:
    """Build the system that `spec` describes; `protocol` replaces its protocol.

    Raises:
        InputError: a name or number in it is unusable.
    """
    checked(spec)
    check_known("search", spec.search, SEARCHES)
    workload = workload_from(spec.workload, spec.actors, spec.messages)
    if workload.labels and spec.protocol.startswith(PIPE):
        raise InputError("a program that is connected over a pipe gets no labels; leave them out")
    protocol = protocol or protocol_named(spec.protocol)
    if failures := [name for name in spec.properties if name in FAILURES]:
        return _deferring(spec, protocol, failures)
    if protocol.on_request is not None and workload.requests is not None:
        asked = (workload.requests,)
        protocol = called(protocol, "on_request", protocol.on_request, asked)
    names = fitted(spec.names, spec.actors, workload)
    workload, properties = _asked(spec, protocol, workload)
    limits = limits_from(spec.bound, protocol)
    network, crashes, properties = _faults(spec, protocol, workload, properties)
    shared: dict[str, Any] = {
        "protocol": protocol,
        "actors": spec.actors,
        "messages": workload.most,
        "network": network,
        "properties": properties,
        "names": names,
        "reference": spec.protocol,
    }
    if isinstance(workload, EndlessWorkload):
        return _endless_system(spec, workload, limits, shared)
    oracle = _oracle(spec, workload, properties)
    return System(**shared, workload=workload, oracle=oracle, limits=limits, crashes=crashes)


def _asked(
    spec: Spec, protocol: Protocol, workload: Workload
) -> tuple[Workload, tuple[Property, ...]]:
    """Return the properties, and the workload, which records deliveries if a property needs them.

    Raises:
        InputError: there is no such property, or it does not go with the workload.
    """
    if spec.sends == "split":
        workload = split(workload)
    names = tuple(dict.fromkeys(spec.properties or _usual_properties(spec, protocol, workload)))
    properties = tuple(judged_by(protocol, name, workload, spec.own) for name in names)
    if records_deliveries(properties):
        _refuse_sequences(workload, [p.name for p in properties if p.what is What.SEQUENCES])
        workload = recording(workload)
    if spec.expect.violates is not None:
        check_known("property in expect.violates", spec.expect.violates, names)
    return workload, properties


def _faults(
    spec: Spec, protocol: Protocol, workload: Workload, properties: tuple[Property, ...]
) -> tuple[Network, Crashes | None, tuple[Property, ...]]:
    """Return the network, the crashes, and the properties as they are judged with these.

    Raises:
        InputError: they do not go together.
    """
    network, crashes = _network(spec, protocol), _crashes(spec, protocol, workload)
    if crashes is None:
        return network, None, properties
    _refuse_ordering(network, "--crashes")
    _refuse_sequences_of_crashing(properties)
    return closable(network), crashes, tuple(map(of_live_actors, properties))


def _endless_system(
    spec: Spec, workload: EndlessWorkload, limits: tuple[AnyLimit, ...], shared: dict[str, Any]
) -> EndlessSystem:
    """Return the system of a workload that never ends; `shared` has most of its parts.

    Raises:
        InputError: the question is for workloads that end.
    """
    network = shared["network"]
    _refuse_ordering(network, f"the workload {workload.text}")
    if whole := [limit.text for limit in limits if not isinstance(limit, Limit)]:
        raise InputError(
            f"--bound {','.join(whole)} is for workloads that end; under {workload.text}, give a "
            "measure of an actor's state"
        )
    _refuse_hidden_messages(shared["protocol"], network)
    return EndlessSystem(
        **shared,
        workload=workload,
        oracle=_endless_oracle(spec, shared["properties"]),
        limits=tuple(limit_on_opaque_messages(each) for each in limits if isinstance(each, Limit)),
    )


def _refuse_ordering(network: Network, asker: str) -> None:
    """Reject a network that relates the packets of several channels.

    Args:
        network: the network.
        asker: the part of the question that does not go with such a network.
    """
    if network.ordering is not None:
        raise InputError(
            f"{asker} needs the network unordered or fifo, which may also be duplicating or lossy; "
            f"the network is {network.name}"
        )


def _refuse_sequences_of_crashing(properties: tuple[Property, ...]) -> None:
    """Reject properties of delivery sequences, because actors may crash."""
    if names := [prop.name for prop in properties if prop.what is What.SEQUENCES]:
        raise InputError(
            f"{', '.join(names)} compares the deliveries of all actors, but with --crashes some "
            "actors deliver no more; leave one of them out"
        )


def _crashes(spec: Spec, protocol: Protocol, workload: Workload) -> Crashes | None:
    """Return the crashes of the spec, or None.

    Raises:
        InputError: the rest of the question does not go with crashes.
    """
    crashes = crashes_from(spec.crashes, spec.to_crashed, spec.actors)
    if crashes is None and spec.to_crashed != "kept":
        raise InputError(
            "--to-crashed says what happens to packets to a crashed actor; give --crashes 1, too"
        )
    if crashes is None:
        return None
    refuse_own(protocol)
    if isinstance(workload, EndlessWorkload):
        raise InputError(
            "--crashes is for applications that end, and the workload is endless; give --workload "
            "any, with --property can-deliver if you ask whether a message waits for ever"
        )
    if spec.bound:
        raise InputError(
            f"--bound {','.join(spec.bound)} looks at the states of all actors, and --crashes "
            "allows actors without a state; give --max-depth or --max-states instead"
        )
    return crashes


def _refuse_hidden_messages(protocol: Protocol, network: Network) -> None:
    """Reject an endless workload that needs messages in states, if an adapter hides them."""
    if network.merges and not protocol.shows_messages:
        raise InputError(
            f"{protocol.name} is a class or program of your own, which hides the messages that it "
            "keeps; an endless workload must see them if the code has a timeout, or if the network "
            "is duplicating+lossy. Give --workload any and --messages 2"
        )


def _refuse_sequences(workload: Workload, names: list[str]) -> None:
    """Reject properties of delivery sequences if these have no end."""
    if isinstance(workload, EndlessWorkload):
        raise InputError(
            f"{', '.join(names)} compares the deliveries of whole runs, and under the workload "
            f"{workload.text} runs have no end; give --workload any and --messages 2"
        )


def judged_by(
    protocol: Protocol, name: str, workload: Workload, own: OwnProperties = OwnProperties()
) -> Property:
    """Return a property by its name, with checks of its predicate."""
    prop = guarded(protocol, own.named(name) or property_named(name, protocol))
    return of_opaque_messages(prop) if isinstance(workload, EndlessWorkload) else prop


def _usual_properties(spec: Spec, protocol: Protocol, workload: Workload) -> tuple[str, ...]:
    """Return the names of the default properties.

    A normal form can make an infinite graph finite, but invariants need states without a form. So
    if the protocol has a form, its invariants are not among the defaults.
    """
    endless = isinstance(workload, EndlessWorkload)
    if endless and protocol.normal is not None and not spec.bound:
        return default_properties(endless=True)
    return default_properties(protocol, endless=endless)


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


def _oracle(spec: Spec, workload: Workload, properties: tuple[Property, ...]) -> Oracle:
    """Return the history for a finite workload."""
    for prop in properties:
        if prop.where is Where.ON_FAIR_RUNS:
            raise InputError(
                f"{prop.name} is about applications that never stop; give --workload endless:1"
            )
    return oracle_named(
        spec.history,
        spec.actors,
        workload.most,
        self_sends=workload.self_sends,
        track_order=any(map(looks_at_order, properties)),
        clock_at=spec.clock_at,
    )


def _endless_oracle(spec: Spec, properties: tuple[Property, ...]) -> Oracle:
    """Return the history for an endless workload, which follows one message."""
    if spec.clock_at != "causal-send":
        raise InputError("endless workloads need --clock-at causal-send")
    for prop in properties:
        of_ends = prop.at_end or prop.what in (What.UNDELIVERED, What.ENDED)
        if of_ends and prop.where is not Where.ON_FAIR_RUNS:
            raise InputError(
                f"{prop.name} is about runs that end, and the workload is endless; give "
                f"{', '.join(default_properties(endless=True))}, or an invariant or witness"
            )
    return marked_oracle(track_order=any(map(looks_at_order, properties)))


def _deferring(spec: Spec, protocol: Protocol, failures: list[str]) -> System:
    """Return the system with properties on failures, as in the trace of a failing run."""
    names = [name for name in spec.properties if name not in FAILURES]
    if REST_RETURNS in failures:
        names += declared_names(protocol, "at-rest")
    if PREDICATE_RETURNS in failures:
        names += declared_names(protocol, "invariant") + declared_names(protocol, "witness")
    system = system_of(evolve(spec, properties=tuple(names)), protocol)
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
        raise type(error)(f"{path}: {error}") from None
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
