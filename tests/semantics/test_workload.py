"""Workloads: the causal-sends that they allow, and invalid workloads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antecede.checker.model import Message
from antecede.checker.semantics.workload import SUMMARIES, Workload, counted_sends, script
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.errors import InputError

CHAIN = (
    'reaction:[{"name":"m1","from":0,"to":[2]},{"name":"m2","from":0,"to":[1]},'
    '{"name":"m3","from":1,"to":[2],"after":["m2"]}]'
)


PING = 'reaction:[{"name":"ping","from":0,"to":[1]}]'


class Actor:
    """One actor walking through its part of a workload."""

    def __init__(self, workload: Workload, actor: int) -> None:
        self.workload, self.actor = workload, actor
        self.position = workload.initial(actor)

    def offers(self) -> tuple[tuple[int, ...], ...]:
        return self.workload.choices(self.actor, self.position)

    def send(self, *destinations: int) -> None:
        assert destinations in self.offers()
        self.position = self.workload.after_send(self.actor, self.position, destinations)

    def deliver(self, sender: int, number: int = 1) -> None:
        message = Message(sender, number, (self.actor,))
        self.position = self.workload.after_delivery(self.actor, self.position, message)

    @property
    def sent(self) -> int:
        return self.workload.sent(self.position)


def reaction(*sends: dict[str, Any], actors: int = 3) -> Workload:
    return workload_from("reaction:" + json.dumps(sends), actors, 1)


def send(name: str, src: int, to: list[int], after: list[str] | None = None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "from": src, "to": to}
    return entry if after is None else {**entry, "after": after}


def test_any_offers_every_other_actor_until_the_messages_are_used_up() -> None:
    actor = Actor(counted_sends("any", 3, 2), 1)
    assert ((0,), (2,)) == actor.offers()
    actor.send(2)
    assert 1 == actor.sent
    assert ((0,), (2,)) == actor.offers()
    actor.send(0)
    assert 2 == actor.sent
    assert () == actor.offers()


def test_broadcast_offers_all_the_others_at_once() -> None:
    actor = Actor(counted_sends("broadcast", 3, 1), 1)
    assert ((0, 2),) == actor.offers()
    actor.send(0, 2)
    assert () == actor.offers()


def test_multicast_offers_every_group_of_others() -> None:
    actor = Actor(counted_sends("multicast", 3, 1), 1)
    assert ((0,), (2,), (0, 2)) == actor.offers()
    actor.send(0, 2)
    assert () == actor.offers()


def test_self_offers_every_actor_and_the_sender_too() -> None:
    actor = Actor(counted_sends("self", 3, 1), 1)
    assert ((0,), (1,), (2,)) == actor.offers()
    actor.send(1)
    assert () == actor.offers()


@pytest.mark.parametrize("text", ["any", "broadcast", "multicast", "script:[[1],[0]]", PING])
def test_only_self_addresses_messages_to_their_sender(text: str) -> None:
    assert workload_from("self", 2, 1).self_sends
    assert not workload_from(text, 2, 1).self_sends


def test_script_offers_its_destinations_in_order() -> None:
    actor = Actor(script(3, [[1, 2], [], [0]]), 0)
    assert ((1,),) == actor.offers()
    actor.send(1)
    assert ((2,),) == actor.offers()
    actor.send(2)
    assert () == actor.offers()


def test_script_without_sends_for_an_actor_offers_it_nothing() -> None:
    assert () == Actor(script(2, [[1], []]), 1).offers()


@pytest.mark.parametrize("text", ["any", "broadcast", "script:[[1,2],[0],[0]]"])
def test_deliveries_move_no_workload_but_a_reaction(text: str) -> None:
    workload = workload_from(text, 3, 2)
    actor = Actor(workload, 1)
    before = actor.position
    actor.deliver(0)
    assert before == actor.position
    assert not workload.reacts


def test_reaction_waits_for_the_delivery_that_it_names() -> None:
    bob = Actor(workload_from(CHAIN, 3, 1), 1)
    assert () == bob.offers()
    bob.deliver(0, 1)
    assert () == bob.offers()
    bob.deliver(0, 2)
    assert ((2,),) == bob.offers()


def test_reaction_without_after_needs_no_delivery() -> None:
    alice = Actor(workload_from(CHAIN, 3, 1), 0)
    assert ((2,),) == alice.offers()
    alice.send(2)
    assert ((1,),) == alice.offers()


def test_reaction_waits_for_all_the_deliveries_that_it_names() -> None:
    workload = reaction(send("a", 0, [2]), send("b", 1, [2]), send("c", 2, [0, 1], ["a", "b"]))
    carol = Actor(workload, 2)
    carol.deliver(1)
    assert () == carol.offers()
    carol.deliver(0)
    assert ((0, 1),) == carol.offers()


def test_later_send_of_a_reaction_waits_for_the_earlier_one() -> None:
    workload = reaction(send("a", 0, [1]), send("b", 1, [2], ["a"]), send("c", 1, [0]))
    bob = Actor(workload, 1)
    assert () == bob.offers()
    bob.deliver(0)
    bob.send(2)
    assert ((0,),) == bob.offers()


def test_reaction_remembers_a_delivery_that_only_a_later_send_waits_for() -> None:
    workload = reaction(send("a", 0, [1]), send("b", 1, [2]), send("c", 1, [0], ["a"]))
    bob = Actor(workload, 1)
    bob.deliver(0)
    bob.send(2)
    assert ((0,),) == bob.offers()


def test_reaction_forgets_deliveries_that_no_send_waits_for_any_more() -> None:
    """Positions that differ in nothing to come are equal, so that states are."""
    workload = reaction(
        send("a", 0, [1]), send("x", 0, [1]), send("b", 1, [2], ["a"]), send("c", 1, [0])
    )
    early, late = Actor(workload, 1), Actor(workload, 1)
    early.deliver(0, 1)
    early.deliver(0, 2)  # x: no send waits for it
    late.deliver(0, 1)
    assert early.position == late.position
    early.send(2)
    late.send(2)
    late.deliver(0, 2)
    assert early.position == late.position
    untouched = Actor(reaction(send("b", 1, [2]), send("c", 1, [0])), 1)
    untouched.send(2)
    assert untouched.position == early.position


def test_reaction_numbers_messages_per_sender() -> None:
    """m2 is the second message of actor 0, though the first to actor 1."""
    bob = Actor(workload_from(CHAIN, 3, 1), 1)
    bob.deliver(0, 2)
    assert ((2,),) == bob.offers()


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("any", 2),
        ("broadcast", 2),
        ("script:[[1,2,1],[0],[]]", 3),
        (CHAIN, 2),
        ("script:[[],[],[]]", 0),
    ],
)
def test_most_is_the_greatest_number_of_messages_of_one_actor(text: str, most: int) -> None:
    assert most == workload_from(text, 3, 2).most


@pytest.mark.parametrize(
    ("text", "symmetric"),
    [
        ("any", True),
        ("broadcast", True),
        ("multicast", True),
        ("self", True),
        ("script:[[1],[0],[]]", False),
        (CHAIN, False),
    ],
)
def test_only_workloads_that_name_no_actor_are_symmetric(text: str, symmetric: bool) -> None:
    assert symmetric is workload_from(text, 3, 1).symmetric


@pytest.mark.parametrize(
    "text", ["any", "broadcast", "multicast", "self", "script:[[1,2],[0],[]]", CHAIN]
)
def test_text_of_a_workload_describes_it_in_full(text: str) -> None:
    assert text == workload_from(text, 3, 1).text
    assert text.partition(":")[0] == workload_from(text, 3, 1).kind


@pytest.mark.parametrize(
    ("text", "fan_out"),
    [
        ("any", 1),
        ("self", 1),
        ("broadcast", 2),
        ("multicast", 2),
        ("script:[[1,2],[],[]]", 1),
        ('reaction:[{"name":"a","from":0,"to":[1]},{"name":"b","from":1,"to":[0,2]}]', 2),
    ],
)
def test_fan_out_is_the_greatest_number_of_destinations(text: str, fan_out: int) -> None:
    assert fan_out == workload_from(text, 3, 2).fan_out


def test_only_a_reaction_reacts() -> None:
    assert workload_from(CHAIN, 3, 1).reacts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("scrpt:[[1],[]]", ["workload 'scrpt'", "did you mean 'script'?", *SUMMARIES]),
        ("any:3", ["workload 'any' takes no argument", "'3'"]),
        ("broadcast:[1]", ["workload 'broadcast' takes no argument", "'[1]'"]),
        ("script", ["workload 'script' needs a JSON list after the colon", "for example script:["]),
        ("script:[[1],", ["workload 'script' needs a JSON list", "at character 5"]),
        ("reaction:nope", ["workload 'reaction' needs a JSON list", "for example reaction:["]),
        ("script:3", ["workload 'script' needs a JSON list of lists", "3"]),
        ("script:[1,2]", ["workload 'script' needs a JSON list of lists", "[1,2]"]),
        ('reaction:{"name":"m"}', ["workload 'reaction' needs a JSON list", '{"name":"m"}']),
        ("script:[[1]]", ["one list per actor: 3 actors, 1 list"]),
        ("script:[[3],[],[]]", ["destination 3 of actor 0", "from 0 to 2"]),
        ("script:[[],[-1],[]]", ["destination -1 of actor 1", "from 0 to 2"]),
        ('script:[["1"],[],[]]', ["destination '1' of actor 0", "from 0 to 2"]),
        ("script:[[true],[],[]]", ["destination True of actor 0", "from 0 to 2"]),
        ("script:[[],[1],[]]", ["actor 1 sends to itself", "another actor"]),
        ("reaction:[1]", ["a table, not 1"]),
    ],
)
def test_text_that_is_no_workload_is_answered_with_the_reason(text: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        workload_from(text, 3, 1)
    assert [] == [part for part in parts if part not in str(caught.value)]


@pytest.mark.parametrize(
    ("sends", "parts"),
    [
        (
            [{"name": "a", "from": 0, "too": [1]}],
            ["key in a send of the reaction workload 'too'", "did you mean 'to'?", "after, from"],
        ),
        ([{"from": 0, "to": [1]}], ["lacks 'name'", "'from': 0"]),
        ([{"name": "a", "to": [1]}], ["lacks 'from'", "'a'"]),
        ([{"name": "a", "from": 0}], ["lacks 'to'", "'a'"]),
        ([send("a", 3, [1])], ["'from' is 3", "from 0 to 2"]),
        ([{"name": "a", "from": "0", "to": [1]}], ["'from' is '0'", "from 0 to 2"]),
        ([send("a", 0, [])], ["'to' is []", "a list of one or more different actors"]),
        ([send("a", 0, [1, 1])], ["'to' is [1, 1]", "different actors"]),
        ([{"name": "a", "from": 0, "to": 1}], ["'to' is 1", "a list"]),
        ([send("a", 0, [3])], ["destination 3 of actor 0", "from 0 to 2"]),
        ([send("a", 0, [1, 0])], ["actor 0 sends to itself", "another actor"]),
        ([{**send("a", 0, [1]), "after": "b"}], ["'after' is 'b'", "a list of message names"]),
        ([send("a", 0, [1]), send("a", 1, [0])], ["two sends", "'a'"]),
        (
            [send("ping", 0, [1]), send("pong", 1, [0], ["pin"])],
            ["message in 'after' of 'pong' 'pin'", "did you mean 'ping'?", "available: ping, pong"],
        ),
        (
            [send("a", 0, [1]), send("b", 2, [0], ["a"])],
            ["message 'a' in 'after' of 'b' is not sent to actor 2", "[1]"],
        ),
    ],
)
def test_send_that_cannot_be_is_answered_with_the_reason(
    sends: list[dict[str, Any]], parts: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        reaction(*sends)
    assert [] == [part for part in parts if part not in str(caught.value)]
