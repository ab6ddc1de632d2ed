"""The actor that runs a few remotes on its node. It ends with its agent, and its remotes end with it."""

from __future__ import annotations

import os

from rewarder.serving import Serving
from universe_client.errors import RemoteError, UniverseError, is_refused_by_system, message_of
from universe_client.providers.containers.provider import DockerProvider
from universe_client.providers.embedded import EmbeddedProvider
from universe_client.providers.provider import Provider, RemoteAddress
from universe_client.providers.ray.far import FarDockerProvider, FarProvider
from universe_client.providers.ray.records import TAKEN_DOWN, Description, Plan, Refusal
from universe_client.providers.ray.system import this_host, this_node

IDLE_TIMEOUT = 60.0
"""Seconds without an agent after which a remote ends, unless `serving` has another `idle_timeout`."""
_PATIENCE = 0.9
"""The share of `start_timeout` after which a start has failed here, so that the agent learns the reason in time."""


class Host:
    """Starts the remotes of a plan on this node. All its methods run on the actor's event loop."""

    def __init__(self, plan: Plan) -> None:
        """Start nothing yet.

        Raises:
            ConfigError: remotes of this kind cannot run here.
        """
        self._plan = plan
        self._host, self._node = this_host(), this_node()
        self._provider = _provider(plan, None if self._node == plan.agent_node else self._host)
        self._running: set[int] = set()
        self._retired = False

    async def ping(self) -> None:
        """Reply."""

    async def acquire(self, slot: int) -> RemoteAddress | Refusal:
        """Return the address of a remote; start it if it does not run."""
        if self._retired:
            return TAKEN_DOWN
        self._running.discard(slot)
        try:
            address = await self._provider.acquire(slot)
        except RemoteError as error:
            return Refusal(str(error.args[0]), error.permanent)
        except (UniverseError, OSError, MemoryError, RuntimeError) as error:
            if not isinstance(error, UniverseError) and not is_refused_by_system(error):
                raise
            return Refusal(message_of(error))
        self._running.add(slot)
        return address

    async def discard(self, slot: int) -> None:
        """End a remote."""
        self._running.discard(slot)
        await self._provider.discard(slot)

    async def describe(self) -> Description:
        """Return what runs here."""
        return Description(self._plan, self._host, self._node, os.getpid(), len(self._running), self._retired)

    async def retire(self) -> None:
        """End the remotes, and refuse to start others: the agent learns that its session was ended."""
        self._retired = True
        await self.close()

    async def close(self) -> None:
        """End the remotes."""
        self._running.clear()
        await self._provider.close()


def _provider(plan: Plan, host: str | None) -> Provider:
    """Return the provider that starts the remotes on this node.

    Args:
        plan: which ones.
        host: the address that they listen on; None: only processes of this machine reach them.
    """
    n, env_id, timeout = len(plan.indexes), plan.env_id, _PATIENCE * plan.start_timeout
    serving = plan.serving.over(Serving(idle_timeout=IDLE_TIMEOUT))
    if plan.kind == "docker":
        if host is None:
            return DockerProvider(n, env_id, timeout, reference=plan.reference, serving=serving)
        return FarDockerProvider(n, env_id, timeout, reference=plan.reference, serving=serving, host=host)
    if host is None:
        return EmbeddedProvider(n, env_id, timeout, serving)
    return FarProvider(n, env_id, timeout, serving, host)
