"""Gymnasium's vector face: dense arrays, five results, autoreset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError, ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from universe_client.config import Config
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.gym import infos as gym_infos
from universe_client.gym.arguments import (
    asking_for,
    autoreset,
    check_count,
    check_fill,
    observation_space,
    own_spec,
    remotes_argument,
    reset_mask,
    single_spec,
)
from universe_client.gym.attributes import RemoteAttributes, RemoteFacade
from universe_client.gym.env_observations import EnvObservations
from universe_client.gym.rows import Row, Rows
from universe_client.gym.tile import tile
from universe_client.pacer import Pacer
from universe_client.providers.provider import Provider
from universe_client.renamed import refuse_old_names
from universe_client.spaces.action_maps import ActionMap, action_map
from vnc.session import Frame

Bools = NDArray[np.bool_]
Rewards = NDArray[np.float64]
StepResult = tuple[Any, Rewards, Bools, Bools, dict[str, Any]]


@refuse_old_names
class GymVectorEnv(RemoteAttributes):
    """Remotes as a `gymnasium.vector.VectorEnv`.

    The world does not wait for `step`: it sends the actions and returns the newest frames and all rewards since the
    step before. An episode's end is told by the step that delivers its last reward, with its last frame; the next step
    of that row ignores the action and returns the next episode's first frame, reward 0. With `reset_mode="block"` it
    waits for that frame; with `"mask"` nothing ever waits: rows that reset keep their last frame (or are `fill`ed),
    their reward is 0 and `infos["resetting"]` says so. That is Gymnasium's autoreset `"NextStep"`; see
    `autoreset_mode` for the others.

    `send` and `recv` are the halves of a step, for some of the rows if one likes. infos are described in
    `universe_client.gym.infos`. docs/gymnasium.md has the whole contract.

    Attributes:
        core: the remotes. Not public: it may change in any version.
        copy: whether observations are the caller's to keep; otherwise they are the one array that is lent every time.
        reset_mode: whether a reset is waited for.
        autoreset_mode: a `gymnasium.vector.AutoresetMode`.
        facades: what `call`, `get_attr` and `set_attr` go to, one per remote.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=15)
        observations, infos = env.reset(seed=1)
        while True:
            actions = env.action_space.sample()
            observations, rewards, terminations, truncations, infos = env.step(actions)
    """

    _spec: EnvSpec | None = None
    metadata: dict[str, Any] = {  # noqa: RUF012  (Gymnasium's name and type)
        "render_modes": ["rgb_array", "rgb_array_tiled"],
        "render_fps": 60,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        env_id: str | None = None,
        remotes: int | str | Provider | None = None,
        *,
        num_envs: int = 1,
        actions: str | Sequence[Any] | ActionMap | None = None,
        observation: Literal["pixels", "dict", "env_observation"] = "pixels",
        reset_mode: Literal["block", "mask"] = "block",
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        fill: int | None = None,
        max_episode_steps: int | None = None,
        step_rate: float | None = None,
        screen_size: tuple[int, int] | None = None,
        letterbox: bool = False,
        render_mode: str | None = "rgb_array",
        config: Config | None = None,
        **options: Any,
    ) -> None:
        """Connect to the remotes; without `screen_size` wait until they have told the size of theirs.

        Args:
            env_id, remotes, config, options: as for `universe_client.VectorEnv`; `remotes` may also be just
                `"embedded"` or `"process"`.
            num_envs: how many remotes, where `remotes` does not say.
            actions: None for arrow keys and space, a list of key sets, `"events"`, or a map of
                `universe_client.spaces.action_maps`.
            observation: `"pixels"`; `"dict"` for `{"vision": pixels, "text": lists, ...}`; or
                `"env_observation"` for the environment observation, where its space is a Box.
            reset_mode: whether a reset is waited for.
            autoreset_mode: what follows an episode's end, as in `SyncVectorEnv`. `"NextStep"`: the next step returns
                the first frame of the next. `"SameStep"`: the step that ends it waits for that frame; the last one is
                `infos["final_obs"]`. `"Disabled"`: the caller resets by `options={"reset_mask": ...}`.
            fill: the value of all pixels of a row that is resetting; None keeps its last frame. Mask mode only.
            max_episode_steps: truncate longer episodes.
            step_rate: steps per second; None never waits between sending actions and looking.
            screen_size: (width, height) of the remotes' screens, if known beforehand.
            letterbox: allow screens of other sizes: they lie in the top left corner, cut off or on black.
            render_mode: `"rgb_array"` for a tuple of frames, `"rgb_array_tiled"` for one picture of all.

        Raises:
            ConfigError: an argument makes no sense, or the remotes' screens or observation spaces differ.
            RemoteError: without `screen_size`, or for env_observations: a remote cannot be reached, or tells none.
        """
        if reset_mode not in ("block", "mask"):
            raise ConfigError(f"reset_mode={reset_mode!r} is neither 'block' nor 'mask'")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigError(f"render_mode={render_mode!r} is none of {self.metadata['render_modes']}")
        self.autoreset_mode = autoreset(autoreset_mode, reset_mode)
        self._map = action_map(actions)
        self._pacer = Pacer(step_rate)
        options = asking_for(observation, config, options)
        self.core = RemoteVector(env_id, remotes_argument(remotes, num_envs), **options)
        try:
            check_count(num_envs, self.core.n)
            check_fill(fill, reset_mode, self.core.config.copy)
            env_observations = EnvObservations(self.core) if observation == "env_observation" else None
            self._rows = Rows(self.core, screen_size, max_episode_steps, letterbox, env_observations)
            self._make_spaces(observation)
        except BaseException:
            self.core.close()
            raise
        self.num_envs = self.core.n
        self.render_mode = render_mode
        self.metadata = self.metadata | {
            "render_fps": step_rate or self.core.config.fps or 60,
            "autoreset_mode": self.autoreset_mode,
        }
        self.reset_mode, self._fill = reset_mode, fill
        self.copy = self.core.config.copy
        self._is_lockstep = self.core.config.mode == "lockstep"
        self._pending = np.zeros(self.num_envs, np.bool_)
        self._unbegun = np.ones(self.num_envs, np.bool_)  # rows that only a reset can go on with
        self.facades = tuple(
            RemoteFacade(
                self._rows,
                index,
                self.single_action_space,
                self.single_observation_space,
                lambda: single_spec(self.spec),
            )
            for index in range(self.num_envs)
        )

    @property
    def spec(self) -> EnvSpec | None:
        """What `gymnasium.make_vec` made it from; deterministic in lock-step."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = own_spec(spec, self._is_lockstep)

    def _make_spaces(self, observation: str) -> None:
        width, height = self._rows.screen_size
        self.single_observation_space = observation_space(
            observation, width, height, self._rows.env_observations
        )
        self.observation_space = batch_space(self.single_observation_space, self.core.n)
        self.single_action_space = self._map.space(width, height)
        self.action_space = batch_space(self.single_action_space, self.core.n)
        self._is_dict = observation == "dict"

    # -- reset and step -----------------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Ask for new episodes; in block mode return when the first frame of each is there.

        A remote whose episode has ended begins the next by itself: without a seed, that is the one it gets.

        Args:
            seed: of the episodes: one per remote, or one number that remote `i` gets plus `i`.
            options: `{"reset_mask": array of bool}` chooses the remotes. Other options are accepted, as Gymnasium's
                environments do, and mean nothing. The dict is not changed.

        Returns:
            Observations of all rows, infos of those that were reset.

        Raises:
            ArgumentTypeError, ConfigError: the mask is no array of bool, or chooses none.
            ResetTimeout: in block mode, it took longer than `reset_timeout`; the message names the remotes.
            RemoteError: in block mode, a remote cannot come back.
        """
        self._check_idle(range(self.num_envs))
        mask = reset_mask(options, self.num_envs)
        chosen = [int(index) for index in np.flatnonzero(mask)]
        self._rows.reset(chosen, seed)
        self._unbegun[chosen] = False
        self._seed_generators(chosen, seed)
        rows = (
            self._rows.await_first(chosen, must=True)
            if self.reset_mode == "block"
            else self._rows.look(chosen)
        )
        if len(chosen) == self.num_envs:
            self._pacer.restart()
        infos = self._infos([rows[row].info if row in rows else None for row in range(self.num_envs)])
        return self._observe(list(range(self.num_envs)), rows, infos), infos

    def _infos(self, infos: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
        if self._is_lockstep:
            infos = [None if info is None else gym_infos.steady(info) for info in infos]
        return gym_infos.batch(infos)

    def step(self, actions: Any) -> StepResult:
        """Send the actions, and return what has come since the last step; see the class."""
        self._check_idle(range(self.num_envs))
        try:
            self.send(actions)
            return self.recv()
        finally:
            self._pending[:] = False  # after an interruption, too

    def send(self, actions: Any, ids: Sequence[int] | NDArray[np.integer[Any]] | None = None) -> None:
        """Send one action to each remote of `ids` (default: all), and owe their results to `recv`.

        Raises:
            AlreadyPendingCallError: a remote's last action has not been received yet.
            ResetNeeded: before the first reset; without autoreset, a remote's episode has ended.
            ConfigError: an action is not in the space; nothing has been sent.
        """
        rows = self._ids(ids)
        self._check_idle(rows)
        self._check_begun(rows)
        each = list(iterate(self.action_space, actions))
        if len(each) != len(rows):
            raise ConfigError(f"{len(each)} actions for {len(rows)} remotes")
        events = [self._events(row, action) for row, action in zip(rows, each, strict=True)]
        for row, its_events in zip(rows, events, strict=True):
            self._rows.send(row, its_events)
        self._pending[rows] = True

    def _events(self, row: int, action: Any) -> Any:
        try:
            return self._map.events(action, self.core.remotes[row].link.held, self._rows.screen_size)
        except ConfigError as error:
            raise ConfigError(f"remote {row}: {error}") from None

    def recv(self, min_ready: int | None = None, timeout: float | None = None) -> StepResult:
        """Return the results of rows that `send` was called for, those in `infos["env_id"]`, in this order.

        Args:
            min_ready: None returns all of them, as `step` does. A number waits until at least that many rows have
                something new (a frame, the end of an episode, the first frame of one), and returns those that have.
            timeout: of that wait, in seconds; when it is over, whatever is there is returned, be it nothing.

        Raises:
            NoAsyncCallError: nothing has been sent.
            RemoteError: with `on_error="raise"`, what happened to a remote, and ResetTimeout when one stays away.
        """
        self._check_open()
        pending = [int(row) for row in np.flatnonzero(self._pending)]
        if not pending:
            raise NoAsyncCallError("recv() without a send() before it", "recv")
        try:
            if min_ready is None:
                self._pacer.wait()
            else:
                pending = self._rows.await_news(pending, min(min_ready, len(pending)), timeout)
            rows = self._receive(pending)
        finally:
            self._pending[pending] = False
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            return self._begin_anew(pending, rows)
        return self._results(pending, rows)

    def _begin_anew(self, ids: list[int], rows: dict[int, Row]) -> StepResult:
        """Wait for what follows the episodes that ended; return its first frames, and the ends in infos."""
        done = [row for row in ids if rows[row].done]
        if not done:
            return self._results(ids, rows)
        finals = {row: self._row_observation(row, rows[row]) for row in done}
        first = self._rows.await_first(done, must=self.core.config.on_error == "raise")
        shown = {row: replace(rows[row], text=first[row].text, info=first[row].info) for row in first}
        result = self._results(ids, rows | shown)
        result[4]["final_obs"], result[4]["_final_obs"] = gym_infos.column(
            [finals.get(row) for row in ids], object
        )
        result[4]["final_info"] = self._infos([rows[row].info if row in finals else None for row in ids])
        result[4]["_final_info"] = result[4]["_final_obs"].copy()
        return result

    def _receive(self, pending: list[int]) -> dict[int, Row]:
        first: dict[int, Row] = {}
        if self.reset_mode == "block":
            first = self._rows.await_first(pending, must=self.core.config.on_error == "raise")
        return first | self._rows.look([row for row in pending if row not in first])

    def _results(self, ids: list[int], rows: dict[int, Row]) -> StepResult:
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._unbegun[[row for row in ids if rows[row].done]] = True
        infos = self._infos([rows[row].info for row in ids])
        infos["env_id"], infos["_env_id"] = np.array(ids, np.int64), np.ones(len(ids), np.bool_)
        return (
            self._observe(ids, rows, infos),
            np.array([rows[row].reward for row in ids], np.float64),
            np.array([rows[row].terminated for row in ids], np.bool_),
            np.array([rows[row].truncated for row in ids], np.bool_),
            infos,
        )

    def _row_observation(self, row: int, looked: Row) -> Any:
        """Return a copy of what `row` shows."""
        if self._rows.env_observations is not None:
            return self._rows.env_observations.rows[row].copy()
        frame: Frame = self._rows.frames[row].copy()
        told = {"instruction": self._rows.instructions[row], "text": looked.text}
        return {**told, "vision": frame} if self._is_dict else frame

    def _observe(self, ids: list[int], rows: dict[int, Row], infos: dict[str, Any]) -> Any:
        frames, numbers = self._rows.frames, self._rows.frame_numbers(ids)
        if len(ids) < self.num_envs:
            frames = frames[ids]
        elif self.copy or self._fill is not None:
            frames = frames.copy()
        if self._fill is not None:
            empty = [i for i, row in enumerate(ids) if row in rows and rows[row].info[gym_infos.RESETTING]]
            frames[empty], numbers[empty] = self._fill, gym_infos.FILLED
        infos[gym_infos.FRAME_NUMBER] = numbers
        infos[f"_{gym_infos.FRAME_NUMBER}"] = np.ones(len(ids), np.bool_)
        if self._rows.env_observations is not None:
            return self._rows.env_observations.rows[ids]
        if not self._is_dict:
            return frames
        told = tuple(self._rows.instructions[row] for row in ids)
        text = tuple(rows[row].text if row in rows else [] for row in ids)
        return {"instruction": told, "text": text, "vision": frames}

    def _ids(self, ids: Sequence[int] | NDArray[np.integer[Any]] | None) -> list[int]:
        if ids is None:
            return list(range(self.num_envs))
        rows = [int(index) for index in ids]
        if len(set(rows)) != len(rows) or not all(0 <= row < self.num_envs for row in rows):
            raise ConfigError(f"ids {rows} are not different numbers within 0..{self.num_envs - 1}")
        return rows

    def _check_idle(self, rows: Sequence[int]) -> None:
        self._check_open()
        busy = [row for row in rows if self._pending[row]]
        if busy:
            raise AlreadyPendingCallError(f"call recv() first: a step of remotes {busy} is pending", "send")

    def _check_begun(self, rows: Sequence[int]) -> None:
        over = [row for row in rows if self._unbegun[row]]
        if over:
            raise ResetNeeded(
                f"remotes {over} have no episode: call reset(), with a reset_mask of those whose ended"
            )

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("the environment is closed")

    # -- the rest of Gymnasium's interface ----------------------------------------------------------------------

    def render(self) -> Any:
        """Return the newest frames that `step` has seen, copied; see `render_mode`."""
        self._check_open()
        if self.render_mode is None:
            raise ConfigError("render() needs a render_mode")
        frames: Frame = self._rows.frames.copy()
        return tile(frames) if self.render_mode == "rgb_array_tiled" else tuple(frames)

    def close_extras(self, **kwargs: Any) -> None:
        """Hang up, and give every remote back."""
        self._pacer.close()
        self.core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
