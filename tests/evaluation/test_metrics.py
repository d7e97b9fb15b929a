"""Numbers under names that trackers take: plain signs, and the same numbers."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

import judged
from judged.evaluation.export import plain_name
from support.errors import error_of

JUDGEMENTS = {f"q{n}": {"a": 1, "b": 2} for n in range(4)}
RUN = {f"q{n}": [*["c", "a"][n % 2 :], "b"] for n in range(4)}


@given(st.text())
def test_names_have_plain_signs(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_.-]*", plain_name(name))


def test_one_run_has_no_name_and_several_have() -> None:
    one = judged.evaluate(JUDGEMENTS, RUN, ["RR", "nDCG(gain=exp)@10"])
    assert [*one.to_metrics(names="mlflow")] == ["RR", "nDCG_gain_exp_at_10"]
    assert [*one.to_metrics()] == ["RR", "nDCG(gain=exp)@10"]
    two = judged.evaluate(JUDGEMENTS, {"my run/1": RUN, "b": RUN}, "MAP").showing(intervals=True)
    interval = two.interval(run="b")
    values = {"": interval.estimate, "low": interval.low, "high": interval.high}
    for names, run, gap in (("mlflow", "my_run_1", "_"), ("judged", "my run/1", " ")):
        label = "AP" if names == "mlflow" else "MAP"
        assert two.to_metrics(names=names) == {
            f"{name}/{label}{gap + end if end else ''}": value
            for name in (run, "b")
            for end, value in values.items()
        }


def test_an_interval_that_there_is_none_of_is_left_out() -> None:
    found = judged.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").showing(intervals=True)
    assert found.to_metrics() == {"RR": 0.5}


def test_wrong_names_are_refused() -> None:
    found = judged.evaluate(JUDGEMENTS, {"a b": RUN, "a_b": RUN}, "RR")
    assert error_of(found.to_metrics, names="mlflo") == (
        "names must be judged or mlflow; got 'mlflo'; did you mean 'mlflow'?"
    )
    assert (
        error_of(found.to_metrics, names="mlflow")
        == "two values would be called 'a_b/RR'; rename a run."
    )


def test_mlflow_takes_the_names(has) -> None:
    has("mlflow")
    from mlflow.utils.validation import _validate_metric_name

    for text in ("my run: 100 %", "nDCG(gains={1:3,2:7.5})@10", "P(rel=-1)@5"):
        _validate_metric_name(f"{plain_name(text)}_low")
