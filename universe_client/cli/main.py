"""The command line: `universe-client run`, `serve`, `view`, `record`, `replay`, `doctor`."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.logging import RichHandler

from rewarder.cli.option_types import count, host, port, positive
from rewarder.cli.serve_options import add_options, serving
from universe_client import __version__
from universe_client.cli.agents import AGENT_HELP, DEFAULT_KEYS, find_agent, import_from_here
from universe_client.cli.build import build
from universe_client.cli.containers import down, ps, reap_command
from universe_client.cli.doctor import doctor
from universe_client.cli.interrupts import interruptible
from universe_client.cli.record import DEFAULT_ENCODINGS, RecordCommand, record_command, replay_command
from universe_client.cli.run import Until, run
from universe_client.cli.serve import serve
from universe_client.cli.view import ViewCommand, view
from universe_client.errors import ConfigError
from universe_client.providers.containers.daemon import EngineError
from universe_client.providers.containers.images import IMAGES
from universe_client.vector_env import VectorEnv
from vnc.capture.capture import MAX_BYTES
from vnc.encodings import BY_NAME

_EPILOG = """\
examples:
  universe-client run builtin.NeonDrive-v0 --remotes 4 --seconds 30
  universe-client run gym-core.CartPole-v1 --agent my_agent:act --episodes 10 --json
  universe-client serve builtin.NeonDrive-v0          # then, elsewhere:
  universe-client run --remotes 'vnc://localhost:5901+15901?password_file=FILE'
  universe-client view 'vnc://localhost:5901+15901?password_file=FILE'
  universe-client record 'vnc://localhost:5901?password_file=FILE' --seconds 10 --out game.capture
  universe-client replay game.capture --speed 0.5
  universe-client build gym-core && universe-client run gym-core.ALE/Pong-v5 --remotes docker:4
  universe-client doctor

Exit status: 0 all went well, 1 a remote or a daemon did not run, 2 the command line makes no sense,
130 interrupted (Ctrl-C), 143 terminated (SIGTERM).
"""

_RUN = """\
Let an agent act on live remotes, and watch it in a table: per remote the frames that arrive per second,
the episodes that ended, the sum of rewards, and the reaction time (how old the world was that an action answered).
Without --steps, --seconds or --episodes it runs until Ctrl-C.
"""

_SERVE = """\
Run one remote here in the foreground and print its address, so that any VNC viewer and any agent can connect, at the
same time. It listens on this machine only, with a random password in a file that only you can read.
"""

_VIEW = """\
Open a remote's viewer page in your browser, to watch it: keys and clicks do not reach it, unless --act. With --native,
start TigerVNC's viewer instead. Neither puts a password where others can see it.
"""

_RECORD = """\
Write what a VNC server sends, with its times, to a file that `replay` serves again: to look at what an agent saw, or
to measure clients on the same bytes. It asks for updates itself; with --port, it waits for one client on this machine
and records that session. Passwords, keys, clicks and clipboards do not get into the file (mode 0600); what the screen
showed does.
"""

_REPLAY = """\
Serve a recorded session to any VNC client on this machine, from its beginning, as often as it connects. A client must
want the recorded encodings and 32-bit pixels with red first, as agents do; a session of another viewer (recorded with
--port) replays to that viewer.
"""

_BUILD = """\
Build the images of docker:N remotes from a checkout of this project, with this machine's Docker daemon. Where
debian:bookworm-slim cannot be pulled, docker/make-base makes it first. Proxies and pip's index are taken over.
"""

_DOWN = """\
Remove the containers that your agents on this machine started, whether they still play or not. An agent that does is
told that its session has ended, and starts no others.
"""

_REAP = """\
Remove the containers whose agent is dead (kill -9, power cut); those of living agents, of other users and of others are
left alone. The next start of docker:N does the same.
"""

_DOCTOR = "Say what is installed, which driver decodes the pixels, and whether a remote can be started - or why not."

_ENV_ID = "builtin.NeonDrive-v0, gym-core.<gymnasium id>, browser.<page>, desktop.<task>, process.<program>"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    options = parser.parse_args(arguments)
    # On stderr: what is on stdout may be for a program to read.
    log = RichHandler(console=Console(stderr=True, markup=False), show_path=False)
    logging.basicConfig(level=options.log_level.upper(), format="%(message)s", handlers=[log])
    warnings.showwarning = lambda message, *_, **__: _say(message)
    try:
        with interruptible():
            return int(options.command(options))
    except (ConfigError, OSError) as error:
        _say(_complaint(error))
        return 2
    except EngineError as error:
        _say(error)
        return 1
    except KeyboardInterrupt as interrupt:
        _say("interrupted")
        return getattr(interrupt, "status", 128 + signal.SIGINT)


def _say(what: object) -> None:
    print(f"universe-client: {what}", file=sys.stderr)  # noqa: T201


def _complaint(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="universe-client",
        description="Agents that live in real time on real screens.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"universe-client {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(
        commands.add_parser(
            "run",
            help="an agent on live remotes",
            description=_RUN,
            epilog=AGENT_HELP,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )
    _add_serve(commands.add_parser("serve", help="one remote, for viewers and agents", description=_SERVE))
    _add_view(commands.add_parser("view", help="watch a remote", description=_VIEW))
    _add_record(commands.add_parser("record", help="a VNC session to a file", description=_RECORD))
    _add_replay(commands.add_parser("replay", help="a recorded session, for viewers", description=_REPLAY))
    _add_containers(commands)
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


def _add_containers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("build", help="the images for docker:N", description=_BUILD)
    names = [image.name for image in IMAGES]
    parser.add_argument("names", nargs="*", metavar="IMAGE", help=f"{', '.join(names)}; default: all")
    parser.add_argument("--source", type=Path, metavar="DIR", help="the checkout, default: this directory")
    parser.set_defaults(command=lambda options: build(options.names, options.source))
    parser = commands.add_parser("ps", help="our containers", description="List the containers of docker:N.")
    parser.set_defaults(command=lambda options: ps())
    parser = commands.add_parser("down", help="remove our containers", description=_DOWN)
    parser.add_argument("sessions", nargs="*", metavar="SESSION", help="as in ps; default: all of yours")
    parser.set_defaults(command=lambda options: down(options.sessions))
    parser = commands.add_parser("reap", help="remove those whose agent is dead", description=_REAP)
    parser.set_defaults(command=lambda options: reap_command())


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "env_id", nargs="?", metavar="ENV_ID", help=f"{_ENV_ID}; vnc:// remotes have their own"
    )
    parser.add_argument(
        "--remotes",
        default="1",
        metavar="R",
        help="N or embedded:N (a process each), process:N (a program on Xvnc each), docker:N (a container each), "
        "docker:N@IMAGE (of an image of your own), or "
        "vnc://host:5900+15900,...?password_file=FILE, which may be followed by ,host?password_file=FILE (vncs:// for "
        "TLS); default: %(default)s",
    )
    parser.add_argument(
        "--agent",
        default="random",
        metavar="A",
        help="random, noop or module:callable, see below; default: %(default)s",
    )
    parser.add_argument(
        "--keys",
        default=",".join(DEFAULT_KEYS),
        metavar="K,K",
        help="what the random agent presses, default: %(default)s",
    )
    parser.add_argument(
        "--fps",
        type=positive,
        metavar="N",
        help="steps per second, default: 60, in lock-step as many as there can be",
    )
    parser.add_argument(
        "--mode",
        default="realtime",
        choices=("realtime", "lockstep"),
        help="whether the world waits for the agent, default: %(default)s",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="of the episodes and the random agent")
    limits = parser.add_argument_group("end of the run (the first that is reached)")
    limits.add_argument("--steps", type=count, metavar="N")
    limits.add_argument("--seconds", type=positive, metavar="S", help="from the first observation on")
    limits.add_argument("--episodes", type=count, metavar="N", help="of all remotes together")
    parser.add_argument("--json", action="store_true", help="no table; one JSON object on stdout at the end")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    agent = find_agent(options.agent, options.keys.split(","), options.seed)
    remotes = int(options.remotes) if options.remotes.isdecimal() else options.remotes
    until = Until(options.steps, options.seconds, options.episodes)
    env = VectorEnv(options.env_id, remotes, mode=options.mode)
    fps = options.fps or (60.0 if options.mode == "realtime" else None)
    return run(env, agent, fps, until, options.seed, options.json)


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("env_id", metavar="ENV_ID", help=_ENV_ID)
    add_options(parser)
    parser.add_argument(
        "--password-file", type=Path, metavar="FILE", help="take the password from here; mode 0600"
    )
    parser.set_defaults(command=_serve)


def _serve(options: argparse.Namespace) -> int:
    import_from_here()  # what --runtime names
    try:
        remote = serving(options)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return serve(remote, options.password_file)


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "address",
        metavar="REMOTE",
        help="vnc://host:port+port?password_file=FILE, vncs://, or the name of a container, as ps shows it",
    )
    parser.add_argument("--act", action="store_true", help="let your keys and clicks through")
    parser.add_argument("--native", action="store_true", help="with TigerVNC's vncviewer")
    parser.add_argument("--print", action="store_true", help="print the page's address; it lets everybody in")
    parser.set_defaults(
        command=lambda options: view(ViewCommand(options.address, options.act, options.native, options.print))
    )


def _add_record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address", metavar="ADDRESS", help="vnc://host:port?password_file=FILE, or vncs://")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new file")
    parser.add_argument("--seconds", type=positive, default=10.0, metavar="S", help="default: %(default)g")
    parser.add_argument(
        "--encoding",
        default=DEFAULT_ENCODINGS,
        metavar="E,E",
        help=f"in order of preference, of {', '.join(BY_NAME)}; default: %(default)s",
    )
    parser.add_argument(
        "--quality", type=int, metavar="0-9", help="let the server use JPEG; default: lossless"
    )
    parser.add_argument(
        "--max-bytes", type=count, default=MAX_BYTES, metavar="N", help="default: %(default)d"
    )
    parser.add_argument(
        "--port", type=port, metavar="N", help="record a client that connects here; 0: any free"
    )
    parser.set_defaults(command=_record)


def _record(options: argparse.Namespace) -> int:
    return record_command(
        RecordCommand(
            address=options.address,
            out=options.out,
            seconds=options.seconds,
            encodings=options.encoding,
            quality=options.quality,
            max_bytes=options.max_bytes,
            port=options.port,
        )
    )


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--host", type=host, default="127.0.0.1", help="address to listen on, default: %(default)s"
    )
    parser.add_argument("--port", type=port, default=0, metavar="N", help="default: any free port")
    parser.add_argument(
        "--speed",
        type=_speed,
        default=1.0,
        metavar="X|max",
        help="2 is twice as fast; max: as fast as the client asks; default: 1",
    )
    parser.set_defaults(
        command=lambda options: replay_command(options.file, options.host, options.port, options.speed)
    )


def _speed(text: str) -> float | None:
    return None if text == "max" else positive(text)
