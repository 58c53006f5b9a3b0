"""The HTTP server of the explore page, for browsers on this machine.

The server listens on the loopback address only. Pages of other sites cannot read its answers. A
request must name this server as its host, which prevents DNS rebinding. A request that starts work
must come from the page itself (Origin). Other sites may not frame or load anything. The page loads
nothing from elsewhere and runs only its own script. A notebook on this machine may frame the page
if the notebook opened it.

Other users of this machine can reach the loopback address, too, so every request needs the secret
token of this server. The address that the command prints has the token. Whoever opens this address
gets the token as a cookie, and is sent on to the same address without the token.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode, urlsplit

from antecede.checker.explore.page import entrance, refusal
from antecede.checker.explore.site import Answer, RefusedRequest, Site, query_in
from antecede.checker.explore.tree import NoSuchState
from antecede.checker.explore.turns import pass_on
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError
from antecede.checker.support.supervisor import HANGING, PERIOD

HOST, PORT = "127.0.0.1", 8642
"""The address of the page. The port is fixed, so that links stay valid."""

PATIENCE = 10.0
"""The time in seconds for a call of a handler, or for an expression, to return."""

HELD_UP = 2.0
"""The time in seconds of one call after which the other requests no longer wait for it."""

TOKEN = "token"
"""The field of the first address that has the token of the server."""

NO_TOKEN = (
    "this request lacks the token of this server; open the address that antecede explore printed, "
    "or if you have opened it and followed a link to here, press Enter in the address bar"
)

LARGEST = 16 * 2**20
"""The greatest size of an uploaded trace, in bytes."""

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


NOTEBOOKS = "http://localhost:* http://127.0.0.1:* https://localhost:* vscode-webview:"
"""The origins of notebooks that may frame the page."""


def headers(*, framed: bool) -> Mapping[str, str]:
    """Return the security headers of every answer; `framed`: notebooks may frame the page."""
    if not framed:
        return HEADERS
    policy = HEADERS["Content-Security-Policy"].replace(
        "frame-ancestors 'none'", f"frame-ancestors {NOTEBOOKS}"
    )
    # X-Frame-Options knows no list of origins; browsers that know frame-ancestors ignore it.
    others = {name: value for name, value in HEADERS.items() if name != "X-Frame-Options"}
    return {**others, "Content-Security-Policy": policy}


class Server(ThreadingHTTPServer):
    """Serves one site on the loopback address.

    Args:
        port: the port; 0 selects a free one.
        framed: whether notebooks on this machine may frame the page.

    Raises:
        InputError: the port cannot be used.
    """

    daemon_threads = True

    request_queue_size = 128
    """The number of connections that can wait for the server, because many tabs ask at once.

    The system ignores any further one, and the browser tries again after a second or more.
    """

    def __init__(self, site: Site, port: int = PORT, *, framed: bool = False) -> None:
        self.site, self.framed, self.security = site, framed, headers(framed=framed)
        self.token = secrets.token_urlsafe()
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            raise InputError(
                f"cannot listen on port {port}: {error.strerror}; give another one with --port, or "
                "0 for any that is free"
            ) from None

    @property
    def origin(self) -> str:
        """The beginning of all addresses of this server."""
        return f"http://{HOST}:{self.server_port}"

    @property
    def address(self) -> str:
        """The address to open first. It has the token, so only its reader can open the page."""
        return f"{self.origin}/?{TOKEN}={self.token}"

    @property
    def cookie(self) -> str:
        """The cookie of a session. Browsers do not separate ports, so its name has the port."""
        return f"antecede-{self.server_port}={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The accepted values of the header Host."""
        names = (HOST, "localhost")
        named = tuple(f"{name}:{self.server_port}" for name in names)
        return (*named, *names) if self.server_port == 80 else named

    def server_close(self) -> None:
        """Close the port, and end the search that is under way."""
        super().server_close()
        self.site.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a browser may close a connection at any time."""


class Handler(BaseHTTPRequestHandler):
    """Reads one request, refuses requests of other sites, and writes the answer."""

    server: Server
    error_message_format, error_content_type = "%(message)s\n", "text/plain;charset=utf-8"
    timeout = 30

    def do_GET(self) -> None:
        """Answer a request without side effects. The answer to HEAD has no content."""
        self._answer(lambda: self.server.site.get(*self._target()))

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Answer a request that searches or loads a trace."""
        self._answer(self._post)

    def _post(self) -> Answer:
        self._check_origin()
        return self.server.site.post(*self._target(), self._body())

    def _target(self) -> tuple[str, dict[str, str]]:
        if not self.path.startswith("/"):
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, "the address must begin with a slash")
        parts = urlsplit(self.path)
        return parts.path, query_in(parts.query)

    def _answer(self, answer: Callable[[], Answer]) -> None:
        name = self.server.site.tree.system.protocol.name
        try:
            self._check_host()
            self._check_site()
            answered = self._entered() or _in_time(answer)
        except RefusedRequest as refused:
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
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, "a request names its host, once")
        if hosts[0].lower() not in self.server.hosts:
            raise RefusedRequest(HTTPStatus.FORBIDDEN, f"this is not {hosts[0][:80]!r}")

    def _check_site(self) -> None:
        """Refuse requests from other sites' pages, such as images and scripts, except for links."""
        site, mode = self.headers.get("Sec-Fetch-Site"), self.headers.get("Sec-Fetch-Mode")
        if site in ("cross-site", "same-site") and mode != "navigate":
            raise RefusedRequest(HTTPStatus.FORBIDDEN, "another site asks for this")

    def _entered(self) -> Answer | None:
        """Refuse a request without the token; return the answer to one that has it in its address.

        The answer is no redirect, because after a link from another site, such as a terminal in a
        notebook, a browser would not send the new cookie along with it.
        """
        address, query = self._target()
        token = query.pop(TOKEN, "") if address == "/" else ""
        if secrets.compare_digest(token.encode(), self.server.token.encode()):
            page = entrance(f"/?{urlencode(query)}" if query else "/")
            return Answer(page, headers={"Set-Cookie": f"{self.server.cookie}; {self._limits()}"})
        cookies = ";".join(self.headers.get_all("Cookie") or []).split(";")
        expected = self.server.cookie.encode()
        if not any(
            secrets.compare_digest(cookie.strip().encode(errors="replace"), expected)
            for cookie in cookies
        ):
            raise RefusedRequest(HTTPStatus.FORBIDDEN, NO_TOKEN)
        return None

    def _limits(self) -> str:
        """Return to whom a browser sends the cookie: to this server, for its own page only.

        To browsers, the frame in a notebook belongs to another site. They keep such a cookie apart
        for each site that has a frame (Partitioned).
        """
        if self.server.framed and self.headers.get("Sec-Fetch-Dest") == "iframe":
            return "Path=/; HttpOnly; Secure; SameSite=None; Partitioned"
        return "Path=/; HttpOnly; SameSite=Strict"

    def _check_origin(self) -> None:
        origins = self.headers.get_all("Origin") or []
        own = f"http://{self.headers.get('Host', '').lower()}"
        if [origin.lower() for origin in origins] != [own]:
            raise RefusedRequest(
                HTTPStatus.FORBIDDEN, "only this server's own page may ask for this"
            )

    def _body(self) -> str:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            raise RefusedRequest(HTTPStatus.LENGTH_REQUIRED, "the request must state its length")
        if len(length) > 12 or int(length) > LARGEST:
            said = f"more than {LARGEST // 2**20} MB are not read"
            raise RefusedRequest(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said)
        try:
            return self.rfile.read(int(length)).decode()
        except UnicodeDecodeError:
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, "the request is not UTF-8 text") from None
        except TimeoutError:
            said = f"the rest of the request has not come for {self.timeout} seconds"
            raise RefusedRequest(HTTPStatus.REQUEST_TIMEOUT, said) from None

    def _write(self, answer: Answer) -> None:
        body, kind = answer.content, answer.kind
        if isinstance(body, str):
            body, kind = body.encode(errors="replace"), f"{kind}; charset=utf-8"
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Send the security headers with every answer, errors included."""
        for name, value in self.server.security.items():
            self.send_header(name, value)
        super().end_headers()

    def version_string(self) -> str:
        """Return the name of the server without versions."""
        return "antecede"

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing on the terminal."""


def _in_time(answer: Callable[[], Answer]) -> Answer:
    """Return the answer, which another thread makes, so that this one can name a call that hangs.

    Such a call goes on until the server ends, because Python cannot end a thread.

    Raises:
        InputError: a handler or an expression has not returned for PATIENCE seconds.
    """
    future, works, named = Future[Answer](), Future[list[interrupts.Work]](), set[float]()

    def work() -> None:
        works.set_result(interrupts.works())
        try:
            future.set_result(answer())
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    of_thread = works.result()
    while thread.is_alive():
        thread.join(PERIOD)
        for hanging in of_thread[-1:]:
            began, what, *_ = hanging
            seconds = time.monotonic() - began
            if seconds > HANGING and began not in named:
                named.add(began)
                print(f"{what} has not returned after {seconds:.0f} seconds.", file=sys.stderr)
            if seconds > min(HELD_UP, PATIENCE):
                pass_on(thread)
            if seconds > PATIENCE:
                said = interrupts.unfinished(hanging)
                raise InputError(
                    f"the page cannot be shown, because {said}. Correct it, end antecede explore "
                    "with Ctrl-C, and start it again"
                )
    return future.result()
