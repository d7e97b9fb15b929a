"""Queries in a real browser: keys, steps, filters, narrow screens, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.served import Serve, grades, lists, write_judgements, write_run

Browse = Callable[..., Any]


@pytest.fixture
def folder(data: Path) -> Path:
    rows = "".join(f"q{at}\twhat is number {at}\n" for at in range(0, 20, 2))
    (data / "queries.tsv").write_text("query_id\ttext\n" + rows)
    texts = "".join(f"d{at}\tItem {at}\t{'words ' * 60}\n" for at in range(20))
    (data / "corpus.tsv").write_text("doc_id\ttitle\ttext\n" + texts)
    return data


def shown(page: Any) -> str:
    """The query of the address."""
    return re.search(r"[?&]query=([^&]*)", page.url)[1]  # type: ignore[index]


def test_step_with_j_and_k(server: Serve, folder: Path, browse: Browse) -> None:
    page = browse(server(folder), "/queries?sort=query&order=ascending")
    page.locator("tbody th a").nth(2).click()
    page.wait_for_url("**query=q2*")
    page.wait_for_selector(".eyebrow .mono >> text=q2")
    for key, wanted in (("j", "q3"), ("j", "q4"), ("k", "q3")):
        page.keyboard.press(key)
        page.wait_for_function(f"() => location.search.includes('query={wanted}')")
        page.wait_for_selector(f".eyebrow .mono >> text={wanted}")
    page.go_back()
    page.wait_for_function("() => location.search.includes('query=q4')")
    page.wait_for_selector(".eyebrow .mono >> text=q4")
    assert shown(page) == "q4"


def test_letters_in_a_field_do_not_step(server: Serve, folder: Path, browse: Browse) -> None:
    page = browse(server(folder), "/queries")
    page.get_by_role("textbox", name="Find").press_sequentially("jk")
    page.wait_for_selector("text=No query contains 'jk'.")
    page.get_by_role("link", name="Clear the filter").click()
    page.wait_for_function("() => !location.search.includes('find')")
    page.wait_for_selector("h1 >> text=/^20 queries/")
    assert "find" not in page.url


def test_find_keeps_the_focus(server: Serve, folder: Path, browse: Browse) -> None:
    page = browse(server(folder), "/queries")
    page.get_by_role("textbox", name="Find").press_sequentially("number 1")
    page.wait_for_selector("h1 >> text=of 20 queries")
    assert page.evaluate("document.activeElement.name") == "find"
    assert page.locator("tbody tr").count() == 5


def test_what_is_typed_while_an_answer_comes_is_kept(
    server: Serve, folder: Path, browse: Browse
) -> None:
    page = browse(server(folder), "/queries")
    page.get_by_role("textbox", name="Find").click()
    for letter in "number 1":
        page.keyboard.press(letter if letter != " " else "Space")
        page.wait_for_timeout(270)
    page.wait_for_selector("h1 >> text=5 of 20 queries")
    assert page.get_by_role("textbox", name="Find").input_value() == "number 1"


def test_the_sum_step_by_step(server: Serve, folder: Path, browse: Browse) -> None:
    page = browse(server(folder), "/query?query=q4&system=bm25&measure=AP")
    panel = page.locator("#sum")
    panel.locator("[data-frames] li").first.wait_for(state="attached")
    frames = panel.locator("[data-frames] li").all_text_contents()
    panel.locator("[data-step=back]").click()
    assert panel.locator("[data-caption]").text_content() == frames[-2]
    page.keyboard.press("Home")
    assert panel.locator("[data-caption]").text_content() == frames[0]
    assert panel.locator("tr.later").count() == panel.locator("tr[data-rank]").count()
    page.keyboard.press("ArrowRight")
    assert panel.locator("[data-caption]").text_content() == frames[1]
    assert panel.locator("tr.now").count() == 1
    panel.locator("[data-step=play]").click()
    assert panel.locator("[data-step=play]").text_content() == "Pause"
    page.wait_for_function(
        "text => document.querySelector('[data-caption]').textContent === text", arg=frames[2]
    )
    panel.locator("[data-step=play]").click()
    page.keyboard.press("End")
    assert panel.locator("tr.later").count() == 0


def test_another_sum_by_a_click_on_a_value(server: Serve, folder: Path, browse: Browse) -> None:
    page = browse(server(folder), "/query?query=q4&system=bm25&system=dense&measure=AP&measure=RR")
    page.locator(".values tbody tr").nth(1).locator("a").first.click()
    page.wait_for_selector("#sum h2 >> text=How bm25 comes to RR")
    page.locator("#sum select[name=of]").select_option("dense")
    page.wait_for_selector("#sum h2 >> text=How dense comes to RR")
    assert page.locator("#sum select[name=of]").input_value() == "dense"


def test_copy_latex(server: Serve, folder: Path, browse: Browse) -> None:
    page = browse(
        server(folder),
        "/query?query=q4&system=bm25&measure=AP",
        permissions=["clipboard-read", "clipboard-write"],
    )
    page.get_by_role("button", name="Copy LaTeX").click()
    page.wait_for_selector("button >> text=Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("\\begin{align*}")


def test_up_to_four_lists(server: Serve, folder: Path, browse: Browse) -> None:
    page = browse(server(folder), "/query?query=q4&system=bm25")
    for count, name in enumerate(("dense", "hybrid", "short"), 2):
        page.locator(".with-lists select[name=system]").last.select_option(name)
        page.wait_for_selector(f".lists.of-{count}")
    assert page.locator(".lists > .list").count() == 4
    lines = page.locator(".moves").first.bounding_box()
    rows = page.locator(".lists ol").first.bounding_box()
    assert abs(lines["y"] - rows["y"]) < 1.5
    assert abs(lines["height"] - rows["height"]) < 1.5


def test_an_item_looked_at_closely(server: Serve, folder: Path, browse: Browse) -> None:
    page = browse(server(folder), "/query?query=q4&system=bm25")
    page.locator(".lists a.heading >> text=Item").first.click()
    page.wait_for_selector("#item .whole-text")
    page.get_by_role("link", name="Close").click()
    page.wait_for_selector("#item", state="detached")
    assert "item=" not in page.url


def test_rows_in_sight_only(server: Serve, tmp_path: Path, browse: Browse) -> None:
    write_judgements(tmp_path / "qrels.txt", grades(400))
    write_run(tmp_path / "one.run", lists(400))
    write_run(tmp_path / "two.run", lists(400, seed=1))
    page = browse(server(tmp_path), "/queries?sort=query&order=ascending")
    assert page.locator("table").get_attribute("aria-rowcount") == "401"
    for _ in range(100):  # the page grows as rows come
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        if page.locator("tbody th >> text=q399").count():
            break
        page.wait_for_timeout(100)
    page.wait_for_selector("tbody th >> text=q399")
    assert page.evaluate("document.querySelectorAll('*').length") < 2000
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_selector("tbody th >> text=q0")


def test_a_first_page_that_leaves_a_run_out_shows_the_terms_to_choose_others(
    server: Serve, browse: Callable[..., Any], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "judged.web.app.SECONDS_BEFORE_PROGRESS", 0
    )  # so that a page says first that it is made
    run = data / "bm25.run"
    first = run.read_text().splitlines()[0].split()
    run.write_text(run.read_text() + " ".join([*first[:3], "99", "-9", "again"]) + "\n")
    page = browse(server(data), "/?missing=zero")
    page.wait_for_selector(".band:has-text('more than once')")
    page.select_option("select[name=duplicates]", "first")
    page.wait_for_url("**duplicates=first**")
    page.wait_for_selector("table")
