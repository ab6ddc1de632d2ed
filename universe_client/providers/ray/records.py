"""What the agent and its actors exchange, and the resources that a remote of each kind reserves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from rewarder.serving import Serving
from universe_client.providers.containers.images import IMAGES, image_for

Kind = Literal["embedded", "process", "docker"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_ON_A_DISPLAY = ("process.", "browser.", "desktop.")
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Resources:
    """What one remote reserves on its node. Ray only counts: it does not enforce these limits.

    Args:
        cpus: processors.
        memory: bytes.
        custom: amounts of resources that the cluster's nodes define, such as `{"screens": 1}`.
    """

    cpus: float
    memory: int
    custom: Mapping[str, float] = field(default_factory=dict)

    def of(self, remotes: int) -> dict[str, object]:
        """Return the options of an actor with so many remotes. Ray takes no fractions above 1."""
        return {
            "num_cpus": _rounded(self.cpus * remotes),
            "memory": self.memory * remotes,
            "resources": {name: _rounded(amount * remotes) for name, amount in self.custom.items()},
        }


def _rounded(amount: float) -> float:
    return math.ceil(amount) if amount > 1 else amount


def kind_for(env_id: str) -> Kind:
    """Return the kind of remote that plays `env_id` without containers."""
    return "process" if env_id.startswith(_ON_A_DISPLAY) else "embedded"


def usual_resources(kind: Kind, env_id: str, reference: str | None = None) -> Resources:
    """Return what a remote of this kind reserves if the user does not say otherwise.

    Raises:
        ConfigError: no image plays `env_id`.
    """
    match kind:
        case "embedded":
            return Resources(0.25, 128 * _MIB)
        case "process":
            return Resources(0.5, 512 * _MIB)
        case _:
            image = IMAGES[0] if reference else image_for(env_id)
            return Resources(image.cpus, image.memory)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one actor is to do.

    Attributes:
        name: the actor's name.
        session: the name of the agent's session.
        indexes: the numbers of its remotes.
        kind, env_id, serving, start_timeout, reference: how each remote is started.
        agent_node: the id of the agent's node; remotes on it are reached without the network. "" if the agent's process
            is on none.
        owner: labels that identify the agent's process; see `Owner`.
    """

    name: str
    session: str
    indexes: range
    kind: Kind
    env_id: str
    serving: Serving
    start_timeout: float
    reference: str | None
    agent_node: str
    owner: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An actor could not start a remote. Exceptions of this package do not survive the way through Ray."""

    reason: str
    permanent: bool = False
    session_ended: bool = False


TAKEN_DOWN = Refusal("its session was ended by universe-client down", permanent=True, session_ended=True)


@dataclass(frozen=True, slots=True)
class Description:
    """An actor as `universe-client ps` shows it.

    Attributes:
        plan: what it does, without passwords.
        host: the address of its node.
        node: the id of its node.
        pid: its process.
        running: the number of its remotes that run.
        retired: whether its session was ended.
    """

    plan: Plan
    host: str
    node: str
    pid: int
    running: int
    retired: bool
