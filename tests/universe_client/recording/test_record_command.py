"""`universe-client record --run`: a recording of what somebody else plays."""

import threading

import pytest

from tests.support.remotes.agent import until_running
from tests.support.remotes.remote import frame
from universe_client.cli.commands.record_run import record
from universe_client.cli.main import main
from universe_client.recording.reading import Recording


def address_of(remote):
    address = remote.address
    return f"vnc://127.0.0.1:{address.vnc.port}+{address.rewarder.port}"


def test_frames_and_rewards_of_another_agent_are_recorded(scripted, open_env, tmp_path):
    remote, directory = scripted(), tmp_path / "run"
    player = open_env(remote)
    player.reset()
    until_running(player)
    stop = threading.Event()

    def play():
        value = 0
        while not stop.wait(0.02):
            value += 1
            remote.show(frame(value))
            remote.reward(1.0)

    thread = threading.Thread(target=play)
    thread.start()
    try:
        record(address_of(remote), directory, 3.0)
        seconds = 3.0
        while not (episodes := Recording(directory).episodes) or not episodes[0].frames:
            seconds, directory = 2 * seconds, tmp_path / f"run-{seconds}"  # a slow machine
            assert seconds < 100
            record(address_of(remote), directory, seconds)
    finally:
        stop.set()
        thread.join()
    [episode] = episodes
    assert len(episode.frames) > 1 and episode.score >= 1 and not episode.actions
    assert not remote.events


@pytest.mark.parametrize(
    "options", [[], ["--run", "there", "--out", "file"], ["--run", "there", "--port", "0"]]
)
def test_options_that_contradict_each_other_are_refused(options, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["record", "vnc://127.0.0.1:1", *options]) == 2
    assert "--run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_a_frame_the_command_fails(capsys, tmp_path):
    directory = tmp_path / "run"
    assert main(["record", "vnc://127.0.0.1:1", "--run", str(directory), "--seconds", "1"]) == 1
    assert "0 frames" in capsys.readouterr().err
