"""Boxes, lists, sliders and dates."""

from __future__ import annotations

import re

from benchmarks.miniwob.page import Page
from benchmarks.miniwob.solvers import solves


@solves(
    "click-checkboxes",
    "click-checkboxes-large",
    "click-checkboxes-transfer",
    "click-checkboxes-soft",
    "click-option",
)
def _boxes(page: Page, attempt: int) -> None:
    found = re.match(r"Select (?:words similar to )?(.*?)(?: and click Submit.)", page.text)
    assert found
    wanted = found[1].split(", ")
    if page.env_id.endswith("soft"):
        wanted = page.js(f"SYNONYMS.filter(group => group.some(word => {wanted}.includes(word))).flat()")
    for index, name in enumerate(page.words("#area label")):
        if name in wanted:
            page.click(f"=all('#area label')[{index}].querySelector('input')")
    page.submit()


@solves("choose-list")
def _list(page: Page, attempt: int) -> None:
    name = page.text.removeprefix("Select ").removesuffix(" from the list and click Submit.")
    page.js(
        f"one('#options').selectedIndex = all('#options option').findIndex(option => said(option) === {name!r})"
    )
    page.click("#area button")


@solves("click-scroll-list")
def _scroll_list(page: Page, attempt: int) -> None:
    names = page.text.removeprefix("Select ").partition(" from the scroll list")[0].split(", ")
    for name in names:
        page.click_at(*page.where("#options option", name), modifiers=2)
    page.click("#area button")


@solves("form-sequence", "use-slider", "use-slider-2")
def _sliders(page: Page, attempt: int) -> None:
    goals = [int(number) for number in re.findall(r"-?\d+", page.text.partition(" with ")[0])]
    if page.env_id.endswith("-2"):
        goals = [int(number) for number in re.findall(r"\d+", page.text)]
    for index, goal in enumerate(goals):
        value = page.js(f"$(all('.ui-slider')[{index}]).slider('value')")
        page.js(f"all('.ui-slider-handle')[{index}].focus()")
        page.press("ArrowRight" if goal > value else "ArrowLeft", abs(goal - value))
    if nth := re.search(r"(\d)\w\w checkbox", page.text):
        page.click(f"#checkbox-{nth[1]}")
    page.submit()


@solves("form-sequence-2")
def _form_2(page: Page, attempt: int) -> None:
    radio, box = re.findall(r"(\d)(?:st|nd|rd)", page.text)
    page.click(f"input[type=radio][value='{radio}']")
    page.enter(f"#input-{box}", page.quoted[0])
    page.submit()


@solves("form-sequence-3")
def _form_3(page: Page, attempt: int) -> None:
    page.click(".selectric")
    page.click(".selectric-items li", page.text.removeprefix("Choose ").partition(" from the")[0])
    page.click("#buttons button", page.quoted[0])


@solves("use-spinner")
def _spinner(page: Page, attempt: int) -> None:
    goal = int(page.text.split()[1])
    for _ in range(abs(goal)):
        page.click(".ui-spinner-up" if goal > 0 else ".ui-spinner-down")
    page.submit()


@solves("use-colorwheel", "use-colorwheel-2")
def _colorwheel(page: Page, attempt: int) -> None:
    if page.env_id.endswith("-2"):
        color = page.js("getComputedStyle(one('.cc')).backgroundColor.match(/\\d+/g).map(Number)")
        value = "".join(f"{part:02x}" for part in color)
    else:
        value = page.js(f"ui_utils.colorNameToHex('{page.text.split()[1]}')").lstrip("#")
    page.js(f"one('#col').jscolor.fromString('{value}')")  # its picker would lie over the button
    page.submit()


@solves("number-checkboxes")
def _draw_number(page: Page, attempt: int) -> None:
    pattern = page.js(f"PATTERNS[{page.quoted[0]}].flat()")
    for index, wanted in enumerate(pattern):
        if wanted:
            page.click(f"=all('#checkboxes input')[{index}]")
    page.submit()


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def _choose_date(page: Page, attempt: int) -> None:
    month, day, _ = (int(number) for number in page.text.split()[1].split("/"))
    page.click("#datepicker")
    _pick_day(page, month, day)
    page.submit()


def _pick_day(page: Page, month: int, day: int) -> None:
    shown = "Number(one('.ui-datepicker-calendar td[data-month]').dataset.month) + 1"
    while (now := page.js(shown)) != month:
        page.click(".ui-datepicker-next" if now < month else ".ui-datepicker-prev")
    page.click(".ui-datepicker-calendar td a", str(day))
    page.js(
        "new Promise(done => { const look = () => one('#ui-datepicker-div').offsetParent ? requestAnimationFrame(look) "
        ": done(0); look(); })"
    )


@solves("book-flight", "book-flight-nodelay")
def _book(page: Page, attempt: int) -> None:
    found = re.match(r"Book the (\w+) one-way flight from: (.*) to: (.*) on (\d+)/(\d+)/", page.text)
    assert found
    kind, origin, destination, month, day = found.groups()
    for field, place in (("#flight-from", origin), ("#flight-to", destination)):
        exact = f"name => name.startsWith({place + ' ('!r}) || name.endsWith({'(' + place + ')'!r})"
        page.enter(field, page.js(f"DOMESTIC_FLIGHTS.find({exact})"))
        page.js(
            "new Promise(done => setTimeout(done, 400))"
        )  # suggestions come late, and would lie over the rest
        page.press("Escape")
    page.click("#datepicker")
    _pick_day(page, int(month), int(day))
    page.click("#search")
    key = "price" if kind == "cheapest" else "duration"
    numbers = page.js(f"all('#results [data-{key}]').map(part => Number(part.dataset.{key}))")
    page.click(f"=all('#results .flight-price')[{numbers.index(min(numbers))}]")


@solves("buy-ticket")
def _ticket(page: Page, attempt: int) -> None:
    key = ".buy-ticket" if "cost" in page.text else ".time-duration"
    numbers = page.js(f"all('{key}').map(part => Number(part.dataset.price ?? part.dataset.duration))")
    best = min(numbers) if re.search("cheapest|shortest", page.text) else max(numbers)
    page.click(f"=all('.buy-ticket')[{numbers.index(best)}]")


@solves("daily-calendar")
def _calendar(page: Page, attempt: int) -> None:
    amount, unit, name, start, half = re.findall(
        r'Create a ([\d.]+) (hour|min)s? event named "(\w+)", between (\d+)([AP])M', page.text
    )[0]
    slots = round(float(amount) * 2) if unit == "hour" else int(amount) // 30
    first = 2 * (int(start) % 12 + 12 * (half == "P")) + attempt
    page.js(f"one('#hh-{first}').scrollIntoView({{ block: 'center' }})")
    begin = page.where(f"#hh-{first}")
    end = (begin[0], begin[1] + 20.42 * (slots - 1))
    page.drag(begin, (begin[0] + 6, begin[1] + 2), (end[0], end[1]), (end[0] + 4, end[1] + 1))
    page.enter("#event-name", name)
    page.click("#controls .create")


@solves("order-food")
def _food(page: Page, attempt: int) -> None:
    if kind := re.match(r"Order (\d) items that are (.*)", page.text):
        item = f"all('.food-item').find(item => item.querySelector('[alt=\"{kind[2]}\"]'))"
        for _ in range(int(kind[1])):
            page.click(f"={item}.querySelector('.add')")
    else:
        for name in re.split(r",\s+", page.text.partition(": ")[2]):
            page.click(f"=named('.item-name', '{name}').closest('.food-item').querySelector('.add')")
    page.click("#submit-order button")


@solves("flight.AA", "flight.Alaska", "flight.Alaska-auto", "flight.Alaska-auto-medium")
def _flight(page: Page, attempt: int) -> None:
    page.js(
        """Object.entries(core.currentQuestion.request).forEach(([name, value]) => {
          const fields = [...one('#wrap').contentDocument.getElementsByName(name)];
          fields.forEach(field => {
            if (field.type === 'radio' || field.type === 'checkbox') field.checked = field.value === value;
            else field.value = value;
          });
        })"""
    )
    page.js(
        "one('#wrap').contentDocument.getElementsByName(Object.keys(core.currentQuestion.request)[0])[0]"
        ".form.querySelector('[type=submit]').click()"
    )
