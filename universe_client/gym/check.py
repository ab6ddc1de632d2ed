"""A checker for any Gymnasium vector environment, like `gymnasium.utils.env_checker` for single ones."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

_BATCH = ("num_envs", "observation_space", "action_space", "single_observation_space", "single_action_space")
_RESULTS = ("observations", "rewards", "terminations", "truncations", "infos")
_FEW_STEPS = 10


class VectorEnvError(AssertionError):
    """An environment violates the contract of `gymnasium.vector.VectorEnv`; the message describes the violation."""


def check_vector_env(
    env: gymnasium.vector.VectorEnv[Any, Any, Any],
    *,
    steps: int = 200,
    seed: int = 0,
    close: bool = True,
    optional_info_keys: Collection[str] = (),
) -> None:
    """Check that a vector environment keeps the contract of `gymnasium.vector.VectorEnv`.

    The environment may come from any package. It is reset and stepped with random actions. The checks are:

    - The attributes exist, and the batched spaces are batches of the single ones.
    - Observations are in their space, and no later call changes them (unless the environment has `copy=False`).
    - Rewards, terminations and truncations have the shape (num_envs,), and dtypes that do not change.
    - Each info has a mask, and one entry per row.
    - `metadata["autoreset_mode"]` is an `AutoresetMode`, and the environment follows it.
    - `reset` accepts a seed and options, and does not change the options. With autoreset disabled it resets only the
      rows of `"reset_mask"`.
    - The same seed and actions return the same results, unless the spec is `nondeterministic`. (The environments of
      this package are nondeterministic, except in lock-step.)
    - `step` raises for a batch of the wrong length.
    - `close` may be called twice.

    Args:
        env: the environment. It is closed at the end if `close` is True.
        steps: the number of random steps. Episodes should end within them, because autoreset is not checked otherwise.
        seed: the seed of the environment and of the actions.
        close: whether to check closing.
        optional_info_keys: infos that may have no mask.

    Raises:
        VectorEnvError: a check failed; the message describes what is wrong.

    Example:
        check_vector_env(gymnasium.make_vec("CartPole-v1", num_envs=3))
    """
    _check_attributes(env)
    _check_spaces(env)
    _check_resets(env, seed)
    env.action_space.seed(seed)
    _Run(env, frozenset(optional_info_keys)).check(steps, seed)
    # The error would leave the workers of an AsyncVectorEnv in the middle of a step.
    if not isinstance(env.unwrapped, gymnasium.vector.AsyncVectorEnv):
        _check_wrong_actions(env)
    if close:
        _check_close(env)


def _require(condition: object, message: str) -> None:
    if not condition:
        raise VectorEnvError(message)


def _check_attributes(env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
    _require(isinstance(env, gymnasium.vector.VectorEnv), f"{env!r} is not a gymnasium.vector.VectorEnv")
    for name in _BATCH:
        _require(hasattr(env, name), f"the environment has no attribute {name}")
    _require(
        isinstance(env.num_envs, int) and env.num_envs > 0,
        f"num_envs is {env.num_envs!r}, not a positive int",
    )
    mode = env.metadata.get("autoreset_mode")
    _require(
        isinstance(mode, AutoresetMode),
        f"metadata['autoreset_mode'] is {mode!r}, not a gymnasium.vector.AutoresetMode",
    )
    _require(env.closed is False, f"closed is {env.closed!r} before close()")


def _check_spaces(env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
    for name in ("observation_space", "action_space"):
        single, batched = getattr(env, f"single_{name}"), getattr(env, name)
        for space in (single, batched):
            _require(isinstance(space, gymnasium.Space), f"{name}: {space!r} is not a gymnasium.Space")
        expected = batch_space(single, env.num_envs)
        _require(
            batched == expected,
            f"{name} is {batched}, but a batch of {env.num_envs} single_{name} is {expected}",
        )


# -- resets -----------------------------------------------------------------------------------------------------


def _check_resets(env: gymnasium.vector.VectorEnv[Any, Any, Any], seed: int) -> None:
    _check_reset_result(env, env.reset())
    result = env.reset(seed=seed)
    _check_reset_result(env, result)
    if env.spec is not None and not env.spec.nondeterministic:
        _check_determinism(env, env.spec.id, seed)
    _check_options(env)
    if env.metadata["autoreset_mode"] is AutoresetMode.DISABLED:
        _check_mask(env)


def _check_determinism(env: gymnasium.vector.VectorEnv[Any, Any, Any], name: str, seed: int) -> None:
    first, second = (_rollout(env, seed) for _ in range(2))
    for step, (one, other) in enumerate(zip(first, second, strict=False)):
        _require(
            _same(one, other),
            f"two runs with seed {seed} and the same actions differ at step {step}, "
            f"but the spec of {name} is not nondeterministic",
        )


def _rollout(env: gymnasium.vector.VectorEnv[Any, Any, Any], seed: int) -> list[Any]:
    """Return the first observations of `seed` and the results of a few steps with fixed actions, up to a first end."""
    env.action_space.seed(seed)
    seen = [copy.deepcopy(env.reset(seed=seed)[0])]
    for _ in range(_FEW_STEPS):
        seen.append(copy.deepcopy(env.step(env.action_space.sample())[:4]))
        if np.any(seen[-1][2]) or np.any(seen[-1][3]):
            break
    return seen


def _check_reset_result(env: gymnasium.vector.VectorEnv[Any, Any, Any], result: Any) -> None:
    _require(
        isinstance(result, tuple) and len(result) == 2,
        f"reset() returns {type(result).__name__}, not a tuple of observations and infos",
    )
    _require(isinstance(result[1], dict), f"reset() returns infos of {type(result[1]).__name__}, not a dict")
    _check_observations(env, result[0], "reset()")


def _check_options(env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
    options: dict[str, Any] = {}
    _check_reset_result(env, env.reset(options=options))
    _require(not options, f"reset() added {sorted(options)} to the options dict")


def _check_mask(env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
    mask = np.zeros(env.num_envs, np.bool_)
    mask[0] = True
    before, _ = env.reset()
    before = copy.deepcopy(before)
    observations, _ = env.reset(options={"reset_mask": mask.copy()})
    _check_observations(env, observations, "reset() with a mask")
    for row in range(1, env.num_envs):
        _require(
            _same(_row(before, row), _row(observations, row)),
            f"reset() with a mask of row 0 changed the observation of row {row}",
        )


# -- steps ------------------------------------------------------------------------------------------------------


class _Run:
    """Random steps; the results of each are checked, also against those of the step before."""

    def __init__(self, env: gymnasium.vector.VectorEnv[Any, Any, Any], maskless: frozenset[str]) -> None:
        self.env, self._maskless = env, maskless
        self._mode = env.metadata["autoreset_mode"]
        self._dones = np.zeros(env.num_envs, np.bool_)
        self._kinds: dict[str, Any] = {}

    def check(self, steps: int, seed: int) -> None:
        before, infos = self.env.reset(seed=seed)
        self._check_infos(infos, "reset()")
        for _ in range(steps):
            kept = copy.deepcopy(before)
            self._reset_done_rows()
            result = self.env.step(self.env.action_space.sample())
            _require(
                _lends(self.env) or _same(before, kept),
                "step() changed the observations that the previous call returned",
            )
            before = self._check_step(result)

    def _reset_done_rows(self) -> None:
        if self._mode is AutoresetMode.DISABLED and self._dones.any():
            self.env.reset(options={"reset_mask": self._dones.copy()})

    def _check_step(self, result: Any) -> Any:
        _require(
            isinstance(result, tuple) and len(result) == 5,
            f"step() returns {_describe(result)}, not a tuple of {', '.join(_RESULTS)}",
        )
        observations, rewards, terminations, truncations, infos = result
        _check_observations(self.env, observations, "step()")
        self._check_array("rewards", rewards, (np.floating, np.integer))
        self._check_array("terminations", terminations, (np.bool_,))
        self._check_array("truncations", truncations, (np.bool_,))
        _require(np.isfinite(rewards).all(), f"rewards {rewards} are not finite")
        self._check_infos(infos, "step()")
        dones = terminations | truncations
        self._check_autoreset(rewards, dones, infos)
        self._dones = dones.copy()
        return observations

    def _check_array(self, name: str, array: Any, kinds: tuple[type, ...]) -> None:
        _require(isinstance(array, np.ndarray), f"{name} are {_describe(array)}, not a numpy array")
        _require(
            array.shape == (self.env.num_envs,),
            f"{name} have the shape {array.shape}, not ({self.env.num_envs},)",
        )
        _require(issubclass(array.dtype.type, kinds), f"{name} have the dtype {array.dtype}")
        first = self._kinds.setdefault(name, array.dtype)
        _require(array.dtype == first, f"{name} change their dtype from {first} to {array.dtype}")

    def _check_autoreset(self, rewards: Any, dones: Any, infos: Mapping[str, Any]) -> None:
        again = self._dones & dones
        if self._mode is AutoresetMode.NEXT_STEP:
            wrong = np.flatnonzero(self._dones & (rewards != 0))
            _require(
                not wrong.size, f"next-step autoreset: the step that resets row {wrong} returns a reward"
            )
            _require(
                not again.any(),
                f"next-step autoreset: row {np.flatnonzero(again)} is done again on the step that resets it",
            )
        if self._mode is AutoresetMode.SAME_STEP and dones.any():
            _require(
                np.array_equal(np.asarray(infos.get("_final_obs")), dones),
                f"same-step autoreset: rows {np.flatnonzero(dones)} are done, but "
                f"infos['_final_obs'] is {infos.get('_final_obs')}",
            )

    def _check_infos(self, infos: Any, where: str) -> None:
        _require(isinstance(infos, dict), f"{where} returns infos of {type(infos).__name__}, not a dict")
        for key, value in infos.items():
            if key.startswith("_") and key[1:] in infos:
                continue
            if key not in self._maskless:
                self._check_info(key, value, infos.get(f"_{key}"), where)

    def _check_info(self, key: str, value: Any, mask: Any, where: str) -> None:
        n = self.env.num_envs
        _require(mask is not None, f"{where}: info {key!r} has no mask '_{key}'")
        _require(
            isinstance(mask, np.ndarray) and mask.shape == (n,) and mask.dtype == np.bool_,
            f"{where}: the mask '_{key}' is {_describe(mask)}, not ({n},) of bool",
        )
        if not isinstance(value, dict):
            _require(
                isinstance(value, np.ndarray) and len(value) == n,
                f"{where}: info {key!r} is {_describe(value)}, not an array with {n} rows",
            )


def _check_observations(
    env: gymnasium.vector.VectorEnv[Any, Any, Any], observations: Any, where: str
) -> None:
    _require(
        observations in env.observation_space,
        f"{where} returns observations ({_describe(observations)}) that are not in {env.observation_space}",
    )


def _check_wrong_actions(env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
    """Check that `step` raises any error for a batch with one action too many."""
    too_many = batch_space(env.single_action_space, env.num_envs + 1).sample()
    env.reset()
    try:
        env.step(too_many)
    except Exception:  # noqa: BLE001
        return
    raise VectorEnvError(f"step() accepts {env.num_envs + 1} actions for {env.num_envs} environments")


# -- close ------------------------------------------------------------------------------------------------------


def _check_close(env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
    for time in ("once", "twice"):
        try:
            env.close()
        except Exception as error:
            raise VectorEnvError(f"close() called {time} raises {error!r}") from error


def _lends(env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> bool:
    """Return whether all observations are one array that changes; the outermost attribute `copy` decides."""
    return not getattr(env, "copy", getattr(env.unwrapped, "copy", True))


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array {value.shape} of {value.dtype}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return type(value).__name__


def _row(observations: Any, row: int) -> Any:
    if isinstance(observations, dict):
        return {key: _row(value, row) for key, value in observations.items()}
    return observations[row]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f"))
