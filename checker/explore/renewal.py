"""Reloads a protocol when its files change, so that the page shows the new protocol."""

from __future__ import annotations

import importlib
import sys
import threading
from pathlib import Path

from attrs import define, evolve, field

from antecede.checker.errors import InputError
from antecede.checker.explore.tree import Tree
from antecede.checker.sources import Files, digest_of, imported_by, sources_of


@define(eq=False)
class Renewed:
    """A tree that is rebuilt whenever its protocol's file, or a module that it imports, changes.

    See `checker.sources`. As long as the new files are unusable, the tree stays the old one.

    Attributes:
        tree: the current tree.
    """

    tree: Tree
    _reached: Files = field(init=False)
    _seen: dict[Path, str] = field(init=False)
    _problem: str = field(default="", init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    @_reached.default
    def _from_tree(self) -> Files:
        return {**sources_of(self.tree.system.protocol).files}

    @_seen.default
    def _at_first(self) -> dict[Path, str]:
        return self._digests()

    def look(self) -> tuple[str, bool]:
        """Reload changed files; return (message, whether it is an error)."""
        with self._lock:
            before, now = self._seen, self._digests()
            if now == before:
                return self._problem, bool(self._problem)
            files = [file for file in {**before, **now} if before.get(file) != now.get(file)]
            self._forget_modules()
            try:
                tree = Tree(evolve(self.tree.spec))  # a copy, because a spec caches its system
                tree.path(())
            except InputError as error:
                self._seen = now
                before_it = f"{_changed(files)}, and this is still what it was before"
                self._problem = f"{before_it}: {error}"
                return self._problem, True
            self.tree, self._problem = tree, ""
            self._reached = self._from_tree()
            self._seen = self._digests()
            return f"{_changed(files)}; this page shows the new version.", False

    @property
    def _file(self) -> Path | None:
        """The file that defines the protocol, None for one that comes with antecede."""
        name, ending, _ = self.tree.spec.protocol.partition(".py")
        return Path(name + ending) if ending else None

    def _files(self) -> Files:
        """Return the files that the protocol depends on and that can change, by module."""
        if self._file is None:
            return {}
        name, file = f"user_protocol_{self._file.stem}", self._file.resolve()
        imported = imported_by(name, file) if file.is_file() else {name: file}
        files = {**self._reached, **imported}
        return {name: file for name, file in files.items() if not name.startswith("antecede.")}

    def _digests(self) -> dict[Path, str]:
        """Return a digest per file; an empty one for a file that cannot be read."""
        return {file: _digest(file) for file in self._files().values()}

    def _forget_modules(self) -> None:
        """Remove the protocol's modules from the import cache."""
        for name in self._files():
            if name != "__main__":
                sys.modules.pop(name, None)
        importlib.invalidate_caches()


def _digest(file: Path) -> str:
    try:
        return digest_of(file.read_bytes())
    except OSError:
        return ""


def _changed(files: list[Path]) -> str:
    have = "has" if len(files) == 1 else "have"
    return f"{' and '.join(file.name for file in files)} {have} changed"
