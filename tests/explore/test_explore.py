"""The explore page: a real server on a free port, asked as a browser asks, and as others do."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, url2pathname, urlopen

import pytest
from attrs import evolve

from antecede.checker.check.spec import Spec
from antecede.checker.explore import server as serving_module
from antecede.checker.explore import start
from antecede.checker.explore.page import command_of
from antecede.checker.explore.search import Searches
from antecede.checker.explore.server import HEADERS, LARGEST, PORT, Server
from antecede.checker.explore.tree import MOST_STEPS, Tree, numbers_in, text_of
from antecede.checker.paths.path import Path, replay
from antecede.checker.render.json import replay_file, trace_text
from antecede.checker.render.prose import Wording
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.transition import enabled
from antecede.checker.support import extras
from antecede.checker.support.errors import InputError, ProtocolError
from antecede.checker.support.registry import protocol_named
from tests import runs
from tests.conftest import COMMAND, ROOT, Command, begun, children_of, counterexample, is_alive
from tests.explored import Got, fetch, never_ending, post, searched, serving, tree_of
from tests.models import deliver_the_first_copy, toy
from tests.support.test_interrupts import until


@pytest.fixture(scope="module")
def unordered() -> Iterator[Server]:
    """Two actors, two messages each; m2 may overtake m1."""
    with serving(tree_of("unordered", 2, 2)) as server:
        yield server


def tree(server: Server) -> Tree:
    return server.site.tree


def address(path: Path, server: Server) -> str:
    return text_of(tree(server).numbers_of(step.transition for step in path.steps))


# Contents of a page


def test_the_first_page_offers_every_enabled_transition(unordered: Server) -> None:
    page = fetch(unordered)
    assert 200 == page.status
    assert "" == page.path
    words = ["0 Alice sends m1 to Bob, as Data(m1)"]
    words += ["1 Bob sends m1 to Alice, as Data(m1)"]
    assert words == [each.words for each in page.choices]
    assert ["0", "1"] == [each.attributes["value"] for each in page.choices]


def test_a_path_leads_where_replaying_its_transitions_leads(unordered: Server) -> None:
    taken: list[Any] = []
    path = replay(tree(unordered).system, taken)
    for number in (0, 1, 2, 0, 0, 0):
        taken.append(enabled(path.system, path.last)[number])
        path = replay(path.system, taken)
    page = fetch(unordered, "/?path=0.1.2.0.0.0")
    assert "0.1.2.0.0.0" == page.path
    assert len(enabled(path.system, path.last)) == len(page.choices)
    assert f"{Wording.of(path).step(path.steps[-1])}." == page.one("p", id="done").words
    assert len(path.steps) == len(page.found("g", class_="row"))
    assert [str(n) for n in range(7)] == [
        each.words.split()[0]
        for each in page.found("li")
        if "step-" in each.attributes.get("id", "")
    ]


def test_every_button_leads_to_the_page_of_its_transition(unordered: Server) -> None:
    for choice in fetch(unordered, "/?path=0.0").choices:
        page = fetch(unordered, f"/?path={choice.attributes['value']}")
        assert choice.words.split(" ", 1)[1] + "." == page.one("p", id="done").words


def test_a_path_can_be_taken_back_and_left_at_any_step(unordered: Server) -> None:
    page = fetch(unordered, "/?path=0.1.2")
    assert "0.1" == page.one("button", id="back").attributes["value"]
    links = [a.attributes["href"] for a in page.found("a") if "aria-current" in a.attributes]
    assert ["/?path=0.1.2"] == links
    assert {"/?path=", "/?path=0", "/?path=0.1"} <= {
        a.attributes["href"] for a in page.found("a") if a.attributes["href"].startswith("/?")
    }
    assert "disabled" in fetch(unordered).one("button", id="back").attributes


def test_what_changed_is_marked_and_what_left_the_network_is_struck_out(unordered: Server) -> None:
    page = fetch(unordered, "/?path=0.2")
    assert ["0 0"] == [each.words for each in page.found("del") if each.words == "0 0"]
    assert "1 0" in [each.words for each in page.found("ins")]
    assert "Alice → Bob: Data(m1)" in [each.words for each in page.found("del")]


def test_a_choice_that_violates_says_so_before_it_is_taken(unordered: Server) -> None:
    path = counterexample("unordered", 2)
    *before, last = address(path, unordered).split(".")
    page = fetch(unordered, f"/?path={'.'.join(before)}")
    assert "VIOLATED" not in page.body
    choice = page.choices[int(last)]
    assert choice.words.endswith("violates causal-delivery")
    assert "(too late)" in choice.words


def test_a_violation_is_named_explained_and_drawn(unordered: Server) -> None:
    path = counterexample("unordered", 2)
    page = fetch(unordered, f"/?path={address(path, unordered)}")
    assert "VIOLATED" == page.one("span", class_="badge").words
    assert "m1 happened before m2" in page.body
    assert "causal-delivery ✗ violated at step 4" == page.one("tr", class_="wrong").words
    assert page.found("g", class_="late")


def verdicts(server: Server, path: str) -> dict[str, str]:
    """Return what the page says of each property."""
    rows = fetch(server, f"/?path={path}").found("tr")
    words = [row.words.partition(" ") for row in rows]
    names = {prop.name for prop in tree(server).system.properties}
    return {name: said for name, _, said in words if name in names}


def test_properties_are_judged_at_every_state() -> None:
    names = ("all-delivered", "witness:waited", "causal-delivery", "integrity")
    with serving(tree_of("mfss", workload="script:[[1],[]]", properties=names)) as server:
        assert {
            "all-delivered": "… judged when the run is over Violate it",
            "witness:waited": "… not shown so far Show me",
            "causal-delivery": "✓ not violated so far Violate it",
            "integrity": "✓ not violated so far Violate it",
        } == verdicts(server, "0")
        assert "✓ holds, and the run is over" == verdicts(server, "0.0.0")["all-delivered"]
        assert [] == fetch(server, "/?path=0.0.0").found("button", id="violation")


def test_what_a_protocol_declares_is_listed_unasked() -> None:
    declared = protocol_named("cykas")
    names = [f"invariant:{name}" for name in declared.invariants]
    names += [f"final:{name}" for name in declared.final_invariants]
    names += [f"witness:{name}" for name in declared.witnesses]
    with serving(Tree(Spec("cykas"))) as server:
        said = verdicts(server, "")
        assert names == [name for name in said if ":" in name]
        assert "… not shown so far Show me" == said["witness:secret-mode"]
    with serving(Tree(Spec("cykas", properties=("integrity",)))) as server:
        assert ["integrity"] == list(verdicts(server, ""))


def test_a_trace_is_judged_by_all_that_its_protocol_declares(tmp_path: FilePath) -> None:
    file = tmp_path / "t.json"
    file.write_text(trace_text(runs.undelivered()))
    opened, _ = start.opened(str(file), {})
    names = [prop.name for prop in opened.system.properties]
    assert {"all-delivered", "invariant:mode-counts", "witness:eager-send"} <= set(names)


def test_an_undelivered_message_is_seen_at_the_end_of_a_run() -> None:
    path = runs.undelivered()
    with serving(tree_of("cykas-as-printed", 2, 2)) as server:
        page = fetch(server, f"/?path={address(path, server)}")
        assert "Nothing: the run is over." in page.body
        assert "✗ violated, and the run is over" == verdicts(server, page.path)["all-delivered"]


@pytest.mark.parametrize(
    ("protocol", "network", "said"),
    [
        ("hybrid-basic", "lossy", "✓ everything can still be delivered from here"),
        ("unordered", "lossy:1", "✗ violated: from here not everything can be delivered any more"),
    ],
)
def test_whether_there_is_a_way_back_is_judged_from_each_state(
    protocol: str, network: str, said: str
) -> None:
    question = tree_of(protocol, network=network, properties=("can-deliver",))
    with serving(question) as server:
        transitions = enabled(question.system, question.path((0,)).last)
        lose = [t.kind for t in transitions].index("lose")
        assert said == verdicts(server, f"0.{lose}")["can-deliver"]


def test_a_way_back_that_takes_too_long_to_find_is_left_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antecede.checker.explore.judgement.MOST_STATES", 3)
    with serving(tree_of("mfss", 3, properties=("can-deliver",))) as server:
        assert verdicts(server, "0")["can-deliver"].startswith("… not known here: more than 3")


def test_a_handler_that_fails_takes_its_button_away() -> None:
    def receive(*_arguments: object) -> Any:
        raise ValueError("no <b>")

    with serving(tree_of(toy("failing", receive=receive))) as server:
        page = fetch(server, "/?path=0")
        (choice,) = [each for each in page.choices if "disabled" in each.attributes]
        assert choice.words.startswith("1 Bob receives Data(m1) from Alice: receive of protocol")
        assert "receive of protocol 'toy-failing' raised ValueError: no <b>" in choice.words
        answer = fetch(server, f"/?path={choice.attributes['value']}")
        assert 400 == answer.status
        assert "raised ValueError" in answer.one("main").words


def test_a_causal_send_that_fails_says_who_sends_what_to_whom() -> None:
    def causal_send(state: Any, message: Any) -> Any:
        if message.number == 2:
            raise ValueError("full")
        return toy("x").causal_send(state, message)

    with serving(tree_of(toy("failing", causal_send=causal_send), 2, 2)) as server:
        (choice,) = [c for c in fetch(server, "/?path=0").choices if "disabled" in c.attributes]
        assert choice.words.startswith("0 Alice sends m2 to Bob: causal_send of protocol")


def test_an_invariant_that_fails_after_a_step_takes_its_button_away() -> None:
    def empty(state: Any) -> bool:
        return bool(1 // (not state.held))

    keeping = evolve(toy("keeping", receive=deliver_the_first_copy), invariants={"empty": empty})
    with serving(tree_of(keeping)) as server:
        page = fetch(server, "/?path=0")
        assert 200 == page.status
        (choice,) = [each for each in page.choices if "disabled" in each.attributes]
        assert "Bob receives Data(m1) from Alice: invariant 'empty'" in choice.words


def test_a_property_that_fails_is_told_and_the_server_goes_on() -> None:
    question = tree_of("mfss")
    broken = evolve(question.system.properties[0], predicate=lambda _delivery: 1 // 0 == 0)
    system = evolve(question.system, properties=(broken,))
    with serving(Tree(question.spec, system)) as server:
        answer = fetch(server, "/?path=0.1")
        assert 500 == answer.status
        assert "Internal error: ZeroDivisionError" in answer.body
        assert 200 == fetch(server).status


@pytest.mark.integration
def test_a_path_names_the_same_state_in_every_process() -> None:
    script = (
        "from tests.explored import *\n"
        "tree = tree_of('cykas', 3, 2)\n"
        "path = tree.path((0, 1, 2, 3, 4, 5, 0))\n"
        "from antecede.checker.paths.path import transition_key\n"
        "print([transition_key(s.transition) for s in path.steps])\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert 1 == len(said)


# Paths that lead nowhere


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("x", 400, "the path 'x' is not made of numbers with points, such as 0.2.1"),
        ("0..1", 400, "is not made of numbers"),
        ("0.", 400, "is not made of numbers"),
        ("-1", 400, "is not made of numbers"),
        ("%D9%A3", 400, "is not made of numbers"),
        ("0%0A", 400, "is not made of numbers"),
        ("1" * 5000, 400, "1…' is not made of numbers"),
        ("%22%3E%3Cimg%20src=x%3E", 400, "the path '\"><img src=x>' is not made of numbers"),
        ("9", 404, "step 1 of the path is 9, but the transitions enabled there are 0 to 1"),
        ("0.0.7", 404, "step 3 of the path is 7, but the transitions enabled there are 0 to 2"),
        ("0.1.0.0.0.0.0.0.0", 404, "step 9 of the path is 0, but the run is over there"),
        (".".join(["0"] * (MOST_STEPS + 1)), 404, f"this page goes to {MOST_STEPS} at most"),
    ],
)
def test_a_path_that_leads_nowhere_gets_a_sentence(
    path: str, status: int, sentence: str, unordered: Server
) -> None:
    page = fetch(unordered, f"/?path={path}")
    assert status == page.status
    assert sentence.lower() in page.one("main").words.lower()
    assert [] == page.found("img")
    (link,) = page.found("a")
    if len(path) < 20:
        assert 200 == fetch(unordered, link.attributes["href"]).status


def test_a_path_that_ends_too_soon_leads_to_where_it_ends(unordered: Server) -> None:
    assert "/?path=0.0" == fetch(unordered, "/?path=0.0.7").one("a").attributes["href"]


def test_a_query_that_says_two_things_is_refused(unordered: Server) -> None:
    assert 400 == fetch(unordered, "/?path=0&path=1").status
    assert 400 == fetch(unordered, "/?" + "&".join(f"a{n}=1" for n in range(50))).status


def test_numbers_are_written_as_they_are_read() -> None:
    assert () == numbers_in("")
    assert "0.12.3" == text_of(numbers_in("0.12.3"))


@pytest.mark.parametrize("target", ["/nothing", "/../cli.py", "/explore.css/", "/%2e%2e/x"])
def test_there_are_no_other_pages(target: str, unordered: Server) -> None:
    assert 404 == fetch(unordered, target).status


# Requests of other users of this machine


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/?path=0"),
        ("GET", "/?token=x"),
        ("GET", "/?token="),
        ("GET", "/graph?path=0&token=TOKEN"),
        ("GET", "/trace"),
        ("GET", "/search?search=1"),
        ("GET", "/changed"),
        ("GET", "/explore.js"),
        ("GET", "/nothing"),
        *(("POST", way) for way in ("/search", "/walk", "/where", "/watch", "/cancel", "/load")),
    ],
)
@pytest.mark.parametrize(
    "cookie", [None, "antecede-1=TOKEN", "antecede-PORT=", "antecede-PORT=x", "TOKEN", "\xff"]
)
def test_a_request_without_the_token_is_refused_with_a_sentence(
    cookie: str | None, method: str, target: str, unordered: Server
) -> None:
    """Whoever reads no terminal of the user does not know the token."""
    own = {"TOKEN": unordered.token, "PORT": str(unordered.server_port)}
    for name, value in own.items():
        target, cookie = target.replace(name, value), cookie and cookie.replace(name, value)
    got = fetch(unordered, target, method=method, body="path=", cookie=cookie)
    assert 403 == got.status
    assert "text/plain; charset=utf-8" == got.headers["Content-Type"]
    assert method == "HEAD" or got.body.startswith("this request lacks the token of this server;")
    assert "Set-Cookie" not in got.headers
    assert unordered.token not in got.body


def test_the_printed_address_gives_a_session_and_leads_to_its_path(unordered: Server) -> None:
    target = f"{unordered.address}&path=0.1&watch=%27a%26b%27&watch=2".removeprefix(
        unordered.origin
    )
    got = fetch(unordered, target, cookie=None)
    assert 200 == got.status
    refresh = got.one("meta", http_equiv="refresh").attributes["content"]
    assert "0;url=/?path=0.1&watch=%27a%26b%27%0A2" == refresh
    cookie, *limits = got.headers["Set-Cookie"].split("; ")
    assert unordered.cookie == cookie
    assert ["Path=/", "HttpOnly", "SameSite=Strict"] == limits
    assert "Alice" not in got.body
    page = fetch(unordered, refresh.removeprefix("0;url="), cookie=f"other=1; {cookie}")
    assert "0.1" == page.path
    assert ["'a&b'", "2"] == [each.words for each in page.found("code")][:2]


def test_two_servers_have_different_tokens(unordered: Server) -> None:
    with serving(tree_of("mfss")) as other:
        assert other.token != unordered.token
        assert 403 == fetch(other, cookie=unordered.cookie).status


# Requests from other sites


def named(server: Server, *hosts: str) -> tuple[tuple[str, str], ...]:
    return tuple(("Host", host.replace("PORT", str(server.server_port))) for host in hosts)


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT"])
def test_the_server_answers_to_its_own_names(host: str, unordered: Server) -> None:
    assert 200 == fetch(unordered, headers=named(unordered, host)).status


FOREIGN = (
    (("evil.example",), 403),
    (("evil.example:PORT",), 403),
    (("127.0.0.1.evil.example:PORT",), 403),
    (("localhost.:PORT",), 403),
    (("127.0.0.1:1",), 403),
    (("127.0.0.1",), 403),
    (("0.0.0.0:PORT",), 403),
    (("",), 403),
    ((), 400),
    (("127.0.0.1:PORT", "evil.example"), 400),
)


@pytest.mark.parametrize(
    ("method", "target"), [("GET", "/"), ("GET", "/trace"), ("POST", "/search")]
)
def test_a_foreign_host_is_refused(method: str, target: str, unordered: Server) -> None:
    """A page whose name resolves to 127.0.0.1 sends its own name as the host."""
    for hosts, status in FOREIGN:
        got = fetch(unordered, target, method=method, body="", headers=named(unordered, *hosts))
        assert status == got.status, hosts
        assert "Alice" not in got.body


def test_an_address_of_another_server_is_refused(unordered: Server) -> None:
    assert 400 == fetch(unordered, "http://evil.example/").status
    assert 404 == fetch(unordered, "//evil.example/").status


STRANGE = (
    (),
    ("null",),
    ("http://evil.example",),
    ("http://127.0.0.1:1",),
    ("https://127.0.0.1:PORT",),
)


@pytest.mark.parametrize("target", ["/search", "/load", "/cancel", "/walk", "/where", "/watch"])
def test_only_the_page_itself_may_search_and_load(target: str, unordered: Server) -> None:
    for origins in STRANGE:
        headers = named(unordered, "127.0.0.1:PORT")
        headers += tuple(("Origin", o.replace("PORT", str(unordered.server_port))) for o in origins)
        got = fetch(unordered, target, method="POST", body="path=", headers=headers)
        assert 403 == got.status, origins


def test_a_search_cannot_be_asked_for_by_a_link(unordered: Server) -> None:
    assert 404 == fetch(unordered, "/search?path=").status
    assert 404 == post(unordered, "/", "path=0").status


def test_another_site_may_link_here_and_load_nothing(unordered: Server) -> None:
    own = named(unordered, "127.0.0.1:PORT")

    def status(site: str, mode: str) -> int:
        fetched = (("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode))
        return fetch(unordered, "/explore.js", headers=own + fetched).status

    assert 200 == status("cross-site", "navigate")
    assert 200 == status("same-origin", "no-cors")
    assert 200 == status("none", "navigate")
    assert 403 == status("cross-site", "no-cors")
    assert 403 == status("same-site", "cors")


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/?path=x"),
        ("GET", "/nothing"),
        ("GET", "/trace"),
        ("GET", "/explore.js"),
        ("PUT", "/"),
        ("OPTIONS", "/"),
    ],
)
def test_every_answer_carries_what_protects_the_page(
    method: str, target: str, unordered: Server
) -> None:
    got = fetch(unordered, target, method=method)
    for name, value in HEADERS.items():
        assert value == got.headers[name]
    assert "Python" not in got.headers["Server"]
    assert not [name for name in got.headers if name.startswith("Access-Control")]


def test_the_policy_lets_only_the_own_script_and_style_run(unordered: Server) -> None:
    policy = fetch(unordered).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("path", ["", "0.1", "0.1.0.0.0.0.0.0"])
def test_a_page_needs_nothing_from_elsewhere_and_has_no_script_inside(
    path: str, unordered: Server
) -> None:
    page = fetch(unordered, f"/?path={path}")
    for element in page.elements:
        assert not [key for key in element.attributes if key.startswith("on") or key == "style"]
        for key in ("href", "src", "action"):
            value = element.attributes.get(key, "/")
            assert re.match(r"/(?!/)|#step-\d+$", value), value
    assert "" == page.one("script").words
    assert [] == page.found("style")
    outside = re.sub(r'xmlns="http://www\.w3\.org/2000/svg"', "", page.body)
    assert not re.search(r"https?:|@import|url\((?!#)", outside)
    for file in ("/explore.css", "/explore.js"):
        assert not re.search(r"https?:|@import|url\(", fetch(unordered, file).body)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ((("Content-Length", "x"),), 411),
        ((("Content-Length", "-1"),), 411),
        ((("Content-Length", "5"), ("Transfer-Encoding", "chunked")), 411),
        ((("Content-Length", str(LARGEST + 1)),), 413),
        ((("Content-Length", "9" * 4000),), 413),
    ],
)
def test_what_is_sent_must_have_a_length_that_can_be_read(
    headers: tuple[tuple[str, str], ...], status: int, unordered: Server
) -> None:
    own = unordered.origin
    both = (("Host", own.removeprefix("http://")), ("Origin", own), *headers)
    assert status == fetch(unordered, "/load", method="POST", headers=both).status


def test_only_this_machine_is_listened_to(unordered: Server) -> None:
    assert "127.0.0.1" == unordered.server_address[0]


def test_a_connection_that_says_nothing_or_breaks_off_holds_nobody_up(unordered: Server) -> None:
    with socket.create_connection(("127.0.0.1", unordered.server_port)):
        assert 200 == fetch(unordered).status
    with socket.create_connection(("127.0.0.1", unordered.server_port)) as other:
        other.sendall(b"POST /load HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf")
    assert 200 == fetch(unordered).status


# Names that mean harm


def test_hostile_names_and_payloads_stay_text() -> None:
    path = runs.hostile()
    with serving(tree_of(runs.HOSTILE, 2, 2)) as server:
        for length in range(path.length + 1):
            numbers = address(evolve(path, steps=path.steps[:length]), server)
            page = fetch(server, f"/?path={numbers}")
            assert 200 == page.status
            assert [] == page.found("img")
            assert 1 == len(page.found("script")) == len(page.found("svg"))
            assert runs.EVIL not in page.body
            assert "Evil</script></style></svg><img src=x" in page.one("body").words or not length
            assert not [ch for ch in page.body if ch != "\n" and not ch.isprintable()]
        found = searched(server, "path=&property=")
        assert [] == found.found("img")
        saved = fetch(server, f"/trace?path={numbers}&format=html")
        assert runs.EVIL not in saved.body


def test_a_hostile_file_is_told_as_text(unordered: Server) -> None:
    body = json.dumps({"schema": runs.EVIL + "\ud800"})
    page = post(unordered, "/load?path=0", body)
    assert 422 == page.status
    assert "0" == page.path
    assert [] == page.found("img")
    assert "is not a trace that this version reads" in page.one("p", id="note").words


# Searching


def test_the_nearest_violation_is_found_from_the_start(unordered: Server) -> None:
    page = searched(unordered, "path=&property=")
    assert 4 == len(page.path.split("."))
    assert "VIOLATED" == page.one("span", class_="badge").words
    said = page.one("p", id="note").words
    assert said.startswith("A shortest way to violate causal-delivery: 4 steps on, found among")
    assert 200 == fetch(unordered, f"/?path={page.path}").status


def test_the_nearest_violation_is_found_from_where_one_stands(unordered: Server) -> None:
    """Bob has sent once; now he sends again, and Alice receives in the wrong order."""
    page = searched(unordered, "path=1&property=")
    assert page.path.startswith("1.")
    assert "3 steps on" in page.one("p", id="note").words
    *before, _ = page.path.split(".")
    near = searched(unordered, f"path={'.'.join(before)}&property=")
    assert page.path == near.path
    assert "1 step on" in near.one("p", id="note").words


def test_a_search_finds_as_short_a_way_as_the_check_does() -> None:
    expected = counterexample("cykas-secret-mode", 3, workload=runs.FIGURE_3)
    with serving(tree_of("cykas-secret-mode", 3, 2, workload=runs.FIGURE_3)) as server:
        page = searched(server, "path=&property=causal-delivery")
        assert expected.length == len(page.path.split("."))


def test_a_search_goes_through_states_that_the_path_met_before() -> None:
    """On a network that duplicates, a run may come back to where it was."""
    with serving(tree_of("unordered", 2, 1, network="duplicating")) as server:
        page = searched(server, "path=0&property=integrity")
        assert "A shortest way to violate integrity: 2 steps on" in page.body


def test_that_nothing_is_violated_is_said_when_everything_was_explored() -> None:
    with serving(tree_of("mfss")) as server:
        page = searched(server, "path=0&property=")
        assert "0" == page.path
        said = page.one("p", id="note").words
        assert re.fullmatch(r"There is none: all \d+ states that can be reached .*explored\.", said)


def test_a_search_that_hits_its_bound_says_so() -> None:
    with serving(tree_of("mfss", 3, 2), Bounds(max_states=300)) as server:
        said = searched(server, "path=0&property=").one("p", id="note").words
        assert "None was found among" in said
        assert "(--max-states 300 reached); there may be one beyond them." in said


def test_a_witness_is_searched_for_by_its_own_button() -> None:
    names = ("causal-delivery", "witness:waited")
    with serving(tree_of("mfss", 2, 2, properties=names)) as server:
        page = searched(server, f"path=&property={quote('witness:waited')}")
        assert "A shortest way to show witness:waited: 2 steps on" in page.one("p", id="note").words
        assert "shown at step" in verdicts(server, page.path)["witness:waited"]
        again = searched(server, f"path={page.path}&property={quote('witness:waited')}")
        assert "There is nothing left to search for." == again.one("p", id="note").words


def test_an_impure_handler_ends_a_search_with_a_sentence() -> None:
    memory: list[int] = []

    def receive(state: Any, _src: int, packet: Any) -> Any:
        memory.append(1)
        return evolve(toy("x").receive(state, _src, packet), state=len(memory))

    with serving(tree_of(toy("impure", receive=receive))) as server:
        answer = searched(server, "path=&property=")
        assert (422, "") == (answer.status, answer.path)
        assert "returned different results" in answer.one("p", id="note").words


@pytest.fixture
def lasting() -> Iterator[Server]:
    """A server of a system whose search does not end."""
    with serving(never_ending(), Bounds()) as server:
        yield server


def process_of(server: Server) -> Any:
    """Return the process of the search under way."""
    search = server.site._searches.under_way()
    assert search is not None
    return search.process


def number_of(page: Got) -> str:
    """Return the number of the search that a page shows to be under way."""
    return page.one("span", id="searching").attributes["data-search"]


@pytest.mark.integration
def test_a_search_from_the_start_is_a_check_in_another_process() -> None:
    """The plain search finds nothing among its first states; the compiled one has no bound."""
    with serving(tree_of("cykas-secret-mode", 3, 2, properties=("causal-delivery",))) as server:
        asked = post(server, "/search", "path=&property=")
        assert asked.found("form", action="/cancel")
        expected = counterexample("cykas-secret-mode", 3)
        page = searched(server, "path=&property=")
        assert expected.length == len(page.path.split("."))
        assert page.one("p", id="note").words.startswith("A shortest way to violate causal")


def test_a_search_can_be_cancelled_and_ends_at_once(lasting: Server) -> None:
    asked = post(lasting, "/search", "path=0&property=")
    process = process_of(lasting)
    began = time.monotonic()
    page = post(lasting, "/cancel", f"search={number_of(asked)}")
    assert "The search was cancelled" in page.one("p", id="note").words
    process.join(60)
    assert not process.is_alive()
    assert time.monotonic() - began < 60
    assert [] == page.found("span", id="searching")


def test_several_tabs_start_a_search_once(lasting: Server) -> None:
    first, second = (post(lasting, "/search", "path=0&property=") for _ in range(2))
    assert number_of(first) == number_of(second)
    other = post(lasting, "/search", "path=1&property=")
    assert 422 == other.status
    assert "Another search is under way; cancel it first" in other.one("p", id="note").words
    assert number_of(first) == number_of(other), "its cancel button is shown"


def test_a_search_under_way_shows_its_figures_and_holds_nobody_up(lasting: Server) -> None:
    number = number_of(post(lasting, "/search", "path=0&property="))
    said = set[str]()
    while not any("unique" in words for words in said):
        page = fetch(lasting, f"/search?search={number}")
        said.add(page.one("span", id="progress").words)
        assert 200 == fetch(lasting, "/?path=0").status


def test_there_is_no_search_without_a_number(lasting: Server) -> None:
    for number in ("", "7", "x", "-1", "9" * 5000):
        assert 404 == fetch(lasting, f"/search?search={number}").status
        assert 404 == post(lasting, "/cancel", f"search={number}").status


def test_a_server_that_closes_ends_its_search() -> None:
    with serving(never_ending(), Bounds()) as server:
        post(server, "/search", "path=0&property=")
        process = process_of(server)
    process.join(60)
    assert not process.is_alive()


@pytest.mark.integration
def test_a_search_that_begins_while_the_server_closes_ends_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python would wait for its process at the end."""
    start_search, starts = Searches._start, threading.Event()
    started: list[Any] = []

    def slow(*arguments: Any) -> Any:
        starts.set()
        time.sleep(0.5)
        started.append(start_search(*arguments))
        return started[0]

    monkeypatch.setattr(Searches, "_start", slow)
    with serving(never_ending(), Bounds()) as server:
        tab = threading.Thread(target=post, args=(server, "/search", "path=0&property="))
        tab.start()
        assert starts.wait(600)
        server.site.close()
        tab.join()
        started[0].process.join(30)
        assert not started[0].process.is_alive()
        later = post(server, "/search", "path=0&property=")
        assert (422, "The server has ended.") == (later.status, later.one("p", id="note").words)


def test_a_search_whose_process_is_killed_says_so(lasting: Server) -> None:
    number = number_of(post(lasting, "/search", "path=0&property="))
    process_of(lasting).kill()
    while (page := fetch(lasting, f"/search?search={number}")).found("span", id="searching"):
        pass
    assert 422 == page.status
    assert "process of the search was killed" in page.one("p", id="note").words


def test_a_search_from_elsewhere_goes_on_in_another_process(monkeypatch: Any) -> None:
    monkeypatch.setattr("antecede.checker.explore.site.FEW", Bounds(max_states=2))
    with serving(tree_of("unordered", 2, 2)) as server:
        asked = post(server, "/search", "path=1&property=")
        assert asked.found("form", action="/cancel")
        page = searched(server, "path=1&property=")
        assert page.path.startswith("1.")
        assert "3 steps on" in page.one("p", id="note").words


def test_a_search_goes_on_in_another_process_while_another_one_hangs_in_this_one() -> None:
    with serving(tree_of("unordered", 2, 2)) as server, server.site._looking_near:
        assert post(server, "/search", "path=1&property=").found("form", action="/cancel")
        page = searched(server, "path=1&property=")
        assert "3 steps on" in page.one("p", id="note").words


def test_a_protocol_that_cannot_be_sent_is_told(monkeypatch: Any) -> None:
    lock = threading.Lock()

    def receive(state: Any, src: int, packet: Any) -> Any:
        with lock:
            return toy("x").receive(state, src, packet)

    monkeypatch.setattr("antecede.checker.explore.site.FEW", Bounds(max_states=2))
    with serving(tree_of(toy("locked", receive=receive))) as server:
        page = post(server, "/search", "path=&property=")
        assert 422 == page.status
        assert "cannot be sent to the process of the search" in page.one("p", id="note").words
        assert "save the protocol as a file" in page.one("p", id="note").words


def test_a_run_of_a_protocol_that_has_changed_is_not_shown(
    monkeypatch: Any, tmp_path: FilePath
) -> None:
    """The process of a search imports the file as it is then, after the server has looked."""
    monkeypatch.setattr("antecede.checker.explore.reload.Watch.changed", lambda _watch: [])
    monkeypatch.setattr("antecede.checker.explore.site.FEW", Bounds(max_states=2))
    source = (ROOT / "protocols/fifo.py").read_text()
    file = tmp_path / "mine.py"
    file.write_text(source)
    with serving(Tree(Spec(str(file), actors=2))) as server:
        file.write_text((ROOT / "protocols/unordered.py").read_text())
        page = searched(server, "path=&property=causal-delivery")
        assert 422 == page.status
        assert "The protocol has changed" in page.one("p", id="note").words
        assert [] == page.found("span", class_="badge")


def searched_where(server: Server, expression: str, path: str = "") -> Got:
    """Ask for a state as the page does, and return the page at the end of the search."""
    fields = {"path": path, "expression": expression}
    got = post(server, "/where", urlencode(fields))
    while found := got.found("span", id="searching"):
        got = fetch(server, f"/search?search={found[0].attributes['data-search']}")
    return got


def test_one_is_taken_to_the_nearest_state_that_an_expression_describes(
    unordered: Server,
) -> None:
    page = searched_where(unordered, "any(actor != first for actor, first in zip(actors, [1, 2]))")
    assert "" == page.path, "it is true at the start"
    page = searched_where(unordered, "repr((Alice, Bob)) != repr(actors)")
    assert "There is none: all" in page.one("p", id="note").words
    keeping = toy("keeping", receive=deliver_the_first_copy)
    with serving(tree_of(keeping, 2, 2)) as server:
        page = searched_where(
            server, "all(len(a.held) == 1 for a in actors) and Bob.held", path="1"
        )
        assert page.path.startswith("1.")
        said = page.one("p", id="note").words
        assert "3 steps on" in said
        assert said.startswith("A shortest way to show all(len(a.held) == 1")


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("", "'' is no Python expression"),
        ("x = 1", "'x = 1' is no Python expression"),
        ("Dave", "the expression 'Dave' raises NameError: name 'Dave' is not defined; it can use"),
        ("actors[7]", "raises IndexError: tuple index out of range; it can use Alice, Bob, and"),
        ("1" * 2000, "the expression has 2,000 characters; give at most 1,000"),
    ],
)
def test_an_expression_that_does_not_do_gets_a_sentence(
    expression: str, sentence: str, unordered: Server
) -> None:
    page = searched_where(unordered, expression)
    assert 422 == page.status
    assert sentence.lower() in page.one("p", id="note").words.lower()


@pytest.mark.parametrize("way", ["/where", "/watch"])
def test_an_expression_runs_only_in_a_session(
    way: str, unordered: Server, tmp_path: FilePath
) -> None:
    expression = f"__import__('pathlib').Path({str(tmp_path / 'ran')!r}).touch()"
    body = urlencode({"path": "", "expression": expression, "token": unordered.token})
    for cookie in (None, "antecede=x", unordered.cookie[:-1]):
        assert 403 == fetch(unordered, way, method="POST", body=body, cookie=cookie).status
    assert not (tmp_path / "ran").exists()
    post(unordered, way, body)
    until((tmp_path / "ran").exists)


def test_no_link_and_no_other_site_can_send_an_expression(
    unordered: Server, tmp_path: FilePath
) -> None:
    body = urlencode({"path": "", "expression": f"open({str(tmp_path / 'ran')!r}, 'w')"})
    assert 404 == fetch(unordered, f"/where?{body}").status
    other = (("Host", f"127.0.0.1:{unordered.server_port}"), ("Origin", "http://evil.example"))
    assert 403 == fetch(unordered, "/where", method="POST", body=body, headers=other).status
    assert not (tmp_path / "ran").exists()


@pytest.mark.integration
def test_a_random_walk_takes_steps_that_are_enabled_up_to_a_violation_or_the_end(
    unordered: Server,
) -> None:
    walked = {post(unordered, "/walk", "path=0").path for _ in range(30)}
    assert len(walked) > 1
    for path in walked:
        page = fetch(unordered, f"/?path={path}")
        assert path.startswith("0.")
        assert "run is over" in page.body or page.found("span", class_="badge")
        before = fetch(unordered, f"/?path={path.rpartition('.')[0]}")
        assert [] == before.found("span", class_="badge"), "it stops at the first violation"


def test_a_random_walk_avoids_steps_that_fail() -> None:
    def receive(*_arguments: object) -> Any:
        raise ValueError

    with serving(tree_of(toy("failing", receive=receive))) as server:
        page = post(server, "/walk", "path=")
        assert 200 == page.status
        assert all("disabled" in each.attributes for each in page.choices)
        assert "A random walk of 2 steps." == page.one("p", id="note").words


# Saving and loading


def test_a_saved_path_replays_and_loads_to_the_same_page(
    unordered: Server, tmp_path: FilePath
) -> None:
    for path in ("", "0.1.2", address(counterexample("unordered", 2), unordered)):
        saved = fetch(unordered, f"/trace?path={path}&format=json")
        assert "application/json; charset=utf-8" == saved.headers["Content-Type"]
        assert "attachment" in saved.headers["Content-Disposition"]
        (tmp_path / "t.json").write_text(saved.body, encoding="utf-8")
        again, prop, _ = replay_file(str(tmp_path / "t.json"))
        assert path == address(again, unordered)
        assert prop == again.violates
        loaded = post(unordered, "/load?path=1", saved.body)
        assert (200, path) == (loaded.status, loaded.path)
        assert f"Loaded a trace of {again.length} steps." == loaded.one("p", id="note").words


@pytest.mark.parametrize(("name", "begins"), [("png", "\udc89PNG"), ("pdf", "%PDF")])
def test_the_path_is_saved_as_a_picture(name: str, begins: str, unordered: Server) -> None:
    pytest.importorskip("vl_convert")
    saved = fetch(unordered, f"/trace?path=0.1&format={name}")
    assert saved.body.startswith(begins)
    assert {"png": "image/png", "pdf": "application/pdf"}[name] == saved.headers["Content-Type"]


def test_a_picture_without_its_package_is_refused_on_the_page(
    unordered: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    assert "A .png file needs vl-convert" in fetch(unordered, "/trace?path=0.1&format=png").body


def test_a_trace_of_the_check_loads(antecede: Command, tmp_path: FilePath) -> None:
    size = ("--actors", 2, "--messages", 2, "--engine", "plain")
    antecede("check", "unordered", *size, "--trace", tmp_path / "t.json")
    with serving(tree_of("unordered", 2, 2)) as server:
        page = post(server, "/load", (tmp_path / "t.json").read_bytes())
        assert "VIOLATED" == page.one("span", class_="badge").words


@pytest.mark.parametrize(("name", "begins"), [("svg", "<svg"), ("html", "<!DOCTYPE html>")])
def test_the_path_is_saved_in_other_formats_too(name: str, begins: str, unordered: Server) -> None:
    saved = fetch(unordered, f"/trace?path=0.1&format={name}")
    assert saved.body.startswith(begins)
    assert "attachment" in saved.headers["Content-Disposition"]
    assert 404 == fetch(unordered, "/trace?path=0.1&format=exe").status


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"actors": 3}, "the file is a trace with actors 3, and this page explores actors 2"),
        ({"network": "fifo"}, "with network 'fifo', and this page explores network 'unordered'"),
        ({"protocol": "mfss"}, "with protocol 'mfss'"),
        ({"sends": "split"}, "with sends 'split'"),
        ({"transitions": [{}]}, "transition 1: the key 'kind' is missing"),
        ({"transitions": 7}, "transitions is 7; it must be a list"),
        ({"transitions": [{"kind": "timeout", "actor": 0}] * 600}, "the trace has 600 steps"),
        (
            {"transitions": [{"kind": "timeout", "actor": 0}]},
            "the file does not fit the protocol 'unordered' any more: step 1, timeout of 0, is not",
        ),
        ({"schema": "x"}, "its schema is 'x'"),
    ],
)
def test_a_trace_that_does_not_fit_is_refused_and_one_stays_where_one_was(
    changes: dict[str, Any], sentence: str, unordered: Server
) -> None:
    table = json.loads(fetch(unordered, "/trace?path=0").body)
    page = post(unordered, "/load?path=0.1", json.dumps({**table, **changes}))
    assert (422, "0.1") == (page.status, page.path)
    assert sentence.lower() in page.one("p", id="note").words.lower()


@pytest.mark.parametrize(
    "body", ["", "{", "[" * 100_000, "[" + "9" * 5000 + "]", '{"schema": NaN}']
)
def test_a_file_that_is_no_trace_is_refused(body: str, unordered: Server) -> None:
    page = post(unordered, "/load?path=0", body)
    assert (422, "0") == (page.status, page.path)
    assert "The file " in page.one("p", id="note").words


def test_a_file_that_is_no_text_is_refused(unordered: Server) -> None:
    assert 400 == post(unordered, "/load", b"\xff\xfe").status


def test_loading_a_trace_runs_no_file(unordered: Server, tmp_path: FilePath) -> None:
    (tmp_path / "mean.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    table = json.loads(fetch(unordered, "/trace?path=0").body)
    for name in (str(tmp_path / "mean.py"), f"{tmp_path / 'mean.py'}:PROTOCOL"):
        assert 422 == post(unordered, "/load", json.dumps({**table, "protocol": name})).status
    assert not (tmp_path / "ran").exists()


# The command


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("cycas",), "unknown protocol 'cycas'; did you mean 'cykas'?"),
        (("mfss", "--actors", "1"), "actors is 1; give at least 2"),
        (("mfss", "--network", "tcp"), "unknown network 'tcp'"),
        (("mfss", "--property", "x"), "unknown property 'x'"),
        (("none.toml",), "cannot read the spec 'none.toml': No such file"),
        (("none.json",), "cannot read the trace 'none.json': No such file"),
        (("none.py",), "there is no file 'none.py'"),
        ((".",), "'.' is a folder of specs; give one spec or protocol"),
        (("mfss", "--port", "70000"), "port is 70000; give at most 65,535"),
        (("mfss", "--max-seconds", "nan"), "max seconds is 'nan'; give a number"),
        ((), "Missing argument"),
    ],
)
def test_wrong_input_exits_2_with_a_sentence(
    arguments: tuple[str, ...], sentence: str, antecede: Command, tmp_path: FilePath
) -> None:
    ran = antecede("explore", *arguments, "--no-browser", cwd=tmp_path)
    assert (2, "") == (ran.code, ran.out)
    assert sentence in " ".join(ran.err.split())


def test_a_port_that_is_taken_is_refused(unordered: Server, antecede: Command) -> None:
    port = unordered.server_port
    ran = antecede("explore", "mfss", "--no-browser", "--port", port)
    assert 2 == ran.code
    assert f"cannot listen on port {port}: Address already in use; give another one" in ran.err


def test_a_protocol_that_cannot_start_is_refused(antecede: Command, tmp_path: FilePath) -> None:
    source = (ROOT / "protocols/unordered.py").read_text()
    broken = re.sub(r"initial=[^\n]+,", "initial=lambda *_: 1 / 0,", source)
    assert broken != source
    (tmp_path / "mine.py").write_text(broken)
    ran = antecede("explore", "mine.py", "--no-browser", "--port", 0, cwd=tmp_path)
    assert 2 == ran.code
    assert "raised ZeroDivisionError" in ran.err


@pytest.mark.integration
def test_the_command_says_the_address_and_ends_with_ctrl_c(tmp_path: FilePath) -> None:
    trace = tmp_path / "t.json"
    with serving(tree_of("unordered", 2, 2)) as server:
        trace.write_text(fetch(server, "/trace?path=0.1.2").body)
    process = begun([*COMMAND, "explore", str(trace), "--no-browser", "--port", "0"])
    assert process.stdout is not None
    said = process.stdout.readline()
    address = r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}&path=0\.1\.2"
    assert re.fullmatch(rf"Exploring unordered at {address}\n", said)
    assert "Ctrl-C ends it.\n" == process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=600)
    assert (0, "", "") == (process.returncode, rest, errors)


# Calls that do not return


def test_a_handler_that_does_not_return_is_named_on_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    returns = threading.Event()

    def receive(state: Any, src: int, packet: Any) -> Any:
        returns.wait()
        return deliver_the_first_copy(state, src, packet)

    with serving(tree_of(toy("slow", receive=receive))) as server, releasing(returns):
        monkeypatch.setattr(serving_module, "PATIENCE", 1.0)
        page = fetch(server, "/?path=0")
        assert 400 == page.status
        said = next(p.words for p in page.found("p") if "had not returned" in p.words)
        assert "because receive of protocol 'toy-slow' had not returned after 1 seconds" in said
        assert "it was called as receive(" in said
        assert said.endswith("end antecede explore with Ctrl-C, and start it again.")
        assert 200 == fetch(server, "/explore.css").status


@contextmanager
def releasing(event: threading.Event) -> Iterator[None]:
    """Set an event at the end of the block, so that the threads that wait for it end."""
    try:
        yield
    finally:
        event.set()


def test_an_expression_that_does_not_return_is_named_on_the_page(
    unordered: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "PATIENCE", 1.0)
    asked = {"path": "", "expression": "__import__('time').sleep(600)"}
    page = post(unordered, "/watch", urlencode(asked))
    assert 400 == page.status
    expected = f"the expression {asked['expression']!r} had not ended after 1 seconds"
    assert any(expected in p.words for p in page.found("p"))


HANGS = """
import attrs
from antecede.protocols.unordered import UNORDERED as base

def never(*_):
    while True:
        pass

AT_FIRST = attrs.evolve(base, name="at_first", initial=never)
LATER = attrs.evolve(base, name="later", causal_send=never)
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "code", "function"), [("AT_FIRST", 3, "initial"), ("LATER", 0, "causal_send")]
)
def test_ctrl_c_ends_the_command_while_a_handler_hangs(
    name: str, code: int, function: str, tmp_path: FilePath
) -> None:
    (tmp_path / "hangs.py").write_text(HANGS)
    asked = (*COMMAND, "explore", f"hangs.py:{name}", "--no-browser", "--port", "0")
    process = begun(asked, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    if name == "LATER":
        port, token = re.findall(r":(\d+)/\?token=(.*)", process.stdout.readline())[0]
        headers = f"Host: 127.0.0.1:{port}\r\nCookie: antecede-{port}={token}"
        with socket.create_connection(("127.0.0.1", int(port))) as browser:
            browser.sendall(f"GET / HTTP/1.0\r\n{headers}\r\n\r\n".encode())
            named = process.stderr.readline()
    else:
        named = process.stderr.readline()
    assert named.startswith(f"{function} of protocol '{name.lower()}' has not returned")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert code == process.returncode, err
    assert "Traceback" not in err


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_the_command_and_its_search(number: signal.Signals) -> None:
    size = ("--actors", "4", "--messages", "3", "--property", "causal-delivery")
    process = begun([*COMMAND, "explore", "mfss", *size, "--no-browser", "--port", "0"])
    assert process.stdout is not None
    own, port, token = re.findall(r"(http:.*:(\d+))/\?token=(.*)", process.stdout.readline())[0]
    headers = {"Origin": own, "Cookie": f"antecede-{port}={token}"}
    asked = Request(f"{own}/search", b"path=&property=", headers)
    with urlopen(asked, timeout=600) as answer:
        assert b'id="searching"' in answer.read()
    started = children_of(process.pid)
    assert started
    process.send_signal(number)
    process.communicate(timeout=600)
    until(lambda: not any(map(is_alive, started)))


def test_a_trace_is_explored_with_its_own_property_and_the_usual_ones(tmp_path: FilePath) -> None:
    file = tmp_path / "t.json"
    question = tree_of("unordered", 2, 2, properties=("fifo-delivery",))
    with serving(question) as server:
        found = searched(server, "path=&property=").path
        file.write_text(fetch(server, f"/trace?path={found}").body)
    opened, numbers = start.opened(str(file), {})
    assert found == text_of(numbers)
    names = ("fifo-delivery", "causal-delivery", "integrity", "all-delivered")
    assert names == opened.spec.properties
    with pytest.raises(InputError, match=r"t\.json does not fit the protocol 'unordered'"):
        start.opened(str(file), {"workload": "script:[[],[]]"})


def test_options_take_the_place_of_what_a_spec_says() -> None:
    file = str(ROOT / "specs/small/cykas-secret-mode-figure3.toml")
    opened, _ = start.opened(file, {"messages": 1, "workload": "any"})
    assert (3, 1) == (opened.system.actors, opened.system.messages)


def test_a_shipped_spec_is_opened_by_its_short_name() -> None:
    opened, _ = start.opened("museum/partisan-unordered", {})
    assert "museum/partisan-unordered" == opened.spec.label
    with pytest.raises(InputError, match="'museum' is a folder of specs; give one spec"):
        start.opened("museum", {})


def test_the_footer_gives_the_command_for_the_same_page() -> None:
    plain = Spec("mfss")
    assert "antecede explore mfss --actors 3 --messages 2" == " ".join(command_of(plain))
    spec = evolve(plain, workload="script:[[1],[0]]", actors=2, properties=("integrity",))
    assert (
        "antecede explore mfss --actors 2 --workload 'script:[[1],[0]]' --property integrity"
    ) == " ".join(command_of(spec))


def test_a_browser_is_opened_only_where_there_is_a_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    start.show("http://127.0.0.1:1/")
    assert [] == opened
    monkeypatch.setenv("DISPLAY", ":0")
    start.show("http://127.0.0.1:1/?token=x&path=0")
    (file,) = opened
    page = FilePath(url2pathname(urlsplit(file).path))
    assert "token" not in file, "all users can read the command line of a browser"
    assert 0o600 == page.stat().st_mode & 0o777
    assert "0;url=http://127.0.0.1:1/?token=x&amp;path=0" in page.read_text()
    page.unlink()


def test_a_path_is_replayed_once_and_remembered() -> None:
    calls: list[object] = []
    protocol = protocol_named("mfss")

    def receive(*arguments: Any) -> Any:
        calls.append(arguments)
        return protocol.receive(*arguments)

    question = tree_of(evolve(protocol, receive=receive))
    question.path((0, 1))
    met = len(calls)
    question.path((0, 1))
    assert met == len(calls)


def test_a_failing_handler_on_the_way_is_an_error_of_the_protocol() -> None:
    def receive(*_arguments: object) -> Any:
        raise ValueError

    question = tree_of(toy("failing", receive=receive), workload="script:[[1],[]]")
    with pytest.raises(ProtocolError, match="raised ValueError"):
        question.path((0, 0))


def test_the_port_of_the_command_is_the_fixed_one(antecede: Command) -> None:
    assert f"[default: {PORT}]" in " ".join(antecede("explore", "--help").out.split())
