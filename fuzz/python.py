"""Run libFuzzer on one Python parser: `python -m fuzz.python PARSER [FLAG...] [CORPUS...]`, with libFuzzer's flags."""

from __future__ import annotations

import logging
import sys

import atheris

with atheris.instrument_imports(include=["rewarder", "vnc", "universe_client.providers.address"]):
    from fuzz.parsers import PARSERS


def main() -> None:
    """Fuzz until one of libFuzzer's flags or a failing input ends the run."""
    name = sys.argv.pop(1)
    logging.disable()
    atheris.Setup(sys.argv, PARSERS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
