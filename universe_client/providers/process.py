"""Remotes that show a program on an X display of their own: TigerVNC's Xvnc, the program, and a rewarder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from universe_client.providers.embedded import EmbeddedProvider
from universe_client.renamed import refuse_old_names


@refuse_old_names
@dataclass(slots=True)
class ProcessProvider(EmbeddedProvider):
    """Starts one process per remote, which runs a program on its own X display (`process:N`).

    Args:
        n: the number of remotes, at least 1.
        env_id: the environment to play: `process.*`, `browser.*` or `desktop.*`.
        start_timeout: seconds that one process may take until its remote can be reached.
        serving: the options of each remote; where it listens is the provider's choice.
        program: the command line that `process.*` runs; None runs the program that `env_id` names, so that
            `process.xterm` runs xterm. JSON lines that it prints become rewards (see "Write a remote").
        screen_size: (width, height) of the display in pixels; None uses that of `serving`, 1024x768 by default.

    Raises:
        ConfigError: `n` is less than 1.
    """

    program: Sequence[str] | None = None
    screen_size: tuple[int, int] | None = None
    name: ClassVar[str] = "process"

    def __post_init__(self) -> None:
        EmbeddedProvider.__post_init__(self)  # `super()` fails in a dataclass with slots
        if self.program is not None:
            self.serving = msgspec.structs.replace(self.serving, program=self.program)
        if self.screen_size is not None:
            self.serving = msgspec.structs.replace(self.serving, screen_size=self.screen_size)
