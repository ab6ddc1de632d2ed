"""What to click, where a click is enough."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from benchmarks.miniwob.page import Page
from benchmarks.miniwob.solvers import solves

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@solves("click-test", "click-test-2", "click-test-transfer")
def _button_one(page: Page, attempt: int) -> None:
    page.submit()


@solves("click-button-sequence", "button-delay")
def _buttons(page: Page, attempt: int) -> None:
    page.click("#subbtn")
    if wait := re.search(r"wait (\d)", page.text):
        page.js(f"new Promise(done => setTimeout(done, {wait[1]}000))")
    page.click("#subbtn2")


@solves("click-button", "unicode-test")
def _named_button(page: Page, attempt: int) -> None:
    page.click("#area button", page.quoted[0])


@solves("focus-text", "focus-text-2")
def _focus(page: Page, attempt: int) -> None:
    nth = re.search(r"(\d)(st|nd|rd)", page.text)
    page.click(f"#tt{nth[1]}" if nth else "#tt")


@solves("click-dialog", "click-dialog-2")
def _dialog(page: Page, attempt: int) -> None:
    if page.quoted[0] == "x":
        page.click(".ui-dialog-titlebar button")
    else:
        page.click(".ui-dialog-buttonset button", page.quoted[0])


@solves("click-link")
def _link(page: Page, attempt: int) -> None:
    page.click(".alink", page.quoted[0])


@solves("click-tab")
def _tab(page: Page, attempt: int) -> None:
    page.click("#area ul a", page.text.removeprefix("Click on ").rstrip("."))


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def _tabs(page: Page, attempt: int) -> None:
    link = f"named('.alink', '{page.quoted[0]}')"
    if not page.js(f"{link} !== undefined"):  # then there was nothing to see on the second tab
        page.click("a[href='#tabs-2']")
        return
    page.click(f"=one('a[href=\"#' + {link}.closest('[id^=tabs-]').id + '\"]')")
    page.click("=" + link)


@solves("click-collapsible", "click-collapsible-nodelay")
def _section(page: Page, attempt: int) -> None:
    page.click("h3")
    page.submit()


@solves("click-collapsible-2", "click-collapsible-2-nodelay")
def _sections(page: Page, attempt: int) -> None:
    link = f"named('.alink', '{page.quoted[0]}')"
    page.click(f"={link}.closest('.ui-accordion-content').previousElementSibling")
    page.click("=" + link)


@solves("click-color")
def _color(page: Page, attempt: int) -> None:
    page.click(f"#area [data-color='{page.text.split()[3]}']")


@solves("click-shades")
def _shades(page: Page, attempt: int) -> None:
    color = page.text.split()[5]
    for index in range(page.count("#area span")):
        if page.js(f"all('#area span')[{index}].dataset.color") == color:
            page.click(f"=all('#area span')[{index}]")
    page.click("#submit")


@solves("click-shape")
def _shape(page: Page, attempt: int) -> None:
    page.click(f"=all('#area_svg > *')[{attempt}]")


@solves("count-shape", "count-sides", "identify-shape")
def _answer_button(page: Page, attempt: int) -> None:
    page.click(f"=all('#area button')[{attempt}]")


@solves("click-widget")
def _widget(page: Page, attempt: int) -> None:
    page.click(f"[data-type='{page.quoted[0]}']")


@solves("grid-coordinate")
def _grid(page: Page, attempt: int) -> None:
    where = page.text.split()[-1].rstrip(".")
    page.click(f"=document.getElementById('{where}')")


@solves("ascending-numbers")
def _ascending(page: Page, attempt: int) -> None:
    page.click("svg text", "1")
    for index in range(2, 6):
        page.click(f"svg rect[data-index='{index}']")


@solves("find-greatest")
def _greatest(page: Page, attempt: int) -> None:
    numbers = [int(word) for word in page.words(".card-value")]
    page.click(f"=all('.card')[{numbers.index(max(numbers))}]")
    page.click("#submit")


@solves("odd-or-even")
def _parity(page: Page, attempt: int) -> None:
    for index, number in enumerate(page.words(".display-number")):
        page.click(f"=all('.row')[{index}].querySelector('{'.odd' if int(number) % 2 else '.even'}')")
    page.click("#submit")


@solves("generate-number")
def _generate(page: Page, attempt: int) -> None:
    bound = int((re.findall(r"\d+", page.text) or [0])[0])
    fits: Callable[[int], bool] = {
        "less": lambda number: number < bound,
        "greater": lambda number: number > bound,
        "odd": lambda number: number % 2 == 1,
        "even": lambda number: number % 2 == 0,
    }[next(word for word in ("less", "greater", "odd", "even") if f"{word} " in page.text)]
    while not page.over():
        page.click("#generate")
        if fits(int(page.words("#display-number")[0])):
            page.click("#submit")


@solves("simon-says")
def _simon(page: Page, attempt: int) -> None:
    pushes = page.js(
        """new Promise(done => {
          const pushes = [], heard = () => { clearTimeout(timer); timer = setTimeout(() => done(pushes), 1200); };
          let timer = setTimeout(() => done(pushes), 3000);
          new MutationObserver(all => all.forEach(change => {
            if (change.target.classList.contains('push')) { pushes.push(change.target.id); heard(); }
          })).observe(one('#area'), { subtree: true, attributeFilter: ['class'] });
        })"""
    )
    for button in pushes:
        page.click("#" + button)


@solves("stock-market")
def _stock(page: Page, attempt: int) -> None:
    threshold = float(page.text.rpartition("$")[2].rstrip("."))
    x, y = page.where("#buy")
    page.js(
        f"""new Promise(done => new MutationObserver(() => {{
          if (parseFloat(said(one('#stock-price')).slice(1)) < {threshold}) done();
        }}).observe(one('#stock-price'), {{ childList: true }}))"""
    )
    page.click_at(x, y)


@solves("tic-tac-toe")
def _tic_tac_toe(page: Page, attempt: int) -> None:
    chance = random.Random(attempt)
    while not page.over():
        board = page.js("gameState")
        free = [index for index in range(9) if board[index] == 0]
        move = _closing(board, 1) or _closing(board, -1) or [chance.choice(free)]
        page.click(f"#ttt-{move[0]}")


def _closing(board: list[int], player: int) -> list[int]:
    rows = [row for row in LINES if sorted(board[i] * player for i in row) == [0, 1, 1]]
    return [i for row in rows for i in row if board[i] == 0]


@solves("chase-circle")
def _chase(page: Page, attempt: int) -> None:
    while not page.over():
        page.mouse(
            "mouseMoved",
            *page.js("(b => [b.left + b.width/2, b.top + b.height/2])(one('#circ').getBoundingClientRect())"),
        )


@solves("moving-items")
def _moving(page: Page, attempt: int) -> None:
    while not page.over():
        seen = page.js(
            """all('.item').map(item => item.getBoundingClientRect()).map(b => [b.left + b.width/2, b.top + b.height/2])
               .filter(([x, y]) => x > 20 && x < 135 && y > 60 && y < 190)"""
        )
        if seen:
            page.click_at(*seen[0])


@solves("hot-cold")
def _hot(page: Page, attempt: int) -> None:
    box = page.js("(b => [b.left, b.top, b.right, b.bottom])(one('#touch-area').getBoundingClientRect())")
    for y in range(int(box[1]) + 4, int(box[3]), 6):
        for x in range(int(box[0]) + 3, int(box[2]), 6):
            page.mouse("mouseMoved", x, y)
            if page.count(".hot"):
                page.click_at(x, y)
                return
