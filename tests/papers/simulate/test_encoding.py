"""The sizes of packets: what `antecede claims` counts, times the declared bytes."""

from __future__ import annotations

import pytest

from antecede.checker.model import Message, Step, Transition
from antecede.checker.papers.claims.measures import measure, size_of
from antecede.checker.papers.simulate.encoding import Contents, contents_of, control_bytes
from antecede.checker.papers.simulate.handlers import handlers_of
from antecede.checker.papers.simulate.run import simulate
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.network import network_named
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.workloads import workload_from
from antecede.protocols import cykas, ks

SCENARIO = Scenario(actors=2, messages=2, interval=0, order="fifo", jitter=3_000_000)


def test_a_packet_is_its_headers_and_control_data_besides_the_payload() -> None:
    scenario = Scenario(header=20, integer=4, flag=1)
    message = Message(0, 1, (1,))
    assert 20 + 3 * 4 + 2 == control_bytes(Contents((message,), 3, 2), scenario)
    assert 20 == control_bytes(contents_of(cykas.Ack()), scenario)
    log = frozenset({ks.Entry(0, 1, frozenset({1, 2})), ks.Entry(1, 5, frozenset())})
    assert Contents((message,), 1 + 4 + 2, 0) == contents_of(ks.Stamped(message, 6, log))


def sizes_in_runs(name: str, *, twins: bool) -> dict[str, tuple[bool, int]]:
    """Return, per class of packet, whether it carries messages, and its greatest control data."""
    handlers, found = handlers_of(name, twins=twins), dict[str, tuple[bool, int]]()

    def note(_transition: Transition, step: Step) -> None:
        for _, packet in step.sends:
            held, kind = handlers.contents(packet), type(packet).__name__
            assert twins or size_of(packet).integers == held.integers + held.flags
            carries, most = found.get(kind, (False, 0))
            found[kind] = carries or bool(held.messages), max(most, held.integers + held.flags)

    for seed in range(8):
        simulate(handlers, SCENARIO, seed, tolerant=True, record=note)
    return found


@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize(
    ("name", "messages"),
    [*((name, 2) for name in ("fifo", "mfss", "cykas", "rst", "ses")), ("hybrid-sps", 1)],
)
def test_sizes_are_those_that_the_checker_measures(name: str, messages: int, twins: bool) -> None:
    """Simulated runs reach the greatest control data of all states, per class of packet."""
    protocol = handlers_of(name, twins=False).protocol
    system = System(
        protocol=protocol,
        actors=2,
        messages=messages,
        network=network_named("unordered", retransmits=protocol.timeout is not None),
        workload=workload_from("any", 2, messages),
        oracle=oracle_named("knowledge", 2, messages),
        properties=(),
    )
    expected = {k: (about.carries, about.integers) for k, about in measure(system).packets.items()}
    actual = sizes_in_runs(name, twins=twins)
    assert actual == {kind: expected[kind] for kind in actual}
    assert any(carries for carries, _ in actual.values())


@pytest.mark.parametrize("name", ["unordered", "ks", "hybrid-basic", "tree", "newtop-null"])
def test_every_packet_is_counted_as_the_measures_count_it(name: str) -> None:
    assert sizes_in_runs(name, twins=False)
