"""The convention of RecBole beside RecBole: means over users, of a matrix of scores."""

from __future__ import annotations

import pytest

from support.generated import Collection
from support.loops import for_each
from support.peers import HEAVY, WITHOUT_TIES, Case, cases, compare, only_relevant

pytestmark = HEAVY

NAME = "recbole"


def scored(given: Collection) -> Collection:
    """Every user has a list, and every relevant item a place in it: at its end, if it had none."""
    kept = only_relevant(given)
    rows = [row for row in kept.rows if row[0] in kept.judgements]
    for query, grades in kept.judgements.items():
        lost = [item for item in grades if item not in kept.run.get(query, {})]
        rows += [(query, item, -1000.0 - at) for at, item in enumerate(lost)]
    return Collection(kept.judgements, rows)


DATA = {name: scored(given) for name, given in WITHOUT_TIES.items()}


def results(
    given: Collection, metrics: list[str], topk: list[int], *, decimals: int = 4
) -> dict[str, float]:
    """What RecBole's own collector and evaluator make of the scores; item 0 is its padding, which
    it gives the least score, as it does to items of the training set."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("recbole")
    from recbole.config import Config
    from recbole.evaluator import Collector, Evaluator

    # RecBole gives numpy the names back that it asks for.
    Config.compatibility_settings(None)
    users = list(given.judgements)
    items = {item: 1 + at for at, item in enumerate(sorted({row[1] for row in given.rows}))}
    scores = torch.full((len(users), 1 + len(items)), -torch.inf)
    for query, item, score in given.rows:
        scores[users.index(query), items[item]] = score
    pairs = [(at, items[item]) for at, user in enumerate(users) for item in given.judgements[user]]
    config = {
        "metrics": metrics,
        "topk": topk,
        "metric_decimal_place": decimals,
        "eval_args": {"mode": "full"},
        "device": "cpu",
    }
    collector = Collector(config)
    collector.eval_batch_collect(scores, None, *map(torch.tensor, zip(*pairs, strict=True)))
    found = Evaluator(config).evaluate(collector.get_data_struct())
    return {name: float(value) for name, value in found.items()}


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given, k = DATA[collection], int(case.places["k"])
    # Other cutoffs beside it change nothing.
    for topk in ([k], [1, k, 60]):
        metric = case.theirs.partition("@")[0]  # RecBole lowers every name
        found = results(given, [metric], topk)
        assert compare(NAME, case, given, found[case.theirs])
        exact = results(given, [metric], topk, decimals=12)
        assert compare(NAME, case, given, exact[case.theirs], tolerance=1e-9)


def test_gauc_weighs_users_by_their_relevant_items() -> None:
    given = Collection(
        {"one": {"a": 1}, "two": {"b": 1, "c": 1}},
        [
            (user, item, 4.0 - place)
            for user, listed in (("one", "abcd"), ("two", "adbc"))
            for place, item in enumerate(listed)
        ],
    )
    # one has its item above all others, two both of its items below: (1 · 1 + 2 · 0) / 3.
    assert results(given, ["GAUC"], [1])["gauc"] == pytest.approx(1 / 3, abs=1e-4)


def test_scores_that_differ_are_tied_in_single_precision() -> None:
    # By GAUC, which takes the mean of tied ranks: half of the pair is in order.
    given = Collection({"q": {"a": 1}}, [("q", "b", 1.0), ("q", "a", 1.0 + 1e-9)])
    assert results(given, ["GAUC"], [1])["gauc"] == 0.5
