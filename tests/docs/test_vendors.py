"""docs/models/vendors.md has a row for every member, action and argument of the vendors' packages."""

from __future__ import annotations

import re
from pathlib import Path

from anthropic.types import beta
from anthropic.types.beta.beta_computer_member_name import BetaComputerMemberName
from openai.types.responses import computer_action

PAGE = (Path(__file__).parents[2] / "docs" / "models" / "vendors.md").read_text()


def rows(heading):
    """The (member, argument) of each row of the table with this heading; an argument is None where there is none."""
    table = PAGE.partition(f"| {heading} | argument |")[2].partition("\n\n")[0]
    found, member = set(), ""
    for first, second in re.findall(r"^\| (.*?) ?\| (.*?) ?\| .*\|$", table, re.MULTILINE):
        member = first.strip("` ") or member
        found |= {(member, name) for name in re.findall(r"`(\w+)`", second) or [None]}
    return found


def of_models(models):
    return {
        (member, name)
        for member, model in models.items()
        for name in (set(model.model_fields) - {"type"}) or {None}
    }


def test_every_member_of_the_toolset_is_in_the_table():
    models = {
        name: getattr(beta, f"BetaComputer{name.title().replace('_', '')}Input", None)
        for name in BetaComputerMemberName.__args__
    }
    expected = of_models({name: model for name, model in models.items() if model is not None})
    assert rows("member") == expected | {(name, None) for name, model in models.items() if model is None}


def test_every_action_is_in_the_table():
    names = set(computer_action.__all__) - {"ComputerAction", "DragPath"}
    models = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): getattr(computer_action, name) for name in names}
    assert rows("action") == of_models(models)
