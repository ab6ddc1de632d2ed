"""The same remote as a program on an X display: `python -m tests.chaos.program DIRECTORY` plays one episode."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from rewarder.display.x11_windows import WindowClient
from tests.chaos.ledger import REWARDS, Life, length, value


def main() -> None:
    directory = Path(sys.argv[1])
    life = Life.of(directory, os.getppid())
    episode = _counted(directory / f"starts-{life.number}")
    display = os.environ["DISPLAY"].removeprefix(":")
    screen = WindowClient(f"/tmp/.X11-unix/X{display}", Path(os.environ["XAUTHORITY"]).read_bytes()[-16:])
    screen.background(life.colour(episode))
    screen.pointer()  # when the server answers, it has drawn
    due = time.monotonic()
    print(json.dumps({"ready": True}), flush=True)
    for number in range(length(episode)):
        due += 1 / REWARDS
        time.sleep(max(due - time.monotonic(), 0))
        life.write(episode)
        done = number == length(episode) - 1
        report = {"reward": value(number), "done": done, "info": {"life": life.number}}
        print(json.dumps(report), flush=True)
    screen.close()


def _counted(path: Path) -> int:
    """Count the episodes in a file, because each episode starts this program again."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, b"+")
    count = os.fstat(file).st_size
    os.close(file)
    return count


main()
