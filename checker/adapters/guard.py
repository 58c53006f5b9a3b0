"""Runs a program, and ends it with all processes that it started when the checker is gone.

    python -I -S guard.py CONTROL MARK PROGRAM ARGUMENT...

CONTROL is the descriptor of a socket to the checker. The guard writes a line to it: `started`, or
the reason why the program cannot be started. The guard ends the program when the other end of the
socket is closed. The system closes it however the checker ends. The program may end by itself
first, because its standard input is closed, too. A byte on the socket ends the program at once. The
guard ends after the program, with its exit code, or 128 plus the number of its signal.

The program's processes are its process group and, on Linux, every process with MARK in its
environment. This file uses only the standard library, so that it starts quickly.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time

NAME = "ANTECEDE_PROGRAM"
"""The environment variable that has the mark."""

GRACE = 1.0
"""Seconds that a program may take to end by itself when its standard input is closed."""

ROUNDS = 200
"""The most searches for remaining processes, because these may start others meanwhile."""


def main(control: int, mark: str, command: list[str]) -> int:
    """Run the program until it ends or must end; return its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # unlike SIG_IGN, the program does not inherit it
    checker = socket.socket(fileno=control)
    try:
        program = subprocess.Popen(command, env={**os.environ, NAME: mark}, start_new_session=True)
    except (OSError, ValueError) as error:
        tell(checker, getattr(error, "strerror", None) or str(error))
        return 1
    tell(checker, "started")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # so that the checker notices when the program closes them
        os.dup2(null, descriptor)
    watch = threading.Thread(target=wake_at_end, args=(program, checker), daemon=True)
    watch.start()
    if not received(checker):
        watch.join(GRACE)
    end(program.pid, f"{NAME}={mark}".encode())
    code = program.wait()
    return code if code >= 0 else 128 - code


def tell(checker: socket.socket, line: str) -> None:
    """Write a line to the checker, if it still exists."""
    with contextlib.suppress(OSError):
        checker.sendall(f"{line}\n".encode())


def received(checker: socket.socket) -> bytes:
    """Return a byte from the checker; nothing if the checker or the program has ended."""
    with contextlib.suppress(OSError):
        return checker.recv(1)
    return b""


def wake_at_end(program: subprocess.Popen[bytes], checker: socket.socket) -> None:
    """Wake the guard when the program ends. The program stays a zombie, which keeps its number."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
    else:  # Python before 3.13 on macOS; its process group keeps the number while it has processes
        program.wait()
    with contextlib.suppress(OSError):
        checker.shutdown(socket.SHUT_RD)


def end(group: int, mark: bytes) -> None:
    """Kill a process group, and the processes with a mark until none is left."""
    for _ in range(ROUNDS):
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
        marked = list(processes(mark))
        for pid in marked:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not marked:
            return
        time.sleep(0.01)


def processes(mark: bytes) -> list[int]:
    """Return the processes with a mark in their environment; empty if the system hides it."""
    pids = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            if name.isdigit():
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        pids.append(int(name))
    return pids


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
