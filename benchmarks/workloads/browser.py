"""A page of text and photographs that scrolls smoothly down and up."""

from __future__ import annotations

import pygame

from benchmarks.workloads.names import HEIGHT
from benchmarks.workloads.page import page
from benchmarks.workloads.stage import play

_SPEED = 12


def main() -> None:
    picture = page()
    surface = pygame.image.frombytes(picture.tobytes(), picture.size, "RGB")
    most = picture.height - HEIGHT

    def draw(screen: pygame.Surface, number: int) -> None:
        screen.blit(surface, (0, -abs((number * _SPEED + most) % (2 * most) - most)))

    play(draw)
