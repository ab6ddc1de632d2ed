"""`python -m rewarder serve ENV_ID`: one remote in this process, for agents and VNC viewers to connect to."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rewarder.cli.serve_options import add_options, serving
from rewarder.display.guard import secret_directory
from rewarder.runtimes import env_ids
from rewarder.sdk.runtime import Ports, RuntimeCrash
from rewarder.stdin import read_line
from rewarder.version import VERSION

EPILOG = """\
When both ports are open one line of JSON is printed:
  {"vnc_port": 5900, "rewarder_port": 15900, "version": "...", "password_file": "...", "viewer_token": "..."}
Passwords never come from the command line. Without an option a random one is made and written to a file only you can
read (password_file above), which is removed at the end. VNC uses the first 8 characters of the password.

A browser sees the remote at http://HOST:REWARDER_PORT/viewer/#watch=VIEWER_TOKEN, and cannot act there.

The health page is http://HOST:REWARDER_PORT/healthz. SIGTERM and Ctrl-C end the remote. With --tls-certificate both
pages are https:// and agents come by vncs:// address; a HOST that other machines reach takes that and a password.

exit status: 0 stopped or idle, 1 the environment crashed, 2 it could not be started
"""


class Secrets(msgspec.Struct, frozen=True):
    """What `--password-stdin` reads."""

    password: str | None = None
    view_only_password: str | None = None

    def __repr__(self) -> str:
        """Say nothing."""
        return "Secrets(...)"


@dataclass(frozen=True, slots=True)
class Ready:
    """The line printed when the remote can be reached."""

    vnc_port: int
    rewarder_port: int
    version: str
    password_file: str | None = field(default=None)
    viewer_token: str | None = field(default=None, repr=False)
    """For watching only, at http://HOST:REWARDER_PORT/viewer/#watch=TOKEN."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        level=options.log_level.upper(), format="%(asctime)s %(name)s %(message)s", stream=sys.stderr
    )
    try:
        with _secrets(options) as (given, password_file):
            _serve(options, given, password_file)
    except RuntimeCrash:
        return 1  # logged where it happened
    except (OSError, ValueError, ImportError) as error:
        print(f"rewarder: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def _serve(options: argparse.Namespace, given: Secrets, password_file: str | None) -> None:
    def announce(ports: Ports) -> None:
        ready = Ready(ports.vnc_port, ports.rewarder_port, VERSION, password_file, ports.tokens.watch)
        line = msgspec.json.encode(ready)
        print(line.decode(), flush=True)  # noqa: T201

    serving(options).play(
        given.password,
        given.view_only_password,
        on_ready=announce,
        exit_with_stdin=options.exit_with_stdin,
    )


@contextmanager
def _secrets(options: argparse.Namespace) -> Iterator[tuple[Secrets, str | None]]:
    """Yield the passwords, and the file they were written to if we made them up."""
    if options.no_password:
        yield Secrets(), None
    elif options.password_stdin:
        given = msgspec.json.decode(read_line(), type=Secrets)
        if not given.password:
            raise ValueError('the first line of stdin has no "password"')
        yield given, None
    elif options.password_file is not None:
        yield Secrets(_read_secret(options.password_file)), None
    else:
        with secret_directory() as directory:
            password, path = secrets.token_urlsafe(16), directory / "password"
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(password + "\n")
            yield Secrets(password), str(path)


def _read_secret(path: Path) -> str:
    with path.open() as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & 0o077:
            raise ValueError(f"{path} has mode {mode:04o}, others can read it: chmod 600 it")
        password = file.readline().rstrip("\r\n")
    if not password:
        raise ValueError(f"{path} has no password in its first line")
    return password


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rewarder", description=__doc__)
    parser.add_argument("--version", action="version", version=f"universe-client {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser(
        "serve",
        help="play an environment in real time and let an agent in",
        description="Play an environment in real time: pixels and keys over VNC, rewards over a WebSocket.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    serve.add_argument("env_id", metavar="ENV_ID", help=f"what to play: {', '.join(env_ids())}")
    add_options(serve)
    _add_passwords(serve.add_mutually_exclusive_group())
    serve.add_argument(
        "--exit-with-stdin", action="store_true", help="end when stdin is closed or the parent process dies"
    )
    serve.add_argument(
        "--log-level", default="info", choices=("debug", "info", "warning", "error"), help="default: info"
    )
    return parser


def _add_passwords(group: argparse._MutuallyExclusiveGroup) -> None:
    group.add_argument(
        "--password-stdin",
        action="store_true",
        help='read {"password": "...", "view_only_password": "..."} as the first line of stdin',
    )
    group.add_argument("--password-file", type=Path, metavar="FILE", help="its first line; mode 0600")
    group.add_argument("--no-password", action="store_true", help="let everybody in who can reach the ports")


if __name__ == "__main__":
    sys.exit(main())
