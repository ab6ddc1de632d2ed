"""Tests with RLlib, which needs its own virtual environment (`make test-rllib`); without RLlib pytest skips them."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]
