"""How much memory is at hand."""

import os
from pathlib import Path

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available_memory() -> int:
    """Return the bytes that a new process may take: those the kernel calls available, within the container's limit."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        available = total
    for limit in _CGROUP_LIMITS:
        try:
            available = min(available, int(Path(limit).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return available
