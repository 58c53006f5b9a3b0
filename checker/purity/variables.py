"""The variables that handlers use: module and class variables, closures, and attributes.

A handler may keep a cache in a variable. It must not remember there what changes a result, because
the search calls it once per distinct arguments, in an order of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from antecede.checker.purity.effects import clock_in
from antecede.checker.support.sources import Owner, Search, is_followed, text_of_plain


@frozen(eq=False)
class Variable:
    """A variable that contains plain data.

    Attributes:
        name: MODULE.NAME.
        value: the value at the start. A container is the same object afterwards, or a call bound
            the variable to another one.
        text: of the value at the start.
        content: a copy of the value at the start.
        owner: the object that has the variable; None if it cannot be bound to another value.
    """

    name: str
    value: Any
    text: str
    content: Any
    owner: Owner

    @property
    def place(self) -> tuple[int, str]:
        """A key that no other variable has as long as this object exists."""
        return id(self.value if self.owner is None else self.owner[0]), self.name

    @property
    def now(self) -> Any:
        """The value that the variable has now."""
        if self.owner is None:
            return self.value
        holder, name = self.owner
        return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)

    @property
    def has_changed(self) -> bool:
        """True if the value differs from the value at the start."""
        return text_of_plain(self.now) != self.text

    def begin_anew(self) -> bool:
        """Give the variable its value of the start; return whether that is possible."""
        self.put(self.value, copy.deepcopy(self.content))
        if self.has_changed:  # a call changed the inside of a value that cannot be filled
            self._bind(copy.deepcopy(self.content))
        return not self.has_changed

    def put(self, value: Any, content: Any) -> None:
        """Bind the variable to a value; if the value is a container, give it a content."""
        if isinstance(value, list | bytearray):
            value[:] = content
        elif isinstance(value, set | dict):
            value.clear()
            value.update(content)
        self._bind(value)

    def _bind(self, value: Any) -> None:
        if self.owner is None or self.now is value:
            return
        holder, name = self.owner
        if isinstance(holder, dict):
            holder[name] = value
        else:
            with suppress(AttributeError, TypeError):
                setattr(holder, name, value)


_changed_before: dict[tuple[int, str], Variable] = {}
"""Variables as they were before an earlier check in this process whose calls changed them."""


@define(eq=False)
class Variables(Search):
    """The variables that some functions can reach, as they were when this was made.

    If calls of an earlier check changed a variable, it is as it was before that check.

    Attributes:
        found: the variables.
        caches: functions with a cache.
        clocks: partials that call a clock, as clauses.
    """

    found: list[Variable] = field(factory=list)
    caches: list[Any] = field(factory=list)
    clocks: list[str] = field(factory=list)

    @classmethod
    def of(cls, *roots: Any) -> Variables:
        """Return the variables that functions, or records of functions, can reach."""
        variables = cls()
        for root in roots:
            variables.visit(root, "")
        return variables

    def visit(self, value: Any, name: str, owner: Owner = None) -> None:
        """Follow a value; the cache of a function may hide that a variable decides."""
        if callable(getattr(value, "cache_clear", None)):
            self.caches.append(value)
        if (clock := clock_in(value)) is not None:
            self.clocks.append(f"uses {name}, which calls {clock}()")
        super().visit(value, name, owner)

    def visit_plain(self, value: Any, name: str, text: str, owner: Owner) -> None:
        """Note a variable."""
        try:
            content = copy.deepcopy(value)
        except Exception:  # such as a view of a dictionary, which is a variable itself
            return
        variable = Variable(name, value, text, content, owner)
        self.found.append(_changed_before.get(variable.place, variable))

    def visit_module(self, name: str, file: str | None) -> bool:
        """Return whether a module is followed; its imports change no variables."""
        if file is None:
            return name == "__main__"  # a notebook
        return is_followed(name, Path(file).resolve())

    def changed(self) -> list[Variable]:
        """Return the variables that have changed."""
        changed = [variable for variable in self.found if variable.has_changed]
        _changed_before.update((variable.place, variable) for variable in changed)
        return changed

    @contextmanager
    def as_at_the_start(self) -> Iterator[list[Variable]]:
        """Give all changed variables the values of the start, and restore their values at the end.

        Yields the variables for which that is impossible.
        """
        for cache in self.caches:
            cache.cache_clear()
        changed = [(each, each.now, copy.copy(each.now)) for each in self.changed()]
        try:
            yield [variable for variable, _, _ in changed if not variable.begin_anew()]
        finally:
            for variable, value, content in changed:
                variable.put(value, content)
