"""The code of a step: the handler's lines, and the branch that was taken."""

from __future__ import annotations

import sys
import threading
from pathlib import Path as FilePath
from types import FrameType
from typing import Any

import pytest

from antecede.checker.check.spec import Spec
from antecede.checker.explore.code import Code, code_of_step
from antecede.checker.explore.tree import Tree
from antecede.checker.purity.effects import listen
from antecede.checker.semantics.tracing import Tracer
from antecede.checker.support.registry import protocol_named
from tests import runs
from tests.explored import fetch, serving, tree_of

SOURCE = """
from antecede import Message, Protocol, Step
from attrs import evolve, frozen


@frozen
class State:
    held: tuple = ()


def initial(actor, actors):
    return State()


def causal_send(state, message):
    \"\"\"Send <b>at once</b>.\"\"\"
    return Step(
        state,
        sends=tuple(
            (to, message)
            for to in message.destinations
        ),
    )


def known(state, message):
    if state.held:
        return True
    return False


def never():
    pass


def receive(state, src, packet):
    if known(state, packet):
        never()
        return Step(state)
    else:
        held = (*state.held, packet)
    return Step(evolve(state, held=held), deliveries=(packet,))


MINE = Protocol(
    "mine", initial=initial, causal_send=causal_send, receive=receive
)
"""


@pytest.fixture
def mine(tmp_path: FilePath) -> str:
    file = tmp_path / "mine.py"
    file.write_text(SOURCE)
    return str(file)


def code_at(tree: Tree, *numbers: int) -> Code:
    """Return the code of the last step of a path."""
    path = tree.path(numbers)
    code = code_of_step(path, path.steps[-1])
    assert code is not None
    return code


def ran(code: Code) -> list[str]:
    return [line.text.strip() for lines in code.functions for line in lines if line.ran]


def test_the_lines_of_the_branch_that_was_taken_are_marked(mine: str) -> None:
    code = code_at(Tree(Spec(mine, actors=2, messages=1)), 0, 1)
    assert f"receive: {mine}, line 36" == code.title
    assert [
        "def receive(state, src, packet):",
        "if known(state, packet):",
        "held = (*state.held, packet)",
        "return Step(evolve(state, held=held), deliveries=(packet,))",
        "def known(state, message):",
        "if state.held:",
        "return False",
    ] == ran(code)


def test_another_branch_has_other_marks(mine: str) -> None:
    """The receiver delivers only the first message."""
    tree = Tree(Spec(mine, actors=2, messages=2))
    numbers: tuple[int, ...] = (0, 0)
    for _ in range(2):
        receives = (c.number for c in tree.choices(numbers) if "Bob receives" in c.text)
        numbers = (*numbers, next(receives))
    code = code_at(tree, *numbers)
    assert "if known(state, packet):" in ran(code)
    assert {"return True", "pass", "return Step(state)"} <= set(ran(code))
    assert not {"return False", "held = (*state.held, packet)"} & set(ran(code))


def test_a_statement_of_several_lines_is_marked_as_a_whole(mine: str) -> None:
    code = code_at(Tree(Spec(mine, actors=2, messages=1)), 0)
    (lines,) = code.functions
    assert (15, "def causal_send(state, message):", True) == (
        lines[0].number,
        lines[0].text,
        lines[0].ran,
    )
    assert [False] + [True] * 7 == [line.ran for line in lines[1:]]


def test_a_page_has_the_code_as_text_and_each_step_a_way_to_its_code(mine: str) -> None:
    with serving(Tree(Spec(mine, actors=2, messages=1))) as server:
        page = fetch(server, "/?path=0")
        code = page.one("details", class_="code")
        assert "open" not in code.attributes
        assert "Send <b>at once</b>." in code.words
        assert [] == page.found("b")
        assert "15 ▸ def causal_send(state, message):" == page.found("mark")[0].words
        later = fetch(server, "/?path=0.1")
        before, now = later.found("details", class_="code")
        assert "0" == before.attributes["data-path"]
        assert now.words.startswith(f"receive: {mine}, line 36")
        links = [a.attributes["href"] for a in later.found("a")]
        assert "/?path=0#code" in links
        assert [] == fetch(server).found("details", class_="code")


@pytest.mark.parametrize("protocol", ["cykas-secret-mode", "mfss", "unordered"])
def test_our_own_protocols_have_their_code(protocol: str) -> None:
    code = code_at(tree_of(protocol), 0)
    assert code.title.startswith("causal_send: ")
    assert ran(code)[0].startswith("def ")


def test_a_class_of_ordinary_objects_has_its_methods(tmp_path: FilePath) -> None:
    file = tmp_path / "plain.py"
    file.write_text(
        "class Plain:\n"
        "    def __init__(self, me, peers):\n"
        "        pass\n"
        "    def causal_send(self, out, message):\n"
        "        for to in message.destinations:\n"
        "            out.send(to, message)\n"
        "    def receive(self, out, src, packet):\n"
        "        out.deliver(packet)\n"
    )
    code = code_at(Tree(Spec(str(file))), 0)
    assert "out.send(to, message)" in ran(code)


def test_a_protocol_without_a_file_says_so() -> None:
    scope: dict[str, Any] = {}
    exec(compile(SOURCE, "<stdin>", "exec"), scope)
    with serving(tree_of(scope["MINE"])) as server:
        page = fetch(server, "/?path=0")
        words = page.one("details", class_="code").words
        assert words.startswith("causal_send The source is not available.")


def test_a_file_that_has_changed_since_is_not_shown_beside_the_old_run(mine: str) -> None:
    tree = Tree(Spec(mine, actors=2, messages=1))
    assert code_at(tree, 0).functions
    for changed in (
        f"\n{SOURCE}",
        "x = (",
        SOURCE.replace("for to in message", "for to in not message"),
    ):
        FilePath(mine).write_text(changed)
        code = code_at(tree, 0)
        assert ((), "The file has changed since it was read") == (code.functions, code.missing[:38])


def test_a_loss_has_no_code() -> None:
    tree = tree_of("hybrid-basic", network="lossy")
    kinds = [t.text for t in tree.choices((0,))]
    lost = next(n for n, text in enumerate(kinds) if "lost" in text or "loses" in text)
    path = tree.path((0, lost))
    assert code_of_step(path, path.steps[-1]) is None
    with serving(tree) as server:
        assert 1 == len(fetch(server, f"/?path=0.{lost}").found("details", class_="code"))


def test_tracing_leaves_the_tracer_of_others_in_place(mine: str) -> None:
    def other(_frame: FrameType, _event: str, _argument: Any) -> Any:
        return None

    before = sys.gettrace()
    sys.settrace(other)
    try:
        code_at(Tree(Spec(mine, actors=2, messages=1)), 0)
        assert other is sys.gettrace()
    finally:
        sys.settrace(before)


def test_several_threads_trace_at_one_time() -> None:
    failed: list[Exception] = []
    listen()  # so that Python code runs while a trace function is set, and threads take turns

    def trace() -> None:
        try:
            for _ in range(5_000):
                with Tracer().tracing():
                    pass
        except RuntimeError as error:
            failed.append(error)

    threads = [threading.Thread(target=trace) for _ in range(4)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert [] == failed


def test_hostile_code_stays_text() -> None:
    path = runs.hostile()
    with serving(tree_of(runs.HOSTILE, 2, 2)) as server:
        numbers = server.site.tree.numbers_of(step.transition for step in path.steps)
        page = fetch(server, f"/?path={'.'.join(map(str, numbers))}")
        assert runs.EVIL not in page.body
        assert page.found("details", class_="code")


def test_the_code_is_the_file_that_runs() -> None:
    """A protocol of ours is shown from its own file, and not from the checker's."""
    assert protocol_named("mfss").causal_send.__code__.co_filename.endswith("protocols/mfss.py")
    assert "protocols/mfss.py, line" in code_at(tree_of("mfss"), 0).title
