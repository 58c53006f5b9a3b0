"""PlantUML sequence diagrams.

Syntax: PlantUML language reference guide, chapters Sequence Diagram and Creole. A name or payload
may contain any character, so every character with a meaning in PlantUML is written as <U+0023>.
"""

from __future__ import annotations

import re

from antecede.checker.check.report import CheckReport
from antecede.checker.paths.path import Path
from antecede.checker.render.about import about
from antecede.checker.render.markup import plain
from antecede.checker.render.sequence import Arrow, Line, Note, Turn, lines_of

WRONG = "#FFD9B3"
"""The background of notes on the violation."""

_UNSAFE = re.compile(r"[^A-Za-z0-9 .,()=+'_-]|--+|__+|''+")


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as a PlantUML sequence diagram."""
    said = about(path, report)
    actors = range(path.system.actors)
    lines = [
        "@startuml",
        f"title {encoded(said.headline)}",
        "hide footbox",
        "skinparam wrapWidth 420",
    ]
    lines += [f'participant "{encoded(path.system.names.actor(i))}" as p{i}' for i in actors]
    lines.append(f"note over {_all(path)} : {encoded(f'{said.question}. {said.verdict}')}")
    lines += [_written(line, _all(path)) for line in lines_of(path)]
    return "\n".join([*lines, "@enduml"]) + "\n"


def encoded(said: str) -> str:
    """Return the text escaped for PlantUML."""
    return _UNSAFE.sub(lambda found: "".join(f"<U+{ord(c):04X}>" for c in found[0]), plain(said))


def _all(path: Path) -> str:
    return f"p0, p{path.system.actors - 1}"


def _written(line: Line, everyone: str) -> str:
    if isinstance(line, Turn):
        return f"loop {encoded(line.text)}" if line.text else "end"
    if isinstance(line, Note):
        over = everyone if line.actor is None else f"p{line.actor}"
        return f"note over {over}{' ' + WRONG if line.wrong else ''} : {encoded(line.text)}"
    return f"p{line.src} {_head(line)} p{line.dst} : {encoded(line.text)}"


def _head(arrow: Arrow) -> str:
    style = "[#D55E00,bold]" if arrow.wrong else ""
    head = "x" if arrow.lost else ">" if arrow.control else ""
    return f"-{style}{'-' if arrow.control else ''}>{head}"
