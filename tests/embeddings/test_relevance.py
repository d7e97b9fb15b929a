"""What is relevant and what is left out, in every form, against a full sort of the whole matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from judged import Embeddings, evaluate, evaluate_embeddings
from judged.embeddings.relevance import (
    listed,
    pairs,
    same_id,
    same_label,
    same_row,
    shared_label,
)
from judged.errors import InputError
from judged.inputs.vectors.labels import LabelTable, labels_from, labels_lists_from
from judged.policy import CHOICES
from support.dense import among, as_judgements, as_run, hits_of, judged, same, sample
from support.errors import error_of
from support.loops import for_each
from support.products import rank

RULES = tuple(CHOICES["ties"])


# -- relevance


def test_judgements_in_every_form(tmp_path: Path) -> None:
    queries, items, relevant, rng = sample(8)
    grades = np.where(
        relevant | (rng.random(relevant.shape) < 0.05), rng.integers(-1, 4, relevant.shape), np.nan
    )
    grades[:, 0] = 2
    listed = as_judgements(grades)
    rows = [
        (query, item, int(grade)) for query, each in listed.items() for item, grade in each.items()
    ]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in rows)
    )
    columns = ["query", "item", "grade"]
    for form in (
        listed,
        pl.DataFrame(rows, schema=columns, orient="row"),
        pd.DataFrame(rows, columns=columns),
        str(tmp_path / "qrels.txt"),
    ):
        same(rank(queries, items, form, similarity="dot"), queries @ items.T, grades)


@pytest.mark.parametrize("ties", RULES)
def test_judgements_by_id(ties: str) -> None:
    queries, items, relevant, rng = sample(9)
    names = [f"{'é' if number % 3 else 'z'}{number}" for number in rng.permutation(len(items))]
    grades = np.where(relevant, rng.integers(0, 4, relevant.shape), np.nan)
    grades[:, 3] = 1
    listed = {
        f"q{query}": {names[item]: int(row[item]) for item in np.flatnonzero(~np.isnan(row))}
        for query, row in enumerate(grades)
    }
    ids = {"query_ids": [f"q{query}" for query in range(len(queries))], "item_ids": names}
    found = rank(queries, items, listed, similarity="dot", policy={"ties": ties}, **ids)
    same(found, queries @ items.T, grades, names=names, ties=ties)
    assert found.queries == tuple(ids["query_ids"])


def test_queries_without_judgements_are_ignored_and_those_without_a_vector_are_missing() -> None:
    queries, items, relevant, _ = sample(10, queries=6)
    grades = judged(relevant)
    grades[:, 5] = 3
    listed = as_judgements(grades)
    del listed["1"], listed["4"]
    listed["elsewhere"], listed["nowhere"] = {"3": 1.0, "no such item": 2.0}, {"7": 1.0}
    measures = ["AP", "nDCG", "R@10", "RR"]
    for policy in ({}, {"missing": "skip"}):
        found = evaluate_embeddings(
            queries, items, listed, similarity="dot", measures=measures, policy=policy
        )
        expected = evaluate(listed, as_run(queries @ items.T), measures, policy=policy)
        for measure in measures:
            assert found.value(measure) == pytest.approx(expected.value(measure), abs=1e-12)
    audit, wanted = (each.runs[0].audit for each in (found, expected))
    assert audit.sentences()[:1] == ["2 judged queries not in the run (elsewhere, nowhere)."]
    assert "2 queries of the run without judgements ignored." in audit.sentences()
    for part in (
        "judged_queries",
        "run_queries",
        "missing_queries",
        "ignored_queries",
        "nothing_relevant",
        "short_lists",
    ):
        assert getattr(audit, part) == getattr(wanted, part), part
    assert found.runs[0].rankings.queries == ("0", "2", "3", "5", "elsewhere", "nowhere")


def test_judged_items_without_a_vector_can_only_be_missed() -> None:
    found = rank([[1.0]], [[1.0], [2.0]], {"0": {"0": 1, "x": 1, "y": 3}}, similarity="dot")
    assert (found.hit_rank.tolist(), found.pool_grade.tolist()) == ([2], [3.0, 1.0, 1.0])
    assert found.audit is not None
    assert found.audit.notes == ("2 judged items have no vector, so they are never retrieved.",)


LABELS: dict[str, list[Any]] = {
    "texts": ["a", "b", "ab", "é"],
    "numbers": [5, -1, 2**53, 2**53 + 1],
    "unsigned": [2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2],
    "whole floats": [1.0, 2.0, -3.0, 4.0],
    "bytes": [b"a", b"b", b"ab", b"\xc3\xa9"],
    "bits": [True, False, True, False],
}


@pytest.mark.parametrize("kind", LABELS)
def test_the_same_label(kind: str) -> None:
    queries, items, _, rng = sample(11)
    left, right = (
        [LABELS[kind][at] for at in rng.integers(0, 4, len(each))] for each in (queries, items)
    )
    relevant = np.array([[one == other for other in right] for one in left])
    for convert in (list, np.array, pl.Series, pd.Series):
        found = rank(queries, items, same_label(convert(left), convert(right)), similarity="dot")
        same(found, queries @ items.T, judged(relevant))


def test_labels_of_64_bits_are_compared_exactly_though_one_side_has_no_sign() -> None:
    # As numbers of double precision, in which numpy would put both kinds, 2^60 and 2^60 + 1 are the
    # same.
    left, right = (
        np.array([2**60, 5], np.int64),
        np.array([2**60 + 1, 2**60, 5, 2**64 - 1], np.uint64),
    )
    for one, other in ((left, right), (right, left)):
        found = rank(np.ones((len(one), 1)), np.ones((len(other), 1)), same_label(one, other))
        assert found.total(found.hit_query).tolist() == [
            int(label in other.tolist()) for label in one.tolist()
        ]


@pytest.mark.parametrize("graded", [False, True])
def test_labels_in_common(graded: bool) -> None:
    queries, items, _, rng = sample(12)
    names = np.array(["a", "b", "c", "d", "e"])
    left, right = (
        [names[rng.random(5) < 0.25].tolist() for _ in each] for each in (queries, items)
    )
    right[3] = [*right[3], "z", "z"]
    common = np.array([[len(set(one) & set(other)) for other in right] for one in left])
    grades = np.where(common == 0, np.nan, common if graded else 1)
    found = rank(queries, items, shared_label(left, right, graded=graded), similarity="dot")
    same(found, queries @ items.T, grades)


def test_a_matrix_of_0_and_1_holds_several_labels_in_every_form(tmp_path: Path) -> None:
    queries, items, _, rng = sample(13)
    left, right = (rng.random((len(each), 5)) < 0.3 for each in (queries, items))
    left[:, 0] |= ~left.any(axis=1)
    expected = judged((left.astype(int) @ right.T.astype(int)) > 0)

    def text(rows: Any, name: str, mark: str, header: str = "") -> Any:
        lines = (mark.join(map(str, row)) for row in rows.astype(int).tolist())
        (tmp_path / name).write_text(header + "\n".join(lines) + "\n")
        return labels_lists_from(tmp_path / name)

    torch = pytest.importorskip("torch")
    wrong = []
    for form, convert in {
        "bool": lambda rows: rows,
        "int": lambda rows: rows.astype(np.int64),
        "float": lambda rows: rows.astype(np.float32),
        "lists": lambda rows: rows.astype(int).tolist(),
        "rows": lambda rows: list(rows.astype(int)),
        "tensor": lambda rows: torch.tensor(rows),
        "bfloat16": lambda rows: torch.tensor(rows).to(torch.bfloat16),
        "rows of tensors": lambda rows: list(torch.tensor(rows.astype(int))),
        "sparse": lambda rows: csr_matrix(rows.astype(int)),
        "text": lambda rows: text(rows, "labels.txt", " "),
        "csv": lambda rows: text(rows, "labels.csv", ","),
        "tsv": lambda rows: text(rows, "labels.tsv", "\t"),
        "named": lambda rows: text(rows, "labels.csv", ",", "a,b,c,d,e\n"),
        "polars": lambda rows: pl.DataFrame(rows.astype(int), schema=list("abcde")),
        "pandas": lambda rows: pd.DataFrame(rows, columns=list("abcde")),
    }.items():
        try:
            relation = shared_label(convert(left), convert(right))
            same(rank(queries, items, relation, similarity="dot"), queries @ items.T, expected)
        except (AssertionError, InputError) as error:
            wrong.append((form, error))
    assert not wrong


def test_labels_that_could_be_meant_in_two_ways_are_refused() -> None:
    for left, right, words in (
        ([[0], [1]], [[1], [0], [1]], "one label each or a matrix of one column"),
        ([[1, 0, 1], [0, 0, 1]], [["0"], ["2", "1"], ["1"]], "give both in the same form"),
        ([[1, 0, 1], [0, 0, 1]], np.eye(3, 4, dtype=int), "give both in the same form"),
        ([[3, 0, 0], [4, 5, 0]], [[3], [4], [5]], "could be counts"),
        ([[3, -1, -1], [4, 5, -1]], [[3], [4], [5]], "lists that are filled up"),
        (np.array([[0.5, 1], [1, 0]]), [[1], [0], [1]], "or a matrix of 0 and 1; got 0.5"),
        (pl.DataFrame({"id": [7, 8], "a": [0, 1]}), [[1], [0], [1]], "columns are 'id', 'a'"),
    ):
        with pytest.raises(InputError, match=words):
            rank(np.ones((2, 1)), np.ones((3, 1)), shared_label(left, right))


def test_lists_of_the_labels_0_and_1_stay_lists() -> None:
    found = rank(np.ones((2, 1)), np.ones((3, 1)), shared_label([[0], [0, 1]], [[0], [1], []]))
    assert found.total(found.hit_query).tolist() == [1, 2]
    found = rank(np.ones((1, 1)), np.ones((2, 1)), shared_label([[1, 2]], [[1, 3], [5, 5]]))
    assert found.total(found.hit_query).tolist() == [1]


def _shuffled(rng: Any, ids: list[str], labels: list[str]) -> tuple[list[str], list[str]]:
    """Ids and labels in another order, with one of a vector that is not there."""
    order = rng.permutation(len(ids))
    names = [*(ids[at] for at in order), "elsewhere"]
    return names, [*(labels[at] for at in order), "none"]


def test_labels_with_ids_are_joined_by_id(tmp_path: Path) -> None:
    queries, items, _, rng = sample(14)
    ids = {
        "query_ids": [f"q{at}" for at in range(len(queries))],
        "item_ids": [f"i{at}" for at in range(len(items))],
    }
    labels = [[f"l{code}" for code in rng.integers(0, 4, len(each))] for each in (queries, items)]
    relevant = judged(np.array([[one == other for other in labels[1]] for one in labels[0]]))

    def written(frame: pl.DataFrame, name: str) -> Path:
        path = tmp_path / name
        if path.suffix == ".parquet":
            frame.write_parquet(path)
        elif path.suffix == ".npz":
            columns = {each: np.array(frame[each].to_list()) for each in frame.columns}
            np.savez(path, **columns)
        else:
            frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
        return path

    def table(names: list[str], values: list[str]) -> pl.DataFrame:
        return pl.DataFrame({"id": names, "label": values})

    def by_picture(names: list[str], values: list[str]) -> pl.DataFrame:
        return pl.DataFrame({"name": values, "label": values, "picture": names})

    def dummies(names: list[str], values: list[str]) -> pl.DataFrame:
        return pl.DataFrame({"id": names, "c": values}).to_dummies("c", separator="")

    one: dict[str, Any] = {
        "csv": lambda *table_: labels_from(written(table(*table_), "l.csv")),
        "tsv": lambda *table_: labels_from(written(table(*table_), "l.tsv")),
        "parquet": lambda *table_: labels_from(written(table(*table_), "l.parquet")),
        "no name of ids": lambda *table_: labels_from(written(by_picture(*table_), "l.csv")),
        "nor in Parquet": lambda *table_: labels_from(written(by_picture(*table_), "l.parquet")),
        "npz": lambda *table_: labels_from(written(table(*table_), "l.npz")),
        "series": lambda names, values: pd.Series(values, index=names),
        "dict": lambda names, values: dict(zip(names, values, strict=True)),
    }
    several: dict[str, Any] = {
        "csv": lambda *table_: labels_lists_from(written(table(*table_), "l.csv")),
        "0 and 1": lambda *table_: labels_lists_from(written(dummies(*table_), "l.csv")),
        "series": lambda names, values: pd.Series([[each] for each in values], index=names),
        "pandas": lambda names, values: pd.get_dummies(pd.Series(values, index=names)),
        "dict": lambda names, values: {
            name: [value] for name, value in zip(names, values, strict=True)
        },
    }
    wrong = []
    for say, forms in ((same_label, one), (shared_label, several)):
        for form, convert in forms.items():
            sides = [
                convert(*_shuffled(rng, names, own))
                for names, own in zip(ids.values(), labels, strict=True)
            ]
            try:
                found = rank(queries, items, say(*sides), similarity="dot", **ids)
                same(found, queries @ items.T, relevant, names=ids["item_ids"])
            except (AssertionError, InputError) as error:
                wrong.append((say.__name__, form, error))
    assert not wrong
    unique = pd.Series(*reversed(_shuffled(rng, ids["item_ids"], ids["item_ids"])))
    found = rank(queries, items, same_label(*labels), similarity="dot", unique=unique, **ids)
    same(found, queries @ items.T, relevant, names=ids["item_ids"])


def test_labels_whose_ids_do_not_match_are_refused() -> None:
    vectors, ids = np.ones((3, 1)), {"query_ids": ["a", "b", "c"], "item_ids": ["2", "0", "1"]}
    for left, right, words in (
        (pd.Series([1, 2, 3], index=["a", "b", "x"]), [1, 2, 3], "1 of 3 vectors of the queries"),
        (pd.Series([1, 2, 3], index=["x", "y", "z"]), [1, 2, 3], "3 of 3 vectors of the queries"),
        ({"a": 1, "b": 2}, [1, 2, 3], "not in the table \\('c'\\); its ids are 'a', 'b'"),
        (LabelTable(("a", "b", "c", "c"), [1, 2, 3, 4]), [1, 2, 3], "'c' occurs more than once"),
        ([1, 2, 3], pd.Series([1, 2, 3]), "could be meant by id or by row"),
    ):
        with pytest.raises(InputError, match=words):
            rank(vectors, vectors, same_label(left, right), **ids)
    with pytest.raises(InputError, match="could be meant by id or by row"):
        rank(vectors, vectors, same_label([1, 2, 3], LabelTable(("1", "0", "2"), [1, 2, 3])))


def test_labels_whose_ids_say_nothing_stay_in_order() -> None:
    vectors, ids = np.ones((3, 1)), {"query_ids": ["a", "b", "c"], "item_ids": ["a", "b", "c"]}
    for labels in (
        pd.Series([1, 2, 3]),
        pd.Series([1, 2, 3], index=[7, 5, 6]),  # as train_test_split leaves it
        pl.Series([1, 2, 3]),
        LabelTable(("n", "n", "m"), [1, 2, 3]),  # names of classes
    ):
        found = rank(vectors, vectors, same_label(labels, [1, 3, 2]), **ids)
        assert found.hit_grade.tolist() == [1, 1, 1]
    found = rank(vectors, vectors, same_label(LabelTable(("x", "y", "z"), [1, 2, 3]), [1, 3, 2]))
    assert found.hit_grade.tolist() == [1, 1, 1]
    counted = LabelTable(("0", "1", "2"), [1, 2, 3], unnamed=True)  # as pandas writes an index
    assert len(rank(vectors, vectors, same_label(counted, [1, 3, 2]), **ids).hit_rank) == 3
    with pytest.raises(InputError, match="could be meant by id or by row"):
        rank(vectors, vectors, same_label(counted, [1, 3, 2]), query_ids=["2", "1", "0"])


def test_advice_on_one_0_or_1_per_vector_can_be_followed() -> None:
    vectors = np.ones((3, 1))
    assert error_of(rank, vectors, vectors, shared_label([[0], [1], [1]], [[0], [1], [1]])) == (
        "the labels are one 0 or 1 for each vector, which could be one label each or a matrix of "
        "one column. Use judged.relevance.same_label([0, 1, …]) for one label each. For "
        "a matrix of one column, write its label as a text, ['a'] for 1 and an empty list for 0."
    )
    assert len(rank(vectors, vectors, same_label([0, 1, 1], [0, 1, 1])).hit_rank) == 1 + 2 + 2
    texts = [[], ["a"], ["a"]]
    assert len(rank(vectors, vectors, shared_label(texts, texts)).hit_rank) == 2 + 2


def test_labels_and_ids_of_one_frame_go_by_row() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"id": rng.permutation(30), "label": rng.integers(0, 3, 30)})
    other = pd.DataFrame({"id": range(1, 31), "label": frame.label})
    vectors, wrong = rng.normal(size=(30, 4)), []
    for name, part in {
        "as it is": frame,
        "shuffled": frame.sample(frac=1, random_state=1),
        "filtered": other[other.label > 0],
        "split": other.sample(frac=0.5, random_state=2),
        "repeated index": pd.concat([other[:10], other[20:]]).set_index(np.arange(20) % 10),
    }.items():
        items, number = vectors[: len(part)], part.label.to_numpy()
        right = rank(vectors, items, same_label(frame.label, number)).hit_rank.tolist()
        texts = part.label.astype(str)
        for form, relevance in {
            "label": same_label(frame.label, part.label),
            "lists": shared_label(
                [[str(one)] for one in frame.label], texts.map(lambda one: [one])
            ),
        }.items():
            for ids in (part.id, part.id.astype(str)):
                found = rank(vectors, items, relevance, item_ids=ids)
                if found.hit_rank.tolist() != right:
                    wrong.append((name, form))
    assert not wrong
    part = frame.sample(frac=1, random_state=1)
    for ids in (part.id.tolist(), part.id.reset_index(drop=True)):
        with pytest.raises(InputError, match="could be meant by id or by row"):
            rank(vectors, vectors, same_label(frame.label, part.label), item_ids=ids)
    by_id = part.set_index("id").label
    found = rank(vectors, vectors, same_label(frame.label, by_id), item_ids=frame.id)
    assert found.hit_rank.tolist() == (
        rank(vectors, vectors, same_label(frame.label, frame.label.to_numpy())).hit_rank.tolist()
    )


def test_labels_by_id_for_vectors_whose_ids_have_an_unknown_name(tmp_path: Path) -> None:
    ids, labels = ["c", "a", "b"], [1, 2, 3]
    pl.DataFrame({"track": ids, "v": [[1.0], [2.0], [3.0]]}).write_parquet(tmp_path / "v.parquet")
    vectors = tmp_path / "v.parquet"
    for by_id in (LabelTable(("a", "b", "c"), labels), dict(zip("abc", labels, strict=True))):
        with pytest.raises(InputError, match="the id in column 'track'"):
            rank([[1.0]], vectors, same_label([1], by_id))
    rank([[1.0]], vectors, same_label([1], labels))


def test_pairs_on_the_diagonal() -> None:
    queries, items, _, _ = sample(13, queries=40, items=40)
    same(
        rank(queries, items, pairs(), similarity="dot"),
        queries @ items.T,
        judged(np.eye(40) > 0),
    )


def test_rows_that_ids_contradict_are_refused() -> None:
    vectors = np.arange(1.0, 4.0)[:, None]
    ids = {"query_ids": ["a", "b", "c"], "item_ids": ["a", "c", "b"]}
    assert error_of(rank, vectors, vectors, pairs(), **ids) == (
        "the queries and the items have the same ids in another order: row 1 (from 0) is 'b' and "
        "'c', so rows or ids could be meant. For pairs by id, give judged.relevance.same_id(); to "
        "go by row, put both sides in the same order, or give other ids (query_ids)."
    )
    labels = same_label([1, 2, 1], [1, 2, 1])
    for count in (3, 2):  # all of the items, and some of them
        some = {"query_ids": ["b", "a", "c"][:count], "item_ids": ["a", "b", "c"]}
        with pytest.raises(InputError, match="To exclude by id, give"):
            rank(vectors[:count], vectors, {"b": {"c": 1}}, exclude=same_row(), **some)
    for query_ids, item_ids in (("abc", "abc"), ("abc", "xyz"), ("abd", "acb"), ("abc", None)):
        some = {"query_ids": list(query_ids)}
        some |= {} if item_ids is None else {"item_ids": list(item_ids)}
        assert len(rank(vectors, vectors, pairs(), **some).hit_rank) == 3
        assert len(rank(vectors, vectors, labels, exclude=same_row(), **some).hit_rank) == 2


def test_a_function_may_give_grades() -> None:
    queries, items, relevant, rng = sample(14)
    grades = relevant * rng.integers(1, 5, relevant.shape)
    found = rank(queries, items, among(grades), similarity="dot")
    same(found, queries @ items.T, np.where(grades == 0, np.nan, grades))


# -- exclusions


@for_each("ties", RULES)
@for_each("kind", ["same_row", "same_id", "same_label", "listed", "function", "several"])
def test_excluded_items_leave_the_ranking_and_the_pool(kind: str, ties: str) -> None:
    queries, items, _, rng = sample(15, queries=40, items=60)
    relevant = rng.random((40, 60)) < 0.3
    query_ids, item_ids = rng.permutation(70)[:40].astype(str), rng.permutation(70)[:60].astype(str)
    left, right = rng.integers(0, 5, 40), rng.integers(0, 5, 60)
    some = rng.random((40, 60)) < 0.1
    of_kind = {
        "same_row": np.eye(40, 60) > 0,
        "same_id": query_ids[:, None] == item_ids,
        "same_label": left[:, None] == right,
        "listed": some,
        "function": some,
    }
    named = {
        query_ids[query]: {
            "no such item": 1,
            **{item_ids[item]: int(rng.integers(-1, 3)) for item in np.flatnonzero(row)},
        }
        for query, row in enumerate(some)
    }
    relations: dict[str, Any] = {
        "same_row": same_row(),
        "same_id": same_id(),
        "same_label": same_label(left, right),
        "listed": listed(named),
        "function": among(some),
    }
    exclude = list(relations.values()) if kind == "several" else relations[kind]
    gone = np.logical_or.reduce(list(of_kind.values())) if kind == "several" else of_kind[kind]
    found = rank(
        queries,
        items,
        among(relevant),
        similarity="dot",
        exclude=exclude,
        query_ids=query_ids,
        item_ids=item_ids,
        policy={"ties": ties},
    )
    same(found, queries @ items.T, judged(relevant), gone=gone, names=item_ids, ties=ties)
    assert (gone & relevant).any()


def test_all_items_of_a_query_may_be_excluded() -> None:
    gone = np.array([[True, True, True], [False, True, False]])
    found = rank(np.ones((2, 1)), np.ones((3, 1)), among(np.ones((2, 3))), exclude=among(gone))
    assert (found.retrieved.tolist(), found.hit_query.tolist(), found.hit_rank.tolist()) == (
        [0, 2],
        [1, 1],
        [1, 2],
    )
    assert not found.missing.any()


# -- labels of embeddings


RANDOM = np.random.default_rng(3)
ITEMS = RANDOM.normal(size=(30, 4))
QUERIES = RANDOM.normal(size=(7, 4))
OF_ITEMS = RANDOM.integers(0, 4, 30)
OF_QUERIES = RANDOM.integers(0, 4, 7)


def test_labels_are_relevance_by_label() -> None:
    wanted = Embeddings(QUERIES, ITEMS).evaluate(same_label(OF_QUERIES, OF_ITEMS), ["AP", "R@1"])
    both = Embeddings(QUERIES, ITEMS, labels=(OF_QUERIES, OF_ITEMS))
    for found in (
        both.evaluate(["AP", "R@1"]),
        both.evaluate(measures=["AP", "R@1"]),
        evaluate_embeddings(QUERIES, ITEMS, (OF_QUERIES, OF_ITEMS), ["AP", "R@1"]),
    ):
        assert found.to_dict() == wanted.to_dict()
    assert both.diagnose().scores is not None
    assert both.evaluate_index(lambda block, k: ([[0]] * len(block), [[0.0]] * len(block)), k=1)


@pytest.mark.parametrize("items", [ITEMS, ITEMS.copy(), ITEMS.tolist()])
def test_queries_that_are_the_items_do_not_find_themselves(items: Any) -> None:
    whole = Embeddings(ITEMS, ITEMS, exclude=same_row())
    wanted = hits_of(whole.rank(same_label(OF_ITEMS, OF_ITEMS)))
    for labels in (OF_ITEMS, OF_ITEMS.tolist(), (OF_ITEMS, OF_ITEMS)):
        both = Embeddings(ITEMS, items, labels=labels)
        assert hits_of(both.rank()) == wanted
        found = evaluate_embeddings(ITEMS, items, labels, "AP")
        assert found.value() == both.evaluate("AP").value()
    assert (
        "excluded from the ranking: the item with the query's own row number" in both.rank().basis
    )


def test_other_vectors_and_other_exclusions_are_left_as_they_are() -> None:
    other = RANDOM.normal(size=ITEMS.shape)
    assert Embeddings(other, ITEMS, labels=OF_ITEMS).exclude is None
    by_row = same_label(np.arange(30) % 2, np.arange(30) % 2)
    assert Embeddings(ITEMS, ITEMS, labels=OF_ITEMS, exclude=by_row).exclude is by_row


def test_errors() -> None:
    with pytest.raises(InputError) as error:
        Embeddings(QUERIES, ITEMS, labels=OF_ITEMS)
    assert str(error.value) == (
        "one sequence of labels is for queries that are the items, but there are 7 queries and 30 "
        "items. Give labels=(query labels, item labels)."
    )
    for without_relevance in (None, "nDCG@10", ["RR", "R@1"]):
        assert error_of(Embeddings(QUERIES, ITEMS).evaluate, without_relevance) == (
            "nothing says what is relevant. Give relevance, or labels to Embeddings."
        )
    both = Embeddings(QUERIES, ITEMS, labels=(OF_QUERIES, OF_ITEMS))
    assert error_of(both.rank, {"0": {"0": 1}}) == (
        "the embeddings have labels; leave out relevance, or the labels."
    )
