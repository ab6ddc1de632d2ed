"""The workloads and their titles in tables."""

from __future__ import annotations

WORKLOADS = {
    "game": "scrolling game with sprites",
    "atari": "Atari-like",
    "browser": "browser scrolling",
    "terminal": "terminal",
    "windows": "windows moving",
    "noise": "full-screen noise",
    "idle": "idle, a blinking cursor",
}

WIDTH, HEIGHT = 1024, 768
