"""Files that only their owner can read: passwords, keys, recorded sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO


def create_private(path: Path, buffering: int = -1) -> BinaryIO:
    """Create a file of mode 0600 and return it, open for writing.

    Args:
        path: where to create the file.
        buffering: as of `open`; 0 writes every piece at once.

    Raises:
        FileExistsError: `path` exists.
    """
    # The mode applies from the first moment: `open` and `chmod` would leave a gap.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return open(descriptor, "wb", buffering=buffering)
