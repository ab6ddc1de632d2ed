"""`universe-client serve`: one remote in the foreground, and how to connect to it."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path
from urllib.parse import quote

from rich.console import Console

from rewarder.cli.serve_options import Serving
from rewarder.client import RewarderAddress
from rewarder.display.guard import secret_directory
from rewarder.sdk.runtime import Ports, RuntimeCrash
from rewarder.server.exposure import EVERYWHERE
from rewarder.viewer.site import viewer_path
from universe_client.cli.view import base_url
from universe_client.errors import ConfigError
from universe_client.providers.address import read_secret
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress
from vnc.tls import TLS
from vnc.vncauth import obfuscated

_VNC_PASSWORD_LENGTH = 8


def serve(remote: Serving, password_file: Path | None) -> int:
    """Serve until Ctrl-C; return the exit status.

    Raises:
        ConfigError: it cannot be served like this, or the password file cannot be used.
    """
    with secret_directory() as directory:
        password = read_secret(password_file) if password_file else secrets.token_urlsafe(16)
        files = _write_secrets(directory, password)
        try:
            remote.play(password, on_ready=lambda ports: _announce(remote, ports, password, files))
        except RuntimeCrash:
            return 1  # told where it happened
        except (ValueError, ImportError) as error:
            raise ConfigError(str(error)) from error
    return 0


def _write_secrets(directory: Path, password: str) -> tuple[Path, Path]:
    """Write the password as text, and as TigerVNC's viewer reads it; return both paths."""
    text, viewer = directory / "password", directory / "vncpasswd"
    for path, content in ((text, f"{password}\n".encode()), (viewer, obfuscated(password))):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    return text, viewer


def _announce(served: Serving, ports: Ports, password: str, files: tuple[Path, Path]) -> None:
    text, viewer = files
    tls, scheme, pinned, trusting = None, "vnc", "", ""
    if (identity := served.identity) is not None:
        # Agents pin the certificate, whoever signed it and for whatever name.
        tls, scheme = TLS(fingerprint=identity.fingerprint), "vncs"
        pinned, trusting = f"fingerprint={identity.fingerprint.hex()}&", f"-X509CA {identity.certificate} "
    host = socket.gethostname() if served.host in EVERYWHERE else served.host
    rewarder = RewarderAddress(host, ports.rewarder_port, tls=tls)
    remote = RemoteAddress(VNCAddress(host, ports.vnc_port, tls=tls), rewarder)
    page = base_url(rewarder)
    address = f"{scheme}://{remote}?{pinned}password_file={quote(str(text))}"
    shown = "::".join(str(remote.vnc).rsplit(":", 1))
    console = Console(soft_wrap=True, highlight=False, markup=False)
    pages, beginning = f"universe-client view '{address}'", ""
    if (
        console.is_terminal
    ):  # what is piped is kept: there, whoever reads it would need the password file all the same
        pages = (
            f"{page}{viewer_path(ports.tokens.watch, acting=False)}\n"
            f"               {page}{viewer_path(ports.tokens.act, acting=True)} has keyboard and mouse"
        )
        beginning = f": {password[:_VNC_PASSWORD_LENGTH]}"
    console.print(
        f"{served.env_id} runs; Ctrl-C ends it.\n"
        f"  an agent     universe-client run --remotes '{address}'\n"
        f"  a viewer     vncviewer {trusting}-PasswordFile {viewer} {shown}\n"
        f"  a browser    {pages}\n"
        f"  its health   {page}/healthz\n"
        f"  its password in {text}; a viewer that asks for it gets the first "
        f"{_VNC_PASSWORD_LENGTH} characters{beginning}"
    )
