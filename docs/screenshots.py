"""Take the pictures of pages: `python docs/screenshots.py [NAME ...] [--to FOLDER]`.

It needs chromium. The data are drawn here from a seed: eight systems of different strength, of
which the newer ones find unjudged results. The bundled digits are used too.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

PICTURES = Path(__file__).resolve().parent / "pictures"
SYSTEMS = {
    "bm25": 0.9,
    "bm25-rm3": 1.0,
    "dense-base": 1.15,
    "dense-large": 1.45,
    "hybrid-rrf": 1.8,
    "colbert-v2": 1.95,
    "rerank-mini": 2.05,
    "rerank-large": 2.6,
}
"""Systems, and how well each separates grades."""
POOLED = ("bm25", "bm25-rm3", "dense-base")
"""The systems whose results were judged."""
QUERIES, ITEMS, DEPTH = 250, 60, 40
SUBJECTS = (
    *("a cold", "sour dough", "black holes", "bee hives", "old maps", "rain gauges", "sea ice"),
    *("opera", "tide pools", "street trees", "paper folding", "night trains", "glass blowing"),
)
ASKS = ("what causes", "how to tell", "history of", "best way to study", "does weather change")
LARGEST = 245_000
"""Bytes of a picture with all its colours."""
CHROMIUM = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def write_collection(folder: Path) -> None:
    """Write judgements, eight runs, texts of queries and items, and an attribute of queries."""
    random = np.random.default_rng(16)
    runs: dict[str, list[str]] = {name: [] for name in SYSTEMS}
    judged, texts, queries = [], ["id\ttitle\ttext"], ["query\ttext"]
    kinds = ["query,kind"]
    for number in range(QUERIES):
        query, subject = f"{301 + number}", SUBJECTS[number % len(SUBJECTS)]
        grades = random.choice(4, ITEMS, p=(0.84, 0.07, 0.06, 0.03))
        items = [f"d{number:03}{item:02}" for item in range(ITEMS)]
        seen: set[int] = set()
        for name, strength in SYSTEMS.items():
            scores = strength * grades + random.gumbel(0, 1.6, ITEMS)
            if name.startswith("bm25"):
                scores = np.round(scores * 2) / 2
            best = np.argsort(-scores, kind="stable")[:DEPTH]
            seen |= set(best[:12].tolist()) if name in POOLED else set()
            runs[name] += [
                f"{query} Q0 {items[item]} {rank} {scores[item]:.4f} {name}"
                for rank, item in enumerate(best, 1)
            ]
        chosen = sorted(seen | set(np.flatnonzero(grades * (random.random(ITEMS) < 0.8)).tolist()))
        judged += [f"{query} 0 {items[item]} {grades[item]}" for item in chosen]
        asked = ASKS[number % len(ASKS)]
        queries.append(f"{query}\t{asked} {subject}")
        kinds.append(f"{query},{'question' if asked.startswith(('what', 'does')) else 'topic'}")
        texts += [
            f"{item}\t{_title(asked, subject, int(grade))}\tWhat a page {at + 1} says of {subject}."
            for at, (item, grade) in enumerate(zip(items, grades, strict=True))
        ]
    (folder / "judgements.qrels").write_text("\n".join(judged) + "\n")
    for name, lines in runs.items():
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n")
    (folder / "items.tsv").write_text("\n".join(texts) + "\n")
    (folder / "queries.tsv").write_text("\n".join(queries) + "\n")
    (folder / "attributes.csv").write_text("\n".join(kinds) + "\n")


def write_annotators(folder: Path) -> None:
    """Write judgements of two annotators who do not always agree."""
    import warnings

    import judged
    from judged.judgements.annotators import Annotator

    runs = [folder / f"{name}.run" for name in SYSTEMS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = judged.queue(folder / "judgements.qrels", runs, "nDCG@10")
    random = np.random.default_rng(17)
    places = list(zip(found.queries, found.items, strict=True))
    for name, share in (("ar", 0.9), ("bo", 0.75)):
        annotator = Annotator(folder, name)
        for number, place in enumerate(places[:280]):
            grade = int(np.random.default_rng(number).choice(4, p=(0.45, 0.25, 0.2, 0.1)))
            if random.random() > share:
                grade = min(max(grade + int(random.choice((-1, 1))), 0), 3)
            if random.random() < 0.04:
                annotator.skip(*place)
            else:
                annotator.grade(*place, grade, seconds=float(random.gamma(4, 1.5)))


def _title(asked: str, subject: str, grade: int) -> str:
    said = {
        0: f"Something else that mentions {subject}",
        1: f"A note on {subject}",
        2: f"{subject.capitalize()}: {asked}, in part",
        3: f"{asked.capitalize()} {subject}: a full answer",
    }
    return said[grade]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the explorer of a folder, and return its address."""
    import uvicorn

    from judged.web import ServerSettings, application, bound

    settings = ServerSettings.of([folder], port=0, key=False)
    listening = bound(settings, print)
    settings = replace(settings, port=listening.getsockname()[1])
    server = uvicorn.Server(
        uvicorn.Config(application(settings), log_level="warning", access_log=False)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{settings.port}"
    server.should_exit = True
    thread.join(10)


@dataclass(frozen=True)
class Shot:
    """A picture of a page."""

    page: str
    """Its address, or the name of a file."""
    of: str = "collection"
    width: int = 1280
    height: int | None = None
    """How much of the page is shown; None for all of it."""
    dark: bool = False
    before: Callable[[Any], None] | None = None
    """What is done on the page first."""


SHOTS = {
    "leaderboard": Shot("/?measure=nDCG%4010&measure=AP&measure=RR&measure=P%4010"),
    "compare": Shot(
        "/compare?measure=nDCG%4010&measure=AP&measure=RR&system=colbert-v2&system=rerank-mini"
    ),
    "query": Shot("/query?query=309&measure=nDCG%4010&measure=AP&system=bm25&system=rerank-large"),
    "judge": Shot("/judge?annotator=ar", height=900),
    "agreement": Shot("/agreement", height=1400),
    "playground": Shot("/playground"),
    "report": Shot("report.html", height=1400),
}
"""Every picture by its name: `pictures/page-NAME.png`."""


def take(names: list[str], target: Path) -> None:
    """Serve the data, open each page, and keep a picture of it."""
    from playwright.sync_api import sync_playwright

    from judged.cli.demo_data import write_demo, write_gallery

    browser_path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser_path is None:
        raise SystemExit("pictures of pages need chromium.")
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folders = {name: Path(temporary) / name for name in ("collection", "demo")}
        folders["collection"].mkdir()
        write_collection(folders["collection"])
        write_annotators(folders["collection"])
        write_gallery(write_demo(folders["demo"]))
        if "report" in names:
            _write_report(folders["collection"], Path(temporary) / "report.html")
        browser = playwright.chromium.launch(executable_path=browser_path, args=[*CHROMIUM])
        with served(folders["collection"]) as one, served(folders["demo"]) as other:
            addresses = {"collection": one, "demo": other}
            for name in names:
                shot = SHOTS[name]
                file = not shot.page.startswith("/")
                base = f"file://{temporary}/" if file else addresses[shot.of]
                _take(browser, base + shot.page, shot, target / f"page-{name}.png")
        browser.close()


def _take(browser: Any, address: str, shot: Shot, path: Path) -> None:
    page = browser.new_page(
        viewport={"width": shot.width, "height": shot.height or 900},
        color_scheme="dark" if shot.dark else "light",
        reduced_motion="reduce",
    )
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("[data-job], [aria-busy=true]", state="detached")
    if shot.before is not None:
        shot.before(page)
    if shot.height is None:  # charts are drawn when they come near the window
        page.set_viewport_size({"width": shot.width, "height": 4000})
        page.wait_for_load_state("networkidle")
        page.wait_for_selector(
            "[data-load]:visible, [data-job], [aria-busy=true]", state="detached", timeout=60_000
        )
    page.wait_for_timeout(300)
    height = shot.height or int(page.evaluate("document.body.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": shot.width, "height": height}
    path.write_bytes(_small(page.screenshot(clip=clip, full_page=True)))
    page.close()


def _small(png: bytes) -> bytes:
    """Return a picture in few bytes: all its colours, or a palette if they take too many."""
    from io import BytesIO

    from PIL import Image

    image = Image.open(BytesIO(png)).convert("RGB")
    for each in (image, image.quantize(256, dither=Image.Dither.NONE)):
        held = BytesIO()
        each.save(held, "png", optimize=True)
        if held.tell() < LARGEST:
            break
    return held.getvalue()


def _write_report(folder: Path, path: Path) -> None:
    import judged

    runs = [folder / f"{name}.run" for name in SYSTEMS]
    found = judged.evaluate(folder / "judgements.qrels", runs, ["nDCG@10", "AP", "RR"])
    found.compare(baseline="bm25").report().save(path)


if __name__ == "__main__":
    words = sys.argv[1:]
    place = PICTURES
    if "--to" in words:
        at = words.index("--to")
        place = Path(words[at + 1])
        del words[at : at + 2]
    unknown = [word for word in words if word not in SHOTS]
    if unknown:
        raise SystemExit(f"there is no picture {unknown[0]!r}; there is {', '.join(SHOTS)}.")
    take(words or list(SHOTS), place)
