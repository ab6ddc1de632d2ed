"""The encodings of the server. A new one is a file in this folder and a line in `ENCODERS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vnc.encodings import RAW, TIGHT, ZRLE
from vnc.server.encoders.base import EncodedRect, Encoder
from vnc.server.encoders.raw import RawEncoder
from vnc.server.encoders.tight import TightEncoder
from vnc.server.encoders.zrle import ZRLEEncoder

ENCODERS: dict[int, Callable[[], Encoder]] = {RAW: RawEncoder, TIGHT: TightEncoder, ZRLE: ZRLEEncoder}

__all__ = ["ENCODERS", "RAW", "TIGHT", "ZRLE", "EncodedRect", "Encoder", "preferred"]


def preferred(encodings: Sequence[int]) -> int:
    """Return the first of a client's `encodings` that the server has; else Raw, which every client accepts."""
    return next((encoding for encoding in encodings if encoding in ENCODERS), RAW)
