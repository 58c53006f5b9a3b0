"""The ghost bits of hybrid-sps-ghost record flags and permits that SPS does not demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Step
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.protocols import hybrid_sps
from antecede.protocols.hybrid_basic import Msg, Permit
from antecede.protocols.hybrid_sps_ghost import HYBRID_SPS_GHOST


def violated(name: str, workload: str) -> bool:
    """Return whether some run violates an invariant of hybrid-sps-ghost."""
    spec = Spec("hybrid-sps-ghost", 3, 1, workload=workload, properties=(f"invariant:{name}",))
    options = Options(engine="plain")
    report = check(spec, options, Bounds(), protocol=HYBRID_SPS_GHOST, selfcheck="off")
    assert report.result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)
    return report.result.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("name", HYBRID_SPS_GHOST.invariants)
def test_algorithm_2_flags_and_permits_what_sps_demands(name: str) -> None:
    assert not violated(name, "script:[[1,2],[0],[]]")


def changed(change: Callable[[Step], Step]) -> Callable[..., Step]:
    """Return hybrid_sps.receive with a change of its steps."""
    receive = hybrid_sps.receive

    def changed_receive(state: Any, src: int, packet: Any) -> Step:
        return change(receive(state, src, packet))

    return changed_receive


def without_permits(step: Step) -> Step:
    return evolve(step, sends=tuple(one for one in step.sends if not isinstance(one[1], Permit)))


def test_a_permit_that_is_held_back_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid_sps, "receive", changed(without_permits))
    assert violated("permits-at-once", "script:[[1,2],[0],[]]")


def test_the_printed_algorithm_flags_more_than_sps_demands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the repair, line 33 flags every message after the first."""
    monkeypatch.setattr(hybrid_sps, "causal_send", hybrid_sps.causal_send_as_printed)
    assert violated("flags-what-sps-demands", "script:[[1,1],[],[]]")


def test_a_permit_for_each_message_at_once_is_early(monkeypatch: pytest.MonkeyPatch) -> None:
    causal_send = hybrid_sps.causal_send

    def eager(state: Any, message: Any) -> Step:
        step = causal_send(state, message)
        permits = tuple((j, Permit(m.mid)) for j, m in step.sends if isinstance(m, Msg))
        return evolve(step, sends=(*step.sends, *permits))

    monkeypatch.setattr(hybrid_sps, "causal_send", eager)
    assert violated("permits-after-acks", "script:[[1,2],[],[]]")
