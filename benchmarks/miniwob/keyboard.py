"""What to type."""

from __future__ import annotations

import re

from benchmarks.miniwob.page import Page
from benchmarks.miniwob.solvers import solves


@solves("enter-text", "enter-text-dynamic")
def _enter(page: Page, attempt: int) -> None:
    page.enter("#tt", page.quoted[0])
    page.submit()


@solves("enter-text-2")
def _case(page: Page, attempt: int) -> None:
    word = page.quoted[0]
    page.enter("#tt", word.upper() if "upper case" in page.text else word.lower())
    page.submit()


@solves("enter-password")
def _password(page: Page, attempt: int) -> None:
    page.enter("#password", page.quoted[0])
    page.enter("#verify", page.quoted[0])
    page.submit()


@solves("login-user", "login-user-popup")
def _login(page: Page, attempt: int) -> None:
    for field, word in zip(("#username", "#password"), page.quoted, strict=True):
        page.click(field)
        if page.count("#popup-cancel"):
            page.click("#popup-cancel")
        page.enter(field, word)
    page.submit()


@solves("enter-date", "enter-time")
def _date(page: Page, attempt: int) -> None:
    page.js("one('#tt').focus()")
    if page.env_id.endswith("date"):
        page.keys(page.text.split()[1].replace("/", ""))
    else:
        hour, minute, half = re.findall(r"(\d+):(\d+)\s*([AP])", page.text)[0]
        page.keys(f"{int(hour):02}{minute}{half}")
    page.submit()


@solves("copy-paste", "copy-paste-2", "scroll-text", "find-word")
def _answer(page: Page, attempt: int) -> None:
    nth = re.search(r"(\d+)(st|nd|rd|th)", page.text)
    if page.env_id.endswith("copy-paste"):
        answer = page.js("one('#to-copy').value")
    elif page.env_id.endswith("copy-paste-2"):
        answer = page.js(f"one('#text-{nth and nth[1]}').value")
    elif page.env_id.endswith("scroll-text"):
        answer = page.js("one('#text-area').value").split()[-1].rstrip(".")
    else:
        answer = page.words("#area p")[0].split()[int(nth[1] if nth else 1) - 1]
    page.enter("#answer-input", answer)
    page.submit()


@solves("text-transform")
def _captcha(page: Page, attempt: int) -> None:
    page.enter("#tt", page.words("#captcha")[0])
    page.submit()


@solves("read-table", "read-table-2")
def _table(page: Page, attempt: int) -> None:
    cells = page.words("#tab td")
    table = dict(zip(cells[::2], cells[1::2], strict=True))
    if page.env_id.endswith("-2"):
        for number in "12":
            page.enter(f"#tt{number}", table[page.words(f"#ll{number}")[0].rstrip(":")])
    else:
        page.enter("#tt", table[page.text.removeprefix("Enter the value of ").partition(" into the")[0]])
    page.submit()


@solves("simple-arithmetic", "simple-algebra", "visual-addition")
def _sum(page: Page, attempt: int) -> None:
    if page.env_id.endswith("addition"):
        answer = page.count(".addition-block")
    else:
        left, _, right = (
            page.words("#math-problem")[0].replace(" x ", " * ", "arithmetic" in page.env_id).partition("=")
        )
        solutions = range(-200, 201) if right.strip() else [0]
        goal = int(right) if right.strip() else None
        answer = next(x for x in solutions if goal is None or _value(left, x) == goal)
        answer = _value(left, 0) if goal is None else answer
    page.enter("#math-answer", str(answer))
    page.submit()


def _value(expression: str, x: int) -> int:
    first, operator, second = (str(x) if word == "x" else word for word in expression.split())
    a, b = int(first), int(second)
    return {"+": a + b, "-": a - b, "*": a * b}[operator]


@solves("guess-number")
def _guess(page: Page, attempt: int) -> None:
    page.js("one('#tt').focus()")  # its middle is the little arrows
    page.keys(str(attempt))
    page.submit()


@solves("terminal")
def _terminal(page: Page, attempt: int) -> None:
    ending = re.search(r"extension (\.[\w.]+)", page.text)
    files = page.js("currentFiles")
    name = next(file for file in files if (file.endswith(ending[1]) if ending else "." not in file))
    page.click("#terminal")
    page.js("new Promise(done => setTimeout(done, 250))")  # it takes the focus then
    page.keys(f"rm {name}")
    page.press("Enter")


@solves("use-autocomplete", "use-autocomplete-nodelay")
def _autocomplete(page: Page, attempt: int) -> None:
    start, end = [*page.quoted, ""][:2]
    countries = page.js("ui_utils.COUNTRIES")
    page.enter("#tags", next(name for name in countries if name.startswith(start) and name.endswith(end)))
    page.press("Escape")
    page.submit()


@solves("multi-layouts", "multi-orderings")
def _movies(page: Page, attempt: int) -> None:
    found = re.match(r"Search for (.*) movies directed by (.*) from year (\d+)\.", page.text)
    assert found
    for label, word in zip(("Genre", "Director", "Year|Date"), found.groups(), strict=True):
        row = f"(input => /{label}/.test((input.closest('p, tr, .row, .field, .ui-entry')).textContent))"
        page.enter(f"=all('#area input').find({row})", word)
    page.click("=all('#area button, #area .final, #area .ui-submit')[0]")


@solves("search-engine")
def _search(page: Page, attempt: int) -> None:
    nth = int(re.findall(r"(\d)(?:st|nd|rd|th)", page.text)[0]) - 1
    page.enter("#search-text", page.quoted[0])
    page.click("#search")
    page.click("#pagination a", str(nth // 3 + 1))
    page.click(f"=all('#page-content a')[{nth % 3}]")


@solves("sign-agreement")
def _sign(page: Page, attempt: int) -> None:
    if len(page.quoted) == 2:
        page.js("one('#text-area').scrollTop = 1e6, frames2()")
        page.enter("#name", page.quoted[0])
    page.click("#agree" if "Agree" in page.text else "#cancel")


@solves("text-editor")
def _editor(page: Page, attempt: int) -> None:
    named = re.search(r"the text (\S+) the (?:style|color)", page.text)
    word = named[1] if named else ""
    start = page.js(f"editor.getText().split(/(\\s+)/).reduce(([at, found], part) => [at + part.length, "
                    f"part === '{word}' ? at : found], [0, 0])[1]")  # fmt: skip
    length = str(len(word)) if word else "editor.getText().length"
    page.js(f"editor.setSelection({start if word else 0}, {length})")
    style = re.findall(r"(?:style|color) (\w+)", page.text)[0]
    if button := {"bold": "bold", "italics": "italic", "underlined": "underline"}.get(style):
        page.click(f".ql-{button}")
    else:
        page.click(".ql-color .ql-picker-label")
        shade = page.js(f"COLOR_MAP['{style}'][0]")
        page.click(f".ql-color .ql-picker-item[data-color='{shade}']")
    page.submit()
