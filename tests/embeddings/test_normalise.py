"""Every normalisation against a whole-matrix twin, by hand, at extreme parameters, and in small
tiles."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

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
    """Mean of each row's k highest."""
    return np.array([np.mean(sorted(row, reverse=True)[:k]) for row in scores])


def twin_csls(scores, bank, k):
    seen_by = scores if bank is None else bank
    return 2 * scores - highest(scores, k)[:, None] - highest(seen_by.T, k)[None, :]


def twin_qb(scores, bank, beta, k):
    retrieved = {int(item) for row in bank for item in np.argsort(-row)[:k]}
    changed = np.log(np.exp(beta * scores) / np.exp(beta * bank).sum(axis=0))
    return np.array(
        [
            changed[q] if int(np.argmax(scores[q])) in retrieved else scores[q]
            for q in range(len(scores))
        ]
    )


def twin_inverted(scores, beta):
    """The log-odds of the share, which never round to the same number as the share itself does near
    1."""
    share = np.exp(beta * scores) / np.exp(beta * scores).sum(axis=0)
    return np.log(share / (1 - share))


def twin_mutual(scores, bank):
    by_query = norm(scores.mean(axis=1, keepdims=True), scores.std(axis=1, keepdims=True))
    by_item = norm(scores.mean(axis=0, keepdims=True), scores.std(axis=0, keepdims=True))
    chance = by_query.cdf(scores) * by_item.cdf(scores)
    return np.log(chance / (1 - chance))


def twin_dual(scores, beta):
    """Softmax over items times softmax over queries."""
    share = np.exp(beta * scores)
    return np.log(share / share.sum(axis=1, keepdims=True) * share / share.sum(axis=0))


def spread(scores):
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return (scores - low) / (high - low)


ALL_TWINS = (
    ("min-max", None, lambda s, b: spread(s)),
    (
        "z-score",
        None,
        lambda s, b: (s - s.mean(axis=1, keepdims=True)) / s.std(axis=1, keepdims=True),
    ),
    (
        "softmax(temperature=0.05)",
        None,
        lambda s, b: np.log(np.exp(s / 0.05) / np.exp(s / 0.05).sum(axis=1, keepdims=True)),
    ),
    ("csls(k=4)", None, lambda s, b: twin_csls(s, None, 4)),
    ("csls(k=5)", BANK, lambda s, b: twin_csls(s, b, 5)),
    ("inverted-softmax(beta=20)", None, lambda s, b: twin_inverted(s, 20)),
    (
        "inverted-softmax(beta=10)",
        BANK,
        lambda s, b: np.log(np.exp(10 * s) / np.exp(10 * b).sum(axis=0)),
    ),
    ("qb-norm", BANK, lambda s, b: twin_qb(s, b, 20, 1)),
    ("qb-norm(k=3, beta=5)", BANK, lambda s, b: twin_qb(s, b, 5, 3)),
    ("dual-softmax(beta=20)", None, lambda s, b: twin_dual(s, 20)),
    ("mutual-proximity", None, twin_mutual),
)
EXPANSION = "alpha-query-expansion"
TWINS = [(as_normalisation(text, bank=bank), twin) for text, bank, twin in ALL_TWINS]
TWINNED = pytest.mark.parametrize(
    ("normalisation", "twin"),
    TWINS,
    ids=lambda part: "twin" if callable(part) and not hasattr(part, "fit") else str(part)[:40],
)


@TWINNED
@for_each("tiles", [(None, None), (5, 7), (1, 31), (23, 1)], ids=str)
def test_every_normalisation_is_its_whole_matrix_twin_however_it_is_cut(normalisation, twin, tiles):
    expected = twin(cosines(QUERIES, ITEMS), cosines(BANK, ITEMS))
    scores = normalised(normalisation, product_of(height=tiles[0], width=tiles[1]))
    np.testing.assert_allclose(scores, expected, rtol=2e-5, atol=2e-6)


@TWINNED
def test_rankings_of_items_and_of_categories_are_the_twins(normalisation, twin):
    dense = twin(cosines(QUERIES, ITEMS), cosines(BANK, ITEMS))
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
    assert {normalisation.name for normalisation, _ in TWINS} | {EXPANSION} == set(NORMALISATIONS)


@TWINNED
def test_excluded_pairs_are_not_looked_at(normalisation, twin):
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
            twin(other, bank),
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


@TWINNED
def test_a_pair_or_nothing_may_be_all_that_is_left(normalisation, twin):
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
