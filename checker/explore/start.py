"""The start of `antecede explore`: at a protocol, a spec, or the end of a trace."""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
import webbrowser
from collections.abc import Mapping
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from attrs import evolve

from antecede.checker.check.spec import OwnProperties, Spec, overridden
from antecede.checker.check.targets import spec_named
from antecede.checker.explore.page import entrance
from antecede.checker.explore.tree import Numbers, Tree, text_of
from antecede.checker.render.json import misfit, trace_in_file
from antecede.checker.support.block import SPARES, block
from antecede.checker.support.errors import InputError, ReplayError


def opened(target: str, given: Mapping[str, Any]) -> tuple[Tree, Numbers]:
    """Return the tree to explore and the path to start at.

    Args:
        target: a protocol's name or file, a spec or its short name, or a trace.
        given: values that override the target's, by the names of a spec's fields.

    Raises:
        InputError: there is no such target, or it cannot be explored.
    """
    if target.endswith(".json"):
        return _trace(target, given)
    if "protocol" in given:
        raise InputError("--protocol says what a trace is replayed with; this is no trace")
    tree = Tree(overridden(spec_named(target), given))
    tree.path(())
    return tree, ()


def _trace(file: str, given: Mapping[str, Any]) -> tuple[Tree, Numbers]:
    """Return the tree and the path of a trace; its property is judged besides the default ones."""
    asked = given.get("properties") or (None,)
    own = given.get("own", OwnProperties())
    trace = trace_in_file(file, given.get("protocol"), asked[0], own)
    try:
        tree = Tree(overridden(evolve(trace.spec, properties=_judging(trace.spec)), given))
        return tree, tree.numbers_of_keys(trace.keys)
    except ReplayError as error:
        raise misfit(file, trace, error) from None
    except InputError as error:
        raise type(error)(f"{file}: {error}") from None


def _judging(spec: Spec) -> tuple[str, ...]:
    """Return the properties for the page of a trace: its own and the default ones."""
    usual = [prop.name for prop in Tree(evolve(spec, properties=())).system.properties]
    if set(spec.properties) <= set(usual):
        return ()
    return (*spec.properties, *(name for name in usual if name not in spec.properties))


def address_of(entrance: str, numbers: Numbers) -> str:
    """Return the address that opens the page of a path; `entrance` has the token."""
    return f"{entrance}&path={text_of(numbers)}" if numbers else entrance


def show(address: str) -> None:
    """Open the page if there is a desktop; a text browser would take over the terminal."""
    block.numbers[SPARES] = 1.0
    if sys.platform in ("darwin", "win32"):
        webbrowser.open(address)
    elif any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        webbrowser.open(FilePath(_private_page(address)).as_uri())


def _private_page(address: str) -> str:
    """Return a file that leads a browser to the address, as long as this process lives.

    All users can read the command line of a browser, so it may not contain the token.
    """
    descriptor, file = tempfile.mkstemp(prefix="antecede-explore-", suffix=".html")
    atexit.register(partial(FilePath(file).unlink, missing_ok=True))
    with open(descriptor, "w", encoding="utf-8") as opened:
        opened.write(entrance(address))
    return file
