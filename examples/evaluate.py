"""Measure agents: the returns of their episodes, and their reaction times.

In real time an agent's score depends on its reaction time: the age of the newest frame that an action is based on.
`--delay` delays an agent's actions to show how much. With `--chunk` the agent knows of the delay: its method `plan`
plans the time after it, and `VectorEnv.play` plays the plan at its times. `PixelAgent.plan` shows the arguments.

    python examples/evaluate.py --agent random --agent pixel_agent:PixelAgent --episodes 20 --remotes 4
    python examples/evaluate.py --agent pixel_agent:PixelAgent --delay 0.1
    python examples/evaluate.py --agent pixel_agent:PixelAgent --delay 0.1 --chunk
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections import deque
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

import universe_client
from universe_client.cli.agents import DEFAULT_KEYS, ActionN, Agent, after_reset, find_agent
from wrappers import BlockingReset, EpisodeID, Logger, Throttle

FIGURES = (
    "episodes",
    "return, mean",
    "return, standard error",
    "return, best",
    "episode, mean seconds",
    "reaction time, mean ms",
    "reaction time, 95 % below ms",
    "frames/s of a remote",
)


def evaluate(name: str, options: argparse.Namespace) -> list[str]:
    """Play the episodes and return the agent's column of the table."""
    remotes = universe_client.make(options.env_id, options.remotes)
    logger = Logger(Throttle(BlockingReset(remotes), step_rate=options.step_rate), every=3600)
    agent = find_agent(name, DEFAULT_KEYS, options.seed)
    with EpisodeID(logger, limit=options.episodes) as env:
        returns, lengths, reactions = play(env, agent, options)
    spread = statistics.stdev(returns) / len(returns) ** 0.5 if len(returns) > 1 else 0.0
    frames = statistics.mean(tally.frames_per_second for tally in logger.tallies)
    milliseconds = sorted(1000 * seconds for seconds in reactions) or [math.nan]  # NaN: the agent never acted
    times = (statistics.mean(milliseconds), milliseconds[int(0.95 * len(milliseconds))])
    figures = (statistics.mean(returns), spread, max(returns), statistics.mean(lengths), *times, frames)
    return [str(len(returns)), *("-" if math.isnan(figure) else f"{figure:.1f}" for figure in figures)]


def play(env: EpisodeID, agent: Agent, options: argparse.Namespace) -> tuple[list[float], ...]:
    """Return the returns and lengths of the episodes and the reaction times of the actions; times are in seconds."""
    returns, lengths, reactions = list[float](), list[float](), list[float]()
    sums, began = [0.0] * env.n, [time.monotonic()] * env.n
    observation_n, reward_n, done_n, info = after_reset(env.reset(seed=options.seed))
    delayed: deque[ActionN] = deque([[[] for _ in range(env.n)]] * round(options.delay * options.step_rate))
    while not env.finished:
        if options.chunk:
            play_chunks(env, agent, observation_n, info, options.delay)
            observation_n, reward_n, done_n, info = env.step([[]] * env.n)
        else:
            delayed.append(agent(observation_n, reward_n, done_n, info))
            observation_n, reward_n, done_n, info = env.step(delayed.popleft())
        for index, slot in enumerate(info["n"]):
            sums[index] += reward_n[index] or 0.0
            if slot["reaction_time"] is not None:
                reactions.append(slot["reaction_time"] + options.delay)
            way = slot["stats.gauges.diagnostics.rtt"] or 0.0
            reactions += [options.delay + played - at + way for at, played, _ in slot["timed.played"] or []]
            if done_n[index]:
                returns.append(sums[index])
                lengths.append(time.monotonic() - began[index])
                sums[index], began[index] = 0.0, time.monotonic()
    return returns, lengths, reactions


def play_chunks(env: EpisodeID, agent: Any, observation_n: Any, info: dict[str, Any], delay: float) -> None:
    """Plan what each remote plays when `delay` seconds have passed since its observation."""
    now = time.monotonic()
    sequence_n = []
    for index, (observation, slot) in enumerate(zip(observation_n, info["n"], strict=True)):
        seen = now - (slot["stats.gauges.diagnostics.lag.observation"] or 0.0)
        sequence_n.append(agent.plan(index, observation, seen, now + delay))
    env.play(sequence_n)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--agent", action="append", help="random, noop or module:callable; may be given several times"
    )
    parser.add_argument(
        "--env-id", default="builtin.NeonDrive-v0", help="the environment; default: %(default)s"
    )
    parser.add_argument("--remotes", type=int, default=2, help="number of remotes; default: %(default)s")
    parser.add_argument("--episodes", type=int, default=10, help="episodes per agent; default: %(default)s")
    parser.add_argument("--step-rate", type=float, default=30, help="steps per second; default: %(default)s")
    parser.add_argument("--delay", type=float, default=0, help="seconds by which actions are delayed")
    parser.add_argument(
        "--chunk",
        action="store_true",
        help="agents plan for the time after the delay; they need a method `plan`",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the first episodes; default: %(default)s"
    )
    options = parser.parse_args()
    names = options.agent or ["random"]
    if options.chunk and any(
        getattr(find_agent(name, DEFAULT_KEYS, 0), "plan", None) is None for name in names
    ):
        parser.error("--chunk: an agent has no method `plan`; pixel_agent:PixelAgent has one")
    columns = [evaluate(name, options) for name in track(names, "playing", transient=True)]
    title = f"{options.env_id}, {options.remotes} remotes, {options.step_rate:g} steps/s"
    table = Table("agent", *names, title=title)
    for row in zip(FIGURES, *columns, strict=True):
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
