"""One Python parser under libFuzzer: `python -m fuzz.python PARSER [FLAG...] [CORPUS...]`, with libFuzzer's flags."""

from __future__ import annotations

import logging
import sys

import atheris

with atheris.instrument_imports(include=["rewarder", "vnc", "universe_client.providers.address"]):
    from fuzz.parsers import PARSERS


def main() -> None:
    """Fuzz until a flag of libFuzzer's ends it, or an input does."""
    name = sys.argv.pop(1)
    logging.disable()
    atheris.Setup(sys.argv, PARSERS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
