"""`universe-client replay DIR`: a recorded run as a remote, or compared with another one."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from universe_client.cli.commands import serve
from universe_client.errors import ConfigError
from universe_client.recording.extra import require


def replay_run(options: argparse.Namespace) -> int:
    """Serve a recorded run until Ctrl-C; return the exit status.

    Args:
        options: of `replay`: `file`, `remote`, `host`, `port` and `speed`.

    Raises:
        ConfigError: there is no such recording.
    """
    require()
    from universe_client.recording.reading import Recording
    from universe_client.recording.replay import Replay

    if options.speed != 1:
        raise ConfigError("--speed is for the files of `record`: agents of a recorded run use time_scale=")
    runtime = Replay(Recording(options.file), options.remote)
    parser = argparse.ArgumentParser()
    serve.configure(parser)
    arguments = [runtime.env_ids[0], "--host", options.host, "--vnc-port", str(options.port)]
    return serve.serve_as(parser.parse_args(arguments), runtime)


def print_differences(first: Path, second: Path) -> int:
    """Print for each episode of two recorded runs whether they are equal; return the exit status: 1 if they differ.

    Raises:
        ConfigError: one of them is not a recording, or a video cannot be read.
    """
    require()
    from universe_client.recording.comparison import compare
    from universe_client.recording.reading import Recording

    console = Console(markup=False, highlight=False, soft_wrap=True)
    differ = False
    for each in compare(Recording(first), Recording(second)):
        name = f"remote {each.remote}, episode {each.number} ({each.env_id})"
        if each.difference is None:
            console.print(f"{name}: equal, {each.steps} pictures")
            continue
        differ, found = True, each.difference
        console.print(f"{name}: {found.what} of step {found.step}: {found.first} | {found.second}")
    return int(differ)
