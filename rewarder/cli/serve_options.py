"""The command-line options of a remote: one for each field of `rewarder.serving.Serving`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import Any

from rewarder.cli.option_types import host, port, positive, size
from rewarder.serving import LOG_LEVELS, Request, Serving

_DEFAULT = Serving()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser. Those that are not given are missing in its namespace."""
    _add_environment(parser.add_argument_group("environment"))
    _add_display(parser.add_argument_group("X display of process.*, browser.*, desktop.* (TigerVNC)"))
    _add_network(parser.add_argument_group("network"))


def serving(options: argparse.Namespace) -> Serving:
    """Return the options that were given, with the defaults of the others."""
    return Serving(
        **{name: value for name, value in vars(options).items() if name in Serving.__struct_fields__}
    )


def request(program: str, arguments: Sequence[str]) -> Request:
    """Parse `ENV_ID [option ...]` for a program of this name; exit with a usage error where that is not possible."""
    parser = argparse.ArgumentParser(program)
    parser.add_argument("env_id", metavar="ENV_ID", help="the environment to play")
    add_options(parser)
    parser.add_argument("--log-level", default="info", choices=LOG_LEVELS, help="default: info")
    options = parser.parse_args(arguments)
    return Request(env_id=options.env_id, serving=serving(options), log_level=options.log_level)


def _add(group: argparse._ArgumentGroup, option: str, **arguments: Any) -> None:
    group.add_argument(option, default=argparse.SUPPRESS, **arguments)


def _add_environment(group: argparse._ArgumentGroup) -> None:
    _add(
        group,
        "--fps",
        type=positive,
        metavar="N",
        help="ticks per second; default: the environment's own rate",
    )
    _add(group, "--seed", type=int, metavar="N", help="seed of the first episode")
    _add(
        group,
        "--runtime",
        metavar="MODULE:CLASS",
        help="the Runtime class that plays ENV_ID; default: one of this package",
    )
    _add(
        group,
        "--allow-call",
        action="append",
        dest="allowed_calls",
        metavar="NAME",
        help="an attribute or method of the environment that agents may call, read and set; may be repeated",
    )
    _add(
        group,
        "--env-observation",
        action="store_true",
        help="send the environment's own observation beside the pixels (gym-core.*)",
    )


def _add_display(group: argparse._ArgumentGroup) -> None:
    width, height = _DEFAULT.screen_size
    _add(
        group,
        "--screen-size",
        type=size,
        metavar="WxH",
        help=f"width and height in pixels; default: {width}x{height}",
    )
    _add(
        group,
        "--program",
        type=shlex.split,
        metavar="COMMAND",
        help="the command line that process.* runs; default: the program named in ENV_ID. JSON lines that it prints "
        "become rewards",
    )


def _add_network(group: argparse._ArgumentGroup) -> None:
    _add(group, "--host", type=host, help=f"the address to listen on; default: {_DEFAULT.host}")
    _add(group, "--vnc-port", type=port, metavar="N", help="default: any free port")
    _add(group, "--rewarder-port", type=port, metavar="N", help="default: any free port")
    _add(
        group,
        "--tls-certificate",
        metavar="FILE",
        help="require TLS on both ports; the file contains the server's certificate chain (PEM)",
    )
    _add(group, "--tls-key", metavar="FILE", help="the certificate's private key, not encrypted, mode 0600")
    _add(
        group,
        "--private-network",
        action="store_true",
        help="allow a HOST that other machines reach without TLS, because nobody else can listen on that network: a "
        "VPN, or a container whose ports are published on loopback only",
    )
    _add(
        group,
        "--allow-host",
        action="append",
        dest="allow_hosts",
        metavar="NAME",
        help="a host name by which clients reach the rewarder, beside HOST, localhost and any address. Other names are "
        "refused, which stops DNS rebinding by web pages. May be repeated",
    )
    _add(
        group, "--novnc", metavar="DIR", help="the directory of noVNC for the viewer page; default: Debian's"
    )
    _add(group, "--idle-timeout", type=positive, metavar="S", help="end after S seconds without an agent")
