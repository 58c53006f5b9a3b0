"""Results as SARIF, and where the handlers of a protocol stand in its source."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.render import sarif
from antecede.checker.render.source import Source, source_of
from antecede.checker.search.options import Options
from tests import readers, runs
from tests.conftest import ROOT, Command
from tests.models import Toy

SECRET = ("cykas-secret-mode", "--workload", runs.FIGURE_3)
RELAYED_SPEC = """
protocol = "relay.py"
actors = 2
messages = 2
# the middle
[expect]
verdict = "{verdict}"
"""
RELAY = '''
"""Sends at once."""

from functools import partial

from antecede.checker.model import Protocol, Step


def send(copies, state, message):
    return Step(state, ((message.receiver, message),) * copies)


def receive(state, src, packet):
    return Step(
        state,
        deliveries=(packet,),
    )


MINE = Protocol(
    name="relay",
    summary="",
    source="",
    initial=lambda actor, actors: None,
    causal_send=partial(send, 1),
    receive=receive,
    witnesses={"never": lambda state: state is not None},
)
'''


def log_of(antecede: Command, file: Path, *arguments: object, **where: Path) -> Any:
    """Return the only run of the log that a check writes."""
    antecede("check", *arguments, "--engine", "plain", "--sarif", file, **where)
    (run,) = json.loads(file.read_text())["runs"]
    return run


def result_of(antecede: Command, file: Path, *arguments: object, **where: Path) -> Any:
    (found,) = log_of(antecede, file, *arguments, **where)["results"]
    return found


def lines_of(file: Path, location: Any) -> str:
    """Return the lines that a location points at."""
    region = location["physicalLocation"]["region"]
    lines = file.read_text().splitlines()
    return "\n".join(lines[region["startLine"] - 1 : region["endLine"]])


def steps_of(result: Any) -> list[Any]:
    ((flow,),) = [[f["threadFlows"] for f in result["codeFlows"]]]
    return [step["location"] for step in flow[0]["locations"]]


def uri_of(location: Any) -> str:
    return str(location["physicalLocation"]["artifactLocation"]["uri"])


# A violation


def test_what_holds_gives_no_result(antecede: Command, tmp_path: Path) -> None:
    run = log_of(antecede, tmp_path / "r.sarif", "mfss", "--actors", "2")
    assert [] == run["results"]
    assert {"executionSuccessful": True, "exitCode": 0, "toolExecutionNotifications": []} == run[
        "invocations"
    ][0]


def test_the_rules_are_the_properties_and_the_expectation(
    antecede: Command, tmp_path: Path
) -> None:
    asked = ("mfss", "--actors", "2", "--property", "causal-delivery,integrity,all-delivered")
    run = log_of(antecede, tmp_path / "r.sarif", *asked)
    names = ["causal-delivery", "integrity", "all-delivered", "expectation"]
    driver = run["tool"]["driver"]
    assert names == [rule["id"] for rule in driver["rules"]]
    assert driver.get("version", "0")[0].isdigit()


def test_a_violation_is_an_error_whose_steps_are_told_as_on_the_terminal(
    antecede: Command, tmp_path: Path
) -> None:
    found = result_of(antecede, tmp_path / "r.sarif", *SECRET, cwd=ROOT)
    assert ("causal-delivery", 0, "fail", "error") == tuple(
        found[key] for key in ("ruleId", "ruleIndex", "kind", "level")
    )
    assert found["message"]["text"].startswith("Alice delivers m5 before m3, which was sent")
    said = [step["message"]["text"] for step in steps_of(found)]
    assert 9 == len(said)
    assert "1. Alice sends m1 to Bob, as Normal(m1)" == said[0]
    assert (
        "9. Alice receives Normal(m3) from Bob, delivers m3 (too late), sends Ack to Bob"
        == (said[8])
    )
    important = [s["importance"] for s in found["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert ["important"] * 7 + ["essential"] * 2 == important


def test_every_step_points_at_the_lines_of_its_handler(antecede: Command, tmp_path: Path) -> None:
    found = result_of(antecede, tmp_path / "r.sarif", *SECRET, cwd=ROOT)
    for step in steps_of(found):
        sends = " sends m" in step["message"]["text"]
        file = "cykas" if sends else "cykas_secret_mode"  # it changes receptions only
        assert f"protocols/{file}.py" == uri_of(step)
        assert "%SRCROOT%" == step["physicalLocation"]["artifactLocation"]["uriBaseId"]
        lines = lines_of(ROOT / uri_of(step), step)
        assert lines.startswith("def application_send(" if sends else "def receive(")
        assert lines.endswith(", sends)" if sends else "return step")
    assert steps_of(found)[-1]["physicalLocation"] == found["locations"][0]["physicalLocation"]


def test_a_timeout_points_at_the_timeout_and_a_loss_at_nothing() -> None:
    path = evolve(runs.lossy(), violates="integrity")
    for step in path.steps:
        location = sarif._step_location(path.system.protocol, step, "")
        kind = step.transition.kind
        assert ("physicalLocation" in location) == (kind != "lose")
        if kind == "timeout":
            assert "def timeout" in lines_of(ROOT / "protocols/hybrid_basic.py", location)


def test_a_protocol_in_a_file_is_relative_to_the_current_folder(
    antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "relay.py").write_text(RELAY)
    found = result_of(antecede, tmp_path / "r.sarif", "a b/relay.py", "--actors", "2", cwd=tmp_path)
    assert {"a%20b/relay.py"} == {uri_of(step) for step in steps_of(found)}
    first, last = steps_of(found)[0], steps_of(found)[-1]
    file = tmp_path / "a b" / "relay.py"
    assert lines_of(file, first).startswith("def send(copies, state, message):")
    assert lines_of(file, last).endswith("        deliveries=(packet,),\n    )")


def test_a_protocol_elsewhere_has_a_whole_uri(antecede: Command, tmp_path: Path) -> None:
    found = result_of(antecede, tmp_path / "r.sarif", *SECRET, cwd=tmp_path)
    assert (ROOT / "protocols/cykas.py").as_uri() == uri_of(steps_of(found)[0])
    assert "uriBaseId" not in found["locations"][0]["physicalLocation"]["artifactLocation"]


def test_a_witness_that_nothing_shows_points_at_its_predicate(
    antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "relay.py").write_text(RELAY)
    arguments = ("relay.py", "--actors", "2", "--property", "witness:never")
    found = result_of(antecede, tmp_path / "r.sarif", *arguments, cwd=tmp_path)
    assert "witness:never" == found["ruleId"]
    assert "codeFlows" not in found
    assert "witnesses=" in lines_of(tmp_path / "relay.py", found["locations"][0])


# Fingerprints


def test_the_same_question_has_the_same_fingerprint_wherever_the_lines_are(
    antecede: Command, tmp_path: Path
) -> None:
    seen = set()
    for number, text in enumerate((RELAY, RELAY, f"\n\n{RELAY}")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "relay.py").write_text(text)
        arguments = (folder / "relay.py" if number else "relay.py", "--actors", "2")
        found = result_of(antecede, tmp_path / "r.sarif", *arguments, cwd=folder)
        seen.add(json.dumps(found["partialFingerprints"]))
    assert 1 == len(seen)


@pytest.mark.parametrize(
    "other", [("--actors", "3"), ("--network", "fifo"), ("--property", "fifo-delivery")]
)
def test_another_question_has_another_fingerprint(
    antecede: Command, tmp_path: Path, other: tuple[str, str]
) -> None:
    (tmp_path / "relay.py").write_text(RELAY)
    one = result_of(antecede, tmp_path / "1", "unordered", "--actors", "2", "--messages", "2")
    two = log_of(antecede, tmp_path / "2", "unordered", "--actors", "2", *other)["results"]
    assert all(one["partialFingerprints"] != found["partialFingerprints"] for found in two)


# Expectations, and searches that do not come to an end


def test_an_expected_violation_is_no_result(antecede: Command, tmp_path: Path) -> None:
    run = log_of(antecede, tmp_path / "r.sarif", *SECRET, "--expect", "violated")
    assert [] == run["results"]


def test_a_spec_that_is_wrong_points_at_its_expectation(antecede: Command, tmp_path: Path) -> None:
    text = 'protocol = "mfss"\nactors = 2\n\n[expect]\nverdict = "violated"\n'
    (tmp_path / "spec.toml").write_text(text)
    found = result_of(antecede, tmp_path / "r.sarif", "spec.toml", cwd=tmp_path)
    assert ("expectation", "error") == (found["ruleId"], found["level"])
    assert found["message"]["text"].startswith("expected VIOLATED, found HOLDS.")
    assert "spec.toml" == uri_of(found["locations"][0])
    assert "[expect]" == lines_of(tmp_path / "spec.toml", found["locations"][0])


def test_a_counterexample_of_another_length_is_shown(antecede: Command, tmp_path: Path) -> None:
    text = (ROOT / "specs/small/cykas-secret-mode-figure3.toml").read_text()
    (tmp_path / "spec.toml").write_text(re.sub("length = 9", "length = 8", text))
    found = result_of(antecede, tmp_path / "r.sarif", "spec.toml", cwd=tmp_path)
    assert "expectation" == found["ruleId"]
    assert "8 transitions, found 9" in found["message"]["text"]
    assert 9 == len(steps_of(found))


def test_an_unfinished_search_is_open_and_never_silent(antecede: Command, tmp_path: Path) -> None:
    run = log_of(antecede, tmp_path / "r.sarif", "mfss", "--max-states", "9")
    (found,), (invocation,) = run["results"], run["invocations"]
    assert ("expectation", "open", "none") == tuple(
        found[key] for key in ("ruleId", "kind", "level")
    )
    assert "--max-states 9 reached" in found["message"]["text"]
    assert (False, 3) == (invocation["executionSuccessful"], invocation["exitCode"])
    (notification,) = invocation["toolExecutionNotifications"]
    assert "warning" == notification["level"]


def test_random_walks_that_find_nothing_are_open(antecede: Command, tmp_path: Path) -> None:
    found = result_of(antecede, tmp_path / "r.sarif", "mfss", "--search", "random", "--walks", 2)
    assert "open" == found["kind"]
    assert "nothing is proved" in found["message"]["text"]


def test_a_protocol_that_fails_is_an_error(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "relay.py").write_text(RELAY.replace("deliveries=(packet,)", "what=0"))
    run = log_of(antecede, tmp_path / "r.sarif", "relay.py", "--actors", "2", cwd=tmp_path)
    (found,), (invocation,) = run["results"], run["invocations"]
    assert ("fail", "error") == (found["kind"], found["level"])
    assert "The check failed" in found["message"]["text"]
    assert 2 == invocation["exitCode"]
    assert "error" == invocation["toolExecutionNotifications"][0]["level"]


def test_a_folder_is_one_run(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "relay.py").write_text(RELAY)
    (tmp_path / "a.toml").write_text(RELAYED_SPEC.format(verdict="violated"))
    (tmp_path / "b.toml").write_text(RELAYED_SPEC.format(verdict="holds"))
    found = result_of(antecede, tmp_path / "r.sarif", ".", cwd=tmp_path)
    assert "causal-delivery" == found["ruleId"]
    assert "relay.py" == uri_of(found["locations"][0])


@pytest.mark.parametrize("other", ["--json", "--trace", "--junit"])
def test_two_outputs_in_one_file_are_refused(antecede: Command, tmp_path: Path, other: str) -> None:
    file = tmp_path / "r.json"
    ran = antecede("check", "mfss", other, file, "--sarif", file)
    assert (2, []) == (ran.code, list(tmp_path.iterdir()))
    assert f"{other} and --sarif both name" in ran.err


def test_a_file_that_cannot_be_written_is_refused_before_the_search(
    antecede: Command, tmp_path: Path
) -> None:
    ran = antecede("check", "mfss", "--sarif", tmp_path / "none" / "r.sarif")
    assert 2 == ran.code
    assert "cannot write" in ran.err


# The standard


def logs(antecede: Command, folder: Path) -> Iterator[Path]:
    """Write a log of every kind: violations, expectations, unfinished searches, hostile names."""
    (folder / "relay.py").write_text(RELAY)
    (folder / "split.toml").write_text('protocol = "unordered"\nactors = 2\nsends = "split"\n')
    (folder / "fails.py").write_text(RELAY.replace("deliveries=(packet,)", "what=0"))
    commands: tuple[tuple[object, ...], ...] = (
        SECRET,
        ("mfss", "--actors", "2"),
        ("mfss", "--max-states", "9"),
        ("relay.py", "--actors", "2", "--property", "witness:never"),
        ("fails.py", "--actors", "2"),
        ("cykas-as-printed", "--actors", "2"),
        ("hybrid-basic", "--network", "lossy:1", "--actors", "2", "--messages", "1"),
        (ROOT / "specs/small/cykas-secret-mode-figure3.toml", "--expect", "holds"),
        ("split.toml",),
        ("no-protocol-of-ours", "none.toml", "fifo", "--actors", "2"),
    )
    for number, arguments in enumerate(commands):
        file = folder / f"{number}.sarif"
        log_of(antecede, file, *arguments, cwd=folder)
        yield file
    file = folder / "hostile.sarif"
    report = check(
        Spec("evil", actors=2), Options(engine="plain"), protocol=runs.HOSTILE, selfcheck="off"
    )
    file.write_text(sarif.text([report]))
    yield file


@pytest.mark.integration
def test_logs_keep_to_the_schema_of_the_standard(
    antecede: Command, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    files = list(logs(antecede, tmp_path))
    broken = tmp_path / "broken.sarif"
    broken.write_text(files[0].read_text().replace('"startLine": ', '"startLine": -'))
    *found, wrong = readers.run_node(pytestconfig, "sarif.mjs", *files, broken)
    assert [[]] * len(files) == found
    assert wrong


@pytest.mark.integration
def test_logs_keep_to_the_rules_that_no_schema_tells(antecede: Command, tmp_path: Path) -> None:
    for file in logs(antecede, tmp_path):
        (run,) = json.loads(file.read_text())["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert len(rules) == len(set(rules))
        for result in run["results"]:
            assert result["ruleId"] == rules[result["ruleIndex"]]
            assert ("none" == result["level"]) == ("fail" != result["kind"])
            assert "physicalLocation" in result["locations"][0]
            orders = [
                step["executionOrder"]
                for flow in result.get("codeFlows", ())
                for step in flow["threadFlows"][0]["locations"]
            ]
            assert list(range(1, len(orders) + 1)) == orders


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{0} and {m1}", "{{0}} and {{m1}}"),
        ("[click](http://x)", "[click] (http://x)"),
        ("a\nb\x1b", "a b "),
        ("", " "),
    ],
)
def test_a_message_has_neither_placeholders_nor_links(text: str, shown: str) -> None:
    assert {"text": shown} == sarif._message(text)


# Where handlers stand


def plain_handler(state: Any, message: Message) -> Step:
    """Return nothing of interest."""
    return Step(
        state,
    )


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Any:
        return function(*arguments)

    return wrapper


@traced
@functools.cache
def decorated(state: Any) -> Any:
    return state


class Handlers:
    """Handlers that are methods, and one that is called as an object."""

    def method(self, state: Any) -> Any:
        return state

    def __call__(self, state: Any) -> Any:
        return state


LAMBDA = {
    "one": lambda state: state,
    "two": lambda state, message: Step(
        state,
        deliveries=(message,),
    ),
}


def shown(source: Source | None) -> str:
    assert source is not None
    return "\n".join(Path(source.file).read_text().splitlines()[source.first - 1 : source.last])


@pytest.mark.parametrize(
    ("handler", "first", "last"),
    [
        (plain_handler, "def plain_handler(", "    )"),
        (functools.partial(functools.partial(plain_handler, 1), 2), "def plain_handler(", "    )"),
        (traced(plain_handler), "def plain_handler(", "    )"),
        (decorated, "@traced", "    return state"),
        (Handlers().method, "    def method(", "return state"),
        (Handlers(), "    def __call__(", "return state"),
        (LAMBDA["one"], '    "one": lambda', "state,"),
        (LAMBDA["two"], '    "two": lambda', "    ),"),
    ],
)
def test_the_source_of_a_handler_is_that_of_what_runs_in_the_end(
    handler: Callable[..., Any], first: str, last: str
) -> None:
    lines = shown(source_of(handler))
    assert lines.startswith(first)
    assert lines.endswith(last)
    assert lines.count("def ") + lines.count("lambda") == 1


def test_a_handler_without_source_has_none() -> None:
    namespace: dict[str, Any] = {}
    exec("def typed_in(state): return state", namespace)
    for handler in (namespace["typed_in"], len, Toy, str.upper, None):
        assert source_of(handler) is None


def test_what_wraps_itself_ends() -> None:
    handlers = Handlers()
    handlers.__wrapped__ = handlers  # type: ignore[attr-defined]
    assert source_of(handlers) is None


def test_steps_without_source_are_named_by_their_handler() -> None:
    namespace: dict[str, Any] = {"Step": Step}
    exec("def send(state, message): return Step(state, ((message.receiver, message),))", namespace)
    exec("def get(state, src, m): return Step(state, deliveries=(m,))", namespace)
    protocol = Protocol("typed", lambda _actor, _actors: None, namespace["send"], namespace["get"])
    report = check(
        Spec("typed", actors=2), Options(engine="plain"), protocol=protocol, selfcheck="off"
    )
    (run,) = json.loads(sarif.text([report]))["runs"]
    (found,) = run["results"]
    names = {step["logicalLocations"][0]["fullyQualifiedName"] for step in steps_of(found)}
    assert {"causal_send", "receive"} == names
    assert "typed" == found["locations"][0]["logicalLocations"][0]["name"]


def test_a_spec_that_cannot_be_checked_is_a_result_at_the_spec(
    antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "bad.toml").write_text('protocol = "mfs"\nactors = 2\n')
    (tmp_path / "good.toml").write_text('protocol = "mfss"\nactors = 2\n')
    run = log_of(antecede, tmp_path / "r.sarif", "bad.toml", "good.toml", cwd=tmp_path)
    (result,) = run["results"]
    assert "did you mean 'mfss'" in result["message"]["text"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert "bad.toml" == artifact["uri"]
    (invocation,) = run["invocations"]
    assert (False, 2) == (invocation["executionSuccessful"], invocation["exitCode"])
