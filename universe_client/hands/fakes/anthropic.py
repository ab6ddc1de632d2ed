"""`POST /v1/messages` of Anthropic, for the computer toolset and the three tools before it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from universe_client.hands.actions import (
    Action,
    ButtonDown,
    ButtonUp,
    Click,
    Drag,
    Hold,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
)
from universe_client.hands.fakes.http import (
    Api,
    Json,
    Refused,
    check_picture,
    decoded,
    field,
    texts_and_pictures,
)
from universe_client.hands.fakes.model import Model, Seen, Turn
from universe_client.hands.vendors.limits import ANTHROPIC

TOOLSET = "computer_toolset_20260801"
BETAS = {
    "computer_20241022": "computer-use-2024-10-22",
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
}
_THREADS = "message-threads-2026-08-12"
_TOKENS_A_TURN, _TOKENS_A_CHARACTER = 50, 0.25


class FakeAnthropic(Api):
    """The Messages API with `model` behind it.

    After a turn's acts it asks for a screenshot in the same turn, as models with the toolset do.
    """

    path = "/v1/messages"

    def __init__(self, model: Model) -> None:
        """Serve `model` on a free port of 127.0.0.1."""
        super().__init__()
        self._model = model
        self._ids = itertools.count(1)
        self._stored: dict[str, Json] = {}  # the conversation up to a message, by the message's id

    def answer(self, headers: Mapping[str, str], request: Json) -> Json:
        """Check a request as the API does, and let the model answer.

        Raises:
            Refused: the real API would refuse it.
        """
        if not (headers.get("x-api-key") or headers.get("authorization")):
            raise Refused("x-api-key header is required", 401)
        if "anthropic-version" not in headers:
            raise Refused("anthropic-version header is required")
        field(request, "model", str)
        field(request, "max_tokens", int)
        request = self._with_thread(request, headers)
        tool = _tool(request, headers)
        messages = request["messages"]
        _check_results(messages, tool)
        reply = self._message(request, self._model(_seen(messages)), tool)
        said = {"role": "assistant", "content": reply["content"]}
        self._stored[reply["id"]] = {"messages": [*messages, said], "tools": request["tools"]}
        return reply

    def _with_thread(self, request: Json, headers: Mapping[str, str]) -> Json:
        """Return a request with all messages of its thread: the SDK sends only the new ones to `thread: continue`."""
        messages = field(request, "messages", list)
        thread = request.get("thread")
        if thread is None:
            return request
        if _THREADS not in headers.get("anthropic-beta", ""):
            raise Refused(f"thread needs the beta {_THREADS}")
        if field(thread, "type", str) == "create":
            return request
        before = self._stored.get(field(thread, "previous_message_id", str))
        if before is None:
            raise Refused("the thread is not found", 404)
        return {**request, "messages": before["messages"] + messages, "tools": before["tools"]}

    def error(self, message: str, status: int) -> Json:
        """Return an error as the API words it."""
        kinds = {401: "authentication_error", 404: "not_found_error", 500: "api_error"}
        return {
            "type": "error",
            "error": {"type": kinds.get(status, "invalid_request_error"), "message": message},
        }

    def _message(self, request: Json, turn: Turn, tool: str) -> Json:
        content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
        members = [member for act in turn.acts for member in _members(act)]
        if members and tool == TOOLSET and members[-1][0] not in ("screenshot", "zoom"):
            members.append(("screenshot", {}))
        content += [self._use(name, arguments, tool) for name, arguments in members]
        return {
            "id": f"msg_{next(self._ids)}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": content,
            "stop_reason": "tool_use" if members else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": _tokens(request), "output_tokens": _TOKENS_A_TURN},
        }

    def _use(self, name: str, arguments: Json, tool: str) -> Json:
        use: Json = {"type": "tool_use", "id": f"toolu_{next(self._ids)}", "name": name, "input": arguments}
        if tool == TOOLSET:
            return {**use, "toolset_name": "computer"}
        return {**use, "name": "computer", "input": {"action": name, **arguments}}


def _tool(request: Json, headers: Mapping[str, str]) -> str:
    """Return the type of the computer tool."""
    for tool in field(request, "tools", list):
        kind: str = field(tool, "type", str)
        if kind == TOOLSET:
            _check_keys(tool, {"type", "configs", "cache_control"})
            return kind
        if kind in BETAS:
            if BETAS[kind] not in headers.get("anthropic-beta", ""):
                raise Refused(f"{kind} needs the beta {BETAS[kind]}")
            if field(tool, "name", str) != "computer":
                raise Refused(f"tools: {kind} is named computer")
            field(tool, "display_width_px", int)
            field(tool, "display_height_px", int)
            return kind
    raise Refused("tools: no computer tool")


def _check_keys(tool: Json, known: set[str]) -> None:
    if unknown := set(tool) - known:
        raise Refused(f"tools: unknown fields {sorted(unknown)}")


def _check_results(messages: list[Any], tool: str) -> None:
    """Check that each use of the tool has its result in the next message, and that roles alternate."""
    uses: dict[str, Json] = {}
    for index, message in enumerate(messages):
        role = field(message, "role", str)
        if role != ("assistant" if index % 2 else "user"):
            raise Refused(f"messages.{index}: unexpected role {role}")
        blocks = message["content"] if isinstance(message.get("content"), list) else []
        if role == "user":
            results = [block for block in blocks if block.get("type") == "tool_result"]
            if [result.get("tool_use_id") for result in results] != list(uses):
                raise Refused(
                    f"messages.{index}: each tool_use needs its tool_result, in order: {list(uses)}"
                )
            for result in results:
                _check_result(result, tool)
        uses = {block["id"]: block for block in blocks if block.get("type") == "tool_use"}
    if field(messages[-1] if messages else None, "role", str) != "user":
        raise Refused("the last message is not the user's")


def _check_result(result: Json, tool: str) -> None:
    if tool == TOOLSET and result.get("toolset_name") != "computer":
        raise Refused("tool_result: toolset_name must be that of the tool_use")
    if result.get("is_error") and not result.get("content"):
        raise Refused("tool_result: an error needs a content")


def _seen(messages: list[Any]) -> Seen:
    pictures: list[bytes] = []
    notes: list[str] = []
    for message in messages:
        if message["role"] == "user":
            notes = _read(message["content"], pictures)
    task = "\n".join(texts_and_pictures(messages[0]["content"], "image")[0])
    return Seen(task, pictures[-1] if pictures else None, tuple(notes), len(messages) // 2)


def _read(content: object, pictures: list[bytes]) -> list[str]:
    """Return the texts of a message; add its pictures to `pictures`."""
    texts, images = texts_and_pictures(content, "image")
    for image in images:
        source = field(image, "source", dict)
        data = decoded(field(source, "data", str))
        check_picture(data, field(source, "media_type", str), ANTHROPIC)
        pictures.append(data)
    for result in texts_and_pictures(content, "tool_result")[1]:
        texts += _read(result.get("content"), pictures)
    return texts


def _tokens(request: Json) -> int:
    """Return a number of tokens that grows with the conversation, as the API counts."""
    return int(sum(len(str(message)) for message in request["messages"]) * _TOKENS_A_CHARACTER)


def _members(act: Action | Mapping[str, object]) -> Iterator[tuple[str, Json]]:
    """Yield the members that do what `act` does; a mapping has its `name` and its `input`."""
    match act:
        case Mapping():
            yield str(act["name"]), dict(field(dict(act), "input", dict))
        case Click():
            yield _click(act), _at(act) | _text("+".join(act.modifiers))
        case Move():
            yield "mouse_move", {"coordinate": [act.x, act.y]}
        case Drag(path=[start, end]):
            ends = {"start_coordinate": list(start), "coordinate": list(end)}
            yield "left_click_drag", ends | _text("+".join(act.modifiers))
        case Drag():
            yield "mouse_move", {"coordinate": list(act.path[0])}
            yield "left_mouse_down", {}
            for point in act.path[1:]:
                yield "mouse_move", {"coordinate": list(point)}
            yield "left_mouse_up", {}
        case Scroll():
            yield from _scrolls(act)
        case ButtonDown():
            yield "left_mouse_down", {}
        case ButtonUp():
            yield "left_mouse_up", {}
        case Type():
            yield "type", _text(act.text)
        case Press():
            yield "key", _text(act.keys) | ({"repeat": act.repeat} if act.repeat > 1 else {})
        case Hold():
            yield "hold_key", {"text": act.keys, "duration": round(act.seconds)}
        case Wait():
            yield "wait", {"duration": round(act.seconds)}


def _click(act: Click) -> str:
    return {1: f"{act.button}_click", 2: "double_click", 3: "triple_click"}[act.count]


def _at(act: Click | Scroll) -> Json:
    return {} if act.x is None else {"coordinate": [act.x, act.y]}


def _text(text: str) -> Json:
    return {"text": text} if text else {}


def _scrolls(act: Scroll) -> Iterator[tuple[str, Json]]:
    for amount, names in ((act.dy, ("up", "down")), (act.dx, ("left", "right"))):
        if amount:
            turned = {"scroll_direction": names[amount > 0], "scroll_amount": abs(amount)}
            yield "scroll", _at(act) | turned | _text("+".join(act.modifiers))
