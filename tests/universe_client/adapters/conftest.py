"""The fixtures of the agent's side, on the driver that users get: adapters do not touch the wire."""

from tests.support.fixtures import far_side, scripted
from tests.support.remotes.adapters import driver, open_sb3
from tests.support.remotes.gym import open_gym, three
from tests.support.remotes.served import serve_runtime

__all__ = ["driver", "far_side", "open_gym", "open_sb3", "scripted", "serve_runtime", "three"]
