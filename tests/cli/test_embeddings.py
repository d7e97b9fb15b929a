"""`judged embeddings`: every way to say what is relevant, every option, and what is refused."""

import json

import numpy as np
import polars as pl
import pytest

from support.loops import for_each

# Two queries on the axes. By dot product q0 ranks the items 0 (4), 2 (3), 3 (1), 1 (0); q1 ranks 1
# (5), 3 (2), 2 (1), 0 (0).
QUERIES = [[1, 0], [0, 1]]
ITEMS = [[4, 0], [0, 5], [3, 1], [1, 2]]


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    """A folder, the current one, with vectors, labels (q0: item 3; q1: items 0 and 1), ids,
    judgements and items to exclude."""
    monkeypatch.chdir(tmp_path)
    np.save("q.npy", np.array(QUERIES, np.int8))
    np.save("i.npy", np.array(ITEMS, np.float16))
    (tmp_path / "ql").write_text("red\nblue\n")
    (tmp_path / "il").write_text("blue\nblue\ngreen\nred\n")
    (tmp_path / "q.ids").write_text("qa\nqb\n")
    (tmp_path / "i.ids").write_text("a\nb\nc\nd\n")
    (tmp_path / "qrels").write_text("0 0 3 1\n1 0 0 1\n1 0 1 1\n")
    (tmp_path / "junk").write_text("0 0 2 1\n")
    return tmp_path


DOT = ("embeddings", "q.npy", "i.npy", "--similarity", "dot")
LABELS = ("--labels", "ql", "il")


def scores(judged, *arguments):
    result = judged(*DOT, *arguments, "--format", "json")
    assert result.code == 0
    assert result.err == "".join(
        f"warning: {text}\n" for text in json.loads(result.out)["warnings"]
    )
    return [run["scores"] for run in json.loads(result.out)["runs"]]


def test_the_table_says_what_was_ranked(judged, vectors):
    result = judged(*DOT, *LABELS, "-m", "RR", "-m", "AP", "-v")
    # RR: q0 finds item 3 at rank 3, q1 item 1 at rank 1: (1/3 + 1) / 2. AP: (1/3 + (1 + 2/4) / 2) /
    # 2 = 0.5417.
    assert result.out.splitlines()[1].split() == [
        "embeddings",
        "0.6667",
        "0.5417",
    ]
    assert (
        "ranking: dot: the score is the dot product, in double precision; all items are ranked; "
        "relevant: items of the query's own label\n"
    ) in result.out
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        LABELS,
        ("--shared-labels", "ql", "il"),
        ("--qrels", "qrels"),
    ],
)
def test_ways_to_say_the_same_relevance(judged, vectors, arguments):
    assert scores(judged, *arguments, "-m", "RR") == [{"RR": pytest.approx(2 / 3)}]


def test_the_run_comes_from_the_same_pass(judged, vectors):
    result = judged(
        *DOT, *LABELS, "--save-run", "out.run", "--top", "2", "-m", "RR", "--format", "csv"
    )
    assert result.out == "run,RR\nembeddings,0.6666666666666666\n"
    assert (vectors / "out.run").read_text() == (
        "0 Q0 0 1 4.0 judged\n0 Q0 2 2 3.0 judged\n1 Q0 1 1 5.0 judged\n1 Q0 3 2 2.0 judged\n"
    )
    judged(*DOT, *LABELS, "--save-run", "out.parquet")
    assert pl.read_parquet("out.parquet").height == 8


def test_an_index_is_compared_with_the_exact_search(judged, vectors):
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexFlatIP(2)
    index.add(np.array(ITEMS[:3], np.float32))  # it does not know item 3
    faiss.write_index(index, "three.faiss")
    result = judged(
        *DOT, *LABELS, "--index", "three.faiss", "--top", "3", "-m", "Success@3", "--format", "json"
    )
    found = json.loads(result.out)
    # Of the exact first three, q0 misses item 3 and q1 as well: 2 of 3 each. Success@3 falls from 1
    # to 1/2.
    assert (found["recall"], found["loss"]) == (pytest.approx(2 / 3), {"Success@3": 0.5})
    index = (*DOT, *LABELS, "--index", "three.faiss", "--top", "3", "-m", "Success@3")
    assert judged(*index, "--per-query", "-o", "index.json").code == 0
    whole = json.loads((vectors / "index.json").read_text())
    assert whole["per_query_recall"] == {"0": pytest.approx(2 / 3), "1": pytest.approx(2 / 3)}
    table = judged(*index)
    assert "Recall of the index: 0.6667 of the exact first 3" in table.out
    (vectors / "not.faiss").write_text("nothing of the kind")
    refused = judged(*DOT, *LABELS, "--index", "not.faiss")
    assert (refused.code, refused.err) == (
        2,
        "judged: not.faiss: is not a faiss or usearch index that can be read.\n",
    )


def test_diagnosis(judged, vectors):
    np.save("i.npy", np.array([*ITEMS, ITEMS[0]]))
    result = judged("embeddings q.npy i.npy --diagnose")
    assert "i.npy: 1 vector equal to an earlier one (0 = 4)." in result.out
    found = json.loads(judged("embeddings q.npy i.npy --diagnose --format json").out)
    assert found["items"]["duplicates"]["count"] == 1
    numbers = judged("embeddings q.npy i.npy --diagnose --format csv").out
    assert "items.duplicates.count,1.0\n" in numbers
    refused = judged("embeddings q.npy i.npy --diagnose --format latex")
    assert refused.code == 2
    assert (
        "this result is printed as text, json, csv, markdown or html, not as latex." in refused.err
    )


def test_a_refused_search_leaves_an_old_run_as_it_was(judged, vectors):
    (vectors / "out.run").write_text("mine")
    np.save("i.npy", np.array([[np.nan, 1.0]] * 4))
    result = judged(*DOT, *LABELS, "--save-run", "out.run")
    assert (result.code, (vectors / "out.run").read_text()) == (2, "mine")
    assert (
        result.err
        == "judged: i.npy: vectors 0, 1, 2, … hold NaN or infinite numbers; remove or fix them.\n"
    )
    assert sorted(path.name for path in vectors.iterdir() if path.name.startswith(".")) == []


def test_what_is_refused(refuses, vectors):
    refuses("""
    embeddings q.npy i.npy --labels ql ql
        judged: i.npy: labels have shape (2,); one is needed for each of the 4 vectors.
    embeddings q.npy i.npy --similarity dot
        Error: say what is relevant by one of --qrels, --labels, --shared-labels, --pairs,
        --revisited.
    embeddings q.npy i.npy --similarity dot --labels ql il --pairs
        Error: say what is relevant by one of --qrels, --labels, --shared-labels, --pairs,
        --revisited; got --labels and --pairs.
    embeddings q.npy i.npy --similarity dot --labels ql il --both --save-run x.run
        Error: --both and --save-run exclude each other; give one of them.
    embeddings q.npy i.npy --similarity dot --labels ql il --top 5
        Error: --top says how many items --save-run and --index look at; give one of them.
    embeddings q.npy i.npy --similarity dot --labels ql il --index x --top 0
        Error: Invalid value for --top: must be a whole number from 1; got 0.
    embeddings q.npy i.npy --similarity dot --labels ql il --diagnose --unique il
        Error: --unique has no meaning with --diagnose; leave it out.
    embeddings q.npy i.npy --similarity dot --labels ql il --index x --tie-range
        Error: --tie-range has no meaning with --index; leave it out.
    embeddings q.npy i.npy --similarity dot --labels ql il --index x --per-query
        Error: --per-query has no meaning with --index; leave it out.
    """)


MODELS = ("--model", "one=q.npy,i.npy", "--model", "two=i.npy,i.npy")


def test_several_models_become_runs_that_other_commands_read(judged, vectors):
    np.save("q2.npy", np.array([[1, 0], [3, 1]], np.int8))
    models = ("--model", "one=q.npy,i.npy", "--model", "two=q2.npy,i.npy")
    files = {"one": "q.npy", "two": "q2.npy"}
    shown = judged("embeddings", *models, *LABELS, "-m", "AP,RR", "--format", "json")
    runs = json.loads(shown.out)["runs"]
    for run, (name, queries) in zip(runs, files.items(), strict=True):
        alone = judged("embeddings", queries, "i.npy", *LABELS, "-m", "AP,RR", "--format", "json")
        assert run["name"] == name
        assert run["scores"] == json.loads(alone.out)["runs"][0]["scores"]
    assert not judged("embeddings", *models, *LABELS, "-o", "all.rankings").code
    again = judged("evaluate", "all.rankings", "-m", "AP,RR", "--format", "json")
    assert [run["scores"] for run in json.loads(again.out)["runs"]] == [
        run["scores"] for run in runs
    ]
    assert "two" in judged("compare", "all.rankings", "-m", "AP").out


@for_each(
    "arguments, message",
    [
        (("q.npy", "i.npy", *MODELS), "give QUERIES and ITEMS, or --model NAME=QUERIES,ITEMS; not"),
        ((*MODELS, "--diagnose"), "--diagnose has no meaning with --model; leave it out"),
        (("--model", "one=q.npy"), "must be NAME=QUERIES,ITEMS, such as clip=queries.npy,items."),
        ((*MODELS, *MODELS[:2]), "two models are called 'one'"),
        (MODELS, "models 'one' and 'two' have different queries: 2 and 4."),
    ],
)
def test_models_that_cannot_be_compared(judged, vectors, arguments, message):
    result = judged("embeddings", *arguments, *LABELS)
    assert result.code == 2
    assert message in " ".join(result.err.split())


def test_items_by_their_labels_do_not_find_themselves(judged, vectors):
    """As in Python: the label alone makes each item relevant to itself."""
    same = ("i.npy", "i.npy", "--labels", "il", "il", "-m", "AP", "--format", "json")
    by_default, excluded = (
        judged("embeddings", *same),
        judged("embeddings", *same, "--exclude-self"),
    )
    assert by_default == excluded
    models = judged("embeddings", "--model", "a=i.npy,i.npy", *same[2:])
    # Cosines of [0, 5] with [3, 1], [1, 2] and the other blue item [4, 0]: .32, .89, 0: rank 3. Of
    # [4, 0] with [0, 5]: rank 3 as well. Green and red have no other item: (1/3 + 1/3 + 0 + 0) / 4.
    for result in (by_default, models):
        assert json.loads(result.out)["runs"][0]["scores"]["AP"] == pytest.approx(1 / 6)
