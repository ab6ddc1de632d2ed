"""One agent with 8 to 512 replayed remotes: what it does, what it costs, and where this machine ends.

**Replayed remotes.** Each is a recorded Atari-like screen of 1024x768, replayed over a VNC connection of its own at 15
updates a second (benchmarks/servers/pacer.c), and a rewarder of its own. The agent observes 84x84 grey pixels. It calls
`recv(min_ready=1, max_ready=64)`, and answers each frame as soon as it can. "Steps/s" counts the frames that it has
answered, of all remotes; "slowest" those of the remote that got the fewest, which shows whether `recv` is fair.
"CPU, µs a step" is the CPU time of the agent's process, all threads, also for frames that it has not answered; servers
are other processes.

**As fast as it can.** 64 remotes of 160x210 pixels, of which 32x32 change, send more updates than the agent can answer.
It gets whole pixels in an array of its own. TorchRL's `AsyncEnvPool` has the same number of environments, which return
the same pixels without computing anything, in two processes, with shared memory (`exchange="shm"`). It receives
batches of the same size.

**Where it ends.** The table divides what this machine has by what a remote needs, in the row with the most remotes
whose frames were all answered.

**A rack.** Computed, not measured: the memory and CPU time of a remote are those of the newest run of `containers`, its
Mbit/s those of a similar workload in `encodings` (Tight lossless), for 100 machines of 64 cores, 256 GB and 25 Gbit/s,
of which 80 % are used. Agents run on the same machines; their costs are those of the same row. The
network counts only for remotes whose agent is on another machine.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console

from benchmarks.clients.crowd import Crowd
from benchmarks.drivers.many import sending
from benchmarks.harness import ENVIRONMENT, serving
from benchmarks.report import Report, Table, newest
from benchmarks.servers.capture import ensure, path_of
from vnc.capture.capture import read_capture

COUNTS = (8, 16, 32, 64, 128, 256, 512)
RATE, BATCH, SECONDS = 15.0, 64, 5.0
HELD = 0.95
FAST, FAST_BATCH, FAST_RATE = 64, 32, 1000.0
SMALL = 160, 210
_SPRITE, _PLACES = 32, 40
_TIMEOUT = 600.0
_COLUMNS = [
    "remotes", "steps/s", "of those sent", "slowest/s", "rows a recv", "CPU, µs a step", "of a core", "MB each",
    "files each", "all running after s",
]  # fmt: skip


def measure(console: Console, rounds: int) -> Report:
    ensure(["atari"], console)
    table = Table(f"Replayed remotes at {RATE:g} updates/s", list(_COLUMNS))
    found: dict[int, list[Crowd]] = {}
    with console.status("measuring") as status:
        for count in COUNTS:
            status.update(f"measuring {count} remotes")
            found[count] = [replayed(count) for _ in range(rounds)]
            table.rows.append(_row(count, found[count]))
        status.update("measuring how fast it can be")
        fast = _fast(*_in_turns(rounds))
    medians = {count: _median(runs) for count, runs in found.items()}
    typical = medians[max(_held(medians), default=COUNTS[0])]
    return Report([table, fast, _ends(typical), _rack(newest(), typical)], _summary(medians))


def replayed(count: int) -> Crowd:
    """Return what an agent with `count` replayed remotes measures."""
    capture = read_capture(path_of("atari", "raw"))
    size = capture.header.width, capture.header.height
    with _remotes(size, [bytes(update.data) for update in capture.updates], count, RATE) as address:
        return _agent(address, size, "small", BATCH)


@contextmanager
def _remotes(size: tuple[int, int], updates: Sequence[bytes], count: int, rate: float) -> Iterator[str]:
    crowd = sys.executable, "-m", "benchmarks.servers.crowd", str(count)
    with sending(size, updates, count, rate, repeat=True) as port, serving(*crowd) as rewarders:
        yield "vnc://" + ",".join(f"127.0.0.1:{port}+{each}" for each in rewarders.split())


def _agent(address: str, size: tuple[int, int], view: str, batch: int) -> Crowd:
    options = address, f"{size[0]}x{size[1]}", view, str(batch), str(SECONDS)
    return Crowd(**_run("benchmarks.clients.crowd", *options))


def _run(module: str, *arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=ENVIRONMENT, timeout=_TIMEOUT)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _median(runs: list[Crowd]) -> Crowd:
    return Crowd(*(statistics.median(getattr(run, field) for run in runs) for field in Crowd.__slots__))


def _row(count: int, runs: list[Crowd]) -> list[str]:
    crowd = _median(runs)
    return [
        str(count),
        f"{crowd.steps:.0f}",
        f"{100 * crowd.steps / (count * RATE):.0f} %",
        f"{crowd.slowest:.1f}",
        f"{crowd.batch:.1f}",
        f"{1e6 * crowd.cpu:.0f}",
        f"{100 * crowd.cpu * crowd.steps:.0f} %",
        f"{crowd.memory / 1e6:.1f}",
        f"{crowd.files:.2f}",
        f"{crowd.start:.1f}",
    ]


# -- as fast as it can --------------------------------------------------------------------------------------------


def _in_turns(rounds: int) -> tuple[list[Crowd], list[dict[str, float]]]:
    """Return what agents of this package, and of TorchRL's pool, measure."""
    ours, peers = [], []
    with _remotes(SMALL, list(_sprites()), FAST, FAST_RATE) as address:
        for _ in range(rounds):
            ours.append(_agent(address, SMALL, "whole", FAST_BATCH))
            peers.append(_run("benchmarks.clients.torchrl_pool", str(FAST), str(FAST_BATCH), str(SECONDS)))
    return ours, peers


def _fast(ours: list[Crowd], peers: list[dict[str, float]]) -> Table:
    crowd = _median(ours)
    pool = {key: statistics.median(peer[key] for peer in peers) for key in peers[0]}
    table = Table(
        f"{FAST} remotes, as fast as the agent can",
        ["", "transitions/s", "rows a batch", "CPU of the agent's process, µs each", "would fill a core"],
    )
    for name, steps, batch, cpu in (
        ("universe-client, remotes over VNC", crowd.steps, crowd.batch, crowd.cpu),
        ("TorchRL AsyncEnvPool, environments that stand still", pool["steps"], pool["batch"], pool["cpu"]),
    ):
        table.rows.append([name, f"{steps:.0f}", f"{batch:.1f}", f"{1e6 * cpu:.1f}", f"{1 / cpu:.0f}"])
    return table


def _sprites() -> Iterator[bytes]:
    """Yield updates in Raw: the whole screen, then a square in other places and colours."""
    yield _raw(0, 0, *SMALL, 0)
    for number in range(_PLACES):
        x, y = 3 * number, 4 * number
        yield _raw(x, y, _SPRITE, _SPRITE, number + 1)


def _raw(x: int, y: int, width: int, height: int, value: int) -> bytes:
    head = struct.pack(">BxHHHHHi", 0, 1, x, y, width, height, 0)
    return head + bytes((value, value, value, 0)) * (width * height)


# -- where it ends ------------------------------------------------------------------------------------------------


def _ends(crowd: Crowd) -> Table:
    table = Table(
        "Where one agent on this machine ends",
        ["what", "a remote needs", "there is", "enough for remotes"],
    )
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    share = crowd.cpu * RATE
    for what, need, there, enough in (
        (
            "the agent's memory",
            f"{crowd.memory / 1e6:.1f} MB",
            f"{memory / 1e9:.1f} GB",
            memory / crowd.memory,
        ),
        ("file descriptors", f"{crowd.files:.2f}", f"{files} (hard limit)", files / crowd.files),
        ("one core for the agent", f"{100 * share:.2f} % at {RATE:g} steps/s", "100 %", 1 / share),
    ):
        table.rows.append([what, need, there, f"{enough:.0f}"])
    return table


MACHINES, CORES, GIGABYTES, GIGABITS, USED = 100, 64, 256, 25, 0.8
_SIMILAR = {
    "`builtin.NeonDrive-v0`": "scrolling game with sprites",
    "`gym-core.ALE/Pong-v5`": "Atari-like",
    "`browser.Slalom-v0`": "scrolling game with sprites",
    "`desktop.WriteNote-v0`": "terminal",
}
"""Environments of the table of `containers`, and the workload of `encodings` whose bandwidth is theirs."""


def _rack(reports: Mapping[str, Report], crowd: Crowd) -> Table:
    """Return how many remotes a rack holds, with their agents on the same machines; `crowd` is what an agent costs."""
    table = Table(
        f"A rack of {MACHINES} machines",
        [
            "env id",
            "by CPU",
            "by memory",
            "by network",
            "remotes a machine",
            "of the rack",
            "agents' cores a machine",
        ],
    )
    kinds = {cells[0]: cells for cells in reports["containers"].tables[0].rows}
    rates = {
        cells[0]: cells[7] for cells in reports["encodings"].tables[0].rows if cells[1] == "Tight lossless"
    }
    for name, workload in _SIMILAR.items():
        memory, share = (float(kinds[name][at].split()[0]) for at in (5, 6))
        agent = crowd.cpu * RATE
        by_cpu = USED * CORES / (share / 100 + agent)
        by_memory = USED * GIGABYTES * 1e9 / (memory * 2**20 + crowd.memory)
        by_network = USED * GIGABITS * 1000 / float(rates[workload])
        fit = int(min(by_cpu, by_memory))
        bounds = [f"{bound:.0f}" for bound in (by_cpu, by_memory, by_network)]
        table.rows.append([name, *bounds, str(fit), str(MACHINES * fit), f"{fit * agent:.1f}"])
    return table


def _held(medians: Mapping[int, Crowd]) -> list[int]:
    """Return the numbers of remotes whose frames were answered."""
    return [count for count, crowd in medians.items() if crowd.steps >= HELD * count * RATE]


def _summary(medians: dict[int, Crowd]) -> str:
    return (
        f"{max(_held(medians), default=0) or 'Fewer than 8'} remotes had at least {100 * HELD:.0f} % of their updates "
        "answered, with the remotes' servers on the same machine."
    )
