"""The options, checked where they are given."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from universe_client import Config, ConfigError, VectorEnv


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("driver", "fast"), ("on_error", "ignore"), ("start_timeout", 0), ("reset_timeout", -1),
        ("fps", 0), ("fps", -5.0), ("time_scale", 0.01), ("time_scale", 11), ("updates", "some"),
        ("backoff", (0, 1)), ("backoff", (2, 1)),
    ],
)  # fmt: skip
def test_a_value_that_makes_no_sense_is_named(option, value):
    with pytest.raises(ConfigError, match=option):
        Config(**{option: value})


def test_defaults_are_fine_frozen_and_picklable():
    config = Config()
    assert (config.on_error, config.copy, config.observer) == ("truncate", True, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.copy = False  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(config)) == config


@pytest.mark.parametrize(
    ("options", "step_rate", "as_needed"),
    [
        ({}, 15, True), ({}, 30, True), ({}, 31, False), ({}, None, False), ({"fps": 20}, 15, False),
        ({"fps": 20, "time_scale": 4}, 15, True), ({"fps": 240}, 60, True), ({"updates": "every"}, 15, False),
        ({"mode": "lockstep"}, 15, False),
    ],
)  # fmt: skip
def test_an_agent_that_needs_half_the_frames_or_less_is_sent_what_it_needs(options, step_rate, as_needed):
    assert Config(**options).as_needed(step_rate) is as_needed


def test_unknown_options_are_named_with_the_known():
    with pytest.raises(ConfigError, match=r"unknown option 'drivr': one of .*driver"):
        VectorEnv("builtin.NeonDrive-v0", 1, drivr="portable")


def test_config_and_single_options_exclude_each_other():
    with pytest.raises(ConfigError, match="both config and single options"):
        VectorEnv("builtin.NeonDrive-v0", 1, config=Config(), copy=False)
