"""`universe-client run`: an agent on live remotes, a table to watch it by, a summary at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec
from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from universe_client.agents import Agent, after_reset
from universe_client.link import Link, State
from universe_client.remotes.provider import Staged
from universe_client.vector_env import VectorEnv
from wrappers import Logger, Throttle

_REFRESH = 4  # of the live table, per second
_STATE_STYLE = {State.RUNNING: "green", State.LOST: "red", State.CLOSED: "bold red"}


class RemoteReport(msgspec.Struct):
    """One remote's line of the summary."""

    index: int
    frames_per_second: float
    episodes: int
    reward: float
    reaction_time_ms: float | None
    error: str | None


class Report(msgspec.Struct):
    """What `--json` prints."""

    steps_per_second: float
    remotes: list[RemoteReport]


@dataclass(frozen=True, slots=True)
class Until:
    """When a run ends; whichever comes first, None for never."""

    steps: int | None = None
    seconds: float | None = None
    episodes: int | None = None


class Run:
    """One run of an agent, and what can be said of it at any moment."""

    def __init__(self, env: VectorEnv, agent: Agent, fps: float | None, until: Until) -> None:
        self.base = env
        self.env = Logger(env if fps is None else Throttle(env, fps=fps))
        self.until = until
        self._agent = agent
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._began

    @property
    def is_hopeless(self) -> bool:
        """Whether every remote has failed for good."""
        return all(remote.link.state is State.CLOSED for remote in self.base.remotes)

    def play(self, console: Console, seed: int | None, show: bool) -> None:
        """Let the agent act until the end; `show` the table meanwhile."""
        self._began = time.monotonic()
        action_n = self._agent(*after_reset(self.env.reset(seed=seed)))
        with _live(console, show) as live:
            shown = 0.0
            while not self._is_over():
                observation_n, reward_n, done_n, info = self.env.step(action_n)
                action_n = self._agent(observation_n, reward_n, done_n, info)
                if live is not None and self.seconds - shown > 1 / _REFRESH:
                    shown = self.seconds
                    live.update(self.picture(), refresh=True)

    def _is_over(self) -> bool:
        until = self.until
        episodes = sum(tally.episodes for tally in self.env.tallies)
        return (
            (until.steps is not None and self.env.steps >= until.steps)
            or (until.seconds is not None and self.seconds >= until.seconds)
            or (until.episodes is not None and episodes >= until.episodes)
            or self.is_hopeless
        )

    def report(self) -> Report:
        """The figures so far."""
        return Report(
            round(self.env.steps / self.seconds, 2),
            [self._remote_report(index) for index in range(self.env.n)],
        )

    def _remote_report(self, index: int) -> RemoteReport:
        tally, remote = self.env.tallies[index], self.base.remotes[index]
        reaction = tally.mean("reaction_time")
        return RemoteReport(
            index=index,
            frames_per_second=round(tally.frames_per_second, 2),
            episodes=tally.episodes,
            reward=round(tally.reward, 6),
            reaction_time_ms=None if reaction is None else round(1000 * reaction, 2),
            error=None if remote.error is None else str(remote.error),
        )

    def table(self) -> Table:
        """The figures so far, for people."""
        report = self.report()
        title = (
            f"{self.base.env_id or 'remotes'}  {self.seconds:.0f} s  {report.steps_per_second:.1f} steps/s"
        )
        table = Table(title=title, title_style="bold", title_justify="left", box=box.SIMPLE_HEAD)
        table.show_edge, table.pad_edge, table.collapse_padding = False, False, True  # fits into 80 columns
        table.add_column("remote", justify="right")
        table.add_column("address")
        table.add_column("state")
        for column in ("frames/s", "episodes", "reward", "reaction"):
            table.add_column(column, justify="right")
        for line in report.remotes:
            self._add_row(table, line)
        return table

    def _add_row(self, table: Table, line: RemoteReport) -> None:
        link = self.base.remotes[line.index].link
        reaction = "-" if line.reaction_time_ms is None else f"{line.reaction_time_ms:.1f} ms"
        table.add_row(
            str(line.index),
            str(link.address or "-"),
            Text(self._progress(link), _STATE_STYLE.get(link.state, "yellow")),
            f"{line.frames_per_second:.1f}",
            str(line.episodes),
            f"{line.reward:+g}",
            reaction,
        )

    def _progress(self, link: Link) -> str:
        """The state of a remote; of one that is coming up, what it waits for."""
        if link.state is State.RESETTING:
            return "first frame" if link.buffer.running is not None else "reset"
        if link.state is not State.CONNECTING:
            return link.state
        provider = self.base.provider
        phase = provider.phase(link.index) if isinstance(provider, Staged) else None
        return phase or ("vnc" if link.session is None else "rewarder")

    def picture(self) -> Group:
        """The table, and under it what is wrong now."""
        return Group(self.table(), *(_problem(problem) for problem in self.problems(now=True)))

    def problems(self, now: bool = False) -> list[str]:
        """What went wrong last, for each remote or for those that are not well `now`."""
        return [
            str(remote.error)
            for remote in self.base.remotes
            if remote.error is not None and not (now and remote.link.state is State.RUNNING)
        ]


def _problem(text: str) -> Text:
    return Text(text, "red")


@contextmanager
def _live(console: Console, show: bool) -> Iterator[Live | None]:
    if not show:
        yield None
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield live


def run(
    env: VectorEnv, agent: Agent, fps: float | None, until: Until, seed: int | None, as_json: bool
) -> int:
    """Play, then print the summary; return the exit status: 0 if every remote ran, else 1."""
    console = Console(stderr=as_json)
    with env:
        session = Run(env, agent, fps, until)
        interrupted = False
        try:
            session.play(console, seed, show=not as_json and console.is_terminal)
        except KeyboardInterrupt:
            interrupted = True
        report = session.report()
        if as_json:
            print(msgspec.json.encode(report).decode())  # noqa: T201
        else:
            console.print(session.table())
        for problem in session.problems():
            console.print(_problem(problem))
    if interrupted:
        return 130
    return 0 if all(tally.running for tally in session.env.tallies) else 1
