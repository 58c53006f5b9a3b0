"""Paths that the tests of the trace formats share; some come from protocols that mean harm."""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

from attrs import evolve, frozen, make_class

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Message, Packet, Protocol, Step, Transition
from antecede.checker.paths.path import Path, replay
from antecede.checker.semantics.transition import enabled, initial_state, successor
from tests.conftest import counterexample

FIGURE_1 = "script:[[2,1],[2],[]]"
FIGURE_3 = "script:[[1,2],[0,2],[0]]"

EVIL = "</script></style></svg><img src=x onerror=alert(1)>"
TRICKS = (
    "]]>-->{{7*7}};end\n@enduml\n%%{init: {}}%%\nstyle a:b#35; <U+0041> **b** ~x \\n "
    '!include /etc/hosts $x$ \x1b[31m \u202eback \x00 "\' # ` | & {"host":1}'
)
"""What some format or other takes for more than text."""

EvilPacket = make_class("Evil", ["message", "said"], frozen=True)
EvilPacket.__name__ = f"Evil{EVIL}"
"""A packet whose class is called something that no file can spell with a class statement."""


class Mood(Enum):
    """Something that is neither a number nor a string."""

    CALM = 1


@frozen
class Strange:
    """A state with a field of every kind, that holds what a stranger wrote."""

    said: str = EVIL + TRICKS
    mood: Mood = Mood.CALM
    nothing: None = None
    ratio: float = 0.5
    raw: bytes = b"<b>"
    many: frozenset[int] = frozenset({3, 1, 2**70})
    nested: tuple[Any, ...] = ((), (True, (1, "x")))
    heard: tuple[Message, ...] = ()


def _evil_send(state: Strange, message: Message) -> Step:
    packet: Packet = EvilPacket(message, EVIL + TRICKS)
    return Step(state, tuple((d, packet) for d in message.destinations))


def _evil_receive(state: Strange, _src: int, packet: Any) -> Step:
    after = evolve(state, heard=(*state.heard, packet.message), said=state.said[::-1])
    return Step(after, deliveries=(packet.message,))


HOSTILE = Protocol(
    name=f"evil{EVIL}{TRICKS}",
    summary="",
    source="",
    initial=lambda _actor, _actors: Strange(),
    causal_send=_evil_send,
    receive=_evil_receive,
    witnesses={f"mode{EVIL}": lambda state: bool(state.heard)},
)


@frozen
class Direct:
    """A message on its way to its destination."""

    message: Message


@frozen
class Detour:
    """A message on its way to Alice, who passes it on."""

    message: Message


def _relay_send(state: None, message: Message) -> Step:
    if (message.sender, message.receiver) == (1, 2):
        return Step(state, ((0, Detour(message)),))
    return Step(state, ((message.receiver, Direct(message)),))


def _relay_receive(state: None, _src: int, packet: Direct | Detour) -> Step:
    if isinstance(packet, Detour):
        return Step(state, ((packet.message.receiver, Direct(packet.message)),))
    return Step(state, deliveries=(packet.message,))


RELAYED = Protocol(
    name="relayed",
    summary="",
    source="",
    initial=lambda _actor, _actors: None,
    causal_send=_relay_send,
    receive=_relay_receive,
)
"""What Bob sends to Carol goes by way of Alice, and everything else directly."""


@cache
def secret_mode() -> Path:
    """Figure 3 of the Cykas paper: nine transitions."""
    return counterexample("cykas-secret-mode", 3, workload=FIGURE_3)


@cache
def alice_bob_carol() -> Path:
    """Figure 1: m1 from Alice to Carol is overtaken by way of Bob."""
    return counterexample("fifo", 3, workload=FIGURE_1)


@cache
def undelivered() -> Path:
    """Cykas as printed, where two messages wait forever."""
    return counterexample("cykas-as-printed", 2)


@cache
def hostile() -> Path:
    """A violation in a protocol whose names and payloads try to break out."""
    return counterexample(HOSTILE, 2)


@cache
def relayed() -> Path:
    """A violation where the late message comes by way of Alice."""
    return counterexample(RELAYED, 4, workload="script:[[],[2,3],[],[2]]")


@cache
def repeated() -> Path:
    """A network that duplicates hands over the same packet twice."""
    return counterexample("unordered", 2, 1, network="duplicating", properties=("integrity",))


def walk(protocol: str, *, seed: int, most: int, **values: Any) -> Path:
    """Return a random run that violates nothing, of at most `most` transitions."""
    system = system_of(Spec(protocol=protocol, **values))
    chance, state = random.Random(seed), initial_state(system)
    taken: list[Transition] = []
    while len(taken) < most and (choices := enabled(system, state)):
        taken.append(chance.choice(choices))
        state = successor(system, state, taken[-1]).state
    return replay(system, taken)


@cache
def long_run() -> Path:
    """Three actors and about forty transitions of Cykas."""
    return walk("cykas", seed=5, most=41, messages=4)


@cache
def held_back() -> Path:
    """A run of CBCAST with received messages that wait."""
    return walk("cbcast", seed=3, most=60, workload="broadcast")


@cache
def lossy() -> Path:
    """A run with timeouts, losses and repeats."""
    return walk("hybrid-basic", seed=4, most=40, network="lossy:3")


@cache
def to_oneself() -> Path:
    """A run with messages to their own sender."""
    return walk("rst-self", seed=4, most=40, workload="self")


@cache
def empty() -> Path:
    """A run without a transition."""
    return walk("mfss", seed=0, most=0)


VIOLATIONS: dict[str, Callable[[], Path]] = {
    "secret-mode": secret_mode,
    "alice-bob-carol": alice_bob_carol,
    "undelivered": undelivered,
    "hostile": hostile,
    "relayed": relayed,
    "repeated": repeated,
}
RUNS: dict[str, Callable[[], Path]] = {
    **VIOLATIONS,
    "long-run": long_run,
    "held-back": held_back,
    "lossy": lossy,
    "to-oneself": to_oneself,
    "empty": empty,
}
