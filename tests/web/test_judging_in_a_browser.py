"""Judging in a real browser: by keyboard, by touch, without scripts, in two windows, by two
annotators, and killed in the middle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from judged.judgements.annotators import Annotator, settled_in
from support.served import Serve, Server

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
Browse = Callable[..., Any]
SLOW = 60_000


@pytest.fixture
def folder(data: Path) -> Path:
    texts = "".join(f"x{at}\tItem {at}\t{'words of it ' * 40}\n" for at in range(4))
    (data / "corpus.tsv").write_text("doc_id\ttitle\ttext\n" + texts)
    (data / "queries.tsv").write_text("query_id\ttext\nq0\twhat is nought\nq1\twhat is one\n")
    return data


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    path = tmp_path / "queue.csv"
    rows = [f"q{query},x{item}," for query in range(3) for item in range(4)]
    path.write_text("query,item,grade\n" + "\n".join(rows) + "\n")
    return path


def on_the_desk(page: Any) -> tuple[str, str]:
    """The query and the item that the form would send."""
    action = page.locator("form[data-judge]").get_attribute("action")
    found = parse_qs(urlsplit(action).query)
    return found["query"][0], found["item"][0]


def press(page: Any, key: str) -> None:
    """Press a key, and wait until the page says the state after it."""
    before = page.evaluate("location.href")
    page.keyboard.press(key)
    page.wait_for_function("old => location.href !== old", arg=before, timeout=SLOW)
    page.wait_for_selector("main:not([aria-busy]) form[data-judge]:not([aria-busy])", timeout=SLOW)


def test_by_keyboard(server: Serve, folder: Path, queue: Path, browse: Browse) -> None:
    page = browse(server(folder, queue=queue), "/judge?annotator=ar")
    ar = Annotator(folder, "ar")
    first = on_the_desk(page)
    assert page.locator("h1").inner_text() == "what is nought"
    press(page, "2")
    second = on_the_desk(page)
    assert ar.grades() == {first[0]: {first[1]: 2}}
    page.get_by_text("1 of 12 done").wait_for()
    press(page, "s")
    assert ar.log().standing[second].skipped
    page.get_by_text("1 of 12 done · 1 skipped").wait_for()
    third = on_the_desk(page)
    # A note is typed: digits are letters of it, and Enter keeps it.
    page.keyboard.press("n")
    page.keyboard.type("0 or 1?")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")  # the note would be lost
    page.wait_for_selector("text=The note is not kept yet: give a grade, or press Enter in it")
    assert on_the_desk(page) == third
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#note')?.defaultValue === '0 or 1?'")
    assert ar.log().standing[third].note == "0 or 1?"
    assert ar.log().standing[third].grade is None
    press(page, "1")
    assert ar.log().standing[third].grade == 1
    assert ar.log().standing[third].note == "0 or 1?"
    # Looking around changes nothing; an undo leads back.
    press(page, "ArrowLeft")
    assert on_the_desk(page) == third
    page.get_by_text("This item has grade 1; a key changes it.").wait_for()
    assert page.locator("button[aria-pressed=true]").get_attribute("value") == "1"
    entries = len(ar.log().entries)
    press(page, "ArrowRight")
    assert len(ar.log().entries) == entries
    press(page, "u")
    assert on_the_desk(page) == third
    assert ar.log().standing[third].grade is None
    # What is no grade does nothing, and help is one key away.
    page.keyboard.press("7")
    page.keyboard.press("?")
    page.wait_for_selector(".key-help[open]")
    assert len(ar.log().entries) == entries + 1
    assert ar.log().entries[0].seconds is not None


def test_keys_pressed_meanwhile_count(
    server: Serve, folder: Path, queue: Path, browse: Browse
) -> None:
    page = browse(server(folder, queue=queue), "/judge?annotator=ar")
    for key in "0121s0":
        page.keyboard.press(key)
    page.get_by_text("5 of 12 done · 1 skipped").wait_for(timeout=SLOW)
    entries = Annotator(folder, "ar").log().entries
    assert [entry.grade for entry in entries] == [0, 1, 2, 1, None, 0]
    assert len({entry.place for entry in entries}) == 6


def test_by_touch(server: Serve, folder: Path, queue: Path, browse: Browse) -> None:
    page = browse(
        server(folder, queue=queue),
        "/judge?annotator=ar",
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
    )
    first = on_the_desk(page)
    sizes = page.locator(".grades > button").evaluate_all(
        "all => all.map((each) => { const at = each.getBoundingClientRect();"
        " return [at.width, at.height]; })"
    )
    assert all(width >= 80 and height >= 70 for width, height in sizes)
    page.locator('button[name="grade"][value="2"]').tap()
    page.get_by_text("1 of 12 done").wait_for(timeout=SLOW)
    assert Annotator(folder, "ar").grades() == {first[0]: {first[1]: 2}}
    page.get_by_role("button", name="Undo").tap()
    page.get_by_text("0 of 12 done").wait_for(timeout=SLOW)
    assert Annotator(folder, "ar").grades() == {}


def test_without_scripts(server: Serve, folder: Path, queue: Path, browse: Browse) -> None:
    page = browse(server(folder, queue=queue), "/judge", java_script_enabled=False)
    page.get_by_label("Your name").fill("ar")
    page.get_by_role("button", name="Begin").click()
    first = on_the_desk(page)
    page.locator("summary >> text=Note").click()
    page.get_by_label("A note on this item").fill("as it is")
    page.locator('button[name="grade"][value="1"]').click()
    page.get_by_text("1 of 12 done").wait_for()
    standing = Annotator(folder, "ar").log().standing[first]
    assert (standing.grade, standing.note) == (1, "as it is")
    page.get_by_role("button", name="skip").click()
    page.get_by_text("1 of 12 done · 1 skipped").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text(re.compile(r"^1 of 12 done$")).wait_for()


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_killed_in_the_middle(folder: Path, queue: Path, browser: Any) -> None:
    def started() -> tuple[subprocess.Popen[str], Server]:
        options = ["--no-open", "--no-key", "--port", "0", "--queue", str(queue)]
        code = [sys.executable, "-m", "judged", "serve", str(folder), "--annotator", "ar", *options]
        process = subprocess.Popen(code, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"ar judges at http://127\.0\.0\.1:(\d+)/judge", line):
                return process, Server(int(found[1]), None, None)
        raise AssertionError("it did not start")

    def opened(page: Any, running: Server) -> None:
        page.goto(f"http://127.0.0.1:{running.port}/judge")
        page.wait_for_selector("form[data-judge]", timeout=SLOW)

    process, running = started()
    page = browser.new_page()
    try:
        opened(page, running)
        for key in ("2", "1", "s", "0"):
            press(page, key)
        held = on_the_desk(page)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # The server is gone: the key is not shown as saved.
        page.keyboard.press("1")
        page.wait_for_selector("text=The server does not answer. Is judged serve still running?")
        assert on_the_desk(page) == held
        process, running = started()
        opened(page, running)
        page.get_by_text("3 of 12 done · 1 skipped").wait_for()
        assert on_the_desk(page) == held
        press(page, "1")
    finally:
        page.close()
        process.kill()
        process.communicate()
    ar = Annotator(folder, "ar")
    assert [entry.grade for entry in ar.log().entries] == [2, 1, None, 0, 1]
    assert ar.log().problems == ()
    assert len(ar.qrels.read_text().splitlines()) == 4


def test_two_annotators_to_agreement(
    server: Serve, folder: Path, queue: Path, browse: Browse
) -> None:
    running = server(folder, queue=queue)
    for name, keys in (("ar", "012012012012"), ("bo", "012012012000")):
        page = browse(running, f"/judge?annotator={name}")
        for at, _ in enumerate(keys):
            item = on_the_desk(page)[1]
            key = keys[int(item[1:]) * 3 + int(on_the_desk(page)[0][1:])]
            page.keyboard.press(key)
            page.get_by_text(f"{at + 1} of 12 done").wait_for(timeout=SLOW)
            page.wait_for_selector("main:not([aria-busy])")
        page.wait_for_selector("h1 >> text=Everything is judged")
    page.get_by_role("link", name="How far do they agree?").click()
    page.wait_for_selector("h1 >> text=ar and bo: Cohen's κ is", timeout=SLOW)
    page.wait_for_selector("h2 >> text=2 items with different grades")
    first = page.locator("form.settle").first
    found = parse_qs(urlsplit(first.get_attribute("action")).query)
    item = found["item"][0], found["query"][0]
    first.get_by_role("button", name="2").click()
    page.wait_for_selector("text=1 item settled, 1 open", timeout=SLOW)
    assert settled_in(folder).grades() == {item[1]: {item[0]: 2}}
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the judgements").click()
    assert f"{item[1]} 0 {item[0]} 2" in download.value.path().read_text()
