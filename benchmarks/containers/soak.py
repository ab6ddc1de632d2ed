"""Availability and memory of eight different remotes in containers, during minutes of play by a random agent.

"Ran" is the share of the time outside resets in which the remote accepted actions. Memory is that of the container at
the end of the first, the middle and the last minute.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from benchmarks.containers.cost import client, containers, usage
from benchmarks.harness import resident
from benchmarks.report import Report, Table
from universe_client.cli.agents import RandomAgent
from universe_client.core.link import State
from universe_client.providers.containers.provider import DockerProvider
from universe_client.providers.provider import RemoteAddress
from universe_client.vector_env import VectorEnv
from wrappers import Throttle

ENV_IDS = (
    "builtin.NeonDrive-v0",
    "gym-core.CartPole-v1",
    "gym-core.ALE/Pong-v5",
    "gym-core.ALE/Breakout-v5",
    "browser.click-test",
    "browser.Slalom-v0",
    "desktop.WriteNote-v0",
    "desktop.ClickTargets-v0",
)
FPS = 60.0
_MIB = 2**20
_MINUTE = 60.0
_COLUMNS = ["env id", "ran", "in resets", "updates/s", "episodes", "errors", "restarts", "memory, MiB"]


class Mixed:
    """A provider of one container for each env id."""

    def __init__(self, env_ids: Sequence[str]) -> None:
        self.n = len(env_ids)
        self.providers = [DockerProvider(1, env_id) for env_id in env_ids]

    async def acquire(self, index: int) -> RemoteAddress:
        return await self.providers[index].acquire(0)

    async def discard(self, index: int) -> None:
        await self.providers[index].discard(0)

    async def close(self) -> None:
        for provider in self.providers:
            await provider.close()


@dataclass(slots=True)
class Tally:
    """The record of one slot."""

    container: str
    ran: float = 0.0
    down: float = 0.0
    resets: float = 0.0
    updates: int = 0
    episodes: int = 0
    errors: int = 0
    memory: list[int] = field(default_factory=list)

    def add(self, state: State, seconds: float, done: bool, info: dict[str, Any]) -> None:
        """Add a step that took `seconds`."""
        if state is State.RUNNING:
            self.ran += seconds
        elif state is State.RESETTING:
            self.resets += seconds
        else:
            self.down += seconds
        self.updates += info["stats.vnc.updates.n"]
        self.episodes += done
        self.errors += info["error"] is not None


class Soak:
    """A random agent that reads the containers' memory once per minute."""

    def __init__(self, env: VectorEnv, provider: Mixed) -> None:
        self.env = Throttle(env, step_rate=FPS)
        self._links = [remote.link for remote in env.remotes]
        self._sdk = client()
        self._providers = provider.providers
        self.tallies = [Tally(container.id) for container in self._containers()]
        self.client_memory: list[int] = []

    def _containers(self) -> list[Any]:
        return [container for provider in self._providers for container in containers(self._sdk, provider)]

    def play(self, minutes: int, console: Console) -> None:
        agent = RandomAgent(seed=1)
        results: Any = ([None] * len(self.tallies), [], [], {})
        for minute in range(minutes):
            end = time.monotonic() + _MINUTE
            while (began := time.monotonic()) < end:
                states = [link.state for link in self._links]
                results = self.env.step(agent(*results))
                seconds = time.monotonic() - began
                for tally, state, done, info in zip(
                    self.tallies, states, results[2], results[3]["n"], strict=True
                ):
                    tally.add(state, seconds, bool(done), info)
            self._look()
            ran = min(tally.ran / (tally.ran + tally.down) for tally in self.tallies)
            console.print(
                f"minute {minute + 1}: the least ran {100 * ran:.2f} % of its time", highlight=False
            )

    def _look(self) -> None:
        for tally, container in zip(self.tallies, self._containers(), strict=True):
            tally.memory.append(usage(self._sdk, container).memory)
        self.client_memory.append(resident())

    def restarts(self) -> list[int]:
        """Return how often each slot's container was replaced or restarted."""
        return [
            int(container.id != tally.container) + container.attrs["RestartCount"]
            for tally, container in zip(self.tallies, self._containers(), strict=True)
        ]


def measure(console: Console, minutes: int) -> Report:
    provider = Mixed(ENV_IDS)
    with VectorEnv(None, provider) as env:
        env.reset()
        while any(remote.link.state is not State.RUNNING for remote in env.remotes):
            env.step([[]] * env.n)
            env.wait(1.0)
        soak = Soak(env, provider)
        soak.play(minutes, console)
        table = Table(f"{env.n} remotes for {minutes} minutes", list(_COLUMNS))
        for env_id, tally, restarts in zip(ENV_IDS, soak.tallies, soak.restarts(), strict=True):
            table.rows.append([f"`{env_id}`", *_figures(tally, restarts, minutes)])
    summary = f"The agent's process: {_course(soak.client_memory)} MiB; it missed {soak.env.missed} of its deadlines."
    return Report([table], summary)


def _figures(tally: Tally, restarts: int, minutes: int) -> list[str]:
    return [
        f"{100 * tally.ran / (tally.ran + tally.down):.2f} %",
        f"{100 * tally.resets / (minutes * _MINUTE):.2f} %",
        f"{tally.updates / (minutes * _MINUTE):.0f}",
        str(tally.episodes),
        str(tally.errors),
        str(restarts),
        _course(tally.memory),
    ]


def _course(memory: list[int]) -> str:
    """Return the first, middle and last size in MiB."""
    return " → ".join(f"{memory[at] / _MIB:.0f}" for at in (0, len(memory) // 2, -1))
