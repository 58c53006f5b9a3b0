"""A few numbers and texts that a process shares with the one that supervises it.

The process writes what it does, and its supervisor reads it from outside, even if the process hangs
or has died. Without a supervisor nobody reads. The block is plain memory: `supervisor.supervised`
and `sweep.processes` replace it by memory that two processes share.
"""

from __future__ import annotations

from array import array
from typing import Any

DONE, CONCLUDED, NOTICED, VITAL, ASKED, UNTIL, MOST, CALL, BEGAN, NAMES, SPARES, PROCESS = range(12)
"""The numbers:

- DONE: the exit code + 1, once the command has ended by itself.
- CONCLUDED: the verdict is known, and no limit ends the process any more.
- NOTICED: the request to end was noticed, so its work ends in its own time.
- VITAL: the process must finish something first.
- ASKED: written by the supervisor: ASKS or INSISTS.
- UNTIL, MOST: the limits of the present work, on the monotonic clock and in bytes; 0: none.
- CALL, BEGAN: which name has the present call of a function of the user, and when it began.
- NAMES: the number of names in use.
- PROCESS: the number of the process.
- SPARES: a browser was opened, so processes in other sessions are not ended with the command.
"""

ASKS, INSISTS = 1.0, 2.0

TIME, MEMORY, DETAIL, FIRST_NAME = range(4)
"""The texts: the reasons if a limit is passed, the present call with its arguments, and names.

CALL is the index of a text; 0 means that no function of the user is called. The first name is used
for all work that is no call of a handler, such as an import.
"""

TEXTS, WIDTH = 64, 512
NUMBERS = 16


class Block:
    """The numbers, as `numbers[DONE]`, and the texts of a process."""

    def __init__(self, numbers: Any = None, texts: Any = None) -> None:
        """Use this memory, by default memory of this process."""
        self.share(numbers or array("d", [0.0] * NUMBERS), texts or bytearray(TEXTS * WIDTH))

    def share(self, numbers: Any, texts: Any) -> None:
        """Use this memory from now on: NUMBERS floats, and TEXTS * WIDTH bytes."""
        self.numbers, self._texts = numbers, texts

    def text(self, index: int) -> str:
        """Return a text."""
        at = index * WIDTH
        return bytes(self._texts[at : at + WIDTH]).rstrip(b"\0").decode(errors="ignore")

    def write(self, index: int, text: str) -> None:
        """Write a text, which is cut to WIDTH bytes."""
        at = index * WIDTH
        self._texts[at : at + WIDTH] = text.encode(errors="replace")[:WIDTH].ljust(WIDTH, b"\0")

    def name(self, text: str) -> float:
        """Return the index of a new name; after many names they share the last one."""
        known = int(self.numbers[NAMES])
        index = min(FIRST_NAME + 1 + known, TEXTS - 1)
        self.numbers[NAMES] = known + 1
        self.write(index, text if index < TEXTS - 1 else "a function of a protocol")
        return float(index)


block = Block()
"""The block of this process."""
