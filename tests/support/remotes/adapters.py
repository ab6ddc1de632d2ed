"""Stable-Baselines3 environments over scripted remotes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import VecEnv

from tests.support.drivers import DRIVERS
from universe_client.adapters.sb3 import SB3VecEnv

torch.set_num_threads(1)  # with more threads, tests that run at the same time block each other


@pytest.fixture
def driver() -> str:
    return DRIVERS[0]


@pytest.fixture
def open_sb3(open_gym: Callable[..., Any]) -> Callable[..., SB3VecEnv]:
    """Open a Stable-Baselines3 environment; the arguments are those of `open_gym`."""

    def open_one(*remotes: Any, **options: Any) -> SB3VecEnv:
        return SB3VecEnv(open_gym(*remotes, **options))

    return open_one


def idle(env: VecEnv) -> Any:
    """Return actions that do nothing."""
    return np.zeros(env.num_envs, np.int64)


def step_until(env: VecEnv, condition: Callable[[Any], bool], remotes: Any) -> Any:
    """Step whenever new data arrives; return the first result that fulfils `condition`."""
    while True:
        result = env.step(idle(env))
        if condition(result):
            return result
        assert remotes.core.wait(60), "nothing came"
