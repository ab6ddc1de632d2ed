"""Gymnasium's vector face: spaces and arrays, the rest of the interface, stock wrappers."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
import time
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import (
    ClipReward,
    FlattenObservation,
    RecordEpisodeStatistics,
    TransformObservation,
)

from tests.support.remotes.gym import any_done, new_value, noop, open_gym, step_until, three, values
from tests.support.remotes.remote import HEIGHT, WIDTH
from tests.support.timing import seconds
from universe_client import ConfigError, GymVectorEnv, LocalStateError
from universe_client.errors import ConnectError
from universe_client.gym.batch import infos as gym_infos
from universe_client.gym.check import check_vector_env
from universe_client.providers.provider import RemoteAddress
from universe_client.spaces.pixel_box import PixelBox
from vnc.events import KeyEvent
from vnc.server.server import VNCServer
from vnc.session import VNCAddress

__all__ = ["open_gym", "three"]
LEFT, RIGHT, UP = 0xFF51, 0xFF53, 0xFF52
RIGHT_ACTION = 2  # of the default key sets


# -- V1, V2, V4, V5, V8: spaces and arrays


def test_v2_observations_and_actions_are_batched_and_in_their_spaces(three, open_gym):
    env = open_gym(*three)
    assert env.num_envs == 3
    assert env.single_observation_space == PixelBox((HEIGHT, WIDTH, 3))
    assert env.observation_space == PixelBox((3, HEIGHT, WIDTH, 3))
    assert env.single_action_space == gymnasium.spaces.Discrete(6)
    assert env.action_space == gymnasium.spaces.MultiDiscrete([6, 6, 6])
    observations, infos = env.reset()
    assert observations in env.observation_space
    assert values(observations) == [1, 1, 1]
    assert isinstance(infos, dict)
    observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
    assert observations in env.observation_space
    assert (rewards.dtype, terminations.dtype, truncations.dtype) == (np.float64, np.bool_, np.bool_)
    assert rewards.shape == terminations.shape == truncations.shape == (3,)


def test_v4_remotes_of_different_resolutions_are_named(scripted, far_side, open_gym):
    server = VNCServer(32, 20)
    far_side.run(server.start(), 60)
    odd = RemoteAddress(VNCAddress("127.0.0.1", server.port))
    with pytest.raises(ConfigError, match=rf"24x16.*remote 0 .* 24x16, remote 1 .*{server.port}.* 32x20"):
        open_gym(scripted(), odd)
    env = open_gym(scripted(), odd, screen_size=(WIDTH, HEIGHT))
    with pytest.raises(ConfigError, match=r"remote 1 .* 32x20"):
        env.reset()
    far_side.run(server.close(), 60)


def test_v4_screens_of_other_sizes_are_letterboxed_if_so_wished(scripted, far_side, open_gym):
    server = VNCServer(WIDTH + 8, HEIGHT - 6)
    far_side.run(server.start(), 60)

    async def show(value: int) -> None:
        server.present(np.full((HEIGHT - 6, WIDTH + 8, 3), value, np.uint8))

    far_side.run(show(40), 60)
    odd = RemoteAddress(VNCAddress("127.0.0.1", server.port))
    env = open_gym(scripted(), odd, letterbox=True, max_episode_steps=3)
    assert env.observation_space == PixelBox((2, HEIGHT, WIDTH, 3))
    observations, _ = env.reset()
    for value in (40, 41, 42):
        far_side.run(show(value), 60)
        observations = step_until(env, lambda result: result[0][1, 0, 0, 0] == value)[-1][0]  # noqa: B023
        assert (observations[1, : HEIGHT - 6] == value).all()
        assert (observations[1, HEIGHT - 6 :] == 0).all()
        assert (observations[0] > 0).all()
    env.close()
    far_side.run(server.close(), 60)


def test_v4_a_screen_that_comes_back_in_another_size_is_fitted(scripted, far_side, open_gym):
    remote = scripted(has_rewarder=False)
    remote.paint(9)
    env = open_gym(remote, letterbox=True)
    assert values(env.reset()[0]) == [9]
    remote.stop_vnc()
    small = VNCServer(WIDTH - 4, HEIGHT - 4)
    far_side.run(small.start(port=remote.address.vnc.port), 60)
    step_until(env, any_done)
    observations, *_ = env.step(noop(env))
    far_side.run(small.close(), 60)
    assert not observations.any(), "a black screen, on black"
    step_until(env, any_done)
    remote.restart_vnc()
    remote.paint(8)
    step_until(env, new_value(0, 8))
    assert env.core.remotes[0].view.frame.base is not None, "frames land in the batch again"


def test_v5_dict_observations_carry_what_the_rewarder_says(three, open_gym):
    env = open_gym(*three, observation="dict")
    observations, _ = env.reset()
    assert observations in env.observation_space
    assert values(observations) == [1, 1, 1]
    three[1].text("well done")
    result = step_until(env, lambda result: result[0]["text"][1])[-1]
    assert result[0] in env.observation_space
    assert result[0]["text"] == ([], ["well done"], [])
    after = env.step(noop(env))[0]
    assert after["text"] == ([], [], [])
    assert after["instruction"] == ([], ["well done"], [])
    assert after in env.observation_space


def test_v8_frames_land_in_one_array_and_are_copied_unless_lent(three, open_gym):
    copied = open_gym(*three)
    kept, _ = copied.reset()
    three[0].paint(70)
    step_until(copied, new_value(0, 70))
    assert values(kept) == [1, 1, 1]
    assert kept.flags.writeable
    copied.close()
    lent = open_gym(*three, copy=False)
    shared, _ = lent.reset()
    assert all(np.shares_memory(remote.view.frame, shared) for remote in lent.core.remotes)
    three[0].paint(77)
    again = step_until(lent, new_value(0, 77))[-1][0]
    assert np.shares_memory(again, shared)
    assert values(shared)[0] == 77


def test_frames_can_be_taken_elsewhere_in_the_middle_of_an_episode(scripted, open_gym):
    env = open_gym(scripted())
    env.reset()
    (remote,) = env.core.remotes
    remote.view.lend(np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    remote.look()
    assert (remote.view.frame == 1).all()


def test_a_screen_known_beforehand_is_not_waited_for(open_gym):
    nobody = RemoteAddress(VNCAddress("127.0.0.1", 1))
    began = time.monotonic()
    env = open_gym(nobody, screen_size=(1024, 768), start_timeout=60.0)
    assert time.monotonic() - began < 10
    assert env.single_observation_space == PixelBox((768, 1024, 3))


def test_without_a_screen_a_remote_that_does_not_answer_is_named(open_gym):
    nobody = RemoteAddress(VNCAddress("127.0.0.1", 1))
    with pytest.raises(ConnectError, match=r"no screen within 0\.3 s") as raised:
        open_gym(nobody, start_timeout=0.3)
    assert "127.0.0.1:1" in str(raised.value)


# -- the rest of the interface


def test_call_get_attr_and_set_attr_reach_the_local_side_by_index(three, open_gym):
    env = open_gym(*three)
    env.reset()
    assert env.get_attr("index") == (0, 1, 2)
    assert env.call("state") == ("running",) * 3
    assert values(env.call("render")) == [1, 1, 1]
    env.set_attr("name", ["a", "b", "c"])
    assert env.get_attr("name") == ("a", "b", "c")
    env.set_attr("level", 4)
    assert env.get_attr("level") == (4, 4, 4)
    with pytest.raises(ConfigError, match="2 values for 3"):
        env.set_attr("level", [1, 2])
    with pytest.raises(AttributeError, match=r"remote 0 has no attribute 'gravity' on this side"):
        env.get_attr("gravity")
    assert str(three[0].address.vnc.port) in env.get_attr("address")[0]


def test_render_gives_a_tuple_or_one_picture(three, open_gym):
    env = open_gym(*three)
    env.reset()
    frames = env.render()
    assert isinstance(frames, tuple)
    assert values(frames) == [1, 1, 1]
    env.close()
    tiled = open_gym(*three, render_mode="rgb_array_tiled")
    tiled.reset()
    assert tiled.render().shape == (2 * HEIGHT, 2 * WIDTH, 3)
    tiled.close()
    blind = open_gym(*three, render_mode=None)
    with pytest.raises(ConfigError, match="render_mode"):
        blind.render()


def test_steps_keep_their_rate(scripted, open_gym):
    env = open_gym(scripted(), step_rate=50)
    env.reset()
    assert seconds(lambda: [env.step(noop(env)) for _ in range(10)]) > 0.17, "faster than the rate"
    assert env.metadata["render_fps"] == 50


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reset_mode": "wait"}, "reset_mode='wait'"),
        ({"render_mode": "window"}, "render_mode='window'"),
        ({"observation": "text"}, "observation='text'"),
        ({"actions": "keys"}, "actions='keys'"),
        ({"actions": [["NoSuchKey"]]}, "NoSuchKey"),
        ({"actions": []}, "no actions"),
        ({"max_episode_steps": 0}, "max_episode_steps=0"),
        ({"step_rate": -1}, "step_rate=-1"),
        ({"num_envs": 2}, "num_envs=2, but remotes names 1"),
        ({"speed": 1}, "unexpected keyword argument 'speed'"),
    ],
)
def test_arguments_that_make_no_sense_are_named(scripted, open_gym, options, message):
    before = set(threading.enumerate())
    with pytest.raises(ConfigError, match=message):
        open_gym(scripted(), **options)
    assert "universe-client" not in {thread.name for thread in set(threading.enumerate()) - before}


def test_it_is_a_context_manager_and_leaves_no_thread(scripted, open_gym):
    before = set(threading.enumerate())
    with open_gym(scripted()) as env:
        env.reset()
    assert env.closed
    assert "universe-client" not in {thread.name for thread in set(threading.enumerate()) - before}


# -- stock wrappers, the checker, other processes


def test_stock_vector_wrappers_work(three, open_gym):
    env = open_gym(*three)
    wrapped = FlattenObservation(ClipReward(RecordEpisodeStatistics(env), min_reward=-1, max_reward=1))
    wrapped = TransformObservation(wrapped, lambda observations: observations // 2)
    wrapped.reset(seed=1)
    three[0].finish(5.0)
    while not any_done(result := wrapped.step(noop(env))):
        env.core.wait(1)
    assert result[1].tolist() == [1.0, 0.0, 0.0]
    assert result[4]["episode"]["r"].tolist() == [5.0, 0.0, 0.0]
    assert result[0].shape == (3, HEIGHT * WIDTH * 3)


def test_record_episode_statistics_takes_a_reset_mask_from_the_options(three, open_gym):
    env = RecordEpisodeStatistics(open_gym(*three))
    env.reset()
    env.reset(options={"reset_mask": np.array([True, False, False])})


def test_record_video_writes_a_film(three, open_gym, tmp_path):
    from gymnasium.wrappers.vector import RecordVideo

    env = RecordVideo(
        open_gym(*three), str(tmp_path / "film"), video_length=5, episode_trigger=lambda n: n == 0
    )
    env.reset()
    for _ in range(8):
        env.step(noop(env))
    env.close()
    (film,) = (tmp_path / "film").glob("*.mp4")
    assert film.stat().st_size > 0


@pytest.mark.parametrize("options", [{}, {"reset_mode": "mask"}, {"observation": "dict"}, {"copy": False}])
def test_the_contract_checker_passes(scripted, open_gym, options):
    def game(remote: Any, events: Any) -> None:
        for event in events:
            if event.down:
                remote.reward(1.0)
            if event == KeyEvent(LEFT, True):
                remote.finish(1.0)
                remote.next_episode()

    env = open_gym(*[scripted(on_input=game) for _ in range(2)], max_episode_steps=20, **options)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    check_vector_env(env, steps=100)


def test_v12_importing_starts_no_thread_and_no_process():
    code = (
        "import threading, universe_client, gymnasium, wrappers\n"
        "assert 'universe/NeonDrive-v0' in gymnasium.registry\n"
        "assert threading.active_count() == 1, threading.enumerate()\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_v12_a_forked_environment_refuses_to_work(scripted, open_gym):
    env = open_gym(scripted())
    env.reset()
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_step_in_a_fork, args=(env,))
    process.start()
    process.join(60)
    assert process.exitcode == 0


def _step_in_a_fork(env: GymVectorEnv) -> None:
    with pytest.raises(LocalStateError, match="forked"):
        env.step(np.zeros(1, np.int64))


def test_every_info_key_of_the_schema_is_batched():
    batched = gym_infos.batch([None, None])
    assert {key for key in batched if not key.startswith("_")} == set(gym_infos.DTYPES)
    assert not any(batched[f"_{key}"].any() for key in gym_infos.DTYPES)
