"""The site: its pages, links and search, as files and in Chromium on three screens.

It is built with a link to a repository at GitHub, because the theme would ask GitHub for the number
of stars. No page may load anything from elsewhere.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("mkdocs")

from mkdocs.structure.files import InclusionLevel

from antecede.checker.papers.simulate.chart import Panel
from antecede.checker.render.schemas import SCHEMAS, schema_text
from antecede.checker.support.version import VERSION
from benchmarks import drawings
from tests import notebooks
from tests.papers.simulate.test_charts import check_scheme, words

FOREIGN = re.compile(
    r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']*"""
)

REPOSITORY = "https://github.com/example/antecede"
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True},
    "dark": {"viewport": {"width": 1280, "height": 900}, "scheme": "dark"},
}
PAGES_WITH_WIDE_PARTS = ("index", "overview", "api", "claims", "protocols", "simulation", "table1")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = ["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, "REPO_URL": REPOSITORY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return folder


@pytest.mark.integration
def test_every_page_of_the_documentation_is_on_the_site(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / f"{page.stem}.html").is_file()


@pytest.mark.integration
def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert [] == FOREIGN.findall(page.read_text(encoding="utf-8")), page.name
    assert FOREIGN.search('<script async src="//cdn.example.org/a.js">')


@pytest.mark.integration
def test_code_that_a_page_links_to_is_on_the_site(site: Path) -> None:
    text = (site / "writing.html").read_text(encoding="utf-8")
    assert 'href="source/protocols/mfss.py.html"' in text
    assert "unacknowledged" in (site / "source/protocols/mfss.py.html").read_text(encoding="utf-8")


@pytest.mark.integration
def test_the_reference_is_made_of_the_docstrings(site: Path) -> None:
    text = (site / "api.html").read_text(encoding="utf-8")
    assert "A protocol for the delivery of messages: a record of functions" in text
    assert 'id="antecede.check"' in text


@pytest.mark.integration
def test_the_site_has_the_schemas_that_the_command_prints(site: Path) -> None:
    for name in SCHEMAS:
        assert schema_text(name) == (site / f"schemas/{name}.json").read_text(encoding="utf-8")


def hook(name: str = "pages") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLACES = [
    ("README.md", "overview.md"),
    ("docs/index.md", "index.md"),
    ("docs/ci.md", "ci.md"),
    ("CONTRIBUTING.md", "project/CONTRIBUTING.md"),
    ("protocols/mfss.py", "source/protocols/mfss.py.md"),
    ("specs/small", "source/specs/small/index.md"),
    ("benchmarks/figures/speed.svg", "project/benchmarks/figures/speed.svg"),
]


@pytest.mark.parametrize(("path", "place"), PLACES)
def test_a_file_of_the_repository_has_its_place(path: str, place: str) -> None:
    assert place == hook().place_of(path)


def test_links_are_rewritten_and_code_is_left_alone() -> None:
    name = SimpleNamespace(src_uri="project/CONTRIBUTING.md", inclusion=InclusionLevel.NOT_IN_NAV)
    page = SimpleNamespace(file=name, meta={}, ancestors=[])
    config = SimpleNamespace(extra={"origins": {"project/CONTRIBUTING.md": "CONTRIBUTING.md"}})
    text = "[a](docs/ci.md#x) [b](https://example.org) [c](#d)\n```text\n[a](docs/ci.md)\n```\n"
    found = hook().on_page_markdown(text, page=page, config=config, files=None)
    assert (
        "[a](../ci.md#x) [b](https://example.org) [c](#d)\n```text\n[a](docs/ci.md)\n```\n" == found
    )


# Version and repository


@pytest.mark.integration
def test_every_page_shows_the_version_and_links_to_the_repository(site: Path) -> None:
    for name in ("index", "tutorial", "source/protocols/mfss.py"):
        text = (site / f"{name}.html").read_text(encoding="utf-8")
        assert f"antecede {VERSION}" in text
        assert f'<a href="{REPOSITORY}"' in text


def test_without_an_address_there_is_no_link_to_a_repository(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("REPO_URL", raising=False)
    config = SimpleNamespace(site_name="", repo_url=None, repo_name=None)
    assert hook().on_config(config).repo_url is None
    monkeypatch.setenv("REPO_URL", REPOSITORY)
    assert REPOSITORY == hook().on_config(config).repo_url


# The counterexample that plays


@pytest.mark.integration
def test_the_first_page_plays_the_diagram_of_the_readme(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    drawn = (ROOT / "docs/images/chat.svg").read_text(encoding="utf-8")
    steps = set(re.findall(r'data-step="([1-9]\d*)"', drawn))
    assert steps == set(re.findall(r"@keyframes at-(\d+)", page))
    assert "@keyframes way-1-6 " in page, "m1 is sent in step 1 and received in step 6"
    for text in re.findall("<text[^>]*>([^<]+)</text>", drawn):
        assert text in page


@pytest.mark.integration
def test_the_site_draws_the_short_forms_that_its_pages_link_to(site: Path) -> None:
    for page, folder, place in (
        ("protocols", ROOT / "docs/images/protocols", "images/protocols"),
        ("simulation", ROOT / "docs/images/simulation", "images/simulation"),
        ("project/benchmarks/index", ROOT / "benchmarks/figures", "figures"),
    ):
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        kept = [file for file in drawings.sources() if file.parent == folder]
        assert kept
        for file in kept:
            assert f'src="{place}/{file.stem}.svg"' in text
            drawn = (site / page).parent / place / f"{file.stem}.svg"
            assert "</svg>" in drawn.read_text(encoding="utf-8")


@pytest.mark.integration
def test_a_chart_on_the_site_has_its_titles_and_follows_the_readers_scheme(site: Path) -> None:
    kept = [file for file in drawings.sources() if drawings.is_chart(file)]
    for file in kept:
        chart = drawings.chart_in(file)
        place = hook().place_of(file.with_suffix(".svg").relative_to(ROOT).as_posix())
        text = (site / place).read_text(encoding="utf-8")
        check_scheme(text)
        panels = [panel.title for panel in chart.panels if isinstance(panel, Panel)]
        for title in (chart.title, *panels):
            assert "".join(title.split()) in "".join(words(text)).replace(" ", "")


@pytest.mark.integration
def test_the_site_has_whole_traces_and_a_picture_beside_each(site: Path) -> None:
    page = (site / "claims.html").read_text(encoding="utf-8")
    kept = sorted((ROOT / "docs/claims").glob("*.json"))
    assert kept
    for file in kept:
        whole = json.loads((site / f"claims/{file.name}").read_text(encoding="utf-8"))
        assert drawings.in_short(whole) == file.read_text(encoding="utf-8")
        assert (site / f"claims/{file.stem}.svg").is_file()
        assert f'<a href="claims/{file.stem}.svg">picture</a>' in page


@pytest.mark.integration
def test_the_notebooks_on_the_site_have_outputs(site: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    for name in notebooks.names():
        text = (site / f"notebooks/{name}.ipynb").read_text(encoding="utf-8")
        shown = notebooks.pictures(nbformat.reads(text, as_version=4))
        assert len(shown) > 1
        assert all(picture.rstrip().endswith("</svg>") for picture in shown)


def test_only_a_link_alone_becomes_a_picture() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="a.md"))
    config = SimpleNamespace(extra={"origins": {}, "drawings": {"docs/r.json": "r.json"}})
    text = "# A\n\n[a\nrun](r.json)\n\nSee [r](r.json) ([trace](r.json)).\n\n[other](s.json)\n"
    assert (
        "# A\n\n[![a\nrun](r.svg)](r.json)\n\n"
        "See [r](r.json) ([trace](r.json), [picture](r.svg)).\n\n[other](s.json)\n"
    ) == hook("drawings").on_page_markdown(text, page=page, config=config)


def test_a_drawing_without_transitions_is_not_animated() -> None:
    with pytest.raises(ValueError, match="no transitions"):
        hook("animation").animated('<svg xmlns="http://www.w3.org/2000/svg"/>')


# Narrow forms of diagrams


def test_the_narrow_form_of_a_diagram_shows_the_lines_and_not_the_words() -> None:
    drawn = (ROOT / "docs/images/chat.svg").read_text(encoding="utf-8")
    found = hook("narrow").crop(drawn)
    _, _, width, _ = found
    lines = [float(x) for x in re.findall(r'class="name"[^>]* x="([\d.]+)"', drawn)]
    words = [float(x) for x in re.findall(r'class="note[^"]*" x="([\d.]+)"', drawn)]
    assert 0 < min(lines) <= max(lines) < width < min(words)
    assert f'width="{width:g}"' in hook("narrow").narrow(drawn)


@pytest.mark.integration
def test_every_diagram_on_a_page_has_a_narrow_form(site: Path) -> None:
    for name in ("findings", "protocols", "museum", "examples", "liveness"):
        images = re.findall(r"<img [^>]*>", (site / f"{name}.html").read_text(encoding="utf-8"))
        assert images
        drawn = [image for image in images if "simulation/" not in image]
        assert [] == [image for image in drawn if "class=diagram" not in image]


def test_a_chart_has_no_narrow_form() -> None:
    chart = (ROOT / "docs/images/simulation/processes-5.svg").read_text(encoding="utf-8")
    assert hook("narrow").narrow(chart) is None


# In Chromium


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site to this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from tests.browsing import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def tabs(browser: Any) -> Iterator[Any]:
    from tests.browsing import tabs_of

    with tabs_of(browser) as tabs:
        yield tabs


def background(page: Any) -> int:
    """Return how light the page is, from 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return max(map(int, re.findall(r"\d+", colour)[:3]))


@pytest.mark.integration
@pytest.mark.parametrize("screen", SCREENS)
def test_no_page_scrolls_sideways(screen: str, address: str, tabs: Any) -> None:
    page = tabs.open(f"{address}index.html", **SCREENS[screen])
    for name in PAGES_WITH_WIDE_PARTS:
        page.goto(f"{address}{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


WAYS_TO_FIT = """all => all.map(each => {
    if (each.getBoundingClientRect().right <= innerWidth) return 'fits';
    for (; each; each = each.parentElement) {
        const scrolls = ['auto', 'scroll'].includes(getComputedStyle(each).overflowX);
        if (scrolls && each.getBoundingClientRect().right <= innerWidth) return 'scrolls';
    }
    return 'is cut off';
})"""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("protocols", ".md-content table"),
        ("simulation", ".md-content img"),
        ("table1", ".md-content table"),
    ],
)
def test_on_a_phone_wide_parts_of_a_page_scroll(
    name: str, part: str, address: str, tabs: Any
) -> None:
    page = tabs.open(f"{address}{name}.html", **SCREENS["phone"])
    page.locator(part).first.wait_for()
    ways = set(page.eval_on_selector_all(part, WAYS_TO_FIT))
    assert "scrolls" in ways
    assert ways <= {"fits", "scrolls"}


BROKEN = """all => all.filter(each => {
    const lines = document.createRange();
    lines.selectNodeContents(each);
    return !each.textContent.match(/[^A-Za-z_]/)
        && new Set([...lines.getClientRects()].map(line => Math.round(line.top))).size > 1;
}).map(each => each.textContent)"""


@pytest.mark.integration
@pytest.mark.parametrize("name", ["model", "specs"])
def test_on_a_phone_no_name_in_a_first_column_is_broken(name: str, address: str, tabs: Any) -> None:
    page = tabs.open(f"{address}{name}.html", **SCREENS["phone"])
    names = ".md-content td:first-child code"
    page.locator(names).first.wait_for()
    assert [] == page.eval_on_selector_all(names, BROKEN)


TOO_WIDE = """all => all.filter(each => {
    const around = each.closest('.md-typeset__scrollwrap, p') || each.parentElement;
    return each.getBoundingClientRect().width > around.clientWidth + 1;
}).length"""


@pytest.mark.integration
@pytest.mark.parametrize(
    "name", ["bounds", "claims", "findings", "liveness", "protocols", "simulation", "table1"]
)
def test_on_a_desktop_tables_and_charts_fit(name: str, address: str, tabs: Any) -> None:
    page = tabs.open(f"{address}{name}.html", **SCREENS["desktop"])
    page.locator(".md-content :is(table, img)").first.wait_for()
    page.wait_for_load_state("networkidle")
    assert 0 == page.eval_on_selector_all(".md-content :is(table, img)", TOO_WIDE)


@pytest.mark.integration
@pytest.mark.parametrize("screen", SCREENS)
def test_only_a_phone_shows_the_narrow_form_of_a_diagram(
    screen: str, address: str, tabs: Any
) -> None:
    sources = []
    for name in ("findings", "findings-trees"):
        page = tabs.open(f"{address}{name}.html", **SCREENS[screen])
        page.wait_for_load_state("networkidle")
        shown = "all => all.map(each => each.currentSrc)"
        sources += page.eval_on_selector_all("img.diagram", shown)
    assert len(sources) > 10
    assert {screen == "phone"} == {"/narrow/" in source for source in sources}


@pytest.mark.integration
def test_on_a_phone_the_first_picture_shows_all_actors(address: str, tabs: Any) -> None:
    page = tabs.open(address, **SCREENS["phone"])
    for name in ("Alice", "Bob", "Carol"):
        box = page.locator(".counterexample").get_by_text(name, exact=True).first.bounding_box()
        assert 0 <= box["x"]
        assert box["x"] + box["width"] <= 390
    run = page.locator(".counterexample__run").bounding_box()
    words = page.get_by_text("Alice sends m1 to Bob", exact=True).last.bounding_box()
    assert words["x"] >= run["x"] + run["width"], "words about steps are cut off as a whole"


@pytest.mark.integration
@pytest.mark.parametrize("screen", SCREENS)
def test_commands_do_not_look_like_their_output(screen: str, address: str, tabs: Any) -> None:
    page = tabs.open(f"{address}tutorial.html", **SCREENS[screen])
    look = (
        "each => { const it = getComputedStyle(each);"
        " return [it.backgroundColor, it.borderLeftWidth] }"
    )
    kinds = (".language-sh > pre > code", ".language-text > pre > code")
    command, output = (page.locator(kind).first.evaluate(look) for kind in kinds)
    assert command[0] != output[0]
    assert command[1] != output[1]


@pytest.mark.integration
@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_page_has_four_entries_and_plays_a_run(
    screen: str, address: str, tabs: Any
) -> None:
    page = tabs.open(address, **SCREENS[screen])
    assert [
        "I design a protocol",
        "I have logs or code",
        "I read the papers",
        "I look something up",
    ] == page.locator(".grid.cards strong").all_inner_texts()
    buttons = page.locator(".hero .md-button")
    assert ["Try it in the browser", "Install", "Tutorial"] == buttons.all_inner_texts()
    assert playing(page) > 0
    page.get_by_label("Pause the animation").check()
    assert 0 == playing(page)


def playing(page: Any) -> int:
    """Return how many animations of the counterexample are running."""
    count: int = page.evaluate(
        "document.querySelector('.counterexample svg').getAnimations({subtree: true})"
        ".filter(each => each.playState == 'running').length"
    )
    return count


@pytest.mark.integration
def test_who_asks_for_less_motion_sees_the_whole_run_at_once(address: str, tabs: Any) -> None:
    page = tabs.open(address, reduced_motion="reduce")
    assert 0 == playing(page)
    assert not page.get_by_label("Pause the animation").is_visible()
    assert page.get_by_text("m1 too late").is_visible()


@pytest.mark.integration
def test_the_pages_and_pictures_follow_the_system_and_the_switch(address: str, tabs: Any) -> None:
    paper = "getComputedStyle(document.querySelector('.counterexample .paper')).fill"
    dark = tabs.open(address, scheme="dark")
    assert background(dark) < 60
    assert "rgb(13, 17, 23)" == dark.evaluate(paper)
    light = tabs.open(address, scheme="light")
    assert background(light) > 200
    assert "rgb(255, 255, 255)" == light.evaluate(paper)
    light.get_by_title("switch to light").click()
    light.get_by_title("switch to dark").click()
    assert background(light) < 60
    assert "rgb(13, 17, 23)" == light.evaluate(paper)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "first"),
    [("network", "tutorial"), ("workload", "specs"), ("log", "audit"), ("cykas", "protocols")],
)
def test_the_search_shows_pages_for_users_first(
    words: str, first: str, address: str, tabs: Any
) -> None:
    from playwright.sync_api import expect

    page = tabs.open(address)
    page.get_by_role("textbox", name="Search").click()
    page.keyboard.type(words)
    found = page.locator("a.md-search-result__link").first
    expect(found).to_have_attribute("href", re.compile(rf"/{first}\.html\b"))


@pytest.mark.integration
def test_a_phone_has_the_navigation_on_the_first_page_too(address: str, tabs: Any) -> None:
    page = tabs.open(address, **SCREENS["phone"])
    page.locator("label[for=__drawer].md-header__button").click()
    page.get_by_text("Design a protocol", exact=True).first.click()
    page.get_by_role("link", name="Tutorial").first.click()
    page.wait_for_url("**/tutorial.html")


# The playground


@pytest.fixture
def playground(site: Path, address: str, tabs: Any) -> Any:
    """The page, after its Python has started."""
    if not (site / "playground/pyodide.mjs").is_file():
        pytest.skip("npm could not install Pyodide (apt-get install npm)")
    page = tabs.open(f"{address}playground.html", **SCREENS["desktop"])
    assert "Python is ready." == said_after("Python is loading.", page)
    return page


def said_after(working: str, page: Any) -> str:
    """Return what the page says when it no longer says that it works."""
    from playwright.sync_api import expect

    status = page.get_by_role("status")
    expect(status).not_to_have_text(re.compile(f"{working}|This page needs"))
    return str(status.inner_text())


def checked(page: Any, actors: int, messages: int) -> list[str]:
    """Check the protocol on the page; return its verdict, and its picture if there is one."""
    page.get_by_label("Actors").fill(str(actors))
    page.get_by_label("Messages per actor").fill(str(messages))
    page.get_by_role("button", name="Check").click()
    assert "The check has ended." == said_after("The check is running.", page)
    pictures = page.locator(".playground__answer img").all()
    return [
        page.locator(".playground__answer strong").inner_text(),
        *(picture_in(each.get_attribute("src")) for each in pictures),
    ]


def picture_in(source: str) -> str:
    return b64decode(source.removeprefix("data:image/svg+xml;base64,")).decode()


@pytest.mark.integration
@pytest.mark.slow
def test_the_playground_finds_the_bug_of_the_tutorial_and_not_after_the_repair(
    playground: Any,
) -> None:
    verdict, picture = checked(playground, 3, 2)
    assert "protocol.py: VIOLATED" == verdict
    assert ["Alice", "Bob", "Carol"] == re.findall(r'<text class="name"[^>]*>([^<]+)<', picture)[:3]
    assert 6 == max(map(int, re.findall(r'data-step="(\d+)"', picture)))
    assert "causal-delivery VIOLATED after 6 transitions" in picture
    report = playground.locator(".playground__report pre code").text_content()
    assert "6. Bob receives Data(m1, past={}) from Alice, delivers m1 (too late)" in report

    with playground.expect_response("**/repaired.py"):
        playground.get_by_label("Protocol", exact=True).select_option("repaired")
    assert ["protocol.py: HOLDS"] == checked(playground, 3, 2)
    report = playground.locator(".playground__report pre code").text_content()
    assert re.search(r"unique states +70,917\b", report)


@pytest.mark.integration
def test_the_playground_shows_an_error_in_a_sentence_and_stops_a_search(playground: Any) -> None:
    code = playground.get_by_label("The protocol in Python")
    code.fill("PROTOCOL = 1")
    playground.get_by_role("button", name="Check").click()
    assert "protocol.py" in said_after("The check is running.", playground)
    code.fill("while True:\n    pass")
    playground.get_by_role("button", name="Check").click()
    assert "The check is running." == playground.get_by_role("status").inner_text()
    playground.get_by_role("button", name="Stop").click()
    assert "Python is ready." == said_after("The check was stopped.", playground)


def test_the_playground_takes_both_protocols_from_the_tutorial() -> None:
    tutorial = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    broken, repaired = hook("playground").examples(tutorial)
    same = {*broken.splitlines()} & {*repaired.splitlines()}
    assert {"def may_be_delivered(state, packet):", "PROTOCOL = Protocol("} <= same
    assert "earlier = [" in broken
    assert "earlier = [" not in repaired
    with pytest.raises(ValueError, match="no longer writes past"):
        hook("playground").examples("# Tutorial")
