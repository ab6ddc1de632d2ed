"""One actor of a session, from the request for its place in the cluster to its end."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from universe_client.providers.containers.background import blocking
from universe_client.providers.provider import RemoteAddress
from universe_client.providers.ray import system
from universe_client.providers.ray.host import Host
from universe_client.providers.ray.records import Description, Plan, Refusal, Resources
from universe_client.providers.ray.system import ActorKilled, ActorLost, ClusterError

logger = logging.getLogger(__name__)

_PING_TIMEOUT = 5.0
_CLOSE_TIMEOUT = 15.0
_NEVER = 10 * 365 * 86400.0


class Claim:
    """An actor that Ray places on a node as soon as one has room, and its remotes.

    Attributes:
        plan: what the actor does.
        placed: ends when the actor runs, with its description, or with the error of its start.
    """

    def __init__(self, plan: Plan, resources: Resources, group: Any) -> None:
        """Ask for a place.

        Args:
            plan: what the actor is to do.
            resources: of one of its remotes.
            group: the placement group; None spreads actors over the nodes.
        """
        self.plan = plan
        self._handle: Any = None
        self._is_over = False
        self.placed = asyncio.create_task(self._place(resources, group), name=f"place of {plan.name}")
        self.placed.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _place(self, resources: Resources, group: Any) -> Description:
        silent = await silent_nodes()
        if silent:
            logger.info("= %s is placed elsewhere: nodes %s do not answer", self.plan.name, ", ".join(silent))
        options = resources.of(len(self.plan.indexes))
        self._handle = await blocking(
            lambda: system.create(Host, self.plan, self.plan.name, options, not_on=silent, group=group)
        )
        if self._is_over:
            await blocking(lambda: system.kill(self._handle))
            raise ActorLost("its session was closed meanwhile")
        description: Description = await system.result(self._handle.describe.remote(), _NEVER)
        logger.info("= %s is on node %s (%s)", self.plan.name, description.node, description.host)
        return description

    @property
    def is_placed(self) -> bool:
        """Whether the actor runs, or ran."""
        return self.placed.done() and not self.placed.cancelled() and self.placed.exception() is None

    async def still_answers(self) -> bool:
        """Return whether the actor, which was placed, still runs.

        Raises:
            ActorKilled: somebody has ended it.
        """
        try:
            await system.result(self._handle.ping.remote(), _PING_TIMEOUT)
        except ActorKilled:
            raise
        except ClusterError as error:
            logger.warning("! %s is lost: %s", self.plan.name, error)
            return False
        return True

    async def start(self, slot: int, seconds: float) -> RemoteAddress | Refusal:
        """Return the address of a remote, or why it did not start.

        Raises:
            ClusterError: the actor is lost.
        """
        answer: RemoteAddress | Refusal = await system.result(self._handle.acquire.remote(slot), seconds)
        return answer

    async def discard(self, slot: int) -> None:
        """End a remote, if the actor was placed."""
        if not self.is_placed:
            return
        try:
            await system.result(self._handle.discard.remote(slot), _CLOSE_TIMEOUT)
        except ClusterError as error:
            logger.info("= %s: %s", self.plan.name, error)

    async def end(self) -> None:
        """End the actor and its remotes, or withdraw the request for a place."""
        self._is_over = True
        try:
            if self.is_placed:
                await system.result(self._handle.close.remote(), _CLOSE_TIMEOUT)
        except ClusterError as error:
            logger.info("= %s: %s", self.plan.name, error)
        if self._handle is None:
            await asyncio.wait([self.placed])  # it withdraws itself
            return
        self.placed.cancel()
        try:
            await blocking(lambda: system.kill(self._handle))
        except ClusterError as error:
            logger.info("= %s: %s", self.plan.name, error)


async def silent_nodes() -> list[str]:
    """Return the ids of nodes that Ray believes to be alive, but that do not answer."""
    nodes = await blocking(system.nodes)
    answers = await asyncio.gather(*(node.answers() for node in nodes))
    return [node.id for node, answer in zip(nodes, answers, strict=True) if not answer]
