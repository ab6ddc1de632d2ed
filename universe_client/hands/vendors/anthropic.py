"""Anthropic's computer-use tools, for the SDK `anthropic` (2.12 or later; `pip install '.[anthropic]'`).

`ComputerToolset` is the newest, `computer_toolset_20260801`, on the SDK's own class of drivers. `OlderComputerTool` is
one of the three before it. Both go into `tools` of `client.beta.messages.tool_runner`:

    with Computer.open("desktop.WriteNote-v0", max_size=(1456, 816)) as computer:
        toolset = ComputerToolset(computer, confirm=lambda context: True)
        runner = client.beta.messages.tool_runner(model=..., max_tokens=4096, tools=[toolset], messages=[...])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from anthropic.lib.tools import BetaBuiltinFunctionTool, BetaFunctionToolResultType
from anthropic.tools import ToolError
from anthropic.tools.computer import (
    BetaAbstractComputerToolset20260801,
    BetaAsyncAbstractComputerToolset20260801,
    BetaAsyncComputerConfirmCallable,
    BetaComputerConfirmCallable,
    BetaComputerCursorPositionResult,
    BetaComputerMemberResult,
    BetaScreenshotResult,
    BetaToolConfigs,
    BetaToolsetCallContext,
)
from anthropic.types.beta import (
    BetaComputerMemberInput,
    BetaComputerMemberName,
    BetaComputerToolsetConfigsParam,
    BetaImageBlockParam,
    BetaTextBlockParam,
    BetaToolUnionParam,
)
from anyio import get_cancelled_exc_class, to_thread

from universe_client.errors import ConfigError, UniverseError
from universe_client.hands.computer import Computer
from universe_client.hands.errors import InvalidAction
from universe_client.hands.pictures import Picture
from universe_client.hands.vendors.limits import ANTHROPIC, PictureLimits
from universe_client.hands.vendors.members import ACTS, LOOKS, Arguments, actions_of, needed, parse
from universe_client.hands.vendors.sight import Sight, base64_of

Version = Literal["computer_20241022", "computer_20250124", "computer_20251124"]
"""The tools before `computer_toolset_20260801`."""
BETAS: Mapping[Version, str] = {
    "computer_20241022": "computer-use-2024-10-22",
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
}
"""What `betas` must contain for each of them. `computer_toolset_20260801` needs nothing."""

Confirm = Callable[[str, Mapping[str, object]], bool]
"""Receives the name of an action and its arguments; only True permits it."""

_FIRST = (
    "key",
    "type",
    "mouse_move",
    "left_click",
    "left_click_drag",
    "right_click",
    "middle_click",
    "double_click",
)
_SERVED: Mapping[Version, frozenset[str]] = {
    "computer_20241022": frozenset((*_FIRST, "screenshot", "cursor_position")),
    "computer_20250124": frozenset((*ACTS, "screenshot", "cursor_position")),
    "computer_20251124": frozenset((*ACTS, *LOOKS)),
}


class ComputerToolset(BetaAbstractComputerToolset20260801):
    """`computer_toolset_20260801` on a `Computer`: all 17 members.

    Acts return at once. `screenshot` waits until the screen has come to rest; `zoom` shows the newest pixels.
    """

    def __init__(
        self,
        computer: Computer,
        *,
        confirm: BetaComputerConfirmCallable | None = None,
        configs: BetaComputerToolsetConfigsParam | None = None,
        tool_configs: BetaToolConfigs | None = None,
        limits: PictureLimits = ANTHROPIC,
    ) -> None:
        """Serve `computer`, which stays the caller's to close.

        Args:
            computer: its pictures become smaller if they are beyond `limits`.
            confirm: asked before each call, see the SDK; the SDK requires it unless `configs` turns `type`, `key` and
                `hold_key` off.
            configs: the members to turn off, see the SDK.
            tool_configs: see the SDK.
            limits: of the model's pictures.

        Raises:
            anthropic.tools.ToolsetConfigError: `confirm` is missing, or `configs` is wrong.
            RemoteError: the remote cannot be reached.
        """
        super().__init__(configs=configs, confirm=confirm, tool_configs=tool_configs)
        self._sight = Sight(computer, limits)

    def execute(
        self, context: BetaToolsetCallContext, name: BetaComputerMemberName, input: BetaComputerMemberInput
    ) -> BetaComputerMemberResult:
        """Play one member. The SDK has validated its input, and `confirm` has permitted it.

        Raises:
            ToolError: what went wrong, in words for the model.
        """
        return _member(self._sight, name, input)


class AsyncComputerToolset(BetaAsyncAbstractComputerToolset20260801):
    """`ComputerToolset` for `AsyncAnthropic`: each member is played in a thread, one after the other."""

    def __init__(
        self,
        computer: Computer,
        *,
        confirm: BetaAsyncComputerConfirmCallable | None = None,
        configs: BetaComputerToolsetConfigsParam | None = None,
        tool_configs: BetaToolConfigs | None = None,
        limits: PictureLimits = ANTHROPIC,
    ) -> None:
        """See `ComputerToolset`; `confirm` may be a coroutine function."""
        super().__init__(configs=configs, confirm=confirm, tool_configs=tool_configs)
        self._sight = Sight(computer, limits)

    async def execute(
        self, context: BetaToolsetCallContext, name: BetaComputerMemberName, input: BetaComputerMemberInput
    ) -> BetaComputerMemberResult:
        """See `ComputerToolset.execute`. If it is cancelled, what it holds down is released."""
        try:
            return await to_thread.run_sync(_member, self._sight, name, input, abandon_on_cancel=True)
        except get_cancelled_exc_class():
            self._sight.computer.interrupt()
            raise


def _member(sight: Sight, name: str, input: BetaComputerMemberInput) -> BetaComputerMemberResult:
    """Play one member of the toolset.

    Raises:
        ToolError: what went wrong, in words for the model.
    """
    try:
        return _answer(sight, name, parse(input.to_dict()))
    except UniverseError as error:
        raise ToolError(str(error)) from error


def _answer(sight: Sight, name: str, arguments: Arguments) -> BetaComputerMemberResult:
    match name:
        case "screenshot":
            return _screenshot(sight.look())
        case "zoom":
            return _screenshot(sight.zoom(needed(arguments.region, "region")))
        case "cursor_position":
            x, y = sight.computer.cursor()
            return BetaComputerCursorPositionResult(x=x, y=y)
    sight.act(actions_of(name, arguments))
    return None


class OlderComputerTool(BetaBuiltinFunctionTool):
    """`computer_20241022`, `computer_20250124` or `computer_20251124` on a `Computer`: one tool with an `action`.

    Each act returns the settled picture, so that the model needs no second call to look.
    """

    def __init__(
        self,
        computer: Computer,
        version: Version,
        *,
        confirm: Confirm,
        enable_zoom: bool = True,
        limits: PictureLimits = ANTHROPIC,
    ) -> None:
        """Serve `computer`, which stays the caller's to close.

        Args:
            computer: its pictures become smaller if they are beyond `limits`.
            version: the type of the tool. The request needs `betas=[BETAS[version]]`.
            confirm: asked before each act; looking needs no permission.
            enable_zoom: whether `computer_20251124` may zoom. The older two cannot.
            limits: of the model's pictures.

        Raises:
            ConfigError: the version is unknown.
            RemoteError: the remote cannot be reached.
        """
        if version not in get_args(Version):
            raise ConfigError(f"{version!r} is none of {', '.join(get_args(Version))}")
        self._sight, self._version, self._confirm = Sight(computer, limits), version, confirm
        self._zooms = enable_zoom and "zoom" in _SERVED[version]
        self._served = _SERVED[version] - (set() if self._zooms else {"zoom"})

    def to_dict(self) -> BetaToolUnionParam:
        """Return the entry of `tools`, with the size of the pictures."""
        width, height = self._sight.size()
        match self._version:
            case "computer_20241022":
                return {
                    "type": "computer_20241022",
                    "name": "computer",
                    "display_width_px": width,
                    "display_height_px": height,
                }
            case "computer_20250124":
                return {
                    "type": "computer_20250124",
                    "name": "computer",
                    "display_width_px": width,
                    "display_height_px": height,
                }
            case "computer_20251124":
                return {
                    "type": "computer_20251124",
                    "name": "computer",
                    "display_width_px": width,
                    "display_height_px": height,
                    "enable_zoom": self._zooms,
                }

    def call(self, input: object) -> BetaFunctionToolResultType:
        """Play one action; return a picture, or the place of the pointer.

        Raises:
            ToolError: what went wrong, in words for the model.
        """
        try:
            return self._answer(input)
        except UniverseError as error:
            raise ToolError(str(error)) from error

    def _answer(self, input: object) -> BetaFunctionToolResultType:
        if not isinstance(input, Mapping) or not isinstance(name := input.get("action"), str):
            raise InvalidAction("the argument 'action' is missing")
        if name not in self._served:
            raise InvalidAction(
                f"{self._version} has no action {name!r}; it has {', '.join(sorted(self._served))}"
            )
        arguments = parse(input)
        match name:
            case "screenshot":
                return [image_block(self._sight.look())]
            case "zoom":
                return [image_block(self._sight.zoom(needed(arguments.region, "region")))]
            case "cursor_position":
                return "X={},Y={}".format(*self._sight.computer.cursor())
        actions = actions_of(name, arguments)
        if self._confirm(name, input) is not True:
            raise InvalidAction(
                f"the user did not permit {name!r}; do not try it again unless the user asks for it"
            )
        self._sight.act(actions)
        return [_text_block(f"{name}: done"), image_block(self._sight.look())]


def image_block(picture: Picture) -> BetaImageBlockParam:
    """Return the picture as a block of a message."""
    data = base64_of(picture)
    return {"type": "image", "source": {"type": "base64", "media_type": _media_type(picture), "data": data}}


def _text_block(text: str) -> BetaTextBlockParam:
    return {"type": "text", "text": text}


def _screenshot(picture: Picture) -> BetaScreenshotResult:
    return BetaScreenshotResult(data=base64_of(picture), media_type=_media_type(picture))


def _media_type(picture: Picture) -> Literal["image/jpeg", "image/png"]:
    return "image/png" if picture.format == "png" else "image/jpeg"
