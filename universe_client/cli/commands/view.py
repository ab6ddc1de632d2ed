"""`universe-client view`: a remote in your browser, or in a VNC viewer."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import webbrowser
from html import escape
from pathlib import Path

from rich.console import Console

from rewarder.display.guard import secret_directory
from universe_client.cli.commands.containers import address_of
from universe_client.cli.pages import viewer_url
from universe_client.errors import ConfigError
from universe_client.providers.address import parse
from universe_client.providers.provider import RemoteAddress
from vnc.private_file import create_private
from vnc.session import VNCAddress
from vnc.vncauth import obfuscated

NATIVE_VIEWERS = ("xtigervncviewer", "vncviewer")
_DESCRIPTION = """\
Open the viewer page of a remote in your browser. It shows the remote without keyboard and mouse; with --act it has
both. With --native, start TigerVNC's viewer instead. Other users of this machine cannot see the password or the page's
address.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "address",
        metavar="REMOTE",
        help="vnc://host:vnc_port+rewarder_port?password_file=FILE, vncs:// for TLS, or the name of a container",
    )
    parser.add_argument("--act", action="store_true", help="send your keys and clicks to the remote")
    parser.add_argument("--native", action="store_true", help="use TigerVNC's vncviewer")
    parser.add_argument(
        "--print",
        action="store_true",
        help="print the address of the page instead; it gives access without a password",
    )
    parser.set_defaults(command=_view)


def _view(options: argparse.Namespace) -> int:
    """Show the remote; return the exit status."""
    remotes = parse(options.address) if ":" in options.address else [address_of(options.address)]
    if len(remotes) > 1:
        raise ConfigError(f"the address has {len(remotes)} remotes: view one at a time")
    if options.native:
        return _view_natively(remotes[0], options.act)
    url = viewer_url(remotes[0], acting=options.act)
    if not options.print:
        if webbrowser.open(_redirect(url).as_uri()):
            return 0
        Console(stderr=True, markup=False).print("no browser was found: open this page in one")
    Console(soft_wrap=True, highlight=False, markup=False).print(url)
    return 0


def _redirect(url: str) -> Path:
    """Write a private page that redirects to `url`; other users can see the arguments that a browser starts with."""
    directory = Path(os.environ.get("XDG_RUNTIME_DIR") or Path.home() / ".cache") / "universe-client"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    page = f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={escape(url)}">\n'
    with tempfile.NamedTemporaryFile("w", dir=directory, delete=False) as file:
        file.write(page)
    path = directory / "view.html"
    os.replace(file.name, path)  # replaces the page of the previous call
    return path


def _security(address: VNCAddress) -> list[str]:
    """Return options that make TigerVNC's viewer require TLS. It asks its user about certificates it cannot verify."""
    if address.tls is None:
        return []
    if address.tls.fingerprint is not None:
        raise ConfigError(
            "vncviewer cannot compare a fingerprint: use ca_file=, with the server's certificate if it is self-signed"
        )
    login = "Plain" if address.username is not None else "None" if address.anonymous else "Vnc"
    types = f"X509{login},TLS{login}" if address.tls.insecure else f"X509{login}"
    trusted = [] if address.tls.ca_file is None else ["-X509CA", str(address.tls.ca_file)]
    return ["-SecurityTypes", types, *trusted]


def _view_natively(remote: RemoteAddress, acting: bool) -> int:
    program = next(filter(None, map(shutil.which, NATIVE_VIEWERS)), None)
    if program is None:
        raise ConfigError("vncviewer is not installed: apt install tigervnc-viewer")
    with secret_directory() as directory:
        options = ["-Shared", f"-ViewOnly={0 if acting else 1}", *_security(remote.vnc)]
        if remote.vnc.password is not None:
            path = directory / "vncpasswd"
            with create_private(path) as file:
                file.write(obfuscated(remote.vnc.password))
            options += ["-PasswordFile", str(path)]
        return subprocess.run(
            [program, *options, f"{remote.vnc.host}::{remote.vnc.port}"], check=False
        ).returncode
