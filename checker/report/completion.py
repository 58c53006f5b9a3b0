"""What a shell offers when the Tab key is pressed: names, and files that fit."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from antecede.checker.errors import AntecedeError
from antecede.checker.registry import declared_names, property_names, protocol_named, protocol_names
from antecede.checker.semantics.network import NETWORKS
from antecede.checker.semantics.workload import SUMMARIES

MADE_OF_NETWORKS = (
    *NETWORKS,
    *("duplicating+lossy", "fifo+duplicating", "fifo+lossy"),
    *("lossy:1", "lossy:2", "fifo+lossy:1", "duplicating+lossy:1"),
)
"""Names of networks that the shell offers; losses of a greater number are typed."""

WORKLOADS = (
    *(name for name in SUMMARIES if name not in ("script", "reaction", "endless", "program")),
    *("endless:1", "endless:2", "script:", "reaction:", "program:"),
)
"""Workloads that the shell offers; of some only the beginning."""


def candidates(kind: str, typed: str, given: Sequence[str] = ()) -> list[str]:
    """Return what can stand where the user typed `typed`; lists with commas end in a new name.

    Args:
        kind: one of `KINDS`.
        typed: the beginning of the word.
        given: the names before it, whose protocols' witnesses and invariants are offered.
    """
    if kind == "property":
        return _listed(typed, _properties(given))
    names, endings = KINDS[kind]
    found = _listed(typed, names())
    if endings is None:
        return found
    within = _objects(typed) if ".py" in endings and ".py:" in typed else []
    return [*found, *files(typed, endings), *within]


def files(typed: str, endings: Sequence[str]) -> list[str]:
    """Return the files with these endings, and the folders, that begin with what was typed.

    The only folder that fits is looked into, for a shell puts a space after the only word.
    """
    found = list(_entries(typed, endings))
    if len(found) == 1 and found[0].endswith("/") and found[0] != typed:
        found += _entries(found[0], endings)
    return found


def _entries(typed: str, endings: Sequence[str]) -> Iterator[str]:
    folder, slash, start = typed.rpartition("/")
    try:
        entries = sorted(Path(f"{folder}{slash}" or ".").iterdir())
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(start) or (entry.name.startswith(".") and not start):
            continue
        if entry.is_dir():
            yield f"{folder}{slash}{entry.name}/"
        elif entry.name.endswith(tuple(endings)):
            yield f"{folder}{slash}{entry.name}"


def _objects(typed: str) -> list[str]:
    """Return what FILE.py:OBJECT may become; the file is read, not run."""
    file, _, start = typed.rpartition(":")
    found = (name for name, _ in _defined_in(file) if not name.startswith("_"))
    return [f"{file}:{name}" for name in found if name.startswith(start)]


def _declared_in(file: str) -> list[str]:
    """Return the witnesses and invariants that a file names, whichever protocol has them."""
    found = []
    for _, value in _defined_in(file):
        for given in value.keywords if isinstance(value, ast.Call) else ():
            kind = given.arg and _DECLARES.get(given.arg)
            if kind and isinstance(given.value, ast.Dict):
                keys = (getattr(key, "value", None) for key in given.value.keys)
                found += [f"{kind}:{key}" for key in keys if isinstance(key, str)]
    return list(dict.fromkeys(found))


def _defined_in(file: str) -> list[tuple[str, ast.AST]]:
    """Return what a Python file makes by a call, or is a class that may be real code."""
    try:
        body = ast.parse(Path(file).read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError, RecursionError):
        return []
    found: list[tuple[str, ast.AST]] = []
    for statement in body:
        if isinstance(statement, ast.ClassDef) and _may_be_real_code(statement):
            found.append((statement.name, statement))
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
            names = (target.id for target in targets if isinstance(target, ast.Name))
            if isinstance(statement.value, ast.Call):
                found += [(name, statement.value) for name in names]
    return found


def _may_be_real_code(definition: ast.ClassDef) -> bool:
    methods = {each.name for each in definition.body if isinstance(each, ast.FunctionDef)}
    return bool(definition.bases or methods & {"causal_send", "receive"})


_DECLARES = {
    "witnesses": "witness",
    "joint_witnesses": "witness",
    "invariants": "invariant",
    "joint_invariants": "invariant",
}
"""What a protocol is given -> the kind of property that it declares."""


def _listed(typed: str, names: Sequence[str]) -> list[str]:
    """Return the names that go on what was typed after the last comma."""
    before, comma, last = typed.rpartition(",")
    used = before.split(",")
    return [f"{before}{comma}{n}" for n in names if n.startswith(last) and n not in used]


def _properties(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names of properties, and what the protocols given declare besides."""
    found = list(property_names())
    for name in given:
        if name.endswith(".py") or ".py:" in name:
            found += _declared_in(name.partition(":")[0])
            continue
        try:
            protocol = protocol_named(name) if name in protocol_names() else None
        except AntecedeError:
            continue
        if protocol is not None:
            found += declared_names(protocol, "witness") + declared_names(protocol, "invariant")
    return tuple(found)


def _everything() -> tuple[str, ...]:
    return (*protocol_names(), *property_names(), *NETWORKS, *SUMMARIES)


def _nothing() -> tuple[str, ...]:
    return ()


KINDS: Mapping[str, tuple[Callable[[], Sequence[str]], Sequence[str] | None]] = MappingProxyType(
    {
        "target": (protocol_names, (".toml", ".py")),
        "traced": (protocol_names, (".toml", ".py", ".json")),
        "protocol": (protocol_names, (".py",)),
        "registered": (protocol_names, None),
        "listed": (_everything, (".py",)),
        "adapter": (lambda: ("pipe:",), (".py",)),
        "anything": (_nothing, None),
        "trace": (_nothing, (".json",)),
        "network": (lambda: MADE_OF_NETWORKS, None),
        "workload": (lambda: WORKLOADS, None),
    }
)
"""What is typed -> the names that are offered, and the endings of files, None for no files."""


# bash

BASH = """\
%(complete_func)s() {
    local response kind value IFS=$'\\n'
    response=$(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORD="${COMP_WORDS[COMP_CWORD]}" \\
        %(complete_var)s=bash_complete "$1")
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done <<< "$response"
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:/] ]]; then compopt -o nospace; fi
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
"""What bash is told to do at the Tab key.

Bash takes a colon, or an equals sign, for the end of a word, so that it hands over `witness`, `:`
and `wai` for what is one word here, and replaces the last of them alone. The whole line says what
the words are.
"""


def bash_words(line: str) -> tuple[list[str], str]:
    """Return the words before the one that is typed, without the command, and that one.

    Args:
        line: the command line up to the cursor.
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # a quote that is not closed yet
        words.append(lexer.token)
        return words[1:-1], words[-1]
    if line[-1:].isspace():
        words.append("")
    return words[1:-1], words[-1] if len(words) > 1 else ""


def bash_rest(typed: str, word: str, offered: str) -> str:
    """Return what of an offered word replaces the part of the typed one that bash takes for a word.

    Args:
        typed: the word up to the cursor.
        word: what bash takes for the word at the cursor, with the quotes it begins with.
        offered: the whole word, or of --option=value the value.
    """
    option, equals, value = typed.partition("=")
    if equals and option.startswith("--") and not offered.startswith(typed):
        offered, typed = f"{option}={offered}", f"{option}={value}"
    own = "" if word in (":", "=") else word.lstrip("\"'")
    common = next(k for k in range(len(own), -1, -1) if typed.endswith(own[:k]))
    return offered[len(typed) - common :]
