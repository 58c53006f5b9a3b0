"""Livelocks: endless runs without causal-sends on their cycle that never deliver a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec
from antecede.checker.model import CausalSend, Message, Packet, Protocol, Step
from antecede.checker.render.text import check_text
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from tests.conftest import Command

ENGINES = pytest.mark.parametrize("engine", ["plain", "local"])


@frozen
class Hand:
    """One actor's state.

    Attributes:
        sent: whether it has causal-sent a message.
        ready: a switch that each ball flips.
        kept: received messages.
    """

    sent: bool = False
    ready: bool = False
    kept: tuple[Message, ...] = ()


def throw(hand: Hand, message: Message) -> Step:
    """Send the message, and with the first message a ball."""
    to = message.destinations[0]
    sends: tuple[tuple[int, Packet], ...] = ((to, message),)
    return Step(evolve(hand, sent=True), sends if hand.sent else (*sends, (to, "ball")))


def catch(on_message: Callable[[Hand, Message], Step]) -> Callable[[Hand, int, Packet], Step]:
    """Return a handler that throws each ball back."""

    def receive(hand: Hand, src: int, packet: Packet) -> Step:
        if packet == "ball":
            return Step(evolve(hand, ready=not hand.ready), ((src, packet),))
        return on_message(hand, packet)

    return receive


def keep(hand: Hand, message: Message) -> Step:
    return Step(evolve(hand, kept=(*hand.kept, message)))


def deliver_two(hand: Hand, message: Message) -> Step:
    """Deliver every second message together with the one before it."""
    if not hand.kept:
        return keep(hand, message)
    return Step(evolve(hand, kept=()), deliveries=(*hand.kept, message))


def deliver_if_ready(hand: Hand) -> Step | None:
    if not (hand.ready and hand.kept):
        return None
    return Step(evolve(hand, kept=()), deliveries=hand.kept)


DROPS = Protocol(
    name="drops",
    summary="a ball goes to and fro, and nothing is delivered",
    source="a test",
    initial=lambda _actor, _actors: Hand(),
    causal_send=throw,
    receive=catch(lambda hand, _message: Step(hand)),
)
TWO = evolve(DROPS, name="two", receive=catch(deliver_two))
SWITCH = evolve(DROPS, name="switch", receive=catch(keep), actions={"deliver": deliver_if_ready})
DELIVERS = evolve(DROPS, name="delivers", receive=catch(lambda h, m: Step(h, deliveries=(m,))))


def ignores_later_messages() -> Protocol:
    """Return a protocol that repeats a message until its answer; receivers answer only once."""

    def receive(hand: Hand, src: int, packet: Packet) -> Step:
        if packet == "answer":
            return Step(evolve(hand, kept=hand.kept[1:]))
        if hand.ready:
            return Step(hand)
        return Step(evolve(hand, ready=True), ((src, "answer"),), (packet,))

    def send(hand: Hand, message: Message) -> Step:
        return Step(evolve(hand, kept=(*hand.kept, message)), ((message.destinations[0], message),))

    def resend(hand: Hand) -> Step | None:
        return Step(hand, tuple((m.destinations[0], m) for m in hand.kept)) if hand.kept else None

    return evolve(DROPS, name="ignores", causal_send=send, receive=receive, timeout=resend)


def report_of(
    protocol: Protocol,
    engine: str = "plain",
    workload: str = "endless:1:[[1],[]]",
    network: str = "unordered",
) -> CheckReport:
    spec = Spec(
        protocol=protocol.name,
        actors=2,
        workload=workload,
        network=network,
        properties=("no-starvation",),
    )
    return check(spec, Options(engine=engine), protocol=protocol)


def ending_of(report: CheckReport) -> str | None:
    """Return what the report says about the message; None if no application may send again."""
    run = report.result.counterexample
    if run is None or run.loop is None or not run.repeats:
        return None
    cycle = run.steps[run.loop.after :]
    assert not any(isinstance(step.transition, CausalSend) for step in cycle)
    return run.loop.ending


@ENGINES
@pytest.mark.parametrize(
    ("protocol", "workload", "ending"),
    [
        (DROPS, "endless:1:[[1],[]]", "stuck"),
        (TWO, "endless:2:[[1],[]]", "waiting"),
        (SWITCH, "endless:1:[[1],[]]", "avoided"),
    ],
    ids=lambda value: value.name if isinstance(value, Protocol) else value,
)
def test_a_livelock_that_never_delivers_a_message_is_a_starvation(
    protocol: Protocol, workload: str, ending: str, engine: str
) -> None:
    report = report_of(protocol, engine, workload)
    assert Verdict.VIOLATED is report.result.verdict
    assert ending == ending_of(report)


@ENGINES
@pytest.mark.parametrize("network", ["unordered", "fifo", "lossy", "lossy:1", "duplicating"])
def test_a_message_that_is_sent_again_for_ever_and_ignored_starves(
    network: str, engine: str
) -> None:
    report = report_of(ignores_later_messages(), engine, network=network)
    assert Verdict.VIOLATED is report.result.verdict


@ENGINES
def test_a_livelock_in_which_a_message_can_always_be_received_is_unfair(engine: str) -> None:
    """The ball goes to and fro forever, but the network owes the message to its receiver."""
    assert Verdict.HOLDS is report_of(DELIVERS, engine).result.verdict


def test_a_message_that_waits_for_the_next_one_while_nothing_else_happens_does_not_starve() -> None:
    """The application sends if nothing else can happen; a ball would be something else."""
    quiet = evolve(TWO, causal_send=lambda hand, m: Step(hand, ((m.destinations[0], m),)))
    report = report_of(quiet, workload="endless:2:[[1],[]]")
    assert Verdict.HOLDS is report.result.verdict


def test_the_report_of_a_livelock_says_what_repeats_and_where_the_message_is() -> None:
    told = " ".join(check_text(report_of(DROPS)).split())
    assert "repeat forever: after them the state is the same as before. Nothing" in told
    assert "m1 is in no packet and in no actor's state." in told
    assert "the application goes on" not in told
    assert "An application may fall silent unless nothing else can happen." in told
    told = " ".join(check_text(report_of(SWITCH)).split())
    assert "It may be delivered if the application sends nothing more, but it need not be." in told


def test_a_saved_livelock_is_run_round_again(antecede: Command, tmp_path: Path) -> None:
    file, trace = tmp_path / "drops.py", tmp_path / "trace.json"
    file.write_text("from tests.liveness.test_livelocks import DROPS\n", encoding="utf-8")
    asked = (f"{file}:DROPS", "--actors", "2", "--workload", "endless:1:[[1],[]]")
    assert 1 == antecede("check", *asked, "--trace", trace).code
    assert "still VIOLATED" in antecede("replay", trace, "--protocol", f"{file}:DROPS").out
