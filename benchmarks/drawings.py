"""Runs and charts in short form. Pages link to it, and `make site` draws the pictures from it.

python benchmarks/drawings.py           # shortens what `antecede claims --output` wrote to docs
python benchmarks/drawings.py --again   # replays all runs, after a change of what a trace says

A run in short form is a trace that `antecede replay` reads. It lacks what a replay computes again,
such as the states, and has a digest of it. A chart in short form is the fields of a `Chart` or a
`Tornado`. Pictures that a page embeds stay in the repository.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Attribute, asdict, astuple

from antecede.checker.papers.simulate.chart import Chart, Panel, Point
from antecede.checker.papers.simulate.tornado import KeyBars, Tornado
from antecede.checker.paths.path import Path as Run
from antecede.checker.render import json as traces
from antecede.checker.render.files import write_whole
from antecede.checker.render.trace_formats import trace_text

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page import digest_of, lines_of  # noqa: E402 -- this folder is no package

DOCS = ROOT / "docs"
CLAIMS = DOCS / "claims"
FOLDERS = (CLAIMS, DOCS / "images", ROOT / "benchmarks" / "figures")
KEPT = ("kind", "actor", "src", "packet", "stays", "place", "action", "text")
"""The keys of a transition that a replay or a reader needs; a causal-send has a message, too."""

Table = Mapping[str, Any]


def in_short(trace: Table) -> str:
    """Return a trace in short form, as the text of a file."""
    lasting = {key: trace[key] for key in trace if key != "versions"}
    steps = [_in_short(each) for each in trace["transitions"]]
    return lines_of({**lasting, "transitions": steps, "digest": digest_of([lasting])}, 2) + "\n"


def _in_short(transition: Table) -> dict[str, Any]:
    kept = {key: transition[key] for key in KEPT if transition.get(key) is not None}
    if transition["kind"] == "causal-send":
        kept["message"] = {"destinations": transition["message"]["destinations"]}
    return kept


def shortened(run: Run) -> str:
    """Return a run in short form, as the text of a file."""
    return in_short(json.loads(traces.trace_text(run)))


def replayed(file: Path) -> Run:
    """Return the run of a trace of this repository, which may name files of it."""
    saved = json.loads(file.read_text(encoding="utf-8"))
    protocol, prop = (
        str(ROOT / saved[key]) if ".py:" in (saved[key] or "") else None
        for key in ("protocol", "property")
    )
    return traces.replay_file(str(file), protocol, prop)[0]


def _is_in_file(file: Path) -> bool:
    """Return whether the protocol of a run is a file, whose place its picture would name."""
    return ".py:" in json.loads(file.read_text(encoding="utf-8"))["protocol"]


def in_full(file: Path) -> dict[str, Any]:
    """Return a trace in short form with all that a replay computes."""
    saved = json.loads(file.read_text(encoding="utf-8"))
    whole = json.loads(traces.trace_text(replayed(file)))
    return {**whole, **{key: saved[key] for key in ("protocol", "property")}}


def is_run(file: Path) -> bool:
    """Return whether a file of FOLDERS has a run."""
    return traces.TRACE_SCHEMA in file.read_text(encoding="utf-8")[:100]


def is_chart(file: Path) -> bool:
    """Return whether a file of FOLDERS has a chart."""
    return file.read_text(encoding="utf-8").startswith('{\n"title": ')


def sources() -> Iterator[Path]:
    """Yield the files from which pictures are drawn."""
    for folder in FOLDERS:
        for file in sorted(folder.rglob("*.json")):
            if is_run(file) or is_chart(file):
                yield file


def drawn(file: Path) -> str:
    """Return the picture of a run or a chart in short form, as SVG."""
    return trace_text(replayed(file), "svg") if is_run(file) else chart_in(file).svg()


# Charts


def keep_chart(made: Chart | Tornado, file: Path) -> None:
    """Write a chart in short form, and as a picture if a page embeds it."""
    write_whole(str(file), chart_in_short(made))
    picture = file.with_suffix(".svg")
    if picture in embedded():
        write_whole(str(picture), made.svg())


def chart_in_short(made: Chart | Tornado) -> str:
    """Return a chart in short form, as the text of a file; its numbers have six digits."""
    fields = asdict(made, recurse=False, filter=_is_given)
    panels = [asdict(panel, recurse=False, filter=_is_given) for panel in made.panels]
    for panel in panels:
        if "ticks" in panel:
            panel["ticks"] = list(panel["ticks"])
        if "series" in panel:
            panel["series"] = {name: _points(each) for name, each in panel["series"].items()}
        if "bars" in panel:
            panel["bars"] = {label: _rounded(value) for label, value in panel["bars"].items()}
            panel["base"] = _rounded(panel["base"])
    return lines_of({**fields, "panels": panels}, 4) + "\n"


def _is_given(field: Attribute[Any], value: object) -> bool:
    return value != field.default


def _points(points: Sequence[Point]) -> list[list[float | str | None]]:
    """Return points as lists: x and y, then low, high and label as far as they are given."""
    listed = []
    for point in points:
        parts = list(astuple(point))
        while parts[-1] in (None, ""):
            parts.pop()
        listed.append([_rounded(each) if isinstance(each, float) else each for each in parts])
    return listed


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def chart_in(file: Path) -> Chart | Tornado:
    """Return a chart in short form."""
    table = json.loads(file.read_text(encoding="utf-8"))
    panels = table.pop("panels")
    if "bars" in panels[0]:
        return Tornado(**table, panels=[KeyBars(**each) for each in panels])
    for panel in panels:
        panel["series"] = {
            name: [Point(*p) for p in each] for name, each in panel["series"].items()
        }
    return Chart(**table, panels=[Panel(**each) for each in panels])


# Which pictures the repository has


def embedded() -> set[Path]:
    """Return the pictures that the pages of the repository embed."""
    return {
        (page.parent / found).resolve()
        for page in (*ROOT.glob("*.md"), *DOCS.glob("*.md"))
        for found in re.findall(r"!\[[^\]]*\]\(([^)\s]+\.svg)\)", page.read_text(encoding="utf-8"))
    }


ABOUT = (
    "the page links to a picture of it, and to a\ntrace for `antecede replay`.",
    "the page links to a trace for `antecede replay`.\n"
    "On the web pages that `make site` writes, each run also has a picture.",
)
"""A sentence of the page, and the one in its place."""


def again() -> None:
    """Replay all runs, and write them and their pictures as they are today."""
    for file in filter(is_run, sources()):
        write_whole(str(file), in_short(in_full(file)))
        if (picture := file.with_suffix(".svg")).exists() and not _is_in_file(file):
            write_whole(str(picture), drawn(file))


def page_in_short(page: str) -> str:
    """Return the page of claims without links to pictures that only the site has."""
    stays = {f"claims/{picture.name}" for picture in embedded() if picture.parent == CLAIMS}
    link = re.compile(r", \[picture\]\((claims/[^)]+)\)")
    return link.sub(lambda found: found[0] if found[1] in stays else "", page).replace(*ABOUT)


def main() -> None:
    """Shorten the traces of claims, and remove the pictures that no page embeds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--again", action="store_true", help="replay all runs, and nothing else")
    if parser.parse_args().again:
        again()
        return
    stays = embedded()
    for file in sorted(CLAIMS.glob("*.json")):
        trace = json.loads(file.read_text(encoding="utf-8"))
        if "digest" not in trace:
            write_whole(str(file), in_short(trace))
    for picture in set(CLAIMS.glob("*.svg")) - stays:
        picture.unlink()
    page = DOCS / "claims.md"
    write_whole(str(page), page_in_short(page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
