"""What can go wrong, and whose doing it is.

::

    UniverseError
    ├── ConfigError        the caller's mistake: raised where it is made, before anything is sent
    │   └── ArgumentTypeError  ... an argument that there is not, or of the wrong type
    ├── LocalStateError    the caller's order of calls: step before reset, anything after close
    └── RemoteError        one remote's failure: reported in that slot's info["error"], never raised from step()
        ├── ProviderError      the remote could not be started
        ├── ConnectError       it could not be reached
        ├── AuthError          it refused our password, or offered less than our policy asks; not tried again
        ├── ProtocolError      it broke RFB or the rewarder protocol
        │   └── LimitExceeded      it announced more than our limits
        ├── PeerLost           its connection ended
        ├── ResetRejected      it answered the reset with an error (an unknown env_id, say); not tried again
        ├── ResetTimeout       its reset was not over in time
        ├── Unsupported        it cannot do what was asked for (freeze for lock-step, say); not tried again
        ├── StepRejected       it answered a step in lock-step with an error
        ├── StepTimeout        ... or not in time
        └── CallFailed         a call of its environment came to nothing; raised from that call
"""

from __future__ import annotations

import rewarder.errors
import vnc.errors


class UniverseError(Exception):
    """Base of every error raised or reported by this package."""


class ConfigError(UniverseError, ValueError):
    """An argument is wrong; the message names it."""


class ArgumentTypeError(ConfigError, TypeError):
    """There is no such argument, or it is of the wrong type; a TypeError, as in Python and in Gymnasium."""


class LocalStateError(UniverseError, RuntimeError):
    """A method was called at a moment when it has no meaning."""


class RemoteError(UniverseError):
    """Something went wrong with one remote.

    Attributes:
        remote: which one, as `index (address)`.
        stage: what was being done: start, connect, reset, run, step, call.
        permanent: True when trying again cannot help.
    """

    permanent = False

    def __init__(self, message: str, *, remote: str, stage: str) -> None:
        super().__init__(message)
        self.remote, self.stage = remote, stage

    def __str__(self) -> str:
        """`remote 0 (127.0.0.1:5900), connect: connection refused`."""
        return f"remote {self.remote}, {self.stage}: {self.args[0]}"


class ProviderError(RemoteError):
    """The provider could not start the remote."""


class ConnectError(RemoteError):
    """No connection, or no end of the handshake in time."""


class AuthError(RemoteError):
    """The remote refused our credentials, or our policy refused the remote."""

    permanent = True


class ProtocolError(RemoteError):
    """The remote sent something that is not in the protocol."""


class LimitExceeded(ProtocolError):
    """The remote announced more than our limits allow."""


class PeerLost(RemoteError):
    """An established connection ended."""


class ResetRejected(RemoteError):
    """The remote answered our reset with an error."""

    permanent = True


class ResetTimeout(RemoteError):
    """The reset was not over in time."""


class Unsupported(RemoteError):
    """The remote cannot do what was asked for."""

    permanent = True


class StepRejected(RemoteError):
    """The remote answered our step, in lock-step, with an error."""


class CallFailed(RemoteError):
    """The environment raised when it was called, or no answer came."""


class StepTimeout(RemoteError):
    """No answer to our step, in lock-step, or not the pixels that it told of."""


_KINDS: tuple[tuple[type[Exception], type[RemoteError]], ...] = (
    (vnc.errors.TooManyFailures, ConnectError),  # passes by itself, unlike its base class
    (vnc.errors.AuthError, AuthError),
    (vnc.errors.LimitExceeded, LimitExceeded),
    (vnc.errors.ProtocolError, ProtocolError),
    (vnc.errors.ConnectError, ConnectError),
    (vnc.errors.PeerLost, PeerLost),
    (rewarder.errors.AuthError, AuthError),
    (rewarder.errors.ResetRejected, ResetRejected),
    (rewarder.errors.ProtocolError, ProtocolError),
    (rewarder.errors.ConnectError, ConnectError),
    (rewarder.errors.RewarderError, PeerLost),
)


def remote_error(error: Exception, *, remote: str, stage: str) -> RemoteError | None:
    """Return `error` as the `RemoteError` that it amounts to; None if it is a defect of ours.

    Errors of the packages below are a remote's, and so is whatever the operating system refuses: no route, no
    descriptors, no memory, no threads, no processes.
    """
    if isinstance(error, RemoteError):
        return error
    kind = _kind(error, stage)
    if kind is None:
        return None
    result = kind(words(error), remote=remote, stage=stage)
    result.__cause__ = error
    return result


def _kind(error: Exception, stage: str) -> type[RemoteError] | None:
    for source, kind in _KINDS:
        if isinstance(error, source):
            is_ours = isinstance(error, rewarder.errors.PeerLost) and _is_our_doing(error)
            return ProtocolError if is_ours else kind
    if is_refused_by_system(error):
        return ConnectError if stage == "connect" else PeerLost
    return None


def is_refused_by_system(error: BaseException) -> bool:
    """Whether the operating system could not do something, which may work again later."""
    return isinstance(error, OSError | MemoryError) or (
        isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    )


def words(error: BaseException) -> str:
    """Return what `error` says; a MemoryError says nothing."""
    return str(error) or ("out of memory" if isinstance(error, MemoryError) else type(error).__name__)


def _is_our_doing(error: rewarder.errors.PeerLost) -> bool:
    """Whether the peer closed because it did not like what we sent."""
    return not error.retry and error.code != rewarder.errors.ENDED_BY_PEER
