"""The memory of the machine and of the control group (the container) of this process.

The kernel kills a process that exceeds its control group's limit, without a message. So large
allocations check the memory before, and a search ends as INCOMPLETE while some memory is left.

On Linux, the figures come from /proc, because the import of psutil takes as long as a tenth of a
short check. On other systems they come from psutil.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from antecede.checker.support.browser import IN_BROWSER, heap_bytes

try:
    import resource
except ImportError:  # Windows and a browser have none
    resource = None  # type: ignore[assignment]

LINUX = sys.platform == "linux"

GROUPS = Path("/sys/fs/cgroup")

LEAST_LEFT = 1 << 29
"""The greatest reserve that a search leaves to other processes and its own report, in bytes."""


@contextmanager
def without_collections() -> Iterator[None]:
    """Switch the garbage collector off, which would scan many objects that have no cycles."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def lacking(memory: int, address_space: int) -> str | None:
    """Return a description of the missing memory for a piece of work, or None if there is enough.

    Args:
        memory: the number of bytes that the work fills.
        address_space: the number of bytes that it maps, filled or not.

    Returns:
        A clause with both figures, such as `900 MB of memory are needed, and 80 MB are left`.
    """
    figures = (
        ("memory", memory, available_memory_bytes()),
        ("data (ulimit -d)", memory, _left_of("RLIMIT_DATA", "data")),
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
    """Return the number of bytes that this process may still map; None if it is unlimited."""
    return _left_of("RLIMIT_AS", "vms")


def memory_bytes() -> int:
    """Return the resident memory of this process now, in bytes."""
    if IN_BROWSER:
        return heap_bytes()
    if LINUX:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return int(_figures().rss)


def _figures() -> Any:
    """Return the figures of psutil on the memory of this process."""
    return _process(os.getpid()).memory_info()


@functools.cache
def _process(number: int) -> Any:
    """Return a process, which is kept because searches ask for its memory often."""
    import psutil

    return psutil.Process(number)


def peak_memory_bytes() -> int:
    """Return the greatest resident memory of this process so far, in bytes."""
    if IN_BROWSER:
        return heap_bytes()
    if resource is None:
        used = _figures()
        return int(getattr(used, "peak_wset", used.rss))
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def _left_of(limit: str, used: str) -> int | None:
    """Return the rest of a limit on a resource; `used` is the name of psutil's figure."""
    if sys.platform != "linux" or resource is None:
        return None
    most = resource.getrlimit(getattr(resource, limit))[0]
    if most == resource.RLIM_INFINITY:
        return None
    return int(max(most - getattr(_figures(), used), 0))


def machine_memory_bytes() -> int:
    """Return the physical memory of this machine, in bytes."""
    if IN_BROWSER or LINUX:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    import psutil

    return int(psutil.virtual_memory().total)


def usable_memory_bytes() -> int:
    """Return the memory limit in bytes: the machine's memory, or the control group's limit."""
    return min([machine_memory_bytes(), *_limits_of_groups(_own_groups(), GROUPS)])


def shortage() -> str | None:
    """Return a sentence that there is too little memory to continue, or None."""
    available = available_memory_bytes()
    if available is None or available >= _reserve():
        return None
    return f"too little memory: only {max(available, 0) / 1e6:,.0f} MB are left"


def _reserve() -> int:
    return min(usable_memory_bytes() // 8, LEAST_LEFT)


def available_memory_bytes() -> int | None:
    """Return the available memory in bytes, or None if it is unknown.

    It is the smaller one of the machine's free memory and the rest of this process's control group.
    """
    if IN_BROWSER:
        return None
    machine = _free_bytes()
    return None if machine is None else min([machine, *_left_in_groups(_own_groups(), GROUPS)])


def _free_bytes() -> int | None:
    """Return the machine's free memory and swap space in bytes, or None if they are unknown."""
    if LINUX:
        try:
            with open("/proc/meminfo", encoding="ascii") as file:
                kilobytes = dict(line.split()[:2] for line in file)
            return (int(kilobytes["MemAvailable:"]) + int(kilobytes["SwapFree:"])) << 10
        except (OSError, KeyError, ValueError):
            return None
    import psutil

    try:
        return int(psutil.virtual_memory().available + psutil.swap_memory().free)
    except (OSError, psutil.Error):
        return None


_LIMITS = {
    "": ("memory.max", "memory.current", "inactive_file", "active_file"),
    "memory": (
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
        "total_active_file",
    ),
}
"""Controller -> files with the limit and the use, and names of reclaimable page cache figures."""


def _own_groups() -> str:
    """Return the control groups of this process, one per line."""
    try:
        return Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        return ""


def _left_in_groups(groups: str, root: Path) -> list[int]:
    """Return the memory left in each limited control group and its limited ancestors.

    Args:
        groups: lines `number:controllers:path`, as in /proc/self/cgroup.
        root: the mount point of version 2; version 1 is mounted in subfolders.
    """
    return [
        left
        for group, names in _groups(groups, root)
        for left in _left_in_group(group, names[0], *names[1:])
    ]


def _limits_of_groups(groups: str, root: Path) -> list[int]:
    """Return the limits of each control group and its ancestors."""
    limits = (_number_in(group / names[0]) for group, names in _groups(groups, root))
    return [limit for limit in limits if limit is not None]


def _groups(groups: str, root: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield (folder, names in _LIMITS) for each control group and its ancestors."""
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in set(controllers.split(",")) & _LIMITS.keys():
            top = root / controller
            folder = top / path.strip("/")
            for group in (folder, *folder.parents):
                if group.is_relative_to(top):
                    yield group, _LIMITS[controller]


def _number_in(file: Path) -> int | None:
    """Return the number in a file, or None if it has none, such as `max`."""
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _left_in_group(group: Path, limit: str, used: str, *caches: str) -> list[int]:
    """Return the memory left in one control group; empty if it is unknown or unlimited."""
    most, now = _number_in(group / limit), _number_in(group / used)
    if most is None or now is None:
        return []
    try:
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
    figures = dict(line.split() for line in lines)
    return [most - now + sum(int(figures.get(cache, 0)) for cache in caches)]
