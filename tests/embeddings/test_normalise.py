"""Every normalisation against a whole-matrix twin, by hand, by laws, and in small tiles."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_ndtr, log_softmax, logsumexp

from judged import Embeddings
from judged.embeddings.normalisation import (
    LOOKS_AT,
    NORMALISATIONS,
    Nearest,
    as_normalisation,
    chunks,
    nearest,
)
from judged.embeddings.product import TiledProduct
from judged.errors import InputError
from support.dense import among, judged, same
from support.loops import for_each
from support.products import BANK, ITEMS, QUERIES, RANDOM, normalised, product_of, rank


def whole(product: TiledProduct) -> np.ndarray:
    scores = np.zeros((len(product.queries), len(product.items)))
    for rows, columns, values in chunks(product):
        scores[rows, columns] = values
    return scores


def cosines(queries, items):
    queries, items = (
        each.astype(float) / np.linalg.norm(each.astype(float), axis=1)[:, None]
        for each in (queries, items)
    )
    return queries @ items.T


def highest(scores, k):
    """Return the mean of each row's k highest."""
    return np.sort(scores, axis=1)[:, -k:].mean(axis=1)


def divided(apart, spread, scores):
    """Return the quotient, and 0 where the spread is nothing but rounding."""
    is_spread = spread > 1e-9 * np.abs(scores).max()
    return np.divide(apart, spread, out=np.zeros_like(scores), where=is_spread)


def stretched(scores):
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return divided(scores - low, high - low, scores)


def standardised(scores, axis):
    apart = scores - scores.mean(axis=axis, keepdims=True)
    return divided(apart, scores.std(axis=axis, keepdims=True), scores)


def twin_csls(scores, bank, k):
    seen_by = scores if bank is None else bank
    return 2 * scores - highest(scores, k)[:, None] - highest(seen_by.T, k)


def twin_inverted(scores, bank, beta):
    """Return logarithms of shares; without a bank their log-odds, which never round alike."""
    if bank is not None:
        return beta * scores - logsumexp(beta * bank, axis=0)
    others = [
        logsumexp(np.delete(beta * scores, query, axis=0), axis=0) for query in range(len(scores))
    ]
    return beta * scores - np.stack(others)


def twin_qb(scores, bank, beta, k):
    retrieved = np.argsort(-bank, axis=1)[:, :k]
    is_changed = np.isin(scores.argmax(axis=1), retrieved)[:, None]
    return np.where(is_changed, twin_inverted(scores, bank, beta), scores)


def twin_mutual(scores, bank):
    """Return the log-odds of both chances together, all in logarithms."""
    one, other = standardised(scores, 1), standardised(scores, 0)
    against = np.logaddexp(log_ndtr(-one), log_ndtr(one) + log_ndtr(-other))
    return log_ndtr(one) + log_ndtr(other) - against


TWINS = {
    "min-max": lambda s, b: stretched(s),
    "z-score": lambda s, b: standardised(s, 1),
    "softmax": lambda s, b, temperature: log_softmax(s / temperature, axis=1),
    "csls": twin_csls,
    "inverted-softmax": twin_inverted,
    "qb-norm": twin_qb,
    "dual-softmax": lambda s, b, beta: (
        log_softmax(beta * s, axis=0) + log_softmax(beta * s, axis=1)
    ),
    "mutual-proximity": twin_mutual,
}
"""Functions of the whole matrix of scores, and of that of the bank."""
EXPANSION = "alpha-query-expansion"


def twin(normalisation, scores, bank):
    bank = None if normalisation.bank is None else bank
    return TWINS[normalisation.name](scores, bank, **normalisation.parameters)


EVERY = pytest.mark.parametrize(
    "normalisation",
    [
        *map(as_normalisation, ("min-max", "z-score", "softmax(temperature=0.05)", "csls(k=4)")),
        *map(as_normalisation, ("inverted-softmax", "dual-softmax", "mutual-proximity")),
        as_normalisation("csls(k=5)", bank=BANK),
        as_normalisation("inverted-softmax(beta=10)", bank=BANK),
        as_normalisation("qb-norm", bank=BANK),
        as_normalisation("qb-norm(k=3, beta=5)", bank=BANK),
    ],
    ids=str,
)


@EVERY
@for_each("tiles", [(None, None), (5, 7), (1, 31), (23, 1)], ids=str)
def test_every_normalisation_is_its_whole_matrix_twin_however_it_is_cut(normalisation, tiles):
    expected = twin(normalisation, cosines(QUERIES, ITEMS), cosines(BANK, ITEMS))
    scores = normalised(normalisation, product_of(height=tiles[0], width=tiles[1]))
    np.testing.assert_allclose(scores, expected, rtol=2e-5, atol=2e-6)


@EVERY
def test_rankings_of_items_and_of_categories_are_the_twins(normalisation):
    dense = twin(normalisation, cosines(QUERIES, ITEMS), cosines(BANK, ITEMS))
    relevant, category = RANDOM.random(dense.shape) < 0.2, RANDOM.integers(0, 9, 31)
    found = rank(QUERIES, ITEMS, among(relevant), normalise=normalisation)
    same(found, dense, judged(relevant))
    assert normalisation.note.rstrip(".") in found.basis
    names = list(dict.fromkeys(category.tolist()))
    best, grades = (
        np.stack([values[:, category == name].max(axis=1) for name in names], axis=1)
        for values in (dense, relevant)
    )
    found = rank(QUERIES, ITEMS, among(relevant), normalise=normalisation, unique=category)
    same(found, best, judged(grades), names=[str(name) for name in names])


def test_every_declared_normalisation_has_a_twin():
    assert {*TWINS, EXPANSION} == {*NORMALISATIONS}  # that one changes queries, not scores


@EVERY
def test_excluded_pairs_are_not_looked_at(normalisation):
    # With itself excluded, a vector is normalised as if its own score did not exist: the twin sees
    # NaN there.
    product = product_of(ITEMS, ITEMS, exclude_self=True, height=4, width=9)
    scores = cosines(ITEMS, ITEMS)
    other, bank = scores[~np.eye(31, dtype=bool)].reshape(31, 30), cosines(BANK, ITEMS)
    found = normalised(normalisation, product)
    assert (found[np.eye(31, dtype=bool)] == -np.inf).all()
    if normalisation.keeps_order:
        np.testing.assert_allclose(
            found[~np.eye(31, dtype=bool)].reshape(31, 30),
            twin(normalisation, other, bank),
            rtol=2e-5,
            atol=2e-6,
        )
    elif str(normalisation) == "csls(k=4)":
        # The matrix is symmetric, so rows without the diagonal are columns without it.
        near = highest(other, 4)
        expected = 2 * scores - near[:, None] - near
        off = ~np.eye(31, dtype=bool)
        np.testing.assert_allclose(found[off], expected[off], rtol=2e-5, atol=2e-6)
    else:
        assert np.isfinite(found[~np.eye(31, dtype=bool)]).all()


def test_csls_by_hand():
    # queries (1, 0), (0, 1); items (1, 0), (0.6, 0.8): scores 1.0 0.6
    #                                                          0.0 0.8
    # k = 1: r(q) = 1.0, 0.8 (row maxima); r(i) = 1.0, 0.8 (column maxima)
    # 2 - 1 - 1 = 0         1.2 - 1.0 - 0.8 = -0.6
    # 0 - 0.8 - 1 = -1.8    1.6 - 0.8 - 0.8 = 0
    product = product_of(np.array([[1.0, 0], [0, 1]]), np.array([[1, 0], [0.6, 0.8]]))
    np.testing.assert_allclose(normalised("csls(k=1)", product), [[0, -0.6], [-1.8, 0]], atol=1e-6)
    # k = 2: r(q) = (1 + 0.6)/2 = 0.8, 0.4; r(i) = (1 + 0)/2 = 0.5, (0.6 + 0.8)/2 = 0.7
    # 2 - 0.8 - 0.5 = 0.7    1.2 - 0.8 - 0.7 = -0.3
    # 0 - 0.4 - 0.5 = -0.9   1.6 - 0.4 - 0.7 = 0.5
    np.testing.assert_allclose(
        normalised("csls(k=2)", product), [[0.7, -0.3], [-0.9, 0.5]], atol=1e-6
    )


def test_per_query_normalisations_by_hand():
    # scores of the query (1): 1, 2, 4 by dot product
    product = product_of(np.array([[1.0]]), np.array([[1.0], [2.0], [4.0]]), "dot")
    # min-max: (1-1)/3, (2-1)/3, 1
    np.testing.assert_allclose(normalised("min-max", product), [[0, 1 / 3, 1]], rtol=1e-6)
    # mean 7/3; variance (16/9 + 1/9 + 25/9)/3 = 14/9; deviation 1.247219: -4/3, -1/3, 5/3 over that
    np.testing.assert_allclose(
        normalised("z-score", product), [[-1.069045, -0.267261, 1.336306]], rtol=1e-5
    )
    # temperature 1: log sum = 4 + log(1 + e^-2 + e^-3) = 4 + log(1.185122) = 4.169846
    np.testing.assert_allclose(
        normalised("softmax", product), [[-3.169846, -2.169846, -0.169846]], rtol=1e-5
    )


def test_inverted_and_dual_softmax_by_hand():
    # dot product of (1), (2) with (1): a column 1, 2; beta = 1: shares e/(e + e²), e²/(e + e²),
    # their odds e/e² and e²/e
    product = product_of(np.array([[1.0], [2.0]]), np.array([[1.0]]), "dot")
    np.testing.assert_allclose(
        normalised("inverted-softmax(beta=1)", product), [[-1], [1]], rtol=1e-5
    )
    # with a bank of the query (3), log sum 3: 1 - 3, 2 - 3
    np.testing.assert_allclose(
        normalised(as_normalisation("inverted-softmax(beta=1)", bank=[[3.0]]), product),
        [[-2], [-1]],
        rtol=1e-5,
    )
    # one item each: the share among items is 1, and that among queries 1/(1 + e) and e/(1 + e)
    np.testing.assert_allclose(
        normalised("dual-softmax(beta=1)", product), [[-1.313262], [-0.313262]], rtol=1e-5
    )
    # scores 1 0, 0 2: 1/(1/e + 1) · 1/(1/e + 1) = 0.731059² for the first; 1/(e + 1) · 1/(e² + 1)
    # beside it; 1/(e² + 1) · 1/(e + 1) under it; (e²/(e² + 1))² = 0.880797²
    product = product_of(np.array([[1.0, 0], [0, 2]]), np.eye(2), "dot")
    expected = [
        [0.731059**2, 0.268941 * 0.119203],
        [0.119203 * 0.268941, 0.880797**2],
    ]
    np.testing.assert_allclose(
        normalised("dual-softmax(beta=1)", product), np.log(expected), rtol=1e-5
    )


def test_qb_norm_leaves_queries_alone_whose_best_item_no_bank_query_finds():
    # The bank's one query (1, 0) finds item 0. Query (1, 0) has item 0 first: changed. Query (0, 1)
    # has item 1 first: not.
    product = product_of(np.eye(2), np.eye(2))
    # query 0: 20 · (1, 0) - log of one e^(20 · (1, 0)) = 20 - 20, 0 - 0
    np.testing.assert_allclose(
        normalised(as_normalisation("qb-norm", bank=[[1.0, 0.0]]), product),
        [[0, 0], [0, 1]],
        atol=1e-5,
    )


def test_query_expansion_by_hand():
    # query (1, 0) has cosines 0.6 with (0.6, 0.8) and -1 with (-1, 0). k = 2, alpha = 2: weights
    # 0.36 and 0 (not (-1)² = 1) (1, 0) + 0.36 · (0.6, 0.8) = (1.216, 0.288)
    product = product_of(np.array([[2.0, 0.0]]), np.array([[0.6, 0.8], [-1.0, 0.0]]))
    fitted = as_normalisation(f"{EXPANSION}(alpha=2, k=2)").fit(product)
    np.testing.assert_allclose(fitted.queries.values, [[1.216, 0.288]], rtol=1e-6)


@pytest.mark.parametrize("exclude_self", [False, True])
def test_query_expansion_is_its_twin(exclude_self):
    product = product_of(ITEMS, ITEMS, exclude_self=exclude_self, height=4, width=9)
    scores, unit = cosines(ITEMS, ITEMS), ITEMS / np.linalg.norm(ITEMS, axis=1)[:, None]
    if exclude_self:
        np.fill_diagonal(scores, -np.inf)
    expected = []
    for query, row in enumerate(scores):
        best = np.argsort(-row)[:6]
        expected.append(unit[query] + sum(max(row[item], 0) ** 3 * unit[item] for item in best))
    fitted = as_normalisation(f"{EXPANSION}(k=6)").fit(product)
    np.testing.assert_allclose(fitted.queries.values, expected, rtol=1e-4, atol=1e-5)
    untouched = np.ones((3, 31), np.float32)
    fitted.apply(untouched, 0, 0)
    assert (untouched == 1).all()


@EVERY
def test_a_pair_or_nothing_may_be_all_that_is_left(normalisation):
    # Two vectors without themselves have one score in every row and column, and one has none.
    if "k" in normalisation.parameters:
        normalisation = replace(normalisation, parameters={**normalisation.parameters, "k": 1})
    found = normalised(normalisation, product_of(ITEMS[:2], ITEMS[:2], exclude_self=True))
    assert np.isfinite(found[~np.eye(2, dtype=bool)]).all()
    found = normalised(normalisation, product_of(ITEMS[:1], ITEMS[:1], exclude_self=True))
    assert found.tolist() == [[-np.inf]]


def test_inverted_softmax_tells_shares_apart_that_round_to_1():
    # beta = 1000. Item 0: scores 1 and 0.5: the odds of the first are e^1000 / e^500. Item 1: 0.9
    # and 0: e^900 / e^0.
    product = product_of(np.eye(2), np.array([[1.0, 0.9], [0.5, 0.0]]).T, "dot")
    np.testing.assert_allclose(
        normalised("inverted-softmax(beta=1000)", product), [[500, 900], [-500, -900]], rtol=1e-5
    )


def test_euclidean_scores_are_comparable_between_queries():
    # The engine's Euclidean scores leave out the query's own length; nearest queries of an item
    # need it.
    half = -np.array(
        [
            [((query - item) ** 2).sum() / 2 for item in ITEMS.astype(float)]
            for query in QUERIES.astype(float)
        ]
    )
    product = product_of(similarity="euclidean", height=5, width=7)
    np.testing.assert_allclose(whole(product), half, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        normalised("csls(k=3)", product), twin_csls(half, None, 3), rtol=1e-4, atol=1e-4
    )


def test_nearest_takes_the_lower_number_of_a_tie():
    product = product_of(np.array([[1.0]]), np.ones((9, 1)), "dot", height=1, width=2)
    assert sorted(nearest(product, 3).items[0]) == [0, 1, 2]
    # 2 stands above three that tie for two places: numbers 0 and 2, not 3
    product = product_of(
        np.array([[1.0]]), np.array([[1.0], [2.0], [1.0], [1.0]]), "dot", height=1, width=4
    )
    assert sorted(nearest(product, 3).items[0]) == [0, 1, 2]
    assert Nearest(2, 3).items.tolist() == [[-1, -1, -1], [-1, -1, -1]]


def test_inductive_results_of_a_query_do_not_hang_on_the_other_queries():
    for text in [
        *(as_normalisation(name, bank=BANK) for name in ("qb-norm", "inverted-softmax", "csls")),
        "min-max",
        "z-score",
        "softmax",
    ]:
        together, alone = normalised(text, product_of()), normalised(text, product_of(QUERIES[:1]))
        np.testing.assert_allclose(together[:1], alone, rtol=1e-5, atol=1e-6)


# -- laws, whatever the scores: their sign, where they stand, ties, one query, one item

DRAWN = np.random.default_rng(13)
SOME, BANKED = (DRAWN.normal(size=(count, 14)).round(2) for count in (9, 5))
SCORES = {
    "mixed signs": SOME,
    "all negative": SOME - 9,
    "all positive": SOME + 9,
    "far from 0": SOME + 4096,
    "all equal": np.full((6, 14), -0.25),
    "equal for each query": np.repeat(DRAWN.normal(size=(6, 1)).round(2), 14, axis=1),
    "equal for each item": np.repeat(DRAWN.normal(size=(1, 14)).round(2), 6, axis=0),
    "duplicates": np.vstack([SOME, SOME])[:, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]],
    "one query": SOME[:1],
    "large": SOME * 2.0**60,
    "small": SOME * 2.0**-60,
}
PLAIN = ["min-max", "z-score", "softmax(temperature=0.05)", "csls(k=1)", "mutual-proximity"]
PLAIN += ["inverted-softmax(beta=3)", "dual-softmax(beta=3)"]
WITH_BANK = ["csls(k=2)", "inverted-softmax(beta=3)", "qb-norm(beta=3)"]
LAWFUL = [*map(as_normalisation, PLAIN)]
LAWFUL += [as_normalisation(text, bank=BANKED) for text in WITH_BANK]


def places(scores, *, near=0.0):
    """For each query the number of items that are above each one by more than `near`."""
    return [[int((row > score + near).sum()) for score in row] for row in scores]


def found_scores(normalisation, scores):
    """Normalised scores, where the scores of query i are row i: the dot products of rows of the
    identity with columns."""
    return normalised(
        normalisation, product_of(scores, np.eye(scores.shape[1]), "dot", height=4, width=5)
    )


@for_each("which", SCORES)
@for_each("normalisation", LAWFUL, ids=str)
def test_rankings_are_those_of_the_twin(normalisation, which):
    scores = SCORES[which].astype(np.float32).astype(np.float64)
    if which == "one query" and str(normalisation) == "inverted-softmax(beta=3)":
        scores = np.vstack([scores, scores])  # one alone has the whole share of every item
    exact, found = twin(normalisation, scores, BANKED), found_scores(normalisation, scores)
    assert np.isfinite(found).all()
    # Nothing stands above that the twin puts below; what is nearer than single precision can
    # say may tie.
    near = 1e-6 * max(1.0, float(np.abs(exact).max()))
    for got, wanted in zip(found, exact, strict=True):
        wrong = (got[:, None] > got) & (wanted[:, None] < wanted - near)
        tied = (got[:, None] == got) & (wanted[:, None] < wanted - near)
        assert not wrong.any()
        assert not tied.any()


@pytest.mark.parametrize("by", [-64.0, -0.5, 3.0, 1024.0])
@pytest.mark.parametrize("name", PLAIN)
def test_a_constant_added_to_all_scores_changes_no_ranking(name, by):
    scores = np.random.default_rng(3).integers(-64, 64, (9, 14)) / 64
    assert places(found_scores(name, scores + by), near=1e-3) == places(
        found_scores(name, scores), near=1e-3
    )


@pytest.mark.parametrize("by", [2.0**-20, 0.25, 8.0, 2.0**40])
@pytest.mark.parametrize("name", ["min-max", "z-score", "csls(k=1)", "csls(k=3)"])
def test_scores_times_a_number_are_ranked_the_same(name, by):
    # a power of 2 is exact
    assert places(found_scores(name, SOME * by)) == places(found_scores(name, SOME))


@pytest.mark.parametrize("beta", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["inverted-softmax", "dual-softmax"])
def test_extreme_betas_neither_overflow_nor_turn_anything_over(name, beta):
    for scores in (SOME, SOME - 9):
        found = found_scores(f"{name}(beta={beta})", scores)
        exact = TWINS[name](scores, None, beta=beta)
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
    found, exact = found_scores("mutual-proximity", scores), twin_mutual(scores, None)
    assert exact[0, :2].min() > 60
    np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("normalise", ["min-max", "z-score", "softmax(temperature=0.001)"])
@pytest.mark.parametrize("shift", [0.0, -9.0, 4096.0])
def test_what_keeps_the_order_keeps_it_in_ranks_and_in_lists(normalise, shift):
    scores = np.random.default_rng(5).integers(-9, 9, (7, 30)) / 8 + shift  # with ties
    grades = np.random.default_rng(6).random(scores.shape) < 0.2
    plain, changed = (
        Embeddings(scores, np.eye(30), similarity="dot", normalise=each)
        for each in (None, normalise)
    )
    relevance = lambda begin, end: grades[begin:end]  # noqa: E731
    for ties in ("id", "input", "worst", "best"):
        ranks = [each.rank(relevance, policy={"ties": ties}) for each in (plain, changed)]
        assert ranks[0].hit_rank.tolist() == ranks[1].hit_rank.tolist()
    lists = [each.top_k(30) for each in (plain, changed)]
    assert lists[0].items.tolist() == lists[1].items.tolist()
    assert (np.diff(lists[1].scores, axis=1) <= 0).all()


# -- declarations and errors


@pytest.mark.parametrize(
    ("normalisation", "kind", "note"),
    [
        (
            as_normalisation("csls"),
            "transductive",
            "scores were normalised by csls(k=10), which looks at all test queries (transductive).",
        ),
        (
            as_normalisation("csls", bank=BANK),
            "inductive",
            "scores were normalised by csls(bank=17 vectors, k=10), "
            "which looks at a bank of other queries, never at other test queries (inductive).",
        ),
        (
            as_normalisation("min-max"),
            "per query",
            "scores were normalised by min-max, which looks at one query at a time (per query); "
            "it cannot change any ranking.",
        ),
    ],
)
def test_notes_say_what_was_looked_at(normalisation, kind, note):
    assert (normalisation.kind, normalisation.note) == (kind, note)


@pytest.mark.parametrize("name", NORMALISATIONS)
def test_every_normalisation_declares_itself(name):
    normalisation = NORMALISATIONS[name]
    assert normalisation.name == name
    assert normalisation.says
    assert normalisation.kind in LOOKS_AT
    assert normalisation.keeps_order == ("no ranking changes" in normalisation.says)
    assert as_normalisation(str(normalisation)) == normalisation


def test_texts():
    assert str(as_normalisation("softmax(temperature=0.05)")) == "softmax(temperature=0.05)"
    assert as_normalisation(" CSLS ( k = 5 ) ").parameters == {"k": 5}
    assert as_normalisation("inverted_softmax(beta=5, bank='a, b.npy')").bank == "a, b.npy"
    assert as_normalisation("qb-norm(bank=train.npy, k=2)").bank == "train.npy"
    given = as_normalisation("csls(k=3)")
    assert as_normalisation(given) is given


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: as_normalisation("cslss"),
            "Unknown normalisation 'cslss'; did you mean 'csls'? Choose one of min-max, z-score, "
            "softmax, csls, "
            "inverted-softmax, qb-norm, dual-softmax, mutual-proximity, alpha-query-expansion.",
        ),
        (
            lambda: as_normalisation("softmax(temprature=2)"),
            "softmax takes no 'temprature'; did you mean 'temperature'? It takes temperature.",
        ),
        (lambda: as_normalisation("min-max(k=2)"), "min-max takes no 'k'. It takes no parameters."),
        (lambda: as_normalisation("csls(k=2, k=3)"), "k of csls is given twice: 'csls(k=2, k=3)'."),
        (
            lambda: as_normalisation("csls(5)"),
            "parameters are written name=value, with commas between; got 'csls(5)'.",
        ),
        (
            lambda: as_normalisation("csls(k=5"),
            "a normalisation is a text such as 'csls' or 'softmax(temperature=0.05)'; got "
            "'csls(k=5'.",
        ),
        (
            lambda: as_normalisation("softmax(temperature=0)"),
            "temperature of softmax must be a number above 0, from 1e-06 to 1e+06; got 0.",
        ),
        (lambda: as_normalisation("csls(k=0)"), "k of csls must be a whole number from 1; got 0."),
        (
            lambda: as_normalisation("csls(k=32)").fit(product_of()),
            "k of csls must be at most the number of items, 31; got 32.",
        ),
        (
            lambda: as_normalisation("csls(k=18)", bank=BANK).fit(product_of()),
            "k of csls must be at most the number of queries in the bank, 17; got 18.",
        ),
        (
            lambda: as_normalisation(f"{EXPANSION}(k=3)").fit(product_of(similarity="dot")),
            "alpha-query-expansion weighs items by their cosine; it needs similarity 'cosine', "
            "got 'dot'.",
        ),
        (
            lambda: as_normalisation("qb-norm").fit(product_of()),
            "qb-norm needs a bank of queries, such as those of training; give bank=, vectors or "
            "their file.",
        ),
        (
            lambda: as_normalisation("qb-norm", bank=BANK[:, :3]).fit(product_of()),
            "the bank of queries have 3 dimensions but the items have 8; the numbers must match. "
            "Do they come from the same model?",
        ),
        (
            lambda: normalised(
                "csls(k=1)", product_of([[1e154], [-1e154]], [[-1e154], [1e154]], "dot")
            ),
            "scores normalised by csls(k=1) overflow; divide all vectors by the same number.",
        ),
    ],
)
def test_errors_say_what_to_do(make, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        make()
