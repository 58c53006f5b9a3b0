"""Folders and files that no other user can change. Machine code is loaded only from them.

A path is private if the file or folder, and every folder above it, belongs to this user or to root,
and no other user can write to it. A group of which its owner is the only member is no other user:
Debian and Ubuntu give each user such a group, and let it write. A folder above the path may be
writable for all users if it has the sticky bit, as /tmp has. In such a folder, users cannot rename
or remove the files of other users.

On Windows, Python cannot read who may write to a folder. There, the folders in the user's home
folder count as private, as Windows makes them.
"""

from __future__ import annotations

import functools
import os
import stat
from pathlib import Path

from antecede.checker.support.platforms import WINDOWS


def private_folder(path: Path) -> tuple[Path | None, str]:
    """Return a folder without links in its path, or None and the reason why it cannot be used.

    The folder need not exist; see `create`.
    """
    if not path.is_absolute():
        return None, f"{path} is not an absolute path"
    try:
        there = next(each for each in (path, *path.parents) if os.path.lexists(each))
        real = there.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that form a cycle
        return None, f"{path} cannot be used ({getattr(error, 'strerror', None) or error})"
    if not real.is_dir():
        return None, f"{there} is not a folder"
    reason = changed_by_others(real, last=there == path)
    return (real / path.relative_to(there), "") if reason is None else (None, reason)


def create(folder: Path) -> None:
    """Create a folder, and missing folders above it, with permissions for this user only.

    Raises:
        OSError: this is impossible.
    """
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir(mode=0o700, exist_ok=True)


def changed_by_others(real: Path, *, last: bool = True) -> str | None:
    """Return the reason why others can change a file or folder, or None.

    Args:
        real: an absolute path without links.
        last: whether the content counts; otherwise only a part of a path that goes on.
    """
    above = (_reason(folder, last=False) for folder in real.parents)
    return _reason(real, last=last) or next(filter(None, above), None)


def _reason(path: Path, *, last: bool) -> str | None:
    """Return why others can change one part of a path; only the `last` part holds the content."""
    try:
        found = path.lstat()
    except OSError as error:
        return f"{path} cannot be used ({error.strerror})"
    if WINDOWS:
        return _reason_on_windows(path)
    if found.st_uid not in (os.getuid(), 0):
        return f"{path} belongs to another user"
    sticky = not last and found.st_mode & stat.S_ISVTX
    by_group = found.st_mode & stat.S_IWGRP and not _is_alone(found.st_uid, found.st_gid)
    if (by_group or found.st_mode & stat.S_IWOTH) and not sticky:
        return f"other users can write to {path}"
    return None


@functools.cache
def _is_alone(user: int, group: int) -> bool:
    """Return whether a user is the only member of a group."""
    # Windows has neither module.
    import grp
    import pwd

    try:
        members = {pwd.getpwnam(name).pw_uid for name in grp.getgrgid(group).gr_mem}
    except KeyError:  # a group or a member that this machine does not know
        return False
    return {user} == members | {each.pw_uid for each in pwd.getpwall() if each.pw_gid == group}


def _reason_on_windows(path: Path) -> str | None:
    home = Path.home().resolve()
    if path.is_relative_to(home) or home.is_relative_to(path):
        return None
    return f"{path} is outside your home folder, so other users may be able to write to it"
