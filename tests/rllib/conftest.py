"""Tests with RLlib, which has an environment of its own: `make test-rllib`; a plain `pytest` leaves them out."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]
