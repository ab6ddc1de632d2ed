"""What a tool answers: one paragraph that says which screen it was and what happened, then the picture."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_types import CallToolResult, ImageContent, TextContent

from universe_client.hands import Computer, Outcome, Picture, Region

MAX_BASE64 = 1_000_000
"""Characters of a picture in an answer. Some hosts refuse answers of more than 1 MB."""
_QUALITIES = (60, 35, 15)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers about one remote.

    Attributes:
        size: (width, height) of the pictures of the screen, in whose pixels coordinates are.
        words: what happened.
        picture: the screen, or a part of it.
        facts: the same as `words` for programs; hosts do not show them to models.
    """

    size: tuple[int, int]
    words: str
    picture: Picture | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def result(self, remote: str) -> CallToolResult:
        """Return it as MCP has it; the picture is encoded here."""
        width, height = self.size
        text = TextContent(type="text", text=f"{remote} ({width}x{height} pixels): {self.words}")
        meta = {"universe-client": {"remote": remote, "size": [width, height], **self.facts}}
        image = [] if self.picture is None else [_image(within_limit(self.picture))]
        return CallToolResult(content=[text, *image], _meta=meta)


def refusal(words: str) -> CallToolResult:
    """Return the answer to a call that cannot be executed."""
    return CallToolResult(content=[TextContent(type="text", text=words)], is_error=True)


def _image(picture: Picture) -> ImageContent:
    data = base64.b64encode(picture.data).decode()
    return ImageContent(type="image", data=data, mime_type=picture.media_type)


def within_limit(picture: Picture) -> Picture:
    """Return the picture; if it is longer than `MAX_BASE64` allows, as a JPEG of lower quality."""
    for quality in _QUALITIES:
        if len(picture.data) * 4 <= MAX_BASE64 * 3:
            break
        picture = replace(picture, format="jpeg", quality=quality)
    return picture


def of_outcome(computer: Computer, outcome: Outcome) -> Answer:
    """Return what actions have led to."""
    return Answer(computer.size, outcome_words(outcome), outcome.picture, _outcome_facts(outcome))


def outcome_words(outcome: Outcome) -> str:
    """Return what actions have led to, in sentences."""
    words = [f"The remote says: {outcome.text}\n"] if outcome.text else []
    words += [_rest(outcome), f"Pointer at {outcome.pointer[0]}, {outcome.pointer[1]}."]
    if outcome.changed is None:
        words.append("Nothing on the screen changed.")
    if outcome.reward:
        words.append(f"Reward {outcome.reward:+g}; {outcome.episode_reward:g} in this episode.")
    if outcome.done:
        words.append(
            f"The episode has ended with reward {outcome.episode_reward:g}. Call reset to begin the next."
        )
    return " ".join(words)


def _rest(outcome: Outcome) -> str:
    state = "The screen is still" if outcome.settled else "The screen is still changing"
    restless = (
        f", except for {_rectangles(outcome.restless)}," if outcome.restless and outcome.settled else ""
    )
    return f"{state}{restless} after {outcome.waited:.2f} s."


def _rectangles(regions: tuple[Region, ...]) -> str:
    return " and ".join(f"{width}x{height} pixels at {x}, {y}" for x, y, width, height in regions)


def _outcome_facts(outcome: Outcome) -> dict[str, Any]:
    return {
        "played": outcome.played,
        "settled": outcome.settled,
        "waited": outcome.waited,
        "changed": outcome.changed and list(outcome.changed),
        "pointer": list(outcome.pointer),
        "reward": outcome.reward,
        "episode_reward": outcome.episode_reward,
        "done": outcome.done,
    }


def state(computer: Computer) -> dict[str, Any]:
    """Return the task, and what has been earned."""
    return {
        "size": list(computer.size),
        "task": computer.text,
        "reward": computer.reward,
        "done": computer.done,
    }


def state_words(computer: Computer) -> str:
    """Return the same in sentences."""
    task = f"The task: {computer.text}" if computer.text else "There is no task text."
    ended = " The episode has ended: call reset to begin the next." if computer.done else ""
    return f"{task} Reward so far: {computer.reward:g}.{ended}"
