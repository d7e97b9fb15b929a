"""A page with all parts in it, as the explorer would serve it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from judged.rankings.rankings import Rankings
from judged.rankings.strips import mean_strip, strips
from judged.web.pages import templating as assets
from judged.web.pages.templating import environment

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
        Path(__file__).with_name("all_parts.html").read_text(encoding="utf-8")
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
