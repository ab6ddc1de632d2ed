"""`universe-client run`: an agent on live remotes, with a live table and a summary at the end."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import msgspec
from rich.console import Console
from rich.live import Live
from rich.text import Text

from rewarder.cli.option_types import count, positive
from universe_client.cli.agents import AGENT_HELP, DEFAULT_KEYS, Agent, after_reset, find_agent
from universe_client.cli.env_options import add_env_options
from universe_client.cli.run_model import add_model_options, run_model
from universe_client.cli.run_report import RemoteReport, Report, brief, line, picture, summary
from universe_client.core.link import Link, State
from universe_client.hands.loop.models import is_model
from universe_client.providers.provider import Staged
from universe_client.vector_env import VectorEnv
from vnc.drivers import choose
from vnc.encodings import is_this_host
from wrappers import Logger, Record, Throttle, Watch
from wrappers.universe.logger import mean

_REFRESH = 4  # of the live table, per second
_LINE_EVERY = 10.0  # seconds between two lines where there is no terminal
_NAMED = 3  # remotes in an error message
_STEP_RATE = 60.0
_DESCRIPTION = """\
Let an agent act on live remotes and show a table: for each remote the frames that arrive per second, the episodes that
have ended, the sum of rewards, and the reaction time: from the moment a remote draws what the agent sees to the arrival
of the agent's action.
Without --steps, --seconds or --episodes the run continues until Ctrl-C.
"""


@dataclass(frozen=True, slots=True)
class Until:
    """The limits of a run, which ends at the first that is reached. None is no limit."""

    steps: int | None = None
    seconds: float | None = None
    """Counted from the first observation."""
    episodes: int | None = None
    """Of all remotes together."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    parser.description, parser.epilog = _DESCRIPTION, AGENT_HELP
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_env_options(parser)
    _add_agent(parser.add_argument_group("agent"))
    parser.add_argument(
        "--mode",
        default="realtime",
        choices=("realtime", "lockstep"),
        help="lockstep: the remotes wait for the agent; default: %(default)s",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="serve a page on this machine that shows all remotes, and print its address",
    )
    parser.add_argument(
        "--take-over",
        action="store_true",
        help="as --watch, and let a person on the page act in place of the agent; a recording notes who acts",
    )
    parser.add_argument(
        "--record",
        metavar="DIR",
        help="record pictures, actions and rewards in this new folder; see `universe-client export`",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the episodes and of the random agent")
    limits = parser.add_argument_group("limits (the run ends at the first that is reached)")
    limits.add_argument("--steps", type=count, metavar="N", help="steps of the agent")
    limits.add_argument("--seconds", type=positive, metavar="S", help="seconds after the first observation")
    limits.add_argument("--episodes", type=count, metavar="N", help="ended episodes of all remotes together")
    add_model_options(parser.add_argument_group("language models"))
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end, and no table")
    parser.set_defaults(command=_command)


def _add_agent(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--agent",
        default="random",
        metavar="A",
        help="random, noop, module:callable (see below), or a language model: anthropic:MODEL, openai:MODEL; "
        "default: %(default)s",
    )
    group.add_argument(
        "--keys",
        default=",".join(DEFAULT_KEYS),
        metavar="K,K",
        help="the keys that the random agent presses; default: %(default)s",
    )
    group.add_argument(
        "--step-rate",
        type=positive,
        metavar="N",
        help=f"steps per second; default: {_STEP_RATE:g}, and unlimited in lockstep",
    )


def _command(options: argparse.Namespace) -> int:
    if is_model(options.agent):
        return run_model(options)
    agent = find_agent(options.agent, options.keys.split(","), options.seed)
    until = Until(options.steps, options.seconds, options.episodes)
    step_rate = options.step_rate or (_STEP_RATE if options.mode == "realtime" else None)
    with VectorEnv(options.env_id, options.remotes, mode=options.mode) as env:
        session = Run(
            env, agent, step_rate, until, options.record, watch=options.watch, take_over=options.take_over
        )
        return run(session, options.seed, options.json)


class Run:
    """One run of an agent, and a report of it at any moment."""

    def __init__(
        self,
        env: VectorEnv,
        agent: Agent,
        step_rate: float | None,
        until: Until,
        record: str | None = None,
        watch: bool = False,
        take_over: bool = False,
    ) -> None:
        self.base = env
        inner = env if record is None else Record(env, record)
        watched = Watch(inner, act=take_over) if watch or take_over else None
        self.url = None if watched is None else watched.url
        outer = watched or inner
        self.env = Logger(outer if step_rate is None else Throttle(outer, step_rate=step_rate))
        self.until = until
        self.tasks: list[str] = [""] * env.n
        """The instruction of each remote, in words."""
        self._versions: list[str | None] = [None] * env.n
        self._agent = agent
        self._began = time.monotonic()
        self._first: float | None = None  # when the first observation arrived

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.env.close()

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def seconds(self) -> float:
        """Seconds since the first observation."""
        return 0.0 if self._first is None else time.monotonic() - self._first

    @property
    def is_hopeless(self) -> bool:
        """Whether every remote has failed permanently."""
        return all(remote.link.state is State.CLOSED for remote in self.base.remotes)

    def play(self, seed: int | None, watch: Callable[[], None]) -> None:
        """Let the agent act until the end; call `watch` after every step."""
        self._began = time.monotonic()
        action_n = self._agent(*after_reset(self.env.reset(seed=seed)))
        while not self._is_over():
            observation_n, reward_n, done_n, info = self.env.step(action_n)
            self._see(observation_n)
            action_n = self._agent(observation_n, reward_n, done_n, info)
            watch()

    def _see(self, observation_n: Sequence[dict[str, Any] | None]) -> None:
        for index, observation in enumerate(observation_n):
            if observation is not None:
                self._first = self._first or time.monotonic()
                self.tasks[index] = str(observation["instruction"] or "")

    def _is_over(self) -> bool:
        until = self.until
        episodes = sum(tally.episodes for tally in self.env.tallies)
        return (
            (until.steps is not None and self.env.steps >= until.steps)
            or (until.seconds is not None and self._is_late(until.seconds))
            or (until.episodes is not None and episodes >= until.episodes)
            or self.is_hopeless
        )

    def _is_late(self, seconds: float) -> bool:
        """Whether the run has taken `seconds`, or no remote has started within `start_timeout`."""
        if self._first is None:
            return self.elapsed >= self.base.config.start_timeout
        return self.seconds >= seconds

    def report(self) -> Report:
        """Return the figures so far."""
        tallies = self.env.tallies
        return Report(
            env_id=self.base.env_id,
            seconds=round(self.seconds, 2),
            steps_per_second=round(self.env.steps / self.elapsed, 2),
            frames_per_second=round(sum(tally.frames_per_second for tally in tallies), 2),
            episodes=sum(tally.episodes for tally in tallies),
            reward=round(sum(tally.reward for tally in tallies), 6),
            reaction_time_ms=_milliseconds(mean(tallies, "reaction_time")),
            complaint=self.complaint(),
            remotes=[self._remote_report(index) for index in range(self.env.n)],
            driver=choose(self.base.config.driver).name,
        )

    def _remote_report(self, index: int) -> RemoteReport:
        tally, remote = self.env.tallies[index], self.base.remotes[index]
        address, speed = remote.link.address, None
        if (rewarder := remote.link.rewarder) is not None:
            self._versions[index], speed = rewarder.remote_version, rewarder.speed
        return RemoteReport(
            index=index,
            address=None if address is None else str(address),
            state=self._progress(remote.link),
            task=self.tasks[index] or None,
            frames_per_second=round(tally.frames_per_second, 2),
            episodes=tally.episodes,
            reward=round(tally.reward, 6),
            reaction_time_ms=_milliseconds(tally.mean("reaction_time")),
            error=None if remote.error is None else str(remote.error),
            version=self._versions[index],
            machine=None if address is None else _machine(address.vnc.host),
            fps=remote.link.buffer.fps,
            speed=speed,
        )

    def _progress(self, link: Link) -> str:
        """Return the state of a remote; while it starts or resets, the step that it waits for."""
        if link.state is State.RESETTING:
            return "first frame" if link.buffer.running is not None else "reset"
        if link.state is not State.CONNECTING:
            return link.state
        provider = self.base.provider
        phase = provider.phase(link.index) if isinstance(provider, Staged) else None
        return phase or ("vnc" if link.session is None else "rewarder")

    def complaint(self) -> str | None:
        """Return why there was no observation; None if there was one."""
        if self._first is not None:
            return None
        reasons = [
            brief(str(remote.error))
            if remote.error
            else f"remote {remote.link.label} waits for {self._progress(remote.link)}"
            for remote in self.base.remotes
        ]
        more = f"; and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
        return f"no remote started within {self.elapsed:.1f} s: {'; '.join(reasons[:_NAMED])}{more}"


def _machine(host: str) -> str:
    return "this machine" if is_this_host(host) else host


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(1000 * seconds, 2)


@contextmanager
def _watching(session: Run, console: Console, as_json: bool) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each step. It shows a live table on a terminal, and otherwise lines on stderr."""
    if as_json:
        yield lambda: None
        return
    if not console.is_terminal:
        lines = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
        yield _every(_LINE_EVERY, session, lambda: lines.print(line(session.report())))
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show() -> None:
            live.update(picture(session.report(), *console.size), refresh=True)

        yield _every(1 / _REFRESH, session, show)


def _every(seconds: float, session: Run, show: Callable[[], None]) -> Callable[[], None]:
    shown = 0.0

    def watch() -> None:
        nonlocal shown
        if session.elapsed - shown > seconds:
            shown = session.elapsed
            show()

    return watch


def run(session: Run, seed: int | None, as_json: bool) -> int:
    """Play and print the summary; return the exit status: 0 if every remote has run, otherwise 1."""
    console = Console(stderr=as_json, markup=False)
    with session:
        if session.url is not None:
            console.print(f"watch at {session.url}", soft_wrap=True)
        try:
            with _watching(session, console, as_json) as watch:
                session.play(seed, watch)
        except KeyboardInterrupt:
            _conclude(session.report(), console, as_json)
            raise
        _conclude(session.report(), console, as_json)
    return 0 if all(tally.running for tally in session.env.tallies) else 1


def _conclude(report: Report, console: Console, as_json: bool) -> None:
    if as_json:
        print(msgspec.json.encode(report).decode())  # noqa: T201
        return
    console.print(summary(report))
    if report.complaint is not None:
        console.print(Text(report.complaint, "red"), soft_wrap=True)
