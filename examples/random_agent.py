"""The smallest agent: random actions for every remote, in real time, through Gymnasium's vector interface.

python examples/random_agent.py --env-id builtin.NeonDrive-v0 --remotes 4 --seconds 30
python examples/random_agent.py --remotes vnc://192.0.2.7:5900+15900 --env-id gym-core.CartPole-v1
"""

from __future__ import annotations

import argparse

import gymnasium

import universe_client  # noqa: F401  (registers the environments)
from wrappers import EpisodeStatistics


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--env-id", default="builtin.NeonDrive-v0", help="the environment; default: %(default)s"
    )
    parser.add_argument(
        "--remotes", default="1", help="number or addresses of the remotes; default: %(default)s"
    )
    parser.add_argument("--seconds", type=float, default=30, help="how long to play; default: %(default)s")
    parser.add_argument("--step-rate", type=float, default=15, help="steps per second; default: %(default)s")
    options = parser.parse_args()
    remotes = int(options.remotes) if options.remotes.isdigit() else options.remotes
    env = gymnasium.make_vec(
        "universe/Remote-v0",
        env_id=options.env_id,
        remotes=remotes,
        step_rate=options.step_rate,
        reset_mode="mask",
    )
    env = EpisodeStatistics(env)
    env.reset()
    for _ in range(round(options.seconds * options.step_rate)):
        _, _, terminations, truncations, infos = env.step(env.action_space.sample())
        for row in (terminations | truncations).nonzero()[0]:
            episode = {key: values[row] for key, values in infos["episode"].items()}
            print(
                f"remote {row}: return {episode['r']:+.1f} in {episode['l']} steps, {episode['t']:.1f} s",
                flush=True,
            )
    print(f"{env.episode_count} episodes ended in {options.seconds:g} s")
    env.close()


if __name__ == "__main__":
    main()
