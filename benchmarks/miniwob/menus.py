"""Menus, trees, posts and mail."""

from __future__ import annotations

import re

from benchmarks.miniwob.page import Page
from benchmarks.miniwob.solvers import solves


@solves("click-menu")
def _menu(page: Page, attempt: int) -> None:
    *way, last = page.text.removeprefix("Select ").split(">")
    for name in way:
        page.click("#menu li > div", name)
    page.click("#menu li > div", last)


@solves("click-menu-2")
def _menu_2(page: Page, attempt: int) -> None:
    page.click("#open-menu")
    if len(page.quoted) == 2:
        item = f"named('#menu li > div', '{page.quoted[1]}')"
    else:
        item = "one('#menu .' + one('#query .ui-icon').className.split(' ').pop()).parentElement"
    if page.js(f"{item}.closest('ul').id !== 'menu'"):
        page.hover("#menu li > div", "Playback")
        page.js("new Promise(done => setTimeout(done, 500))")
    page.click("=" + item)


@solves("click-pie", "click-pie-nodelay")
def _pie(page: Page, attempt: int) -> None:
    page.click("#divWheel svg text", "+")
    page.js(
        "new Promise(done => setTimeout(done, 1200))" if not page.env_id.endswith("nodelay") else "frames2()"
    )
    page.click("#divWheel svg text", page.quoted[0])


@solves("navigate-tree")
def _tree(page: Page, attempt: int) -> None:
    name = page.quoted[0]
    depth = page.js(
        f"""(span => {{ window.way = []; for (let li = span.closest('li').parentElement.closest('#tree li'); li;
          li = li.parentElement.closest('#tree li')) way.unshift(li.querySelector('span')); return way.length; }})
          (named('#tree span', '{name}'))"""
    )
    for index in range(depth):
        page.click(f"=way[{index}]")
    page.click("#tree span", name)


@solves("phone-book")
def _phone_book(page: Page, attempt: int) -> None:
    found = re.match(r"Find (.*) in the contact book and click on their (\w+)", page.text)
    assert found
    for _ in range(4):
        if page.words("#contact .name") == [found[1]]:
            break
        page.click("#pagination .next a")
    page.click(f"#contact .{found[2]}")


@solves("social-media")
def _social(page: Page, attempt: int) -> None:
    user = page.text.removeprefix("For the user ").partition(",")[0]
    action = page.js(f"Object.keys(ACTIONS).find(key => ACTIONS[key] === '{page.quoted[0]}')")
    media = f"named('.username', '{user}').closest('.media')"
    if action not in ("reply", "retweet", "like"):
        page.click(f"={media}.querySelector('.more')")
    page.click(f"={media}.querySelector('.{action}')")


@solves("social-media-all", "social-media-some")
def _social_all(page: Page, attempt: int) -> None:
    user = re.findall(r"(@\S+?)\.? and then", page.text)[0]
    number = re.search(r"on (\d+) posts?", page.text)
    action = page.quoted[0].lower()
    posts = [index for index, name in enumerate(page.words(".username")) if name == user]
    for index in posts[: int(number[1]) if number else None]:
        page.click(f"=all('.media')[{index}].querySelector('.{action}')")
    page.click("#submitRow button")


@solves(
    "email-inbox", "email-inbox-delete", "email-inbox-forward", "email-inbox-important", "email-inbox-noscroll",
    "email-inbox-reply", "email-inbox-star-reply", "email-inbox-nl-turk", "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
)  # fmt: skip
def _mail(page: Page, attempt: int) -> None:
    fields = page.js("(said => typeof said === 'string' ? null : said.fields)(core.getUtterance())")
    if fields is None:
        sender = re.findall(r"email by (\w+)", page.text)[0]
        task = next(word for word in ("reply", "forward", "trash", "star") if word in page.text)
    else:
        sender, task = (
            fields["by"],
            {"delete": "trash"}.get(fields.get("task", "forward"), fields.get("task", "forward")),
        )
    thread = f"named('.email-thread .email-sender', '{sender}').closest('.email-thread')"
    if task in ("trash", "star"):
        page.click(f"={thread}.querySelector('.{task}')")
        return
    page.click(f"={thread}.querySelector('.email-sender')")
    page.click(f".email-{task}")
    if task == "reply":
        page.enter("#reply-text", fields["message"] if fields else page.quoted[0])
    else:
        page.enter(".forward-sender", fields["to"] if fields else page.text.rpartition(" to ")[2].rstrip("."))
    page.click(f"#send-{task}")
