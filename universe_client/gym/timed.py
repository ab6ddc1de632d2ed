"""Actions with times, for `GymVectorEnv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector.utils import iterate
from numpy.typing import NDArray

from universe_client.core.input.held import HeldInput
from universe_client.errors import ConfigError
from universe_client.gym.pending import PendingSteps
from universe_client.gym.rows import Rows
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
            chunk: T batches of actions, each with one action per entry of `ids`, as `send` takes it.
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
        plans = [
            self._plan(row, [(float(times[step, place]), batch[place]) for step, batch in enumerate(batches)])
            for place, row in enumerate(rows)
        ]
        for row, plan in zip(rows, plans, strict=True):
            self._rows.plan(row, plan)
        self._pending.expect(rows)

    def _plan(self, row: int, sequence: Sequence[tuple[float, Any]]) -> list[TimedEvents]:
        timed.check_order([at for at, _ in sequence], row)
        gate = self._rows.core.remotes[row].link.gate
        held = HeldInput.of(gate.held_at(timed.moment(sequence[0][0], row))) if sequence else HeldInput()
        plan: list[TimedEvents] = []
        for at, action in sequence:
            try:
                events = self._map.events(action, held.now, self._rows.screen_size)
            except ConfigError as error:
                raise ConfigError(f"remote {row}: {error}") from None
            held.note(events)
            events = events if plan else gate.renewed(at, events)
            plan.append((timed.moment(at, row), events))
        return plan

    def _check_open(self) -> None:
        raise NotImplementedError


def _times(at: Any, steps: int, rows: int) -> NDArray[np.float64]:
    """Return the times as an array of shape (steps, rows)."""
    try:
        times = np.asarray(at, np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"at={at!r} is not an array of times") from None
    if times.shape not in ((steps,), (steps, rows)):
        raise ConfigError(f"at has the shape {times.shape}, and not ({steps},) or ({steps}, {rows})")
    return np.broadcast_to(times.reshape(steps, -1), (steps, rows))
