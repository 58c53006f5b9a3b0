"""Random protocols with livelocks, under applications that never stop: does a message starve?

A player has a few modes. In each mode an event has one action: a causal-send, a message received, a
ball received. A ball is a packet without a message. Players throw balls to and fro, act by
themselves, and send messages again, so a run may be endless although no application sends anything.
Each player throws at most one ball of its own and keeps few messages, so most graphs are finite.

`tests/naive_endless.py` decides whether a fair run leaves the marked message undelivered. The
engines must give the same verdict. If no message starves, they must find as many states.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from attrs import asdict, evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Packet, Protocol, Step
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from tests import naive_endless

MOST = 1_500
"""The number of states above which a graph is not explored."""

KEPT = 2
"""The greatest number of messages that a player keeps."""

SENDS = ("send", "send", "send-and-keep", "keep", "throw", "drop")
MESSAGES = ("deliver", "deliver", "answer", "keep", "drop", "return")
BALLS = ("return", "return", "drop", "forget", "deliver-kept", "send-kept")
ACTS = (None, None, None, "stay", "throw", "deliver-kept")
EVENTS = (SENDS, MESSAGES, BALLS, ACTS)
"""The actions of a causal-send, a message, a ball, and of a player by itself (None: no action)."""

NETWORKS = (
    *("unordered", "unordered", "fifo", "duplicating", "fifo+duplicating"),
    *("lossy", "lossy:1", "fifo+lossy", "fifo+lossy:1", "duplicating+lossy"),
)

Table: TypeAlias = tuple[tuple[tuple[str | None, int], ...], ...]
"""Per mode, an action and the next mode for each of EVENTS."""


@frozen
class Player:
    """One actor's state: `ball` says whether it has thrown its own ball."""

    mode: int = 0
    ball: bool = False
    kept: tuple[Message, ...] = ()


@frozen
class Data:
    """A message."""

    message: Message


@frozen
class Ball:
    """A packet without a message."""


def playing(table: Table, acts: bool, resends: bool) -> Protocol:
    """Return the protocol of a table.

    Args:
        table: the actions.
        acts: whether players act by themselves.
        resends: whether players send the messages again that they keep for others.
    """

    def after(player: Player, event: int) -> tuple[Player, str | None]:
        action, mode = table[player.mode][event]
        return evolve(player, mode=mode), action

    def causal_send(player: Player, message: Message) -> Step:
        player, action = after(player, 0)
        if action in ("keep", "send-and-keep"):
            player = _keep(player, message)
        if action == "throw":
            return _thrown(player, message.destinations[0])
        return Step(player, _data(message) if action in ("send", "send-and-keep") else ())

    def receive(player: Player, src: int, packet: Packet) -> Step:
        if isinstance(packet, Ball):
            player, action = after(player, 2)
            if action == "return":
                return Step(player, ((src, packet),))
            return _of_kept(player, action)
        player, action = after(player, 1)
        if action == "keep":
            return Step(_keep(player, packet.message))
        if action == "return":
            return Step(player, ((src, packet),))
        sends = ((src, Ball()),) if action == "answer" else ()
        return Step(player, sends, () if action == "drop" else (packet.message,))

    def timeout(player: Player) -> Step | None:
        sends = tuple(each for message in player.kept for each in _data(message))
        return Step(player, sends) if sends else None

    def act(player: Player) -> Step | None:
        player, action = after(player, 3)
        if action == "throw" and player.kept:
            return _thrown(player, player.kept[0].destinations[0])
        return None if action is None else _of_kept(player, action)

    return Protocol(
        name="playing",
        summary="a random table with livelocks",
        source="a campaign of random systems",
        initial=lambda _actor, _actors: Player(),
        causal_send=causal_send,
        receive=receive,
        timeout=timeout if resends else None,
        actions={"act": act} if acts else {},
    )


def _keep(player: Player, message: Message) -> Player:
    return evolve(player, kept=(*player.kept, message)[-KEPT:])


def _thrown(player: Player, to: int) -> Step:
    return Step(evolve(player, ball=True), () if player.ball else ((to, Ball()),))


def _data(message: Message) -> tuple[tuple[int, Packet], ...]:
    return tuple((to, Data(message)) for to in message.destinations)


def _of_kept(player: Player, action: str | None) -> Step:
    """Return what an action does with the oldest kept message."""
    if not player.kept or action not in ("forget", "deliver-kept", "send-kept"):
        return Step(player)
    first, rest = player.kept[0], evolve(player, kept=player.kept[1:])
    if action == "send-kept":
        return Step(rest, _data(first))
    return Step(rest, deliveries=(first,) if action == "deliver-kept" else ())


@frozen
class Game:
    """A random system; all of its fields are JSON.

    Attributes:
        table, acts, resends: as in `playing`.
        rows: per actor, the destinations of each message that it may send.
        buffer: the greatest number of its undelivered messages.
    """

    table: Table
    acts: bool
    resends: bool
    network: str
    rows: naive_endless.Rows
    buffer: int

    @property
    def protocol(self) -> Protocol:
        """The protocol that was drawn."""
        return playing(self.table, self.acts, self.resends)

    def spec(self) -> Spec:
        """Return the question about it."""
        return Spec(
            protocol="playing",
            actors=len(self.rows),
            network=self.network,
            workload=f"endless:{self.buffer}:{json.dumps(self.rows)}",
            properties=("no-starvation",),
        )


def drawn(seed: str) -> Game:
    """Return the system of a seed."""
    chance = random.Random(f"livelocks {seed}")
    modes, actors = chance.choice((1, 2, 2, 3)), chance.choice((2, 2, 2, 3))
    others = [[j for j in range(actors) if j != i] for i in range(actors)]
    rows: naive_endless.Rows = [
        [(to,) for to in sorted(chance.sample(every, chance.randint(0, len(every))))]
        for every in others
    ]
    if actors == 3 and chance.random() < 0.3:
        rows[0] = [(1, 2)]
    return Game(
        table=tuple(
            tuple((chance.choice(actions), chance.randrange(modes)) for actions in EVENTS)
            for _ in range(modes)
        ),
        acts=chance.random() < 0.4,
        resends=chance.random() < 0.2,
        network=chance.choice(NETWORKS),
        rows=rows if any(rows) else [[(to,) for to in every] for every in others],
        buffer=chance.choice((1, 1, 2)),
    )


def comparisons(game: Game) -> Iterator[tuple[str, Any, Any]]:
    """Yield (description, expected value, actual value) for each comparison."""
    counts, graph = naive_endless.explore(
        game.protocol, game.rows, game.buffer, game.network, most=MOST, safety=False
    )
    if counts.unique >= MOST:
        return
    starves = naive_endless.starves(graph, "lossy" in game.network)
    expected = Verdict.VIOLATED if starves else Verdict.HOLDS, None if starves else counts[:3]
    for engine in ("plain", "local"):
        name = f"naive checker and starvation, --engine {engine}"
        yield name, expected, _judged(game, engine)


def _judged(game: Game, engine: str) -> Any:
    """Return the verdict of an engine, and its counts if no message starves."""
    options, bounds = Options(engine=engine), Bounds(max_states=2 * MOST)
    try:
        report = check(game.spec(), options, bounds, protocol=game.protocol, selfcheck="off")
    except Exception as error:  # any exception of a check is a finding
        return f"{type(error).__name__}: {error}"
    result, found = report.result, report.result.counts
    counts = (found.unique_states, found.total_states, found.depth)
    return result.verdict, None if result.verdict is Verdict.VIOLATED else counts


def compare_livelocks(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare one random system with livelocks; write the first disagreement as a protocol file."""
    game = drawn(seed)
    for name, expected, actual in comparisons(game):
        tally[name] += 1
        if expected != actual:
            return [_written(game, folder, seed, f"{name}: {expected} and {actual}")]
    return []


def _written(game: Game, folder: Path, seed: str, wrong: str) -> str:
    """Write the protocol of a disagreement; return what was wrong, and how to see it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"livelocks-{seed.replace('/', '-')}.py"
    file.write_text(
        '"""Run it in the folder of the project; the tests are imported."""\n\n'
        "from tests.campaigns.livelocks import playing\n\n"
        f"P = playing({game.table!r}, {game.acts}, {game.resends})\n",
        encoding="utf-8",
    )
    line = (
        f"antecede check {file} --actors {len(game.rows)} --network {game.network} "
        f"--workload '{game.spec().workload}' --property no-starvation"
    )
    return f"{wrong}\n  {json.dumps(asdict(game))}\n  {line}"
