"""Build what `reset` and `step` return (observations, rewards, flags, infos) from the rows of the remotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from universe_client.gym.batch import infos as gym_infos
from universe_client.gym.batch.rows import Row, Rows
from vnc.session import Frame

StepResult = tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class Results:
    """Builds results of one environment.

    `looked` in the methods is what `Rows` returned for the rows it looked at, by row.

    Attributes:
        copy: whether batches of all rows are copies of the array of frames.
    """

    def __init__(self, rows: Rows, *, as_dict: bool, fill: int | None = None) -> None:
        """Build results from `rows`.

        Args:
            rows: the frames and environment observations.
            as_dict: whether an observation is a dict of pixels and text, instead of the pixels alone.
            fill: the value of all pixels of a row that is resetting; None keeps the last frame.
        """
        self._rows, self._as_dict, self._fill = rows, as_dict, fill
        self.copy = rows.core.config.copy
        self._is_lockstep = rows.core.config.mode == "lockstep"

    # -- one row ------------------------------------------------------------------------------------------------

    def info(self, row: Row) -> dict[str, Any]:
        """Return the info of one row; in lock-step without values that differ between two identical runs."""
        return gym_infos.steady(row.info) if self._is_lockstep else row.info

    def observation(self, index: int, row: Row, copy: bool = True) -> Any:
        """Return the observation of row `index`; without `copy` its pixels may be a view of the array of frames."""
        if self._rows.env_observations is not None:
            return self._rows.env_observations.rows[index].copy()
        frame: Frame = self._rows.frames[index]
        if copy:
            frame = frame.copy()
        if not self._as_dict:
            return frame
        return {"instruction": self._rows.instructions[index], "text": row.text, "vision": frame}

    # -- a batch ------------------------------------------------------------------------------------------------

    def infos(self, rows: Sequence[Row | None]) -> dict[str, Any]:
        """Return the infos of rows as one array and one mask per key; None stands for a row without values."""
        return gym_infos.batch([None if row is None else self.info(row) for row in rows])

    def observations(
        self,
        ids: list[int],
        looked: Mapping[int, Row],
        infos: dict[str, Any],
        out: NDArray[Any] | None = None,
    ) -> Any:
        """Return the observations of the rows `ids`, and put their frame numbers into `infos`; `out` as for `recv`."""
        numbers = self._rows.frame_numbers(ids)
        if self._rows.env_observations is not None:
            gym_infos.put(infos, gym_infos.FRAME_NUMBER, numbers)
            return _chosen(self._rows.env_observations.rows, ids, True, out)
        frames = _chosen(self._rows.frames, ids, self.copy or self._fill is not None, out)
        if self._fill is not None:
            empty = [
                place
                for place, row in enumerate(ids)
                if row in looked and looked[row].info[gym_infos.RESETTING]
            ]
            frames[empty], numbers[empty] = self._fill, gym_infos.FILLED
        gym_infos.put(infos, gym_infos.FRAME_NUMBER, numbers)
        if not self._as_dict:
            return frames
        instruction = tuple(self._rows.instructions[row] for row in ids)
        text = tuple(looked[row].text if row in looked else [] for row in ids)
        return {"instruction": instruction, "text": text, "vision": frames}

    def step(self, ids: list[int], looked: Mapping[int, Row], out: NDArray[Any] | None = None) -> StepResult:
        """Return the results of a step of the rows `ids`; `out` as for `recv`."""
        infos = self.infos([looked[row] for row in ids])
        gym_infos.put(infos, "env_id", np.array(ids, np.int64))
        return (
            self.observations(ids, looked, infos, out),
            np.array([looked[row].reward for row in ids], np.float64),
            np.array([looked[row].terminated for row in ids], np.bool_),
            np.array([looked[row].truncated for row in ids], np.bool_),
            infos,
        )

    def add_final(
        self, infos: dict[str, Any], ids: list[int], ended: Mapping[int, Row], last: Mapping[int, Any]
    ) -> None:
        """Add the last observations and infos of ended episodes, as `AutoresetMode.SAME_STEP` has them.

        Args:
            infos: the infos of the step, changed in place.
            ids: the rows of the step.
            ended: what ended the episodes, by row.
            last: the last observations, by row.
        """
        observations, mask = gym_infos.column([last.get(row) for row in ids], object)
        gym_infos.put(infos, "final_obs", observations, mask)
        gym_infos.put(infos, "final_info", self.infos([ended.get(row) for row in ids]), mask.copy())


def _chosen(frames: NDArray[Any], ids: list[int], copy: bool, out: NDArray[Any] | None) -> NDArray[Any]:
    """Return the rows `ids`, in `out` if that is an array; all rows may be `frames` itself unless `copy`."""
    if out is not None:
        # Another mode would write through a buffer.
        return np.take(frames, ids, axis=0, out=out[: len(ids)], mode="clip")
    return frames[ids] if copy or len(ids) < len(frames) else frames
