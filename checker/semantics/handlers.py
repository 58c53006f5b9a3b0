"""Calls of a protocol's functions. The user's code runs here and nowhere else.

A failing call raises a `HandlerError` that names the function and its arguments. A call fails if it
raises an exception other than KeyboardInterrupt, returns something that is not a result, returns a
value that cannot be part of a state, or ends the process. Every engine calls through this module,
so they all accept the same protocols.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from attrs import field, frozen

from antecede.checker.model import LocalState, Message, Packet, Protocol, Step
from antecede.checker.semantics import tracing
from antecede.checker.semantics.reads import calls_users
from antecede.checker.semantics.values import Values, message_in
from antecede.checker.support import interrupts
from antecede.checker.support.alone import alone
from antecede.checker.support.block import CALL, block
from antecede.checker.support.errors import HandlerError, InputError, ProtocolError
from antecede.checker.support.interrupts import repr_of, written
from antecede.checker.support.registry import places_in, shown_place

_OURS = str(Path(__file__).parent.parent)
_LIBRARIES = (
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    "<frozen ",
)
"""The beginnings of the names of files that belong to Python or to installed packages."""
Args: TypeAlias = tuple[object, ...]

LONG = 1.0
"""If an interrupted call took longer than this, in seconds, the message names it."""


@frozen(eq=False)
class CheckedHandlers:
    """A protocol's handlers for one system, with checks of their results.

    Attributes:
        protocol: the protocol.
        actors: the number of actors.
        values: the states, packets and messages met so far.

    Every method raises HandlerError if the handler raised or returned something unusable.
    """

    protocol: Protocol
    actors: int
    values: Values = field(factory=Values)

    def initial(self, actor: int) -> LocalState:
        """Return the initial state of an actor."""
        args = (actor, self.actors)
        state = called(self.protocol, "initial", self.protocol.initial, args)
        try:
            return self.values.kept(state, "the state")
        except ProtocolError as error:
            raise self._unusable("initial", args, error) from None

    def causal_send(self, state: LocalState, message: Message) -> Step:
        """Hand a message over."""
        args = (state, self.values.kept(message, "the message"))
        step = called(self.protocol, "causal_send", self.protocol.causal_send, args)
        return self._checked("causal_send", args, step)

    def receive(self, state: LocalState, src: int, packet: Packet) -> Step:
        """Let a packet reach its actor."""
        args = (state, src, packet)
        step = called(self.protocol, "receive", self.protocol.receive, args)
        return self._checked("receive", args, step)

    def timeout(self, state: LocalState) -> Step | None:
        """Run the timeout of the protocol; None if it does nothing."""
        assert self.protocol.timeout is not None
        step = called(self.protocol, "timeout", self.protocol.timeout, (state,))
        return None if step is None else self._checked("timeout", (state,), step)

    def action(self, name: str, state: LocalState) -> Step | None:
        """Run an action of the protocol; None if it is not enabled."""
        title, action = f"action {name!r}", self.protocol.actions[name]
        step = called(self.protocol, name, action, (state,), title)
        return None if step is None else self._checked(name, (state,), step, title)

    def durable(self, state: LocalState) -> Any:
        """Return what an actor that crashes has on its disk; None if it never recovers."""
        if self.protocol.durable is None:
            return None
        durable = called(self.protocol, "durable", self.protocol.durable, (state,))
        try:
            return self.values.kept(durable, "the durable state")
        except ProtocolError as error:
            raise self._unusable("durable", (state,), error) from None

    def recover(self, actor: int, durable: Any) -> Step:
        """Restart an actor that crashed."""
        assert self.protocol.recover is not None
        args = (actor, self.actors, durable)
        step = called(self.protocol, "recover", self.protocol.recover, args)
        return self._checked("recover", args, step)

    def in_flight(self, actor: int) -> tuple[tuple[int, Packet], ...]:
        """Return the (destination, packet) pairs in flight from an actor at the start."""
        if self.protocol.in_flight is None:
            return ()
        args = (actor, self.actors)
        sends = called(self.protocol, "in_flight", self.protocol.in_flight, args)
        fault = _fault_of_sends(sends, self.actors, "") or _fault_of_contents(sends)
        if fault is not None:
            raise self._returned("in_flight", args, *fault)
        try:
            return tuple((to, self.values.kept(packet, "a packet")) for to, packet in sends)
        except ProtocolError as error:
            raise self._unusable("in_flight", args, error) from None

    def _checked(self, name: str, args: Args, step: Any, title: str | None = None) -> Step:
        """Return the step, with each value replaced by the equal value that was met first."""
        fault = _fault(step, self.actors)
        if fault is not None:
            raise self._returned(name, args, *fault, title)
        kept = self.values.kept
        try:
            return Step(
                state=kept(step.state, "the state"),
                sends=tuple([(to, kept(packet, "a packet")) for to, packet in step.sends]),
                deliveries=tuple([kept(m, "a delivered message") for m in step.deliveries]),
            )
        except ProtocolError as error:
            raise self._unusable(name, args, error, title) from None

    def _unusable(
        self, name: str, args: Args, error: ProtocolError, title: str | None = None
    ) -> HandlerError:
        fault, _, advice = str(error).rpartition("; ")
        what = f"what cannot be used: {fault or advice}"
        return self._returned(name, args, what, advice if fault else "", title)

    def _returned(
        self, name: str, args: Args, fault: str, advice: str, title: str | None = None
    ) -> HandlerError:
        what, call = owned(title or name, self.protocol), written(name, args)
        place = _definition(self.protocol.actions.get(name) or getattr(self.protocol, name, None))
        return HandlerError(f"{what} returned {fault}", advice, call, place)


def owned(title: str, protocol: Protocol) -> str:
    """Return the title of a function with the name of its protocol.

    Properties belong to no protocol, unless the protocol declares them (then they have another
    title, such as "invariant 'NAME'").
    """
    return (
        title
        if title.startswith(("property ", "bound "))
        else f"{title} of protocol {protocol.name!r}"
    )


def truth_of(title: str, answer: Any) -> bool:
    """Return whether the answer of a predicate is true.

    Raises:
        HandlerError: it is an iterator or a function, and so always true.
    """
    if isinstance(answer, Iterator | Awaitable) or callable(answer):
        raise HandlerError(
            f"{title} returned {type(answer).__name__!r}, which is always true",
            "return True or False, for example all(…) of a generator",
        )
    return bool(answer)


def answer_of(protocol: Protocol, name: str, predicate: Callable[[Any], Any], thing: Any) -> bool:
    """Return whether the predicate of a property is true of a thing that is no state.

    Raises:
        InputError: the predicate raised, or returned something that is always true.
    """
    title = f"property {name!r}"
    try:
        return truth_of(title, called(protocol, name, predicate, (thing,), title))
    except HandlerError as error:
        cause = error.__cause__
        if cause is None:
            raise
        call = written("the predicate", (thing,))
        raise InputError(
            f"the predicate of the property {name!r} raised {in_words(cause)}; it was "
            f"called as {call}; correct it so that it returns True or False"
        ) from cause


@calls_users
def called(
    protocol: Protocol,
    name: str,
    function: Callable[..., Any],
    args: Args,
    title: str | None = None,
) -> Any:
    """Call a protocol's function, with its standard output redirected to standard error.

    Args:
        protocol: the protocol that the function belongs to.
        name: the function's name, for errors.
        function: the function.
        args: its positional arguments.
        title: a description of the function for errors; by default its name.

    Raises:
        HandlerError: the function raised.
        KeyboardInterrupt: the user interrupted; if the call took long, a note names it.
    """
    began, before = time.monotonic(), block.numbers[CALL]
    if began > interrupts.deadline.due:
        interrupts.deadline.overdue()
    key = protocol.name, name, title
    if (known := _names.get(key)) is None:
        what = owned(title or name, protocol)
        known = _names[key] = what, block.name(what)
    works = interrupts.begin((began, known[0], name, args), known[1])
    stdout = sys.stdout
    redirects = stdout is not sys.stderr  # see streams.printing_to_stderr
    if redirects:
        sys.stdout = sys.stderr
    try:
        if tracing.current is None:
            result = function(*args)
        else:
            with tracing.current.tracing():
                result = function(*args)
        if interrupts.was_interrupted():  # the function has caught the interruption
            raise interrupts.again()
        return result
    except ProtocolError:
        raise
    except KeyboardInterrupt as interruption:
        # A call may be made through another checked call, which has named it then.
        is_named = bool(getattr(interruption, "__notes__", ()))
        if time.monotonic() - began > LONG and not is_named:
            interruption.add_note(interrupts.unfinished(works[-1]))
        raise
    except BaseException as error:
        if interrupts.is_cause_of(error):
            raise interrupts.again() from None
        if isinstance(error, RecursionError) and not _line(error):
            raise  # our comparison of a value that is nested too deeply
        fault, call = f"{known[0]} raised {_shown(error)}", written(name, args)
        raise HandlerError(fault, call=call, place=_line(error)) from error
    finally:
        if _copied:
            end_copy()
        if redirects:
            sys.stdout = stdout
        interrupts.end(works, before)


_names: dict[tuple[str, str, str | None], tuple[str, float]] = {}
"""For each function that was called, what it is in words, and the index of these in the block."""

_copied: list[int] = []
"""Not empty in a process that a function of the user, called in another process, has forked."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _copied.extend([1] * bool(interrupts.works())))


def end_copy() -> None:
    """End this process if a function of the user has forked it."""
    if _copied:
        os._exit(0 if sys.exc_info()[0] is None else 1)


def in_words(error: BaseException) -> str:
    """Return the class of an exception, its text, and the last line of the user's code in it."""
    line = _line(error)
    return f"{_shown(error)} ({line})" if line else _shown(error)


def _shown(error: BaseException) -> str:
    """Return the class of an exception with its text, which the user's code may fail to make."""
    name = type(error).__name__
    try:
        return f"{name}: {error}" if str(error) else name
    except BaseException as failure:
        if interrupts.is_cause_of(failure):
            raise
        return f"{name}, whose text raised {type(failure).__name__}"


def _line(error: BaseException) -> str:
    """Return the last line of the traceback in the user's code, in words.

    An error may be raised further on, in a library that this code calls.
    """
    theirs = [place for place in places_in(error) if _is_theirs(place[0])]
    own = [place for place in theirs if not place[0].startswith(_LIBRARIES)]
    if not theirs:
        return ""
    file, line = (own or theirs)[-1]
    return f"line {line} of {shown_place(file)}"


def _definition(function: Any) -> str:
    """Return where a function is defined, in words; "" if it is not Python code of the user."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    if code is None or not _is_theirs(code.co_filename):
        return ""
    return f"line {code.co_firstlineno} of {shown_place(code.co_filename)}"


def failure_of_value(error: Exception) -> str | None:
    """Return a sentence about an exception that code of the user raised outside a handler, or None.

    A value of a protocol has such code, for example its `__repr__`.
    """
    codes = [place for place in places_in(error) if not place[0].startswith((*_LIBRARIES, "<"))]
    if not codes or not _is_theirs(codes[-1][0]):
        return None
    file, line = codes[-1]
    return (
        f"line {line} of {shown_place(file)} raised {_shown(error)}, when antecede looked at a "
        "value of the protocol; correct it"
    )


def traceback_of(failure: HandlerError) -> str:
    """Return the traceback of the exception in a handler, without frames of the checker, or ""."""
    if failure.__cause__ is None:
        return ""
    with alone:  # it reads source lines, and parses them
        told = traceback.TracebackException.from_exception(failure.__cause__)
        frames = [frame for frame in told.stack if _is_theirs(frame.filename)]
        told.stack = traceback.StackSummary.from_list(frames)
        return "".join(told.format()).rstrip()


def _is_theirs(file: str) -> bool:
    return not file.startswith(_OURS + os.sep)


Fault: TypeAlias = tuple[str, str]
"""A description of what is wrong with a result, and what to do instead."""


def _fault(step: Any, actors: int) -> Fault | None:
    """Return the fault in a handler's result, or None if it has none."""
    if not isinstance(step, Step):
        hint = ", Step(state) where nothing happens" if step is None else ""
        return repr_of(step), f"it must return a Step{hint}"
    return _fault_of_sends(step.sends, actors) or _fault_of_deliveries(step.deliveries)


def _fault_of_contents(sends: Any) -> Fault | None:
    """Return the fault of the first packet that cannot be in flight at the start, or None."""
    for _, packet in sends:
        if (message := message_in(packet)) is not None:
            held = f"{repr_of(packet)}, which holds {repr_of(message)}"
            return held, "no actor has sent it at the start"
    return None


def _fault_of_sends(sends: Any, actors: int, what: str = "sends=") -> Fault | None:
    if not isinstance(sends, tuple):
        wanted = "give a tuple of (destination, packet) pairs, () for none"
        return f"{what}{repr_of(sends)}", wanted
    for send in sends:
        if not isinstance(send, tuple) or len(send) != 2:
            hint = ""
            if len(sends) == 2 and type(sends[0]) is int:
                hint = f"a single pair needs a comma after it: {what}((destination, packet),)"
            return f"the send {repr_of(send)}, which is no (destination, packet) pair", hint
        if type(send[0]) is not int or send[0] not in range(actors):
            wanted = f"a destination from 0 to {actors - 1}, an int"
            return f"the send {repr_of(send)}", f"give (destination, packet) with {wanted}"
    return None


def _fault_of_deliveries(deliveries: Any) -> Fault | None:
    given = f"deliveries={repr_of(deliveries)}"
    if isinstance(deliveries, Message):
        one = "A single one needs a comma after it: deliveries=(message,)"
        return f"{given}, a message", f"give a tuple of messages. {one}"
    if not isinstance(deliveries, tuple):
        return given, "give a tuple of messages, () for none"
    for message in deliveries:
        if not isinstance(message, Message):
            wanted = "deliver the message that the packet carries"
            return f"the delivery {repr_of(message)}, which is no Message", wanted
    return None
