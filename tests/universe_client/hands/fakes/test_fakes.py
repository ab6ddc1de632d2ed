"""The vendors' packages against the stand-ins of their APIs, which refuse what the real ones refuse."""

from __future__ import annotations

import base64
import io

import anthropic
import openai
import pytest
from anthropic.types.beta import BetaMessage
from openai.types.responses import Response
from PIL import Image

from universe_client.hands import (
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
from universe_client.hands.fakes import FakeAnthropic, FakeOpenAI, Turn
from universe_client.hands.vendors.members import actions_of as members_actions
from universe_client.hands.vendors.members import parse
from universe_client.hands.vendors.openai import actions_in
from universe_client.hands.vendors.openai import actions_of as openai_actions

ACTS = [
    Click(1, 2),
    Click(1, 2, "right"),
    Click(1, 2, "middle", modifiers=("ctrl",)),
    Click(1, 2, count=2),
    Move(3, 4),
    Drag([(1, 2), (3, 4)]),
    Scroll(1, 2, dy=3),
    Scroll(1, 2, dx=-2),
    Type("words"),
    Press("ctrl+s"),
]
"""Acts that both vendors have."""
TOOLSET = [{"type": "computer_toolset_20260801"}]
HELLO = [{"role": "user", "content": "hello"}]


def png(width, height):
    file = io.BytesIO()
    Image.new("RGB", (width, height)).save(file, "png")
    return base64.b64encode(file.getvalue()).decode()


@pytest.fixture
def claude():
    acts = [
        *ACTS,
        ButtonDown(),
        ButtonUp(),
        Hold("shift", 2.0),
        Wait(3.0),
        Click(1, 2, count=3),
        Press("a", repeat=2),
    ]
    with (
        FakeAnthropic(lambda seen: Turn(acts, "here I go")) as api,
        anthropic.Anthropic(base_url=api.url, api_key="none", max_retries=0) as client,
    ):
        yield client, api, acts


@pytest.fixture
def gpt():
    with (
        FakeOpenAI(lambda seen: Turn(ACTS, "here I go", ["a check"])) as api,
        openai.OpenAI(base_url=api.url, api_key="none", max_retries=0) as client,
    ):
        yield client, api


def ask(client, **request):
    defaults = {"model": "claude-sonnet-5", "max_tokens": 10, "tools": TOOLSET, "messages": HELLO}
    return client.beta.messages.create(**defaults | request)


def test_acts_become_members_and_back(claude):
    client, api, acts = claude
    message = ask(client)
    BetaMessage.model_validate(message.to_dict(), strict=False)
    uses = [block for block in message.content if block.type == "tool_use"]
    assert uses[-1].name == "screenshot" and {use.toolset_name for use in uses} == {"computer"}
    back = [action for use in uses[:-1] for action in members_actions(use.name, parse(use.input))]
    assert [str(action) for action in back] == [str(action) for action in acts]
    assert message.stop_reason == "tool_use" and message.usage.output_tokens > 0 and len(api.requests) == 1


def test_acts_become_actions_and_back(gpt):
    client, _ = gpt
    response = client.responses.create(model="gpt-5.4", input="hello", tools=[{"type": "computer"}])
    Response.model_validate(response.to_dict())
    said, call = response.output
    assert said.content[0].text == "here I go" and call.pending_safety_checks[0].message == "a check"
    back = [action for each in actions_in(call) for action in openai_actions(each)]
    held = str(back).replace("'CTRL'", "'ctrl'").replace("1, y=2, dx=0, dy=0", "1, y=2")
    assert held == str(ACTS).replace("1, y=2, dx=0, dy=0", "1, y=2")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"tools": []}, "no computer tool"),
        ({"tools": [{"type": "computer_toolset_20260801", "name": "x"}]}, "unknown fields"),
        (
            {"tools": [{"type": "computer_20251124", "name": "computer"}]},
            "needs the beta computer-use-2025-11-24",
        ),
        ({"messages": []}, "role"),
        ({"messages": [*HELLO, *HELLO]}, "unexpected role user"),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "image",
                                "source": {
                                    "type": "base64",
                                    "media_type": "image/png",
                                    "data": png(1920, 1080),
                                },
                            }
                        ],
                    }
                ]
            },
            r"a picture of 1920x1080 is too large; \(1456, 819\) would fit",
        ),
        (
            {
                "messages": [
                    *HELLO,
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "tool_use", "id": "t1", "name": "wait", "input": {"duration": 1}}
                        ],
                    },
                    *HELLO,
                ]
            },
            "each tool_use needs its tool_result",
        ),
    ],
)
def test_anthropic_refuses(claude, request_, words):
    with pytest.raises(anthropic.BadRequestError, match=words):
        ask(claude[0], **request_)


def test_openai_refuses(gpt):
    client, _ = gpt

    def ask(**request):
        return client.responses.create(
            **{"model": "gpt-5.4", "input": "hello", "tools": [{"type": "computer"}]} | request
        )

    first = ask()
    image = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{png(8, 8)}"}
    output = {"type": "computer_call_output", "call_id": first.output[-1].call_id, "output": image}
    for request, words in (
        ({"tools": [{"type": "computer", "display_width": 5}]}, "computer has no fields"),
        ({"tools": []}, "no computer tool"),
        ({"previous_response_id": "resp_99"}, "not found"),
        ({"previous_response_id": first.id}, "No tool output found"),
        ({"previous_response_id": first.id, "input": [output]}, "are not acknowledged"),
        ({"input": [output]}, "No tool call found"),
    ):
        with pytest.raises(openai.BadRequestError, match=words):
            ask(**request)


def test_a_key_is_required_and_a_defect_of_the_script_is_told():
    def broken(seen):
        raise ValueError("no idea")

    with FakeAnthropic(broken) as api, FakeOpenAI(broken) as other:
        with (
            anthropic.Anthropic(base_url=api.url, api_key="none", max_retries=0) as claude,
            pytest.raises(anthropic.InternalServerError, match=r"the script raised ValueError\('no idea'\)"),
        ):
            ask(claude)
        with (
            openai.OpenAI(base_url=other.url, api_key="none", max_retries=0) as gpt,
            pytest.raises(openai.InternalServerError, match="no idea"),
        ):
            gpt.responses.create(model="gpt-5.4", input="hello", tools=[{"type": "computer"}])
        assert api.handle("/v1/messages", {}, b"{}")[0] == 401
        assert api.handle("/v1/messages", {}, b"not json")[0] == 400
        assert api.handle("/elsewhere", {}, b"{}")[0] == 404
