"""The base of wrappers around Gymnasium's vector face."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from universe_client.errors import ConfigError

if TYPE_CHECKING:
    _Base = VectorWrapper[Any, Any, Any, Any, Any]
else:
    _Base = VectorWrapper  # Gymnasium 1.2's is not generic

RowNumbers = NDArray[np.intp]
"""Which rows, in the order in which a batch has them."""
StepResult = tuple[Any, Any, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]
"""Observations, rewards, terminations, truncations, infos."""


class GymWrapper(_Base):
    """Passes everything on, `send` and `recv` too; a wrapper overrides what it changes.

    `actions` and `results` see every batch, be it of a `step`, a `send` or a `recv`, and which rows it is of. What a
    wrapper is given is only lent: it neither writes into observations nor keeps them. Attributes that a wrapper has not
    are the wrapped environment's.

    Example:
        class Negate(GymWrapper):
            def results(self, rows, result):
                observations, rewards, terminations, truncations, infos = result
                return observations, -rewards, terminations, truncations, infos
    """

    env: Any
    takes_same_step: ClassVar[bool] = True
    """Whether it works where the step that ends an episode returns the next one's first frame."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`, of Gymnasium's kind; `send` and `recv` work where it has them.

        Raises:
            ConfigError: it is not a vector environment of Gymnasium's, or its autoreset is not for this wrapper.
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

    def step(self, actions: Any) -> StepResult:
        """See `GymVectorEnv.step`."""
        return self._results(self.env.step(self.actions(self._rows(None), actions)))

    def send(self, actions: Any, ids: Sequence[int] | RowNumbers | None = None) -> None:
        """See `GymVectorEnv.send`."""
        self.env.send(self.actions(self._rows(ids), actions), ids)

    def recv(self, min_ready: int | None = None, timeout: float | None = None) -> StepResult:
        """See `GymVectorEnv.recv`."""
        return self._results(self.env.recv(min_ready, timeout))

    def actions(self, rows: RowNumbers, actions: Any) -> Any:
        """Return what becomes of the actions for `rows`."""
        return actions

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Return what becomes of the results of `rows`."""
        return result

    def join(self, actions: Sequence[Any]) -> Any:
        """Return single actions as a batch."""
        out: Any = create_empty_array(self.single_action_space, len(actions))
        return concatenate(self.single_action_space, actions, out)

    def replace(self, actions: Any, where: NDArray[np.bool_], action: Any) -> Any:
        """Return a batch of actions with `action` in the places `where`."""
        if not where.any():
            return actions
        each = zip(iterate(self.action_space, actions), where, strict=True)
        return self.join([action if replaced else own for own, replaced in each])

    def _results(self, result: StepResult) -> StepResult:
        return self.results(self._rows(result[4].get("env_id")), result)

    def _rows(self, ids: Sequence[int] | NDArray[Any] | None) -> RowNumbers:
        return np.arange(self.num_envs) if ids is None else np.asarray(ids, np.intp)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)


def chosen_rows(options: dict[str, Any] | None, n: int) -> RowNumbers:
    """Return which of `n` rows a reset with these options is for."""
    mask = (options or {}).get("reset_mask")
    return np.arange(n) if mask is None else np.flatnonzero(mask)
