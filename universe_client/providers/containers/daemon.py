"""Which daemon runs the containers, and whether it answers."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

from universe_client.errors import ConfigError

_KNOCK_TIMEOUT = 5.0
_DOCKER_SOCKET = Path("/var/run/docker.sock")


class EngineError(Exception):
    """The daemon refused, or is not there; the message says what to do, if that is known."""


class EngineMissing(EngineError):
    """No daemon can be talked to."""


def daemon_url() -> str:
    """Return what `DOCKER_HOST` names, else Docker's socket on this machine.

    Raises:
        ConfigError: the daemon runs on another machine.
    """
    url = os.environ.get("DOCKER_HOST")
    if not url:
        return f"unix://{_DOCKER_SOCKET}"
    address = urlsplit(url)
    if address.scheme != "unix" and address.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise ConfigError(
            f"DOCKER_HOST is on {address.hostname}, and containers listen on its loopback only: run the agent there, "
            "or start remotes there and forward their ports (ssh -L) for a vnc:// address here"
        )
    return url


def knock(url: str) -> None:
    """Raise EngineMissing, saying what to do, if nobody listens; the SDK would say it in many more words."""
    address = urlsplit(url)
    try:
        if address.scheme == "unix":
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_KNOCK_TIMEOUT)
                connection.connect(address.path)
        else:
            socket.create_connection((address.hostname, address.port or 2375), _KNOCK_TIMEOUT).close()
    except PermissionError as error:
        raise EngineMissing(
            f"{url} may not be opened by you: sudo usermod -aG docker $USER, then log in again"
        ) from error
    except OSError as error:
        raise EngineMissing(
            f"no Docker daemon answers at {url} ({error.strerror or error}): start it (sudo systemctl start docker), "
            "or set DOCKER_HOST"
        ) from error
