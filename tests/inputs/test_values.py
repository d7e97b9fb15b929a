"""Values of queries that any tool computed, by every way in."""

from __future__ import annotations

import json
import math
import random
from collections import namedtuple
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import judged
from judged.errors import InputError
from judged.inputs.values import QueryValues, values_of
from judged.text import Warned
from support.errors import error_of
from support.hostile import NAMES
from support.loops import for_each
from support.tables import every_form

GOLDEN = Path(__file__).parents[1] / "golden" / "trec_eval"
KEY = ["run", "measure", "query"]

Nested = Mapping[str, Mapping[str, Mapping[str, float]]]
NESTED: Nested = {
    "bm25": {"AP": {"q1": 0.5, "q2": 1.0}, "Rank": {"q1": 2.0, "q2": math.inf}},
    "dense": {"AP": {"q2": 0.25, "q1": 0.0}, "Rank": {"q1": 1.0, "q2": 3.0}},
}


def refused(given: Any, message: str, measure_name: Any = None) -> None:
    assert error_of(values_of, given, measure_name=measure_name) == message


def long(nested: Nested) -> pl.DataFrame:
    rows = [
        (run, measure, query, float(value))
        for run, measures in nested.items()
        for measure, values in measures.items()
        for query, value in values.items()
    ]
    schema = {"run": pl.String, "measure": pl.String, "query": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def same(found: QueryValues, nested: Nested = NESTED) -> None:
    assert_frame_equal(found.frame.sort(KEY), long(nested).sort(KEY))
    assert found.frame.columns == [*KEY, "value"]
    assert found.runs == tuple(nested)


def test_one_measure() -> None:
    given = {"a": {"q1": 1, "q2": np.float32(0.5)}, "b": {"q2": 0, "q1": 0.25}}
    for name, called in ((None, "value"), ("AP", "AP")):
        expected = {run: {called: values} for run, values in given.items()}
        same(values_of(given, measure_name=name), expected)
        wide = pl.DataFrame({"query": ["q1", "q2"], "a": [1, 0.5], "b": [0.25, 0]}, strict=False)
        same(values_of(wide, measure_name=name), expected)
        same(values_of(wide.to_pandas().set_index("query"), measure_name=name), expected)
        same(
            values_of({run: pd.Series(of) for run, of in given.items()}, measure_name=name),
            expected,
        )


def forms(nested: Nested, folder: Path) -> dict[str, Any]:
    """The same values by every way in."""
    frame = long(nested)
    wide = frame.pivot("measure", index=["run", "query"], values="value")
    judged_json = {
        "runs": [
            {
                "name": run,
                "per_query": {
                    query: {
                        measure: values[query] if math.isfinite(values[query]) else "Infinity"
                        for measure, values in measures.items()
                    }
                    for query in next(iter(measures.values()))
                },
            }
            for run, measures in nested.items()
        ],
        "judged": "0.1.0",
    }
    row = namedtuple("row", ["metric", "system", "score", "qid"])
    written = {
        "long.tsv": frame.rename({"run": "system", "query": "topic"}).write_csv(separator="\t"),
        "semicolon.csv": frame.write_csv(separator=";"),
        "wide.csv": wide.write_csv(),
        "judged.json": json.dumps(judged_json, indent=2),
        "one line.json": json.dumps(judged_json),
        "nested.json": json.dumps(nested),
    }
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return {
        **every_form(frame, folder),
        "dict": nested,
        "wide": wide,
        "wide pandas": wide.to_pandas().set_index(["run", "query"]),
        "tuples": [row(b, a, d, c) for a, b, c, d in frame.iter_rows()],
        "shuffled": frame.sample(fraction=1, shuffle=True, seed=3).sort("run", maintain_order=True),
        "tables": {run: frame.filter(pl.col("run") == run).drop("run") for run in nested},
        **{name: folder / name for name in written},
    }


@pytest.mark.parametrize("seed", range(12))
def test_the_same_by_every_way_in(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    names = [name.replace("\x00", "0") for name in draw.sample(NAMES, 9)]
    runs, queries = names[:3], [*names[3:], "all", "1", "007"]
    measures = ["AP", *draw.sample([f"{name}!" for name in NAMES if "\x00" not in name], 2)]
    nested = {
        run: {
            measure: {
                query: draw.choice([0.0, 1.0, 1 / 3, -2.5e-300, 1e17, math.inf, draw.random()])
                for query in queries
            }
            for measure in measures
        }
        for run in sorted(runs)
    }
    for name, given in forms(nested, tmp_path).items():
        try:
            found = values_of(given)
        except InputError as error:
            raise AssertionError(name) from error
        order = dict.fromkeys(found.runs)
        same(found, {run: nested[run] for run in order})
        assert len(order) == 3, name


def test_several_files(tmp_path: Path) -> None:
    for run, measures in NESTED.items():
        frame = long({run: measures}).drop("run")
        frame.write_csv(tmp_path / f"{run}.csv")
        frame.pivot("measure", index="query", values="value").write_csv(
            tmp_path / f"{run}.wide.csv"
        )
        (tmp_path / f"{run}.json").write_text(json.dumps(measures))
        lines = [f"{q} {m} {v}" for m, values in measures.items() for q, v in values.items()]
        (tmp_path / f"{run}.txt").write_text("\n".join(lines) + "\nall AP 0.5\n")
    for end in ("csv", "json", "txt"):
        same(values_of([tmp_path / f"{run}.{end}" for run in NESTED]))
        same(values_of([f"{run}={tmp_path / run}.{end}" for run in NESTED]))
    same(values_of([f"{run}={tmp_path / run}.wide.csv" for run in NESTED]))
    # "AP" and "Rank" cannot be runs: both files would have them.
    found = values_of([tmp_path / f"{run}.wide.csv" for run in NESTED])
    assert found.runs == ("bm25.wide", "dense.wide")
    assert found.measures == ("AP", "Rank")


def test_lines_without_names(tmp_path: Path) -> None:
    # A query called "user" is no header beside a number.
    (tmp_path / "a.txt").write_text("user 1\nq2 0.5\n")
    (tmp_path / "b.csv").write_text("q2,0\nuser, .25\t\n")
    expected = {"a": {"x": {"user": 1.0, "q2": 0.5}}, "b": {"x": {"user": 0.25, "q2": 0.0}}}
    same(values_of([tmp_path / "a.txt", tmp_path / "b.csv"], measure_name="x"), expected)


def test_dicts_of_other_libraries() -> None:
    scores = {"q1": {"map": 0.5, "P_5": 0.2}, "q2": {"map": 1.0, "P_5": 0.4}}  # pytrec_eval's
    expected = {"map": {"q1": 0.5, "q2": 1.0}, "P_5": {"q1": 0.2, "q2": 0.4}}
    same(values_of({"a": scores, "b": scores}), {"a": expected, "b": expected})
    same(values_of(scores), {"run": expected})
    same(values_of(expected), {"run": expected})
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    rows = list(ir_measures.iter_calc([ir_measures.AP, ir_measures.nDCG @ 10], qrels, run))
    one = {"AP": {"q": 1.0}, "nDCG@10": {"q": 1.0}}
    same(values_of({"a": iter(rows), "b": rows}), {"a": one, "b": one})
    pyterrier = pd.DataFrame({"name": ["a"], "qid": ["q"], "measure": ["AP"], "value": [1.0]})
    same(values_of(pyterrier), {"a": {"AP": {"q": 1.0}}})


def evaluated() -> judged.Evaluation:
    judgements = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}, "q3": {"d": 0}, "all": {"a": 1}}
    runs = {
        "x, y": {"q1": ["b", "a"], "q2": ["b"], "q3": ["a"], "all": ["a"]},
        'b"2': {"q1": ["a"], "q2": ["c", "b"], "q3": ["d"], "all": ["b"]},
    }
    return judged.evaluate(judgements, runs, "AP, Rank, nDCG@10", policy={"empty": "skip"})


def test_what_judged_writes(tmp_path: Path) -> None:
    found = evaluated()
    expected: dict[str, dict[str, dict[str, float]]] = {}
    for row in found.to_frame(per_query=True).unpivot(index=["run", "query"]).iter_rows():
        run, query, measure, value = row
        if value is not None and value == value:
            expected.setdefault(run, {}).setdefault(measure, {})[query] = value
    found.save(tmp_path / "own.json", per_query=True)
    found.save(tmp_path / "own.csv", per_query=True)
    found.save(tmp_path / "own.parquet", per_query=True)
    same(values_of(tmp_path / "own.parquet"), expected)
    for given in (tmp_path / "own.json", tmp_path / "own.csv", found.to_dict(per_query=True)):
        read = values_of(given)
        same(read, expected)
        assert read.measures == ("AP", "Rank", "nDCG@10")
        assert "1 query without a value of AP, Rank and nDCG@10 in any run left out ('q3')." in [
            *read.notes
        ]
        warned = [note for note in read.notes if isinstance(note, Warned)]
        assert any(
            "of 4 queries did not retrieve the item whose rank it is. Use RR" in note
            for note in warned
        )
    assert values_of(tmp_path / "own.json").higher_is_better == {
        "AP": True, "Rank": False, "nDCG@10": True
    }  # fmt: skip


def test_what_judged_writes_as_trec_eval_does(tmp_path: Path) -> None:
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"x y": {"q1": ["b", "a"], "q2": ["a"]}, "z": {"q1": ["b", "c", "a"], "q2": ["b"]}}
    path = tmp_path / "own.trec"
    judged.evaluate(judgements, {"x y": runs["x y"]}, "AP, Rank").save(path, per_query=True)
    found = values_of(path)
    same(found, {"own": {"AP": {"q1": 0.5, "q2": 0.0}, "Rank": {"q1": 2.0, "q2": math.inf}}})
    assert found.notes == (
        f"{path}: Rank is infinite: 1 of 2 queries did not retrieve the item whose rank it "
        "is. Use RR, which is finite.",
    )
    judged.evaluate(judgements, runs, "AP").save(path, per_query=True)
    refused(path, f"{path}: holds several runs; give each run in a file of its own.")


def test_ranges_and_weights_are_no_measures(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "run,query,weight,AP,AP worst,AP unjudged relevant\na,q,2.0,1.0,0.5,1.0\nb,q,2.0,0.0,0,1\n"
        "# warning: mind the gap; (a)\n"
    )
    found = values_of(path)
    same(found, {"a": {"AP": {"q": 1.0}}, "b": {"AP": {"q": 0.0}}})
    assert found.notes == (
        f"{path}: mind the gap; (a)",
        f"{path}: The weights of queries are not read from here: every query counts once, unless "
        "weights are given.",
        f'{path}: not read: columns "AP worst", "AP unjudged relevant".',
    )


@pytest.mark.parametrize("case", ["plain", "graded", "ties", "no_relevant", "deep", "whitespace"])
@pytest.mark.parametrize("file", ["all_q.out", "no_summary.out"])
def test_what_trec_eval_prints(case: str, file: str) -> None:
    path = GOLDEN / case / file
    expected: dict[str, dict[str, float]] = {}
    tag = path.name
    for line in path.read_text().splitlines():
        measure, query, value = line.split("\t")
        measure = measure.strip()
        if measure == "runid":
            tag = value
        elif query != "all" and measure not in (
            *("num_ret", "num_rel", "num_nonrel_judged_ret", "relstring"),
        ):
            expected.setdefault(measure, {})[query] = float(value)
    same(values_of(path), {tag if tag != path.name else path.name: expected})
    same(values_of([f"A={path}", f"B={path}"]), {"A": expected, "B": expected})
    found = values_of([path, GOLDEN / case / ".." / case / file])
    assert len(found.runs) == 2
    assert f"{path}: the values are rounded to four decimals." in found.notes


def test_notes_on_trec_eval(tmp_path: Path) -> None:
    path = tmp_path / "a.out"
    path.write_text("num_ret\t1\t5\nmap\t1\t0.5000\nmap\tall\t0.5000\nrunid\tall\tSTANDARD\n")
    found = values_of(path)
    assert found.runs == ("STANDARD",)
    assert found.notes == (
        f"{path}: not read, because these are no measures: num_ret.",
        f"{path}: the values are rounded to four decimals.",
    )


def test_different_policies_are_said_and_other_measures_refused(tmp_path: Path) -> None:
    judgements, run = {"q": {"a": 1}}, {"q": ["a"]}
    for name, more in {
        "a": {},
        "b": {"policy": {"ties": "best"}},
        "c": {"convention": "ranx"},
    }.items():
        measure = "map" if "convention" in more else "AP"
        found = judged.evaluate(judgements, {name: run}, measure, **more)  # type: ignore[arg-type]
        found.save(tmp_path / f"{name}.json", per_query=True)
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    assert (
        f"{a} and {b} were evaluated under different policies: a difference may come from that."
        in values_of([a, b]).notes
    )
    text = a.read_text().replace('"norm": "relevant"', '"norm": "retrieved"')
    (tmp_path / "d.json").write_text(text.replace('"name": "a"', '"name": "d"'))
    refused([a, tmp_path / "d.json"], f"{a} and {tmp_path / 'd.json'}: AP is not the same measure "
            "in both; evaluate all runs with the same convention.")  # fmt: skip


# Values that are errors, each with its whole message


FORMS = "{run: {query: value}}, {run: {measure: {query: value}}}, a table or files"
NAN = "NaN; give a number, or leave the query out of all runs."
NOT_ZERO = "A system that did not run is not a system that scored zero."
RUNS_OR_MEASURES = (
    "If they are runs, give measure_name; if measures, name the run: NAME=FILE, or a column run."
)


@for_each(
    ("text", "message"),
    [
        ("", ": the file is empty."),
        ("query,a\n", ": holds no rows."),
        ("query,a\nq1,\n", ": holds no values."),
        ("query,a,b\nq1,1,x\n", ", line 2: the value of query 'q1' in run 'b' is no number: 'x'."),
        (
            "query,a\nq1,1_000\n",
            ", line 2: the value of query 'q1' in run 'a' is no number: '1_000'.",
        ),
        ("query,a\nq1,nan\n", f", line 2: the value of query 'q1' in run 'a' is {NAN}"),
        (
            "run,query,value\na,q1,1\n\na,q1,1\n",
            ", line 4: query 'q1' has a value of 'value' in run 'a' already, in {path}. Give each "
            "query one value, and each run a name of its own, as in NAME=FILE.",
        ),
        *(
            (
                f"run,query,measure,value\na,q1,AP,1\na,q2,AP,1\nb,q1,AP,1\n{last}",
                ": run 'b' has no value of 'AP' for 1 query that run 'a' has ('q2'); give all runs "
                "the same queries, or leave these out of all.",
            )
            for last in ("", "b,q2,AP,\n")
        ),
        ("query,a,b\nq1,1,\nq2,1,\n", f": run 'b' has no values. {NOT_ZERO}"),
        ("run,query,value\n,q1,1\n", ", line 2: the run is missing."),
        ("run,query,value\na,,1\n", ", line 2: the query is missing."),
        (
            "run,item,value\na,q1,1\n",
            ", line 1: of the three fields, either of the first two may be the measure; name the "
            "columns in a first line, such as measure, query and value.",
        ),
        (
            "run,query,measure\na,q1,AP\n",
            ", line 2: the value of query 'q1' in run 'a' is no number: 'AP'.",
        ),
        ("run,query\na,q1\n", ': no column has values; the columns are "run", "query".'),
        (
            "run,system,query,value\na,b,q1,1\n",
            ': the columns "run" and "system" may both be the run; leave one out.',
        ),
        (
            "query,docno,score\nq1,d,1\n",
            ": this looks like a run (query, item, score), not like values of queries; evaluate it "
            "with judgements first.",
        ),
        (
            "query,AP,dense\nq1,1,1\n",
            ': these may be runs or measures: "AP" is the name of a measure, others are not. '
            f"{RUNS_OR_MEASURES}",
        ),
        (
            "a q1 AP 0.5\n",
            ", line 1: the first line has to name the columns, such as run, query, measure and "
            'value; found "a q1 AP 0.5".',
        ),
        ("map\tall\t0.5\n", ": holds no values of queries, only a summary; print them with -q."),
        ("map\t1\tx\n", ", line 1: the value of query '1' of 'map' is no number: 'x'."),
        (
            '{"runs": [{"name": "a", "scores": {}}], "judged": "0.1.0"}',
            ": holds no values of queries, only their summary; write it with per_query=True.",
        ),
        ('{"a": {"q1": true}}', ": the value of query 'q1' in run 'a' is no number: True."),
        ('{"runs": [], "judged": "0.1.0"}', ": holds no values."),
        ('{"a": {"q1": NaN}}', f": the value of query 'q1' in run 'a' is {NAN}"),
        ('{"a": {"q1": [1]}}', ": the value of query 'q1' in run 'a' is no number: [1]."),
        ('{"a": {"q1": 1}, "b": {}}', f": 'b' has no values. {NOT_ZERO}"),
        (
            '{"a": {"q1": 1}, "b": 2}',
            f": 'b' is 2, where others are dicts. Values of queries are {FORMS}.",
        ),
        (
            '{"query": "q1", "a": 1.5}\n{"query": "q2", "a": true}\n',
            ", line 2: the value of query 'q2' in run 'a' is no number: True.",
        ),
        ("[1, 2]", f", row 1: values of queries are {FORMS}; JSON is such a dict or table."),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "values"
    path.write_text(text)
    refused(path, f"{path}{message.replace('{path}', str(path))}")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, f"values of queries are {FORMS}; got int."),
        (None, f"values of queries are {FORMS}; got NoneType."),
        ({}, "the values given: holds no values."),
        ({"a": np.ones(2)}, f"values of queries are {FORMS}; got ndarray."),
        ({"a": "none.csv"}, "none.csv: no such file."),
        (
            {"a": {"q1": 1}, "b": {"Q1": 1}},
            "the values given: run 'a' has no value of 'value' for 1 query that run 'b' has "
            "('Q1'); give all runs the same queries, or leave these out of all.",
        ),
        (
            pl.DataFrame({"query": ["a"], "bm25": [[0.5]]}),
            "the values given, row 1: the value of query 'a' in run 'bm25' is no number: [0.5].",
        ),
        (
            pl.DataFrame({"query": ["a", "b"], "x": [0.5, math.nan]}),
            f"the values given, row 2: the value of query 'b' in run 'x' is {NAN}",
        ),
        (
            {"a": pl.DataFrame({"run": ["x", "y"], "query": ["q", "q"], "value": [1, 2]})},
            "the values of run 'a': is called 'a', but holds the runs 'x', 'y'; leave the name "
            "out.",
        ),
    ],
)
def test_what_is_refused(given: Any, message: str) -> None:
    refused(given, message)


def test_names_that_do_not_fit(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.csv").write_text("run,query,AP\nsame,q1,1\n")
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    refused(
        [a, b],
        f"{b}, line 2: query 'q1' has a value of 'AP' in run 'same' already, in {a}. Give each "
        "query one value, and each run a name of its own, as in NAME=FILE.",
    )
    assert values_of([f"x={a}", f"y={b}"]).runs == ("x", "y")
    refused([f"x={a}", f"x={b}"], "two runs are called 'x'; give each a name of its own.")
    refused(
        a,
        "measure_name is 'RR', but the values say themselves which measures they are of ('AP'); "
        "leave it out.",
        "RR",
    )
    refused(a, "measure_name must be a text; got 3.", 3)
