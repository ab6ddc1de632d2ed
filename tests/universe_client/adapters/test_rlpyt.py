"""rlpyt's interface: namedtuples with constant fields, null values, statistics of episodes."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Text

from universe_client import ConfigError, GymEnv
from universe_client.adapters.rlpyt import (
    EnvInfoWrapper,
    EnvStep,
    GymEnvWrapper,
    GymSpaceWrapper,
    TrajInfo,
    make,
)


class Script(gymnasium.Env[Any, Any]):
    """Returns the given infos, one per step."""

    observation_space = Dict(place=Box(-1, 1, (2,), np.float64), level=Discrete(3))
    action_space = Dict(turn=Discrete(2), push=Box(0, 1, (1,), np.float64))

    def __init__(self, *infos: dict[str, Any]) -> None:
        self.infos, self.actions = list(infos), []

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return {"place": np.zeros(2), "level": 1}, {}

    def step(self, action: Any) -> Any:
        self.actions.append(action)
        return {"place": np.full(2, 0.5), "level": 2}, 1.5, False, len(self.infos) == 1, self.infos.pop(0)


def dtypes(env_info: Any) -> dict[str, tuple[Any, Any]]:
    return {field: (value.dtype, value.shape) for field, value in env_info._asdict().items()}


def test_dicts_are_namedtuples_there_and_back():
    script = Script({"score": 1})
    env = GymEnvWrapper(script)
    assert env.reset().level == 1
    action = env.action_space.sample()
    step = env.step(action._replace(turn=np.int64(1)))
    assert isinstance(step, EnvStep)
    assert (step.observation.place.dtype, step.observation.place.tolist()) == (np.float32, [0.5, 0.5])
    assert (step.reward, step.reward.dtype, step.done) == (1.5, np.float32, True)
    (sent,) = script.actions
    assert sent in script.action_space
    assert sent["turn"] == 1


def test_r5_env_info_fields_are_those_of_the_first_step_for_ever():
    example = {"lives": np.int16(3), "map": np.zeros(2, np.uint8), "word": "go", "speed": 2.0, "hurt": True}
    late = {"lives": None, "map": [1, 2], "new": 5}
    env = GymEnvWrapper(Script(example, late, example))
    env.reset()
    first, second, third = (env.step(env.action_space.sample()).env_info for _ in range(3))
    assert first._fields == second._fields == third._fields == ("lives", "map", "speed", "hurt", "timeout")
    assert dtypes(first) == dtypes(second) == dtypes(third)
    assert first.speed.dtype == np.float32
    assert (second.lives, second.map.tolist(), bool(second.hurt)) == (0, [1, 2], False)
    assert np.isnan(second.speed)


def test_r5_a_field_that_changes_its_shape_is_an_error():
    env = GymEnvWrapper(Script({"map": [1, 2]}, {"map": [1, 2, 3]}))
    env.reset()
    env.step(env.action_space.sample())
    with pytest.raises(ConfigError, match=r"info 'map' has the shape \(3,\), but had \(2,\)"):
        env.step(env.action_space.sample())


def test_r5_env_info_wrapper_fills_in_the_examples():
    env = GymEnvWrapper(EnvInfoWrapper(Script({}, {"remote.lives": 2}), {"remote.lives": np.int8(5)}))
    env.reset()
    infos = [env.step(env.action_space.sample()).env_info for _ in range(2)]
    assert [(int(info.remote_lives), info.remote_lives.dtype) for info in infos] == [
        (5, np.int8),
        (2, np.int8),
    ]


def test_r6_timeout_is_a_time_limits_truncation():
    env = GymEnvWrapper(Script({}, {}, {}))
    env.reset()
    steps = [env.step(env.action_space.sample()) for _ in range(3)]
    assert [(bool(step.env_info.timeout), step.done) for step in steps] == [(False, False)] * 2 + [
        (True, True)
    ]


def test_r7_null_values():
    env = GymEnvWrapper(Script(), act_null_value=1, obs_null_value=-1)
    null = env.spaces.observation.null_value()
    assert (null.place.tolist(), null.place.dtype, null.level.tolist()) == ([-1.0, -1.0], np.float32, -1)
    assert env.spaces.action.null_value().turn == 1
    assert GymSpaceWrapper(Box(0, 1, (2,), np.float64), force_float32=False).null_value().dtype == np.float64


def test_spaces_that_are_not_of_arrays_are_refused():
    with pytest.raises(ConfigError, match="obs_text: Text"):
        GymSpaceWrapper(Dict(text=Text(3)), name="obs")


def test_r8_traj_info_records_an_episode():
    class Discounting(TrajInfo):
        discount = 0.5

    record = Discounting()
    for reward in (1.0, 0.0, -2.0):
        record.step(None, None, reward, False, None, None)
    assert record.terminate(None) == {
        "Length": 3,
        "Return": -1.0,
        "NonzeroRewards": 2,
        "DiscountedReturn": 0.5,
    }
    assert record.Return == -1.0
    with pytest.raises(AttributeError, match="not 'GameScore'"):
        _ = record.GameScore


def test_a_remote_through_the_factory():
    env = make(
        "universe/NeonDrive-v0", mode="lockstep", max_episode_steps=5, info_example={"remote.level": 0}
    )
    try:
        assert isinstance(env.env.unwrapped, GymEnv)
        assert env.horizon == 5
        env.reset()
        steps = [env.step(env.action_space.sample()) for _ in range(5)]
        assert all(step.observation.shape == env.spaces.observation.space.shape for step in steps)
        assert dtypes(steps[0].env_info) == dtypes(steps[4].env_info)
        assert {"remote_level", "stats_vnc_updates_n", "reaction_time"} <= set(steps[0].env_info._fields)
        assert [bool(step.env_info.timeout) for step in steps] == [False] * 4 + [True]
    finally:
        env.close()
