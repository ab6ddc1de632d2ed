"""The packages that recordings need beyond those of the agent."""

from __future__ import annotations

from importlib.util import find_spec

from universe_client.errors import ConfigError

_PACKAGES = {"av": "record", "mcap": "record", "pyarrow": "record", "PIL": "record", "minari": "minari"}
"""Package: the extra that installs it."""


def require(*names: str) -> None:
    """Raise ConfigError if a package of `names` is missing; without names, one that every recording needs."""
    missing = [name for name in names or ("av", "mcap", "pyarrow") if find_spec(name) is None]
    if missing:
        extras = ",".join(dict.fromkeys(_PACKAGES[name] for name in missing))
        raise ConfigError(f"this needs {', '.join(missing)}: pip install '.[{extras}]' in a checkout")
