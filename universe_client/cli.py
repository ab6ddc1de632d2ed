"""The command line: `universe-client run`, `serve`, `doctor`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.logging import RichHandler

from universe_client import __version__
from universe_client.agents import DEFAULT_KEYS, find_agent
from universe_client.doctor import doctor
from universe_client.errors import ConfigError
from universe_client.run import Until, run
from universe_client.serve import ServeCommand, serve
from universe_client.vector_env import VectorEnv

_EPILOG = """\
examples:
  universe-client run builtin.NeonDrive-v0 --remotes 4 --seconds 30
  universe-client run gym-core.CartPole-v1 --agent my_agent:act --episodes 10 --json
  universe-client serve builtin.NeonDrive-v0          # then, elsewhere:
  universe-client run --remotes 'vnc://localhost:5901+15901?password_file=FILE'
  universe-client doctor

Exit status: 0 all went well, 1 a remote never ran, 2 the command line makes no sense, 130 interrupted.
"""

_RUN = """\
Let an agent act on live remotes in real time, and watch it in a table: per remote the frames that arrive per second,
the episodes that ended, the sum of rewards, and the reaction time (how old the world was that an action answered).
Without --steps, --seconds or --episodes it runs until Ctrl-C.
"""

_SERVE = """\
Run one remote here in the foreground and print its address, so that any VNC viewer and any agent can connect, at the
same time. It listens on this machine only, with a random password in a file that only you can read.
"""

_DOCTOR = "Say what is installed, which driver decodes the pixels, and whether a remote can be started - or why not."

_ENV_ID = "builtin.NeonDrive-v0, gym-core.<gymnasium id>, process.<program>"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        level=options.log_level.upper(), format="%(message)s", handlers=[RichHandler(show_path=False)]
    )
    try:
        return int(options.command(options))
    except (ConfigError, OSError) as error:
        print(f"universe-client: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="universe-client",
        description="Agents that live in real time on real screens.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"universe-client {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="an agent on live remotes", description=_RUN))
    _add_serve(commands.add_parser("serve", help="one remote, for viewers and agents", description=_SERVE))
    examine = commands.add_parser("doctor", help="can agents run here?", description=_DOCTOR)
    examine.set_defaults(command=lambda options: doctor())
    for command in commands.choices.values():
        command.add_argument(
            "--log-level",
            default="error",
            choices=("debug", "info", "warning", "error"),
            help="default: %(default)s",
        )
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "env_id", nargs="?", metavar="ENV_ID", help=f"{_ENV_ID}; vnc:// remotes have their own"
    )
    parser.add_argument(
        "--remotes",
        default="1",
        metavar="R",
        help="N or embedded:N (a process each), process:N (a program on Xvnc each), or "
        "vnc://host:5900+15900,...?password_file=FILE; default: %(default)s",
    )
    parser.add_argument("--agent", default="random", metavar="A", help="random, noop or module:callable")
    parser.add_argument(
        "--keys",
        default=",".join(DEFAULT_KEYS),
        metavar="K,K",
        help="what the random agent presses, default: %(default)s",
    )
    parser.add_argument("--fps", type=float, default=60.0, help="steps per second, default: %(default)g")
    parser.add_argument("--seed", type=int, help="of the episodes and the random agent")
    limits = parser.add_argument_group("end of the run (the first that is reached)")
    limits.add_argument("--steps", type=int, metavar="N")
    limits.add_argument("--seconds", type=float, metavar="S")
    limits.add_argument("--episodes", type=int, metavar="N", help="of all remotes together")
    parser.add_argument("--json", action="store_true", help="no table; one JSON object on stdout at the end")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    agent = find_agent(options.agent, options.keys.split(","), options.seed)
    remotes = int(options.remotes) if options.remotes.isdecimal() else options.remotes
    until = Until(options.steps, options.seconds, options.episodes)
    env = VectorEnv(options.env_id, remotes)
    return run(env, agent, options.fps, until, options.seed, options.json)


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("env_id", metavar="ENV_ID", help=_ENV_ID)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on, default: %(default)s")
    parser.add_argument("--vnc-port", type=int, default=0, metavar="N", help="default: any free port")
    parser.add_argument("--rewarder-port", type=int, default=0, metavar="N", help="default: any free port")
    parser.add_argument("--fps", type=float, help="default: the environment's own")
    parser.add_argument("--seed", type=int, help="of the first episode")
    parser.add_argument(
        "--password-file", type=Path, metavar="FILE", help="take the password from here; mode 0600"
    )
    parser.add_argument(
        "--idle-timeout", type=float, metavar="S", help="end after S seconds without an agent"
    )
    parser.set_defaults(command=_serve)


def _serve(options: argparse.Namespace) -> int:
    return serve(
        ServeCommand(
            env_id=options.env_id,
            host=options.host,
            vnc_port=options.vnc_port,
            rewarder_port=options.rewarder_port,
            fps=options.fps,
            seed=options.seed,
            password_file=options.password_file,
            idle_timeout=options.idle_timeout,
        )
    )
