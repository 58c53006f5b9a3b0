"""Ordinary, mutable code under the checker."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from antecede import Message
from antecede.checker.support.errors import InputError
from antecede.testing import assert_holds, assert_violated
from antecede.testing.adapter import Out, Running, protocol
from tests.conftest import Command


class Node:
    """Causal broadcast as one writes it: dictionaries, lists and loops that change them."""

    strict = True

    def __init__(self, actor: int, actors: int) -> None:
        self.me = actor
        self.clock = dict.fromkeys(range(actors), 0)
        self.waiting: list[tuple[int, dict[int, int], Message]] = []

    def causal_send(self, out: Out, message: Message) -> None:
        self.clock[self.me] += 1
        for to in message.destinations:
            out.send(to, (tuple(self.clock.items()), message))

    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.waiting.append((src, dict(packet[0]), packet[1]))
        self.waiting.sort(key=lambda each: (each[0], each[1][each[0]]))
        progress = True
        while progress:
            progress = False
            for each in list(self.waiting):
                if self.next(each[0], each[1]):
                    self.waiting.remove(each)
                    self.clock[each[0]] += 1
                    out.deliver(each[2])
                    progress = True

    def next(self, src: int, stamp: dict[int, int]) -> bool:
        others = (k for k in stamp if k != src) if self.strict else ()
        return stamp[src] == self.clock[src] + 1 and all(stamp[k] <= self.clock[k] for k in others)


class Hasty(Node):
    """It looks at the sender's own entry only: FIFO, and no more."""

    strict = False


class Locked(Node):
    def __init__(self, actor: int, actors: int) -> None:
        super().__init__(actor, actors)
        self.lock = threading.Lock()


def waits(state: Running) -> bool:
    return bool(state.object.waiting)


def test_mutable_objects_hold_like_the_protocol_they_are() -> None:
    result = assert_holds(protocol(Node), actors=3, messages=1, workload="broadcast")
    assert (
        result.counts == assert_holds("cbcast", actors=3, messages=1, workload="broadcast").counts
    )


def assert_overtaken_in_five_transitions(made: type) -> None:
    assert_violated(
        protocol(made),
        actors=3,
        messages=1,
        workload="broadcast",
        violates="causal-delivery",
        length=5,
    )


def test_their_mistake_is_found_with_a_shortest_run() -> None:
    assert_overtaken_in_five_transitions(Hasty)


def test_witnesses_see_the_object() -> None:
    assert_holds(
        protocol(Node, witnesses={"waits": waits}),
        actors=3,
        messages=1,
        workload="broadcast",
        properties=("witness:waits",),
    )


def test_an_object_that_cannot_be_kept_is_refused_in_a_sentence() -> None:
    with pytest.raises(Exception, match="cannot be kept between two calls"):
        assert_holds(protocol(Locked), actors=2, messages=1)


class Replayed(Locked):
    """It cannot be copied, so all calls are made once more."""

    copies = "replay"

    def key(self) -> Any:
        return tuple(self.clock.values()), repr(self.waiting)


class Listed(Replayed):
    """Its key cannot be hashed."""

    def key(self) -> Any:
        return [[1], [2]]


@pytest.mark.parametrize("raised", [ValueError, SystemExit])
def test_a_key_that_raises_later_is_named_and_no_other_object_is_blamed(
    raised: type[BaseException],
) -> None:
    class Late(Replayed):
        def key(self) -> Any:
            if self.waiting or any(self.clock.values()):
                raise raised("no")
            return 0

    with pytest.raises(Exception, match=rf"key\(\) of Late raised {raised.__name__}: no \(line"):
        assert_holds(protocol(Late), actors=2, messages=1)


def test_a_key_that_cannot_be_hashed_is_refused_in_a_sentence() -> None:
    said = r"key\(\) of Listed returned \[\[1\], \[2\]\], which cannot be hashed .*; return texts"
    for copies in ("pickle", "deepcopy", "replay"):
        with pytest.raises(AssertionError) as raised:
            assert_holds(protocol(Listed, copies=copies), actors=2, messages=1)
        assert re.search(said, " ".join(str(raised.value).split()))


class Copied(Replayed):
    copies = "deepcopy"

    def __deepcopy__(self, memo: Any) -> Copied:
        other = Copied(self.me, len(self.clock))
        other.clock, other.waiting = dict(self.clock), list(self.waiting)
        return other


class Whole(Locked):
    """Without a key, each history of a replayed object is a state of its own."""

    copies = "replay"


@pytest.mark.parametrize("kind", [Replayed, Copied])
def test_objects_known_by_a_key_have_as_many_states(kind: Any) -> None:
    result = assert_holds(
        protocol(kind), actors=3, messages=1, workload="broadcast", engine="plain"
    )
    expected = assert_holds("cbcast", actors=3, messages=1, workload="broadcast", engine="plain")
    assert expected.counts == result.counts


def test_without_a_key_what_is_replayed_has_a_state_per_history() -> None:
    result = assert_holds(protocol(Whole), actors=2, messages=2, engine="plain")
    keyed = assert_holds(protocol(Replayed), actors=2, messages=2, engine="plain")
    assert result.verdict == keyed.verdict
    assert result.counts.unique_states > keyed.counts.unique_states


def test_a_mistake_is_found_in_what_is_replayed() -> None:
    assert_overtaken_in_five_transitions(type("ReplayedHasty", (Hasty,), {"copies": "replay"}))


class Eager(Node):
    async def receive(self, out: Out, src: int, packet: Any) -> None:  # type: ignore[override]
        pass


class Talkative(Node):
    def receive(self, out: Out, src: int, packet: Any) -> Any:
        return packet


class Coin(Node):
    tossed = 0

    def receive(self, out: Out, src: int, packet: Any) -> None:
        Coin.tossed += 1
        if Coin.tossed % 2:
            out.deliver(packet[1])


class Punctual(Node):
    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.since = time.time()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Punctual, r"calls time\.time\(\), .* it was called as receive\({'me': "),
        (Eager, "receive of Eager is async"),
        (Talkative, "returned .*; say what it does with out.send"),
        (Coin, "returned different results|returned another result"),
    ],
)
def test_code_that_does_not_fit_is_told_in_a_sentence(kind: Any, said: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011 -- an input error or a failed assertion
        assert_holds(protocol(kind), actors=2, messages=1, engine="plain")
    assert re.search(said, " ".join(str(raised.value).split()))


def test_copies_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="available: deepcopy, pickle, replay"):
        protocol(Node, copies="clone")
    with pytest.raises(InputError, match="has no key"):
        protocol(Node, copies="deepcopy")
    with pytest.raises(InputError, match="give a class"):
        protocol(3)  # type: ignore[arg-type]


class Resending(Node):
    """Keeps messages where only it can see them."""

    def timeout(self, out: Out) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("make", "network"), [(Resending, "unordered"), (Node, "duplicating+lossy")]
)
def test_an_endless_workload_is_refused_where_messages_must_be_seen(
    make: type[Node], network: str
) -> None:
    with pytest.raises(InputError, match="hides the messages that it keeps") as caught:
        assert_holds(protocol(make), actors=2, workload="endless:1", network=network)
    assert "Give workload='any' and messages=2" in str(caught.value)


SAME_FILE = """
from antecede import Property, What, When

class Node:
    def __init__(self, actor, actors): self.got = []
    def causal_send(self, out, message):
        for to in message.destinations:
            out.send(to, message)
    def receive(self, out, src, packet):
        self.got.append((packet.sender, packet.number))
        out.deliver(packet)

FEW = Property("few", "", What.LOCAL_STATE, When.ALWAYS, lambda s: type(s.object) is Node)
"""


def test_a_class_and_a_property_may_be_in_one_file(tmp_path: Path, antecede: Command) -> None:
    (tmp_path / "node.py").write_text(SAME_FILE)
    asked = ("--actors", 2, "--messages", 1, "--engine", "plain")
    ran = antecede("test", "node.py:Node", *asked, "--property", "node.py:FEW", cwd=tmp_path)
    assert (0, True) == (ran.code, "HOLDS" in ran.out), ran.out


def test_two_files_of_one_name_are_two_modules(tmp_path: Path, antecede: Command) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "node.py").write_text(SAME_FILE.replace("type(s.object)", "Node"))
    asked = ("--actors", 2, "--messages", 1, "--engine", "plain")
    for prop in ("here/node.py:FEW", "there/node.py:FEW"):
        ran = antecede("test", "here/node.py:Node", *asked, "--property", prop, cwd=tmp_path)
        assert (0, True) == (ran.code, "HOLDS" in ran.out), ran.out
