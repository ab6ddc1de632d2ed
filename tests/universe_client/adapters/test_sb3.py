"""SB3VecEnv: no transition is lost or invented, and calls out of order raise errors."""

from __future__ import annotations

import threading
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor

from tests.support.remotes.adapters import idle, step_until
from tests.support.remotes.agent import set_reset_timeout, wait_until
from tests.support.remotes.gym import values
from tests.support.remotes.remote import HEIGHT, WIDTH, by_hand, press_game
from universe_client import ConfigError
from universe_client.adapters.sb3 import AlreadySteppingError, NotSteppingError, SB3VecEnv
from universe_client.errors import ResetTimeout
from universe_client.spaces.pixel_box import PixelBox
from vnc.events import KeyEvent
from wrappers import FrameStack, GymWrapper, Resize

RIGHT, RIGHT_ACTION = 0xFF53, 2


def any_done(result: Any) -> bool:
    return bool(result[2].any())


# -- steps


def test_a_step_is_what_stable_baselines_takes(three, open_sb3):
    env = open_sb3(*three)
    assert (env.num_envs, env.observation_space) == (3, PixelBox((HEIGHT, WIDTH, 3)))
    assert env.action_space == gymnasium.spaces.Discrete(6)
    assert values(env.reset()) == [1, 1, 1]
    observations, rewards, dones, infos = env.step(np.full(3, RIGHT_ACTION))
    assert three[1].wait_for_events(1) == [KeyEvent(RIGHT, True)]
    assert values(observations) == [1, 1, 1]
    assert (rewards.dtype, dones.dtype) == (np.float32, np.bool_)
    assert [type(info) for info in infos] == [dict] * 3
    assert infos[0]["env_status.episode_id"] == "1"
    assert infos[0]["TimeLimit.truncated"] is False
    assert "error" not in infos[0], "a key without a value is absent"


def test_o1_step_is_step_async_then_step_wait(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    env.step_async(np.full(3, RIGHT_ACTION))
    assert not three[0].events
    observations, *_ = env.step_wait()
    assert three[0].wait_for_events(1) == [KeyEvent(RIGHT, True)]
    assert values(observations) == [1, 1, 1]


def test_o2_calls_out_of_order_are_gymnasiums_errors_under_gym_os2rs_names(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    with pytest.raises(NotSteppingError, match=r"step_wait\(\) without step_async\(\)") as not_stepping:
        env.step_wait()
    env.step_async(idle(env))
    with pytest.raises(AlreadySteppingError, match=r"step_async\(\) before step_wait\(\)") as already:
        env.step_async(idle(env))
    with pytest.raises(AlreadySteppingError):
        env.get_state_info_async([0] * 3, [0] * 3)
    with pytest.raises(NotSteppingError):
        env.get_state_info_wait()
    env.step_wait()
    assert isinstance(already.value, AlreadyPendingCallError)
    assert isinstance(not_stepping.value, NoAsyncCallError)


def test_o3_reset_cancels_a_pending_step(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    env.step_async(np.full(3, RIGHT_ACTION))
    assert values(env.reset()) == [2, 2, 2]
    with pytest.raises(NotSteppingError):
        env.step_wait()
    env.step(idle(env))
    assert not any(remote.events for remote in three), "the cancelled action was never sent"


# -- the ends of episodes


def test_the_done_step_has_the_next_first_frame_and_the_old_last_one(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    for remote in three:
        remote.next_reset()
    three[1].paint(50)
    step_until(env, lambda result: values(result[0])[1] == 50, env.env)
    three[1].reward(2.0)
    three[1].finish(3.0)
    three[1].next_episode()
    wait_until(lambda: str(env.env.core.remotes[1].link.playing) == "2")
    observations, rewards, dones, infos = env.step(idle(env))
    assert values(observations) == [1, 2, 1], "the first frame of the next episode"
    assert rewards.tolist() == [0.0, 5.0, 0.0]
    assert dones.tolist() == [False, True, False]
    assert (infos[1]["terminal_observation"] == 50).all(), "the last frame of the old one"
    assert "terminal_observation" not in infos[0]
    assert infos[1]["TimeLimit.truncated"] is False
    assert infos[1]["env_status.complete.episode_id"] == "1"
    assert env.reset_infos[1]["env_status.episode_id"] == "2"
    assert [remote.resets.qsize() for remote in three] == [0, 0, 0], "the remote began it automatically"
    assert not env.step(idle(env))[2].any()


def test_the_done_step_waits_for_the_first_frame_and_the_others_lose_nothing(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    three[0].finish(1.0)
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(step_until(env, any_done, env.env)))
    thread.start()
    wait_until(lambda: bool(env.env._rows.awaiting[0]))
    three[1].reward(4.0)
    three[1].finish(5.0)
    three[1].next_episode()
    wait_until(lambda: str(env.env.core.remotes[1].link.playing) == "2")
    assert not results
    three[0].next_episode()
    thread.join(60)
    observations, rewards, dones, _ = results[0]
    assert values(observations) == [2, 1, 1]
    assert (rewards.tolist(), dones.tolist()) == ([1.0, 0.0, 0.0], [True, False, False])
    observations, rewards, dones, infos = env.step(idle(env))
    assert values(observations) == [2, 2, 1]
    assert (rewards.tolist(), dones.tolist()) == ([0.0, 9.0, 0.0], [False, True, False])
    assert (infos[1]["terminal_observation"] == 1).all()


def test_every_reward_comes_once_and_in_its_episode(scripted, open_sb3):
    remotes = [scripted(on_input=press_game) for _ in range(3)]
    env = open_sb3(*remotes, step_rate=200)
    env.reset()
    total, returned, episodes = np.zeros(3), np.zeros(3), np.zeros(3)
    number = 0
    while episodes.min() < 3:
        number += 1
        _, rewards, dones, infos = env.step(np.full(3, 1 + number % 2))
        total += rewards
        for row in np.flatnonzero(dones):
            episodes[row] += 1 + infos[row]["env_status.skipped_episodes"]
            returned[row] += infos[row]["episode"]["r"]
            assert total[row] == returned[row] == 15 * episodes[row]
    assert all(3 * 15 <= sum_ <= remote.reward_sum for sum_, remote in zip(total, remotes, strict=True))


def test_a_truncation_is_told_and_the_remote_asked_for_another_episode(three, open_sb3):
    env = open_sb3(*three, max_episode_steps=2)
    env.reset()
    assert not any_done(env.step(idle(env)))
    observations, _, dones, infos = env.step(idle(env))
    assert dones.all()
    assert values(observations) == [2, 2, 2]
    for info in infos:
        assert info["TimeLimit.truncated"] is True
        assert (info["terminal_observation"] == 1).all()
        assert (info["episode"]["r"], info["episode"]["l"]) == (0.0, 2)


def test_a_lost_remote_is_truncated_and_waited_for(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    three[1].stop()
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(step_until(env, any_done, env.env)))
    thread.start()
    wait_until(lambda: bool(env.env._rows.awaiting[1]))
    three[1].start()
    thread.join(60)
    _, _, dones, infos = results[0]
    assert dones.tolist() == [False, True, False]
    assert infos[1]["TimeLimit.truncated"] is True
    assert infos[1]["end_reason"] == "lost"


def test_a_remote_that_stays_away_is_an_error_that_names_it(scripted, open_sb3):
    gone = scripted()
    env = open_sb3(scripted(), gone)
    env.reset()
    set_reset_timeout(env.env.core, 0.5)
    gone.stop()
    with pytest.raises(ResetTimeout, match=rf"1 \(127\.0\.0\.1:{gone.address.vnc.port}"):
        step_until(env, any_done, env.env)


def test_an_episodes_end_brings_what_a_monitor_tells(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    three[2].reward(1.5)
    step_until(env, lambda result: result[1].any(), env.env)
    three[2].finish(2.0)
    three[2].next_episode()
    episode = step_until(env, any_done, env.env)[3][2]["episode"]
    assert episode["r"] == 3.5
    assert episode["l"] >= 2
    assert episode["t"] > 0
    three[2].finish(1.0)
    three[2].next_episode()
    assert step_until(env, any_done, env.env)[3][2]["episode"]["r"] == 1.0, "the count starts again"


# -- what goes around, and what may not


def test_vector_wrappers_go_between(three, open_gym):
    remotes = open_gym(*three, copy=False)
    env = SB3VecEnv(FrameStack(Resize(remotes, width=6, height=4), size=2))
    assert env.observation_space == PixelBox((4, 6, 6))
    first = env.reset()
    three[0].paint(40)
    kept = first.copy()
    step_until(env, lambda result: result[0][0, 0, 0].tolist() == [1] * 3 + [40] * 3, remotes)
    assert (first == kept).all(), "observations are the learner's to keep"
    three[0].finish()
    three[0].next_episode()
    observations, _, _, infos = step_until(env, any_done, remotes)
    assert (observations[0] == 2).all(), "the stack starts again"
    assert (infos[0]["terminal_observation"][..., 3:] == 40).all()
    assert env.env_is_wrapped(Resize) == [True] * 3
    assert env.env_is_wrapped(RecordEpisodeStatistics, indices=[0, 2]) == [False] * 2
    assert env.env_is_wrapped(Monitor, indices=0) == [True], "the work of a Monitor is built in"


def test_what_would_break_its_promises_is_refused(scripted, open_gym):
    with pytest.raises(ConfigError, match="reset_mode='block', not 'mask'"):
        SB3VecEnv(open_gym(scripted(), reset_mode="mask"))
    with pytest.raises(ConfigError, match="autoreset_mode='NextStep'"):
        SB3VecEnv(open_gym(scripted(), autoreset_mode="SameStep"))
    with pytest.raises(ConfigError, match="copy=False"):
        SB3VecEnv(open_gym(scripted(), copy=False))
    with pytest.raises(ConfigError, match="SB3VecEnv is for a GymVectorEnv"):
        SB3VecEnv(gymnasium.make_vec("CartPole-v1", num_envs=2))


# -- seeds, options, close


def test_o5_seed_returns_a_list_and_goes_to_the_next_reset(three, open_sb3):
    env = open_sb3(*three)
    assert list(env.seed(7)) == [7, 8, 9]
    env.reset()
    assert [remote.next_reset().seed for remote in three] == [7, 8, 9]
    env.reset()
    assert [remote.next_reset().seed for remote in three] == [None] * 3, "seeds are used once"
    assert len(set(env.seed(None))) == 3


class Options(GymWrapper):
    """Keeps the options of its last reset."""

    def reset(self, *, seed=None, options=None):
        self.options = options
        return super().reset(seed=seed, options=options)


def test_reset_options_are_free_and_used_once(three, open_gym):
    wrapped = Options(open_gym(*three))
    env = SB3VecEnv(wrapped)
    env.set_options([{"speed": 2}, {}, {}])
    env.reset()
    env.set_options({"speed": 2})
    env.reset()
    assert wrapped.options == {"speed": 2}
    env.reset()
    assert wrapped.options is None


def test_attributes_are_set_as_wrappers_set_them(three, open_sb3):
    env = open_sb3(*three)
    env.env_method("set_wrapper_attr", "level", 3, indices=[0, 2])
    assert env.env_method("has_wrapper_attr", "level") == [True, False, True]
    assert env.env_method("get_wrapper_attr", "level", indices=2) == [3]
    assert env.env_method("set_wrapper_attr", "level", 4, indices=1, force=False) == [False]


def test_a_vec_monitor_warns_of_the_built_in_monitor(three, open_sb3):
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        VecMonitor(VecCheckNan(open_sb3(*three)))


def test_without_the_built_in_monitor_a_vec_monitor_counts(three, open_gym, tmp_path):
    """Warnings are errors here."""
    remotes = open_gym(*three)
    inner = SB3VecEnv(remotes, monitor=False)
    env = VecMonitor(VecCheckNan(inner), str(tmp_path / "log"))
    assert env.env_is_wrapped(Monitor) == [False] * 3
    env.reset()
    three[0].finish(2.5)
    three[0].next_episode()
    _, _, dones, infos = step_until(inner, any_done, remotes)
    assert "episode" not in infos[int(np.flatnonzero(dones)[0])]
    three[1].finish(1.5)
    three[1].next_episode()
    _, _, dones, infos = step_until(env, any_done, remotes)
    assert infos[int(np.flatnonzero(dones)[0])]["episode"]["r"] == 1.5
    env.close()
    env.results_writer.close()


def test_o10_close_is_idempotent_and_final(three, open_sb3):
    env = open_sb3(*three)
    env.reset()
    env.close()
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.step(idle(env))
    with pytest.raises(ClosedEnvironmentError):
        env.reset()


def test_a_reset_that_takes_too_long_names_the_remotes(scripted, open_sb3):
    env = open_sb3(scripted(), scripted(on_reset=by_hand), reset_timeout=0.3)
    with pytest.raises(ResetTimeout, match="no observation within"):
        env.reset()
