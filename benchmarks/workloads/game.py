"""A platform game with a scrolling world of tiles, forty moving sprites and a score."""

from __future__ import annotations

import random
import sys

import pygame

from benchmarks.workloads.names import HEIGHT, WIDTH
from benchmarks.workloads.stage import play

_TILE = 32
_SPEED = 4
_PALETTE = ["#5c94fc", "#00a800", "#c84c0c", "#fcbcb0", "#000000", "#fcfcfc", "#f8b800", "#7c7c7c"]


def _tile(kind: int, chance: random.Random) -> pygame.Surface:
    tile = pygame.Surface((_TILE, _TILE))
    tile.fill(_PALETTE[kind])
    for _ in range(5 if kind == 0 else 12):
        x, y = chance.randrange(_TILE), chance.randrange(_TILE)
        tile.fill(_PALETTE[(kind + chance.randrange(1, 4)) % 8], (x // 4 * 4, y // 4 * 4, 4, 4))
    return tile


def _world(chance: random.Random) -> pygame.Surface:
    columns = 3 * WIDTH // _TILE
    tiles = [_tile(kind, chance) for kind in range(4)]
    world = pygame.Surface((columns * _TILE, HEIGHT))
    ground = 14
    for column in range(columns):
        ground = min(max(ground + chance.choice((-1, 0, 0, 1)), 9), 20)
        for row in range(HEIGHT // _TILE):
            kind = (
                0
                if row < ground and chance.random() > 0.03
                else 1
                if row == ground
                else chance.choice((2, 2, 3))
            )
            world.blit(tiles[kind], (column * _TILE, row * _TILE))
    return world


def _sprite(chance: random.Random) -> pygame.Surface:
    half = [[chance.randrange(8) if chance.random() < 0.6 else -1 for _ in range(4)] for _ in range(8)]
    sprite = pygame.Surface((32, 32))
    sprite.set_colorkey("#ff00ff")
    sprite.fill("#ff00ff")
    for y, row in enumerate(half):
        for x, colour in enumerate(row + row[::-1]):
            if colour >= 0:
                sprite.fill(_PALETTE[colour], (4 * x, 4 * y, 4, 4))
    return sprite


def main() -> None:
    chance = random.Random(1)
    pygame.font.init()
    font = pygame.font.Font(None, 40)
    world, sprites = _world(chance), [_sprite(chance) for _ in range(40)]
    places = [(chance.randrange(WIDTH), chance.randrange(HEIGHT), chance.randrange(-5, 6)) for _ in sprites]

    def draw(screen: pygame.Surface, number: int) -> None:
        left = number * _SPEED % world.get_width()
        screen.blit(world, (-left, 0))
        screen.blit(world, (world.get_width() - left, 0))
        for sprite, (x, y, speed) in zip(sprites, places, strict=True):
            hop = abs(number * 3 % 96 - 48)
            screen.blit(sprite, ((x + number * speed) % WIDTH, y - hop))
        screen.blit(font.render(f"SCORE {number * 10:07d}", False, "white", "black"), (20, 10))

    play(draw, fps=int(sys.argv[2]) if sys.argv[2:] else 60)
