"""Ids and names of runs that try to be scripts, that steer terminals, or that no drawing can hold:
every kind of chart shows them as they are, and nothing else happens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.charts.canvas import LONGEST, drawable
from support.hostile import FLAG, HIDDEN, ODD, SCRIPTS, drawn


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Callable[[str], Any]]:
    """A function that opens HTML in a browser, waits, and gives the tab."""
    tab = browser.new_page()

    def opened(html: str) -> Any:
        tab.goto("about:blank")
        tab.set_content(html)
        return tab

    yield opened
    tab.close()


def fooled(tab: Any) -> bool:
    tab.wait_for_timeout(30)
    return bool(tab.evaluate(f"'{FLAG}' in window"))


def said(part: Any) -> str:
    """What stands there, and in the titles of names that are too long to be shown whole."""
    titles = [each.get_attribute("title") for each in part.locator("[title]").all()]
    return "\n".join([part.inner_text(), *titles])


@pytest.mark.slow
def test_no_name_is_run_in_any_page(page: Callable[[str], Any]) -> None:
    notebook = []
    for name, make in drawn(SCRIPTS):
        chart = make()
        tab = page(chart.to_html())
        if name != "gallery":
            tab.wait_for_selector("#chart svg.marks", timeout=30_000)
        assert not fooled(tab), name
        if name == "gallery":
            words = said(tab.locator("body"))
            assert all(query in words for query in chart.data["query"])
        notebook.append(chart._repr_html_())
    assert not fooled(page("".join(notebook)))


@pytest.mark.parametrize("name", SCRIPTS)
def test_results_and_explanations_show_a_name_as_it_is(
    page: Callable[[str], Any], name: str
) -> None:
    found = judged.evaluate({name: {name: 1}}, {name: {name: [name]}}, "AP")
    tab = page(found.to_html(per_query=True))
    assert not fooled(tab)
    assert [cell.inner_text() for cell in tab.locator("td").all()[:2]] == [name, name]
    tab = page(judged.explain({name: {name: 1}}, {name: [name]}, measure="AP").to_html())
    assert not fooled(tab)
    assert name in said(tab.locator("table").first)


def test_a_page_opens_with_a_clean_console(page: Callable[[str], Any]) -> None:
    """It names the Vega-Lite that it runs, and uses nothing that this one warns of."""
    said: list[str] = []
    tab = page("<p></p>")
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    chart = judged.charts.cmc(judged.Rankings.from_relevance([[0, 1], [1, 0]]))
    page(chart.to_html()).wait_for_selector("#chart svg.marks", timeout=30_000)
    assert said == []


def test_a_chart_shows_names_as_they_are(page: Callable[[str], Any]) -> None:
    names = (*SCRIPTS, *ODD)
    chart = judged.charts.cmc(
        [judged.Rankings.from_relevance([[0, 1], [1, 0]], name=name) for name in names]
    )
    assert chart.data["run"].unique(maintain_order=True).to_list() == list(names)
    tab = page(chart.to_html())
    tab.wait_for_selector("#chart svg.marks", timeout=30_000)
    shown = tab.locator("#chart svg.marks").text_content()
    assert [name for name in names if name not in shown] == []


DRAW = """
import sys
from support.hostile import NAMES, drawn
for names in (NAMES, ("\\\\", 'a\\\\"+b+"')):
    for name, make in drawn(names):
        if names is not NAMES and name not in ("scatter", "temperature-study"):
            continue  # only these have names in the titles of axes
        chart = make()
        if hasattr(chart, "to_svg"):
            chart.to_svg()
        for form in ("to_json", "to_csv", "__repr__"):
            getattr(chart, form)().encode()
    chart.to_png(), chart.to_pdf()
print("done")
"""


@pytest.mark.full
@pytest.mark.full
def test_no_name_ends_the_process() -> None:
    """vl-convert aborts where it meets what XML cannot hold: only another process lives to tell."""
    ended = subprocess.run(
        [sys.executable, "-c", DRAW],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr[-500:]


def test_names_that_look_alike_stay_apart() -> None:
    alike = ["a\n", "a\\n", "x" * 400 + "1" + "y" * 400, "x" * 400 + "2" + "y" * 400]
    shown = drawable({"values": [{"run": name} for name in alike]})["values"]
    names = [row["run"] for row in shown]
    assert len(set(names)) == 4
    assert names[:2] == ["a\\n (2)", "a\\n"]
    assert max(map(len, names)) <= LONGEST + len(" (2)")


@pytest.mark.parametrize("name", HIDDEN)
def test_nothing_hidden_is_shown(name: str) -> None:
    ranked = judged.Rankings.from_relevance([[0, 1]], name=name)
    chart = judged.charts.cmc([ranked, ranked])
    assert chart.data["run"][0] == name
    for text in (chart.to_html().partition('vegaEmbed("#chart"')[2], repr(chart), chart.to_json()):
        assert not any(sign in text for sign in name if not sign.isprintable() and sign != "\n")
