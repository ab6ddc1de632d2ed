"""Actions with times, for `GymVectorEnv` and `GymEnv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector.utils import iterate
from numpy.typing import NDArray

from universe_client.core.input.held import HeldInput
from universe_client.errors import ConfigError
from universe_client.gym.batch.pending import PendingSteps
from universe_client.gym.batch.rows import Rows
from universe_client.spaces import timed
from universe_client.spaces.action_maps import ActionMap
from vnc.events import TimedEvents


class TimedActions:
    """The part of `GymVectorEnv` that plans actions."""

    action_space: Space[Any]
    _map: ActionMap
    _rows: Rows
    _pending: PendingSteps

    def play(
        self,
        chunk: Sequence[Any],
        at: float | Sequence[Any] | NDArray[Any],
        ids: Sequence[int] | NDArray[np.integer[Any]] | None = None,
    ) -> None:
        """Plan several actions for some of the remotes; `recv` returns results, as after a `send`.

        A native thread plays the actions at their times while the agent computes; see `VectorEnv.play`, also for what
        they replace. An action lasts until the next one, the last one of the chunk until the next call.

        Args:
            chunk: T batches of actions, each with one action per entry of `ids`, as `send` takes it; none drops what
                is planned.
            at: the times in seconds of `time.monotonic()`, at most an hour from now: of shape (T,), or (T, k) with a
                time for each of the k rows. The times of a row do not decrease.
            ids: the rows, all different; None is all rows in order.

        Raises:
            ConfigError: an action is not in the space, or a time or an id is invalid; nothing has been planned.
            LocalStateError: in lock-step.
            AlreadyPendingCallError, ResetNeeded, ClosedEnvironmentError: as for `send`.

        Example:
            start = time.monotonic() + 0.1  # inference takes this long
            env.play([np.array([1, 1]), np.array([0, 2])], [start, start + 0.05])
            observations, rewards, terminations, truncations, infos = env.recv()
        """
        self._check_open()
        rows = self._pending.rows(ids)
        self._pending.check_idle(rows)
        self._pending.check_reset(rows)
        self._rows.core.check_timed()
        times = _times(at, len(chunk), len(rows))
        batches = [list(iterate(self.action_space, actions)) for actions in chunk]
        if any(len(batch) != len(rows) for batch in batches):
            raise ConfigError(f"a batch of the chunk does not have {len(rows)} actions, one for each remote")
        sequences = [
            [(float(times[step, place]), batch[place]) for step, batch in enumerate(batches)]
            for place in range(len(rows))
        ]
        plans = [
            plan(self._rows, self._map, row, sequence) for row, sequence in zip(rows, sequences, strict=True)
        ]
        for row, entries in zip(rows, plans, strict=True):
            self._rows.plan(row, entries)
        self._pending.expect(rows)

    def _check_open(self) -> None:
        raise NotImplementedError


class TimedAction:
    """The part of `GymEnv` that plans actions."""

    _map: ActionMap
    _rows: Rows

    def play(
        self, chunk: Sequence[Any] | None, at: Sequence[float] | NDArray[Any] = ()
    ) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plan several actions, and return what has arrived since the last step, as `step` does.

        A native thread plays the actions at their times while the agent computes; see `VectorEnv.play`, also for what
        they replace. An action lasts until the next one, the last one of the chunk until the next call. `step` plays
        its action now, and replaces the plan.

        Args:
            chunk: T actions from `action_space`; none drops what is planned; None goes on with the plan.
            at: their times in seconds of `time.monotonic()`, not decreasing, at most an hour from now.

        Returns:
            See `step`. `info["timed.played"]` has what has been played since the last step.

        Raises:
            ConfigError: an action is not in the space, or a time is invalid; nothing has been planned.
            LocalStateError: in lock-step.
            ResetNeeded, RemoteError, ClosedEnvironmentError: as for `step`.

        Example:
            env = gymnasium.make("universe/NeonDrive-v0").unwrapped  # Gymnasium's wrappers have no `play`
            env.reset()
            start = time.monotonic() + 0.1  # inference takes this long
            observation, reward, terminated, truncated, info = env.play([1, 0], [start, start + 0.05])
        """
        self._check_step()
        self._rows.core.check_timed()
        if chunk is not None:
            times = _times(at, len(chunk), 1)[:, 0].tolist()
            self._rows.plan(0, plan(self._rows, self._map, 0, list(zip(times, chunk, strict=True))))
        return self._result()

    def _check_step(self) -> None:
        raise NotImplementedError

    def _result(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        raise NotImplementedError


def plan(
    rows: Rows, actions: ActionMap, row: int, sequence: Sequence[tuple[float, Any]]
) -> list[TimedEvents]:
    """Return the events that lead from what row `row` holds to each of the actions, at their times.

    Raises:
        ConfigError: an action is not in the space, or a time is invalid.
    """
    timed.check_order([at for at, _ in sequence], row)
    gate = rows.core.remotes[row].link.gate
    held = HeldInput.of(gate.held_at(timed.moment(sequence[0][0], row))) if sequence else HeldInput()
    entries: list[TimedEvents] = []
    for at, action in sequence:
        try:
            events = actions.events(action, held.now, rows.screen_size)
        except ConfigError as error:
            raise ConfigError(f"remote {row}: {error}") from None
        held.note(events)
        events = events if entries else gate.renewed(at, events)
        entries.append((timed.moment(at, row), events))
    return entries


def _times(at: Any, steps: int, rows: int) -> NDArray[np.float64]:
    """Return the times as an array of shape (steps, rows)."""
    try:
        times = np.asarray(at, np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"at={at!r} is not an array of times") from None
    if times.shape not in ((steps,), (steps, rows)):
        raise ConfigError(f"at has the shape {times.shape}, and not ({steps},) or ({steps}, {rows})")
    return np.broadcast_to(times if times.ndim == 2 else times[:, None], (steps, rows))
