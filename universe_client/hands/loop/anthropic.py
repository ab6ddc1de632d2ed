"""The conversation with a Claude model, on the SDK's own runner of tools."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from anthropic import Anthropic, AnthropicError
from anthropic.types.beta import BetaMessage, BetaMessageParam, BetaUsage, BetaUserMessageParam

from universe_client.errors import ConfigError, ModelError
from universe_client.hands.computer import Computer
from universe_client.hands.loop.turn import Act, Shown, Turn
from universe_client.hands.loop.words import SYSTEM
from universe_client.hands.vendors.anthropic import (
    BETAS,
    ComputerToolset,
    Confirm,
    OlderComputerTool,
    Version,
    image_block,
)
from universe_client.hands.vendors.limits import ANTHROPIC
from universe_client.hands.vendors.sight import Sight

Tool = Version | Literal["computer_toolset_20260801"]
TOOLS: tuple[str, ...] = ("computer_toolset_20260801", *get_args(Version))
_MAX_TOKENS = 4096  # of an answer
_OLDER: tuple[tuple[str, Version], ...] = (
    ("claude-opus-4-5", "computer_20251124"),
    ("claude-opus-4-6", "computer_20251124"),
    ("claude-opus-4-7", "computer_20251124"),
    ("claude-sonnet-4-6", "computer_20251124"),
    ("claude-3-5", "computer_20241022"),
    ("claude-3", "computer_20250124"),
    ("claude-sonnet-4", "computer_20250124"),
    ("claude-haiku-4", "computer_20250124"),
    ("claude-opus-4-8", "computer_20251124"),
    ("claude-opus-4", "computer_20250124"),
)
"""The tool of models that do not know the newest one, by the first prefix of their name. Source: the vendor's page on
computer use."""


def tool_for(model: str) -> Tool:
    """Return the newest tool that a model knows."""
    older = (tool for prefix, tool in _OLDER if model.startswith(prefix))
    return next(older, "computer_toolset_20260801")


class AnthropicChat:
    """One episode with a Claude model.

    A turn after which the model has not looked itself gets the settled picture with its results: one call a step.
    """

    def __init__(
        self,
        client: Anthropic,
        model: str,
        computer: Computer,
        task: str,
        *,
        confirm: Confirm,
        tool: Tool | None = None,
        owns_client: bool = False,
    ) -> None:
        """Begin with the settled screen.

        Args:
            client: of the SDK.
            model: its name.
            computer: in the episode to play; its pictures become smaller if they are beyond the vendor's limits.
            task: what the model is told to do.
            confirm: asked before each act.
            tool: None takes the newest that the model knows.
            owns_client: whether the end of `turns` closes `client`.

        Raises:
            ConfigError: the tool is unknown.
            RemoteError: the remote cannot be reached.
        """
        self._client, self._model, self._task = client, model, task
        self._owns_client = owns_client
        self._version = tool or tool_for(model)
        if self._version not in TOOLS:
            raise ConfigError(f"{self._version!r} is none of {', '.join(TOOLS)}")
        self._tool = self._tool_on(computer, confirm)
        self._sight = Sight(computer, ANTHROPIC)
        self._first = image_block(self._sight.look())
        self.shown = _shown(self._first)

    def _tool_on(self, computer: Computer, confirm: Confirm) -> ComputerToolset | OlderComputerTool:
        if self._version == "computer_toolset_20260801":
            return ComputerToolset(
                computer, confirm=lambda context: confirm(context.member, context.input.to_dict())
            )
        return OlderComputerTool(computer, self._version, confirm=confirm)

    def turns(self) -> Iterator[Turn]:
        """See `Chat`."""
        runner = self._client.beta.messages.tool_runner(
            model=self._model,
            max_tokens=_MAX_TOKENS,
            system=SYSTEM,
            tools=[self._tool],
            messages=[self._beginning()],
            betas=[beta for version, beta in BETAS.items() if version == self._version],
            cache_control={"type": "ephemeral"},
        )
        asked = time.monotonic()
        try:
            for message in runner:
                answered = time.monotonic()
                results = runner.generate_tool_call_response()
                shown = None if results is None else self._completed(results)
                acted = time.monotonic()
                yield _turn(message, results, shown, answered - asked, acted - answered)
                asked = time.monotonic()
        except AnthropicError as error:
            raise ModelError(f"{self._model}: {error}") from error
        finally:
            if self._owns_client:
                self._client.close()

    def _beginning(self) -> BetaMessageParam:
        return {"role": "user", "content": [self._first, {"type": "text", "text": self._task}]}

    def _completed(self, results: BetaUserMessageParam) -> Shown | None:
        """Return the newest picture in the results, after adding one if there is none.

        The runner sends these very results. `append_messages` would make it play the turn a second time.
        """
        content: Any = results["content"]
        pictures = [
            block
            for result in content
            for block in _blocks(result.get("content"))
            if block["type"] == "image"
        ]
        if not pictures:
            pictures = [image_block(self._sight.look())]
            content += pictures
        return _shown(pictures[-1]) if pictures else None


def _turn(
    message: BetaMessage,
    results: BetaUserMessageParam | None,
    shown: Shown | None,
    thought: float,
    acted: float,
) -> Turn:
    problems = {} if results is None else _problems(results)
    uses = [block for block in message.content if block.type == "tool_use"]
    return Turn(
        text="\n".join(block.text for block in message.content if block.type == "text"),
        acts=tuple(_act(use.name, use.input, problems.get(use.id)) for use in uses),
        shown=shown,
        tokens=_tokens(message.usage),
        thought=thought,
        acted=acted,
        stop=str(message.stop_reason),
    )


def _act(name: str, arguments: Mapping[str, object], problem: str | None) -> Act:
    if name == "computer":  # of the older tools
        rest = {key: value for key, value in arguments.items() if key != "action"}
        return Act(str(arguments.get("action")), rest, problem)
    return Act(name, arguments, problem)


def _problems(results: BetaUserMessageParam) -> dict[str, str]:
    """Return the texts of the results that are errors, by the id of the call."""
    return {
        result["tool_use_id"]: " ".join(block["text"] for block in _blocks(result.get("content")))
        for result in _blocks(results["content"])
        if result.get("is_error")
    }


def _blocks(content: object) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []


def _tokens(usage: BetaUsage) -> int:
    cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
    return usage.input_tokens + cached + usage.output_tokens


def _shown(block: Any) -> Shown:
    return Shown(base64.b64decode(block["source"]["data"]), block["source"]["media_type"])
