"""Shapes of NeonDrive: sprites evaluated from distance functions once, and blended with integer arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vnc.session import Frame

Field = NDArray[np.float32]
Colour = tuple[int, int, int]

CYAN: Colour = (60, 230, 255)
MAGENTA: Colour = (255, 40, 200)
ORANGE: Colour = (255, 70, 10)
GREEN: Colour = (80, 255, 90)
WHITE: Colour = (255, 255, 255)

DIGIT_ROWS = {
    "0": (14, 17, 19, 21, 25, 17, 14),
    "1": (4, 12, 4, 4, 4, 4, 14),
    "2": (14, 17, 1, 2, 4, 8, 31),
    "3": (31, 2, 4, 2, 1, 17, 14),
    "4": (2, 6, 10, 18, 31, 2, 2),
    "5": (31, 16, 30, 1, 1, 17, 14),
    "6": (6, 8, 16, 30, 17, 17, 14),
    "7": (31, 1, 2, 4, 8, 8, 8),
    "8": (14, 17, 17, 14, 17, 17, 14),
    "9": (14, 17, 17, 15, 1, 2, 12),
}


@dataclass(frozen=True, slots=True)
class Sprite:
    """Premultiplied colour, the share of the background that remains (in 256ths), and the anchor (x, y)."""

    colour: NDArray[np.uint16]
    keep: NDArray[np.uint16]
    x: int
    y: int

    def blit(self, frame: Frame, x: int, y: int) -> None:
        """Blend the sprite into `frame` with its anchor at (x, y), clipped to the frame."""
        left, top = x - self.x, y - self.y
        height, width = self.colour.shape[:2]
        x0, y0 = max(left, 0), max(top, 0)
        x1, y1 = min(left + width, frame.shape[1]), min(top + height, frame.shape[0])
        if x0 >= x1 or y0 >= y1:
            return
        colour, keep = self.colour, self.keep
        if (x1 - x0, y1 - y0) != (width, height):
            inside = (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
            colour, keep = colour[inside], keep[inside]
        target = frame[y0:y1, x0:x1]
        mixed = target * keep
        mixed >>= 8
        mixed += colour
        np.minimum(mixed, 255, out=mixed)
        target[...] = mixed


class Canvas:
    """A drawing of a sprite in units of its half width: u to the right, v upwards from the ground."""

    def __init__(self, half: float, reach: float, top: float, below: float) -> None:
        self.half = half
        self._anchor = (math.ceil(half * reach), math.ceil(half * top))
        columns = np.arange(-self._anchor[0], self._anchor[0] + 1, dtype=np.float32)
        rows = np.arange(-self._anchor[1], math.ceil(half * below) + 1, dtype=np.float32)
        self.u: Field = columns[None, :] / np.float32(half)
        self.v: Field = -rows[:, None] / np.float32(half)
        self._rgb = np.zeros((len(rows), len(columns), 3), np.float32)
        self._alpha = np.zeros((len(rows), len(columns), 1), np.float32)

    def box(self, u: float, v: float, half_width: float, half_height: float, taper: float = 0.0) -> Field:
        """Return the distance to a box around (u, v) that narrows by `taper` towards its top."""
        narrowed = half_width - taper * (self.v - (v - half_height)) / (2 * half_height)
        dx, dy = np.abs(self.u - u) - narrowed, np.abs(self.v - v) - half_height
        outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
        distance: Field = outside + np.minimum(np.maximum(dx, dy), 0)
        return distance

    def disc(self, u: float, v: float, radius: float) -> Field:
        """Return the distance to a disc."""
        distance: Field = np.hypot(self.u - u, self.v - v) - np.float32(radius)
        return distance

    def fill(self, distance: Field, colour: Colour, opacity: float = 1.0) -> None:
        """Paint the inside of a shape, with smooth edges."""
        cover = (np.clip(0.5 - distance * self.half, 0, 1) * opacity)[..., None]
        self._rgb = self._rgb * (1 - cover) + cover * np.array(colour, np.float32)
        self._alpha = self._alpha * (1 - cover) + cover

    def glow(self, distance: Field, colour: Colour, radius: float, strength: float) -> None:
        """Add light that fades with the distance from a shape's outline."""
        light = (np.exp(-np.abs(distance) / radius) * strength)[..., None]
        light[light < 0.03] = 0
        self._rgb += light * np.array(colour, np.float32)

    def sprite(self) -> Sprite:
        """Return the finished sprite."""
        colour = np.minimum(self._rgb, 255).astype(np.uint16)
        keep = np.rint((1 - self._alpha) * 256).astype(np.uint16)
        return Sprite(colour, keep, *self._anchor)


def car(half: float, body: Colour, neon: Colour, lights: Colour, lean: float = 0.0) -> Sprite:
    """Draw a car of half width `half` pixels; `lean` shears it into a curve."""
    canvas = Canvas(half, 1.45, 1.35, 0.25)
    canvas.u = canvas.u - lean * canvas.v
    canvas.fill(canvas.box(0, -0.02, 1.1, 0.08), (0, 0, 0), 0.7)
    for side in (-1, 1):
        canvas.fill(canvas.box(side * 0.74, 0.12, 0.2, 0.16), (8, 8, 14))
    shell, cabin = canvas.box(0, 0.4, 0.98, 0.24, 0.12), canvas.box(0, 0.78, 0.7, 0.18, 0.22)
    canvas.fill(cabin, (14, 10, 30))
    canvas.glow(cabin, neon, 0.07, 0.55)
    canvas.fill(shell, body)
    canvas.glow(shell, neon, 0.09, 0.9)
    for side in (-1, 1):
        lamp = canvas.disc(side * 0.68, 0.42, 0.13)
        canvas.fill(lamp, lights)
        canvas.glow(lamp, lights, 0.13, 0.8)
    return canvas.sprite()


def oncoming(half: float) -> Sprite:
    """Draw an oncoming car: red, with its headlights on."""
    return car(half, (150, 14, 6), ORANGE, (255, 240, 190))


def orb(half: float) -> Sprite:
    """Draw a glowing ring that floats above the road, with its light on the asphalt."""
    canvas = Canvas(half, 1.9, 2.4, 0.4)
    pool = np.hypot(canvas.u / 1.2, canvas.v / 0.3) - np.float32(0.5)
    canvas.glow(np.maximum(pool, 0), GREEN, 0.25, 0.35)
    ring = np.abs(canvas.disc(0, 1.1, 0.85)) - np.float32(0.12)
    canvas.fill(canvas.disc(0, 1.1, 0.85), (20, 120, 40), 0.45)
    canvas.fill(ring, GREEN)
    canvas.glow(ring, GREEN, 0.2, 0.8)
    core = canvas.disc(0, 1.1, 0.25)
    canvas.fill(core, (200, 255, 190))
    canvas.glow(core, GREEN, 0.2, 0.7)
    return canvas.sprite()


def explosion(half: float) -> Sprite:
    """Draw the flash of a crash."""
    canvas = Canvas(half, 2.6, 2.6, 1.6)
    angle = np.arctan2(canvas.v - 0.4, canvas.u)
    spikes = 0.35 * np.cos(angle * 7) + 0.2 * np.cos(angle * 11 + 1)
    burst: Field = (canvas.disc(0, 0.4, 1.0) - spikes).astype(np.float32)
    canvas.fill(burst, ORANGE)
    canvas.fill(burst + np.float32(0.4), (255, 210, 60))
    canvas.fill(burst + np.float32(0.75), WHITE)
    canvas.glow(np.maximum(burst, 0), (255, 120, 40), 0.3, 0.8)
    return canvas.sprite()


def digit(character: str, pixel: int, colour: Colour) -> Sprite:
    """Draw one digit of the scoreboard, each of its dots `pixel` pixels wide, with a soft glow."""
    bits = [[row >> (4 - column) & 1 for column in range(5)] for row in DIGIT_ROWS[character]]
    dots = np.kron(np.pad(np.array(bits, np.float32), 1), np.ones((pixel, pixel), np.float32))
    halo = np.zeros_like(dots)
    for dx in range(-pixel, pixel + 1):
        for dy in range(-pixel, pixel + 1):
            halo = np.maximum(halo, np.roll(dots, (dy, dx), (0, 1)) * (0.5 - 0.1 * math.hypot(dx, dy)))
    light = np.maximum(dots, halo)[..., None] * np.array(colour, np.float32)
    keep = np.rint(256 * (1 - np.maximum(dots, halo)))[..., None]
    return Sprite(light.astype(np.uint16), keep.astype(np.uint16), pixel, pixel)
