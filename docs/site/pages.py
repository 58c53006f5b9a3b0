"""Makes a site of pages that are written to be read in the repository, too.

MkDocs knows one folder; the pages of docs/ link to files beside it. A linked page becomes a page of
the site, a linked file with code is shown as a page, a linked folder as a list; links are rewritten
to where things are on the site. What is linked and not there ends the build, as in any strict one.
Every page shows the version. The search ranks pages for users before pages about results and code.
"""

from __future__ import annotations

import os
import posixpath
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from antecede.checker.support.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()([^)#\s]*)((?:#[^)\s]*)?\))")
CODE = {".py": "python", ".toml": "toml", ".json": "json", ".yml": "yaml", ".sh": "sh", "": "text"}
FENCE = re.compile(r"^(```|~~~~).*?^\1", re.MULTILINE | re.DOTALL)

RANKS = {
    "Design a protocol": 8.0,
    "Logs and code": 8.0,
    "Look up": 3.0,
    "Results": 1.0,
    "Work on antecede": 0.5,
}
"""A section of the navigation -> how much its pages count in the search."""
PROTOCOLS = 30.0
"""The same for the page of protocols, which the name of a protocol shall find first."""
WIDE = {
    f"{name}.md"
    for name in ("bounds", "claims", "findings", "liveness", "protocols", "simulation", "table1")
}
"""Pages whose tables and charts need the room of the list of contents."""
FIRST_PAGES, OTHER_PAGES = 4.0, 1.0
"""The same for pages outside the sections, and for pages outside the navigation."""
DATA = {"claims.md"}
"""Pages that the search leaves out: long tables in which almost every word occurs."""


def on_config(config: Any) -> Any:
    """Take the version and the repository's address from where the project states them.

    The address is the `Repository` in pyproject.toml, or the environment variable REPO_URL.
    Without either of them the site has no link to a repository.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.site_name = f"{project['name']} {VERSION}"
    address = os.environ.get("REPO_URL") or project.get("urls", {}).get("Repository")
    if address:
        config.repo_url = address
        config.repo_name = config.repo_name or "Repository"
    return config


def place_of(path: str) -> str:
    """Return where a file of the repository is on the site."""
    if path == "README.md":
        return "overview.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return f"source/{path}/index.md"
    ending = Path(path).suffix
    if ending == ".md":
        return f"project/{path}"
    return f"source/{path}.md" if ending in CODE else f"project/{path}"


def targets(path: str, text: str) -> Iterator[str]:
    """Yield the files of the repository that a page links to, as paths from its root."""
    for found in LINK.finditer(FENCE.sub("", text)):
        target = resolved(path, found[2])
        if target is not None:
            yield target


def resolved(path: str, target: str) -> str | None:
    """Return the file that a link of the page `path` leads to; None for addresses and anchors."""
    if not target or re.match(r"[a-z]+:", target):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def on_files(files: Files, *, config: Any) -> Files:
    """Add what lies beside docs/ and is linked from it, and from there."""
    origins: dict[str, str] = {}
    waiting = ["README.md", *(f"docs/{f.src_uri}" for f in files.documentation_pages())]
    while waiting:
        path = waiting.pop()
        place = place_of(path)
        if place in origins or not (ROOT / path).exists():
            continue  # what is not there is told by MkDocs, for nothing is at its place
        origins[place] = path
        if not path.startswith("docs/"):
            files.append(_file(path, place, config))
        if path.endswith(".md"):
            text = (ROOT / path).read_text(encoding="utf-8")
            waiting += [each for each in targets(path, text) if not each.startswith("docs/")]
    config.extra["origins"] = origins
    return files


def _file(path: str, place: str, config: Any) -> File:
    """Return a file of the site for one beside docs/."""
    source = ROOT / path
    if source.is_dir():
        names = sorted(
            each.name for each in source.iterdir() if not each.name.startswith((".", "_"))
        )
        return File.generated(
            config, place, content=_page(path, "".join(f"* `{n}`\n" for n in names))
        )
    if place.endswith(".md") and not path.endswith(".md"):
        code = source.read_text(encoding="utf-8")
        kind = CODE[source.suffix]
        return File.generated(config, place, content=_page(path, f"~~~~{kind}\n{code}~~~~\n"))
    return File.generated(config, place, abs_src_path=str(source))


def _page(path: str, body: str) -> str:
    return f"---\nsearch:\n  exclude: true\nhide: [toc]\n---\n\n# {path}\n\n{body}"


def rank_of(page: Any) -> float:
    """Return how much a page counts in the search."""
    sections = [each.title for each in page.ancestors]
    if page.file.src_uri == "protocols.md":
        return PROTOCOLS
    if sections:
        return RANKS[sections[-1]]
    return FIRST_PAGES if page.file.inclusion.is_in_nav() else OTHER_PAGES


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Rank a page for the search, and rewrite its links to where things are on the site."""
    place = page.file.src_uri
    found = {"exclude": True} if place in DATA else {"boost": rank_of(page)}
    page.meta.setdefault("search", found)
    if place == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    if place in WIDE:
        page.meta["hide"] = ["toc"]
    path = config.extra["origins"].get(place, f"docs/{place}")
    if not path.endswith(".md"):
        return markdown

    def rewritten(found: re.Match[str]) -> str:
        target = resolved(path, found[2])
        if target is None:
            return found[0]
        where = posixpath.relpath(place_of(target), posixpath.dirname(place) or ".")
        return f"{found[1]}{where}{found[3]}"

    parts = re.split(r"(^(?:```|~~~~).*?^(?:```|~~~~))", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if at % 2 else LINK.sub(rewritten, part) for at, part in enumerate(parts))
