"""`POST /v1/responses` of OpenAI, for the tools `computer` and `computer_use_preview`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

from universe_client.hands.actions import Action, Click, Drag, Move, Press, Scroll, Type, Wait
from universe_client.hands.fakes.http import (
    Api,
    Json,
    Refused,
    check_picture,
    decoded,
    field,
    texts_and_pictures,
)
from universe_client.hands.fakes.model import Model, Seen
from universe_client.hands.vendors.limits import OPENAI

PIXELS_A_NOTCH = 100
_TOKENS_A_TURN, _TOKENS_A_PICTURE = 50, 1000


@dataclass
class _Conversation:
    """What the API stores of a response, for a request with `previous_response_id`."""

    task: str = ""
    picture: bytes | None = None
    turns: int = 0
    pictures: int = 0
    call: Json | None = None
    """The call that waits for its output."""
    queue: list[Json] = attribute(default_factory=list)
    """Actions of a turn that the preview tool, which has one action a call, has not sent yet."""


class FakeOpenAI(Api):
    """The Responses API with `model` behind it."""

    path, prefix = "/v1/responses", "/v1"

    def __init__(self, model: Model) -> None:
        """Serve `model` on a free port of 127.0.0.1."""
        super().__init__()
        self._model = model
        self._ids = itertools.count(1)
        self._stored: dict[str, _Conversation] = {}

    def answer(self, headers: Mapping[str, str], request: Json) -> Json:
        """Check a request as the API does, and let the model answer.

        Raises:
            Refused: the real API would refuse it.
        """
        if not headers.get("authorization", "").startswith("Bearer "):
            raise Refused("You didn't provide an API key", 401)
        field(request, "model", str)
        is_preview = _is_preview(request)
        before = self._before(request)
        now, notes = _read(before, request.get("input"))
        output = self._output(now, notes, is_preview)
        identity = f"resp_{next(self._ids)}"
        self._stored[identity] = now
        return _response(identity, request, output, now)

    def error(self, message: str, status: int) -> Json:
        """Return an error as the API words it."""
        kind = "server_error" if status == 500 else "invalid_request_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def _before(self, request: Json) -> _Conversation:
        previous = request.get("previous_response_id")
        if previous is None:
            return _Conversation()
        if previous not in self._stored:
            raise Refused(f"Previous response with id {previous!r} not found")
        return self._stored[previous]

    def _output(self, now: _Conversation, notes: list[str], is_preview: bool) -> list[Json]:
        if now.queue:
            return [self._call(now, [now.queue.pop(0)], (), is_preview)]
        turn = self._model(Seen(now.task, now.picture, tuple(notes), now.turns))
        now.turns += 1
        actions = [action for act in turn.acts for action in _actions(act)]
        if not actions:
            return [self._said(turn.text or "Done.", "final_answer")]
        if is_preview:
            now.queue = actions[1:]
        said = [self._said(turn.text, "commentary")] if turn.text else []
        return [
            *said,
            self._call(now, actions[:1] if is_preview else actions, turn.safety_checks, is_preview),
        ]

    def _said(self, text: str, phase: str) -> Json:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return {
            "type": "message",
            "id": f"msg_{next(self._ids)}",
            "role": "assistant",
            "status": "completed",
            "phase": phase,
            "content": content,
        }

    def _call(self, now: _Conversation, actions: list[Json], checks: Sequence[str], is_preview: bool) -> Json:
        now.call = {
            "type": "computer_call",
            "id": f"cu_{next(self._ids)}",
            "call_id": f"call_{next(self._ids)}",
            "status": "completed",
            "pending_safety_checks": [
                {"id": f"check_{next(self._ids)}", "code": "scripted", "message": message}
                for message in checks
            ],
            **({"action": actions[0]} if is_preview else {"actions": actions}),
        }
        return now.call


def _is_preview(request: Json) -> bool:
    for tool in field(request, "tools", list):
        kind = field(tool, "type", str)
        if kind == "computer":
            if set(tool) != {"type"}:
                raise Refused("tools: computer has no fields")
            return False
        if kind == "computer_use_preview":
            field(tool, "display_width", int)
            field(tool, "display_height", int)
            field(tool, "environment", str)
            if request.get("truncation") != "auto":
                raise Refused("computer_use_preview needs truncation: auto")
            return True
    raise Refused("tools: no computer tool")


def _read(before: _Conversation, items: object) -> tuple[_Conversation, list[str]]:
    """Return the conversation with the items of a request, and their texts."""
    now = _Conversation(
        before.task, before.picture, before.turns, before.pictures, before.call, [*before.queue]
    )
    notes: list[str] = []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else _list(items):
        if item.get("type") == "computer_call_output":
            _answered(now, item)
            _see(now, field(item, "output", dict))
        elif item.get("type") == "computer_call":  # the history, replayed instead of stored
            now.call, now.turns = item, now.turns + 1
        elif item.get("role") == "user":
            texts, pictures = texts_and_pictures(item.get("content"), "input_image")
            notes += texts
            for picture in pictures:
                _see(now, picture)
    if now.call is not None:
        raise Refused(f"No tool output found for computer call {now.call['call_id']}.")
    now.task = now.task or "\n".join(notes)
    return now, notes


def _list(items: object) -> list[Any]:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Refused("input: a string or a list of items is required")
    return items


def _answered(now: _Conversation, output: Json) -> None:
    """Check that an output is that of the waiting call, and that its safety checks are acknowledged."""
    if now.call is None or output.get("call_id") != now.call["call_id"]:
        raise Refused(f"No tool call found for computer call output with call_id {output.get('call_id')}.")
    acknowledged = {check.get("id") for check in output.get("acknowledged_safety_checks") or []}
    pending = {check["id"] for check in now.call.get("pending_safety_checks") or []}
    if not pending <= acknowledged:
        raise Refused(f"safety checks {sorted(pending - acknowledged)} are not acknowledged")
    now.call = None


def _see(now: _Conversation, picture: Json) -> None:
    url = field(picture, "image_url", str)
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    now.picture = decoded(data)
    check_picture(now.picture, kind, OPENAI)
    now.pictures += 1


def _response(identity: str, request: Json, output: list[Json], now: _Conversation) -> Json:
    tokens = now.pictures * _TOKENS_A_PICTURE
    return {
        "id": identity,
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "model": request["model"],
        "output": output,
        "parallel_tool_calls": False,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": request["tools"],
        "top_p": 1.0,
        "truncation": request.get("truncation", "disabled"),
        "usage": {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": _TOKENS_A_TURN,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens + _TOKENS_A_TURN,
        },
    }


def _actions(act: Action | Mapping[str, object]) -> list[Json]:
    """Return the actions that do what `act` does; a mapping is one.

    Raises:
        Refused: the tools have no action for it.
    """
    match act:
        case Mapping():
            return [dict(act)]
        case Click(count=1):
            return [
                _at("click", act) | {"button": _BUTTONS.get(act.button, act.button)} | _held(act.modifiers)
            ]
        case Click():
            return [_at("double_click", act) | _held(act.modifiers)] * (act.count - 1)
        case Move():
            return [{"type": "move", "x": act.x, "y": act.y} | _held(act.modifiers)]
        case Drag():
            path = [{"x": x, "y": y} for x, y in act.path]
            return [{"type": "drag", "path": path} | _held(act.modifiers)]
        case Scroll():
            turned = {"scroll_x": act.dx * PIXELS_A_NOTCH, "scroll_y": act.dy * PIXELS_A_NOTCH}
            return [_at("scroll", act) | turned | _held(act.modifiers)]
        case Type():
            return [{"type": "type", "text": act.text}]
        case Press():
            return [{"type": "keypress", "keys": act.keys.split("+")}] * act.repeat
        case Wait():
            return [{"type": "wait"}]
    raise Refused(f"the tools have no action for {act!r}", 500)


_BUTTONS = {"middle": "wheel"}


def _at(kind: str, act: Click | Scroll) -> Json:
    if act.x is None:
        raise Refused(f"the tools have no {kind} without x and y", 500)
    return {"type": kind, "x": act.x, "y": act.y}


def _held(modifiers: Sequence[str]) -> Json:
    return {"keys": [key.upper() for key in modifiers]} if modifiers else {}
