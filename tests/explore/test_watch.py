"""Watched expressions: their values along a run, and whose expressions the page runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from urllib.parse import quote, urlencode

import pytest

from antecede.checker.explore.server import Server
from antecede.checker.explore.where import MOST_WATCHED
from tests import runs
from tests.explored import Got, fetch, post, serving, tree_of
from tests.models import deliver_the_first_copy, toy


@pytest.fixture
def keeping() -> Iterator[Server]:
    """Two actors that hold what was delivered to them."""
    protocol = toy("keeping", receive=deliver_the_first_copy)
    with serving(tree_of(protocol, 2, 2)) as server:
        yield server


def watch(server: Server, *expressions: str, path: str = "") -> Got:
    """Watch expressions one after the other, as the page does."""
    for at, expression in enumerate(expressions):
        fields = [("path", path), ("expression", expression)]
        fields += [("watch", each) for each in expressions[:at]]
        got = post(server, "/watch", urlencode(fields))
    return got


def rows_of(page: Got) -> list[str]:
    """Return the rows of the tables of watched values."""
    start = next(at for at, each in enumerate(page.elements) if each.words.startswith("Watch"))
    return [each.words for each in page.elements[start:] if each.name == "tr"]


def test_a_watched_expression_has_a_value_for_each_actor_in_each_state(keeping: Server) -> None:
    page = watch(keeping, "len(state.held)", path="0.2")
    assert ["after step Alice Bob", "start 0 0", "1 0 0", "2 0 1"] == rows_of(page)
    assert ["1"] == [each.words for each in page.found("td", class_="changed") if each.words == "1"]


def test_an_actor_is_known_by_its_name_and_all_by_actors(keeping: Server) -> None:
    page = watch(keeping, "(len(Bob.held), len(actors), state is Bob)", path="0.2")
    assert "2 (1, 2, False) (1, 2, True)" == rows_of(page)[-1]


def test_every_link_and_form_of_the_page_keeps_the_watched_expressions(keeping: Server) -> None:
    page = watch(keeping, "len(state.held)", "'<b>&'", path="0")
    suffix = "&watch=len%28state.held%29&watch=%27%3Cb%3E%26%27"
    assert suffix == page.one("main").attributes["data-watch"]
    steps = [a for a in page.found("a") if a.attributes["href"].startswith("/?path=")]
    removing = [a for a in steps if a.words == "Remove"]
    assert ["&watch=%27%3Cb%3E%26%27", "&watch=len%28state.held%29"] == [
        each.attributes["href"].removeprefix("/?path=0") for each in removing
    ]
    assert all(a.attributes["href"].endswith(suffix) for a in steps if a not in removing)
    kept = [i for i in page.found("input") if i.attributes.get("name") == "watch"]
    assert 2 * len(page.found("form")) == len(kept)
    for step in steps:
        assert 200 == fetch(keeping, step.attributes["href"]).status
    assert rows_of(page) == rows_of(fetch(keeping, f"/?path=0{suffix}")), "the address shares it"
    assert [] == page.found("b")
    fields = urlencode({"path": "0"}) + suffix
    for target in ("/walk", "/search", "/load?" + fields):
        answer = post(keeping, target, fields)
        assert suffix == answer.one("main").attributes["data-watch"], target


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("state +", "'state +' is no Python expression"),
        ("x = 1", "'x = 1' is no Python expression"),
        ("1" * 2000, "The expression has 2,000 characters; give at most 1,000."),
    ],
)
def test_what_is_no_expression_is_told_and_not_watched(
    expression: str, sentence: str, keeping: Server
) -> None:
    page = watch(keeping, expression, path="0")
    assert (422, "0") == (page.status, page.path)
    assert sentence in page.one("p", id="note").words
    assert "" == page.one("main").attributes["data-watch"]
    linked = fetch(keeping, f"/?path=0&watch={quote(expression)}")
    assert 400 == linked.status
    assert sentence in linked.one("main").words


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("state.held[0]", "IndexError: tuple index out of range"),
        ("exit()", "SystemExit: None"),
        ("type('T', (), {'__repr__': lambda self: 1 / 0})()", "ZeroDivisionError: division by"),
    ],
)
def test_an_expression_that_fails_in_a_state_says_where(
    expression: str, error: str, keeping: Server
) -> None:
    page = watch(keeping, expression, path="0")
    assert 200 == page.status
    assert ["start error error", "1 error error"] == rows_of(page)[1:]
    (wrong,) = page.found("p", class_="wrong-text")
    assert f"For Alice at the start, the expression {expression!r} raises {error}" in wrong.words
    assert "it can use Alice, Bob, state, the state of the actor, and actors" in wrong.words


def test_other_states_have_values_where_an_expression_fails_in_one(keeping: Server) -> None:
    assert "2 error m1" == rows_of(watch(keeping, "state.held[0]", path="0.2"))[-1]


def test_there_is_a_greatest_number_of_expressions(keeping: Server) -> None:
    page = watch(keeping, *map(str, range(MOST_WATCHED + 1)))
    assert 422 == page.status
    assert "the page watches 8 expressions at most" in page.one("p", id="note").words.lower()
    full = watch(keeping, *map(str, range(MOST_WATCHED)))
    assert [] == full.found("input", id="expression")


def test_a_link_runs_nothing_until_the_user_agrees(keeping: Server, tmp_path: FilePath) -> None:
    """The address may come from anybody, and an expression can run any code."""
    expression = f"__import__('pathlib').Path({str(tmp_path / 'ran')!r}).touch()"
    address = f"/?path=0&watch={quote(expression)}"
    for page in (
        fetch(keeping, address),
        post(keeping, "/walk", f"path=0&watch={quote(expression)}"),
    ):
        assert 200 == page.status
        assert expression in page.one("section", class_="watch").words
        assert page.found("button", id="agree")
        assert not (tmp_path / "ran").exists()
    fields = {"path": "0", "watch": expression}
    body = urlencode(fields)
    assert 403 == fetch(keeping, "/watch", method="POST", body=body, cookie=None).status
    assert 404 == fetch(keeping, f"/watch?{urlencode(fields)}").status
    assert not (tmp_path / "ran").exists()
    post(keeping, "/watch", body)
    assert (tmp_path / "ran").exists()
    assert [] == fetch(keeping, address).found("button", id="agree")


def test_hostile_values_stay_text(keeping: Server) -> None:
    page = watch(keeping, f"{runs.EVIL!r}")
    assert runs.EVIL not in page.body
    assert [] == page.found("img")
