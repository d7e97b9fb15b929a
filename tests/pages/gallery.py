"""A page with all parts in it, as the explorer would serve it."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from judged.pages import assets, environment
from judged.rankings.rankings import Rankings
from judged.rankings.strips import mean_strip, strips

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
TABS = ("Leaderboard", "Compare", "Queries", "Embeddings", "Playground", "Files")
NAMES = ("387", "a" * 60, "<script>alert(1)</script>", "__proto__", "\u202eabc", "q6")
SITE = "http://judged.test"


def rankings(seed: int) -> Rankings:
    random = np.random.default_rng(seed)
    lists = [
        [
            None if random.random() < 0.25 else float(random.choice([0, 0, 0, 1, 2, 3]))
            for _ in range(random.integers(4, 12))
        ]
        for _ in range(40)
    ]
    return Rankings.from_relevance([[3.0, 0.0, None, 1.0, 2.0, 0.0, None, 1.0], *lists])


def gallery(figure: str = "") -> str:
    of = [rankings(seed) for seed in range(9)]
    found = strips(of[0], 10)
    systems = [
        SimpleNamespace(
            name=f"system-{at}" if at != 3 else "x" * 80,
            rank="2–3",
            value=0.6 - at / 20,
            mean=mean_strip(each, 10),
            judged=1 - at / 10,
        )
        for at, each in enumerate(of)
    ]
    notes = [
        {
            "kind": "warn",
            "strong": "5 of 8 systems have results that nobody judged.",
            "text": "Unjudged results count as not relevant, which favours three.",
            "link": {"href": "#", "text": "How far could it go?"},
        },
        {"kind": "info", "text": "No missing queries, no duplicates, no list shorter than 10."},
    ]
    template = environment().from_string(
        Path(__file__).with_name("gallery.html").read_text(encoding="utf-8")
    )
    return template.render(
        title="All parts",
        tabs=[{"name": name, "href": f"/{name.lower()}"} for name in TABS],
        place="Leaderboard",
        workspace_name="trec-like",
        workspace_words="250 queries · 8 systems",
        systems=systems,
        found=notes,
        strips=[found.cells(at) for at in range(6)],
        names=NAMES,
        figure=figure,
    )


def served(page, html: str, path: str = "/") -> list[str]:
    """Open HTML in a browser's page at an address of its own, under the policy of the explorer; the
    list fills with what the console says."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    def answer(route):
        asked = route.request.url.removeprefix(SITE).partition("?")[0]
        headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
        if asked == "/assets/style.css":
            route.fulfill(body=assets.stylesheet(), content_type="text/css", headers=headers)
        elif asked.startswith("/assets/"):
            name = asked.removeprefix("/assets/").removesuffix(".js")
            route.fulfill(body=assets.script(name), content_type="text/javascript", headers=headers)
        else:
            route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=headers)

    page.route(f"{SITE}/**", answer)
    page.goto(f"{SITE}{path}")
    return said
