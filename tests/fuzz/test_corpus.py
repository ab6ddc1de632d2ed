"""The fuzzers' corpus, tried without a fuzzer, and the program that runs the fuzzers."""

from __future__ import annotations

import pytest

from fuzz.__main__ import CORPUS, PYTHON, RUST, Outcome, main, report
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
    assert "unknown target 'nothing'" in capsys.readouterr().err


def test_an_input_that_breaks_a_parser_is_printed_and_how_to_try_it_again(tmp_path, capsys):
    path = tmp_path / "messages.crash-1"
    path.write_bytes(b"\x00{")
    output = "#7\tNEW    cov: 12 ft: 3\nValueError: no\nstat::number_of_executed_units: 1234\n"
    assert not report(Outcome("messages", output, (path,), ended_well=False))
    shown = capsys.readouterr().out
    assert "1,234 inputs,    12 places reached  BROKEN" in shown
    assert "ValueError: no" in shown
    assert r"messages is broken by 2 bytes: b'\x00{'" in shown
    assert f"-m fuzz.python messages {path}" in shown


def test_a_target_that_holds_is_one_line(capsys):
    assert report(Outcome("jpeg", "#7\tDONE   cov: 3\n", (), ended_well=True))
    assert capsys.readouterr().out.count("\n") == 1
