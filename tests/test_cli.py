"""The command as its users meet it: exit codes, sentences, files, interruption."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from antecede import cli
from antecede.checker.check.engine import kernels_are_compiled
from antecede.checker.commands.help_pages import PAGES, option_texts
from antecede.checker.render.files import _beside, check_writable, write_whole
from antecede.checker.search.options import ENGINES, SEARCHES, Bounds, Options
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import default_properties
from antecede.checker.support.settings import read, settings_of
from tests.conftest import COMMAND, ROOT, Command, Ran, begun, in_a_process, without_progress

SECRET = ("check", "cykas-secret-mode", "--workload", "script:[[1,2],[0,2],[0]]")

KEYS = {
    "schema",
    "verdict",
    "as_expected",
    "protocol",
    "actors",
    "messages",
    "network",
    "workload",
    "history",
    "search",
    "engine",
    "properties",
    "unique_states",
    "total_states",
    "depth",
    "final_states",
    "seconds",
    "peak_memory_bytes",
    "counterexample",
    "versions",
    "error",
    "stopped_by",
    "statistics",
}


# Exit codes of check


def test_a_protocol_that_holds_as_expected_exits_0(antecede: Command) -> None:
    ran = antecede("check", "mfss", "--actors", 2)
    assert 0 == ran.code
    assert ran.out.startswith("mfss: HOLDS ")


def test_a_violation_exits_1_unless_it_is_expected(antecede: Command) -> None:
    assert 1 == antecede("check", "unordered", "--actors", 2).code
    assert 0 == antecede("check", "unordered", "--actors", 2, "--expect", "violated").code


def test_a_protocol_that_holds_exits_1_if_a_violation_is_expected(antecede: Command) -> None:
    ran = antecede("check", "mfss", "--actors", 2, "--expect", "violated")
    assert 1 == ran.code
    assert "  expected VIOLATED, found HOLDS\n" in ran.out


@pytest.mark.parametrize("expect", ["holds", "violated"])
@pytest.mark.parametrize(
    "bound", [("--max-states", 100), ("--max-depth", 4), ("--max-memory", "1M")]
)
def test_a_search_that_hits_a_bound_exits_3_whatever_is_expected(
    bound: tuple[str, object], expect: str, antecede: Command
) -> None:
    ran = antecede("check", "mfss", *bound, "--expect", expect)
    assert 3 == ran.code
    assert f"INCOMPLETE: {bound[0]}" in ran.out
    assert f"Raise {bound[0]}" in " ".join(ran.out.split())


def test_random_walks_that_find_nothing_exit_3(antecede: Command) -> None:
    arguments = ("check", "mfss", "--actors", 2, "--search", "random", "--walks", 20)
    assert 3 == antecede(*arguments).code


def test_an_internal_error_exits_4_with_a_sentence_and_without_a_traceback(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antecede.checker.commands.check.check_all", None)
    ran = antecede("check", "mfss")
    assert 4 == ran.code
    assert "Internal error: TypeError: 'NoneType' object is not callable" in ran.err
    assert "ANTECEDE_DEBUG=1" in ran.err
    assert "Traceback" not in ran.err
    monkeypatch.setenv("ANTECEDE_DEBUG", "1")
    assert "Traceback" in antecede("check", "mfss").err


def test_ctrl_c_before_the_search_exits_3_too(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted_early(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("antecede.checker.commands.check.check_all", interrupted_early)
    ran = antecede("check", "mfss")
    assert 3 == ran.code
    assert "Interrupted; there is no result." in ran.err


@pytest.mark.parametrize(
    ("engine", "search"),
    [
        *((engine, search) for engine in ("local", "plain") for search in SEARCHES),
        ("spark", "breadth"),
    ],
)
def test_the_engine_told_is_the_one_that_ran(engine: str, search: str, antecede: Command) -> None:
    size = ("--actors", 2, "--walks", 5, "--engine", engine, "--search", search)
    assert engine == json.loads(antecede("check", "mfss", *size, "--json", "-").out)["engine"]


# Wrong usage and input

WRONG = [
    (("check", "cykass"), "unknown protocol 'cykass'; did you mean 'cykas'?"),
    (("check", "specs/smal"), "there is no file or folder 'specs/smal'"),
    (("check", "none.toml"), "cannot read the spec 'none.toml': No such file"),
    (("check", "none.py:P"), "there is no file 'none.py'; give FILE.py:OBJECT or a protocol name"),
    (
        ("check", str(ROOT / "protocols" / "mffs.py")),
        f"did you mean '{ROOT / 'protocols' / 'mfss.py'}'?",
    ),
    (("check", "mfss", "--actors", "1"), "actors is 1; give at least 2"),
    (
        ("check", "mfss", "--actors", "two"),
        "actors is 'two'; it must be a whole number",
    ),
    (("check", "mfss", "--messages", "0"), "messages is 0; give at least 1"),
    (("check", "mfss", "--network", "fife"), "unknown network 'fife'; did you mean 'fifo'?"),
    (("check", "mfss", "--history", "some"), "'some' is not one of 'knowledge', 'clocks', 'full'"),
    (("check", "mfss", "--search", "wide"), "'wide' is not one of 'breadth', 'depth', 'random'"),
    (("check", "mfss", "--engine", "fast"), "'--engine': 'fast' is not"),
    (("check", "mfss", "--expect", "joy"), "'joy' is not one of 'holds', 'violated'"),
    (("check", "mfss", "--selfcheck", "no"), "'no' is not one of 'on', 'all', 'off'"),
    (("check", "mfss", "--workload", "eny"), "unknown workload 'eny'; did you mean 'any'?"),
    (("check", "mfss", "--workload", "script:[[1]]"), "3 actors, 1 list"),
    (("check", "mfss", "--workload", "script:[["), "needs a JSON list after the colon"),
    (
        ("check", "mfss", "--property", "causal"),
        "unknown property 'causal'; did you mean 'causal-delivery'?",
    ),
    (("check", "mfss", "--property", ""), "names nothing; give a name, or leave it out"),
    (("check", "mfss", "--property", " , "), "names nothing; give a name, or leave it out"),
    (
        ("check", "mfss", "--property", "integrity", "--property", ""),
        "names nothing; give a name, or leave it out",
    ),
    (("explore", "mfss", "--property", ""), "names nothing; give a name, or leave it out"),
    (("simulate", "--figure", "cykas-4", " "), "names nothing; give a name, or leave it out"),
    (("sweep", "--protocol", ","), "names nothing; give a name, or leave it out"),
    (("sweep", "mfss", "--actors", "2,,3"), "an item of the list '2,,3' is empty"),
    (("simulate", "mfss,,rst"), "an item of the list 'mfss,,rst' is empty"),
    (("simulate", "mfss", "--actors", "2,,3"), "actors is ''; give a whole number"),
    (("sweep", "mfss", "--property", ""), "names nothing; give a name, or leave it out"),
    (
        ("check", "mfss", "--property", "witness:x"),
        "unknown witness of mfss 'x'; available: waited",
    ),
    (
        ("check", "mfss", "--property", "invariant:x"),
        "unknown invariant of mfss 'x'; available: buffer-in-sending-order, ",
    ),
    (("check", "fifo", "--property", "invariant:x"), "'fifo' declares no invariant"),
    (
        ("prove", "mfss", "--property", "integrity"),
        "prove has no option --property; check, test, replay, explore, export and sweep have it.",
    ),
    (("check", "mfss", "--fields", "3"), "check has no option --fields; audit has it."),
    (("check", "mfss", "--propert", "x"), "No such option '--propert'. Did you mean '--property'?"),
    (("check", "mfss", "--walks", "0"), "walks is 0; give at least 1"),
    (("check", "mfss", "--max-states", "0"), "max states is 0; give at least 1"),
    (("check", "mfss", "--max-depth", "-1"), "max depth is -1; give at least 1"),
    (("check", "mfss", "--max-seconds", "0"), "max seconds is 0.0; give more than 0"),
    (("check", "mfss", "--max-seconds", "nan"), "max seconds is 'nan'; give a number, such as 60"),
    (
        ("check", "mfss", "--max-memory", "4Q"),
        "'4Q', and that is no amount of memory; give 500M",
    ),
    (
        ("check", "mfss", "--max-memory", "4"),
        "max memory is '4', which would be 4 bytes; say which unit is meant, 4G or 4M",
    ),
    (("check", "mfss", "--max-memory", "0G"), "'0G', and that is no amount of memory"),
    (("check", "mfss", "--trace", "t.bmp"), "'t.bmp': unsupported trace format. Use one of: .json"),
    (("check", "mfss", "--json", "t.json", "--trace", "t.json"), "both name 't.json'"),
    (("check", "mfss", "--json", "no/r.json"), "cannot write to 'no/r.json': there is no folder"),
    (("check", "mfss", "--trace", "no/t.json"), "cannot write to 'no/t.json': there is no folder"),
    (("check", "mfss", "--json", "."), "cannot write to '.': it is a folder"),
    (
        ("check", "mfss", "--checkpoint", "hdfs:///antecede"),
        "checkpoint is 'hdfs:///antecede', and antecede cannot use hdfs:// for folders",
    ),
    (
        ("check", "mfss", "--engine", "spark", "--resume", "s3a://bucket/x"),
        "resume is 's3a://bucket/x', and antecede cannot use s3a:// for folders",
    ),
    (("check",), "Missing argument"),
    (("chek",), "unknown command 'chek'; did you mean 'check'?"),
    (("replay", "none.json"), "cannot read the trace 'none.json': No such file"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG, ids=lambda part: " ".join(part)[:40])
def test_wrong_input_exits_2_with_a_sentence_before_any_search(
    arguments: tuple[str, ...], sentence: str, antecede: Command, tmp_path: Path
) -> None:
    ran = antecede(*arguments, cwd=tmp_path)
    assert 2 == ran.code
    assert "" == ran.out
    assert sentence in " ".join(ran.err.split())
    assert "Traceback" not in ran.err
    assert [] == list(tmp_path.iterdir())


def test_a_trace_of_a_whole_folder_is_refused(antecede: Command) -> None:
    ran = antecede("check", ROOT / "specs" / "table1", "--trace", "t.json")
    assert 2 == ran.code
    assert "give one spec, not several" in ran.err


@pytest.mark.parametrize("option", ["--checkpoint", "--resume"])
def test_checkpoints_of_a_whole_folder_are_refused(
    option: str, antecede: Command, tmp_path: Path
) -> None:
    ran = antecede("check", str(ROOT / "specs/small"), option, str(tmp_path))
    assert 2 == ran.code
    assert f"{option} is for one check; give one spec, not several" in ran.err


@pytest.mark.parametrize(
    ("text", "size"),
    [("500M", 500 * 10**6), ("4G", 4 * 10**9), ("1.5gb", 15 * 10**8), ("7000000", 7_000_000)],
)
def test_amounts_of_memory_are_read_as_people_write_them(text: str, size: int) -> None:
    (known,) = (s for s in settings_of(Bounds) if s.name == "max_memory")
    assert size == read(known, text)


# A user's own protocol

GOOD = """
from attrs import frozen
from antecede.checker.model import Message, Protocol, Step

@frozen
class State:
    seen: int = 0

@frozen
class Data:
    message: Message

def causal_send(state, message):
    return Step(state, sends=((message.receiver, Data(message)),))

def receive(state, src, packet):
    return Step(state, deliveries=(packet.message,))

PROTOCOL = Protocol(
    name="mine",
    summary="",
    source="",
    initial=lambda actor, actors: State(),
    causal_send=causal_send,
    receive=receive,
)
"""


def own(tmp_path: Path, old: str = "", new: str = "") -> str:
    """Write the protocol with `old` replaced, and return its file."""
    assert old in GOOD
    (tmp_path / "mine.py").write_text(GOOD.replace(old, new, 1))
    return "mine.py"


def test_a_protocol_in_a_file_is_checked_like_a_registered_one(
    antecede: Command, tmp_path: Path
) -> None:
    file = own(tmp_path)
    for target in (file, f"{file}:PROTOCOL", f"{tmp_path / file}:PROTOCOL"):
        ran = antecede("check", target, "--actors", 2, "--network", "fifo", cwd=tmp_path)
        assert 0 == ran.code
        assert ": HOLDS" in ran.out


BROKEN = [
    ("def receive(", "def receive(:", "mine.py, line 16: ", "the file is not valid Python"),
    (
        "seen: int = 0",
        "seen: int = 1 / 0",
        "importing mine.py failed: ZeroDivisionError: division by zero (line 7 of ",
        "mine.py)",
    ),
    ("@frozen", "exit(7)", "importing mine.py failed: SystemExit: 7 (line 5 of ", ""),
    ("seen: int = 0", "seen: int = int('a')", "literal for int() with base 10: 'a' (line 7", ""),
    (
        "return Step(state, deliveries=(packet.message,))",
        "return Step(state, deliveries=(packet.messages,))",
        "receive of protocol 'mine' raised AttributeError",
        "receive(State(seen=0), ",
    ),
    ("    return Step(state, sends", "    Step(state, sends", "it must return a Step", ""),
    ("(message.receiver, Data(message))", "(7, Data(message))", "from 0 to 1", ""),
    ("lambda actor, actors: State()", "lambda actor: State()", "initial of protocol 'mine'", ""),
    (
        "return Step(state, deliveries",
        "object.__setattr__(state, 'seen', 1)\n    return Step(state, deliveries",
        "receive of protocol 'mine'",
        "",
    ),
    (
        "return Step(state, sends=((message.receiver, Data(message)),))",
        "return Step(state, sends=tuple((d, Data(message)) for d in {str(x) for x in 'abc'}))",
        "causal_send of protocol 'mine'",
        "",
    ),
]


@pytest.mark.parametrize(("old", "new", "sentence", "more"), BROKEN)
def test_a_broken_protocol_exits_2_and_says_what_to_mend(
    old: str, new: str, sentence: str, more: str, antecede: Command, tmp_path: Path
) -> None:
    file = own(tmp_path, old, new)
    ran = antecede("check", file, "--actors", 2, cwd=tmp_path)
    assert 2 == ran.code
    assert sentence in ran.out + ran.err
    assert more in ran.out + ran.err
    assert "Traceback" not in ran.err


def test_a_handler_that_raises_is_an_error_in_the_json_too(
    antecede: Command, tmp_path: Path
) -> None:
    file = own(tmp_path, "packet.message,", "packet.messages,")
    ran = antecede("check", file, "--json", "-", cwd=tmp_path)
    found = json.loads(ran.out)
    assert 2 == ran.code
    assert "ERROR" == found["verdict"]
    assert found["as_expected"] is False
    assert "raised AttributeError" in found["error"]


def test_the_object_in_the_file_is_named_with_the_choices(
    antecede: Command, tmp_path: Path
) -> None:
    file = own(tmp_path)
    ran = antecede("check", f"{file}:PROTOCOLL", cwd=tmp_path)
    assert "unknown object in mine.py 'PROTOCOLL'; did you mean 'PROTOCOL'?" in ran.err
    ran = antecede("check", f"{file}:State", cwd=tmp_path)
    assert "'State' in mine.py is a type; give an antecede.Protocol" in ran.err


def test_the_first_start_says_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "antecede compiles its search code"
    arguments = ["check", "mfss", "--actors", "2", "--messages", "2"]
    monkeypatch.setattr("antecede.checker.commands.check.kernels_are_compiled", lambda: False)
    assert 0 == cli.main(arguments)
    assert said in capsys.readouterr().err
    assert 0 == cli.main([*arguments, "--quiet"])
    assert said not in capsys.readouterr().err
    monkeypatch.undo()
    assert 0 == cli.main(arguments)
    assert said not in capsys.readouterr().err
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not kernels_are_compiled()


# JSON


def test_json_counts_representatives_and_what_they_stand_for(antecede: Command) -> None:
    """Of the 81 states of mfss 2 x 2, 9 are their own mirror image: 36 pairs and 9."""
    ran = antecede("check", "mfss", "--actors", 2, "--json", "-")
    found = json.loads(ran.out)
    whole = {"unique_states": 81, "total_states": 181, "depth": 13, "final_states": 1}
    assert whole == {key: found[key] for key in whole}, "the counts of the report"
    assert (45, False) == (found["explored"]["unique_states"], found["counts_are_reduced"])
    assert {"on", "permutations", "reduction"} == set(found["statistics"]["symmetry"])


def test_statistics_tell_transitions_by_kind_and_states_by_depth(antecede: Command) -> None:
    ran = antecede("check", "mfss", "--actors", 2, "--no-symmetry", "--verbose")
    assert 0 == ran.code
    lines = [line.split() for line in ran.out.splitlines()]
    fired = {
        " ".join(line[:-2]): (int(line[-2]), int(line[-1]))
        for line in lines[-60:]
        if line[:1] in (["causal-send"], ["receive"]) and len(line) >= 3
    }
    assert {"causal-send", "receive Data", "receive Ack"} == set(fired)
    assert 180 == sum(total for total, _ in fired.values())
    assert 80 == sum(new for _, new in fired.values())
    assert "states per depth" in ran.out


def test_json_on_standard_output_stands_alone_and_has_the_stable_keys(
    antecede: Command,
) -> None:
    usual = ",".join(default_properties())
    asked = ("check", "mfss", "--actors", 2, "--no-symmetry", "--property", usual)
    ran = antecede(*asked, "--json", "-")
    found = json.loads(ran.out)
    assert 0 == ran.code
    assert KEYS <= set(found)
    expected = {
        "schema": "antecede/result/2",
        "verdict": "HOLDS",
        "as_expected": True,
        "protocol": "mfss",
        "actors": 2,
        "messages": 2,
        "network": "unordered",
        "workload": "any",
        "history": "knowledge",
        "search": "breadth",
        "properties": {
            "causal-delivery": "HOLDS",
            "integrity": "HOLDS",
            "all-delivered": "HOLDS",
        },
        "unique_states": 81,
        "total_states": 181,
        "depth": 13,
        "final_states": 1,
        "counts_are_reduced": False,
        "explored": {
            "unique_states": 81,
            "total_states": 181,
            "depth": 13,
            "final_states": 1,
        },
        "counterexample": None,
        "error": None,
        "stopped_by": None,
    }
    assert expected == {key: found[key] for key in expected}
    assert found["seconds"] >= 0
    assert found["peak_memory_bytes"] > 1_000_000
    assert {"antecede", "python"} <= set(found["versions"])


def test_json_of_an_unfinished_search_says_what_stopped_it(antecede: Command) -> None:
    bound = ("--max-states", 50, "--expect", "violated")
    found = json.loads(antecede("check", "mfss", *bound, "--json", "-").out)
    assert "INCOMPLETE" == found["verdict"]
    assert [] == found["differences"]
    assert found["as_expected"] is False
    assert "--max-states 50 reached" == found["stopped_by"]


def test_json_of_random_walks_says_how_to_repeat_them(antecede: Command) -> None:
    arguments = ("check", "mfss", "--search", "random", "--walks", 5, "--seed", 9, "--json", "-")
    found = json.loads(antecede(*arguments).out)["statistics"]
    assert {"walks": 5, "seed": 9}.items() <= found.items()


def test_json_of_a_violation_holds_every_step(antecede: Command) -> None:
    found = json.loads(antecede(*SECRET, "--json", "-").out)["counterexample"]
    assert "causal-delivery" == found["property"]
    assert 9 == found["length"] == len(found["transitions"])
    assert found["explanation"].startswith("Alice delivers m5 before m3, although m3 happened")
    send, receive = found["transitions"][0], found["transitions"][4]
    assert {
        "number": 1,
        "kind": "causal-send",
        "actor": 0,
        "message": {"name": "m1", "sender": 0, "number": 1, "destinations": [1]},
        "packet": None,
        "sends": [
            {"dst": 1, "packet": "Normal(message=Message(sender=0,number=1,destinations=(1)))"}
        ],
        "deliveries": [],
        "clocks": [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
        "text": "Alice sends m1 to Bob, as Normal(m1)",
    } == {key: value for key, value in send.items() if key != "state"}
    m4 = {"name": "m4", "sender": 1, "number": 2, "destinations": [2]}
    assert {
        "number": 5,
        "kind": "receive",
        "actor": 2,
        "src": 1,
        "dst": 2,
        "message": m4,
        "packet": "Eager(message=Message(sender=1,number=2,destinations=(2)))",
        "sends": [{"dst": 1, "packet": "Ack()"}],
        "deliveries": [m4],
        "clocks": [[2, 0, 0], [0, 2, 0], [0, 2, 0]],
        "text": "Carol receives Eager(m4) from Bob, delivers m4, sends Ack to Bob",
    } == {key: value for key, value in receive.items() if key != "state"}
    assert (
        "CykasSecretMode(UNACK=[0 0 0], EAGER_SENT=((), (), ()), OB=(), MODE=1, confidant=1)"
        == (receive["state"][2])
    )


def test_json_goes_to_a_file_beside_the_report(antecede: Command, tmp_path: Path) -> None:
    ran = antecede("check", "mfss", "--actors", 2, "--json", "r.json", cwd=tmp_path)
    assert ran.out.startswith("mfss: HOLDS")
    assert "HOLDS" == json.loads((tmp_path / "r.json").read_text())["verdict"]
    assert ["r.json"] == os.listdir(tmp_path)


def test_json_of_a_folder_is_one_object_with_a_result_per_spec(
    antecede: Command, tmp_path: Path
) -> None:
    for name in ("mfss-2x2", "unordered-2x2"):
        (tmp_path / f"{name}.toml").write_text((ROOT / f"specs/small/{name}.toml").read_text())
    ran = antecede("check", tmp_path, "--json", "-")
    found = json.loads(ran.out)
    assert 0 == ran.code == found["exit_code"]
    assert found["as_expected"] is True
    assert ["HOLDS", "VIOLATED"] == [check["verdict"] for check in found["checks"]]
    assert str(tmp_path / "mfss-2x2.toml") == found["checks"][0]["spec"]


def test_quiet_leaves_the_verdict_only(antecede: Command) -> None:
    assert Ran(1, "unordered: VIOLATED\n", "") == antecede(
        "check", "unordered", "--actors", 2, "--quiet"
    )


# Files are written whole or not at all


def test_a_file_that_exists_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("old and long")
    check_writable(str(target))
    assert "old and long" == target.read_text()
    write_whole(str(target), "new")
    assert "new" == target.read_text()
    assert ["r.json"] == os.listdir(tmp_path)


def test_a_link_is_followed_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "real" / "r.json")
    assert (tmp_path / "real") == _beside(tmp_path / "link.json").parent
    write_whole(str(tmp_path / "link.json"), "text")
    assert (tmp_path / "link.json").is_symlink()
    assert "text" == (tmp_path / "real" / "r.json").read_text()


def test_a_file_that_cannot_be_put_in_place_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(_self: Path, _target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match=r"cannot write to .*: No space left on device"):
        write_whole(str(tmp_path / "r.json"), "text")
    assert [] == os.listdir(tmp_path)


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    """Nor is a device; a test that names one would replace it on the day it fails."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    check_writable(str(pipe))
    write_whole(str(pipe), "text")
    assert pipe.is_fifo()
    assert b"text" == os.read(reader, 10)
    os.close(reader)


def test_an_unwritable_file_is_said_so_before_the_search(
    antecede: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def searched(*_arguments: object, **_options: object) -> None:
        raise AssertionError("the search started")

    monkeypatch.setattr("antecede.checker.commands.check.check_all", searched)
    (tmp_path / "r.json").write_text("mine")
    monkeypatch.setattr(os, "access", lambda *_arguments: False)
    ran = antecede("check", "mfss", "--json", tmp_path / "r.json")
    assert 2 == ran.code
    assert "the file is read-only" in ran.err
    assert "mine" == (tmp_path / "r.json").read_text()


@pytest.mark.integration
def test_a_full_standard_output_is_said_so(tmp_path: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert 2 == done.returncode
    assert "Error: cannot write to standard output: No space left on device\n" == done.stderr


# Traces


@pytest.fixture
def trace(antecede: Command, tmp_path: Path) -> Path:
    """Save the counterexample of cykas-secret-mode on Figure 3."""
    antecede(*SECRET, "--trace", "t.json", cwd=tmp_path)
    return tmp_path / "t.json"


def damaged(trace: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    table = json.loads(trace.read_text())
    change(table)
    trace.write_text(json.dumps(table))
    return trace


def test_a_trace_that_still_violates_exits_1_and_shows_it(antecede: Command, trace: Path) -> None:
    ran = antecede("replay", trace)
    assert 1 == ran.code
    assert f"{trace}: still VIOLATED" in ran.out
    assert "Alice delivers m5 before m3" in ran.out


def test_a_trace_that_no_longer_violates_exits_0(antecede: Command, trace: Path) -> None:
    ran = antecede("replay", damaged(trace, lambda t: t["transitions"].pop()))
    assert 0 == ran.code
    assert "the 8 transitions can still be taken and no longer violate causal-delivery" in ran.out


def test_a_trace_that_does_not_fit_exits_2_and_names_the_step(
    antecede: Command, trace: Path
) -> None:
    """The repaired protocol keeps m5 back, so that it is never in flight."""
    ran = antecede("replay", damaged(trace, lambda t: t.update(protocol="cykas")))
    assert 2 == ran.code
    assert "does not fit the protocol 'cykas' any more: step 8, receive by 0 from 2" in ran.err
    assert "of its kind, receive by 0 from 2 of Ack() is" in ran.err


def test_a_result_with_a_counterexample_can_be_replayed_too(
    antecede: Command, tmp_path: Path
) -> None:
    antecede(*SECRET, "--json", "r.json", cwd=tmp_path)
    assert 1 == antecede("replay", "r.json").code


def test_a_check_without_a_counterexample_writes_no_trace(
    antecede: Command, tmp_path: Path
) -> None:
    ran = antecede("check", "mfss", "--actors", 2, "--trace", "t.json", cwd=tmp_path)
    assert "There is no counterexample, so t.json was not written." in ran.out
    assert [] == os.listdir(tmp_path)


@pytest.mark.integration
@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs /dev/stdin")
def test_a_trace_may_come_through_a_pipe() -> None:
    """So it must be read only once."""
    trace = (ROOT / "docs/claims/matrix-loss.json").read_bytes()
    replay = (*COMMAND, "replay", "/dev/stdin")
    ran = subprocess.run(replay, input=trace, capture_output=True, check=False)
    assert b"still VIOLATED" in ran.stdout, ran.stderr


def test_a_trace_of_an_own_protocol_is_replayed_from_anywhere(
    antecede: Command, tmp_path: Path
) -> None:
    file = own(tmp_path)
    arguments = ("--actors", 2, "--trace", "t.json")
    antecede("check", f"{file}:PROTOCOL", *arguments, cwd=tmp_path)
    assert "mine.py:PROTOCOL" == json.loads((tmp_path / "t.json").read_text())["protocol"]
    assert 1 == antecede("replay", "t.json", "--protocol", file, cwd=tmp_path).code
    (tmp_path / "elsewhere").mkdir()
    for protocol in ("../mine.py", f"{tmp_path / file}:PROTOCOL"):
        trace = ("replay", tmp_path / "t.json", "--protocol", protocol)
        assert 1 == antecede(*trace, cwd=tmp_path / "elsewhere").code


def test_a_trace_of_a_replay_names_the_protocol_as_the_replayed_trace_does(
    antecede: Command, tmp_path: Path
) -> None:
    file = own(tmp_path)
    antecede("check", file, "--actors", 2, "--trace", "t.json", cwd=tmp_path)
    antecede("replay", "t.json", "--protocol", file, "--trace", "again.json", cwd=tmp_path)
    written = [json.loads((tmp_path / name).read_text()) for name in ("t.json", "again.json")]
    assert written[0] == written[1]
    assert 1 == antecede("replay", "again.json", "--protocol", file, cwd=tmp_path).code


@pytest.mark.parametrize("command", ["replay", "explore"])
def test_the_python_file_that_a_trace_names_is_not_run_unasked(
    command: str, antecede: Command, tmp_path: Path
) -> None:
    file = tmp_path / own(tmp_path)
    antecede("check", file, "--actors", 2, "--trace", "t.json", cwd=tmp_path)
    ran = tmp_path / "ran"
    file.write_text(f"{file.read_text()}\nopen({str(ran)!r}, 'w').close()\n")
    refused = antecede(command, "t.json", cwd=tmp_path)
    assert 2 == refused.code
    assert "replaying it runs that file" in refused.err
    assert f"--protocol {file}" in refused.err
    assert not ran.exists()
    assert 1 == antecede("replay", "t.json", "--protocol", file, cwd=tmp_path).code
    assert ran.exists()


@pytest.mark.parametrize(
    ("protocol", "network", "workload"),
    [
        ("unordered", "duplicating", "any"),
        ("unordered", "fifo+duplicating", "any"),
        ("mfss", "lossy:1", "script:[[1],[0]]"),
    ],
)
def test_a_trace_on_any_network_is_replayed(
    protocol: str, network: str, workload: str, antecede: Command, tmp_path: Path
) -> None:
    size = ("--actors", 2, "--messages", 1, "--network", network, "--workload", workload)
    arguments = (*size, "--engine", "plain", "--trace", "t.json")
    assert 1 == antecede("check", protocol, *arguments, cwd=tmp_path).code
    assert 1 == antecede("replay", "t.json").code


DAMAGED: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda t: t.pop("property"), "the key 'property' is missing"),
    (lambda t: t.update(property="causality"), "unknown property 'causality'"),
    (lambda t: t.update(protocol="cycas"), "unknown protocol 'cycas'; did you mean 'cykas'?"),
    (lambda t: t.update(actors="three"), "actors is 'three'; it must be a whole number"),
    (lambda t: t.update(actors=True), "actors is True; it must be a whole number"),
    (lambda t: t.update(actors=0), "actors is 0; give at least 2"),
    (lambda t: t.update(network=None), "network is None; it must be a string"),
    (lambda t: t.update(workload="script:[[]]"), "3 actors, 1 list"),
    (lambda t: t.update(transitions={}), "transitions is {}; it must be a list"),
    (lambda t: t.update(schema="antecede/trace/99"), "its schema is 'antecede/trace/99'"),
    (lambda t: t["transitions"].pop(2), "step 3, causal-send by 1 to [2], is not enabled there"),
    (lambda t: t["transitions"].insert(3, 7), "transition 4 is 7; it must be an object"),
    (lambda t: t["transitions"][0].pop("message"), "transition 1: the key 'message' is missing"),
    (lambda t: t["transitions"][0].update(actor=9), "step 1, causal-send by 9 to [1]"),
    (lambda t: t["transitions"][4].update(packet="Hat()"), "step 5, receive by 2 from 1 of Hat()"),
    (lambda t: t["transitions"][4].update(kind="fly"), "unknown kind of transition 5 'fly'"),
]


@pytest.mark.parametrize(("change", "sentence"), DAMAGED)
def test_a_damaged_trace_gets_a_sentence(
    change: Callable[[dict[str, Any]], object], sentence: str, antecede: Command, trace: Path
) -> None:
    ran = antecede("replay", damaged(trace, change))
    assert 2 == ran.code
    assert sentence in ran.err
    assert str(trace) in ran.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"schema": ', "is not valid JSON: Expecting value at line 1, column 12"),
        ("[1, 2]", "is not a trace that this version reads"),
        ("[" * 100_000, "cannot be read: it is nested too deeply"),
        ("[" + "9" * 5000 + "]", "cannot be read: a number in it is too long"),
        ("\udcff", "is not a UTF-8 text file"),
    ],
)
def test_a_file_that_is_no_trace_gets_a_sentence(
    text: str, sentence: str, antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "t.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    ran = antecede("replay", tmp_path / "t.json")
    assert 2 == ran.code
    assert sentence in ran.err


# list, help, version


def test_list_names_everything_that_a_check_is_made_of(antecede: Command) -> None:
    assert "cykas-as-printed" not in antecede("list").out, "a variant"
    out = antecede("list", "--all").out
    for word in (
        *("unordered", "fifo", "mfss", "cykas", "cykas-as-printed", "cykas-secret-mode"),
        *("causal-delivery", "fifo-delivery", "integrity", "all-delivered", "witness:NAME"),
        *("any", "broadcast", "script", "reaction"),
        *("knowledge", "clocks", "full", "breadth", "depth", "random", "plain"),
    ):
        assert re.search(rf"^  {re.escape(word)} +\S", out, re.MULTILINE), word
    assert "source: Mattern and Fünfrocken 1995; Cykas paper, section 2.1" in " ".join(out.split())
    assert "witnesses: waited, eager-send, secret-mode" in " ".join(out.split())
    assert all(len(line) <= 80 for line in out.splitlines() if "reaction:[" not in line)


def test_list_marks_all_declared_properties_that_a_check_includes(antecede: Command) -> None:
    _, _, rows = antecede("list").out.partition("\n  witness:NAME")
    witnesses, _, rest = rows.partition("\n  invariant:NAME")
    invariants, _, rest = rest.partition("\n  final:NAME")
    final_invariants, _, _ = rest.partition("\n  FILE.py:NAME")
    marked = ["(default)" in text for text in (witnesses, invariants, final_invariants)]
    assert [False, True, True] == marked


def test_list_tries_a_protocol_for_broadcasts_with_broadcasts(antecede: Command) -> None:
    assert "antecede check cbcast --workload broadcast\n" in antecede("list", "cbcast").out
    assert "antecede check mfss\n" in antecede("list", "mfss").out


@pytest.mark.integration
def test_list_imports_no_engine(tmp_path: Path) -> None:
    """Neither the package nor `list` pays for numba or Spark."""
    code = (
        "import sys, cli; code = cli.main(['list']); "
        "print({'numba', 'pyspark', 'numpy', 'networkx'} & set(sys.modules)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode
    assert "set()" == done.stdout.splitlines()[-1]


@pytest.mark.integration
def test_the_help_imports_no_command() -> None:
    code = (
        "import sys, cli; code = cli.main(['--help']); "
        "print([name for name in sys.modules if 'checker.check' in name or name == 'numpy'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert "[]" == done.stdout.splitlines()[-1]


SLOW = (
    "attr",
    "psutil",
    "filelock",
    "multiprocessing",
    "importlib.metadata",
    "importlib.resources",
)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("asked", "spared"),
    [
        (["--version"], (*SLOW, "antecede.checker.semantics", "antecede.checker.check")),
        (
            ["check", "mfss", "--actors", "2", "--engine", "plain"],
            (
                *SLOW[1:],
                "numpy",
                "antecede.checker.papers.simulate",
                "antecede.checker.search.measures",
            ),
        ),
    ],
)
def test_a_short_command_imports_nothing_slow_that_it_does_not_need(
    asked: list[str], spared: tuple[str, ...]
) -> None:
    code = (
        f"import sys; from antecede import cli; code = cli.main({asked}); "
        f"print([name for name in {spared} if name in sys.modules]); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    assert "[]" == done.stdout.splitlines()[-1]


@pytest.mark.integration
def test_the_file_of_the_command_runs_alone_as_spark_submit_runs_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, cli.__file__, "list", "mfss"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (0, "mfss\n") == (done.returncode, done.stdout[:5])


@pytest.mark.parametrize("command", [(), ("check",), ("list",), ("replay",)])
def test_every_command_has_help(command: tuple[str, ...], antecede: Command) -> None:
    ran = antecede(*command, "--help")
    assert 0 == ran.code
    assert ran.out.startswith("Usage: antecede")


def test_the_version_is_told(antecede: Command) -> None:
    ran = antecede("--version")
    assert 0 == ran.code
    assert ran.out.startswith("antecede, version ")


# Real processes


@pytest.mark.integration
def test_a_process_prints_the_report_and_exits_as_it_should(tmp_path: Path) -> None:
    ran = in_a_process(*SECRET, "--expect", "violated", "--engine", "plain", cwd=tmp_path)
    assert 0 == ran.code
    assert "✗◀m3━━━" in ran.out
    assert "" == without_progress(ran.err)


@pytest.mark.integration
def test_a_process_whose_output_is_ascii_draws_in_ascii(tmp_path: Path) -> None:
    ran = in_a_process(
        *SECRET, "--engine", "plain", cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    assert 1 == ran.code
    assert ran.out.isascii()
    assert "X<m3===" in ran.out


WAITS = GOOD.replace(
    "def receive(state, src, packet):",
    "import sys\n\ndef receive(state, src, packet):\n"
    "    print('searching', file=sys.stderr, flush=True)",
)


def interrupted(*arguments: str, cwd: Path) -> Ran:
    """Run the command, and press Ctrl-C once the protocol says that the search is under way.

    The search would take hours; the bound ends the test if Ctrl-C is broken.
    """
    process = begun(
        [*COMMAND, *arguments, "--selfcheck", "off", "--max-memory", "2G"],
        cwd=cwd,
    )
    assert process.stderr is not None
    # On a loaded machine a line of progress may come first.
    assert "searching\n" in iter(process.stderr.readline, "")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    return Ran(process.returncode, out, err)


@pytest.mark.integration
@pytest.mark.parametrize("engine", list(ENGINES))
def test_ctrl_c_leaves_a_partial_report_and_exits_3(engine: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WAITS)
    size = ("--actors", "5", "--messages", "9", "--property", "integrity", "--engine", engine)
    ran = interrupted("check", "mine.py", *size, cwd=tmp_path)
    assert 3 == ran.code
    assert ran.out.startswith("mine.py: INCOMPLETE: interrupted by the user\n")
    assert "states" in ran.out
    assert "Run it again" in " ".join(ran.out.split())
    assert "Traceback" not in ran.err


@pytest.mark.integration
def test_ctrl_c_leaves_a_partial_result_in_the_json(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WAITS)
    size = ("--actors", "5", "--messages", "9", "--property", "integrity")
    ran = interrupted("check", "mine.py", *size, "--json", "-", cwd=tmp_path)
    found = json.loads(ran.out)
    assert 3 == ran.code
    assert "INCOMPLETE" == found["verdict"]
    assert "interrupted by the user" == found["stopped_by"]
    assert found["unique_states"] >= 1


@pytest.mark.integration
def test_ctrl_c_in_a_folder_says_what_was_not_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WAITS)
    text = 'protocol = "mine.py"\nactors = 5\nmessages = 9\nproperties = ["integrity"]\n'
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(text)
    ran = interrupted("check", ".", cwd=tmp_path)
    assert 3 == ran.code
    last = ran.out.splitlines()[-1]
    assert last.startswith("2 specs: 0 as expected, 1 incomplete, 1 not run; ")


# Statements of the documentation

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str, containing: str) -> str:
    """Return the code block of the README that contains a text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (found,) = (text for text in blocks if containing in text)
    return str(found)


def test_the_readme_shows_what_the_command_prints(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "chat.py").write_text(block("python", "PROTOCOL = Protocol("))
    command = block("sh", "antecede check chat.py")
    ran = antecede(*shlex.split(command)[1:], cwd=tmp_path)
    assert block("text", "Bob delivers m3 before m1") in ran.out
    assert (tmp_path / "chat.svg").read_text() == (ROOT / "docs/images/chat.svg").read_text()


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 700


def test_the_first_command_of_the_readme_needs_no_clone(antecede: Command, tmp_path: Path) -> None:
    command = block("sh", "museum/partisan").splitlines()[-1]
    assert 0 == antecede(*shlex.split(command)[1:], cwd=tmp_path).code


@pytest.mark.integration
def test_the_example_of_a_search_on_spark_reaches_the_cluster(antecede: Command) -> None:
    page = (ROOT / "docs/spark.md").read_text(encoding="utf-8")
    command = re.findall(r"^antecede (check .*) --engine spark", page, re.MULTILINE)[0]
    ran = antecede(*shlex.split(command), "--json", "-")
    levels = json.loads(ran.out)["statistics"]["states_per_depth"]
    assert max(levels) >= Options().spark_threshold


def test_the_documentation_names_every_key_of_a_result(antecede: Command) -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    found = json.loads(antecede(*SECRET, "--json", "-").out)
    step = {key for transition in found["counterexample"]["transitions"] for key in transition}
    for key in {*found, *found["counterexample"], *step}:
        assert f"`{key}`" in page


def test_the_help_names_every_command_with_its_whole_first_sentence(antecede: Command) -> None:
    ran = antecede("--help")
    shown = " ".join(ran.out.split())
    for name, command in ((name, cli.command_named(name)) for name in PAGES):
        sentence = " ".join(str(command.help).split(".")[0].split())
        assert f"{name} {sentence}." in shown


def test_a_help_page_shows_every_option_once() -> None:
    shown, expected = {}, {}
    for name in PAGES:
        command = cli.command_named(name)
        context = click.Context(command, info_name=name, terminal_width=100)
        context.meta["all options"] = True
        entries = re.findall(r"^  (--[a-z0-9-]+)", command.get_help(context), re.MULTILINE)
        options = {o.opts[0] for o in command.params if isinstance(o, click.Option)}
        shown[name] = sorted(e for e in entries if e != "--help")
        expected[name] = sorted(options - {"-h", "--help"})
    assert expected == shown


def test_every_help_text_of_a_command_is_of_one_of_its_options() -> None:
    unused = {}
    for name in PAGES:
        own = option_texts(name).keys() - option_texts("no command").keys()
        unused[name] = own - {option.name for option in cli.command_named(name).params}
    assert {} == {name: texts for name, texts in unused.items() if texts}


def test_help_shows_examples_and_at_most_ten_options(antecede: Command) -> None:
    for name in PAGES:
        page = antecede(name, "--help").out
        options = re.findall(r"^  (--[a-z0-9-]+)", page.partition("Options:")[2], re.MULTILINE)
        assert len([option for option in options if not option.startswith("--help")]) <= 10, name
        assert f"Examples:\n  antecede {name}" in page
        assert [] == [line for line in page.splitlines() if len(line) > 80], name


def test_every_example_of_the_help_can_be_typed(antecede: Command) -> None:
    for name, page in PAGES.items():
        for command, _ in page.examples:
            program, *arguments = shlex.split(command)
            assert "antecede" == program
            assert 0 == antecede(*arguments, "--help").code, command
            cli.command_named(name).make_context(name, arguments[1:])


def test_all_options_are_shown_on_demand(antecede: Command) -> None:
    short, long = antecede("check", "--help").out, antecede("check", "--help-all").out
    assert "--help-all" in short
    assert "--spill" not in short
    assert "--spill" in long
    headings = ["Question:", "Search:", "Bounds:", "Output and other options:", "Exit codes:"]
    assert headings == re.findall(r"^[A-Z].*:$", long, re.MULTILINE)


def test_every_option_is_in_the_help_and_every_option_of_the_readme_exists(
    antecede: Command,
) -> None:
    text = "".join(antecede(name, "--help").out for name in PAGES)
    text += "".join(antecede(name, "--help-all").out for name in ("check", "sweep", "simulate"))
    for option in re.findall(r"--[a-z][a-z-]+", README):
        assert option in text
