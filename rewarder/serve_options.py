"""The options of both command lines that serve a remote: `python -m rewarder serve` and `universe-client serve`."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from rewarder.option_types import host, port, positive, size
from rewarder.runtimes import RuntimeOptions
from vnc.tls import Identity


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how a remote is played and where it listens; passwords are each command line's own."""
    _add_network(parser.add_argument_group("network"))
    _add_environment(parser.add_argument_group("environment"))
    _add_display(parser.add_argument_group("X display of process.*, browser.*, desktop.* (TigerVNC)"))


def runtime_options(options: argparse.Namespace) -> RuntimeOptions:
    """Return what was said about the runtime."""
    return RuntimeOptions(options.fps, options.observation, options.program, options.xvnc, options.runtime)


def tls_identity(options: argparse.Namespace) -> Identity | None:
    """Return what the remote shows over TLS; None: it has none.

    Raises:
        ValueError: a certificate without a key, or a key without a certificate.
    """
    certificate, key = options.tls_certificate, options.tls_key
    if (certificate is None) != (key is None):
        raise ValueError("--tls-certificate and --tls-key make sense together only")
    return None if certificate is None else Identity(certificate, key)


def _add_network(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--host", type=host, default="127.0.0.1", help="address to listen on, default: %(default)s"
    )
    group.add_argument("--vnc-port", type=port, default=0, metavar="N", help="default: any free port")
    group.add_argument("--rewarder-port", type=port, default=0, metavar="N", help="default: any free port")
    group.add_argument(
        "--tls-certificate",
        type=Path,
        metavar="FILE",
        help="let nobody in without TLS; the chain of this PEM file is shown to clients",
    )
    group.add_argument(
        "--tls-key", type=Path, metavar="FILE", help="the certificate's key, not encrypted; mode 0600"
    )
    group.add_argument(
        "--private-network",
        action="store_true",
        help="ask for no TLS although HOST is not on loopback: nobody else can listen in there, as in a container "
        "whose ports are published on loopback only, or a VPN",
    )
    group.add_argument(
        "--novnc",
        type=Path,
        metavar="DIR",
        help="noVNC, for the viewer; default: where Debian's package puts it",
    )
    group.add_argument(
        "--idle-timeout", type=positive, metavar="S", help="end after S seconds without an agent"
    )


def _add_environment(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fps", type=positive, metavar="N", help="ticks per second, default: the environment's own"
    )
    group.add_argument("--seed", type=int, metavar="N", help="seed of the first episode")
    group.add_argument("--runtime", metavar="MODULE:CLASS", help="what plays ENV_ID, if it is none of ours")
    group.add_argument(
        "--call",
        action="append",
        default=[],
        metavar="NAME",
        help="let agents call, read and set this in the environment; may be given several times",
    )
    group.add_argument(
        "--observation", action="store_true", help="send the environment's own observation too"
    )


def _add_display(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--xvnc",
        type=size,
        default=(1024, 768),
        metavar="WxH",
        help="the size of the screen, default: 1024x768",
    )
    group.add_argument(
        "--program",
        type=shlex.split,
        metavar="COMMAND",
        help="what process.* runs, default: the name in ENV_ID; JSON lines it prints become rewards",
    )
