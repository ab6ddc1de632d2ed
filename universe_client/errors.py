"""The errors of this package.

::

    UniverseError
    ├── ConfigError            an argument is invalid: raised by the call that gets it, before anything is sent
    │   └── ArgumentTypeError      an argument is unknown, or has the wrong type
    ├── ModelError             the API of a language model refused a request, or failed
    ├── LocalStateError        a method is called at the wrong time: step before reset, anything after close
    └── RemoteError            a remote failed: reported in that slot's info["error"], not raised by step()
        ├── ProviderError          the remote could not be started
        │   └── NoRoom                 no machine has room for it yet; its claim waits
        ├── ConnectError           it could not be reached
        ├── AuthError              it refused the credentials, or does not meet the security policy; permanent
        ├── ProtocolError          it violated RFB or the rewarder protocol
        │   └── LimitExceeded          it announced more than the limits allow
        ├── PeerLost               an established connection ended
        ├── ResetRejected          it replied to a reset with an error, such as an unknown env_id; permanent
        ├── ResetTimeout           a reset did not complete in time
        ├── Unsupported            it does not support what was requested, such as lock-step; permanent
        ├── StepRejected           it replied to a step in lock-step with an error
        ├── StepTimeout            it did not reply to a step in lock-step in time
        └── CallFailed             a call of its environment failed; raised by that call

After a permanent error the client does not reconnect to that remote.
"""

from __future__ import annotations

import rewarder.errors
import vnc.errors


class UniverseError(Exception):
    """The base class of all errors that this package raises or reports."""


class ConfigError(UniverseError, ValueError):
    """An argument is invalid; the message names it."""


class ArgumentTypeError(ConfigError, TypeError):
    """An argument is unknown or has the wrong type. It is also a TypeError, as Python and Gymnasium raise."""


class LocalStateError(UniverseError, RuntimeError):
    """A method was called at a time at which it cannot work: see the message."""


class ModelError(UniverseError):
    """The API of a language model refused a request, or failed; `__cause__` is the error of the vendor's package."""


class RemoteError(UniverseError):
    """One remote failed.

    Attributes:
        remote: which one, as `index (address)`.
        stage: what the client was doing: start, connect, reset, run, step or call.
        permanent: True if the client does not try again.
    """

    permanent = False

    def __init__(self, message: str, *, remote: str, stage: str) -> None:
        """Describe what failed in `message`; see the class for the other arguments."""
        super().__init__(message)
        self.remote, self.stage = remote, stage

    def __str__(self) -> str:
        """Return all of it, such as `remote 0 (127.0.0.1:5900), connect: connection refused`."""
        return f"remote {self.remote}, {self.stage}: {self.args[0]}"


class ProviderError(RemoteError):
    """The provider could not start the remote."""


class NoRoom(ProviderError):
    """No machine has room for the remote yet. Its claim remains, and the remote starts as soon as one has."""


class ConnectError(RemoteError):
    """The connection could not be established, or the handshake was not completed in time."""


class AuthError(RemoteError):
    """The remote refused the credentials, or it does not meet the client's security policy."""

    permanent = True


class ProtocolError(RemoteError):
    """The remote sent something that RFB or the rewarder protocol does not allow."""


class LimitExceeded(ProtocolError):
    """The remote announced more than `Limits` allows."""


class PeerLost(RemoteError):
    """An established connection ended."""


class ResetRejected(RemoteError):
    """The remote replied to a reset with an error."""

    permanent = True


class ResetTimeout(RemoteError):
    """A reset did not complete within `reset_timeout`."""


class Unsupported(RemoteError):
    """The remote does not support what was requested."""

    permanent = True


class StepRejected(RemoteError):
    """The remote replied to a step in lock-step with an error."""


class StepTimeout(RemoteError):
    """The reply to a step in lock-step, or the frame that it announces, did not arrive within `reset_timeout`."""


class CallFailed(RemoteError):
    """A method of the remote's environment raised an exception, or no answer came in time."""


_KINDS: tuple[tuple[type[Exception], type[RemoteError]], ...] = (
    (vnc.errors.TooManyFailures, ConnectError),  # temporary, unlike its base class AuthError
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
    """Return the `RemoteError` for `error`; None if `error` is a defect of this package.

    Errors of the packages `vnc` and `rewarder` are a remote's failures. So is everything that the operating system
    refuses: no route, no file descriptors, no memory, no threads, no processes.
    """
    if isinstance(error, RemoteError):
        return error
    kind = _kind(error, stage)
    if kind is None:
        return None
    result = kind(message_of(error), remote=remote, stage=stage)
    result.__cause__ = error
    return result


def _kind(error: Exception, stage: str) -> type[RemoteError] | None:
    for source, kind in _KINDS:
        if isinstance(error, source):
            is_ours = isinstance(error, rewarder.errors.PeerLost) and _is_caused_by_us(error)
            return ProtocolError if is_ours else kind
    if is_refused_by_system(error):
        return ConnectError if stage == "connect" else PeerLost
    return None


def is_refused_by_system(error: BaseException) -> bool:
    """Return whether the operating system refused something, which may succeed later."""
    return isinstance(error, OSError | MemoryError) or (
        isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    )


def message_of(error: BaseException) -> str:
    """Return the message of `error`, or a description if it has none, as MemoryError."""
    return str(error) or ("out of memory" if isinstance(error, MemoryError) else type(error).__name__)


def _is_caused_by_us(error: rewarder.errors.PeerLost) -> bool:
    """Return whether the peer closed the connection because of what the client sent."""
    return not error.retry and error.code != rewarder.errors.ENDED_BY_PEER
