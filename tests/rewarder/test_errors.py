"""Which errors are worth another attempt."""

from __future__ import annotations

import pytest

from rewarder.errors import (
    AuthError,
    ConnectError,
    ControllerBusy,
    PeerLost,
    ProtocolError,
    ResetRejected,
    RewarderError,
)


@pytest.mark.parametrize(
    ("error", "retry"),
    [
        (ConnectError("x"), True), (AuthError("x"), False), (ControllerBusy("x"), True), (ProtocolError("x"), False),
        (PeerLost(1006), True), (PeerLost(1000), False), (ResetRejected("x"), False),
    ],
)  # fmt: skip
def test_retry(error, retry):
    assert isinstance(error, RewarderError)
    assert error.retry is retry


def test_words():
    assert str(PeerLost(1006)) == "connection closed, code 1006"
    assert str(PeerLost(1001, "bye")) == "connection closed, code 1001: bye"
    assert ProtocolError("x").code == 1002
