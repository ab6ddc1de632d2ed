"""The options that say what is played, and where: the same for every command that opens an environment."""

from __future__ import annotations

import argparse

from rewarder.runtimes import env_ids


def add_env_options(parser: argparse.ArgumentParser, *, by_default: bool = True) -> None:
    """Add `env_id` (str or None) and `remotes` (int or str), as `VectorEnv` takes them.

    Args:
        parser: of the command.
        by_default: whether ENV_ID may be missing; remotes at an address then keep what they play.
    """
    others = ". Remotes at an address keep their own by default" if by_default else ""
    parser.add_argument(
        "env_id",
        nargs="?" if by_default else None,
        metavar="ENV_ID",
        help=f"the environment: {', '.join(env_ids())}{others}",
    )
    parser.add_argument(
        "--remotes",
        type=lambda text: int(text) if text.isdecimal() else text,
        default="1",
        metavar="R",
        help="N or embedded:N (N processes), process:N (N programs on X displays), docker:N (N containers), "
        "docker:N@IMAGE (of your own image), or addresses: vnc://host:5900+15900,host2?password_file=FILE, vncs:// for "
        "TLS; default: %(default)s",
    )
