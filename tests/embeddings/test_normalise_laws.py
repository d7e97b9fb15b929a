"""What must hold of every normalisation, whatever the scores: their sign, where they stand, ties,
one query, one item."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import log_ndtr, log_softmax, logsumexp

import judged
from judged.embeddings.normalisation import NORMALISATIONS, as_normalisation
from support.loops import for_each
from support.products import normalised, product_of

Scores = NDArray[np.float64]
RANDOM = np.random.default_rng(13)
SOME = RANDOM.normal(size=(9, 14)).round(2)


def nearest(scores: Scores, k: int) -> Scores:
    return np.sort(scores, axis=1)[:, -k:].mean(axis=1)


def both(scores: Scores) -> Scores:
    """The chance of mutual proximity as log-odds, all in logarithms."""

    def centred(axis: int) -> Scores:
        spread = scores.std(axis=axis, keepdims=True)
        middle = scores.mean(axis=axis, keepdims=True)
        return np.where(spread > 1e-9, (scores - middle) / np.where(spread > 1e-9, spread, 1), 0)

    one, other = centred(1), centred(0)
    against = np.logaddexp(log_ndtr(-one), log_ndtr(one) + log_ndtr(-other))
    return log_ndtr(one) + log_ndtr(other) - against


def odds(logs: Scores) -> Scores:
    """The log-odds of each share of its column."""
    share = np.empty_like(logs)
    for query in range(len(logs)):
        share[query] = logsumexp(np.delete(logs, query, axis=0), axis=0)
    return logs - share


BANKED = RANDOM.normal(size=(5, 14)).round(2)
FORMULAS: dict[str, Callable[[Scores, Scores], Scores]] = {
    "min-max": lambda s, b: s,
    "z-score": lambda s, b: s,
    "softmax(temperature=0.05)": lambda s, b: s,
    "csls(k=1)": lambda s, b: 2 * s - nearest(s.T, 1),
    "inverted-softmax(beta=3)": lambda s, b: odds(3 * s),
    "dual-softmax(beta=3)": lambda s, b: log_softmax(3 * s, axis=0) + log_softmax(3 * s, axis=1),
    "mutual-proximity": lambda s, b: both(s),
    "csls with a bank": lambda s, b: 2 * s - nearest(b.T, 2),
    "inverted-softmax with a bank": lambda s, b: 3 * s - logsumexp(3 * b, axis=0),
    "qb-norm": lambda s, b: np.where(
        np.isin(s.argmax(axis=1), b.argmax(axis=1))[:, None], 3 * s - logsumexp(3 * b, axis=0), s
    ),
}
SCORES: dict[str, Scores] = {
    "mixed signs": SOME,
    "all negative": SOME - 9,
    "all positive": SOME + 9,
    "far from 0": SOME + 4096,
    "all equal": np.full((6, 14), -0.25),
    "equal for each query": np.repeat(RANDOM.normal(size=(6, 1)).round(2), 14, axis=1),
    "equal for each item": np.repeat(RANDOM.normal(size=(1, 14)).round(2), 6, axis=0),
    "duplicates": np.vstack([SOME, SOME])[:, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]],
    "one query": SOME[:1],
    "large": SOME * 2.0**60,
    "small": SOME * 2.0**-60,
}


def shown(name: str, bank: Scores) -> object:
    """The normalisation of a formula; its bank are queries whose scores these are."""
    with_bank = {
        "csls with a bank": as_normalisation("csls(k=2)", bank=bank),
        "inverted-softmax with a bank": as_normalisation("inverted-softmax(beta=3)", bank=bank),
        "qb-norm": as_normalisation("qb-norm(beta=3)", bank=bank),
    }
    return with_bank.get(name, name)


def places(scores: Scores, *, near: float = 0.0) -> list[list[int]]:
    """For each query the number of items that are above each one by more than `near`."""
    return [[int((row > score + near).sum()) for score in row] for row in scores]


def found_scores(name: str, scores: Scores, bank: Scores = BANKED) -> Scores:
    """Normalised scores, where the scores of query i are row i: the dot products of rows of the
    identity with columns."""
    product = product_of(scores, np.eye(scores.shape[1]), "dot", height=4, width=5)
    return normalised(shown(name, bank), product).astype(np.float64)


def test_every_normalisation_has_a_formula_here():
    without = {"alpha-query-expansion"}  # changes queries, not scores
    assert {name.split("(")[0].split(" ")[0] for name in FORMULAS} | without == set(NORMALISATIONS)


@for_each("which", SCORES)
@for_each("name", FORMULAS)
def test_rankings_are_those_of_the_formula(name: str, which: str) -> None:
    scores = SCORES[which].astype(np.float32).astype(np.float64)
    if which == "one query" and name.startswith("inverted-softmax("):
        scores = np.vstack([scores, scores])  # one alone has the whole share of every item
    bank = BANKED.astype(np.float32).astype(np.float64)
    with np.errstate(over="ignore"):
        exact = FORMULAS[name](scores, bank)
    found = found_scores(name, scores, bank)
    assert np.isfinite(found).all()
    # Nothing stands above that the formula puts below; what is nearer than single precision can
    # say may tie.
    near = 1e-6 * max(1.0, float(np.abs(exact).max()))
    for got, wanted in zip(found, exact, strict=True):
        wrong = (got[:, None] > got) & (wanted[:, None] < wanted - near)
        tied = (got[:, None] == got) & (wanted[:, None] < wanted - near)
        assert not wrong.any()
        assert not tied.any()


KEPT = [name for name in FORMULAS if "(" in name or name in NORMALISATIONS]


@pytest.mark.parametrize("by", [-64.0, -0.5, 3.0, 1024.0])
@pytest.mark.parametrize("name", [name for name in KEPT if name != "qb-norm"])
def test_a_constant_added_to_all_scores_changes_no_ranking(name: str, by: float) -> None:
    scores = np.random.default_rng(3).integers(-64, 64, (9, 14)) / 64
    assert places(found_scores(name, scores + by), near=1e-3) == places(
        found_scores(name, scores), near=1e-3
    )


@pytest.mark.parametrize("by", [2.0**-20, 0.25, 8.0, 2.0**40])
@pytest.mark.parametrize("name", ["min-max", "z-score", "csls(k=1)", "csls(k=3)"])
def test_scores_times_a_number_are_ranked_the_same(name: str, by: float) -> None:
    # a power of 2 is exact
    assert places(found_scores(name, SOME * by)) == places(found_scores(name, SOME))


@pytest.mark.parametrize("beta", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["inverted-softmax", "dual-softmax"])
def test_extreme_betas_neither_overflow_nor_turn_anything_over(name: str, beta: float) -> None:
    for scores in (SOME, SOME - 9):
        found = found_scores(f"{name}(beta={beta})", scores)
        exact = FORMULAS[f"{name}(beta=3)"](
            scores.astype(np.float32).astype(np.float64) * (beta / 3), BANKED
        )
        assert np.isfinite(found).all()
        wrong = (found[:, :, None] > found[:, None, :]) & (
            exact[:, :, None] < exact[:, None, :] - 1e-4 * beta - 1e-12
        )
        assert not wrong.any()


def test_mutual_proximity_tells_near_duplicates_apart():
    # Scores of deviation 0.02 and two near 1, some 14 deviations away by row and by column: both
    # chances are 1 but for some e^-100, which single precision takes for none.
    scores = np.random.default_rng(0).normal(scale=0.02, size=(400, 400))
    scores[0, :2] = 0.9, 1.0
    scores = scores.astype(np.float32).astype(np.float64)
    found, exact = found_scores("mutual-proximity", scores), both(scores)
    assert exact[0, :2].min() > 60
    np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("normalise", ["min-max", "z-score", "softmax(temperature=0.001)"])
@pytest.mark.parametrize("shift", [0.0, -9.0, 4096.0])
def test_what_keeps_the_order_keeps_it_in_ranks_and_in_lists(normalise: str, shift: float) -> None:
    scores = np.random.default_rng(5).integers(-9, 9, (7, 30)) / 8 + shift  # with ties
    grades = np.random.default_rng(6).random(scores.shape) < 0.2
    plain, changed = (
        judged.Embeddings(scores, np.eye(30), similarity="dot", normalise=each)
        for each in (None, normalise)
    )
    relevance = lambda begin, end: grades[begin:end]  # noqa: E731
    for ties in ("id", "input", "worst", "best"):
        ranks = [each.rank(relevance, policy={"ties": ties}) for each in (plain, changed)]
        assert ranks[0].hit_rank.tolist() == ranks[1].hit_rank.tolist()
    lists = [each.top_k(30) for each in (plain, changed)]
    assert lists[0].items.tolist() == lists[1].items.tolist()
    assert (np.diff(lists[1].scores, axis=1) <= 0).all()
