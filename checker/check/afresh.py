"""Repeats calls of handlers in new processes, where no handler has been called before.

The interpreter that does so is started once, and it imports antecede, but none of the user's code.
For each check it forks. While the search runs, the fork imports the protocol by the name or file in
the spec. If a program gave the protocol as an object, the fork gets a pickle of it, as it was at
the start of the check. After the search it receives calls in groups, and forks for each group. So a
group meets no memory of the search, wherever the handlers may keep it. It runs in an empty folder,
with the environment of the start.
"""

from __future__ import annotations

import atexit
import gc
import io
import math
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attrs import define, evolve

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol
from antecede.checker.purity.selfcheck import Asked, text_afresh
from antecede.checker.support import interrupts
from antecede.checker.support.registry import (
    PIPE,
    is_as_shipped,
    is_object,
    modules_of_program,
    protocol_named,
    with_code,
)

if TYPE_CHECKING:
    import subprocess
    from multiprocessing.connection import Connection

# Few checks start processes, so the modules for that are imported where one is started.

PATIENCE = 10.0
"""Seconds that a check waits for the repeated calls, besides the time that its checks took."""

LONGEST_IMPORT = 600
"""Seconds after which an import ends itself, in case the check has ended already."""


class Impossible(Exception):
    """The calls cannot be repeated; the text says why."""


@define(eq=False)
class Afresh:
    """Repeats the calls of one check.

    Attributes:
        server: the interpreter that forks; None if the calls cannot be repeated.
        outcome: the number of repeated calls in words, or why none was repeated.
        code: the pickle of the protocol; None if the spec names it.
    """

    server: _Server | None
    outcome: str = "no calls were repeated"
    code: bytes | None = None

    def __call__(self, groups: Sequence[Sequence[Asked]], seconds: float) -> list[list[str | None]]:
        """Make the calls, each group in a process of its own. This can be done once.

        Args:
            groups: (name of the function, arguments) of each call.
            seconds: the most time to wait, besides PATIENCE.

        Returns:
            The texts of their outcomes; None for calls that could not be repeated.
        """
        server, self.server = self.server, None
        unknown: list[list[str | None]] = [[None] * len(group) for group in groups]
        if server is None:
            return unknown
        try:
            with _new_folder() as folder, _ended_if_broken(server):
                _refuse(server.answer(PATIENCE + seconds))
                sent = [list(map(_pickled, group)) for group in groups]
                server.send((sent, math.ceil(PATIENCE + seconds), folder))
                answers = server.answer(PATIENCE + seconds)
            _idle.append(server)
            _refuse(answers)
        except Impossible as error:
            self.outcome = f"no: {error}"
            return unknown
        repeated = sum(text is not None for texts in answers for text in texts)
        self.outcome = f"{repeated:,} calls" if repeated else "no: no arguments can be pickled"
        return answers  # type: ignore[no-any-return]


@contextmanager
def _new_folder() -> Iterator[str]:
    """Make a folder for the repeated calls; it is also removed if this process is killed."""
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="antecede-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _refuse(answer: Any) -> None:
    """Raise Impossible if an answer is a reason."""
    if isinstance(answer, str):
        raise Impossible(answer)


def _pickled(asked: Asked) -> tuple[str, bytes | None]:
    """Return a call to be sent; None in the place of arguments that cannot be pickled."""
    name, args = asked
    file = io.BytesIO()
    try:
        _Pickler(file).dump(args)
    except Exception:
        return name, None
    return name, file.getvalue()


_clean: dict[bytes, bytes] = {}
"""The pickle of an object after a check that changed variables -> the one before that check.

If nothing else has changed since then, the next check of the object begins with the variables that
the program gave it. So what the first check left in them is noticed.
"""


class _Pickler(pickle.Pickler):
    """Pickles values; the ones that stand for kept objects with the objects."""

    def reducer_override(self, value: Any) -> Any:
        """Return how to make a value in another process."""
        return value.__moved__() if hasattr(type(value), "__moved__") else NotImplemented


@contextmanager
def afresh(spec: Spec, given: Protocol | None = None, *, selfcheck: str = "on") -> Iterator[Afresh]:
    """Prepare to repeat calls of the protocol of a spec. Call this before any of its functions.

    Args:
        given: the protocol if a program gave it as an object; None if the spec names it.
        selfcheck: `all` also repeats the calls of protocols that come with antecede.
    """
    if given is None and is_object(spec.protocol):
        given = protocol_named(spec.protocol)
    again = _begun(spec, given, selfcheck=selfcheck)
    try:
        yield again
    finally:
        if again.server is not None:
            again.server.end()
        if again.code is not None:
            with suppress(Exception):  # what a handler left behind cannot be pickled
                if (after := with_code(given, whole=True)) != again.code:
                    _clean[after] = again.code


def _begun(spec: Spec, given: Protocol | None, *, selfcheck: str) -> Afresh:
    if spec.protocol.startswith(PIPE):
        return Afresh(None, "no: the protocol is a program")
    if selfcheck != "all" and _is_as_shipped(spec.protocol, given):
        return Afresh(None, "no: the protocol comes with antecede, whose tests do it")
    if not hasattr(os, "fork"):
        return Afresh(None, "no: this system cannot copy a running process (fork)")
    try:
        code = None if given is None else with_code(given, whole=True)
        code = code and _clean.pop(code, code)
        server = _idle.pop() if _idle else _Server.started()
        with _ended_if_broken(server):
            server.send(
                (
                    evolve(spec),
                    code,
                    {"__main__", *(module.__name__ for module in modules_of_program())},
                    list(sys.argv),
                    list(sys.path),
                    os.getcwd(),
                    dict(os.environ),
                )
            )
    except Exception as error:
        return Afresh(None, f"no: {error}")
    return Afresh(server, code=code)


def _is_as_shipped(name: str, given: Protocol | None) -> bool:
    return is_as_shipped(name) and (given is None or given is protocol_named(name))


_SERVE = f"from {__name__} import main; main()"
"""The program of the other interpreter. Its `__main__` is empty, for the classes of ours."""


@define(eq=False)
class _Server:
    """An interpreter that forks for each check."""

    process: subprocess.Popen[bytes]
    link: Connection

    @classmethod
    def started(cls) -> _Server:
        """Start one; Ctrl-C here does not end it."""
        import subprocess
        from multiprocessing import Pipe

        ours, theirs = Pipe()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        return cls(process, ours)

    def send(self, thing: Any) -> None:
        """Send a value."""
        self.link.send(thing)

    def answer(self, seconds: float) -> Any:
        """Return the next answer.

        Raises:
            Impossible: it takes too long, or the user interrupts.
        """
        until = time.monotonic() + seconds
        while not self.link.poll(0.05):
            if time.monotonic() > until:
                raise Impossible(f"it took more than {seconds:.0f} seconds")
            if (reason := interrupts.wanted()) is not None:
                raise Impossible(reason)
        return self.link.recv()

    def end(self) -> None:
        """End the interpreter and its forks."""
        self.link.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


_idle: list[_Server] = []
"""The interpreters that have nothing to do."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end()


@contextmanager
def _ended_if_broken(server: _Server) -> Iterator[None]:
    """End an interpreter if this block cannot finish with it.

    Raises:
        Impossible: it has ended.
    """
    try:
        yield
    except (OSError, EOFError) as error:
        server.end()
        raise Impossible("the process ended early") from error
    except BaseException:
        server.end()
        raise


# The rest runs in the other interpreter.


def serve(link: Connection) -> None:
    """Fork for each check, until the other end of the link is closed."""
    while True:
        try:
            task = link.recv_bytes()
        except EOFError:
            return
        if os.waitpid(_forked(partial(_repeat, link, task), LONGEST_IMPORT), 0)[1] != 0:
            return


def _forked(work: Callable[[], None], seconds: int) -> int:
    """Do some work in a fork, which ends after some seconds; return its process id."""
    if child := os.fork():
        return child
    code = 1
    with suppress(BaseException):
        signal.alarm(seconds)
        work()
        code = 0
    os._exit(code)


def _repeat(link: Connection, task: bytes) -> None:
    """Import the protocol of a check, and make the calls that arrive."""
    try:
        protocol = _protocol(task)
    except BaseException as error:
        link.send(f"the import raised {type(error).__name__}: {error}")
        return
    signal.alarm(0)  # the search may take long
    link.send(True)
    groups, seconds, folder = link.recv()
    folders = [os.path.join(folder, str(number)) for number in range(len(groups))]
    try:
        asked = zip(groups, folders, strict=True)
        link.send([_in_a_fork(protocol, *each, seconds) for each in asked])
    except EOFError:
        link.send("a repeated call ended the process")


def _protocol(task: bytes) -> Protocol:
    """Return the protocol of a spec, imported as the check imported it."""
    spec, code, own, sys.argv[:], sys.path[:], folder, environment = pickle.loads(task)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if code is None:
        return system_of(spec).protocol
    protocol = pickle.loads(code)
    _know_the_classes_of(own)
    return protocol  # type: ignore[no-any-return]


def _know_the_classes_of(modules: Collection[str]) -> None:
    """Let the names of classes that came in a pickle lead to them.

    An import would make other classes of these names, of which no object of the protocol is.

    Args:
        modules: the names of the modules whose classes came by value.
    """
    for each in gc.get_objects():
        if isinstance(each, type) and each.__module__ in modules:
            module = sys.modules.setdefault(each.__module__, ModuleType(each.__module__))
            setattr(module, each.__name__, each)


def _in_a_fork(
    protocol: Protocol, group: list[tuple[str, bytes | None]], folder: str, seconds: int
) -> list[str | None]:
    """Make some calls in a process of their own, in a new folder."""
    from multiprocessing import Pipe

    ours, theirs = Pipe(duplex=False)
    os.mkdir(folder)

    def work() -> None:
        os.chdir(folder)
        theirs.send([_text(protocol, *call) for call in group])

    child = _forked(work, seconds)
    theirs.close()
    try:
        texts: list[str | None] = ours.recv()
    finally:
        ours.close()
        os.waitpid(child, 0)
    return texts


def _text(protocol: Protocol, name: str, args: bytes | None) -> str | None:
    """Return the text of the outcome of a call, or None if its arguments cannot be read."""
    try:
        given = None if args is None else pickle.loads(args)
    except Exception:
        return None
    return None if given is None else text_afresh(protocol, name, given)


def main() -> None:
    """Serve the check whose end of a pipe is the argument of the command."""
    from multiprocessing.connection import Connection

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(Connection(int(sys.argv[1])))
