"""The fuzzers' corpus, tried without a fuzzer, and the program that runs the fuzzers."""

from __future__ import annotations

import pytest

from fuzz.__main__ import CORPUS, PYTHON, RUST, main
from fuzz.parsers import PARSERS


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_no_input_of_the_corpus_breaks_a_python_parser(name):
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs
    for path in inputs:
        PARSERS[name](path.read_bytes())


def test_every_target_has_a_corpus_and_every_corpus_a_target():
    assert sorted(PYTHON) == sorted(PARSERS)
    assert sorted(path.name for path in CORPUS.iterdir()) == sorted(RUST + PYTHON)


def test_an_unknown_target_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "no target is called 'nothing'" in capsys.readouterr().err
