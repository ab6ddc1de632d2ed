"""Agents and embedded remotes where what only Linux has is missing, as on macOS and Windows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PRETENCE = Path(__file__).parent / "systems"
SCRIPT = """
import sys
import universe_client
import universe_client.cli.main, universe_client.cli.commands.record, universe_client.cli.commands.serve
import wrappers

assert sys.platform == {system!r}
env = universe_client.GymVectorEnv("builtin.NeonDrive-v0", num_envs=2, mode={mode!r})
try:
    env.reset(seed=1)
    for _ in range(5):
        observations, _, _, _, info = env.step(env.action_space.sample())
    assert observations.any()
finally:
    env.close()
print("played")
"""


@pytest.mark.parametrize("mode", ["realtime", "lockstep"])
@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_embedded_remotes_are_played_on_other_systems(system, mode):
    environment = os.environ | {"PYTHONPATH": str(PRETENCE), "PRETEND_SYSTEM": system}
    command = [sys.executable, "-P", "-W", "error", "-c", SCRIPT.format(system=system, mode=mode)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and done.stdout == "played\n", done.stderr
    assert "Traceback" not in done.stderr, done.stderr
