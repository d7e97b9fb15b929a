"""The page of an explanation, played in a real browser: by buttons, by keys, by itself, and without
motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import judged


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Callable[..., Any]:
    """The page of AP of 0 1 0 1 with 3 relevant: (1/2 + 2/4) / 3 = 1/3. Errors and requests of the
    page fail the test."""
    target = tmp_path / "ap.html"
    target.write_text(
        judged.explain("0 1 0 1", measure="AP", relevant=3).to_html(), encoding="utf-8"
    )

    @contextmanager
    def page(**options: Any) -> Iterator[Any]:
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        tab = context.new_page()
        wrong: list[str] = []
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on(
            "request",
            lambda request: (
                wrong.append(request.url) if not request.url.startswith("file:") else None
            ),
        )
        tab.goto(target.as_uri())
        yield tab
        context.close()
        assert wrong == []

    return page


def shown(tab: Any) -> dict[str, str]:
    rows = tab.locator("#readout > div").all()
    return {row.locator("dt").inner_text(): row.locator("dd").inner_text() for row in rows}


def test_buttons_step_through_the_ranking(opened: Callable[..., Any]) -> None:
    with opened() as tab:
        tab.click("#start")
        for _ in range(2):
            tab.click("#next")
        # At rank 2 the first relevant item is found: precision 1/2, recall 1/3; it adds 1/2 / 3 =
        # 0.1667.
        assert shown(tab) == {
            "rank": "2",
            "relevant so far": "1",
            "precision": "1/2 = 0.5",
            "recall": "1/3 = 0.3333",
            "AP": "0.1667",
        }
        tab.click("#end")
        assert shown(tab)["rank"] == "4"
        assert shown(tab)["AP"] == "0.3333"
        for _ in range(2):  # the last step sums up, the one before is rank 4
            tab.click("#back")
        assert shown(tab)["rank"] == "3"
        assert shown(tab)["AP"] == "0.1667"


def test_keys_do_the_same(opened: Callable[..., Any]) -> None:
    with opened() as tab:
        tab.keyboard.press("Home")
        tab.keyboard.press("ArrowRight")
        assert shown(tab)["rank"] == "1"
        tab.keyboard.press("End")
        assert shown(tab)["rank"] == "4"
        for _ in range(2):
            tab.keyboard.press("ArrowLeft")
        assert shown(tab)["rank"] == "3"


def test_it_plays_to_the_end_and_can_be_paused(opened: Callable[..., Any]) -> None:
    with opened() as tab:
        tab.select_option("#speed", label="fast")
        tab.click("#start")
        tab.click("#play")
        tab.wait_for_function("document.querySelector('[data-of=rank]').innerText === '2'")
        tab.click("#play")
        stopped = shown(tab)["rank"]
        tab.wait_for_timeout(1000)
        assert shown(tab)["rank"] == stopped
        tab.click("#play")
        tab.wait_for_function("document.querySelector('[data-of=rank]').innerText === '4'")


def test_it_starts_by_itself_only_where_motion_is_welcome(opened: Callable[..., Any]) -> None:
    with opened(reduced_motion="reduce") as tab:
        first = shown(tab)["rank"]
        tab.wait_for_timeout(1500)
        assert shown(tab)["rank"] == first
    with opened(reduced_motion="no-preference") as tab:
        tab.wait_for_function(
            "document.querySelector('[data-of=rank]').innerText === '4'", timeout=15_000
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_told_from_its_ground(opened: Callable[..., Any], scheme: str) -> None:
    with opened(color_scheme=scheme) as tab:
        text, ground = tab.evaluate(
            "[getComputedStyle(document.querySelector('h1')).color, "
            "getComputedStyle(document.body).backgroundColor]"
        )

        def brightness(colour: str) -> float:
            return (
                sum(float(part.strip(" )")) for part in colour.partition("(")[2].split(",")[:3]) / 3
            )

        assert abs(brightness(text) - brightness(ground)) > 120
        assert (brightness(ground) > 128) == (scheme == "light")
