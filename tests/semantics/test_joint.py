"""Invariants and witnesses on the states of all actors at once, whoever explores."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.engine import explorer_for
from antecede.checker.check.pipeline import Extras, check
from antecede.checker.check.spec import Spec, load_spec, system_of
from antecede.checker.explore.judgement import judged
from antecede.checker.explore.tree import with_witnesses
from antecede.checker.model import Protocol
from antecede.checker.render.text import path_text
from antecede.checker.render.trace_formats import FORMATS, trace_text
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
from tests.conftest import ROOT, Command
from tests.models import plan_of
from tests.naive import Actor, State, successors

FILE = ROOT / "specs/examples/token_ring.py"
RING = f"{FILE}:TOKEN_RING"
TOKEN_RING, SUSPICIOUS = protocol_named(RING), protocol_named(f"{FILE}:SUSPICIOUS")
ONE_TOKEN, EVERYBODY_WAITS = "invariant:one-token", "witness:everybody-waits"
everybody_waits = TOKEN_RING.joint_witnesses["everybody-waits"]


def two_tokens(members: tuple[Any, ...]) -> bool:
    return sum(int(member.has_token) for member in members) > 1


def naive_depth(
    protocol: Protocol,
    actors: int,
    messages: int,
    shows: Callable[[tuple[Any, ...]], bool] = two_tokens,
) -> int | None:
    """Return after how many transitions of the reference checker all actors' states show it."""
    flying = protocol.in_flight
    assert flying is not None
    plan = plan_of("any", actors, messages)
    rows = tuple(Actor(protocol.initial(i, actors), row) for i, row in enumerate(plan))
    net: Any = tuple((i, *send, frozenset()) for i in range(actors) for send in flying(i, actors))
    level: set[Any] = {State(rows, net, frozenset())}
    seen: set[Any] = set()
    for depth in range(40):
        if any(shows(tuple(a.local for a in s.actors)) for s in level):
            return depth
        seen |= {(s.actors, frozenset(s.net)) for s in level}
        after = {t for s in level for t, _ in successors(s, protocol, "unordered")}
        level = {t for t in after if (t.actors, frozenset(t.net)) not in seen}
    return None


@pytest.mark.parametrize("how", ["breadth", "depth", "random"])
def test_every_search_finds_the_second_token(how: str) -> None:
    spec = Spec("ring", 3, 1, search=how, properties=(ONE_TOKEN,))
    report = check(spec, Options(seed=1), protocol=SUSPICIOUS, extras=Extras(minimise=True))
    path = report.result.counterexample
    assert Verdict.VIOLATED is report.result.verdict
    assert path is not None
    assert ("local" if how == "breadth" else "plain") == report.options.engine
    if how == "breadth":
        assert naive_depth(SUSPICIOUS, 3, 1) == path.length == 2


def test_one_token_holds_where_none_is_made_anew() -> None:
    spec = load_spec(ROOT / "specs/examples/token-ring.toml")
    assert ONE_TOKEN in spec.properties
    assert check(spec).as_expected
    assert naive_depth(TOKEN_RING, 2, 1) is None


def test_it_is_checked_unasked_and_the_report_says_how(antecede: Command) -> None:
    asked = ("check", f"{FILE}:SUSPICIOUS", "--actors", 3, "--messages", 1)
    by_depth = antecede(*asked, "--search", "depth")
    said = "Explored in plain Python: invariant:one-token is about all actors at once."
    assert said in by_depth.out
    found = antecede(*asked)
    assert 1 == found.code
    assert "Explored in plain Python" not in found.out
    assert "`one-token` is false for all actors together" in found.out


def test_the_counterexample_is_saved_and_replayed(antecede: Command, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    wanted = ["--actors", 3, "--messages", 1, "--property", ONE_TOKEN, "--trace", trace]
    antecede("check", f"{FILE}:SUSPICIOUS", *wanted)
    found = antecede("replay", trace, "--protocol", f"{FILE}:SUSPICIOUS")
    assert 1 == found.code
    assert 2 == len(re.findall(r"^\w+ is Member\(successor=\d, has_token=True", found.out, re.M))
    assert "no longer violate" in antecede("replay", trace, "--protocol", _allowing(tmp_path)).out


def _allowing(folder: Path) -> str:
    """Return the protocol with an invariant that allows two tokens."""
    text = FILE.read_text(encoding="utf-8").replace("for member in members) <= 1", "in ()) <= 2")
    text = text.replace("sum(member.has_token in ()) <= 2", "len(members) == 3")
    (folder / "allowing.py").write_text(text, encoding="utf-8")
    return f"{folder / 'allowing.py'}:SUSPICIOUS"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_the_violation(name: str) -> None:
    result = check(Spec("ring", 3, 1, properties=(ONE_TOKEN,)), protocol=SUSPICIOUS).result
    assert result.counterexample is not None
    assert "make-another" in trace_text(result.counterexample, name)
    assert "together" in path_text(result.counterexample)


def test_the_page_of_explore_judges_it() -> None:
    system = system_of(Spec("ring", 3, 1, properties=(ONE_TOKEN,)), SUSPICIOUS)
    path = check(Spec("ring", 3, 1, properties=(ONE_TOKEN,)), protocol=SUSPICIOUS).result
    assert path.counterexample is not None
    (said,) = judged(path.counterexample, system, path.counterexample.last)
    assert ("violated", 2) == (said.verdict, said.step)


@pytest.mark.parametrize("options", [Options("depth"), Options("random")], ids=["depth", "random"])
def test_who_does_not_judge_it_says_so(options: Options) -> None:
    system = system_of(Spec("ring", 3, 1, properties=(ONE_TOKEN,)), SUSPICIOUS)
    with pytest.raises(InputError, match=r"is about all actors at once, .* give --engine plain"):
        explorer_for(system, options)


@pytest.mark.parametrize("how", ["breadth", "depth", "random"])
def test_every_search_finds_a_witness_of_all_actors(how: str) -> None:
    """All three actors wait after their sends, and no actor has taken the token."""
    spec = Spec("ring", 3, 1, search=how, properties=(EVERYBODY_WAITS,))
    # A walk never ends by itself, because the token circulates forever.
    report = check(spec, Options(seed=1), Bounds(max_depth=4), protocol=TOKEN_RING)
    assert Verdict.HOLDS is report.result.verdict
    run = report.result.shown[EVERYBODY_WAITS]
    assert everybody_waits(run.last.actors)
    assert how != "breadth" or 3 == naive_depth(TOKEN_RING, 3, 1, everybody_waits) == run.length


@pytest.mark.parametrize(
    ("protocol", "verdict"), [(TOKEN_RING, Verdict.VIOLATED), (SUSPICIOUS, Verdict.HOLDS)]
)
def test_a_witness_of_all_actors_is_violated_where_no_state_shows_it(
    protocol: Protocol, verdict: Verdict
) -> None:
    sought = evolve(protocol, joint_witnesses={"two-tokens": two_tokens})
    report = check(Spec("ring", 3, 1, properties=("witness:two-tokens",)), protocol=sought)
    assert verdict is report.result.verdict


def test_witnesses_of_all_actors_are_listed_and_explored(antecede: Command) -> None:
    assert re.search(r"witnesses +waited, everybody-waits\n", antecede("list", RING).out)
    explored = with_witnesses(system_of(Spec("ring", 3, 1), TOKEN_RING))
    assert EVERYBODY_WAITS in [prop.name for prop in explored.properties]


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        (evolve(SUSPICIOUS, invariants={"one-token": bool}), "two invariants 'one-token'"),
        (evolve(SUSPICIOUS, witnesses={"everybody-waits": bool}), "two witnesses 'everybody-waits"),
    ],
)
def test_two_properties_of_one_name_are_refused(protocol: Protocol, said: str) -> None:
    with pytest.raises(InputError, match=said):
        system_of(Spec("ring", 3, 1, properties=(ONE_TOKEN, EVERYBODY_WAITS)), protocol)


@pytest.mark.parametrize("kind", ["invariant", "witness"])
def test_a_predicate_that_raises_is_the_protocols_error(kind: str) -> None:
    odd = {"odd": lambda states: states.nothing}
    protocol = evolve(SUSPICIOUS, joint_invariants=odd, joint_witnesses=odd)
    spec = Spec("ring", 3, 1, properties=(f"{kind}:odd",))
    result = check(spec, protocol=protocol).result
    assert Verdict.ERROR is result.verdict
    assert f"{kind} 'odd' of protocol 'token-ring-suspicious' raised AttributeError" in str(
        result.error
    )
