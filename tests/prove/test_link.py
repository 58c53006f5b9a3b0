"""The models are linked to the Python; a difference in a guard or an update shows as a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.prove import front
from antecede.checker.prove.front import model_named
from antecede.checker.prove.link import Linked, link
from antecede.checker.support.registry import load, protocol_named
from antecede.cli import main
from antecede.protocols import (
    PROOFS,
    cbcast,
    cykas,
    cykas_fair,
    fifo,
    hybrid_basic,
    hybrid_sps,
    mfss,
    mfss_fifo,
    newtop,
    rst,
    ses,
    tree,
)
from antecede.protocols.unordered import Data

LINKED = tuple(
    name
    for name in PROOFS
    if (model := model_named(name)).link is not None and model.expected == "PROVED"
)
LARGE = {"hybrid-basic", "hybrid-sps", "hybrid-multicast"}


def linked(name: str, actors: int, messages: int, **values: Any) -> Linked:
    """Return the link of a model to its protocol, or to another one in its place."""
    model, protocol = model_named(name), values.pop("protocol", None)
    assert model.link is not None
    declared = load(model.link)
    spec = Spec(
        protocol=name,
        actors=actors,
        messages=messages,
        network=declared.network,
        workload=values.pop("workload", declared.workload),
    )
    return link(model, declared, system_of(spec, protocol), **values)


@pytest.mark.parametrize("name", LINKED)
def test_every_model_that_is_proved_is_linked(name: str) -> None:
    for actors, messages in [(2, 1)] if name in LARGE else [(3, 1), (2, 2)]:
        found = linked(name, actors, messages)
        assert found.difference is None
        assert found.stopped_by is None


def test_as_many_states_are_linked_as_a_check_explores() -> None:
    """The counts of the reference table: MFSS, 3 × 1, knowledge; every transition once."""
    found = linked("mfss", 3, 1)
    assert (216, 648) == (found.states, found.transitions)


LARGER = {
    "mfss": (3, 2, 6_859),
    "mfss-fifo": (3, 2, 13_986),
    "tree": (3, 2, 7_067),
    "rst": (2, 3, 952),
    "ses": (2, 3, 1_505),
    "newtop": (2, 3, 502),
    "hybrid-sps": (2, 2, 2_601),
}
"""Protocol -> actors, messages, and the unique states of `check` there."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGER)
def test_larger_bounds(name: str) -> None:
    actors, messages, states = LARGER[name]
    found = linked(name, actors, messages)
    assert found.difference is None
    assert states == found.states


def test_a_bound_is_no_link() -> None:
    assert linked("mfss", 3, 1, max_states=20).stopped_by == "20 states"


# --- seeded differences: per protocol a changed guard and a changed update


def stale(name: str) -> Protocol:
    """Return a protocol that forgets what a causal-send changed."""
    protocol = protocol_named(name)

    def causal_send(state: Any, message: Message) -> Step:
        return evolve(protocol.causal_send(state, message), state=state)

    return evolve(protocol, causal_send=causal_send)


def forgetful(name: str) -> Protocol:
    """Return a protocol that forgets what a reception changed, if it delivered something."""
    protocol = protocol_named(name)

    def receive(state: Any, src: int, packet: Any) -> Step:
        step = protocol.receive(state, src, packet)
        return evolve(step, state=state) if step.deliveries else step

    return evolve(protocol, receive=receive)


UPDATES: dict[str, Callable[[str], Protocol]] = {
    "fifo": forgetful,
    "mfss": stale,
    "mfss-fifo": stale,
    "cykas": stale,
    "cykas-yct-counted": stale,
    "cykas-yct-named": stale,
    "cykas-fair": stale,
    "rst": forgetful,
    "rst-no-deliv": forgetful,
    "ses": forgetful,
    "cbcast": forgetful,
    "newtop": forgetful,
    "hybrid-basic": forgetful,
    "hybrid-sps": forgetful,
    "hybrid-multicast": forgetful,
}


@pytest.mark.parametrize("name", UPDATES)
def test_a_changed_update_is_found(name: str) -> None:
    found = linked(name, 2, 2, protocol=UPDATES[name](name))
    assert found.difference is not None
    assert found.path is not None


def posts_at_once(state: mfss.Mfss) -> Step:
    """Post without waiting for an acknowledgement."""
    sends = tuple((m.receiver, Data(m)) for m in state.OB)
    return Step(mfss.Mfss((), (*state.unacknowledged, *(to for to, _ in sends))), sends=sends)


def posts_to_anybody(state: mfss_fifo.MfssFifo) -> Step:
    """As before, on FIFO links."""
    sends = tuple((m.receiver, Data(m)) for m in state.OB)
    count = state.unacknowledged + len(sends)
    receiver = sends[-1][0] if sends else state.receiver
    return Step(mfss_fifo.MfssFifo((), count, receiver if count else None), sends=sends)


def without_secret_mode(
    step: Callable[[cykas.Cykas], Step], state: cykas.Cykas, mode: int = 0
) -> Step:
    """Return the step from a state that keeps no secret, with the secrets counted all the same."""
    found = step(evolve(state, MODE=mode))
    return evolve(found, state=evolve(found.state, MODE=found.state.MODE - mode + state.MODE))


CYKAS_WITHOUT_SECRET_MODE = evolve(
    cykas.CYKAS,
    causal_send=lambda state, message: without_secret_mode(
        lambda free: cykas.application_send(free, message), state
    ),
    receive=lambda state, src, packet: without_secret_mode(
        lambda free: cykas.receive(free, src, packet), state, int(isinstance(packet, cykas.Yct))
    ),
)


def waits_for_no_yct(state: cykas_fair.CykasFair, message: Message) -> Step:
    """Causal-send with a copy of AWAIT that is all zeroes."""
    step = cykas_fair.application_send(evolve(state, AWAIT=(0,) * len(state.AWAIT)), message)
    return evolve(step, state=evolve(step.state, AWAIT=state.AWAIT))


ALWAYS: Callable[..., bool] = lambda *_: True  # noqa: E731
NEVER: Callable[..., bool] = lambda *_: False  # noqa: E731


def rst_with(guard: Callable[..., bool]) -> Protocol:
    return evolve(
        rst.RST, receive=lambda state, src, packet: rst.receive(state, src, packet, guard)
    )


def delivers_at_once(state: newtop.Newtop) -> Step:
    """Deliver without having heard from other actors."""
    deliveries = tuple(held.packet.message for held in state.held_back)
    return Step(evolve(state, held_back=()), deliveries=deliveries)


def any_held(state: Any, j: int) -> Any:
    """A held message, whatever its predecessor is."""
    return next(iter(state.rb[j]), None)


def delivers_out_of_order(state: fifo.Fifo, src: int, packet: fifo.Numbered) -> Step:
    delivered = (*state.delivered[:src], state.delivered[src] + 1, *state.delivered[src + 1 :])
    return Step(evolve(state, delivered=delivered), deliveries=(packet.message,))


@pytest.mark.parametrize(
    ("name", "module", "attribute", "replacement"),
    [
        ("mfss", mfss, "_post", posts_at_once),
        ("mfss-fifo", mfss_fifo, "_post", posts_to_anybody),
        ("ses", ses, "deliverable", ALWAYS),
        ("ses", ses, "deliverable", NEVER),
        ("cbcast", cbcast, "deliverable", lambda state, held: held.packet.VT[held.src] < 9),
        ("cbcast", cbcast, "deliverable", NEVER),
        ("newtop", newtop, "deliver_safe", delivers_at_once),
        ("hybrid-basic", hybrid_basic, "next_held", any_held),
        ("hybrid-sps", hybrid_sps, "next_held", any_held),
        ("hybrid-multicast", hybrid_basic, "next_held", any_held),
    ],
)
def test_a_changed_guard_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, module: Any, attribute: str, replacement: Any
) -> None:
    monkeypatch.setattr(module, attribute, replacement)
    found = linked(name, 3 if name in ("mfss-fifo", "newtop") else 2, 2)
    assert found.difference is not None
    assert found.path is not None


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("cykas", CYKAS_WITHOUT_SECRET_MODE),
        ("cykas-fair", evolve(cykas_fair.CYKAS_FAIR, causal_send=waits_for_no_yct)),
        ("rst", rst_with(ALWAYS)),
        ("rst", rst_with(NEVER)),
        ("rst-no-deliv", rst_with(ALWAYS)),
        ("fifo", evolve(fifo.FIFO, receive=delivers_out_of_order)),
        ("tree", tree.routed(tree.star, "tree", "another tree")),
        ("tree", tree.RING),
    ],
)
def test_a_protocol_with_another_guard_is_found(name: str, protocol: Protocol) -> None:
    actors = 3 if name in ("cykas", "cykas-fair", "tree") else 2
    found = linked(name, actors, 2, protocol=protocol)
    assert found.difference is not None


def test_what_the_model_would_do_and_the_python_does_not_is_a_difference() -> None:
    difference = linked("rst", 2, 2, protocol=rst_with(NEVER)).difference
    assert difference is not None
    assert "does not take the action 'deliver', which the model would take" in difference


def test_a_broken_protocol_reaches_a_state_that_breaks_a_conjunct() -> None:
    found = linked("rst-column", 3, 1)
    assert found.difference is not None
    assert "taint-is-carried" in found.difference
    assert found.path is not None
    assert found.path.length == 3


def test_cykas_in_secret_mode_reaches_a_state_that_breaks_its_invariant() -> None:
    found = linked("cykas-secret-mode", 3, 2)
    assert found.difference is not None
    assert "others-keep-still" in found.difference


TOLD = "script:[[2,1,1,2],[],[1]]"
"""Alice tells Bob about m2 while m3 is in flight to him; two actors alone never send eagerly."""


@pytest.mark.parametrize(
    ("name", "states"), [("cykas", 374), ("cykas-yct-counted", 428), ("cykas-yct-named", 528)]
)
def test_repaired_acks_of_ycts_are_linked_where_ycts_are_sent(name: str, states: int) -> None:
    found = linked(name, 3, 2, workload=TOLD)
    assert found.difference is None
    assert states == found.states


@pytest.mark.integration
def test_cykas_without_starvation_is_linked_where_messages_wait_for_ycts() -> None:
    """The messages of Figure 3, where Cykas has 1,208 states."""
    found = linked("cykas-fair", 3, 2, workload="script:[[1,2],[0,2],[0]]")
    assert (None, 1_252) == (found.difference, found.states)


def test_the_same_ack_of_a_yct_clears_the_bit_of_a_message_in_flight() -> None:
    found = linked("cykas-yct-acked", 3, 2, workload=TOLD)
    assert found.difference is not None
    assert "life-of-a-message" in found.difference
    assert found.breaks_conjunct
    assert found.path is not None
    assert found.path.length == 9


@pytest.mark.parametrize(
    ("name", "protocol"),
    [("cykas-yct-counted", "cykas-yct-acked"), ("cykas-yct-named", "cykas-yct-acked")],
)
def test_a_repaired_model_differs_from_the_broken_protocol(name: str, protocol: str) -> None:
    found = linked(name, 3, 2, workload=TOLD, protocol=protocol_named(protocol))
    assert found.difference is not None
    assert not found.breaks_conjunct


def test_the_command_says_linked_with_its_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mfss", "--link", "--actors", "2", "--messages", "2"]) == 0
    shown = capsys.readouterr().out
    assert "LINKED to the Python code within 2 actors × 2 messages" in shown
    assert "HOLDS" not in shown


def test_a_difference_is_shown_as_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "unordered", "--link", "--actors", "2", "--messages", "2"]) == 0
    shown = capsys.readouterr().out
    assert "unordered: FAILED, as expected: the invariant is not inductive" in shown
    broken = "unordered: CONJUNCT BROKEN, as expected: a run breaks the invariant within 2 actors"
    assert broken in shown
    assert "DIFFERENT" not in shown
    assert "sends m2 to Bob" in shown
    assert ", R being m1\n" in shown


def test_a_model_that_differs_is_not_as_expected_even_if_its_proof_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def differs(*_bounds: Any) -> Linked:
        return linked("rst", 2, 2, protocol=rst_with(NEVER))

    monkeypatch.setattr(front, "linked", differs)
    assert main(["prove", "unordered", "--link", "--quiet"]) == 1
    assert "unordered: DIFFERENT: the model and the Python differ" in capsys.readouterr().out


def test_the_report_says_what_r_and_d_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mfss"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "R is an arbitrary message, so what is proved about R is true of every" in shown
    assert shown.index("R is an arbitrary") < shown.index("depends on R is delivered")
    assert main(["prove", "cbcast"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "R is an arbitrary message, and D is an arbitrary destination of R, so" in shown


@pytest.mark.integration
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["mfss", "--link", "--max-states", "20"], 3),
        (["mfss", "--link", "--actors", "1"], 2),
        (["cykas-as-printed", "--link"], 2),
    ],
)
def test_exit_codes(arguments: list[str], code: int) -> None:
    assert main(["prove", "--quiet", *arguments]) == code
