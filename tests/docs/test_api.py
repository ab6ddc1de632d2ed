"""docs/reference has every public name."""

from __future__ import annotations

import re
from pathlib import Path

import universe_client
import wrappers

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_the_api_page_has_every_public_name():
    page = (REFERENCE / "api.md").read_text()
    documented = set(re.findall(r"^\.\. auto\w+:: universe_client\.(\w+)$", page, re.MULTILINE))
    modules = re.findall(r"^\.\. automodule:: (universe_client\.\S+)$", page, re.MULTILINE)
    public = {name: getattr(universe_client, name) for name in set(universe_client.__all__) - documented}
    missing = [name for name, value in public.items() if getattr(value, "__module__", None) not in modules]
    assert set(missing) == {"__version__", "spaces"}


def test_the_wrappers_page_has_every_wrapper():
    page = (REFERENCE / "wrappers.md").read_text()
    assert set(re.findall(r"^\.\. autoclass:: wrappers\.(\w+)$", page, re.MULTILINE)) == set(wrappers.__all__)
