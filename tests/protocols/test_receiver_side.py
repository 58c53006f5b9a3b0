"""The receiver-side protocols, Newtop and `mfss-fifo`: their handlers, and checks of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias

import pytest
from attrs import astuple, evolve, frozen

from antecede.checker.check import pipeline
from antecede.checker.check.engine import explorer_for
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Packet, Protocol, Step
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.network import network_named
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.workload import Workload, counted_sends
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.registry import property_named
from antecede.protocols import cbcast, ks, mfss_fifo, newtop, rst, rst_before, rst_few, ses
from antecede.protocols.cbcast import CBCAST
from antecede.protocols.ks import KS, Entry
from antecede.protocols.mfss import MFSS, Ack
from antecede.protocols.mfss_fifo import MFSS_FIFO, MfssFifo
from antecede.protocols.newtop import NEWTOP, NEWTOP_NULL, Newtop, Null, Timestamped
from antecede.protocols.rst import RST, Mail, Rst, Stamped
from antecede.protocols.rst_before import RST_BEFORE
from antecede.protocols.rst_few import RST_FEW
from antecede.protocols.rst_no_deliv import RST_NO_DELIV
from antecede.protocols.rst_self import RST_SELF
from antecede.protocols.ses import SES
from antecede.protocols.unordered import Data
from tests import naive

Load: TypeAlias = Callable[[int, int], Workload]

ALICE, BOB, CAROL, DAVE = range(4)

CAUSAL, DELIVERED = "causal-delivery", "all-delivered"
SAFETY, LIVENESS = (CAUSAL, "integrity"), (DELIVERED,)
ALL = (*SAFETY, *LIVENESS)
DELIV = "invariant:deliv-is-column-of-sent"

UNICAST = (RST, RST_BEFORE, RST_NO_DELIV, RST_SELF, RST_FEW, SES, KS)
"""Those that hold for point-to-point messages on a network of any order."""

EVERY = (*UNICAST, CBCAST, NEWTOP, NEWTOP_NULL, MFSS_FIFO)


def named(value: object) -> str | None:
    """Return a protocol's name as part of a test's name."""
    return value.name if isinstance(value, Protocol) else None


def chain(actors: int, messages: int) -> Workload:
    """Return the run of the matrix source: Bob's message must not overtake Alice's first."""
    return workload_from(
        'reaction:[{"name":"m1","from":0,"to":[2]},{"name":"m2","from":0,"to":[1]},'
        '{"name":"m3","from":1,"to":[2],"after":["m2"]}]',
        actors,
        messages,
    )


any_one = partial(counted_sends, "any")
broadcast = partial(counted_sends, "broadcast")


def to_anyone(actors: int, messages: int) -> Workload:
    """As `any`, and a message may be addressed to its own sender."""
    return _chosen(actors, messages, lambda _actor: tuple((j,) for j in range(actors)))


def multicast(actors: int, messages: int) -> Workload:
    """Each message goes to any non-empty set of others."""

    def sets(actor: int) -> tuple[tuple[int, ...], ...]:
        others = [j for j in range(actors) if j != actor]
        return tuple(D for n in range(1, actors) for D in itertools.combinations(others, n))

    return _chosen(actors, messages, sets)


def _chosen(
    actors: int, messages: int, choices_of: Callable[[int], tuple[tuple[int, ...], ...]]
) -> Workload:
    def choices(actor: int, position: int) -> tuple[tuple[int, ...], ...]:
        return choices_of(actor) if position < messages else ()

    return evolve(any_one(actors, messages), choices=choices, self_sends=True)


def check(
    protocol: Protocol,
    actors: int,
    messages: int,
    load: Load = any_one,
    network: str = "unordered",
    properties: tuple[str, ...] = ALL,
) -> Result:
    """Explore breadth-first, in plain Python."""
    workload = load(actors, messages)
    most = workload.most
    system = System(
        protocol,
        actors,
        most,
        network_named(network),
        workload,
        oracle_named("knowledge", actors, most, self_sends=workload.self_sends),
        tuple(property_named(name, protocol) for name in properties),
    )
    return explore(system, explorer_for(system, Options(engine="plain")))


def violation(*arguments: Any, **values: Any) -> tuple[str | None, int] | None:
    """Return the property that a check finds violated, and in how many transitions."""
    result = check(*arguments, **values)
    assert result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)
    path = result.counterexample
    return None if path is None else (path.violates, path.length)


class By:
    """Actors of one protocol, fed by hand."""

    def __init__(self, protocol: Protocol, actors: int = 3) -> None:
        self.protocol = protocol
        self.state: list[Any] = [protocol.initial(i, actors) for i in range(actors)]
        self.numbers = [0] * actors
        self.last_sends: tuple[tuple[int, Packet], ...] = ()

    def send(self, actor: int, *destinations: int) -> dict[int, Packet]:
        """Causal-send the next message; return the packet to each destination."""
        self.numbers[actor] += 1
        message = Message(actor, self.numbers[actor], destinations)
        step = self.protocol.causal_send(self.state[actor], message)
        assert () == step.deliveries
        self.state[actor] = step.state
        return dict(step.sends)

    def receive(self, actor: int, src: int, packet: Packet) -> list[str]:
        """Return the messages delivered, as SENDER.NUMBER."""
        step = self.protocol.receive(self.state[actor], src, packet)
        self.state[actor] = step.state
        self.last_sends = step.sends
        return [f"{m.sender}.{m.number}" for m in step.deliveries]

    def sent(self) -> tuple[tuple[int, Packet], ...]:
        """Return what the last receive network-sent."""
        return self.last_sends


# The handlers beside their papers


@pytest.mark.parametrize("protocol", [*UNICAST, CBCAST], ids=named)
def test_receiver_holds_back_a_message_that_overtook(protocol: Protocol) -> None:
    run = By(protocol)
    first, second = run.send(ALICE, BOB)[BOB], run.send(ALICE, BOB)[BOB]
    assert [] == run.receive(BOB, ALICE, second)
    assert protocol.witnesses["waited"](run.state[BOB])
    assert ["0.1", "0.2"] == run.receive(BOB, ALICE, first)
    assert not protocol.witnesses["waited"](run.state[BOB])


@pytest.mark.parametrize("protocol", UNICAST, ids=named)
def test_receiver_holds_back_a_chain_that_overtook(protocol: Protocol) -> None:
    run = By(protocol)
    m1, m2 = run.send(ALICE, CAROL)[CAROL], run.send(ALICE, BOB)[BOB]
    assert ["0.2"] == run.receive(BOB, ALICE, m2)
    m3 = run.send(BOB, CAROL)[CAROL]
    assert [] == run.receive(CAROL, BOB, m3)
    assert ["0.1", "1.1"] == run.receive(CAROL, ALICE, m1)


@pytest.mark.parametrize("protocol", [*UNICAST, CBCAST], ids=named)
@pytest.mark.parametrize("arrivals", [(BOB, CAROL), (CAROL, BOB)])
def test_messages_that_become_deliverable_together_come_by_sender(
    protocol: Protocol, arrivals: tuple[int, int]
) -> None:
    """The order of their arrival is not remembered, so it does not tell states apart."""
    run = By(protocol, actors=4)
    m1 = run.send(ALICE, BOB, CAROL, DAVE)
    for actor in (BOB, CAROL):
        run.receive(actor, ALICE, m1[actor])
    sent = {actor: run.send(actor, DAVE)[DAVE] for actor in (BOB, CAROL)}
    for actor in arrivals:
        assert [] == run.receive(DAVE, actor, sent[actor])
    assert [BOB, CAROL] == [held.src for held in waiting(run.state[DAVE])]
    assert ["0.1", "1.1", "2.1"] == run.receive(DAVE, ALICE, m1[DAVE])


@pytest.mark.parametrize("protocol", [*UNICAST, CBCAST], ids=named)
@pytest.mark.parametrize(("first", "second"), [(BOB, CAROL), (CAROL, BOB)])
def test_of_two_senders_the_one_just_received_from_comes_first(
    protocol: Protocol, first: int, second: int
) -> None:
    """The names of the actors do not matter."""
    run = By(protocol)
    m1, m2 = run.send(first, ALICE, second), run.send(first, ALICE, second)
    run.receive(second, first, m1[second])
    run.receive(ALICE, second, run.send(second, ALICE, first)[ALICE])
    run.receive(ALICE, first, m2[ALICE])
    expected = [f"{first}.1", f"{first}.2", f"{second}.1"]
    assert expected == run.receive(ALICE, first, m1[ALICE])


def waiting(state: Any) -> Any:
    return state.delay_queue if isinstance(state, cbcast.Cbcast) else state.held_back


@pytest.mark.parametrize(("protocol", "counted"), [(RST, 0), (RST_BEFORE, 1)], ids=named)
def test_rst_keeps_the_matrices_of_the_example_run(protocol: Protocol, counted: int) -> None:
    """The figures of the matrix source; `rst-before` differs in what m2 says of itself only."""
    run = By(protocol)
    m1, m2 = run.send(ALICE, CAROL)[CAROL], run.send(ALICE, BOB)[BOB]
    assert ((0, counted, 1), (0, 0, 0), (0, 0, 0)) == m2.SENT
    run.receive(BOB, ALICE, m2)
    assert (1, 0, 0) == run.state[BOB].DELIV
    m3 = run.send(BOB, CAROL)[CAROL]
    run.receive(CAROL, BOB, m3)
    run.receive(CAROL, ALICE, m1)
    assert ((0, 1, 1), (0, 0, 0), (0, 0, 0)) == run.state[ALICE].SENT
    assert ((0, 1, 1), (0, 0, 1), (0, 0, 0)) == run.state[BOB].SENT
    assert run.state[BOB].SENT == run.state[CAROL].SENT
    assert (1, 1, 0) == run.state[CAROL].DELIV


def test_rst_counts_a_message_to_oneself_twice_and_rst_self_once() -> None:
    counted = {}
    for protocol in (RST, RST_SELF):
        run = By(protocol, actors=1)
        assert ["0.1"] == run.receive(ALICE, ALICE, run.send(ALICE, ALICE)[ALICE])
        counted[protocol.name] = run.state[ALICE].SENT
    assert {"rst": ((2,),), "rst-self": ((1,),)} == counted


def test_ses_carries_the_time_of_earlier_sends_and_keeps_its_own() -> None:
    run = By(SES)
    run.send(ALICE, CAROL)
    m2 = run.send(ALICE, BOB)[BOB]
    assert ((2, 0, 0), (None, None, (1, 0, 0))) == (m2.t, m2.V)
    run.receive(BOB, ALICE, m2)
    assert ((2, 0, 0), (None, None, (1, 0, 0))) == (run.state[BOB].T, run.state[BOB].V)
    m3 = run.send(BOB, CAROL)[CAROL]
    assert ((2, 1, 0), (None, None, (1, 0, 0))) == (m3.t, m3.V)
    assert (None, None, (2, 1, 0)) == run.state[BOB].V


def entries(*triples: tuple[int, int, set[int]]) -> frozenset[Entry]:
    return frozenset(Entry(sender, clock, frozenset(Dests)) for sender, clock, Dests in triples)


def test_ks_forgets_destinations_once_a_later_message_is_sent_there() -> None:
    run = By(KS)
    m1, m2 = run.send(ALICE, CAROL)[CAROL], run.send(ALICE, BOB)[BOB]
    assert entries() == m1.O
    assert entries((ALICE, 1, {CAROL})) == m2.O
    assert entries((ALICE, 1, {CAROL}), (ALICE, 2, {BOB})) == run.state[ALICE].LOG
    run.receive(BOB, ALICE, m2)
    assert entries((ALICE, 1, {CAROL}), (ALICE, 2, set())) == run.state[BOB].LOG
    m3 = run.send(BOB, CAROL)[CAROL]
    assert entries((ALICE, 1, {CAROL}), (ALICE, 2, set())) == m3.O
    assert entries((ALICE, 2, set()), (BOB, 1, {CAROL})) == run.state[BOB].LOG


def test_ks_copy_for_a_destination_keeps_it_and_drops_the_other_destinations() -> None:
    run = By(KS, actors=4)
    run.send(ALICE, BOB, CAROL, DAVE)
    copies = run.send(ALICE, BOB, CAROL)
    assert entries((ALICE, 1, {BOB, DAVE})) == copies[BOB].O
    assert entries((ALICE, 1, {CAROL, DAVE})) == copies[CAROL].O
    assert entries((ALICE, 1, {DAVE}), (ALICE, 2, {BOB, CAROL})) == run.state[ALICE].LOG


def test_ks_merges_what_both_know_and_forgets_what_the_better_informed_forgot() -> None:
    log = entries((ALICE, 1, {CAROL}), (ALICE, 2, {BOB, CAROL}), (BOB, 4, {DAVE}))
    news = entries((ALICE, 2, {CAROL, DAVE}), (ALICE, 3, set()), (BOB, 3, {ALICE}))
    expected = entries((ALICE, 2, {CAROL}), (ALICE, 3, set()), (BOB, 4, {DAVE}))
    assert expected == ks.merge(log, news)
    assert expected == ks.merge(news, log)


def test_ks_purges_an_entry_without_destinations_only_if_a_newer_one_remains() -> None:
    log = entries((ALICE, 1, set()), (ALICE, 2, {BOB}), (ALICE, 3, set()), (BOB, 1, set()))
    assert entries((ALICE, 2, {BOB}), (ALICE, 3, set()), (BOB, 1, set())) == ks.purge(log)


def test_cbcast_waits_for_what_was_never_sent_here() -> None:
    """Footnote 1 of the matrix source."""
    run = By(CBCAST)
    run.receive(BOB, ALICE, run.send(ALICE, BOB)[BOB])
    assert [] == run.receive(CAROL, BOB, run.send(BOB, CAROL)[CAROL])


def test_newtop_delivers_up_to_the_least_clock_received_in_clock_order() -> None:
    run = By(NEWTOP, actors=4)
    carol = run.send(CAROL, ALICE)[ALICE]
    bob, bob_again = run.send(BOB, ALICE)[ALICE], run.send(BOB, ALICE)[ALICE]
    assert [] == run.receive(ALICE, CAROL, carol)
    assert [] == run.receive(ALICE, BOB, bob)
    assert [] == run.receive(ALICE, BOB, bob_again)
    expected = ["1.1", "2.1", "3.1"]  # not yet Bob's second, for Carol and Dave may send one before
    assert expected == run.receive(ALICE, DAVE, run.send(DAVE, ALICE)[ALICE])
    assert 2 == run.state[ALICE].clock
    assert (0, 2, 1, 1) == run.state[ALICE].last_received


def test_newtop_null_tells_those_who_are_no_destination() -> None:
    run = By(NEWTOP_NULL)
    message = Message(ALICE, 1, (BOB,))
    assert {BOB: Timestamped(message, 1), CAROL: Null(1)} == run.send(ALICE, BOB)


def test_newtop_null_tells_a_greater_clock_to_everybody_else_once() -> None:
    run = By(NEWTOP_NULL)
    run.receive(BOB, ALICE, run.send(ALICE, BOB)[BOB])
    assert ((ALICE, Null(1)), (CAROL, Null(1))) == run.sent()
    run.receive(BOB, CAROL, Null(1))
    assert () == run.sent()


def test_mfss_fifo_waits_only_between_different_receivers() -> None:
    run = By(MFSS_FIFO)
    assert {BOB: Data(Message(ALICE, 1, (BOB,)))} == run.send(ALICE, BOB)
    assert {BOB: Data(Message(ALICE, 2, (BOB,)))} == run.send(ALICE, BOB)
    assert MFSS_FIFO.witnesses["pipelined"](run.state[ALICE])
    assert {} == run.send(ALICE, CAROL)
    run.receive(ALICE, CAROL, Ack())  # of a network that duplicates: Alice waits for Bob's
    run.receive(ALICE, BOB, Ack())
    assert () == run.sent()
    run.receive(ALICE, BOB, Ack())
    assert ((CAROL, Data(Message(ALICE, 3, (CAROL,)))),) == run.sent()


# Checks


@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize("protocol", UNICAST, ids=named)
def test_unicast_protocols_hold_on_any_order(protocol: Protocol, network: str) -> None:
    for actors, messages in ((2, 2), (2, 3), (3, 1)):
        assert violation(protocol, actors, messages, network=network) is None
    assert violation(protocol, 3, 2, chain, network=network) is None


@pytest.mark.parametrize("load", [broadcast, multicast])
@pytest.mark.parametrize("protocol", UNICAST, ids=named)
def test_unicast_protocols_hold_for_several_destinations(protocol: Protocol, load: Load) -> None:
    assert violation(protocol, 3, 1, load) is None


@pytest.mark.parametrize("network", ["unordered", "fifo"])
def test_increment_before_sending_and_no_deliv_change_no_count(network: str) -> None:
    """Equal runs and equally many states: the matrix source's hunch and question."""
    counts = [
        check(protocol, 2, 3, network=network).counts
        for protocol in (RST, RST_BEFORE, RST_NO_DELIV)
    ]
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.parametrize("protocol", [RST, RST_BEFORE], ids=named)
def test_deliv_is_column_of_sent_if_nobody_sends_to_itself(protocol: Protocol) -> None:
    for actors, messages, load in ((2, 3, any_one), (3, 1, broadcast)):
        assert violation(protocol, actors, messages, load, properties=(*ALL, DELIV)) is None


def test_deliv_is_not_column_of_sent_once_somebody_sends_to_itself() -> None:
    assert (DELIV, 1) == violation(RST_SELF, 2, 1, to_anyone, properties=(DELIV,))


@pytest.mark.parametrize("network", ["unordered", "fifo"])
def test_rst_violates_all_delivered_with_self_sends(network: str) -> None:
    """Whoever delivered a message of its own waits for another one from then on."""
    assert violation(RST, 2, 2, to_anyone, network, SAFETY) is None
    assert (DELIVERED, 8) == violation(RST, 2, 2, to_anyone, network, LIVENESS)


@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize("protocol", [RST_SELF, RST_BEFORE, KS], ids=named)
def test_self_sends_are_no_problem(protocol: Protocol, network: str) -> None:
    assert violation(protocol, 2, 2, to_anyone, network) is None


@pytest.mark.parametrize(("network", "length"), [("unordered", 4), ("fifo", 6)])
@pytest.mark.parametrize("protocol", [RST_NO_DELIV, SES], ids=named)
def test_who_counts_its_own_sends_as_delivered_is_overtaken_by_them(
    protocol: Protocol, network: str, length: int
) -> None:
    """On `fifo` by a chain through the other actor. So with self sends DELIV is not redundant."""
    assert (CAUSAL, length) == violation(protocol, 2, 2, to_anyone, network)


def test_rst_needs_no_step_2_as_long_as_it_keeps_deliv(monkeypatch: pytest.MonkeyPatch) -> None:
    """What i tells others of messages to i was delivered at i, whether i counts it or not."""
    monkeypatch.setattr(rst, "count_received", lambda state, _j: state)
    assert violation(RST, 2, 3) is None
    assert violation(RST, 3, 1, multicast) is None
    assert violation(RST, 2, 2, to_anyone) is None


def test_cbcast_holds_for_broadcast_and_is_not_live_for_unicast() -> None:
    assert violation(CBCAST, 3, 1, broadcast) is None
    assert violation(CBCAST, 3, 1, properties=SAFETY) is None
    assert (DELIVERED, 6) == violation(CBCAST, 3, 1, properties=LIVENESS)


@pytest.mark.parametrize(("load", "length"), [(any_one, 6), (broadcast, 9)])
def test_newtop_is_safe_on_fifo_and_not_live(load: Load, length: int) -> None:
    assert violation(NEWTOP, 3, 1, load, "fifo", SAFETY) is None
    assert (DELIVERED, length) == violation(NEWTOP, 3, 1, load, "fifo", LIVENESS)


@pytest.mark.integration
def test_newtop_null_holds_on_fifo_and_comes_to_rest() -> None:
    for actors, messages, load in ((2, 3, any_one), (3, 2, chain), (3, 1, broadcast)):
        assert violation(NEWTOP_NULL, actors, messages, load, "fifo") is None


def test_mfss_fifo_holds_on_fifo_and_allows_more_than_mfss() -> None:
    assert violation(MFSS_FIFO, 3, 1, network="fifo") is None
    assert violation(MFSS_FIFO, 2, 3, network="fifo") is None
    more = check(MFSS_FIFO, 2, 2, network="fifo").counts.unique_states
    assert more > check(MFSS, 2, 2, network="fifo").counts.unique_states


@pytest.mark.parametrize("protocol", [NEWTOP, NEWTOP_NULL, MFSS_FIFO], ids=named)
def test_who_relies_on_fifo_is_overtaken_on_unordered(protocol: Protocol) -> None:
    assert (CAUSAL, 4) == violation(protocol, 2, 2)


@pytest.mark.parametrize(
    ("protocol", "witness", "actors", "load", "network"),
    [
        *((protocol, "waited", 2, any_one, "unordered") for protocol in (*UNICAST, CBCAST)),
        *((protocol, "waited", 3, chain, "fifo") for protocol in (*UNICAST, NEWTOP, NEWTOP_NULL)),
        (CBCAST, "waited", 3, broadcast, "fifo"),
        (MFSS_FIFO, "waited", 3, chain, "fifo"),
        (MFSS_FIFO, "pipelined", 2, any_one, "fifo"),
    ],
    ids=named,
)
def test_witnesses_are_reachable(
    protocol: Protocol, witness: str, actors: int, load: Load, network: str
) -> None:
    found = check(protocol, actors, 2, load, network, (f"witness:{witness}",))
    assert Verdict.HOLDS == found.verdict


# Checks that are seen failing, and a second opinion


def counted_again(state: Rst, held: Mail) -> Rst:
    """Replace `rst_before.after_delivery`: step 2 after step 3."""
    state = rst.merge_past(rst.count_delivered(state, held.src), held.packet)
    return rst.count_received(state, held.src)


def crosswise(actors: int, messages: int) -> Workload:
    """Alice and Bob send to each other; Carol hears nothing."""
    return workload_from("script:[[1],[0],[]]", actors, messages)


def nothing_told(state: Newtop, besides: tuple[int, ...] = ()) -> tuple[tuple[int, Null], ...]:
    """Replace `newtop.nulls`: those who are no destination hear nothing."""
    return () if besides else tuple((j, Null(state.clock)) for j in range(3) if j != state.me)


def post_everything(state: MfssFifo) -> Step:
    """Replace `mfss_fifo._post`: wait for no acknowledgement."""
    return Step(MfssFifo(), sends=tuple((m.receiver, Data(m)) for m in state.OB))


@frozen
class Bug:
    """A part of a module replaced, and the property that a check then finds violated."""

    protocol: Protocol
    module: ModuleType
    part: str
    replacement: Callable[..., Any]
    violates: str = CAUSAL
    actors: int = 3
    load: Load = chain


BUGS = {
    "rst-forgets-what-it-is-told": Bug(RST, rst, "merge_past", lambda state, _packet: state),
    "rst-does-not-wait": Bug(RST, rst, "at_least", lambda _left, _right: True),
    "rst-before-counts-what-it-was-told-already": Bug(
        RST_BEFORE, rst_before, "after_delivery", counted_again, DELIVERED, 2, any_one
    ),
    "rst-before-never-counts": Bug(
        RST_BEFORE, rst_before, "count_sends", lambda state, _destinations: state, DELIVERED
    ),
    "rst-before-looks-at-the-sender-only": Bug(
        RST_BEFORE, rst_before, "at_least", lambda _left, _right: True
    ),
    "rst-no-deliv-drops-step-2": Bug(
        RST_NO_DELIV, rst, "count_received", lambda state, _j: state, DELIVERED, 2, any_one
    ),
    "ses-does-not-wait": Bug(SES, ses, "deliverable", lambda _state, _packet: True),
    "ses-forgets-what-it-is-told": Bug(SES, ses, "latest", lambda mine, _its: mine),
    "ks-does-not-wait": Bug(KS, ks, "deliverable", lambda _state, _packet: True),
    "ks-forgets-what-it-is-told": Bug(KS, ks, "merge", lambda log, _news: log),
    "ks-keeps-the-newest-entries-only": Bug(
        KS, ks, "purge", lambda log: frozenset(e for e in log if not ks.has_newer(e, log))
    ),
    "ks-merges-what-both-know-only": Bug(KS, ks, "still_known", lambda log, other: log & other),
    "cbcast-does-not-wait": Bug(
        CBCAST, cbcast, "deliverable", lambda _state, _held: True, load=broadcast
    ),
    "newtop-null-does-not-wait": Bug(NEWTOP_NULL, newtop, "min", max),
    "newtop-null-tells-nobody": Bug(
        NEWTOP_NULL, newtop, "nulls", lambda _state, besides=(): besides[:0], DELIVERED
    ),
    "newtop-null-tells-no-third-party": Bug(
        NEWTOP_NULL, newtop, "nulls", nothing_told, DELIVERED, load=crosswise
    ),
    "mfss-fifo-waits-for-nobody": Bug(MFSS_FIFO, mfss_fifo, "_post", post_everything),
}


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_a_check_finds_the_bug(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (bug.protocol, bug.actors, 2 if bug.load is any_one else 1, bug.load, "fifo")
    assert violation(*arguments) is None
    monkeypatch.setattr(bug.module, bug.part, bug.replacement, raising=False)
    found = violation(*arguments)
    assert found is not None
    assert bug.violates == found[0]


def test_rst_copies_that_do_not_count_each_other_are_overtaken() -> None:
    """The unicast rule to the letter, used for a message with several destinations."""

    def causal_send(state: Rst, message: Message) -> Step:
        packet = Stamped(message, state.SENT)
        after = rst.count_sends(state, message.destinations)
        return Step(after, sends=tuple((j, packet) for j in message.destinations))

    naively = evolve(RST, causal_send=causal_send)
    assert (CAUSAL, 5) == violation(naively, 3, 1, multicast)


@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize("protocol", EVERY, ids=named)
def test_the_reference_checker_agrees(protocol: Protocol, network: str) -> None:
    """Counts and verdicts, on `any` with 2 actors × 2 messages."""
    plan = tuple((((((other,), None),), frozenset[Any]()),) * 2 for other in (BOB, ALICE))
    expected = naive.explore(protocol, plan, network, "knowledge", ALL)
    result = check(protocol, 2, 2, network=network)
    assert expected[:4] == astuple(result.counts)
    path = result.counterexample
    assert expected.violation == ({} if path is None else {path.violates: path.length})


# The entries of the matrix that a packet needs

KINDS: dict[str, Callable[[int, int, int, int], bool]] = {
    "from the sender to the receiver": lambda i, j, row, column: row == i and column == j,
    "from the sender to others": lambda i, j, row, column: row == i and column != j,
    "from others to the receiver": lambda i, j, row, column: row != i and column == j,
    "from others to others": lambda i, j, row, column: row != i and column != j,
}


def without(kind: str) -> Callable[[int, int, int], tuple[tuple[int, int], ...]]:
    """Return `places` of rst-few without the entries of one kind."""
    places, left_out = rst_few.places, KINDS[kind]
    return lambda n, i, j: tuple(at for at in places(n, i, j) if not left_out(i, j, *at))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_entry_is_needed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = ("[[1],[3],[3,0],[]]", "[[2,1],[2],[]]", "[[1,1],[]]")
    checks = [
        Spec("rst-few", len(json.loads(script)), workload=f"script:{script}", properties=ALL)
        for script in scripts
    ]

    def verdicts() -> list[Verdict]:
        options = Options(engine="plain")
        return [pipeline.check(one, options, selfcheck="off").result.verdict for one in checks]

    assert {Verdict.HOLDS} == set(verdicts())
    monkeypatch.setattr(rst_few, "places", without(kind))
    assert Verdict.VIOLATED in verdicts()


@pytest.mark.parametrize(("actors", "integers"), [(2, 1), (3, 3), (4, 7), (5, 13)])
def test_a_packet_has_n_squared_minus_3_n_plus_3_integers(actors: int, integers: int) -> None:
    assert integers == actors**2 - 3 * actors + 3 == len(rst_few.places(actors, 0, 1))
