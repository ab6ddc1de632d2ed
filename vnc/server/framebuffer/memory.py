"""Memory for frames, which other processes can map, but neither write nor resize."""

from __future__ import annotations

import errno
import mmap
import os
import sys

_F_SEAL_FUTURE_WRITE = 0x10  # Linux 5.1; `fcntl` has no name for it


def sealed_memory(size: int) -> tuple[int, mmap.mmap]:
    """Return the descriptor of new memory, for other processes, and the only writable mapping of it.

    Pages that are never touched take no memory. The caller closes the descriptor.

    Raises:
        OSError: the system has no sealed memory, or none left.
    """
    if sys.platform != "linux" or not hasattr(os, "memfd_create"):
        raise OSError(errno.ENOSYS, "only Linux has sealed memory")
    import fcntl  # Windows has no such module

    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | _F_SEAL_FUTURE_WRITE | fcntl.F_SEAL_SEAL
    descriptor = os.memfd_create("universe-client-frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        memory = mmap.mmap(descriptor, size)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, memory
