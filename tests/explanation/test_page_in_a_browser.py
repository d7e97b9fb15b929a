"""The page of an explanation, played in a real browser: by buttons, by keys, by itself, and without
motion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import judged
from support.browser import violations


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
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on(
            "request",
            lambda request: (
                wrong.append(request.url)
                if not request.url.startswith(("file:", "data:"))
                else None
            ),
        )
        tab.goto(target.as_uri())
        yield tab
        context.close()
        assert wrong == []

    return page


def shown(tab: Any) -> dict[str, str]:
    rows = tab.locator(".readout > div").all()
    return {row.locator("dt").inner_text(): row.locator("dd").inner_text() for row in rows}


def reaches(tab: Any, rank: int) -> None:
    """Wait until it stands at a rank."""
    tab.locator('[data-of="rank"]', has_text=re.compile(f"^{rank}$")).wait_for(timeout=15_000)


def test_buttons_and_keys_step_through_the_ranking(opened: Callable[..., Any]) -> None:
    with opened() as tab:
        tab.click('[data-go="start"]')
        for _ in range(2):
            tab.click('[data-go="next"]')
        # At rank 2 the first relevant item is found: precision 1/2, recall 1/3; it adds 1/2 / 3 =
        # 0.1667.
        assert shown(tab) == {
            "rank": "2",
            "relevant so far": "1",
            "precision": "1/2 = 0.5",
            "recall": "1/3 = 0.3333",
            "AP": "0.1667",
        }
        tab.click('[data-go="end"]')
        assert shown(tab)["rank"] == "4"
        assert shown(tab)["AP"] == "0.3333"
        for _ in range(2):  # the last step sums up, the one before is rank 4
            tab.click('[data-go="back"]')
        assert shown(tab)["rank"] == "3"
        assert shown(tab)["AP"] == "0.1667"
        for keys, rank in ((["Home", "ArrowRight"], "1"), (["End"], "4"), (["ArrowLeft"] * 2, "3")):
            for key in keys:
                tab.keyboard.press(key)
            assert shown(tab)["rank"] == rank


def test_it_plays_to_the_end_and_can_be_paused(opened: Callable[..., Any]) -> None:
    with opened() as tab:
        tab.select_option("[data-speed]", label="fast")
        tab.click('[data-go="start"]')
        tab.click('[data-go="play"]')
        reaches(tab, 2)
        tab.click('[data-go="play"]')
        stopped = shown(tab)["rank"]
        tab.wait_for_timeout(1000)
        assert shown(tab)["rank"] == stopped
        tab.click('[data-go="play"]')
        reaches(tab, 4)


def test_it_starts_by_itself_only_where_motion_is_welcome(opened: Callable[..., Any]) -> None:
    with opened(reduced_motion="reduce") as tab:
        first = shown(tab)["rank"]
        tab.wait_for_timeout(1500)
        assert shown(tab)["rank"] == first
    with opened(reduced_motion="no-preference") as tab:
        reaches(tab, 4)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_everyone_can_use_it(opened: Callable[..., Any], scheme: str, width: int) -> None:
    with opened(color_scheme=scheme, viewport={"width": width, "height": 800}) as tab:
        assert violations(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") == width


def test_it_is_whole_without_scripts(opened: Callable[..., Any]) -> None:
    with opened(java_script_enabled=False) as tab:
        assert shown(tab) == {
            "rank": "4",
            "relevant so far": "2",
            "precision": "2/4 = 0.5",
            "recall": "2/3 = 0.6667",
            "AP": "0.3333",
        }
        assert tab.locator('[data-go="play"]').is_hidden()
        assert tab.locator(".walk-drawing .piece").count() == 2
        assert tab.locator(".walk-drawing .piece").first.is_visible()
