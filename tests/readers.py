"""Readers of what antecede writes: small ones written after the grammar, and real ones."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from html import unescape
from pathlib import Path as FilePath
from typing import Any

import pytest
from attrs import frozen
from filelock import FileLock

NODE = FilePath(__file__).parent / "node"


def run_node(config: pytest.Config, script: str, *arguments: object) -> Any:
    """Run a script of tests/node with its packages, and return the JSON that it prints.

    The packages are installed once, in pytest's cache.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node.js and npm are not both installed (apt-get install npm)")
    home = FilePath(config.cache.mkdir("node"))
    with FileLock(home / "lock"):  # other workers install and copy to the same folder
        wanted = (NODE / "package.json").read_text()
        if not (home / "installed").is_file() or (home / "installed").read_text() != wanted:
            _install(npm, home)
            (home / "installed").write_text(wanted)
        for each in NODE.glob("*.mjs"):
            if (
                not (home / each.name).is_file()
                or (home / each.name).read_text() != each.read_text()
            ):
                shutil.copy(each, home / each.name)
    command = [node, script, *map(str, arguments)]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout)


def _install(npm: str, home: FilePath) -> None:
    shutil.copy(NODE / "package.json", home / "package.json")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip()[-200:]
        pytest.skip(f"npm could not install mermaid and jsdom. It said: {said}")


# ITF, after Apalache's ADR-015


def itf_value(value: Any) -> Any:
    """Return what an ITF expression means; a variant is (tag, value), a record a dict.

    Raises:
        ValueError: it is no expression.
    """
    if isinstance(value, bool | str):
        return value
    if isinstance(value, list):
        return [itf_value(part) for part in value]
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no ITF expression")
    special = [key for key in value if key.startswith("#")]
    if not special:
        record = {key: itf_value(part) for key, part in value.items()}
        return tuple(record.values()) if list(record) == ["tag", "value"] else record
    if len(value) != 1:
        raise ValueError(f"{special[0]} does not stand alone in {value!r}")
    (content,) = value.values()
    return _ITF[special[0]](content)


def _bigint(digits: Any) -> int:
    if not isinstance(digits, str) or not re.fullmatch(r"-?[0-9]+", digits):
        raise ValueError(f"{digits!r} is no #bigint")
    return int(digits)


_ITF: dict[str, Any] = {
    "#bigint": _bigint,
    "#tup": lambda parts: tuple(map(itf_value, parts)),
    "#set": lambda parts: [itf_value(part) for part in parts],
    "#map": lambda pairs: [(itf_value(key), itf_value(part)) for key, part in pairs],
    "#unserializable": str,
}


def itf_trace(text: str) -> list[dict[str, Any]]:
    """Read an ITF file and return its states.

    Raises:
        ValueError: it is not in the format.
    """
    trace = json.loads(text)
    unknown = set(trace) - {"#meta", "params", "vars", "states", "loop"}
    if unknown:
        raise ValueError(f"a trace has no {unknown}")
    for index, state in enumerate(trace["states"]):
        if set(state) - {"#meta"} != set(trace["vars"]) or state["#meta"]["index"] != index:
            raise ValueError(f"state {index} has not just the variables, or another index")
    return [
        {name: itf_value(value) for name, value in state.items() if name != "#meta"}
        for state in trace["states"]
    ]


# ShiViz, after its parser.js and modelGraph.js


@frozen
class LogEvent:
    """An event as ShiViz sees it."""

    event: str
    host: str
    clock: Mapping[str, int]


def shiviz_log(text: str) -> list[LogEvent]:
    """Read a log as ShiViz does.

    Raises:
        ValueError: ShiViz would not draw it.
    """
    pattern, delimiter, log = text.split("\n", 2)
    if delimiter.strip():
        raise ValueError("more than one execution is not expected")
    python = re.compile(pattern.replace("(?<", "(?P<"), re.MULTILINE)
    events = [LogEvent(m["event"], m["host"], json.loads(m["clock"])) for m in python.finditer(log)]
    if "".join(python.sub("", log).split()):
        raise ValueError("the regular expression leaves something over")
    _check_clocks(events)
    return events


def _check_clocks(events: list[LogEvent]) -> None:
    own: dict[str, list[LogEvent]] = {}
    for event in events:
        own.setdefault(event.host, []).append(event)
    for host, row in own.items():
        entries = [event.clock.get(host) for event in row]
        if entries != list(range(1, len(row) + 1)):
            raise ValueError(f"the clock of {host} goes {entries}")
    for event in events:
        for host, count in event.clock.items():
            if host not in own or not 1 <= count <= len(own[host]):
                raise ValueError(f"{event.host} knows of event {count} of {host}")
            own_past = host == event.host and count > 1
            past = own[host][count - (2 if own_past else 1)].clock
            if any(event.clock.get(other, 0) < known for other, known in past.items()):
                raise ValueError(f"{event.host} does not know all that {host} knew")


# Mermaid and PlantUML: the part of their languages that is used


@frozen
class Drawn:
    """The parts of a sequence diagram: its title, its participants, and its lines of text."""

    title: str
    actors: tuple[str, ...]
    notes: tuple[str, ...]
    arrows: tuple[tuple[str, str, str], ...]


_MERMAID = {
    "title": r"title (?P<text>{text})",
    "actor": r"participant p\d+ as (?P<text>{text})",
    "note": r"Note over p\d+(?:,p\d+)?: (?P<text>{text})",
    "arrow": r"(?P<src>p\d+)(?:->>|--\)|-x|--x)(?P<dst>p\d+): (?P<text>{text})",
    "rect": r"rect rgba\([\d., ]+\)|end",
}
_MERMAID_TEXT = r"(?:[\w .,()=+'/\[\]…-]|#\d+;)+"
_PUML = {
    "title": r"title (?P<text>{text})",
    "actor": r'participant "(?P<text>{text})" as p\d+',
    "note": r"note over p\d+(?:, p\d+)?(?: #[0-9A-F]{{6}})? : (?P<text>{text})",
    "arrow": r"(?P<src>p\d+) -(?:\[#\w+,bold\])?-?>[>x]? (?P<dst>p\d+) : (?P<text>{text})",
    "setting": r"hide footbox|skinparam \w+ \d+",
}
_PUML_TEXT = r"(?:[A-Za-z0-9 .,()=+'_-]|<U\+[0-9A-F]{4,6}>)+"


def mermaid_drawn(text: str) -> Drawn:
    """Parse a Mermaid diagram, with a grammar of the part of the language that we use.

    Raises:
        ValueError: a line is none of these.
    """
    _, config, body = text.split("---\n")
    if not re.fullmatch(r"config:\n  sequence:\n    wrap: true\n    width: \d+\n", config):
        raise ValueError(f"unexpected configuration {config!r}")
    head, *lines = body.splitlines()
    if head != "sequenceDiagram":
        raise ValueError(f"{head!r} starts no sequence diagram")
    decode = re.compile(r"#(\d+);")
    return _drawn(
        [line.strip() for line in lines],
        {kind: rule.format(text=_MERMAID_TEXT) for kind, rule in _MERMAID.items()},
        lambda shown: decode.sub(lambda found: chr(int(found[1])), shown),
    )


def puml_drawn(text: str) -> Drawn:
    """Parse a PlantUML diagram, with a grammar of the part of the language that we use.

    Raises:
        ValueError: a line is none of these.
    """
    head, *lines, foot = text.splitlines()
    if (head, foot) != ("@startuml", "@enduml"):
        raise ValueError("no PlantUML diagram")
    decode = re.compile(r"<U\+([0-9A-F]+)>")
    return _drawn(
        lines,
        {kind: rule.format(text=_PUML_TEXT) for kind, rule in _PUML.items()},
        lambda shown: decode.sub(lambda found: chr(int(found[1], 16)), shown),
    )


def _drawn(lines: list[str], rules: Mapping[str, str], decoded: Any) -> Drawn:
    title, actors, notes, arrows = "", [], [], []
    for line in lines:
        found = {kind: m for kind, rule in rules.items() if (m := re.fullmatch(rule, line))}
        if not found:
            raise ValueError(f"{line!r} is not in the grammar")
        ((kind, match),) = found.items()
        said = decoded(match.groupdict().get("text") or "")
        if kind == "title":
            title = said
        elif kind == "actor":
            actors.append(said)
        elif kind == "note":
            notes.append(said)
        elif kind == "arrow":
            arrows.append((match["src"], match["dst"], said))
    return Drawn(title, tuple(actors), tuple(notes), tuple(arrows))


def plantuml_texts(folder: FilePath, text: str) -> str:
    """Draw a diagram with PlantUML itself, and return all the text in the picture."""
    plantuml = shutil.which("plantuml")
    if plantuml is None:
        pytest.skip("PlantUML is not installed (apt-get install plantuml)")
    source = folder / "run.puml"
    source.write_text(text, encoding="utf-8")
    command = [plantuml, "-headless", "-failfast2", "-charset", "UTF-8", "-tsvg", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    drawn = (folder / "run.svg").read_text(encoding="utf-8")
    pieces = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    return unescape(" ".join(pieces)).replace("\xa0", " ")
