"""A protocol that is read again when its file, or a file that it imports, has changed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path as FilePath
from types import MappingProxyType

from attrs import define, evolve, field

from antecede.checker.explore.tree import Numbers, Tree
from antecede.checker.paths.path import Path, transition_key
from antecede.checker.render.prose import Wording
from antecede.checker.support.errors import ProtocolError, ReplayError
from antecede.checker.support.registry import PIPE, protocol_names
from antecede.checker.support.sources import Files, digest_of, sources_of


@define(eq=False)
class Watch:
    """The files of a protocol, and the digests of their contents when they were last read.

    Attributes:
        files: module -> its file; empty if the protocol does not come from a file of the user.
    """

    files: Files
    contents: Mapping[FilePath, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.contents = self._now()

    @classmethod
    def of(cls, tree: Tree, before: Mapping[FilePath, str] = MappingProxyType({})) -> Watch:
        """Watch the files of an explored protocol.

        Args:
            before: file -> its digest before the protocol was imported. If a file has changed since
                then, for example during the import, it is read again.

        Raises:
            OSError: a file cannot be read.
        """
        name = tree.spec.protocol
        if name in protocol_names() or name.startswith(PIPE) or tree.objects:
            return cls({})
        files = sources_of(tree.system.protocol).files
        watch = cls({m: f for m, f in files.items() if m.partition(".")[0] != "antecede"})
        known = {file: before[file] for file in watch.files.values() if file in before}
        watch.contents = {**watch.contents, **known}
        return watch

    def _now(self) -> dict[FilePath, str]:
        return contents_of(self.files.values())

    @property
    def stale(self) -> bool:
        """True if a file has changed since it was read."""
        return self.contents != self._now()

    def changed(self) -> list[FilePath]:
        """Return the files that have changed since the last call, or since they were read."""
        before, self.contents = self.contents, self._now()
        return [f for f in {**before, **self.contents} if before.get(f) != self.contents.get(f)]


def contents_of(files: Iterable[FilePath]) -> dict[FilePath, str]:
    """Return the digests of the files that can be read; an editor may be replacing one."""
    contents = {}
    for file in files:
        with suppress(OSError):
            contents[file] = digest_of(file.read_bytes())
    return contents


def read_again(tree: Tree, files: Files) -> Tree:
    """Return a tree whose protocol and the modules in `files` are imported again.

    If the import fails, the modules from before stay, and `tree` can be used as before.

    Raises:
        InputError: the file cannot be imported, or does not fit the question any more.
    """
    with _forgetting(files):
        again = Tree(evolve(tree.spec))
        again.path(())
    return again


@contextmanager
def _forgetting(files: Files) -> Iterator[None]:
    """Forget modules, so that they are imported again; if the block fails, remember them."""
    names = [name for name, file in files.items() if _is_from(name, file)]
    before = {name: sys.modules.pop(name) for name in names}
    for file in files.values():  # a file of the same size and second has the same compiled form
        FilePath(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)
    importlib.invalidate_caches()
    try:
        yield
    except BaseException:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)
        raise


def _is_from(name: str, file: FilePath) -> bool:
    loaded = getattr(sys.modules.get(name), "__file__", None)
    return name != "__main__" and loaded is not None and FilePath(loaded).resolve() == file


def kept(path: Path, tree: Tree) -> tuple[Numbers, str]:
    """Return the longest part of `path` that `tree` has, and a sentence about the differences."""
    numbers: Numbers = ()
    changed = None
    words = Wording.of(path)
    for step in path.steps:
        keys = map(transition_key, path.transitions[: step.number])
        try:
            longer = tree.numbers_of_keys(keys)
        except (ReplayError, ProtocolError) as error:
            ends = error if isinstance(error, ProtocolError) else "it is not enabled any more"
            text = words.transition(step.transition, step.message)
            where = f"up to step {len(numbers)}" if numbers else "only at the start"
            return numbers, f"The path is possible {where}. Step {step.number} was: {text}; {ends}"
        numbers = longer
        again = tree.path(numbers)
        if changed is None and words.step(step) != Wording.of(again).step(again.steps[-1]):
            changed = step.number
    if not numbers:
        return numbers, "The page is at the start"
    also = f", but step {changed} has another effect" if changed else ""
    return numbers, f"The path is still possible{also}"
