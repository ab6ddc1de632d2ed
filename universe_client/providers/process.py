"""Remotes that are a program on an X display of its own: TigerVNC's Xvnc, the program, and a rewarder."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from universe_client.providers.embedded import EmbeddedProvider
from universe_client.renamed import refuse_old_names


@refuse_old_names
@dataclass(slots=True)
class ProcessProvider(EmbeddedProvider):
    """Starts Xvnc and a program for each remote.

    Attributes:
        program: the command line to run on the display; None runs the program that `env_id` names, so that
            `process.xterm` runs xterm. What it prints as JSON lines becomes rewards (docs/guides/write-a-remote.md).
        screen_size: width and height of the display in pixels.
    """

    program: Sequence[str] | None = None
    screen_size: tuple[int, int] = (1024, 768)
    name: ClassVar[str] = "process"

    def __post_init__(self) -> None:
        EmbeddedProvider.__post_init__(self)
        width, height = self.screen_size
        display = ["--xvnc", f"{width}x{height}"]
        program = ["--program", shlex.join(self.program)] if self.program else []
        self.arguments = [*display, *program, *self.arguments]
