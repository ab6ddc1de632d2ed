"""What this process holds: memory, descriptors, threads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Gauges:
    """`memory` is resident, in bytes."""

    memory: int
    descriptors: int
    threads: int

    @classmethod
    def read(cls) -> Gauges:
        """Read them of this process."""
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(
            pages * os.sysconf("SC_PAGE_SIZE"),
            len(os.listdir("/proc/self/fd")) - 1,  # the listing has one of its own
            len(os.listdir("/proc/self/task")),
        )
