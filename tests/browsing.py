"""A real browser for tests: Chromium, and pages that may ask nobody else.

Chromium is looked for on this machine (or named by CHROMIUM); `make test` installs it where it is
missing. Without it, and without playwright, the tests in a browser are skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from attrs import define, field

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP evil.example 127.0.0.1",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 300_000
"""Milliseconds; a search takes its time on a machine that has other work."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium of this machine; skip the test where there is none."""
    asked = [os.environ["CHROMIUM"]] if "CHROMIUM" in os.environ else NAMES
    found = next(filter(_runs, map(shutil.which, asked)), None)
    if found is None:
        pytest.skip("Chromium is not installed (apt-get install chromium, or set CHROMIUM to one)")
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


def _runs(program: str | None) -> bool:
    """Return whether a program is there and is more than a hint at where to get it."""
    if program is None:
        return False
    return not subprocess.run([program, "--version"], capture_output=True, check=False).returncode


def patient(page: Page) -> Page:
    """Return a page that was opened without `Tabs`, and wait for it as long as for the others."""
    page.set_default_timeout(PATIENCE)
    return page


@contextmanager
def site_of(html: Callable[[], str]) -> Iterator[int]:
    """Serve one page on this machine, and yield the port.

    A browser opens connections before it needs them, and says nothing on some. A server that
    answers one connection after the other would wait for such a one, and so would the test.
    """

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html().encode())

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@define
class Tabs:
    """Opens pages that may ask nobody but `allowed`, and may not complain."""

    browser: Browser
    contexts: list[BrowserContext] = field(factory=list)
    wrong: list[str] = field(factory=list)

    def open(self, address: str, *, scheme: str = "light", **options: Any) -> Page:
        """Open a page in a browser of its own."""
        context = self.browser.new_context(**{"color_scheme": scheme, **options})
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        page = context.new_page()
        own = re.match(r"file:|http://[^/]+/", address)
        assert own is not None
        page.on(
            "console",
            lambda said: (
                self.wrong.append(f"{said.text} ({said.location['url']})")
                if said.type == "error"
                else None
            ),
        )
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        page.on(
            "request",
            lambda asked: None if asked.url.startswith(own[0]) else self.wrong.append(asked.url),
        )
        page.goto(address)
        page.wait_for_url(lambda url: "token=" not in url)  # the page of a server leads on
        return page


@contextmanager
def tabs_of(browser: Browser) -> Iterator[Tabs]:
    """Open pages; at the end none of them may have complained or asked anybody else."""
    tabs = Tabs(browser)
    yield tabs
    for context in tabs.contexts:
        context.close()
    assert [] == tabs.wrong, tabs.wrong  # pytest shows no values here: this is no test module
