"""The tools that a model calls: their names, their arguments and what is said of them."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field, ValidationError

from universe_client.errors import UniverseError
from universe_client.hands import Computer, Region
from universe_client.hands import json_actions as actions
from universe_client.hands.json_actions import Action, plain
from universe_client.hands.mcp.answers import Answer, of_outcome, refusal, state, state_words
from universe_client.hands.mcp.remotes import Remotes

RemoteName = Annotated[
    str | None, Field(description="The remote, as list_remotes names it. Not needed if there is only one.")
]
Area = Annotated[
    list[int],
    Field(
        description="[x, y, width, height]: only this part of the screen, in all its detail.",
        min_length=4,
        max_length=4,
    ),
]
Quiet = Annotated[float, Field(description="Seconds without a change that count as still.", ge=0.02, le=10)]
Timeout = Annotated[float, Field(description="Seconds to wait at most.", gt=0, le=120)]
Seed = Annotated[int, Field(description="The same seed gives the same task.", ge=0)]
EnvId = Annotated[
    str, Field(description="Another task that this screen can show; leave it out to keep the kind of task.")
]
FullSize = Annotated[bool, Field(description="Every pixel of a large screen, which costs many tokens.")]
Format = Annotated[Literal["jpeg", "png"], Field(description="png has exact pixels.")]

Function = Callable[..., Awaitable[CallToolResult]]

_LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
_ACTS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)


class Tools:
    """The tools of a server, over its remotes. Each returns text, and a picture where the screen may have changed."""

    def __init__(self, remotes: Remotes) -> None:
        self._remotes = remotes

    def all(self) -> list[Tool]:
        """Return each tool, with its schema and what a host may assume of it."""
        looks = (self.screenshot, self.wait_until_still, self.task, self.list_remotes)
        acts = (
            self.do,
            self.click,
            self.move,
            self.drag,
            self.scroll,
            self.type,
            self.press,
            self.hold,
            self.reset,
        )
        return [_tool(each, _LOOKS) for each in looks] + [_tool(each, _ACTS) for each in acts]

    async def screenshot(
        self,
        region: Area | None = None,
        full_size: FullSize = False,
        format: Format = "jpeg",
        remote: RemoteName = None,
    ) -> CallToolResult:
        """Look at the screen as it is now.

        Coordinates of all tools are pixels of the whole picture, whatever part or size you look at here. The acting
        tools return a picture themselves: use this to begin, to look again later, or to look closer.
        """

        def look(computer: Computer) -> Answer:
            part = Region(0, 0, *computer.size) if region is None else Region(*region)
            picture = computer.screenshot(1.0 if full_size else None, part, format)
            x, y, width, height = part
            words = f"x {x} to {x + width}, y {y} to {y + height}. {state_words(computer)}"
            return Answer(computer.size, words, picture, state(computer))

        return await self._use(remote, look)

    async def wait_until_still(
        self,
        quiet: Quiet = 0.1,
        timeout: Timeout = 10.0,  # noqa: ASYNC109 (how the model calls it)
        remote: RemoteName = None,
    ) -> CallToolResult:
        """Wait until the screen stops changing, for example while a program starts; then look at it."""
        return await self._do(remote, [], quiet=quiet, timeout=timeout)

    async def task(self, remote: RemoteName = None) -> CallToolResult:
        """Read the task again, and the reward so far."""
        return await self._use(
            remote, lambda computer: Answer(computer.size, state_words(computer), None, state(computer))
        )

    async def list_remotes(self) -> CallToolResult:
        """List the screens: the name of each, the size of its pictures, its task and its reward so far."""
        answers = [await self.task(desk.name) for desk in self._remotes]
        return CallToolResult(content=[block for answer in answers for block in answer.content])

    async def do(self, actions: actions.Batch, remote: RemoteName = None) -> CallToolResult:
        """Play several actions one after another, wait until the screen is still, and look at it.

        Prefer this to single actions whenever you know the next ones: click into a field, type, press Return. Fields of
        an action: click (x, y, button, count, modifiers), move (x, y), drag (path, button, modifiers), scroll (x, y,
        direction, amount, modifiers), type (text), press (keys, repeat), hold (keys, seconds), wait (seconds),
        button_down (button), button_up (button). If one cannot be played, none is.
        """
        return await self._do(remote, actions)

    async def click(
        self,
        x: actions.X | None = None,
        y: actions.Y | None = None,
        button: actions.Button = "left",
        count: actions.Count = 1,
        modifiers: actions.Modifiers = "",
        remote: RemoteName = None,
    ) -> CallToolResult:
        """Click at x, y, or where the pointer is (count 2: double click); wait until the screen is still, and look."""
        return await self._do(
            remote, [Action(action="click", x=x, y=y, button=button, count=count, modifiers=modifiers)]
        )

    async def move(self, x: actions.X, y: actions.Y, remote: RemoteName = None) -> CallToolResult:
        """Move the pointer to x, y without a click, for example to see a tooltip; then look."""
        return await self._do(remote, [Action(action="move", x=x, y=y)])

    async def drag(
        self,
        path: actions.Path,
        button: actions.Button = "left",
        modifiers: actions.Modifiers = "",
        remote: RemoteName = None,
    ) -> CallToolResult:
        """Press the button at the first point, move along the path, and release it at the last; then look."""
        return await self._do(remote, [Action(action="drag", path=path, button=button, modifiers=modifiers)])

    async def scroll(
        self,
        direction: actions.Direction,
        amount: actions.Amount = 3,
        x: actions.X | None = None,
        y: actions.Y | None = None,
        modifiers: actions.Modifiers = "",
        remote: RemoteName = None,
    ) -> CallToolResult:
        """Turn the mouse wheel at x, y, or where the pointer is; then look."""
        return await self._do(
            remote,
            [Action(action="scroll", direction=direction, amount=amount, x=x, y=y, modifiers=modifiers)],
        )

    async def type(self, text: actions.Text, remote: RemoteName = None) -> CallToolResult:
        """Type a text where the keyboard focus is, in any language; then look. Use press for keys such as Escape."""
        return await self._do(remote, [Action(action="type", text=text)])

    async def press(
        self, keys: actions.Keys, repeat: actions.Repeat = 1, remote: RemoteName = None
    ) -> CallToolResult:
        """Press a key or a combination of keys; then look."""
        return await self._do(remote, [Action(action="press", keys=keys, repeat=repeat)])

    async def hold(
        self, keys: actions.Keys, seconds: actions.Seconds, remote: RemoteName = None
    ) -> CallToolResult:
        """Hold keys down for some seconds, for example to walk in a game; then look."""
        return await self._do(remote, [Action(action="hold", keys=keys, seconds=seconds)])

    async def reset(
        self, seed: Seed | None = None, env_id: EnvId | None = None, remote: RemoteName = None
    ) -> CallToolResult:
        """Give up the episode and begin a new one, with a new task and reward 0; then look.

        The programs on the screen start anew, and what was not saved is lost.
        """
        return await self._use(
            remote, lambda computer: of_outcome(computer, computer.reset(seed=seed, env_id=env_id))
        )

    async def _do(self, remote: str | None, batch: Sequence[Action], **how: Any) -> CallToolResult:
        played = [each.parsed() for each in batch]
        return await self._use(remote, lambda computer: of_outcome(computer, computer.do(played, **how)))

    async def _use(self, remote: str | None, work: Callable[[Computer], Answer]) -> CallToolResult:
        desk = self._remotes.pick(remote)
        return await desk.use(lambda computer: work(computer).result(desk.name))


def _tool(function: Function, annotations: ToolAnnotations) -> Tool:
    tool = Tool.from_function(_worded(function), annotations=annotations)
    tool.parameters = plain(tool.parameters)
    return tool


def _worded(function: Function) -> Function:
    """Return the tool with errors of this package as answers that a model reads."""

    @functools.wraps(function)
    async def worded(**arguments: Any) -> CallToolResult:
        try:
            return await function(**arguments)
        except UniverseError as error:
            return refusal(f"{function.__name__}: {error}")
        except ValidationError as error:
            return refusal(f"{function.__name__}: {'; '.join(each['msg'] for each in error.errors())}")

    return worded
