"""Everything that reads a run says the same of one in blocks, grouped or on disk by query."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.cli._trec_eval import TrecEvalOptions, printed
from judged.inputs import large_runs
from judged.inputs.blocks import Room

pytestmark = pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
Files = tuple[str, str, str]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Judgements, and a run: grouped, and in random order."""
    draw = random.Random(2)
    rows = [
        f"q{query} Q0 d{item} 1 {draw.choice([1, 2, 3, draw.random()])} t\n"
        for query in range(12)
        for item in draw.sample(range(60), 25)
    ]
    (tmp_path / "grouped").write_text("# a comment\n" + "".join(rows), encoding="utf-8")
    draw.shuffle(rows)
    (tmp_path / "mixed").write_text("# a comment\n" + "".join(rows), encoding="utf-8")
    judgements = (
        f"q{query} 0 d{item} {draw.choice([0, 1, 2])}\n"
        for query in range(14)
        for item in draw.sample(range(60), 15)
    )
    (tmp_path / "qrels").write_text("".join(judgements), encoding="utf-8")
    return str(tmp_path / "qrels"), str(tmp_path / "grouped"), str(tmp_path / "mixed")


WAYS: dict[str, Callable[[str, str, str], Any]] = {
    "identify": lambda known, run, _: judged.identify("0.21", known, run, "AP, P").to_json(),
    "conventions": lambda known, run, _: judged.compare_conventions(known, run, "AP").to_json(),
    "explain": lambda known, run, _: str(judged.explain(known, run, "nDCG@10", query="q3")),
    "explain a missing query": lambda known, run, _: str(judged.explain(known, run, query="q13")),
    "trec_eval": lambda known, run, _: list(printed(known, run, TrecEvalOptions(queries=True))),
    "compare": lambda *files: judged.compare(*_two(*files), "AP").to_json(),
    "unjudged": lambda *files: judged.compare(*_two(*files), "AP", unjudged_range=True).to_json(),
    "gate": lambda known, run, other: judged.gate(known, run, "AP", baseline=other).to_json(),
    "documents": lambda known, run, _: judged.evaluate(known, run, item_to="doc:#").to_json(),
    "own ids": lambda known, run, _: judged.evaluate(known, run, exclude_same_id=True).to_json(),
    "beir": lambda known, run, _: judged.evaluate(known, run, convention="beir").to_json(),
    "trusted": lambda known, run, _: judged.evaluate(known, run, trusted=known).to_json(),
}


def _two(known: str, run: str, other: str) -> tuple[str, dict[str, str]]:
    return known, {"one": run, "other": other}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mixed", [False, True])
def test_the_same_is_said(
    files: Files, monkeypatch: pytest.MonkeyPatch, way: str, mixed: bool
) -> None:
    judgements, *runs = files
    given = judgements, runs[mixed], runs[not mixed]

    def said() -> Any:
        try:
            return WAYS[way](*given)
        except judged.JudgedError as error:
            return str(error)

    whole = said()
    monkeypatch.setattr("judged.inputs.source.SMALL", 1)
    monkeypatch.setattr(large_runs, "_BYTES_IN_STREAM", 200)
    monkeypatch.setattr(Room, "block", 500)
    assert said() == whole
