"""`universe-client export`: make datasets and films of recordings."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rewarder.cli.option_types import count
from universe_client.recording.extra import require

if TYPE_CHECKING:
    from universe_client.recording.exported import Exported
    from universe_client.recording.reading import Recording

_DESCRIPTION = """\
Make datasets or films of recordings that `universe-client run --record DIR` or `wrappers.Record` has written.

--lerobot   screens, what was held down on keyboard and mouse, rewards, ends and tasks, at a fixed rate, in the format
            LeRobotDataset v3, which `lerobot` loads: LeRobotDataset("me/name", root=OUT)
--mp4       a film of each episode, with keys, pointer, score and time drawn over the pictures
--minari    environment observations, actions, rewards and ends of each step, as a Minari dataset. The recorded
            environment must have been opened with env_observation=True

A recording whose process was killed is exported too, up to the last picture that was written.
"""
_RATES = {"lerobot": 20, "mp4": 30}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of `export`."""
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIR", help="the folder of a recording")
    formats = parser.add_mutually_exclusive_group(required=True)
    formats.add_argument("--lerobot", type=Path, metavar="OUT", help="the folder to create, for the dataset")
    formats.add_argument("--mp4", type=Path, metavar="OUT", help="the folder to create, for the films")
    formats.add_argument(
        "--minari",
        type=Path,
        metavar="OUT",
        help="the folder to create, such as datasets/cartpole-v0; Minari finds it with MINARI_DATASETS_PATH=datasets",
    )
    parser.add_argument(
        "--fps",
        type=count,
        metavar="N",
        help="rows or pictures per second; default: 20 of --lerobot, 30 of --mp4; --minari has a row per step",
    )
    parser.set_defaults(command=_command)


def _command(options: argparse.Namespace) -> int:
    require()
    from universe_client.recording.reading import Recording

    console = Console(markup=False, highlight=False)
    recordings = [Recording(directory) for directory in options.directories]
    episodes = sum(len(recording.episodes) for recording in recordings)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("episodes", total=episodes)
        done, words = _export(options, recordings, lambda _: progress.advance(task))
    console.print(words, soft_wrap=True)
    for recording in recordings:
        if recording.cut:
            console.print(
                f"{recording.directory}: its process was killed; what came later is missing", style="yellow"
            )
    for line in done.left_out:
        console.print(f"left out: {line}", style="yellow")
    return 0


def _export(
    options: argparse.Namespace, recordings: Sequence[Recording], progress: Callable[[int], None]
) -> tuple[Exported, str]:
    """Export in the chosen format; return what was written, also in words."""
    if options.minari is not None:
        require("minari")
        from universe_client.recording import minari

        done = minari.export(recordings, options.minari, progress)
        return done, f"{options.minari}: {done.episodes} episodes, {done.frames} steps"
    if options.mp4 is not None:
        require("PIL")
        from universe_client.recording import films

        done = films.export(recordings, options.mp4, options.fps or _RATES["mp4"], progress)
        return done, f"{options.mp4}: {done.episodes} films, {done.frames} pictures"
    from universe_client.recording import lerobot

    fps = options.fps or _RATES["lerobot"]
    done = lerobot.export(recordings, options.lerobot, fps, progress)
    return done, f"{options.lerobot}: {done.episodes} episodes, {done.frames} rows at {fps} per second"
