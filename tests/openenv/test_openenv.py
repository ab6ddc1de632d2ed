"""Remotes as environments of OpenEnv, through its own server, client and validation."""

from __future__ import annotations

import base64
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.remotes.openenv import served
from tests.support.remotes.tasks import button
from tests.support.system.processes import descendants
from universe_client.adapters.openenv import ComputerAction, ComputerClient

PACKAGE = Path(__file__).parents[2] / "docker" / "openenv"
pytestmark = pytest.mark.filterwarnings("default")  # of OpenEnv and what it imports


def connected(url):
    """Return a client that is as patient as a busy machine needs."""
    return ComputerClient(base_url=url, connect_timeout_s=60, message_timeout_s=240).sync()


def pixels(observation):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(observation.picture))))


def test_a_session_has_a_remote_of_its_own_and_ends_with_it():
    before = descendants(os.getpid())
    with served("builtin.NeonDrive-v0", sessions=2) as url, connected(url) as one, connected(url) as other:
        first, second = one.reset(seed=1, episode_id="first"), other.reset(seed=1)
        assert not first.done and (first.observation.width, first.observation.height) == (320, 240)
        assert pixels(second.observation).shape == (240, 320, 3)
        steer = ComputerAction(actions=[{"action": "hold", "keys": "Left", "seconds": 0.1}], timeout=0.1)
        assert isinstance(one.step(steer).reward, float)
        assert (one.state().episode_id, one.state().step_count) == ("first", 1)
        assert other.state().step_count == 0
    assert descendants(os.getpid()) <= before


def test_what_cannot_be_played_is_in_the_observation():
    with served("builtin.NeonDrive-v0") as url, connected(url) as env:
        env.reset()
        result = env.step(ComputerAction(actions=[{"action": "click", "x": 5000, "y": 1}]))
        assert result.observation.error == "x=5000 is outside the picture, which is 320x240: 0 <= x < 320"
        assert result.observation.picture and env.step(ComputerAction(timeout=0.1)).observation.error is None


def test_a_page_is_solved_by_its_pixels():
    with (
        served("browser.click-test", "process:1", format="png") as url,
        connected(url) as env,
    ):
        for seed in range(3):
            result = env.reset(seed=seed)
            assert result.observation.text == "Click the button."
            x, y = button(pixels(result.observation))
            result = env.step(ComputerAction(actions=[{"action": "click", "x": x, "y": y}]))
            assert result.reward > 0 and result.done


def test_the_package_is_valid():
    """Its image is built and checked where a Docker daemon has the base image: `openenv validate docker/openenv`."""
    command = [
        str(Path(sys.executable).parent / "openenv"),
        "validate",
        ".",
        "--level",
        "static",
        "--skip-build",
    ]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0 and "Verdict: PASS" in done.stdout, done.stdout + done.stderr
