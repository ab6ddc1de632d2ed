"""`universe-client serve`: one remote in the foreground, for agents and viewers."""

from __future__ import annotations

import argparse
import socket
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from urllib.parse import quote

import msgspec
from rich.console import Console

from rewarder.cli.serve_options import add_options, serving
from rewarder.client import RewarderAddress
from rewarder.display.guard import secret_directory
from rewarder.runtimes import env_ids
from rewarder.runtimes.serve import serve_env
from rewarder.sdk.environment import Runtime
from rewarder.sdk.runtime import Ports, RuntimeCrash
from rewarder.server.exposure import EVERYWHERE
from rewarder.serving import Ready, Serving
from rewarder.version import VERSION
from rewarder.viewer.site import viewer_path
from universe_client.cli.agents import import_from_here
from universe_client.cli.pages import base_url
from universe_client.errors import ConfigError
from universe_client.providers.address import read_secret
from universe_client.providers.provider import RemoteAddress
from vnc.private_file import create_private
from vnc.session import VNCAddress
from vnc.tls import TLS
from vnc.vncauth import PASSWORD_BYTES, obfuscated, vnc_password

_DESCRIPTION = """\
Start one remote in the foreground and print its address. Agents and VNC viewers can connect at the same time. The
remote ends on Ctrl-C and SIGTERM.

By default it listens on this machine only, on free ports, with a random password in a file that only you can read.
"""
_EPILOG = """\
With --json, one line of JSON is printed when both ports are open, for programs:
  {"vnc_port": 5900, "rewarder_port": 15900, "mirror_port": 0, "version": "...", "viewer_token": "...",
   "password_file": "..."}
http://HOST:REWARDER_PORT/viewer/#watch=VIEWER_TOKEN shows the remote in a browser, without keyboard and mouse.
http://HOST:REWARDER_PORT/healthz reports its health. With --tls-certificate both pages are https://.

VNC authentication uses the first 8 bytes of a password, the rewarder all of it.
"""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The passwords of a remote, and the files that contain the main one."""

    password: str | None
    view_only: str | None
    text: Path
    """The password as text, as `password_file=` of an address reads it."""
    viewer: Path
    """The password as TigerVNC's viewer reads it."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("env_id", metavar="ENV_ID", help=f"the environment: {', '.join(env_ids())}")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of text")
    add_options(parser)
    group = parser.add_argument_group("passwords (files: the first line counts, mode 0600)")
    either = group.add_mutually_exclusive_group()
    either.add_argument("--password-file", type=Path, metavar="FILE", help="use the password in this file")
    either.add_argument(
        "--no-password", action="store_true", help="accept every client that can reach the ports"
    )
    group.add_argument(
        "--view-only-password-file",
        type=Path,
        metavar="FILE",
        help="a second password, with which VNC viewers can watch but not act",
    )
    parser.set_defaults(command=_command)


def _command(options: argparse.Namespace) -> int:
    import_from_here()  # for --runtime
    return serve_as(options, None)


def serve_as(options: argparse.Namespace, runtime: Runtime | None) -> int:
    """Serve with the options of this command; return the exit status.

    Args:
        options: parsed by the parser of `configure`.
        runtime: what plays the env id; None finds it by the name.
    """
    with secret_directory() as directory:
        return _serve(options, runtime, _secrets(options, directory))


def _serve(options: argparse.Namespace, runtime: Runtime | None, secrets: Secrets) -> int:
    remote = serving(options)
    announce = _print_json if options.json else _print_text
    try:
        serve_env(
            options.env_id,
            remote,
            runtime=runtime,
            password=secrets.password,
            view_only_password=secrets.view_only,
            on_ready=lambda ports: announce(options.env_id, remote, ports, secrets),
        )
    except RuntimeCrash:
        return 1  # the runtime's traceback is in the log
    except (ValueError, ImportError) as error:
        raise ConfigError(str(error)) from error
    return 0


def _secrets(options: argparse.Namespace, directory: Path) -> Secrets:
    """Read or choose the passwords, and write the main one into `directory` for agents and viewers on this machine."""
    password, view_only = None, None
    if not options.no_password:
        file = options.password_file
        password = read_secret(file) if file is not None else token_urlsafe(16)
    if options.view_only_password_file is not None:
        view_only = read_secret(options.view_only_password_file)
    found = Secrets(password, view_only, directory / "password", directory / "vncpasswd")
    if password is not None:
        for path, content in ((found.text, f"{password}\n".encode()), (found.viewer, obfuscated(password))):
            with create_private(path) as file:
                file.write(content)
    return found


def _print_json(env_id: str, served: Serving, ports: Ports, secrets: Secrets) -> None:
    ready = Ready(
        vnc_port=ports.vnc_port,
        rewarder_port=ports.rewarder_port,
        mirror_port=ports.mirror_port,
        version=VERSION,
        viewer_token=ports.tokens.watch,
        password_file=None if secrets.password is None else str(secrets.text),
    )
    print(msgspec.json.encode(ready).decode(), flush=True)  # noqa: T201


def _print_text(env_id: str, served: Serving, ports: Ports, secrets: Secrets) -> None:
    tls, scheme, query, viewer_options = None, "vnc", "", ""
    if (identity := served.identity) is not None:
        # Agents compare the fingerprint, which works for certificates of any authority and for any host name.
        tls, scheme = TLS(fingerprint=identity.fingerprint), "vncs"
        query, viewer_options = (
            f"fingerprint={identity.fingerprint.hex()}&",
            f"-X509CA {identity.certificate} ",
        )
    if secrets.password is not None:
        query += f"password_file={quote(str(secrets.text))}"
        viewer_options += f"-PasswordFile {secrets.viewer} "
    host = socket.gethostname() if served.host in EVERYWHERE else served.host
    rewarder = RewarderAddress(host, ports.rewarder_port, tls=tls)
    remote = RemoteAddress(VNCAddress(host, ports.mirror_port or ports.vnc_port, tls=tls), rewarder)
    page, query = base_url(rewarder), query.rstrip("&")
    address = f"{scheme}://{remote}?{query}" if query else f"{scheme}://{remote}"
    shown = "::".join(str(VNCAddress(host, ports.vnc_port)).rsplit(":", 1))
    console = Console(soft_wrap=True, highlight=False, markup=False)
    pages = f"universe-client view '{address}'"
    password = f"in {secrets.text}; VNC viewers ask for its first {PASSWORD_BYTES} characters"
    if secrets.password is None:
        password = "none: it accepts every client that can reach its ports"
    if console.is_terminal:  # text that goes to a file or a program contains no secrets
        pages = (
            f"{page}{viewer_path(ports.tokens.watch, acting=False)}\n"
            f"               {page}{viewer_path(ports.tokens.act, acting=True)} has keyboard and mouse"
        )
        password += f": {vnc_password(secrets.password)}" if secrets.password else ""
    console.print(
        f"{env_id} runs; Ctrl-C ends it.\n"
        f"  an agent     universe-client run --remotes '{address}'\n"
        f"  a viewer     vncviewer {viewer_options}{shown}\n"
        f"  a browser    {pages}\n"
        f"  its health   {page}/healthz\n"
        f"  its password {password}"
    )
