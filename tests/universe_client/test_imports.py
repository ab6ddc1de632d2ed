"""What `import universe_client` imports beside NumPy and Gymnasium: nothing slow, so that programs start quickly."""

import subprocess
import sys

import pytest

SLOW = (
    "array_api_compat",
    "asyncio",
    "cryptography",
    "docker",
    "email",
    "msgspec",
    "rich",
    "ssl",
    "universe_client.core",
    "universe_client.gym",
    "universe_client.providers",
    "universe_client.spaces",
    "vnc._core",
    "websockets",
)
SCRIPT = """
import gymnasium, sys
before = set(sys.modules)
import universe_client
{use}
print(*sorted((set(sys.modules) - before) & set({modules!r})))
"""


def imported(use: str, modules: tuple[str, ...]) -> list[str]:
    """Return which of these modules the package imports until it is used in this way."""
    command = [sys.executable, "-P", "-c", SCRIPT.format(use=use, modules=modules)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.split()


def test_the_package_imports_nothing_slow_until_a_name_is_used():
    assert imported("", SLOW) == []


def test_environments_of_gymnasium_are_registered_nevertheless():
    assert imported("assert 'universe/NeonDrive-v0' in gymnasium.registry", SLOW) == []


@pytest.mark.parametrize("name", ["make", "GymVectorEnv", "GymEnv"])
def test_an_environment_needs_neither_docker_nor_cryptography(name):
    assert imported(f"universe_client.{name}", ("docker", "cryptography", "rich")) == []
