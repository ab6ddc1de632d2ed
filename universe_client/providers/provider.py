"""What a provider is: it hands out remotes and takes them back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rewarder.client import RewarderAddress
from vnc.session import VNCAddress


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """The two channels of one remote; without a rewarder it has no rewards and no episodes."""

    vnc: VNCAddress
    rewarder: RewarderAddress | None = None

    def __str__(self) -> str:
        """`host:vnc_port+rewarder_port`; passwords do not appear."""
        return str(self.vnc) if self.rewarder is None else f"{self.vnc}+{self.rewarder.port}"


class Provider(Protocol):
    """A source of `n` remotes; its coroutines run on the environment's event loop."""

    @property
    def n(self) -> int:
        """How many remotes it hands out."""
        ...

    async def acquire(self, index: int) -> RemoteAddress:
        """Return where remote `index` listens, starting it (again) if it is not alive.

        Raises:
            ProviderError: it could not be started.
        """
        ...

    async def discard(self, index: int) -> None:
        """Remote `index` is alive but of no use (its reset never ends): the next `acquire` gives another."""
        ...

    async def close(self) -> None:
        """Take every remote back. Idempotent."""
        ...


@runtime_checkable
class Staged(Protocol):
    """A provider whose remotes take a while to start, and that says how far they are."""

    def phase(self, index: int) -> str | None:
        """Return what remote `index` waits for in `acquire`; None when it is started."""
        ...
