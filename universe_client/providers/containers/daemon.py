"""The address of the Docker daemon, and a check that it can be reached."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

from universe_client.errors import ConfigError

_CONNECT_TIMEOUT = 5.0
_DOCKER_SOCKET = Path("/var/run/docker.sock")


class EngineError(Exception):
    """The Docker daemon refused a request or cannot be reached. The message names the remedy where one is known."""


class EngineMissing(EngineError):
    """No Docker daemon can be reached."""


def daemon_url() -> str:
    """Return the daemon's URL: `$DOCKER_HOST`, or by default Docker's socket on this machine.

    Raises:
        ConfigError: `$DOCKER_HOST` is on another machine.
    """
    url = os.environ.get("DOCKER_HOST")
    if not url:
        return f"unix://{_DOCKER_SOCKET}"
    address = urlsplit(url)
    if address.scheme != "unix" and address.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise ConfigError(
            f"DOCKER_HOST is on {address.hostname}, where containers listen on loopback only: run the agent there, "
            "or start remotes there and forward their ports (ssh -L) for a vnc:// address here"
        )
    return url


def knock(url: str) -> None:
    """Raise EngineMissing if no daemon listens at `url`. Its message is shorter than the SDK's and names the remedy."""
    address = urlsplit(url)
    try:
        if address.scheme == "unix":
            if sys.platform == "win32":
                raise EngineMissing(
                    "Docker has no Unix socket on Windows: run the agent in WSL 2, or have Docker Desktop listen on "
                    "TCP and set DOCKER_HOST=tcp://127.0.0.1:2375"
                )
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_CONNECT_TIMEOUT)
                connection.connect(address.path)
        else:
            socket.create_connection((address.hostname, address.port or 2375), _CONNECT_TIMEOUT).close()
    except PermissionError as error:
        raise EngineMissing(
            f"you have no permission to open {url}: sudo usermod -aG docker $USER, then log in again"
        ) from error
    except OSError as error:
        raise EngineMissing(
            f"no Docker daemon answers at {url} ({error.strerror or error}): start it (sudo systemctl start docker), "
            "or set DOCKER_HOST"
        ) from error
