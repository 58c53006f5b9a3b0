"""Hands the page to a browser on this machine.

Only the loopback address is listened on. A page of another site cannot get at the answers: a
request must name this server as its host (else a name that resolves to 127.0.0.1 would do: DNS
rebinding), one that makes the server work must come from this very page (Origin), and nothing may
be framed or loaded by others. The page loads nothing from elsewhere, and runs one script, its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from attrs import field, frozen

from checker.errors import InputError, ReplayError
from checker.explore.ahead import BOUNDS, look_ahead
from checker.explore.page import (
    SAVED_AS,
    Note,
    Place,
    place_at,
    refusal,
    script,
    style_sheet,
    text,
    transitions_to,
)
from checker.explore.tree import MOST_STEPS, NoSuchState, Numbers, Tree, numbers_in
from checker.formats import html, svg
from checker.formats.json import misfit, trace_in, trace_text
from checker.path import Path
from checker.search import Bounds
from checker.spec import Spec

HOST, PORT = "127.0.0.1", 8642
"""Where the page is: a fixed port, so that an address can be sent to somebody."""

LARGEST = 16 * 2**20
"""Bytes of a trace that is loaded."""

HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
)

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<path d="M3 1v14M13 1v14M3 4l10 7" stroke="#0063a3" stroke-width="2" fill="none"/></svg>'
)


@frozen
class Answer:
    """What goes back to the browser."""

    content: str
    kind: str = "text/html"
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(factory=dict)


class Refused(Exception):
    """A request that is not answered; the status says of which sort, the text why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@frozen(eq=False)
class Site:
    """The answers to all requests; knows nothing of HTTP but paths, queries and bodies.

    Attributes:
        tree: what is explored.
        bounds: of a search.
    """

    tree: Tree
    bounds: Bounds = BOUNDS
    _searching: threading.Lock = field(factory=threading.Lock, init=False)

    def get(self, address: str, query: Mapping[str, str]) -> Answer:
        """Answer what only looks."""
        answers: dict[str, Callable[[], Answer]] = {
            "/": lambda: Answer(text(self.tree, self._place(query))),
            "/trace": lambda: self._saved(query),
            "/explore.css": lambda: Answer(style_sheet(), "text/css"),
            "/explore.js": lambda: Answer(script(), "text/javascript"),
            "/explore.svg": lambda: Answer(ICON, "image/svg+xml"),
        }
        if address not in answers:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no page {address[:80]!r}")
        return answers[address]()

    def post(self, address: str, query: Mapping[str, str], body: str) -> Answer:
        """Answer what searches, or reads a trace."""
        if address == "/search":
            return self._searched(_query(body))
        if address == "/load":
            return self._loaded(query, body)
        raise Refused(HTTPStatus.NOT_FOUND, f"nothing can be sent to {address[:80]!r}")

    def _place(self, query: Mapping[str, str]) -> Place:
        return place_at(self.tree, numbers_in(query.get("path", "")))

    def _saved(self, query: Mapping[str, str]) -> Answer:
        name, path = query.get("format", "json"), self._place(query).path
        writers: dict[str, tuple[str, Callable[[Path], str]]] = {
            "json": ("application/json", lambda p: trace_text(p, self.tree.spec.protocol)),
            "svg": ("image/svg+xml", svg.text),
            "html": ("text/html", html.text),
        }
        if name not in writers:
            choices = ", ".join(SAVED_AS)
            raise Refused(HTTPStatus.NOT_FOUND, f"no format {name[:40]!r}; there are {choices}")
        kind, write = writers[name]
        file = f'attachment; filename="trace.{name}"'
        return Answer(write(path), kind, headers={"Content-Disposition": file})

    def _searched(self, query: Mapping[str, str]) -> Answer:
        place = self._place(query)
        name = query.get("property", "")
        asked = tuple(
            j.prop
            for j in place.searched
            if (j.prop.name == name if name else j.prop.witness is None)
        )
        if not asked:
            note = Note("There is nothing left to search for.", wrong=True)
            return Answer(text(self.tree, place, note))
        with self._searching:
            ahead = look_ahead(self.tree.system, transitions_to(place.path), asked, self.bounds)
        if ahead.prop is None:
            note = Note(_nothing(ahead.unique_states, ahead.stopped_by))
            return Answer(text(self.tree, place, note))
        there = place_at(self.tree, self.tree.numbers_of(ahead.transitions))
        more = there.path.length - place.path.length
        found = f"A shortest way to {'show' if ahead.prop.witness else 'violate'} {ahead.prop.name}"
        steps = "1 step" if more == 1 else f"{more} steps"
        note = Note(f"{found}: {steps} on, found among {ahead.unique_states:,} states.")
        return Answer(text(self.tree, there, note))

    def _loaded(self, query: Mapping[str, str], body: str) -> Answer:
        try:
            numbers = self._numbers_of_trace(body)
            place = place_at(self.tree, numbers)
        except InputError as error:
            note = Note(f"{str(error)[:600]}.", wrong=True)
            page = text(self.tree, self._place(query), note)
            return Answer(page, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        return Answer(text(self.tree, place, Note(f"Loaded a trace of {len(numbers)} steps.")))

    def _numbers_of_trace(self, body: str) -> Numbers:
        trace = trace_in(body, "the file")
        _check_question(trace.spec, self.tree)
        if len(trace.keys) > MOST_STEPS:
            raise InputError(
                f"the trace has {len(trace.keys)} steps; this page goes to {MOST_STEPS} at most"
            )
        try:
            return self.tree.numbers_of_keys(trace.keys)
        except ReplayError as error:
            raise misfit("the file", trace, error) from None


def _nothing(states: int, stopped_by: str | None) -> str:
    if stopped_by is None:
        return f"There is none: all {states:,} states that can be reached from here were explored."
    return f"None was found among {states:,} states ({stopped_by}); there may be one beyond them."


def _check_question(asked: Spec, tree: Tree) -> None:
    """Refuse a trace of another system; loading one never imports a protocol.

    Raises:
        InputError: says what differs.
    """
    system = tree.system
    own = {
        "protocol": _last_part(tree.spec.protocol),
        "actors": system.actors,
        "messages": system.messages,
        "network": system.network.name,
        "workload": system.workload.text,
        "sends": system.sends,
        "clock_at": system.clock_at,
    }
    for name, value in own.items():
        theirs = getattr(asked, name)
        if (_last_part(theirs) if name == "protocol" else theirs) != value:
            raise InputError(
                f"the file is a trace with {name} {theirs!r}, and this page explores {name} "
                f"{value!r}; start causalcheck explore with the file"
            )


def _last_part(protocol: str) -> str:
    return protocol.rpartition("/")[2]


def _query(encoded: str) -> dict[str, str]:
    """Return the fields of a query.

    Raises:
        Refused: one is given twice, or there are too many.
    """
    try:
        fields = parse_qs(encoded, keep_blank_values=True, max_num_fields=16, errors="replace")
    except ValueError:
        raise Refused(HTTPStatus.BAD_REQUEST, "the query cannot be read") from None
    for name, values in fields.items():
        if len(values) > 1:
            raise Refused(HTTPStatus.BAD_REQUEST, f"{name[:40]!r} is given more than once")
    return {name: value for name, (value,) in fields.items()}


class Server(ThreadingHTTPServer):
    """Serves one site on the loopback address.

    Args:
        site: the answers.
        port: where; 0 for any that is free.

    Raises:
        InputError: the port cannot be used.
    """

    daemon_threads = True

    def __init__(self, site: Site, port: int = PORT) -> None:
        self.site = site
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            raise InputError(
                f"cannot listen on port {port}: {error.strerror}; give another one with --port, or "
                "0 for any that is free"
            ) from None

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the browser may call this server."""
        names = (HOST, "localhost")
        named = tuple(f"{name}:{self.server_port}" for name in names)
        return (*named, *names) if self.server_port == 80 else named

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that goes away while it is answered is nobody's business."""


class Handler(BaseHTTPRequestHandler):
    """Reads one request, refuses what is foreign, and writes the answer."""

    server: Server
    error_message_format, error_content_type = "%(message)s\n", "text/plain;charset=utf-8"
    timeout = 30

    def do_GET(self) -> None:
        """Answer a request that only looks."""
        self._answer(self._get)

    def do_HEAD(self) -> None:
        """Answer the same without the content."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Answer a request that searches or loads."""
        self._answer(self._post)

    def _get(self) -> Answer:
        address, query = self._target()
        return self.server.site.get(address, query)

    def _post(self) -> Answer:
        self._check_origin()
        address, query = self._target()
        return self.server.site.post(address, query, self._body())

    def _target(self) -> tuple[str, dict[str, str]]:
        if not self.path.startswith("/"):
            raise Refused(HTTPStatus.BAD_REQUEST, "the address must begin with a slash")
        parts = urlsplit(self.path)
        return parts.path, _query(parts.query)

    def _answer(self, answer: Callable[[], Answer]) -> None:
        name = self.server.site.tree.system.protocol.name
        try:
            self._check_host()
            self._check_site()
            answered = answer()
        except Refused as refused:
            answered = Answer(f"{refused}\n", "text/plain", refused.status)
        except NoSuchState as error:
            page = refusal(f"{error}.", name, error.before)
            answered = Answer(page, status=HTTPStatus.NOT_FOUND)
        except InputError as error:
            answered = Answer(refusal(f"{error}.", name), status=HTTPStatus.BAD_REQUEST)
        except Exception as error:
            sentence = f"Internal error: {type(error).__name__}: {error}"
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            answered = Answer(refusal(sentence, name), status=status)
        self._write(answered)

    def _check_host(self) -> None:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1:
            raise Refused(HTTPStatus.BAD_REQUEST, "a request names its host, once")
        if hosts[0].lower() not in self.server.hosts:
            raise Refused(HTTPStatus.FORBIDDEN, f"this is not {hosts[0][:80]!r}")

    def _check_site(self) -> None:
        """Refuse what another site's page loads, as an image or a script; links are welcome."""
        site, mode = self.headers.get("Sec-Fetch-Site"), self.headers.get("Sec-Fetch-Mode")
        if site in ("cross-site", "same-site") and mode != "navigate":
            raise Refused(HTTPStatus.FORBIDDEN, "another site asks for this")

    def _check_origin(self) -> None:
        origins = self.headers.get_all("Origin") or []
        own = f"http://{self.headers.get('Host', '').lower()}"
        if [origin.lower() for origin in origins] != [own]:
            raise Refused(HTTPStatus.FORBIDDEN, "only this server's own page may ask for this")

    def _body(self) -> str:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the length of what is sent must be given")
        if len(length) > 12 or int(length) > LARGEST:
            said = f"more than {LARGEST // 2**20} MB are not read"
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said)
        try:
            return self.rfile.read(int(length)).decode()
        except UnicodeDecodeError:
            raise Refused(HTTPStatus.BAD_REQUEST, "what is sent is no UTF-8 text") from None

    def _write(self, answer: Answer) -> None:
        body = answer.content.encode(errors="replace")
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{answer.kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Send what protects the page with every answer, errors included."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def version_string(self) -> str:
        """Return what the server calls itself; its versions are nobody's business."""
        return "causalcheck"

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal quiet."""
