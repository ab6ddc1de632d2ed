"""Wrappers: each changes one thing about an environment, and passes the rest on."""

from wrappers.blocking_reset import BlockingReset
from wrappers.logger import Logger
from wrappers.throttle import Throttle
from wrappers.time_limit import TimeLimit
from wrappers.unvectorize import Unvectorize
from wrappers.vision import Vision
from wrappers.wrapper import Wrapper

__all__ = ["BlockingReset", "Logger", "Throttle", "TimeLimit", "Unvectorize", "Vision", "Wrapper"]
