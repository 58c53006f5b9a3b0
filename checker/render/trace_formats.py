"""The formats of traces, by name and by the ending of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TypeAlias

from attrs import frozen

from antecede.checker.check.report import CheckReport
from antecede.checker.paths.path import Path
from antecede.checker.render import json
from antecede.checker.render.about import about
from antecede.checker.render.diagram import diagram
from antecede.checker.render.files import write_whole
from antecede.checker.render.markup import plain
from antecede.checker.render.pictures import PICTURES, check_picture, converted_picture
from antecede.checker.render.terminal import wrapped
from antecede.checker.render.text import path_text, steps_text
from antecede.checker.support.errors import InputError, check_known

Writer: TypeAlias = Callable[[Path, CheckReport | None], str]


@frozen(eq=False)
class Format:
    """A format of traces.

    Attributes:
        endings: the endings of files in this format.
        text: (path, the check that found it or None) -> the text of the file.
    """

    summary: str
    endings: tuple[str, ...]
    text: Writer


def _of(module: str, function: str = "text") -> Writer:
    """Return a writer of another module, which is imported when a trace is written."""

    def text(path: Path, report: CheckReport | None = None) -> str:
        write: Writer = resolve_name(f"antecede.checker.render.{module}:{function}")
        return write(path, report)

    return text


def own_text(path: Path, _report: CheckReport | None = None) -> str:
    """Return `path` in antecede's own format, which `antecede replay` reads."""
    return json.trace_text(path)


def plain_text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as text for people."""
    said = about(path, report)
    head = f"{plain(said.headline)}\n{wrapped(plain(said.question))}\n{said.verdict}"
    if path.violates is not None:
        body = path_text(path, steps=True)
    else:
        body = f"{steps_text(path, said.explanation)}\n\n" + "\n".join(diagram(path).lines)
    return f"{head}\n\n{body}\n"


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "json": Format("complete; `antecede replay` reads it", (".json",), own_text),
        "itf": Format(
            "Informal Trace Format of Apalache and Quint, for the ITF viewer",
            (".itf.json",),
            _of("itf"),
        ),
        "shiviz": Format(
            "log with vector clocks, for ShiViz", (".shiviz", ".shiviz.log"), _of("shiviz")
        ),
        "mermaid": Format(
            "Mermaid sequence diagram, as GitHub draws it",
            (".mermaid", ".mmd"),
            _of("sequence", "mermaid"),
        ),
        "puml": Format("PlantUML sequence diagram", (".puml",), _of("sequence", "plantuml")),
        "svg": Format("space-time diagram as a picture", (".svg",), _of("svg")),
        "html": Format("page to step through, in one file", (".html",), _of("html")),
        "txt": Format("text, as on the terminal", (".txt",), plain_text),
    }
)


def format_of(file: str) -> str:
    """Return the name of the format for a trace file, which its longest known ending selects.

    Returns:
        A name in FORMATS, or a kind in PICTURES.

    Raises:
        InputError: the ending is unknown, or a package is missing.
    """
    if (kind := file.lower().rpartition(".")[2]) in PICTURES:
        check_picture(kind)
        return kind
    endings = {ending: found for found, known in FORMATS.items() for ending in known.endings}
    for ending in sorted(endings, key=len, reverse=True):
        if file.lower().endswith(ending):
            return endings[ending]
    names = [*endings, *(f".{kind}" for kind in PICTURES)]
    raise InputError(f"{file!r}: unsupported trace format. Use one of: {', '.join(names)}")


def trace_text(path: Path, name: str, report: CheckReport | None = None) -> str:
    """Return `path` in the format called `name`; `report` is the check that found it."""
    name = name.removesuffix(".json") if name == "itf.json" else name
    check_known("trace format", name, FORMATS)
    return FORMATS[name].text(path, report)


def write_trace(path: Path, file: str, *, report: CheckReport | None = None) -> None:
    """Write `path` to `file`, whole or not at all.

    Args:
        file: the file; its ending selects the format.
        report: the check that found the path; its statistics are written, too.

    Raises:
        InputError: the ending is unknown, or the file cannot be written.
    """
    name = format_of(file)
    if name in PICTURES:
        write_whole(file, converted_picture(trace_text(path, "svg", report), name))
        return
    write_whole(file, trace_text(path, name, report))
