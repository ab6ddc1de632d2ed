"""`universe-client watch`: a page with all remotes of an agent that runs elsewhere."""

from __future__ import annotations

import argparse

from rich.console import Console

from rewarder.cli.option_types import port
from universe_client.vector_env import VectorEnv
from wrappers import Throttle, Watch

_STEP_RATE = 30
_DESCRIPTION = """\
Serve a page on this machine that shows remotes while agents play on them: pictures, episodes, scores. It connects to
each remote beside its agent and sends no input. `universe-client run --watch` shows an agent's own remotes, with the
keys that it presses.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of `watch`."""
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "remotes",
        metavar="ADDRESSES",
        help="addresses, separated by commas: vnc://host:5900+15900,host2?password_file=FILE, vncs:// for TLS",
    )
    parser.add_argument(
        "--port", type=port, default=0, metavar="N", help="where to serve the page; default: any free port"
    )
    parser.set_defaults(command=_command)


def _command(options: argparse.Namespace) -> int:
    env = VectorEnv(None, options.remotes, observer=True)
    with Throttle(watched := Watch(env, options.port), step_rate=_STEP_RATE) as watching:
        Console(markup=False).print(f"watch at {watched.url}", soft_wrap=True)
        watching.reset()
        while True:
            watching.recv()
