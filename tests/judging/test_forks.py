"""A process forked while polars is in use: an error where it would wait for ever, and the rest
works."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
import polars as pl
import judged

QRELS, RUN = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}
FRAME = pl.DataFrame({"query": ["q", "q"], "item": ["b", "a"], "score": [2.0, 1.0]})
if sys.argv[1] == "used":
    FRAME.lazy().select(pl.col("item").hash()).collect()
run = FRAME if sys.argv[2] == "frame" else RUN
child = os.fork()
if child == 0:
    try:
        print(judged.evaluate(QRELS, run, "RR").value())
    except judged.JudgedError as error:
        print(error)
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize(
    ("polars", "run", "said"),
    [
        ("used", "frame", "this process was forked while polars was in use"),
        ("used", "dict", "0.5"),
        ("idle", "frame", "0.5" if sys.platform == "linux" else ""),
        ("idle", "dict", "0.5"),
    ],
)
def test_a_fork_never_hangs(polars: str, run: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, polars, run],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith(said)
