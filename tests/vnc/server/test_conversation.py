"""Conversation: how it feeds bytes to any parser."""

from __future__ import annotations

import pytest

from vnc.errors import LimitExceeded, ProtocolError
from vnc.server.conversation import VERSION, Conversation, Parser, drop, read_encodings


class Numbers(Conversation):
    """A parser of encoding lists that drops other bytes and fails at a 9."""

    def __init__(self) -> None:
        self.read: list[bytes] = []
        super().__init__()

    def _parse(self) -> Parser:
        while True:
            (count,) = yield 1
            if count == 9:
                raise ProtocolError("a nine")
            yield from drop(count * 10_000)
            self.read.append((yield from read_encodings()))
            self._out.append(b"more")

    def take(self, data: bytes) -> list[bytes]:
        self._feed(data)
        return self.read


LIST = b"\0\0\2" + bytes(range(8))


@pytest.mark.parametrize("piece", [1, 2, 7, 1448, 100_000])
def test_it_makes_no_difference_how_the_bytes_are_cut(piece):
    numbers = Numbers()
    data = (b"\3" + bytes(30_000) + LIST) * 2
    for start in range(0, len(data), piece):
        numbers.take(data[start : start + piece])
    assert numbers.read == [LIST, LIST]
    assert numbers.data_to_send() == VERSION + b"moremore"
    assert numbers.data_to_send() == b""


def test_after_an_error_everything_is_ignored():
    numbers = Numbers()
    with pytest.raises(ProtocolError, match="a nine"):
        numbers.take(b"\0" + LIST + b"\x09" + b"\0" + LIST)
    assert numbers.take((b"\0" + LIST) * 1000) == [LIST]


def test_a_list_that_is_too_long_is_refused_before_it_is_read():
    with pytest.raises(LimitExceeded, match="1025 encodings, the limit is 1024"):
        Numbers().take(b"\0\0\4\1")
