"""Learning: what it finds, what it looks at, and that it says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

import judged
from judged.inputs.vectors import as_vectors
from judged.learning._loss import Objective
from judged.learning.learn import KINDS, Learned, fit
from judged.options import LearnedKind
from judged.policy import POSITIVES
from support.learnable import Hidden, behind_a_map, behind_noise

QUICK: dict[str, Any] = {"iterations": 12, "patience": 4}


def fitted(data: Hidden, **options: Any) -> Learned:
    return fit(*data.given(), **{**QUICK, **options})


def gain(learned: Learned, measure: str = "AP") -> Any:
    assert learned.training.held_out is not None
    return next(each for each in learned.training.held_out.gains if each.measure == measure)


def sizes(learned: Learned) -> tuple[int, int, int]:
    training = learned.training
    return training.training, training.validation, training.held_out_queries


def same_weights(one: Learned, other: Learned) -> bool:
    return all(np.array_equal(one.weights[name], other.weights[name]) for name in one.kind.names)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_learned_away(kind: str) -> None:
    learned = fit(*behind_noise(queries=200, items=600).given(), kind=kind)
    assert gain(learned).difference.low > 0.1


@pytest.mark.full
@pytest.mark.parametrize("kind", ["bilinear", "low-rank", "two-tower-linear"])
@pytest.mark.parametrize("item_dims", [8, 6])
def test_a_hidden_map_is_found(kind: str, item_dims: int) -> None:
    data = behind_a_map(queries=200, items=200, item_dims=item_dims)
    learned = fit(*data.given(), kind=kind, rank=None if kind == "bilinear" else 6)
    assert gain(learned).before.estimate < 0.4
    assert gain(learned).after.estimate > 0.9
    assert gain(learned).difference.low > 0.3


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_never_worse_on_validation_than_the_start(kind: str, seed: int) -> None:
    """Also where there is nothing to learn: labels have nothing to do with vectors."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, 40)
    vectors = random.normal(size=(40, 6))
    learned = fit(
        judged.Embeddings(vectors, vectors, exclude=judged.relevance.same_row()),
        judged.relevance.same_label(labels, labels),
        kind=kind,
        seed=seed,
    )
    history = learned.training.history
    assert history[learned.training.best].value == max(step.value for step in history)
    assert history[learned.training.best].value >= history[0].value


@pytest.mark.parametrize("measure", ["nDCG@5", "Rank", "P@3"])
def test_the_record_is_what_an_evaluation_of_the_validation_queries_gives(measure: str) -> None:
    """By the weights that were kept; Rank is better the lower it is."""
    data = behind_noise()
    learned = fitted(data, kind="diagonal", measure=measure)
    _, chose = learned.seen.of(as_vectors(data.queries))
    assert chose.sum() == learned.training.validation == 12
    items = data.split.items[1]
    relevance = judged.relevance.same_label(data.query_labels[chose], data.item_labels[items])
    allowed = learned.allow_training_queries()
    found = judged.evaluate_embeddings(
        data.queries[chose], data.items[items], relevance, similarity=allowed, measures=measure
    )
    values = [step.value for step in learned.training.history]
    assert (
        found.value()
        == values[learned.training.best]
        == (min(values) if measure == "Rank" else max(values))
    )


def test_held_out_numbers_are_those_of_an_evaluation() -> None:
    data = behind_noise()
    learned = fitted(data)
    rows = learned.unseen(data.queries)
    assert len(rows) == learned.training.held_out_queries == 12
    items = data.split.items[2]
    relevance = judged.relevance.same_label(data.query_labels[rows], data.item_labels[items])
    for similarity, part in ((learned, "after"), ("cosine", "before")):
        found = judged.evaluate_embeddings(
            data.queries[rows], data.items[items], relevance, similarity=similarity
        )
        for measure in ("AP", "nDCG@10", "RR"):
            assert getattr(gain(learned, measure), part).estimate == pytest.approx(
                found.value(measure), rel=1e-12
            )


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_queries_are_never_looked_at(kind: str) -> None:
    """Whatever they are, the same weights come out, bit for bit."""
    data = behind_noise()
    learned = fitted(data, kind=kind)
    rows = learned.unseen(data.queries)
    queries, labels = data.queries.copy(), data.query_labels.copy()
    queries[rows] = np.random.default_rng(9).normal(size=(len(rows), queries.shape[1]))
    labels[rows] = (labels[rows] + 1) % 5
    other = fitted(replace(data, queries=queries, query_labels=labels), kind=kind)
    assert same_weights(learned, other)
    assert learned.training.history == other.training.history
    assert learned.training.held_out != other.training.held_out


def test_training_queries_are_looked_at() -> None:
    """The twin of the test above: it could fail."""
    data = behind_noise()
    learned = fitted(data)
    trained, _ = learned.seen.of(as_vectors(data.queries))
    labels = data.query_labels.copy()
    labels[trained] = (labels[trained] + 1) % 5
    assert not same_weights(learned, fitted(replace(data, query_labels=labels)))


def test_the_same_seed_gives_the_same_bits() -> None:
    data = behind_a_map(item_dims=6)
    options: dict[str, Any] = {"kind": "low-rank", "rank": 3}
    one, again, other = (fitted(data, seed=seed, **options) for seed in (4, 4, 5))
    assert same_weights(one, again)
    assert one.training == again.training
    assert not np.array_equal(one.seen.training, other.seen.training)


@pytest.mark.parametrize("scale", [1, 3])
def test_equal_directions_are_on_the_same_side(scale: int) -> None:
    """Length does not matter to what is learned, so q and 3 q are one query."""
    data = behind_noise(queries=20)
    queries = np.vstack([data.queries, np.float32(scale) * data.queries])
    twice = Hidden(queries, data.items, np.tile(data.query_labels, 2), data.item_labels)
    learned = fitted(twice, kind="diagonal")
    trained, chose = learned.seen.of(as_vectors(twice.queries))
    assert np.array_equal(trained[:20], trained[20:])
    assert np.array_equal(chose[:20], chose[20:])
    assert (int(trained.sum()), int(chose.sum())) == (24, 8)
    assert sizes(learned) == (24, 8, 8)
    assert learned.training.notes == (
        "20 queries with the vector of another, or one that points the same way, were put into "
        "the same part as that one.",
        "Queries share relevant items (5 groups), so items were split too: held-out queries are "
        "ranked among 15 items that training never saw.",
    )


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("positives", POSITIVES)
def test_every_rule_and_both_ways_lower_the_loss(positives: str, both: bool) -> None:
    learned = fitted(behind_noise(), kind="diagonal", positives=positives, both=both)
    losses = [step.loss for step in learned.training.history]
    assert losses[-1] < losses[0]
    assert (learned.training.positives, learned.training.both) == (positives, both)
    assert gain(learned).difference.estimate > 0.1


def test_excluded_pairs_are_no_candidates() -> None:
    """Items that nothing but the exclusion tells apart: with it, what they are does not matter."""
    data = behind_noise()
    gone = {str(row): {str(item): 1 for item in (0, 1, 2)} for row in range(60)}
    items = data.items.copy()
    items[:3] = np.random.default_rng(5).normal(size=(3, 11))
    exclude = judged.relevance.listed(gone)
    one, other = (
        fit(*replace(data, items=each).given(exclude=exclude), kind="diagonal", **QUICK)
        for each in (data.items, items)
    )
    np.testing.assert_allclose(one.weights["w"], other.weights["w"], rtol=1e-5)
    plain = fitted(data, kind="diagonal")
    assert not np.allclose(one.weights["w"], plain.weights["w"], rtol=1e-5)


def test_decay_pulls_back_to_the_start() -> None:
    data = behind_noise()
    free, pulled, held = (fitted(data, kind="diagonal", decay=decay) for decay in (0, 0.5, 1e6))
    distance = [float(np.abs(each.weights["w"] - 1).max()) for each in (free, pulled, held)]
    assert distance[0] > distance[1] > distance[2]
    assert distance[2] < 1e-3
    assert held.training.history[0].loss == pytest.approx(free.training.history[0].loss)


def test_grades_below_rel_are_not_relevant() -> None:
    data = behind_noise(queries=30)
    graded = {
        str(row): {
            str(item): 2 if own == label else 1 for item, label in enumerate(data.item_labels[:40])
        }
        for row, own in enumerate(data.query_labels)
    }
    learned = fit(
        judged.Embeddings(data.queries, data.items), graded, kind="diagonal", rel=2, **QUICK
    )
    assert learned.training.measure == "AP(rel=2)"
    gains = learned.training.held_out.gains  # type: ignore[union-attr]
    assert [each.measure for each in gains] == ["AP(rel=2)", "nDCG@10", "RR(rel=2)"]
    assert gain(learned, "AP(rel=2)").difference.estimate > 0


def test_what_was_found_on_the_way_is_noted() -> None:
    data = behind_a_map(item_dims=6, queries=20)
    relevant = {str(row): {str(row): 1} for row in range(19)}
    relevant["0"]["nowhere"] = 1
    learned = fit(judged.Embeddings(data.queries, data.items), relevant, **QUICK)
    assert learned.training.notes[:3] == (
        "1 query with nothing relevant was left out.",
        "1 relevant item has no vector, and can only be missed.",
        "Queries and items have different dimensions: the start is random, drawn by the seed.",
    )
    assert learned.training.held_out.before == "the random start, for dimensions differ"  # type: ignore[union-attr]
    vectors = behind_noise(queries=30)
    same = fit(
        judged.Embeddings(vectors.queries, vectors.queries, exclude=judged.relevance.same_row()),
        judged.relevance.same_label(vectors.query_labels, vectors.query_labels),
        kind="diagonal",
        **QUICK,
    )
    assert same.training.notes == (
        "Queries share relevant items (5 groups), so items were split too: held-out queries are "
        "ranked among 6 items that training never saw.",
        "5 queries without a relevant item in their own part were left out.",
    )


def test_why_it_stopped() -> None:
    data = behind_noise()
    assert fitted(data, iterations=2).training.stopped == "as many as were allowed"
    assert len(fitted(data, iterations=2).training.history) == 3
    waited = fitted(data, iterations=100, patience=2).training
    assert waited.stopped == "AP on validation did not gain for 2 iterations"
    assert len(waited.history) - 1 == waited.best + 2
    # So strong a pull makes the loss nearly a parabola around the start.
    still = fitted(data, kind="diagonal", iterations=100, patience=90, decay=1e3).training
    assert still.stopped == "the loss is at a minimum"


def test_where_nothing_is_gained_the_start_is_kept() -> None:
    vectors = np.vstack(
        [np.eye(4)] * 5 + [0.01 * np.arange(20)[:, None] + np.eye(4)[np.arange(20) % 4]]
    )
    labels = np.arange(40) % 4
    learned = fit(
        judged.Embeddings(vectors, vectors),
        judged.relevance.same_label(labels, labels),
        kind="diagonal",
        **QUICK,
    )
    assert learned.training.best == 0
    assert learned.weights["w"].tolist() == [1.0] * 4
    assert (
        learned.training.notes[-1]
        == "No iteration did better on the validation queries than the start, which was kept."
    )


def test_where_the_loss_has_no_slope_it_says_so() -> None:
    """A direction in one dimension is a sign, which small steps do not change."""
    learned = fitted(behind_noise(), kind="two-tower-linear", rank=1)
    assert len(learned.training.history) == 1
    assert (
        learned.training.notes[-1]
        == "The loss has no slope at the start: nothing was learned, and the start was kept."
    )


def test_the_start_is_computed_once_and_progress_counts_iterations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[bytes] = []
    computed = Objective.__call__

    def counted(self: Objective, vector: Any) -> Any:
        seen.append(vector.tobytes())
        return computed(self, vector)

    monkeypatch.setattr(Objective, "__call__", counted)
    told: list[int] = []
    learned = fitted(behind_noise(), kind="diagonal", progress=told.append)
    assert len(seen) == len(set(seen)) > 4
    assert told == [1] * (len(learned.training.history) - 1)


def test_nothing_held_out() -> None:
    learned = fitted(behind_noise(), kind="diagonal", held_out=0)
    assert sizes(learned) == (48, 12, 0)
    assert learned.training.held_out is None
    assert len(learned.unseen(behind_noise().queries)) == 0


def test_the_record_in_words() -> None:
    learned = fitted(behind_noise(), kind="low-rank", rank=10, decay=0.1, both=True, iterations=6)
    first, best = learned.training.history[0], learned.training.history[learned.training.best]
    gain = learned.training.held_out.gains[0]
    answer, table, said = learned.training.to_text(verbose=True).split("\n\n")
    assert answer.splitlines()[0] == gain.sentence()
    title, header, *rows = table.splitlines()
    assert title == (
        "12 held-out queries ranked among 15 items, means with 95% intervals; before: the cosine "
        "of the vectors as they are"
    )
    assert header.split() == [
        "measure",
        "before",
        "after",
        "difference",
        "by",
        "chance",
        "beyond",
        "chance",
    ]
    assert [line.split()[0] for line in rows] == ["AP", "nDCG@10", "RR"]
    assert said.splitlines()[:6] == [
        "low-rank, temperature 0.05, rank 10",
        "queries: 36 for training, 12 for validation, 12 held out; seed 0",
        "relevant: items of the query's own label; from grade 1",
        "loss: among 50 of 80 items, several positives by rule 'each', both ways, pull to the "
        "start 0.1; "
        f"{first.loss:.4f} at the start, "
        f"{best.loss:.4f} at iteration {best.iteration}",
        f"AP on validation: {first.value:.4f} at the start, {best.value:.4f} at iteration "
        f"{best.iteration}, which was kept",
        "stopped after 6 iterations: as many as were allowed",
    ]
    assert learned.training.to_text().split("\n\n")[:2] == [answer, table]


def test_the_type_of_a_kind_names_every_kind() -> None:
    assert get_args(LearnedKind) == tuple(KINDS)
