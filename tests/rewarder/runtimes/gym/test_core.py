"""Gymnasium environments as runtimes: keys to actions, seeds, ends, frames."""

import json
import os
import re
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete

from rewarder.runtimes import create
from rewarder.runtimes.gym.core import GymCore
from rewarder.runtimes.gym.keys import key_map
from rewarder.sdk.keys import DOWN, LEFT, RIGHT, SPACE, UP
from rewarder.serving import Serving
from tests.rewarder.remotes import served, wire
from tests.support.remotes.own_envs import own
from vnc.events import KeyEvent

__all__ = ["own"]


class Recorder(gymnasium.Env):
    """Records its actions; ends when the test sets its end."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012

    def __init__(self, space=None, keys=None, limit=None, render_mode=None):
        self.action_space = space or Discrete(3)
        self.observation_space = Dict({"position": Box(-1, 1, (2,)), "lives": Discrete(4)})
        self.actions = []
        self.seeds = []
        if keys is not None:
            self.get_keys_to_action = lambda: keys

    def reset(self, *, seed=None, options=None):
        self.seeds.append(seed)
        self.steps = 0
        return self.seen(), {}

    def step(self, action):
        self.actions.append(action)
        self.steps += 1
        return self.seen(), 0.5, self.steps == 4, False, {}

    def seen(self):
        return {"position": np.array([0.5, -0.5], np.float32), "lives": np.int64(3)}

    def render(self):
        return np.full((20, 30, 3), self.steps, np.uint8)


@pytest.fixture(autouse=True)
def registered():
    gymnasium.register("Recorder-v0", entry_point=Recorder)
    gymnasium.register("Short-v0", entry_point=Recorder, max_episode_steps=2)
    yield
    del gymnasium.registry["Recorder-v0"], gymnasium.registry["Short-v0"]


@pytest.fixture
def opened():
    runtimes = []

    def make(env_id, **options):
        runtimes.append(GymCore(env_id, **options))
        runtimes[-1].open()
        return runtimes[-1]

    yield make
    for runtime in runtimes:
        runtime.close()


def action(env, *keys):
    return key_map(env).action(frozenset(keys))


def test_size_and_fps_are_the_environments_own(opened):
    runtime = opened("gym-core.Recorder-v0")
    assert (runtime.width, runtime.height, runtime.fps) == (30, 20, 25)
    assert opened("gym-core.Recorder-v0", fps=7).fps == 7


def test_cartpole_shows_a_cart_and_pays_for_every_tick(opened):
    runtime = opened("gym-core.CartPole-v1")
    first = runtime.reset("gym-core.CartPole-v1", 3)
    tick = runtime.tick([])
    assert first.frame.shape == (runtime.height, runtime.width, 3) == (400, 600, 3)
    assert runtime.fps == 50
    assert first.frame.min() == 0 and first.frame.max() == 255
    assert (tick.reward, tick.done) == (1.0, False)


def test_a_seed_makes_cartpole_repeatable(opened):
    def episode(seed):
        runtime = opened("gym-core.CartPole-v1")
        runtime.reset("gym-core.CartPole-v1", seed)
        return [runtime.tick([KeyEvent(RIGHT, True)]).frame for _ in range(5)]

    assert np.array_equal(episode(1), episode(1))
    assert not np.array_equal(episode(1), episode(2))


def test_cartpole_without_keys_goes_on_in_the_last_direction():
    keys = key_map(gymnasium.make("CartPole-v1"))
    assert keys.action(frozenset()) == 0
    assert keys.action(frozenset((RIGHT,))) == 1
    assert keys.action(frozenset()) == 1
    assert keys.action(frozenset((LEFT,))) == 0
    keys.action(frozenset((RIGHT,)))
    keys.reset()
    assert keys.action(frozenset()) == 0


@pytest.mark.parametrize("name", ["MountainCar-v0", "Acrobot-v1"])
def test_a_known_noop_is_what_no_key_means(name):
    env = gymnasium.make(name)
    assert [action(env), action(env, LEFT), action(env, RIGHT)] == [1, 0, 2]


def test_the_environments_own_keys_come_first_and_the_largest_combination_wins():
    own = {(): 0, ("w",): 1, (ord("d"),): 2, ("w", "d"): 3, ("space",): 4}
    env = Recorder(Discrete(5), own)
    assert [action(env), action(env, ord("w")), action(env, ord("d")), action(env, ord(" "))] == [0, 1, 2, 4]
    assert action(env, ord("w"), ord("d")) == action(env, UP, RIGHT) == 3


def test_digits_then_letters_and_arrows_are_the_actions_of_the_rest():
    assert action(Recorder(Discrete(4)), UP) == 3
    assert action(Recorder(Discrete(3, start=5)), ord("1")) == 6
    assert action(Recorder(Discrete(12)), ord("b")) == 11


def test_boxes_move_to_their_bounds_and_back_to_rest():
    env = Recorder(Box(np.array([-2, 0, 1], np.float32), np.array([2, np.inf, 3], np.float32)))
    assert action(env).tolist() == [0, 0, 1]
    assert action(env, LEFT, UP).tolist() == [-2, 1, 1]
    assert action(env, RIGHT, DOWN, ord("d")).tolist() == [2, 0, 3]
    assert action(env, LEFT, RIGHT).tolist() == [0, 0, 1]
    assert env.action_space.contains(action(env, RIGHT))


@pytest.mark.parametrize("space", [MultiBinary(4), MultiDiscrete([3, 3]), Discrete(37)])
def test_actions_that_cannot_be_typed_are_refused(space):
    with pytest.raises(ValueError, match="no keys for"):
        key_map(Recorder(space))


def test_an_unknown_id_is_a_clear_error():
    runtime = create("gym-core.NoSuchGame-v0")
    with pytest.raises(ValueError, match=r"NoSuchGame-v0: .*doesn't exist"):
        runtime.open()


@pytest.mark.parametrize(("name", "frameskip"), [("Mine-v3", 2), ("mine/Deep-v0", 4), ("Own", 4)])
def test_a_users_own_environment_is_hosted_by_module_and_id_or_class(own, opened, name, frameskip):
    env_id = f"gym-core.own_envs.inner:{name}"
    runtime = opened(env_id)
    assert (runtime.width, runtime.height, runtime.fps, runtime.env_ids) == (8, 8, 30, (env_id,))
    assert runtime.reset(env_id, 5).info == {"seed": 5}
    assert runtime.tick([]).info["frameskip"] == frameskip, "its own frameskip is not an Atari game's"


def test_its_info_is_sent_as_far_as_json_can_express_it(own, opened, caplog):
    runtime = opened("gym-core.own_envs.inner:Own")
    for _ in range(3):
        tick = runtime.tick([])
        assert tick.info == {"score": 0.5, "place": [1, 2], "frameskip": 4, "nested": {"at": [3, None]}}
        assert (tick.done, tick.truncated) == (True, False), "an info of this name is not the protocol's"
    assert len(caplog.messages) == 2, "once for each key"
    assert "info 'huge' is left out: 20002 bytes, the limit is 16384" in caplog.text


def test_a_module_that_there_is_not_and_an_id_that_it_lacks_are_one_line(own):
    for name, words in (
        ("no_such_envs:Mine-v3", "no module 'no_such_envs'; add its directory to PYTHONPATH"),
        ("own_envs.no_such:Mine-v3", "no module 'own_envs.no_such'"),
        ("own_envs.inner:Other-v0", "`Other` doesn't exist"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)) as caught:
            create(f"gym-core.{name}").open()
        assert "\n" not in str(caught.value)


async def test_a_module_that_a_client_names_is_not_imported(own):
    async with served(create("gym-core.Recorder-v0")) as (ports, _), wire(ports) as client:
        request = await client.send("v0.env.reset", env_id="gym-core.own_envs.inner:Mine-v3")
        reply = await client.until("v0.reply.error")
    assert reply["headers"]["parent_message_id"] == request
    assert not {"own_envs", "own_envs.inner"} & sys.modules.keys()


@pytest.mark.parametrize(
    ("missing", "env_id", "extra"),
    [
        ("pygame", "gym-core.CartPole-v1", "gym-core"),
        ("ale_py", "gym-core.ALE/Pong-v5", "atari"),
        ("ale_py", "gym-core.PongNoFrameskip-v4", "atari"),
    ],
)
def test_a_package_that_is_missing_is_one_line_that_names_the_extra(tmp_path, missing, env_id, extra):
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules[{missing!r}] = None\n")
    serve = [sys.executable, "-m", "rewarder", json.dumps({"env_id": env_id})]
    path = os.pathsep.join([str(tmp_path), *sys.path])
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(serve, env=os.environ | {"PYTHONPATH": path}, **pipes) as ended:
        complaint = ended.stderr.read()
    package = missing.replace("_", "-")
    what = f"{env_id.removeprefix('gym-core.')}: {package} is not installed"
    advice = f"pip install '.[{extra}]', in a checkout of universe-client"
    assert complaint.splitlines() == [f"rewarder: {what}: {advice}"]
    assert ended.returncode == 2


def test_terminated_is_done_and_a_time_limit_is_truncated(opened):
    def last(env_id):
        runtime = opened(env_id)
        runtime.reset(env_id, None)
        while not (tick := runtime.tick([])).done:
            pass
        return tick

    assert last("gym-core.Recorder-v0").truncated is False
    assert last("gym-core.Short-v0").truncated is True


def test_a_tap_between_two_ticks_is_one_action_and_a_reset_releases(opened):
    runtime = opened("gym-core.Recorder-v0")
    runtime.reset("gym-core.Recorder-v0", 9)
    runtime.tick([KeyEvent(ord("2"), True), KeyEvent(ord("2"), False)])
    runtime.tick([KeyEvent(ord("1"), True)])
    runtime.reset("gym-core.Recorder-v0", None)
    runtime.tick([])
    recorder = runtime._env.unwrapped
    assert recorder.actions == [2, 1, 0]
    assert recorder.seeds[-2:] == [9, None]


def test_observations_are_sent_when_asked_for(opened):
    silent = opened("gym-core.Recorder-v0")
    assert silent.reset("gym-core.Recorder-v0", None).env_observation is None
    telling = create("gym-core.Recorder-v0", Serving(env_observation=True))
    telling.open()
    expected = {"position": [0.5, -0.5], "lives": 3}
    assert telling.reset("gym-core.Recorder-v0", None).env_observation == expected
    assert telling.tick([]).env_observation == expected
    telling.close()


def test_lives_are_told_when_they_change(opened, monkeypatch):
    step = Recorder.step
    monkeypatch.setattr(
        Recorder, "reset", lambda self, **_: (setattr(self, "steps", 0), (None, {"lives": 2}))[1]
    )
    monkeypatch.setattr(
        Recorder, "step", lambda self, action: (*step(self, action)[:4], {"lives": 2 - self.steps // 2})
    )
    runtime = opened("gym-core.Recorder-v0")
    for _ in range(2):
        assert runtime.reset("gym-core.Recorder-v0", None).info == {"lives": 2}
        assert [runtime.tick([]).info for _ in range(4)] == [{}, {"lives": 1}, {}, {"lives": 0}]


def test_an_atari_game_plays_every_frame_of_its_console(opened):
    runtime = opened("gym-core.ALE/Pong-v5")
    assert (runtime.width, runtime.height, runtime.fps) == (160, 210, 60)
    assert runtime.reset("gym-core.ALE/Pong-v5", 1).info == {"lives": 0}
    frame = runtime.tick([]).frame
    assert runtime._env.unwrapped.ale.getEpisodeFrameNumber() == 1
    assert np.array_equal(frame, runtime._env.render())


def test_a_screen_is_rendered_once_where_it_is_the_observation(opened, monkeypatch):
    runtime = opened("gym-core.ALE/Pong-v5")
    runtime.reset("gym-core.ALE/Pong-v5", 1)
    monkeypatch.setattr(type(runtime._env.unwrapped), "render", lambda self: pytest.fail("rendered again"))
    assert runtime.tick([]).frame.shape == (210, 160, 3)


def test_a_frame_that_nobody_sees_is_not_rendered_except_at_the_end(opened):
    unseen, seen = opened("gym-core.CartPole-v1"), opened("gym-core.CartPole-v1")
    for runtime in (unseen, seen):
        runtime.reset(runtime.env_ids[0], 3)
    unseen.frame_wanted = False
    while not (tick := unseen.tick([])).done:
        assert tick.frame is None and seen.tick([]).reward == tick.reward
    assert np.array_equal(tick.frame, seen.tick([]).frame)


def test_a_console_whose_screen_nobody_sees_plays_the_same_game(opened):
    unseen, seen = opened("gym-core.ALE/Breakout-v5"), opened("gym-core.ALE/Breakout-v5")
    for runtime in (unseen, seen):
        runtime.reset(runtime.env_ids[0], 3)
    held = [KeyEvent(SPACE, True)]
    done = False
    while not done:
        for unseen.frame_wanted in (False, False, True):
            tick, expected = unseen.tick(held), seen.tick(held)
            done = tick.done
            assert (tick.reward, tick.info, done) == (expected.reward, expected.info, expected.done)
            if unseen.frame_wanted or done:
                assert np.array_equal(tick.frame, expected.frame)
            else:
                assert tick.frame is None
            if done:
                break
    assert np.array_equal(unseen.reset(unseen.env_ids[0], 4).frame, seen.reset(seen.env_ids[0], 4).frame)


def test_observations_that_are_wanted_are_screens_also_where_no_frame_is(opened):
    runtime = opened("gym-core.ALE/Pong-v5", send_env_observation=True)
    runtime.reset("gym-core.ALE/Pong-v5", 1)
    runtime.frame_wanted = False
    assert np.shape(runtime.tick([]).env_observation) == (210, 160, 3)


def test_small_environments_are_quick():
    assert GymCore("gym-core.CartPole-v1").quick and GymCore("gym-core.ALE/Pong-v5").quick
    assert not GymCore("gym-core.some_module:SomeEnv").quick


def test_what_does_not_render_rgb_is_refused(opened, monkeypatch):
    monkeypatch.setattr(Recorder, "render", lambda self: None)
    with pytest.raises(ValueError, match=r"render\(\) returned"):
        opened("gym-core.Recorder-v0")


async def test_over_the_wire_in_real_time():
    async with served(create("gym-core.Short-v0")) as (ports, _), wire(ports) as client:
        last = await client.until("v0.env.reward", done=True)
        await client.until("v0.env.describe", env_state="running")
    assert last["body"] == {"reward": 0.5, "done": True, "info": {"truncated": True}}
    assert client.messages[-1]["body"] == {
        "env_id": "gym-core.Short-v0",
        "env_state": "running",
        "fps": 25.0,
        "time_scale": 1.0,
    }
