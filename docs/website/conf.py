"""The configuration of Sphinx; `python docs/build.py FOLDER` uses it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import judged  # noqa: E402
from judged.web.pages.drawings import logo  # noqa: E402
from judged.web.pages.templating import favicon  # noqa: E402

STYLES = Path(judged.__file__).parent / "web" / "pages" / "assets" / "styles"

project = "judged"
version = release = judged.__version__
html_title = f"judged {version}"
extensions = ["myst_parser"]
smartquotes = False  # "auto" is code as often as not
highlight_language = "none"  # where a block does not say what it is
templates_path = [str(HERE / "templates")]

# The Markdown of a code host: anchors of headings as there, formulas in ```math and $…$.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 6
myst_fence_as_directive = ["math"]
myst_dmath_allow_digits = False
myst_dmath_allow_space = False

html_theme = "furo"
html_static_path = [str(HERE / "style.css"), str(HERE / "copy.js"), str(STYLES / "tokens.css")]
html_css_files = ["tokens.css", "style.css"]
html_js_files = ["copy.js"]
html_copy_source = False
html_show_copyright = False
html_math_renderer = "mathml"
html_context = {"logo": str(logo(22)), "favicon": favicon()}
pygments_style = pygments_dark_style = "website.code.Plain"

_TOKENS = {
    "font-stack": "sans",
    "font-stack--monospace": "mono",
    "font-stack--headings": "sans",
    "color-foreground-primary": "ink",
    "color-foreground-secondary": "soft",
    "color-foreground-muted": "faint",
    "color-foreground-border": "edge",
    "color-background-primary": "paper",
    "color-background-secondary": "sunk",
    "color-background-hover": "accent-soft",
    "color-background-hover--transparent": "accent-soft",
    "color-background-border": "line",
    "color-background-item": "line",
    "color-announcement-background": "sunk",
    "color-announcement-text": "ink",
    "color-brand-primary": "accent",
    "color-brand-content": "accent",
    "color-brand-visited": "accent",
    "color-highlighted-background": "accent-soft",
    "color-highlighted-text": "ink",
    "color-highlight-on-target": "warn-soft",
    "color-guilabel-background": "accent-soft",
    "color-guilabel-border": "line",
    "color-guilabel-text": "ink",
    "color-admonition-background": "card",
    "color-table-header-background": "sunk",
    "color-table-border": "line",
    "color-code-background": "sunk",
    "color-code-foreground": "ink",
    "color-card-border": "line",
    "color-card-background": "card",
    "color-card-marginals-background": "sunk",
    "color-inline-code-background": "sunk",
    "color-sidebar-background": "paper",
    "color-sidebar-search-background": "card",
    "color-sidebar-search-background--focus": "card",
}
"""Names of colours and fonts in the theme, and our token for each."""
_VARIABLES = {name: f"var(--{token})" for name, token in _TOKENS.items()}
html_theme_options = {"light_css_variables": _VARIABLES, "dark_css_variables": _VARIABLES}


_PART = re.compile(r'<p class="caption" role="heading">(.*?)</p>\n(<ul.*?</ul>)', re.DOTALL)
"""A part of the side bar: its caption and its pages."""
_FIRST = 2
"""Parts of the side bar that are open on pages outside of it."""


def adapt(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let the keyboard scroll code, and fold the parts of the side bar but that of the page."""
    if "body" in context:
        context["body"] = context["body"].replace("<pre>", '<pre tabindex="0">')
    sidebar = context.get("furo_navigation_tree", "")
    parts = _PART.findall(sidebar)
    inside = ['<ul class="current">' in pages for _, pages in parts]
    opened = inside if any(inside) else [at < _FIRST for at in range(len(parts))]
    for (caption, pages), is_open in zip(parts, opened, strict=True):
        summary = f'<summary class="caption">{caption}</summary>'
        folded = f"<details{' open' if is_open else ''}>{summary}\n{pages}</details>"
        sidebar = _PART.sub(lambda _, folded=folded: folded, sidebar, count=1)
    context["furo_navigation_tree"] = sidebar


def setup(app: Any) -> None:
    from pygments.lexers.special import TextLexer
    from sphinx.highlighting import lexers

    from website.mathematics import visit_block, visit_inline

    app.connect("html-page-context", adapt, priority=900)  # after the theme
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    lexers["csv"] = TextLexer()
