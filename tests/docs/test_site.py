"""The site of the documentation: built strictly and without network, complete, and whole."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from website.links import OUTSIDE, ROOT
from website.measures import explanation, measure_page, playground
from website.names import members, name_pages, public
from website.nav import NAV, arranged
from website.sources import repository_pages, site_pages

import judged
from judged.measures import Spec, catalogue, parse_measure
from judged.options import Scoring
from support.browser import violations
from support.loops import for_each
from support.parts import Needs

pytestmark = pytest.mark.full

BUILD = ROOT / "docs" / "build.py"
SITE = "JUDGED_SITE"
"""A folder that `docs/build.py` made before, so that it need not be made again."""
LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements by which a page loads something, and the attribute that says what."""
RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload"}
"""Kinds of <link> that load something."""


class Page(HTMLParser):
    """The addresses, anchors and formulas of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.formulas = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        self.formulas += tag == "math"
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        loads = tag != "link" or RELATIONS & set(given.get("rel", "").split())
        if loads and LOADED.get(tag) in given:
            self.loaded.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def site(needs: Needs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site."""
    needs("docs")
    if made := os.environ.get(SITE):
        return Path(made)
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(BUILD), str(folder)],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Every page by its path."""
    return {
        path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
    }


# -- what the site is made of


def test_every_page_of_the_repository_has_one_place() -> None:
    names = [OUTSIDE.get(path) or Path(path).name for path in repository_pages()]
    kept = [name.removesuffix(".md") for name in names]
    listed = [page for pages in arranged([*kept, "api"]).values() for page in pages]
    assert sorted([*listed, "index"]) == sorted([*kept, "api"])


def test_the_list_of_pages() -> None:
    names = [name for part in NAV.values() for name in part]
    assert len(names) == len(set(names))
    with pytest.raises(ValueError, match=r"^docs/website/nav\.py has no place for nowhere\.$"):
        arranged(["quickstart", "nowhere"])
    # A page that is named is not taken by a pattern before it.
    assert arranged(["guide-ci", "guide-new"]) == {"How to": ["guide-ci", "guide-new"]}


@for_each("spec", catalogue(), ids=lambda spec: spec.name)
def test_the_page_of_a_measure_has_all_of_it(spec: Spec) -> None:
    text = measure_page(spec)
    assert f"```math\n{spec.formula}\n```" in text
    assert '<svg class="labelled"' in text
    grades = spec.example.ranking.split()
    assert text.count('class="under"') == len(grades)
    assert spec.undefined.text in text
    assert all(f"- `{param.name}`, default" in text for param in spec.params)
    steps = explanation(spec)
    assert steps.value == pytest.approx(float(spec.example.value), abs=1e-6)
    for line in steps.to_dict()["lines"]:
        assert line["latex"] in text
    assert f"-m {spec.example.measure}" in text.replace("'", "")


@for_each("spec", catalogue(), ids=lambda spec: spec.name)
def test_the_playground_shows_the_example(spec: Spec) -> None:
    """With the value that the page has; lists with subtopics it does not take."""
    from judged.web.views.playground import PlaygroundAnswer, PlaygroundState
    from judged.web.visit import Params

    address = playground(spec)
    if "{" in spec.example.ranking:
        assert address is None
        return
    assert address is not None
    answer = PlaygroundAnswer(PlaygroundState.of(Params.read(address.partition("?")[2])))
    value = pytest.approx(float(spec.example.value), abs=1e-6)
    asked = parse_measure(spec.example.measure)
    assert [card["value"] for card in answer.cards if card["measure"] == asked] == [value]


@pytest.fixture(scope="module")
def names() -> dict[str, str]:
    return name_pages()


@for_each("name", judged._HOMES)
def test_every_public_name_is_in_the_reference(names: dict[str, str], name: str) -> None:
    text = names[f"api/{name}.md"]
    assert re.search(rf"^# judged\.{name}$", text.replace("\\_", "_"), re.MULTILINE)
    assert f"(api/{name}.md)" in names["api.md"]
    value = public()[name]
    if callable(value) and not isinstance(value, type):
        for parameter in _parameters(value, text):
            assert re.search(rf"^(`\*{{0,2}}\w+`, )*`\*{{0,2}}{parameter}`", text, re.MULTILINE)


@for_each("space", ["charts", "learn", "relevance", "temperature", "options"])
def test_every_name_of_a_namespace_is_in_the_reference(names: dict[str, str], space: str) -> None:
    text = names[f"api/{space}.md"].replace("\\_", "_")
    own = members(getattr(judged, space))
    assert own
    assert [name for name in own if f"## judged.{space}.{name}\n" not in text] == []


def _parameters(function: Any, text: str) -> list[str]:
    parameters = list(inspect.signature(function).parameters)
    if "scoring" in parameters and "`**scoring`" not in text:  # each of its options is listed
        parameters.remove("scoring")
        parameters.extend(Scoring.__annotations__)
    return parameters


# -- the site as it is


def test_the_site_is_made_without_network() -> None:
    """Every way there is refused before anything is made."""
    script = (
        "import runpy, sys, website.sources\n"
        "def asks(folder):\n    import urllib.request\n"
        "    urllib.request.urlopen('http://127.0.0.1:9')\n"
        "website.sources.write_sources = asks\n"
        f"sys.argv = ['build.py', 'nowhere']\nrunpy.run_path({str(BUILD)!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=BUILD.parent
    )
    assert done.returncode == 1
    assert "The site is made without network." in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_every_page_is_there_with_its_formulas_and_words(
    site: Path, pages: dict[str, Page]
) -> None:
    expected = {name.replace(".md", ".html") for name in site_pages()[0]}
    assert expected | {"search.html"} <= pages.keys()
    specs = catalogue()
    assert [s.name for s in specs if pages[f"measures/{s.name}.html"].formulas < 2] == []
    assert pages["measures.html"].formulas >= len(specs)
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    assert '"measures/nDCG"' in index


@pytest.mark.slow
def test_links_and_anchors_lead_somewhere(site: Path, pages: dict[str, Page]) -> None:
    lost = []
    for name, page in pages.items():
        for link in page.links:
            path, anchor = urldefrag(unquote(link))
            if re.match(r"[a-z]+:", link):
                continue
            there = (site / name).parent.joinpath(path).resolve() if path else site / name
            inside = there.relative_to(site.resolve()).as_posix() if path else name
            if not there.exists() or (
                anchor and inside in pages and anchor not in pages[inside].anchors
            ):
                lost.append((name, link))
    assert lost == []


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Page]) -> None:
    loaded = {(name, address) for name, page in pages.items() for address in page.loaded}
    assert any(address.endswith("tokens.css") or "tokens.css?" in address for _, address in loaded)
    assert [each for each in sorted(loaded) if re.match(r"(?!data:)[a-z]+:|//", each[1])] == []
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(\s*['\"]?(?:https?:)?//", text), path.name


@pytest.mark.slow
def test_no_page_is_wider_than_a_phone_and_none_asks_for_anything(site: Path, browser: Any) -> None:
    """Nor has a script anything to complain about."""
    names = [
        "index",
        "quickstart",
        "measures/INST",
        "measures/alpha_DCG",
        "api/compare",
        "api/options",
    ]
    names += ["measures", "conventions", "charts", "policy", "readme"]
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    wide = []
    for name in names:
        page.goto((site / f"{name}.html").as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(name)
    context.close()
    assert wide == []
    assert [each for each in asked if not each.startswith(("file:", "data:"))] == []
    assert said == []


@pytest.mark.slow
def test_the_search_finds_pages_by_the_words_of_their_readers(site: Path, browser: Any) -> None:
    page = browser.new_page()
    for words, found in (
        ("reciprocal", "measures/RR"),
        ("hit rate", "measures/Success"),
        ("hubness", "fusion"),  # only among the keywords of the page
        ("kappa", "guide-judging"),
    ):
        page.goto(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
        page.wait_for_selector(f"#search-results a[href*='{found}']")
    page.close()


@pytest.mark.slow
def test_a_button_copies_code_without_prompts_and_outputs(site: Path, browser: Any) -> None:
    page = browser.new_page()
    page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard',"
        " {value: {writeText: async (text) => { window.copied = text; }}});"
    )
    page.goto((site / "guide-recommender.html").as_uri())
    page.locator("div.highlight", has_text="-m recsys").locator("button.copy").click(force=True)
    copied = page.evaluate("window.copied")
    assert copied == "judged evaluate test.parquet als.parquet popular.csv -m recsys\n"
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_by_everybody(site: Path, browser: Any, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    for name in ("index", "quickstart", "measures/nDCG", "api/compare"):
        page.goto((site / f"{name}.html").as_uri())
        found = [each for each in violations(page) if not each.startswith("landmark-unique")]
        assert found == []  # the theme has two side bars without names
    page.close()
