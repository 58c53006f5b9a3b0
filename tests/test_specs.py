"""The specs of this repository come out as expected, and a wrong spec says what is wrong."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import KEYS, Expectation, Spec, load_spec, overridden, system_of
from antecede.checker.check.targets import targets_of
from antecede.checker.paths.violation import wrong_order
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_names
from antecede.protocols.cykas import Eager, Normal
from antecede.protocols.cykas_secret_mode import CykasSecretMode
from tests.adversary import cannot_fail
from tests.conftest import ROOT, Command

SMALL = sorted((ROOT / "specs" / "small").glob("*.toml"))
OF_PROTOCOLS = sorted((ROOT / "specs" / "protocols").glob("*.toml"))
EXAMPLES = sorted((ROOT / "specs" / "examples").glob("*.toml"))
MUSEUM = sorted((ROOT / "specs" / "museum").glob("*.toml"))
ENDLESS = sorted((ROOT / "specs" / "endless").glob("*.toml"))
SLOW = sorted((ROOT / "specs" / "slow").glob("*.toml"))


def ident(path: Path) -> str:
    return path.stem


@cache
def checked(file: Path) -> CheckReport:
    return check(load_spec(file))


@pytest.mark.parametrize("file", SMALL, ids=ident)
def test_small_spec_comes_out_as_expected(file: Path) -> None:
    report = checked(file)
    assert () == report.differences
    assert report.as_expected


@pytest.mark.parametrize("folder", ["small", "protocols", "examples", "museum", "endless", "slow"])
def test_no_spec_that_holds_is_about_an_order_that_nobody_can_violate(folder: str) -> None:
    for file in sorted((ROOT / "specs" / folder).glob("*.toml")):
        spec = load_spec(file)
        if spec.expect.verdict is Verdict.HOLDS:
            assert [] == cannot_fail(spec), file.name


@pytest.mark.parametrize("file", ENDLESS, ids=ident)
def test_spec_of_an_application_that_never_stops_comes_out_as_expected(file: Path) -> None:
    assert checked(file).as_expected


@pytest.mark.parametrize("history", ["clocks", "full"])
@pytest.mark.parametrize("file", SMALL, ids=ident)
def test_small_spec_comes_out_as_expected_in_every_encoding(file: Path, history: str) -> None:
    """Same verdict, same property violated, same length of the shortest counterexample."""
    spec = overridden(load_spec(file), {"history": history})
    report = check(spec, selfcheck="off")
    assert () == report.differences
    assert report.as_expected


def test_small_specs_have_exact_counts_and_those_of_violations_a_length() -> None:
    for file in SMALL:
        expect = load_spec(file).expect
        violated = expect.verdict is Verdict.VIOLATED
        assert {"knowledge", "clocks", "full"} == set(expect.counts), file
        assert violated == (expect.counterexample_length is not None), file
        assert violated == (expect.violates is not None), file


def test_no_small_spec_that_holds_is_vacuous() -> None:
    """A witness is looked for, unless none can be: one message each, or a protocol without any."""
    for file in SMALL:
        spec = load_spec(file)
        if spec.expect.verdict is Verdict.HOLDS:
            has_witness = any(name.startswith("witness:") for name in spec.properties)
            assert has_witness or spec.messages == 1 or spec.protocol == "unordered", file


@pytest.mark.parametrize("file", OF_PROTOCOLS, ids=ident)
def test_what_is_said_of_a_protocol_comes_out_as_expected(file: Path) -> None:
    report = checked(file)
    assert () == report.differences
    assert report.as_expected


@pytest.mark.parametrize("file", EXAMPLES, ids=ident)
def test_example_comes_out_as_expected(file: Path) -> None:
    report = checked(file)
    assert () == report.differences
    assert report.as_expected


@pytest.mark.parametrize("file", EXAMPLES, ids=ident)
def test_example_comes_out_as_expected_in_every_encoding(file: Path) -> None:
    for history in ("clocks", "full"):
        report = check(overridden(load_spec(file), {"history": history}), selfcheck="off")
        assert () == report.differences
        assert report.as_expected


def test_examples_name_their_source() -> None:
    for file in EXAMPLES:
        comment = file.read_text(encoding="utf-8").partition("\n\n")[0]
        assert all(line.startswith("# ") for line in comment.splitlines()), file
        sources = ("source", "Hybrid paper", "Mattern and Fünfrocken")
        assert any(name in comment for name in sources), file


def test_examples_have_exact_counts_and_those_of_violations_a_length() -> None:
    """There is no length if what is violated is that something can be reached."""
    for file in EXAMPLES:
        expect = load_spec(file).expect
        assert "knowledge" in expect.counts, file
        no_length = expect.verdict is Verdict.HOLDS or expect.violates == "can-finish"
        assert (expect.counterexample_length is None) == no_length, file


def test_every_example_is_in_the_table_with_its_verdict() -> None:
    page = ROOT / "docs" / "examples.md"
    rows = re.findall(r"\| ([^|]*) \| \[(.*)\]\((.*)\) \|", page.read_text(encoding="utf-8"))
    listed = {(page.parent / link).resolve(): (verdict, name) for verdict, name, link in rows}
    assert set(EXAMPLES) <= set(listed)
    for file, (verdict, name) in listed.items():
        expect = load_spec(file).expect
        words = [expect.violates, str(expect.verdict)]
        if expect.counterexample_length is not None:
            words.append(f"({expect.counterexample_length})")
        assert " ".join(filter(None, words)) == verdict
        assert name == file.stem


@pytest.mark.slow
@pytest.mark.parametrize("file", SLOW, ids=ident)
def test_what_is_said_of_a_protocol_in_larger_bounds_comes_out_as_expected(file: Path) -> None:
    report = check(load_spec(file), selfcheck="off")
    assert () == report.differences
    assert report.as_expected


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=pytest.mark.integration) if "repaired" in file.stem else file
        for file in MUSEUM
    ],
    ids=ident,
)
def test_exhibit_comes_out_as_expected(file: Path) -> None:
    report = checked(file)
    assert () == report.differences
    assert report.as_expected


def test_every_key_of_a_spec_is_documented() -> None:
    page = (ROOT / "docs" / "specs.md").read_text(encoding="utf-8")
    table = page.partition("| key | value |")[2].partition("\n\n")[0]
    cells = [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| `")]
    named = {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}
    assert {*KEYS, "title"} == named


def test_the_museum_lists_its_specs_with_what_they_expect() -> None:
    page = ROOT / "docs" / "museum.md"
    rows = re.findall(r"\| ([^|]*) \| \[(.*)\]\((.*)\) \|", page.read_text(encoding="utf-8"))
    listed = {(page.parent / link).resolve(): (verdict, name) for verdict, name, link in rows}
    assert set(MUSEUM) <= set(listed)
    for file, (verdict, name) in listed.items():
        expect = load_spec(file).expect
        length = expect.counterexample_length
        words = [expect.violates, str(expect.verdict), f"({length})" if length else None]
        assert " ".join(filter(None, words)) == verdict
        assert name == file.stem


def test_every_protocol_has_a_spec() -> None:
    checked = {load_spec(file).protocol for file in [*SMALL, *OF_PROTOCOLS]}
    assert set(protocol_names()) == {name for name in checked if ".py:" not in name}


def test_the_specs_of_table_1_are_its_three_rows_at_three_by_three() -> None:
    specs = targets_of([str(ROOT / "specs" / "table1")]).strictly()
    assert {("mfss", "HOLDS"), ("cykas-secret-mode", "VIOLATED"), ("cykas", "HOLDS")} == {
        (spec.protocol, str(spec.expect.verdict)) for spec in specs
    }
    assert {(3, 3, "any", "unordered")} == {
        (spec.actors, spec.messages, spec.workload, spec.system.network.name) for spec in specs
    }


# The regression: secret-mode sends (Cykas paper, section 2.3)


@pytest.fixture(params=["figure3", "3x2"])
def secret_mode(request: pytest.FixtureRequest) -> CheckReport:
    return checked(ROOT / "specs" / "small" / f"cykas-secret-mode-{request.param}.toml")


def test_secret_mode_violates_causal_delivery_after_nine_transitions(
    secret_mode: CheckReport,
) -> None:
    path = secret_mode.result.counterexample
    assert path is not None
    assert "causal-delivery" == path.violates
    assert 9 == path.length


def test_secret_mode_is_violated_as_in_figure_3(secret_mode: CheckReport) -> None:
    """X sends normally to Y, then eagerly to Z; Z, in secret mode, sends to Y and is first.

    The other two of the five messages are Y's: one that keeps Y waiting for an acknowledgement, and
    therefore an eager one to Z, so that Z takes Y for the one to whom it may tell its secrets.
    """
    path = secret_mode.result.counterexample
    assert path is not None
    violation = wrong_order(path)
    assert violation is not None
    ns1, es1, ns3 = violation.chain
    x, y, z = ns1.sender, violation.actor, es1.receiver
    assert {0, 1, 2} == {x, y, z}
    assert (x, y) == (ns1.sender, ns1.receiver)
    assert (x, z) == (es1.sender, es1.receiver)
    assert (z, y) == (ns3.sender, ns3.receiver)
    assert 5 == len(path.messages)

    how = {p.message: type(p) for s in path.steps for _, p in s.step.sends if hasattr(p, "message")}
    assert [Normal, Eager, Normal] == [how[m] for m in (ns1, es1, ns3)]
    others = [m for m in path.messages if m not in violation.chain]
    assert [(y, x, Normal), (y, z, Eager)] == [(m.sender, m.receiver, how[m]) for m in others]

    sending = next(step for step in path.steps if step.message == ns3)
    state = sending.state.actors[z]
    assert isinstance(state, CykasSecretMode)
    assert state.MODE == 2
    assert state.confidant == y


@pytest.mark.parametrize("name", ["figure3", "3x2"])
def test_the_regression_checks_cykas_within_the_same_bounds(name: str) -> None:
    broken = load_spec(ROOT / "specs" / "small" / f"cykas-secret-mode-{name}.toml")
    sound = load_spec(ROOT / "specs" / "small" / f"cykas-{name}.toml")
    assert Verdict.VIOLATED is broken.expect.verdict
    assert Verdict.HOLDS is sound.expect.verdict
    assert (broken.actors, broken.messages, broken.workload, broken.network) == (
        sound.actors,
        sound.messages,
        sound.workload,
        sound.network,
    )


# Contents of a spec

GOOD = """
title = "a spec"
protocol = "mfss"
actors = 2
messages = 2
properties = ["causal-delivery", "witness:waited"]

[expect]
verdict = "holds"

[expect.counts.knowledge]
unique_states = 81
"""


def test_a_spec_is_read_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "good.toml"
    file.write_text(GOOD)
    assert load_spec(file) == Spec(
        protocol="mfss",
        title="a spec",
        actors=2,
        messages=2,
        properties=("causal-delivery", "witness:waited"),
        expect=Expectation(Verdict.HOLDS, counts={"knowledge": {"unique_states": 81}}),
        file=str(file),
    )


def test_a_spec_holds_its_bounds_and_the_command_line_replaces_them(tmp_path: Path) -> None:
    file = tmp_path / "bounded.toml"
    bounds = 'max_states = 20\nmax_seconds = 60.5\nmax_memory = "4G"\n'
    file.write_text(bounds + GOOD)
    spec = load_spec(file)
    assert Bounds(max_states=20, max_seconds=60.5, max_memory=4 * 10**9) == spec.bounds
    report = check(spec)
    assert "--max-states 20 reached" == report.result.stopped_by
    assert 3 == report.exit_code
    assert check(spec, bounds=Bounds(max_states=1000)).as_expected
    deep = check(spec, bounds=Bounds(max_states=1000, max_depth=2))
    assert "--max-depth 2 reached" == deep.result.stopped_by


WRONG = [
    ("messages = 2", "max_states = 0", "max states is 0; give at least 1"),
    ("messages = 2", 'max_states = "9"', "max states is '9'; it must be a whole number"),
    ("messages = 2", "max_memory = 4", "say which unit is meant, 4G or 4M"),
    ("messages = 2", 'max_memory = "4Q"', "'4Q', and that is no amount of memory"),
    ("messages = 2", "max_memory = true", "max memory is True; it must be a whole number"),
    ("messages = 2", "max_second = 9", "unknown key 'max_second'; did you mean 'max_seconds'?"),
    ('protocol = "mfss"', "", "the spec lacks the key 'protocol'"),
    ("actors = 2", "acters = 2", "unknown key 'acters'; did you mean 'actors'?"),
    ("actors = 2", 'actors = "2"', "actors is '2'; it must be a whole number"),
    ("actors = 2", "actors = true", "actors is True; it must be a whole number"),
    ("actors = 2", "actors = 1", "actors is 1; give at least 2"),
    ("messages = 2", "messages = 0", "messages is 0; give at least 1"),
    ('"mfss"', '"mffs"', "unknown protocol 'mffs'; did you mean 'mfss'?"),
    ('"causal-delivery"', '"casual-delivery"', "did you mean 'causal-delivery'?"),
    ('"witness:waited"', '"witness:waitd"', "unknown witness of mfss 'waitd'; did you mean"),
    ('"holds"', '"hold"', "unknown expected verdict 'hold'; did you mean 'holds'?"),
    ("verdict =", "verdickt =", "unknown key of expect 'verdickt'; did you mean 'verdict'?"),
    (".counts.knowledge", ".counts.knowlege", "did you mean 'knowledge'?"),
    ("unique_states", "unique_state", "unknown count of knowledge 'unique_state'; did you mean"),
    ("= 81", '= "81"', "unique_states is '81'; it must be a whole number"),
    ("[expect.counts.knowledge]\nunique_states", "[expect.counts]\nknowledge", "must be a table"),
    ("messages = 2", 'network = "fife"', "unknown network 'fife'; did you mean 'fifo'?"),
    ("messages = 2", 'history = "clock"', "unknown history 'clock'; did you mean 'clocks'?"),
    ("messages = 2", 'search = "breath"', "unknown search 'breath'; did you mean 'breadth'?"),
    ("messages = 2", 'workload = "some"', "unknown workload 'some'"),
    ("messages = 2", 'workload = { kind = "scrip" }', "did you mean 'script'?"),
    ("messages = 2", 'workload = { kind = "script", send = [] }', "did you mean 'sends'?"),
    ("messages = 2", 'workload = { kind = "script", sends = [[1]] }', "2 actors, 1 list"),
    ("messages = 2", 'workload = { kind = "script", sends = [[1],[1]] }', "sends to itself"),
    ("messages = 2", "messages = ", "is not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), WRONG)
def test_a_wrong_spec_names_the_file_and_what_is_wrong(
    old: str, new: str, sentence: str, tmp_path: Path
) -> None:
    assert old in GOOD
    file = tmp_path / "wrong.toml"
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_spec(file)
    assert str(file) in str(caught.value)
    assert sentence in str(caught.value)


def test_a_folder_is_read_with_its_folders_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b.toml", "a.toml", "c/d.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(GOOD)
    names = [
        Path(spec.label).relative_to(tmp_path) for spec in targets_of([str(tmp_path)]).strictly()
    ]
    assert [Path("a.toml"), Path("b.toml"), Path("c/d.toml")] == names


def test_a_folder_without_specs_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no spec"):
        targets_of([str(tmp_path)]).strictly()


def test_a_protocol_file_is_named_relative_to_its_spec(tmp_path: Path) -> None:
    source = (ROOT / "protocols" / "mfss.py").read_text()
    (tmp_path / "mine.py").write_text(source)
    (tmp_path / "mine.toml").write_text(GOOD.replace('"mfss"', '"mine.py:MFSS"'))
    report = check(load_spec(tmp_path / "mine.toml"))
    assert report.as_expected
    assert "mfss" == report.system.protocol.name


# Options over specs

EXACT = Spec(
    protocol="unordered",
    actors=2,
    expect=Expectation(
        Verdict.VIOLATED, 4, "causal-delivery", {"knowledge": {"unique_states": 28}}
    ),
)


def test_an_option_takes_the_place_of_what_a_spec_says() -> None:
    assert 3 == overridden(EXACT, {"actors": 3}).actors


def test_the_system_of_a_spec_is_built_once_in_a_check(
    antecede: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built: list[Spec] = []

    def counting(spec: Spec) -> System:
        built.append(spec)
        return system_of(spec)

    monkeypatch.setattr("antecede.checker.check.spec.system_of", counting)
    ran = antecede("check", SMALL[0], "--engine", "plain", "--trace", tmp_path / "run.json")
    assert 0 == ran.code
    assert 1 == len(built)


def test_exact_numbers_are_forgotten_when_an_option_changes_what_is_explored() -> None:
    assert Expectation(Verdict.VIOLATED, violates="causal-delivery") == (
        overridden(EXACT, {"actors": 3}).expect
    )
    assert overridden(EXACT, {"actors": 2}).expect == EXACT.expect
    assert overridden(EXACT, {"history": "clocks"}).expect == EXACT.expect


def test_another_expected_verdict_replaces_all_that_a_spec_expects() -> None:
    assert Expectation(Verdict.HOLDS) == overridden(EXACT, {"expect": Verdict.HOLDS}).expect
    assert overridden(EXACT, {"expect": Verdict.VIOLATED}).expect == EXACT.expect


def test_a_folder_is_checked_line_by_line_with_failures_in_full(
    antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "good.toml").write_text(GOOD)
    (tmp_path / "wrong.toml").write_text(GOOD.replace("81", "82"))
    ran = antecede("check", tmp_path)
    assert 1 == ran.code
    lines = ran.out.splitlines()
    assert lines[0].startswith("ok          HOLDS")
    assert lines[1].startswith("FAILED      HOLDS")
    assert lines[1].endswith("wrong.toml")
    assert "  expected unique states 82, found 81 (history knowledge)" in lines
    assert lines[-1].startswith("2 specs: 1 as expected, 1 not as expected; ")
    assert "good.toml: HOLDS" not in ran.out
