"""Simulates macOS or Windows on Linux, for the code of antecede and for no other code.

Python imports this file at its start if its folder is in PYTHONPATH, and so do all processes that
the process starts. The environment variable SIMULATED is `macos` or `windows`. Without it, the file
does nothing. The code of antecede then finds the names, modules and files of that system:

* names of modules such as `os` and `signal` are missing, or behave as they do there;
* modules such as `fcntl` cannot be imported;
* there is no /proc;
* on Windows, the default encoding of files differs, so a file that is opened without an encoding is
  an error.

The standard library and other packages are not affected, because they have forms for each system.
"""

from __future__ import annotations

import builtins
import mmap
import os
import select
import signal
import stat
import subprocess
import sys
import warnings
from importlib import import_module
from types import FrameType, ModuleType
from typing import Any

SYSTEM = os.environ.get("SIMULATED")

NOT_ON_MACOS = {
    "os": "P_PID WNOWAIT posix_fadvise posix_fallocate sched_getaffinity waitid",
    "mmap": "MADV_HUGEPAGE MADV_REMOVE MAP_NORESERVE MAP_POPULATE",
    "select": "epoll",
}
NOT_ON_WINDOWS = {
    "os": (
        "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK P_PID WNOWAIT chown fchmod fchown fork "
        "get_blocking getegid geteuid getgid getloadavg getpgid getuid killpg mkfifo nice openpty "
        "posix_fadvise posix_fallocate pread pwrite register_at_fork sched_getaffinity setsid "
        "set_blocking statvfs sync sysconf uname wait wait3 wait4 waitid"
    ),
    "mmap": (
        "MADV_DONTNEED MADV_HUGEPAGE MADV_REMOVE MAP_ANONYMOUS MAP_NORESERVE MAP_POPULATE "
        "MAP_PRIVATE MAP_SHARED PROT_READ PROT_WRITE"
    ),
    "select": "PIPE_BUF epoll poll",
    "signal": (
        "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGURG SIGUSR1 "
        "SIGUSR2 SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm pthread_kill pthread_sigmask setitimer "
        "siginterrupt"
    ),
    "time": "tzset",
}
MODULES_NOT_ON_WINDOWS = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}


def is_ours(scope: dict[str, Any]) -> bool:
    """Return whether these are the variables of a module of antecede."""
    spec = scope.get("__spec__")
    name = str(getattr(spec, "name", None) or scope.get("__name__"))
    return name.partition(".")[0] == "antecede"


class Simulated(ModuleType):
    """A module that has other names if antecede asks for them."""

    def __getattribute__(self, name: str) -> Any:
        """Return a value by its name."""
        if (absent := MISSING.get(SELF(self, "__name__"))) or SELF(self, "__name__") in CHANGED:
            if name in (absent or ()) and is_ours(sys._getframe(1).f_globals):
                raise AttributeError(f"{name!r} is missing on {SYSTEM}")
            changed = CHANGED.get(SELF(self, "__name__"), {})
            if name in changed and is_ours(sys._getframe(1).f_globals):
                return changed[name]
        return SELF(self, name)

    def __reduce__(self) -> Any:
        """Return how another process of Spark gets this module: it imports it."""
        return import_module, (self.__name__,)


SELF = ModuleType.__getattribute__
MISSING: dict[str, set[str]] = {}
CHANGED: dict[str, dict[str, Any]] = {}


class WindowsMap(mmap.mmap):
    """A mapping without the arguments and the method that Windows lacks."""

    def __new__(
        cls, fileno: int, length: int, tagname: str | None = None, access: int = 0, offset: int = 0
    ) -> Any:
        options = {"access": access} if access else {}
        return super().__new__(cls, fileno, length, offset=offset, **options)

    @property
    def madvise(self) -> Any:
        """Raise an error, as for any name that is missing."""
        raise AttributeError("madvise")


class WindowsProgram(subprocess.Popen[Any]):
    """A program that inherits no descriptors."""

    def __init__(self, *args: Any, creationflags: int = 0, **options: Any) -> None:
        """Start it."""
        for name in ("pass_fds", "preexec_fn", "start_new_session"):
            assert not options.get(name), f"{name} is not supported on Windows"
        super().__init__(*args, start_new_session=bool(creationflags & 0x200), **options)


def select_of_sockets(*lists: Any) -> Any:
    """Wait for sockets; nothing else has this on Windows."""
    for each in (each for some in lists[:3] for each in some):
        if not stat.S_ISSOCK(os.fstat(each if isinstance(each, int) else each.fileno()).st_mode):
            raise OSError(10038, "An operation was attempted on something that is not a socket")
    return select.select(*lists)


def set_handler(number: int, handler: Any) -> Any:
    """Set the handler of a signal that Windows knows."""
    known = ("SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIGUSR2")
    if signal.Signals(number).name not in known:
        raise ValueError("signal number out of range")
    return signal.signal(number, handler)


def open_no_folder(path: Any, *args: Any, **options: Any) -> int:
    """Open a file; Windows opens no folders."""
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return os.open(path, *args, **options)


def import_unless_missing(name: str, *args: Any, **options: Any) -> Any:
    """Import a module that Windows has."""
    scope = args[0] if args else options.get("globals")
    if name in MODULES_NOT_ON_WINDOWS and is_ours(scope or {}):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return usual_import(name, *args, **options)


usual_import = builtins.__import__


def refuse_proc(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise an error if antecede itself opens a file in /proc."""
    if event not in ("open", "os.listdir") or not str(arguments[0]).startswith("/proc"):
        return
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("psutil"):
        if is_ours(frame.f_globals):
            raise FileNotFoundError(2, "No such file or directory", arguments[0])
        frame = frame.f_back


def simulate() -> None:
    """Begin to simulate the system."""
    on_windows = SYSTEM == "windows"
    missing = NOT_ON_WINDOWS if on_windows else NOT_ON_MACOS
    MISSING.update({name: set(names.split()) for name, names in missing.items()})
    CHANGED["sys"] = {"platform": "win32" if on_windows else "darwin"}
    if on_windows:
        CHANGED["os"] = {"name": "nt", "open": open_no_folder}
        CHANGED["select"] = {"select": select_of_sockets}
        CHANGED["signal"] = {"SIGBREAK": signal.SIGUSR2, "signal": set_handler}
        CHANGED["mmap"] = {"mmap": WindowsMap}
        CHANGED["subprocess"] = {"Popen": WindowsProgram}
        builtins.__import__ = import_unless_missing
        warnings.filterwarnings("error", category=EncodingWarning, module=r"antecede\b")
    for name in MISSING.keys() | CHANGED.keys():
        usual_import(name).__class__ = Simulated
    sys.addaudithook(refuse_proc)


if SYSTEM:
    simulate()
