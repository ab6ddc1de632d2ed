"""A full-screen SDL window that is drawn 60 times per second."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from benchmarks.workloads.names import HEIGHT, WIDTH

os.environ.update(SDL_VIDEODRIVER="x11", SDL_VIDEO_WINDOW_POS="0,0", PYGAME_HIDE_SUPPORT_PROMPT="1")

import pygame

Draw = Callable[[pygame.Surface, int], Sequence[pygame.Rect] | None]
"""Draws frame number N; returns the changed areas, None for the whole screen."""


def play(draw: Draw, fps: int = 60) -> None:
    pygame.display.init()
    pygame.font.init()
    screen = pygame.display.set_mode((WIDTH, HEIGHT), pygame.NOFRAME)
    pygame.mouse.set_visible(False)
    clock = pygame.time.Clock()
    number = 0
    while not pygame.event.peek(pygame.QUIT):
        changed = draw(screen, number)
        pygame.display.update() if changed is None else pygame.display.update(changed)
        pygame.event.pump()
        clock.tick(fps)
        number += 1
