"""Every page with hostile data, for everybody: nothing runs, nothing widens, axe finds nothing, and
ids lead where they should."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from judged.judgements.annotators import Annotator
from judged.text import visible
from judged.web.app import VIEWS
from support.browser import violations
from support.hostile import FLAG, SCRIPTS
from support.hostile_folder import IDS, LONG, PRODUCT, SYSTEMS, write_hostile
from support.served import Serve, Server

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SLOW = 60_000
"""Milliseconds that anything may take on a busy machine."""


def at(path: str, *pairs: tuple[str, object]) -> str:
    return f"{path}?{urlencode(pairs)}"


FIRST, SECOND, LAST = SYSTEMS[0], SYSTEMS[5], SYSTEMS[-1]
PAGES = {
    "leaderboard": at("/", ("ranges", 1), ("baseline", FIRST), ("slices", SCRIPTS[0])),
    "compare": at("/compare", ("system", FIRST), ("against", LAST)),
    "several": at("/compare", ("system", FIRST), ("system", SECOND), ("system", LAST)),
    "queries": at("/queries", ("system", SECOND), ("system", LAST)),
    "judge": at("/judge", ("annotator", "ar")),
    "judged": at("/judge", ("annotator", "ar"), ("query", IDS[0]), ("item", LONG), ("changes", 1)),
    "ended": at("/judge", ("annotator", "ar"), ("end", 1)),
    "who judges": at("/judge", ("annotator", "ar"), ("who", 1)),
    "changes": at("/judge/changes", ("annotator", "ar")),
    "agreement": "/agreement",
    "query": at("/query", ("query", IDS[0]), ("system", SECOND), ("system", LAST)),
    "long": at("/query", ("query", LONG), *(("system", name) for name in SYSTEMS[-4:])),
    "embeddings": "/embeddings",
    "gallery": at("/embeddings", ("part", "gallery")),
    "playground": at(
        "/playground",
        *(("list", "3 - (2 1) - 0 0 1 3 0"), ("relevant", 7), ("k", 6), ("card", SCRIPTS[0])),
        *(("list_unjudged", "removed"), ("add", "TN"), ("add", SCRIPTS[0]), ("before", LONG)),
    ),
    "files": "/files",
    "reading": "/reading",
    "found": "/found",
    "chart": at("/chart", ("kind", "differences"), ("system", FIRST), ("against", LAST)),
    "curve": at("/playground/curve", ("list", "0 1 0 1")),
    "steps": at("/playground/steps", ("list", "0 1 0 1")),
    "report": "/report",
}
"""One page of every view that is one, and more of those with many forms."""
REFUSED = {
    "a query that is gone": at("/query", ("query", SCRIPTS[0] + "x")),
    "a long query that is gone": at("/query", ("query", LONG + "x")),
    "a system that is gone": at("/compare", ("system", LONG)),
    "measures that are none": at("/", ("measure", SCRIPTS[0]), ("measure", LONG)),
    "a parameter that is none": at("/", (LONG, SCRIPTS[1])),
    "a page that is none": f"/{LONG}",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_hostile(tmp_path_factory.mktemp("hostile") / SCRIPTS[1])
    for at_first, name in enumerate(("ar", "bo")):
        annotator = Annotator(folder, name)
        for number, item in enumerate(IDS):
            note = SCRIPTS[number % len(SCRIPTS)]
            annotator.grade(IDS[0], item, (number + at_first * (number % 3)) % 3, note=note)
    return folder


@pytest.fixture(scope="module")
def served(module_server: Serve, folder: Path) -> Server:
    return module_server(folder)


@pytest.fixture(scope="module")
def tab(browser: Any, served: Server) -> Iterator[Any]:
    """One tab for all tests; `tab.said` is what its console and its dialogs said."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.said = said = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append("a dialog"), dialog.dismiss()))
    page.on("console", lambda message: said.append(message.text))
    page.set_default_timeout(SLOW)
    page.goto(served.address)
    yield page
    context.close()


def opened(tab: Any, served: Server, path: str) -> None:
    """Open a page, and wait for everything that it loads later."""
    tab.set_viewport_size({"width": 1440, "height": 900})
    tab.goto(f"http://127.0.0.1:{served.port}{path}")
    tab.wait_for_selector("#working", state="detached")
    for part in range(6):  # charts load when they come near
        tab.evaluate("part => scrollTo(0, document.body.scrollHeight * part / 5)", part)
        tab.wait_for_timeout(30)
    tab.wait_for_function(
        """() => ![...document.querySelectorAll("[data-load], [aria-busy]")]
        .some((each) => each.checkVisibility())"""
    )


SMALL_TARGETS = """[...document.querySelectorAll("button, select, summary, .button, .tabs a,"
+ " input:not([type=checkbox], [type=radio], [type=file])")].filter((each) => {
  const box = each.getBoundingClientRect();
  return box.width && (box.width < 24 || box.height < 24);
}).map((each) => each.outerHTML)"""


def refuse_hostile(tab: Any, name: str) -> None:
    """Fail where something ran, where the page is wider than the window, or hard to use."""
    assert tab.evaluate(f"'{FLAG}' in window") is False, name
    for width in (1440, 390, 320):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
    tab.set_viewport_size({"width": 1440, "height": 900})
    assert tab.evaluate(SMALL_TARGETS) == [], name
    assert PRODUCT not in tab.content(), name
    tab.emulate_media(color_scheme="light")
    assert violations(tab) == [], name
    tab.emulate_media(color_scheme="dark")
    assert violations(tab, only=["color-contrast"]) == [], name
    levels = tab.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((each) => Number(each.tagName[1]))"
    )
    assert levels.count(1) == 1, (name, levels)
    assert all(low + 1 >= high for low, high in pairwise(levels)), levels


def test_every_view_is_among_them() -> None:
    paths = {urlsplit(each).path for each in PAGES.values()}
    assert {view.path for view in VIEWS} - paths == {"/picture", "/download", "/merged"}


def test_every_system_is_found(served: Server) -> None:
    found = served.ask("/api/systems").json["systems"]
    assert sorted(each["name"] for each in found) == sorted(SYSTEMS)


@pytest.mark.parametrize("name", PAGES)
def test_a_page(tab: Any, served: Server, name: str) -> None:
    tab.said.clear()
    opened(tab, served, PAGES[name])
    refuse_hostile(tab, name)
    assert tab.said == []


def test_what_is_refused(tab: Any, served: Server) -> None:
    for name, path in REFUSED.items():
        opened(tab, served, path)
        refuse_hostile(tab, name)
    assert [each for each in tab.said if "responded with a status of 4" not in each] == []
    tab.said.clear()


def test_without_scripts_every_page_has_its_numbers(browser: Any, served: Server) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_default_timeout(SLOW)
    page.goto(served.address)
    for name, path in PAGES.items():
        page.goto(f"http://127.0.0.1:{served.port}{path}")
        page.wait_for_selector("#working", state="detached")
        if name not in (
            "files",
            "reading",
            "found",
            "report",
            "judge",
            "judged",
            "ended",
            "who judges",
        ):
            assert re.search(r"\d\.\d\d", page.inner_text("main")), name
        for form in page.locator("main form").all():
            sends = form.evaluate("each => [...each.elements].some((one) => one.type === 'submit')")
            assert sends, (name, form.inner_html())
        waiting = page.locator("[data-load]:visible")
        assert waiting.locator("a").count() == waiting.count(), name
    context.close()


KEYS = ("leaderboard", "compare", "query", "judge", "playground", "files")


@pytest.mark.parametrize("name", KEYS)
def test_the_keyboard_reaches_every_control(tab: Any, served: Server, name: str) -> None:
    opened(tab, served, PAGES[name])
    tab.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    wanted = tab.evaluate(
        """() => [...document.querySelectorAll("a[href], button, select, input, summary, textarea")]
        .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled)
        .filter((each) => each.tabIndex >= 0 && each.type !== "hidden" && each.type !== "radio")
        .map((each, at) => (each.dataset.wanted = at)).length"""
    )
    reached, unseen = set(), []
    for _ in range(min(wanted * 2, 150)):
        tab.keyboard.press("Tab")
        at, outline = tab.evaluate(
            """() => { const each = document.activeElement, style = getComputedStyle(each);
            return [each.dataset.wanted ?? null, style.outlineStyle !== "none"
              && parseFloat(style.outlineWidth) >= 2]; }"""
        )
        if at is not None:
            reached.add(int(at))
            if not outline:
                unseen.append(tab.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
        if len(reached) == wanted:
            break
    assert unseen == []
    assert reached == set(range(len(reached)))  # in the order of the page, none left out
    assert len(reached) >= min(wanted, 60)


def test_at_twice_the_size(tab: Any, served: Server) -> None:
    """200 % is half as many pixels of CSS in the window."""
    for name in KEYS:
        opened(tab, served, PAGES[name])
        tab.set_viewport_size({"width": 640, "height": 400})
        assert tab.evaluate("document.documentElement.scrollWidth") <= 640, name


def test_every_query_is_reached_by_its_link(tab: Any, served: Server) -> None:
    opened(tab, served, at("/query", ("sort", "query"), ("order", "ascending")))
    tab.keyboard.press("j")
    tab.wait_for_url("**query=**")
    tab.keyboard.press("k")
    tab.wait_for_selector("a[data-key=k]", state="detached")
    seen: list[str] = []
    for _ in IDS:
        tab.wait_for_selector(".eyebrow .mono")
        shown = tab.locator(".eyebrow .mono").inner_text()
        [query] = parse_qs(urlsplit(tab.url).query)["query"]
        seen.append(query)
        assert shown[:20].split() == visible(query)[:20].split()
        if tab.locator("a[data-key=j]").count():
            old = tab.url
            tab.keyboard.press("j")
            tab.wait_for_function("old => location.href !== old", arg=old)
    assert sorted(seen) == sorted(IDS)
    tab.keyboard.press("k")
    tab.wait_for_function("old => location.href !== old", arg=tab.url)
    assert parse_qs(urlsplit(tab.url).query)["query"] == [seen[-2]]
