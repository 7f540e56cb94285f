"""How much memory and how many cores this machine has and has free."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path


def available_memory() -> int | None:
    """Bytes that can be taken without swapping, container limits included; None when unknown."""
    free = _available()
    limit = _container_room()
    return min(free, limit) if free is not None and limit is not None else free


def total_memory() -> int | None:
    """Bytes of memory in this machine; None when unknown."""
    if sys.platform == "win32":
        return _windows_memory()[0]
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def usable_cores() -> int:
    """Cores this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _available() -> int | None:
    if sys.platform == "win32":
        return _windows_memory()[1]
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    # macOS keeps little memory 'free'; half of all is what it gives up without trouble.
    total = total_memory()
    return total // 2 if total is not None else None


def _container_room() -> int | None:
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if limit == "max" else max(0, int(limit) - int(used))


def _windows_memory() -> tuple[int, int]:
    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("total", ctypes.c_ulonglong),
            ("available", ctypes.c_ulonglong),
            ("rest", ctypes.c_ulonglong * 5),
        )

    status = Status(length=ctypes.sizeof(Status))
    ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined]
    return int(status.total), int(status.available)
