import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rewarder.display.child import MAX_LINE, Child
from rewarder.display.xdisplay import DisplayError, XDisplay
from rewarder.runtimes import opened, program
from rewarder.runtimes.program import ProgramFailed, ProgramRuntime
from rewarder.serving import Serving
from tests.support.system.processes import Obituary, descendants, session, state
from vnc.client.portable import connect
from vnc.session import VNCAddress

ENV_ID = "process.test"
READY = """echo '{"ready": true}'; """
TIMEOUT = 10


@pytest.fixture(scope="module")
def display():
    with XDisplay(64, 48) as display:
        yield display


@pytest.fixture
def play(display):
    """Return a function that starts a shell script as a remote."""
    opened = []

    def play(script, seed=None):
        runtime = ProgramRuntime(ENV_ID, ["/bin/sh", "-c", script], display)
        opened.append(runtime)
        runtime.reset(ENV_ID, seed)
        return runtime

    yield play
    for runtime in opened:
        runtime.close()


def ticks(runtime, enough):
    """Tick whenever the program prints something, until `enough` of the ticks so far."""
    deadline = time.monotonic() + TIMEOUT
    seen = [runtime.tick([])]
    while not enough(seen):
        assert time.monotonic() < deadline, f"only {seen}"
        if runtime._child is not None:
            select.select(runtime._child.files(), [], [], 0.1)
        seen.append(runtime.tick([]))
    return seen


def until_done(runtime):
    return ticks(runtime, lambda seen: seen[-1].done)


def test_lines_become_rewards_text_observation_and_info(play):
    runtime = play(
        """echo '{"reward": 1.5, "info": {"a": 1}}'; echo 'loading...'; echo '{"reward": 2, "info": {"b": 2}}'
        echo '{"text": "hi"}'; echo '{"observation": [1, 2]}'; echo '{"reward": -0.5, "done": true}'"""
    )
    seen = until_done(runtime)
    assert sum(tick.reward for tick in seen) == 3.0
    assert [tick.text for tick in seen if tick.text is not None] == ["hi"]
    assert [tick.env_observation for tick in seen if tick.env_observation is not None] == [[1, 2]]
    assert {key: value for tick in seen for key, value in tick.info.items()} == {"a": 1, "b": 2}
    assert (seen[-1].done, seen[-1].truncated) == (True, False)


def test_every_text_is_delivered(play):
    runtime = play(
        """echo '{"text": "one"}'; echo '{"text": "two"}'; echo '{"text": "three", "done": true}'"""
    )
    assert [tick.text for tick in until_done(runtime) if tick.text is not None] == ["one", "two", "three"]


def test_what_comes_after_done_is_not_of_this_episode(play):
    runtime = play("""echo '{"reward": 1, "done": true}'; echo '{"reward": 100}'; sleep 60""")
    assert sum(tick.reward for tick in until_done(runtime)) == 1
    runtime.reset(ENV_ID, None)
    assert sum(tick.reward for tick in until_done(runtime)) == 1


def test_truncated_ends_the_episode(play):
    (*_, last) = until_done(play("""echo '{"truncated": true}'; sleep 60"""))
    assert (last.done, last.truncated) == (True, True)


def test_other_output_is_logged(play, caplog):
    caplog.set_level("INFO")
    until_done(
        play(
            """echo 'not json'; echo '{"reward": "much"}'; echo '{"level": "info"}'; echo '{"done": true}'"""
        )
    )
    assert "/bin/sh: not json" in caplog.messages
    assert '/bin/sh: {"level": "info"}' in caplog.messages
    assert any(
        "invalid report: Expected `float`, got `str` - at `$.reward`" in line for line in caplog.messages
    )


def test_hostile_output_is_harmless(play, tmp_path, caplog):
    lines = [
        '{"text": ' + "[" * 30000,
        '{"reward": 1e999}',
        '{"reward": NaN}',
        "\0\x1b[31m",
        '{"done": true}',
    ]
    output = tmp_path / "output"
    output.write_text("\n".join(lines))
    assert sum(tick.reward for tick in until_done(play(f"cat {output}; echo; sleep 60"))) == 0
    assert not any("\x1b" in line or len(line) > 1000 for line in caplog.messages)


def test_a_flood_of_text_waits_in_the_pipe(play):
    runtime = play("""yes '{"text": "again"}'""")
    most, deadline = 0, time.monotonic() + 20
    while most < program.MAX_REPORTS:
        assert time.monotonic() < deadline
        time.sleep(1 / 60)  # what a tick lasts
        runtime.tick([])
        most = max(most, len(runtime._reports))
    assert most < program.MAX_REPORTS + MAX_LINE / 10


def test_the_end_of_the_program_is_the_end_of_the_episode(play):
    (*_, last) = until_done(play(READY + "exit 7"))
    assert (last.done, last.truncated, last.info) == (True, False, {"exit_status": 7})


def test_rewards_of_the_last_moment_count(play):
    seen = until_done(play(READY + """printf '{"reward": 4}\\n{"reward": 2}'; exit 0"""))
    assert sum(tick.reward for tick in seen) == 6 and seen[-1].info == {"exit_status": 0}


def test_it_runs_as_soon_as_a_window_appears(display, play):
    window = Path(__file__).parents[2] / "integration" / "colour_window.py"
    windows = display.client.mapped
    play(f"exec {sys.executable} {window}")
    assert display.client.mapped == windows + 1


def test_without_window_and_report_it_runs_after_a_while(play, monkeypatch, caplog):
    monkeypatch.setattr(program, "READY_TIMEOUT", 0.2)
    assert play("sleep 60").tick([]).done is False
    assert "! /bin/sh: no window after 0.2 s, the episode begins without one" in caplog.messages


def test_a_reset_kills_the_whole_process_group(play):
    runtime = play("sleep 60 & " + READY + "wait")
    old = session(runtime._child.pid)
    assert len(old) == 2
    end = Obituary(old)
    runtime.reset(ENV_ID, None)
    end.wait(60)
    end.close()
    assert len(session(runtime._child.pid)) == 2


def test_what_a_program_leaves_behind_ends_with_it(play):
    runtime = play("sleep 60 & " + READY + "read forever <&0; exit 0")  # stdin is empty: it ends at once
    left = session(runtime._child.pid)
    assert left - {runtime._child.pid}, "no child in the background"
    end = Obituary(left)
    until_done(runtime)
    end.wait(60)
    end.close()


def test_the_environment_is_minimal(play, monkeypatch, display):
    monkeypatch.setenv("SECRET", "canary")
    runtime = play("""for name in $(env | cut -d= -f1); do echo "{\\"info\\": {\\"$name\\": 1}}"; done
        echo "{\\"text\\": \\"$DISPLAY $UNIVERSE_SEED\\", \\"done\\": true}" """, seed=42)  # fmt: skip
    seen = until_done(runtime)
    names = {key for tick in seen for key in tick.info}
    assert {"DISPLAY", "XAUTHORITY", "PATH", "UNIVERSE_SEED"} <= names
    assert "SECRET" not in names
    assert seen[-1].text == f"{display.name} 42"


def test_a_program_that_dies_at_once_is_given_up_with_its_last_words(play, monkeypatch):
    monkeypatch.setattr(program, "FIRST_PAUSE", 0.02)
    began = time.monotonic()
    with pytest.raises(
        ProgramFailed, match=r"ended within 1 s after 5 starts in a row, with status 3(.*\n)+.*no such map"
    ):
        play("echo 'no such map' >&2; exit 3")
    assert time.monotonic() - began > 0.02 * (1 + 2 + 4 + 8)  # it was not a tight loop


def test_short_lives_between_good_ones_are_forgiven(play, tmp_path):
    runtime = play(f"""if [ -e {tmp_path}/again ]; then echo '{{"done": true}}'; sleep 60; fi
        touch {tmp_path}/again; {READY} exit 1""")  # fmt: skip
    until_done(runtime)
    assert runtime._short_lives == 1
    runtime.reset(ENV_ID, None)
    until_done(runtime)
    assert runtime._short_lives == 0


def test_the_end_of_the_display_is_not_the_end_of_an_episode():
    """The program ends with its display; this must not count as a finished episode."""
    window = Path(__file__).parents[2] / "integration" / "colour_window.py"
    with XDisplay(64, 48) as display:
        runtime = ProgramRuntime(ENV_ID, [sys.executable, str(window)], display)
        runtime.reset(ENV_ID, None)
        child = runtime._child
        end = Obituary([child.pid])
        os.kill(display.pid, signal.SIGKILL)
        end.wait(60)
        end.close()
        with pytest.raises(DisplayError, match="is gone"):
            runtime._note_end(child)
        with pytest.raises(DisplayError, match="is gone"):
            runtime.tick([])
        runtime.close()


def test_close_leaves_nothing_and_may_come_twice(play):
    runtime = play("sleep 60 & " + READY + "wait")
    before = descendants(os.getpid())
    group = session(runtime._child.pid)
    runtime.close()
    runtime.close()
    assert descendants(os.getpid()) == before - group


def test_a_missing_program_is_named():
    with pytest.raises(ValueError, match=r"process\.nosuch: program 'nosuch' is not installed"):
        opened("process.nosuch").__enter__()


def test_the_name_in_the_env_id_is_the_program():
    with opened("process.true", Serving(screen_size=(80, 60))) as (runtime, display):
        assert runtime.env_ids == ("process.true",) and runtime._command == ["true"]
        assert asyncio.run(shape_of_screen(display.port)) == (60, 80, 3)


def test_endless_lines_come_in_pieces():
    child = Child(["/bin/sh", "-c", f"head -c {3 * MAX_LINE} /dev/zero | tr '\\0' x"], dict(os.environ))
    lines = []
    deadline = time.monotonic() + TIMEOUT
    while child.stdout.open:
        assert time.monotonic() < deadline
        select.select(child.files(), [], [], 1)
        lines += child.stdout.lines()
        assert len(child.stdout._rest) < MAX_LINE
    assert child.kill() == 0
    assert sum(map(len, lines)) == 3 * MAX_LINE and all(len(line) < 2 * MAX_LINE for line in lines)


def test_the_command_serves_a_program_on_the_port_it_is_given():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serving = {"screen_size": [80, 60], "vnc_port": port, "program": ["/bin/sh", "-c", "sleep 60"]}
    command = [sys.executable, "-m", "rewarder", json.dumps({"env_id": ENV_ID, "serving": serving})]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as remote:
        assert json.loads(remote.stdout.readline())["vnc_port"] == port
        assert asyncio.run(shape_of_screen(port)) == (60, 80, 3)
        end = Obituary(descendants(remote.pid))
        remote.stdin.close()
        assert remote.wait(60) == 0
    end.wait(60)
    end.close()


async def shape_of_screen(port):
    session = await connect(VNCAddress("127.0.0.1", port), on_change=lambda: None)
    await session.close()
    return session.shape


def test_a_stepped_program_runs_in_its_ticks_only_and_goes_on_in_real_time(display):
    runtime = ProgramRuntime(ENV_ID, ["/bin/sh", "-c", READY + "while :; do :; done"], display)
    runtime.stepped = True
    try:
        runtime.reset(ENV_ID, None)
        program = runtime._child.pid
        assert state(program) == "T"
        runtime.tick([])
        assert state(program) == "T"
        runtime.stepped = False
        runtime.tick([])
        assert state(program) != "T"
        runtime.stepped = True
        runtime.tick([])
        assert state(program) == "T"
        runtime.reset(ENV_ID, None)
        assert state(runtime._child.pid) == "T"
    finally:
        runtime.close()


def test_a_stepped_program_that_ends_in_its_tick_ends_the_episode(display):
    runtime = ProgramRuntime(ENV_ID, ["/bin/sh", "-c", READY + "sleep 1.1; exit 7"], display)
    runtime.stepped, runtime.fps = True, 0.5
    try:
        runtime.reset(ENV_ID, None)
        tick = runtime.tick([])
        while not tick.done:
            tick = runtime.tick([])
        assert tick.info == {"exit_status": 7}
    finally:
        runtime.close()
