"""Evidence as spans: values by hand and by sets of characters, re-chunking, and errors."""

from __future__ import annotations

import json
import math
from itertools import chain, pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import compare_values, evaluate_spans
from judged.errors import InputError, PolicyError
from support.errors import error_of
from support.loops import for_each

pytestmark = pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
EVIDENCE = {"q": [("d", 10, 20)]}
ROW = {"query": ["q"], "doc": ["d"], "start": [1], "end": [5]}


def test_values_by_hand():
    """Evidence: d[10, 30) and d[25, 40), so 30 characters; e[0, 10), so 40 in all.

    First chunk: d[0, 20), of which 10 are evidence. Second: d[15, 35), of which d[20, 35) is new,
    all evidence: 25 of 35 characters. Third: e[0, 50): 35 of 85. Fourth: d[30, 60): 40 of 110.
    After three chunks d[35, 40) is missing, so reading ends at d[60 - 20]: 85 + 5 characters.
    """
    evidence = {"q": [("d", 10, 30), ("d", 25, 40), ("e", 0, 10)]}
    run = {"q": [("d", 0, 20), ("d", 15, 35), ("e", 0, 50), ("d", 30, 60)]}
    found = evaluate_spans(evidence, run, [1, 2, 3, 4])
    for measure, values in {
        "SpanRecall": [10 / 40, 25 / 40, 35 / 40, 40 / 40],
        "SpanPrecision": [10 / 20, 25 / 35, 35 / 85, 40 / 110],
        "IoU": [10 / 50, 25 / 50, 35 / 90, 40 / 110],
    }.items():
        assert [found.value(f"{measure}@{k}") for k in (1, 2, 3, 4)] == values
    assert found.value("CharactersToAll") == 90


def by_sets(evidence, chunks, cutoffs):
    """Compute the values of one query with sets of characters."""
    wanted = {(doc, at) for doc, start, end in evidence for at in range(start, end)}
    values = {}
    for k in cutoffs:
        read = {(doc, at) for doc, start, end in chunks[:k] for at in range(start, end)}
        values[f"SpanRecall@{k}"] = len(read & wanted) / len(wanted)
        values[f"SpanPrecision@{k}"] = len(read & wanted) / len(read) if read else 0.0
        values[f"IoU@{k}"] = len(read & wanted) / len(read | wanted)
    values["CharactersToAll"], read = math.inf, set()
    for doc, start, end in chunks:
        for at in range(start, end):
            read.add((doc, at))
            if wanted <= read:
                return values | {"CharactersToAll": min(values["CharactersToAll"], len(read))}
    return values


def spans(least):
    """Return spans of at least so many characters."""
    sizes = st.tuples(st.sampled_from("de"), st.integers(0, 12), st.integers(least, 9))
    return sizes.map(lambda span: (span[0], span[1], span[1] + span[2]))


runs = st.fixed_dictionaries(
    {name: st.lists(spans(0), max_size=7) for name in "pqr"} | {"other": st.just([("d", 0, 1)])}
)
golden = st.fixed_dictionaries({name: st.lists(spans(1), min_size=1, max_size=4) for name in "pqr"})


@given(golden, runs)
def test_values_are_those_of_sets_of_characters(evidence, run):
    found = evaluate_spans(evidence, run, [1, 2, 5])
    expected = {name: by_sets(evidence[name], run[name], [1, 2, 5]) for name in evidence}
    for measure in found.measures:
        values = found.values(measure)["run"]
        assert values == {name: expected[name][measure] for name in evidence}, measure


@given(golden, runs, st.data())
def test_values_survive_another_chunking_of_the_same_text(evidence, run, data):
    """Cut every chunk into pieces, which keep the place of their chunk."""
    cut = {}
    for name, chunks in run.items():
        cut[name] = []
        for doc, start, end in chunks:
            inner = data.draw(st.sets(st.integers(start, end), max_size=3))
            borders = sorted({start, end, *inner})
            pieces = pairwise(borders)
            cut[name] += [(doc, *piece) for piece in pieces]
    whole = evaluate_spans(evidence, run, 100)
    pieces = evaluate_spans(evidence, cut, 100)
    for measure in whole.measures:
        assert whole.values(measure) == pieces.values(measure), measure


@given(golden, runs)
def test_spans_that_overlap_or_repeat_change_nothing(evidence, run):
    found = evaluate_spans(evidence, run, 100)
    doubled = {name: [*few, *few, few[0]] for name, few in evidence.items()}
    again = {name: [*chunks, *reversed(chunks)] for name, chunks in run.items()}
    for other in (evaluate_spans(doubled, run, 100), evaluate_spans(evidence, again, 100)):
        for measure in found.measures:
            assert found.values(measure) == other.values(measure), measure


@given(golden, runs)
def test_chunk_ids_with_their_table_are_spans(evidence, run):
    """Number all chunks, judge ids, and rebase both sides."""
    run = {name: list(dict.fromkeys(chunks)) for name, chunks in run.items()}
    wanted = {span: f"g{at}" for at, span in enumerate(sorted({*chain(*evidence.values())}))}
    listed = {span: f"c{at}" for at, span in enumerate(sorted({*chain(*run.values())}))}
    by_id = evaluate_spans(
        {name: [wanted[span] for span in dict.fromkeys(few)] for name, few in evidence.items()},
        {name: [listed[span] for span in chunks] for name, chunks in run.items()},
        [1, 3],
        chunks={name: span for span, name in listed.items()},
        judged_chunks={name: span for span, name in wanted.items()},
    )
    direct = evaluate_spans(evidence, run, [1, 3])
    for measure in direct.measures:
        assert by_id.values(measure) == direct.values(measure), measure


def test_tables_of_other_libraries_scores_ranks_and_grades():
    golden = pl.DataFrame(
        {"question_id": [1, 1], "source": ["d", "d"], "start": [10, 50], "end": [20, 60]}
    )
    # LlamaIndex's names; the second row is the better one.
    run = pl.DataFrame(
        {
            **{"qid": [1, 1], "document_id": ["d", "d"], "start_char_idx": [50.0, 10.0]},
            **{"end_char_idx": [60, 20], "score": [0.1, 0.9]},
        }
    )
    graded = golden.with_columns(grade=pl.Series([1, 0]))
    for table in (run, run.drop("score").with_columns(rank=pl.Series([2, 1]))):
        found = evaluate_spans(graded, table, 1)
        assert found.value("SpanRecall@1") == 1
    assert evaluate_spans(golden, run.drop("score"), 1).values("IoU@1") == {"run": {"1": 0.5}}
    assert evaluate_spans(graded, run, 1, rel=0).value("SpanRecall@1") == 0.5


def test_the_order_of_a_table_is_checked():
    rows = {"query": ["q"] * 2, "doc": ["d"] * 2, "start": [10, 0], "end": [20, 10]}
    for column, message in (
        ({}, "the spans: there is no column with a score or a rank, so rows are in rank order."),
        # A distance, or ranks of another order: ranked by score, and said.
        ({"score": [0.1, 0.9], "rank": [1, 2]}, "these lists are read backwards."),
    ):
        with pytest.warns() as caught:
            found = evaluate_spans(EVIDENCE, pl.DataFrame({**rows, **column}), 1)
        assert found.value("SpanRecall@1") == (not column)
        assert message in str(caught[0].message)


def test_ties_do_not_depend_on_the_order_of_rows():
    chunks = {"a": ("d", 0, 10), "b": ("d", 10, 20)}
    for items in (["a", "b"], ["b", "a"]):
        run = {"q": dict.fromkeys(items, 1.0)}
        assert evaluate_spans(EVIDENCE, run, 1, chunks=chunks).value("SpanRecall@1") == 1
        found = evaluate_spans(EVIDENCE, run, 1, chunks=chunks, policy={"ties": "input"})
        assert found.value("SpanRecall@1") == (items[0] == "b")
    for order in (1, -1):
        run = {"q": [("d", 0, 10, 1.0), ("d", 10, 20, 1.0)][::order]}
        assert evaluate_spans(EVIDENCE, run, 1).value("SpanRecall@1") == 0


def test_runs_with_chunks_of_their_own_are_compared():
    evidence = {str(query): [("d", query, query + 4)] for query in range(30)}
    small = {str(query): [f"s{query // 5}", f"s{query // 5 + 1}"] for query in range(30)}
    large = {str(query): [("d", query // 20 * 20, query // 20 * 20 + 20)] for query in range(30)}
    table = {f"s{at}": ("d", 5 * at, 5 * at + 5) for at in range(8)}
    found = evaluate_spans(evidence, {"s": small, "l": large}, 2, chunks={"s": table})
    assert found.values("SpanRecall@2")["s"] == dict.fromkeys(evidence, 1.0)
    pair = compare_values(found.values("IoU@2"), baseline="l").pair()
    assert pair.difference == pytest.approx(found.value("IoU@2", "s") - found.value("IoU@2", "l"))


def test_missing_queries_evidence_out_of_reach_and_the_median():
    evidence = {"p": EVIDENCE["q"], "q": EVIDENCE["q"], "r": [("gone", 0, 5)]}
    run = {"p": [("d", 0, 20)], "r": [("d", 0, 5)]}
    with pytest.warns() as caught:
        found = evaluate_spans(evidence, run, 1)
    assert [str(one.message) for one in caught] == [
        "run has no results for 1 of 3 judged queries (q), and missing=zero counts them as empty "
        "lists.",
        "1 of 2 documents with evidence never occurs in run for judged queries (gone). Their "
        "evidence counts as not retrieved. Check that both use the same document ids.",
    ]
    assert found.warnings() == [str(one.message) for one in caught]
    assert found.values("CharactersToAll")["run"] == {"p": 20, "q": math.inf, "r": math.inf}
    assert found.value("CharactersToAll") == math.inf
    assert found.value("SpanRecall@1") == pytest.approx(1 / 3)
    with pytest.warns():
        skipped = evaluate_spans(evidence, run, 1, policy={"missing": "skip"})
    assert skipped.values("SpanRecall@1")["run"] == {"p": 1.0, "r": 0.0}
    assert skipped.to_frame(per_query=True)["IoU@1"].to_list() == [0.5, None, 0.0]
    with pytest.raises(InputError, match=r"no results for 1 of 3 judged queries \(q\)"):
        evaluate_spans(evidence, run, 1, policy={"missing": "error"})
    graded = {"p": [("d", 0, 5, 1)], "q": [("d", 0, 5, 0)]}
    with pytest.warns(match=r"1 query has no evidence of grade 1 or above \(q\)"):
        assert evaluate_spans(graded, {"p": [("d", 0, 5)]}, 1).queries == ("p",)


def test_a_golden_set_with_scores_may_be_the_run():
    run = pl.DataFrame({**ROW, "score": [12.5]})
    with pytest.warns(match="scores were taken for grades. If the two were given in the wrong"):
        evaluate_spans(run, pl.DataFrame(ROW), 1)
    graded = run.rename({"score": "grade"})
    assert evaluate_spans(graded, {"q": [("d", 1, 5)]}, 1).warnings() == []


def test_result_in_all_formats(tmp_path):
    evidence = {str(query): [("d", query, query + 4)] for query in range(10)}
    run = {str(query): [("d", 0, 3 + query)] for query in range(10)}
    found = evaluate_spans(evidence, run, [1, 5])
    assert found.to_text().splitlines()[:3] == [
        "measure          run   value          95 % CI  queries",
        "SpanRecall@1     run  0.7500                –       10",
        "SpanRecall@5     run  0.7500                –       10",
    ]
    assert found.to_dict(per_query=True)["queries"][0]["run"] == "run"
    never = evaluate_spans(evidence, {"0": [("d", 0, 3)], "1": [("d", 9, 12)]}, 1)
    by_query = json.loads(never.to_json(per_query=True))["queries"]
    assert {row["CharactersToAll"] for row in by_query} == {"Infinity"}
    for ending in (".json", ".csv", ".md", ".html", ".txt", ".parquet"):
        found.save(tmp_path / f"spans{ending}")
    assert found.to_frame().columns == ["measure", "run", "value", "low", "high", "method"]


@for_each(
    "judgements, run, options, message",
    [
        (
            {"q": [("d", 9, 5)]},
            EVIDENCE,
            {},
            "the spans, query 'q': start 9 is greater than end 5. A span is [start, end), with "
            "start before end.",
        ),
        (
            EVIDENCE,
            pl.DataFrame({**ROW, "start": [-1]}),
            {},
            "the spans, row 1: the start is -1; an offset is a whole number from 0.",
        ),
        (
            {"q": [("d", 5, 5)]},
            EVIDENCE,
            {},
            "the spans, query 'q': the evidence in document 'd' from 5 to 5 is empty. The end is "
            "the first character after the evidence.",
        ),
        (
            EVIDENCE,
            pl.DataFrame(ROW).drop("doc"),
            {},
            "the spans: doc missing. The first line must name the columns query, doc, start and "
            'end; the columns are "query", "start", "end". A run of chunk ids needs a table of '
            "chunks: chunks.",
        ),
        (
            EVIDENCE,
            {"q": ["a", "b"]},
            {"chunks": {"a": ("d", 0, 5)}},
            "a dict: 1 chunk is not in the chunks (b). Give the table of the chunks that a dict "
            "names.",
        ),
        (
            EVIDENCE,
            {"q": ["a"]},
            {"chunks": pl.DataFrame({"item": ["a", "a"], **{n: v * 2 for n, v in ROW.items()}})},
            "the chunks, row 2: item 'a' has a span already; give it one row.",
        ),
        (
            EVIDENCE,
            {"one": EVIDENCE},
            {"chunks": {"other": pl.DataFrame(ROW)}},
            "chunks: there is no run 'other'",
        ),
        ({"q": ["d"]}, EVIDENCE, {}, "the spans: query 'q' has 'd'; spans are a dict {query:"),
        ({"q": [("d", 0, 5, 0)]}, EVIDENCE, {}, "no span has grade 1 or above"),
        (EVIDENCE, {"r": [("d", 0, 5)]}, {}, "have no query in common"),
        (EVIDENCE, EVIDENCE, {"k": []}, "k is empty"),
        (EVIDENCE, EVIDENCE, {"policy": {"empty": "skip"}}, "empty in policy has no meaning"),
        (EVIDENCE, EVIDENCE, {"policy": {"ties": "best"}}, "spans break ties by id or by input"),
    ],
)
def test_errors(judgements, run, options, message):
    with pytest.raises((InputError, PolicyError)) as error:
        evaluate_spans(judgements, run, **options)
    assert message in str(error.value)


def test_names_of_measures_and_runs():
    found = evaluate_spans(EVIDENCE, {"a": EVIDENCE, "b": EVIDENCE}, 1)
    assert error_of(found.values, "IoU@2") == (
        "measure must be one of SpanRecall@1, SpanPrecision@1, IoU@1, CharactersToAll; got "
        "'IoU@2'; did you mean 'IoU@1'?"
    )
    assert error_of(found.value, "IoU@1") == "run must be a or b; got None."
