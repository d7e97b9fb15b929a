"""The result: for people as text and Markdown, for programs as a dict."""

from __future__ import annotations

import json
from math import prod

import pytest

from judged import Policy, identify
from judged.conventions.candidates import OPTIONS
from judged.errors import InputError

JUDGEMENTS = {"q1": {"a": 1, "b": 1, "c": 0, "d": 1}}
RUN = {"q1": {"a": 0.9, "c": 0.8, "b": 0.7}}
POLICIES = prod(map(len, OPTIONS.values()))
TRIED = 4 * 3 * 4 * POLICIES
"""Of AP@3: norms, areas and aggregations."""


def test_as_text() -> None:
    # AP@3 is (1 + 2/3) / 3 of all three relevant items, and (1 + 2/3) / 2 of the two that were
    # found.
    assert identify("0.833", JUDGEMENTS, RUN, "AP@3").to_text(verbose=True) == (
        "One explanation fits 0.833.\n"
        "\n"
        "value     definition            as in\n"
        "0.833333  AP(norm=retrieved)@3  ragas, torchmetrics\n"
        "\n"
        f"{TRIED:,} definitions were tried. They give 4 distinct values, of which hardly any "
        "would fit by chance. 2 of these values are in use, of which hardly any would.\n"
        "0.833 stands for any value rounded or cut off to it at 3 decimals.\n"
        "Default policy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant.\n"
        "No effect here: ties (no judged results are tied); missing (no judged query is missing); "
        "empty (every query has relevant items); unjudged (all results are judged)."
    )


def test_as_markdown() -> None:
    text = identify("55.56%", JUDGEMENTS, RUN, "AP@3").to_markdown()
    assert text.startswith(
        "One explanation fits 55.56%.\n"
        "\n"
        "| value | definition | as in |\n"
        "| --- | --- | --- |\n"
        "| 55.5556% | AP@3 | judged, beir, evidently, haystack and 11 more |\n"
        "|  | AP(norm=capped)@3 | gldv2, recbole, recommenders, replay and 2 more |\n"
        "|  | AP(norm=cutoff)@3 | rectools |\n"
    )
    assert "- 55.56% stands for any value rounded or cut off to it at 2 decimals.\n" in text
    assert "- 55.56% is read as a percentage, 0.5556.\n" in text


def test_the_table_fits_80_columns() -> None:
    judgements = {
        f"q{query}": {f"d{item}": (query + item) % 3 for item in range(8)} for query in range(9)
    }
    run = {query: {f"d{item}": item * len(query) % 5 for item in range(12)} for query in judgements}
    for number in ("0.75", "44.3"):
        lines = identify(number, judgements, run, limit=None).to_text(width=80).splitlines()
        assert lines[2].split() == ["value", "definition", "as", "in"]
        assert max(map(len, lines)) <= 80


def test_as_dict() -> None:
    found = identify("0.833", JUDGEMENTS, RUN, "AP@3").to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    (match,) = found.pop("matches")
    assert match.pop("value") == pytest.approx(5 / 6)
    assert match == {
        "percent": False,
        "cut": False,
        # Four aggregations of one query, and precision at each hit is the best from there on.
        "definitions": 4 * 2 * POLICIES,
        "measure": "AP(norm=retrieved)@3",
        "policy": Policy().to_dict(),
        "holds": {choice: list(options) for choice, options in OPTIONS.items()},
        "libraries": [
            {"library": "ragas", "name": "context_precision@3", "options": []},
            {"library": "torchmetrics", "name": "RetrievalMAP(top_k=3)", "options": []},
        ],
        "nearest": {"library": "ragas", "name": "context_precision@3", "options": []},
        "departures": [],
        "distance": 0,
        "same": [],
    }
    assert found.pop("chance") < 0.05
    assert found.pop("in_use_chance") < 0.05
    assert set(found.pop("idle")) == {"ties", "missing", "empty", "unjudged"}
    assert found.pop("untried") == ""
    assert found.pop("warnings") == []
    assert found == {
        "value": "0.833",
        "readings": [{"number": 0.833, "percent": False}],
        "fits": 1,
        "tried": TRIED,
        "distinct": 4,
        "in_use": 2,
        "nearest": [],
    }


def test_none_fits() -> None:
    found = identify("0.123", JUDGEMENTS, RUN, "AP@3")
    assert "No definition gives 0.123. The table shows the nearest values." in repr(found)
    assert found.to_dict()["fits"] == 0
    assert (
        found.to_dict()["nearest"][0]["measure"]
        == found.rows()[0][1]
        == str(found.nearest[0].definition.measure)
    )
    distances = [abs(match.value - 0.123) for match in found.nearest]
    assert distances == sorted(distances)


def test_a_limit() -> None:
    found = identify("0.6", JUDGEMENTS, RUN, limit=2)
    count = len(found.matches)
    assert count > 3
    assert len(found.to_dict()["matches"]) == found.to_dict()["fits"] == count
    assert (
        f"{count} explanations fit 0.6, the likeliest first ({count - 2} not shown)."
        in found.to_markdown()
    )
    whole = identify("0.6", JUDGEMENTS, RUN, limit=None)
    assert f"{count} explanations fit 0.6, the likeliest first." in whole.to_markdown()
    assert sum(bool(row[0]) for row in found.rows()) == 2
    with pytest.raises(InputError, match="limit must be a whole number from 1, or None for all"):
        identify("0.6", JUDGEMENTS, RUN, limit=0)


def test_what_has_to_be_cut_off_says_so() -> None:
    (first, *_) = identify("0.6666", JUDGEMENTS, RUN, "R@3").rows()
    assert first[:2] == ("0.666667", "R@3")
    assert first[3].endswith(", digits cut off")


def test_nothing_is_finite() -> None:
    # The only relevant item was not found: its rank is infinite whatever is assumed, unless the
    # query is left out.
    found = identify("3", {"q": {"a": 1}}, {"q": ["b"]}, "Rank")
    assert (found.tried, found.distinct, found.matches, found.nearest) == (0, 0, (), ())
    assert "No definition gives 3.\n" in repr(found)
    assert found.chance == 0
