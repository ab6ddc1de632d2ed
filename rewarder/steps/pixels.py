"""Pixels in memory that the remote and the agent share: the remote writes them, the agent can only read them."""

from __future__ import annotations

import errno
import mmap
import os
import sys

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""A frame: shape (height, width, 3), uint8, channels red, green, blue."""

# linux/fcntl.h; the module fcntl has not all of them, and none on other systems
_ADD_SEALS, _GET_SEALS = 1033, 1034
_SEAL, _SHRINK, _GROW, _FUTURE_WRITE = 0x01, 0x02, 0x04, 0x10
_SIZE = _SHRINK | _GROW
"""With these seals a peer cannot change the size, so that no access to the mapping faults."""


def create(width: int, height: int) -> tuple[int, Pixels]:
    """Return the descriptor of new shared memory, and its pixels, which are black.

    Only the returned array can write; whoever maps the descriptor can read.

    Raises:
        OSError: the system has no sealed memory (Linux 5.1 has), or refuses it.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "only Linux has sealed memory")
    import fcntl  # Windows has no such module

    descriptor = os.memfd_create("universe-client-steps", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, width * height * 3)
        pixels = mmap.mmap(descriptor, width * height * 3)
        fcntl.fcntl(descriptor, _ADD_SEALS, _SIZE | _SEAL | _FUTURE_WRITE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, _frame(pixels, width, height)


def attach(descriptor: int, width: int, height: int) -> Pixels:
    """Return a read-only view of shared memory; the descriptor may be closed afterwards.

    Raises:
        OSError: the descriptor is not one of sealed memory.
        ValueError: its size can change, or it is too small for the frame.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "only Linux has sealed memory")
    import fcntl

    if fcntl.fcntl(descriptor, _GET_SEALS) & _SIZE != _SIZE:
        raise ValueError("the size of the shared pixels is not sealed")
    size = os.fstat(descriptor).st_size
    if size < width * height * 3:
        raise ValueError(f"shared pixels of {size} bytes are too small for {width}x{height}")
    return _frame(mmap.mmap(descriptor, width * height * 3, prot=mmap.PROT_READ), width, height)


def _frame(pixels: mmap.mmap, width: int, height: int) -> Pixels:
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3)
