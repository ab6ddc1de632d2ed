"""Start-up time, memory, CPU time and image size of remotes in containers, one at a time.

The images exist before the measurement. "First observation" is the time from `VectorEnv(..., "docker:1")` to the first
pixels of the first episode; "reset" is the time from `env.reset()` to the first pixels of the next. The other columns
are measured during some seconds of play by a random agent.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from rich.console import Console

from benchmarks.report import Report, Table
from universe_client.cli.agents import RandomAgent
from universe_client.providers.containers.engine import Engine
from universe_client.providers.containers.images import image_for
from universe_client.providers.containers.owner import SESSION
from universe_client.providers.containers.provider import DockerProvider
from universe_client.vector_env import VectorEnv
from wrappers import Throttle

ENV_IDS = (
    "builtin.NeonDrive-v0",
    "gym-core.CartPole-v1",
    "gym-core.ALE/Pong-v5",
    "browser.click-test",
    "browser.Slalom-v0",
    "browser.Fireflies-v0",
    "desktop.WriteNote-v0",
)
RESETS = 5
SECONDS = 5.0
_TIMEOUT = 60.0
_COLUMNS = ["env id", "image", "first observation", "reset", "updates/s", "memory", "of a core"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources that a container has used so far."""

    memory: int  # bytes, without the files that the kernel could drop
    cpu: float  # seconds


@dataclass(frozen=True, slots=True)
class Cost:
    """One round of one remote."""

    first: float
    reset: float
    updates: float
    memory: int
    cpu: float


def measure(console: Console, rounds: int) -> Report:
    engine = Engine()
    table = Table("Remotes in containers, one at a time", list(_COLUMNS))
    with console.status("measuring") as status:
        for env_id in ENV_IDS:
            status.update(f"measuring {env_id}")
            image = image_for(env_id)
            costs = [_cost(env_id) for _ in range(rounds)]
            size = f"{image.name}, {engine.image_size(image.reference) / 1e6:.0f} MB"
            table.rows.append([f"`{env_id}`", size, *_figures(costs)])
    engine.close()
    return Report([table])


def client() -> Any:
    """Return a client of the Docker SDK, for statistics that `Engine` does not have."""
    from docker.client import DockerClient

    return DockerClient(base_url=Engine().url)


def containers(sdk: Any, provider: DockerProvider) -> list[Any]:
    """Return the containers of a provider, in the order of its slots."""
    found = sdk.containers.list(all=True, filters={"label": f"{SESSION}={provider.session}"})
    return sorted(found, key=lambda container: container.name)


def usage(sdk: Any, container: Any) -> Usage:
    stats = sdk.api.stats(container.id, stream=False, one_shot=True)
    memory, cpu = stats["memory_stats"], stats["cpu_stats"]
    files = memory["stats"].get("total_inactive_file", memory["stats"].get("inactive_file", 0))
    return Usage(memory["usage"] - files, cpu["cpu_usage"]["total_usage"] / 1e9)


def _cost(env_id: str) -> Cost:
    began = time.monotonic()
    provider = DockerProvider(1, env_id)
    with VectorEnv(env_id, provider) as env:
        env.reset()
        _await_pixels(env)
        first = time.monotonic() - began
        resets = [_reset(env) for _ in range(RESETS)]
        sdk = client()
        (container,) = containers(sdk, provider)
        before, began = usage(sdk, container), time.monotonic()
        updates = _play(env)
        after, seconds = usage(sdk, container), time.monotonic() - began
        sdk.close()
    return Cost(first, max(resets), updates / SECONDS, after.memory, (after.cpu - before.cpu) / seconds)


def _reset(env: VectorEnv) -> float:
    began = time.monotonic()
    env.reset()
    _await_pixels(env)
    return time.monotonic() - began


def _await_pixels(env: VectorEnv) -> None:
    deadline = time.monotonic() + _TIMEOUT
    while env.step([[]])[0][0] is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{env.env_id}: no observation within {_TIMEOUT:g} s: {env.remotes[0].error}")
        env.wait(0.1)


def _play(env: VectorEnv) -> int:
    agent, throttled, updates = RandomAgent(seed=1), Throttle(env, step_rate=60), 0
    results: Any = ([None], [0.0], [False], {})
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        results = throttled.step(agent(*results))
        updates += results[3]["n"][0]["stats.vnc.updates.n"]
    return updates


def _figures(costs: list[Cost]) -> list[str]:
    return [
        f"{median(cost.first for cost in costs):.1f} s",
        f"{1000 * median(cost.reset for cost in costs):.0f} ms",
        f"{median(cost.updates for cost in costs):.0f}",
        f"{median(cost.memory for cost in costs) / 2**20:.0f} MiB",
        f"{100 * median(cost.cpu for cost in costs):.0f} %",
    ]
