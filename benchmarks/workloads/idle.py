"""A still page with a text cursor, which blinks fast enough for a short measurement."""

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
