"""A real server of the explore page, and its pages read back; shared by two files of tests."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.client import HTTPConnection
from typing import Any

from attrs import Factory, define, frozen

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.explore.server import HOST, Server
from antecede.checker.explore.site import BOUNDS, Site
from antecede.checker.explore.tree import Tree
from antecede.checker.model import Protocol
from antecede.checker.search.options import Bounds
from tests.models import deliver_the_first_copy, toy


def tree_of(protocol: Protocol | str, actors: int = 2, messages: int = 1, **values: Any) -> Tree:
    """Return what is explored, given in the command line's terms."""
    name = protocol if isinstance(protocol, str) else protocol.name
    spec = Spec(protocol=name, actors=actors, messages=messages, **values)
    return Tree(spec, system_of(spec, None if isinstance(protocol, str) else protocol))


def never_ending() -> Tree:
    """Return a system whose search calls more and more handlers, and then one that hangs."""
    calls = 0

    def receive(state: Any, src: int, packet: Any) -> Any:
        nonlocal calls
        if multiprocessing.parent_process() is not None:
            calls += 1
            time.sleep(0.02 if calls < 200 else 3600)
        return deliver_the_first_copy(state, src, packet)

    return tree_of(toy("lasting", receive=receive), 3, 3, properties=("integrity",))


@contextmanager
def serving(tree: Tree, bounds: Bounds = BOUNDS) -> Iterator[Server]:
    """Serve `tree` on a free port for as long as the block runs."""
    with Server(Site(tree, bounds), 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@frozen
class Element:
    """An element of a page."""

    name: str
    attributes: dict[str, str]
    text: list[str] = Factory(list)

    @property
    def words(self) -> str:
        """All text inside."""
        return " ".join("".join(self.text).split())


VOID = {"meta", "link", "input", "br"}


@define
class Reader(HTMLParser):
    """Collects the elements of a page, in order, each with all the text inside."""

    elements: list[Element] = Factory(list)
    inside: list[Element] = Factory(list)

    def __attrs_post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self.inside.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.inside.pop().name, "elements are nested"
        if tag in ("td", "th", "p", "li", "h2"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        for element in self.inside:
            element.text.append(data)


@frozen
class Got:
    """An answer of the server."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def elements(self) -> list[Element]:
        """All elements of the page, in order."""
        reader = Reader()
        reader.feed(self.body)
        assert [] == reader.inside
        return reader.elements

    def found(self, name: str, **attributes: str) -> list[Element]:
        """Return the elements of a name that have these attributes; a class may be one of many."""
        return [
            each
            for each in self.elements
            if name == each.name
            and all(
                value in each.attributes.get(key.rstrip("_"), "").split()
                if key == "class_"
                else value == each.attributes.get(key.replace("_", "-"))
                for key, value in attributes.items()
            )
        ]

    def one(self, name: str, **attributes: str) -> Element:
        """Return the only such element."""
        (element,) = self.found(name, **attributes)
        return element

    @property
    def path(self) -> str:
        """The path that the page shows."""
        return self.one("main").attributes["data-path"]

    @property
    def choices(self) -> list[Element]:
        """The buttons of the enabled transitions."""
        return self.found("button", class_="choice")


def fetch(
    server: Server,
    target: str = "/",
    *,
    method: str = "GET",
    body: str | bytes | None = None,
    headers: tuple[tuple[str, str], ...] | None = None,
    cookie: str | None = "",
) -> Got:
    """Send a raw request with exactly these `headers`, by default those a browser sends.

    The `cookie` is that of the session by default; None leaves it out.
    """
    if headers is None:
        headers = (("Host", server.origin.removeprefix("http://")), ("Origin", server.origin))
    if cookie is not None:
        headers = (*headers, ("Cookie", cookie or server.cookie))
    content = body.encode() if isinstance(body, str) else body
    connection = HTTPConnection(HOST, server.server_port, timeout=600)
    try:
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        if content is not None and not any(name == "Content-Length" for name, _ in headers):
            connection.putheader("Content-Length", str(len(content)))
        connection.endheaders(content)
        answer = connection.getresponse()
        return Got(
            answer.status, dict(answer.getheaders()), answer.read().decode(errors="surrogateescape")
        )
    finally:
        connection.close()


def post(server: Server, target: str, body: str | bytes) -> Got:
    """Send what the page's own script sends."""
    return fetch(server, target, method="POST", body=body)


def searched(server: Server, body: str) -> Got:
    """Search as the page's script does, and return the page at the end of the search."""
    got = post(server, "/search", body)
    while found := got.found("span", id="searching"):
        got = fetch(server, f"/search?search={found[0].attributes['data-search']}")
    return got
