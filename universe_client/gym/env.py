"""Gymnasium's single face: one remote, whose `reset` waits for the first frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from universe_client.config import Config
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.gym import infos as gym_infos
from universe_client.gym.arguments import asking_for, observation_space, own_spec, remotes_argument
from universe_client.gym.atari import Console, Joystick
from universe_client.gym.env_observations import EnvObservations
from universe_client.gym.rows import Row, Rows
from universe_client.pacer import Pacer
from universe_client.providers.provider import Provider
from universe_client.renamed import refuse_old_names
from universe_client.spaces.action_maps import ActionMap, action_map
from vnc.session import Frame


@refuse_old_names
class GymEnv(gymnasium.Env[Any, Any]):
    """One remote as a `gymnasium.Env`.

    The world does not wait for `step`: it sends the action and returns the newest frame and all rewards since the step
    before. When an episode has ended the remote begins the next one by itself: a `reset()` right after it, without a
    seed, waits for that one; any other `reset` asks for a new one. `universe_client.core.info` describes the info.

    Example:
        env = gymnasium.make("universe/NeonDrive-v0", step_rate=15)
        observation, info = env.reset()
        while True:
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
            if terminated or truncated:
                observation, info = env.reset()
    """

    _spec: EnvSpec | None = None
    _frameskip = 1  # a step is a frame; Gymnasium's AtariPreprocessing asks
    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 60}  # noqa: RUF012

    def __init__(
        self,
        env_id: str | None = None,
        remotes: int | str | Provider | None = None,
        *,
        actions: str | Sequence[Any] | ActionMap | None = None,
        observation: Literal["pixels", "dict", "env_observation"] = "pixels",
        step_rate: float | None = None,
        screen_size: tuple[int, int] | None = None,
        render_mode: str | None = "rgb_array",
        config: Config | None = None,
        **options: Any,
    ) -> None:
        """Connect to the remote; the arguments are those of `GymVectorEnv`, for one remote.

        Raises:
            ConfigError: an argument makes no sense, or `remotes` names more than one.
            RemoteError: without `screen_size`: the remote cannot be reached.
        """
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode={render_mode!r} is neither 'rgb_array' nor None")
        self._map = action_map(actions)
        self._pacer = Pacer(step_rate)
        options = asking_for(observation, config, options)
        self.core = RemoteVector(env_id, remotes_argument(remotes, 1), **options)
        try:
            if self.core.n != 1:
                raise ConfigError(f"GymEnv is for one remote, and remotes names {self.core.n}")
            env_observations = EnvObservations(self.core) if observation == "env_observation" else None
            self._rows = Rows(self.core, screen_size, env_observations=env_observations)
            self.observation_space = observation_space(observation, *self._rows.screen_size, env_observations)
            self.action_space = self._map.space(*self._rows.screen_size)
        except BaseException:
            self.core.close()
            raise
        self.render_mode = render_mode
        self.metadata = self.metadata | {"render_fps": step_rate or self.core.config.fps or 60}
        self._lives = 0
        self._is_dict = observation == "dict"
        self._is_lockstep = self.core.config.mode == "lockstep"

    @property
    def spec(self) -> EnvSpec | None:
        """What `gymnasium.make` made it from; deterministic in lock-step."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = own_spec(spec, self._is_lockstep)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Return the first frame of an episode; see the class for which.

        Args:
            seed: of the episode.
            options: accepted as Gymnasium's environments do; they mean nothing.

        Raises:
            ResetTimeout: it took longer than `reset_timeout`.
            RemoteError: the remote cannot come back.
        """
        self._check_open()
        super().reset(seed=seed)
        self._rows.reset([0], seed)
        row = self._rows.await_first([0], must=True)[0]
        self._pacer.restart()
        return self._observe(row), self._info(row)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Send the action, and return what has come since the last step.

        Raises:
            ConfigError: the action is not in the space.
            ResetNeeded: there is no episode: before the first `reset`, or after the end of one.
        """
        self._check_open()
        if self._rows.awaiting[0]:
            raise ResetNeeded("step() outside of an episode: call reset() first")
        self._rows.send(0, self._map.events(action, self.core.remotes[0].link.held, self._rows.screen_size))
        self._pacer.wait()
        row = self._rows.look([0])[0]
        return self._observe(row), row.reward, row.terminated, row.truncated, self._info(row)

    def get_action_meanings(self) -> list[str]:
        """Return the names of joystick actions, as Atari's environments have them.

        Raises:
            AttributeError: the actions are others.
        """
        if not isinstance(self._map, Joystick):
            raise AttributeError(
                "only joystick actions have names: actions=wrappers.gym.atari.joystick([...])"
            )
        return list(self._map.meanings)

    @property
    def ale(self) -> Console:
        """Lives and screen, where wrappers look for them in Atari's environments; joystick actions only."""
        self.get_action_meanings()
        return Console(lambda: self._rows.frames[0], lambda: self._lives)

    def _info(self, row: Row) -> dict[str, Any]:
        told = row.info.get("remote.lives")
        self._lives = told if isinstance(told, int) else self._lives
        return gym_infos.steady(row.info) if self._is_lockstep else row.info

    def _observe(self, row: Row) -> Any:
        if self._rows.env_observations is not None:
            return self._rows.env_observations.rows[0].copy()
        frame: Frame = self._rows.frames[0]
        if self.core.config.copy:
            frame = frame.copy()
        return (
            {"instruction": self._rows.instructions[0], "text": row.text, "vision": frame}
            if self._is_dict
            else frame
        )

    def render(self) -> Any:
        """Return a copy of the newest frame that `step` has seen."""
        self._check_open()
        return None if self.render_mode is None else self._rows.frames[0].copy()

    def close(self) -> None:
        """Hang up, and give the remote back. Idempotent."""
        self._pacer.close()
        self.core.close()

    def _check_open(self) -> None:
        if self.core.closed:
            raise ClosedEnvironmentError("the environment is closed")
