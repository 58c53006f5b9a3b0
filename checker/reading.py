"""Reading what a person wrote or a machine damaged: whatever is wrong with it is an InputError."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from antecede.checker.errors import InputError


def text_in(file: Path | str, what: str) -> str:
    """Return the text of a UTF-8 file; `what` is what it is called, such as `the spec`.

    Raises:
        InputError: it cannot be read, or is no text.
    """
    path = Path(file)
    try:
        if path.is_char_device() and not path.samefile(os.devnull):
            raise InputError(f"cannot read {what} {str(file)!r}: it is a device")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {what} {str(file)!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{what} {str(file)!r} is not a UTF-8 text file") from None
    except ValueError as error:  # NUL in its name
        raise InputError(f"cannot read {what} {str(file)!r}: {error}") from None


def json_in(text: str, what: str) -> Any:
    """Return the value that a JSON text says; `what` is what the text is called.

    Raises:
        InputError: it is no JSON, or none that fits into memory.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{what} is not valid JSON: {error.msg} at {where}") from None
    except ValueError:
        raise InputError(f"{what} cannot be read: a number in it is too long") from None
    except RecursionError:
        raise InputError(f"{what} cannot be read: it is nested too deeply") from None


def refuse_unprintable(words: Iterable[str]) -> None:
    """Refuse words of a command line that neither files nor terminals can take.

    Raises:
        InputError: one has a NUL character, or is not UTF-8.
    """
    for word in words:
        shown = ascii(word if len(word) < 80 else f"{word[:80]}…")
        if "\0" in word:
            raise InputError(f"the argument {shown} has a NUL character in it; leave it out")
        try:
            word.encode()
        except UnicodeEncodeError:
            raise InputError(f"the argument {shown} is not UTF-8; rename what it names") from None


def refuse_lost_folder() -> None:
    """Refuse to run in a folder that was deleted.

    Raises:
        InputError: it was.
    """
    try:
        os.getcwd()
    except OSError as error:
        raise InputError(
            f"the current folder cannot be used: {error.strerror}; change to another one"
        ) from None
