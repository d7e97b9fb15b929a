"""The stage of a pipeline that lost each relevant item."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import evaluate, funnel
from judged.errors import InputError, PolicyError
from support.loops import for_each

ITEMS = "abcdefgh"


def test_each_reason_by_hand():
    """K = 2, relevant: a kept, b demoted, c dropped by the reranker, d not promoted, e nowhere."""
    judgements = {"q": dict.fromkeys("abcde", 1) | {"x": 0}}
    first = {"q": ["b", "c", "a", "d", "x"]}
    reranked = {"q": ["a", "x", "b", "d"]}
    result = funnel(judgements, {"first": first, "reranked": reranked}, k=2)
    frame = result.to_frame().sort("item")
    assert frame.select("item", "lost by", "reason").rows() == [
        ("a", None, None),
        ("b", "reranked", "demoted"),
        ("c", "reranked", "dropped"),
        ("d", "reranked", "not promoted"),
        ("e", "first", "not retrieved"),
    ]
    assert frame["rank in first"].to_list() == [3, 1, 2, 4, None]
    assert result.says() == [
        "1 of 5 relevant items (20.0 %) is in the top 2 of reranked.",
        "first lost 1 (20.0 %): 1 not retrieved.",
        "reranked lost 3 (60.0 %): 1 dropped, 1 demoted and 1 not promoted.",
    ]
    assert result.recall() == {"first": 0.4, "reranked": 0.2}


def lost_by_loop(ranks, k):
    """Return the stage and the reason by looking at one item's ranks; None where not listed."""
    last = len(ranks) - 1
    top = [at for at, rank in enumerate(ranks) if rank is not None and rank <= k]
    listed = [at for at, rank in enumerate(ranks) if rank is not None]
    if top and top[-1] == last:
        return None
    if top:
        return top[-1] + 1, "dropped" if ranks[top[-1] + 1] is None else "demoted"
    if not listed:
        return 0, "not retrieved"
    return (last, "not promoted") if listed[-1] == last else (listed[-1] + 1, "dropped")


lists = st.permutations(ITEMS).flatmap(
    lambda order: st.integers(1, len(ITEMS)).map(lambda n: list(order[:n]))
)


@given(
    st.lists(st.fixed_dictionaries({"q1": lists, "q2": lists}), min_size=2, max_size=4),
    st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 2), min_size=1),
    st.integers(1, 5),
)
def test_every_item_is_lost_where_a_loop_loses_it_and_losses_add_up(stages, grades, k):
    judgements = {"q1": {**grades, "a": 1}, "q2": grades}
    runs = {f"stage {at}": run for at, run in enumerate(stages)}
    result = funnel(judgements, runs, k=k)
    for query, item, *_, stage, reason in result.to_frame().rows():
        ranks = [
            run[query].index(item) + 1 if item in run[query] else None for run in runs.values()
        ]
        lost = lost_by_loop(ranks, k)
        assert (stage, reason) == ((f"stage {lost[0]}", lost[1]) if lost else (None, None))
    lost = sum(sum(counts.values()) for counts in result.losses.values())
    assert lost + result.kept == result.relevant
    by_query = result.to_frame(per_query=True)
    assert by_query["relevant"].sum() == result.relevant
    assert sum(by_query[name].sum() for name in by_query.columns[2:]) == result.relevant
    expected = evaluate(judgements, runs, f"R@{k}", policy={"empty": "skip"})[f"R@{k}"]
    assert result.recall() == pytest.approx(expected)


def test_limits():
    judgements = {"q": {"a": 1, "b": 1}}
    runs = {"first": {"q": ["a", "b"]}, "last": {"q": ["b", "a"]}}
    failed = funnel(judgements, runs, k=1, max_loss=0.4)
    assert not failed.passed
    assert failed.says()[0] == "FAILED: last lost 1 of 2 relevant items (50.0 %; allowed: 40 %)."
    assert funnel(judgements, runs, k=1, max_loss=0.5).passed
    assert funnel(judgements, runs, k=1, max_loss={"first": 0}).passed


def test_warnings():
    judgements = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"first": {"q1": ["b"], "q2": ["a"]}, "last": {"q1": ["a"]}}
    assert [str(text) for text in funnel(judgements, runs).warnings()] == [
        "last has no results for 1 of 2 judged queries. Their relevant items count as lost there. "
        "Give the lists of all queries.",
        "last lists 1 relevant item that first does not list. If it only reranks, check the order "
        "of the stages.",
    ]


@for_each(
    "judgements, runs, options, message",
    [
        ({"q": {"a": 0}}, {"s": {"q": ["a"]}, "t": {"q": ["a"]}}, {}, "no item has grade 1 or"),
        ({"q": {"a": 1}}, {"s": {"q": ["a"]}}, {}, "a funnel has at least two stages"),
        (
            {"q": {"a": 1}},
            {"s": {"q": ["a"]}, "t": {"q": ["a"]}},
            {"max_loss": {"u": 0.1}},
            "the stage of max_loss must be s or t; got 'u'.",
        ),
        (
            {"q": {"a": 1}},
            {"s": {"q": ["a"]}, "t": {"q": ["a"]}},
            {"max_loss": 2},
            "max_loss must be a finite number from 0 to 1; got 2.",
        ),
        (
            {"q": {"a": 1}},
            {"s": {"q": ["a"]}, "t": {"q": ["a"]}},
            {"policy": {"missing": "skip"}},
            "missing in policy has no meaning for funnel",
        ),
        ({"q": {"a": 1}}, {"s": {"q": ["a"]}, "t": {"r": ["a"]}}, {}, "r"),
    ],
)
def test_errors(judgements, runs, options, message):
    with pytest.raises((InputError, PolicyError)) as error:
        funnel(judgements, runs, **options)
    assert message in str(error.value)
