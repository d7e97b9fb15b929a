"""What keeps pages safe and in one style: escaping, one place for colours, no inline anything."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import judged
from judged.web.pages import templating as assets
from judged.web.pages.templating import environment
from support.loops import for_each

SOURCE = Path(judged.__file__).parent
ASSETS = SOURCE / "web" / "pages" / "assets"
TEMPLATES = sorted(SOURCE.rglob("templates/**/*.html"))
STYLES = sorted(ASSETS.glob("styles/*.css"))
SCRIPTS = sorted(ASSETS.glob("scripts/*.js"))
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|oklch|oklab|lab|lch)\(", re.IGNORECASE)
NAMED = re.compile(
    r":[^;{}]*\b(black|white|red|green|blue|gray|grey|orange|yellow|purple|silver|navy)\b"
)


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def luminance(colour: str) -> float:
    """As WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_by_hand() -> None:
    assert contrast("#000000", "#ffffff") == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


GROUNDS = ("paper", "card", "sunk")
TEXTS = [
    *((text, ground) for text in ("ink", "soft", "faint") for ground in GROUNDS),
    *((text, ground) for text in ("accent", "better-ink", "worse-ink") for ground in GROUNDS),
    *((text, "accent-soft") for text in ("ink", "soft", "accent", "better-ink", "worse-ink")),
    ("on-accent", "accent"),
    ("on-g1", "g1"),
    ("on-g2", "g2"),
    ("on-g3", "g3"),
    ("on-none", "none"),
    *((text, "warn-soft") for text in ("ink", "warn-ink", "accent")),
    *((text, "bad-soft") for text in ("ink", "bad-ink", "accent")),
]
MARKS = [
    ("edge", "paper"),
    ("edge", "card"),
    ("soft", "sunk"),
    ("hatch", "card"),
    ("focus", "paper"),
    ("focus", "card"),
    ("better", "card"),
    ("worse", "card"),
    ("g2", "card"),
]


@for_each("theme", [0, 1])
@for_each(("text", "ground"), TEXTS)
def test_text_can_be_read(text: str, ground: str, theme: int) -> None:
    colours = assets.palette()
    assert contrast(colours[text][theme], colours[ground][theme]) >= 4.5


@for_each("theme", [0, 1])
@pytest.mark.parametrize(("mark", "ground"), MARKS)
def test_marks_can_be_seen(mark: str, ground: str, theme: int) -> None:
    colours = assets.palette()
    assert contrast(colours[mark][theme], colours[ground][theme]) >= 3


@pytest.mark.parametrize("path", [p for p in STYLES if p.stem != "tokens"], ids=name)
def test_no_colour_but_those_of_tokens(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert COLOUR.findall(text) == []
    assert NAMED.findall(text) == []
    used = set(re.findall(r"var\(--([\w-]+)", text))
    own = set(re.findall(r"--([\w-]+):", text))
    assert used - own <= {*assets.palette(), "sans", "mono"}


@for_each("path", [*TEMPLATES, *SCRIPTS], ids=name)
def test_templates_and_scripts_have_no_colour(path: Path) -> None:
    text = re.sub(r"""(?:href|url)=?\(?["']#[\w-]*|url\(#""", "", path.read_text(encoding="utf-8"))
    text = re.sub(r"&#\w+;|\{#|#\}", "", text)
    assert COLOUR.findall(text) == []


def test_every_file_is_served() -> None:
    assert {path.stem for path in STYLES} == set(assets.STYLES)
    assert {path.stem for path in SCRIPTS} == set(assets.SCRIPTS)
    with pytest.raises(KeyError):
        assets.script("../secret")


def test_all_scripts_and_styles_are_small() -> None:
    texts = [assets.stylesheet(), *map(assets.script, assets.SCRIPTS)]
    assert sum(len(gzip.compress(text.encode())) for text in texts) < 60_000


@for_each("path", TEMPLATES, ids=name)
def test_templates_have_nothing_inline(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"\sstyle\s*=", text) == []
    assert re.findall(r"\son[a-z]+\s*=\s*[\"'{]", text) == []
    assert "javascript:" not in text
    environment().parse(text)
    if path.relative_to(SOURCE).parts[:2] != ("web", "pages"):
        assert re.findall(r"\|\s*safe\b|autoescape\s+false", text) == []
        assert re.findall(r"<script(?![^>]*(?:src=|application/json))[^>]*>", text) == []


def test_text_is_marked_as_safe_in_pages_alone() -> None:
    marked = [
        name(path)
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[:2] != ("web", "pages")
        and re.search(r"\bMarkup\b|markupsafe|\|\s*safe\b", path.read_text(encoding="utf-8"))
    ]
    assert marked == []


def test_everything_is_escaped_and_a_missing_name_is_an_error() -> None:
    from jinja2 import UndefinedError

    made = environment()
    assert made.from_string("<i title='{{ a }}'>{{ a }}</i>").render(a="'<b>\"") == (
        "<i title='&#39;&lt;b&gt;&#34;'>&#39;&lt;b&gt;&#34;</i>"
    )
    with pytest.raises(UndefinedError, match="'b' is undefined"):
        made.from_string("{{ b }}").render()


DANGEROUS = re.compile(
    r"\beval\s*\(|new\s+Function|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write"
    r"|setAttribute\(\s*[\"'](?:on|style)|javascript:|createContextualFragment|setHTMLUnsafe"
    r"|setTimeout\(\s*[\"'`]"
)


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_scripts_make_no_html_of_data(path: Path) -> None:
    assert DANGEROUS.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_scripts_can_be_parsed(path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    kind = "commonjs" if path.stem in assets.CLASSIC else "module"
    done = subprocess.run(
        [node, "--check", f"--input-type={kind}", "-"],
        input=path.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
