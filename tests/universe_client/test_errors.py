"""The tree of errors, and which error stands for each error of the packages `vnc` and `rewarder`."""

from __future__ import annotations

import re

import pytest

import rewarder.errors as below_rewarder
import vnc.errors as below_vnc
from universe_client import errors


@pytest.mark.parametrize(
    ("below", "kind", "permanent"),
    [
        (below_vnc.ConnectError("x"), errors.ConnectError, False),
        (below_vnc.AuthError("x"), errors.AuthError, True),
        (below_vnc.TooManyFailures("x"), errors.ConnectError, False),
        (below_vnc.ProtocolError("x"), errors.ProtocolError, False),
        (below_vnc.LimitExceeded("x"), errors.LimitExceeded, False),
        (below_vnc.PeerLost("x"), errors.PeerLost, False),
        (below_rewarder.ConnectError("x"), errors.ConnectError, False),
        (below_rewarder.AuthError("x"), errors.AuthError, True),
        (below_rewarder.ControllerBusy("x"), errors.PeerLost, False),
        (below_rewarder.ProtocolError("x", 1007), errors.ProtocolError, False),
        (below_rewarder.ResetRejected("x"), errors.ResetRejected, True),
        *[(below_rewarder.PeerLost(code), errors.PeerLost, False) for code in (1000, 1001, 1006, 1011, 1012, 1013)],
        *[(below_rewarder.PeerLost(code), errors.ProtocolError, False) for code in (1002, 1003, 1007, 1008, 1009)],
    ],
)  # fmt: skip
def test_f20_every_error_below_has_its_place(below, kind, permanent):
    error = errors.remote_error(below, remote="2 (host:1)", stage="run")
    assert type(error) is kind
    assert error.permanent is permanent
    assert error.__cause__ is below
    assert str(error) == f"remote 2 (host:1), run: {below}"
    assert (error.remote, error.stage) == ("2 (host:1)", "run")


def test_every_error_below_is_covered():
    def leaves(kind):
        yield kind
        for each in kind.__subclasses__():
            yield from leaves(each)

    for kind in [*leaves(below_vnc.VNCError), *leaves(below_rewarder.RewarderError)]:
        if kind in (below_vnc.VNCError, below_rewarder.RewarderError):
            continue
        below = kind(1006) if kind is below_rewarder.PeerLost else kind("x")
        assert isinstance(errors.remote_error(below, remote="r", stage="run"), errors.RemoteError)


def test_one_of_ours_stays_what_it_is_and_a_strangers_is_a_defect():
    error = errors.ResetTimeout("x", remote="r", stage="reset")
    assert errors.remote_error(error, remote="other", stage="run") is error
    assert errors.remote_error(KeyError("x"), remote="r", stage="run") is None
    assert errors.remote_error(RuntimeError("x"), remote="r", stage="run") is None


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (OSError(24, "Too many open files"), r"Errno 24.*Too many open files"),
        (OSError(101, "Network is unreachable"), "Network is unreachable"),
        (BlockingIOError(11, "Resource temporarily unavailable"), "temporarily unavailable"),
        (MemoryError(), "out of memory"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
    ],
)
def test_f38_what_the_system_refuses_is_a_remotes_failure_and_passes(refusal, told):
    error = errors.remote_error(refusal, remote="r", stage="connect")
    assert type(error) is errors.ConnectError
    assert re.search(told, str(error))
    assert not error.permanent
    assert type(errors.remote_error(refusal, remote="r", stage="run")) is errors.PeerLost


def test_callers_mistakes_are_the_builtin_kinds_too():
    assert issubclass(errors.ConfigError, ValueError)
    assert issubclass(errors.LocalStateError, RuntimeError)
    assert not issubclass(errors.ConfigError, errors.RemoteError)
