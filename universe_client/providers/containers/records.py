"""Records of what the Docker daemon creates: containers, and how to reach them; networks and volumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from rewarder.serving import ContainerRequest
from universe_client.providers.containers.images import Image


@dataclass(frozen=True, slots=True)
class Plan:
    """A container to create."""

    name: str
    reference: str
    request: ContainerRequest
    labels: Mapping[str, str]
    limits: Image
    network: str
    is_open: bool = False
    """Whether the container may use the network without restrictions."""
    host: str = "127.0.0.1"
    """The address of this machine that the container's ports are published on."""
    fingerprint: bytes | None = None
    """SHA-256 of the certificate in `request`; None without TLS."""


@dataclass(frozen=True, slots=True)
class Container:
    """The present state of one of our containers."""

    id: str
    name: str
    image: str
    labels: Mapping[str, str]
    state: str
    exit_code: int
    out_of_memory: bool
    memory: int
    ports: Mapping[int, int]
    health: str | None
    host: str = ""
    """The address that its ports are published on; "" without ports."""

    @property
    def is_running(self) -> bool:
        """Whether its first process runs."""
        return self.state == "running"

    @property
    def is_unhealthy(self) -> bool:
        """Whether its health check has failed repeatedly."""
        return self.health == "unhealthy"


class Access(msgspec.Struct, frozen=True):
    """How clients of a container authenticate."""

    password: str | None
    certificate: str | None
    """The certificate (PEM) with which clients have to use TLS; None without TLS."""

    def __repr__(self) -> str:
        return "Access(...)"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One of our networks or volumes."""

    id: str
    name: str
    labels: Mapping[str, str]


def container_of(attributes: Mapping[str, Any]) -> Container:
    """Return the state of a container from the daemon's description of it."""
    state, config = attributes["State"], attributes["Config"]
    bound = attributes["NetworkSettings"]["Ports"] or {}
    ports = {int(port.partition("/")[0]): int(hosts[0]["HostPort"]) for port, hosts in bound.items() if hosts}
    addresses = [hosts[0]["HostIp"] for hosts in bound.values() if hosts]
    return Container(
        id=attributes["Id"],
        name=attributes["Name"].lstrip("/"),
        image=config["Image"],
        labels=config["Labels"] or {},
        state=state["Status"],
        exit_code=state["ExitCode"],
        out_of_memory=state["OOMKilled"],
        memory=attributes["HostConfig"]["Memory"],
        ports=ports,
        health=(state.get("Health") or {}).get("Status"),
        host=addresses[0] if addresses else "",
    )


def labelled(found: Any) -> Labelled:
    """Return the record of a network or volume of the SDK."""
    return Labelled(str(found.id), str(found.name), found.attrs.get("Labels") or {})
