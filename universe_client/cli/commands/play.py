"""`universe-client play`: play yourself, on a page in your browser."""

from __future__ import annotations

import argparse

from rich.console import Console

from rewarder.cli.option_types import port, positive
from universe_client.cli.env_options import add_env_options
from universe_client.vector_env import VectorEnv
from wrappers import Record, Throttle, Watch

_DESCRIPTION = """\
Play an environment yourself, with keyboard and mouse on a page in your browser. The page shows the score, the time and
the task. With --record, what you see and do is recorded, as a demonstration for learners: see `universe-client export`.
To take over from an agent in the middle of an episode, use `universe-client run --take-over`.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of `play`."""
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_env_options(parser, by_default=False)
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the first episode")
    parser.add_argument("--record", metavar="DIR", help="record in this new folder")
    parser.add_argument(
        "--step-rate",
        type=positive,
        default=60.0,
        metavar="N",
        help="how often per second your input is sent; default: %(default)g",
    )
    parser.add_argument(
        "--port", type=port, default=0, metavar="N", help="where to serve the page; default: any free port"
    )
    parser.set_defaults(command=_command)


def _command(options: argparse.Namespace) -> int:
    with VectorEnv(options.env_id, options.remotes) as env:
        inner = env if options.record is None else Record(env, options.record)
        watched = Watch(inner, options.port, act=True)
        Console(markup=False).print(f"play at {watched.url}&play", soft_wrap=True)
        with Throttle(watched, step_rate=options.step_rate) as playing:
            playing.reset(seed=options.seed)
            while True:
                playing.step([[]] * env.n)
