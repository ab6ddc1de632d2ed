"""The remotes as a vector environment of Gymnasium: arrays with one row per remote, and autoreset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from universe_client.config import Config
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.gym.arguments import (
    autoreset,
    check_batch,
    check_count,
    check_fill,
    environment_options,
    observation_space,
    own_spec,
    remotes_argument,
    reset_mask,
    single_spec,
)
from universe_client.gym.attributes import RemoteAttributes, facades
from universe_client.gym.batch.env_observations import EnvObservations
from universe_client.gym.batch.pending import PendingSteps
from universe_client.gym.batch.receiving import Receiver
from universe_client.gym.batch.results import Results, StepResult
from universe_client.gym.batch.rows import Rows
from universe_client.gym.batch.timed import TimedActions
from universe_client.gym.batch.watching import Watching
from universe_client.pacer import Pacer
from universe_client.providers.provider import Provider
from universe_client.renamed import refuse_old_names
from universe_client.spaces.action_maps import ActionMap, action_map, is_lasting
from vnc.pixels.reduction import Reduction


@refuse_old_names
class GymVectorEnv(Watching, TimedActions, RemoteAttributes):
    """Remotes as a `gymnasium.vector.VectorEnv`: every array has one row per remote.

    The remotes run in real time. `step` sends the actions and returns the newest frames and the sums of the rewards
    since the previous step. The step that returns the last reward of an episode sets `terminations` or `truncations` of
    that row, and its observation is the last frame of the episode. The next step of that row ignores its action, and
    returns the first frame of the next episode and reward 0 (`AutoresetMode.NEXT_STEP`); the argument `autoreset_mode`
    selects Gymnasium's other modes.

    With `reset_mode="block"` a reset waits for that first frame. With `reset_mode="mask"` no call waits: rows that
    reset keep their last frame, their reward is 0, and `infos["resetting"]` is True for them.

    `send` and `recv` are the two halves of `step`; they may serve some of the rows at a time. Infos are described in
    `universe_client.gym.batch.infos`, the contract in docs/gymnasium.md. One thread at a time may use the environment.

    Attributes:
        num_envs: the number of remotes, and of rows.
        single_observation_space, single_action_space: the spaces of one remote.
        observation_space, action_space: the batched spaces.
        metadata: Gymnasium's; `"render_fps"` is `step_rate` or else the remotes' `fps`.
        render_mode: `"rgb_array"`, `"rgb_array_tiled"`, `"human"` or None.
        reset_mode: `"block"` or `"mask"`.
        autoreset_mode: a `gymnasium.vector.AutoresetMode`.
        facades: the targets of `call`, `get_attr` and `set_attr`, one per remote.
        core: the remotes. Not public: it may change in any version.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=15)
        observations, infos = env.reset(seed=1)
        while True:
            actions = env.action_space.sample()
            observations, rewards, terminations, truncations, infos = env.step(actions)
    """

    _spec: EnvSpec | None = None
    metadata: dict[str, Any] = {  # noqa: RUF012  (Gymnasium's name and type)
        "render_modes": ["human", "rgb_array", "rgb_array_tiled"],
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
        """Connect to the remotes; without `screen_size`, wait until each has reported its screen size.

        Args:
            env_id: what the remotes play, such as `"builtin.NeonDrive-v0"`; None leaves the choice to each remote.
            remotes: as for `universe_client.VectorEnv`; also `"embedded"`, `"process"` or `"docker"` without a number.
                None is `"embedded"`.
            num_envs: the number of remotes, if `remotes` contains none.
            actions: the action space: None for `KeySets()` (arrow keys and space), a list of key sets, `"events"` for
                lists of input events, or an `ActionMap`.
            observation: `"pixels"` for uint8 arrays; `"dict"` for `{"vision": pixels, "text": list, "instruction":
                list}`; or `"env_observation"` for what the remotes' environments themselves return as observations,
                which must be from equal `Box` spaces.
            reset_mode: `"block"` waits for the first frame of an episode, at most `reset_timeout` seconds; `"mask"`
                never waits.
            autoreset_mode: what follows the end of an episode, as a `gymnasium.vector.AutoresetMode` or its value.
                `"NextStep"`: the next step returns the first frame of the next episode. `"SameStep"`: the step that
                ends the episode waits for that frame, and puts the last one into `infos["final_obs"]`. `"Disabled"`:
                the caller resets the row with `options={"reset_mask": ...}`.
            fill: with `reset_mode="mask"`, the value (0 to 255) of all pixels of a row that is resetting; None keeps
                the last frame.
            max_episode_steps: truncate an episode after this number of steps; None does not.
            step_rate: steps per second; `step` waits for its deadline between sending and receiving. None never waits.
            screen_size: (width, height) of all screens in pixels, if known: then nothing waits for the remotes.
            letterbox: accept screens of other sizes. A smaller one lies in the top left corner on black, a larger one
                is cut off at the right and bottom; coordinates stay those of the remote.
            render_mode: what `render` returns: `"rgb_array"` a tuple of frames, `"rgb_array_tiled"` one image of all,
                None nothing. `"human"` prints the address of a page that shows the remotes, as `watch` does.
            config: how to treat the remotes; None is `Config()`.
            options: single fields of `Config`, instead of `config`.

        Raises:
            ConfigError: an argument is invalid, the screens differ in size, or the environment observation spaces
                differ or are no `Box`. The message names the argument or the remotes.
            ArgumentTypeError: an unknown argument.
            RemoteError: without `screen_size` or for environment observations: a remote could not be reached within
                `start_timeout` seconds, or does not send environment observations.
        """
        if reset_mode not in ("block", "mask"):
            raise ConfigError(f"reset_mode={reset_mode!r} is neither 'block' nor 'mask'")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigError(f"render_mode={render_mode!r} is none of {self.metadata['render_modes']}")
        self.autoreset_mode = autoreset(autoreset_mode, reset_mode)
        self._map = action_map(actions)
        self._pacer = Pacer(step_rate)
        options = environment_options(observation, config, options)
        self.core = RemoteVector(env_id, remotes_argument(remotes, num_envs), **options)
        try:
            check_count(num_envs, self.core.n)
            check_fill(fill, reset_mode, self.core.config.copy)
            env_observations = EnvObservations(self.core) if observation == "env_observation" else None
            self._rows = Rows(self.core, screen_size, max_episode_steps, letterbox, env_observations)
            self._results = Results(self._rows, as_dict=observation == "dict", fill=fill)
            self._observation = observation
            self._make_spaces()
        except BaseException:
            self.core.close()
            raise
        self.num_envs = self.core.n
        self.metadata = self.metadata | {
            "render_fps": step_rate or self.core.config.fps or 60,
            "autoreset_mode": self.autoreset_mode,
        }
        self.reset_mode = reset_mode
        self._receiver = Receiver(self._rows, self._results, reset_mode == "block", self.autoreset_mode)
        self._is_lockstep = self.core.config.mode == "lockstep"
        self._pending = PendingSteps(self.num_envs)
        self.facades = facades(
            self._rows,
            self.single_action_space,
            self.single_observation_space,
            lambda: single_spec(self.spec),
        )
        self._show(render_mode)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec that `gymnasium.make_vec` used; `nondeterministic` is False in lock-step."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = own_spec(spec, self._is_lockstep)

    def _make_spaces(self) -> None:
        shape = self._rows.reduction.shape
        self.single_observation_space = observation_space(
            self._observation, shape, self._rows.env_observations
        )
        self.observation_space = batch_space(self.single_observation_space, self.core.n)
        self.single_action_space = self._map.space(*self._rows.screen_size)
        self.action_space = batch_space(self.single_action_space, self.core.n)

    @property
    def copy(self) -> bool:
        """Whether returned observations belong to the caller; else all calls return the same array, overwritten."""
        return self._results.copy

    @copy.setter
    def copy(self, copy: bool) -> None:
        self._results.copy = copy

    @property
    def reduction(self) -> Reduction | None:
        """Which pictures of the frames the observations are; None if they are no pixels. Not public."""
        return self._rows.reduction if self._rows.env_observations is None else None

    def reduce(self, reduction: Reduction) -> None:
        """Observe smaller pictures from now on: the present `reduction`, reduced further. Not public.

        The wrappers of pixels call it. `render` still returns whole frames.
        """
        self._rows.reduce(reduction)
        self._make_spaces()
        for facade in self.facades:
            facade.observation_space = self.single_observation_space

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes; with `reset_mode="block"` wait for their first frames.

        A remote whose episode has ended starts the next one automatically. A reset of such a row without a seed takes
        that episode; any other reset asks the remote for a new one.

        Args:
            seed: one int, of which remote `i` gets `seed + i`; a sequence of `num_envs` ints or Nones; or None, which
                leaves the seeds to the remotes. It also seeds `np_random` of the rows.
            options: `{"reset_mask": bool array (num_envs,)}` selects the rows to reset; None resets all. Other keys are
                ignored, as Gymnasium's environments do. The dict is not changed.

        Returns:
            `(observations, infos)`: the observations of all rows, as in `recv`, and infos of the rows that were reset.

        Raises:
            ArgumentTypeError: the reset mask is not a numpy array of bool.
            ConfigError: the reset mask has not `num_envs` entries, or selects no row; `seed` has a wrong length.
            AlreadyPendingCallError: results of a `send` have not been received.
            ResetTimeout: with `reset_mode="block"`: a first frame did not arrive within `reset_timeout` seconds.
            RemoteError: with `reset_mode="block"`: a remote failed permanently.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_open()
        self._pending.check_idle(range(self.num_envs))
        chosen = [int(index) for index in np.flatnonzero(reset_mask(options, self.num_envs))]
        self._rows.reset(chosen, seed)
        self._pending.needs_reset[chosen] = False
        self._seed_generators(chosen, seed)
        looked = (
            self._rows.await_first(chosen, must=True)
            if self.reset_mode == "block"
            else self._rows.look(chosen)
        )
        if len(chosen) == self.num_envs:
            self._pacer.restart()
        every = list(range(self.num_envs))
        infos = self._results.infos([looked.get(row) for row in every])
        return self._results.observations(every, looked, infos), infos

    def step(self, actions: Any) -> StepResult:
        """Send the actions, then return what has arrived since the last step: `send` followed by `recv`.

        Args:
            actions: one action per row, from `action_space`.

        Returns:
            `(observations, rewards, terminations, truncations, infos)`; see `recv`.

        Raises:
            ConfigError: an action is not in the space; nothing has been sent.
            ResetNeeded: before the first reset, or, with autoreset disabled, after the end of an episode.
            AlreadyPendingCallError: results of a `send` have not been received.
            RemoteError: with `on_error="raise"`, see `recv`.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_open()
        self._pending.check_idle(range(self.num_envs))
        try:
            self.send(actions)
            return self.recv()
        finally:
            self._pending.is_due[:] = False  # also after an interruption

    def send(self, actions: Any, ids: Sequence[int] | NDArray[np.integer[Any]] | None = None) -> None:
        """Send actions to some of the remotes; `recv` returns the results.

        Args:
            actions: one action per entry of `ids`, batched as in `action_space`.
            ids: the rows, all different; None is all rows in order.

        Raises:
            ConfigError: an action is not in the space, or `ids` are invalid; nothing has been sent.
            AlreadyPendingCallError: the result of an earlier `send` to one of the rows has not been received.
            ResetNeeded: before the first reset, or, with autoreset disabled, after the end of an episode.
            ClosedEnvironmentError: the environment is closed.
        """
        self.send_ticks(actions, ids)

    def send_ticks(
        self, actions: Any, ids: Sequence[int] | NDArray[Any] | None = None, ticks: NDArray[Any] | None = None
    ) -> NDArray[np.int64]:
        """Send actions that last up to `ticks` (k,) ticks of lock-step; return how many it will be. Not public."""
        self._check_open()
        rows = self._pending.rows(ids)
        self._pending.check_idle(rows)
        self._pending.check_reset(rows)
        each = list(iterate(self.action_space, actions))
        if len(each) != len(rows):
            raise ConfigError(f"{len(each)} actions for {len(rows)} remotes: send one action to each")
        events = [self._events(row, action) for row, action in zip(rows, each, strict=True)]
        most = [1] * len(rows) if ticks is None or not is_lasting(self._map) else ticks.tolist()
        ran = [self._rows.send(row, its, each) for row, its, each in zip(rows, events, most, strict=True)]
        self._pending.expect(rows)
        return np.array(ran, np.int64)

    def _events(self, row: int, action: Any) -> Any:
        try:
            return self._map.events(action, self.core.remotes[row].link.held, self._rows.screen_size)
        except ConfigError as error:
            raise ConfigError(f"remote {row}: {error}") from None

    def recv(
        self,
        min_ready: int | None = None,
        timeout: float | None = None,
        *,
        max_ready: int | None = None,
        out: NDArray[Any] | None = None,
    ) -> StepResult:
        """Return the results of rows to which `send` has sent actions; `infos["env_id"]` lists these rows, in order.

        Args:
            min_ready: None returns all of these rows, as `step` does. A number waits until at least that many rows have
                something new (a frame, the end of an episode, the first frame of one), and returns only those rows:
                no row waits for a slower one, or for one that resets.
            timeout: the longest time of that wait in seconds; None has no limit. Afterwards the rows that are ready are
                returned, possibly none. Only for `min_ready`.
            max_ready: return at most this number of rows, those first whose actions were sent first. The others stay
                due. Only for `min_ready`; the same number for both makes batches of one size.
            out: an array for the pixels or environment observations, such as pinned memory: of the dtype and the shape
                of `observation_space`, or with `max_ready` rows. The observations are then `out[:k]`.

        Returns:
            `(observations, rewards, terminations, truncations, infos)` of `k` rows:

            - `observations`: uint8 (k, height, width, 3), RGB. With `observation="dict"` a dict: `"vision"` is that
              array; `"text"` a tuple of `k` lists, what each remote sent as text since its last observation;
              `"instruction"` a tuple of `k` lists with the first text of the episode, or empty. With
              `observation="env_observation"` an array `(k, *space.shape)` of the space's dtype.
            - `rewards`: float64 (k,), sums since the last call.
            - `terminations`, `truncations`: bool (k,); each end of an episode is reported once.
            - `infos`: a dict of arrays (k,), each with a mask `"_key"` of the rows that have a value.

        Raises:
            ConfigError: `max_ready` or `out` is invalid.
            NoAsyncCallError: no results are due: call `send` first.
            RemoteError: with `on_error="raise"`, the error of the first remote that failed, or ResetTimeout. By default
                a failure truncates the episode, and `infos["error"]` has the message.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_open()
        check_batch(self, min_ready, max_ready, out)
        pending = self._pending.due()
        try:
            if min_ready is None:
                self._pacer.wait()
            else:
                ready = self._rows.await_news(pending, min(min_ready, len(pending)), timeout)
                pending = self._pending.oldest(ready, max_ready)
            rows = self._receiver.look(pending)
            self.core.expect_look(self._pacer)
        finally:
            self._pending.is_due[pending] = False
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._pending.needs_reset[[row for row in pending if rows[row].done]] = True
        return self._receiver.result(pending, rows, out)

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("the environment is closed")

    def close_extras(self, **kwargs: Any) -> None:
        """Disconnect from the remotes and return them to their provider. `close` calls it once."""
        self._pacer.close()
        self._rows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
