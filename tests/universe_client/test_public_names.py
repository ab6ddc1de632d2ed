"""The names that `dir(universe_client)` shows are the public ones, and no others."""

import inspect

import pytest

import universe_client
from universe_client import errors, spaces

PUBLIC = [
    "ActionMap",
    "ArgumentTypeError",
    "AuthError",
    "CallFailed",
    "Config",
    "ConfigError",
    "ConnectError",
    "GymEnv",
    "GymVectorEnv",
    "KeyEvent",
    "LimitExceeded",
    "Limits",
    "LocalStateError",
    "ModelError",
    "NoRoom",
    "PeerLost",
    "PointerEvent",
    "ProtocolError",
    "Provider",
    "ProviderError",
    "RemoteAddress",
    "RemoteError",
    "ResetRejected",
    "ResetTimeout",
    "RewarderAddress",
    "RewarderTimeouts",
    "StepRejected",
    "StepTimeout",
    "Timeouts",
    "UniverseError",
    "Unsupported",
    "VNCAddress",
    "VectorEnv",
    "VectorEnvError",
    "__version__",
    "check_vector_env",
    "chord",
    "click",
    "drag",
    "errors",
    "key",
    "make",
    "move",
    "scroll",
    "spaces",
    "type_text",
]


def test_dir_shows_the_public_names_and_nothing_else():
    assert dir(universe_client) == sorted(PUBLIC)
    assert all(hasattr(universe_client, name) for name in PUBLIC)


def test_every_error_class_is_importable_from_the_top():
    defined = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and value.__module__ == errors.__name__
    }
    assert defined <= set(PUBLIC)


def test_dir_of_the_spaces_shows_the_public_names_and_nothing_else():
    assert dir(spaces) == sorted(spaces.__all__)
    assert all(hasattr(spaces, name) for name in spaces.__all__)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in ("__version__", "errors", "spaces")])
def test_every_public_name_has_a_docstring(name):
    assert inspect.getdoc(getattr(universe_client, name))
