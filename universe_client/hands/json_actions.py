"""Actions as a model writes them in JSON: flat objects, because not every host understands `oneOf` and `$ref`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from universe_client import hands

Button = Annotated[Literal["left", "middle", "right", "back", "forward"], Field(description="Mouse button.")]
Direction = Annotated[Literal["up", "down", "left", "right"], Field(description="Where to scroll.")]
X = Annotated[int, Field(description="Pixels from the left edge of the picture.")]
Y = Annotated[int, Field(description="Pixels from the top edge of the picture.")]
Keys = Annotated[
    str, Field(description='One key or a combination: "Return", "ctrl+s", "alt+Tab", "Page_Up", "shift+F10".')
]
Modifiers = Annotated[
    str, Field(description='Keys held down meanwhile: "shift", "ctrl+alt"; empty for none.')
]
Path = Annotated[
    list[Annotated[list[int], Field(min_length=2, max_length=2)]],
    Field(description="Points [x, y]: the button goes down at the first and up at the last.", min_length=2),
]
Seconds = Annotated[float, Field(description="Seconds.", gt=0, le=300)]
Amount = Annotated[int, Field(description="Notches of the wheel; three are about half a page.", ge=1, le=100)]
Count = Annotated[int, Field(description="2 for a double click, 3 for a triple click.", ge=1, le=3)]
Repeat = Annotated[int, Field(description="How many times to press.", ge=1, le=100)]
Text = Annotated[str, Field(description='Any text. "\\n" presses Return, "\\t" Tab.', max_length=10_000)]

_NOTCH = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_TAKES: dict[str, tuple[set[str], set[str]]] = {
    "click": (set(), {"x", "y", "button", "count", "modifiers"}),
    "move": ({"x", "y"}, set()),
    "drag": ({"path"}, {"button", "modifiers"}),
    "scroll": ({"direction"}, {"x", "y", "amount", "modifiers"}),
    "type": ({"text"}, set()),
    "press": ({"keys"}, {"repeat"}),
    "hold": ({"keys", "seconds"}, set()),
    "wait": ({"seconds"}, set()),
    "button_down": (set(), {"button"}),
    "button_up": (set(), {"button"}),
}
"""The fields that each action needs, and those that it may have."""


class Action(BaseModel):
    """One action of a batch."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"description": "One action; see the tool."})

    action: Literal[
        "click", "move", "drag", "scroll", "type", "press", "hold", "wait", "button_down", "button_up"
    ]
    x: X | None = None
    y: Y | None = None
    button: Button | None = None
    count: Count | None = None
    modifiers: Modifiers | None = None
    path: Path | None = None
    direction: Direction | None = None
    amount: Amount | None = None
    text: Text | None = None
    keys: Keys | None = None
    repeat: Repeat | None = None
    seconds: Seconds | None = None

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        given = self._given()
        needs, may = _TAKES[self.action]
        if missing := needs - given.keys():
            raise ValueError(f"{self.action} needs {_names(missing)}")
        if extra := given.keys() - needs - may:
            raise ValueError(f"{self.action} takes {_names(needs | may)}, not {_names(extra)}")
        if ("x" in given) != ("y" in given):
            raise ValueError(f"{self.action} needs both x and y, or neither")
        return self

    def _given(self) -> dict[str, Any]:
        return self.model_dump(exclude={"action"}, exclude_none=True)

    def parsed(self) -> hands.Action:
        """Return the action that `Computer.do` plays.

        Raises:
            InvalidAction: a key has no such name.
        """
        given = self._given()
        if modifiers := given.pop("modifiers", ""):
            given["modifiers"] = (modifiers,)
        return _MAKERS[self.action](**given)


def _names(fields: set[str]) -> str:
    return ", ".join(name for name in Action.model_fields if name in fields)


def _scroll(direction: str, amount: int = 3, **where: Any) -> hands.Action:
    dx, dy = _NOTCH[direction]
    return hands.Scroll(dx=dx * amount, dy=dy * amount, **where)


_MAKERS: dict[str, Callable[..., hands.Action]] = {
    "click": hands.Click,
    "move": hands.Move,
    "drag": hands.Drag,
    "scroll": _scroll,
    "type": hands.Type,
    "press": hands.Press,
    "hold": hands.Hold,
    "wait": hands.Wait,
    "button_down": hands.ButtonDown,
    "button_up": hands.ButtonUp,
}


def plain(schema: Any) -> Any:
    """Return a JSON schema without titles, and without null as a value of optional fields."""
    if isinstance(schema, list):
        return [plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == 1:
        schema = {
            name: value for name, value in schema.items() if name not in ("anyOf", "default")
        } | choices[0]
    return {
        name: plain(value)
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str))
    }


Batch = Annotated[
    list[Action],
    Field(min_length=1, max_length=100),
    WithJsonSchema(
        {
            "type": "array",
            "minItems": 1,
            "maxItems": 100,
            "description": "The actions, in their order.",
            "items": plain(Action.model_json_schema()),
        }
    ),
]
"""The actions of one call, with a schema that has no `$ref`."""
