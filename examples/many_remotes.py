"""One agent with many remotes, far and near: it answers those that have a new frame, in batches.

    python examples/many_remotes.py --remotes 16 --seconds 20
    python examples/many_remotes.py --remotes ray:256 --batch 64

`recv` returns as soon as `--ready` remotes have a new frame, and no later than `--timeout`. Of the remotes that are
ready it takes those first that have waited longest for the agent, so that a slow or far remote gets its share, and one
that resets delays nobody. The policy is a random matrix; a network would take its place.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from universe_client import GymVectorEnv
from wrappers import Grey, Resize

SIDE = 42  # pixels of what the policy sees


def make_env(remotes: int | str) -> Any:
    """Return an environment that connects in the background: no call waits for a remote."""
    whole = GymVectorEnv("builtin.NeonDrive-v0", remotes, screen_size=(320, 240), reset_mode="mask")
    return Resize(Grey(whole), width=SIDE, height=SIDE)


def serve(env: Any, options: argparse.Namespace) -> tuple[NDArray[np.int64], int]:
    """Answer frames for some seconds; return how many of each remote, and in how many batches."""
    weights = np.random.default_rng(0).normal(size=(SIDE * SIDE, env.single_action_space.n))
    most = min(options.batch, env.num_envs)
    answered, batches = np.zeros(env.num_envs, np.int64), 0
    env.reset()
    env.send(env.action_space.sample())
    deadline = time.monotonic() + options.seconds
    while (left := deadline - time.monotonic()) > 0:
        observations, *_, infos = env.recv(
            min_ready=min(options.ready, most), max_ready=most, timeout=min(options.timeout, left)
        )
        ids = infos["env_id"]
        if len(ids) == 0:
            continue  # none is ready yet
        env.send((observations.reshape(len(ids), -1) @ weights).argmax(axis=1), ids)
        answered[ids] += 1
        batches += 1
    return answered, batches


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--remotes", default="8", help="number, addresses or ray:N; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=20, help="how long to play; default: %(default)g")
    parser.add_argument("--batch", type=int, default=32, help="most rows of a batch; default: %(default)d")
    parser.add_argument("--ready", type=int, default=1, help="rows to wait for; default: %(default)d")
    parser.add_argument("--timeout", type=float, default=0.5, help="seconds to wait; default: %(default)g")
    options = parser.parse_args()
    env = make_env(int(options.remotes) if options.remotes.isdigit() else options.remotes)
    try:
        answered, batches = serve(env, options)
    finally:
        env.close()
    print(
        f"{answered.sum() / options.seconds:.0f} frames/s answered, {answered.sum() / max(batches, 1):.1f} a batch; "
        f"of one remote {answered.min()} to {answered.max()}, median {np.median(answered):.0f}"
    )


if __name__ == "__main__":
    main()
