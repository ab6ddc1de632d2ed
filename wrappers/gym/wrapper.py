"""The base class of the wrappers around Gymnasium's vector interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.gym.arguments import check_batch
from universe_client.gym.vector_env import GymVectorEnv

if TYPE_CHECKING:
    _Base = VectorWrapper[Any, Any, Any, Any, Any]
else:
    _Base = VectorWrapper  # Gymnasium 1.2's is not generic

RowNumbers = NDArray[np.intp]
"""The numbers of rows (remotes), in the order in which a batch contains them."""
StepResult = tuple[Any, Any, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]
"""Observations, rewards, terminations, truncations, infos."""


class GymWrapper(_Base):
    """The base class: passes every call to the wrapped environment, `send` and `recv` included.

    A subclass overrides `actions` to change what is sent, and `results` to change what is returned. Both receive every
    batch, whether it belongs to a `step`, a `send` or a `recv`, together with the numbers of its rows. The wrapped
    environment may reuse the arrays of a batch: a subclass must neither write into observations nor keep them.
    Attributes that a wrapper does not define are those of the wrapped environment.

    Example:
        class Negate(GymWrapper):
            def results(self, rows, result):
                observations, rewards, terminations, truncations, infos = result
                return observations, -rewards, terminations, truncations, infos
    """

    env: Any
    takes_same_step: ClassVar[bool] = True
    """Whether the wrapper supports `AutoresetMode.SAME_STEP`, where the step that ends an episode returns the first
    frame of the next one."""
    passes_observations: bool = False
    """Whether the wrapper passes observations on, whatever their shape, and does not look at them. Then wrappers of
    pixels above it may reduce what the environment below it observes."""
    passes_ticks: bool = False
    """Whether one step of several ticks is to the wrapper what so many steps of one tick are, which return only the
    last frame and the sum of the rewards. Then `FrameSkip` above it sends one message for several ticks."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`.

        Args:
            env: any `gymnasium.vector.VectorEnv`. `send` and `recv` work if it has them, as `GymVectorEnv` does.

        Raises:
            ConfigError: `env` is not a vector environment, or the wrapper does not support its autoreset mode.
        """
        if not isinstance(env, VectorEnv):
            raise ConfigError(
                f"{type(self).__name__} is for universe_client.GymVectorEnv (gymnasium.make_vec), "
                f"not for {type(env).__name__}"
            )
        if not self.takes_same_step and env.metadata.get("autoreset_mode") is AutoresetMode.SAME_STEP:
            raise ConfigError(
                f"{type(self).__name__} needs autoreset_mode='NextStep' or 'Disabled', not 'SameStep'"
            )
        super().__init__(env)
        self._every_row = np.arange(self.num_envs)

    def step(self, actions: Any) -> StepResult:
        """Send one action to each remote and return the results of all rows; see `GymVectorEnv.step`."""
        return self._results(self.env.step(self.actions(self._rows(None), actions)))

    def send(self, actions: Any, ids: Sequence[int] | RowNumbers | None = None) -> None:
        """Send one action to each remote of `ids` (default: all); see `GymVectorEnv.send`."""
        self.env.send(self.actions(self._rows(ids), actions), ids)

    def play(self, chunk: Sequence[Any], at: Any, ids: Sequence[int] | RowNumbers | None = None) -> None:
        """Plan several actions for each remote of `ids` (default: all); see `GymVectorEnv.play`."""
        rows = self._rows(ids)
        self.env.play([self.actions(rows, actions) for actions in chunk], at, ids)

    def send_ticks(self, actions: Any, ids: RowNumbers, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Send actions that last several ticks of lock-step, as far as this wrapper and those below support it.

        Args:
            actions: a batch of k actions.
            ids: intp (k,), the rows.
            ticks: int64 (k,), the largest number of ticks for each.

        Returns:
            int64 (k,): how many ticks the next result of each row includes, unless its episode ends before. In real
            time a tick is a step.
        """
        if not self.passes_ticks:
            self.send(actions, ids)
            return np.ones(len(ids), np.int64)
        return send_ticks(self.env, self.actions(ids, actions), ids, ticks)

    def recv(
        self,
        min_ready: int | None = None,
        timeout: float | None = None,
        *,
        max_ready: int | None = None,
        out: NDArray[Any] | None = None,
    ) -> StepResult:
        """Return the results of rows that `send` was called for; see `GymVectorEnv.recv`.

        Args:
            min_ready, timeout, max_ready: as there.
            out: as there; of the shape of the observations of this wrapper.
        """
        check_batch(self, min_ready, max_ready, out)
        more = {} if max_ready is None else {"max_ready": max_ready}
        return placed(self._results(self.env.recv(min_ready, timeout, **more)), out)

    def actions(self, rows: RowNumbers, actions: Any) -> Any:
        """Return the actions to send instead of `actions`. The base class returns them unchanged.

        Args:
            rows: intp (k,), the rows that the actions are for.
            actions: a batch of k actions of `single_action_space`.
        """
        return actions

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Return the results to give to the caller instead of `result`. The base class returns them unchanged.

        Args:
            rows: intp (k,), the rows that the results belong to.
            result: observations, rewards (k,), terminations (k,), truncations (k,) and infos of these rows.
        """
        return result

    def join(self, actions: Sequence[Any]) -> Any:
        """Return a batch made of single actions."""
        out: Any = create_empty_array(self.single_action_space, len(actions))
        return concatenate(self.single_action_space, actions, out)

    def replace(self, actions: Any, where: NDArray[np.bool_], action: Any) -> Any:
        """Return the batch `actions` with `action` in the places where the bool array `where` is true."""
        if not where.any():
            return actions
        each = zip(iterate(self.action_space, actions), where, strict=True)
        return self.join([action if replaced else own for own, replaced in each])

    def _results(self, result: StepResult) -> StepResult:
        return self.results(self._rows(result[4].get("env_id")), result)

    def _rows(self, ids: Sequence[int] | NDArray[Any] | None) -> RowNumbers:
        return self._every_row.copy() if ids is None else np.asarray(ids, np.intp)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)


def send_ticks(env: Any, actions: Any, ids: RowNumbers, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Call `send_ticks` of `env`; any other environment than those of this package takes one step."""
    if isinstance(env, GymWrapper | GymVectorEnv):
        return env.send_ticks(actions, ids, ticks)
    env.send(actions, ids)
    return np.ones(len(ids), np.int64)


def placed(result: StepResult, out: NDArray[Any] | None) -> StepResult:
    """Return the results of a batch with its pixels in the first rows of `out`; None changes nothing."""
    if out is None:
        return result
    observations = result[0]
    frames = observations["vision"] if isinstance(observations, dict) else observations
    held = out[: len(frames)]
    np.copyto(held, frames)
    return {**observations, "vision": held} if isinstance(observations, dict) else held, *result[1:]


def chosen_rows(options: dict[str, Any] | None, n: int) -> RowNumbers:
    """Return the numbers of the rows, out of `n`, that a reset with these options restarts."""
    mask = (options or {}).get("reset_mask")
    return np.arange(n) if mask is None else np.flatnonzero(mask)
