"""`universe-client view`: a remote in your browser, or in a VNC viewer."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import tempfile
import webbrowser
from contextlib import closing
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path

import msgspec
from rich.console import Console

from rewarder.certificates import HANDSHAKE_ERRORS
from rewarder.client import RewarderAddress
from rewarder.credentials import authorization
from rewarder.display.guard import secret_directory
from rewarder.viewer.site import viewer_path
from universe_client.cli.containers import address_of
from universe_client.errors import ConfigError
from universe_client.providers.address import parse
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress
from vnc.vncauth import obfuscated

TIMEOUT = 10.0
"""Seconds for the rewarder to answer."""
MAX_ANSWER = 4096
NATIVE_VIEWERS = ("xtigervncviewer", "vncviewer")


class _Tokens(msgspec.Struct, frozen=True):
    watch: str
    act: str

    def __repr__(self) -> str:
        return "_Tokens(...)"


@dataclass(frozen=True, slots=True)
class ViewCommand:
    """Which remote is to be seen, and how."""

    address: str
    """A `vnc://` or `vncs://` address, or the name of a container."""
    acting: bool
    native: bool
    print_only: bool


def view(command: ViewCommand) -> int:
    """Show the remote; return the exit status."""
    remotes = parse(command.address) if ":" in command.address else [address_of(command.address)]
    if len(remotes) > 1:
        raise ConfigError(f"{len(remotes)} remotes are named, one can be viewed at a time")
    if command.native:
        return _view_natively(remotes[0], command.acting)
    url = viewer_url(remotes[0], acting=command.acting)
    if not command.print_only:
        if webbrowser.open(_redirect(url).as_uri()):
            return 0
        Console(stderr=True, markup=False).print("no browser can be started here: open this page in one")
    Console(soft_wrap=True, highlight=False, markup=False).print(url)
    return 0


def viewer_url(remote: RemoteAddress, *, acting: bool) -> str:
    """Return the address of the remote's viewer page; who has it needs no password.

    Raises:
        ConfigError: the remote has no rewarder, it refuses the password, or it has no viewer.
    """
    if remote.rewarder is None:
        raise ConfigError("the address has no rewarder port, which serves the viewer: --native needs none")
    tokens = _tokens(remote.rewarder)
    return base_url(remote.rewarder) + viewer_path(tokens.act if acting else tokens.watch, acting=acting)


def base_url(rewarder: RewarderAddress) -> str:
    """Return where the rewarder's pages begin."""
    return f"http{'' if rewarder.tls is None else 's'}://{rewarder}"


def _tokens(rewarder: RewarderAddress) -> _Tokens:
    try:
        status, body = _ask(rewarder, "/viewer/tokens")
        if status == HTTPStatus.OK:
            return msgspec.json.decode(body, type=_Tokens)
    except (OSError, ValueError, HTTPException, msgspec.DecodeError) as error:
        raise ConfigError(f"{rewarder}: {_words(rewarder, error)}") from error
    said = {
        HTTPStatus.UNAUTHORIZED: "refuses the password",
        HTTPStatus.FORBIDDEN: "is not served by this name: --allow-host where it runs, or its address",
    }
    raise ConfigError(f"{rewarder} {said.get(HTTPStatus(status), f'has no viewer (HTTP {status})')}")


def _ask(rewarder: RewarderAddress, path: str) -> tuple[int, bytes]:
    """Get a page. The password goes to the remote alone: to no proxy, and nowhere a redirect might point."""
    headers = {} if rewarder.password is None else {"Authorization": authorization(rewarder.password)}
    with closing(_connection(rewarder)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(MAX_ANSWER)


def _connection(rewarder: RewarderAddress) -> HTTPConnection:
    """Over TLS, with a server that is trusted."""
    tls = rewarder.tls
    if tls is None:
        return HTTPConnection(rewarder.host, rewarder.port, timeout=TIMEOUT)
    connection = HTTPSConnection(rewarder.host, rewarder.port, timeout=TIMEOUT, context=tls.context())
    connection.connect()
    assert isinstance(connection.sock, ssl.SSLSocket)
    try:
        tls.check(connection.sock.getpeercert(binary_form=True))
    except ValueError:
        connection.close()
        raise
    return connection


def _words(rewarder: RewarderAddress, error: Exception) -> str:
    if rewarder.tls is not None and isinstance(error, HANDSHAKE_ERRORS):
        return rewarder.tls.refusal(error)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _redirect(url: str) -> Path:
    """Write a page only we can read that leads to `url`: others see the arguments a browser is started with."""
    directory = Path(os.environ.get("XDG_RUNTIME_DIR") or Path.home() / ".cache") / "universe-client"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    page = f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={escape(url)}">\n'
    with tempfile.NamedTemporaryFile("w", dir=directory, delete=False) as file:
        file.write(page)
    path = directory / "view.html"
    os.replace(file.name, path)  # of the view before, whose browser has long read it
    return path


def _security(address: VNCAddress) -> list[str]:
    """What makes TigerVNC's viewer insist on TLS; it asks its user about certificates that it does not know."""
    if address.tls is None:
        return []
    if address.tls.fingerprint is not None:
        raise ConfigError(
            "vncviewer pins no fingerprint: give ca_file=, with the certificate itself if it signed itself"
        )
    login = "Plain" if address.username is not None else "None" if address.anonymous else "Vnc"
    types = f"X509{login},TLS{login}" if address.tls.insecure else f"X509{login}"
    trusted = [] if address.tls.ca_file is None else ["-X509CA", str(address.tls.ca_file)]
    return ["-SecurityTypes", types, *trusted]


def _view_natively(remote: RemoteAddress, acting: bool) -> int:
    program = next(filter(None, map(shutil.which, NATIVE_VIEWERS)), None)
    if program is None:
        raise ConfigError("no vncviewer is installed: apt install tigervnc-viewer")
    with secret_directory() as directory:
        options = ["-Shared", f"-ViewOnly={0 if acting else 1}", *_security(remote.vnc)]
        if remote.vnc.password is not None:
            path = directory / "vncpasswd"
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(obfuscated(remote.vnc.password))
            options += ["-PasswordFile", str(path)]
        return subprocess.run(
            [program, *options, f"{remote.vnc.host}::{remote.vnc.port}"], check=False
        ).returncode
