"""The packages that recordings need beyond those of the agent."""

from __future__ import annotations

from importlib.util import find_spec

from universe_client.errors import ConfigError

_PACKAGES = ("av", "mcap", "pyarrow")


def require() -> None:
    """Raise ConfigError if a package is missing."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        names = ", ".join(missing)
        raise ConfigError(f"recordings need {names}: pip install '.[record]' in a checkout")
