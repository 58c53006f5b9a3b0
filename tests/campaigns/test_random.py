"""The campaign of random systems: a short one, and that it would notice."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede import properties as package
from antecede.checker.check.spec import load_spec, system_of
from antecede.checker.engine.rows import geometry, histories
from antecede.checker.engine.rows.components import Components
from antecede.checker.engine.rows.final_states import MESSAGES, FinalStates
from antecede.checker.engine.spark.cluster import Cluster
from antecede.checker.model import Internal, Property, Transition, What, When
from antecede.checker.search import emptiness, loop
from antecede.checker.search.result import Counts, Verdict
from antecede.checker.semantics.crashes import CRASH, Sends, crashes_from, sent_at
from antecede.checker.semantics.judge import left
from antecede.checker.semantics.network import Channel, Network, network_named
from antecede.checker.semantics.ordering import ORDERINGS
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.workload import Workload
from antecede.checker.support.errors import InputError
from tests.campaigns import compare
from tests.campaigns.draw import (
    DECLARED,
    EXTRA,
    SAFETY,
    Case,
    as_json,
    drawn,
    drawn_for_users,
    smaller,
)
from tests.campaigns.random import KINDS, campaign, disagreements, shrunk, written
from tests.campaigns.user_properties import REGISTRY, USER
from tests.conftest import ROOT, Command

SEED = "ci"
SYSTEMS = range(30)

SENDS_TWO = Case(
    kind="machine",
    rules=[[[["always", ["send"], 0]], [["always", ["deliver"], 0]], []]],
    credit=0,
    resends=False,
    actors=2,
    messages=2,
    network="fifo",
    workload="any",
    sends="joint",
    clock_at="causal-send",
    properties=("causal-delivery", "integrity", "fifo-delivery"),
)


RAISES_LATE = evolve(
    SENDS_TWO,
    rules=(
        (
            (
                ("from-below", ("send-to-least", "hold", "send-to-least"), 0),
                ("to-above", ("hold",), 0),
                ("always", ("mark", "send-by-way", "mark"), 1),
            ),
            (("always", ("deliver",), 1),),
            (("always", ("flush", "flush-by-receiver", "count"), 1),),
        ),
        (
            (("has-credit", ("hold",), 1), ("always", ("send",), 1)),
            (("has-held", ("answer",), 0), ("always", ("answer-twin",), 0)),
            (
                ("from-below", ("flush-by-receiver", "flush-by-receiver", "mark"), 1),
                ("from-below", ("nothing",), 1),
                ("always", ("nothing", "flush"), 1),
            ),
        ),
    ),
    credit=2,
    actors=3,
    messages=1,
    network="unordered",
    sends="split",
    properties=("causal-delivery", "integrity", "all-delivered", "fifo-delivery"),
    crashes="2:of=1,0",
    to_crashed="kept",
    restarts="forgets",
)
"""Some runs end with undelivered messages; one transition later, a handler returns a Twin."""


@pytest.mark.integration
@pytest.mark.parametrize("number", SYSTEMS)
def test_whatever_explores_a_random_system_finds_the_same(number: int) -> None:
    own = f"{SEED}/{number}"
    wrong = disagreements(drawn(own), own, spark=False, tally=Counter())
    assert [] == wrong


@pytest.mark.integration
def test_a_handler_that_fails_in_the_next_level_does_not_hide_a_violation_on_spark() -> None:
    """The driver calls it for some states of the next level already."""
    here = "--engine spark --spark-threshold 30 --partitions 3 --no-symmetry --forget never # here"
    expected = compare.searched(
        RAISES_LATE, "knowledge", compare.ENGINES["--threads 1"], compare.LARGE
    )
    actual = compare.searched(
        RAISES_LATE, "knowledge", compare.IN_THE_DRIVER[here], compare.LARGE, in_the_driver=True
    )
    assert expected == actual
    assert "VIOLATED" == actual["verdicts"]["all-delivered"]


def newest_first(channel: Channel) -> tuple[tuple[object, Channel], ...]:
    return ((channel[-1], channel[:-1]),) if channel else ()


@pytest.fixture
def fifo_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every engine take the newest packet first; the reference checker knows better."""

    def wrong(name: str, *, retransmits: bool = False) -> Network:
        return evolve(network_named(name, retransmits=retransmits), take=newest_first)

    monkeypatch.setattr("antecede.checker.check.spec.network_named", wrong)


@pytest.mark.integration
@pytest.mark.usefixtures("fifo_is_broken")
def test_a_wrong_network_is_found_shrunk_and_written_down(tmp_path: Path) -> None:
    found = disagreements(SENDS_TWO, "any", spark=False, tally=Counter())
    assert {"tests/naive.py"} == {each.reference for each in found}
    least = shrunk(found[0], "any", spark=False)
    assert (2, 0) == (least.case.messages, least.case.credit)
    said = written(least, tmp_path, "found")
    assert "tests/naive.py and --engine plain disagree" in said
    assert load_spec(tmp_path / "found.antecede.toml").actors == 2


DROPS_ALL = evolve(
    SENDS_TWO,
    rules=[[[["always", ["send"], 0]], [["always", ["drop"], 0]], []]],
    messages=1,
    network="unordered",
)


def only_without_final_states(prop: Property, counts: Counts, _statistics: object) -> Verdict:
    """Judge as was done before deliveries were looked at."""
    empty = counts.unique_states == 1 or (prop.final and not counts.final_states)
    return Verdict.VACUOUS if empty else Verdict.HOLDS


@pytest.mark.integration
def test_a_protocol_that_holds_of_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [] == disagreements(DROPS_ALL, "any", spark=False, tally=Counter())
    monkeypatch.setattr("antecede.checker.search.loop.judged", only_without_final_states)
    found = disagreements(DROPS_ALL, "any", spark=False, tally=Counter())
    assert {"tests/naive.py"} == {each.reference for each in found}
    assert ["causal-delivery", "fifo-delivery", "integrity"] == found[0].expected["vacuous"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("case", "answer", "reference"),
    [
        (evolve(SENDS_TWO, network="unordered"), False, "checker/search/emptiness.py"),
        (evolve(SENDS_TWO, messages=1), True, "tests/naive.py"),
    ],
    ids=["too strict", "too lax"],
)
def test_a_wrong_rule_on_what_no_protocol_can_violate_is_found(
    case: Case, answer: bool, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [] == disagreements(case, "any", spark=False, tally=Counter())
    wrong = dict.fromkeys(("causal-delivery", "fifo-delivery"), lambda _messages: answer)
    monkeypatch.setattr(emptiness, "RULES", {**emptiness.RULES, **wrong})
    found = disagreements(case, "any", spark=False, tally=Counter())
    assert {reference} == {each.reference for each in found}


@pytest.mark.integration
def test_only_what_was_asked_for_starts_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise InputError("a cluster is started")

    monkeypatch.setattr(Cluster, "start", refuse)
    for asked in (False, True):
        found = disagreements(SENDS_TWO, "any", spark=asked, tally=Counter())
        assert (set(compare.SPARK) if asked else set()) == {each.tried for each in found}


def test_every_kind_of_predicate_is_drawn() -> None:
    asked = {name for number in range(2_000) for name in drawn(f"kinds/{number}").properties}
    assert {*SAFETY, *EXTRA, *DECLARED} <= asked
    of_users = {(USER[name].what, USER[name].when) for name in asked & USER.keys()}
    assert {(prop.what, prop.when) for prop in USER.values()} == of_users


IN_ORDER = evolve(
    SENDS_TWO,
    network="unordered",
    properties=(
        "0-gets-own-last-sequences-always",
        "opposite-of-few-sequences-at-final-states",
    ),
)
AT_END = evolve(
    IN_ORDER,
    actors=3,
    messages=1,
    properties=("one-at-most-global_state-at-final-states", "integrity"),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", [IN_ORDER, AT_END], ids=["sequences", "final states"])
def test_predicates_on_all_actors_are_judged_alike(case: Case) -> None:
    assert [] == disagreements(case, "any", spark=False, tally=Counter())


@pytest.mark.integration
def test_final_states_that_are_not_judged_together_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The seeded bug: the tables say that no combination of actors' states fails a property."""
    monkeypatch.setattr(FinalStates, "_failed_together", lambda _self, _combination: 0)
    wrong = evolve(IN_ORDER, properties=("few-sequences-at-final-states",))
    assert disagreements(wrong, "any", spark=False, tally=Counter())


def test_no_drawn_question_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "REGISTRY", REGISTRY)
    drawn_with = Counter[Any]()
    for number in range(500):
        for case in (drawn(f"asked/{number}"), drawn_for_users(f"asked/{number}")):
            system = system_of(case.spec("knowledge"), case.protocol)
            asked = {prop.what for prop in system.properties}
            drawn_with.update((what, system.crashes is not None) for what in asked)
    assert all(drawn_with[What.SEQUENCES, crashes] for crashes in (True, False))


@pytest.mark.parametrize("network", ORDERINGS)
def test_networks_that_relate_channels_are_explored_alike(network: str) -> None:
    case = evolve(AT_END, network=network)
    assert [] == disagreements(case, "any", spark=False, tally=Counter())


def test_mailbox_that_forgets_who_sent_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: a mailbox hands over the packets of any sender."""
    wrong = evolve(ORDERINGS["mailbox"], ready=lambda _order, _src, _dst: True)
    loose = evolve(wrong, sent=lambda order, _src, _dst: order)
    loose = evolve(loose, received=lambda order, _src, _dst: order)
    monkeypatch.setattr("antecede.checker.semantics.network.ORDERINGS", {"mailbox": loose})
    assert disagreements(evolve(AT_END, network="mailbox"), "any", spark=False, tally=Counter())


LOSES = evolve(
    SENDS_TWO,
    rules=[[[["always", ["send"], 0]], [["always", ["drop"], 0]], []]],
    messages=2,
    properties=(
        "ended-ended-always-possible",
        "no-second-undelivered-always-possible",
        "one-at-most-undelivered-always-possible",
    ),
)
"""Its actors never deliver anything, but they can always end."""


@pytest.mark.integration
def test_all_ways_back_are_compared_after_one_of_them_is_violated() -> None:
    found = list(compare.comparisons(LOSES, random.Random(0)))
    assert [] == [each for each in found if not each.agrees]
    assert "tests/naive.py" in {each.reference for each in found}
    assert sorted(LOSES.properties[1:]) == sorted(found[-1].expected["verdicts"])


@pytest.mark.integration
def test_ways_back_that_are_left_undecided_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def until_one_is_violated(system: System, explorer: Any, tick: Any) -> set[str]:
        held = set()
        for prop in (p for p in system.properties if p.when is When.ALWAYS_POSSIBLE):
            run = explorer.lost(prop, tick)
            if run is not None:
                explorer.found[prop.name] = run
                break
            held.add(prop.name)
        return held

    monkeypatch.setattr(loop, "_look_back", until_one_is_violated)
    wrong = disagreements(LOSES, "any", spark=False, tally=Counter())
    assert "tests/naive.py" in {each.reference for each in wrong}


NAMES_ACTORS = evolve(
    DROPS_ALL, actors=3, properties=("none-of-1-to-0-undelivered-at-final-states",)
)
"""Whether actor 1 sends its message to actor 0 depends on the run."""


def judged_under_one_name(self: FinalStates, actor: int, pending: int, position: int) -> int:
    """Judge a final state as it was done before its renamings were judged."""
    c = self.components
    entries = c.pending[actor].values[pending]
    messages = {what: left(what, entries) for what in MESSAGES}
    return self._left(actor, messages, c.positions[actor].values[position])


@pytest.mark.integration
def test_a_search_that_judges_one_name_of_a_final_state_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong() -> list[compare.Comparison]:
        seeds = ("first", "second", "third")  # each of them draws other engines
        found = [disagreements(NAMES_ACTORS, s, spark=False, tally=Counter()) for s in seeds]
        return [each for several in found for each in several]

    assert [] == wrong()
    monkeypatch.setattr(FinalStates, "final", judged_under_one_name)
    found = wrong()
    assert found
    assert not any("--no-symmetry" in each.tried for each in found)


@pytest.mark.integration
@pytest.mark.parametrize("number", range(5))
def test_what_is_written_down_is_the_system_itself(
    number: int, antecede: Command, tmp_path: Path
) -> None:
    case = evolve(drawn(f"{SEED}/{number}"), actors=2, messages=1, workload="any")
    compared = compare.comparisons(case, random.Random(0))
    found = next(each for each in compared if {"verdicts", "violated"} & each.expected.keys())
    written(found, tmp_path, "found")
    spec = tmp_path / "found.antecede.toml"
    ran = antecede("check", spec, "--engine", "plain", "--json", "-", "--quiet", cwd=ROOT)
    said = found.expected.get("verdicts") or dict.fromkeys(found.expected["violated"], "VIOLATED")
    assert said.items() <= json.loads(ran.out)["properties"].items()


def test_a_seed_draws_the_same_system_again() -> None:
    assert as_json(drawn("7/3")) == as_json(drawn("7/3"))
    assert as_json(drawn("7/3")) != as_json(drawn("7/4"))


def test_smaller_systems_are_smaller() -> None:
    for case in smaller(drawn("7/3")):
        assert len(as_json(case)) <= len(as_json(drawn("7/3"))) + len("unordered")


@pytest.mark.integration
def test_a_campaign_counts_what_it_compared(tmp_path: Path) -> None:
    tally, number, wrong = next(campaign(60, 7, tmp_path, {"systems": KINDS["systems"]}, first=1))
    assert (1, []) == (number, wrong)
    assert tally.total() > 3


def test_what_a_violation_leaves_undecided_may_differ_between_encodings() -> None:
    ended: Any = {"all-delivered": "VIOLATED", "witness:met": "VIOLATED", "integrity": "HOLDS"}
    broken_off = {
        "all-delivered": "VIOLATED",
        "witness:met": "INCOMPLETE",
        "integrity": "INCOMPLETE",
    }
    other = {"all-delivered": "INCOMPLETE", "witness:met": "VIOLATED", "integrity": "VIOLATED"}
    first, second, third = (
        {"verdicts": found, "shortest": ("all-delivered", 6)}
        for found in (ended, broken_off, other)
    )
    between = partial(compare.between, drawn("7/3"), "clocks", "--threads 1")
    assert between(first, second).agrees
    assert not between(first, third).agrees
    lost = {"verdicts": {**ended, "can-deliver": "VIOLATED"}, "shortest": ("can-deliver", 3)}
    assert between(lost, second).agrees
    assert not between(lost, third).agrees
    undecided = {**second, "verdicts": {**broken_off, "all-delivered": "INCOMPLETE"}}
    assert not between(lost, undecided).agrees


CRASHES = evolve(SENDS_TWO, messages=1, properties=SAFETY[:3], crashes="1", to_crashed="lost")


def everything_is_owed(_components: Components, _actor: int, pending: int, _crashed: int) -> int:
    """Forget no message to a crashed actor."""
    return pending


PAIR = evolve(CRASHES, workload="script:[[[1,2]],[],[]]", actors=3, crashes="1:of=1")


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ("engine.rows.final_states.left", "none-partly_delivered-at-final-states"),
        (
            "engine.rows.final_states.with_crashed",
            "opposite-of-one-missing-sequences-at-final-states",
        ),
        (
            "engine.tabulated.global_properties.with_crashed",
            "opposite-of-one-missing-sequences-always",
        ),
        ("semantics.judge.with_crashed", "opposite-of-one-missing-sequences-always"),
    ],
)
def test_a_search_that_judges_crashed_actors_is_found(
    wrong: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = evolve(PAIR, properties=(name,))
    assert [] == disagreements(case, "any", spark=False, tally=Counter())
    place = f"antecede.checker.{wrong}"
    if wrong.endswith("left"):
        monkeypatch.setattr(place, lambda what, pending, _crashed=(): left(what, pending))
    else:
        monkeypatch.setattr(place, lambda sequences, _states: tuple(sequences))
    assert disagreements(case, "any", spark=False, tally=Counter())


LABELLED = evolve(SENDS_TWO, messages=1, properties=SAFETY[:3], labels="add,lose")


def test_a_search_that_forgets_a_label_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [] == disagreements(LABELLED, "any", spark=False, tally=Counter())
    monkeypatch.setattr(Workload, "offered", lambda self, _actor, _number: self.offers[:1])
    assert disagreements(LABELLED, "any", spark=False, tally=Counter())


@pytest.mark.parametrize("how", ["owed", "final", "budget"])
def test_a_wrong_rule_about_crashes_is_found(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [] == disagreements(CRASHES, "any", spark=False, tally=Counter())
    if how == "owed":
        monkeypatch.setitem(histories.ENTRIES, geometry.OWED, everything_is_owed)
    if how == "final":
        monkeypatch.setattr("antecede.checker.search.plain.is_final", lambda _, some: not some)
    if how == "budget":
        monkeypatch.setattr(
            "antecede.checker.check.spec.crashes_from",
            lambda _text, how, actors: crashes_from("2", how, actors),
        )
    assert disagreements(CRASHES, "any", spark=False, tally=Counter())


SPLITS = evolve(
    CRASHES,
    rules=[[[["always", ["ask-all", "send"], 0]], [["always", ["deliver"], 0]], []]],
    credit=1,
    actors=3,
    workload="script:[[[1,2]],[],[]]",
    crashes="1:of=0",
    to_crashed="kept",
)
"""The broadcast sends a note and a message to each receiver."""


def last_packets_at(cut: tuple[int, ...], sends: Sends) -> Sends:
    """Lose the first packets to each destination, and not the last ones."""
    return sent_at(cut, sends[::-1])[::-1]


def is_alone(_system: System, transition: Transition) -> bool:
    """Take a crash in the middle of a step for the whole step."""
    return isinstance(transition, Internal) and transition.name == CRASH


def test_all_engines_split_the_same_steps() -> None:
    assert [] == disagreements(SPLITS, "any", spark=False, tally=Counter())


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("antecede.checker.semantics.transition.sent_at", last_packets_at),
        ("antecede.checker.engine.rows.tabulate.sent_at", last_packets_at),
        ("antecede.checker.engine.rows.tabulate.cuts_of", lambda _sends, nothing: ()),
        ("antecede.checker.semantics.transition.crashes", is_alone),
    ],
    ids=["other packets", "other packets in tables", "none in tables", "no crash"],
)
def test_a_wrong_crash_in_the_middle_of_a_step_is_found(
    part: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, wrong)
    assert disagreements(SPLITS, "any", spark=False, tally=Counter())


def test_broadcasts_are_drawn_with_every_kind_of_crash() -> None:
    cases = [drawn(f"splits/{number}") for number in range(2_000)]
    split = [case for case in cases if case.crashes != "0" and case.workload == "broadcast"]
    assert {case.restarts for case in split} == {"", "keeps", "resends", "forgets"}
    assert {":whole" in case.crashes for case in split} == {True, False}
