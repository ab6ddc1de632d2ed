"""The rows of the table: which worker each side runs, and the goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Row:
    """A comparison of the package now, at an earlier commit, and with a peer in the same rounds."""

    title: str
    worker: tuple[str, ...]
    """Module, function and arguments of the worker of both commits."""
    goal: str
    """For the first measure of the worker."""
    peers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By name. A worker of the module `peers` needs no commit; others run with the package as it is now."""


_ASYNC, _ENVPOOL = "AsyncVectorEnv", "EnvPool"
_CARTPOLE = "lock-step CartPole with its pixels"
_STARTING = "16 embedded NeonDrives"

ROWS: dict[str, Row] = {
    **{
        f"cartpole-{count}": Row(
            f"{_CARTPOLE}, {count} remote{'s' * (count > 1)}",
            ("ours", "cartpole", str(count)),
            "≥ 1.0 of AsyncVectorEnv",
            {_ASYNC: ("peers", "cartpole", str(count))},
        )
        for count in (1, 4, 8)
    },
    "pong-lockstep": Row(
        "lock-step Pong with the Atari set, 8 remotes",
        ("ours", "pong_lockstep"),
        "≥ 0.8 of AsyncVectorEnv",
        {_ASYNC: ("peers", "pong"), _ENVPOOL: ("peers", "envpool_pong")},
    ),
    "pong": Row("real time, 8 Pongs at 60 frames/s", ("ours", "pong_realtime"), "≤ 0.4 of before"),
    "neon": Row(
        "real time, 16 NeonDrives at 60 frames/s", ("ours", "neon_realtime", "16"), "≤ 0.5 of before"
    ),
    **{
        f"{name}-15": Row(
            f"real time, {title}, of which the agent looks at 15/s",
            ("ours", *worker),
            "",
            {"every frame": ("ours", *worker, "every")},
        )
        for name, title, worker in (
            ("pong", "8 Pongs at 60 frames/s", ("pong_looks",)),
            ("neon", "16 NeonDrives at 60 frames/s", ("neon_looks", "16")),
        )
    },
    "age": Row(
        "60 frames/s over VNC, looked at 15 times/s",
        ("looks", "age"),
        "",
        {"every frame": ("looks", "age", "every")},
    ),
    "start": Row(
        _STARTING,
        ("starting", "embedded", "builtin.NeonDrive-v0", "16"),
        "memory ≤ 0.5 of before, time ≤ 0.3",
    ),
    "screen": Row(
        "a changed 1024x768 screen of an X program",
        ("display", "screen", "auto"),
        "≤ 0.3 of Raw",
        {"Raw": ("display", "screen", "raw")},
    ),
    "key": Row("key to pixel, X program, idle agent", ("display", "keys", "idle"), "≤ 0.5 of before"),
    "key-busy": Row(
        "key to pixel, X program, busy agent thread", ("display", "keys", "busy"), "within 10 % of idle"
    ),
    "stacks": Row(
        "84x84 grey stacks of 8 screens of 1024x768, 160x210 pixels changed",
        ("screens", "stacks"),
        "≤ 0.1 of before",
    ),
    "steps": Row("step() of 64 remotes without new frames", ("screens", "idle_steps"), "≤ 1.0 of before"),
}
RAW = "raw"
"""The name of the rows of Raw captures, in machine/raw.py."""
LOAD = "load"
"""The name of the table of 8 to 64 NeonDrives, in machine/load.py."""
NAMES = (*ROWS, RAW, LOAD)
