"""The smallest bound: every script once up to renaming, small ones first, up to a violation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede.checker.check.exploring import until
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.engine.rows.symmetry import group
from antecede.checker.model import Message, Property, Protocol, Step, What, When
from antecede.checker.search.options import Bounds, Options
from antecede.checker.support import registry
from antecede.checker.support.errors import CapacityError
from antecede.checker.sweep.kept import Row
from antecede.checker.sweep.renamings import Renamings
from antecede.checker.sweep.smallest import (
    Level,
    Smallest,
    compared_row,
    levels,
    renaming,
    rows_of,
    scripts,
    share,
    size,
    smallest,
    text,
)
from antecede.checker.sweep.sweep import columns_of, kept_in
from antecede.protocols.cykas_yct_acked import CYKAS_YCT_ACKED
from tests.conftest import ROOT, Command
from tests.mutants.mutant import FILES, mutants_in, mutated

PLAIN = Options(engine="plain")


def found_in(
    spec: Spec,
    actors: tuple[int, ...],
    most: int,
    protocol: Protocol | None = None,
    *,
    renamed: bool = False,
) -> Smallest:
    """Search with checks in this process."""

    def run(specs: Sequence[Spec]) -> list[Row]:
        rows = []
        for one in specs:
            renamings = Renamings()
            result = check(
                one, PLAIN, protocol=protocol, selfcheck="off", around=renamings.watching
            ).result
            path = result.counterexample
            rows.append(
                {
                    "workload": one.workload,
                    "actors": one.actors,
                    "messages": one.messages,
                    "verdict": str(result.verdict),
                    "vacuous": ",".join(result.vacuous),
                    "cannot_fail": ",".join(n for n in result.vacuous if n in result.empty),
                    "violates": path and path.violates,
                    "counterexample_length": path and path.length,
                    "unique_states": result.counts.unique_states,
                    "names_matter": renamings.difference,
                }
            )
        return rows

    tried = levels(spec, actors, most, renamed=renamed)
    return smallest(spec, tried, lambda level: rows_of(level, run))


def bound_of(found: Smallest) -> tuple[int, int, str, int]:
    assert found.level is not None
    assert found.row is not None
    length = found.row["counterexample_length"]
    return found.level.messages, found.level.actors, found.row["workload"], length


# Scripts


@pytest.mark.parametrize(
    ("actors", "messages"), [(2, 0), (2, 1), (2, 5), (3, 1), (3, 2), (3, 4), (4, 1), (4, 3), (5, 2)]
)
def test_every_script_is_tried_once_up_to_renaming(actors: int, messages: int) -> None:
    """The brute force: collect the renamings of every script, and count the different sets."""
    everything = list(scripts(actors, messages, renamed=True))
    assert len(set(everything)) == len(everything)
    orbits = {frozenset(renaming(script, p) for p in group(actors)) for script in everything}
    representatives = list(scripts(actors, messages))
    assert len(orbits) == len(representatives)
    assert all(sum(one in orbit for one in representatives) == 1 for orbit in orbits)


def test_the_number_of_scripts_is_the_number_of_choices() -> None:
    """Three messages of three actors: 10 ways to distribute them, and 2 destinations for each."""
    assert 10 * 2**3 == len(list(scripts(3, 3, renamed=True)))
    assert {((1,), ()): 1} == dict.fromkeys(scripts(2, 1), 1)


def test_the_busiest_actor_comes_first() -> None:
    for script in scripts(4, 3):
        lengths = [len(row) for row in script]
        assert sorted(lengths, reverse=True) == lengths


# Levels


def test_levels_go_from_few_messages_to_many_and_from_few_actors_to_many() -> None:
    found = levels(Spec("mfss"), (3, 2), 2)
    assert [(1, 2), (1, 3), (2, 2), (2, 3)] == [(each.messages, each.actors) for each in found]


def test_levels_of_broadcasts_count_the_messages_of_all_actors() -> None:
    found = list(levels(Spec("cbcast", workload="broadcast"), (2, 3), 4))
    assert [(2, 2), (3, 3), (4, 2)] == [(each.messages, each.actors) for each in found]
    assert [1, 1, 2] == [spec.messages for each in found for spec in each.specs]


def test_renamed_scripts_are_tried_if_names_matter_to_a_script() -> None:
    (level,) = levels(Spec("tree"), (3,), 1)
    (one,) = level.specs
    assert (5, 0) == (len(level.renamings_of({one.workload})), len(level.renamings_of(())))
    (whole,) = levels(Spec("tree"), (3,), 1, renamed=True)
    assert 6 == len(whole.specs)
    assert () == whole.renamings_of({spec.workload for spec in whole.specs})


@pytest.mark.parametrize(("protocol", "differs"), [("mfss", False), ("tree", True)])
@pytest.mark.parametrize("engine", ["plain", "local"])
def test_the_check_of_a_script_shows_whether_names_matter(
    protocol: str, differs: bool, engine: str
) -> None:
    spec = Spec(protocol, 3, 1, workload="script:[[1],[],[]]")
    row = compared_row(spec, Options(engine=engine, threads=1), Bounds())
    assert differs == (row["names_matter"] is not None)


# Protocols and properties that treat actors or messages specially.


@frozen
class Counted:
    """How many messages an actor got."""

    me: int
    got: int = 0


def send_at_once(state: Any, message: Message) -> Step:
    return Step(state, ((message.receiver, message),))


def count(state: Counted, _src: int, packet: Message) -> Step:
    return Step(evolve(state, got=state.got + 1), deliveries=(packet,))


COUNTS = Protocol(
    name="counts",
    summary="",
    source="",
    initial=lambda actor, _actors: Counted(actor),
    causal_send=send_at_once,
    receive=count,
    invariants={"zero-gets-nothing": lambda state: state.me != 0 or not state.got},
    joint_invariants={"two-after-one": lambda states: not states[2].got or bool(states[1].got)},
)


def drops(state: Counted, _message: Message) -> Step:
    return Step(state)


def drops_second_of_the_last(state: Counted, message: Message) -> Step:
    drops = (state.me, message.number) == (2, 2)
    return Step(state) if drops else send_at_once(state, message)


def drops_from_above(state: Counted, src: int, packet: Message) -> Step:
    return Step(state) if (src, state.me) == (2, 1) else count(state, src, packet)


def is_no_second_of_the_last(undelivered: tuple[Message, ...]) -> bool:
    return not any((m.sender, m.number) == (2, 2) for m in undelivered)


def forgets_second(state: Counted, message: Message) -> Step:
    return Step(state) if message.number == 2 else send_at_once(state, message)


def counts_twice(_actor: int, _actors: int, durable: Counted) -> Step:
    return Step(evolve(durable, got=2 * durable.got))


def counts_twice_if_last(actor: int, actors: int, durable: Counted) -> Step:
    return counts_twice(actor, actors, durable) if actor == 2 else Step(durable)


RECOVERS = evolve(
    COUNTS,
    durable=lambda state: state,
    recover=counts_twice_if_last,
    invariants={"counts-one": lambda state: state.got < 2},
)

USERS = {
    "not-second-of-two": Property(
        "not-second-of-two",
        "",
        What.UNDELIVERED,
        When.AT_FINAL_STATES,
        is_no_second_of_the_last,
    ),
    "way-back": Property(
        "way-back",
        "",
        What.UNDELIVERED,
        When.ALWAYS_POSSIBLE,
        lambda undelivered: all(m.destinations != (0,) for m in undelivered),
    ),
    "not-at-zero": Property(
        "not-at-zero", "", What.DELIVERY, When.ALWAYS, lambda delivery: delivery.actor != 0
    ),
}
SPECIAL = {
    "a handler": (evolve(COUNTS, causal_send=drops_second_of_the_last), "all-delivered", 2),
    "a channel": (evolve(COUNTS, receive=drops_from_above), "all-delivered", 1),
    "an invariant": (COUNTS, "invariant:zero-gets-nothing", 1),
    "an invariant of all": (COUNTS, "invariant:two-after-one", 1),
    "undelivered": (evolve(COUNTS, causal_send=forgets_second), "not-second-of-two", 2),
    "a way back": (evolve(COUNTS, causal_send=drops), "way-back", 1),
    "a delivery": (COUNTS, "not-at-zero", 1),
    "a recovery": (RECOVERS, "invariant:counts-one", 1),
    "a crash": (evolve(RECOVERS, recover=counts_twice), "invariant:counts-one", 1),
}
CRASHES = {"a recovery": "1", "a crash": "1:of=2"}


@pytest.mark.parametrize("kind", SPECIAL)
def test_a_violation_by_one_actor_only_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "antecede.checker.check.spec.property_named",
        lambda name, protocol: USERS.get(name) or registry.property_named(name, protocol),
    )
    protocol, prop, messages = SPECIAL[kind]
    spec = Spec("counts", properties=(prop,), crashes=CRASHES.get(kind, "0"))
    found = found_in(spec, (3,), 3, protocol)
    whole = found_in(spec, (3,), 3, protocol, renamed=True)
    assert (messages, 3) == bound_of(found)[:2]
    assert bound_of(whole)[::3] == bound_of(found)[::3]


def test_five_actors_are_renamed_as_they_are_compared() -> None:
    """Only rotations are compared, so a script that is no rotation of another one is tried."""
    number = 5 * 4
    assert number // 5 == len(list(scripts(5, 1)))


# Known bounds


def test_fifo_fails_with_three_messages_among_three_actors() -> None:
    found = found_in(Spec("fifo"), (2, 3, 4), 4)
    assert (3, 3, "script:[[2,1],[2],[]]", 6) == bound_of(found)
    assert {row["verdict"] for row in found.explored} == {"HOLDS", "VACUOUS"}
    assert not found.vacuous, "these checks cannot fail"
    assert found.decided


def test_a_seeded_mutant_fails_with_two_messages_of_one_actor() -> None:
    file = next(file for file in FILES if file.stem == "fifo")
    mutant = next(one for one in mutants_in(file).mutants if one.name == "any-number-will-do")
    properties = ("fifo-delivery", "integrity", "all-delivered")
    spec = Spec("fifo", properties=properties)
    found = found_in(spec, (2, 3), 3, mutated("fifo", mutant))
    assert (2, 2, "script:[[1,1],[]]") == bound_of(found)[:3]
    assert found_in(spec, (2, 3), 3).row is None


@pytest.mark.integration
def test_four_messages_of_one_actor_reveal_what_three_of_each_do_not() -> None:
    """Free choice of 3 x 3 has a million states; the scripts up to this one have 3,000."""
    found = found_in(Spec("cykas"), (3,), 4, CYKAS_YCT_ACKED)
    assert (4, 3, "script:[[1,2,2,2],[],[]]", 12) == bound_of(found)
    free = Spec("cykas", actors=3, messages=3, properties=("causal-delivery",))
    assert "HOLDS" == str(check(free, protocol=CYKAS_YCT_ACKED, selfcheck="off").result.verdict)


# Results


def row(verdict: str, **values: object) -> Row:
    return {
        "workload": "script:[[1],[]]",
        "actors": 2,
        "messages": 1,
        "unique_states": 3,
        "verdict": verdict,
        **values,
    }


LEVEL = Level(1, 2, (Spec("mfss", actors=2, messages=1, workload="script:[[1],[]]"),))


@pytest.mark.parametrize(
    ("rows", "decided"),
    [
        ([row("HOLDS")], True),
        ([row("INCOMPLETE")], False),
        ([row("GAVE UP")], False),
        ([row("VACUOUS")], False),
        ([row("VACUOUS", vacuous="a", cannot_fail="a")], False),
        ([row("VACUOUS", vacuous="a", cannot_fail="a"), row("HOLDS")], True),
        ([row("VACUOUS", vacuous="a,b", cannot_fail="a"), row("HOLDS")], False),
        ([row("HOLDS"), row("VIOLATED", counterexample_length=2, violates="x")], True),
    ],
)
def test_only_a_complete_search_decides(rows: list[Row], decided: bool) -> None:
    assert decided == smallest(Spec("mfss"), iter([LEVEL]), lambda _level: rows).decided


def test_a_violation_above_an_unfinished_check_may_not_be_the_smallest() -> None:
    second = Level(2, 2, LEVEL.specs)
    rows = {1: [row("INCOMPLETE")], 2: [row("VIOLATED", counterexample_length=2, violates="x")]}
    found = smallest(Spec("mfss"), iter([LEVEL, second]), lambda level: rows[level.messages])
    assert found.row == rows[2][0]
    assert not found.decided
    assert "1 smaller check reached no verdict" in text(found)


def test_of_several_violations_the_shortest_counts() -> None:
    rows = [
        row("ERROR", error="raised"),
        row("VIOLATED", counterexample_length=5, violates="x"),
        row("VIOLATED", counterexample_length=4, violates="x"),
    ]
    found = smallest(Spec("mfss"), iter([LEVEL]), lambda _level: rows)
    assert (found.row, found.failures) == (rows[2], (rows[0],))
    assert ": raised" in text(found)


def test_the_end_of_the_time_leaves_the_levels_that_were_completed() -> None:
    def run(level: Level) -> list[Row]:
        if level.messages == 2:
            raise CapacityError("--max-seconds 5 reached")
        return [row("HOLDS")]

    found = smallest(Spec("mfss"), levels(Spec("mfss"), (2,), 3), run)
    assert not found.decided
    assert "mfss: no violation up to 1 message among 2 actors (1 check, 3 states)." in text(found)
    assert "The search ended early: --max-seconds 5 reached." in text(found)


def test_the_time_is_over_after_so_many_seconds() -> None:
    clock = iter([0.0, 4.9, 5.0])
    tick = until(5.0, lambda: next(clock))
    tick()
    with pytest.raises(CapacityError, match="--max-seconds 5 reached"):
        tick()


def test_a_bound_is_told_in_words() -> None:
    assert "1 message among 2 actors" == size(1, 2)


# The command

ASKED = ("--smallest", "--engine", "plain", "--workers", 1)


@pytest.mark.integration
def test_the_command_names_the_bound_and_keeps_every_check(
    antecede: Command, tmp_path: Path
) -> None:
    asked = ("sweep", "fifo", *ASKED, "--actors", 3)
    ran = antecede(*asked, cwd=tmp_path)
    assert 0 == ran.code
    assert "fifo on unordered: VIOLATED at 3 messages among 3 actors" in ran.out
    assert "script:[[2,1],[2],[]] violates causal-delivery after 6 transitions." in ran.out
    assert "No smaller bound is violated: 6 checks, " in ran.out
    assert "fifo, 3 messages among 3 actors: 8 HOLDS, 5 that cannot fail, 1 VIOLATED" in ran.err
    rows = kept_in(tmp_path / "sweep.jsonl").rows()
    assert 1 + 5 + 14 == len(rows)
    again = antecede(*asked, "--quiet", cwd=tmp_path)
    assert (0, ran.out, "") == (again.code, again.out, again.err)
    assert rows == kept_in(tmp_path / "sweep.jsonl").rows()


def test_nothing_violated_within_the_limits_is_a_result(antecede: Command, tmp_path: Path) -> None:
    asked = ("sweep", "mfss", *ASKED, "--actors", 2, "--max-messages", 2, "--quiet")
    ran = antecede(*asked, cwd=tmp_path)
    assert (0, "") == (ran.code, ran.err)
    assert "mfss on unordered: no violation up to 2 messages among 2 actors (3 checks, " in ran.out
    assert "In 2 of these checks, no order of the messages can violate causal-delivery." in ran.out
    assert re.search(r"\n  3\d % of the bugs of our collection show [^\n]*\n$", ran.out)


def test_checks_that_cannot_fail_alone_decide_nothing(antecede: Command, tmp_path: Path) -> None:
    asked = ("sweep", "mfss", *ASKED, "--actors", 2, "--max-messages", 1, "--quiet")
    ran = antecede(*asked, cwd=tmp_path)
    assert (3, "") == (ran.code, ran.err)
    assert "In 1 of these checks, no order of the messages can violate" in ran.out


def test_the_share_of_known_bugs_is_the_one_of_the_page() -> None:
    page = (ROOT / "docs" / "bounds.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| messages | 2 actors |")
    rows = [line.split("|")[1:5] for line in table.splitlines()[2:7]]
    assert [*range(1, 6)] == [int(messages) for messages, *_ in rows]
    for messages, *shares in rows:
        for actors, percent in enumerate(shares, 2):
            assert f"{100 * share([(int(messages), actors)]):.0f} %" == percent.strip()


def test_several_bounds_show_what_one_of_them_shows() -> None:
    few, wide = (4, 2), (3, 4)
    assert share([few, wide]) >= max(share([few]), share([wide])) > share([(1, 2)]) > 0
    assert 0 == share([])


def test_rows_of_an_older_version_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their verdict was HOLDS where no protocol can fail."""
    columns = partial(columns_of, Spec("mfss"), PLAIN, Bounds())
    now = columns()
    monkeypatch.setattr("antecede.checker.sweep.sweep.ROWS", 1)
    assert now["digest"] != columns()["digest"]


@pytest.mark.parametrize(
    ("bound", "told"),
    [
        (("--max-states", 3), "3 smaller checks reached no verdict"),
        (("--max-seconds", 0.001), "no level was completed."),
    ],
)
def test_a_search_that_a_bound_ended_is_incomplete(
    antecede: Command, tmp_path: Path, bound: tuple[object, ...], told: str
) -> None:
    asked = ("sweep", "mfss", *ASKED, "--actors", 2, "--max-messages", 2, *bound)
    ran = antecede(*asked, cwd=tmp_path)
    assert 3 == ran.code
    assert told in ran.out


RAISES = """
from attrs import evolve
from antecede.protocols import mfss

def receive(state, src, packet):
    return 1 / 0

PROTOCOL = evolve(mfss.MFSS, name="raises", receive=receive)
"""


def test_a_sweep_with_a_handler_that_raises_ends_with_2(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES)
    asked = ("sweep", "raises.py", "--actors", 2, "--messages", "1,2", "--engine", "plain")
    ran = antecede(*asked, "--quiet", cwd=tmp_path)
    assert 2 == ran.code
    again = antecede(*asked, "--quiet", cwd=tmp_path)
    assert 2 == again.code


def test_a_handler_that_raises_ends_the_search(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES)
    ran = antecede("sweep", "raises.py", *ASKED, "--quiet", cwd=tmp_path)
    assert 2 == ran.code
    assert "raises.py on unordered: ERROR at 1 message among 2 actors" in ran.out
    assert "ZeroDivisionError" in ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("mfss", "--smallest", "--messages", 2), "--smallest counts messages in total"),
        (("mfss", "--smallest", "--on", "spark"), "--smallest is for --on here"),
        (("mfss", "--max-messages", 2), "--max-messages is for --smallest; give --messages"),
        (("mfss", "--smallest", "--max-messages", 0), "max messages is 0"),
        (("mfss", "--smallest", "--max-messages", 13), "give at most 12"),
        (("mfss", "--smallest", "--workload", "endless:1"), "cannot vary the workload 'endless:1'"),
        (("mfss", "--smallest", "--property", "fast"), "unknown property 'fast'"),
        (("--protocol", "nobody", "--smallest"), "unknown protocol 'nobody'"),
    ],
)
def test_wrong_input_is_refused(
    antecede: Command, tmp_path: Path, arguments: tuple[object, ...], told: str
) -> None:
    ran = antecede("sweep", *arguments, cwd=tmp_path)
    assert 2 == ran.code
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert not [file for file in tmp_path.iterdir() if file.stat().st_size]
