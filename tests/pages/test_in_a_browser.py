"""What the scripts do in a real browser, under the policy of the explorer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from judged.web.pages import templating as assets
from judged.web.pages.templating import document, environment

pytestmark = pytest.mark.slow


SITE = "http://judged.test"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def served(page: Any, html: str, path: str = "/", answers: Any = None) -> list[str]:
    """Open HTML in a browser's page at an address of its own, under the policy of the explorer; the
    list fills with what the console says. `answers(route, path, query)` may answer before."""
    said: list[str] = []
    # A refusal is in the network's log, whatever a page makes of it.
    expected = ("the server responded with a status of 400", "net::ERR_FAILED")
    page.on(
        "console",
        lambda message: (
            said.append(message.text)
            if not any(each in message.text for each in expected)
            else None
        ),
    )
    page.on("pageerror", lambda error: said.append(str(error)))

    def answer(route: Any) -> None:
        address = urlsplit(route.request.url)
        asked = address.path
        headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
        if asked == "/assets/style.css":
            route.fulfill(body=assets.stylesheet(), content_type="text/css", headers=headers)
        elif asked.startswith("/assets/"):
            name = asked.removeprefix("/assets/").removesuffix(".js")
            route.fulfill(body=assets.script(name), content_type="text/javascript", headers=headers)
        elif answers is None or not answers(route, asked, dict(parse_qsl(address.query))):
            route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=headers)

    page.route(f"{SITE}/**", answer)
    page.goto(f"{SITE}{path}")
    return said


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens HTML in a tab of its own; what its console says fails the test."""
    contexts, said = [], []

    def page(html: str, path: str = "/", answers: Any = None, **options: Any) -> Any:
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        contexts.append(context)
        tab = context.new_page()
        said.append(served(tab, html, path, answers))
        return tab

    yield page
    for context in contexts:
        context.close()
    assert [each for each in said if each] == []


def test_the_theme_is_switched_and_kept(opened: Callable[..., Any]) -> None:
    tab = opened(form_page("id"), color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(ground)
    seen = []
    for _ in range(3):
        tab.click("[data-theme-switch]")
        seen.append(
            (tab.evaluate("document.documentElement.dataset.theme ?? null"), tab.evaluate(ground))
        )
    dark = seen[1][1]
    assert seen == [("light", light), ("dark", dark), (None, light)]
    assert dark != light
    tab.click("[data-theme-switch]")
    tab.click("[data-theme-switch]")
    tab.reload()
    assert tab.evaluate(ground) == dark
    assert tab.get_attribute("[data-theme-switch]", "aria-label") == "Colours: dark. Change"
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


FORM = """{% extends "layout.html" %}
{% block content %}
<form method="get" data-swap="main">
<select name="ties" aria-label="Ties">{% for each in ["id", "best", "slow", "error"] %}
<option{% if each == ties %} selected{% endif %}>{{ each }}</option>{% endfor %}</select>
<input name="find" type="text" data-live aria-label="Find">
</form>
<h1>ties are {{ ties }}</h1>
<a id="link" href="/?ties=worst" data-swap="main">worst</a>
<div data-load="/chart" class="tall"><a href="/chart">the chart</a></div>
{% endblock %}"""


def form_page(ties: str) -> str:
    return environment().from_string(FORM).render(title=f"ties {ties}", ties=ties)


class Answers:
    """A server whose answers can be late: they are given when the test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.late: list[tuple[Any, dict[str, Any]]] = []

    def __call__(self, route: Any, path: str, query: dict[str, str]) -> bool:
        self.asked.append(f"{route.request.headers.get('x-fragment')} {path} {json.dumps(query)}")
        if path == "/chart":
            route.fulfill(body="<figure><h2>A chart</h2></figure>", content_type="text/html")
        elif query.get("ties") == "error":
            sentence = "query 'x' is missing from the run; <b>policy</b> missing=error."
            route.fulfill(
                status=400, body=json.dumps({"error": sentence}), content_type="application/json"
            )
        elif query.get("ties") == "slow":
            self.late.append((route, {"body": form_page("slow"), "content_type": "text/html"}))
        else:
            route.fulfill(body=form_page(query.get("ties", "id")), content_type="text/html")
        return True


def heading(tab: Any, text: str) -> None:
    tab.wait_for_function(
        "text => document.querySelector('h1').textContent === text", arg=f"ties are {text}"
    )


def test_a_control_swaps_its_block_and_the_browser_can_go_back(opened: Callable[..., Any]) -> None:
    answers = Answers()
    tab = opened(form_page("id"), answers=answers)
    tab.evaluate("window.kept = true")
    tab.focus("select")
    tab.select_option("select", "best")
    heading(tab, "best")
    assert tab.url == f"{SITE}/?ties=best"
    assert tab.evaluate("document.activeElement.name") == "ties"
    assert tab.locator("#announcements").text_content() != ""
    tab.click("#link")
    heading(tab, "worst")
    tab.go_back()
    heading(tab, "best")
    tab.go_back()
    heading(tab, "id")
    tab.go_forward()
    heading(tab, "best")
    assert tab.evaluate("window.kept") is True
    asked = [each for each in answers.asked if "/chart" not in each]
    assert asked[1] == 'main / {"ties": "best"}'


def test_charts_come_after_the_numbers(opened: Callable[..., Any]) -> None:
    tab = opened(form_page("id"), answers=Answers())
    tab.wait_for_selector("figure h2")
    assert tab.locator("figure h2").text_content() == "A chart"


def test_what_is_refused_leaves_everything_as_it_was(opened: Callable[..., Any]) -> None:
    tab = opened(form_page("id"), answers=Answers())
    tab.select_option("select", "error")
    tab.wait_for_selector(".band.refused")
    assert tab.locator(".band.refused").inner_text() == (
        "query 'x' is missing from the run; <b>policy</b> missing=error."
    )
    assert tab.locator("select").input_value() == "id"
    assert tab.url == f"{SITE}/"
    heading(tab, "id")
    tab.select_option("select", "best")
    heading(tab, "best")
    assert tab.locator(".band.refused").count() == 0


def test_only_the_last_answer_counts(opened: Callable[..., Any]) -> None:
    answers = Answers()
    tab = opened(form_page("id"), answers=answers)
    tab.select_option("select", "slow")
    tab.wait_for_function(
        "() => document.getElementById('main').getAttribute('aria-busy') === 'true'"
    )
    tab.select_option("select", "best")
    heading(tab, "best")
    for route, answer in answers.late:
        route.fulfill(**answer)
    tab.wait_for_timeout(100)
    heading(tab, "best")
    assert tab.url == f"{SITE}/?ties=best"


def test_while_the_server_works_it_is_asked_again(opened: Callable[..., Any]) -> None:
    asked: list[str] = []
    step = 1  # stands still until the page has shown it, however slow the machine

    def slow(route: Any, path: str, query: dict[str, str]) -> bool:
        if route.request.headers.get("x-fragment") != "main":
            return False
        asked.append(path)
        if step < 3:
            body = f'<div id="working" class="page-band">Reading {step} of 3</div>'
            route.fulfill(status=202, body=body, content_type="text/html")
        else:
            route.fulfill(body=form_page(query["ties"]), content_type="text/html")
        return True

    tab = opened(form_page("id"), answers=slow)
    tab.select_option("select", "best")
    tab.wait_for_selector("text=Reading 1 of 3")
    step = 2
    tab.wait_for_selector("text=Reading 2 of 3")
    step = 3
    heading(tab, "best")
    assert tab.locator("#working").count() == 0
    assert len(asked) >= 3


def test_a_server_that_is_gone_is_said(opened: Callable[..., Any]) -> None:
    def gone(route: Any, path: str, query: dict[str, str]) -> bool:
        if route.request.headers.get("x-fragment") != "main":
            return False
        route.abort()
        return True

    tab = opened(form_page("id"), answers=gone)
    tab.select_option("select", "best")
    tab.wait_for_selector(".band.refused")
    assert tab.locator(".band.refused").inner_text() == (
        "The server does not answer. Is judged serve still running?"
    )


ROWS = """{% for row in rows %}
<tr aria-rowindex="{{ row + 2 }}"><td><a href="/query?id={{ row }}">query {{ row }}</a></td>
<td class="right">0.5</td></tr>{% endfor %}"""
TABLE = (
    """{% extends "layout.html" %}
{% block content %}<h1>7,000 queries</h1>
<table class="dense" data-rows="/queries?sort=id" data-count="7000" data-size="30"
 aria-rowcount="7001"><thead><tr><th scope="col">query</th><th scope="col">AP</th></tr></thead>
<tbody>"""
    + ROWS
    + """</tbody></table>{% endblock %}"""
)


def test_long_tables_hold_only_the_rows_in_sight(opened: Callable[..., Any]) -> None:
    def rows(route: Any, path: str, query: dict[str, str]) -> bool:
        if path != "/queries":
            return False
        begin = int(query["from"])
        assert query["sort"] == "id"
        assert route.request.headers["x-fragment"] == "rows"
        some = range(begin, min(begin + 30, 7000))
        body = environment().from_string(f'<tbody id="rows">{ROWS}</tbody>').render(rows=some)
        route.fulfill(body=body, content_type="text/html")
        return True

    html = environment().from_string(TABLE).render(title="queries", rows=range(30))
    tab = opened(html, answers=rows, viewport={"width": 1000, "height": 800})
    tab.wait_for_selector("text=query 35")
    # 7,000 rows of 33 pixels and their lines, to a percent.
    row = tab.locator("tbody tr").first.bounding_box()["height"]
    assert abs(tab.locator("table").bounding_box()["height"] - 7000 * row) < 70 * row
    tab.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    tab.wait_for_selector("text=/query 35\\d\\d/")
    assert tab.locator("tbody tr").count() < 150
    assert tab.locator("text=/^query 3$/").count() == 0
    tab.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    tab.wait_for_selector("text=query 6999")
    assert tab.get_attribute("tr:has-text('query 6999')", "aria-rowindex") == "7001"
    last = tab.locator("tr:has-text('query 6999')").bounding_box()
    assert last["y"] < 800
    tab.evaluate("scrollTo(0, 0)")
    tab.wait_for_selector("text=/^query 0$/")
    assert tab.locator("tbody tr").count() < 150
    # The row with the focus stays, wherever the window is.
    tab.focus("text=/^query 3$/")
    tab.evaluate("scrollTo(0, 100000)")
    tab.wait_for_timeout(200)
    assert tab.evaluate("document.activeElement.textContent") == "query 3"


def test_a_document_runs_only_what_it_came_with(browser: Any, tmp_path: Any) -> None:
    hostile = "<script>window.fooled = 1</script><img src=x onerror='window.fooled = 1'>"
    target = tmp_path / "page.html"
    html = document(title=hostile, body=hostile, data={"data": {"</script>": hostile}})
    target.write_text(html, encoding="utf-8")
    context = browser.new_context(offline=True)
    tab = context.new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(target.as_uri())
    assert tab.locator("main").inner_text() == hostile
    assert tab.title() == hostile
    assert tab.evaluate("JSON.parse(document.getElementById('data').textContent)") == {
        "</script>": hostile
    }
    assert tab.evaluate("document.documentElement.classList.contains('scripted')")
    assert tab.evaluate("'fooled' in window") is False
    assert tab.evaluate("getComputedStyle(document.body).margin") == "0px"
    assert said == []
    # The policy holds: a script that comes later does not run.
    tab.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.fooled = 1';"
        " document.body.append(s); }"
    )
    assert tab.evaluate("'fooled' in window") is False
    assert len(said) == 1
    context.close()
