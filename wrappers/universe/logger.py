"""Statistics of a run: frames, rewards, reaction times and lags."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.recording.extra import require
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper
from wrappers.writers import Writer

logger = logging.getLogger(__name__)

_LAG = "stats.gauges.diagnostics.lag."
_TIMES = {
    "reaction_time": "reaction_time",
    "observation_lag": _LAG + "observation",
    "action_lag": _LAG + "action",
    "reward_lag": _LAG + "reward",
    "rewarder_message_lag": _LAG + "rewarder_message",
}


@dataclass(slots=True)
class Tally:
    """Counts for one remote over a period of time. Times are in seconds.

    Attributes:
        frames: framebuffer updates received while the remote had an observation.
        bytes: their encoded size.
        rewards: reward messages.
        reward: the sum of the rewards.
        episodes: episodes that ended, skipped ones included.
        running: seconds during which the remote had an observation.
        sums: the sum of the known values of each time, by its name.
        counts: how many values each sum contains.
    """

    frames: int = 0
    bytes: int = 0
    rewards: int = 0
    reward: float = 0.0
    episodes: int = 0
    running: float = 0.0
    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_TIMES, 0.0))
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_TIMES, 0))

    @property
    def frames_per_second(self) -> float:
        """Framebuffer updates per second of running time."""
        return self.frames / self.running if self.running else 0.0

    def mean(self, name: str) -> float | None:
        """Return the mean in seconds, or None without values.

        Args:
            name: `reaction_time`, `observation_lag`, `action_lag`, `reward_lag` or `rewarder_message_lag`.
        """
        return mean([self], name)

    def add(self, reward: float | None, info: dict[str, Any], running: float) -> None:
        """Add one step of the remote.

        Args:
            reward: the step's reward, or None.
            info: the remote's info of the step.
            running: seconds since the step before if the remote had an observation, else 0.
        """
        if running:
            self.frames += info["stats.vnc.updates.n"]
            self.bytes += info["stats.vnc.updates.bytes"]
            self.running += running
        self.rewards += info["stats.reward.count"]
        self.reward += reward or 0.0
        self.episodes += (info["terminated"] or info["truncated"]) + info["env_status.skipped_episodes"]
        for name, key in _TIMES.items():
            if (value := info[key]) is not None:
                self.sums[name] += value
                self.counts[name] += 1


class Logger(Wrapper):
    """Collects statistics of every remote and logs a line at a fixed interval.

    A line contains frames and rewards per second, the mean reaction time and the mean lags since the line before. The
    logger is `wrappers.universe.logger`, the level INFO.

    With a `writer`, TensorBoard or W&B gets scalars of all remotes together at the same times: `rate/frames` and other
    rates per second, `time/reaction_time` and other means in seconds. Each end of an episode adds `episode/return`. The
    step of a scalar is `steps`.

    Attributes:
        tallies: a `Tally` of the whole run for each remote.
        steps: the number of steps so far.
        every: the interval between two lines, in seconds.

    Example:
        env = Logger(universe_client.make("builtin.NeonDrive-v0", remotes=4), every=5.0)
        env.reset()
        for _ in range(600):
            env.step([[]] * 4)
        print(env.tallies[0].frames_per_second)

        env = Logger(Record(env, "runs/1"), writer=torch.utils.tensorboard.SummaryWriter("logs"))
        ...  # play
        env.add_videos("runs/1")
    """

    instead: ClassVar[str] = "wrappers.EpisodeStatistics"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, every: float = 5.0, writer: Any = None) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            every: the interval between two lines, in seconds.
            writer: a `SummaryWriter` of TensorBoard, or what `wandb.init()` returns; None writes no scalars. It is not
                closed.

        Raises:
            ConfigError: the writer is neither of them.
        """
        super().__init__(env)
        self._writer = None if writer is None else Writer(writer)
        self._returns = [0.0] * env.n
        self._films: set[tuple[str, int, int]] = set()
        self.every = every
        self.tallies = [Tally() for _ in range(env.n)]
        self.steps = 0
        self._recent = [Tally() for _ in range(env.n)]
        self._observed = [False] * env.n
        now = time.monotonic()
        self._step_times = [now] * env.n
        self._line_time = now
        self._line_steps = 0

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results unchanged and add them to the statistics; see `VectorEnv.recv`."""
        result = self.env.recv(mask)
        observation_n, reward_n, _, info = result
        now = time.monotonic()
        self.steps += 1
        for index in range(self.n):
            if mask is None or mask[index]:
                self._tally(index, observation_n[index], reward_n[index], info["n"][index], now)
        if now - self._line_time >= self.every:
            self._log(now)
        return result

    def add_videos(self, directory: str | Path, *, fps: int = 15) -> int:
        """Write a video of each ended episode of a recording that has not been written yet; return their number.

        They show keys, pointer and score, as the films of `universe-client export --mp4`. Nothing is sent or received
        meanwhile: call it between episodes, or after the run. TensorBoard needs `moviepy`, and memory for all pictures
        of an episode.

        Args:
            directory: of `Record`, which may still be recording: an episode whose last second is not in the file yet is
                left for a later call.
            fps: pictures per second.

        Raises:
            ConfigError: there is no writer, no recording in `directory`, or the extra `record` is not installed.
        """
        if self._writer is None:
            raise ConfigError("add_videos needs a writer: Logger(env, writer=...)")
        require("av", "mcap", "PIL")
        from universe_client.recording.films import film
        from universe_client.recording.reading import Recording

        recording, written = Recording(directory), 0
        for episode in recording.episodes:
            name = str(directory), episode.remote, episode.start
            if episode.end_reason is None or name in self._films or not recording.is_complete(episode):
                continue
            self._films.add(name)
            with TemporaryDirectory() as folder:
                path = Path(folder) / "episode.mp4"
                if film(recording, episode, path, fps):
                    self._writer.video(f"episode/remote-{episode.remote}", path, fps, self.steps)
                    written += 1
        return written

    def _tally(
        self, index: int, observation: Any, reward: float | None, info: dict[str, Any], now: float
    ) -> None:
        elapsed, self._step_times[index] = now - self._step_times[index], now
        running = elapsed if self._observed[index] else 0.0
        self._observed[index] = observation is not None
        for tally in (self.tallies[index], self._recent[index]):
            tally.add(reward, info, running)
        self._returns[index] += reward or 0.0
        if info["terminated"] or info["truncated"]:
            if self._writer is not None:
                self._writer.scalars({"episode/return": self._returns[index]}, self.steps)
            self._returns[index] = 0.0

    def _log(self, now: float) -> None:
        elapsed, steps = now - self._line_time, self.steps - self._line_steps
        logger.info("%s", _line(self._recent, steps, elapsed))
        if self._writer is not None:
            self._writer.scalars(_scalars(self._recent, steps, elapsed), self.steps)
        self._recent = [Tally() for _ in range(self.n)]
        self._line_time, self._line_steps = now, self.steps


def _scalars(tallies: Sequence[Tally], steps: int, elapsed: float) -> dict[str, float]:
    """Return rates per second, and the known times in seconds."""
    counts = {
        "frames": sum(tally.frames for tally in tallies),
        "bytes": sum(tally.bytes for tally in tallies),
    }
    rates = counts | {"rewards": sum(tally.rewards for tally in tallies), "steps": steps}
    times = {f"time/{name}": mean(tallies, name) for name in _TIMES}
    return {f"rate/{name}": count / elapsed for name, count in rates.items()} | {
        name: value for name, value in times.items() if value is not None
    }


def _line(tallies: Sequence[Tally], steps: int, elapsed: float) -> str:
    frames = " ".join(f"{tally.frames / elapsed:.0f}" for tally in tallies)
    rewards = sum(tally.rewards for tally in tallies) / elapsed
    total = sum(tally.reward for tally in tallies)
    kilobytes = sum(tally.bytes for tally in tallies) / elapsed / 1000
    return (
        f"{steps / elapsed:.1f} steps/s, frames/s [{frames}], {kilobytes:.0f} kB/s, {rewards:.1f} rewards/s, "
        f"reward {total:+g}, " + ", ".join(f"{name} {_milliseconds(mean(tallies, name))}" for name in _TIMES)
    )


def mean(tallies: Sequence[Tally], name: str) -> float | None:
    """Return the mean of a time over all `tallies` in seconds, or None without values; see `Tally.mean`."""
    count = sum(tally.counts[name] for tally in tallies)
    return sum(tally.sums[name] for tally in tallies) / count if count else None


def _milliseconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"{1000 * seconds:.1f} ms"
