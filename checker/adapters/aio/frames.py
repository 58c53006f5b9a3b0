"""What a suspended coroutine or generator will read: live local variables and its stack.

A variable is live at an instruction if some path from there reads it before writing it. Python
keeps the others, too, but they decide nothing, and would multiply the states.
"""

from __future__ import annotations

import dis
import functools
import gc
import sys
from types import CodeType, FrameType, FunctionType
from typing import Any

from attrs import frozen

from antecede.checker.support.errors import ProtocolError

LATEST = (3, 13)
"""The latest version of CPython whose stacks `gc` shows completely; later ones tag references."""

_END = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD",
        "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "INTERPRETER_EXIT")  # fmt: skip
_WRITE = ("STORE_FAST", "STORE_FAST_STORE_FAST")
_READ_ALL = {"locals", "vars", "dir", "eval", "exec", "super", "_getframe", "currentframe"}
"""Names of functions that may read any variable of their caller."""


@frozen
class _Instruction:
    after: tuple[int, ...]
    reads: frozenset[str]
    writes: frozenset[str]


def check_version() -> None:
    """Refuse an interpreter whose stacks cannot be seen.

    Raises:
        ProtocolError: it is one.
    """
    if sys.implementation.name != "cpython" or sys.version_info[:2] > LATEST:
        raise ProtocolError(
            f"antecede can look into suspended coroutines of CPython up to {LATEST[0]}.{LATEST[1]} "
            f"only; this is {sys.implementation.name} {sys.version.split()[0]}. Let the adapter "
            "have a method state(self) that returns everything that decides what the node does"
        )


def contents(
    suspended: Any, frame: FrameType, code: CodeType
) -> tuple[list[tuple[str, Any]], list[Any]]:
    """Return the live variables of a suspended coroutine or generator, and its stack."""
    values, live = frame.f_locals, live_at(code, frame.f_lasti)
    variables = [(name, values[name]) for name in sorted(values) if name in live]
    return variables, _stack(suspended, frame, code, values)


def _stack(suspended: Any, frame: FrameType, code: CodeType, values: Any) -> list[Any]:
    """Return the values on the evaluation stack, such as iterators of loops."""
    seen = gc.get_referents(suspended)
    # The frame refers to its function, its code, and then to its variables and its stack.
    pairs = zip(seen, seen[1:], range(1, len(seen)), strict=False)
    start = next((n for f, c, n in pairs if c is code and type(f) is FunctionType), None)
    if start is None:
        raise ProtocolError(f"antecede cannot see the stack of {code.co_qualname}")
    cells = {*code.co_cellvars, *code.co_freevars}
    slots = sum(name in values or name in cells for name in code.co_varnames)
    slots += len(cells.difference(code.co_varnames))
    stack = [each for each in seen[start + 1 + slots :] if each is not values and each is not frame]
    while stack and stack[-1] is None:  # no exception is being handled
        stack.pop()
    return stack


@functools.cache
def live_at(code: CodeType, place: int) -> frozenset[str]:
    """Return the variables that code may read after the instruction at `place`."""
    cells = {*code.co_cellvars, *code.co_freevars}
    flow, live = _flow(code)
    if place not in flow or _READ_ALL.intersection(code.co_names):
        return frozenset(code.co_varnames) | cells
    return frozenset(cells).union(*(live.get(each, frozenset()) for each in flow[place].after))


@functools.cache
def _flow(code: CodeType) -> tuple[dict[int, _Instruction], dict[int, frozenset[str]]]:
    """Return the instructions of code, and the variables that are live before each of them."""
    flow = _instructions(code)
    live: dict[int, frozenset[str]] = dict.fromkeys(flow, frozenset())
    changed = True
    while changed:
        changed = False
        for place in sorted(flow, reverse=True):
            each = flow[place]
            later = frozenset[str]().union(*(live.get(a, frozenset()) for a in each.after))
            before = each.reads | (later - each.writes)
            changed |= before != live[place]
            live[place] = before
    return flow, live


def _instructions(code: CodeType) -> dict[int, _Instruction]:
    instructions = list(dis.get_instructions(code))
    handlers: Any = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    flow = {}
    for n, each in enumerate(instructions):
        after = [h.target for h in handlers if h.start <= each.offset < h.end]
        if each.opname not in _END and n + 1 < len(instructions):
            after.append(instructions[n + 1].offset)
        if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
            after.append(each.argval)
        names: frozenset[str] = frozenset()
        if any(part in each.opname for part in ("_FAST", "_CLOSURE", "_DEREF")):
            names = frozenset(each.argval if isinstance(each.argval, tuple) else (each.argval,))
        writes = each.opname in _WRITE
        flow[each.offset] = _Instruction(
            tuple(after), frozenset() if writes else names, names if writes else frozenset()
        )
    return flow
