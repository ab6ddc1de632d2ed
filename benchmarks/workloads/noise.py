"""Noise in which every pixel changes in every frame."""

from __future__ import annotations

import random

import numpy as np
import pygame

from benchmarks.workloads.names import HEIGHT, WIDTH
from benchmarks.workloads.stage import play

_MARGIN = 64


def main() -> None:
    numbers = np.random.default_rng(1)
    pixels = numbers.integers(0, 256, (HEIGHT + _MARGIN, WIDTH + _MARGIN, 3), dtype=np.uint8)
    surface = pygame.image.frombytes(pixels.tobytes(), (WIDTH + _MARGIN, HEIGHT + _MARGIN), "RGB")
    chance = random.Random(1)

    def draw(screen: pygame.Surface, number: int) -> None:
        screen.blit(surface, (-chance.randrange(_MARGIN), -chance.randrange(_MARGIN)))

    play(draw)
