"""Whatever a node remembers is in its key, wherever it hides, and equal keys mean equal futures."""

from __future__ import annotations

import array
import asyncio
import collections
import contextvars
import functools
import hashlib
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from antecede import Message
from antecede.checker.adapters.aio import frames
from antecede.testing import aio
from tests.adapters.aio.test_node import Harness, OfRepaired, calls

Get = Callable[[], Awaitable[int]]
Hides = Callable[[Get], Awaitable[Any]]
"""A task that counts, in one hidden place, how often it got something."""

MANY = 9


def over(iterable: Callable[[], Any]) -> Hides:
    async def work(get: Get) -> None:
        for _ in iterable():
            await get()

    return work


def kept(make: Callable[[], Any], count: Callable[[Any], Any]) -> Hides:
    async def work(get: Get) -> None:
        value = make()
        while True:
            await get()
            count(value)

    return work


def generated() -> Iterator[int]:
    yield from [1] * MANY


async def half_evaluated(get: Get) -> None:
    _ = (await get()) + (await get()) + (await get()) + (await get())
    await asyncio.sleep(99)


async def recursion(get: Get) -> None:
    async def deeper(depth: int) -> int:
        return depth if depth > MANY else depth + await deeper(depth + await get())

    await deeper(0)


async def local(get: Get) -> None:
    n = 0
    while n < MANY:
        await get()
        n += 1


async def closure(get: Get) -> None:
    n = 0

    def count() -> None:
        nonlocal n
        n += 1

    while True:
        await get()
        count()


async def async_generator(get: Get) -> None:
    async def values() -> AsyncIterator[int]:
        for _ in range(MANY):
            yield await get()

    async for _ in values():
        pass


VARIABLE = contextvars.ContextVar("VARIABLE", default=0)


async def context(get: Get) -> None:
    while True:
        await get()
        VARIABLE.set(VARIABLE.get() + 1)


async def chance(get: Get) -> None:
    while True:
        await get()
        random.random()


async def default_argument(get: Get) -> None:
    def count(calls: list[int] = []) -> None:  # noqa: B006 - it hides the count
        calls.append(1)

    while True:
        await get()
        count()


async def function_attribute(get: Get) -> None:
    def count() -> None:
        count.n += 1  # type: ignore[attr-defined]

    count.n = 0  # type: ignore[attr-defined]
    while True:
        await get()
        count()


async def local_class(get: Get) -> None:
    class Counts:
        n = 0

    while True:
        await get()
        Counts.n += 1


async def exception(get: Get) -> None:
    n = 0
    while True:
        try:
            await get()
            n += 1
            raise ValueError(n)
        except ValueError as error:
            try:
                await get()
            finally:
                n = error.args[0]


async def tasks(get: Get) -> None:
    held = []
    while True:
        await get()
        held.append(asyncio.create_task(asyncio.sleep(99)))


async def waiters(get: Get) -> None:
    lock = asyncio.Lock()
    await lock.acquire()

    async def wait() -> None:
        async with lock:
            pass

    held = []
    while True:
        await get()
        held.append(asyncio.create_task(wait()))


async def semaphore(get: Get) -> None:
    permits = asyncio.Semaphore(50)
    while True:
        await get()
        await permits.acquire()


async def timers(get: Get) -> None:
    while True:
        await get()
        asyncio.get_running_loop().call_later(5, print)


async def sentinel(get: Get) -> None:
    values = iter([1] * MANY)
    for _ in iter(lambda: next(values, 0), 0):
        await get()


async def seen_by_locals(get: Get) -> None:
    n = 0
    while True:
        await get()
        n += 1
        if locals()["n"] > MANY:
            return


class Counted(int):
    n = 0


class Slots:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0


def counts(value: Any) -> None:
    value.n += 1


ONES = [1] * MANY
HIDDEN: dict[str, Hides] = {
    "list iterator": over(lambda: [1] * MANY),
    "range": over(lambda: range(MANY)),
    "zip": over(lambda: zip(ONES, ONES, strict=True)),
    "enumerate": over(lambda: enumerate(ONES)),
    "map": over(lambda: map(str, ONES)),
    "filter": over(lambda: filter(None, ONES)),
    "reversed": over(lambda: reversed(ONES)),
    "values of a dictionary": over(lambda: dict.fromkeys(range(MANY), 1).values()),
    "set": over(lambda: set(range(MANY))),
    "generator": over(generated),
    "generator expression": over(lambda: (each for each in ONES)),
    "itertools.count": over(itertools.count),
    "itertools.cycle": over(lambda: itertools.cycle([1, 2, 3, 4, 5])),
    "itertools.chain": over(lambda: itertools.chain(ONES, ONES)),
    "itertools.islice": over(lambda: itertools.islice(itertools.repeat(1), MANY)),
    "text iterator": kept(lambda: iter("abcdefghij"), lambda letters: next(letters, None)),
    "bytearray": kept(bytearray, lambda data: data.append(1)),
    "memoryview": kept(
        lambda: memoryview(bytearray(MANY)),
        lambda view: view.__setitem__(view.tobytes().index(0), 1),
    ),
    "array": kept(lambda: array.array("i"), lambda numbers: numbers.append(1)),
    "deque": kept(lambda: collections.deque([1]), lambda queue: queue.append(1)),
    "Counter": kept(collections.Counter, lambda counter: counter.update("a")),
    "partial": kept(lambda: functools.partial(print, []), lambda part: part.args[0].append(1)),
    "attribute of a number": kept(Counted, counts),
    "slots": kept(Slots, counts),
    "two iterators of one list": over(lambda: zip(*[iter(ONES)] * 2, strict=False)),
    **{
        work.__name__: work
        for work in (
            half_evaluated, recursion, local, closure, async_generator, context, chance,
            default_argument, function_attribute, local_class, exception, tasks, waiters,
            semaphore, timers, sentinel, seen_by_locals,
        )
    },
}  # fmt: skip


def node_with(work: Hides) -> Any:
    class Node(aio.Node):
        async def start(self) -> None:
            self.queue: asyncio.Queue[int] = asyncio.Queue()
            self.task = asyncio.create_task(self.work())

        async def work(self) -> None:
            await work(self.queue.get)

        async def send(self, message: Message) -> None:
            await self.queue.put(1)

    return Node


def keys_of(node: Any) -> list[Any]:
    """Return the keys of a node after 0 to 3 calls."""
    keys = [node.key()]
    for number in range(1, 4):
        calls(node, ("causal_send", Message(0, number, (1,))))
        keys.append(node.key())
    return keys


@pytest.mark.parametrize("place", HIDDEN)
def test_what_a_task_hides_is_in_the_key(place: str) -> None:
    kind = node_with(HIDDEN[place])
    keys = keys_of(kind(0, 2))
    assert 4 == len(set(keys))
    assert keys == keys_of(kind(0, 2)), "the same calls lead to the same keys"


async def forgotten(get: Get) -> None:
    n, numbers = 0, random.Random(0)
    while n < 2:
        await get()
        n = numbers.randrange(100, 200)
        n = 0  # so nothing reads the random number
        numbers.seed(0)


def test_a_variable_that_is_written_before_it_is_read_is_not_in_the_key() -> None:
    keys = keys_of(node_with(forgotten)(0, 2))
    assert 1 == len(set(keys[1:]))


def test_every_way_to_read_a_variable_makes_it_live() -> None:
    def code(x: int, y: int) -> Iterator[int]:
        yield 1
        if x:
            yield 2
        y = 3
        yield y

    places = frames._flow(code.__code__)[0]
    live = [frames.live_at(code.__code__, place) for place in sorted(places)]
    assert frozenset("x") in live
    assert frozenset("y") in live
    assert frozenset("xy") not in live


def test_an_object_that_cannot_be_seen_into_is_refused_by_name() -> None:
    with pytest.raises(
        Exception, match=r"the node contains a _hashlib.HASH, whose content .*state"
    ):
        keys_of(node_with(kept(hashlib.sha256, lambda hashed: hashed.update(b"x")))(0, 2))


def test_a_state_stands_for_the_key() -> None:
    class Node(node_with(kept(hashlib.sha256, lambda hashed: hashed.update(b"x")))):  # type: ignore[misc]
        n = 0

        async def send(self, message: Message) -> None:
            self.n += 1

        def state(self) -> int:
            return self.n

    assert 4 == len(set(keys_of(Node(0, 2))))


def test_an_interpreter_whose_stacks_are_hidden_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "LATEST", (3, 10))
    with pytest.raises(Exception, match=r"up to 3.10 only; this is cpython 3.* method state"):
        node_with(local)(0, 2).key()


def runs(kind: Any, seed: int, steps: int) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Make random calls of two connected nodes; yield the first one's key and all its calls."""
    chosen = random.Random(seed)
    nodes, sent, history = [kind(0, 2), kind(1, 2)], [0, 0], []
    channels: dict[int, list[Any]] = {0: [], 1: []}
    for _ in range(chosen.randrange(2, steps)):
        actor = chosen.randrange(2)
        call: tuple[Any, ...] = ("timeout",)
        if channels[actor] and chosen.random() < 0.6:
            call = ("receive", 1 - actor, channels[actor].pop(0))
        elif sent[actor] < 2 and chosen.random() < 0.5:
            sent[actor] += 1
            call = ("causal_send", Message(actor, sent[actor], (1 - actor,)))
        (out,) = calls(nodes[actor], call)
        for _, frame in out.sends:
            if frame not in channels[1 - actor]:
                channels[1 - actor].append(frame)
        if actor == 0:
            history.append(call)
            yield nodes[0].key(), tuple(history)


@pytest.mark.parametrize("kind", [Harness, OfRepaired])
def test_nodes_with_equal_keys_have_equal_futures(kind: Any) -> None:
    histories: dict[Any, set[tuple[Any, ...]]] = collections.defaultdict(set)
    for seed in range(60):
        for key, history in runs(kind, seed, 20):
            histories[key].add(history)
    several = {key: sorted(h, key=len) for key, h in histories.items() if len(h) > 1}
    frames_seen = sorted({c for h in histories.values() for calls in h for c in calls}, key=repr)
    chosen = random.Random(0)
    for key, (shortest, *_, longest) in list(several.items())[:40]:
        future = [chosen.choice([("timeout",), chosen.choice(frames_seen)]) for _ in range(8)]
        futures = []
        for history in (shortest, longest):
            node = kind(0, 2)
            calls(node, *history)
            assert key == node.key(), "the same calls lead to the same key"
            futures.append([_effects(node, call) for call in future])
        assert futures[0] == futures[1]
    assert len(several) > 30


def _effects(node: Any, call: tuple[Any, ...]) -> Any:
    (out,) = calls(node, call)
    return out.sends, out.deliveries, node.key()
