"""One decision of the agent for several steps of the environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import iterate
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.gym.arguments import check_batch
from universe_client.gym.batch import infos as gym_infos
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult, placed, send_ticks


class FrameSkip(GymWrapper):
    """Takes `skip` steps with every action (Bellemare et al. 2013; Mnih et al. 2015).

    The result contains the last frame, the sum of the rewards and the merged infos. In lock-step mode an action lasts
    `skip` ticks. A remote runs them in a row after one message if the wrappers inside support it, as `NoopStart` and
    `MaxFrames` do, and if the same action twice in a row sends nothing (see `ActionMap`). In real time the action is
    held for `skip` steps: `step_rate=60` and `skip=4` make 15 decisions per second. (If only the last frame matters,
    `step_rate=15` without this wrapper does the same at lower cost.)

    A row whose episode ends takes no further step within the call. The reset step, which returns the first frame of
    the next episode (`AutoresetMode.NEXT_STEP`), is not repeated.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=60)
        env = FrameSkip(env, skip=4)
        env.reset()
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
    """

    takes_same_step: ClassVar[bool] = False
    passes_observations = True

    def __init__(self, env: VectorEnv[Any, Any, Any], skip: int = 4) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment that has `send` and `recv`, as `GymVectorEnv` does, and whose observations are one
                array. Its autoreset mode is not `SAME_STEP`.
            skip: how many steps an action lasts.

        Raises:
            ConfigError: `skip` is not positive, or the environment lacks one of these.
        """
        if skip < 1:
            raise ConfigError(f"skip={skip} must be at least 1")
        super().__init__(env)
        if env.single_observation_space.shape is None or not hasattr(env.unwrapped, "recv"):
            raise ConfigError(
                f"FrameSkip needs an environment with send, recv and observations of one array, not {env}"
            )
        self._skip = skip
        self._held: list[Any] = [None] * self.num_envs
        self._sent = np.ones(self.num_envs, np.int64)  # the ticks of the row's first message
        self._resetting = np.zeros(self.num_envs, np.bool_)  # the row's next step is its reset step

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; see `GymVectorEnv.reset`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        self._resetting[:] = infos.get(gym_infos.RESETTING, False)
        return observations, infos

    def step(self, actions: Any) -> StepResult:
        """Take up to `skip` steps with these actions; see the class and `GymVectorEnv.step`."""
        self.send(actions)
        return self.recv()

    def send(self, actions: Any, ids: Sequence[int] | RowNumbers | None = None) -> None:
        """Send the actions of the first step; see `GymVectorEnv.send`."""
        rows = self._rows(ids)
        self._sent[rows] = send_ticks(self.env, actions, rows, np.full(len(rows), self._skip))
        for row, action in zip(rows, iterate(self.action_space, actions), strict=True):
            self._held[row] = action

    def play(self, chunk: Sequence[Any], at: Any, ids: Sequence[int] | RowNumbers | None = None) -> None:
        """Raise ConfigError: actions with times last until the next one, and are not repeated."""
        raise ConfigError("FrameSkip repeats actions and cannot plan them: use play() without it")

    def recv(
        self,
        min_ready: int | None = None,
        timeout: float | None = None,
        *,
        max_ready: int | None = None,
        out: NDArray[Any] | None = None,
    ) -> StepResult:
        """Receive the first step and take the others; see `GymVectorEnv.recv`.

        Args:
            min_ready, max_ready: must be None, because all rows take their steps together.
            timeout: ignored.
            out: as there.

        Raises:
            ConfigError: `min_ready` or `max_ready` is not None, or `out` is invalid.
        """
        if min_ready is not None:
            raise ConfigError("FrameSkip steps all rows together: use min_ready=None")
        check_batch(self, min_ready, max_ready, out)
        total: StepResult = self.env.recv()
        rows = self._rows(total[4].get("env_id"))
        left = np.where(self._resetting[rows], 0, self._skip - self._sent[rows])
        while True:
            over = total[2] | total[3] | total[4].get(gym_infos.RESETTING, False)
            left[over] = 0
            if not left.any():
                break
            total = self._go_on(total, rows, left)
        self._resetting[rows] = over
        return placed(total, out)

    def _go_on(self, total: StepResult, rows: RowNumbers, left: NDArray[np.int64]) -> StepResult:
        """Take one more step with the rows that have ticks `left`, and add its results to `total`."""
        places = np.flatnonzero(left)
        held = self.join([self._held[row] for row in rows[places]])
        left[places] -= send_ticks(self.env, held, rows[places], left[places])
        observations, rewards, terminations, truncations, infos = self.env.recv()
        total[1][places] += rewards
        total[2][places], total[3][places] = terminations, truncations
        gym_infos.merge_rows(total[4], infos, places)
        return _joined(total[0], observations, places), *total[1:]


def _joined(earlier: Any, later: Any, places: RowNumbers) -> NDArray[Any]:
    if len(later) == len(earlier):
        return later  # type: ignore[no-any-return]
    joined = np.array(earlier)
    joined[places] = later
    return joined
