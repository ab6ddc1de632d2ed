"""Memory, descriptors and threads of this process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Gauges:
    """The gauges; `memory` is the resident set size in bytes."""

    memory: int
    descriptors: int
    threads: int

    @classmethod
    def read(cls) -> Gauges:
        """Read the gauges of this process."""
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(
            pages * os.sysconf("SC_PAGE_SIZE"),
            len(os.listdir("/proc/self/fd")) - 1,  # listing the directory uses one descriptor
            len(os.listdir("/proc/self/task")),
        )
