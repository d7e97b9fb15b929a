"""`judged embeddings`: every way to say what is relevant, every option, and what is refused."""

import json
import os
import pty
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from judged.cli._vectors import RELEVANCE
from judged.cli.embeddings import embeddings
from judged.embeddings.normalisation import NORMALISATIONS
from judged.embeddings.similarity import SIMILARITIES

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
        ("--qrels", "qrels", "--memory", "1MB"),
    ],
)
def test_ways_to_say_the_same_relevance(judged, vectors, arguments):
    assert scores(judged, *arguments, "-m", "RR") == [{"RR": pytest.approx(2 / 3)}]


def test_tables_of_labels_are_joined_by_id(judged, vectors):
    ids = ("--query-ids", "q.ids", "--item-ids", "i.ids")
    (vectors / "ql.csv").write_text("id,label\nqb,blue\nqa,red\n")
    (vectors / "il.csv").write_text("id,label\nd,red\nc,green\nb,blue\na,blue\n")
    tables = "ql.csv", "il.csv"
    expected = [{"RR": pytest.approx(2 / 3)}]
    assert scores(judged, "--labels", *tables, *ids, "-m", "RR") == expected
    assert scores(judged, "--shared-labels", *tables, *ids, "-m", "RR") == expected
    excluded = "--exclude-labels", "ql.csv", "il.csv"
    (vectors / "named").write_text("qa 0 c 1\nqb 0 c 1\n")
    # Without d, q0 ranks c second; without a and b, q1 ranks c second.
    found = scores(judged, "--qrels", "named", *excluded, *ids, "-m", "RR")
    assert found == [{"RR": 0.5}]
    (vectors / "il.csv").write_text("id,label\nd,red\nc,green\nb,blue\n")
    result = judged(*DOT, "--labels", *tables, *ids)
    assert (result.code, result.err) == (
        2,
        "judged: il.csv: labels are joined by id, and 1 of 4 vectors of i.npy are not in the table "
        "('a'); its ids are 'd', 'c', 'b'. Give every vector a label, or leave the ids out of the "
        "table if its rows are in the order of the vectors.\n",
    )


def test_pairs(judged, vectors):
    np.save("i.npy", np.array(ITEMS[:2]))
    assert scores(judged, "--pairs", "-m", "Success@1") == [{"Success@1": 1.0}]


@pytest.mark.parametrize(("protocol", "rank"), [("easy", 1), ("medium", 1), ("hard", 2)])
def test_the_revisited_protocols(judged, vectors, protocol, rank):
    # q0 ranks 0, 2, 3, 1. easy asks for 0 and passes over 3; hard asks for 3 and passes over 0; 2
    # is neither.
    lists = [{"easy": [0], "hard": [3], "junk": []}, {"easy": [], "hard": [], "junk": []}]
    (vectors / "gnd.json").write_text(json.dumps({"gnd": lists}))
    found = scores(
        judged, "--revisited", "gnd.json", "--protocol", protocol, "-m", "RR", "--empty", "skip"
    )
    assert found == [{"RR": 1 / rank}]


def test_exclusions(judged, vectors):
    assert scores(judged, *LABELS, "-m", "RR@3", "--exclude-listed", "junk") == [
        {"RR@3": pytest.approx((1 / 2 + 1) / 2)}
    ]
    # Row 0 leaves q0's ranking, row 1 that of q1: q0 finds 3 at rank 2; q1 ranks 3, 2, 0, so its 0
    # stands at rank 3.
    assert scores(judged, *LABELS, "-m", "RR", "--exclude-self") == [
        {"RR": pytest.approx((1 / 2 + 1 / 3) / 2)}
    ]
    # Red items leave the ranking of q0, blue ones that of q1, and with them all that is relevant.
    result = judged(*DOT, "--qrels", "qrels", "--exclude-labels", "ql", "il")
    message = "judged: no item is relevant to any query; check the relevance that was given.\n"
    assert (result.code, result.err) == (2, message)
    (vectors / "ql").write_text("red\nviolet\n")
    assert scores(
        judged, "--qrels", "qrels", "--exclude-labels", "ql", "il", "-m", "RR", "-m", "NumRel"
    ) == [{"RR": 0.5, "NumRel": 2.0}]


def test_ids(judged, vectors):
    (vectors / "named").write_text("qa 0 d 1\n")
    ids = ("--query-ids", "q.ids", "--item-ids", "i.ids")
    assert scores(judged, "--qrels", "named", *ids, "-m", "RR") == [{"RR": pytest.approx(1 / 3)}]
    (vectors / "q.ids").write_text("a\nb\n")
    # a and b leave the rankings of the queries that are called so, as by row.
    assert scores(judged, *LABELS, *ids, "--exclude-same-id", "-m", "RR") == [
        {"RR": pytest.approx((1 / 2 + 1 / 3) / 2)}
    ]


def test_columns(judged, vectors):
    (vectors / "pairs.csv").write_text("caption,image\n0,3\n1,0\n1,1\n")
    asked = ("--qrels", "pairs.csv", "--columns", "query=caption,item=image", "-m", "RR")
    assert scores(judged, *asked) == scores(judged, "--qrels", "qrels", "-m", "RR")
    (vectors / "junk.csv").write_text("caption,image\n0,2\n")
    with_junk = (*asked, "--exclude-listed", "junk.csv")
    assert scores(judged, *with_junk) == [{"RR": pytest.approx((1 / 2 + 1) / 2)}]
    lost = judged(*DOT, "--qrels", "pairs.csv", "--columns", "query=captions", "-m", "RR")
    assert (lost.code, lost.err) == (
        2,
        "judged: columns, query=captions: there is no column \"captions\"; did you mean 'caption'? "
        'pairs.csv has the columns "caption", "image".\n',
    )
    unmeant = judged(*DOT, *LABELS, "--columns", "query=caption")
    assert unmeant.code == 2
    assert unmeant.err.endswith(
        "Error: --columns says what columns of --qrels and --exclude-listed are; give one of "
        "them.\n"
    )


def test_name(judged, vectors):
    named = judged(*DOT, *LABELS, "--name", "ours", "-m", "RR", "--format", "json")
    assert [run["name"] for run in json.loads(named.out)["runs"]] == ["ours"]
    unmeant = judged(*DOT, *LABELS, "--name", "ours", "--diagnose")
    assert unmeant.code == 2
    assert unmeant.err.endswith("Error: --name has no meaning with --diagnose; leave it out.\n")


def test_both_ways(judged, vectors):
    result = json.loads(judged(*DOT, *LABELS, "--both", "-m", "RR", "--format", "json").out)
    assert [run["name"] for run in result["runs"]] == ["q to i", "i to q"]
    # Items to queries: 0 is blue and ranks q0, q1: 1/2; 1 ranks q1 first: 1; 2 has nobody; 3 is red
    # and ranks q1, q0: 1/2.
    assert result["runs"][1]["scores"] == {"RR": pytest.approx((1 / 2 + 1 + 0 + 1 / 2) / 4)}


def test_a_tie_range(judged, vectors):
    np.save("i.npy", np.ones((4, 2), np.float16))  # all items tie
    result = judged(*DOT, *LABELS, "-m", "RR", "--tie-range", "--format", "json")
    (run,) = json.loads(result.out)["runs"]
    # q0 has one relevant item of four: at rank 4, 1 to 4, or 1. q1 has two: at rank 3 at worst; the
    # first of two stands at rank 1, 2 or 3 in 3, 2 and 1 of 6 pairs of places.
    first, second = (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, (3 + 2 / 2 + 1 / 3) / 6
    wanted = {"worst": (1 / 4 + 1 / 3) / 2, "expected": (first + second) / 2, "best": 1}
    assert {name: each["scores"]["RR"] for name, each in run["tie_range"].items()} == pytest.approx(
        wanted
    )


def test_a_convention(judged, vectors):
    # q0 finds its one item at rank 3; q1 finds two, at ranks 1 and 4: (1/3 + (1 + 2/4) / 2) / 2
    # divided by all, and with k=2 divided by what was found: (0 + 1) / 2.
    assert scores(
        judged, *LABELS, "-m", "RetrievalMAP(top_k=2)", "--convention", "torchmetrics"
    ) == [{"RetrievalMAP(top_k=2)": 0.5}]


def test_a_similarity_from_a_file(judged, vectors):
    np.save(
        "w.npy", np.array([[0.0, 1.0], [1.0, 0.0]])
    )  # q0 is then compared as q1 was, and the other way round
    result = judged(
        "embeddings",
        "q.npy",
        "i.npy",
        *LABELS,
        "--similarity",
        "w.npy",
        "-m",
        "RR",
        "--format",
        "json",
    )
    # q0 ranks 1, 3, 2, 0 and wants 3: 1/2. q1 ranks 0, 2, 3, 1 and wants 0 and 1: 1.
    assert json.loads(result.out)["runs"][0]["scores"] == {"RR": 0.75}


def test_fewer_dimensions(judged, vectors):
    # With one dimension q1 is 0 and all its scores tie; by id, descending, it ranks 3, 2, 1, 0.
    assert scores(judged, *LABELS, "--dims", "1", "-m", "RR") == [
        {"RR": pytest.approx((1 / 3 + 1 / 3) / 2)}
    ]


def test_a_normalisation_is_part_of_the_definition(judged, vectors):
    result = json.loads(
        judged(
            *DOT, *LABELS, "--normalise", "softmax(temperature=0.1)", "-m", "RR", "--format", "json"
        ).out
    )
    assert result["runs"][0]["scores"] == {"RR": pytest.approx(2 / 3)}
    assert (
        "scores were normalised by softmax(temperature=0.1), which looks at one query at a time "
        "(per query); "
        "it cannot change any ranking"
    ) in result["runs"][0]["basis"]


@pytest.mark.parametrize("table", ["blue\nblue\ngreen\nred\n", "0,blue\n1,blue\n2,green\n3,red\n"])
def test_unique_categories(judged, vectors, table):
    (vectors / "categories").write_text(table)
    # q0 ranks blue (4), green (3), red (1); q1 ranks blue (5), red (2), green (1).
    found = scores(judged, *LABELS, "--unique", "categories", "-m", "Success@1", "-m", "RR")
    assert found == [{"Success@1": 0.5, "RR": pytest.approx((1 / 3 + 1) / 2)}]


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


def test_the_plain_command_takes_categories_too(judged, vectors):
    judged(*DOT, *LABELS, "--save-run", "out.run")
    (vectors / "table.csv").write_text("item,category\n0,blue\n1,blue\n2,green\n3,red\n")
    result = judged(
        "evaluate", "qrels", "out.run", "--unique", "table.csv", "-m", "RR", "--format", "json"
    )
    found = json.loads(result.out)["runs"][0]
    assert found["scores"] == {"RR": pytest.approx((1 / 3 + 1) / 2)}
    assert found["basis"] == [
        "the best result of each category stands for it, and categories are ranked"
    ]


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
        "judged: not.faiss: is neither a faiss nor a usearch index.\n",
    )


def test_a_usearch_index(judged, vectors):
    usearch = pytest.importorskip("usearch.index")
    index = usearch.Index(ndim=2, metric="ip")
    index.add(np.arange(4), np.array(ITEMS, np.float32))
    index.save("all.usearch")
    found = json.loads(
        judged(
            *DOT, *LABELS, "--index", "all.usearch", "--top", "2", "-m", "RR", "--format", "json"
        ).out
    )
    assert found["recall"] == 1.0


def test_diagnosis(judged, vectors):
    np.save("i.npy", np.array([*ITEMS, ITEMS[0]]))
    result = judged("embeddings", "q.npy", "i.npy", "--diagnose")
    assert "i.npy: 1 vector equal to an earlier one (0 = 4)." in result.out
    found = json.loads(judged("embeddings", "q.npy", "i.npy", "--diagnose", "--format", "json").out)
    assert found["items"]["duplicates"]["count"] == 1
    numbers = judged("embeddings", "q.npy", "i.npy", "--diagnose", "--format", "csv").out
    assert "items.duplicates.count,1.0\n" in numbers
    refused = judged("embeddings", "q.npy", "i.npy", "--diagnose", "--format", "latex")
    assert refused.code == 2
    assert (
        "this result is printed as text, json, csv, markdown or html, not as latex." in refused.err
    )


def test_output_goes_to_a_file_whole(judged, vectors):
    result = judged(*DOT, *LABELS, "-m", "RR", "-o", "out.json", "--per-query")
    assert (result.code, result.out) == (0, "")
    assert list(json.loads((vectors / "out.json").read_text())["runs"][0]["per_query"]) == [
        "0",
        "1",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, f"say what is relevant by one of {', '.join(f'--{name}' for name in RELEVANCE)}."),
        ((*LABELS, "--pairs"), 2, "; got --labels and --pairs."),
        (
            (*LABELS, "--both", "--save-run", "x.run"),
            2,
            "--both and --save-run cannot be had in one call; leave one out.",
        ),
        (
            (*LABELS, "--top", "5"),
            2,
            "--top says how many items --save-run and --index look at; give one of them.",
        ),
        ((*LABELS, "--index", "x", "--top", "0"), 2, "must be a whole number from 1; got 0."),
        (
            (*LABELS, "--diagnose", "--unique", "il"),
            2,
            "--unique has no meaning with --diagnose; leave it out.",
        ),
        (
            (*LABELS, "--index", "x", "--tie-range"),
            2,
            "--tie-range has no meaning with --index; leave it out.",
        ),
        (
            (*LABELS, "--index", "x", "--per-query"),
            2,
            "--per-query has no meaning with --index; leave it out.",
        ),
        (
            ("--labels", "ql", "ql"),
            2,
            "judged: i.npy: labels have shape (2,); one is needed for each of the 4 vectors.\n",
        ),
        (("--labels", "ql", "nix"), 2, "judged: nix: no such file.\n"),
        (
            (*LABELS, "--save-run", "nix/x.run"),
            2,
            "judged: nix/x.run: there is no folder nix; make it first.\n",
        ),
        (
            (*LABELS, "--memory", "lots"),
            2,
            "judged: --memory must be a size such as '500MB' or '2GB'; got 'lots'.\n",
        ),
        (
            (*LABELS, "--similarity", "cosin"),
            2,
            "judged: There is no similarity 'cosin'; did you mean 'cosine'?",
        ),
        (
            (*LABELS, "--normalise", "cls"),
            2,
            "judged: There is no normalisation 'cls'; did you mean 'csls'?",
        ),
        (
            (*LABELS, "--exclude-same-id"),
            2,
            "judged: same_id needs ids on both sides. Give query_ids and item_ids",
        ),
        (
            ("--revisited", "ql"),
            2,
            "judged: ql: is not JSON. The benchmark's own pickle is written so by",
        ),
        (
            (*LABELS, "--unjudged", "removed"),
            2,
            "judged: unjudged=removed is not supported for embeddings",
        ),
    ],
)
def test_what_is_refused(judged, vectors, arguments, code, message):
    result = judged(*(DOT[:3] if "--similarity" in arguments else DOT), *arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


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


def test_the_help_names_every_similarity_and_normalisation():
    said = {option.name: option.help for option in embeddings.params if hasattr(option, "help")}
    assert [name for name in SIMILARITIES if name not in said["similarity"]] == []
    assert [name for name in NORMALISATIONS if name not in said["normalise"]] == []


def test_progress_is_shown_on_a_terminal_and_only_there(vectors):
    command = [sys.executable, "-m", "judged", *DOT, *LABELS, "-m", "RR", "--format", "csv"]
    quiet = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (quiet.stdout, quiet.stderr) == ("run,RR\nembeddings,0.6666666666666666\n", "")
    ours, theirs = pty.openpty()
    watched = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += (part := os.read(ours, 65536))
        except OSError:
            break
        if not part:
            break
    os.close(ours)
    assert watched.stdout == quiet.stdout
    assert b"Searching" in shown
    assert b"queries" in shown
