"""The pages: every command on them is one, and every link leads somewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from antecede import cli
from tests.conftest import ROOT, Command

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("benchmarks/*.md"),
        *ROOT.glob("tests/campaigns/*.md"),
    ]
)

FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = ("", "sh", "bash", "text", "console")
INDENTED = re.compile(r"^    antecede (\w.*)$", re.MULTILINE)
INLINE = re.compile(r"`antecede (\w[^`]*)`")
NAMED = re.compile(r"`([\w-]+(?:/[\w.-]+)+)`")
ROOMS = ("", "checker", "checker/engine", "docs")
FOLDERS = {f.name for room in ("", "checker") for f in (ROOT / room).iterdir() if f.is_dir()} - {
    "src"
}
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def text_of(page: Path) -> str:
    """Return the text of a page."""
    return page.read_text(encoding="utf-8")


def on_pages(wrong: Callable[[Path], Iterable[str]], pages: Iterable[Path] = PAGES) -> list[str]:
    """Return what is wrong on the pages, each with the name of its page."""
    return [
        f"{page.relative_to(ROOT).as_posix()}: {each}" for page in pages for each in wrong(page)
    ]


def commands(text: str) -> Iterator[str]:
    """Yield the commands of antecede in the blocks of a page, each in one line."""
    for kind, block in FENCED.findall(text):
        if kind not in COMMANDS:
            continue
        joined = block.replace("\\\n", " ")
        for line in joined.splitlines():
            found = re.match(r"\s*(?:\$ )?antecede (\w.*)", line)
            if found:
                yield re.split(r"\s+#\s|\s*[;|>]\s|\s&&\s", found[1])[0]
    for found in INDENTED.findall(FENCED.sub("", text)):
        yield re.split(r"\s+#\s|\s{2,}", found)[0]


def mentions(text: str) -> Iterator[str]:
    """Yield the commands of antecede that stand in a sentence, with a number for each capital."""
    for found in INLINE.findall(FENCED.sub("", text)):
        yield re.sub(r"\b[A-Z]\b", "3", " ".join(found.split())).partition(" ||")[0]


def accepted(words: list[str]) -> None:
    """Parse a command line without running it."""
    name, *rest = words
    command = cli.command_named(name)
    command.make_context(name, rest)


def test_what_is_no_command_would_be_seen() -> None:
    text = "```sh\nantecede check mfss --actors 3  # three\nantecede check mfss --nothing\n```\n"
    right, wrong = commands(text)
    accepted(shlex.split(right))
    with pytest.raises(click.UsageError):
        accepted(shlex.split(wrong))


def refused_commands(page: Path) -> Iterator[str]:
    """Yield the commands in the blocks of a page that the command line does not accept."""
    for line in commands(text_of(page)):
        if "…" in line or line.startswith(("help", "--")):
            continue
        try:
            accepted(shlex.split(line))
        except (click.ClickException, KeyError, ValueError) as error:
            yield f"antecede {line}: {error}"
        except click.exceptions.Exit:
            continue


def test_every_command_on_a_page_is_accepted() -> None:
    assert [] == on_pages(refused_commands)


def refused_mentions(page: Path) -> Iterator[str]:
    """Yield the commands in the sentences of a page that the command line does not accept."""
    for line in mentions(text_of(page)):
        try:
            if "…" not in line and "PROTOCOL" not in line:
                accepted(shlex.split(line))
        except (click.MissingParameter, click.BadOptionUsage):
            continue  # a sentence need not say of what, or which value
        except (click.ClickException, KeyError, ValueError) as error:
            yield f"antecede {line}: {error}"


def test_what_a_sentence_says_of_a_command_is_so() -> None:
    assert [] == on_pages(refused_mentions)


def dead_links(page: Path) -> list[str]:
    """Return the links of a page to files that are not there."""
    files = [t for t in LINK.findall(text_of(page)) if not re.match(r"[a-z]+:", t)]
    return [t for t in files if not (page.parent / t).exists()]


def test_every_link_on_a_page_leads_to_a_file() -> None:
    assert [] == on_pages(dead_links)


def links_named_like_files(page: Path) -> list[str]:
    """Return the links of a page whose text is the name of a page."""
    return re.findall(r"\[`?[\w/.-]+\.md`?\]\([^)]*\)", FENCED.sub("", text_of(page)))


def test_the_text_of_a_link_to_a_page_is_no_file_name() -> None:
    assert [] == on_pages(links_named_like_files)


def installs_without_an_environment(text: str) -> list[str]:
    """Return the commands that would install into the system's Python, which Debian refuses."""
    lines = [line.strip() for _, block in FENCED.findall(text) for line in block.splitlines()]
    return [
        line
        for at, line in enumerate(lines)
        if line.startswith(("pip ", "python3 -m pip ", "python -m pip "))
        if not any("/bin/activate" in earlier for earlier in lines[max(0, at - 3) : at])
    ]


def test_an_installation_without_an_environment_would_be_seen() -> None:
    alone = "```sh\npip install .\n```\n"
    assert ["pip install ."] == installs_without_an_environment(alone)
    made = "```sh\npython3 -m venv env\n. env/bin/activate\npip install .\n```\n"
    assert [] == installs_without_an_environment(made)


def test_a_page_installs_only_into_a_virtual_environment() -> None:
    assert [] == on_pages(lambda page: installs_without_an_environment(text_of(page)))


@cache
def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in found}


def links_to_no_heading(page: Path) -> Iterator[str]:
    """Yield the links of a page to headings that are not there."""
    for target, anchor in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", text_of(page)):
        if anchor not in headings((page.parent / target).resolve() if target else page):
            yield f"{target}#{anchor}"


def test_every_link_to_a_heading_finds_it() -> None:
    assert [] == on_pages(links_to_no_heading)


def named_files(text: str) -> list[str]:
    """Return the files and folders of the project that a page names in backquotes."""
    found = [name for name in NAMED.findall(text) if name.split("/")[0] in FOLDERS]
    return [name for name in found if "NAME" not in name]


def is_there(name: str) -> bool:
    """Return whether a file, or something in a module of the checker, has this name."""
    folder, last = name.rsplit("/", 1)
    module = f"{folder}/{last.split('.')[0]}.py"
    names = (name, module) if not last.endswith((".py", ".md", ".toml")) else (name,)
    return any((ROOT / room / each).exists() for room in ROOMS for each in names)


def test_what_is_no_file_would_be_seen() -> None:
    assert ["checker/loop.py"] == named_files("`checker/loop.py`, `protocols/NAME.py`, `other/x`")
    assert not is_there("checker/loop.py")
    assert is_there("search/loop.explore")


def test_every_file_that_a_page_names_is_there() -> None:
    missing = on_pages(lambda page: [n for n in named_files(text_of(page)) if not is_there(n)])
    assert [] == missing


KEPT = sorted(f for f in (ROOT / "docs").rglob("*") if f.suffix in (".json", ".svg", ".ipynb"))


def test_no_line_of_code_is_in_a_folder_of_one_machine() -> None:
    machine = re.compile(r"\bline \d+ of /[^\n]*")
    assert [] == on_pages(lambda page: machine.findall(text_of(page)), [*PAGES, *KEPT])


def test_an_error_in_a_protocol_of_antecede_is_the_same_on_every_machine(antecede: Command) -> None:
    asked = [
        "check",
        "hybrid-sps-as-printed",
        "--actors",
        "2",
        "--messages",
        "2",
        "--property",
        "causal-delivery",
    ]
    assert " of protocols/sliding.py, in step " in " ".join(antecede(*asked).out.split())
