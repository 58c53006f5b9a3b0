"""Keys and copies of objects that leave out a part of the state give no wrong answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from antecede import Message
from antecede.checker.adapters import objects
from antecede.checker.adapters.objects import protocol
from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec
from antecede.checker.paths import confirm as confirming
from antecede.checker.render.text import check_text
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.support.interrupts import Ended
from antecede.testing.adapter import Out
from tests.conftest import Command


class Counts:
    """It delivers the first packet only; `n` decides."""

    def __init__(self, actor: int, actors: int) -> None:
        self.n = 0

    def causal_send(self, out: Out, message: Message) -> None:
        for to in message.destinations:
            out.send(to, {"message": message})

    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.n += 1
        if self.n < 2:
            out.deliver(packet["message"])


def checked(
    kind: type,
    key: Any,
    copies: str = "pickle",
    properties: tuple[str, ...] = ("all-delivered",),
    **options: Any,
) -> CheckReport:
    spec = Spec("x", actors=3, messages=1, properties=properties)
    return check(spec, Options(**options), protocol=protocol(kind, key=key, copies=copies))


ENGINES = ({"engine": "plain"}, {"engine": "local"}, {"engine": "plain", "search": "depth"})


@pytest.mark.parametrize("copies", ["pickle", "deepcopy", "replay"])
@pytest.mark.parametrize("options", ENGINES)
def test_a_key_that_forgets_what_decides_is_refused(copies: str, options: dict[str, Any]) -> None:
    found = checked(Counts, lambda node: 0, copies, **options).result
    assert Verdict.ERROR is found.verdict
    assert "key() of Counts has the same value for two objects that behave differently" in str(
        found.error
    )
    assert "n is 0 and 1" in str(found.error)


@pytest.mark.integration
@pytest.mark.parametrize("copies", ["pickle", "deepcopy", "replay"])
def test_a_complete_key_finds_what_is_found_without_it(copies: str) -> None:
    found = checked(Counts, lambda node: node.n, copies, engine="plain").result
    without = checked(Counts, None, engine="plain").result
    assert Verdict.VIOLATED is found.verdict is without.verdict
    assert found.counterexample is not None
    assert without.counterexample is not None
    assert without.counterexample.length == found.counterexample.length


class Caches(Counts):
    """It delivers everything, and remembers what no call depends on."""

    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.n += 1
        out.deliver(packet["message"])


def test_a_key_may_forget_what_decides_nothing_and_the_verdict_names_its_condition() -> None:
    report = checked(Caches, lambda node: 0)
    assert Verdict.HOLDS is report.result.verdict
    assert ("objects of Caches with equal keys behave alike",) == report.result.conditions
    assert () == checked(Caches, None).result.conditions


class Loses(Counts):
    """It delivers nothing."""

    def receive(self, out: Out, src: int, packet: Any) -> None:
        pass


@pytest.mark.parametrize("prop", ["all-delivered", "can-deliver"])
def test_a_violation_is_kept_with_its_condition_if_the_time_ends_while_it_is_compared(
    prop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_given: Any) -> None:
        raise Ended("--max-seconds 40 reached")

    whole = checked(Loses, lambda node: 0, properties=(prop,), engine="plain").result
    monkeypatch.setattr(confirming, "first_difference", ended)
    found = checked(Loses, lambda node: 0, properties=(prop,), engine="plain").result
    assert Verdict.VIOLATED is found.verdict is whole.verdict
    assert found.counterexample is not None
    assert whole.counterexample is not None
    assert whole.counterexample.length == found.counterexample.length
    assert whole.counts == found.counts
    assert ("objects of Loses with equal keys behave alike",) == found.conditions


class Patient(Counts):
    """It delivers after three timeouts; the key forgets how many there were."""

    def __init__(self, actor: int, actors: int) -> None:
        self.n, self.held = 0, list[Any]()

    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.held.append(packet["message"])

    def timeout(self, out: Out) -> None:
        self.n = min(self.n + 1, 3)
        if self.n == 3 and self.held:
            out.deliver(self.held.pop(0))


class VeryPatient(Patient):
    """It delivers from its twentieth timeout on."""

    def timeout(self, out: Out) -> None:
        self.n += 1
        if self.n >= 20 and self.held:
            out.deliver(self.held.pop(0))


def at_an_end(kind: type, prop: str, copies: str = "pickle", **options: Any) -> CheckReport:
    spec = Spec("x", actors=2, messages=1, properties=(prop,))
    return check(spec, Options(**options), protocol=protocol(kind, key=lambda _: 0, copies=copies))


@pytest.mark.parametrize("copies", ["pickle", "deepcopy", "replay"])
@pytest.mark.parametrize("options", ENGINES)
@pytest.mark.parametrize("prop", ["all-delivered", "can-deliver"])
def test_a_run_that_goes_on_with_real_objects_is_refused(
    copies: str, options: dict[str, Any], prop: str
) -> None:
    """No comparison of the search makes twenty calls, so a message seems to be lost."""
    found = at_an_end(VeryPatient, prop, copies, **options).result
    assert Verdict.ERROR is found.verdict
    assert f"violate {prop}, but it goes on with objects that are not merged" in str(found.error)


class NeverDelivers(VeryPatient):
    """It counts its timeouts and delivers nothing."""

    def timeout(self, out: Out) -> None:
        self.n += 1


@pytest.mark.parametrize("prop", ["all-delivered", "can-deliver"])
def test_a_violation_at_an_end_that_real_objects_confirm_is_reported(prop: str) -> None:
    assert Verdict.VIOLATED is at_an_end(NeverDelivers, prop).result.verdict


@pytest.mark.parametrize("copies", ["pickle", "deepcopy", "replay"])
def test_a_call_that_seems_to_change_nothing_is_made_several_times(copies: str) -> None:
    """Otherwise the run would seem to be over, although further timeouts deliver the message."""
    found = checked(Patient, lambda node: tuple(node.held), copies).result
    assert Verdict.ERROR is found.verdict
    assert "timeout makes them send or deliver different things" in str(found.error)


class Equal(Counts):
    """Its objects are all equal."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


def test_objects_that_are_equal_are_compared_all_the_same() -> None:
    found = checked(Equal, lambda node: 0, "deepcopy").result
    assert Verdict.ERROR is found.verdict
    assert "n is 0 and 1" in str(found.error)


class LosesInState(Counts):
    """Its pickles forget `n`."""

    def __getstate__(self) -> Any:
        return {"other": 1}

    def __setstate__(self, state: Any) -> None:
        self.n = 0


class LosesInReduce(Counts):
    """The same with `__reduce__`."""

    def __reduce__(self) -> Any:
        return LosesInReduce, (0, 0)


class LosesInCopy(Counts):
    """The same with `__deepcopy__`."""

    def __deepcopy__(self, memo: Any) -> Any:
        return LosesInCopy(0, 0)


LOSING = (
    (LosesInState, "LosesInState.__getstate__, LosesInState.__setstate__"),
    (LosesInReduce, "LosesInReduce.__reduce__"),
)


@pytest.mark.parametrize(("kind", "makers"), LOSING)
@pytest.mark.parametrize("options", ENGINES)
def test_a_pickle_that_forgets_what_decides_is_refused(
    kind: type, makers: str, options: dict[str, Any]
) -> None:
    """All messages seem to be delivered, because every copy takes its packet for the first one."""
    found = checked(kind, None, **options).result
    assert Verdict.ERROR is found.verdict
    assert f"an object of {kind.__name__} and its copy behave differently" in str(found.error)
    assert "n is 1 and 0. The copy is made by " + makers in str(found.error)


def test_a_deep_copy_that_forgets_what_decides_is_refused() -> None:
    found = checked(LosesInCopy, lambda node: node.n, "deepcopy").result
    assert Verdict.ERROR is found.verdict
    assert "The copy is made by LosesInCopy.__deepcopy__" in str(found.error)


class DropsDuplicates(Counts):
    """It delivers each message once; its pickles forget which ones it had."""

    def __init__(self, actor: int, actors: int) -> None:
        self.had = list[Any]()

    def receive(self, out: Out, src: int, packet: Any) -> None:
        if packet["message"] not in self.had:
            self.had.append(packet["message"])
            out.deliver(packet["message"])

    def __reduce__(self) -> Any:
        return DropsDuplicates, (0, 0)


def duplicated() -> CheckReport:
    spec = Spec("x", actors=2, messages=1, network="duplicating", properties=("integrity",))
    return check(spec, Options(engine="plain"), protocol=protocol(DropsDuplicates))


def test_a_run_of_copies_that_the_originals_cannot_do_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The comparisons are a sample; the replay of a counterexample is not."""
    assert Verdict.ERROR is duplicated().result.verdict
    monkeypatch.setattr(objects._Keeper, "_original_after", lambda *_given: None)
    assert "of a run that the search found" in str(duplicated().result.error)
    monkeypatch.setattr(confirming, "refuse_merged", lambda *_given: None)
    assert Verdict.VIOLATED is duplicated().result.verdict  # this is the wrong answer


class DropsCache(Caches):
    """Its pickles forget what decides nothing."""

    def __getstate__(self) -> Any:
        return {"n": 0}


def test_a_pickle_may_forget_what_decides_nothing_and_the_verdict_names_its_condition() -> None:
    report = checked(DropsCache, None)
    assert Verdict.HOLDS is report.result.verdict
    makers = "DropsCache.__getstate__"
    assert (f"copies that {makers} makes behave like the originals",) == report.result.conditions


RESENDS = """
class Node:
    '''Each packet is kept, and sent once more at a timeout. The key forgets which packets.'''
    def __init__(self, actor, actors):
        self.me, self.clock, self.waiting, self.sent = actor, [0] * actors, [], []
    def causal_send(self, out, message):
        self.clock[self.me] += 1
        packet = {"clock": list(self.clock), "message": message}
        for to in message.destinations:
            out.send(to, packet)
            self.sent.append((to, packet))
    def receive(self, out, src, packet):
        self.waiting.append((src, packet))
        while ready := [(s, p) for s, p in self.waiting if self.may(s, p["clock"])]:
            s, p = ready[0]
            self.waiting.remove((s, p))
            self.clock[s] += 1
            out.deliver(p["message"])
        self.waiting = [(s, p) for s, p in self.waiting if p["clock"][s] > self.clock[s]]
    def may(self, s, c):
        others = all(v <= self.clock[i] for i, v in enumerate(c) if i != s)
        return c[s] == self.clock[s] + 1 and others
    def timeout(self, out):
        for to, packet in self.sent:
            out.send(to, packet)
        self.sent = []
    def key(self):
        waiting = tuple((s, tuple(p["clock"])) for s, p in self.waiting)
        return tuple(self.clock), len(self.sent), waiting
"""

BOUNDS = ("--workload", "broadcast", "--messages", "1", "--max-states", "300", "--walks", "3000")


def test_no_run_is_reported_that_the_code_cannot_do(tmp_path: Path, antecede: Command) -> None:
    (tmp_path / "node.py").write_text(RESENDS)
    ran = antecede("test", "node.py:Node", *BOUNDS, "--quiet", cwd=tmp_path)
    assert 2 == ran.code
    assert "key() of Node has the same value for two objects" in ran.out
    assert re.search(r"sent\S* is", ran.out)


@pytest.mark.integration
def test_a_run_of_joined_parts_is_refused_even_if_no_comparison_saw_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The comparisons are a sample; the replay of a counterexample is not."""
    monkeypatch.setattr(objects._Keeper, "_compare", lambda *_arguments: None)
    found = _resending()
    assert Verdict.ERROR is found.result.verdict
    assert "of a run that the search found" in str(found.result.error)

    monkeypatch.setattr(confirming, "refuse_merged", lambda *_given: None)
    assert Verdict.VIOLATED is _resending().result.verdict  # this is the wrong answer


def _resending() -> CheckReport:
    names: dict[str, Any] = {}
    exec(RESENDS, names)
    asked = Spec("x", actors=3, messages=1, workload="broadcast", search="random")
    return check(asked, Options(walks=3000), protocol=protocol(names["Node"], copies="deepcopy"))


class Repeated:
    """It has no key, and all its calls are repeated."""

    copies = "replay"

    def __init__(self, actor: int, actors: int) -> None:
        self.n = 0

    def causal_send(self, out: Out, message: Message) -> None:
        out.send(message.receiver, message)

    def receive(self, out: Out, src: int, packet: Any) -> None:
        if not self.n:
            out.deliver(packet)
        self.n += 1


class Idle(Repeated):
    """Its timeout does nothing."""

    def receive(self, out: Out, src: int, packet: Any) -> None:
        out.deliver(packet)

    def timeout(self, out: Out) -> None:
        pass


class Forgetful(Idle):
    """It delivers nothing."""

    def receive(self, out: Out, src: int, packet: Any) -> None:
        pass


class Deaf(Idle):
    """It delivers nothing from its third timeout on."""

    deaf_from = 3

    def receive(self, out: Out, src: int, packet: Any) -> None:
        if self.n < self.deaf_from:
            out.deliver(packet)

    def timeout(self, out: Out) -> None:
        self.n += 1


class DeafAtOdd(Deaf):
    """It delivers nothing after an odd number of timeouts."""

    def receive(self, out: Out, src: int, packet: Any) -> None:
        if self.n % 2 == 0:
            out.deliver(packet)


class DeafLater(Deaf):
    """After a timeout, the second message that it is given is lost."""

    def __init__(self, actor: int, actors: int) -> None:
        super().__init__(actor, actors)
        self.given = 0

    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.given += 1
        if self.given < 2 or not self.n:
            out.deliver(packet)


class Rings(Idle):
    """It sends again at every twelfth timeout."""

    def __init__(self, actor: int, actors: int) -> None:
        super().__init__(actor, actors)
        self.sent = list[Message]()

    def causal_send(self, out: Out, message: Message) -> None:
        self.sent.append(message)

    def timeout(self, out: Out) -> None:
        self.n = (self.n + 1) % 12
        if not self.n and self.sent:
            message = self.sent.pop()
            out.send(message.receiver, message)


def idle(kind: type, messages: int = 1, **options: Any) -> CheckReport:
    workload = "script:[[1,1],[]]" if messages == 2 else "any"
    spec = Spec("x", 2, 1, workload=workload, properties=("integrity", "all-delivered"))
    return check(spec, Options(**options), Bounds(max_states=300), protocol=protocol(kind))


@pytest.mark.parametrize("options", ENGINES)
def test_a_timeout_that_stays_idle_is_no_transition(options: dict[str, Any]) -> None:
    found = idle(Idle, **options).result
    assert Verdict.HOLDS is found.verdict
    assert found.unreduced is not None
    assert 13 == found.unreduced.unique_states
    assert ("timeouts of Idle that send and deliver nothing change nothing",) == found.conditions


@pytest.mark.parametrize("options", ENGINES)
def test_what_is_never_delivered_is_found_although_there_is_a_timeout(
    options: dict[str, Any],
) -> None:
    found = idle(Forgetful, **options).result
    assert Verdict.VIOLATED is found.properties["all-delivered"]
    assert found.counterexample is not None
    assert 4 == found.counterexample.length


@pytest.mark.parametrize("kind", [Deaf, DeafAtOdd, DeafLater])
@pytest.mark.parametrize("options", ENGINES)
def test_an_idle_timeout_that_changes_what_later_calls_do_is_refused(
    kind: type, options: dict[str, Any]
) -> None:
    found = idle(kind, messages=2, **options).result
    assert Verdict.ERROR is found.verdict
    assert f"timeouts of {kind.__name__} that send and deliver nothing change" in str(found.error)
    assert "a method key()" in str(found.error)


def test_a_timeout_that_sends_later_is_a_transition() -> None:
    found = idle(Rings, engine="plain").result
    assert found.verdict in (Verdict.ERROR, Verdict.INCOMPLETE)
    keyed = type("Keyed", (Rings,), {"key": lambda node: (node.n, tuple(map(str, node.sent)))})
    spec = Spec("x", actors=2, workload="script:[[1],[]]", properties=("can-deliver",))
    found = check(spec, Options(engine="plain"), protocol=protocol(keyed)).result
    assert Verdict.HOLDS is found.verdict


@pytest.mark.parametrize(("kind", "network"), [(Rings, "unordered"), (Repeated, "duplicating")])
def test_a_report_on_states_without_an_end_asks_for_a_key(kind: type, network: str) -> None:
    spec = Spec("x", actors=2, messages=1, network=network)
    report = check(spec, Options(engine="plain"), Bounds(max_states=40), protocol=protocol(kind))
    assert Verdict.INCOMPLETE is report.result.verdict
    assert "Give the class a method key()" in " ".join(check_text(report).split())


class Breaks(Counts):
    """Its timeout fails once a message has come."""

    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.n += 1
        out.deliver(packet["message"])

    def timeout(self, out: Out) -> None:
        if self.n:
            raise ValueError("no")


@pytest.mark.parametrize(
    ("copies", "key"), [("pickle", None), ("pickle", 0), ("deepcopy", 0), ("replay", 0)]
)
def test_a_timeout_that_fails_shows_its_run(copies: str, key: Any) -> None:
    made = protocol(Breaks, copies=copies, key=None if key is None else lambda node: node.n)
    report = check(Spec("x", actors=2, messages=1), Options(engine="plain"), protocol=made)
    assert "raised ValueError: no" in str(report.result.error)
    assert report.result.counterexample is not None
    assert 3 == report.result.counterexample.length
