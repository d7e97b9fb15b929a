"""The leaderboard and comparisons in a real browser: terms, measures, links, back and forward."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import judged
from judged.measures import parse_measure
from judged.web.pages.numbers import plain_number
from support.served import Serve

pytestmark = pytest.mark.filterwarnings("ignore")
Browse = Callable[..., Any]
SYSTEMS = ("bm25", "dense", "hybrid", "short")
SLOW = 60_000
"""Milliseconds that anything may take on a busy machine."""


@pytest.fixture
def leaderboard(server: Serve, data: Path, browse: Browse) -> Any:
    page = browse(server(data), "/?measure=AP&measure=RR")
    page.set_default_timeout(SLOW)
    page.wait_for_selector(".board tbody tr")
    return page


def numbers(page: Any) -> dict[str, list[str]]:
    """The numbers of each system, as they are shown."""
    found = {}
    for row in page.locator(".board tbody tr").all():
        cells = row.locator("td.right:not(.rank) .number").all_inner_texts()
        found[row.locator("th.name .cut").inner_text()] = [
            each for each in cells if not each.startswith(("+", "−"))
        ]
    return found


def evaluated(data: Path, measures: list[str], **options: Any) -> dict[str, list[str]]:
    runs = [data / f"{name}.run" for name in SYSTEMS]
    found = judged.evaluate(data / "qrels.txt", runs, measures, **options)
    return {
        run.name: [plain_number(run.summary[each]) for each in found.measures] for run in found.runs
    }


def test_terms_are_changed_and_the_page_says_what_that_did(leaderboard: Any, data: Path) -> None:
    page = leaderboard
    assert numbers(page) == evaluated(data, ["AP", "RR"])
    policy: dict[str, str] = {}
    for name, value in (("unjudged", "removed"), ("empty", "skip"), ("ties", "worst")):
        policy[name] = value
        page.select_option(f".terms select[name={name}]", value)
        page.wait_for_url(re.compile(f"{name}={value}"))
        page.wait_for_selector(".band.changed")
        assert numbers(page) == evaluated(data, ["AP", "RR"], policy=policy)
        assert "numbers moved" in page.inner_text(".band.changed")
    assert page.locator(".board .moved").count()
    page.click(".band.changed a.button")
    page.wait_for_selector(".band.changed", state="detached")
    assert numbers(page) == evaluated(
        data, ["AP", "RR"], policy={"unjudged": "removed", "empty": "skip"}
    )


def test_a_measure_is_added_mistyped_and_removed(leaderboard: Any, data: Path) -> None:
    page = leaderboard
    page.fill("#add-measure", "P@5")
    page.press("#add-measure", "Enter")
    page.wait_for_selector(".chip:has-text('P@5')")
    assert numbers(page) == evaluated(data, ["AP", "RR", "P@5"])
    assert page.evaluate("document.activeElement.id") == "add-measure"
    page.fill("#add-measure", "nDGC@10")
    page.press("#add-measure", "Enter")
    page.wait_for_selector(".chip.refused")
    with pytest.raises(judged.errors.MeasureError) as refused:
        parse_measure("nDGC@10")
    assert page.inner_text("#refused-measures") == str(refused.value)
    assert numbers(page) == evaluated(data, ["AP", "RR", "P@5"])
    page.click(".chip.refused .remove")
    page.wait_for_selector(".chip.refused", state="detached")
    page.click("a[aria-label='Remove RR']")
    page.wait_for_selector(".chip:has-text('RR')", state="detached")
    assert numbers(page) == evaluated(data, ["AP", "P@5"])


def test_two_are_chosen_and_compared_and_queries_opened(leaderboard: Any) -> None:
    page = leaderboard
    page.check("input[value=bm25]")
    page.check("input[value=dense]")
    page.click("button:has-text('Compare selected')")
    page.wait_for_selector(".compare .reading")
    row = page.locator(".differing tbody th a").first
    query = row.inner_text()
    row.click()
    page.wait_for_url(re.compile(r"/query\?"))
    assert parse_qs(urlsplit(page.url).query)["query"] == [query]
    page.go_back()
    for mark in ("differences", "scatter"):
        page.wait_for_selector(".differing")
        places = page.locator(".grid .panel.w8 svg a, .grid .panel.w5 svg a")
        chart = page.locator(f".grid .panel.{'w8' if mark == 'differences' else 'w5'}")
        chart.scroll_into_view_if_needed()
        page.wait_for_selector(f".grid .panel.{'w8' if mark == 'differences' else 'w5'} svg a")
        assert places.count()
        address = chart.locator("svg a").first.get_attribute("href")
        chart.locator("svg a").first.dispatch_event("click")
        page.wait_for_url(re.compile(r"/query\?"))
        assert page.url.endswith(address)
        page.go_back()


def test_back_and_forward(leaderboard: Any, data: Path) -> None:
    page = leaderboard
    page.click("th a.sort:has-text('RR')")
    page.wait_for_url(re.compile("sort=RR"))
    page.wait_for_selector("th[aria-sort=descending]:has-text('RR')")
    page.select_option(".terms select[name=unjudged]", "removed")
    page.wait_for_selector(".band.changed")
    page.go_back()
    page.wait_for_selector(".band.changed", state="detached")
    assert numbers(page) == evaluated(data, ["AP", "RR"])
    page.go_forward()
    page.wait_for_selector(".band.changed")
    assert numbers(page) == evaluated(data, ["AP", "RR"], policy={"unjudged": "removed"})


def test_without_scripts_forms_submit(server: Serve, data: Path, browse: Browse) -> None:
    page = browse(server(data), "/?measure=AP", java_script_enabled=False)
    page.wait_for_selector(".board tbody tr", timeout=SLOW)
    page.fill("#add-measure", "RR")
    page.click("button:has-text('Add')")
    page.wait_for_selector("th:has-text('RR')", timeout=SLOW)
    assert numbers(page) == evaluated(data, ["AP", "RR"])
    page.select_option(".terms select[name=unjudged]", "removed")
    page.click("button:has-text('Apply')")
    page.wait_for_selector(".band.changed", timeout=SLOW)
    assert numbers(page) == evaluated(data, ["AP", "RR"], policy={"unjudged": "removed"})
    assert page.locator("a:has-text('Show the chart')").count() == 2


MANY = "measure=AP&measure=RR&measure=P@5&measure=R@10&measure=nDCG@10&measure=RBP&measure=ERR@10"


@pytest.mark.parametrize(("width", "shown"), [(1280, "right"), (390, "phone")])
def test_the_sorted_column_stays_in_sight(
    server: Serve, data: Path, browse: Browse, width: int, shown: str
) -> None:
    page = browse(server(data), f"/?{MANY}&sort=ERR@10", viewport={"width": width, "height": 800})
    table = page.locator(".scroll:has(.board)")
    assert table.evaluate("(each) => each.scrollWidth > each.clientWidth")
    assert "gradient" in table.evaluate("(each) => getComputedStyle(each).backgroundImage")
    shade = page.locator("td.sorted").first.evaluate(
        "(each) => getComputedStyle(each, '::before').content"
    )
    assert shade == '""'  # beside the column that covers others
    for left in (0, 9_999):
        table.evaluate("(each, left) => { each.scrollLeft = left; }", left)
        frame, cell = table.bounding_box(), page.locator("td.sorted").first.bounding_box()
        assert frame["x"] <= cell["x"]
        assert cell["x"] + cell["width"] <= frame["x"] + frame["width"] + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_default_leaderboard_fits_at_1280(server: Serve, data: Path, browse: Browse) -> None:
    page = browse(server(data), "/", viewport={"width": 1280, "height": 800})
    table = page.locator(".scroll:has(.board)")
    assert table.evaluate("(each) => each.scrollWidth <= each.clientWidth")


def test_on_a_phone_systems_can_be_chosen_and_settings_are_folded(
    server: Serve, data: Path, browse: Browse
) -> None:
    running, phone = server(data), {"viewport": {"width": 390, "height": 800}}
    page = browse(running, "/", **phone)
    assert page.locator(".terms select").first.is_hidden()
    page.click(".terms summary")
    page.select_option(".terms select[name=unjudged]", "removed")
    page.wait_for_selector(".band.changed")
    assert page.locator(".terms select").first.is_visible()  # it stays open
    page.check("input[value=dense]")
    page.check("input[value=hybrid]")
    page.click("button:has-text('Compare selected')")
    page.wait_for_selector(".compare .reading")
    assert {"dense", "hybrid"} <= set(parse_qs(urlsplit(page.url).query)["system"])
    page = browse(running, "/queries", **phone)
    assert page.locator("select[name=range]").is_hidden()
    page.click("summary:has-text('More filters')")
    assert page.locator("select[name=range]").is_visible()
    page = browse(running, "/queries", viewport={"width": 1280, "height": 800})
    assert page.locator("select[name=range]").is_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_an_item_opens_where_the_reader_is(
    server: Serve, data: Path, browse: Browse, width: int
) -> None:
    page = browse(
        server(data),
        "/query?query=q1&system=bm25&system=dense&k=50",
        viewport={"width": width, "height": 700},
    )
    last = page.locator(".lists a.heading").last
    last.scroll_into_view_if_needed()
    last.click()
    page.wait_for_selector("#item")
    page.wait_for_timeout(300)
    box = page.locator("#item").bounding_box()
    assert box["y"] >= -1
    assert box["y"] < 700


def test_a_compared_pair_states_its_difference_once_and_has_the_texts_of_queries(
    server: Serve, data: Path, browse: Browse
) -> None:
    rows = "".join(f"q{at}\twhat is number {at}\n" for at in range(20))
    (data / "queries.tsv").write_text("query_id\ttext\n" + rows)
    page = browse(server(data), "/compare?system=bm25&system=dense&by=RR")
    page.wait_for_selector(".grid .panel.w8 svg")
    stated = re.search(r"The difference is ([+−]\d\.\d+)", page.inner_text(".lead"))
    assert stated is not None
    prose = page.evaluate(
        """() => { const main = document.querySelector("main").cloneNode(true);
        for (const each of main.querySelectorAll("svg, table, details")) each.remove();
        return main.textContent; }"""
    )
    assert prose.count(stated[1]) == 1
    assert "what is number" in page.inner_text(".differing th .text >> nth=0")
