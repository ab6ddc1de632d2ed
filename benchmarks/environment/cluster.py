"""An agent with 8 remotes of its own machine, and with 8 of a Ray cluster whose nodes are processes of this machine.

The remotes play NeonDrive, 60 frames/s of 320x240. "its own node": the actors are on the agent's node, as `embedded:8`
but started by Ray. "another node": over TLS on the loopback interface, with the compression that a network gets. The
CPU time is that of the agent's process, with Ray's threads. It needs the extra `ray`: `make test-rllib` installs it in
an environment of its own, and `.venv-rllib/bin/python -m benchmarks cluster` measures.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

import universe_client
from benchmarks.harness import ENVIRONMENT
from benchmarks.report import Report, Table
from universe_client.providers import EmbeddedProvider, Provider, RayProvider, Resources

N = 8
GAME = "builtin.NeonDrive-v0"
SECONDS = 8.0
START = 300.0
NAMES = {"embedded": "embedded:8", "near": "ray:8, its own node", "far": "ray:8, another node"}


def measure(console: Console, rounds: int) -> Report:
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
    with _cluster() as address, console.status("measuring"):
        for _ in range(rounds):
            for name, results in found.items():
                results.append(_child(name, address))
    table = Table("remotes", ["remotes=", "frames/s", "of embedded", "CPU ms/s of the agent", "of embedded"])
    usual = [statistics.median(values) for values in zip(*found["embedded"], strict=True)]
    for name, results in found.items():
        frames, cpu = (statistics.median(values) for values in zip(*results, strict=True))
        shares = f"{frames / usual[0]:.2f}", f"{cpu / usual[1]:.2f}"
        table.rows.append([NAMES[name], f"{frames:.0f}", shares[0], f"{1000 * cpu:.0f}", shares[1]])
    return Report([table])


@contextmanager
def _cluster() -> Iterator[str]:
    """Yield the address of a cluster: a head without processors, and a node with them."""
    os.environ |= {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",  # as the remotes of `embedded:8`
        "RAY_raylet_start_wait_time_s": "300",
    }
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 80_000_000, "include_dashboard": False}
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "resources": {"head": 100}, **small}
    )
    try:
        cluster.add_node(num_cpus=4, **small)
        yield cluster.address
    finally:
        cluster.shutdown()


def _child(name: str, address: str) -> tuple[float, float]:
    """Return the frames, and the CPU seconds of the agent, of one second, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.environment.cluster", name]
    done = subprocess.run(
        command, env=ENVIRONMENT | {"RAY_ADDRESS": address}, stdout=subprocess.PIPE, text=True, check=True
    )
    frames, cpu = json.loads(done.stdout.splitlines()[-1])
    return frames, cpu


def _play(remotes: Provider) -> tuple[float, float]:
    with universe_client.VectorEnv(GAME, remotes, start_timeout=START) as env:
        env.reset()
        while any(observation is None for observation in env.step([[]] * N)[0]):
            env.wait(0.1)
        frames, began, cpu = 0, time.monotonic(), time.process_time()
        while (passed := time.monotonic() - began) < SECONDS:
            env.wait(0.1)
            frames += sum(info["stats.vnc.updates.n"] for info in env.step([[]] * N)[3]["n"])
        return frames / passed, (time.process_time() - cpu) / passed


def _remotes(name: str) -> Provider:
    if name == "embedded":
        return EmbeddedProvider(N, GAME, START)
    return RayProvider(N, GAME, START, resources=Resources(0, 0, {"head": 1}) if name == "near" else None)


if __name__ == "__main__":
    print(json.dumps(_play(_remotes(sys.argv[1]))))
