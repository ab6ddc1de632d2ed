"""The learning examples run a few updates each, with their own remotes."""

from __future__ import annotations

import argparse
import time
from contextlib import closing

import numpy as np
import pytest
import torch
from rich.console import Console
from rich.progress import Progress

from tests.examples.test_examples import load, run

torch.set_num_threads(1)


@pytest.mark.timeout(600)  # on a busy machine, the imports alone take minutes
@pytest.mark.parametrize("name", ["ppo_torch.py", "ppo_torchrl.py"])
def test_ppo_in_one_file_and_with_torchrl_make_two_updates(name):
    output = run(name, "--remotes", "2", "--updates", "2", "--rollout", "8", timeout=550)
    assert [line.split()[3:6] for line in output.splitlines()] == [["1", "step", "16"], ["2", "step", "32"]]


def test_neon_drive_is_learned_over_vnc(monkeypatch, tmp_path):
    example = load("learn_neon_drive")
    monkeypatch.setattr(example, "STEP_RATE", 60)  # for the test to be short
    env = example.make_env(2)
    try:
        model = example.make_model(env, seed=0)
        before = [weights.clone() for weights in model.policy.parameters()]
        began = time.monotonic()
        curve = example.Curve(began, began + 60, Console(quiet=True))
        model.learn(2 * model.n_steps * env.num_envs, callback=curve)
    finally:
        env.close()
    assert any((weights != old).any() for weights, old in zip(model.policy.parameters(), before, strict=True))
    assert len(curve.pauses) == 1
    assert np.nanmedian(curve.reaction_times) > 0
    example.print_speed(Console(quiet=True), curve, model.num_timesteps)
    curve.minutes += [1.0] * example.WINDOW
    curve.returns += [2.0] * example.WINDOW
    example.draw(tmp_path / "curve.png", curve, random=1.0, learned=3.0, minutes=2.0)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_neon_drive_in_too_few_minutes_names_the_minimum(monkeypatch):
    example = load("learn_neon_drive")
    assert example.minutes("2") == 2.0
    with pytest.raises(argparse.ArgumentTypeError, match=r"1\.9 is too short: .* take 2 minutes"):
        example.minutes("1.9")
    monkeypatch.setattr(example, "SHORT_RANDOM_EPISODES", 1)
    monkeypatch.setattr(example, "LEARNED_SECONDS", 3600)  # no time is left to learn in
    with closing(example.make_env(1)) as env:
        arguments = argparse.Namespace(minutes=2.0, seed=0, remotes=1)
        with pytest.raises(SystemExit, match="too few for an update of the network: increase --minutes"):
            example.learn(env, arguments, Console(quiet=True))


def test_cartpole_is_learned_in_lock_step_from_its_state(tmp_path):
    example = load("learn_cartpole")
    env = example.make_env(2)
    try:
        assert env.observation_space.shape == (4,)
        model = example.make_model(env, seed=0)
        with Progress(console=Console(quiet=True)) as progress:
            curve = example.Curve(60, progress)
            model.learn(20 * 2 * model.n_steps, callback=curve)
    finally:
        env.close()
    assert len(curve.returns) > example.EPISODES
    assert min(curve.returns) >= 8, "a pole needs as many ticks to fall"
    example.draw(tmp_path / "curve.png", curve, mean=9.0)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
