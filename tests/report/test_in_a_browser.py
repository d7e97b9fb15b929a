"""Reports in a real browser: from disk, without a network, with and without scripts, on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import judged
from support.browser import violations
from support.hostile import FLAG, NAMES
from support.reported import generated, write_files

LONG = "l" * 3000
WIDER = "() => document.documentElement.scrollWidth - innerWidth"
UNFOLD = "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"
PAPER = {"width": 703, "height": 1000}
"""A4 without its margins, in pixels of a browser."""


@contextmanager
def opened(browser: Any, path: Path, **context: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page opened from disk with the network off, and what it said in the console."""
    own = browser.new_context(offline=True, **context)
    page, said = own.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    yield page, said
    own.close()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    files = [folder / name for name in write_files(folder)]
    report = judged.report(files[0], files[1:], ["nDCG@10", "RR"], title="Search")
    report.save(folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Names of queries, items, systems, texts and the title that try to be more than names."""
    queries = [*(f"{name}?" for name in NAMES), LONG, "__proto__", "constructor", "{{7*7}}"]
    judgements = {query: {"a": 1, f"{query}<b>": 2, LONG: 1} for query in queries}
    names = [f"</script><script>window.{FLAG}=1</script>", LONG, "__proto__", "{{7*7}}", "\u202eb"]
    runs = {
        name: {q: ([f"{q}<b>", "a", LONG] if at % 2 else ["x", "a"]) for q in queries}
        for at, name in enumerate(names)
    }
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    said = dict.fromkeys(("a", LONG, *queries), f"<img src=x onerror=window.{FLAG}=1> {LONG}")
    report = judged.report(
        judgements,
        runs,
        ["nDCG@10", "RR"],
        title=f"<img src=x onerror=window.{FLAG}=1>{LONG}",
        texts=said,
        queries=said,
    )
    replace(report, date=f"</script><script>window.{FLAG}=1</script>").save(path)
    return path


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_opened_from_disk(browser: Any, saved: Path, scheme: str, width: int) -> None:
    size = {"width": width, "height": 800}
    with opened(browser, saved, color_scheme=scheme, viewport=size) as (page, said):
        assert said == []
        assert page.evaluate(WIDER) <= 0
        assert violations(page) == []
        assert page.title() == "Search"
        page.evaluate(UNFOLD)
        assert page.evaluate(WIDER) <= 0
        assert violations(page) == []


def first_column(page: Any) -> list[str]:
    heads: list[str] = (
        page.locator(".every >> nth=0").locator("tbody tr:visible th").all_inner_texts()
    )
    return heads


def test_sorting_and_filtering(browser: Any, saved: Path) -> None:
    with opened(browser, saved) as (page, said):
        part = page.locator(".every").first
        queries = first_column(page)
        assert len(queries) == 12
        assert queries == sorted(queries)
        assert part.locator("output").inner_text() == "12 of 12 queries"
        button = part.get_by_role("button", name="bm25").first
        for direction, sign in (("descending", -1), ("ascending", 1)):
            button.focus()
            page.keyboard.press("Enter")
            assert part.locator("th", has_text="bm25").first.get_attribute("aria-sort") == direction
            cells = part.locator("tbody td:nth-child(2)").all_inner_texts()
            values = [float(text.split()[0]) for text in cells]
            assert values == sorted(values, key=lambda value: sign * value)
        field = part.get_by_role("searchbox")
        field.fill("Q1")
        assert sorted(first_column(page)) == ["q1", "q10", "q11"]
        assert part.locator("output").inner_text() == "3 of 12 queries"
        field.fill("__proto__")
        assert first_column(page) == []
        assert part.locator(".nothing-found span").inner_text() == "No query contains '__proto__'."
        part.get_by_role("button", name="Show all").click()
        assert len(first_column(page)) == 12
        field.fill("q7")
        command = part.locator(".explains pre").inner_text()
        assert command == "judged explain qrels.txt bm25.run --query=q7 -m nDCG@10"
        assert said == []


def test_strips_are_drawn_for_rows_in_sight_alone(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    generated(2, 400, ["nDCG@10"]).report().save(path)
    with opened(browser, path) as (page, said):
        assert page.locator(".every svg.strip").count() == 0
        page.locator(".every").scroll_into_view_if_needed()
        page.wait_for_selector(".every svg.strip")
        code = page.locator(".every svg.strip").first.get_attribute("aria-label")
        assert re.fullmatch(r"[123.?-]{10}", code)
        assert page.locator(".every svg.strip").first.locator("rect").count() == 10
        assert page.locator(".every svg.strip").count() < 200
        page.locator("h1").scroll_into_view_if_needed()
        page.wait_for_function("() => !document.querySelector('.every svg.strip')")
        cell = page.locator(".every td").first.evaluate("(cell) => cell.textContent")
        assert re.fullmatch(rf"\d\.\d{{4}}\n{re.escape(code)}", cell)
        assert said == []


def test_without_scripts_everything_is_there_but_sorting_and_filtering(
    browser: Any, saved: Path
) -> None:
    with opened(browser, saved, java_script_enabled=False) as (page, said):
        assert said == []
        assert page.locator(".every tbody tr").count() == 24
        assert page.locator(".every").first.get_by_role("searchbox").is_hidden()
        assert page.locator(".theme").is_hidden()
        folded = page.locator(".listed").nth(1)
        assert folded.locator(".lists").is_hidden()
        folded.locator("summary").first.click()
        assert folded.locator(".lists").is_visible()
        assert page.locator("figure svg").first.is_visible()


def test_names_that_are_more_than_names_run_nothing(browser: Any, hostile: Path) -> None:
    for width in (1280, 320):
        size = {"width": width, "height": 800}
        with opened(browser, hostile, viewport=size) as (page, said):
            page.evaluate(UNFOLD)
            page.locator(".every").first.scroll_into_view_if_needed()
            page.get_by_role("searchbox").first.fill("__proto__")
            assert first_column(page)
            assert all("__proto__" in each for each in first_column(page))
            assert page.evaluate(f"() => window.{FLAG}") is None
            assert page.evaluate("() => ({}).polluted") is None
            assert said == []
            assert page.evaluate(WIDER) <= 0
            assert "49" not in page.locator("h1").inner_text()


def cut(page: Any) -> list[str]:
    """What reaches over the right edge of the paper, or is cut there."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
        .filter((each) => !each.closest("svg, .hidden-text, [hidden]"))
        .filter((each) => each.getClientRects().length)
        .filter((each) => {
          const box = each.getBoundingClientRect();
          const style = getComputedStyle(each);
          const clipped = each.scrollWidth > each.clientWidth + 1 && style.overflowX !== "visible"
            && style.display !== "inline" && each.clientWidth > 0;
          return box.right > innerWidth + 1 || clipped;
        })
        .map((each) => each.outerHTML.slice(0, 120))"""
    )
    return found


@pytest.mark.parametrize("systems", [3, 10])
def test_on_paper_nothing_is_cut_and_there_is_nothing_to_press(
    browser: Any, tmp_path: Path, systems: int
) -> None:
    path = tmp_path / "report.html"
    generated(systems, 80 // systems, ["nDCG@10", "AP", "RR", "P@10", "R@100"]).report().save(path)
    with opened(browser, path, viewport=PAPER, color_scheme="dark") as (page, said):
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        assert cut(page) == []
        for control, count in (("button", systems + 2), ("input", 0), ("select", 0)):
            assert page.locator(f"{control}:visible").count() == count
        ink = page.evaluate("() => getComputedStyle(document.body).color")
        assert ink == "rgb(27, 31, 35)"
        style = "(all) => all.map((each) => getComputedStyle(each).display)"
        assert set(page.locator("thead").evaluate_all(style)) == {"table-header-group"}
        pdf = page.pdf(format="A4", prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 4
        page.evaluate("() => dispatchEvent(new Event('afterprint'))")
        assert page.locator(".listed[open]").count() == 1
        assert said == []


def test_200_queries_fit_on_twelve_pages(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    generated(8, 200, ["nDCG@10", "AP", "RR", "P@10", "R@100"]).report(slices=True).save(path)
    with opened(browser, path, viewport=PAPER) as (page, said):
        page.emulate_media(media="print")
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        first = page.locator("#summary")
        assert first.bounding_box()["height"] < 1_017  # the verdict is on a page of its own
        assert first.locator("figure svg").count() == 1
        assert first.get_by_text("What to know").is_visible()
        assert page.locator(".listed:visible").count() <= 6
        # Thousands of patterns would take minutes to print.
        assert page.locator(".every .hatched").count() > 1_000
        assert page.locator(".every [fill^=url]").count() == 0
        pdf = page.pdf(format="A4", prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 12
        assert said == []
