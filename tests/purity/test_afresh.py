"""Handlers that remember anywhere, read clocks or change files, in files that can be imported."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import re
import signal
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from antecede import Message, Protocol, Step
from antecede.checker.check import afresh, pipeline
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.support import registry
from antecede.checker.support.registry import protocol_named, protocol_names
from tests.conftest import ROOT, Command

TOY = """
from antecede import Protocol, Step

{before}

def receive(state, src, message):
    {body}

def causal_send(state, message):
    return Step(state, ((message.receiver, message),))

P = Protocol("toy", lambda actor, actors: actor, causal_send, receive)
"""

LATCH = """late = message.number == 2 and not knows((state, src, 1))
    note((state, src, message.number))
    return Step(state, deliveries=() if late else (message,))"""
"""In the order of a search, the first message always comes before the second one."""

MEMORIES = {
    "a generator": """
def remembering():
    seen, answer = set(), None
    while True:
        asks, call = yield answer
        answer = call in seen
        if not asks:
            seen.add(call)
memory = remember = remembering()
next(memory)
knows = lambda call: memory.send((True, call))
note = lambda call: memory.send((False, call))""",
    "an iterator": """
from itertools import count
calls = count()
knows = lambda call: repr(calls) > "count(1)"
note = lambda call: next(calls)""",
    "a context variable": """
from contextvars import ContextVar
seen = ContextVar("seen", default=frozenset())
knows = lambda call: call in seen.get()
note = lambda call: seen.set(seen.get() | {call})""",
    "a variable of a thread": """
import threading
local = threading.local()
local.seen = set()
knows = lambda call: call in local.seen
note = lambda call: local.seen.add(call)""",
    "a variable with a computed name": """
seen = set()
knows = lambda call: call in globals()["se" + "en"]
note = lambda call: globals()["se" + "en"].add(call)""",
    "a metaclass": """
class Meta(type):
    seen = set()
class Keeper(metaclass=Meta):
    pass
knows = lambda call: call in Keeper.seen
note = lambda call: Keeper.seen.add(call)""",
    "another module": """
import sys
known = lambda: vars(sys.modules["json"]).setdefault("seen", set())
import json
knows = lambda call: call in known()
note = lambda call: known().add(call)""",
    "a generator of random numbers": """
import random
luck = random.Random(0)
knows = lambda call: luck.getstate() == random.Random(1).getstate()
note = lambda call: luck.seed(1)""",
}

EFFECTS = {
    "environment": (
        """
import os
name = lambda call: "SEEN" + "".join(map(str, call))
knows = lambda call: name(call) in os.environ
note = lambda call: os.environ.update({name(call): "yes"})""",
        "changes the environment variable 'SEEN",
    ),
    "file": (
        """
from pathlib import Path
place = Path(__file__).with_name("memory.txt")
place.write_text("")
knows = lambda call: repr(call) in place.read_text()
def note(call):
    with place.open("a") as file:
        file.write(repr(call))""",
        "memory.txt', which a later call could read",
    ),
    "flag": (
        """
from pathlib import Path
flag = lambda call: Path(__file__).with_name("-".join(map(str, call)))
knows = lambda call: flag(call).exists()
note = lambda call: flag(call).touch()""",
        "changes the file '",
    ),
}

CLOCKS = {
    "from datetime import datetime": ("datetime.now()", "datetime.now"),
    "import datetime as dates": ("dates.datetime.utcnow()", "datetime.utcnow"),
    "from datetime import date": ("date.today()", "date.today"),
    "from time import ctime as text": ("text()", "time.ctime"),
    "from time import strftime": ("strftime('%H')", "time.strftime"),
    "from time import localtime": ("localtime()", "time.localtime"),
    "import time as a": ("a.gmtime()", "time.gmtime"),
    "import os": ("os.times()", "os.times"),
    "import os as b": ("b.getpid()", "os.getpid"),
    "from os import urandom": ("urandom(1)", "os.urandom"),
    "import uuid": ("uuid.uuid4()", "uuid.uuid4"),
    "import secrets": ("secrets.choice((1, 2))", "os.urandom"),
    "from random import SystemRandom": ("SystemRandom().random()", "os.urandom"),
    "": ("time()", "time.time"),
    "class Clock:": ("Clock().now()", "time.monotonic"),
}

MORE = {
    "class Clock:": "    def now(self):\n        import time\n        return time.monotonic()",
}

HARMLESS = {
    "a logger": ("import logging", "logging.getLogger('toy').warning('a packet')"),
    "a given time": ("import time", "time.strftime('%H', time.gmtime(0)), time.ctime(0)"),
    "a date": ("from datetime import date", "date(2020, 1, 1).isoformat()"),
    "an unused clock": ("import time\nsince = time.time()\ndef now(): return time.time()", "time"),
    "a log that nobody reads": ("", "with open(__file__ + '.log', 'a') as file: file.write('x')"),
    "a table in a file": ("from pathlib import Path", "Path(__file__).read_text()"),
}


def written(folder: Path, before: str, body: str) -> str:
    """Write a protocol; return how to name it."""
    file = folder / "toy.py"
    file.write_text(TOY.format(before=before, body=body))
    return f"{file}:P"


def found(name: str, mode: str = "all", **more: Any) -> Result:
    spec = Spec(name, **{"actors": 2, "messages": 2, "properties": ("all-delivered",), **more})
    return check(spec, Options(engine="plain"), Bounds(max_states=500), selfcheck=mode).result


@pytest.mark.parametrize("place", MEMORIES)
def test_a_handler_that_remembers_anywhere_is_refused(tmp_path: Path, place: str) -> None:
    result = found(written(tmp_path, MEMORIES[place], LATCH), "on")
    assert Verdict.ERROR is result.verdict
    assert "receive of protocol 'toy' depends on the calls before it" in str(result.error)
    assert "it was called as receive(" in str(result.error)


def test_this_would_be_a_wrong_verdict_without_new_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "repeat_afresh", lambda _protocol, _again: None)
    for place, memory in MEMORIES.items():
        result = found(written(tmp_path, memory, LATCH))
        assert Verdict.HOLDS is result.verdict, place


@pytest.mark.parametrize("place", EFFECTS)
def test_a_handler_that_changes_files_or_the_environment_is_refused(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, fault = EFFECTS[place]
    monkeypatch.setattr(os, "environ", os.environ.copy() if place != "environment" else os.environ)
    result = found(written(tmp_path, before, LATCH))
    for name in [name for name in os.environ if name.startswith("SEEN")]:
        del os.environ[name]
    assert Verdict.ERROR is result.verdict
    assert fault in str(result.error)


@pytest.mark.parametrize("first", CLOCKS)
def test_a_handler_that_reads_a_clock_is_refused(tmp_path: Path, first: str) -> None:
    expression, called = CLOCKS[first]
    body = f"{'' if first else 'from time import time; '}{expression}"
    before = f"{first}\n{MORE.get(first, '')}"
    result = found(
        written(tmp_path, before, f"{body}\n    return Step(state, deliveries=(message,))"), "on"
    )
    assert Verdict.ERROR is result.verdict
    assert f"calls {called}()" in str(result.error)


@pytest.mark.parametrize("what", HARMLESS)
def test_a_handler_that_depends_on_nothing_else_is_not_refused(tmp_path: Path, what: str) -> None:
    before, body = HARMLESS[what]
    name = written(tmp_path, before, f"{body}\n    return Step(state, deliveries=(message,))")
    result = found(name)
    assert Verdict.HOLDS is result.verdict, result.error
    assert "20 calls" == result.statistics["selfcheck_in_new_processes"]


ACTION = """
from antecede import Protocol, Step

flushed = iter([])

def causal_send(state, message):
    return Step((*state, message))

def flush(state):
    global flushed
    flushed = iter([1])
    return Step((), tuple((m.receiver, m) for m in state)) if state else None

def receive(state, src, message):
    return Step(state, deliveries=(message,) if flushed.__length_hint__() else ())

P = Protocol(
    "toy", lambda actor, actors: (), causal_send, receive, actions={"flush": flush}
)
"""


def test_calls_are_repeated_alone_because_others_may_leave_something(tmp_path: Path) -> None:
    """In the opposite order, too, an action comes before the packets."""
    (tmp_path / "toy.py").write_text(ACTION)
    result = found(f"{tmp_path / 'toy.py'}:P", "on", messages=1)
    assert "receive of protocol 'toy' depends on the calls before it" in str(result.error)


def test_a_file_in_the_current_folder_is_not_there_in_a_new_process(tmp_path: Path) -> None:
    body = "import os; return Step(state, deliveries=(message,) if os.listdir() else ())"
    result = found(written(tmp_path, "", body))
    assert Verdict.ERROR is result.verdict
    assert "in a new process in an empty folder" in str(result.error)


OPENED = """seen.add(message.number)
    return Step(state, deliveries=(message,) if 1 in seen else ())"""
"""A check with one message is right, and leaves a variable that makes the next check wrong."""


def test_a_variable_of_a_helper_that_an_earlier_check_changed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The helper is imported once. So the second check begins with what the first one left."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "remembering_helper.py").write_text("seen = set()\n")
    name = written(tmp_path, "from remembering_helper import seen", OPENED)
    assert Verdict.HOLDS is found(name, "off", messages=1).verdict
    assert "in a new process" in str(found(name).error)


def test_a_variable_that_an_earlier_check_of_an_object_changed_is_noticed(tmp_path: Path) -> None:
    protocol = protocol_named(written(tmp_path, "seen = set()", OPENED))

    def result(messages: int) -> Result:
        spec = Spec("x", actors=2, messages=messages, properties=("all-delivered",))
        return check(spec, Options(engine="plain"), protocol=protocol).result

    assert Verdict.HOLDS is result(1).verdict
    error = str(result(2).error)
    assert "depends on the calls before it" in error
    assert "it uses the variable seen, which can change" in error


def test_a_handler_under_an_endless_workload_is_called_again(tmp_path: Path) -> None:
    body = """late = state == 0 and len(seen) < 2
    seen.add((state, src))
    return Step(state, deliveries=() if late else (message,))"""
    name = written(tmp_path, "seen = set()", body)
    result = found(name, workload="endless:1", properties=("integrity",))
    assert Verdict.ERROR is result.verdict
    assert "receive of protocol 'toy'" in str(result.error)


NODE = """
from itertools import count
from time import {clock}
calls = count()

class Node:
    copies = "{copies}"
    def __init__(self, actor, actors):
        self.names = {{"a", "b", "c"}}
    {key}
    def causal_send(self, out, message):
        out.send(message.receiver, {{"packet": message}})
    def receive(self, out, src, packet):
        {body}
        out.deliver(packet["packet"])
"""


@pytest.mark.parametrize("copies", ["pickle", "deepcopy", "replay"])
@pytest.mark.parametrize("body", ["pass", "if repr(next(calls)) < '3': return", "now()"])
def test_methods_of_objects_are_called_again(tmp_path: Path, copies: str, body: str) -> None:
    clock = "monotonic as now" if body == "now()" else "time"
    key = "def key(self): return 'one state'" if copies == "deepcopy" else ""
    file = tmp_path / "node.py"
    file.write_text(NODE.format(copies=copies, body=body, clock=clock, key=key))
    result = found(f"{file}:Node", messages=1)
    if body == "pass":
        assert Verdict.HOLDS is result.verdict, result.error
        assert result.statistics["selfcheck_in_new_processes"].endswith(" calls")
    else:
        assert Verdict.ERROR is result.verdict
        assert "receive of protocol 'Node'" in str(result.error) or copies == "deepcopy"


NODE_LATCH = """
from contextvars import ContextVar
seen = ContextVar("seen", default=frozenset())

class Node:
    copies = "{copies}"
    def __init__(self, actor, actors):
        self.actor = actor
    {key}
    def causal_send(self, out, message):
        out.send(message.receiver, message)
    def receive(self, out, src, packet):
        late = packet.number == 2 and (self.actor, 1) not in seen.get()
        seen.set(seen.get() | {{(self.actor, packet.number)}})
        if not late:
            out.deliver(packet)
"""


@pytest.mark.parametrize("copies", ["pickle", "deepcopy"])
def test_objects_that_remember_outside_are_refused(tmp_path: Path, copies: str) -> None:
    key = "def key(self): return self.actor" if copies == "deepcopy" else ""
    file = tmp_path / "node.py"
    file.write_text(NODE_LATCH.format(copies=copies, key=key))
    result = found(f"{file}:Node", network="fifo")
    assert Verdict.ERROR is result.verdict
    assert "depends on the calls before it" in str(result.error)


def test_an_object_of_antecede_is_not_called_again() -> None:
    spec = Spec("fifo", actors=2, messages=1)
    result = check(spec, Options(engine="plain"), protocol=protocol_named("fifo")).result
    told = result.statistics["selfcheck_in_new_processes"]
    assert told == "no: the protocol comes with antecede, whose tests do it"


def test_an_object_that_cannot_be_pickled_is_checked_without() -> None:
    memory = (number for number in (1, 2))

    def receive(state: Any, src: int, message: Message) -> Step:
        return Step(state, deliveries=(message,) if memory else ())

    protocol = Protocol(
        "toy", lambda a, _n: a, lambda state, m: Step(state, ((m.receiver, m),)), receive
    )
    spec = Spec("x", actors=2, messages=2, properties=("integrity",))
    result = check(spec, Options(engine="plain"), protocol=protocol).result
    assert Verdict.HOLDS is result.verdict
    told = result.statistics["selfcheck_in_new_processes"]
    assert told == "no: cannot pickle 'generator' object"


def test_a_protocol_that_cannot_be_imported_twice_is_checked_without(tmp_path: Path) -> None:
    before = f"open({str(tmp_path / 'once')!r}, 'x').close()"
    result = found(written(tmp_path, before, "return Step(state, deliveries=(message,))"))
    assert Verdict.HOLDS is result.verdict
    told = result.statistics["selfcheck_in_new_processes"]
    assert told.startswith("no: the import raised ProtocolError")


def test_a_process_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(afresh, "PATIENCE", 0.2)
    body = f"""if getpid() != {os.getpid()}: threading.Event().wait()
    return Step(state, deliveries=(message,))"""
    before = "import os, threading\ngetpid = lambda: int(os.readlink('/proc/self'))"
    result = found(written(tmp_path, before, body))
    assert Verdict.HOLDS is result.verdict
    assert "no: it took more than" in result.statistics["selfcheck_in_new_processes"]
    assert [] == afresh._idle


def test_a_search_may_take_longer_than_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process waits for the calls as long as the search takes."""
    alarms: list[int] = []
    monkeypatch.setattr(signal, "alarm", alarms.append)
    monkeypatch.setattr(afresh, "_in_a_fork", lambda *given: list(given[2:]))
    ours, theirs = multiprocessing.Pipe()
    name = written(tmp_path, "", "return Step(state, deliveries=(message,))")
    spec = Spec(name, actors=2, messages=1)
    ours.send(([[]], 7, "here"))
    task: tuple[Any, ...] = (spec, None, (), sys.argv, sys.path, os.getcwd(), dict(os.environ))
    afresh._repeat(theirs, pickle.dumps(task))
    assert [True, [["here/0", 7]]] == [ours.recv(), ours.recv()]
    assert [0] == alarms


def test_an_interpreter_that_was_killed_is_replaced(tmp_path: Path) -> None:
    name = written(tmp_path, "", "return Step(state, deliveries=(message,))")
    assert "20 calls" == found(name).statistics["selfcheck_in_new_processes"]
    (server,) = afresh._idle
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    assert Verdict.HOLDS is found(name).verdict
    assert "20 calls" == found(name).statistics["selfcheck_in_new_processes"]


@pytest.mark.parametrize("name", protocol_names())
def test_shipped_protocols_pass_in_new_processes(name: str) -> None:
    actors = 4 if name.startswith("tree-figure") else 2
    result = found(name, actors=actors, messages=1, properties=())
    assert result.error is None
    assert result.statistics["selfcheck_in_new_processes"].endswith(" calls")


def test_the_digests_of_the_protocols_are_those_of_the_files() -> None:
    """If this fails: cd protocols && sha256sum *.py > SHA256SUMS."""
    folder = ROOT / "protocols"
    digests = {file.name: sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.py")}
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert [f"{digests[name]}  {name}" for name in sorted(digests)] == lines


def test_calls_of_a_protocol_of_antecede_are_repeated_only_if_its_files_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(afresh, "_idle", [])
    told = found("mfss", "on").statistics["selfcheck_in_new_processes"]
    assert told == "no: the protocol comes with antecede, whose tests do it"
    assert [] == afresh._idle, "an interpreter takes longer to start than the check"
    (tmp_path / "protocols").mkdir()
    digests = (ROOT / "protocols/SHA256SUMS").read_text()
    changed = re.sub(r".(?=  mfss\.py$)", "x", digests, flags=re.MULTILINE)
    assert changed != digests
    for lines, repeated in ((digests, False), (changed, True), ("", True)):
        (tmp_path / "protocols/SHA256SUMS").write_text(lines)
        monkeypatch.setattr(registry, "PACKAGE", tmp_path)
        told = found("mfss", "on").statistics["selfcheck_in_new_processes"]
        assert repeated == told.endswith(" calls")
    afresh._end_all()


def test_the_command_names_the_handler_and_the_call(tmp_path: Path, antecede: Command) -> None:
    written(tmp_path, MEMORIES["a generator"], LATCH)
    bounds = ("--actors", 2, "--messages", 2, "--property", "all-delivered")
    ran = antecede("check", "toy.py", *bounds, cwd=tmp_path)
    assert 2 == ran.code
    assert "receive of protocol 'toy' depends on the calls before it" in ran.out
