"""`universe-client run --agent anthropic:MODEL` or `openai:MODEL`: a language model on one remote."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path

import msgspec
from rich.console import Console

from rewarder.cli.option_types import count
from rewarder.version import VERSION
from universe_client.errors import ConfigError, UniverseError
from universe_client.hands.channel import Observer
from universe_client.hands.computer import Computer
from universe_client.hands.loop.approval import Approval, Everything
from universe_client.hands.loop.live import Live
from universe_client.hands.loop.looking import looking
from universe_client.hands.loop.models import Permits, begin, check_model
from universe_client.hands.loop.play import Result, Watcher, play, task_of
from universe_client.hands.loop.transcript import Transcript
from universe_client.hands.loop.turn import Budget
from universe_client.recording.extra import require
from universe_client.vector_env import VectorEnv
from universe_client.wall.observing import WallPage

MODEL_STEPS = 100
"""Turns of a model unless --steps says otherwise."""


class ModelReport(msgspec.Struct):
    """The object that `--json` prints for a model."""

    env_id: str | None
    agent: str
    episodes: list[Result]


def add_model_options(group: argparse._ArgumentGroup) -> None:
    """Add the options of language models."""
    group.add_argument("--task", metavar="T", help="what to do; default: the task of the remote")
    group.add_argument(
        "--tokens", type=count, metavar="N", help="tokens of all requests and answers of an episode"
    )
    group.add_argument(
        "--approve",
        choices=("ask", "all"),
        default="ask",
        help="ask: you permit each act at the terminal; all: everything is permitted; default: %(default)s",
    )
    group.add_argument(
        "--transcript",
        type=Path,
        metavar="DIR",
        help="write what the model saw, said and did as a web page into this new folder",
    )


def run_model(options: argparse.Namespace) -> int:
    """Let a model play; return the exit status: 1 if the remote or the API failed."""
    check_model(options.agent)
    if options.mode != "realtime":
        raise ConfigError("a language model plays in real time: leave --mode out")
    if options.approve == "ask" and not sys.stdin.isatty():
        raise ConfigError("there is no terminal to ask at: use --approve all, if the model may do everything")
    if options.take_over:
        raise ConfigError(
            "nobody can take over from a language model: use --watch to see it, Ctrl-C to stop it"
        )
    console = Console(stderr=options.json, markup=False, highlight=False)
    report = ModelReport(options.env_id, options.agent, [])
    with ExitStack() as stack, VectorEnv(options.env_id, options.remotes) as env:
        if env.n != 1:
            raise ConfigError(
                f"a language model plays one remote, not {env.n}: use --remotes 1, or one address"
            )
        observers = list(_observers(env, options, stack, console))
        with (
            Computer(env, observers=observers) as computer,
            looking(computer) if observers else nullcontext(),
        ):
            try:
                for number in range(options.episodes or 1):
                    report.episodes.append(_episode(computer, options, number, console))
            except UniverseError as error:
                console.print(f"universe-client: {error}", style="red", soft_wrap=True)
                return 1
            finally:
                if options.json:
                    print(msgspec.json.encode(report).decode())  # noqa: T201
    return 0


def _observers(
    env: VectorEnv, options: argparse.Namespace, stack: ExitStack, console: Console
) -> Iterator[Observer]:
    """Yield those who follow the run: the recording, and the page of --watch."""
    if options.record is not None:
        require()
        from universe_client.recording.recorder import Recorder

        about = {"env_id": options.env_id, "version": VERSION, "agent": options.agent}
        recorder = stack.enter_context(closing(Recorder(options.record, 1, about=about)))
        recorder.watch(env.core)
        yield recorder
    if options.watch:
        page = stack.enter_context(closing(WallPage(env.core)))
        console.print(f"watch at {page.server.url}", soft_wrap=True)
        yield page


def _episode(computer: Computer, options: argparse.Namespace, number: int, console: Console) -> Result:
    computer.reset(seed=None if options.seed is None else options.seed + number)
    task = options.task or task_of(computer)
    budget = Budget(options.steps or MODEL_STEPS, options.tokens, options.seconds)
    with ExitStack() as stack:
        watchers: list[Watcher] = []
        permits: Permits = Everything()
        if options.approve == "ask" or not options.json:
            live = stack.enter_context(Live(console, budget))
            watchers.append(live)
            permits = Approval(live.ask) if options.approve == "ask" else permits
        chat = begin(options.agent, computer, task, permits, options.seconds)
        watchers += _transcripts(options, number, computer)
        return play(chat, computer, task, budget, watchers)


def _transcripts(options: argparse.Namespace, number: int, computer: Computer) -> Sequence[Watcher]:
    if options.transcript is None:
        return []
    folder = (
        options.transcript / f"episode-{number + 1}" if (options.episodes or 1) > 1 else options.transcript
    )
    return [Transcript(folder, f"{options.agent} on {options.env_id or options.remotes}", computer.size)]
