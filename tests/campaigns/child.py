"""A program for `antecede test pipe:` that answers well, until it shows a bad habit.

    python child.py HABIT QUESTION

From the QUESTION-th question on it behaves as HABITS says. At the first question it writes the time
to the file `asked`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

SLEEPER = "import signal, time\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"
SLEEPER += "while True: time.sleep(60)"


def hang() -> NoReturn:
    while True:
        time.sleep(60)


def ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def write_without_end(piece: bytes) -> NoReturn:
    while True:
        os.write(1, piece)


def start_sleeper(**how: Any) -> None:
    subprocess.Popen([sys.executable, "-S", "-c", SLEEPER], **how)


def start_daemon() -> None:
    """Start a sleeper in a session of its own, whose parent is gone."""
    start = "import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', sys.argv[1]])"
    subprocess.run([sys.executable, "-c", start, SLEEPER], start_new_session=True, check=True)


def write(answer: object) -> None:
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)


HABITS: dict[str, tuple[Callable[[], object], ...]] = {
    "hangs": (hang,),
    "ignores signals": (ignore_signals, hang),
    "stops": (lambda: os.kill(os.getpid(), signal.SIGSTOP), hang),
    "ends": (lambda: os._exit(3),),
    "is killed": (lambda: os.kill(os.getpid(), signal.SIGKILL),),
    "closes its output": (lambda: os.close(1), hang),
    "closes its input": (lambda: os.close(0), hang),
    "writes a line without end": (lambda: write_without_end(b"x" * 4096),),
    "writes lines without end": (lambda: write_without_end(b"{}\n" * 999),),
    "writes text": (lambda: write("Listening on port 3000"), hang),
    "writes no UTF-8": (lambda: os.write(1, b'{"\xff": 1}\n'), hang),
    "writes no number": (lambda: write('{"sends": [{"to": 1, "packet": NaN}]}'),),
    "writes brackets": (lambda: write("[" * 100_000),),
    "writes a long line": (lambda: write({"error": "x" * 20_000_000}),),
    "answers twice": (lambda: write("{}\n{}"),),
    "misspells a key": (),
    "is slow": (lambda: time.sleep(0.05),),
    "starts another": (start_sleeper, hang),
    "starts another and ends": (start_sleeper, lambda: os._exit(0)),
    "starts a job": (lambda: start_sleeper(process_group=0), hang),
    "starts a daemon": (start_daemon, hang),
    "starts a daemon and ends": (start_daemon, lambda: os._exit(0)),
}


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return what a program answers that delivers on arrival."""
    message = question.get("message")
    if message is not None:
        return {"sends": [{"to": to, "packet": message} for to in message["to"]]}
    return {"deliveries": [question["packet"]]} if question["do"] == "receive" else {}


def main(habit: str, since: int) -> None:
    """Answer questions."""
    for number, line in enumerate(iter(sys.stdin.readline, ""), 1):
        if number == 1 and not Path("asked").exists():
            Path("asked").write_text(f"{time.monotonic()}")
        if number >= since:
            for act in HABITS[habit]:
                act()
        reply = answer(json.loads(line))
        if habit == "misspells a key" and number >= since:
            reply = {key.replace("ies", "ys"): value for key, value in reply.items()}
        write(reply)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main(sys.argv[1], int(sys.argv[2]))
    os._exit(1)
