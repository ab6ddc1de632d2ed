"""Several vectors of remotes as one vector."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import accumulate
from typing import Any, ClassVar

from universe_client.core.remote import Remote
from universe_client.errors import ConfigError
from universe_client.pacer import Pacer
from universe_client.spaces.events import EventSpace
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper, times


class Joint(Wrapper):
    """Concatenates the remotes of several environments into one vector.

    The environments may differ in game, provider and options. Put wrappers that wait (`BlockingReset`, `Throttle`)
    around a `Joint`, not inside it. Actions are checked environment by environment: when one is invalid, the actions
    for the environments before it have been sent already.

    Attributes:
        envs: the environments.

    Example:
        drive = universe_client.make("builtin.NeonDrive-v0", remotes=2)
        cart = universe_client.make("gym-core.CartPole-v1", remotes=2)
        env = Joint([drive, cart])
        observation_n = env.reset()
        observation_n, reward_n, done_n, info = env.step([[]] * 4)
    """

    instead: ClassVar[str] = "one environment per vector"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, envs: Sequence[VectorEnv | Wrapper]) -> None:
        """Join `envs`, whose order is the order of the remotes.

        Args:
            envs: one or more `VectorEnv`s, with or without wrappers.

        Raises:
            ConfigError: `envs` is empty, or one of them is not a `VectorEnv`.
        """
        if not envs:
            raise ConfigError("Joint([]) has no environments")
        for env in envs:
            self._check_face(env)
        self.envs = list(envs)
        ends = list(accumulate(env.n for env in self.envs))
        self._parts = [slice(end - env.n, end) for env, end in zip(self.envs, ends, strict=True)]
        self._n = ends[-1]
        self._changed = threading.Event()
        self.core.follow(self._changed)

    @property
    def n(self) -> int:
        """The number of remotes of all environments."""
        return self._n

    @property
    def gives_lists(self) -> bool:
        """True: results are lists with one entry per remote."""
        return True

    @property
    def unwrapped(self) -> Joint:  # type: ignore[override]  # it has what wrappers ask of a VectorEnv
        """This object."""
        return self

    @property
    def core(self) -> _JointCore:
        """What wrappers use of `VectorEnv.core`."""
        return _JointCore([env.unwrapped for env in self.envs])

    @property
    def remotes(self) -> list[Remote]:
        """The remotes of all environments, in order."""
        return [remote for env in self.envs for remote in env.unwrapped.remotes]

    @property
    def action_space(self) -> EventSpace:
        """The action space of a remote of the first environment."""
        return self.envs[0].unwrapped.action_space

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        mask: Sequence[bool] | None = None,
        **options: Any,
    ) -> list[Any]:
        """Reset the remotes; see `VectorEnv.reset`.

        Args:
            seed: a list with one seed per remote, or an int: remote `i` of this vector receives `seed + i`.
            mask: which remotes to reset, one bool per remote; None for all.
            options: other arguments of `VectorEnv.reset`, lists with one entry per remote.

        Raises:
            ConfigError: a list has the wrong length.
        """
        seeds = range(seed, seed + self.n) if isinstance(seed, int) else seed
        each = {"seed": seeds, "mask": mask, **options}
        for name, values in each.items():
            self._check_length(name, values)
        observation_n: list[Any] = []
        for env, part in zip(self.envs, self._parts, strict=True):
            its = {name: values[part] for name, values in each.items() if values is not None}
            untouched = not any(its.get("mask", [True]))
            observation_n += [None] * env.n if untouched else env.reset(**its)
        return observation_n

    def send(self, action_n: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Send one list of events to each remote, now or at a time; see `VectorEnv.send`."""
        self._check_length("action_n", action_n)
        at_n = at if isinstance(at, Sequence) else [at] * self.n
        self._check_length("at", at_n)
        for env, part in zip(self.envs, self._parts, strict=True):
            env.send(action_n[part], **times(None if at is None else at_n[part]))

    def play(self, sequence_n: Sequence[Any]) -> None:
        """Plan actions with times for each remote; see `VectorEnv.play`."""
        self._check_length("sequence_n", sequence_n)
        for env, part in zip(self.envs, self._parts, strict=True):
            env.play(sequence_n[part])

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results of all environments, concatenated; see `VectorEnv.recv`."""
        self._check_length("mask", mask)
        self._changed.clear()
        observation_n: list[Any] = []
        reward_n: list[Any] = []
        done_n: list[Any] = []
        joint: dict[str, Any] = {}
        info_n: list[Any] = []
        for env, part in zip(self.envs, self._parts, strict=True):
            observations, rewards, dones, info = env.recv(None if mask is None else mask[part])
            observation_n, reward_n, done_n = observation_n + observations, reward_n + rewards, done_n + dones
            info_n += info["n"]
            joint |= info
        return observation_n, reward_n, done_n, joint | {"n": info_n}

    def _check_length(self, name: str, values: Sequence[Any] | None) -> None:
        if values is not None and len(values) != self.n:
            raise ConfigError(f"{name} has {len(values)} entries for {self.n} remotes")

    def wait(self, timeout: float | None = None, forget: bool = False) -> bool:
        """Wait until a remote of any environment has something new; see `VectorEnv.wait`."""
        with ExitStack() as stack:
            for env in self.envs:
                stack.enter_context(env.unwrapped.core.listening)
            changed = self._changed.wait(timeout)
        if forget:
            self._changed.clear()
        return changed

    def close(self) -> None:
        """Close all environments."""
        for env in self.envs:
            env.close()

    def __repr__(self) -> str:
        return f"<Joint {self.envs!r}>"


class _JointCore:
    """The part of `RemoteVector` that wrappers use, over several vectors."""

    def __init__(self, envs: Sequence[VectorEnv]) -> None:
        self._envs = envs

    def follow(self, event: threading.Event) -> None:
        """See `RemoteVector.follow`."""
        for env in self._envs:
            env.core.follow(event)

    def expect_look(self, pacer: Pacer) -> None:
        """See `RemoteVector.expect_look`."""
        for env in self._envs:
            env.core.expect_look(pacer)

    def truncate(self, index: int, reason: str) -> None:
        """See `RemoteVector.truncate`."""
        for env in self._envs:
            if index < env.n:
                env.core.truncate(index, reason)
                return
            index -= env.n
