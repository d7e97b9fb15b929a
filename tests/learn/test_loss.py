"""The loss and its gradient: against loops, finite differences and torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged.embeddings.learned import KINDS, SimilarityKind
from judged.embeddings.relations import Pairs
from judged.learning._loss import RULES, Contrast, Objective
from judged.options import HIGHEST, LOWEST
from judged.policy import POSITIVES
from support.parts import Later, Needs

torch: Any = Later("torch")

ALL = [(kind, rule, both) for kind in KINDS for rule in RULES for both in (False, True)]


def unit(random: np.random.Generator, rows: int, dims: int) -> Any:
    vectors = random.normal(size=(rows, dims))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def pairs_from(matrix: Any) -> Pairs:
    row, item = np.nonzero(matrix)
    return Pairs(np.bincount(row, minlength=len(matrix)), item, np.ones(len(item)))


def some_relation(random: np.random.Generator, rows: int, columns: int) -> tuple[Any, Any]:
    """Which pairs are positive, at least one of each query but the last, which has none, and which
    are excluded."""
    positive = random.random((rows, columns)) < 0.25
    positive[np.arange(rows), random.integers(0, columns, rows)] = True
    positive[-1] = False
    return positive, (random.random((rows, columns)) < 0.15) & ~positive


def problem(
    kind: str, rule: str, *, both: bool, seed: int = 0, temperature: float = 0.3, decay: float = 0.0
) -> Any:
    """A small objective, and a point away from its start."""
    random = np.random.default_rng(seed)
    chosen = KINDS[kind]
    query_dims, item_dims = (5, 5) if chosen.equal_dims else (5, 4)
    queries, items = unit(random, 7, query_dims), unit(random, 9, item_dims)
    positive, excluded = some_relation(random, 7, 9)
    contrast = Contrast(pairs_from(positive), pairs_from(excluded), temperature, rule, 10**6)
    rank = chosen.rank(None if chosen.rank_share is None else 3, query_dims, item_dims)
    start = chosen.start(chosen.shapes(query_dims, item_dims, rank), None, random)
    objective = Objective(chosen, queries, items, contrast, start, both=both, decay=decay)
    point = objective.start + 0.3 * random.normal(size=len(objective.start))
    return objective, point, positive, excluded


def by_loops(scores: Any, positive: Any, excluded: Any, rule: str) -> float:
    """The definitions of POSITIVES read aloud, for scores over temperature."""
    losses = []
    for row, own, gone in zip(scores, positive, excluded, strict=True):
        if not own.any():
            continue
        candidates = [math.exp(score) for score, out in zip(row, gone, strict=True) if not out]
        good = [math.exp(score) for score, is_good in zip(row, own, strict=True) if is_good]
        bad = sum(candidates) - sum(good)
        if rule == "each":
            losses.append(sum(-math.log(each / sum(candidates)) for each in good) / len(good))
        elif rule == "any":
            losses.append(-math.log(sum(good) / sum(candidates)))
        else:
            losses.append(sum(-math.log(each / (each + bad)) for each in good) / len(good))
    return sum(losses) / len(losses)


def test_there_is_a_loss_for_each_rule() -> None:
    assert set(RULES) == set(POSITIVES)


@pytest.mark.parametrize(("kind", "rule", "both"), ALL)
def test_the_loss_is_its_definition(kind: str, rule: str, both: bool) -> None:
    objective, point, positive, excluded = problem(kind, rule, both=both)
    weights = objective.unpacked(point)
    left = objective.kind.left.forward(objective.queries, weights)
    right = objective.kind.right.forward(objective.items, weights)
    scores = left @ right.T / 0.3
    expected = by_loops(scores, positive, excluded, rule)
    if both:
        expected = (expected + by_loops(scores.T, positive.T, excluded.T, rule)) / 2
    assert objective(point)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("kind", "rule", "both"), ALL)
def test_gradients_are_those_of_finite_differences(kind: str, rule: str, both: bool) -> None:
    objective, point, *_ = problem(kind, rule, both=both, decay=0.1)
    gradient = objective(point)[1]
    step = 1e-5
    for at in range(len(point)):
        moved = np.zeros(len(point))
        moved[at] = step
        # Fourth order: the error is of the size of step⁴, so what is left is rounding.
        far, near = (
            objective(point + by * moved)[0] - objective(point - by * moved)[0] for by in (2, 1)
        )
        assert gradient[at] == pytest.approx((8 * near - far) / (12 * step), rel=1e-7, abs=1e-9)


def torch_loss(scores: Any, positive: Any, excluded: Any, rule: str) -> Any:
    """By torch's own cross-entropy and log-sum-exp."""
    scores = scores.masked_fill(torch.tensor(excluded), -math.inf)
    losses = []
    for row, own in zip(scores, torch.tensor(positive), strict=True):
        if not own.any():
            continue
        places = torch.nonzero(own)[:, 0]
        if rule == "each":
            losses.append(torch.nn.functional.cross_entropy(row.expand(len(places), -1), places))
        elif rule == "any":
            losses.append(torch.logsumexp(row, 0) - torch.logsumexp(row[own], 0))
        else:
            alone = [torch.cat([row[place][None], row[~own]]) for place in places]
            first = torch.zeros(1, dtype=torch.long)
            losses.append(
                torch.stack(
                    [torch.nn.functional.cross_entropy(each[None], first) for each in alone]
                ).mean()
            )
    return torch.stack(losses).mean()


def torch_scores(kind: SimilarityKind, weights: dict[str, Any], queries: Any, items: Any) -> Any:
    """The kinds as one would write them in torch."""
    q, x = torch.tensor(queries), torch.tensor(items)
    match kind.name:
        case "bilinear":
            return q @ weights["W"] @ x.T
        case "low-rank":
            return (q @ weights["U"]) @ (x @ weights["V"]).T
        case "diagonal":
            return (q * weights["w"]) @ x.T
        case _:
            direction = torch.nn.functional.normalize
            return direction(q @ weights["A"]) @ direction(x @ weights["B"]).T


@pytest.mark.full
@pytest.mark.parametrize(("kind", "rule", "both"), ALL)
def test_loss_and_gradients_are_those_of_torch(
    needs: Needs, kind: str, rule: str, both: bool
) -> None:
    needs("torch")
    objective, point, positive, excluded = problem(kind, rule, both=both, temperature=0.07)
    weights = {
        name: torch.tensor(part, requires_grad=True)
        for name, part in objective.unpacked(point).items()
    }
    scores = torch_scores(objective.kind, weights, objective.queries, objective.items) / 0.07
    loss = torch_loss(scores, positive, excluded, rule)
    if both:
        loss = (loss + torch_loss(scores.T, positive.T, excluded.T, rule)) / 2
    loss.backward()
    value, gradient = objective(point)
    assert value == pytest.approx(loss.item(), rel=1e-12)
    expected = objective.packed({name: part.grad.numpy() for name, part in weights.items()})
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("each_has", [1, 2, 3])
def test_apart_is_the_ntxent_of_metric_learning(needs: Needs, each_has: int) -> None:
    """It takes the mean over pairs, we over queries: the same where every query has as many
    positives."""
    needs("metric_learning")
    random = np.random.default_rng(3)
    queries, items = unit(random, 12, 6), unit(random, 12 * each_has, 6)
    labels, item_labels = np.arange(12), np.arange(12 * each_has) % 12
    contrast = Contrast(pairs_from(labels[:, None] == item_labels), None, 0.07, "apart", 10**6)
    losses: Any = Later("pytorch_metric_learning.losses")
    given = [torch.tensor(each) for each in (queries, labels, items, item_labels)]
    expected = losses.NTXentLoss(temperature=0.07)(
        given[0], given[1], ref_emb=given[2], ref_labels=given[3]
    )
    assert contrast(queries, items)[0] == pytest.approx(expected.item(), rel=1e-9)


@pytest.mark.parametrize("temperature", [LOWEST, 1e-3, 1.0, 1e3, HIGHEST])
@pytest.mark.parametrize("rule", RULES)
def test_nothing_overflows_at_any_temperature(rule: str, temperature: float) -> None:
    objective, point, *_ = problem("bilinear", rule, both=True, temperature=temperature)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        loss, gradient = objective(10 * point)
    assert math.isfinite(loss)
    assert loss >= 0
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_high_temperature_leaves_the_number_of_candidates(rule: str) -> None:
    # With all scores alike: each is log 4; any is log(4/2); apart is log(1 + 2), two negatives
    # beside each positive.
    contrast = Contrast(pairs_from(np.array([[1, 1, 0, 0]])), None, 1e6, rule, 10**6)
    expected = {"each": math.log(4), "any": math.log(2), "apart": math.log(3)}[rule]
    assert contrast(np.ones((1, 2)), np.eye(4)[:, :2])[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("rule", RULES)
def test_a_query_to_which_all_is_relevant(rule: str) -> None:
    contrast = Contrast(pairs_from(np.ones((1, 3))), None, 0.5, rule, 10**6)
    with np.errstate(all="raise"):
        loss, of_left, _ = contrast(np.ones((1, 2)), np.full((3, 2), 0.5))
    assert loss == pytest.approx({"each": math.log(3), "any": 0.0, "apart": 0.0}[rule], abs=1e-12)
    np.testing.assert_allclose(of_left, 0, atol=1e-12)


def test_a_vector_that_is_mapped_to_nothing_scores_0_and_pulls_at_nothing() -> None:
    kind = KINDS["two-tower-linear"]
    weights = {"A": np.array([[1.0], [0.0]]), "B": np.ones((2, 1))}
    unit_vectors = np.array([[0.0, 1.0], [1.0, 0.0]])
    with np.errstate(all="raise"):
        assert kind.left.forward(unit_vectors, weights).tolist() == [[0.0], [1.0]]
        assert kind.left.backward(unit_vectors[:1], weights, np.ones((1, 1)))["A"].tolist() == [
            [0.0],
            [0.0],
        ]


@given(memory=st.integers(1, 2000), rule=st.sampled_from(sorted(RULES)), seed=st.integers(0, 10**6))
def test_blocks_change_nothing(memory: int, rule: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    left, right = random.normal(size=(9, 4)), random.normal(size=(11, 4))
    positive, excluded = map(pairs_from, some_relation(random, 9, 11))
    whole = Contrast(positive, excluded, 0.1, rule, 10**9)(left, right)
    cut = Contrast(positive, excluded, 0.1, rule, memory)(left, right)
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@given(rule=st.sampled_from(sorted(RULES)), seed=st.integers(0, 10**6))
def test_the_order_of_items_changes_nothing(rule: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    left, right = random.normal(size=(6, 4)), random.normal(size=(8, 4))
    positive, excluded = some_relation(random, 6, 8)
    order = random.permutation(8)
    one = Contrast(pairs_from(positive), pairs_from(excluded), 0.1, rule, 10**6)(left, right)
    moved = Contrast(
        pairs_from(positive[:, order]), pairs_from(excluded[:, order]), 0.1, rule, 10**6
    )(left, right[order])
    assert one[0] == pytest.approx(moved[0], rel=1e-12)
    np.testing.assert_allclose(one[1], moved[1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(one[2][order], moved[2], rtol=1e-10, atol=1e-12)
