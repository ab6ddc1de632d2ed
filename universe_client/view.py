"""`universe-client view`: a remote in your browser, or in a VNC viewer."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
import webbrowser
from dataclasses import dataclass
from html import escape
from pathlib import Path

import msgspec
from rich.console import Console

from rewarder.auth import authorization
from rewarder.client import RewarderAddress
from rewarder.viewer import viewer_path
from universe_client.errors import ConfigError
from universe_client.remotes.address import parse
from universe_client.remotes.provider import RemoteAddress
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
    acting: bool
    native: bool
    print_only: bool


def view(command: ViewCommand) -> int:
    """Show the remote; return the exit status."""
    remotes = parse(command.address)
    if len(remotes) > 1:
        raise ConfigError(f"{len(remotes)} remotes are named, one can be viewed at a time")
    if command.native:
        return _view_natively(remotes[0], command.acting)
    url = viewer_url(remotes[0], acting=command.acting)
    if not command.print_only:
        if webbrowser.open(_redirect(url).as_uri()):
            return 0
        Console(stderr=True).print("no browser can be started here: open this page in one")
    Console(soft_wrap=True, highlight=False).print(url, markup=False)
    return 0


def viewer_url(remote: RemoteAddress, *, acting: bool) -> str:
    """Return the address of the remote's viewer page; who has it needs no password.

    Raises:
        ConfigError: the remote has no rewarder, it refuses the password, or it has no viewer.
    """
    if remote.rewarder is None:
        raise ConfigError("the address has no rewarder port, which serves the viewer: --native needs none")
    tokens = _tokens(remote.rewarder)
    return base_url(remote.rewarder.host, remote.rewarder.port) + viewer_path(
        tokens.act if acting else tokens.watch, acting=acting
    )


def base_url(host: str, port: int) -> str:
    """Return where the rewarder's pages begin."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _tokens(rewarder: RewarderAddress) -> _Tokens:
    url = f"{base_url(rewarder.host, rewarder.port)}/viewer/tokens"
    headers = {} if rewarder.password is None else {"Authorization": authorization(rewarder.password)}
    # A password goes to the remote alone: to no proxy, and nowhere a redirect might point.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as answer:
            return msgspec.json.decode(answer.read(MAX_ANSWER), type=_Tokens)
    except urllib.error.HTTPError as error:
        with error:
            what = (
                "refuses the password" if error.code in (401, 403) else f"has no viewer (HTTP {error.code})"
            )
        raise ConfigError(f"{rewarder.host}:{rewarder.port} {what}") from None
    except urllib.error.URLError as error:
        raise ConfigError(
            f"{rewarder.host}:{rewarder.port}: {getattr(error.reason, 'strerror', None) or error.reason}"
        ) from error
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"{rewarder.host}:{rewarder.port}: {error}") from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: object) -> None:
        """Follow none."""


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


def _view_natively(remote: RemoteAddress, acting: bool) -> int:
    program = next(filter(None, map(shutil.which, NATIVE_VIEWERS)), None)
    if program is None:
        raise ConfigError("no vncviewer is installed: apt install tigervnc-viewer")
    with tempfile.TemporaryDirectory(prefix="universe-client-") as directory:
        options = ["-Shared", f"-ViewOnly={0 if acting else 1}"]
        if remote.vnc.password is not None:
            path = Path(directory) / "vncpasswd"
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(obfuscated(remote.vnc.password))
            options += ["-PasswordFile", str(path)]
        return subprocess.run(
            [program, *options, f"{remote.vnc.host}::{remote.vnc.port}"], check=False
        ).returncode
