"""How much memory there is: of the machine, and of the control group (the container) around us.

The kernel ends a process that takes more than its control group may, without a word. So whoever
needs much asks first, and a search ends, INCOMPLETE, while there is still something left.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")

LEAST_LEFT = 1 << 29
"""Bytes that a search leaves to others and to its own report, at most."""


def lacking(memory: int, address_space: int) -> str | None:
    """Return what there is too little of for a piece of work, or None if there is enough.

    Args:
        memory: bytes that the work fills.
        address_space: bytes that it maps, whether it fills them or not.

    Returns:
        A clause with both figures, such as `900 MB of memory are needed, and 80 MB are left`.
    """
    figures = (
        ("memory", memory, available_memory_bytes()),
        ("data (ulimit -d)", memory, _left_of(resource.RLIMIT_DATA, "VmData")),
        ("address space (ulimit -v)", address_space, address_space_left_bytes()),
    )
    for thing, needed, left in figures:
        if left is not None and left < needed:
            return (
                f"{needed / 1e6:,.0f} MB of {thing} are needed, and "
                f"{max(left, 0) / 1e6:,.0f} MB are left"
            )
    return None


def address_space_left_bytes() -> int | None:
    """Return how much address space this process may still map; None where that is unlimited."""
    return _left_of(resource.RLIMIT_AS, "VmSize")


def _left_of(limit: int, used: str) -> int | None:
    """Return what is left of a resource limit, by the name of its use in /proc/self/status."""
    most = resource.getrlimit(limit)[0]
    if most == resource.RLIM_INFINITY or sys.platform != "linux":
        return None
    lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{used}:"))
    return max(most - 1024 * int(line.split()[1]), 0)


def machine_memory_bytes() -> int:
    """Return the physical memory of this machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def usable_memory_bytes() -> int:
    """Return what this process may use at most: the machine's memory, or its control group's."""
    return min([machine_memory_bytes(), *_limits_of_groups(_own_groups(), GROUPS)])


def shortage() -> str | None:
    """Return that there is too little memory to go on, in words, or None if there is enough."""
    available = available_memory_bytes()
    if available is None or available >= _reserve():
        return None
    return f"too little memory: only {max(available, 0) / 1e6:,.0f} MB are left"


def nearly_gone() -> bool:
    """Return whether half of what is to be left is gone, too, so that nothing can wait."""
    available = available_memory_bytes()
    return available is not None and available < _reserve() // 2


def _reserve() -> int:
    return min(usable_memory_bytes() // 8, LEAST_LEFT)


def available_memory_bytes() -> int | None:
    """Return how much memory can still be used, in bytes; None where that is not known.

    It is what the machine has left or what this process's control group (a container) has.
    """
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        facts = dict(line.split(":", 1) for line in text.splitlines())
        machine = 1024 * sum(int(facts[key].split()[0]) for key in ("MemAvailable", "SwapFree"))
    except (OSError, KeyError):
        return None
    return min([machine, *_left_in_groups(_own_groups(), GROUPS)])


_LIMITS = {
    "": ("memory.max", "memory.current", "inactive_file", "active_file"),
    "memory": (
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
        "total_active_file",
    ),
}
"""Controller -> limit, use, and the figures of the page cache, which is given up under pressure."""


def _own_groups() -> str:
    """Return the control groups of this process, a line each."""
    try:
        return Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        return ""


def _left_in_groups(groups: str, root: Path) -> list[int]:
    """Return what each control group, and each around it, has left where memory is limited.

    Args:
        groups: lines `number:controllers:path`, as in /proc/self/cgroup.
        root: where the file systems of control groups are: version 2 there, version 1 in folders.
    """
    return [
        left
        for group, names in _groups(groups, root)
        for left in _left_in_group(group, names[0], *names[1:])
    ]


def _limits_of_groups(groups: str, root: Path) -> list[int]:
    """Return the limit of each control group, and of each around it, where there is one."""
    found = (_number_in(group / names[0]) for group, names in _groups(groups, root))
    return [limit for limit in found if limit is not None]


def _groups(groups: str, root: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the folder of each control group and of each around it, and the names in _LIMITS."""
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in set(controllers.split(",")) & _LIMITS.keys():
            top = root / controller
            folder = top / path.strip("/")
            for group in (folder, *folder.parents):
                if group.is_relative_to(top):
                    yield group, _LIMITS[controller]


def _number_in(file: Path) -> int | None:
    """Return the number in a file; None if there is none, as where nothing is limited."""
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _left_in_group(group: Path, limit: str, used: str, *caches: str) -> list[int]:
    """Return what one control group has left, or nothing if that is unknown or unlimited."""
    try:
        most = int((group / limit).read_text(encoding="ascii"))
        now = int((group / used).read_text(encoding="ascii"))
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
    figures = dict(line.split() for line in lines)
    return [most - now + sum(int(figures.get(cache, 0)) for cache in caches)]
