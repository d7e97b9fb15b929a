"""Rankings files: what is read is what was written, and nothing else is accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged import Rankings, evaluate, read_rankings
from judged.errors import InputError, PolicyError
from judged.rankings.file import KEY
from support.errors import error_of
from support.evaluating import rank

RNG = np.random.default_rng(7)
JUDGEMENTS = {
    f"q{query}": {f"d{item}": int(RNG.integers(-1, 4)) for item in RNG.choice(40, 8, False)}
    for query in range(30)
}
RUN = {
    f"q{query}": {f"d{item}": float(RNG.integers(0, 6)) for item in RNG.choice(40, 30, False)}
    for query in range(3, 30)
}
SUBTOPICS = {"q": {"a": {"x": 1, "y": 0}, "b": {"y": 2}}, "r": {"c": {"z": 1}}}
POLICIES: list[dict[str, Any]] = [
    {},
    {"ties": "expected"},
    {"ties": "worst", "missing": "skip"},
    {"unjudged": "removed"},
    {"depth": 5},
    {"depth": 5, "unjudged": "removed"},
]


def numbers(evaluation: judged.Evaluation) -> list[Any]:
    return evaluation.to_dict(per_query=True)["runs"]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_file_gives_the_numbers_of_judgements_and_run(
    policy: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "mine.rankings"
    direct = evaluate(JUDGEMENTS, {"mine": RUN}, policy=policy)
    direct.save(path)
    by_file = evaluate(path, policy=policy)
    assert numbers(by_file) == numbers(direct)
    assert by_file.policy == direct.policy
    if policy != {"depth": 5, "unjudged": "removed"}:
        assert by_file.tie_range("AP") == direct.tie_range("AP")
    assert by_file.unanswerable() == direct.unanswerable()
    read = read_rankings(path)
    assert read.audit == direct.audit["mine"]


@pytest.mark.parametrize(
    ("judgements", "run", "options"),
    [
        (JUDGEMENTS, RUN, {"weights": {query: at + 0.5 for at, query in enumerate(JUDGEMENTS)}}),
        (JUDGEMENTS, RUN, {"collection": 1000}),
        (SUBTOPICS, {"q": ["b", "x", "a"], "r": ["c"]}, {}),
        ({"q": {}, "r": {"a": 1}}, {"q": [], "r": ["b"]}, {}),
        ({"ü\n": {"a": 1}}, {"ü\n": ["a"]}, {}),
    ],
    ids=["weights", "collection", "subtopics", "empty lists", "odd ids"],
)
def test_everything_is_kept(judgements: Any, run: Any, options: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.rankings"
    direct = evaluate(judgements, run, "AP, P@5", **options)
    direct.save(path)
    assert numbers(evaluate(path, measures="AP, P@5")) == numbers(direct)


def test_a_shallower_depth_cuts_the_lists_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.rankings"
    Rankings.from_run(JUDGEMENTS, RUN).save(path)
    direct = evaluate(JUDGEMENTS, RUN, "AP", policy={"depth": 4})
    assert evaluate(path, measures="AP", policy={"depth": 4})["AP"] == direct["AP"]
    cut = rank(JUDGEMENTS, RUN, depth=4)
    cut.save(path)
    kept = read_rankings(path)
    assert cut.whole is not None
    assert kept.whole is not None
    for name in ("best_score", "retrieved", "hit_rank", "hit_tie_last", "pool_grade"):
        np.testing.assert_array_equal(getattr(kept.whole, name), getattr(cut.whole, name), name)
    assert error_of(evaluate, path, measures="AP", policy={"depth": 9}, error=PolicyError) == (
        "run: the lists were cut at rank 4, so depth=9 cannot be evaluated; make the rankings "
        "again with longer lists."
    )


def refused(*sources: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        evaluate(sources[0], list(sources[1:]) or None, "RR", **options)
    return str(caught.value)


def test_files_that_are_no_rankings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Rankings.from_run(JUDGEMENTS, RUN).save("a.rankings")
    content = Path("a.rankings").read_bytes()
    Path("cut.rankings").write_bytes(content[: len(content) // 2])
    Path("text.rankings").write_text("q 0 a 1\n")
    pl.DataFrame({"a": [1]}).write_parquet("other.rankings")
    newer = {KEY: json.dumps({"version": 3})}
    pl.DataFrame({"a": [1]}).write_parquet("newer.rankings", metadata=newer)
    frame = pl.read_parquet("a.rankings")
    metadata = pl.read_parquet_metadata("a.rankings")
    kept = {name: metadata[name] for name in (KEY, "checksum")}
    changed = frame.with_columns(pl.col("hit_grade").list.eval(pl.element() + 1))
    changed.write_parquet("changed.rankings", metadata=kept)
    assert refused("none.rankings") == "none.rankings: the file does not exist."
    for name in ("cut", "text"):
        assert refused(f"{name}.rankings").startswith(
            f"{name}.rankings: cannot be read as a rankings file ("
        )
    assert refused("other.rankings") == (
        "other.rankings: this is a Parquet file, but not a rankings file; write one with -o "
        "NAME.rankings, or Rankings.save."
    )
    assert refused("newer.rankings") == (
        "newer.rankings: the format version is 3, and this version of judged reads up to 2. "
        "Update judged, or write the file again."
    )
    assert refused("changed.rankings") == (
        "changed.rankings: the file is damaged (its checksum differs); write it again."
    )


def test_files_of_other_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Rankings.from_run(JUDGEMENTS, RUN, policy={"ties": "id"}).save("a.rankings")
    fewer = {query: JUDGEMENTS[query] for query in list(JUDGEMENTS)[:-1]}
    Rankings.from_run(fewer, RUN).save("b.rankings")
    assert refused("a.rankings", "b.rankings") == (
        "a.rankings and b.rankings have different queries: 1 query is in one of them only (q29; "
        "'q29' is in a.rankings). Evaluate both runs with the same judgements."
    )
    graded = {**JUDGEMENTS, "q5": {item: grade + 1 for item, grade in JUDGEMENTS["q5"].items()}}
    Rankings.from_run(graded, RUN).save("b.rankings")
    assert refused("a.rankings", "b.rankings") == (
        "a.rankings and b.rankings are of different judgements: query 'q5' has other grades in one "
        "than in the other."
    )
    more = {**JUDGEMENTS, "q5": {**JUDGEMENTS["q5"], "new": 1}}
    Rankings.from_run(more, RUN).save("b.rankings")
    assert refused("a.rankings", "b.rankings") == (
        "a.rankings and b.rankings are of different judgements: query 'q5' has 8 judged items in "
        "one and 9 in the other."
    )
    rank(JUDGEMENTS, RUN, depth=3).save("b.rankings")
    assert refused("a.rankings", "b.rankings") == (
        "a.rankings has depth=None and b.rankings has depth=3; make both rankings files under the "
        "same policy."
    )
    assert refused("a.rankings", "run.txt") == (
        "'run.txt' is not a rankings file, and a.rankings is; a rankings file replaces "
        "judgements and a run. Give rankings files alone, or judgements and runs."
    )
    assert refused("a.rankings", columns={"query": "q"}) == (
        "columns is about judgements and runs, and rankings files hold only ranks; leave it out, "
        "or give the judgements and runs."
    )


def test_several_files_are_several_runs(tmp_path: Path) -> None:
    backwards = {query: {item: -score for item, score in own.items()} for query, own in RUN.items()}
    shuffled = dict(reversed(JUDGEMENTS.items()))
    paths = []
    for name, judgements, run in (("a", JUDGEMENTS, RUN), ("b", shuffled, backwards)):
        paths.append(tmp_path / f"{name}.rankings")
        Rankings.from_run(judgements, run).save(paths[-1])
    direct = evaluate(JUDGEMENTS, {"a": RUN, "b": backwards}, "AP, RR")
    by_file = evaluate(paths[0], [paths[1]], "AP, RR")
    assert by_file["AP"] == direct["AP"]
    assert by_file.to_frame(per_query=True).equals(direct.to_frame(per_query=True))
    assert (
        evaluate(paths, measures="AP, RR")
        .to_frame(per_query=True)
        .equals(direct.to_frame(per_query=True))
    )
    together = tmp_path / "both.rankings"
    direct.save(together)
    again = evaluate(together, None, "AP, RR")
    assert again["AP"] == direct["AP"]
    assert again.to_frame(per_query=True).equals(direct.to_frame(per_query=True))
    more = evaluate([together, f"c={paths[1]}"], measures="AP")
    assert [*more["AP"]] == ["a", "b", "c"]
    assert more["AP"]["c"] == direct["AP"]["b"]
    assert error_of(judged.read_rankings, together) == (
        f"{together}: the file holds 2 runs (a, b), and one is needed here; save one of them "
        "alone, by evaluation.rankings[name].save."
    )


def test_a_file_knows_one_order_of_ties(tmp_path: Path) -> None:
    path = tmp_path / "tied.rankings"
    evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.5}}, "RR").save(path)
    found = judged.identify("1.0", judged.read_rankings(path), measures="RR")
    assert found.matches[0].definition.unusual() == {"ties": ("best",)}
    assert found.untried.startswith("ties=input was not tried")


def test_vectors_have_no_unjudged_items_to_remove(tmp_path: Path) -> None:
    """Items that are not listed are irrelevant there, and stay below and above the relevant."""
    points, labels = np.random.default_rng(1).normal(size=(20, 3)), np.repeat(np.arange(5), 4)
    evaluation = judged.evaluate_embeddings(points, points, labels, "AP")
    evaluation.rankings["embeddings"].save(tmp_path / "x.rankings")
    removed = judged.evaluate(tmp_path / "x.rankings", None, "AP", policy={"unjudged": "removed"})
    assert removed.value() == evaluation.value() < 1


def test_files_of_other_weights(tmp_path: Path) -> None:
    """A weighted and a plain mean have no difference that means anything."""
    judgements, run = {"p": {"a": 1}, "q": {"a": 1}}, {"p": ["a"], "q": ["b", "a"]}
    weights = {"one": None, "two": {"p": 1, "q": 1}, "three": {"q": 1, "p": 1}}
    for name, weight in weights.items():
        evaluation = evaluate(judgements, {name: run}, "RR", weights=weight)
        evaluation.rankings[name].save(tmp_path / f"{name}.rankings")
    one, two, three = (tmp_path / f"{name}.rankings" for name in weights)
    assert evaluate(two, [three], "RR")["RR"] == {"two": 0.75, "three": 0.75}
    assert error_of(evaluate, one, [two], "RR") == (
        f"{one} and {two} have different weights of queries, or only one has any; make both "
        "rankings files with the same weights."
    )
