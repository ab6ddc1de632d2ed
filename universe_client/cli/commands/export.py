"""`universe-client export`: make datasets of recordings."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rewarder.cli.option_types import count
from universe_client.recording.extra import require

_DESCRIPTION = """\
Make a dataset of recordings that `universe-client run --record DIR` or `wrappers.Record` has written: screens, what was
held down on keyboard and mouse, rewards, ends and tasks, at a fixed rate. It has the format LeRobotDataset v3, which
`lerobot` loads: LeRobotDataset("me/name", root=OUT).

A recording whose process was killed is exported too, up to the last picture that was written.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of `export`."""
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIR", help="the folder of a recording")
    parser.add_argument(
        "--lerobot", type=Path, required=True, metavar="OUT", help="the folder to create, for the dataset"
    )
    parser.add_argument(
        "--fps", type=count, default=20, metavar="N", help="rows per second; default: %(default)d"
    )
    parser.set_defaults(command=_command)


def _command(options: argparse.Namespace) -> int:
    require()
    from universe_client.recording.lerobot import export
    from universe_client.recording.reading import Recording

    console = Console(markup=False, highlight=False)
    recordings = [Recording(directory) for directory in options.directories]
    episodes = sum(len(recording.episodes) for recording in recordings)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("episodes", total=episodes)
        done = export(recordings, options.lerobot, options.fps, lambda _: progress.advance(task))
    console.print(
        f"{options.lerobot}: {done.episodes} episodes, {done.frames} rows at {options.fps} per second"
    )
    for recording in recordings:
        if recording.cut:
            console.print(
                f"{recording.directory}: its process was killed; what came later is missing", style="yellow"
            )
    for line in done.left_out:
        console.print(f"left out: {line}", style="yellow")
    return 0
