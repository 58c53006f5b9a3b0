"""A protocol whose file changes while it is explored."""

from __future__ import annotations

import os
import py_compile
import sys
import threading
from collections.abc import Iterator
from pathlib import Path as FilePath
from urllib.parse import urlencode

import pytest

from antecede.checker.check.spec import Spec
from antecede.checker.explore.reload import Watch
from antecede.checker.explore.search import Search
from antecede.checker.explore.server import Server
from antecede.checker.explore.tree import Tree
from antecede.checker.search.options import Bounds
from antecede.checker.support.errors import ProtocolError
from antecede.checker.support.sources import Files
from tests.explored import fetch, post, searched, serving


@pytest.fixture
def file(tmp_path: FilePath) -> FilePath:
    """A protocol that delivers what its helper allows; both can be changed."""
    (tmp_path / "reload_helper.py").write_text("def allows(message):\n    return True\n")
    file = tmp_path / "mine.py"
    file.write_text(
        "from reload_helper import allows\n"
        "from antecede import Protocol, Step\n"
        "def initial(actor, actors):\n"
        "    return 0\n"
        "def causal_send(state, message):\n"
        "    return Step(state + 1, sends=tuple((to, message) for to in message.destinations))\n"
        "def receive(state, src, packet):\n"
        "    return Step(state, deliveries=(packet,) if allows(packet) else ())\n"
        "MINE = Protocol('mine', initial=initial, causal_send=causal_send,\n"
        "    receive=receive)\n"
    )
    return file


@pytest.fixture
def server(file: FilePath) -> Iterator[Server]:
    with serving(Tree(Spec(str(file), actors=2, messages=2))) as server:
        yield server
    sys.modules.pop("reload_helper", None)
    sys.path[:] = [folder for folder in sys.path if folder != str(file.parent)]


def change(file: FilePath, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_file_that_does_not_change_is_not_read_again(server: Server) -> None:
    tree = server.site.tree
    assert [] == fetch(server, "/?path=0.0").found("p", id="note")
    assert "" == fetch(server, "/changed").body
    assert tree is server.site.tree


def test_a_change_is_noticed_and_the_path_is_kept(server: Server, file: FilePath) -> None:
    change(file, "state + 1", "state + 5")
    assert "changed" == fetch(server, "/changed").body
    page = fetch(server, "/?path=0.0")
    note = "mine.py has changed and was read again. The path is still possible."
    assert ("0.0", note) == (page.path, page.one("p", id="note").words)
    assert "10" in [each.words for each in page.found("ins")]
    assert [] == fetch(server, "/?path=0.0").found("p", id="note")
    assert "" == fetch(server, "/changed").body


def test_a_changed_effect_is_named(server: Server, file: FilePath) -> None:
    change(file, "if allows(packet) else ()", "if not allows(packet) else ()")
    said = fetch(server, "/?path=0.0.1").one("p", id="note").words
    assert said.endswith("The path is still possible, but step 3 has another effect.")


def test_a_path_is_kept_as_far_as_it_is_possible(server: Server, file: FilePath) -> None:
    """The second message of Alice is not sent any more."""
    before = fetch(server, "/?path=0.0")
    receives = [c for c in before.choices if "Bob receives" in c.words]
    path = receives[1].attributes["value"]
    change(file, "return Step(state + 1, sends=", "return Step(state + 1, sends=() if state else ")
    page = fetch(server, f"/?path={path}")
    assert "0.0" == page.path
    said = page.one("p", id="note").words
    assert "The path is possible up to step 2. Step 3 was: Bob receives" in said
    assert said.endswith("; it is not enabled any more.")


def test_numbers_of_the_page_from_before_name_its_transitions(
    server: Server, file: FilePath
) -> None:
    """The step of Bob's has another number if Alice sends nothing."""
    sends = next(c for c in fetch(server, "/").choices if c.words.startswith("1 Bob sends"))
    change(file, "return Step(state + 1,", "return Step(state + 2,")
    page = fetch(server, f"/?path={sends.attributes['value']}")
    assert page.one("p", id="done").words.startswith("Bob sends m1 to Alice")


def test_a_handler_that_fails_now_ends_the_path(server: Server, file: FilePath) -> None:
    change(file, "    return Step(state, del", "    1 / 0\n    return Step(state, del")
    page = fetch(server, "/?path=0.0.1")
    assert "0.0" == page.path
    assert "raised ZeroDivisionError" in page.one("p", id="note").words


def test_a_helper_that_changes_is_read_again(server: Server, file: FilePath) -> None:
    helper = file.with_name("reload_helper.py")
    change(helper, "return True", "return None")
    said = fetch(server, "/?path=0.0.1").one("p", id="note").words
    assert said.startswith("reload_helper.py has changed and was read again.")
    assert "step 3 has another effect" in said


def test_a_compiled_form_of_the_same_time_and_size_is_not_used(
    server: Server, file: FilePath
) -> None:
    """Two changes within a second look alike to Python, which keeps a compiled form."""
    helper = file.with_name("reload_helper.py")
    written = helper.stat().st_mtime
    py_compile.compile(str(helper))
    change(helper, "return True", "return None")
    os.utime(helper, (written, written))
    assert "step 3 has another effect" in fetch(server, "/?path=0.0.1").one("p", id="note").words


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        ("def causal_send(:", "the file is not valid Python"),
        ("1 / 0\ndef causal_send(state, message):", "ZeroDivisionError"),
        ("MINE = 1\nraise SystemExit\ndef causal_send(state, message):", "failed: SystemExit"),
    ],
)
def test_a_file_with_an_error_is_told_and_the_old_protocol_stays(
    new: str, sentence: str, server: Server, file: FilePath
) -> None:
    old, tree = "def causal_send(state, message):", server.site.tree
    change(file, old, new)
    for path in ("0.0", "0.0.1"):  # as long as the error is there
        page = fetch(server, f"/?path={path}")
        assert (200, path) == (page.status, page.path)
        said = page.one("p", id="note").words
        assert sentence in said
        assert said.endswith("The page explores the protocol from before.")
    assert tree is server.site.tree
    scope = tree.system.protocol.causal_send.__globals__
    assert scope is vars(sys.modules[scope["__name__"]])
    assert "reload_helper" in sys.modules
    change(file, new, old)
    page = fetch(server, "/?path=0.0.1")
    assert page.one("p", id="note").words.startswith("mine.py has changed and was read again.")
    assert tree is not server.site.tree


def test_a_file_that_is_gone_is_told(server: Server, file: FilePath) -> None:
    file.unlink()
    page = fetch(server, "/?path=0")
    assert "There is no file" in page.one("p", id="note").words


def test_a_change_comes_before_a_search_and_keeps_what_is_watched(
    server: Server, file: FilePath
) -> None:
    fields = {"path": "0", "expression": "state"}
    post(server, "/watch", urlencode(fields))
    change(file, "state + 1", "state + 5")
    page = post(server, "/walk", "path=0&watch=state")
    assert "0" == page.path
    assert "read again" in page.one("p", id="note").words
    assert "5" in [each.words for each in page.found("td", class_="changed")]


def test_a_change_is_not_lost_if_the_tab_that_notices_it_shows_an_old_path(
    server: Server, file: FilePath
) -> None:
    """Two other changes took the path away before."""
    change(file, "state + 1", "state + 5")
    page = fetch(server, "/?path=7.7.7")
    assert (200, "") == (page.status, page.path)
    said = page.one("p", id="note").words
    assert "mine.py has changed and was read again. The page is at the start." == said
    assert "5" in [each.words for each in fetch(server, "/?path=0").found("ins")]


def test_a_change_during_the_import_is_noticed(server: Server, file: FilePath) -> None:
    """The import ends with the change, as if an editor saved the file twice."""
    text = file.read_text()
    later = text.replace("state + 1", "state + 7")
    file.write_text(f"{text}\nimport pathlib\npathlib.Path(__file__).write_text({later!r})\n")
    assert "read again" in fetch(server, "/").one("p", id="note").words
    assert "changed" == fetch(server, "/changed").body
    assert "read again" in fetch(server, "/").one("p", id="note").words
    assert "7" in [each.words for each in fetch(server, "/?path=0").found("ins")]


def test_a_file_that_an_editor_is_replacing_is_read_when_it_is_there(
    server: Server, file: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a look at the file and its reading, it is gone for a moment."""
    change(file, "state + 1", "state + 5")
    with monkeypatch.context() as patch:
        read_bytes, calls = FilePath.read_bytes, 0

        def now_and_then(path: FilePath) -> bytes:
            nonlocal calls
            calls += path == file
            if path == file and calls % 2:
                raise FileNotFoundError(2, "No such file or directory", str(path))
            return read_bytes(path)

        patch.setattr(FilePath, "read_bytes", now_and_then)
        for _ in range(6):
            assert 200 == fetch(server, "/changed").status
            assert 200 == fetch(server, "/?path=0").status
    fetch(server, "/?path=0")
    assert "5" in [each.words for each in fetch(server, "/?path=0").found("ins")]


def test_an_import_without_the_file_is_tried_again_with_the_file(
    server: Server, file: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file was gone during the import only, so later it has not changed once more."""

    def without_file(_tree: Tree, _files: Files) -> Tree:
        raise ProtocolError("importing mine.py failed") from FileNotFoundError(2, "No such file")

    change(file, "state + 1", "state + 5")
    with monkeypatch.context() as patch:
        patch.setattr("antecede.checker.explore.site.read_again", without_file)
        assert "failed" in fetch(server, "/?path=0").one("p", id="note").words
    assert "read again" in fetch(server, "/?path=0").one("p", id="note").words
    assert "5" in [each.words for each in fetch(server, "/?path=0").found("ins")]


@pytest.mark.integration
def test_the_result_of_a_search_before_a_change_is_not_shown(
    server: Server, file: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tab asks for the result only after another tab has read the repaired protocol."""
    monkeypatch.setattr("antecede.checker.explore.site.FEW", Bounds(max_states=2))
    begun = post(server, "/search", "path=0&property=causal-delivery")
    number = begun.one("span", id="searching").attributes["data-search"]
    search = server.site._searches.numbered(number)
    assert search is not None
    assert search.over.wait(600)
    change(file, "if allows(packet) else ()", "if packet.number > 1 else ()")
    assert "read again" in fetch(server, "/?path=0").one("p", id="note").words
    page = fetch(server, f"/search?search={number}")
    assert (422, "0") == (page.status, page.path)
    said = page.one("p", id="note").words
    assert "The protocol has changed since the search was asked for; search again." == said


def test_a_search_that_read_a_later_protocol_is_not_shown(
    server: Server, file: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The later protocol delivers nothing, so it violates nothing that the page could show."""
    monkeypatch.setattr("antecede.checker.explore.site.FEW", Bounds(max_states=2))
    monkeypatch.setattr(Watch, "changed", lambda _watch: [])
    change(file, "if allows(packet) else ()", "if packet.number > 1 else ()")
    page = searched(server, "path=0&property=causal-delivery")
    assert (422, "0") == (page.status, page.path)
    assert "The protocol has changed" in page.one("p", id="note").words


def test_a_search_can_begin_as_soon_as_a_change_has_ended_the_one_before(
    server: Server, file: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(search: Search) -> None:
        search.cancelled = True
        threading.Timer(0.5, search.end).start()  # a busy machine takes its time to kill it

    monkeypatch.setattr("antecede.checker.explore.site.FEW", Bounds(max_states=2))
    monkeypatch.setattr(Search, "cancel", cancel)
    post(server, "/search", "path=0&property=causal-delivery")
    change(file, "state + 1", "state + 5")
    assert "read again" in fetch(server, "/?path=0").one("p", id="note").words
    assert 200 == post(server, "/search", "path=0.0&property=causal-delivery").status
