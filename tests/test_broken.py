"""Protocols, properties and models that once ended in an internal error or a wrong answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import antecede
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.support.errors import InputError
from tests.conftest import in_a_process

HEADER = """
import functools, random, threading, time
from types import MappingProxyType
from antecede import Protocol, Step

def causal_send(state, message):
    return Step(state, ((message.receiver, message),))

"""


def checked(folder: Path, receive: str, *options: object) -> tuple[int, str]:
    """Check a protocol with this function `receive`; return the exit code and the report."""
    text = f"{HEADER}{receive}\nP = Protocol('toy', lambda a, n: 0, causal_send, receive)\n"
    (folder / "toy.py").write_text(text)
    asked = ("--actors", 2, "--messages", 2, "--property", "all-delivered", "--engine", "plain")
    ran = in_a_process("check", "toy.py:P", *asked, *options, cwd=folder)
    return ran.code, ran.out + ran.err


@pytest.mark.integration
@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("time.clock_gettime(time.CLOCK_MONOTONIC)", "time.clock_gettime()"),
        ("time.clock_gettime_ns(time.CLOCK_MONOTONIC)", "time.clock_gettime_ns()"),
        ("random.Random()", "random.seed()"),
    ],
)
def test_every_clock_and_every_new_generator_is_refused(
    tmp_path: Path, call: str, named: str
) -> None:
    code, said = checked(
        tmp_path,
        f"def receive(state, src, message):\n    {call}\n    return Step(state, (), (message,))",
    )
    assert 2 == code
    assert f"calls {named}" in " ".join(said.split())


@pytest.mark.integration
@pytest.mark.parametrize(
    "receive",
    [
        "def receive(state, src, message):\n    time.gmtime(*[0])\n"
        "    random.Random(7).random()\n    return Step(state, (), (message,))",
        "@functools.singledispatch\ndef size(value):\n    return 1\n"
        "def receive(state, src, message):\n    return Step(size(message), (), (message,))",
        "def known(cache, state, src, message):\n    cache[message.number] = 1\n"
        "    return Step(cache[message.number], (), (message,))\n"
        "receive = functools.partial(known, {})",
        "found = {}\nview = MappingProxyType(found)\n"
        "def receive(state, src, message):\n    found[message.number] = 1\n"
        "    return Step(view[message.number], (), (message,))",
    ],
    ids=["given times and seeds", "singledispatch", "a cache of a partial", "a view of a cache"],
)
def test_innocent_handlers_are_not_refused(tmp_path: Path, receive: str) -> None:
    code, said = checked(tmp_path, receive)
    assert 0 == code, said


@pytest.mark.integration
def test_a_thread_of_a_protocol_does_not_keep_the_command_alive(tmp_path: Path) -> None:
    code, said = checked(
        tmp_path,
        "threading.Thread(target=time.sleep, args=(3600,)).start()\n"
        "def receive(state, src, message):\n    return Step(state, (), (message,))",
        "--selfcheck",
        "off",
    )
    assert 0 == code, said


@pytest.mark.integration
def test_numba_reads_no_settings_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    code = (
        "from antecede.checker.compiled.jit import compiler\n"
        "compiler()\nimport numba\nnumba.core.config.reload_config()\n"
        "print(numba.config.DISABLE_JIT)"
    )
    command = [sys.executable, "-P", "-W", "error", "-c", code]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout.strip() in ("0", "False"), ran.stderr


LATE = """
from antecede import Protocol, Step
Q = Protocol(
    name="q", summary="", source="", initial=lambda i, n: (i, 0),
    causal_send=lambda s, m: Step(s, ((m.receiver, m),)),
    receive=lambda s, src, p: Step((s[0], s[1] + 1), deliveries=() if s[1] == 1 else (p,)),
)
"""


@pytest.mark.parametrize("options", [{}, {"engine": "plain"}, {"traces": False}])
def test_ways_back_are_judged_if_the_last_state_of_a_search_violates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    (tmp_path / "late.py").write_text(LATE)
    monkeypatch.chdir(tmp_path)
    properties = ("can-deliver", "all-delivered", "finishes")
    spec = Spec("late.py:Q", actors=2, messages=2, properties=properties)
    found = check(spec, Options(**options)).result
    assert {"can-deliver": "VIOLATED", "all-delivered": "VIOLATED", "finishes": "HOLDS"} == dict(
        found.properties
    )


AGAIN = """
from antecede import Protocol, Step
def causal_send(s, m):
    mode, held, me = s
    return Step((1, (m,), me)) if mode == 0 else Step((0, (m,), me), ((m.destinations[0], m),))
def receive(s, src, m):
    mode, held, me = s
    return Step(s, (), (m,) if mode == 0 and me in m.destinations else ())
def act(s):
    mode, held, me = s
    sends = tuple((d, m) for m in held for d in m.destinations if d != me)
    return Step((1 - mode, (), me), sends) if held else None
P = Protocol(
    name="again", summary="", source="", initial=lambda i, n: (0, (), i),
    causal_send=causal_send, receive=receive, actions={"act": act},
)
"""


def test_starvation_is_undecided_if_old_copies_are_delivered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "again.py").write_text(AGAIN)
    monkeypatch.chdir(tmp_path)
    found = antecede.check(
        "again.py:P",
        actors=2,
        network="duplicating",
        workload="endless:1:[[1],[0]]",
        properties=["no-starvation"],
    )
    assert Verdict.INCOMPLETE == found.verdict
    assert "repair what violates integrity first" in str(found)


def test_a_wrong_kind_of_value_is_an_input_error() -> None:
    with pytest.raises(InputError, match="unknown selfcheck 'False'"):
        antecede.check("mfss", actors=2, messages=1, selfcheck=False)  # type: ignore[arg-type]


def test_the_package_lists_what_it_exports() -> None:
    assert {"check", "sweep", "Protocol"} <= set(dir(antecede))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("start", "state", "said"),
    [
        ("", "10**5000", "state: an integer has more digits than Python writes (4,300)"),
        ("DEEP = ()\nfor _ in range(5000):\n    DEEP = (DEEP,)\n", "DEEP", "nested too deeply"),
    ],
    ids=["a huge number", "a deep tuple"],
)
def test_a_value_that_python_cannot_write_is_an_input_error(
    tmp_path: Path, start: str, state: str, said: str
) -> None:
    receive = f"def receive(state, src, message):\n    return Step({state}, (), (message,))"
    code, text = checked(tmp_path, start + receive)
    assert 2 == code
    assert said in " ".join(text.split())
