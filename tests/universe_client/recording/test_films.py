"""Exported films: what is drawn over the pictures, and what plays them."""

import av
import numpy as np
import pytest

import universe_client
from tests.support.remotes.agent import until_running
from universe_client import ConfigError
from universe_client.cli.main import main
from universe_client.recording.films import _Painter, _Row, export
from universe_client.recording.reading import Recording
from universe_client.recording.video import frames
from wrappers import Record


def record(directory, mode, episodes=1):
    with Record(universe_client.make("builtin.NeonDrive-v0", mode=mode), directory) as env:
        env.reset(seed=1)
        until_running(env)
        ends = 0
        while ends < episodes:
            if mode == "realtime":
                env.wait(60, forget=True)
            ends += env.step([[("PointerEvent", 160, 120, 1), ("KeyEvent", "Left", True)]])[2][0]
    return directory


@pytest.fixture(scope="module")
def in_lockstep(tmp_path_factory):
    return record(tmp_path_factory.mktemp("recording") / "run", "lockstep", 2)


@pytest.fixture(scope="module")
def film(in_lockstep, tmp_path_factory):
    out = tmp_path_factory.mktemp("films") / "out"
    return out, export([Recording(in_lockstep)], out, fps=60)


def test_each_episode_is_a_film(in_lockstep, film):
    out, exported = film
    recording = Recording(in_lockstep)
    played = [episode for episode in recording.episodes if episode.frames]
    assert exported.episodes == len(played)
    assert sorted(path.name for path in out.iterdir()) == [
        f"{number:04d}-remote-0.mp4" for number in range(len(played))
    ]
    counts = [sum(1 for _ in frames(path)) for path in sorted(out.iterdir())]
    assert counts == [len(episode.frames) for episode in played] and exported.frames == sum(counts)


def test_a_film_is_for_every_player(film):
    with av.open(str(film[0] / "0000-remote-0.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height, stream.average_rate) == (640, 480, 60)


def test_a_film_shows_the_picture_and_what_was_done(in_lockstep, film):
    recording = Recording(in_lockstep)
    *_, (_, screen) = recording.pictures(recording.episodes[0])
    *_, (_, shown) = frames(film[0] / "0000-remote-0.mp4")
    shown = shown[::2, ::2].astype(int)
    difference = np.abs(shown - screen).mean(axis=2)
    assert difference[60:100].mean() < 12  # where nothing is drawn
    assert difference[:20, :80].mean() > 12  # score and time
    assert difference[-20:, :60].mean() > 12  # the keys and buttons
    assert np.abs(shown[112:129, 152:169] - (255, 180, 84)).sum(axis=2).min() < 60  # the pointer, pressed


def test_a_film_has_the_pace_of_the_remote(tmp_path):
    recording = Recording(record(tmp_path / "run", "realtime"))
    export([recording], tmp_path / "out", fps=10)
    [episode] = [each for each in recording.episodes if each.end_reason]
    seconds = (episode.end - episode.frames[0].time) / 1e9
    assert sum(1 for _ in frames(tmp_path / "out/0000-remote-0.mp4")) == pytest.approx(seconds * 10, abs=1)


@pytest.mark.parametrize("shape", [(17, 33, 3), (480, 641, 3)])
def test_sizes_that_players_reject_are_filled_up(shape):
    painter = _Painter(shape[:2])
    painted = painter.paint(np.zeros(shape, np.uint8), _Row("score 1", ("Left",), (5.0, 5.0), False))
    assert painted.shape == (painter.size[1], painter.size[0], 3)
    assert not (painter.size[0] % 2 or painter.size[1] % 2) and painter.size[1] >= 480


def test_a_screen_that_changes_its_size_keeps_that_of_the_film():
    painter = _Painter((480, 640))
    for shape in ((240, 320, 3), (600, 800, 3)):
        painted = painter.paint(np.full(shape, 99, np.uint8), _Row("", (), None, False))
        assert painted.shape == (480, 640, 3) and (painted[100, 100] == 99).all()


def test_the_command_makes_films(in_lockstep, tmp_path, capsys):
    assert main(["export", str(in_lockstep), "--mp4", str(tmp_path / "out")]) == 0
    assert " films, " in capsys.readouterr().out
    assert main(["export", str(in_lockstep), "--mp4", str(tmp_path / "out")]) == 2
    assert "give a new folder" in capsys.readouterr().err


def test_a_recording_without_pictures_says_so(tmp_path):
    with Record(universe_client.make("builtin.NeonDrive-v0"), tmp_path / "run", video=False) as env:
        env.reset(seed=1)
        until_running(env)
        env.step([[]])
    with pytest.raises(ConfigError, match=r"nothing to export: .*no pictures"):
        export([Recording(tmp_path / "run")], tmp_path / "out")
