"""`judged mcp`, asked by the client of the protocol's own SDK over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from support.loops import for_each

JUDGEMENTS = "".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in range(12))
GOOD = "".join(f"{q} Q0 a 1 2 s\n{q} Q0 b 2 1 s\n" for q in range(12))
BAD = "".join(f"{q} Q0 b 1 2 s\n{q} Q0 a 2 1 s\n" for q in range(12))


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory, needs):
    """Call some tools of one server, and return (is it an error, text) for each."""
    needs("mcp")
    from mcp import ClientSession, StdioServerParameters, stdio_client

    folder = tmp_path_factory.mktemp("mcp")
    files = folder / "files"
    files.mkdir()
    (folder / "secret.txt").write_text(JUDGEMENTS)
    (files / "link.txt").symlink_to(folder / "secret.txt")
    for name, content in {"q.txt": JUDGEMENTS, "good.run": GOOD, "bad.run": BAD}.items():
        (files / name).write_text(content)

    def call(*requests):
        async def talk():
            command = StdioServerParameters(
                command=sys.executable,
                args=["-m", "judged", "mcp", str(files)],
                env=dict(os.environ),
            )
            async with stdio_client(command) as (read, write), ClientSession(read, write) as client:
                await client.initialize()
                names = [tool.name for tool in (await client.list_tools()).tools]
                answers = [await client.call_tool(name, given) for name, given in requests]
            return names, [(bool(a.is_error), a.content[0].text) for a in answers]

        return asyncio.run(talk())

    before = sorted(Path(folder).rglob("*"))
    yield call
    assert sorted(Path(folder).rglob("*")) == before  # nothing was written


def test_tools_return_the_json_of_the_commands(ask, judged, tmp_path, monkeypatch):
    both = {"judgements": "q.txt", "runs": ["good.run", "bad.run"]}
    one = {"judgements": "q.txt", "run": "good.run"}
    names, answers = ask(
        ("evaluate", {**both, "measures": "nDCG@10,RR"}),
        ("compare", {**both, "measures": "RR"}),
        ("gate", {"judgements": "q.txt", "run": "bad.run", "baseline": "good.run"}),
        ("explain", {**one, "query": "3", "measure": "AP"}),
        ("identify", {**one, "number": "1.0"}),
        ("measures", {}),
        ("measures", {"name": "MRR@5"}),
    )
    assert names == ["evaluate", "compare", "gate", "explain", "identify", "measures"]
    assert not any(error for error, _ in answers), answers
    evaluated, compared, gated, explained, identified, listed, described = [
        json.loads(text) for _, text in answers
    ]
    monkeypatch.chdir(tmp_path)
    for name, content in {"q.txt": JUDGEMENTS, "good.run": GOOD, "bad.run": BAD}.items():
        Path(name).write_text(content)
    same = judged("evaluate q.txt good.run bad.run -m nDCG@10,RR --format json")
    assert evaluated == json.loads(same.out)
    assert (
        compared["pairs"]
        == json.loads(judged("compare q.txt good.run bad.run -m RR --format json").out)["pairs"]
    )
    assert gated["passed"] is False
    assert explained["value"] == 1.0
    line = judged("identify 1.0 q.txt good.run --format json").out
    assert identified == json.loads(line)
    assert listed["nDCG"].startswith("Normalised")
    assert described["name"] == "RR@5"


def test_files_outside_and_errors(ask):
    outside = ["../secret.txt", "/etc/hostname", "link.txt", "x=/etc/hostname", "q.txt::x"]
    missing = ("evaluate", {"judgements": "none.txt", "runs": ["good.run"]})
    wrong = ("evaluate", {"judgements": "q.txt", "runs": ["good.run"], "measures": "nDGC"})
    _, answers = ask(
        *(("evaluate", {"judgements": "q.txt", "runs": [path]}) for path in outside), missing, wrong
    )
    assert all(error for error, _ in answers)
    texts = [text for _, text in answers]
    assert all("outside the folder that this server reads" in text for text in texts[:5]), texts
    assert "there is no file 'none.txt'; the folder has bad.run, good.run" in texts[5]
    assert "did you mean 'nDCG'?" in texts[6]
    assert not any("Traceback" in text for text in texts)


@for_each("arguments", [["mcp", "missing-folder"]])
def test_a_missing_folder_is_an_error(judged, arguments):
    assert judged(" ".join(arguments)).code == 2
