"""GRPO of TRL on a web page: a language model learns to click the button, and each of its answers is played for real.

    python -m venv .venv-openenv && . .venv-openenv/bin/activate
    pip install '.[openenv,browser]' 'trl>=1.16'    # and: apt install chromium tigervnc-standalone-server
    python -c 'import uvicorn; from universe_client.adapters.openenv import app; \
        uvicorn.run(app("browser.click-test", "process:1", sessions=4, format="png"))' &
    python examples/grpo_click_test.py http://127.0.0.1:8000 --steps 150

The model is a tiny GPT-2 with random weights, for a CPU. It reads the picture as 8x8 words, "#" where the button is,
and answers with one word, the cell to click. For a model of yours, replace `tiny_model`, `words_of` and `click_of`.
"""

from __future__ import annotations

import argparse
import base64
import io
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
from datasets import Dataset
from PIL import Image
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

from universe_client.adapters.openenv import ComputerAction, ComputerClient, ComputerObservation

CELLS, CELL, TOP = 8, 20, 50
"""The page is 8x8 cells of 20x20 pixels; above it are 50 rows with the instruction."""
OPTIONS: dict[str, Any] = {
    "per_device_train_batch_size": 32,  # answers of a step: to four pages, in groups of eight
    "num_generations": 8,
    "max_completion_length": 1,
    "learning_rate": 3e-3,
    "lr_scheduler_type": "constant",
    "logging_steps": 1,
    "use_cpu": True,
    "bf16": False,
    "save_strategy": "no",
    "report_to": "none",
    "disable_tqdm": True,
}
BUTTON = 239
"""The red, green and blue of the button; the page is white."""


def tiny_model() -> tuple[GPT2LMHeadModel, PreTrainedTokenizerFast]:
    """Return a model that knows nothing, and the words that it reads and writes."""
    words = ["<pad>", "<eos>", "#", ".", *(f"cell-{cell}" for cell in range(CELLS * CELLS))]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="."))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    shape = GPT2Config(
        vocab_size=len(words), n_positions=80, n_embd=64, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=1
    )
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")
    return GPT2LMHeadModel(shape), wrapped


def words_of(seen: ComputerObservation) -> str:
    """Return what the model reads of a picture."""
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(seen.picture))).convert("RGB")).astype(int)
    page = abs(picture[TOP : TOP + CELLS * CELL, : CELLS * CELL] - BUTTON).max(axis=2) <= 10
    shares = page.reshape(CELLS, CELL, CELLS, CELL).mean(axis=(1, 3))
    return " ".join("#" if share > 0.5 else "." for share in shares.ravel())


def click_of(answer: str) -> ComputerAction | None:
    """Return the click that an answer means; None if it means none."""
    name, _, number = answer.strip().partition("-")
    if name != "cell" or not number.isdigit():
        return None
    down, across = divmod(int(number), CELLS)
    where = {"x": across * CELL + CELL // 2, "y": TOP + down * CELL + CELL // 2}
    return ComputerAction(actions=[{"action": "click", **where}], timeout=1)


class Pages:
    """Plays answers in several sessions at a time: a reward function of TRL."""

    __name__ = "reward_of_the_page"  # TRL logs it

    def __init__(self, clients: Sequence[Any]) -> None:
        self.clients = clients
        self.played: list[float] = []

    def __call__(self, completions: Sequence[str], seed: Sequence[int], **columns: Any) -> list[float]:
        count = len(self.clients)
        answers = list(zip(completions, seed, strict=True))
        with ThreadPoolExecutor(count) as threads:
            shares = list(threads.map(self._clicks, self.clients, [answers[k::count] for k in range(count)]))
        rewards = [shares[number % count][number // count] for number in range(len(answers))]
        self.played += rewards
        return rewards

    @staticmethod
    def _clicks(client: Any, answers: Sequence[tuple[str, int]]) -> list[float]:
        rewards = []
        for answer, seed in answers:
            action = click_of(answer)
            if action is not None:
                client.reset(seed=seed)
            rewards.append(0.0 if action is None else float(client.step(action).reward or 0.0))
        return rewards


def train(url: str, steps: int, pages: int, sessions: int, **options: Any) -> tuple[list[float], list[float]]:
    """Train; return the mean reward of each step as the trainer saw it, and all rewards of the environment."""
    set_seed(1)
    model, tokenizer = tiny_model()
    with ExitStack() as stack:
        patient = {"base_url": url, "connect_timeout_s": 60, "message_timeout_s": 240}
        play = Pages([stack.enter_context(ComputerClient(**patient).sync()) for _ in range(sessions)])
        looks = [words_of(play.clients[0].reset(seed=number).observation) for number in range(pages)]
        rows = [{"prompt": look, "seed": number} for number, look in enumerate(looks)]
        config = GRPOConfig(
            output_dir=stack.enter_context(tempfile.TemporaryDirectory()),
            max_steps=steps,
            **OPTIONS | options,
        )
        trainer = GRPOTrainer(
            model, play, args=config, train_dataset=Dataset.from_list(rows), processing_class=tokenizer
        )
        trainer.train()
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry], play.played


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", help="of the OpenEnv server")
    parser.add_argument("--steps", type=int, default=150, help="steps of the trainer; default: %(default)s")
    parser.add_argument("--pages", type=int, default=16, help="different pages; default: %(default)s")
    parser.add_argument("--sessions", type=int, default=4, help="of the server; default: %(default)s")
    options = parser.parse_args()
    rewards, played = train(**vars(options))
    some = max(1, len(rewards) // 5)
    first, last = np.mean(rewards[:some]), np.mean(rewards[-some:])
    print(f"{len(played)} answers; mean reward of the first {some} steps {first:.2f}, of the last {last:.2f}")


if __name__ == "__main__":
    main()
