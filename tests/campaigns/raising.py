"""Protocols that fail in one place, drawn, saved, replayed and measured in every way.

The failing protocol is written to a file, because that is what a user has.
"""

from __future__ import annotations

import random
from pathlib import Path

from antecede.checker.check.spec import Spec
from antecede.checker.explore.site import RefusedRequest, Site
from antecede.checker.explore.tree import Tree, text_of
from antecede.checker.support.errors import InputError

PROTOCOL = '''\
"""Sends each message at once, and a timeout repeats it; fails at one call of one function."""

from attrs import evolve, frozen

from antecede import Protocol, Step


class Mute(Exception):
    def __str__(self):
        raise KeyError("no")


class Unprintable:
    def __repr__(self):
        raise KeyError("no")


@frozen
class State:
    me: int
    sent: int = 0
    received: int = 0
    flushed: bool = False


def fails(place, count):
    if (place, count) == ({place!r}, {count}):
        {failure}


def initial(actor, actors):
    return fails("initial", actor + 1) or State(actor)


def in_flight(actor, actors):
    return fails("in_flight", actor + 1) or (((actor + 1) % actors, "hello"),)


def causal_send(state, message):
    state = evolve(state, sent=state.sent + 1)
    sends = tuple((to, message) for to in message.destinations)
    return fails("causal_send", state.sent) or Step(state, sends)


def receive(state, src, packet):
    state = evolve(state, received=state.received + 1)
    deliveries = () if packet == "hello" else (packet,)
    return fails("receive", state.received) or Step(state, deliveries=deliveries)


def timeout(state):
    return fails("timeout", state.sent)


def flush(state):
    if state.flushed:
        return None
    return fails("flush", state.received + 1) or Step(evolve(state, flushed=True))


def asked(name, count, result):
    """Return a predicate or measure that may fail once an actor received enough."""

    def ask(state):
        states = state if isinstance(state, tuple) else (state,)
        if fails(name, 1 + max(each.received for each in states)) is None:
            return result(states)

    return ask


PROTOCOL = Protocol(
    name="raising",
    summary="fails somewhere",
    source="a campaign",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    timeout=timeout if {timeouts} else None,
    actions={{"flush": flush}} if {actions} else {{}},
    in_flight=in_flight if {flying} else None,
    invariants={{"inv": asked("invariant", 1, lambda states: True)}},
    witnesses={{"wit": asked("witness", 1, lambda states: states[0].received > 0)}},
    joint_invariants={{"all": asked("joint_invariant", 1, lambda states: True)}},
    joint_witnesses={{"some": asked("joint_witness", 1, lambda states: False)}},
    final_invariants={{"rest": asked("final_invariants", 1, lambda states: True)}},
    joint_final_invariants={{"together": asked("joint_final_invariants", 1, lambda states: True)}},
    measures={{"size": asked("measure", 1, lambda states: states[0].received)}},
)
'''

PLACES = (
    *("initial", "in_flight", "causal_send", "receive", "timeout", "flush"),
    *("invariant", "witness", "joint_invariant", "joint_witness"),
    *("final_invariants", "joint_final_invariants", "measure"),
)
FAILURES = (
    'raise ValueError("no\\nway \\x1b[31m")',
    "raise SystemExit(3)",
    "assert False",
    "raise RecursionError",
    "raise Mute",
    "return Unprintable()",
    "return Step(Unprintable())",
    "return Step(State(0), sends=((0, Unprintable()),))",
    "return Step(State(0), sends=((9, Unprintable()),))",
    "return Step(State(0), deliveries=(Unprintable(),))",
    "return 17",
    "return Step([])",
    "return Step(State(0), sends=((9, None),))",
    'return Step(State(0), deliveries=("m",))',
)
"""What the place does in place of its work; handlers may also return what cannot be used."""

ENDINGS = ("svg", "html", "txt", "mmd", "puml", "json", "itf.json", "shiviz")
GRAPHS = ("dot", "svg", "html", "graphml")


def protocol_file(chance: random.Random) -> str:
    """Return the source of a protocol that fails in some place."""
    place = chance.choice(PLACES)
    return PROTOCOL.format(
        place=place,
        count=chance.choice((1, 1, 2, 3)),
        failure=chance.choice(FAILURES),
        timeouts=place == "timeout" or chance.random() < 0.2,
        actions=place == "flush" or chance.random() < 0.2,
        flying=place == "in_flight" or chance.random() < 0.2,
    )


def question(chance: random.Random, folder: Path) -> list[str]:
    """Write a failing protocol into a folder; return what is asked of it."""
    (folder / "raising.py").write_text(protocol_file(chance), encoding="utf-8")
    asked = ["raising.py", "--actors", chance.choice("23"), "--messages", chance.choice("12")]
    asked += chance.choice(([], ["--network", "fifo"], ["--network", "lossy:1"]))
    workloads: tuple[list[str], ...] = (
        [],
        [],
        ["--workload", "broadcast"],
        ["--workload", "endless:1"],
    )
    properties = ("causal-delivery,integrity", *(f"witness:{name}" for name in ("wit", "some")),
                  *(f"invariant:{name}" for name in ("inv", "all")))  # fmt: skip
    asked += chance.choice(workloads)
    return [*asked, *chance.choice(([], ["--property", chance.choice(properties)]))]


def checks(chance: random.Random, folder: Path) -> list[str]:
    """Return a check of a failing protocol, with its run in every format."""
    how = chance.choice(([], [], ["--engine", "plain"], ["--search", "depth"],
                         ["--search", "random", "--walks", "20"]))  # fmt: skip
    extra = chance.choice(([], ["--minimise"], ["--verbose"],
                           ["--graph", f"graph.{chance.choice(GRAPHS)}"],
                           ["--bound", "size=2"], ["--max-counterexamples", "3"],
                           ["--junit", "junit.xml", "--sarif", "found.sarif"]))  # fmt: skip
    traces = [word for ending in ENDINGS for word in ("--trace", f"run.{ending}")]
    bounds = ["--max-states", "400", "--max-seconds", "5"]
    asked = question(chance, folder)
    return ["check", *asked, *how, *extra, *traces, "--json", "found.json", *bounds]


def replays(chance: random.Random, folder: Path) -> list[str]:
    """Return how the run that a check saved is replayed, if it saved one."""
    if not (folder / "run.json").exists():
        return ["list"]
    return ["replay", "run.json", "--trace", f"again.{chance.choice(ENDINGS)}"]


def explored(chance: random.Random, folder: Path) -> list[str]:
    """Look at pages of a failing protocol; return what was refused in a way that it must not be."""
    file, protocol = folder / "raising.py", protocol_file(chance)
    file.write_text(protocol, encoding="utf-8")
    spec = Spec(protocol=str(file), actors=2, messages=1)
    faults = []
    try:
        site = Site(Tree(spec))
    except InputError:
        return []
    numbers: tuple[int, ...] = ()
    for _ in range(8):
        query = {"path": text_of(numbers), "format": chance.choice(("svg", "html", "json"))}
        for address in ("/", "/trace"):
            try:
                site.get(address, query)
            except (InputError, RefusedRequest):
                pass
            except Exception as error:
                faults.append(f"{address} {query}: {type(error).__name__}: {error}")
        numbers = (*numbers, chance.choice((0, 0, 1, 2)))
    try:
        site.post("/search", {}, f"path={text_of(numbers[:1])}&property=")
    except (InputError, RefusedRequest):
        pass
    except Exception as error:
        faults.append(f"/search: {type(error).__name__}: {error}")
    return faults
