"""The fixtures of the agent's side."""

from tests.support.fixtures import each_way, far_side, open_env, playing, scripted
from tests.support.network.certificates import authority, identity

__all__ = ["authority", "each_way", "far_side", "identity", "open_env", "playing", "scripted"]
