"""The encodings our server speaks; adding one is a file here and a line in `ENCODERS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vnc.server.encoders.base import EncodedRect, Encoder
from vnc.server.encoders.raw import RAW, RawEncoder
from vnc.server.encoders.tight import TIGHT, TightEncoder
from vnc.server.encoders.zrle import ZRLE, ZRLEEncoder

ENCODERS: dict[int, Callable[[], Encoder]] = {RAW: RawEncoder, TIGHT: TightEncoder, ZRLE: ZRLEEncoder}

__all__ = ["ENCODERS", "RAW", "TIGHT", "ZRLE", "EncodedRect", "Encoder", "preferred"]


def preferred(encodings: Sequence[int]) -> int:
    """The first of a client's `encodings` we speak; Raw, which every client must accept, if none."""
    return next((encoding for encoding in encodings if encoding in ENCODERS), RAW)
