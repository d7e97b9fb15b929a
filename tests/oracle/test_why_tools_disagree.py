"""The table of the page "Why do tools disagree?" holds what the libraries themselves return."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support.parts import Later, Needs

PAGE = (Path(__file__).parents[2] / "docs" / "guide-disagree.md").read_text(encoding="utf-8")
functional, torch = Later("torchmetrics.functional.retrieval"), Later("torch")


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    """Return ten results with six relevant items, a tie, and a list of two."""
    grades = {f"d{rank}": int(rank in (2, 5, 7, 9)) for rank in range(1, 11)}
    return {
        "judgements": {
            "long": {**grades, "e1": 1, "e2": 1},
            "tied": {"a": 1, "b": 0},
            "short": {"a": 1},
        },
        "run": {
            "long": {f"d{rank}": 1 - rank / 100 for rank in range(1, 11)},
            "tied": {"a": 0.5, "b": 0.5},
            "short": {"x": 0.9, "a": 0.8},
        },
    }


def printed(library: str) -> dict[tuple[str, str], str]:
    """The column of a library in the page's table, by query and measure."""
    table = PAGE.partition("<!-- outputs:")[2]
    header, _, *rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    return {(row[0], row[1]): row[header.index(library)] for row in rows[:3]}


def test_trec_eval(data: dict[str, Any]) -> None:
    import pytrec_eval

    names = {"AP@3": "map_cut_3", "nDCG@1": "ndcg_cut_1", "P@5": "P_5"}
    wanted = {re.sub(r"_(\d)$", r".\1", name) for name in names.values()}
    found = pytrec_eval.RelevanceEvaluator(data["judgements"], wanted).evaluate(data["run"])
    assert {key: f"{found[key[0]][names[key[1]]]:.4f}" for key in printed("trec_eval")} == printed(
        "trec_eval"
    )


def test_ranx(data: dict[str, Any]) -> None:
    import ranx

    names = {"AP@3": "map@3", "nDCG@1": "ndcg@1", "P@5": "precision@5"}
    qrels, run = ranx.Qrels(data["judgements"]), ranx.Run(data["run"])
    ranx.evaluate(qrels, run, list(names.values()))
    assert {key: f"{run.scores[names[key[1]]][key[0]]:.4f}" for key in printed("ranx")} == printed(
        "ranx"
    )


@pytest.mark.full
def test_torchmetrics(data: dict[str, Any], needs: Needs) -> None:
    needs("torch")
    needs("torchmetrics")
    calls = {
        "AP@3": lambda *given: functional.retrieval_average_precision(*given, top_k=3),
        "nDCG@1": lambda *given: functional.retrieval_normalized_dcg(*given, top_k=1),
        "P@5": lambda *given: functional.retrieval_precision(*given, top_k=5, adaptive_k=True),
    }
    for (query, measure), value in printed("torchmetrics").items():
        scores = data["run"][query]
        target = torch.tensor([data["judgements"][query].get(item, 0) for item in scores])
        assert f"{float(calls[measure](torch.tensor(list(scores.values())), target)):.4f}" == value
