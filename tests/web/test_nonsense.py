"""Nonsense in every parameter of every page: an answer, or a sentence that refuses it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judged.web.app import VIEWS, View
from judged.web.commands import line_of
from judged.web.visit import SCORING_NAMES
from support.hostile import HIDDEN, SCRIPTS
from support.loops import for_each
from support.served import Serve, Server, grades, lists, write_judgements, write_run

pytestmark = pytest.mark.filterwarnings("ignore")
NONSENSE = (
    st.text(max_size=30)
    | st.sampled_from([*SCRIPTS, *HIDDEN])
    | st.sampled_from(["-1", "0", "1", "1e400", "NaN", "9" * 30, "../..", "__proto__", "W" * 3_000])
    | st.sampled_from(["q1", "bm25", "dense", "AP", "nDCG@10", "qrels.txt", "bm25.run", "labels"])
    | st.sampled_from(["scatter", "svg", "png", "0 1 1", "query", "relevant", "temperature"])
)


@pytest.fixture(scope="module")
def served(module_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    folder = tmp_path_factory.mktemp("data")
    write_judgements(folder / "qrels.txt", grades(6, 12))
    for seed, name in enumerate(("bm25", "dense")):
        write_run(folder / f"{name}.run", lists(6, 12, seed=seed), name)
    np.save(folder / "vectors.npy", np.random.default_rng(1).normal(size=(8, 3)))
    (folder / "vectors-labels.txt").write_text("a\nb\n" * 4)
    (folder / "broken.json").write_text("{")
    return module_server(folder)


def refused_in_words(served: Server, address: str) -> None:
    """Fail where an answer is neither that nor a sentence."""
    for headers in ({}, {"x_fragment": "main"}, {"x_fragment": "figure"}):
        answer = served.ask(address, **headers)
        assert answer.status in (200, 400, 404, 409, 413, 422), (answer.status, address)
        assert b"Traceback" not in answer.body, address


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.path)
def test_every_page(served: Server, view: View) -> None:
    names = st.sampled_from([*view.params, *SCORING_NAMES, "judgements", "run"])
    usual = {"/chart": [("kind", "scatter")], "/query": [("query", "q1")]}.get(view.path, [])

    @settings(
        max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.lists(st.tuples(names, NONSENSE), min_size=1, max_size=3), st.booleans())
    def ask(chosen: list[tuple[str, str]], whole: bool) -> None:
        pairs = [*usual, *chosen] if whole else chosen
        refused_in_words(served, f"{view.path}?{urlencode(pairs, errors='replace')}")

    ask()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.path)
def test_each_parameter_alone(served: Server, view: View) -> None:
    for name in (*view.params, *SCORING_NAMES):
        for value in ("no such thing", "-1", SCRIPTS[0]):
            answer = served.ask(f"{view.path}?{urlencode([(name, value)])}")
            assert answer.status in (200, 400, 404, 409, 422), (answer.status, name, value)
            if answer.status != 200 and answer.headers["content-type"].startswith("text/html"):
                assert "<h1" in answer.text
                assert "<script>window" not in answer.text


def test_addresses_that_are_none(served: Server) -> None:
    for path in ("/%00", "/..%2f..%2fetc/passwd", "/assets/../app.py", "/?" + "a=1&" * 2_000):
        answer = served.ask(path)
        assert answer.status in (400, 404), path
    assert served.ask("/files?%ff=%fe&=&&&").status == 400


@for_each("word", [*SCRIPTS, *HIDDEN[1:], "it's", "a\\b", "-a", ""])
def test_a_shell_reads_any_word_as_it_is(word: str) -> None:
    line = line_of([sys.executable, "-c", "import sys; print(ascii(sys.argv[1]))", word])
    assert "\u202e" not in line
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env={"LC_ALL": "C.UTF-8"}, check=True
    )
    assert done.stdout == ascii(word) + "\n"


PAGES = (
    "/?measure=AP&ties=best&ranges=1",
    "/queries?show=AP",
    "/query?query=q1&system=dense&explain=AP",
    "/compare?system=dense&against=bm25",
    "/chart?kind=scatter&system=dense&against=bm25",
    "/embeddings",
)


@pytest.mark.parametrize("path", PAGES)
def test_what_a_page_says_as_a_command_runs(served: Server, path: str, tmp_path: Path) -> None:
    page = served.ask(path).text
    shell = page.split("<summary>As a command")[1].split("<code>")[1].split("</code>")[0]
    words = shlex.split(unescape(shell).replace("\\\n", " "))
    assert words[0] == "judged"
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = set(re.findall(r"\b\d\.\d+\b", done.stdout))
    shown = set(re.findall(r"\b\d\.\d+\b", re.sub(r"</?(span|b|a)\b[^>]*>", "", page)))
    assert printed & shown or list(tmp_path.iterdir())
