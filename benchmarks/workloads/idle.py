"""A page that stands still, with a text cursor; it blinks fast, so that seconds bring enough updates."""

from __future__ import annotations

import pygame

from benchmarks.workloads.page import page
from benchmarks.workloads.stage import play

_CURSOR = pygame.Rect(300, 200, 2, 18)


def main() -> None:
    picture = page()
    surface = pygame.image.frombytes(picture.tobytes(), picture.size, "RGB")

    def draw(screen: pygame.Surface, number: int) -> list[pygame.Rect] | None:
        if number == 0:
            screen.blit(surface, (0, 0))
            return None
        screen.fill("black" if number % 2 else "white", _CURSOR)
        return [_CURSOR]

    play(draw, fps=20)
