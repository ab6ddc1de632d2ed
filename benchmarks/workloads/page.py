"""A long page of text and photographs, as a browser would draw it."""

from __future__ import annotations

import random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from benchmarks.workloads.names import HEIGHT, WIDTH

_LENGTH = 8 * HEIGHT
_TEXT = (
    "the world never waits for its agent a remote that resets shows no frame and every pixel arrives when the server "
    "has drawn it reward and action cross the wire as soon as they are known so measure what happens on screens that "
    "live in real time keyboards mice windows games pages"
)
WORDS = _TEXT.split()


def page(seed: int = 1) -> Image.Image:
    chance = random.Random(seed)
    picture = Image.new("RGB", (WIDTH, _LENGTH), "white")
    draw = ImageDraw.Draw(picture)
    y = 20
    while y < _LENGTH - 320:
        draw.text(
            (60, y), " ".join(chance.choices(WORDS, k=5)).title(), "#1a3c6e", ImageFont.load_default(28)
        )
        y = _paragraph(draw, y + 44, chance)
        picture.paste(_photograph(chance, 420, 260), (60 if chance.random() < 0.5 else 540, y))
        y += 290
    return picture


def _paragraph(draw: ImageDraw.ImageDraw, y: int, chance: random.Random) -> int:
    font = ImageFont.load_default(15)
    for _ in range(chance.randrange(6, 14)):
        draw.text((60, y), " ".join(chance.choices(WORDS, k=20)), "#202124", font)
        y += 22
    return y + 12


def _photograph(chance: random.Random, width: int, height: int) -> Image.Image:
    """Soft shapes, light and grain: as hard to compress as a photograph."""
    numbers = np.random.default_rng(chance.randrange(1 << 30))
    small = Image.fromarray(numbers.integers(0, 256, (9, 14, 3), dtype=np.uint8))
    soft = small.resize((width, height), Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(3))
    grain = numbers.normal(0, 6, (height, width, 1))
    return Image.fromarray(np.clip(np.asarray(soft) + grain, 0, 255).astype(np.uint8))
