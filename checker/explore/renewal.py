"""Notices that a protocol's file has changed, so that the page shows the new one."""

from __future__ import annotations

import threading
from hashlib import blake2b
from pathlib import Path

from attrs import define, field

from antecede.checker.errors import InputError
from antecede.checker.explore.tree import Tree


@define(eq=False)
class Renewed:
    """A tree that is made anew whenever the file of its protocol changes.

    Only that file is looked at, not what it imports. As long as the new file cannot be used, the
    tree is the old one.

    Attributes:
        tree: what is explored now.
    """

    tree: Tree
    _seen: bytes | None = field(init=False)
    _problem: str = field(default="", init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    @_seen.default
    def _at_first(self) -> bytes | None:
        return self._digest()

    def look(self) -> tuple[str, bool]:
        """Look at the file; return what is to be said of it, and whether something is wrong."""
        with self._lock:
            now = self._digest()
            if now == self._seen:
                return self._problem, bool(self._problem)
            self._seen, file = now, self._file
            try:
                tree = Tree(self.tree.spec)
                tree.path(())
            except InputError as error:
                self._problem = f"{file} has changed, and this is still what it was before: {error}"
                return self._problem, True
            self.tree, self._problem = tree, ""
            return f"{file} has changed; this is what it says now.", False

    @property
    def _file(self) -> Path | None:
        """The file that defines the protocol, None for one that comes with antecede."""
        name, ending, _ = self.tree.spec.protocol.partition(".py")
        return Path(name + ending) if ending else None

    def _digest(self) -> bytes | None:
        """Return what tells the file's contents apart; None if there is none to read."""
        try:
            return None if self._file is None else blake2b(self._file.read_bytes()).digest()
        except OSError:
            return b""
