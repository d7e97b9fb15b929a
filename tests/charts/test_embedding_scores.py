from __future__ import annotations

import json

import polars as pl
import pytest

from judged import InputError
from judged.charts.kinds.distributions import embedding_scores
from judged.embeddings.relevance import same_label
from support.products import diagnose

QUERIES, ITEMS = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
FOUND = diagnose(QUERIES, ITEMS, same_label(["a", "b"], ["a", "b", "a"]))


def test_the_scores_of_all_pairs() -> None:
    # Of six cosines, three are of the same label and 1, three are 0.
    table = embedding_scores(FOUND).data.filter(pl.col("count") > 0)
    assert table.select("group", "count").rows() == [("relevant", 3), ("other", 3)]
    assert table["mean"].to_list() == [1.0, 0.0]


def test_the_json_of_the_command_line_does_as_well() -> None:
    assert embedding_scores(json.loads(json.dumps(FOUND.to_dict()))).data.equals(
        embedding_scores(FOUND).data
    )


def test_without_relevance_there_is_one_histogram() -> None:
    chart = embedding_scores(diagnose(QUERIES, ITEMS))
    assert chart.data["group"].unique().to_list() == ["other"]
    assert chart.to_png()[:4] == b"\x89PNG"


def test_what_is_no_diagnosis() -> None:
    with pytest.raises(InputError) as refused:
        embedding_scores({"runs": []})
    assert str(refused.value) == (
        "this is no diagnosis of embeddings; make one with Embeddings.diagnose or "
        "`judged embeddings … --diagnose`."
    )
