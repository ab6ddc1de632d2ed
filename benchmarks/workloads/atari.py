"""A ball, two paddles and a few moving blocks on black: small rectangles, 60 times per second."""

from __future__ import annotations

import pygame

from benchmarks.workloads.names import HEIGHT, WIDTH
from benchmarks.workloads.stage import play

_COLOURS = ["#d24040", "#c66c3a", "#b47a30", "#a2a22a", "#48a048", "#4248c8"]


def _bounce(position: int, most: int) -> int:
    return abs(position % (2 * most) - most)


def _shapes(number: int) -> list[tuple[str, pygame.Rect]]:
    ball = pygame.Rect(_bounce(number * 7, WIDTH - 16), 240 + _bounce(number * 5, HEIGHT - 300), 16, 16)
    paddle = pygame.Rect(_bounce(number * 6, WIDTH - 96), HEIGHT - 40, 96, 16)
    ship = pygame.Rect(_bounce(number * 3, WIDTH - 48), 40, 48, 24)
    return [("#ececec", ball), ("#c84848", paddle), ("#50a050", ship)]


def main() -> None:
    drawn: list[pygame.Rect] = []

    def draw(screen: pygame.Surface, number: int) -> list[pygame.Rect] | None:
        if number == 0:
            for row, colour in enumerate(_COLOURS):
                screen.fill(colour, (0, 100 + 20 * row, WIDTH, 20))
        changed = drawn.copy()
        for rect in drawn:
            screen.fill("black", rect)
        drawn.clear()
        for colour, rect in _shapes(number):
            screen.fill(colour, rect)
            drawn.append(rect)
        return None if number == 0 else changed + drawn

    play(draw)
