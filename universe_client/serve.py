"""`universe-client serve`: one remote in the foreground, and how to connect to it."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from rewarder.runtime import Ports, RuntimeCrash
from rewarder.runtime import run as run_runtime
from rewarder.runtimes import RuntimeOptions, opened
from rewarder.viewer import viewer_path
from universe_client.errors import ConfigError
from universe_client.remotes.address import read_secret
from universe_client.view import base_url
from vnc.tls import Identity
from vnc.vncauth import obfuscated

_VNC_PASSWORD_LENGTH = 8
_EVERYWHERE = ("0.0.0.0", "::")  # nothing listens here: what clients are told is a name


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """What is to be served, and where."""

    env_id: str
    host: str
    vnc_port: int
    rewarder_port: int
    password_file: Path | None
    seed: int | None
    idle_timeout: float | None
    novnc: Path | None
    call: Sequence[str]
    runtime: RuntimeOptions
    identity: Identity | None
    private_network: bool


def serve(command: ServeCommand) -> int:
    """Serve until Ctrl-C; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="universe-client-") as directory:
        password = read_secret(command.password_file) if command.password_file else secrets.token_urlsafe(16)
        files = _write_secrets(Path(directory), password)
        try:
            _play(command, password, files)
        except RuntimeCrash:
            return 1  # told where it happened
        except (ValueError, ImportError) as error:
            raise ConfigError(str(error)) from error
    return 0


def _play(command: ServeCommand, password: str, files: tuple[Path, Path]) -> None:
    with opened(
        command.env_id,
        command.runtime,
        host=command.host,
        vnc_port=command.vnc_port,
        password=password,
        identity=command.identity,
        private_network=command.private_network,
    ) as (runtime, display):
        run_runtime(
            runtime,
            host=command.host,
            vnc_port=command.vnc_port,
            rewarder_port=command.rewarder_port,
            password=password,
            env_id=command.env_id,
            seed=command.seed,
            idle_timeout=command.idle_timeout,
            on_ready=lambda ports: _announce(command, ports, password, files),
            display=display,
            novnc=command.novnc,
            call=command.call,
            identity=command.identity,
            private_network=command.private_network,
        )


def _address(host: str, ports: Ports, password_file: Path, identity: Identity | None) -> str:
    """Where agents connect to: over TLS with the certificate pinned, whoever signed it and for whatever name."""
    remote = f"{f'[{host}]' if ':' in host else host}:{ports.vnc_port}+{ports.rewarder_port}"
    if identity is None:
        return f"vnc://{remote}?password_file={password_file}"
    return f"vncs://{remote}?fingerprint={identity.fingerprint.hex()}&password_file={password_file}"


def _write_secrets(directory: Path, password: str) -> tuple[Path, Path]:
    """Write the password as text, and as TigerVNC's viewer reads it; return both paths."""
    text, viewer = directory / "password", directory / "vncpasswd"
    for path, content in ((text, f"{password}\n".encode()), (viewer, obfuscated(password))):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    return text, viewer


def _announce(command: ServeCommand, ports: Ports, password: str, files: tuple[Path, Path]) -> None:
    text, viewer = files
    host = socket.gethostname() if command.host in _EVERYWHERE else command.host
    page = base_url(host, ports.rewarder_port, secure=command.identity is not None)
    address = _address(host, ports, text, command.identity)
    trusting = "" if command.identity is None else f"-X509CA {command.identity.certificate} "
    shown = f"[{host}]" if ":" in host else host
    Console(soft_wrap=True, highlight=False).print(
        f"[bold]{command.env_id}[/] runs; Ctrl-C ends it.\n"
        f"  an agent     universe-client run --remotes '{address}'\n"
        f"  a viewer     vncviewer {trusting}-PasswordFile {viewer} {shown}::{ports.vnc_port}\n"
        f"  a browser    {page}{viewer_path(ports.tokens.watch, acting=False)}\n"
        f"               {page}{viewer_path(ports.tokens.act, acting=True)} [dim]has keyboard and mouse[/]\n"
        f"  its health   {page}/healthz\n"
        f"  its password [dim]in {text}; a viewer that asks for it gets the first "
        f"{_VNC_PASSWORD_LENGTH} characters:[/] {password[:_VNC_PASSWORD_LENGTH]}"
    )
