"""Calls of a protocol's functions. The user's code runs here and nowhere else.

A failing call raises a `HandlerError` that names the function and its arguments. A call fails if it
raises an exception other than KeyboardInterrupt, returns something that is not a result, returns a
value that cannot be part of a state, or ends the process. Every engine calls through this module,
so they all accept the same protocols.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from attrs import define, field, frozen

from antecede.checker.model import LocalState, Message, Packet, Protocol, Step
from antecede.checker.semantics import tracing
from antecede.checker.semantics.values import Values, message_in
from antecede.checker.support import interrupts
from antecede.checker.support.alone import alone
from antecede.checker.support.errors import HandlerError, InputError, ProtocolError
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


@define(eq=False)
class _Call(interrupts.Work):
    """A call of a protocol's function in progress; not frozen, because millions are created."""

    protocol: Protocol
    name: str
    args: Args
    started: float
    title: str | None = None

    @property
    def what(self) -> str:
        """The name of the function and, if the protocol defines it, of its protocol."""
        return owned(self.title or self.name, self.protocol)

    def unfinished(self) -> str:
        """Return a clause that names the call, and says how long it has taken."""
        seconds = time.monotonic() - self.started
        return f"{self.what} had not returned after {seconds:.0f} seconds; it was called as {self}"

    def hanging(self) -> str:
        """Return a sentence that names the call."""
        seconds = time.monotonic() - self.started
        return f"{self.what} has not returned after {seconds:.0f} seconds; it was called as {self}"

    def __str__(self) -> str:
        """Return the call as Python source."""
        try:
            return f"{self.name}({', '.join(map(repr, self.args))})"
        except Unknown:
            return f"{self.name}(a delivery)"


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
            raise self._returned("in_flight", args, fault)
        try:
            return tuple((to, self.values.kept(packet, "a packet")) for to, packet in sends)
        except ProtocolError as error:
            raise self._unusable("in_flight", args, error) from None

    def _checked(self, name: str, args: Args, step: Any, title: str | None = None) -> Step:
        """Return the step, with each value replaced by the equal value that was met first."""
        fault = _fault(step, self.actors)
        if fault is not None:
            raise self._returned(name, args, fault, title)
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
        return self._returned(name, args, f"what cannot be used: {error}", title)

    def _returned(
        self, name: str, args: Args, fault: str, title: str | None = None
    ) -> HandlerError:
        call = _Call(self.protocol, name, args, 0.0, title)
        return HandlerError(f"{call.what} returned {fault}; it was called as {call}")


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
            f"{title} returned {type(answer).__name__!r}, which is always true; return True or "
            "False, for example all(…) of a generator"
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
        call = _Call(protocol, "the predicate", (thing,), 0.0)
        raise InputError(
            f"the predicate of the property {name!r} raised {_shown(cause)}{_line(cause)}; it was "
            f"called as {call}; correct it so that it returns True or False"
        ) from cause


class Unknown(BaseException):
    """A predicate asks for something that a `Glimpse` of a delivery lacks.

    It is no `Exception`, so that a predicate that catches exceptions does not hide its question.
    """


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
    call = _Call(protocol, name, args, time.monotonic(), title)
    works = interrupts.works()
    works.append(call)
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
    except (ProtocolError, Unknown):
        raise
    except KeyboardInterrupt as interruption:
        # A call may be made through another checked call, which has named it then.
        is_named = bool(getattr(interruption, "__notes__", ()))
        if time.monotonic() - call.started > LONG and not is_named:
            interruption.add_note(call.unfinished())
        raise
    except BaseException as error:
        if interrupts.is_cause_of(error):
            raise interrupts.again() from None
        raise HandlerError(_raised(call, error)) from error
    finally:
        if redirects:
            sys.stdout = stdout
        works.remove(call)


def _raised(call: _Call, error: BaseException) -> str:
    return f"{call.what} raised {_shown(error)}{_line(error)}; it was called as {call}"


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _line(error: BaseException) -> str:
    """Return the last line of the traceback in the user's code, as a part of a sentence.

    An error may be raised further on, in a library that this code calls.
    """
    theirs = [place for place in places_in(error) if _is_theirs(place[0])]
    own = [place for place in theirs if not place[0].startswith(_LIBRARIES)]
    if not theirs:
        return ""
    file, line = (own or theirs)[-1]
    return f" (line {line} of {shown_place(file)})"


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


def _fault(step: Any, actors: int) -> str | None:
    """Return a description of the fault in a handler's result, or None if it has none."""
    if not isinstance(step, Step):
        hint = ", Step(state) where nothing happens" if step is None else ""
        return f"{step!r}; it must return a Step{hint}"
    return _fault_of_sends(step.sends, actors) or _fault_of_deliveries(step.deliveries)


def _fault_of_contents(sends: Any) -> str | None:
    """Return a description of the first packet that cannot be in flight at the start, or None."""
    for _, packet in sends:
        if (message := message_in(packet)) is not None:
            return f"{packet!r}, which holds {message!r}; no actor has causal-sent it at the start"
    return None


def _fault_of_sends(sends: Any, actors: int, what: str = "sends=") -> str | None:
    if not isinstance(sends, tuple):
        return f"{what}{sends!r}; give a tuple of (destination, packet) pairs, () for none"
    for send in sends:
        if not isinstance(send, tuple) or len(send) != 2:
            hint = ""
            if len(sends) == 2 and type(sends[0]) is int:
                hint = f"; a single pair needs a comma after it: {what}((destination, packet),)"
            return f"the send {send!r}, which is no (destination, packet) pair{hint}"
        if type(send[0]) is not int or send[0] not in range(actors):
            return (
                f"the send {send!r}; give (destination, packet) with a destination from 0 to "
                f"{actors - 1}, an int"
            )
    return None


def _fault_of_deliveries(deliveries: Any) -> str | None:
    if isinstance(deliveries, Message):
        return (
            f"deliveries={deliveries!r}, a message; give a tuple of messages. A single one needs a "
            "comma after it: deliveries=(message,)"
        )
    if not isinstance(deliveries, tuple):
        return f"deliveries={deliveries!r}; give a tuple of messages, () for none"
    for message in deliveries:
        if not isinstance(message, Message):
            hint = "; deliver the message that the packet carries"
            return f"the delivery {message!r}, which is no Message{hint}"
    return None


_exit_process = os._exit


def _exit(status: int) -> Any:
    """End the process, but raise if a protocol's function is the caller."""
    ours = str(sys._getframe(1).f_globals.get("__name__")).startswith("antecede.checker.")
    if interrupts.under_way and not ours and threading.current_thread() is threading.main_thread():
        raise SystemExit(f"os._exit({status})")
    _exit_process(status)


def keep_running() -> None:
    """Make `os._exit` in a protocol's function an error of that function.

    Otherwise the process would end silently, with an exit code chosen by the function. A signal or
    a crash of the interpreter needs no such care, because its exit code is not 0.
    """
    os._exit = _exit
