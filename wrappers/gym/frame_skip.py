"""One decision for several frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import iterate
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.gym import infos as gym_infos
from wrappers.gym.gym_wrapper import GymWrapper, RowNumbers, StepResult


class FrameSkip(GymWrapper):
    """Takes `skip` steps with every action, and returns the last frame, the sum of the rewards, the infos as one.

    In lock-step an action lasts `skip` ticks. In real time the world is not slowed down: the action is held for `skip`
    steps, so that `step_rate=60` and `skip=4` make 15 decisions a second. (Where nothing but the last frame is wanted
    `step_rate=15` alone does the same, for less.) At the end of its episode a row stops, and waits for the others;
    the step that returns the next one's first frame is a single one.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=60)
        env = FrameSkip(env, skip=4)
        env.reset()
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
    """

    takes_same_step: ClassVar[bool] = False

    def __init__(self, env: VectorEnv[Any, Any, Any], skip: int = 4) -> None:
        """Wrap `env`, whose observations are one array, and which has `send` and `recv`."""
        if skip < 1:
            raise ConfigError(f"skip={skip} is not positive")
        super().__init__(env)
        if env.single_observation_space.shape is None or not hasattr(env.unwrapped, "recv"):
            raise ConfigError(f"FrameSkip needs observations of one array, send and recv, not {env}")
        self._skip = skip
        self._held: list[Any] = [None] * self.num_envs
        self._resetting = np.zeros(self.num_envs, np.bool_)  # whose next step is a reset's

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset."""
        observations, infos = self.env.reset(seed=seed, options=options)
        self._resetting[:] = infos.get(gym_infos.RESETTING, False)
        return observations, infos

    def step(self, actions: Any) -> StepResult:
        """Take the steps; see the class."""
        self.send(actions)
        return self.recv()

    def send(self, actions: Any, ids: Sequence[int] | RowNumbers | None = None) -> None:
        """Take the first step's first half."""
        self.env.send(actions, ids)
        for row, action in zip(self._rows(ids), iterate(self.action_space, actions), strict=True):
            self._held[row] = action

    def recv(self, min_ready: int | None = None, timeout: float | None = None) -> StepResult:
        """Take the rest of the steps."""
        if min_ready is not None:
            raise ConfigError(
                "FrameSkip takes its rows' steps together: put it outside of what receives some of them"
            )
        total: StepResult = self.env.recv()
        rows = self._rows(total[4].get("env_id"))
        going = ~self._resetting[rows]
        for _ in range(self._skip - 1):
            going &= ~(total[2] | total[3] | total[4].get(gym_infos.RESETTING, False))
            if not going.any():
                break
            total = self._go_on(total, rows, np.flatnonzero(going))
        self._resetting[rows] = total[2] | total[3] | total[4].get(gym_infos.RESETTING, False)
        return total

    def _go_on(self, total: StepResult, rows: RowNumbers, places: RowNumbers) -> StepResult:
        """Take one more step with the rows at `places`, and add what it brings."""
        self.env.send(self.join([self._held[row] for row in rows[places]]), rows[places])
        observations, rewards, terminations, truncations, infos = self.env.recv()
        total[1][places] += rewards
        total[2][places], total[3][places] = terminations, truncations
        gym_infos.merge(total[4], infos, places)
        return _joined(total[0], observations, places), *total[1:]


def _joined(earlier: Any, later: Any, places: RowNumbers) -> NDArray[Any]:
    if len(later) == len(earlier):
        return later  # type: ignore[no-any-return]
    joined = np.array(earlier)
    joined[places] = later
    return joined
