"""`Evaluator`: what is refused, and what a refused batch leaves behind: nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from judged import Evaluator, evaluate
from judged.errors import MeasureError
from support.errors import error_of

JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 2, "d": 0}}
RUN = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"b": 1.0}, "q3": {"c": 1.0, "d": 1.0}, "other": {"a": 1}}


def test_a_query_that_was_added_before() -> None:
    evaluator = Evaluator(JUDGEMENTS, "RR")
    evaluator.add({query: RUN[query] for query in ("q1", "other")})
    for batch, name in (({"q2": ["b"], "q1": ["a"]}, "q1"), ({"other": ["a"], "q3": []}, "other")):
        assert error_of(evaluator.add, batch) == (
            f"query '{name}' was added before; give all results of a query at once."
        )
    evaluator.add({query: RUN[query] for query in ("q2", "q3")})
    assert evaluator.evaluation().to_dict() == evaluate(JUDGEMENTS, RUN, "RR").to_dict()


def test_a_batch_that_a_measure_refuses_leaves_nothing_behind() -> None:
    evaluator = Evaluator(JUDGEMENTS, "RankAUC", collection=3)
    evaluator.add({"q1": RUN["q1"]})
    assert error_of(evaluator.add, {"q2": ["b", "w", "x", "y"]}, error=MeasureError) == (
        "the collection of query q2 holds 3 items, but 4 were retrieved or judged; RankAUC needs "
        "the number of all items there are."
    )
    evaluator.add({query: RUN[query] for query in ("q2", "q3", "other")})
    whole = evaluate(JUDGEMENTS, RUN, "RankAUC", collection=3)
    assert evaluator.evaluation().to_dict() == whole.to_dict()


def test_a_batch_that_is_interrupted_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    evaluator = Evaluator(JUDGEMENTS, "RR")
    evaluator.add({"q1": RUN["q1"]})
    with monkeypatch.context() as patch:
        patch.setattr("judged.evaluation.evaluate.score_run", interrupt)
        with pytest.raises(KeyboardInterrupt):
            evaluator.add({"q2": RUN["q2"]})
    evaluator.add({query: RUN[query] for query in ("q2", "q3", "other")})
    assert evaluator.evaluation().to_dict() == evaluate(JUDGEMENTS, RUN, "RR").to_dict()


def test_nothing_that_can_be_evaluated() -> None:
    evaluator = Evaluator(JUDGEMENTS, "RR", name="mine")
    assert error_of(evaluator.evaluation) == (
        "nothing was added yet; give the lists of some queries to add first."
    )
    evaluator.add({"other": {"a": 1.0}})
    assert error_of(evaluator.evaluation) == (
        "mine and the judgements have no query in common. The run has 'other'; the judgements "
        "have 'q1', 'q2', 'q3'. Do the two belong to the same collection?"
    )


@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
def test_batches_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "batch.txt"
    path.write_text("q1 Q0 x 1 2.0 t\nq1 Q0 a 2 1.0 t\n", encoding="utf-8")
    evaluator = Evaluator(JUDGEMENTS, ["AP", "Rank(of=all)"], policy={"missing": "skip"})
    evaluator.add(path)
    missing = evaluator.evaluation()
    assert missing.audit["run"].missing_queries == ("q2", "q3")
    assert missing.value("AP") == 0.5
    evaluator.add(pl.DataFrame({"query": ["q2"], "item": ["b"], "score": [1.0]}))
    evaluator.add({"q3": RUN["q3"], "other": RUN["other"]})
    whole = evaluate(JUDGEMENTS, RUN, ["AP", "Rank(of=all)"], policy={"missing": "skip"})
    assert evaluator.evaluation().to_dict() == whole.to_dict()
    assert list(evaluator.evaluation().rankings["run"].queries) == ["q1", "q2", "q3"]


@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
def test_results_with_the_id_of_their_query() -> None:
    judgements = {"a": {"b": 1}, "b": {"a": 1, "c": 0}}
    run = {"a": ["a"], "b": ["b", "a"]}
    evaluator = Evaluator(judgements, "RR", exclude_same_id=True)
    for query, items in run.items():
        evaluator.add({query: items})
    whole = evaluate(judgements, run, "RR", exclude_same_id=True)
    assert evaluator.evaluation().to_dict() == whole.to_dict()
    assert "2 results have the id of their query: taken out." in whole.audit["run"].notes
