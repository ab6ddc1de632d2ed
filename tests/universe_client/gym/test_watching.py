"""The page of an environment: what it shows, and how long it lives."""

import io
import json
import re
from contextlib import closing

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError
from PIL import Image
from websockets.sync.client import connect

import wrappers
from tests.support.remotes.agent import wait_until
from universe_client import GymEnv, GymVectorEnv

ENV_ID = "builtin.NeonDrive-v0"


def socket(url):
    address, token = url.split("/#")
    return connect(f"{address.replace('http', 'ws')}/tiles?token={token}")


def test_the_page_shows_what_step_returns():
    with GymVectorEnv(ENV_ID, num_envs=2, actions=[["Left"], []]) as envs, socket(envs.watch()) as page:
        envs.reset(seed=1)
        shown, state = {}, {}
        while len(shown) < 2 or state["tiles"][0]["held"] != ["Left"]:
            envs.step(np.array([0, 1]))
            message = page.recv(timeout=60)
            if isinstance(message, str):
                state = json.loads(message)
            else:
                shown[message[1]] = np.asarray(Image.open(io.BytesIO(message[2:])))
        assert envs.watch().startswith("http://127.0.0.1:")
    assert [picture.shape for picture in shown.values()] == [(240, 320, 3)] * 2
    assert state["tiles"][1]["held"] == [] and state["tiles"][0]["env"] == ENV_ID


@pytest.mark.parametrize(
    "wrapper", [lambda envs: envs, wrappers.Grey, lambda envs: wrappers.Resize(envs, 80, 60)]
)
def test_the_page_has_whole_frames_which_steps_do_not_change(wrapper):
    with (
        closing(wrapper(GymVectorEnv(ENV_ID, mode="lockstep"))) as envs,
        socket(envs.unwrapped.watch()) as page,
    ):
        envs.reset(seed=1)
        wall = envs.unwrapped._rows.page
        wait_until(lambda: wall.server.is_watched)
        envs.step(np.array([0]))
        [tile] = wall.tiles
        [rendered] = envs.render()
        assert tile.vision.shape == (240, 320, 3) and (tile.vision == rendered).all()
        shown, before = tile.vision, tile.vision.copy()
        envs.step(np.array([0]))
        assert tile.vision is not shown and (shown == before).all()
        while isinstance(message := page.recv(timeout=60), str):
            pass
        assert Image.open(io.BytesIO(message[2:])).size == (320, 240)


def test_nobody_looks_nothing_is_copied():
    with GymVectorEnv(ENV_ID) as envs:
        envs.watch()
        envs.reset(seed=1)
        envs.step(np.array([0]))
        [tile] = envs._rows.page.tiles
        unseen = tile.vision
        envs.step(np.array([0]))
        assert tile.vision is unseen and not unseen.any()


def test_the_page_ends_with_the_environment():
    env = GymEnv(ENV_ID)
    url = env.watch()
    assert env.watch() == url
    with socket(url):
        pass
    env.close()
    with pytest.raises(OSError), socket(url):
        pass
    with pytest.raises(ClosedEnvironmentError):
        env.watch()


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_the_render_mode_for_people_prints_the_address(make, capsys):
    with closing(make("universe/NeonDrive-v0", render_mode="human")) as env:
        [url] = re.findall(r"watch at (http://127\.0\.0\.1:\S+)", capsys.readouterr().err)
        with socket(url):
            pass
        env.reset(seed=1)
        assert env.render_mode == "human" and env.render() is None
