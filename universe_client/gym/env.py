"""One remote as an environment of Gymnasium; `reset` waits for the first frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from universe_client.config import Config
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.gym.arguments import environment_options, observation_space, own_spec, remotes_argument
from universe_client.gym.atari import Console, Joystick
from universe_client.gym.batch.env_observations import EnvObservations
from universe_client.gym.batch.results import Results
from universe_client.gym.batch.rows import Row, Rows
from universe_client.gym.batch.timed import TimedAction
from universe_client.gym.batch.watching import Watching
from universe_client.pacer import Pacer
from universe_client.providers.provider import Provider
from universe_client.renamed import refuse_old_names
from universe_client.spaces.action_maps import ActionMap, action_map


@refuse_old_names
class GymEnv(Watching, TimedAction, gymnasium.Env[Any, Any]):
    """One remote as a `gymnasium.Env`.

    The remote runs in real time. `step` sends the action and returns the newest frame and the sum of the rewards since
    the previous step. After the end of an episode the remote starts the next one automatically: a `reset()` that
    follows without a seed waits for the first frame of that one; any other `reset` asks for a new episode.

    `universe_client.core.info.SCHEMA` documents the keys of the info. One thread at a time may use the environment.

    Attributes:
        observation_space, action_space: the spaces; see the arguments `observation` and `actions`.
        metadata: Gymnasium's; `"render_fps"` is `step_rate` or else the remote's `fps`.
        render_mode: `"rgb_array"`, `"human"` or None.
        core: the remote. Not public: it may change in any version.

    Example:
        env = gymnasium.make("universe/NeonDrive-v0", step_rate=15)
        observation, info = env.reset()
        while True:
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
            if terminated or truncated:
                observation, info = env.reset()
    """

    _spec: EnvSpec | None = None
    _frameskip = 1  # gymnasium.wrappers.AtariPreprocessing reads it: one step is one frame
    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array"], "render_fps": 60}  # noqa: RUF012

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
        """Connect to the remote; without `screen_size`, wait until it has reported its screen size.

        Args:
            env_id: what the remote plays, such as `"builtin.NeonDrive-v0"`; None leaves the choice to the remote.
            remotes: as for `universe_client.VectorEnv`, for one remote; also `"embedded"`, `"process"` or `"docker"`
                without a number. None is `"embedded"`.
            actions: the action space: None for `KeySets()` (arrow keys and space), a list of key sets, `"events"` for
                lists of input events, or an `ActionMap`.
            observation: `"pixels"` for a uint8 array (height, width, 3), RGB; `"dict"` for `{"vision": pixels,
                "text": list, "instruction": list}`; or `"env_observation"` for what the remote's environment itself
                returns as an observation, which must be from a `Box`.
            step_rate: steps per second; `step` waits for its deadline after it has sent the action. None never waits.
            screen_size: (width, height) of the screen in pixels, if known: then nothing waits for the remote.
            render_mode: `"rgb_array"`; `"human"` to print the address of a page that shows the remote, as `watch` does;
                or None.
            config: how to treat the remote; None is `Config()`.
            options: single fields of `Config`, instead of `config`.

        Raises:
            ConfigError: an argument is invalid, or `remotes` names more than one remote.
            ArgumentTypeError: an unknown argument.
            RemoteError: without `screen_size` or for environment observations: the remote could not be reached within
                `start_timeout` seconds, or does not send environment observations.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigError(f"render_mode={render_mode!r} is none of {self.metadata['render_modes']}")
        self._map = action_map(actions)
        self._pacer = Pacer(step_rate)
        options = environment_options(observation, config, options)
        self.core = RemoteVector(env_id, remotes_argument(remotes, 1), **options)
        try:
            if self.core.n != 1:
                raise ConfigError(
                    f"GymEnv is for one remote, but remotes names {self.core.n}: use GymVectorEnv"
                )
            env_observations = EnvObservations(self.core) if observation == "env_observation" else None
            self._rows = Rows(self.core, screen_size, env_observations=env_observations)
            self._results = Results(self._rows, as_dict=observation == "dict")
            self.observation_space = observation_space(
                observation, self._rows.reduction.shape, env_observations
            )
            self.action_space = self._map.space(*self._rows.screen_size)
        except BaseException:
            self.core.close()
            raise
        self.metadata = self.metadata | {"render_fps": step_rate or self.core.config.fps or 60}
        self._lives = 0
        self._is_lockstep = self.core.config.mode == "lockstep"
        self._show(render_mode)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec that `gymnasium.make` used; `nondeterministic` is False in lock-step."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = own_spec(spec, self._is_lockstep)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode, and wait for its first frame; see the class for which episode.

        Args:
            seed: the seed of the episode, and of `np_random`; None leaves it to the remote.
            options: ignored, as Gymnasium's environments do.

        Returns:
            `(observation, info)`.

        Raises:
            ResetTimeout: the first frame did not arrive within `reset_timeout` seconds.
            RemoteError: the remote failed permanently.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_open()
        super().reset(seed=seed)
        self._rows.reset([0], seed)
        row = self._rows.await_first([0], must=True)[0]
        self._pacer.restart()
        return self._observe(row), self._info(row)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Send the action, and return what has arrived since the last step.

        Args:
            action: an action from `action_space`.

        Returns:
            `(observation, reward, terminated, truncated, info)`. The observation belongs to the caller; with
            `copy=False` its pixels are a view that the next call changes. The reward is the sum since the last step.

        Raises:
            ConfigError: the action is not in the space.
            ResetNeeded: before the first `reset`, or after the end of an episode.
            RemoteError: with `on_error="raise"`: the remote failed. By default a failure truncates the episode, and
                `info["error"]` has the message.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_step()
        self._rows.send(0, self._map.events(action, self.core.remotes[0].link.held, self._rows.screen_size))
        return self._result()

    def _check_step(self) -> None:
        self._check_open()
        if self._rows.awaiting[0]:
            raise ResetNeeded("a step outside of an episode: call reset() first")

    def _result(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._pacer.wait()
        row = self._rows.look([0])[0]
        self.core.expect_look(self._pacer)
        return self._observe(row), row.reward, row.terminated, row.truncated, self._info(row)

    def get_action_meanings(self) -> list[str]:
        """Return the names of the joystick actions, as the environments of the Arcade Learning Environment do.

        Raises:
            AttributeError: the action space is not that of `wrappers.gym.atari.joystick`.
        """
        if not isinstance(self._map, Joystick):
            raise AttributeError(
                "only joystick actions have names: use actions=wrappers.gym.atari.joystick([...])"
            )
        return list(self._map.meanings)

    @property
    def ale(self) -> Console:
        """The lives and the screen, under the name that wrappers for Atari environments use.

        Raises:
            AttributeError: the action space is not that of `wrappers.gym.atari.joystick`.
        """
        self.get_action_meanings()
        return Console(lambda: self._rows.frames[0], lambda: self._lives)

    def _info(self, row: Row) -> dict[str, Any]:
        lives = row.info.get("remote.lives")
        self._lives = lives if isinstance(lives, int) else self._lives
        return self._results.info(row)

    def _observe(self, row: Row) -> Any:
        return self._results.observation(0, row, self.core.config.copy)

    def render(self) -> Any:
        """Return a copy of the newest frame that `step` has returned, uint8 (height, width, 3), RGB.

        With other render modes than `"rgb_array"` it returns None.
        """
        self._check_open()
        return None if self.render_mode != "rgb_array" else self._rows.frames[0].copy()

    def close(self) -> None:
        """Disconnect from the remote and return it to its provider. It may be called several times."""
        self._pacer.close()
        self._rows.close()

    def _check_open(self) -> None:
        if self.core.closed:
            raise ClosedEnvironmentError("the environment is closed")
