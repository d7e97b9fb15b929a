"""How Sphinx makes the site; `python docs/build.py FOLDER` calls it."""

from __future__ import annotations

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
"""What the theme calls its colours and fonts, and the token of ours that each is."""
_VARIABLES = {name: f"var(--{token})" for name, token in _TOKENS.items()}
html_theme_options = {"light_css_variables": _VARIABLES, "dark_css_variables": _VARIABLES}


def reachable(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Code that scrolls is scrolled by keyboard too, and headings of the side bar have a level."""
    for part, before, after in (
        ("body", "<pre>", '<pre tabindex="0">'),
        ("furo_navigation_tree", 'role="heading"', 'role="heading" aria-level="2"'),
    ):
        if part in context:
            context[part] = context[part].replace(before, after)


def setup(app: Any) -> None:
    from pygments.lexers.special import TextLexer
    from sphinx.highlighting import lexers

    from website.mathematics import visit_block, visit_inline

    app.connect("html-page-context", reachable, priority=900)  # after the theme
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    lexers["csv"] = TextLexer()
