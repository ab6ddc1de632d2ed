"""A language model does a task on a remote: a desktop, a browser, or any VNC server.

    pip install '.[anthropic,hands]'          # or openai
    export ANTHROPIC_API_KEY=...                            # or OPENAI_API_KEY
    python examples/computer_use.py anthropic:claude-sonnet-5 desktop.WriteNote-v0 --remotes docker:1
    python examples/computer_use.py openai:gpt-5.4 --remotes 'vnc://localhost:5901' --task "Open a terminal."

It shows what the model says and does, asks before each act unless --approve all, stops at the budget, and keeps a
transcript with pictures as a web page.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from universe_client.hands import Computer
from universe_client.hands.loop.approval import Approval, Everything
from universe_client.hands.loop.live import Live
from universe_client.hands.loop.models import begin, check_model
from universe_client.hands.loop.play import Result, play, task_of
from universe_client.hands.loop.transcript import Transcript
from universe_client.hands.loop.turn import Budget


def run(options: argparse.Namespace) -> Result:
    check_model(options.model)
    budget = Budget(steps=options.steps, tokens=options.tokens, seconds=options.seconds)
    with Computer.open(options.env_id, options.remotes) as computer:
        computer.reset(seed=options.seed)
        task = options.task or task_of(computer)
        with Live(Console(), budget) as live:
            permits = Everything() if options.approve == "all" else Approval(live.ask)
            chat = begin(options.model, computer, task, permits, options.seconds)
            transcript = Transcript(options.transcript, f"{options.model}: {options.env_id}", computer.size)
            return play(chat, computer, task, budget, [live, transcript])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="anthropic:MODEL or openai:MODEL")
    parser.add_argument("env_id", nargs="?")
    parser.add_argument("--remotes", default="1", type=lambda text: int(text) if text.isdecimal() else text)
    parser.add_argument("--task", help="default: the task of the remote")
    parser.add_argument("--approve", choices=("ask", "all"), default="ask")
    parser.add_argument("--steps", type=int, default=50, help="calls of the API; default: %(default)s")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--transcript", type=Path, default=Path("transcript"), help="a new folder")
    result = run(parser.parse_args())
    print(f"reward {result.reward:+g}: {result.reason}")


if __name__ == "__main__":
    main()
