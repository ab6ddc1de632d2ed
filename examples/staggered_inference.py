"""Several inferences at a time: a slow policy that decides more often than it can think.

A policy needs `--thinking` seconds for one decision. One after the other it would decide 1 / thinking times per second,
always on frames of that age. Here `--workers` threads think in turns, each on the newest frame at its start (Riemer et
al., arXiv 2412.14355). Each plans what to play from the moment on at which it will be ready; a later plan replaces an
earlier one from its first moment on, so the order needs no care. The observation of `ActionBuffer` has what is planned
already, in case the policy wants to know.

    python examples/staggered_inference.py --workers 4 --thinking 0.1
"""

from __future__ import annotations

import argparse
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from pixel_agent import PixelAgent  # type: ignore[import-not-found]

import universe_client
from wrappers import ActionBuffer, BlockingReset

STEP = 1 / 60  # seconds between two looks at the results
ONE = threading.Lock()  # the agent remembers what it has planned


def infer(agent: PixelAgent, observation: Any, seen: float, thinking: float) -> Any:
    """Think for a while about one frame; return the plan from then on. A neural network would be called here."""
    with ONE:
        sequence = agent.plan(0, observation, seen, seen + thinking)
    time.sleep(max(seen + thinking - time.monotonic() - 0.01, 0))
    return sequence


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=4, help="inferences at a time; default: %(default)s")
    parser.add_argument("--thinking", type=float, default=0.1, help="seconds of one; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=60, help="how long to play; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first episode; default: %(default)s")
    options = parser.parse_args()
    remote = BlockingReset(universe_client.make("builtin.NeonDrive-v0", "process:1"))
    with ActionBuffer(remote, options.thinking) as env, ThreadPoolExecutor(options.workers) as pool:
        play(env, pool, options)


def play(env: ActionBuffer, pool: ThreadPoolExecutor, options: argparse.Namespace) -> None:
    """Play for some seconds, and print what was won and how many decisions were made."""
    agent, thinking = PixelAgent(), list[Future[Any]]()
    observation_n = env.reset(seed=options.seed)
    score, decisions, planned = 0.0, 0, 0
    start = turn = time.monotonic()
    while (now := time.monotonic()) < start + options.seconds:
        for future in [future for future in thinking if future.done()]:
            thinking.remove(future)
            env.play([future.result()])
            decisions += 1
        if now >= turn and len(thinking) < options.workers:
            turn = max(turn + options.thinking / options.workers, now - STEP)
            planned = max(planned, len(observation_n[0]["planned"]))
            thinking.append(pool.submit(infer, agent, observation_n[0], now, options.thinking))
        env.wait(STEP, forget=True)
        observation_n, reward_n, done_n, _ = env.recv()
        score += reward_n[0]
        if done_n[0]:
            # Their frames are of the last episode.
            for future in thinking:
                future.cancel()
            thinking.clear()
            agent.drives.clear()
            print(f"episode: {score:+.0f}", flush=True)
            score = 0.0
    rate = decisions / options.seconds
    print(f"{rate:.1f} decisions/s of {options.thinking:g} s each, up to {planned} entries planned")


if __name__ == "__main__":
    main()
