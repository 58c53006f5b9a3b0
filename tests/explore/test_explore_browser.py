"""The explore page and a trace's page in a real browser: clicks, keys, focus, accessibility."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from urllib.request import urlopen

import pytest

from antecede import explore
from antecede.checker.check.spec import Spec
from antecede.checker.explore.server import Server
from antecede.checker.explore.tree import Tree
from antecede.checker.paths.path import Path
from antecede.checker.render.trace_formats import write_trace
from antecede.checker.search.options import Bounds
from tests import runs
from tests.conftest import ROOT
from tests.explored import never_ending, serving, tree_of
from tests.models import deliver_the_first_copy, toy

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

from playwright.sync_api import Browser, Page, expect  # noqa: E402

from tests.browsing import Tabs, chromium, patient, site_of, tabs_of  # noqa: E402

pytestmark = pytest.mark.integration

SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def tabs(browser: Browser) -> Iterator[Tabs]:
    with tabs_of(browser) as tabs:
        yield tabs


@pytest.fixture(scope="module")
def unordered() -> Iterator[Server]:
    """Two actors, two messages each; m2 may overtake m1."""
    with serving(tree_of("unordered", 2, 2)) as server:
        yield server


@pytest.fixture(scope="module")
def cykas() -> Iterator[Server]:
    """Cykas with the relaxed secret mode, in the runs of the paper's figure 3."""
    names = ("causal-delivery", "all-delivered", "witness:secret-mode")
    question = tree_of("cykas-secret-mode", 3, 2, workload=runs.FIGURE_3, properties=names)
    with serving(question) as server:
        yield server


def beside(page: Page) -> Page:
    """Open the address of a page in another tab of the same browser."""
    other = patient(page.context.new_page())
    other.goto(page.url)
    return other


def at(page: Page, path: str) -> None:
    """Wait until the page shows a path."""
    expect(page.locator(f'main[data-path="{path}"]')).to_be_visible()


def has_address(page: Page, end: str) -> None:
    """Wait until the address of the page ends so; a busy browser tells it late."""
    expect(page).to_have_url(re.compile(f"{re.escape(end)}$"))


def focused(page: Page) -> str | None:
    """Return the path that the button with the focus leads to."""
    value: str | None = page.locator(":focus").get_attribute("value")
    return value


# Walking


@pytest.mark.smoke
def test_clicks_walk_and_the_browser_goes_back_and_forth(unordered: Server, tabs: Tabs) -> None:
    page = tabs.open(unordered.address)
    page.get_by_role("button", name="Bob sends m1 to Alice").click()
    at(page, "1")
    has_address(page, "/?path=1")
    assert "Step 1" in page.title()
    page.get_by_role("button", name=re.compile("^0 Alice sends m2 to Bob")).click()
    at(page, "1.0")
    expect(page.locator("svg .row")).to_have_count(2)
    page.go_back()
    at(page, "1")
    page.go_forward()
    at(page, "1.0")
    page.locator("#back").click()
    at(page, "1")
    page.locator("#start").click()
    at(page, "")
    expect(page.locator("#back")).to_be_disabled()


def test_keys_choose_take_and_go_back(unordered: Server, tabs: Tabs) -> None:
    page = tabs.open(unordered.address)
    page.keyboard.press("j")
    assert "0" == focused(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    assert "1" == focused(page), "it stops at the last one"
    page.keyboard.press("Enter")
    at(page, "1")
    assert "1.0" == focused(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    at(page, "1.1")
    page.keyboard.press("u")
    at(page, "1")
    assert "1.1" == focused(page), "the focus is where one came from"
    page.keyboard.press("Backspace")
    at(page, "")
    assert "1" == focused(page)
    page.keyboard.press("ArrowUp")
    assert "0" == focused(page)


def test_what_happened_is_announced(unordered: Server, tabs: Tabs) -> None:
    page = tabs.open(unordered.address)
    live = page.get_by_role("status")
    assert "polite" == live.get_attribute("aria-live")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    said = "Step 1 Alice sends m1 to Bob, as Data(m1). 3 transitions can happen here."
    expect(live).to_have_text(said)


def test_a_run_that_is_over_says_so_and_has_the_focus_where_it_says_it(
    unordered: Server, tabs: Tabs
) -> None:
    page = tabs.open(f"{unordered.address}&path=0.1.0.0.0.0.0")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    at(page, "0.1.0.0.0.0.0.0")
    expect(page.get_by_text("Nothing: the run is over.")).to_be_visible()
    expect(page.get_by_role("heading", name="What can happen here")).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("The run is over.")


def test_a_row_of_the_diagram_and_a_step_of_the_list_lead_back(
    unordered: Server, tabs: Tabs
) -> None:
    page = tabs.open(f"{unordered.address}&path=0.1.2.0")
    page.locator("svg .row[data-step='2'] a").click()
    at(page, "0.1")
    page.locator(".steps a").first.click()
    at(page, "")


def test_switches_outlive_a_step(cykas: Server, tabs: Tabs) -> None:
    page = tabs.open(f"{cykas.address}&path=0.0")
    page.keyboard.press("c")
    page.get_by_label("only what changed").check()
    page.keyboard.press("j")
    page.locator(".choice").first.click()
    at(page, "0.0.0")
    expect(page.locator("#control")).not_to_be_checked()
    expect(page.locator("#changed")).to_be_checked()
    expect(page.locator("svg.spacetime")).to_have_class(re.compile("hide-control"))
    expect(page.locator("tr.same").first).to_be_hidden()


def test_the_diagram_shows_its_newest_rows(unordered: Server, tabs: Tabs) -> None:
    page = tabs.open(
        f"{unordered.address}&path=0.1.0.0.0.0.0", viewport={"width": 900, "height": 400}
    )
    scrolled = "d => d.scrollTop + d.clientHeight >= d.scrollHeight - 2"
    assert page.locator(".diagram").evaluate(scrolled)


CLIPPED = """picture => {
    const paper = picture.getBoundingClientRect();
    return [...picture.querySelectorAll("text")].filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < paper.left || box.right > paper.right || box.top < paper.top
            || box.bottom > paper.bottom;
    }).map(text => text.textContent);
}"""
"""Returns the texts that the edge of a picture cuts off."""


@pytest.mark.parametrize("path", ["", "0", "0.1", "1", "0.1.0.0"])
def test_the_edge_of_the_picture_cuts_off_no_text(path: str, tabs: Tabs) -> None:
    for protocol, actors in (("cykas-secret-mode", 3), ("mfss", 2)):
        with serving(tree_of(protocol, actors, 2)) as server:
            page = tabs.open(f"{server.address}&path={path}")
            if page.locator("main[data-path]").count():  # else there is no such state
                assert [] == page.locator("svg.spacetime").evaluate(CLIPPED)
            page.context.close()


# Searching, saving and loading


def test_one_is_taken_to_a_violation_whose_address_opens_anywhere(
    cykas: Server, tabs: Tabs
) -> None:
    page = tabs.open(cykas.address)
    page.keyboard.press("v")
    expect(page.locator("#note")).to_contain_text("A shortest way to violate causal-delivery")
    expect(page.locator(".badge")).to_have_text("VIOLATED")
    expect(page.get_by_role("status")).to_contain_text("VIOLATED causal-delivery")
    expect(page.locator("svg .late").first).to_be_visible()
    other = beside(page)
    assert page.locator(".here").inner_text() == other.locator(".here").inner_text()
    page.go_back()
    at(page, "")


def test_a_long_search_shows_figures_until_it_is_cancelled(tabs: Tabs) -> None:
    with serving(never_ending(), Bounds()) as server:
        page, other = (tabs.open(f"{server.address}&path=0") for _ in range(2))
        page.keyboard.press("v")
        expect(page.locator("#cancel")).to_be_focused()
        expect(page.locator("#progress")).to_contain_text("unique")
        assert [] == barriers(page)
        other.keyboard.press("v")
        expect(other.locator("#progress")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#note")).to_contain_text("The search was cancelled")
        expect(other.locator("#note")).to_contain_text("The search was cancelled")
        page.context.close()
        other.context.close()


def test_a_long_search_takes_one_where_it_leads_by_itself(tabs: Tabs) -> None:
    with serving(tree_of("cykas-secret-mode", 3, 2, properties=("causal-delivery",))) as server:
        page = tabs.open(server.address)
        page.keyboard.press("v")
        expect(page.locator(".badge")).to_have_text("VIOLATED")
        expect(page.locator("#cancel")).to_have_count(0)
        expect(page).to_have_url(re.compile("[?]path="))
        page.context.close()


def test_a_long_search_can_be_waited_for_without_the_script(tabs: Tabs) -> None:
    with serving(tree_of("cykas-secret-mode", 3, 2, properties=("causal-delivery",))) as server:
        page = tabs.open(server.address, java_script_enabled=False)
        page.locator("#violation").click()
        expect(page.locator(".badge")).to_have_text("VIOLATED")
        page.context.close()


def test_a_key_takes_random_steps(unordered: Server, tabs: Tabs) -> None:
    page = tabs.open(unordered.address)
    page.keyboard.press("r")
    expect(page.locator("#note")).to_contain_text("A random walk of")
    expect(page).to_have_url(re.compile("[?]path="))
    page.go_back()
    at(page, "")


def test_one_goes_to_a_state_by_writing_an_expression(tabs: Tabs) -> None:
    keeping = toy("keeping", receive=deliver_the_first_copy)
    with serving(tree_of(keeping, 2, 2)) as server:
        page = tabs.open(server.address)
        page.get_by_label("Go to a state where").focus()
        page.keyboard.type("[k for k in (Bob.held, ) if k] # jkuocv")
        at(page, "")
        page.keyboard.press("Enter")
        expect(page.locator("#note")).to_contain_text("A shortest way to show [k for k in")
        expect(page.locator("#done")).to_contain_text("Bob receives Data(m1) from Alice")
        page.context.close()


def test_a_watched_expression_stays_while_one_walks_and_its_address_shares_it(tabs: Tabs) -> None:
    keeping = toy("keeping", receive=deliver_the_first_copy)
    with serving(tree_of(keeping, 2, 2)) as server:
        page = tabs.open(server.address)
        page.get_by_label("Expression of state").focus()
        page.keyboard.type("len(state.held) # jkuocvr")
        page.keyboard.press("Enter")
        expect(page.locator(".values tbody tr")).to_have_count(1)
        expect(page.get_by_label("Expression of state")).to_be_focused()
        has_address(page, "/?path=&watch=len%28state.held%29+%23+jkuocvr")
        page.locator(".choice").first.click()
        at(page, "0")
        page.locator(".choice").nth(2).click()
        at(page, "0.2")
        expect(page.locator(".values td.changed")).to_have_text("1")
        assert [] == barriers(page)
        page.set_viewport_size({"width": 340, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        other = beside(page)
        expect(other.locator(".values tbody tr")).to_have_count(3)
        other.get_by_role("link", name="Remove").click()
        expect(other.locator(".values")).to_have_count(0)
        has_address(other, "/?path=0.2")
        other.go_back()
        expect(other.locator(".values td.changed")).to_have_text("1")
        page.context.close()  # before the server, of which it may be asking something
        other.context.close()
    with serving(tree_of(keeping, 2, 2)) as server:
        stranger = tabs.open(f"{server.address}&path=0.2&watch=len(state.held)")
        expect(stranger.locator(".values")).to_have_count(0)
        stranger.get_by_role("button", name="Run it").click()
        expect(stranger.locator(".values td.changed")).to_have_text("1")
        stranger.context.close()


def test_the_code_of_any_step_opens_in_the_list_of_steps(cykas: Server, tabs: Tabs) -> None:
    page = tabs.open(f"{cykas.address}&path=0.0.0")
    last = page.locator("#code")
    expect(last.locator("pre").first).to_be_hidden()
    last.locator("summary").click()
    expect(last.locator("mark").first).to_contain_text("def application_send")
    first = page.locator("#step-1 details")
    first.locator("summary").click()
    expect(first.locator("mark").first).to_contain_text("def application_send")
    at(page, "0.0.0")
    assert [] == barriers(page)
    page.set_viewport_size({"width": 340, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_whoever_comes_back_from_an_editor_sees_the_changed_protocol(
    tabs: Tabs, tmp_path: FilePath
) -> None:
    file = tmp_path / "edited.py"
    file.write_text((ROOT / "protocols/fifo.py").read_text())
    with serving(Tree(Spec(str(file), actors=2))) as server:
        page = tabs.open(f"{server.address}&path=0.0")
        file.write_text(f"{file.read_text()}\n# changed")
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.locator("#note")).to_contain_text("edited.py has changed and was read again.")
        file.write_text("x = (")
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(page.locator("#note.wrong")).to_contain_text("the file is not valid Python")
        at(page, "0.0")
        page.context.close()


def test_a_click_in_the_graph_goes_there_and_the_graph_stays_open(
    unordered: Server, tabs: Tabs
) -> None:
    page = tabs.open(f"{unordered.address}&path=0")
    page.get_by_text("States within two steps").click()
    expect(page.locator("svg.near .current")).to_have_count(1)
    assert [] == barriers(page)
    page.locator("svg.near a[href='/?path=0.1.2']").click()
    at(page, "0.1.2")
    expect(page.locator("svg.near .current")).to_have_count(1)
    page.set_viewport_size({"width": 340, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_violation_is_saved_as_a_test_and_as_a_spec(unordered: Server, tabs: Tabs) -> None:
    page = tabs.open(unordered.address)
    page.keyboard.press("v")
    expect(page.locator(".badge")).to_be_visible()
    for name, file in (("test", "test_run.py"), ("spec", "run.toml")):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        assert file == download.value.suggested_filename


def test_a_property_has_a_search_of_its_own(cykas: Server, tabs: Tabs) -> None:
    page = tabs.open(cykas.address)
    page.get_by_role("button", name="Show me: witness:secret-mode").click()
    expect(page.locator("#note")).to_contain_text("A shortest way to show witness:secret-mode")
    expect(page.get_by_role("button", name="Show me")).to_have_count(0)


def test_a_path_is_saved_and_loaded(unordered: Server, tabs: Tabs, tmp_path: FilePath) -> None:
    page = tabs.open(f"{unordered.address}&path=0.1.2")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    assert "trace.json" == download.value.suggested_filename
    download.value.save_as(tmp_path / "trace.json")
    other = tabs.open(unordered.address)
    other.get_by_label("Load a trace").set_input_files(tmp_path / "trace.json")
    at(other, "0.1.2")
    has_address(other, "/?path=0.1.2")
    expect(other.get_by_role("status")).to_contain_text("Loaded a trace of 3 steps.")


def test_a_file_that_is_no_trace_is_told_and_one_stays(
    unordered: Server, browser: Browser, tmp_path: FilePath
) -> None:
    (tmp_path / "t.json").write_text("{")
    tabs = Tabs(browser)
    page = tabs.open(f"{unordered.address}&path=0")
    page.get_by_label("Load a trace").set_input_files(tmp_path / "t.json")
    expect(page.locator("#note")).to_contain_text("The file is not valid JSON")
    at(page, "0")
    page.context.close()
    assert ["422"] == [m[1] for m in map(re.compile(r"status of (\d+)").search, tabs.wrong) if m]


def test_the_page_works_without_its_script(unordered: Server, tabs: Tabs) -> None:
    page = tabs.open(unordered.address, java_script_enabled=False)
    page.get_by_role("button", name="Alice sends m1").click()
    at(page, "0")
    page.locator("#back").click()
    at(page, "")
    page.locator("#violation").click()
    expect(page.locator(".badge")).to_have_text("VIOLATED")


def test_a_server_that_is_gone_is_told(browser: Browser) -> None:
    tabs = Tabs(browser)
    with serving(tree_of("mfss")) as server:
        page = tabs.open(server.address)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("does not answer")
    expect(page.get_by_role("status")).to_be_visible()
    page.context.close()


# Strangers


def test_hostile_names_run_nothing(tabs: Tabs) -> None:
    path = runs.hostile()
    with serving(tree_of(runs.HOSTILE, 2, 2)) as server:
        tree = server.site.tree
        page = tabs.open(server.address)
        for number in tree.numbers_of(step.transition for step in path.steps):
            before = page.url  # a busy machine shows the choices of the state before for a while
            page.locator(".choice").nth(number).click()
            expect(page).not_to_have_url(before)
            expect(page.locator("main img")).to_have_count(0)
        expect(page.locator(".badge")).to_have_text("VIOLATED")
        assert page.evaluate("document.scripts.length") == 1
        page.context.close()  # before the server, of which it may be asking something


def test_a_name_that_resolves_to_this_machine_does_not_do(
    unordered: Server, browser: Browser
) -> None:
    page = patient(browser.new_page())
    answer = page.goto(f"http://evil.example:{unordered.server_port}/")
    assert answer is not None
    assert 403 == answer.status
    page.close()


STRANGER = """<!DOCTYPE html><title>stranger</title>
<iframe src="{own}"></iframe><img src="{own}explore.svg">
<form method="post" action="{own}search"><input name="path" value=""></form>"""


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_strange_page_can_do_nothing_in_a_browser_that_has_a_session(
    host: str, unordered: Server, tabs: Tabs
) -> None:
    """For a browser, another port of 127.0.0.1 is the same site, and localhost is another one."""
    own = f"{unordered.origin}/"
    with site_of(lambda: STRANGER.format(own=own)) as port:
        page = patient(tabs.open(unordered.address).context.new_page())
        page.goto(f"http://{host}:{port}/")
        assert 0 == page.evaluate("document.images[0].naturalWidth")
        assert "Alice" not in "".join(frame.content() for frame in page.frames)
        fetched = f"fetch('{own}').then(() => 'read', () => 'refused')"
        assert "refused" == page.evaluate(fetched)
        with page.expect_navigation() as navigation:
            page.evaluate("document.forms[0].submit()")
        assert 403 == navigation.value.status
        page.close()


def test_a_link_from_another_site_opens_only_the_address_with_the_token(
    unordered: Server, tabs: Tabs
) -> None:
    """The cookie is not sent along with such a link. A terminal in a notebook has such links."""
    page = tabs.open(unordered.address)
    with site_of(lambda: "a chat") as port:
        link = patient(page.context.new_page())
        for address in (f"{unordered.origin}/?path=0", f"{unordered.address}&path=0"):
            link.goto(f"http://localhost:{port}/")
            with link.expect_navigation():
                link.evaluate(f"location.href = '{address}'")
            if address.startswith(unordered.address):
                at(link, "0")
            else:
                expect(link.locator("body")).to_contain_text("press Enter in the address bar")
                link.goto(link.url)
                at(link, "0")
        has_address(link, "/?path=0")
        link.close()
    stranger = patient(tabs.browser.new_page())
    stranger.goto(f"{unordered.origin}/?path=0")
    expect(stranger.locator("body")).to_contain_text("lacks the token of this server")
    stranger.close()


def test_the_site_of_a_test_answers_while_a_connection_says_nothing() -> None:
    with (
        site_of(lambda: "here") as port,
        socket.create_connection(("127.0.0.1", port)),
        urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer,
    ):
        assert b"here" == answer.read()


# Accessibility


def barriers(page: Page) -> list[str]:
    """Return what axe-core finds that is serious or critical."""
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@SCHEMES
def test_the_explore_page_has_no_barriers(scheme: str, cykas: Server, tabs: Tabs) -> None:
    page = tabs.open(cykas.address, scheme=scheme)
    assert [] == barriers(page)
    page.keyboard.press("j")
    assert [] == barriers(page)
    page.keyboard.press("v")
    expect(page.locator(".badge")).to_be_visible()
    assert [] == barriers(page)
    page.keyboard.press("u")
    expect(page.locator(".badge")).to_have_count(0)
    expect(page.locator(".flag").first).to_be_visible()
    page.keyboard.press("o")
    assert [] == barriers(page)
    page.set_viewport_size({"width": 360, "height": 700})
    assert [] == barriers(page)


@SCHEMES
def test_the_page_of_an_error_has_no_barriers(scheme: str, cykas: Server, browser: Browser) -> None:
    page = Tabs(browser).open(f"{cykas.address}&path=99", scheme=scheme)
    expect(page.get_by_text("There is no such state")).to_be_visible()
    assert [] == barriers(page)
    page.context.close()


def test_a_small_window_needs_no_scrolling_sideways(cykas: Server, tabs: Tabs) -> None:
    page = tabs.open(f"{cykas.address}&path=0.0.0", viewport={"width": 340, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# The page of a trace


@pytest.fixture(params=[runs.long_run, runs.secret_mode, runs.lossy], ids=lambda run: run.__name__)
def written(request: pytest.FixtureRequest, tmp_path: FilePath) -> tuple[Path, str]:
    """Write a path as `--trace run.html` does, and return it with its address."""
    make: Callable[[], Path] = request.param
    write_trace(make(), str(tmp_path / "run.html"))
    return make(), (tmp_path / "run.html").as_uri()


def shown(page: Page) -> int:
    """Return the step that the page shows; list, state, diagram and address must agree."""
    article = page.locator("article.selected")
    expect(article).to_have_count(1)
    expect(article).to_be_visible()
    step = int(article.get_attribute("data-step") or "")
    assert str(step) == page.locator(".steps li.selected").get_attribute("data-step")
    expect(page.locator("#place")).to_have_text(re.compile(f"^Step {step} of "))
    assert bool(step) == bool(page.locator("svg .row.selected").count())
    return step


def test_the_trace_page_steps_with_keys_and_buttons(written: tuple[Path, str], tabs: Tabs) -> None:
    path, address = written
    page = tabs.open(address)
    assert path.length == shown(page), "it begins at the end"
    page.keyboard.press("j")
    assert path.length == shown(page)
    page.keyboard.press("k")
    assert path.length - 1 == shown(page)
    has_address(page, f"#step-{path.length - 1}")
    page.keyboard.press("Home")
    assert 0 == shown(page)
    page.keyboard.press("j")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert 3 == shown(page)
    page.locator("#forth").click()
    assert 4 == shown(page)
    page.locator("#first").click()
    expect(page.locator("#back")).to_be_disabled()
    page.locator("svg .row[data-step='5'] a").click()
    assert 5 == shown(page)
    assert "After step 5: " in page.locator("article.selected h3").inner_text()


def test_a_link_to_a_step_opens_the_trace_page_there(tmp_path: FilePath, tabs: Tabs) -> None:
    write_trace(runs.long_run(), str(tmp_path / "run.html"))
    address = (tmp_path / "run.html").as_uri()
    page = tabs.open(f"{address}#step-12")
    assert 12 == shown(page)
    expect(page.locator("svg .row[data-step='12']")).to_be_in_viewport()
    page.evaluate("location.hash = '#step-3'")
    expect(page.locator("article.selected")).to_have_attribute("data-step", "3")
    assert 3 == shown(page)
    assert runs.long_run().length == shown(tabs.open(f"{address}#step-999"))


def test_the_trace_page_hides_control_packets(tmp_path: FilePath, tabs: Tabs) -> None:
    write_trace(runs.secret_mode(), str(tmp_path / "run.html"))
    write_trace(runs.long_run(), str(tmp_path / "long.html"))
    page = tabs.open((tmp_path / "long.html").as_uri())
    drawn, listed = page.locator("svg .arrow.control").first, page.locator(".steps .control")
    expect(drawn).to_be_visible()
    expect(listed.first).to_be_visible()
    page.keyboard.press("c")
    expect(page.get_by_label("control packets")).not_to_be_checked()
    expect(drawn).to_be_hidden()
    expect(listed.first).to_be_hidden()
    page.keyboard.press("Home")
    met = set()
    while (step := shown(page)) not in met:
        met.add(step)
        page.keyboard.press("j")
    control = {int(each.get_attribute("data-step") or "") for each in listed.all()}
    assert control
    assert not (met - {runs.long_run().length}) & control
    page.keyboard.press("c")
    expect(drawn).to_be_visible()


def test_the_trace_page_shows_only_what_changed(tmp_path: FilePath, tabs: Tabs) -> None:
    write_trace(runs.secret_mode(), str(tmp_path / "run.html"))
    page = tabs.open(f"{(tmp_path / 'run.html').as_uri()}#step-1")
    same = page.locator("article.selected tr.same")
    expect(same.first).to_be_visible()
    page.get_by_label("only what changed").check()
    expect(same.first).to_be_hidden()
    expect(page.locator("article.selected td.changed").first).to_be_visible()


@SCHEMES
@pytest.mark.parametrize("run", [runs.secret_mode, runs.undelivered, runs.long_run, runs.hostile])
def test_the_trace_page_has_no_barriers(
    run: Callable[[], Path], scheme: str, tmp_path: FilePath, tabs: Tabs
) -> None:
    write_trace(run(), str(tmp_path / "run.html"))
    page = tabs.open((tmp_path / "run.html").as_uri(), scheme=scheme)
    assert [] == barriers(page)
    page.keyboard.press("Home")
    page.keyboard.press("j")
    page.keyboard.press("c")
    assert [] == barriers(page)


def test_axe_sees_a_barrier_where_there_is_one(browser: Browser) -> None:
    """So that a silent axe cannot pass for a good page."""
    page = patient(browser.new_page())
    page.set_content("<html><body><button></button></body></html>")
    assert any(each.startswith("button-name") for each in barriers(page))
    page.close()


@pytest.mark.parametrize(("host", "shown"), [("localhost", True), ("evil.example", False)])
def test_a_notebook_on_this_machine_shows_the_page_and_another_site_does_not(
    browser: Browser, host: str, shown: bool
) -> None:
    explorer = explore("unordered", actors=2)
    cell = f"<!DOCTYPE html><title>notebook</title>{explorer._repr_html_()}"
    with site_of(lambda: cell) as port:
        page = patient(browser.new_page())
        page.goto(f"http://{host}:{port}/")
        frame = page.frame_locator("iframe")
        if shown:
            frame.get_by_role("button", name="Take me to a violation").click()
            expect(frame.locator(".badge")).to_have_text("VIOLATED")
        else:
            page.wait_for_load_state("networkidle")
            expect(frame.locator("main")).to_have_count(0)
        page.close()
    explorer.close()
