"""Properties that users write: in files, in programs, in specs, and those of the documentation."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede import assert_holds, assert_violated, check, replay, sweep
from antecede.checker.model import Message, Property, Protocol, Step, What, When
from antecede.checker.render.trace_formats import write_trace
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
from antecede.protocols import rst
from antecede.protocols.mail_room import Held
from antecede.protocols.newtop import Newtop
from tests.conftest import ROOT, Command
from tests.runs import walk

BOTH = "script:[[1],[0]]"
"""Two actors send a message to each other."""

TWO_TO_ONE = "script:[[2],[2],[]]"
"""Two actors send a message to a third one."""


def documented() -> dict[str, Any]:
    """Return what the file `own.py` of the documentation defines."""
    text = (ROOT / "docs/writing.md").read_text(encoding="utf-8")
    blocks = re.findall(r'```python title="own.py"\n(.*?)```', text, re.DOTALL)
    assert 6 == len(blocks)
    assert all(len(block.split("\n\n\n")[-1].splitlines()) <= 10 for block in blocks)
    defined: dict[str, Any] = {}
    exec("".join(blocks), defined)
    return defined


@frozen
class Replica:
    """A register with the last value that its actor wrote or read, or the greatest one."""

    value: tuple[int, int] = (0, 0)


def register(merge: Callable[[Any, Any], Any]) -> Protocol:
    """Return a register that merges what it has with what it gets."""

    def write(state: Replica, message: Message) -> Step:
        value = merge(state.value, _of(message))
        return Step(Replica(value), sends=tuple((d, message) for d in message.destinations))

    def read(state: Replica, _src: int, message: Message) -> Step:
        return Step(Replica(merge(state.value, _of(message))), deliveries=(message,))

    return Protocol("register", lambda _actor, _actors: Replica(), write, read)


def _of(message: Message) -> tuple[int, int]:
    return message.number, message.sender + 1


@frozen
class Member:
    """What an actor thinks of its group."""

    me: int
    members: frozenset[int]
    view: int = 0


def views(suspected: Callable[[int], int]) -> Protocol:
    """Return a protocol whose actors may each remove one member, and then are in view 1."""

    def suspect(state: Member) -> Step | None:
        if state.view:
            return None
        return Step(evolve(state, members=state.members - {suspected(state.me)}, view=1))

    return Protocol(
        "views",
        lambda actor, actors: Member(actor, frozenset(range(actors))),
        lambda state, _message: Step(state),
        lambda state, _src, _packet: Step(state),
        actions={"suspect": suspect},
    )


def sequencer(*, direct: bool = False) -> Protocol:
    """Return a protocol that sends every message by way of actor 0, or `direct`ly."""

    def causal_send(me: int, message: Message) -> Step:
        if me and not direct:
            return Step(me, sends=((0, message),))
        return forward(me, message)

    def forward(me: int, message: Message) -> Step:
        return Step(
            me,
            sends=tuple((d, message) for d in message.destinations if d != me),
            deliveries=(message,) if me in message.destinations else (),
        )

    def receive(me: int, src: int, message: Message) -> Step:
        if me == 0 and src == message.sender and not direct:
            return forward(me, message)
        return Step(me, deliveries=(message,))

    start = lambda actor, _actors: actor  # noqa: E731
    return Protocol("sequencer", start, causal_send, receive, network="fifo")


def forgetful_rst() -> Protocol:
    """Return `rst` that looks at a message only when it arrives: others may wait in vain."""

    def receive(state: rst.Rst, src: int, packet: rst.Stamped) -> Step:
        alone = rst.receive(evolve(state, held_back=()), src, packet)
        if alone.deliveries:
            return evolve(alone, state=evolve(alone.state, held_back=state.held_back))
        return Step(evolve(state, held_back=(*state.held_back, Held(src, packet))))

    return evolve(protocol_named("rst"), receive=receive)


CHAIN = (
    'reaction:[{"name":"m1","from":0,"to":[2]},{"name":"m2","from":0,"to":[1]},'
    '{"name":"m3","from":1,"to":[2],"after":["m2"]}]'
)
TWO_CASTS = 'reaction:[{"name":"a","from":1,"to":[0,3]},{"name":"b","from":2,"to":[0,3]}]'
"""Two actors each send a message to the same two others."""

THREE_CASTS = (
    'reaction:[{"name":"a","from":0,"to":[1,2]},{"name":"b","from":1,"to":[0,2]},'
    '{"name":"c","from":2,"to":[0,1]}]'
)
"""Three actors each send a message to the two others, so that no two get two messages."""

RST = protocol_named("rst")


@pytest.mark.parametrize(
    ("name", "actors", "good", "bad"),
    [
        (
            "CONVERGES",
            2,
            (register(max), BOTH),
            (register(lambda _old, new: new), BOTH),
        ),
        ("SMALL_BUFFER", 3, (RST, CHAIN), (RST, "script:[[2,2,2],[],[]]")),
        ("ONE_ORDER", 4, (sequencer(), TWO_CASTS), (sequencer(direct=True), TWO_CASTS)),
        ("NO_VAIN_WAIT", 3, (RST, CHAIN), (forgetful_rst(), CHAIN)),
        ("SAME_MEMBERS", 2, (views(lambda _me: 0), BOTH), (views(lambda me: me), BOTH)),
    ],
)
def test_documented_property_holds_of_one_system_and_not_of_another(
    name: str, actors: int, good: tuple[Protocol, str], bad: tuple[Protocol, str]
) -> None:
    prop: Property = documented()[name]
    for (protocol, workload), verdict in ((good, "HOLDS"), (bad, "VIOLATED")):
        result = check(
            protocol, actors=actors, workload=workload, properties=[prop], engine="plain"
        )
        assert (verdict, {prop.name: verdict}) == (result.verdict, result.properties)


@pytest.mark.parametrize(
    ("prop", "actors", "workload", "length"),
    [("same-order", 4, TWO_CASTS, 6), ("total-order", 4, TWO_CASTS, 6)],
)
def test_order_of_deliveries_needs_the_sequencer(
    prop: str, actors: int, workload: str, length: int
) -> None:
    """Without it, two receivers get two messages in any order: two sends, four receipts."""
    asked: dict[str, Any] = {"actors": actors, "workload": workload, "engine": "plain"}
    assert_holds(sequencer(), properties=prop, **asked)
    assert_violated(sequencer(direct=True), properties=prop, length=length, **asked)


def test_total_order_compares_more_than_two_actors() -> None:
    """Three sends and six receipts: a before b, b before c, c before a."""
    asked: dict[str, Any] = {"actors": 3, "workload": THREE_CASTS, "engine": "plain"}
    direct = sequencer(direct=True)
    alike = check(direct, properties="same-order", **asked).verdict
    assert "VACUOUS" == alike, "no two messages have two receivers in common"
    run = assert_violated(direct, properties="total-order", length=9, **asked).counterexample
    assert run is not None
    assert "this is false: the deliveries of all actors fit into one order" in run.reason


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_states_record_deliveries_if_a_property_compares_them(engine: str) -> None:
    """Two messages to one receiver: the state with both delivered becomes two states."""
    for props, states, finals in (([], 9, 1), (["total-order"], 10, 2)):
        asked = [*props, "integrity"]
        found = check("unordered", actors=3, workload=TWO_TO_ONE, properties=asked, engine=engine)
        counts = found.counts
        assert (states, 13, 5, finals) == (
            counts.unique_states,
            counts.total_states,
            counts.depth,
            counts.final_states,
        )


def test_newtop_without_a_rule_for_ties_has_no_total_order() -> None:
    """The mutant: held messages with equal clocks keep the order of their arrival."""
    null = protocol_named("newtop-null")

    def receive(state: Newtop, src: int, packet: Any) -> Step:
        step = null.receive(state, src, packet)
        arrived = [held.packet.message for held in state.held_back]
        late = [message for message in step.deliveries if message not in arrived]
        early = [message for message in arrived if message in step.deliveries]
        return evolve(step, deliveries=(*early, *late))

    assert_violated(
        evolve(null, receive=receive),
        actors=3,
        workload=THREE_CASTS,
        properties="total-order",
        engine="plain",
        selfcheck="off",
    )


def test_predicate_of_final_states_is_a_property_by_default() -> None:
    """One more than 13 states would be judged as well if the property were asked everywhere."""
    last = evolve(
        register(lambda _old, new: new),
        joint_final_invariants={"converged": lambda states: len(set(states)) == 1},
        final_invariants={"written": lambda state: state.value != (0, 0)},
    )
    result = check(last, actors=2, workload=BOTH, engine="plain")
    assert "VIOLATED" == result.properties["final:converged"]
    assert "VIOLATED" != result.properties["final:written"]
    run, counts = result.counterexample, result.counts
    assert run is not None
    assert ("final:converged", 4) == (run.violates, run.length)
    assert run.reason.startswith("The run is over, and the predicate `converged` is false for all")
    assert (13, 15, 5, 3) == (
        counts.unique_states,
        counts.total_states,
        counts.depth,
        counts.final_states,
    )


SILENT = evolve(
    register(max), final_invariants={"written": lambda state: state.value != (0, 0)}, name="silent"
)


def test_predicate_of_one_actor_at_the_end_names_the_actor() -> None:
    result = check(SILENT, actors=3, workload=TWO_TO_ONE, engine="plain")
    assert "HOLDS" == result.properties["final:written"]
    result = check(SILENT, actors=3, workload="script:[[1],[],[]]", engine="plain")
    assert result.counterexample is not None
    assert "the predicate `written` is false for Carol" in result.counterexample.reason


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_final_invariant_that_raises_comes_with_a_run(engine: str) -> None:
    broken = evolve(register(max), final_invariants={"broken": lambda state: state.nothing})
    result = check(broken, actors=2, workload=BOTH, engine=engine)
    assert "ERROR" == result.verdict
    run = result.counterexample
    assert run is not None
    assert ("final-returns", 4) == (run.violates, run.length)
    assert "final invariant 'broken' of protocol 'register' raised AttributeError" in run.reason


FILE = """
from antecede import Property, What, When

def few(state):
    return len(state.held_back) < 1

FEW = Property("few", "nothing is held back", What.LOCAL_STATE, When.ALWAYS, few)
LOUD = Property("loud", "it raises", What.LOCAL_STATE, When.ALWAYS, lambda state: state.nothing)
SEQUENCE = Property(
    "sequence", "it raises", What.SEQUENCES, When.ALWAYS, lambda sequences: sequences[9]
)
NUMBER = 7
"""

SIZE = ("--actors", 2, "--messages", 2, "--engine", "plain")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "own.py"
    file.write_text(FILE)
    return file


def test_property_of_a_file_is_checked_and_replayed(antecede: Command, own: Path) -> None:
    trace, named = own.with_name("run.json"), f"{own}:FEW"
    ran = antecede("check", "rst", *SIZE, "--property", named, "--trace", trace)
    assert 1 == ran.code
    assert f"{named}, after" in " ".join(ran.out.split())
    assert "this is false for Bob: nothing is held back" in " ".join(ran.out.split())
    assert f"antecede explore {trace} --property {named}" in " ".join(ran.out.split())
    refused = antecede("replay", trace)
    assert 2 == refused.code
    assert f"replaying it runs that file. If you trust the file, add --property {named}" in (
        refused.err
    )
    assert 1 == antecede("replay", trace, "--property", named).code


def test_list_shows_the_properties_of_a_file(antecede: Command, own: Path) -> None:
    ran = antecede("list", own)
    assert 0 == ran.code
    assert f"{own}:FEW" in ran.out
    assert "nothing is held back" in ran.out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NUMBER", "'NUMBER' in own.py is an int; give an antecede.Property"),
        ("FEWW", "unknown object in own.py 'FEWW'; did you mean 'FEW'?"),
        ("LOUD", "rst: ERROR: property 'own.py:LOUD' raised AttributeError"),
        ("LOUD", "where: line 8 of "),
        ("SEQUENCE", "the predicate of the property 'own.py:SEQUENCE' raised IndexError"),
        ("SEQUENCE", "(line 10 of"),
        ("SEQUENCE", "it was called as the predicate(((), ()))"),
    ],
)
def test_unusable_property_is_named_in_one_sentence(
    antecede: Command, own: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.chdir(own.parent)
    ran = antecede("check", "rst", *SIZE, "--property", f"own.py:{name}")
    assert 2 == ran.code
    assert said in " ".join((ran.out + ran.err).split())
    assert "Traceback" not in ran.out + ran.err or "HandlerError" not in ran.out + ran.err


@pytest.mark.parametrize("name", ["LATE", "JOINT", "LAST"])
def test_run_to_a_property_that_raises_is_replayed_with_that_property(
    name: str, antecede: Command, tmp_path: Path
) -> None:
    """Without the property, the replay said that the run was right, or ended in a traceback."""
    own, trace = tmp_path / "own.py", tmp_path / "run.json"
    own.write_text(RAISING)
    named = f"{own}:{name}"
    ran = antecede("check", "rst", *SIZE, "--property", named, "--trace", trace, "--quiet")
    assert 2 == ran.code
    refused = antecede("replay", trace)
    assert 2 == refused.code
    assert f"If you trust the file, add --property {named}" in refused.err
    again = antecede("replay", trace, "--property", named)
    assert 2 == again.code
    assert f"property '{named}' raised" in again.err


RAISING = """
from antecede import Property, What, When

def late(state):
    return 1 // (1 - len(state.held_back)) > 0

def joint(states):
    return all(map(late, states))

LATE = Property("late", "", What.LOCAL_STATE, When.ALWAYS, late)
JOINT = Property("joint", "", What.GLOBAL_STATE, When.ALWAYS, joint)
LAST = Property("last", "", What.LOCAL_STATE, When.AT_FINAL_STATES, lambda state: state.nothing)
"""


@pytest.mark.parametrize("name", ["LATE", "JOINT", "LAST"])
def test_run_to_a_record_that_raises_is_replayed(name: str) -> None:
    defined: dict[str, Any] = {}
    exec(RAISING, defined)
    prop: Property = defined[name]
    result = check("rst", actors=2, messages=2, engine="plain", properties=[prop])
    assert result.counterexample is not None
    again = replay(result.counterexample)
    assert again.violated
    assert f"There, the property '{prop.name}' raised" in " ".join(str(again).split())
    assert result.counterexample.length == again.run.length


def test_replay_refuses_a_record_with_the_name_of_another_property(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    run = check("unordered", actors=2).counterexample
    assert run is not None
    run.save(file)
    own = Property("integrity", "", What.LOCAL_STATE, When.ALWAYS, lambda _state: True)
    with pytest.raises(InputError, match="needs a name of its own"):
        replay(file, property=own)


@pytest.mark.parametrize("bound", ["own.py:EACH", "own.py:ALL", "size=9"])
def test_a_bound_that_is_not_pure_is_refused(bound: str, antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(IMPURE_BOUNDS)
    asked = ("check", "own.py:P", "--actors", 2, "--engine", "plain", "--bound", bound)
    ran = antecede(*asked, cwd=tmp_path)
    assert 2 == ran.code
    said = "measure 'size' of protocol 'p'" if "=" in bound else f"property '{bound}'"
    assert f"{said} returned different" in ran.out


IMPURE_BOUNDS = """
import random

from attrs import evolve

from antecede import Property, What, When
from antecede.protocols.mfss import MFSS

def draws(_thing):
    return random.random() < 0.9

EACH = Property("each", "", What.LOCAL_STATE, When.ALWAYS, draws)
ALL = Property("all", "", What.GLOBAL_STATE, When.ALWAYS, draws)
P = evolve(MFSS, name="p", measures={"size": lambda _state: random.randint(0, 2)})
"""


def test_list_imports_a_file_once(antecede: Command, own: Path) -> None:
    own.write_text(f"{FILE}\nprint('imported')\n")
    assert 1 == antecede("list", own).err.count("imported")
    assert 1 == antecede("list", f"{own}:FEW").err.count("imported")


def test_spec_finds_properties_beside_itself(antecede: Command, own: Path) -> None:
    spec = own.with_name("few.toml")
    spec.write_text(
        'protocol = "rst"\nactors = 2\nmessages = 2\nproperties = ["own.py:FEW"]\n'
        '[expect]\nverdict = "violated"\nviolates = "own.py:FEW"\n'
    )
    ran = antecede("check", spec, "--engine", "plain")
    assert 0 == ran.code, ran.out


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"what": "STATE"},
            "the field 'what' of the property 'p' is 'STATE'; give a member of What",
        ),
        ({"name": 3}, "the field 'name' of the property 3 is 3; give a text"),
        ({"predicate": 3}, "needs a name and, as its predicate, a function"),
        ({"when": When.EVENTUALLY_IF_FAIR}, "What.LOCAL_STATE goes with When.ALWAYS"),
    ],
)
def test_wrong_record_says_which_field_is_wrong(fields: dict[str, Any], said: str) -> None:
    usual: dict[str, Any] = {"name": "p", "summary": "", "what": What.LOCAL_STATE}
    usual |= {"when": When.ALWAYS, "predicate": bool}
    with pytest.raises(ValueError, match=re.escape(said)):
        Property(**{**usual, **fields})


def test_records_need_names_of_their_own() -> None:
    one, other = (Property("p", "", What.LOCAL_STATE, When.ALWAYS, f) for f in (bool, callable))
    for props in ([one, other], [evolve(one, name="integrity")], [evolve(one, name="a:b")]):
        with pytest.raises(InputError, match="needs a name of its own"):
            check(RST, properties=props)
    with pytest.raises(InputError, match=r"give names and antecede\.Property records"):
        check(RST, properties=[3])  # type: ignore[list-item]


def test_run_of_a_record_is_replayed_and_a_saved_one_needs_the_record(tmp_path: Path) -> None:
    never = Property("never", "", What.LOCAL_STATE, When.ALWAYS, lambda state: not state.held_back)
    result = check("rst", actors=2, messages=2, engine="plain", properties=[never])
    run, file = result.counterexample, tmp_path / "run.json"
    assert run is not None
    assert replay(run).violated
    run.save(file)
    with pytest.raises(InputError, match="unknown property 'never'"):
        replay(file)
    with pytest.raises(InputError, match=r"give property=PROPERTY, with your antecede\.Property"):
        replay(file)
    with pytest.raises(InputError, match="give the name of one property"):
        replay(file, property=[never])  # type: ignore[arg-type]
    assert replay(file, property=never).violated


def test_endless_runs_have_no_delivery_sequences() -> None:
    with pytest.raises(InputError, match="total-order compares the deliveries of whole runs"):
        check("mfss", workload="endless:1", properties=["total-order"])


@pytest.mark.slow
def test_sweep_takes_records_to_its_processes() -> None:
    never = Property("never", "", What.LOCAL_STATE, When.ALWAYS, lambda state: not state.held_back)
    swept = sweep("rst", actors=2, messages=[1, 2], engine="plain", workers=1, properties=[never])
    assert {"HOLDS": 1, "VIOLATED": 1} == swept.verdicts


def impure(what: What, place: When = When.ALWAYS) -> Property:
    """Return a property whose predicate answers otherwise now and then."""
    return Property("impure", "", what, place, lambda _thing: random.random() < 0.7)


@pytest.mark.parametrize("engine", ["local", "plain"])
@pytest.mark.parametrize(
    "prop",
    [
        *(
            impure(what)
            for what in (What.DELIVERY, What.LOCAL_STATE, What.GLOBAL_STATE, What.SEQUENCES)
        ),
        *(impure(what, When.AT_FINAL_STATES) for what in (What.GLOBAL_STATE, What.UNDELIVERED)),
    ],
    ids=lambda prop: f"{prop.what.name} {prop.when.name}",
)
def test_a_predicate_that_is_not_pure_is_refused_by_its_name(prop: Property, engine: str) -> None:
    random.seed(1)
    result = check(RST, properties=[prop], actors=2, messages=1, engine=engine)
    assert "ERROR" == result.verdict
    assert "property 'impure'" in str(result)


@pytest.mark.parametrize(
    "what", [What.DELIVERY, What.LOCAL_STATE, What.GLOBAL_STATE, What.SEQUENCES]
)
@pytest.mark.parametrize("engine", ["local", "plain"])
def test_an_answer_that_is_always_true_is_refused(what: What, engine: str) -> None:
    generator: Any = lambda _thing: (x for x in (False,))  # noqa: E731
    endless = Property("endless", "", what, When.ALWAYS, generator)
    try:
        said = str(check(RST, properties=[endless], actors=2, messages=1, engine=engine))
    except InputError as error:
        said = str(error)
    assert "returned 'generator', which is always true" in said


def test_a_property_cannot_have_the_name_of_a_failure() -> None:
    own = Property("handler-returns", "", What.LOCAL_STATE, When.ALWAYS, lambda _state: True)
    with pytest.raises(InputError, match="needs a name of its own"):
        check(RST, properties=[own])


SUBJECTS = [
    (What.DELIVERY, When.ALWAYS),
    (What.SEQUENCES, When.ALWAYS),
    (What.UNDELIVERED, When.AT_FINAL_STATES),
    (What.UNDELIVERED, When.ALWAYS_POSSIBLE),
    (What.ENDED, When.AT_SOME_FINAL_STATE),
]
"""Subjects that are no states, each with a place."""

ENDS = """
import sys

from antecede import Property, What, When


def prints(thing):
    print("said")
    return True


ENDS = Property("ends", "", What.{what}, When.{when}, lambda thing: sys.exit(0))
SAYS = Property("says", "", What.{what}, When.{when}, prints)
"""


@pytest.mark.parametrize(("what", "when"), SUBJECTS)
def test_a_predicate_neither_ends_the_process_nor_prints_into_the_result(
    what: What, when: When, antecede: Command, tmp_path: Path
) -> None:
    file = tmp_path / "ends.py"
    file.write_text(ENDS.format(what=what.name, when=when.name))
    asked = ("check", "fifo", "--actors", 2, "--messages", 1, "--engine", "plain", "--property")
    ended = antecede(*asked, f"{file}:ENDS")
    assert (2, True) == (ended.code, "raised SystemExit: 0" in ended.err)
    said = antecede(*asked, f"{file}:SAYS", "--json", "-", "--quiet")
    empty = what in (What.DELIVERY, What.SEQUENCES)  # no order of messages can violate it
    verdict = (3, "VACUOUS") if empty else (0, "HOLDS")
    assert verdict == (said.code, json.loads(said.out)["verdict"])
    assert "said" in said.err


BESIDE = """
from attrs import frozen
from antecede import Property, Protocol, Step, What, When


@frozen
class S:
    pass


def causal_send(state, message):
    return Step(state, ((message.receiver, message),))


def receive(state, src, message):
    return Step(state, (), (message,))


P = Protocol("p", lambda actor, actors: S(), causal_send, receive)
IS_S = Property(
    "is-s", "", What.LOCAL_STATE, When.ALWAYS, lambda state: isinstance(state, S)
)
"""


def test_a_property_beside_its_protocol_knows_the_classes_of_the_states(
    antecede: Command, tmp_path: Path
) -> None:
    """The file was imported twice, so that no state was of the class that the property knew."""
    (tmp_path / "beside.py").write_text(BESIDE)
    size = ("--actors", 2, "--messages", 1, "--engine", "plain")
    asked = ("check", "beside.py:P", "--property", "beside.py:IS_S", *size)
    assert 0 == antecede(*asked, cwd=tmp_path).code
    changed = BESIDE.replace("isinstance(state, S)", "not isinstance(state, S)")
    (tmp_path / "beside.py").write_text(changed)
    assert 1 == antecede(*asked, cwd=tmp_path).code, "the file is read anew for each check"


OTHERS = """
from antecede import Property, What, When

NOEND = Property("no-end", "", What.UNDELIVERED, When.AT_FINAL_STATES, lambda missing: False)
EQUAL = Property("equal", "", What.GLOBAL_STATE, When.ALWAYS, lambda states: True)
NEVER = Property("never", "", What.LOCAL_STATE, When.ALWAYS, lambda state: False)
"""


def test_replay_says_that_it_judged_another_property_than_the_saved_one(
    antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(OTHERS)
    asked = ("check", "fifo", "--actors", 2, "--messages", 1, "--engine", "plain")
    saved = antecede(
        *asked, "--property", "own.py:NOEND", "--trace", "run.json", "--quiet", cwd=tmp_path
    )
    assert 1 == saved.code, saved.err

    def replayed(prop: str, trace: str = "run.json") -> tuple[int | None, str]:
        ran = antecede("replay", trace, "--property", prop, cwd=tmp_path)
        return ran.code, " ".join(ran.out.split())

    code, said = replayed("own.py:EQUAL")
    assert 0 == code
    assert said.endswith(
        "The run does not violate own.py:EQUAL. It was saved as a run that violates own.py:NOEND."
    )
    assert "no longer" not in said
    code, said = replayed("own.py:NEVER")
    assert (1, True, False) == (code, "run.json: VIOLATED" in said, "still" in said)
    code, said = replayed("own.py:NOEND")
    assert (1, True) == (code, "run.json: still VIOLATED" in said)
    assert "still VIOLATED" in replayed(str(tmp_path / "own.py:NOEND"))[1]
    (tmp_path / "own.py").write_text(OTHERS.replace("missing: False", "missing: True"))
    code, said = replayed("own.py:NOEND")
    assert (0, True) == (
        code,
        said.endswith("can still be taken and no longer violate own.py:NOEND"),
    )
    run = walk("fifo", seed=1, most=9, actors=2, messages=1)
    write_trace(run, str(tmp_path / "walk.json"))
    code, said = replayed("own.py:EQUAL", "walk.json")
    assert (0, True) == (code, said.endswith("saved as a run that violates no property."))


ONLY = """
from antecede import Property, What, When

ONLY = Property("only", "", What.UNDELIVERED, When.AT_FINAL_STATES, lambda missing: False)
"""


def test_replay_knows_the_only_property_of_a_file_by_both_names(
    antecede: Command, tmp_path: Path
) -> None:
    file = tmp_path / "own.py"
    asked = ("check", "fifo", "--actors", 2, "--messages", 1, "--engine", "plain")
    for name, other in (("own.py", "own.py:ONLY"), ("own.py:ONLY", "own.py")):
        file.write_text(ONLY)
        saved = antecede(*asked, "--property", name, "--trace", "run.json", cwd=tmp_path)
        assert 1 == saved.code, saved.err
        for said in ("still VIOLATED", f"can still be taken and no longer violate {other}"):
            ran = antecede("replay", "run.json", "--property", other, cwd=tmp_path)
            assert said in " ".join(ran.out.split())
            file.write_text(ONLY.replace("missing: False", "missing: True"))


def test_replay_does_not_call_a_property_another_one_if_a_program_saved_the_run(
    antecede: Command, tmp_path: Path
) -> None:
    """The run has the property's own name, which is not the name of the file."""
    (tmp_path / "own.py").write_text(ONLY.replace("missing: False", "missing: True"))
    only = Property("only", "", What.UNDELIVERED, When.AT_FINAL_STATES, lambda _missing: False)
    found = check("fifo", actors=2, messages=1, engine="plain", properties=[only])
    assert found.counterexample is not None
    found.counterexample.save(tmp_path / "run.json")
    ran = antecede("replay", "run.json", "--property", "own.py:ONLY", cwd=tmp_path)
    assert "violate own.py:ONLY. It was saved as a run that violates only." in " ".join(
        ran.out.split()
    )
