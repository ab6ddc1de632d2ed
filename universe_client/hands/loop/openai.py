"""The conversation with a GPT model: the Responses API keeps it, and each request adds the newest picture."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from typing import Any

from openai import OpenAI, OpenAIError
from openai.types.responses import Response, ResponseComputerToolCall, ResponseInputItemParam

from universe_client.errors import ModelError
from universe_client.hands.computer import Computer
from universe_client.hands.loop.turn import Act, Shown, Turn
from universe_client.hands.loop.words import SYSTEM
from universe_client.hands.vendors.limits import OPENAI
from universe_client.hands.vendors.openai import (
    Approve,
    ComputerTool,
    Confirm,
    actions_in,
    arguments_of,
    image_url,
)
from universe_client.hands.vendors.sight import Sight

PREVIEW = "computer-use-preview"
"""Models whose names begin so know only the tool `computer_use_preview`."""


class OpenAIChat:
    """One episode with a GPT model."""

    def __init__(
        self,
        client: OpenAI,
        model: str,
        computer: Computer,
        task: str,
        *,
        confirm: Confirm,
        approve: Approve,
        owns_client: bool = False,
    ) -> None:
        """Begin with the settled screen.

        Args:
            client: of the SDK.
            model: its name.
            computer: in the episode to play; its pictures become smaller if they are beyond the vendor's limits.
            task: what the model is told to do.
            confirm: asked before each act.
            approve: asked when the vendor has checks of safety pending.
            owns_client: whether the end of `turns` closes `client`.

        Raises:
            RemoteError: the remote cannot be reached.
        """
        self._client, self._model, self._task = client, model, task
        self._owns_client = owns_client
        self._preview = model.startswith(PREVIEW)
        self._tool = ComputerTool(computer, approve=approve, confirm=confirm, preview=self._preview)
        picture = Sight(computer, OPENAI).look()
        self._first, self.shown = image_url(picture), Shown(picture.data, picture.media_type)

    def turns(self) -> Iterator[Turn]:
        """See `Chat`.

        Raises:
            NotApproved: `approve` refused.
        """
        try:
            yield from self._turns()
        finally:
            if self._owns_client:
                self._client.close()

    def _turns(self) -> Iterator[Turn]:
        items: list[ResponseInputItemParam] = [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": self._task},
                    {"type": "input_image", "image_url": self._first, "detail": "auto"},
                ],
            }
        ]
        response: Response | None = None
        while items:
            asked = time.monotonic()
            response = self._ask(items, response)
            answered = time.monotonic()
            calls = [item for item in response.output if item.type == "computer_call"]
            items = [item for call in calls for item in self._tool.answer(call)]
            yield _turn(response, calls, items, answered - asked, time.monotonic() - answered)

    def _ask(self, items: list[ResponseInputItemParam], before: Response | None) -> Response:
        try:
            return self._client.responses.create(
                model=self._model,
                instructions=SYSTEM,
                tools=[self._tool.to_dict()],
                input=items,
                previous_response_id=None if before is None else before.id,
                truncation="auto",
            )
        except OpenAIError as error:
            raise ModelError(f"{self._model}: {error}") from error


def _turn(
    response: Response,
    calls: list[ResponseComputerToolCall],
    items: list[Any],
    thought: float,
    acted: float,
) -> Turn:
    acts = [Act(each.type, arguments_of(each)) for call in calls for each in actions_in(call)]
    problems = [str(item["content"]) for item in items if "role" in item]
    if acts and problems:
        acts[-1] = Act(acts[-1].name, acts[-1].arguments, problems[-1])
    incomplete = response.incomplete_details
    return Turn(
        text=response.output_text,
        acts=tuple(acts),
        shown=_shown(items),
        tokens=0 if response.usage is None else response.usage.total_tokens,
        thought=thought,
        acted=acted,
        stop=str(response.status if incomplete is None else incomplete.reason),
    )


def _shown(items: list[Any]) -> Shown | None:
    outputs = [item["output"] for item in items if item.get("type") == "computer_call_output"]
    if not outputs:
        return None
    media_type, _, data = outputs[-1]["image_url"].removeprefix("data:").partition(";base64,")
    return Shown(base64.b64decode(data), media_type)
