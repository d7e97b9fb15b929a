"""The convention of LightFM beside LightFM: one value a user, of the scores of all items."""

from __future__ import annotations

import random
from typing import Any

import pytest

from support.generated import Collection
from support.loops import for_each
from support.peers import HEAVY, Case, cases, compare

pytestmark = HEAVY

NAME = "lightfm"
ITEMS = 60


def drawn(seed: int, *, ties: bool, most: int = 12) -> Collection:
    """Scores of all items for every user; at most one relevant item among tied ones."""
    draw = random.Random(seed)
    judgements: dict[str, dict[str, int]] = {}
    rows = []
    for user in map(str, range(30)):
        scores = [
            draw.randint(0, 15) / 4 if ties else score / 64
            for score in draw.sample(range(-5000, 5000), ITEMS)
        ]
        alone = {score: item for item, score in enumerate(scores)}
        wanted = draw.sample(sorted(alone.values()), min(len(alone), draw.randint(1, most)))
        judgements[user] = {str(item): 1 for item in wanted}
        rows += [(user, str(item), score) for item, score in enumerate(scores)]
    draw.shuffle(rows)
    return Collection(judgements, rows)


DATA = {
    "ties": drawn(161, ties=True),
    "no ties": drawn(162, ties=False),
    "one relevant": drawn(163, ties=False, most=1),
    "many relevant": drawn(164, ties=False, most=50),
}


def interactions(pairs: dict[str, Any], users: list[str], items: int = ITEMS) -> Any:
    sparse = pytest.importorskip("scipy.sparse")
    import numpy as np

    found = [
        (at, int(item), weight)
        for at, user in enumerate(users)
        for item, weight in pairs.get(user, {}).items()
    ]
    rows, columns, weights = zip(*found, strict=True) if found else ((), (), ())
    return sparse.csr_matrix(
        (np.array(weights, np.float32), (rows, columns)), shape=(len(users), items)
    )


def model(given: Collection, users: list[str], items: int = ITEMS) -> Any:
    """A model whose scores are those of the run: each user is a dimension of its own."""
    np = pytest.importorskip("numpy")
    fitted = pytest.importorskip("lightfm").LightFM(no_components=len(users))
    scores = np.zeros((items, len(users)), np.float32)
    for user, item, score in given.rows:
        scores[int(item), users.index(user)] = score
    fitted.item_embeddings, fitted.item_biases = scores, np.zeros(items, np.float32)
    fitted.user_embeddings = np.eye(len(users), dtype=np.float32)
    fitted.user_biases = np.zeros(len(users), np.float32)
    for side in ("item", "user"):
        for kind in ("embedding", "bias"):
            own = getattr(fitted, f"{side}_{kind}{'s' if kind == 'embedding' else 'es'}")
            setattr(fitted, f"{side}_{kind}_gradients", np.zeros_like(own))
            setattr(fitted, f"{side}_{kind}_momentum", np.zeros_like(own))
    return fitted


def values(
    given: Collection,
    function: str,
    options: dict[str, Any],
    *,
    met: dict[str, Any] | None = None,
    items: int = ITEMS,
) -> dict[str, float]:
    evaluation = pytest.importorskip("lightfm.evaluation")
    users = list(dict.fromkeys([*given.judgements, *(row[0] for row in given.rows)]))
    found = getattr(evaluation, function)(
        model(given, users, items),
        interactions(given.judgements, users, items),
        train_interactions=interactions(met, users, items) if met else None,
        **options,
    )
    kept = users if options.get("preserve_rows") else list(given.judgements)
    return dict(zip(kept, map(float, found), strict=True))


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = DATA[collection]
    theirs = values(given, *case.call())
    assert compare(NAME, case, given, theirs, collection=ITEMS) == len(given.judgements)


@for_each("case", cases(NAME), ids=str)
def test_items_of_the_training_are_left_out_of_the_run(case: Case) -> None:
    given, draw = DATA["no ties"], random.Random(165)
    others = {
        user: [str(item) for item in range(ITEMS) if str(item) not in relevant]
        for user, relevant in given.judgements.items()
    }
    met = {user: dict.fromkeys(draw.sample(items, 7), 1) for user, items in others.items()}
    theirs = values(given, *case.call(), met=met)
    unmet = [row for row in given.rows if row[1] not in met[row[0]]]
    some = Collection(given.judgements, unmet)
    assert compare(NAME, case, some, theirs, collection=ITEMS - 7) == len(given.judgements)
