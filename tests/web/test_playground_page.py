"""The playground in a real browser: by mouse, by touch, by keyboard and without scripts it gives
the numbers of the texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from support.served import Serve, Server

pytestmark = pytest.mark.slow

Opened = Callable[..., Any]
LISTED = "list=0+1+0+0+1+0+1+0+1+0&relevant=4"


@pytest.fixture
def served(server: Serve) -> Server:
    """A server without files, whose first answer is there."""
    found = server()
    assert found.ask("/playground").status == 200
    assert found.ask(f"/playground/curve?{LISTED}").status == 200
    return found


@pytest.fixture
def opened(served: Server, browse: Callable[..., Any]) -> Opened:
    """Opens the playground with a list."""

    def page(query: str = LISTED, **options: Any) -> Any:
        found = browse(served, f"/playground?{query}", **options)
        found.locator(".scores").wait_for()
        return found

    return page


def value(page: Any, measure: str = "AP@10") -> str:
    text: str = page.locator(
        f'li.score:has(.measure:text-is("{measure}")) .reading-number'
    ).inner_text()
    return text


def waits(page: Any, text: str, measure: str = "AP@10") -> None:
    """Until a card has this number."""
    from playwright.sync_api import expect

    place = f'li.score:has(.measure:text-is("{measure}")) .reading-number'
    expect(page.locator(place)).to_have_text(text)


def lists(page: Any, text: str) -> None:
    """Until the address has this list."""
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query)["list"] == [text])


def focused(page: Any, rank: int) -> None:
    """Until the focus is on this tile."""
    from playwright.sync_api import expect

    expect(tile(page, rank)).to_be_focused()


def tile(page: Any, rank: int) -> Any:
    return page.locator(f"#tile-{rank}")


def drag(page: Any, rank: int, to: int) -> None:
    begin, end = tile(page, rank).bounding_box(), tile(page, to).bounding_box()
    page.mouse.move(begin["x"] + 20, begin["y"] + 20)
    page.mouse.down()
    page.mouse.move(begin["x"] + 60, begin["y"] + 25, steps=3)
    page.mouse.move(end["x"] + 30, end["y"] + 25, steps=6)
    page.mouse.up()


def test_by_mouse(opened: Opened) -> None:
    page = opened("list=0+0+0+0+1+0+1+0+1+0&relevant=4&grades=1")
    tile(page, 2).click()
    waits(page, "0.4433")  # (1/2 + 2/5 + 3/7 + 4/9) / 4
    lists(page, "0 1 0 0 1 0 1 0 1 0")
    drag(page, 5, 3)
    waits(page, "0.5099")  # (1/2 + 2/3 + 3/7 + 4/9) / 4
    lists(page, "0 1 1 0 0 0 1 0 1 0")
    assert "0.0667" in page.locator('li.score:has(.measure:text-is("AP@10")) .moved').inner_text()


def test_by_keyboard(opened: Opened) -> None:
    page = opened("list=0+0+0&relevant=3&k=10")
    tile(page, 1).focus()
    for key in ("+", "+", "+", "+", "+", "+", "+"):
        page.keyboard.press(key)
    waits(page, "0.0000")
    focused(page, 10)
    lists(page, "0 0 0 0 0 0 0 0 0 0")
    page.keyboard.press("Home")
    for key in ("ArrowRight", "ArrowRight", "1"):
        page.keyboard.press(key)
    for key in ("ArrowRight", "ArrowRight", "1"):
        page.keyboard.press(key)
    waits(page, "0.2444")  # (1/3 + 2/5) / 3
    page.keyboard.press("End")
    page.keyboard.press("1")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    waits(page, "0.3694")  # (1/3 + 2/5 + 3/8) / 3
    lists(page, "0 0 1 0 1 0 0 1 0 0")
    focused(page, 8)
    page.keyboard.press("u")
    waits(page, "0.2444")
    page.keyboard.press("t")
    lists(page, "0 0 1 0 1 0 (0 -) 0 0")
    page.keyboard.press("Delete")
    lists(page, "0 0 1 0 1 0 0 0 0")


def test_fast_typing_loses_nothing(opened: Opened) -> None:
    page = opened("list=0+0+0+0+0+0+0+0&relevant=4&add=AP&card=RR")
    tile(page, 1).focus()
    for key in ["1", "0", "1", "1", "0", "1", "0", "0"]:
        page.keyboard.press(key)
        page.keyboard.press("ArrowRight")
    waits(page, "0.7708", "AP@10")  # 37/48
    lists(page, "1 0 1 1 0 1 0 0")


def test_by_touch(opened: Opened) -> None:
    page = opened(
        "list=0+0+1+0+1+0+0+0+0+0&relevant=3&grades=1",
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
    )
    tile(page, 8).tap()
    waits(page, "0.3694")
    # Held, then moved: rank 3 to rank 1.
    page.locator("#tile-3").scroll_into_view_if_needed()
    begin, end = tile(page, 3).bounding_box(), tile(page, 1).bounding_box()
    client = page.context.new_cdp_session(page)

    def touch(kind: str, x: float, y: float) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", begin["x"] + 20, begin["y"] + 20)
    page.wait_for_timeout(300)
    for step in range(1, 7):
        x = begin["x"] + 20 + (end["x"] - begin["x"]) * step / 6
        touch("touchMove", x, begin["y"] + 20)
    touch("touchEnd", 0, 0)
    waits(page, "0.5917")  # (1/1 + 2/5 + 3/8) / 3
    lists(page, "1 0 0 0 1 0 0 1 0 0")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_list_can_be_pasted(opened: Opened) -> None:
    page = opened()
    page.get_by_text("Write or paste a list").click()
    page.get_by_label("The list: grades").fill("1 1 0 0 1 0 0")
    page.get_by_role("button", name="Take this list").click()
    waits(page, "0.6500")  # (1 + 1 + 3/5) / 4
    page.get_by_text("Write or paste a list").click()
    page.get_by_label("The list: grades").fill("1 x")
    page.get_by_role("button", name="Take this list").click()
    said = page.get_by_role("alert")
    said.wait_for()
    assert said.inner_text() == (
        "'1 x' is not a relevance list: 'x' is neither a grade nor - (not judged). Write the "
        'grades in rank order, such as "0 1 0 0 1".'
    )
    assert value(page) == "0.6500"


def test_a_refused_change_leaves_the_tiles_as_the_numbers_have_them(opened: Opened) -> None:
    page = opened("list=1+0&pool=1+0")
    tile(page, 2).focus()
    page.keyboard.press("3")
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").inner_text().startswith("pool of query 1 lacks a grade 3")
    assert tile(page, 2).inner_text() == "·"
    assert value(page) == "1.0000"


def test_measures_are_added_and_refused(opened: Opened) -> None:
    from playwright.sync_api import expect

    page = opened()
    page.get_by_label("Add a measure").fill("nDCG@3")
    page.keyboard.press("Enter")
    waits(page, "0.2961", "nDCG@3")  # (1 / log2(3)) / (1 + 1 / log2(3) + 1 / 2)
    page.get_by_label("Add a measure").fill("APP@3")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert "There is no measure 'APP'; did you mean 'AP'?" in page.get_by_role("alert").inner_text()
    assert value(page) == "0.4433"
    page.get_by_role("link", name="Remove nDCG@3").click()
    expect(page.get_by_text("nDCG@3", exact=True)).to_have_count(0)


def test_back_forward_and_a_copied_link(opened: Opened, served: Server, browse: Any) -> None:
    from playwright.sync_api import expect

    page = opened()
    tile(page, 1).click()
    waits(page, "0.7454")  # (1 + 2/2 + 3/5 + 4/7 + 5/9) / 5: five are relevant now
    page.go_back()
    waits(page, "0.4433")
    page.go_forward()
    expect(tile(page, 1)).to_have_attribute("data-grade", "1")
    other = browse(served, page.url.partition(str(served.port))[2])
    assert value(other) == value(page)


def test_the_curve_and_the_steps_come_after(opened: Opened) -> None:
    page = opened()
    page.locator(".curve figure svg").wait_for()
    assert "0.4433" in page.locator(".curve").inner_text()
    page.get_by_text("Step through").click()
    page.locator(".close table").wait_for()


def test_without_scripts(opened: Opened) -> None:
    page = opened("list=0+0+0+0+1+0+1+0+1+0&relevant=4", java_script_enabled=False)
    tile(page, 2).click()
    assert value(page) == "0.4433"
    page.get_by_label("k: one less").click()
    assert value(page, "AP@9") == "0.4433"
    page.get_by_label("Start from an example").select_option("image-search")
    page.get_by_role("button", name="Start").click()
    assert value(page) == "0.3694"
    page.get_by_text("Write or paste a list").click()
    page.get_by_label("The list: grades").fill("0 1 1 0 0 1 1")
    page.get_by_role("button", name="Take this list").click()
    assert value(page) == "0.5595"
    page.get_by_role("link", name="Precision against recall").click()
    page.locator("figure svg").first.wait_for()
