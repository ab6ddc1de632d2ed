"""The pictures of NeonDrive: a road in perspective under a neon sky, mostly drawn in advance."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rewarder.runtimes.neon import sprites as art
from rewarder.runtimes.neon.sprites import Field
from vnc.session import Frame

WIDTH, HEIGHT = 320, 240
HORIZON = 88
GROUND = HEIGHT - HORIZON
ROAD = 150  # half the road's width in pixels where the scale is 1: the bottom row
BEND = 56  # how far a full curve moves the vanishing point
MARGIN = 64  # spare columns on each side, so that a row can be moved by camera and curve
WIDE = WIDTH + 2 * MARGIN
PHASES = 32
CELL = 0.8  # depth after which the road's pattern repeats
PLAYER_DEPTH = 1.27
PLAYER_HALF, TRAFFIC_HALF, ORB_HALF = 0.17, 0.19, 0.12
_EMPTY_BAR, _MAGENTA, _CYAN = (np.array(rgb, np.uint8) for rgb in ((24, 14, 44), art.MAGENTA, art.CYAN))
CAMERA = 0.45  # how much of the player's position the camera follows


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing on the road: `x` is its place across (-1 to 1 between the edges), `z` its distance."""

    kind: str
    x: float
    z: float


@dataclass(frozen=True, slots=True)
class View:
    """The state that a frame shows."""

    player: float
    steering: float
    distance: float
    curve: float
    ticks: int
    score: int
    speed: float
    """0 to 1."""
    time_left: float
    """0 to 1."""
    crashed: bool


def _lines(position: Field, width: Field | float) -> Field:
    """Return 1 on whole numbers of `position`, fading to 0 at `width` from them."""
    away = np.abs(position - np.rint(position))
    light: Field = np.clip(1 - away / width, 0, 1).astype(np.float32)
    return light


def _rgb(*colour: int) -> Field:
    return np.array(colour, np.float32)


class Scene:
    """Draws frames from `View`s. It does not change after its construction, which takes a fraction of a second."""

    def __init__(self) -> None:
        self._scale = ((np.arange(GROUND) + 0.5) / GROUND).astype(np.float32)
        self._ground = _windows(self._draw_ground())
        self._sky = _draw_sky()
        self._bend = np.rint(BEND * 256 * (1 - self._scale) ** 2).astype(np.int64)
        self._shift = np.rint(ROAD * 256 * self._scale).astype(np.int64)
        self._rows = np.arange(GROUND)
        self._sprites = {
            "traffic": _sizes(TRAFFIC_HALF, art.oncoming),
            "orb": _sizes(ORB_HALF, art.orb),
        }
        half = PLAYER_HALF * ROAD / PLAYER_DEPTH
        self._player = [
            art.car(half, (10, 60, 120), art.CYAN, art.MAGENTA, steering * 0.11) for steering in range(-2, 3)
        ]
        self._explosion = art.explosion(half)
        self._digits = {name: art.digit(name, 2, art.CYAN) for name in art.DIGIT_ROWS}

    def draw(self, view: View, things: Sequence[Thing]) -> Frame:
        """Return a new frame; `things` are sorted, the nearest first."""
        frame = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        self._draw_backdrop(frame, view)
        camera = view.player * CAMERA
        passed = sum(thing.z < PLAYER_DEPTH for thing in things)
        self._draw_things(frame, view, camera, things[passed:])
        x, y = self.project(view.player - camera, PLAYER_DEPTH, view.curve)
        self._player[2 + round(view.steering * 2)].blit(frame, x, y)
        self._draw_things(frame, view, camera, things[:passed])
        if view.crashed:
            self._explosion.blit(frame, x, y)
        self._draw_panel(frame, view)
        return frame

    @staticmethod
    def project(x: float, z: float, curve: float) -> tuple[int, int]:
        """Return the pixel of a point on the road; `x` is relative to the camera."""
        scale = 1 / z
        bend = curve * BEND * (1 - scale) ** 2 if scale < 1 else 0.0
        return round(WIDTH / 2 + x * ROAD * scale + bend), round(HORIZON + GROUND * scale)

    def _draw_backdrop(self, frame: Frame, view: View) -> None:
        bend = round(view.curve * BEND)
        left = (MARGIN - bend) * 3
        sky = self._sky[view.ticks // 2 % PHASES, :, left : left + WIDTH * 3]
        frame[:HORIZON] = sky.reshape(HORIZON, WIDTH, 3)
        curve, camera = int(view.curve * 256), int(view.player * CAMERA * 256)
        offsets = MARGIN - ((self._bend * curve - self._shift * camera) >> 16)
        phase = int(view.distance / CELL * PHASES) % PHASES
        frame[HORIZON:] = self._ground[phase, self._rows, offsets].reshape(GROUND, WIDTH, 3)

    def _draw_things(self, frame: Frame, view: View, camera: float, things: Sequence[Thing]) -> None:
        for thing in reversed(things):
            x, y = self.project(thing.x - camera, thing.z, view.curve)
            sprites = self._sprites[thing.kind]
            half = {"traffic": TRAFFIC_HALF, "orb": ORB_HALF}[thing.kind] * ROAD / thing.z
            sprites[min(int(half * 2), len(sprites) - 1)].blit(frame, x, y)

    def _draw_panel(self, frame: Frame, view: View) -> None:
        for place, character in enumerate(f"{min(view.score, 9999):04d}"):
            self._digits[character].blit(frame, 8 + place * 13, 7)
        for top, share, colour in ((9, view.time_left, _MAGENTA), (16, view.speed, _CYAN)):
            end = 208 + round(104 * share)
            frame[top : top + 4, 208:312] = _EMPTY_BAR
            frame[top : top + 4, 208:end] = colour

    def _draw_ground(self) -> NDArray[np.uint8]:
        scale = self._scale[:, None]
        x = (np.arange(WIDE, dtype=np.float32) - WIDE / 2) / (ROAD * scale)
        depth = (1 / scale).astype(np.float32)
        # Pattern cells per row; the pattern fades where rows would skip cells.
        per_row = (depth * depth / GROUND / CELL).astype(np.float32)
        clear = np.clip(0.7 - per_row, 0, 1)[..., None]
        road = (np.abs(x) <= 1)[..., None].astype(np.float32)
        still = _still(x, scale, road)
        haze = np.exp(-depth / 14)[..., None]
        pictures = np.empty((PHASES, GROUND, WIDE, 3), np.uint8)
        dashes = _lines((x + 1) * 1.5, 0.024)[..., None] * road
        plain = 1 - road
        for phase in range(PHASES):
            moving = _moving(depth / CELL + phase / PHASES, per_row)
            wave, bar, dash = (part[..., None] * clear for part in moving)
            picture = still + wave * (road * _rgb(17, 15, 30) + plain * _rgb(26, 5, 38))
            picture += bar * plain * _rgb(215, 20, 170) + dash * dashes * _rgb(250, 240, 150)
            picture = picture * haze + _rgb(96, 16, 92) * (1 - haze)
            pictures[phase] = np.clip(picture, 0, 255)
        return pictures


def _still(x: Field, scale: Field, road: Field) -> Field:
    """Return the fixed parts of the ground: surfaces, the road's edges, lines towards the horizon."""
    from_edge = np.abs(np.abs(x) - 1.03)
    edge = np.clip(1 - from_edge / 0.035, 0, 1)[..., None]
    halo = np.exp(-from_edge / 0.12)[..., None]
    sides = (_lines(x * 1.5 + 0.5, 0.05)[..., None] * (1 - road)) * np.clip(scale * 2.2, 0, 1)[..., None]
    picture: Field = road * _rgb(22, 20, 40) + (1 - road) * _rgb(30, 6, 46)
    picture += sides * _rgb(170, 10, 150) + halo * _rgb(10, 70, 110) + edge * _rgb(90, 240, 255)
    return picture


def _moving(cells: Field, per_row: Field) -> tuple[Field, Field, Field]:
    """Return the moving parts of the ground: a wave of brightness, bars, and dashes between the lanes."""
    wave = (cells - np.floor(cells)).astype(np.float32) * 2 - 0.8
    bar = _lines(cells, np.maximum(0.06, per_row))
    dash = (np.abs(cells - np.rint(cells)) < 0.22).astype(np.float32)
    return wave, bar, dash


def _windows(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a view [phase, row, offset] -> WIDTH pixels of that row beginning at column `offset`."""
    phases, rows, wide, _ = pictures.shape
    flat = pictures.reshape(phases, rows, wide * 3)
    return np.lib.stride_tricks.sliding_window_view(flat, WIDTH * 3, axis=2)[:, :, ::3]


def _draw_sky() -> NDArray[np.uint8]:
    y = np.arange(HORIZON, dtype=np.float32)[:, None]
    x = np.arange(WIDE, dtype=np.float32)[None, :]
    fade = (y / HORIZON)[..., None]
    backdrop = _rgb(10, 4, 30) * (1 - fade) + _rgb(110, 14, 104) * fade**2
    stars = np.random.default_rng(7).random((HORIZON, WIDE), np.float32)
    twinkle = np.clip((stars - 0.992) / 0.008, 0, 1)[..., None] * (1 - fade)
    away = np.hypot(x - WIDE / 2, y - 62)
    disc, halo = np.clip(44 - away, 0, 1)[..., None], np.exp(-np.maximum(away - 44, 0) / 16)[..., None]
    sun = _rgb(255, 214, 70) * (1 - fade) * 1.3 + _rgb(255, 30, 130) * fade
    skyline = _skyline()
    pictures = np.empty((PHASES, HORIZON, WIDE, 3), np.uint8)
    for phase in range(PHASES):
        turn = phase / PHASES
        slats = (((y - 40) / 9 - turn) % 1 < np.clip((y - 40) / 70, 0, 0.6)).astype(np.float32)[..., None]
        glimmer = 0.6 + 0.4 * np.sin(2 * math.pi * (turn + stars * 911))[..., None]
        waves = np.sin(2 * math.pi * (x / WIDE * 3 + y / 40 - turn))[..., None]
        aurora = waves * (1 - fade) * _rgb(5, 20, 22)
        picture = backdrop + aurora + twinkle * glimmer * 235 + halo * _rgb(120, 20, 60)
        picture = picture * (1 - disc * (1 - slats)) + sun * disc * (1 - slats)
        picture = np.where(skyline[..., 3:] > 0, skyline[..., :3], picture)
        pictures[phase] = np.clip(picture, 0, 255)
    return pictures.reshape(PHASES, HORIZON, WIDE * 3)


def _skyline() -> Field:
    """Return towers with lit windows as RGBA; none in front of the sun."""
    dice = random.Random(4)
    city = np.zeros((HORIZON, WIDE, 4), np.float32)
    left = 0
    while left < WIDE:
        width = dice.randrange(9, 24)
        near_sun = abs(left + width / 2 - WIDE / 2) < 62
        height = dice.randrange(3, 7) if near_sun else dice.randrange(8, 30)
        tower = city[HORIZON - height :, left : left + width]
        tower[...] = (16, 6, 34, 1)
        tower[0, :, :3] = (190, 30, 190)
        for row in range(3, height - 1, 4):
            for column in range(2, tower.shape[1] - 2, 3):
                if dice.random() < 0.45:
                    tower[row : row + 2, column, :3] = dice.choice([art.CYAN, art.MAGENTA, (255, 200, 90)])
        left += width + dice.randrange(0, 5)
    return city


def _sizes(half: float, draw: Callable[[float], art.Sprite]) -> list[art.Sprite]:
    """Draw a sprite in all sizes, in steps of half a pixel of half width."""
    largest = int(half * ROAD / 0.8 * 2) + 1
    return [draw(max(step + 0.5, 1.5) / 2) for step in range(largest)]


@cache
def scene() -> Scene:
    """Return the scene that all games of this process share."""
    return Scene()
