"""TorchRL's AsyncEnvPool over still environments: `python -m benchmarks.clients.torchrl_pool COUNT BATCH SECONDS`.

It prints JSON: steps per second, rows in a batch on average, and the CPU time of this process in a step.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from typing import Any

import torch
from tensordict import TensorDict
from torchrl.data import Categorical, Composite, Unbounded
from torchrl.envs import AsyncEnvPool, EnvBase

SHAPE = 210, 160, 3
_WORKERS = 2
_WARM_UP = 1.0


class Still(EnvBase):  # type: ignore[misc]  # TorchRL has no annotations
    """An environment that always shows the same pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_spec = Composite(pixels=Unbounded(shape=torch.Size(SHAPE), dtype=torch.uint8))
        self.action_spec = Categorical(2)
        self.reward_spec = Unbounded(shape=(1,))
        self._pixels = torch.zeros(SHAPE, dtype=torch.uint8)

    def _reset(self, tensordict: Any = None, **options: Any) -> Any:
        return TensorDict({"pixels": self._pixels, "done": torch.zeros(1, dtype=torch.bool)})

    def _step(self, tensordict: Any) -> Any:
        done = torch.zeros(1, dtype=torch.bool)
        return TensorDict({"pixels": self._pixels, "reward": torch.zeros(1), "done": done})

    def _set_seed(self, seed: int | None) -> None:
        pass


def main() -> None:
    count, batch, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    pool = AsyncEnvPool(
        [Still] * count, backend="multiprocessing", exchange="shm", envs_per_worker=count // _WORKERS
    )
    first = pool.reset()
    first["action"] = torch.zeros(count, dtype=torch.int64)
    pool.async_step_and_maybe_reset_send(first)
    _serve(pool, batch, _WARM_UP)
    began, cpu = time.perf_counter(), time.process_time()
    steps, batches = _serve(pool, batch, seconds)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(json.dumps({"steps": steps / took, "batch": steps / batches, "cpu": cpu / steps}), flush=True)
    for worker in multiprocessing.active_children():
        worker.kill()  # pool.close() of TorchRL 0.14 waits for them for ever if steps are under way
    os._exit(0)


def _serve(pool: Any, batch: int, seconds: float) -> tuple[int, int]:
    steps = batches = 0
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        _, following = pool.async_step_and_maybe_reset_recv(min_get=1, max_get=batch)
        rows = len(following)
        following["action"] = torch.zeros(rows, dtype=torch.int64)
        pool.async_step_and_maybe_reset_send(following)
        steps, batches = steps + rows, batches + 1
    return steps, batches


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
