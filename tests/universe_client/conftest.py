"""The fixtures of the agent's side."""

from tests.support.fixtures import driver, far_side, open_env, playing, scripted

__all__ = ["driver", "far_side", "open_env", "playing", "scripted"]
