"""What a zygote imports before it forks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OPENED = """
import os, sys
from rewarder.runtimes import create
from rewarder.runtimes.preload import preload
preload(sys.argv[1])
assert len(os.listdir("/proc/self/task")) == 1, "threads do not survive a fork"
before = set(sys.modules)
runtime = create(sys.argv[1])
runtime.open()
runtime.reset(sys.argv[1], 0)
print(*sorted(set(sys.modules) - before))
"""
PRELOADED = """
import sys
from rewarder.runtimes.preload import preload
preload(sys.argv[1])
print("rewarder.runtimes.serve" in sys.modules, "collections_of_mine" in sys.modules)
"""


def run(code: str, env_id: str) -> list[str]:
    """Run the code in another process; return the words on its stdout."""
    command = [sys.executable, "-c", code, env_id]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return result.stdout.split()


@pytest.mark.parametrize("env_id", ["builtin.NeonDrive-v0", "gym-core.CartPole-v1", "gym-core.ALE/Pong-v5"])
def test_a_remote_has_nothing_left_to_import_and_there_are_no_threads(env_id):
    assert run(OPENED, env_id) == []


@pytest.mark.parametrize(
    "env_id",
    [
        "",
        "no.SuchEnv-v0",
        "gym-core.NoSuchEnv-v0",
        "gym-core.nowhere:Env",
        "gym-core.collections_of_mine:Env",
    ],
)
def test_unknown_environments_and_modules_of_the_user_are_left_to_the_remote(env_id):
    assert run(PRELOADED, env_id) == ["True", "False"]


def test_a_client_with_a_password_needs_no_further_module():
    code = """
import sys
from rewarder.runtimes.preload import preload
preload(sys.argv[1])
from vnc.vncauth import challenge_response
before = set(sys.modules)
challenge_response(bytes(16), "password")
print(*sorted(set(sys.modules) - before))
"""
    assert run(code, "builtin.NeonDrive-v0") == []
