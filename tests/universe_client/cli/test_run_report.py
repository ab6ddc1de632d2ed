"""How a run looks: in terminals of several sizes, and as one line."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console, RenderableType

from universe_client.cli.run_report import RemoteReport, Report, line, picture, summary


def remote(index: int, **changed: object) -> RemoteReport:
    fields = {
        "index": index, "address": f"127.0.0.1:{59000 + index}+{60000 + index}", "state": "running", "task": None,
        "frames_per_second": 59.94, "episodes": 123, "reward": -1234.567, "reaction_time_ms": 123.45, "error": None,
        "version": None,
    }  # fmt: skip
    return RemoteReport(**(fields | changed))


def report(remotes: list[RemoteReport], **changed: object) -> Report:
    fields = {
        "env_id": "builtin.NeonDrive-v0", "seconds": 3599.7, "steps_per_second": 60.0, "frames_per_second": 1918.1,
        "episodes": 3936, "reward": -39506.1, "reaction_time_ms": 123.45, "complaint": None, "remotes": remotes,
    }  # fmt: skip
    return Report(**(fields | changed))


def lines(shown: RenderableType, width: int = 80, height: int = 24) -> list[str]:
    console = Console(file=StringIO(), width=width, height=height, color_system=None)
    console.print(shown)
    return console.file.getvalue().splitlines()


def test_32_remotes_fit_into_80x24_with_all_their_figures():
    remotes = [remote(index, state="first frame" if index == 31 else "running") for index in range(32)]
    shown = lines(picture(report(remotes), 80, 24))
    assert len(shown) < 24, "and the cursor has a line"
    assert max(map(len, shown)) <= 80
    rows = [row.split() for row in shown[2:18]]
    assert rows[0] == [
        "0",
        "running",
        "59.9",
        "123",
        "-1235",
        "123.5",
        "16",
        "running",
        "59.9",
        "123",
        "-1235",
        "123.5",
    ]
    assert rows[-1][-7:] == ["31", "first", "frame", "59.9", "123", "-1235", "123.5"]
    assert "…" not in "".join(shown)
    assert shown[18] == "31 of 32 run, 1918.1 frames/s, 3936 episodes, reward -39506.1, reaction 123.5 ms"


def test_few_remotes_have_their_addresses_and_a_row_of_totals():
    shown = lines(picture(report([remote(0), remote(1)], reward=5.0), 80, 24))
    assert shown[0] == "builtin.NeonDrive-v0: 3600 s, 60.0 steps/s".ljust(len(shown[0]))
    assert "127.0.0.1:59001+60001" in shown[4]
    assert shown[5].split() == ["all", "2", "of", "2", "run", "1918.1", "3936", "+5", "123.5", "ms"]
    assert len(lines(picture(report([remote(0)]), 80, 24))) == 4, "one needs no totals"


@pytest.mark.parametrize(
    ("n", "width", "height"), [(64, 80, 24), (500, 120, 40), (3, 30, 6), (40, 20, 5), (9, 80, 2)]
)
def test_however_many_remotes_and_problems_there_are_the_table_fits(n, width, height):
    remotes = [
        remote(index, state="lost", error=f"remote {index}, connect: " + "refused " * 20)
        for index in range(n)
    ]
    shown = lines(picture(report(remotes), width, height), width)
    assert len(shown) <= max(height, 4)


def test_of_remotes_that_do_not_fit_those_that_do_not_run_are_shown():
    remotes = [remote(index, state="vnc" if index == 99 else "running") for index in range(100)]
    shown = lines(picture(report(remotes), 80, 24))
    assert any("99 vnc" in row for row in shown)
    assert any("and 64 more" in row for row in shown)


def test_what_is_wrong_now_and_what_is_asked_for_stands_below():
    remotes = [remote(index, task="Click on \n OK") for index in range(3)]
    remotes += [remote(3, state="lost", task="Type it", error="remote 3, run: gone " + "far " * 30)]
    remotes += [remote(4, error="remote 4, run: long ago")]
    shown = lines(picture(report(remotes), 80, 24))
    assert (
        shown[-3].startswith("remote 3, run: gone far") and shown[-3].endswith("…") and len(shown[-3]) == 80
    )
    assert [row.strip() for row in shown[-2:]] == ["0-2: Click on OK", "3: Type it"]
    assert "remote 4, run: long ago" in "".join(lines(summary(report(remotes))))


def test_brackets_are_no_markup():
    address = "[fe80::1]:5900+15900"
    shown = lines(picture(report([remote(0, address=address)], env_id="a[bold]b"), 80, 24))
    assert address in shown[3] and "a[bold]b" in shown[0]


def test_a_run_in_one_line():
    told = line(report([remote(0), remote(1, state="lost")], reward=3.0, seconds=12.0))
    assert told == (
        "12 s, 60.0 steps/s; 1 of 2 run, 1918.1 frames/s, 3936 episodes, reward +3, reaction 123.5 ms"
    )
    assert line(report([], complaint="no remote started")).endswith("; no remote started")


def test_of_a_program_that_ended_one_line_is_enough_but_for_the_first():
    words = (
        "remote {}, start: ended with status 1; its last words:\n    Traceback\n    ImportError: no pygame"
    )
    remotes = [remote(index, state="lost", error=words.format(index)) for index in range(2)]
    shown = lines(summary(report(remotes)))
    assert [row.strip() for row in shown[-4:]] == [
        "remote 0, start: ended with status 1; its last words:",
        "Traceback",
        "ImportError: no pygame",
        "remote 1, start: ended with status 1: ImportError: no pygame",
    ]
    shown = lines(picture(report(remotes), 80, 24))
    assert shown[-2].strip() == "remote 0, start: ended with status 1: ImportError: no pygame"


def test_versions_that_differ_stand_below_the_table():
    remotes = [remote(index, version="0.0.9" if index < 3 else "1.0") for index in range(4)]
    for shown in (picture(report(remotes, version="1.0"), 80, 24), summary(report(remotes, version="1.0"))):
        assert lines(shown)[-1].strip() == "0-2: universe-client 0.0.9 there, 1.0 here"
    assert "there" not in lines(summary(report([remote(0)])))[-1], "what is not known does not differ"


def test_a_machine_that_is_too_small_is_named_with_the_number_it_would_do_for():
    slow = [remote(index, machine="this machine", fps=60.0, speed=0.25) for index in range(24)]
    said = "this machine can run about 6 of these remotes at 60 frames/s (24 run at 25%)"
    for shown in (picture(report(slow), 80, 24), picture(report(slow), 120, 40), summary(report(slow))):
        assert said in map(str.strip, lines(shown))
    assert line(report(slow)).endswith("; " + said)


def test_each_slow_machine_has_a_line_and_fast_ones_have_none():
    remotes = [
        remote(0, machine="this machine", fps=60.0, speed=1.0),
        remote(1, machine="this machine", fps=60.0, speed=0.85),
        remote(2, machine="10.0.0.7", speed=0.4),
        remote(3, machine="10.0.0.8", fps=30.0, speed=None),
    ]
    said = [text.strip() for text in lines(summary(report(remotes))) if "can run" in text]
    assert said == ["10.0.0.7 can run no such remote in real time (1 run at 40%)"]
