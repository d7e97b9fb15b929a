"""Every diagnostic against a brute-force twin, by hand, with bad vectors, and in small tiles."""

import json
import re
from dataclasses import fields

import numpy as np
import pytest
from scipy.stats import skew

from judged.embeddings.diagnosis import BINS, Diagnosis, NamedVectors
from judged.embeddings.relevance import pairs, same_label, same_row
from judged.errors import InputError
from support.products import diagnose

RANDOM = np.random.default_rng(11)
QUERIES, ITEMS = (RANDOM.normal(size=(count, 6)).astype(np.float32) for count in (37, 53))
QUERY_LABELS, ITEM_LABELS = RANDOM.integers(0, 4, 37), RANDOM.integers(0, 4, 53)
LABELS = same_label(QUERY_LABELS, ITEM_LABELS)


def unit(vectors):
    vectors = np.asarray(vectors, float)
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def scores_of(similarity, queries=QUERIES, items=ITEMS):
    queries, items = queries.astype(float), items.astype(float)
    if similarity == "cosine":
        return unit(queries) @ unit(items).T
    if similarity == "euclidean":
        return -((queries[:, None] - items[None]) ** 2).sum(axis=2) / 2
    return queries @ items.T


def occurrences(scores, k):
    """How many queries have each item among their k best."""
    counts = np.zeros(scores.shape[1], int)
    for row in scores:
        counts[np.argsort(-row, kind="stable")[:k]] += 1
    return counts


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_hubness_is_its_twin(similarity):
    counts = occurrences(scores_of(similarity), 5)
    hubness = diagnose(QUERIES, ITEMS, similarity=similarity, k=5).hubness
    assert hubness["skewness"] == pytest.approx(skew(counts))
    assert hubness["robin_hood"] == pytest.approx(
        np.abs(counts - counts.mean()).sum() / (2 * counts.sum())
    )
    assert hubness["antihubs"] == (counts == 0).mean()
    assert hubness["hubs"] == (counts >= 10).sum()
    assert hubness["biggest"] == tuple(
        (str(item), counts[item]) for item in np.argsort(-counts, kind="stable")[:10]
    )


def test_hubness_by_hand():
    # Three queries all have item a first, of four items: N_1 = 3, 0, 0, 0; mean 0.75
    # Robin Hood: (2.25 + 3 · 0.75) / (2 · 3) = 0.75. Variance (2.25² + 3 · 0.75²)/4 = 6.75/4 =
    # 1.6875 third moment (2.25³ - 3 · 0.75³)/4 = (11.390625 - 1.265625)/4 = 2.53125; skewness
    # 2.53125/1.6875^1.5 = 1.154701
    items = np.array([[1.0, 0], [0, 1], [0, -1], [-1, 0]])
    found = diagnose([[1, 0.1], [1, 0.2], [1, -0.1]], items, k=1, item_ids=["a", "b", "c", "d"])
    hubness = found.hubness
    assert (hubness["robin_hood"], hubness["antihubs"], hubness["hubs"]) == (0.75, 0.75, 1)
    assert hubness["skewness"] == pytest.approx(1.154701, abs=1e-6)
    assert hubness["biggest"] == (("a", 3),)


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_histograms_are_exact(similarity):
    scores = scores_of(similarity)
    found = diagnose(QUERIES, ITEMS, LABELS, similarity=similarity).scores
    same = QUERY_LABELS[:, None] == ITEM_LABELS[None]
    assert (
        BINS / 2
        <= len(found["others"])
        == len(found["relevant"])
        == len(found["edges"]) - 1
        <= BINS + 1
    )
    assert (sum(found["relevant"]), sum(found["others"])) == (same.sum(), (~same).sum())
    # The first and the last bin are not empty.
    assert all(found["relevant"][at] + found["others"][at] > 0 for at in (0, -1))
    # A score may lie on the other side of an edge only by the rounding of the product.
    for counts, some in ((found["relevant"], scores[same]), (found["others"], scores[~same])):
        assert (
            np.abs(np.cumsum(counts) - np.cumsum(np.histogram(some, found["edges"])[0])).max() <= 1
        )
    assert found["relevant_mean"] == pytest.approx(scores[same].mean(), rel=1e-4)
    assert found["others_mean"] == pytest.approx(scores[~same].mean(), rel=1e-4)


def test_histogram_by_hand():
    # Scores of the query (1): 0 and 40 relevant, 10 and 39 others. 40 bins would be 1 wide, a power
    # of two: [0, 1) … [40, 41)
    found = diagnose(
        [[1.0]],
        [[0.0], [40.0], [10.0], [39.0]],
        same_label([1], [1, 1, 0, 0]),
        similarity="dot",
        k=1,
    ).scores
    assert found["edges"] == tuple(range(42))
    assert [place for place, count in enumerate(found["relevant"]) if count] == [0, 40]
    assert [place for place, count in enumerate(found["others"]) if count] == [10, 39]
    assert (found["relevant_mean"], found["others_mean"]) == (20, 24.5)


def test_grades_below_1_are_not_relevant():
    grades = np.where(np.arange(53) % 2, 0.5, 1.0)
    found = diagnose(QUERIES, ITEMS, lambda begin, end: np.tile(grades, (end - begin, 1)))
    assert sum(found.scores["relevant"]) == 37 * 27


def test_excluded_pairs_count_nowhere():
    scores = scores_of("cosine", ITEMS, ITEMS)
    np.fill_diagonal(scores, -np.inf)
    found = diagnose(ITEMS, ITEMS, same_label(ITEM_LABELS, ITEM_LABELS), exclude=same_row(), k=4)
    assert sum(found.scores["relevant"]) + sum(found.scores["others"]) == 53 * 52
    counts = occurrences(scores, 4)
    assert found.hubness["antihubs"] == (counts == 0).mean()
    assert found.hubness["skewness"] == pytest.approx(skew(counts))


def test_uniformity_and_alignment_are_their_twins():
    found = diagnose(QUERIES, ITEMS, LABELS)
    for side, vectors in ((found.queries, unit(QUERIES)), (found.items, unit(ITEMS))):
        kernel = [
            np.exp(-2 * ((x - y) ** 2).sum()) for i, x in enumerate(vectors) for y in vectors[:i]
        ]
        assert side.uniformity == pytest.approx(np.log(np.mean(kernel)), rel=1e-5)
    squares = ((unit(QUERIES)[:, None] - unit(ITEMS)[None]) ** 2).sum(axis=2)
    same = QUERY_LABELS[:, None] == ITEM_LABELS[None]
    assert found.alignment == pytest.approx(squares[same].mean())
    assert (found.alignment_pairs, found.alignment_sampled) == (same.sum(), False)


def test_excluded_pairs_do_not_align():
    """Vectors among themselves: each is at no distance from itself, which means nothing."""
    vectors = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    same = same_label([0, 0, 1], [0, 0, 1])
    assert diagnose(vectors, vectors, same, k=1).alignment == pytest.approx((0 + 2 + 2 + 0 + 0) / 5)
    assert diagnose(vectors, vectors, same, k=1, exclude=same_row()).alignment == pytest.approx(2)


def test_uniformity_and_alignment_by_hand():
    # Opposite vectors: |x - y|² = 4: log e^-8 = -8. Pairs (1, 0)-(0, 2) and (-3, 0)-(-1, 0): (2 +
    # 0)/2 = 1
    found = diagnose([[1.0, 0], [-3, 0]], [[0, 2.0], [-1, 0]], pairs(), k=1)
    assert found.queries.uniformity == pytest.approx(-8)
    assert found.alignment == pytest.approx(1)


def test_norms_by_hand():
    # Lengths 5, 1, 3: mean 3, variance (4 + 4 + 0)/3, deviation 1.632993, variation 0.544331
    norms = diagnose([[1.0, 0]], [[3, 4], [1, 0], [0, 3]], k=1).items.norms
    assert (norms["min"], norms["median"], norms["max"]) == (1, 3, 5)
    assert norms["variation"] == pytest.approx(0.544331, abs=1e-6)


def test_collapse_is_its_twin():
    items = ITEMS * [5, 1, 1, 0.1, 0, 1] + [0, 3, 0, 0, 7, 0]
    singular = np.linalg.svd(items - items.mean(axis=0), compute_uv=False)
    share = singular[:5] / singular.sum()
    collapse = diagnose(QUERIES, items).collapse
    np.testing.assert_allclose(collapse["singular_values"], singular, rtol=1e-5, atol=1e-5)
    assert collapse["effective_rank"] == pytest.approx(
        np.exp(-(share * np.log(share)).sum()), rel=1e-5
    )
    assert collapse["top_1"] == pytest.approx((singular**2)[0] / (singular**2).sum())
    assert collapse["top_10"] == pytest.approx(1)
    assert collapse["dead"] == (4,)


def test_collapse_by_hand():
    # ±(2, 0, 0), ±(0, 1, 0): squares 8 and 2: singular values 2.828427 and 1.414214, shares 2/3 and
    # 1/3 entropy 2/3 · log 1.5 + 1/3 · log 3 = 0.270310 + 0.366204 = 0.636514, effective rank
    # 1.889882; top 8/10
    collapse = diagnose(
        [[1.0, 0, 0]], [[2.0, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0]], k=1
    ).collapse
    assert collapse["effective_rank"] == pytest.approx(1.889882, abs=1e-6)
    assert collapse["top_1"] == pytest.approx(0.8)
    assert collapse["dead"] == (2,)


def test_items_that_are_all_the_same_have_no_rank():
    collapse = diagnose([[1.0, 2.0]], [[3.0, 1.0]] * 4, k=1).collapse
    assert np.isnan([collapse["effective_rank"], collapse["top_1"], collapse["top_10"]]).all()
    assert collapse["dead"] == (0, 1)


def test_duplicates_are_named():
    items = ITEMS.copy()
    items[[7, 9]], items[20] = items[3], items[19]
    items[30] = 0
    items[31] = -0.0
    found = diagnose(QUERIES, items, item_ids=[f"d{row}" for row in range(53)]).items
    assert found.duplicates["count"] == 4
    assert found.duplicates["groups"] == (("d3", "d7", "d9"), ("d19", "d20"), ("d30", "d31"))
    assert found.zero == NamedVectors(2, ("d30", "d31"))
    assert found.near_duplicates == {
        "count": 0,
        "looked_at": 51,
        "sampled": False,
        "pairs": (),
    }


def test_equal_keys_of_different_vectors_are_no_duplicates(monkeypatch):
    class Constant:
        def integers(self, low, high, size, dtype):
            return np.full(
                size, (1 << 63), dtype
            )  # doubled and 1 more: every factor is 1, so the order of numbers is lost

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Constant())
    found = diagnose([[1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]], k=1)
    assert found.items.duplicates["groups"] == (("0", "2"),)


def test_near_duplicates_are_their_twin():
    items = np.concatenate([ITEMS, ITEMS[5:9] * 2, ITEMS[:1] + 0.001, ITEMS[:1]]).astype(np.float32)
    cosine = unit(items) @ unit(items).T
    pairs = [
        (i, j)
        for i in range(59)
        for j in range(i + 1, 59)
        if cosine[i, j] > 0.999 and not (items[i] == items[j]).all()
    ]
    near = diagnose(QUERIES, items).items.near_duplicates
    assert [(int(a), int(b)) for a, b, _ in near["pairs"]] == pairs
    assert near["count"] == len({row for pair in pairs for row in pair}) == 11
    assert near["pairs"][0][2] == pytest.approx(cosine[pairs[0]], abs=1e-6)
    assert (near["looked_at"], near["sampled"]) == (59, False)


def test_many_vectors_are_sampled_and_it_says_so():
    items = np.repeat(ITEMS, 4, axis=0) * np.tile([1, 2, 3, 4], 53)[:, None]
    found = diagnose(QUERIES, items, diagonal_of(37, 212), sample=40)
    assert found.items.near_duplicates == diagnose(QUERIES, items, sample=40).items.near_duplicates
    near = found.items.near_duplicates
    # Each vector has near duplicates, so each sampled one has.
    assert (near["count"], near["looked_at"], near["sampled"]) == (40, 40, True)
    assert not found.queries.near_duplicates["sampled"]
    exact = diagnose(QUERIES, items, sample=None)
    assert exact.items.near_duplicates["looked_at"] == 212
    assert found.items.uniformity == pytest.approx(exact.items.uniformity, abs=0.3)
    other = diagnose(QUERIES, items, sample=40, seed=1)
    assert other.items.near_duplicates["pairs"] != near["pairs"]
    assert (
        "the items: 40 of 40 sampled vectors with a near duplicate (cosine above 0.999), such as"
        in found.to_text()
    )
    assert "(from a sample of 40)" in found.to_text()


def diagonal_of(queries, items):
    return lambda begin, end: np.eye(queries, items)[begin:end]


def test_alignment_of_many_pairs_is_sampled_and_it_says_so():
    everything = same_label(np.zeros(37, int), np.zeros(53, int))
    exact, sampled = (diagnose(QUERIES, ITEMS, everything, sample=sample) for sample in (None, 2))
    assert (exact.alignment_pairs, sampled.alignment_pairs, sampled.alignment_sampled) == (
        37 * 53,
        400,
        True,
    )
    assert sampled.alignment == pytest.approx(exact.alignment, rel=0.1)
    assert "over a sample of 400 relevant pairs" in sampled.to_text()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan", "hamming"])
def test_bad_vectors_are_named_and_the_rest_is_as_without_them(bad, similarity):
    queries, items = QUERIES.copy(), ITEMS.copy()
    queries[4, 2], items[[3, 52], 0] = bad, bad
    found = diagnose(queries, items, LABELS, similarity=similarity, sample=None)
    good_query, good_item = np.delete(np.arange(37), 4), np.delete(np.arange(53), [3, 52])
    clean = diagnose(
        QUERIES[good_query],
        ITEMS[good_item],
        same_label(QUERY_LABELS[good_query], ITEM_LABELS[good_item]),
        similarity=similarity,
        sample=None,
        query_ids=good_query,
        item_ids=good_item,
    )
    assert found.queries.not_finite == NamedVectors(1, ("4",))
    assert found.items.not_finite == NamedVectors(2, ("3", "52"))
    assert found.items.norms == clean.items.norms
    assert found.items.uniformity == pytest.approx(clean.items.uniformity)
    assert found.alignment == pytest.approx(clean.alignment)
    assert found.collapse["effective_rank"] == pytest.approx(clean.collapse["effective_rank"])
    assert found.hubness == clean.hubness
    assert sum(found.scores["relevant"]) == sum(clean.scores["relevant"])
    assert sum(found.scores["others"]) == sum(clean.scores["others"])
    assert found.sentences()[0] == (
        "the queries: 1 vector with NaN or infinite numbers (4); left out of everything else."
    )


def test_nothing_but_bad_vectors():
    found = diagnose(
        np.full((2, 3), np.nan), np.full((4, 3), np.inf), same_label([1, 2], [1, 1, 2, 2]), k=1
    )
    assert (found.hubness, found.scores) == (None, None)
    assert np.isnan(found.alignment)
    assert found.items.not_finite.count == 4
    json.dumps(found.to_dict(), allow_nan=False)
    assert repr(found)


def test_zero_vectors_are_left_out_with_cosine_only():
    items = ITEMS.copy()
    items[8] = 0
    assert sum(diagnose(QUERIES, items).scores["others"]) == 37 * 52
    assert sum(diagnose(QUERIES, items, similarity="dot").scores["others"]) == 37 * 53
    assert (
        "the items: 1 vector all zeros (8); without direction, so left out of the scores."
        in diagnose(QUERIES, items).sentences()
    )
    assert (
        "the items: 1 vector all zeros (8)."
        in diagnose(QUERIES, items, similarity="dot").sentences()
    )


def test_queries_among_the_items():
    (sentence,) = diagnose(ITEMS[9:], ITEMS[9:]).self_matches
    assert sentence.startswith("The queries are also items (equal vectors)")
    assert sentence in diagnose(ITEMS[9:], ITEMS[9:]).sentences()
    assert not diagnose(ITEMS[9:], ITEMS[9:], exclude=same_row()).self_matches


def test_one_query_and_one_item():
    found = diagnose([[1.0, 2.0]], [[2.0, 1.0]], pairs(), k=1)
    # cosine 4/5: |x - y|² = 2 - 1.6
    assert found.alignment == pytest.approx(0.4)
    assert np.isnan(found.items.uniformity)
    assert found.hubness["antihubs"] == 0
    assert sum(found.scores["relevant"]) == 1
    assert found.sentences() == []
    assert "Nothing stands out." in found.to_text()


def test_to_dict_is_plain_and_whole():
    found = diagnose(QUERIES, ITEMS, LABELS)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(plain) == {each.name for each in fields(Diagnosis)}
    assert plain["hubness"]["k"] == 10
    assert plain["items"]["norms"]["max"] == found.items.norms["max"]
    assert plain["scores"]["edges"] == list(found.scores["edges"])


def test_findings_about_spread():
    # One direction holds nearly everything, all queries find one item first, and the other
    # dimension is dead.
    items = np.zeros((40, 12))
    items[:, 0] = np.linspace(1, 2, 40)
    items[:, 1:11] = RANDOM.normal(size=(40, 10)) * 1e-4
    found = diagnose(
        np.tile([1.0] + [0.0] * 11, (30, 1)),
        items,
        same_label([1] * 30, [1] + [0] * 39),
        similarity="dot",
        k=1,
    )
    said = found.sentences()
    assert said[-1] == (
        "hubs: item 39 is among the 1 best of 30 queries, 98 % of items of none (skewness 6.08, "
        "Robin Hood index 0.97)."
    )
    assert "1 of 12 dimensions have the same value in all items (11)." in said
    assert any(
        re.fullmatch(
            r"the items use few of their 12 dimensions: their effective rank is 1\.\d, "
            r"with 100 % of the variance in one direction\.",
            sentence,
        )
        for sentence in said
    )
    assert "relevant items score no higher than others: 1 on average, others 1.513." in said
    assert (
        "the items: lengths vary by 20 % (from 1 to 2), and a dot product grows with them." in said
    )


def test_random_vectors_have_no_findings():
    assert (
        diagnose(
            RANDOM.normal(size=(300, 8)), RANDOM.normal(size=(300, 8)), k=5, sample=100
        ).sentences()
        == []
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 54}, "k must be a whole number from 1 to 53, the number of items; got 54."),
        ({"k": 0}, "k must be a whole number from 1; got 0."),
        ({"k": 2.5}, "k must be a whole number from 1; got 2.5."),
        ({"sample": 1}, "sample must be a whole number from 2, or None for all; got 1."),
    ],
)
def test_errors_say_what_to_do(options, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        diagnose(QUERIES, ITEMS, **options)


def test_sides_of_different_dimensions_compared_by_a_matrix():
    found = diagnose(QUERIES, ITEMS[:, :4], LABELS, similarity=np.ones((6, 4)))
    assert found.alignment is None
    assert sum(found.scores["relevant"]) > 0
