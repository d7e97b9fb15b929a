"""What is gained by chance: clumps of items raise average precision for any relevance."""

from typing import Any

import numpy as np
import pytest

import judged
from judged.embeddings.learned import as_similarity
from judged.embeddings.relations import as_relation
from judged.embeddings.similarity import Cosine
from judged.embeddings.training import Gain, Training
from judged.learning._data import TrainingData, pairs_of
from judged.learning.learn import deal_relevance, gains_of
from judged.measures import parse_measure
from support.loops import sampled

AP = parse_measure("AP")
LABELS = 4


def clumped(seed: int, *, signal: float) -> Gain:
    """The gain of a similarity that sees nothing of an item but its label, for queries whose
    vectors say as much of theirs as `signal`."""
    random = np.random.default_rng(seed)
    of_queries, of_items = random.integers(0, LABELS, 120), random.integers(0, LABELS, 80)
    queries = np.hstack([random.normal(size=(120, 6)), np.full((120, LABELS), 1e-6)])
    queries[np.arange(120), of_queries] += signal
    items = np.hstack([random.normal(size=(80, 6)), np.eye(LABELS)[of_items]])
    weights = np.zeros((6 + LABELS, 6 + LABELS))
    weights[:LABELS, 6:] = np.eye(LABELS)  # the query's first numbers with the item's label
    relevant = as_relation(judged.relevance.same_label(of_queries, of_items), what="relevance")
    data = TrainingData.of(judged.Embeddings(queries, items), relevant, rel=1)
    part = data.part(np.arange(120))
    before, after = Cosine(), as_similarity(weights)
    old = part.evaluate(before, [AP])
    return gains_of(part, old, before, after, [AP], seed=seed)[0]


def test_clumps_gain_for_relevance_without_meaning_and_not_beyond_it():
    found = [clumped(seed, signal=0.0) for seed in range(20)]
    # Each looks like a gain that is sure by the interval of the difference alone.
    assert sum(gain.difference.low > 0 for gain in found) > 15
    # One in 40 on either side is what an interval of 95% allows.
    assert sum(gain.beyond.low > 0 for gain in found) <= 3
    assert sum(gain.beyond.high < 0 for gain in found) <= 3
    assert abs(np.mean([gain.beyond.estimate for gain in found])) < 0.02
    assert any("not significantly different from chance" in gain.sentence() for gain in found)


def test_a_relation_that_is_there_is_more_than_chance():
    for seed in range(5):
        gain = clumped(seed, signal=1.0)
        assert gain.beyond.low > 0
        assert gain.sentence().endswith(", significantly more than chance.")
        assert gain.beyond.estimate == pytest.approx(
            gain.difference.estimate - gain.chance.estimate
        )


def noise(seed: int, *, same: bool, **options: Any) -> Gain:
    random = np.random.default_rng(seed)
    label, other = random.integers(0, 4, (2, 60))
    queries, items = random.normal(size=(2, 60, 24))
    if same:
        own = judged.Embeddings(queries, queries, exclude=judged.relevance.same_row())
        relevant = judged.relevance.same_label(label, label)
    else:
        own, relevant = judged.Embeddings(queries, items), judged.relevance.same_label(label, other)
    options = {"iterations": 6, "held_out": 0.4, "seed": seed, **options}
    return judged.learn.fit(own, relevant, **options).training.held_out.gains[0]


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("kind", ["diagonal", "bilinear"])
def test_noise_has_nothing_to_learn(kind: str, same: bool) -> None:
    found = [noise(seed, same=same, kind=kind) for seed in range(6)]
    assert sum(gain.beyond.low > 0 for gain in found) <= 1


def test_queries_of_other_parts_are_not_learned_as_items() -> None:
    # Each vector is its own label's only other member: what is held out could be learned by heart.
    random = np.random.default_rng(0)
    vectors, label = random.normal(size=(60, 40)), np.arange(60) % 20
    own = judged.Embeddings(vectors, vectors, exclude=judged.relevance.same_row())
    same = judged.relevance.same_label(label, label)
    learned = judged.learn.fit(own, same, kind="diagonal", iterations=3)
    assert learned.training.candidates == 60 - 24
    assert learned.training.notes == (
        "60 queries in 20 groups that share a relevant item or a direction: a group is in one part "
        "only.",
        "24 items that are validation or held-out queries were left out of the loss.",
    )
    # Scaled, they are the same queries.
    scaled = judged.Embeddings(vectors, vectors * 3, exclude=judged.relevance.same_row())
    assert judged.learn.fit(scaled, same, kind="diagonal", iterations=1).training.candidates == 36
    # Pairs stay together.
    two = judged.relevance.same_label(np.arange(6) // 2, np.arange(6) // 2)
    few = judged.Embeddings(vectors[:6], vectors[:6], exclude=judged.relevance.same_row())
    for seed in range(8):
        found = judged.learn.fit(few, two, kind="diagonal", iterations=1, seed=seed).training
        assert found.candidates == 2


def pairs_of_noise(random: Any) -> tuple[Any, Any]:
    own = judged.Embeddings(random.normal(size=(100, 24)), random.normal(size=(100, 24)))
    return own, judged.relevance.pairs()


def captions_of_noise(random: Any) -> tuple[Any, Any]:
    """Five captions of a clip are like each other, and have nothing to do with the clip."""
    clip = np.repeat(np.arange(30), 5)
    captions = random.normal(size=(30, 40))[clip] + 0.3 * random.normal(size=(150, 40))
    own = judged.Embeddings(captions, random.normal(size=(30, 40)))
    return own, {str(row): {str(clip[row]): 1} for row in range(150)}


def captions_by_label(random: Any) -> tuple[Any, Any]:
    own, _ = captions_of_noise(random)
    return own, judged.relevance.same_label(np.repeat(np.arange(30), 5), np.arange(30))


def labels_of_noise(random: Any) -> tuple[Any, Any]:
    """Queries of a label are like each other, and have nothing to do with its items."""
    of_queries, of_items = random.integers(0, 5, 120), random.integers(0, 5, 100)
    queries = random.normal(size=(5, 24))[of_queries] + 0.5 * random.normal(size=(120, 24))
    own = judged.Embeddings(queries, random.normal(size=(100, 24)))
    return own, judged.relevance.same_label(of_queries, of_items)


def labels_of_one_side(random: Any) -> tuple[Any, Any]:
    label, vectors = random.integers(0, 5, 100), random.normal(size=(100, 24))
    own = judged.Embeddings(vectors, vectors, exclude=judged.relevance.same_row())
    return own, judged.relevance.same_label(label, label)


def linked_judgements(random: Any) -> tuple[Any, Any]:
    """Each query shares an item with the next, so that all of them are one group."""
    queries = np.repeat(random.normal(size=(12, 24)), 5, 0) + 0.3 * random.normal(size=(60, 24))
    own = judged.Embeddings(queries, random.normal(size=(80, 24)))
    return own, {
        str(row): {str((row // 5 * 5 + place) % 80): 1 for place in range(9)} for row in range(60)
    }


@pytest.mark.parametrize(
    "make",
    sampled(
        [
            *(captions_of_noise, pairs_of_noise, labels_of_noise),
            *(captions_by_label, labels_of_one_side, linked_judgements),
        ],
        2,
    ),
)
def test_what_is_learned_by_heart_gains_nothing_on_held_out_queries(make: Any) -> None:
    gains, shown = [], 0
    for seed in range(6):
        own, relevant = make(np.random.default_rng(seed))
        learned = judged.learn.fit(own, relevant, iterations=20, seed=seed)
        gain = learned.training.held_out.gains[0]
        gains.append(gain.difference.estimate)
        shown += gain.beyond.low > 0
    # Captions that share a clip across the parts would gain 0.8, labels of noise 0.3.
    assert abs(np.mean(gains)) < 0.06
    assert shown <= 1


def test_nothing_relevant_to_training_queries_is_relevant_to_held_out_ones() -> None:
    from judged.learning._data import split_data

    makers = pairs_of_noise, captions_of_noise, labels_of_noise, labels_of_one_side
    for make in (*makers, linked_judgements):
        own, relevant = make(np.random.default_rng(0))
        data = TrainingData.of(own, as_relation(relevant, what="relevance"), rel=1)
        split = split_data(data, validation=0.2, held_out=0.2, seed=0)
        parts = split.training, split.validation, split.held_out
        assert all(map(len, parts))
        items = [np.unique(pairs_of(data.positives, rows).item) for rows in parts]
        if split.items is not None:
            assert not set.intersection(*(set(own.tolist()) for own in split.items))
            items = [np.intersect1d(*both) for both in zip(items, split.items, strict=True)]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            assert not np.intersect1d(items[one], items[other]).size, make.__name__


def test_nobody_is_dealt_its_own_nor_one_other_twice() -> None:
    random = np.random.default_rng(1)
    queries, items = random.normal(size=(9, 3)), random.normal(size=(9, 3))
    data = TrainingData.of(
        judged.Embeddings(queries, items),
        as_relation(judged.relevance.pairs(), what="relevance"),
        rel=1,
    )
    for count, deals in ((9, 5), (3, 2), (2, 1), (1, 0)):
        parts = deal_relevance(data.part(np.arange(count)), seed=0)
        dealt = [part.relevance.pairs.item.tolist() for part in parts]
        assert len(dealt) == deals
        for each in dealt:
            assert sorted(each) == list(range(count))
            assert all(row != item for row, item in enumerate(each))
        for of_one in zip(*dealt, strict=True):
            assert len(set(of_one)) == deals


def test_one_held_out_query_says_nothing_of_chance() -> None:
    random = np.random.default_rng(2)
    queries, items = random.normal(size=(3, 4)), random.normal(size=(9, 4))
    same = judged.relevance.same_label([0, 1, 0], np.arange(9) % 2)
    learned = judged.learn.fit(judged.Embeddings(queries, items), same, iterations=1)
    gain = learned.training.held_out.gains[0]
    assert gain.chance is None
    assert "too little to generalise" in gain.sentence()
    assert learned.training.to_frame()["beyond"].to_list() == [None] * 3
    assert Training.from_dict(learned.training.to_dict()).held_out.gains[0].beyond is None
    assert "–" in repr(learned.training)


def test_vectors_on_both_sides_without_exclusion_are_warned_of() -> None:
    random = np.random.default_rng(3)
    vectors, label = random.normal(size=(30, 4)), np.arange(30) % 3
    same = judged.relevance.same_label(label, label)
    with pytest.warns(judged.JudgedWarning, match="find themselves first"):
        learned = judged.learn.fit(judged.Embeddings(vectors, vectors), same, iterations=1)
    assert learned.training.sentences()[0].startswith("warning: The queries are also items")
    assert Training.from_dict(learned.training.to_dict()).warnings() == learned.training.warnings()
    pairs = judged.learn.fit(
        judged.Embeddings(vectors, vectors), judged.relevance.pairs(), iterations=1
    )
    assert not pairs.training.warnings()
