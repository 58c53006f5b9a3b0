"""The text of `antecede list`: all protocols, properties and so on, or one of them in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from antecede.checker.check.targets import shipped_for_broadcasts
from antecede.checker.model import Protocol
from antecede.checker.render.terminal import WIDTH, wrapped
from antecede.checker.search.options import ENGINES, SEARCHES
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.network import NETWORKS
from antecede.checker.semantics.workload import SUMMARIES
from antecede.checker.support.errors import unknown
from antecede.checker.support.registry import (
    default_properties,
    defined_in,
    property_named,
    property_names,
    protocol_named,
    protocol_names,
)


def columns(rows: Iterable[tuple[str, str]], indent: str = "  ") -> str:
    """Return (name, description) pairs as aligned lines."""
    rows = tuple(rows)
    wide = max(len(name) for name, _ in rows)
    lines = []
    for name, text in rows:
        lines_of = [wrapped(line, wide=WIDTH - wide - 4) for line in text.split("\n")]
        first, *more = "\n".join(lines_of).split("\n")
        lines.append(f"{indent}{name:<{wide}}  {first}".rstrip())
        lines += [f"{indent}{'':<{wide}}  {line}" for line in more]
    return "\n".join(lines)


def catalogue(*, everything: bool = False) -> str:
    """Return the list of all protocols, properties, networks, workloads and so on.

    Variants of protocols, and details of protocols, are in it only if `everything` is asked for.
    """
    names = protocol_names() if everything else main_protocols()
    protocols = [protocol_named(name) for name in names]
    left = len(protocol_names()) - len(names)
    rows = [(p.name, _protocol_lines(p) if everything else p.summary) for p in protocols]
    rows += [("", f"--all shows {left} variants, and what each protocol declares")] if left else []
    sections = [
        ("Protocols", rows),
        ("Properties", [*_property_rows(), *_DECLARED]),
        *((title, list(rows.items())) for title, (_, rows) in _PARTS.items()),
    ]
    return "\n\n".join(f"{title}\n{columns(rows)}" for title, rows in sections)


def names_of_parts() -> str:
    """Return the names of everything that `catalogue` describes, in a line for each kind."""
    kinds = {
        "Protocols": protocol_names(),
        "Properties": (*property_names(), *(name for name, _ in _DECLARED)),
        **{title: tuple(rows) for title, (_, rows) in _PARTS.items()},
    }
    return "\n".join(f"{title}: {', '.join(names)}" for title, names in kinds.items())


def listing(name: str) -> str:
    """Return the full description of one entry, or of the protocols in FILE.py.

    A name with parts or numbers, such as fifo+lossy:1, is described part by part.

    Raises:
        InputError: nothing has this name, or the file cannot be imported.
    """
    if ".py" in name:
        return _file_text(name)
    parts = []
    if name in protocol_names():
        parts.append(_protocol_text(name, protocol_named(name)))
    if name in property_names():
        prop = property_named(name)
        default = {*default_properties(), *default_properties(endless=True)}
        usual = "by default" if name in default else "on demand"
        parts.append(_card(name, [("property", prop.summary), ("checked", usual)]))
    for kind, rows in _PARTS.values():
        pieces = name.partition(":")[0].split("+")
        parts += [_card(each, [(kind, rows[each])]) for each in pieces if each in rows]
    if not parts:
        every = [*protocol_names(), *property_names(), *(n for _, r in _PARTS.values() for n in r)]
        raise unknown("name", name, set(every))
    return "\n\n".join(parts)


def _file_text(name: str) -> str:
    """Return the description of the protocols and properties in FILE.py, or of FILE.py:OBJECT."""
    protocols, properties = defined_in(name)
    return "\n\n".join(
        (
            *(_protocol_text(each, protocol) for each, protocol in protocols.items()),
            *(
                _card(each, [("property", prop.summary), ("checked", f"with --property {each}")])
                for each, prop in properties.items()
            ),
        )
    )


def _protocol_text(reference: str, protocol: Protocol) -> str:
    """Return the description of a protocol, and the command that checks it."""
    rows = [("protocol", protocol.summary), *_declared(protocol)]
    if protocol.timeout is not None:
        rows.append(("timeouts", "it retransmits, so networks may lose packets"))
    command = f"antecede check {reference}"
    if reference in shipped_for_broadcasts():
        rows.append(("workload", "broadcast: each of its packets goes to all other actors"))
        command += " --workload broadcast"
    return _card(reference, [*rows, ("try", command)])


def _card(name: str, rows: list[tuple[str, str]]) -> str:
    return f"{name}\n{columns((kind, text) for kind, text in rows if text)}"


def _protocol_lines(protocol: Protocol) -> str:
    declared = [f"{kind}: {text}" for kind, text in _declared(protocol) if text]
    return "\n".join([protocol.summary, *declared])


def _declared(protocol: Protocol) -> list[tuple[str, str]]:
    """Return a protocol's declarations as (kind, text) pairs."""
    rows = [("source", protocol.source)]
    if protocol.network != "unordered":
        rows.append(("network it needs", protocol.network))
    names = {
        "actions": protocol.actions,
        "witnesses": (*protocol.witnesses, *protocol.joint_witnesses),
        "invariants": (*protocol.invariants, *protocol.joint_invariants),
        "final invariants": (*protocol.final_invariants, *protocol.joint_final_invariants),
        "measures": protocol.measures,
    }
    return [*rows, *((kind, ", ".join(each)) for kind, each in names.items() if each)]


def _property_rows() -> list[tuple[str, str]]:
    default = default_properties()
    properties = [property_named(name) for name in property_names()]
    return [(p.name, p.summary + (" (default)" if p.name in default else "")) for p in properties]


def main_protocols() -> tuple[str, ...]:
    """Return the protocols that are no variants: no registered name begins their name."""
    names = protocol_names()
    return tuple(
        name
        for name in names
        if name in _OF_THEIR_OWN or not any(name.startswith(f"{other}-") for other in names)
    )


_OF_THEIR_OWN = ("cykas-fair",)
"""Protocols with the name of another one before theirs, which are no variants of it."""

_DECLARED = (
    (
        "witness:NAME",
        "reachability: some reachable state satisfies NAME, which the protocol declares",
    ),
    (
        "invariant:NAME",
        "safety: every reachable state satisfies NAME, which the protocol declares (default)",
    ),
    (
        "final:NAME",
        "at final states: the actors' states satisfy NAME, which the protocol declares (default)",
    ),
    ("FILE.py:NAME", "a property of your own: an antecede.Property in a Python file"),
)

_PARTS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "Networks": ("network", NETWORKS),
        "Workloads": ("workload", SUMMARIES),
        "Histories": ("history", HISTORIES),
        "Searches": ("search", SEARCHES),
        "Engines": ("engine", ENGINES),
    }
)
"""Heading -> (singular noun, name -> description)."""
