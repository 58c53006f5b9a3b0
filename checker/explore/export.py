"""A path as a test for pytest, and its question as a spec with the expected answer."""

from __future__ import annotations

import json
import pprint
import re
from pathlib import Path as FilePath
from typing import Any

from antecede.checker.explore.tree import Tree
from antecede.checker.paths.path import Path
from antecede.checker.render.json import trace_text
from antecede.checker.render.pages import text_page
from antecede.checker.semantics.question import MODEL
from antecede.checker.support.errors import InputError
from antecede.checker.support.reading import as_toml


def protocol_reference(tree: Tree) -> str:
    """Return the name of the protocol, or its file so that any folder can name it.

    Raises:
        InputError: the protocol is an object of a program, so a file cannot name it.
    """
    name = tree.spec.protocol
    if tree.objects:
        raise InputError(
            f"the protocol {name!r} is an object of a program; save it as a file, explore the "
            "file, and export again"
        )
    return _from_anywhere(name)


def _from_anywhere(name: str) -> str:
    """Return a name; if it names a file, with the whole path of the file."""
    file, colon, rest = name.partition(".py")
    return f"{FilePath(file).resolve()}.py{rest}" if colon else name


def _violated_in(tree: Tree, path: Path) -> str | None:
    """Return the name of the property that `path` violates, so that any folder can name it.

    Raises:
        InputError: the property is an object of a program, so a file cannot name it.
    """
    if path.violates is None:
        return None
    if tree.spec.own.named(path.violates):
        raise InputError(
            f"the property {path.violates!r} is an object of a program; save it in a file, give "
            "FILE.py:NAME, and export again"
        )
    return _from_anywhere(path.violates)


def pytest_text(tree: Tree, path: Path) -> str:
    """Return a file with a test that replays `path`, and asserts its property or its effects.

    Raises:
        InputError: a file cannot name the protocol or the property.
    """
    protocol, violates = protocol_reference(tree), _violated_in(tree, path)
    trace = json.loads(trace_text(path)) | {"protocol": protocol, "property": violates}
    return text_page(
        "run_test.py.txt",
        name="".join(re.findall(r"\w", trace["protocol"].rpartition("/")[2].partition(".")[0])),
        protocol=repr(protocol),
        length=path.length,
        violates=violates and repr(violates),
        in_file=".py:" in (violates or ""),
        trace=pprint.pformat(trace, width=96, sort_dicts=False),
    )


def spec_text(tree: Tree, path: Path) -> str:
    """Return a spec that asks whether the property that `path` violates can be violated.

    Raises:
        InputError: the path violates nothing, or a file cannot name the protocol or the property.
    """
    violates = _violated_in(tree, path)
    if violates is None:
        raise InputError(
            "the run violates nothing, so it does not show what a spec should expect; go to a "
            "violation, and export again"
        )
    question = tree.system.question
    fields: dict[str, Any] = {name: getattr(question, name) for name in MODEL}
    fields |= {"protocol": protocol_reference(tree), "properties": [violates]}
    names: dict[str, Any] = {"actors": tree.system.names.actors}
    if tree.system.workload.sends is None:
        names["messages"] = tree.system.names.messages
    return text_page(
        "spec.toml",
        fields={key: as_toml(value) for key, value in fields.items() if value not in (None, "")},
        names={key: as_toml(value) for key, value in names.items() if value},
        violates=as_toml(violates),
    )
