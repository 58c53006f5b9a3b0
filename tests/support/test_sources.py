"""What code depends on: files, and values that no file shows."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.adapters import pipe
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.rows.fingerprint import fingerprint
from antecede.checker.search.options import Options
from antecede.checker.support.registry import import_file, protocol_named, protocol_names
from antecede.checker.support.sources import bare, imported_by, is_followed, sources_of, syntax_tree
from tests.conftest import ROOT

WORDY = """# A comment, with "quotes".
'A docstring.'

def f():  # another comment
    '''Two
    lines.'''
    'a text before code'; x = 1

    return [
        '#',  # the first

        f'{x}'
    ]

def g(): 'on a line with code'
text = '''
  # no comment

'''
"""
BARE = """def f():
    'a text before code'; x = 1
    return [
        '#',
        f'{x}'
    ]
def g(): 'on a line with code'
text = '''
  # no comment

'''"""
MODULES = {
    "own_a.py": "from own_b import LIMIT\nimport json\nimport attrs\ndef f(): return LIMIT\n",
    "own_b.py": "def late():\n    import own_c\nLIMIT = 1\n",
    "own_c.py": "from own_package import part\n",
    "own_package/__init__.py": "",
    "own_package/part.py": "from . import sister\nfrom .sister import X as Y\n",
    "own_package/sister.py": "from antecede.protocols.rst import RST\nX = 1\n",
    "own_unused.py": "",
}


def test_bare_code_has_no_comments_docstrings_and_empty_lines_but_all_the_rest() -> None:
    assert bare(WORDY) == BARE == bare(BARE)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder of a user's modules that import each other."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def test_all_that_a_module_imports_is_followed_however_it_does_so(own: Path) -> None:
    found = imported_by("mine", own / "own_a.py")
    expected = {"own_b", "own_c", "own_package", "own_package.part", "own_package.sister"}
    assert {"mine", *expected} | {"antecede.protocols.rst"} <= found.keys()
    others = found.keys() - expected - {"mine"}
    assert all(name.startswith("antecede.protocols.") for name in others)
    assert "own_b" not in sys.modules


def test_modules_that_import_each_other_are_met_once(own: Path) -> None:
    (own / "own_b.py").write_text("import own_a\n")
    assert ["own_a", "own_b"] == sorted(imported_by("own_a", own / "own_a.py"))


def test_the_standard_library_installed_packages_and_the_checker_are_left_out() -> None:
    for name in ("json", "attrs", "antecede.checker.model", "antecede"):
        __import__(name)
        file = sys.modules[name].__file__
        assert file is not None
        assert not is_followed(name, Path(file))
    assert is_followed("antecede.protocols.rst", ROOT / "protocols" / "rst.py")


VALUES = """
import functools, enum, own_b
from pathlib import Path
from attrs import frozen

CONSTANT = {given}
class Setting:
    limit = {given}
    def ask(self): return CONSTANT
class Word(enum.Enum):
    A = {given}
    B = "b"
@frozen
class Record:
    limit: int = {given}

def plain(): return CONSTANT
def default(limit={given}): return limit
def keyword(*, limit={given}): return limit
def made(limit):
    def inner(): return limit
    return inner
closure = made({given})
partial = functools.partial(default, {given})
nested = made([{{1: ({given},), 2: frozenset([Path("x")])}}])
of_class = Setting.ask
inherited = type("Heir", (Setting,), {{}})().ask
instance = made(Record({given}))
member = made(Word.A)
cached = functools.lru_cache(plain)
array = made(bytearray([{given}]))
lambdas = [lambda: CONSTANT]
dispatch = made({{"a": plain}})
def by_module(): return own_b.LIMIT
"""

USES = (
    *("plain", "default", "keyword", "closure", "partial", "nested", "of_class", "inherited"),
    *("instance", "member", "cached", "array", "lambdas", "dispatch"),
)


def values_of(folder: Path, name: str, given: str) -> dict[str, str]:
    file = folder / "values_of_mine.py"
    file.write_text(VALUES.format(given=given))
    return {**sources_of(getattr(import_file(file), name)).values}


@pytest.mark.parametrize("name", USES)
def test_a_value_counts_wherever_a_function_finds_it(own: Path, name: str) -> None:
    first, second, again = (values_of(own, name, given) for given in ("1", "22", "1"))
    assert first == again
    assert first.keys() == second.keys()
    assert first != second


def test_a_value_of_an_imported_module_is_called_by_its_module(own: Path) -> None:
    before = values_of(own, "by_module", "1")
    sys.modules["own_b"].LIMIT = 2  # type: ignore[attr-defined]
    after = values_of(own, "by_module", "1")
    assert ["own_b.LIMIT"] == [name for name in before if before[name] != after[name]]


def test_what_no_function_uses_does_not_count(own: Path) -> None:
    assert {} == values_of(own, "made", "1")


def test_values_that_are_not_plain_or_never_end_are_passed_over() -> None:
    round_and_round: list[Any] = []
    round_and_round.append(round_and_round)
    stream = iter([1])

    def function() -> Any:
        return round_and_round, stream

    assert [] == [name for name in sources_of(function).values if "round" in name]


def test_a_class_is_no_value_even_where_it_names_fields() -> None:
    @dataclass(frozen=True)
    class Packet:
        number: int

    def function() -> Any:
        return Packet

    assert [] == [name for name in sources_of(function).values if name.endswith("Packet")]


def test_code_that_stands_in_no_file_counts_itself() -> None:
    found = []
    for number in (1, 2, 1):
        scope: dict[str, Any] = {"__name__": "__main__"}  # as in a notebook
        exec(f"def f(): return [{number} for _ in range(2)]", scope)
        found.append(sources_of(scope["f"]).values)
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize("name", protocol_names())
def test_a_search_changes_nothing_that_a_protocol_depends_on(name: str) -> None:
    spec = Spec(protocol=name, actors=2, messages=1)
    before = fingerprint(system_of(spec))
    check(spec, Options(engine="plain"))
    assert before == fingerprint(system_of(spec))


@pytest.mark.integration
def test_another_process_finds_the_same() -> None:
    code = (
        "from antecede.checker.support.registry import protocol_named as p\n"
        "from antecede.checker.support.sources import sources_of as s\n"
        "print(sorted(s(*map(p, ['hybrid-sps', 'tree', 'cykas', 'mfss-fifo'])).digests().items()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    protocols = map(protocol_named, ["hybrid-sps", "tree", "cykas", "mfss-fifo"])
    assert repr(sorted(sources_of(*protocols).digests().items())) == done.stdout.strip()


def test_code_behind_an_adapter_is_followed_to_its_file(tmp_path: Path) -> None:
    file = tmp_path / "node_of_mine.py"
    file.write_text(
        "class Node:\n"
        "    def __init__(self, actor, actors): self.sent = 0\n"
        "    def causal_send(self, out, message): out.send(message.receiver, message)\n"
        "    def receive(self, out, src, packet): out.deliver(packet)\n"
    )
    protocol = protocol_named(f"{file}:Node")
    before = sources_of(protocol)
    (name,) = (name for name, place in before.files.items() if place == file.resolve())
    assert name.startswith("user_protocol_node_of_mine_")
    protocol.initial(0, 2)
    assert before == sources_of(protocol)


def test_the_files_in_the_command_of_a_program_count(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    answers = "import sys\nfor line in sys.stdin: print('{\"state\": 1}', flush=True)\n"
    file.write_text(answers)
    protocol = pipe.program([sys.executable, str(file)])
    before = sources_of(protocol).digests()
    file.write_text(f"# changed\n{answers}")
    assert before[str(file)] != sources_of(protocol).digests()[str(file)]


@pytest.mark.integration
def test_two_threads_may_parse_at_one_time() -> None:
    """The second one begins while a collection of garbage interrupts the first one."""
    source = "\n".join(f"x{number} = [{number}]" for number in range(2_000))
    trees: list[ast.Module] = []
    begun, ended = threading.Event(), threading.Event()

    def parse_too() -> None:
        begun.wait()
        trees.append(syntax_tree(source))
        ended.set()

    def let_the_other_begin(*_anything: object) -> None:
        if threading.current_thread() is not other and not begun.is_set():
            begun.set()
            ended.wait(0.5)

    other = threading.Thread(target=parse_too)
    other.start()
    gc.callbacks.append(let_the_other_begin)
    try:
        trees.append(syntax_tree(source))
    finally:
        gc.callbacks.remove(let_the_other_begin)
        begun.set()
        other.join()
    assert [2_000, 2_000] == [len(tree.body) for tree in trees]
