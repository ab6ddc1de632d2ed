"""What can go wrong while acting, in words that a language model can act on."""

from __future__ import annotations

from universe_client.errors import RemoteError, UniverseError


class InvalidAction(UniverseError, ValueError):
    """An action cannot be played: the message says what is wrong and what is allowed. Nothing has been sent."""


class LostWhileActing(RemoteError):
    """The connection to the remote was lost while actions were played. Nothing stays pressed.

    `__cause__` is the error that ended the connection. The client reconnects; `Computer.reset` waits for it.

    Attributes:
        played: how many of the actions had been played completely.
    """

    def __init__(self, message: str, *, remote: str, stage: str, played: int) -> None:
        """See the class, and `RemoteError`."""
        super().__init__(message, remote=remote, stage=stage)
        self.played = played

    @classmethod
    def after(cls, cause: Exception | None, remote: str, played: int, total: int) -> LostWhileActing:
        """Return the error for a connection that `cause` has ended after `played` of `total` actions."""
        error = cls(
            f"lost after {played} of {total} actions; nothing stays pressed; reset() waits until it is back",
            remote=remote,
            stage="run",
            played=played,
        )
        error.__cause__ = cause
        return error
