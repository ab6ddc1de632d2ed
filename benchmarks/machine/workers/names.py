"""Names that have moved since the commits that are compared with."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def attribute(name: str, *modules: str) -> Any:
    """Return attribute `name` of the first of `modules` that has it.

    Raises:
        ImportError: none has it.
    """
    for module in modules:
        if _exists(module) and hasattr(found := import_module(module), name):
            return getattr(found, name)
    raise ImportError(f"none of {', '.join(modules)} has {name}")


def _exists(module: str) -> bool:
    parent, _, _ = module.rpartition(".")
    if parent and not (_exists(parent) and hasattr(import_module(parent), "__path__")):
        return False
    return find_spec(module) is not None
