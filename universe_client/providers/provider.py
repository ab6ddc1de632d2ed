"""The interface of providers, and the address of a remote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rewarder.client import RewarderAddress
from vnc.session import VNCAddress


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """The address of one remote: both its ports, with the passwords and the trusted certificates.

    Args:
        vnc: where the VNC server listens.
        rewarder: where the rewarder listens; without one the remote has no rewards and no episodes.
    """

    vnc: VNCAddress
    rewarder: RewarderAddress | None = None

    def __str__(self) -> str:
        """Return `host:vnc_port+rewarder_port`, without passwords."""
        return str(self.vnc) if self.rewarder is None else f"{self.vnc}+{self.rewarder.port}"


class Provider(Protocol):
    """A source of `n` remotes, for `VectorEnv(remotes=...)`.

    Any object with these members is a provider. An environment calls the coroutines on its own event loop, and those of
    different remotes concurrently.
    """

    @property
    def n(self) -> int:
        """The number of remotes."""
        ...

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address of remote `index`. Start the remote, again if it has ended.

        The environment calls this before each connection to the remote, also after a connection was lost.

        Args:
            index: 0 to `n - 1`.

        Raises:
            ProviderError: the remote did not start. With `permanent` set, the environment does not try again.
        """
        ...

    async def discard(self, index: int) -> None:
        """Give up remote `index`, for example because its resets never end: the next `acquire` starts another."""
        ...

    async def close(self) -> None:
        """End all remotes that this provider started. Idempotent."""
        ...


@runtime_checkable
class Staged(Protocol):
    """A provider whose remotes take long to start, and that reports how far each of them is."""

    def phase(self, index: int) -> str | None:
        """Return the step of `acquire` that remote `index` waits for; None once it is started."""
        ...
