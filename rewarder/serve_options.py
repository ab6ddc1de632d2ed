"""The options of both command lines that serve a remote: `python -m rewarder serve` and `universe-client serve`."""

from __future__ import annotations

import argparse
import math
import shlex
import socket
from contextlib import suppress
from pathlib import Path

from rewarder.runtimes import RuntimeOptions


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how a remote is played and where it listens; passwords are each command line's own."""
    _add_network(parser.add_argument_group("network"))
    _add_environment(parser.add_argument_group("environment"))
    _add_display(parser.add_argument_group("X display of process.*, browser.*, desktop.* (TigerVNC)"))


def runtime_options(options: argparse.Namespace) -> RuntimeOptions:
    """Return what was said about the runtime."""
    return RuntimeOptions(options.fps, options.observation, options.program, options.xvnc, options.runtime)


def _add_network(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--host", type=_host, default="127.0.0.1", help="address to listen on, default: %(default)s"
    )
    group.add_argument("--vnc-port", type=port, default=0, metavar="N", help="default: any free port")
    group.add_argument("--rewarder-port", type=port, default=0, metavar="N", help="default: any free port")
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
        type=_size,
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


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (
        width.isdecimal() and height.isdecimal() and 0 < int(width) <= 16384 and 0 < int(height) <= 16384
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a size such as 1024x768, of at most 16384 each way"
        )
    return int(width), int(height)


def positive(text: str) -> float:
    """Read a number above 0."""
    with suppress(ValueError):
        if 0 < (number := float(text)) < math.inf:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")


def port(text: str) -> int:
    """Read the number of a port; 0 is any."""
    if not (text.isascii() and text.isdecimal() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return int(text)


def _host(text: str) -> str:
    try:
        socket.getaddrinfo(text, None)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error.strerror}") from None
    return text
