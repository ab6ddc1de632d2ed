"""The entry point of the command line: it finds the subcommand, runs it, and turns errors into one line each."""

from __future__ import annotations

import argparse
import importlib
import logging
import signal
import sys
import warnings
from collections.abc import Collection, Sequence

from rich.console import Console
from rich.logging import RichHandler

from rewarder.version import VERSION
from universe_client.cli.interrupts import interruptible
from universe_client.errors import ConfigError
from universe_client.providers.containers.daemon import EngineError
from universe_client.renamed import OPTIONS

_EPILOG = """\
examples:
  universe-client run builtin.NeonDrive-v0 --remotes 4 --seconds 30
  universe-client run gym-core.CartPole-v1 --agent my_agent:act --episodes 10 --json
  universe-client mcp --remotes docker:2 desktop.WriteNote-v0      # started by an MCP host
  universe-client serve builtin.NeonDrive-v0          # then, in another terminal:
  universe-client run --remotes 'vnc://localhost:5901+15901?password_file=FILE'
  universe-client view 'vnc://localhost:5901+15901?password_file=FILE'
  universe-client record 'vnc://localhost:5901?password_file=FILE' --seconds 10 --out game.capture
  universe-client replay game.capture --speed 0.5
  universe-client run builtin.NeonDrive-v0 --episodes 20 --record runs/1
  universe-client export runs/1 --lerobot datasets/neon-drive
  universe-client build gym-core && universe-client run gym-core.ALE/Pong-v5 --remotes docker:4
  universe-client doctor

Exit status: 0 success, 1 a remote or the Docker daemon failed, 2 the command line is not valid,
130 interrupted (Ctrl-C), 143 terminated (SIGTERM).
"""

COMMANDS = {
    "run": ("let an agent act on remotes", "run:configure"),
    "mcp": ("give the model of an MCP host screens, mouse and keyboard", "mcp:configure"),
    "serve": ("start one remote for agents and viewers", "serve:configure"),
    "view": ("show a remote in a browser or a VNC viewer", "view:configure"),
    "play": ("play an environment yourself", "play:configure"),
    "watch": ("show all remotes of an agent on one page", "watch:configure"),
    "record": ("write a VNC session to a file", "record:configure_record"),
    "export": ("make a dataset of recorded runs", "export:configure"),
    "replay": ("serve a recorded session to VNC clients", "record:configure_replay"),
    "build": ("build the images of docker:N remotes", "build:configure"),
    "ps": ("list the containers of docker:N and the actors of ray:N remotes", "containers:configure_ps"),
    "down": ("remove the containers and actors of your agents", "containers:configure_down"),
    "reap": ("remove the containers and actors of agents that have ended", "containers:configure_reap"),
    "doctor": ("check whether agents can run on this machine", "doctor:configure"),
}
"""Each command: its line in `--help`, and the function in `commands/` that adds its options to a parser."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = command_parser(arguments)
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    options = parser.parse_args(arguments)
    _log_to_stderr(options.log_level)
    warnings.showwarning = lambda message, *_, **__: _complain(message)
    try:
        with interruptible():
            return int(options.command(options))
    except (ConfigError, OSError) as error:
        _complain(_one_line(error))
        return 2
    except EngineError as error:
        _complain(error)
        return 1
    except KeyboardInterrupt as interrupt:
        _complain("interrupted")
        return getattr(interrupt, "status", 128 + signal.SIGINT)


def command_parser(names: Collection[str]) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options of the commands in `names`.

    The module of a command is imported only to add its options: `serve` starts without the imports of `run`.
    """
    parser = argparse.ArgumentParser(
        prog="universe-client",
        description="Agents that act in real time on the screens of many remotes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"universe-client {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (summary, where) in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name in names:
            module, _, configure = where.partition(":")
            getattr(importlib.import_module(f"universe_client.cli.commands.{module}"), configure)(command)
            _add_common_options(name, command)
    return parser


def _add_common_options(name: str, command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--log-level",
        default="error",
        choices=("debug", "info", "warning", "error"),
        help="the least important messages to log on stderr; default: %(default)s",
    )
    for old, new in OPTIONS.get(name, {}).items():
        command.add_argument(old, action=_Renamed, new=new)


class _Renamed(argparse.Action):
    """The old name of an option: a usage error that names the new one."""

    def __init__(self, option_strings: Sequence[str], dest: str, new: str) -> None:
        super().__init__(option_strings, dest, nargs="?", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        self._new = new

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        parser.error(f"{option_string} is now {self._new}")


def _log_to_stderr(level: str) -> None:
    """Log to stderr: stdout is for the output of commands."""
    handler = RichHandler(console=Console(stderr=True, markup=False), show_path=False)
    logging.basicConfig(level=level.upper(), format="%(message)s", handlers=[handler])


def _complain(message: object) -> None:
    print(f"universe-client: {message}", file=sys.stderr)  # noqa: T201


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
