"""A typed interface to Ray, which is imported when it is needed. Calls block, unless they are coroutines."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import os
import socket
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from universe_client.errors import ConfigError, UniverseError

NAMESPACE = "universe-client"
"""Ray's namespace of the names of our actors."""
_INSTALL = "ray:N remotes need Ray: pip install '.[ray]' in a checkout of universe-client, on every node"
_KNOCK_TIMEOUT = 2.0
_BY_KILL = "killed by `ray.kill`"
"""Ray's words for it: its exceptions have no other sign."""
_MOST_CALLS = 1000  # of one actor at a time
T = TypeVar("T")


class ClusterError(UniverseError):
    """Ray refused something, or an actor is lost."""


class ActorLost(ClusterError):
    """An actor has ended, or does not answer."""


class ActorKilled(ActorLost):
    """Somebody has ended an actor: `universe-client down`, or another program by `ray.kill`."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node that Ray believes to be alive.

    Attributes:
        id: Ray's name for it.
        host, port: where its raylet listens.
    """

    id: str
    host: str
    port: int

    async def answers(self) -> bool:
        """Return whether its raylet accepts a connection. Ray itself needs up to 15 s to notice that a node died."""
        try:
            async with asyncio.timeout(_KNOCK_TIMEOUT):
                _, writer = await asyncio.open_connection(self.host, self.port)
        except OSError:  # TimeoutError is one
            return False
        writer.close()
        return True


def is_installed() -> bool:
    """Return whether Ray is installed."""
    return importlib.util.find_spec("ray") is not None


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise ConfigError(_INSTALL) from None


def connect(address: str | None) -> None:
    """Connect this process to a cluster, unless it is connected.

    Args:
        address: of the cluster; None: that of `$RAY_ADDRESS`, or the one of this machine, or a new one on
            this machine alone.

    Raises:
        ConfigError: Ray is not installed, or there is no cluster.
    """
    ray = _ray()
    if address is not None and address.startswith("ray://"):
        raise ConfigError(
            f"{address} is the address of a Ray Client; run the agent on a node of the cluster, such as its head"
        )
    if ray.is_initialized():
        return
    if address is not None and not _is_reachable(address):
        raise ConfigError(f"no Ray cluster at {address}: nothing accepts a connection there")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(f"no Ray cluster at {address or 'this machine'}: {error}") from error


def known_address() -> str | None:
    """Return the address of the cluster of `$RAY_ADDRESS` or of this machine; None if there is none that answers."""
    note = Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / "ray_current_cluster"
    address = os.environ.get("RAY_ADDRESS") or (note.read_text().strip() if note.exists() else "")
    return address if address and _is_reachable(address) else None


def _is_reachable(address: str) -> bool:
    """Return whether something listens at `host:port`; Ray would try for minutes. Other forms are Ray's business."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        return True
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_TIMEOUT).close()
    except OSError:
        return False
    return True


def is_connected() -> bool:
    """Return whether this process is connected to a cluster."""
    return bool(_ray().is_initialized())


def this_job() -> str:
    """Return the id of this process's connection to the cluster."""
    return str(_ray().get_runtime_context().get_job_id())


def this_node() -> str:
    """Return the id of the node that this process is on."""
    return str(_ray().get_runtime_context().get_node_id())


def this_host() -> str:
    """Return the address by which other nodes reach this one."""
    return str(_ray().util.get_node_ip_address())


def nodes() -> list[Node]:
    """Return the nodes that Ray believes to be alive."""
    with _translated():
        found = [node for node in _ray().nodes() if node["Alive"]]
    return [Node(node["NodeID"], node["NodeManagerAddress"], node["NodeManagerPort"]) for node in found]


def create(
    kind: type[Any],
    argument: object,
    name: str,
    resources: Mapping[str, object],
    *,
    not_on: list[str],
    group: Any = None,
) -> Any:
    """Create an actor; return its handle. It ends with this process, and Ray does not restart it.

    Args:
        kind: the actor's class.
        argument: of its constructor.
        name: its name in `NAMESPACE`.
        resources: what it reserves; see `Resources.of`.
        not_on: ids of nodes on which it must not be placed.
        group: a placement group; None spreads actors over the nodes.
    """
    ray = _ray()
    strategy: object = "SPREAD"
    if group is not None:
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        strategy = strategies.PlacementGroupSchedulingStrategy(placement_group=group)
    elsewhere = {"label_selector": {"ray.io/node-id": f"!in({','.join(not_on)})"}} if not_on else {}
    with _translated():
        return (
            ray.remote(kind)
            .options(
                name=name,
                namespace=NAMESPACE,
                scheduling_strategy=strategy,
                max_restarts=0,
                max_concurrency=_MOST_CALLS,
                **resources,
                **elsewhere,
            )
            .remote(argument)
        )


def named(prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the names and handles of our actors of all agents, as far as they live."""
    ray = _ray()
    with _translated():
        found = ray.util.list_named_actors(all_namespaces=True)
    for actor in found:
        if actor["namespace"] == NAMESPACE and actor["name"].startswith(prefix):
            with suppress(ValueError):  # it has ended meanwhile
                yield actor["name"], ray.get_actor(actor["name"], NAMESPACE)


def kill(handle: Any) -> None:
    """End an actor at once, also one that waits for a place."""
    with _translated(), suppress(ActorLost):
        _ray().kill(handle)


def get(reference: Any, timeout: float) -> Any:
    """Return the result of a call of an actor.

    Raises:
        ActorLost: it has ended, or does not answer within `timeout` seconds.
        ClusterError: the call raised an exception.
    """
    with _translated():
        return _ray().get(reference, timeout=timeout)


async def result(reference: Awaitable[T], seconds: float) -> T:
    """Return the result of a call of an actor, as `get` does."""
    try:
        with _translated():
            return await asyncio.wait_for(reference, seconds)
    except TimeoutError:
        raise ActorLost(f"its actor does not answer within {seconds:g} s") from None


@contextmanager
def _translated() -> Iterator[None]:
    """Translate Ray's errors into ours; only the first line, as the rest are Ray's own addresses and ids."""
    errors = importlib.import_module("ray.exceptions")
    try:
        yield
    except (errors.RayActorError, errors.GetTimeoutError) as error:
        lost = ActorKilled if _BY_KILL in str(error) else ActorLost
        raise lost(_first_line(error)) from error
    except errors.RayError as error:
        raise ClusterError(str(error).strip()) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
