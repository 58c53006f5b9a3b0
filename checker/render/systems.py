"""Writes the finite system of a question for other model checkers: Aldebaran, TLA+, Promela.

A file has every reachable state, as a number, and every transition. It also marks what violates a
property, so that another tool can search for a mark. `docs/export.md` describes the files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from attrs import define, field, frozen

from antecede.checker.model import Property
from antecede.checker.paths.path import transition_key
from antecede.checker.render.about import question
from antecede.checker.search.graph import StateGraph, integers
from antecede.checker.semantics.judge import at_end, in_deliveries, in_state
from antecede.checker.semantics.reached import Edge
from antecede.checker.semantics.transition import (
    EndlessSystem,
    System,
    enabled,
    initial_state,
    is_final,
)
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError

MOST_STATES = 50_000
"""The greatest number of states in a file; plain Python takes about a minute for them."""

MOST_TRANSITIONS = 500_000

PART = 1024
"""Entries of an array in a Promela file: Spin reads at most 64 KiB of C in one piece."""

Names = tuple[str, ...]


@define(eq=False)
class FiniteSystem:
    """All states of a system, by number in breadth-first order, and what they violate.

    Attributes:
        marked: the names of the properties whose violations are marked.
        unmarked: those of the others, which no single state or delivery violates.
        graph: the states and the transitions between them.
        labels: per transition of the graph, the number of its text in `texts`.
        wrong_steps: number of a transition -> the properties that its deliveries violate.
        wrong_states: number of a state -> the properties that it violates.
    """

    system: System
    marked: Names
    unmarked: Names
    graph: StateGraph
    labels: Any = field(factory=integers)
    texts: dict[str, int] = field(factory=dict)
    wrong_steps: dict[int, Names] = field(factory=dict)
    wrong_states: dict[int, Names] = field(factory=dict)

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.graph.states)

    @property
    def transitions(self) -> int:
        """The number of transitions."""
        return len(self.labels)

    def steps(self, state: int) -> Iterator[tuple[int, str, int]]:
        """Yield the transitions of a state: number, text, and the state after it."""
        texts, first = list(self.texts), self.graph.rows.first
        for edge in range(first[state], first[state + 1]):
            yield edge, texts[self.labels[edge]], self.graph.rows.target[edge]

    def violated(self, edge: int) -> Names:
        """Return the properties that a transition, or the state after it, violates."""
        after = self.wrong_states.get(self.graph.rows.target[edge], ())
        return tuple(dict.fromkeys((*self.wrong_steps.get(edge, ()), *after)))

    def about(self) -> list[str]:
        """Return what a file says about itself."""
        sizes = f"{counted(self.states, 'state')}, {counted(self.transitions, 'transition')}"
        lines = [question(self.system), sizes, f"marked: {', '.join(self.marked)}"]
        lines += [f"not marked: {', '.join(self.unmarked)}"] * bool(self.unmarked)
        return [_ascii(line.replace(" · ", "; ").replace("*/", "* /")) for line in lines]


def finite_system(
    system: System, most: int = MOST_STATES, most_transitions: int = MOST_TRANSITIONS
) -> FiniteSystem:
    """Return all states and transitions of a system.

    Raises:
        InputError: there are too many of them, or the files can mark none of the properties.
    """
    if isinstance(system, EndlessSystem):
        raise InputError(
            "antecede export writes runs that end, and with this workload the applications never "
            "stop; give another --workload, such as any"
        )
    judged = [prop for prop in system.properties if not prop.sought and not prop.later]
    others = tuple(prop.name for prop in system.properties if prop not in judged)
    if not judged:
        raise InputError(
            f"no single state or delivery violates {', '.join(others)}, so a file cannot mark "
            "that; give another --property, such as causal-delivery"
        )
    graph = StateGraph([initial_state(system)])
    found = FiniteSystem(system, tuple(prop.name for prop in judged), others, graph)
    while graph.expanded < len(graph.states):
        _expand(found, judged)
        if len(graph.states) > most or found.transitions > most_transitions:
            raise InputError(
                f"the system has more than {most:,} states or {most_transitions:,} transitions, "
                "too many for a file; give fewer actors or messages, or a workload such as "
                "script:[[1,2],[2],[]]"
            )
    return found


def _expand(found: FiniteSystem, judged: Sequence[Property]) -> None:
    """Take all transitions of the first state that is not expanded, and judge it."""
    graph, system = found.graph, found.system
    number, state = graph.expanded, graph.states[graph.expanded]
    transitions = enabled(system, state)
    final = is_final(system, transitions)
    wrong = [p for p in judged if in_state(p, state) or (final and at_end(system, p, state))]
    if wrong:
        found.wrong_states[number] = tuple(prop.name for prop in wrong)
    for edge in graph.expand(system, transitions):
        if wrong := [p for p in judged if in_deliveries(p, edge.outcome.deliveries)]:
            found.wrong_steps[found.transitions] = tuple(prop.name for prop in wrong)
        found.labels.append(found.texts.setdefault(_text(edge), len(found.texts)))


def _text(edge: Edge) -> str:
    """Return a transition and what it delivers; message 0.2 is the second one of actor 0."""
    sent = (each.message for each in edge.outcome.deliveries)
    delivered = " ".join(f"{message.sender}.{message.number}" for message in sent)
    text = transition_key(edge.transition) + (f", delivers {delivered}" if delivered else "")
    return _ascii(text)


def _ascii(text: str) -> str:
    """Return a text in ASCII without line ends, backslashes and quotation marks."""
    return re.sub(r"[^ !#-\[\]-~]", lambda found: f"u{ord(found[0]):04x}", text.replace('"', "'"))


# Formats


def aut(found: FiniteSystem) -> str:
    """Return the system in the format of Aldebaran, which CADP, mCRL2 and LTSmin read.

    A violation is a further transition `violates NAME`, from where it happens.
    """
    lines = []
    for state in range(found.states):
        for edge, text, after in found.steps(state):
            lines.append(f'({state}, "{text}", {after})')
            for name in found.wrong_steps.get(edge, ()):
                lines.append(f'({state}, "violates {name}", {after})')
        lines += [f'({state}, "violates {n}", {state})' for n in found.wrong_states.get(state, ())]
    return "\n".join([f"des (0, {len(lines)}, {found.states})", *lines]) + "\n"


def tla(found: FiniteSystem) -> str:
    """Return the system as a TLA+ module with a table of the transitions of each state."""
    rows = []
    for state in range(found.states):
        steps = (
            f'[text |-> "{text}", to |-> {after}, violates |-> {_set(found.violated(edge))}]'
            for edge, text, after in found.steps(state)
        )
        rows.append("  << " + ",\n     ".join(steps) + " >>")
    return _TLA.format(
        about="\n".join(rf"\* {line}" for line in found.about()),
        rows=",\n".join(rows),
        start=_set(found.wrong_states.get(0, ())),
        judged="\n".join(f'{_identifier(n)} == "{n}" \\notin violated' for n in found.marked),
        invariants=r" /\ ".join(map(_identifier, found.marked)),
    )


_TLA = r"""---- MODULE System ----
{about}
EXTENDS Naturals, Sequences
VARIABLES state, violated

\* Steps[n + 1] has the transitions of state n.
Steps == <<
{rows}
>>

Init == state = 0 /\ violated = {start}
Take(step) == state' = step.to /\ violated' = step.violates
Step == \E k \in DOMAIN Steps[state + 1] : Take(Steps[state + 1][k])
Final == Steps[state + 1] = << >> /\ UNCHANGED << state, violated >>
Next == Step \/ Final
Spec == Init /\ [][Next]_<< state, violated >>

{judged}
Safe == {invariants}
====
"""


def _set(names: Iterable[str]) -> str:
    return "{" + ", ".join(f'"{name}"' for name in names) + "}"


def _identifier(name: str) -> str:
    """Return the name of a property as an identifier: Causal_delivery."""
    return re.sub(r"\W", "_", name, flags=re.ASCII).capitalize()


def promela(found: FiniteSystem) -> str:
    """Return the system as a Promela model, whose tables are C arrays.

    One step of the model is one transition, so Spin stores as many states as there are. A
    violation is a number, whose names are in a comment.
    """
    rows = found.graph.rows
    kinds: dict[Names, int] = {(): 0}
    wrong = [kinds.setdefault(found.violated(e), len(kinds)) for e in range(found.transitions)]
    start = kinds.setdefault(found.wrong_states.get(0, ()), len(kinds))
    widest = max(rows.first[n + 1] - rows.first[n] for n in range(found.states))
    meaning = [f"violated == {number}: {', '.join(names)}" for names, number in kinds.items()]
    tables = (
        *_table("int", "first", map(str, rows.first)),
        *_table("int", "target", map(str, rows.target)),
        *_table("int", "wrong", map(str, wrong)),
        *_table("int", "label", map(str, found.labels)),
        *_table("char *const", "text", map(_c_text, found.texts)),
    )
    return _PROMELA.format(
        about="\n".join(f" * {line}" for line in (*found.about(), *meaning[1:])),
        part=PART,
        first=_at("first", "now.state"),
        last=_at("first", "(now.state + 1)"),
        tables="\n".join(tables),
        start=start,
        opening="  assert(violated == 0);\n" * bool(start),
        steps="\n".join(f"  :: STEP({number})" for number in range(widest)),
    )


_PROMELA = r"""/*
{about}
 */
{tables}
#define AT(table, k) table[(k) / {part}][(k) % {part}]

/* Spin takes what looks like a call in a c_expr for a side effect. */
#define STEP(number) d_step {{ \
    c_expr {{ {first} + number < {last} }} -> c_code {{ \
      int edge = {first} + number; \
      if (readtrail) Printf("%s\n", AT(text, AT(label, edge))); \
      now.state = AT(target, edge); \
      now.violated = AT(wrong, edge); \
    }}; \
    assert(violated == 0) }}

int state = 0;
int violated = {start};

active proctype system() {{
{opening}end: do
{steps}
  od
}}
"""


def _at(table: str, number: str) -> str:
    """Return an entry of a table as C."""
    return f"{table}[{number} / {PART}][{number} % {PART}]"


def _c_text(text: str) -> str:
    """Return a text as a C string; Spin counts braces within strings, too."""
    return '"' + text.replace("{", r"\173").replace("}", r"\175") + '"'


def _table(kind: str, name: str, entries: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a table of constants, and the array of them."""
    every = list(entries) or ["0"]
    starts = range(0, len(every), PART)
    for start in starts:
        content = ",".join(every[start : start + PART])
        yield f"c_decl {{ static const {kind} {name}_{start // PART}[] = {{{content}}}; }}"
    parts = ", ".join(f"{name}_{start // PART}" for start in starts)
    yield f"c_decl {{ static const {kind} *const {name}[] = {{{parts}}}; }}"


@frozen
class Format:
    """A format: its function, and the programs that read it."""

    write: Callable[[FiniteSystem], str]
    summary: str


SYSTEM_FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "aut": Format(aut, "Aldebaran, for CADP and mCRL2"),
        "tla": Format(tla, "TLA+, for TLC"),
        "promela": Format(promela, "Promela, for Spin"),
    }
)
