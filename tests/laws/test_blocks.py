"""The same bits from any cut of a run into blocks of whole queries, any order of blocks and rows,
and any batches: of every measure's values, errors and summary, of ranges and of the audit."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import Evaluator, evaluate
from judged.evaluation.evaluation import evaluate_rankings
from judged.evaluation.scores import Scored
from judged.evaluation.settings import EvaluationSettings
from judged.inputs.blocks import RunBlocks
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching.matcher import Matcher, match_with
from judged.measures import REGISTRY, Measure
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from support.rankings import PLAIN, random_measure

pytestmark = pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")

Lists = dict[str, dict[str, Any]]
ITEMS = [f"d{number}" for number in range(30)]


def collection(draw: Random, *, subtopics: bool = False) -> tuple[Lists, Lists]:
    """Judgements and a run with many ties, which lacks queries, has others and an empty list."""
    judgements: Lists = {}
    for number in range(draw.randint(3, 9)):
        grades = {item: draw.choice([0, 0, 1, 1, 2, 3, -1]) for item in draw.sample(ITEMS, 9)}
        judgements[f"q{number}"] = (
            {item: {draw.choice("stu"): grade, "v": 0} for item, grade in grades.items()}
            if subtopics
            else grades
        )
    asked = [*draw.sample(list(judgements), len(judgements) - draw.randint(0, 2)), "other", "more"]
    run: Lists = {}
    for query in asked:
        items = draw.sample(ITEMS, draw.randint(1, 20))
        run[query] = {item: float(draw.choice([1, 1, 1, 2, 3])) for item in items}
    return judgements, run


def table(lists: Lists, draw: Random | None = None) -> Run:
    rows = [(query, item, score) for query, own in lists.items() for item, score in own.items()]
    if draw is not None:
        draw.shuffle(rows)
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    return Run(frame, "a run", ("A note of the reader.",), name="run")


def blocks(run: Lists, draw: Random) -> RunBlocks:
    """A run in blocks of random sizes, in any order, with rows in any order."""

    def cut(judged: frozenset[str] | None) -> Iterator[Run]:
        queries = draw.sample(list(run), len(run))
        while queries:
            some = [queries.pop() for _ in range(min(len(queries), draw.randint(1, 3)))]
            yield table({query: run[query] for query in some}, draw)

    return RunBlocks("run", "a run", cut)


def matcher(judgements: Lists, policy: Policy, *, subtopics: bool) -> Matcher:
    return match_with(Lookup(judgements, by_subtopic=subtopics), policy, 1000)


def evaluated(
    matcher: Matcher,
    run: Run | RunBlocks,
    settings: EvaluationSettings,
    weights: Any = None,
    **shown: bool,
) -> Scored:
    evaluation = evaluate_rankings([matcher(run)], settings, weights=weights)
    return evaluation.showing(**shown).runs[0]


def numbers(scored: Scored) -> dict[str, Any]:
    """All that is said of a run, bit by bit."""
    return {
        "queries": scored.queries,
        "audit": scored.audit,
        "values": {m: each.tobytes() for m, each in scored.values.items()},
        "errors": {m: each.tobytes() for m, each in scored.errors.items()},
        "summary": {m: np.float64(each).tobytes() for m, each in scored.summary.items()},
        "summary errors": scored.summary_errors,
        "unsure": scored.unsure,
        "unanswerable": scored.unanswerable,
        "others": {name: numbers(each) for name, each in scored.others.items()},
    }


def measures(draw: Random, *, subtopics: bool) -> list[Measure]:
    """Every measure of the registry, each with random parameters, that takes grades up to 3."""
    found = []
    for spec in (REGISTRY if subtopics else PLAIN).values():
        measure = random_measure(spec, draw)
        for most in {"max_grade", "max_rel"} & set(measure.params):
            measure = measure(**{most: 4})
        found.append(measure)
    return found


@pytest.mark.parametrize("subtopics", [False, True])
@pytest.mark.parametrize("ties", ["id", "expected", "best"])
@pytest.mark.parametrize("seed", range(2))
def test_every_measure_gives_the_same_bits(seed: int, ties: str, subtopics: bool) -> None:
    draw = Random(f"{seed} {ties} {subtopics}")
    judgements, run = collection(draw, subtopics=subtopics)
    ranges = seed == 0 and not subtopics
    request = EvaluationSettings.of(measures(draw, subtopics=subtopics), {"ties": ties})
    ready = matcher(judgements, request.policy, subtopics=subtopics)
    shown = {"tie_range": ranges, "unjudged_range": ranges}
    whole = evaluated(ready, table(run), request, **shown)
    by_block = evaluated(ready, blocks(run, draw), request, **shown)
    assert numbers(by_block) == numbers(whole)


@given(
    seed=st.integers(0, 10_000),
    options=st.fixed_dictionaries(
        {},
        optional={
            "tie_range": st.booleans(),
            "unjudged_range": st.booleans(),
            "unanswerable": st.booleans(),
            "weights": st.just({f"q{number}": number % 3 + 0.1 for number in range(10)}),
        },
    ),
    policy=st.fixed_dictionaries(
        {},
        optional={
            "ties": st.sampled_from(["id", "expected", "best", "worst"]),
            "missing": st.sampled_from(["zero", "skip"]),
            "empty": st.sampled_from(["zero", "skip"]),
        },
    ),
)
def test_any_cut_and_any_order_of_rows(
    seed: int, options: dict[str, Any], policy: dict[str, str]
) -> None:
    draw = Random(seed)
    judgements, run = collection(draw)
    wanted = ["AP", "nDCG@5", "RR(rel=2)", "P@10", "F(average=means)", "Rank(of=all)", "bpref"]
    request = EvaluationSettings.of([*wanted, "Rank(of=all, aggregate=median)"], policy)
    ready = matcher(judgements, request.policy, subtopics=False)
    whole = evaluated(ready, table(run), request, **options)
    shuffled = evaluated(ready, table(run, draw), request, **options)
    by_block = evaluated(ready, blocks(run, draw), request, **options)
    assert numbers(shuffled) == numbers(whole)
    assert numbers(by_block) == numbers(whole)


def test_blocks_can_be_sent_elsewhere() -> None:
    draw = Random(3)
    judgements, run = collection(draw)
    request = pickle.loads(pickle.dumps(EvaluationSettings.of("AP, Rank(of=all)", None)))
    ready = matcher(judgements, request.policy, subtopics=False)
    sent = [pickle.dumps(block) for block in ready.blocks(blocks(run, draw))]
    draw.shuffle(sent)
    joined = Rankings.concat(map(pickle.loads, sent), ready.queries)
    by_block = evaluate_rankings([joined], request).runs[0]
    assert numbers(by_block) == numbers(evaluated(ready, table(run), request))


@pytest.mark.parametrize("size", [1, 2, 250])
def test_batches_give_what_the_whole_run_gives(size: int) -> None:
    draw = Random(size)
    judgements, run = collection(draw)
    if size == 250:  # more batches than are piled up one by one
        judgements |= {f"q{n}": {"d1": 1, "d2": n % 2} for n in range(10, 460)}
        run |= {f"q{n}": {"d1": 1.0, "d2": float(n % 3)} for n in range(10, 460)}
    evaluator = Evaluator(judgements, ["AP", "nDCG@10"])
    queries = draw.sample(list(run), len(run))
    step = 1 if size == 250 else size
    for begin in range(0, len(queries), step):
        evaluator.add({query: run[query] for query in queries[begin : begin + step]})
    found = evaluator.evaluation().showing(tie_range=True)
    expected = evaluate(judgements, run, ["AP", "nDCG@10"]).showing(tie_range=True)
    assert numbers(found.scored()) == numbers(expected.scored())
    assert found.to_dict(per_query=True) == expected.to_dict(per_query=True)


@pytest.mark.parametrize("subtopics", [False, True])
def test_the_order_of_judgements_plays_no_part(subtopics: bool) -> None:
    """Where items are equally good next in an ideal list, their ids decide, not their rows."""
    draw = Random(5)
    judgements, run = collection(draw, subtopics=subtopics)
    rows = [
        (query, item, *((float(grade), name) if subtopics else (float(grades),)))
        for query, own in judgements.items()
        for item, grades in own.items()
        for name, grade in (grades.items() if subtopics else [("", 0)])
    ]
    schema = ["query", "item", "grade", *(["subtopic"] if subtopics else [])]
    request = EvaluationSettings.of(measures(draw, subtopics=subtopics), None)
    found = []
    for _ in range(3):
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        ready = match_with(Judgements(frame, "a table"), request.policy, 1000)
        scored = evaluated(ready, table(run, draw), request)
        order = np.argsort(np.array(scored.queries))
        found.append(
            (
                {m: each[order].tobytes() for m, each in scored.values.items()},
                {m: np.float64(each).tobytes() for m, each in scored.summary.items()},
            )
        )
        draw.shuffle(rows)
    assert found[0] == found[1] == found[2]
