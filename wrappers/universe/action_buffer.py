"""Actions with a fixed delay, and observations that contain the actions which are not played yet."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


class ActionBuffer(Wrapper):
    """Plays each action a fixed time after the observation that it is based on, however long the agent has thought.

    An agent needs time between an observation and its action, and the remote does not wait. If that time varies, the
    effect of an action varies too. This wrapper gives every action the same delay. What the agent cannot see in the
    pixels, the actions that are on their way, it finds in the observation: `observation["planned"]` is a list of
    `(at, action)`, oldest first, with the actions as they were given to this wrapper and their times in seconds of
    `time.monotonic()`. With both, the next observation depends on nothing earlier (rtgym calls this `act_buf_len`;
    with steps of `1 / step_rate` seconds the list has about `delay * step_rate` entries).

    An action that comes later than its time is played at once, and counted in `info["action_buffer.late"]`. Actions
    with times of their own (`at`, `play`) keep these times and are in the list too.

    Attributes:
        delay: seconds.
        late: how many actions came too late.

    Example:
        env = Throttle(BlockingReset(universe_client.make("builtin.NeonDrive-v0", remotes=2)), step_rate=30)
        env = ActionBuffer(KeyState(env, [(), "Left", "Right"]), delay=0.1)
        observation_n = env.reset()
        while True:
            observation_n, reward_n, done_n, info = env.step([agent(seen) for seen in observation_n])
    """

    instead: ClassVar[str] = "GymVectorEnv.play"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, delay: float = 0.1) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, with or without wrappers, in real time.
            delay: seconds from an observation to the playing of its action, 0 to 60.

        Raises:
            ConfigError: `delay` is out of range.
        """
        super().__init__(env)
        if not 0 <= delay <= 60:
            raise ConfigError(f"delay={delay!r} is not within 0 to 60 seconds")
        self.delay = delay
        self.late = 0
        self._seen = [-math.inf] * self.n  # when each remote's last observation was received
        self._planned: list[list[tuple[float, Any]]] = [[] for _ in range(self.n)]

    def reset(self, **options: Any) -> list[Any]:
        """Reset the remotes; see `VectorEnv.reset`. The first observations have no planned actions."""
        mask = options.get("mask")
        observation_n: list[Any] = self.env.reset(**options)
        for index in range(self.n):
            if mask is None or mask[index]:
                self._planned[index] = []
        self._see(observation_n, None)
        return [self._with_planned(index, seen) for index, seen in enumerate(observation_n)]

    def send(self, action_n: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Plan one action for each remote: for its own time `at`, or `delay` seconds after the last observation.

        An empty list or None plans nothing.
        """
        if len(action_n) != self.n:
            raise ConfigError(f"action_n has {len(action_n)} entries for {self.n} remotes")
        own = list(at) if isinstance(at, Sequence) else [at] * self.n
        now = time.monotonic()
        sequences: list[Any] = [None] * self.n
        late = 0
        for index, (action, moment) in enumerate(zip(action_n, own, strict=True)):
            if action is None or (isinstance(action, list | tuple) and not action):
                continue
            due = self._seen[index] + self.delay if moment is None else moment
            late += moment is None and due < now
            sequences[index] = [(max(due, now), action)]
        self.play(sequences)
        self.late += late

    def play(self, sequence_n: Sequence[Any]) -> None:
        """Plan sequences of actions; see `VectorEnv.play`. They are in the next observations."""
        self.env.play(sequence_n)
        for index, sequence in enumerate(sequence_n):
            if sequence is not None:
                first = sequence[0][0] if sequence else -math.inf
                kept = [entry for entry in self._planned[index] if entry[0] < first]
                self._planned[index] = [*kept, *sequence]

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results, with the planned actions in the observations; see the class and `VectorEnv.recv`."""
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        self._see(observation_n, mask)
        observation_n = [self._with_planned(index, seen) for index, seen in enumerate(observation_n)]
        return observation_n, reward_n, done_n, info | {"action_buffer.late": self.late}

    def _see(self, observation_n: Sequence[Any], mask: Sequence[bool] | None) -> None:
        now = time.monotonic()
        for index, seen in enumerate(observation_n):
            if mask is None or mask[index]:
                self._seen[index] = now
                is_running = seen is not None
                self._planned[index] = [
                    entry for entry in self._planned[index] if is_running and entry[0] > now
                ]

    def _with_planned(self, index: int, observation: Any) -> Any:
        return None if observation is None else {**observation, "planned": list(self._planned[index])}
