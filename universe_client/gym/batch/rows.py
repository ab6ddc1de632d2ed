"""The remotes of both Gymnasium environments: their frames are the rows of one array.

A row awaits a first frame from a reset, or from the end of its episode, until that frame has arrived. The look at the
remote that finds the frame is the reset step of the row: its reward is 0, and the rewards that the new episode has
brought until then belong to the next step. If an episode ends before the agent has seen a frame of it, its end is not
reported: its rewards belong to the next step too, and `env_status.skipped_episodes` counts it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from universe_client.core.first_frames import check_awaited, has_failed
from universe_client.core.info import merge
from universe_client.core.remote import Slot
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.gym.batch import infos as gym_infos
from universe_client.gym.batch.env_observations import EnvObservations
from universe_client.gym.batch.startup import await_links
from vnc.events import Event, TimedEvents
from vnc.pixels.reduction import Reduction
from vnc.session import Frame

if TYPE_CHECKING:
    from universe_client.wall.observing import WallPage

_SKIPPED, _COUNT = "env_status.skipped_episodes", "stats.reward.count"


@dataclass(slots=True)
class Row:
    """The result of one remote in a step; its frame is in `Rows.frames`."""

    reward: float
    terminated: bool
    truncated: bool
    text: list[Any]
    info: dict[str, Any]

    @property
    def done(self) -> bool:
        """Whether the episode ended."""
        return self.terminated or self.truncated


class Rows:
    """The remotes of `core`, with one row of `frames` for each.

    Attributes:
        core: the remotes.
        frames: uint8 (n, height, width, 3), RGB: the newest frame of each remote's episode; after its end the last one.
            After `reduce` the pictures of these frames.
        reduction: which pictures of the frames are in `frames`.
        env_observations: the environment observations, or None. If not None, a first frame counts only together with a
            first environment observation.
        awaiting: bool (n,): rows that await a first frame.
        instructions: per row, a list with the first text of the episode in `frames`, or an empty list.
        page: shows everything that is sent and received; None if there is none.
    """

    def __init__(
        self,
        core: RemoteVector,
        screen_size: tuple[int, int] | None,
        max_episode_steps: int | None = None,
        letterbox: bool = False,
        env_observations: EnvObservations | None = None,
    ) -> None:
        """Let every remote write its frames into its row.

        Args:
            core: the remotes.
            screen_size: (width, height) of the rows; None waits until the remotes have reported theirs.
            max_episode_steps: truncate an episode after this number of steps; None does not.
            letterbox: accept screens of other sizes. A screen lies in the top left corner of its row, so that
                coordinates stay those of the remote; it is cut off at the right and bottom, and the remaining pixels
                are black.
            env_observations: receives the environment observations; None ignores them.

        Raises:
            ConfigError: the screens differ in size, or the step limit is not positive.
            RemoteError: without `screen_size`: a remote failed permanently, or did not connect in time.
        """
        if max_episode_steps is not None and max_episode_steps <= 0:
            raise ConfigError(f"max_episode_steps={max_episode_steps!r} is not a positive number of steps")
        self.core = core
        self.env_observations = env_observations
        self._letterbox = letterbox
        width, height = screen_size or self._learn_screen(core)
        self._hold(Reduction.whole((height, width, 3)))
        self.awaiting = np.ones(core.n, np.bool_)
        self._ended = np.zeros(core.n, np.bool_)  # rows that await the episode after an end
        self.instructions: list[list[Any]] = [[] for _ in range(core.n)]
        self.page: WallPage | None = None
        self._given_up: set[int] = set()
        self._max_steps = max_episode_steps
        self._steps = [0] * core.n
        self._ticks = [1] * core.n  # of the newest step
        self._rewards = [0.0] * core.n  # of the awaited episode, for the step after the reset step
        self._infos: list[dict[str, Any]] = [{} for _ in range(core.n)]

    def _hold(self, reduction: Reduction) -> None:
        """Let every remote write pictures of this reduction into its row of a new array."""
        self.reduction = reduction
        self.frames: Frame = np.zeros((self.core.n, *reduction.shape), np.uint8)
        self._lent = list(self.frames)
        for row in range(self.core.n):
            self._lend(row)

    def _lend(self, row: int) -> None:
        reduction = None if self.reduction.is_whole else self.reduction
        self.core.remotes[row].view.lend(self._lent[row], reduction)

    def reduce(self, reduction: Reduction) -> None:
        """Have smaller pictures of the frames in the rows, beginning with those that are there.

        Args:
            reduction: the present `reduction`, reduced further.
        """
        taken = [row for row, remote in enumerate(self.core.remotes) if remote.view.taken]
        screens = {row: self.screen(row).copy() for row in taken}
        self._hold(reduction)
        for row, screen in screens.items():
            reduction.draw(screen, self._lent[row])

    @property
    def screen_size(self) -> tuple[int, int]:
        """(width, height) of the screen that every row shows, in pixels."""
        height, width, _ = self.reduction.source
        return width, height

    def screen(self, row: int) -> Frame:
        """Return the whole frame of a row: uint8 (height, width, 3); the next call of the environment may change it.

        With a reduction, the first call for a row returns the newest frame of its remote.
        """
        if self.reduction.is_whole:
            frame: Frame = self._lent[row]
            return frame
        return self._boxed(self.core.remotes[row].view.screen)

    def frame_numbers(self, rows: Sequence[int]) -> NDArray[np.int64]:
        """Return int64 (k,): for each of `rows` a number that changes when its pixels change."""
        return np.array([self.core.remotes[row].view.taken for row in rows], np.int64)

    def _learn_screen(self, core: RemoteVector) -> tuple[int, int]:
        await_links(core, lambda link: link.session is not None, "no screen")
        self._check_screens(range(core.n))
        height, width, _ = next(shape for shape in self._shapes(range(core.n)) if shape)
        return width, height

    def _shapes(self, rows: Collection[int]) -> list[tuple[int, int, int] | None]:
        sessions = [self.core.remotes[row].link.connection.session for row in rows]
        return [None if session is None else session.shape for session in sessions]

    def _check_screens(self, rows: Collection[int], shape: tuple[int, ...] | None = None) -> None:
        if self._letterbox:
            return
        shapes = self._shapes(rows)
        wanted = shape or next(known for known in shapes if known)
        if all(known in (None, wanted) for known in shapes):
            return
        sizes = ", ".join(
            f"remote {self.core.remotes[row].link.label} {known[1]}x{known[0]}"
            for row, known in zip(rows, shapes, strict=True)
            if known
        )
        raise ConfigError(
            f"the screens differ from the {wanted[1]}x{wanted[0]} of the observation space: {sizes}; "
            "give the remotes one size, or letterbox=True"
        )

    def _lend_again(self, rows: Collection[int]) -> None:
        """Let remotes write into their rows again, if their screens have returned to the size of the rows."""
        away = [row for row in rows if self.core.remotes[row].view.frame is not self._lent[row]]
        for row, shape in zip(away, self._shapes(away), strict=True):
            if shape == self.reduction.source:
                self._lend(row)

    def _fit(self, rows: Collection[int]) -> None:
        """Copy frames of another size into their rows."""
        for row in rows:
            frame = self.core.remotes[row].view.frame
            if frame is not self._lent[row]:
                self.reduction.draw(self._boxed(frame), self._lent[row])

    def _boxed(self, frame: Frame) -> Frame:
        """Return a frame in the size of the rows: cut off, or on black."""
        if frame.shape == self.reduction.source:
            return frame
        boxed = np.zeros(self.reduction.source, np.uint8)
        height, width = min(frame.shape[0], boxed.shape[0]), min(frame.shape[1], boxed.shape[1])
        boxed[:height, :width] = frame[:height, :width]
        return boxed

    # -- resets -------------------------------------------------------------------------------------------------

    def reset(self, rows: Collection[int], seed: int | Sequence[int | None] | None) -> None:
        """Ask for new episodes, which these rows await from now on.

        Rows that await the episode after an end keep awaiting that one, unless there is a seed for them.
        """
        asked = [row for row in rows if not self._ended[row] or own_seed(seed, row) is not None]
        if asked:
            self.core.reset(seed=seed, mask=self._mask(asked))
        for row in rows:
            self._expect(row)
        for row in asked:
            self._ended[row] = False
            self._rewards[row], self._infos[row] = 0.0, {}

    def _expect(self, row: int) -> None:
        self.awaiting[row] = True
        self._steps[row] = 0
        self._given_up.discard(row)

    def await_first(self, rows: Collection[int], must: bool) -> dict[int, Row]:
        """Wait for the first frames of those of `rows` that await one; return the results of these.

        Args:
            rows: the rows.
            must: whether to raise an error for a row without a frame. Otherwise a row is given up after
                `reset_timeout` seconds: the next calls do not wait for it, and `look` finds its frame when it arrives.

        Raises:
            ResetTimeout: a first frame did not arrive within `reset_timeout` seconds.
            RemoteError: a remote failed permanently.
        """
        found: dict[int, Row] = {}
        deadline = time.monotonic() + self.core.config.reset_timeout
        missing = [row for row in rows if self.awaiting[row] and row not in self._given_up]
        while missing:
            for row, looked in self.look(missing).items():
                if row in found:
                    looked.info = merge(found[row].info, looked.info)
                found[row] = looked
            missing = [row for row in missing if self.awaiting[row]]
            missing = self._keep_waiting(missing, deadline, must)
            if missing:
                self.core.wait(deadline - time.monotonic())
        for row in found:  # their frames have aged while the others were awaited
            self.core.remotes[row].look()
        self._fit(found)
        return found

    def _keep_waiting(self, rows: list[int], deadline: float, must: bool) -> list[int]:
        """Return those of `rows` whose frames may still arrive."""
        remotes = self.core.remotes
        if must:
            check_awaited([remotes[row] for row in rows], deadline, self.core.config.reset_timeout)
            return rows
        late = [row for row in rows if time.monotonic() >= deadline or has_failed(remotes[row])]
        self._given_up.update(late)
        return [row for row in rows if row not in late]

    # -- steps --------------------------------------------------------------------------------------------------

    def send(self, row: int, events: Sequence[Event], ticks: int = 1) -> int:
        """Send events to one remote. While it resets they are dropped, and counted in its info.

        Args:
            row: the remote.
            events: the input.
            ticks: in lock-step, how many ticks the next result is to include; each counts as a step of the episode.

        Returns:
            How many ticks there will be at most: one if the remote runs one at a time, as in real time.
        """
        link = self.core.remotes[row].link
        ticks = min(ticks, link.pace.most_ticks)
        if self._max_steps is not None:
            ticks = max(min(ticks, self._max_steps - self._steps[row]), 1)
        self._ticks[row] = ticks
        sent = link.gate.replacing(events)
        self.core.act(row, sent, ticks)
        if self.page is not None:
            self.page.act(row, sent)
        return ticks

    def plan(self, row: int, timed: Sequence[TimedEvents]) -> None:
        """Plan input of one remote; the next result counts as a step of the episode. See `RemoteVector.plan`."""
        self._ticks[row] = 1
        self.core.plan(row, timed)

    def ready(self, row: int) -> bool:
        """Return whether `look` would return something new: a frame, the end of an episode, or a permanent failure."""
        return self.core.remotes[row].has_news or self._is_over(row) or has_failed(self.core.remotes[row])

    def await_news(self, rows: Collection[int], count: int, timeout: float | None) -> list[int]:
        """Wait until `count` of `rows` are `ready`, at most `timeout` seconds; return the rows that are."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            ready = [row for row in rows if self.ready(row)]
            left = None if deadline is None else deadline - time.monotonic()
            if len(ready) >= count or (left is not None and left <= 0):
                return ready
            self.core.wait(left, forget=True)

    def look(self, rows: Collection[int]) -> dict[int, Row]:
        """Take over what has arrived for `rows`, and return their results."""
        self.core.settle(rows)
        self._lend_again(rows)
        for row in rows:
            if self._is_over(row):
                self.core.remotes[row].look()  # the last frame before the truncation
                self.core.truncate(row, "time_limit")
        slots = self.core.poll_some(rows, copy=False, hold=True)
        self._check_screens(rows, self.reduction.source)
        self._fit(rows)
        for row in rows:
            slot = slots[row]
            if self.page is not None:
                self.page.receive(row, slot.observation, slot.reward, slot.info, partial(self.screen, row))
            if self.env_observations is not None and slot.env_observation is not None:
                self.env_observations.take(row, slot.env_observation)
        return {row: self._row(row, slots[row]) for row in rows}

    def close(self) -> None:
        """Disconnect from the remotes, and end the page that shows them."""
        self.core.close()
        if self.page is not None:
            self.page.close()

    def _is_over(self, row: int) -> bool:
        limit = self._max_steps
        return limit is not None and not self.awaiting[row] and self._steps[row] + self._ticks[row] >= limit

    def _row(self, row: int, slot: Slot) -> Row:
        if slot.observation is not None:
            instruction = slot.observation["instruction"]
            self.instructions[row] = [] if instruction is None else [instruction]
        if self.awaiting[row]:
            return self._awaited_row(row, slot)
        self._steps[row] += self._ticks[row]
        info = merge(self._infos[row], slot.info) if self._infos[row] else slot.info
        info[gym_infos.RESETTING] = slot.observation is None and not slot.done
        reward = self._rewards[row] + (slot.reward or 0.0)
        self._rewards[row], self._infos[row] = 0.0, {}
        if slot.done:
            self._expect(row)
            self._ended[row] = True
        return Row(reward, slot.info["terminated"], slot.info["truncated"], _text(slot), info)

    def _awaited_row(self, row: int, slot: Slot) -> Row:
        self._rewards[row] += slot.reward or 0.0
        info = {key: value for key, value in slot.info.items() if not key.startswith("env_status.complete.")}
        info |= {"terminated": False, "truncated": False, "end_reason": None}
        later = {_COUNT: info[_COUNT], _SKIPPED: info[_SKIPPED] + bool(slot.done)}
        self._infos[row] = merge(self._infos[row], later)
        info |= {_COUNT: 0, _SKIPPED: 0}
        info[gym_infos.RESETTING] = bool(slot.done) or not self._is_whole(slot)
        if not info[gym_infos.RESETTING]:
            self.awaiting[row] = self._ended[row] = False
            self._given_up.discard(row)
        return Row(0.0, False, False, _text(slot), info)

    def _is_whole(self, slot: Slot) -> bool:
        shown = slot.observation
        return shown is not None and (self.env_observations is None or "env_observation" in shown)

    def _mask(self, rows: Collection[int]) -> list[bool]:
        chosen = frozenset(rows)
        return [row in chosen for row in range(self.core.n)]


def own_seed(seed: int | Sequence[int | None] | None, row: int) -> int | None:
    """Return the seed of `row` in a reset with `seed`: an entry of a sequence, or an int plus `row`.

    A row beyond the end of a sequence has none; `RemoteVector.reset` raises the error for such a sequence.
    """
    if seed is None or isinstance(seed, int):
        return None if seed is None else seed + row
    return seed[row] if row < len(seed) else None


def _text(slot: Slot) -> list[Any]:
    return [] if slot.observation is None else slot.observation["text"]
