"""Programs: workloads with receives that may be selective, and whether they come to their end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.check.spec import Spec, load_spec, system_of
from antecede.checker.model import Message, Protocol, Request
from antecede.checker.render.explanation import explain
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.workload import Workload
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.errors import InputError, ProtocolError
from antecede.checker.support.registry import protocol_named
from tests import naive
from tests.conftest import Command, counterexample, search
from tests.engine.threads.test_local import found, plainly, searched
from tests.models import naive_counts, plan_of
from tests.random_systems import RandomSystem, programs, random_systems

Statement = dict[str, Any]

ENDS = ("finishes", "all-delivered", "integrity", "causal-delivery", "fifo-delivery")
"""`finishes` first: of properties violated at one depth the first is reported."""


def send(name: str, *to: int) -> Statement:
    return {"send": name, "to": list(to)}


def receive(*names: str) -> Statement:
    return {"receive": list(names) or "any"}


def text(*rows: list[Statement]) -> str:
    return "program:" + json.dumps(rows)


# Mattern and Fünfrocken 1995, sections 4.1 and 4.2.
CHAIN = text([send("x", 2), send("y", 1)], [receive(), send("z", 2)], [receive(), receive()])
AGAINST = text(
    [send("x", 2), send("y", 1)], [receive(), send("z", 2)], [receive("z"), receive("x")]
)
RACE = text([send("x", 1)], [receive("x"), receive("y")], [send("y", 1)])


def crowns(*orders: str) -> str:
    """Return the program of Figures 7 and 8, with the order of each process's receives."""
    sends = [
        [send("e", 1), send("d", 2)],
        [send("c", 2), send("b", 0)],
        [send("a", 0), send("f", 1)],
    ]
    return text(*(s + [receive(m) for m in o] for s, o in zip(sends, orders, strict=True)))


OVERLAPPING, NESTED = crowns("ab", "ef", "cd"), crowns("ba", "fe", "dc")


class Process:
    """One process walking through its program."""

    def __init__(self, workload: Workload, actor: int) -> None:
        self.workload, self.actor = workload, actor
        self.position = workload.initial(actor)

    def offers(self) -> tuple[tuple[int, ...], ...]:
        return self.workload.choices(self.actor, self.position)

    def send(self) -> None:
        (to,) = self.offers()
        self.position = self.workload.after_send(self.actor, self.position, to)

    def deliver(self, sender: int, number: int = 1) -> None:
        message = Message(sender, number, (self.actor,))
        self.position = self.workload.after_delivery(self.actor, self.position, message)

    @property
    def ended(self) -> bool:
        return self.workload.ended(self.actor, self.position)


def process(written: str, actor: int) -> Process:
    return Process(workload_from(written, 3, 1), actor)


def test_a_send_waits_for_the_receives_before_it() -> None:
    bob = process(CHAIN, 1)
    assert () == bob.offers()
    bob.deliver(0, 2)
    assert ((2,),) == bob.offers()
    bob.send()
    assert bob.ended


def test_a_send_waits_for_nothing_that_comes_after_it() -> None:
    alice = process(OVERLAPPING, 0)
    assert ((1,),) == alice.offers()
    alice.send()
    assert ((2,),) == alice.offers()
    alice.send()
    assert () == alice.offers()
    assert not alice.ended


def test_messages_delivered_early_wait_in_the_inbox_in_their_order() -> None:
    alice = process(OVERLAPPING, 0)
    alice.deliver(2)  # a
    alice.send()
    alice.deliver(1, 2)  # b
    assert not alice.ended
    alice.send()
    assert alice.ended


def test_a_receive_waits_for_ever_behind_a_message_that_it_does_not_accept() -> None:
    carol = process(AGAINST, 2)
    carol.deliver(0)  # x
    carol.deliver(1)  # z
    assert not carol.ended


def test_sends_before_a_receive_that_waits_for_ever_are_still_made() -> None:
    alice = process(NESTED, 0)
    alice.deliver(2)  # a, where b is wanted
    alice.send()
    alice.send()
    alice.deliver(1, 2)
    assert not alice.ended


def test_a_receive_that_is_not_selective_accepts_anything() -> None:
    carol = process(CHAIN, 2)
    carol.deliver(1)
    carol.deliver(0)
    assert carol.ended


def test_a_receive_may_name_several_messages() -> None:
    written = text([send("x", 1)], [receive("x", "y"), receive("x", "y")], [send("y", 1)])
    for first, second in ((0, 2), (2, 0)):
        bob = process(written, 1)
        bob.deliver(first)
        bob.deliver(second)
        assert bob.ended


def test_messages_that_nobody_receives_are_forgotten() -> None:
    written = text([send("x", 1), send("y", 1)], [receive("x")], [])
    bob = process(written, 1)
    bob.deliver(0, 1)
    ended = bob.position
    bob.deliver(0, 2)
    assert ended == bob.position


def test_requests_say_what_is_asked_for_and_when() -> None:
    workload = workload_from(AGAINST, 3, 1)
    z, x = Request(0, frozenset({(1, 1)})), Request(0, frozenset({(0, 1)}))
    assert ((), (Request(0),), (z, x)) == workload.requests
    later = workload_from(NESTED, 3, 1).requests
    assert later is not None
    assert (2, 2) == tuple(request.after for request in later[0])


def test_a_program_is_no_other_workload() -> None:
    workload = workload_from(CHAIN, 3, 1)
    assert ("program", 2, 1) == (workload.kind, workload.most, workload.fan_out)
    assert workload.reacts
    assert not workload.symmetric
    assert workload.text == workload_from(workload.text, 3, 1).text


@pytest.mark.parametrize("written", ["any", "self", "multicast", "script:[[1],[],[]]"])
def test_other_workloads_end_when_everything_is_sent(written: str) -> None:
    alice = process(written, 0)
    assert not alice.ended
    alice.position = alice.workload.after_send(0, alice.position, alice.offers()[0])
    assert alice.ended
    assert alice.workload.requests is None


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        (text([]), ["one program per actor: 3 actors, 1 program"]),
        ("program:[[1],[],[]]", ["a statement of a program is a table, not 1"]),
        ("program:[1,2,3]", ["workload 'program' needs a JSON list of lists"]),
        ("program", ["workload 'program' needs a JSON list", "for example program:["]),
        (text([{"sent": "x"}], [], []), ["key in a statement of a program 'sent'", "'send'"]),
        (text([{"send": "x"}], [], []), ["neither a send", "nor a receive", "{'send': 'x'}"]),
        (text([{"to": [1], "receive": "x"}], [], []), ["neither a send", "nor a receive"]),
        (text([{**send("x", 1), "receive": "x"}], [], []), ["neither a send", "nor a receive"]),
        (text([send("any", 1)], [], []), ["'send' is 'any'", "a name other than 'any'"]),
        (text([{"send": 1, "to": [1]}], [], []), ["'send' is 1", "name"]),
        (text([send("x", 0)], [], []), ["actor 0 sends to itself"]),
        (text([send("x", 3)], [], []), ["destination 3 of actor 0", "from 0 to 2"]),
        (text([send("x")], [], []), ["'to' is []"]),
        (text([send("x", 1), send("x", 2)], [], []), ["two sends of the programs", "'x'"]),
        (text([], [{"receive": []}], []), ["'receive' is []", "or 'any'"]),
        (text([], [{"receive": 1}], []), ["'receive' is 1"]),
        (
            text([send("ping", 1)], [receive("pin")], []),
            ["of actor 1 'pin'", "did you mean 'ping'"],
        ),
        (
            text([send("x", 2)], [receive("x")], []),
            ["message 'x' in a receive of actor 1 is not sent to actor 1", "[2]"],
        ),
    ],
)
def test_a_program_that_cannot_be_is_answered_with_the_reason(
    written: str, parts: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        workload_from(written, 3, 1)
    assert [] == [part for part in parts if part not in str(caught.value)]
    assert "\n" not in str(caught.value)


# What Mattern and Fünfrocken say of the programs


@pytest.mark.parametrize(
    ("written", "can_finish", "always_finishes"),
    [
        (
            CHAIN,
            {"mfss", "cykas", "rst", "rst-on-request"},
            {"mfss", "cykas", "rst", "rst-on-request"},
        ),
        (AGAINST, set(), set()),
        (OVERLAPPING, {"mfss", "cykas", "rst", "rst-on-request"}, {"rst-on-request"}),
        (NESTED, {"cykas", "rst", "rst-on-request"}, {"rst-on-request"}),
        (RACE, {"mfss", "cykas", "rst", "rst-on-request"}, {"rst-on-request"}),
    ],
    ids=["chain", "against", "overlapping", "nested", "race"],
)
def test_the_programs_of_section_4_come_to_their_end_where_the_paper_says_so(
    written: str, can_finish: set[str], always_finishes: set[str]
) -> None:
    """The buffer protocol cannot execute nested crowns; the matrix protocol, if asked, can."""
    names = ("mfss", "cykas", "rst", "rst-on-request")

    def holding(prop: str) -> set[str]:
        options = Options(engine="local")
        checks = {
            name: search(name, 3, workload=written, properties=(prop,), options=options)
            for name in names
        }
        return {name for name, result in checks.items() if result.verdict is Verdict.HOLDS}

    assert can_finish == holding("can-finish")
    assert always_finishes == holding("finishes")


def test_on_request_a_message_that_cannot_be_asked_for_is_never_delivered() -> None:
    """In AGAINST z is asked for first, and x happened before it."""
    path = counterexample("rst-on-request", 3, workload=AGAINST)
    assert "all-delivered" == path.violates
    assert [] == [d for step in path.steps for d in step.deliveries if d.actor == 2]


def test_on_request_without_a_program_is_rst() -> None:
    for history in HISTORIES:
        expected, actual = (
            search(name, 2, 2, history=history).counts for name in ("rst", "rst-on-request")
        )
        assert expected == actual


def test_the_explanation_says_who_waits_for_what() -> None:
    path = counterexample("mfss", 3, workload=RACE, properties=("finishes",))
    assert 'The run is over, but Bob waits for "x", while "y"' in explain(path).text
    assert "is first in its inbox" in explain(path).text
    path = counterexample("rst-on-request", 3, workload=AGAINST, properties=("finishes",))
    assert 'Carol waits for "z", which does not come' in explain(path).text
    stuck = text([receive("y"), send("x", 1)], [receive("x"), send("y", 0)], [])
    path = counterexample("mfss", 3, workload=stuck, properties=("finishes",))
    assert 0 == path.length
    assert "a message never sent, which does not come" in explain(path).text


def test_can_finish_is_violated_without_a_counterexample(antecede: Command) -> None:
    arguments = ("check", "mfss", "--workload", NESTED, "--property", "can-finish")
    ran = antecede(*arguments)
    assert 1 == ran.code
    assert "no reachable state satisfies it" in ran.out
    assert 0 == antecede(*arguments, "--expect", "violated").code


@pytest.mark.parametrize("option", ["--search=depth", "--forget=never", "--threads=2"])
def test_ends_are_judged_whatever_the_options(option: str, antecede: Command) -> None:
    for prop, written, code in [
        ("can-finish", OVERLAPPING, 0), ("can-finish", NESTED, 1), ("finishes", OVERLAPPING, 1),
        ("finishes", CHAIN, 0),
    ]:  # fmt: skip
        arguments = ("check", "mfss", "--workload", written, "--property", prop, option)
        assert code == antecede(*arguments).code


def test_random_walks_find_an_end_but_exclude_none(antecede: Command) -> None:
    walks = ("--search", "random", "--walks", "100", "--seed", "1", "--property", "can-finish")
    assert 0 == antecede("check", "mfss", "--workload", RACE, *walks).code
    assert 3 == antecede("check", "mfss", "--workload", NESTED, *walks).code


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_traces_of_programs_replay(engine: str, antecede: Command, tmp_path: Path) -> None:
    trace = tmp_path / "run.json"
    ran = antecede(
        "check", "rst-on-request", "--workload", AGAINST, "--property", "finishes",
        "--engine", engine, "--trace", trace,
    )  # fmt: skip
    assert 1 == ran.code
    ran = antecede("replay", trace)
    assert 1 == ran.code
    assert "finishes" in ran.out


def test_a_spec_may_hold_programs(tmp_path: Path, antecede: Command) -> None:
    file = tmp_path / "race.toml"
    file.write_text(
        'protocol = "mfss"\nproperties = ["finishes"]\n[workload]\nkind = "program"\n'
        'programs = [[{ send = "x", to = [1] }], [{ receive = "x" }], []]\n'
    )
    written = text([send("x", 1)], [receive("x")], [])
    assert system_of(Spec("mfss", workload=written)).workload.text == (
        system_of(load_spec(file)).workload.text
    )
    assert 0 == antecede("check", file).code
    file.write_text(file.read_text().replace("programs", "sends"))
    ran = antecede("check", file)
    assert 2 == ran.code
    assert "key of workload 'sends'" in ran.err
    assert "programs" in ran.err


# Every engine agrees


def drawn_system(protocol: Protocol, drawn: str, network: str, history: str) -> System:
    spec = Spec(protocol.name, 3, 1, network, drawn, history=history, properties=ENDS)
    return system_of(spec, protocol)


def naive_can_finish(system: System, protocol: Protocol) -> bool:
    """Search for a state without a successor where no program is left."""
    plan = plan_of(system.workload.text, 3, 1)
    rows = (naive.Actor(protocol.initial(i, 3), row) for i, row in enumerate(plan))
    waiting = [naive.State(tuple(rows), (), frozenset())]
    network = system.network.name
    seen = set()
    while waiting:
        state = waiting.pop()
        key = naive.remembered(state, network, "knowledge", set(), False)
        if key in seen:
            continue
        seen.add(key)
        after = [t for t, _ in naive.successors(state, protocol, network)]
        if not after and not any(a.plan for a in state.actors):
            return True
        waiting += after
    return False


@pytest.mark.smoke
@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(["mfss", "cykas", "rst", "rst-on-request", "fifo", "unordered"]),
    written=programs(3, 4, multicast=False),
    network=st.sampled_from(["unordered", "fifo"]),
    history=st.sampled_from(list(HISTORIES)),
)
def test_every_engine_finds_what_the_naive_checker_finds(
    name: str, written: str, network: str, history: str
) -> None:
    system = drawn_system(protocol_named(name), written, network, history)
    expected = naive_counts(
        system.protocol, 3, 1, workload=written, network=network, history=history, properties=ENDS
    )
    plain, local = plainly(system), searched(system)
    assert expected[:4] == attrs.astuple(plain.counts)
    assert found(plain) == found(local)
    path = plain.counterexample
    assert min(expected.violation.values(), default=None) == (path and path.length)
    assert path is None or path.violates in expected.violation


@pytest.mark.integration
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(drawn=random_systems().filter(lambda drawn: drawn.workload.startswith("program")))
def test_random_tables_come_to_an_end_alike_in_every_engine(drawn: RandomSystem) -> None:
    for history in HISTORIES:
        spec = Spec(
            "random-table", drawn.actors, 1, drawn.network, drawn.workload,
            history=history, properties=ENDS, clock_at=drawn.clock_at,
        )  # fmt: skip
        system = system_of(spec, drawn.protocol)
        expected = found(plainly(system))
        assert expected == found(searched(system))
        assert expected == found(searched(system, forget_from=0, threads=2))


@pytest.mark.integration
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(["mfss", "cykas", "rst", "rst-on-request", "unordered"]),
    written=programs(3, 4, multicast=False),
    network=st.sampled_from(["unordered", "fifo"]),
)
def test_whether_programs_can_finish_is_found_by_every_engine(
    name: str, written: str, network: str
) -> None:
    protocol = protocol_named(name)
    spec = Spec(name, 3, 1, network, written, properties=("can-finish",))
    system = system_of(spec)
    can = Verdict.HOLDS if naive_can_finish(system, system.protocol) else Verdict.VIOLATED
    assert can is plainly(system).verdict
    assert can is searched(system).verdict
    assert can is searched(system, threads=2, forget_from=0).verdict
    depth = Options(engine="local", search="depth")
    assert can is search(protocol, 3, 1, options=depth, network=network, workload=written,
                         search="depth", properties=("can-finish",)).verdict  # fmt: skip


@pytest.mark.integration
def test_the_end_of_a_program_is_the_same_on_spark(antecede: Command) -> None:
    for prop, code in (("can-finish", 1), ("finishes", 1), ("all-delivered", 0)):
        arguments = ("check", "mfss", "--workload", NESTED, "--property", prop)
        assert code == antecede(*arguments).code
        assert code == antecede(*arguments, "--engine", "spark").code


def test_a_protocol_that_cannot_be_told_its_requests_says_so() -> None:
    def fails(_requests: object) -> Protocol:
        raise ValueError("too many")

    protocol = evolve(protocol_named("rst-on-request"), on_request=fails)
    spec = Spec(protocol="rst-on-request", actors=2, workload='program:[[],[{"receive":"any"}]]')
    with pytest.raises(ProtocolError, match="on_request of protocol 'rst-on-request' raised"):
        system_of(spec, protocol)
