"""A user's module with Gymnasium environments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest

OWN = """
import gymnasium
import numpy as np

class Own(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
    observation_space = gymnasium.spaces.Box(0, 1, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode=None, frameskip=4):
        self.frameskip = frameskip

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {"seed": seed}

    def step(self, action):
        info = {
            "score": np.float32(0.5), "place": np.array([1, 2]), "frameskip": self.frameskip, "truncated": True,
            "huge": "x" * 20_000, "thing": object(), "nested": {"at": (3, None)},
        }
        return np.ones(2, np.float32), 1.0, True, False, info

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)

gymnasium.register("Mine-v3", entry_point=Own, kwargs={"frameskip": 2})
gymnasium.register("mine/Deep-v0", entry_point=Own)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's module, `own_envs.inner`, that registers environments."""
    package = tmp_path / "own_envs"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("Mine-v3", "mine/Deep-v0"):
        gymnasium.registry.pop(name, None)
    for name in ("own_envs", "own_envs.inner"):
        sys.modules.pop(name, None)
