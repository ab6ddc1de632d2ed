"""`universe-client mcp`: the screens of remotes as tools for the model of an MCP host."""

from __future__ import annotations

import argparse
import ipaddress
import socket
from pathlib import Path
from secrets import token_urlsafe

from rich.console import Console

from universe_client.cli.env_options import add_env_options
from universe_client.errors import ConfigError
from universe_client.providers.address import read_secret
from vnc.private_file import create_private

_DESCRIPTION = """\
Serve remotes to a language model over the Model Context Protocol (MCP): tools to look at a screen, to click, type and
press, to play several actions in one call, to read the task and the reward, and to begin a new episode. Every action
waits until the screen is still and returns its picture.

Without --http it speaks over stdin and stdout: this is the command that an MCP host starts.
"""
_EPILOG = """\
the entry for a host, such as in claude_desktop_config.json or .mcp.json:
  {"mcpServers": {"screens": {"command": "universe-client",
                              "args": ["mcp", "--remotes", "docker:2", "desktop.WriteNote-v0"]}}}

Over HTTP it listens on this machine only. A client needs the token as the header `Authorization: Bearer TOKEN`. From
another machine, use `ssh -L PORT:127.0.0.1:PORT`, or a proxy with TLS whose name --allow-host adds.

An agent can do what the programs of the remote can do: docs/models/computer-use.md describes what that is and how to
watch it.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_env_options(parser)
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the first episodes")
    http = parser.add_argument_group("HTTP")
    http.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        help="serve streamable HTTP at http://127.0.0.1:PORT/mcp instead; port 0 takes a free one. HOST is another "
        "address of this machine's loopback",
    )
    http.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="the file with the token; if there is none, one is written. Default: a new token, printed on stderr",
    )
    http.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="accept requests whose header Host has this name too; it may be repeated",
    )
    parser.set_defaults(command=_command)


def _command(options: argparse.Namespace) -> int:
    try:
        from universe_client.hands import mcp
    except ImportError as error:
        raise ConfigError(f"MCP needs the extra 'mcp': pip install '.[mcp]' ({error})") from error
    if options.http is None:
        if options.token_file or options.allow_host:
            raise ConfigError("--token-file and --allow-host need --http")
        mcp.serve_stdio(options.env_id, options.remotes, seed=options.seed)
        return 0
    listener = listen(options.http)
    token = _token(options.token_file)
    _announce(listener, token, options.token_file)
    mcp.serve_http(options.env_id, options.remotes, listener, token, options.allow_host, seed=options.seed)
    return 0


def listen(where: str) -> socket.socket:
    """Return a listening socket at `[HOST:]PORT`.

    Raises:
        ConfigError: it is no such address, or not one of loopback.
        OSError: the port is in use.
    """
    host, _, port = where.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
        number = int(port)
    except ValueError:
        raise ConfigError(f"--http {where!r} is not [HOST:]PORT, such as 8765 or [::1]:8765") from None
    if not address.is_loopback:
        raise ConfigError(
            f"--http {where}: {host} can be reached from other machines, and HTTP shows them the token. Listen on "
            "127.0.0.1, and use ssh -L or a proxy with TLS (--allow-host)"
        )
    if not 0 <= number <= 65535:
        raise ConfigError(f"--http {where}: a port is at most 65535")
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    return socket.create_server((str(address), number), family=family)


def _token(path: Path | None) -> str:
    if path is not None and path.exists():
        return read_secret(path)
    token = token_urlsafe(32)
    if path is not None:
        with create_private(path) as file:
            file.write(f"{token}\n".encode())
    return token


def _announce(listener: socket.socket, token: str, path: Path | None) -> None:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    where = f"in {path}" if path else token
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(
        f"MCP at http://{shown}:{port}/mcp; Ctrl-C ends it.\n  its token {where}"
    )
