"""The interface of OpenAI Universe: lists with one entry per remote, and None while a remote resets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from universe_client.config import Config
from universe_client.core.remote import Remote
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.providers.provider import Provider
from universe_client.renamed import refuse_old_names
from universe_client.spaces import actions, timed
from universe_client.spaces.events import EventSpace, ObservationSpace
from vnc.events import Event

ObservationN = list[dict[str, Any] | None]
StepResult = tuple[ObservationN, list[float | None], list[bool | None], dict[str, Any]]


@refuse_old_names
class VectorEnv:
    """A vector of remotes that run in real time, whatever the agent does.

    `reset` and `step` do not wait for the network. An observation is None until the remote runs an episode and the
    first complete frame of that episode has arrived. At the end of an episode `done_n[i]` is True once; then the remote
    resets automatically. A remote that fails is reported in its own slot, and the client reconnects to it.

    One thread at a time may use a `VectorEnv`; only `wait`, `close` and `closed` may be called from other threads.
    docs/environment.md describes the whole contract.

    Attributes:
        core: what the environments of this package share. Not public: it may change in any version.

    Example:
        with universe_client.VectorEnv("builtin.NeonDrive-v0", remotes=4) as env:
            observation_n = env.reset()
            while True:
                action_n = [[("KeyEvent", "Left", True)] for _ in observation_n]
                observation_n, reward_n, done_n, info = env.step(action_n)
    """

    def __init__(
        self,
        env_id: str | None = None,
        remotes: int | str | Provider = 1,
        *,
        config: Config | None = None,
        **options: Any,
    ) -> None:
        """Start to connect to the remotes, in the background.

        Args:
            env_id: what the remotes play, such as `"builtin.NeonDrive-v0"`; None leaves the choice to each remote.
            remotes: which remotes: a number of remotes that this process starts (`"embedded:4"` is the same as 4);
                `"process:4"` or `"docker:4"`; addresses such as `"vnc://host:5900+15900,..."` (VNC port, then rewarder
                port); or a `Provider`.
            config: how to treat the remotes; None is `Config()`.
            options: single fields of `Config`, instead of `config`.

        Raises:
            ConfigError: an argument is invalid; the message names it.
        """
        self.core = RemoteVector(env_id, remotes, config=config, **options)

    @property
    def env_id(self) -> str | None:
        """The `env_id` that the environment was made with."""
        return self.core.env_id

    @property
    def config(self) -> Config:
        """How the remotes are treated."""
        return self.core.config

    @property
    def provider(self) -> Provider:
        """Where the remotes come from."""
        return self.core.provider

    @property
    def n(self) -> int:
        """The number of remotes."""
        return self.core.n

    @property
    def remotes(self) -> list[Remote]:
        """The state of each remote, for diagnosis; the attributes may change in any version."""
        return self.core.remotes

    @property
    def unwrapped(self) -> VectorEnv:
        """This environment itself; wrappers have the same property."""
        return self

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return self.core.closed

    @property
    def action_space(self) -> EventSpace:
        """The action of one remote: a list of events on a screen of the first connected remote's size.

        While no remote is connected the size is 1024x768.
        """
        return EventSpace(*self.core.screen_size)

    @property
    def observation_space(self) -> ObservationSpace:
        """The observation of one remote that is running; the screen size is that of `action_space`."""
        return ObservationSpace(*self.core.screen_size)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        mask: Sequence[bool] | None = None,
        env_ids: Sequence[str | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> ObservationN:
        """Ask the remotes for a new episode, and return at once.

        Rewards and ends of the earlier episodes that `step` has not returned yet are dropped. Call it once before the
        first `step`; later calls may be made at any time. The first observations come from `step`.

        Args:
            seed: the seeds of the new episodes: one int, of which remote `i` gets `seed + i`; or `n` entries, of which
                None leaves the seed to that remote.
            mask: `n` bools: which remotes to reset; the others continue their episodes. None resets all. The first
                reset must be of all.
            env_ids: `n` entries: what each remote plays from now on; None, for all or for one, keeps what it plays.
            options: must be None or empty; Gymnasium's environments have this argument.

        Returns:
            `[None] * n`, also for remotes that are not in `mask`.

        Raises:
            ConfigError: a length is not `n`, or `options` has entries.
            LocalStateError: the environment is closed; the first reset has a mask; another thread uses the environment;
                or this process was forked from the one that made it.
        """
        if options:
            raise ConfigError(f"unknown reset options {sorted(options)}")
        self.core.reset(seed=seed, mask=mask, env_ids=env_ids)
        return [None] * self.n

    def step(self, action_n: Sequence[Sequence[object]]) -> StepResult:
        """Send the actions, then return what has arrived since the last step; it is `send` followed by `recv`.

        In real time it does not wait for the remotes. In lock-step it waits until each remote has run one tick
        (1 / fps seconds of its world), and returns exactly that tick's frame and rewards.

        Args:
            action_n: `n` lists of events; see `send`.

        Returns:
            `(observation_n, reward_n, done_n, info)`; see `recv`.

        Raises:
            ConfigError: see `send`. Nothing has been sent.
            LocalStateError: see `recv`.
            RemoteError: with `on_error="raise"`; see `recv`.
        """
        self.send(action_n)
        return self.recv()

    def send(
        self, action_n: Sequence[Sequence[object]], at: float | Sequence[float | None] | None = None
    ) -> None:
        """Send one list of events to each remote, now or at a time.

        Events for a remote whose last observation was None, or whose episode has ended since, are dropped;
        `info["n"][i]["mask.masked.action"]` of the next `recv` counts them. Keys and buttons stay down until an event
        releases them or the episode ends.

        Events with a time are played by a thread that does not need the GIL; `play` describes it. Events replace what
        is planned for their time or later; an empty list replaces nothing.

        Args:
            action_n: `n` lists of events; an empty list sends nothing. An event is a `KeyEvent` or `PointerEvent`, or
                one of the tuples `("KeyEvent", key, down)` and `("PointerEvent", x, y, button_mask)`. `key` is a
                character, the name of an X11 keysym (`"Page_Up"`), a name of Universe (`"pgup"`) or a keysym (int);
                `down` is a bool; `x` and `y` are pixels from the top left corner; bit `k` of `button_mask` is button
                `k + 1` (RFC 6143, sections 7.5.4 and 7.5.5).
            at: when to play them, in seconds of `time.monotonic()`, at most an hour from now: one time, or `n`
                entries, of which None is now. A time that has passed is now.

        Raises:
            ConfigError: a list does not have `n` entries, an entry contains something that is not an event, or a time
                is invalid; the message names the remote. Nothing has been sent.
            LocalStateError: before the first `reset`, after `close`, in a forked process, while another thread uses
                the environment, or with a time in lock-step.
        """
        self.core.check_reset()
        if len(action_n) != self.n:
            raise ConfigError(f"action_n has {len(action_n)} entries for {self.n} remotes")
        parsed = [actions.parse(action, slot) for slot, action in enumerate(action_n)]
        if at is None:
            for index, events in enumerate(parsed):
                self.core.act(index, events)
        else:
            self._send_at(parsed, timed.moments(at, self.n))

    def _send_at(self, parsed: Sequence[Sequence[Event]], at: Sequence[float | None]) -> None:
        self.core.check_timed()
        for index, (events, moment) in enumerate(zip(parsed, at, strict=True)):
            if moment is None:
                self.core.act(index, events)
            elif events:
                self.core.plan(index, [(moment, events)])

    def play(self, sequence_n: Sequence[Sequence[tuple[float, Sequence[object]]] | None]) -> None:
        """Plan events for each remote; they are played at their times while the agent computes.

        A native thread sends each entry, usually within a millisecond, also while the agent holds the GIL. Over TLS and
        with the portable driver, Python's event loop sends them, which needs the GIL. `info["n"][i]["timed.played"]` of
        later `recv`s has the times at which they were sent.

        A sequence replaces what is planned for its first time or later. So do the events of a later `send`. Everything
        that is planned is dropped by `reset`, at the end of the episode, and when the connection is lost: no event is
        played in another episode than the one that the agent saw. If the release of a key or button is dropped that is
        down, it is released, unless the new events contain the same key or, for a button, the pointer.

        Args:
            sequence_n: `n` entries. None leaves the plan of a remote as it is. A list contains pairs of a time and a
                list of events as in `send`. The times do not decrease. They are seconds of `time.monotonic()`
                (CLOCK_MONOTONIC), at most an hour from now; a time that has passed is now. `[(time, [])]` drops what
                is planned for this time or later, and an empty list everything.

        Raises:
            ConfigError: `sequence_n` does not have `n` entries, or one is invalid; the message names the remote.
                Nothing has been planned.
            LocalStateError: in lock-step, and as for `send`.

        Example:
            now = time.monotonic()
            env.play([[(now + 0.1, [("KeyEvent", "Left", True)]), (now + 0.3, [("KeyEvent", "Left", False)])]])
        """
        self.core.check_timed()
        if len(sequence_n) != self.n:
            raise ConfigError(f"sequence_n has {len(sequence_n)} entries for {self.n} remotes")
        parsed = [
            None if sequence is None else timed.parse(sequence, slot)
            for slot, sequence in enumerate(sequence_n)
        ]
        for index, its in enumerate(parsed):
            if its is not None:
                self.core.plan(index, its)

    def recv(self, mask: Sequence[bool] | None = None) -> StepResult:
        """Return what has arrived since the last call: the newest frames, and the sums of all rewards.

        Args:
            mask: `n` bools: which remotes to look at. What the others have is kept for later calls; their entries are
                None, 0.0, False and an info in which every value is empty. None looks at all.

        Returns:
            `(observation_n, reward_n, done_n, info)`. The first three are lists of `n` entries:

            - `observation_n[i]`: None, or a dict: `"vision"`, a uint8 array of shape (height, width, 3), RGB; `"text"`,
              a list of what the remote sent as text since the last observation; `"instruction"`, the first text of the
              episode or None; with `env_observation=True` also `"env_observation"`, the newest environment
              observation. The array belongs to the caller; with `copy=False` it is a read-only view that the next
              call changes. `info["n"][i]["env_status.reason"]` says why an observation is None.
            - `reward_n[i]`: float, the sum of the rewards since the last call; None for a remote without a rewarder.
            - `done_n[i]`: bool, True once per episode, in the call that returns the episode's last reward. For a remote
              without a rewarder it is None, or True when the connection was lost.
            - `info`: `{"n": [...]}` with one dict per remote. It has the same keys in every call; they are documented
              in `universe_client.core.info.SCHEMA`. Times are in seconds.

        Raises:
            RemoteError: with `on_error="raise"`, the error of the first remote that failed. The results of all remotes
                are kept for the next call. By default errors are reported in `info["n"][i]["error"]`.
            LocalStateError: before the first `reset`, after `close`, in a forked process, or while another thread uses
                the environment.
        """
        slots = self.core.poll(mask, self.config.copy)
        return (
            [slot.observation for slot in slots],
            [slot.reward for slot in slots],
            [slot.done for slot in slots],
            {"n": [slot.info for slot in slots]},
        )

    def wait(self, timeout: float | None = None, forget: bool = False) -> bool:
        """Wait until something has arrived since the last `recv`. It may be called from any thread.

        Args:
            timeout: seconds; None waits without a limit.
            forget: after this call, wait for later arrivals only, even without a `recv` in between.

        Returns:
            Whether something has arrived; also True when the environment is closed.

        Raises:
            LocalStateError: this process was forked from the one that made the environment.
        """
        return self.core.wait(timeout, forget)

    def call(
        self, name: str, *args: Any, indices: int | Sequence[int] | None = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method of the remotes' environments, in all of them at the same time; return the results.

        A remote executes only the names that it allows: `--allow-call NAME` where it is served, the option
        `allowed_calls=("NAME",)` where this process starts it. Arguments and results are JSON values and NumPy arrays
        of numbers. The call waits for each remote to be connected, then for its answer, at most `reset_timeout` seconds
        for each of the two.

        Args:
            name: the name of the method.
            args, kwargs: the arguments of the method.
            indices: which remotes: one index, several, or None for all.

        Returns:
            One result per selected remote, in the order of `indices`.

        Raises:
            Unsupported: a remote does not allow this name.
            CallFailed: the method raised, no answer came in time, or the remote was not connected in time.
            ConfigError: an index is out of range, or an argument cannot be sent.
            LocalStateError: the environment is closed, or this process was forked from the one that made it.
        """
        return self.core.calls.call(name, args, kwargs, indices)

    def get_attr(self, name: str, indices: int | Sequence[int] | None = None) -> list[Any]:
        """Return an attribute of the remotes' environments. See `call` for the arguments and errors.

        Returns:
            One value per selected remote; if the attribute is a method, a function that calls it.
        """
        return self.core.calls.get_attr(name, indices)

    def set_attr(self, name: str, value: Any, indices: int | Sequence[int] | None = None) -> None:
        """Set an attribute of the remotes' environments to `value`. See `call` for the arguments and errors."""
        self.core.calls.set_attr(name, value, indices)

    def callable_names(self, index: int) -> frozenset[str]:
        """Return the names that remote `index` allows `call`, `get_attr` and `set_attr` to use.

        It waits until the remote is connected.

        Raises:
            CallFailed: the remote is not connected within `reset_timeout` seconds, or is closed permanently.
            LocalStateError: the environment is closed, or this process was forked from the one that made it.
        """
        return self.core.calls.callable_names(index)

    def close(self) -> None:
        """Disconnect from the remotes and return them to their provider.

        It may be called several times and from any thread. In a forked process it has no effect: the remotes belong to
        the parent.
        """
        self.core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<VectorEnv {self.env_id or 'any'} n={self.n}>"


def make(env_id: str | None = None, remotes: int | str | Provider = 1, **options: Any) -> VectorEnv:
    """Return a `VectorEnv` over remotes that play `env_id`.

    It returns at once; the remotes start and connect in the background.

    Args:
        env_id: what the remotes play, such as `"builtin.NeonDrive-v0"`; None leaves the choice to each remote.
        remotes: which remotes: a number of remotes that this process starts, `"process:4"`, `"docker:4"`, an address
            such as `"vnc://host:5900+15900"`, or a `Provider`. See `VectorEnv`.
        options: fields of `Config`, such as `mode="lockstep"`, or `config=` with a whole `Config`.

    Returns:
        The environment; close it, or use it as a context manager.

    Raises:
        ConfigError: an argument is invalid; the message names it.

    Example:
        with universe_client.make("builtin.NeonDrive-v0", remotes=4) as env:
            observation_n = env.reset()
    """
    return VectorEnv(env_id, remotes, **options)
