"""Wait for the remotes of a step, and build its results in the autoreset mode of the environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from universe_client.gym.batch.results import Results, StepResult
from universe_client.gym.batch.rows import Row, Rows


class Receiver:
    """Takes over what has arrived from some rows."""

    def __init__(self, rows: Rows, results: Results, blocks: bool, autoreset_mode: AutoresetMode) -> None:
        """Receive from `rows`; `blocks` is whether a reset waits for its first frame."""
        self._rows, self._results = rows, results
        self._blocks, self._mode = blocks, autoreset_mode
        self._must = rows.core.config.on_error == "raise"

    def look(self, ids: list[int]) -> dict[int, Row]:
        """Return what the rows `ids` have brought; rows that reset are waited for, unless nothing blocks."""
        first = self._rows.await_first(ids, must=self._must) if self._blocks else {}
        return first | self._rows.look([row for row in ids if row not in first])

    def result(self, ids: list[int], rows: dict[int, Row], out: NDArray[Any] | None = None) -> StepResult:
        """Return the results of a step of the rows `ids`, which `look` has returned; `out` as for `recv`."""
        ended = {row: rows[row] for row in ids if rows[row].done}
        if not ended or self._mode is not AutoresetMode.SAME_STEP:
            return self._results.step(ids, rows, out)
        last = {index: self._results.observation(index, row) for index, row in ended.items()}
        first = self._rows.await_first(list(ended), must=self._must)
        shown = {row: replace(rows[row], text=first[row].text, info=first[row].info) for row in first}
        result = self._results.step(ids, rows | shown, out)
        self._results.add_final(result[4], ids, ended, last)
        return result
