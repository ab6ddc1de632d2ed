"""`universe-client ps`, `down` and `reap`: list and end the containers of `docker:N` and the actors of `ray:N`."""

from __future__ import annotations

import argparse
import hashlib
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rewarder.client import RewarderAddress
from universe_client.cli import actors
from universe_client.errors import ConfigError
from universe_client.providers.containers.daemon import EngineMissing
from universe_client.providers.containers.engine import REWARDER_PORT, VNC_PORT, Engine
from universe_client.providers.containers.owner import SESSION, Owner
from universe_client.providers.containers.records import Container
from universe_client.providers.containers.removal import reap, take_down
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress
from vnc.tls import TLS
from vnc.vncauth import vnc_password

_END = "-----END CERTIFICATE-----"
_PIPE_WIDTH = 240  # columns for programs, so that names are not folded
_Work = Callable[[Engine, Console], int]
_Labels = Mapping[str, str]

_PS = """\
List the containers of docker:N remotes: image, state, address, session, and the process of the agent. If there is a Ray
cluster, at $RAY_ADDRESS or on this machine, list the actors of ray:N remotes too.
"""
_DOWN = """\
Remove the containers, and end the Ray actors, that your agents on this machine started, also those in use. An agent
that still runs reports that its session was ended, and starts no others.
"""
_REAP = """\
Remove the containers, and end the Ray actors, whose agent has ended without removing them (kill -9, power failure).
Those of running agents, of other users and of other programs are kept. Each start of docker:N does the same; Ray ends
actors whose agent has ended by itself.
"""


def configure_ps(parser: argparse.ArgumentParser) -> None:
    """Add the description of `ps`."""
    parser.description = _PS
    parser.set_defaults(command=lambda options: ps())


def configure_down(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of `down`."""
    parser.description = _DOWN
    parser.add_argument(
        "sessions", nargs="*", metavar="SESSION", help="as ps lists them; default: all of yours"
    )
    parser.set_defaults(command=lambda options: down(options.sessions))


def configure_reap(parser: argparse.ArgumentParser) -> None:
    """Add the description of `reap`."""
    parser.description = _REAP
    parser.set_defaults(command=lambda options: reap_command())


def ps() -> int:
    """Print tables of our containers and actors; return the exit status."""
    return _everywhere(_print_table, actors.print_table)


def down(sessions: Sequence[str]) -> int:
    """Remove our containers and actors of these sessions, or all; return the exit status."""
    return _everywhere(
        lambda engine, console: _remove(engine, console, sessions),
        lambda console: actors.take_down(console, sessions),
    )


def reap_command() -> int:
    """Remove our containers and actors whose agent has ended; return the exit status."""
    return _everywhere(_reap, actors.reap)


def address_of(name: str) -> RemoteAddress:
    """Return the address of one of our containers, with its password.

    Everybody who can use the Docker daemon can read the password.

    Raises:
        ConfigError: the container does not exist or does not run.
        EngineError: no daemon answers, or the container is not one of ours.
    """
    with closing(Engine()) as engine:
        container = engine.inspect(name)
        if container is None:
            raise ConfigError(f"there is no container {name!r}: universe-client ps lists them")
        if not container.is_running or not container.ports.keys() >= {VNC_PORT, REWARDER_PORT}:
            raise ConfigError(f"container {container.name} is {container.state}, its ports cannot be reached")
        access = engine.access(name)
    tls = None if access.certificate is None else TLS(fingerprint=_fingerprint(access.certificate))
    return RemoteAddress(
        VNCAddress(container.host, container.ports[VNC_PORT], vnc_password(access.password), tls=tls),
        RewarderAddress(container.host, container.ports[REWARDER_PORT], access.password, tls=tls),
    )


def _fingerprint(certificate: str) -> bytes:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.partition(_END)[0] + _END)).digest()


def _everywhere(with_containers: _Work, with_actors: Callable[[Console], None]) -> int:
    """Do the work of a command with the Docker daemon and the Ray cluster, or with the one that there is."""
    console = Console(soft_wrap=True, highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    has_cluster = actors.connected()
    if has_cluster:
        with_actors(console)
    try:
        with closing(Engine()) as engine:
            return with_containers(engine, console)
    except (EngineMissing, ConfigError):
        if not has_cluster:
            raise
        return 0


def _reap(engine: Engine, console: Console) -> int:
    return _count(console, [_print_removed(console, name) for name in reap(engine)])


def _remove(engine: Engine, console: Console, sessions: Sequence[str]) -> int:
    """Remove the containers and networks of this user's agents on this machine, and end their sessions."""
    names = take_down(engine, lambda labels: _is_chosen(labels, sessions))
    return _count(console, [_print_removed(console, name) for name in names])


def _is_chosen(labels: _Labels, sessions: Sequence[str]) -> bool:
    owner = Owner.of(labels)
    return owner is not None and owner.is_local and (not sessions or labels[SESSION] in sessions)


def _print_removed(console: Console, name: str) -> str:
    console.print(f"removed {name}")
    return name


def _count(console: Console, removed: Sequence[str]) -> int:
    console.print(f"{len(removed)} container{'' if len(removed) == 1 else 's'} removed")
    return 0


def _print_table(engine: Engine, console: Console) -> int:
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("container", "image", "state", "address", "session", "agent"):
        table.add_column(column, overflow="fold")
    for container in engine.containers():
        table.add_row(*_row(container))
    console.print(table)
    return 0


def _row(container: Container) -> tuple[str | Text, ...]:
    owner = Owner.of(container.labels)
    state = container.state if container.health is None else f"{container.state}, {container.health}"
    return (
        container.name,
        container.image,
        Text(state, "green" if container.is_running else "red"),
        _address(container),
        container.labels[SESSION],
        _agent(owner),
    )


def _address(container: Container) -> str:
    ports = container.ports
    if VNC_PORT not in ports or REWARDER_PORT not in ports:
        return "-"
    return f"{container.host}:{ports[VNC_PORT]}+{ports[REWARDER_PORT]}"


def _agent(owner: Owner | None) -> Text:
    if owner is None or not owner.is_local:
        return Text("of another user", "dim")
    return Text(f"{owner.pid} has ended", "red") if owner.has_ended else Text(str(owner.pid))
