"""Frames of the environments that Gymnasium draws with pygame.

They return `np.transpose(np.array(pygame.surfarray.pixels3d(surface)), (1, 0, 2))`. numpy needs longer to copy such
pixels, three bytes at a time and backwards, than most of these environments need to draw them.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np
import pygame.surfarray
from numpy.typing import NDArray

from vnc.pixels.bgrx import bgrx_to_rgb

_BGRX = (0xFF0000, 0xFF00, 0xFF)  # the masks of red, green and blue in a little-endian word
_IS_LITTLE = sys.byteorder == "little"
_original = pygame.surfarray.pixels3d


def render(env: gymnasium.Env[Any, Any]) -> Any:
    """Return what `env.render()` returns, in less time. It must not write to the pixels of a surface."""
    pygame.surfarray.pixels3d = pixels
    try:
        return env.render()
    finally:
        pygame.surfarray.pixels3d = _original


def pixels(surface: pygame.Surface) -> NDArray[np.uint8]:
    """Return what `pygame.surfarray.pixels3d` returns, uint8 (width, height, 3), RGB, but a copy and read-only."""
    if not _IS_LITTLE or surface.get_bitsize() != 32 or surface.get_masks()[:3] != _BGRX:
        return _original(surface)
    words = np.asarray(surface.get_view("2")).T
    height, width = words.shape
    rgb = np.empty((height, width, 3), np.uint8)
    bgrx_to_rgb(words.view(np.uint8).reshape(height, width, 4), rgb)
    rgb.flags.writeable = False
    return rgb.transpose(1, 0, 2)
