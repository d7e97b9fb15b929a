"""pyndeval (ndeval itself, with a Python interface) on generated data; its known oddities, each
with its proof."""

from __future__ import annotations

import math

import numpy as np
import pyndeval
import pytest

import judged
from judged.measures import parse_measure
from measures.diversity.generated import Collection, generate
from support.loops import for_each

CUTOFFS = (1, 2, 3, 5, 10, 19, 20)
AT_CUTOFFS = {
    "alpha_nDCG": "alpha-nDCG",
    "nERR_IA": "nERR-IA",
    "alpha_DCG": "alpha-DCG",
    "ERR_IA": "ERR-IA",
    "P_IA": "P-IA",
    "StRecall": "strec",
}
WHOLE = {"NRBP": "NRBP", "nNRBP": "nNRBP", "AP_IA": "MAP-IA"}
TAKES_ALPHA = {"alpha_nDCG", "nERR_IA", "alpha_DCG", "ERR_IA", "NRBP", "nNRBP"}
SAME = {"rtol": 1e-12, "atol": 1e-14}


def measures(rel: int, alpha: float, beta: float) -> dict[str, judged.Measure]:
    """pyndeval's names, each with our measure."""
    pairs = [(f"{theirs}@{k}", ours, k) for ours, theirs in AT_CUTOFFS.items() for k in CUTOFFS]
    pairs += [(theirs, ours, None) for ours, theirs in WHOLE.items()]
    result = {}
    for theirs, ours, k in pairs:
        params = {"rel": rel} | ({"alpha": alpha} if ours in TAKES_ALPHA else {})
        params |= {"beta": beta} if ours in ("NRBP", "nNRBP") else {}
        result[theirs] = parse_measure(ours)(**params) @ k if k else parse_measure(ours)(**params)
    return result


def compared(collection: Collection, rel: int, alpha: float, beta: float) -> int:
    """How many values were the same; all must be."""
    wanted = measures(rel, alpha, beta)
    oracle = pyndeval.RelevanceEvaluator(
        collection.rows, list(wanted), relevance_level=rel, alpha=alpha, beta=beta
    )
    expected = oracle.evaluate(
        (query, item, score)
        for query, each in collection.run.items()
        for item, score in each.items()
    )
    scored = judged.evaluate(collection.judgements, collection.run, list(wanted.values())).scored()
    subtopics = {
        query: len(
            {name for other, name, _, grade in collection.rows if other == query and grade >= rel}
        )
        for query in scored.rankings.queries
    }
    count = 0
    for at, query in enumerate(scored.rankings.queries):
        for theirs, measure in wanted.items():
            ours = scored.values[measure][at]
            value = expected[query][theirs] if query in expected else 0.0
            if theirs == "nNRBP" and not subtopics[query] and query in expected:
                assert math.isnan(value)  # see test_ndeval_divides_zero_by_zero
                value = 0.0
            if theirs in ("alpha-DCG@1", "ERR-IA@1"):
                value /= max(subtopics[query], 1)  # see test_ndeval_forgets_to_normalise_rank_1
            np.testing.assert_allclose(ours, value, **SAME, err_msg=f"{measure} of {query}")
            count += 1
    return count


MANY = {"queries": 10, "items": 120, "subtopics": 90, "each": 60, "longest": 200}


@for_each(
    ("seeds", "options", "rel", "alpha", "beta"),
    [
        # With powers of two sums are exact, and ndeval's ideal list is what it should be, whatever
        # the order of subtopics.
        *(
            (range(8), {}, *given)
            for given in (
                *((1, 0.5, 0.5), (2, 0.5, 0.5), (1, 0.25, 0.75), (1, 0.75, 0.9), (0, 0.5, 0.1)),
                *((1, 0.0, 0.5), (1, 1.0, 0.5)),
            )
        ),
        # Where an item has at most two subtopics, a sum of gains does not depend on its order.
        *((range(200, 204), {"each": 2}, 1, alpha, 0.5) for alpha in (0.1, 0.3, 0.6, 0.9)),
        ([300], MANY, 1, 0.5, 0.5),
    ],
)
def test_generated_data(
    seeds: list[int], options: dict[str, int], rel: int, alpha: float, beta: float
) -> None:
    for seed in seeds:
        count = compared(generate(seed, **options), rel, alpha, beta)
        queries = options.get("queries", 25) - 1  # one has no judgements
        assert count == queries * (len(CUTOFFS) * len(AT_CUTOFFS) + len(WHOLE))


# -- where ndeval is odd


def ndeval(
    rows: list[tuple[str, str, str, int]], items: str, measure: str, alpha: float = 0.5
) -> float:
    run = [("q", item, -float(rank)) for rank, item in enumerate(items)]
    return pyndeval.RelevanceEvaluator(rows, [measure], alpha=alpha).evaluate(run)["q"][measure]


def ours(rows: list[tuple[str, str, str, int]], items: str, measure: str) -> float:
    judgements: dict[str, dict[str, dict[str, int]]] = {"q": {}}
    for _, subtopic, item, grade in rows:
        judgements["q"].setdefault(item, {})[subtopic] = grade
    return judged.evaluate(judgements, {"q": list(items)}, [measure]).value()


def test_ndeval_forgets_to_normalise_rank_1() -> None:
    """Its loops over ranks begin at the second: ERR-IA@1 and alpha-DCG@1 are not divided by the
    number of subtopics."""
    rows = [("q", "1", "a", 1), ("q", "2", "a", 1), ("q", "3", "b", 1)]
    assert ndeval(rows, "ab", "ERR-IA@1") == 2.0
    assert ndeval(rows, "ab", "alpha-DCG@1") == 2.0
    assert ours(rows, "ab", "ERR_IA@1") == ours(rows, "ab", "alpha_DCG@1") == 2 / 3


def test_ties_in_the_ideal_list_are_broken_by_id() -> None:
    """After c (2 subtopics), a and b gain 1.5 each. Taking b first leaves a with 1.25 or 1: the two
    ways differ."""
    rows = [
        ("q", "1", "c", 1),
        ("q", "2", "c", 1),
        ("q", "1", "a", 1),
        ("q", "3", "a", 1),
        ("q", "2", "b", 1),
        ("q", "3", "b", 1),
    ]
    rows += [("q", "1", "d", 1), ("q", "3", "d", 1)]
    for names in ("abcd", "dcba", "bdac", "cadb"):
        renamed = [
            (query, subtopic, names["abcd".index(item)], grade)
            for query, subtopic, item, grade in rows
        ]
        for list_ in ("abcd", "cab"):
            assert ours(renamed, list_, "alpha_nDCG@3") == pytest.approx(
                ndeval(renamed, list_, "alpha-nDCG@3"), abs=1e-14
            )
