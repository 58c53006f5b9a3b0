"""Reading of files that users wrote or machines damaged. Every fault is an InputError."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from antecede.checker.support.errors import InputError


def text_in(file: Path | str, what: str) -> str:
    """Return the text of a UTF-8 file; `what` is its name in errors, such as `the spec`.

    Raises:
        InputError: the file cannot be read, or is not text.
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


MOST_KEYS = 100
"""The greatest number of parts of a key, and the greatest depth of values, in a TOML file."""

MOST_BYTES = 1 << 24
"""The greatest size of a TOML file, or of a trace that an agent names, in bytes."""

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_KEYS}}}")


def content_of(file: Path | str, what: str, most: int, *, follow: bool = True) -> bytes:
    """Return the content of a regular file. Pipes and devices are refused without waiting.

    Args:
        what: its name in errors, such as `the spec`.
        most: the greatest size in bytes.
        follow: whether symbolic links are followed; otherwise they are refused.

    Raises:
        InputError: the file cannot be read, is not a regular file, or is too large.
    """
    name = f"{what} {str(file)!r}"
    try:
        if not follow and Path(file).is_symlink():
            raise InputError(f"{name} is a symbolic link; it must be a regular file")
        with open(file, "rb", opener=_without_waiting) as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{name} is {_kind_of(status.st_mode)}; it must be a regular file")
            if status.st_size > most:
                raise InputError(
                    f"{name} has {status.st_size:,} bytes; it may have at most {most:,}"
                )
            return opened.read()
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from None
    except ValueError as error:  # NUL in its name
        raise InputError(f"cannot read {name}: {error}") from None


def small_text_in(file: Path | str, what: str) -> str:
    """Return the text of a regular UTF-8 file of at most MOST_BYTES.

    Raises:
        InputError: there is no such file; see `content_of`.
    """
    try:
        return content_of(file, what, MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise InputError(f"{what} {str(file)!r} is not a UTF-8 text file") from None


def _without_waiting(file: str, flags: int) -> int:
    """Open a file without blocking on a pipe that has no writer."""
    return os.open(file, flags | getattr(os, "O_NONBLOCK", 0))


def _kind_of(mode: int) -> str:
    """Return the kind of a file that is not a regular one, in words."""
    return "a named pipe" if stat.S_ISFIFO(mode) else "a device"


def as_toml(value: Any) -> str:
    """Return a value as TOML, which writes texts, numbers and lists as JSON does."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_in(file: Path | str, what: str) -> dict[str, Any]:
    """Return the table in a TOML file; `what` is its name in errors, such as `the spec`.

    Raises:
        InputError: the file cannot be read, is not valid TOML, or is nested too deeply.
    """
    too_deep = InputError(f"{file} cannot be read: it is nested too deeply")
    try:
        text = small_text_in(file, what).replace("\r\n", "\n")
        # Python's parser takes time and memory quadratic in the number of a key's parts.
        if _LONG_KEY.search(text):
            raise InputError(f"{file} cannot be read: a key has more than {MOST_KEYS} parts")
        table = tomllib.loads(text)
    except ValueError as error:
        raise InputError(f"{file} is not valid TOML: {error}") from None
    except RecursionError:
        raise too_deep from None
    if _is_deep(table):
        raise too_deep
    return table


def own_text(package: str | None, name: str) -> str:
    """Return the text of a file that comes with a package of antecede."""
    # importlib.resources does this, too, but its import takes a tenth of a short command.
    folder = Path(str(sys.modules[str(package)].__file__)).parent
    return (folder / name).read_text(encoding="utf-8")


def own_table(package: str | None, name: str) -> dict[str, Any]:
    """Return the table in a TOML file that comes with a package of antecede."""
    return tomllib.loads(own_text(package, name))


def _is_deep(value: Any) -> bool:
    """Return whether tables and lists are nested more than MOST_KEYS deep; never recurses."""
    level = [value]
    for _ in range(MOST_KEYS):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for values in inner for each in values if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def json_in(text: str, what: str) -> Any:
    """Return the value of a JSON text; `what` is its name in errors.

    Raises:
        InputError: the text is not valid JSON, or does not fit into memory.
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
    """Check that the words of a command line are valid text for files and terminals.

    Raises:
        InputError: a word has a NUL character, or is not UTF-8.
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
    """Check that the current folder exists.

    Raises:
        InputError: it was deleted.
    """
    try:
        os.getcwd()
    except OSError as error:
        raise InputError(
            f"the current folder cannot be used: {error.strerror}; change to another one"
        ) from None
