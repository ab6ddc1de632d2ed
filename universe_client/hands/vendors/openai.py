"""OpenAI's computer-use tools, for the SDK `openai` (3.54 or later; `pip install '.[openai]'`).

`ComputerTool` is `computer`, whose calls are lists of actions, or `computer_use_preview`, with one action a call. It
plays a whole call at once and returns the items of the next request. `Driver` is for the SDK's own loop,
`openai.lib.computer.ComputerToolset`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from openai.types.responses import ResponseComputerToolCall, ResponseInputItemParam, ToolParam
from openai.types.responses import computer_action as words
from openai.types.responses import response_computer_tool_call as preview_words
from openai.types.responses.response_computer_tool_call_output_screenshot_param import (
    ResponseComputerToolCallOutputScreenshotParam,
)
from openai.types.responses.response_input_item_param import ComputerCallOutput

from universe_client.errors import UniverseError
from universe_client.hands.actions import Action, Button, Click, Drag, Move, Press, Scroll, Type, Wait
from universe_client.hands.computer import Computer
from universe_client.hands.errors import InvalidAction
from universe_client.hands.pictures import Picture
from universe_client.hands.vendors.limits import OPENAI, PictureLimits
from universe_client.hands.vendors.sight import Sight, base64_of

PIXELS_A_NOTCH = 100
"""The models scroll by pixels, and a wheel by notches: this many pixels in browsers, roughly."""
WAIT_SECONDS = 1.0
"""What `wait`, which has no argument, waits before the screen may come to rest."""
MAX_NOTCHES = 100

Approve = Callable[[Sequence[preview_words.PendingSafetyCheck]], bool]
"""Receives the safety checks of a call; only True acknowledges them."""
Confirm = Callable[[str, Mapping[str, object]], bool]
"""Receives the name of an action and its arguments; only True permits it."""
Environment = Literal["windows", "mac", "linux", "ubuntu", "browser"]

_BUTTONS: Mapping[str, Button] = {
    "left": "left",
    "right": "right",
    "wheel": "middle",
    "back": "back",
    "forward": "forward",
}
_KEYS = {"arrowleft": "Left", "arrowright": "Right", "arrowup": "Up", "arrowdown": "Down", "+": "plus"}
"""Names of browsers' keyboard events that differ from those that `parse_keys` knows."""


class NotApproved(UniverseError):
    """Safety checks of a call were not acknowledged: the model's run must end here."""


class ComputerTool:
    """`computer` or `computer_use_preview` on a `Computer`."""

    def __init__(
        self,
        computer: Computer,
        *,
        approve: Approve,
        confirm: Confirm,
        preview: bool = False,
        environment: Environment = "linux",
        limits: PictureLimits = OPENAI,
    ) -> None:
        """Serve `computer`, which stays the caller's to close.

        Args:
            computer: its pictures become smaller if they are beyond `limits`.
            approve: asked when a call has pending safety checks.
            confirm: asked before each action that does something.
            preview: whether the tool is `computer_use_preview`.
            environment: what the preview tool is told about the remote.
            limits: of the model's pictures.

        Raises:
            RemoteError: the remote cannot be reached.
        """
        self._sight, self._approve, self._confirm = Sight(computer, limits), approve, confirm
        self._preview, self._environment = preview, environment

    def to_dict(self) -> ToolParam:
        """Return the entry of `tools`."""
        if not self._preview:
            return {"type": "computer"}
        width, height = self._sight.size()
        return {
            "type": "computer_use_preview",
            "display_width": width,
            "display_height": height,
            "environment": self._environment,
        }

    def answer(self, call: ResponseComputerToolCall) -> list[ResponseInputItemParam]:
        """Play a call; return its output with the settled picture, and what went wrong as a message, if anything did.

        Raises:
            NotApproved: `approve` did not return True; nothing was played.
            RemoteError: the remote is lost, and there is no picture.
        """
        if call.pending_safety_checks and self._approve(call.pending_safety_checks) is not True:
            reasons = "; ".join(
                check.message or check.code or check.id for check in call.pending_safety_checks
            )
            raise NotApproved(f"safety checks were not acknowledged: {reasons}")
        problem = self._play(call)
        items: list[ResponseInputItemParam] = [output_of(call, self._sight.look())]
        if problem is not None:
            items.append({"role": "user", "content": f"The last call was not completed: {problem}"})
        return items

    def _play(self, call: ResponseComputerToolCall) -> str | None:
        """Play the actions in one go; return why they could not be."""
        wanted = [action for action in actions_in(call) if action.type != "screenshot"]
        try:
            played = [action for each in wanted for action in actions_of(each)]
            for each in wanted:
                if self._confirm(each.type, arguments_of(each)) is not True:
                    return f"the user did not permit {each.type!r}"
            self._sight.act(played)
        except UniverseError as error:
            return str(error)
        return None


class Driver:
    """What `openai.lib.computer.ComputerToolset` drives. It plays each action at once, and looks after the last.

    That class ends its run at an action that cannot be played, while `ComputerTool` tells the model.
    """

    def __init__(self, computer: Computer, limits: PictureLimits = OPENAI) -> None:
        """Serve `computer`, which stays the caller's to close.

        Raises:
            RemoteError: the remote cannot be reached.
        """
        self._sight = Sight(computer, limits)

    def click(self, action: words.Click | preview_words.ActionClick) -> None:
        """See `actions_of`, as for all of these."""
        self._sight.act(actions_of(action))

    def double_click(self, action: words.DoubleClick | preview_words.ActionDoubleClick) -> None:
        """Two clicks of the left button."""
        self._sight.act(actions_of(action))

    def drag(self, action: words.Drag | preview_words.ActionDrag) -> None:
        """Along the path, with the left button."""
        self._sight.act(actions_of(action))

    def keypress(self, action: words.Keypress | preview_words.ActionKeypress) -> None:
        """All keys together."""
        self._sight.act(actions_of(action))

    def move(self, action: words.Move | preview_words.ActionMove) -> None:
        """The pointer."""
        self._sight.act(actions_of(action))

    def scroll(self, action: words.Scroll | preview_words.ActionScroll) -> None:
        """By notches of the wheel."""
        self._sight.act(actions_of(action))

    def type(self, action: words.Type | preview_words.ActionType) -> None:
        """A text."""
        self._sight.act(actions_of(action))

    def wait(self, action: words.Wait | preview_words.ActionWait) -> None:
        """Before the screen may come to rest."""
        self._sight.act(actions_of(action))

    def screenshot(self) -> ResponseComputerToolCallOutputScreenshotParam:
        """Return the settled screen."""
        return screenshot_of(self._sight.look())


def actions_in(call: ResponseComputerToolCall) -> Sequence[words.ComputerAction | preview_words.Action]:
    """Return the actions of a call: a list for `computer`, one for `computer_use_preview`."""
    if call.actions is not None:
        return call.actions
    return [] if call.action is None else [call.action]


def arguments_of(action: words.ComputerAction | preview_words.Action) -> dict[str, object]:
    """Return the arguments of an action."""
    arguments: dict[str, object] = action.to_dict(exclude_none=True)
    return {name: value for name, value in arguments.items() if name != "type"}


def actions_of(action: words.ComputerAction | preview_words.Action) -> list[Action]:
    """Return what an action of a model does; a screenshot does nothing.

    Raises:
        InvalidAction: it is unknown, or an argument is missing or out of its range.
    """
    match action.type:
        case "click":
            return [Click(action.x, action.y, button=_button(action.button), modifiers=_held(action.keys))]
        case "double_click":
            return [Click(action.x, action.y, count=2, modifiers=_held(action.keys))]
        case "drag":
            return [Drag([(point.x, point.y) for point in action.path], modifiers=_held(action.keys))]
        case "keypress":
            return [Press("+".join(map(_key, _some(action.keys))))]
        case "move":
            return [Move(action.x, action.y, modifiers=_held(action.keys))]
        case "scroll":
            return [
                Scroll(
                    action.x,
                    action.y,
                    dx=_notches(action.scroll_x),
                    dy=_notches(action.scroll_y),
                    modifiers=_held(action.keys),
                )
            ]
        case "type":
            return [Type(action.text)]
        case "wait":
            return [Wait(WAIT_SECONDS)]
        case "screenshot":
            return []
    raise InvalidAction(f"there is no action {action.type!r}")


def output_of(call: ResponseComputerToolCall, picture: Picture) -> ComputerCallOutput:
    """Return the item that answers a call, with its safety checks acknowledged."""
    return {
        "type": "computer_call_output",
        "call_id": call.call_id,
        "output": screenshot_of(picture),
        "acknowledged_safety_checks": [
            {"id": check.id, "code": check.code, "message": check.message}
            for check in call.pending_safety_checks or []
        ],
    }


def screenshot_of(picture: Picture) -> ResponseComputerToolCallOutputScreenshotParam:
    """Return the picture as the SDK takes it."""
    return {"type": "computer_screenshot", "image_url": image_url(picture)}


def image_url(picture: Picture) -> str:
    """Return the picture as a data URL."""
    return f"data:{picture.media_type};base64,{base64_of(picture)}"


def _button(name: str) -> Button:
    if name not in _BUTTONS:
        raise InvalidAction(f"there is no button {name!r}; there are {', '.join(_BUTTONS)}")
    return _BUTTONS[name]


def _held(keys: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(map(_key, keys or ()))


def _some(keys: Sequence[str]) -> Sequence[str]:
    if not keys:
        raise InvalidAction("keypress without keys")
    return keys


def _key(name: str) -> str:
    return _KEYS.get(name.lower(), name)


def _notches(pixels: int) -> int:
    """Return at least one notch for any movement, and not more than a computer plays at once."""
    notches = round(pixels / PIXELS_A_NOTCH) or (pixels > 0) - (pixels < 0)
    return max(-MAX_NOTCHES, min(MAX_NOTCHES, notches))
