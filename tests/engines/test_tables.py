"""Tables that stay where they are: what they may look like, and what is refused."""

from __future__ import annotations

import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import ibis
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import judged
from judged.cli import cli
from judged.engines import tables
from judged.errors import EngineError, InputError, PolicyError
from support.engines import sqlite_database, told
from support.errors import error_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning"),
]

JUDGEMENTS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}, "q3": {"d": 1}}
ROWS = "('q1', 'c', 0.5), ('q1', 'x', 0.5), ('q1', 'a', 0.25), ('q2', 'b', 1.0), ('q9', 'a', 1.0)"
NAMES = "query, item, score"


CONNECTION = duckdb.connect()  # relations of older versions do not keep theirs


def relation(rows: str = ROWS, names: str = NAMES, types: str = "*") -> Any:
    return CONNECTION.sql(f"SELECT {types} FROM (VALUES {rows}) AS run({names})")


def audits(evaluation: judged.Evaluation) -> list[str]:
    (audit,) = evaluation.audit.values()
    return audit.sentences()


def test_only_judged_queries_leave_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []
    stream = tables.DatabaseTable.batches

    def watched(self: Any, table: Any) -> Any:
        for batch in stream(self, table):
            fetched.extend(batch["query"].to_list())
            yield batch

    monkeypatch.setattr(tables.DatabaseTable, "batches", watched)
    many = ", ".join(f"('other', 'u{n}', {1 + n})" for n in range(100))
    rankings = judged.Rankings.from_run(JUDGEMENTS, relation(f"{ROWS}, {many}"))
    assert rankings.retrieved.tolist() == [3, 1, 0]
    assert fetched == ["q1", "q1", "q1", "q2"]


@pytest.mark.parametrize("limit", [0, 10])
@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_batches_and_filters_change_nothing(
    limit: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that come unfiltered, or in batches that cut queries, give the same rankings."""
    monkeypatch.setattr(tables, "MAX_FILTERED_QUERIES", limit)
    monkeypatch.setattr(tables.DatabaseTable, "batches", _in_batches(batch))
    table = relation()
    found = judged.Rankings.from_run(JUDGEMENTS, table)
    assert found.hit_rank.tolist() == [2, 3]
    assert found.hit_tie_first.tolist() == [1, 3]
    assert found.audit == judged.Rankings.from_run(JUDGEMENTS, pl.DataFrame(table)).audit


def _in_batches(rows: int) -> Any:
    def batches(self: Any, table: Any) -> Any:
        yield from self.fetch(table).iter_slices(rows)

    return batches


def test_judgements_in_a_table_come_by_their_ids() -> None:
    rows = "('q2', 'a', 1, 'x'), ('q1', 'b', 0, 'x'), ('q1', 'a', 1, 'x'), ('q1', 'c', 2, 'x')"
    table = relation(rows, "query, item, grade, long_text")
    found = judged.evaluate(table, relation(), "AP, nDCG@10").to_dict(per_query=True)
    local = judged.evaluate(
        {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}}, pl.DataFrame(relation()), "AP, nDCG@10"
    ).to_dict(per_query=True)
    assert found["runs"] == local["runs"]
    assert list(found["runs"][0]["per_query"]) == ["q1", "q2"]


def test_of_judgements_twice_the_best_counts() -> None:
    rows = "('q1', 'c', 0), ('q1', 'c', 2), ('q1', 'c', 1)"
    table = relation(rows, "query, item, grade")
    found = judged.evaluate(table, relation(), "nDCG@10", policy={"duplicates": "first"})
    assert (
        found.value() == judged.evaluate({"q1": {"c": 2}}, pl.DataFrame(relation()), "nDCG").value()
    )


def test_columns_are_named() -> None:
    table = relation("('q1', 'f', 1, 0.5), ('q1', 'f', 2, 0.25)", "qid, file, page, s")
    columns = {"query": "qid", "item": ["file", "page"], "score": "s"}
    judgements = {"q1": {"f#2": 1}}
    found, local = (
        judged.evaluate(judgements, run, "RR", columns=columns)
        for run in (table, pl.DataFrame(table))
    )
    assert found.value() == 0.5
    assert found.to_dict()["runs"] == local.to_dict()["runs"]


def test_joined_ids_are_escaped_alike() -> None:
    rows = r"""('q1', 'a#b', 'c', 3), ('q1', 'a', 'b#c', 2), ('q1', 'a\b', 'c', 1)"""
    table = relation(rows, "query, file, page, score")
    columns = {"item": "file+page"}
    judgements = {"q1": {r"a#b\#c": 1, r"a\\b#c": 1}}
    for run in (table, pl.DataFrame(table)):
        assert (
            judged.evaluate(judgements, run, "AP", columns=columns).value() == (1 / 2 + 2 / 3) / 2
        )


def test_uuids_are_texts() -> None:
    of = "00000000-0000-0000-0000-00000000000{}"
    table = relation(f"('q1', '{of.format(1)}', 1.0)", types="query, item::UUID AS item, score")
    assert judged.evaluate({"q1": {of.format(1): 1}}, table, "RR").value() == 1


def test_tables_with_lists_are_read_whole() -> None:
    table = relation("('q1', ['a'], ['b', 'a'])", "query, relevant, retrieved")
    assert judged.evaluate(table, measures="RR").value() == 0.5
    assert judged.evaluate({"q1": {"a": 1}}, table, "RR").value() == 0.5


def test_narwhals_frames_are_tables_too() -> None:
    table = nw.from_native(relation())
    assert judged.Rankings.from_run(JUDGEMENTS, table).hit_rank.tolist() == [2, 3]
    lazy = nw.from_native(pl.DataFrame(relation()).lazy())
    assert judged.Rankings.from_run(JUDGEMENTS, lazy).hit_rank.tolist() == [2, 3]


def test_ranks_give_the_order_of_the_input() -> None:
    table = relation("('q1', 'a', 2), ('q1', 'b', 1)", "query, item, rank")
    assert judged.Rankings.from_run(
        JUDGEMENTS, table, policy={"ties": "input"}
    ).hit_rank.tolist() == [1, 2]


def test_equal_ranks_have_no_order() -> None:
    table = relation("('q1', 'a', 1), ('q1', 'b', 1)", "query, item, rank")
    assert error_of(
        judged.Rankings.from_run, JUDGEMENTS, table, error=PolicyError, policy={"ties": "input"}
    ) == (
        "a DuckDB relation: query 'q1' has results with the same rank, and ties=input needs an "
        "order, which a table does not have; choose ties=id, expected, best or worst."
    )


WRONG = {
    "nan": (
        relation(f"{ROWS}, ('q1', 'z', 'nan'::DOUBLE), ('q2', 'y', 'nan'::DOUBLE)"),
        "a DuckDB relation, query 'q1': the score of item 'z' for query 'q1' is NaN. A NaN cannot "
        "be ranked; give it a number or remove it.",
    ),
    "duplicates": (
        relation(f"{ROWS}, {ROWS}"),
        "a DuckDB relation, query 'q1': query 'q1' has item 'c' more than once (and at least "
        "2 more such pairs). Remove the repetitions, or keep the best-ranked of each with "
        "duplicates='first'.",
    ),
    "no item": (
        relation(f"{ROWS}, ('q1', NULL, 0.5)"),
        "a DuckDB relation, query 'q1': the item is missing.",
    ),
    "only named": (
        relation(f"{ROWS}, ('q1', NULL, NULL)"),
        "a DuckDB relation, query 'q1': the item is missing.",
    ),
    "empty item": (
        relation(f"{ROWS}, ('q1', '', 0.5)"),
        "a DuckDB relation, query 'q1': the item is missing.",
    ),
    "no score": (
        relation(f"{ROWS}, ('q1', 'z', NULL)"),
        "a DuckDB relation, query 'q1': the score is missing.",
    ),
    **{
        f"query {query}": (
            relation(f"{ROWS}, ({query}, 'z', 0.5)"),
            "a DuckDB relation: the query is missing.",
        )
        for query in ("NULL", "''")
    },
    "negative ranks": (
        relation("('q1', 'a', -1), ('q1', 'b', 1)", "query, item, rank"),
        "a DuckDB relation, query 'q1': the rank is -1, but ranks are whole numbers from 0 or 1, "
        "the best first. If the greatest value is the best, the column is a score: "
        "columns={'score': COLUMN}. If tied results share an average "
        "rank, give them whole ranks.",
    ),
    "ranks of a text search": (
        relation("('q1', 'a', 0.06), ('q1', 'b', 0.03)", "query, item, rank"),
        "a DuckDB relation, query 'q1': the rank is 0.06, but ranks are whole numbers from 0 or 1, "
        "the best first. If the greatest value is the best, the column is a score: "
        "columns={'score': COLUMN}. If tied results share an average "
        "rank, give them whole ranks.",
    ),
    "no rows": (
        relation().filter("false"),
        "a DuckDB relation: holds no rows.",
    ),
    "other queries": (
        relation("('Q1', 'a', 1.0)"),
        "a DuckDB relation and the judgements have no query in common. The run has 'Q1'; the "
        "judgements have 'q1', 'q2', 'q3'. They would agree with the run's ids in lower case: ids "
        "are compared as exact texts.",
    ),
    "empty lists": (
        relation("('q1', NULL::VARCHAR, NULL::DOUBLE)"),
        "a DuckDB relation: the run is empty. An empty run is not a system that scored zero; is it "
        "the right one?",
    ),
    "float ids": (
        relation("('q1', 1.5::DOUBLE, 1.0)"),
        'a DuckDB relation: column "item" is Float64, but ids must be strings or integers. Floats '
        "come from missing values in pandas, or from ids read as numbers.",
    ),
    "scores as texts": (
        relation("('q1', 'a', '1.0')"),
        'a DuckDB relation: column "score" is String, but a score must be a number.',
    ),
    "no column": (
        relation("('q1', 'a', 1.0)", "query, item, what"),
        'a DuckDB relation: no column with a score or a rank; the columns are "query", "item", '
        "\"what\". Say which it is: columns={'score': COLUMN}. Or use a "
        "name that is understood: score: ",
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_what_is_wrong_is_named(name: str) -> None:
    table, message = WRONG[name]
    with pytest.raises(InputError) as raised:
        judged.evaluate(JUDGEMENTS, table)
    assert str(raised.value)[: len(message)] == message


def test_one_of_several_is_named() -> None:
    other = relation("(NULL::VARCHAR, 'z', 0.5)")
    with pytest.raises(InputError, match=r"^DuckDB relation 'b': the query is missing"):
        judged.evaluate(JUDGEMENTS, {"a": relation(), "b": other})


def test_the_order_of_the_input_is_refused() -> None:
    assert error_of(
        judged.evaluate, JUDGEMENTS, relation(), error=PolicyError, policy={"ties": "input"}
    ) == (
        "a DuckDB relation: ties=input needs an order, which a table does not have. Give a column "
        "with ranks instead of the score (columns={'rank': COLUMN}), or "
        "choose ties=id, expected, best or worst."
    )


@pytest.mark.parametrize(
    "option", [{"unique": {each: each for each in "abcdx"}}, {"item_to": "doc:#"}]
)
def test_documents_are_read_whole(option: dict[str, Any]) -> None:
    for measure in ("RR", "AP"):
        found = judged.evaluate(JUDGEMENTS, relation(), measure, **option)
        local = judged.evaluate(JUDGEMENTS, pl.DataFrame(relation()), measure, **option)
        assert found.value() == local.value()


def test_a_comparison_of_unjudged_results_reads_tables_whole() -> None:
    runs = {"a": relation(), "b": relation()}
    frames = {name: pl.DataFrame(run) for name, run in runs.items()}
    found, local = (
        judged.compare(JUDGEMENTS, each, "RR", unjudged_range=True).to_dict()
        for each in (runs, frames)
    )
    assert found == local


def test_ids_that_do_not_meet_are_explained() -> None:
    rows = ", ".join(f"('q{n}', 'd{n}.pdf', 1.0)" for n in range(20))
    judgements = {f"q{n}": {f"d{n}": 1} for n in range(20)}
    with pytest.warns(judged.errors.JudgedWarning):
        found = judged.evaluate(judgements, relation(rows), "RR")
    with pytest.warns(judged.errors.JudgedWarning):
        local = judged.evaluate(judgements, pl.DataFrame(relation(rows)), "RR")
    assert audits(found) == audits(local)
    assert any("item_to=" in each for each in audits(found))


def test_a_collation_is_taken_off() -> None:
    con = duckdb.connect()
    collated = "VARCHAR COLLATE NOCASE"
    con.execute(f"CREATE TABLE run (query {collated}, item {collated}, score DOUBLE)")
    con.execute(
        "INSERT INTO run VALUES ('q1', 'x', 3), ('q1', 'a', 1), ('q1', 'A', 2), ('Q1', 'z', 5)"
    )
    frame = pl.DataFrame(con.table("run"))
    for options in ({}, {"policy": {"duplicates": "first"}}):
        local = told(judged.evaluate(JUDGEMENTS, frame, "AP, RR", **options))
        assert local["per_query"]["q1"]["RR"] == 1 / 3
        for table in (con.table("run"), ibis.duckdb.from_connection(con).table("run")):
            assert told(judged.evaluate(JUDGEMENTS, table, "AP, RR", **options)) == local


@pytest.mark.skipif(
    duckdb.__version__.startswith("1.3."), reason="DuckDB 1.3 keeps equal ids of a collation apart"
)
def test_a_collation_that_cannot_be_taken_off_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables.DatabaseTable, "compare_by_bytes", lambda self, table, names: table)
    con = duckdb.connect()
    con.execute("CREATE TABLE run (query VARCHAR COLLATE NOCASE, item VARCHAR, score DOUBLE)")
    con.execute("INSERT INTO run VALUES ('Q1', 'a', 1.0), ('q1', 'x', 0.5), ('Q1', 'b', 0.2)")
    for limit in (0, 10):
        monkeypatch.setattr(tables, "MAX_FILTERED_QUERIES", limit)
        monkeypatch.setattr(tables.DatabaseTable, "batches", _in_batches(1))
        assert error_of(judged.evaluate, JUDGEMENTS, con.table("run"), "RR", error=EngineError) == (
            "a DuckDB relation: its engine does not tell query 'Q1' from another one, because the "
            "column has a collation; use a column whose texts are compared by their bytes."
        )


@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
@pytest.mark.parametrize("type_", ["HUGEINT", "DECIMAL(38,0)"])
def test_large_whole_numbers_are_rounded_once(type_: str) -> None:
    # The second is the double that is nearest to the first; DuckDB makes another of the first.
    given, nearest = (
        8_531_145_441_387_310_445_494_063_538_493_185_622,
        8_531_145_441_387_311_019_926_634_550_517_563_392,
    )
    assert float(given) == float(nearest)
    con = duckdb.connect()
    rows = f"('q1', 'a', '{given}'::{type_}), ('q1', 'x', '{nearest}'::{type_})"
    con.execute(f"CREATE TABLE run AS SELECT * FROM (VALUES {rows}) AS run({NAMES})")
    for table in (con.table("run"), ibis.duckdb.from_connection(con).table("run")):
        for run in (table, pl.DataFrame(con.table("run"))):
            rankings = judged.Rankings.from_run(JUDGEMENTS, run)
            assert rankings.hit_tie_first.tolist() == [1]
            assert rankings.hit_tie_last.tolist() == [2]


@pytest.mark.parametrize("what", ["run", "judgements"])
def test_a_table_that_is_gone(what: str) -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE gone AS SELECT 'q1' AS query, 'a' AS item, 1 AS score, 1 AS grade")
    table = con.table("gone")
    con.execute("DROP TABLE gone")
    given = {"run": (JUDGEMENTS, table), "judgements": (table, {"q1": {"a": 1.0}})}
    assert error_of(judged.evaluate, *given[what], error=EngineError) == (
        "a DuckDB relation: its engine failed (Catalog Error: Table with name gone does not "
        "exist!)."
    )


def test_sqlite_holds_anything_in_any_column(tmp_path: Path) -> None:
    with sqlite_database(tmp_path / "odd.sqlite") as database:
        con = database.con
        con.execute("CREATE TABLE run (query TEXT, item TEXT, score REAL)")
        con.execute("INSERT INTO run VALUES ('q1', 'c', -2), ('q1', 'a', -1), ('q1', 'x', 'n/a')")
        con.execute("CREATE TABLE qrels (query TEXT, item TEXT, grade INTEGER)")
        con.execute("INSERT INTO qrels VALUES ('q1', 'c', 1), ('q1', 'a', 1.5)")
        with pytest.raises(InputError) as raised:
            judged.evaluate(JUDGEMENTS, database.table("run"))
        assert str(raised.value) == (
            'an ibis table: column "score" holds a text in 1 row, but a score must be a number.'
        )
        rankings = judged.Rankings.from_run(database.table("qrels"), {"q1": {"a": 1.0}})
        assert rankings.pool_grade.tolist() == [1.5, 1]
        con.execute("UPDATE qrels SET grade = 'yes' WHERE item = 'c'")
        assert error_of(judged.evaluate, database.table("qrels"), {"q1": {"a": 1.0}}) == (
            'an ibis table: column "grade" holds a text in 1 row, but a grade must be a number.'
        )


WAYS: dict[str, Any] = {
    "explain": lambda run: judged.explain(JUDGEMENTS, run, "RR", query="q1"),
    "fuse": lambda run: judged.fuse({"a": run, "b": {"q1": ["a"]}}),
    "overlap": lambda run: judged.overlap({"a": run, "b": {"q1": ["a"]}}),
    "queue": lambda run: judged.queue(JUDGEMENTS, {"a": run}),
    "check": lambda run: judged.check(JUDGEMENTS, {"a": run}),
    "agreement": lambda run: judged.agreement(run, JUDGEMENTS),
    "merge": lambda run: judged.merge_judgements({"a": run, "b": JUDGEMENTS}),
    "weights": lambda run: judged.evaluate(JUDGEMENTS, {"q1": ["a"]}, weights=run),
    "unique": lambda run: judged.evaluate(JUDGEMENTS, {"q1": ["a"]}, unique=run),
}
"""What brings a table here whole; it has a column for each of them."""


def test_fractions_in_a_column_of_integers_are_not_cut_off(tmp_path: Path) -> None:
    run = {"q1": {"x": 1.25, "c": 1.75, "a": 1.0}}
    both = {"q1": ["a"], "q2": ["a"]}
    weights = {"q1": 0.5, "q2": 1.5, "q3": 0}
    with sqlite_database(tmp_path / "odd.sqlite") as database:
        con, table = database.con, database.table
        con.execute("CREATE TABLE run (query TEXT, item TEXT, score INTEGER)")
        con.execute("INSERT INTO run VALUES ('q1', 'x', 1.25), ('q1', 'c', 1.75), ('q1', 'a', 1)")
        con.execute("CREATE TABLE none (query TEXT, item TEXT, score INTEGER)")
        con.execute("CREATE TABLE weights (query TEXT, weight INTEGER)")
        con.executemany("INSERT INTO weights VALUES (?, ?)", weights.items())
        assert judged.read_run(table("run")).frame["score"].to_list() == [1.25, 1.75, 1.0]
        for name in ("explain", "fuse", "overlap", "queue", "check"):
            assert WAYS[name](table("run")).to_dict() == WAYS[name](run).to_dict(), name
        weighted = judged.evaluate(JUDGEMENTS, both, "RR", weights=table("weights"))
        with pytest.raises(InputError, match="holds no rows"):
            judged.read_run(table("none"))
    assert weighted.value() == judged.evaluate(JUDGEMENTS, both, "RR", weights=weights).value()


def test_texts_and_intervals_are_refused_whatever_reads_them(tmp_path: Path) -> None:
    names = "query, item, score, grade, weight, category"
    days = ", ".join(["INTERVAL 3 DAYS"] * 4)
    failures = {}
    with sqlite_database(tmp_path / "odd.sqlite") as database:
        con = database.con
        con.execute("CREATE TABLE t (query TEXT, item TEXT, score REAL, grade REAL, weight REAL)")
        con.execute("INSERT INTO t VALUES ('q1', 'a', 1, 1, 1), ('q1', 'c', 'n', 'n', 'n')")
        odd = {"sqlite": database.table("t"), "duckdb": relation(f"('q1', 'a', {days})", names)}
        for table in odd:
            for name, way in WAYS.items():
                try:
                    way(odd[table])
                    failures[table, name] = "accepted"
                except InputError:
                    pass
                except BaseException as error:
                    failures[table, name] = repr(error)
    assert failures == {}
    unused = relation("('q1', 'a', 1.0, INTERVAL 3 DAYS)", "query, item, score, age")
    assert judged.read_run(unused).frame.rows() == [("q1", "a", 1.0)]
    with pytest.raises(InputError, match='a DuckDB relation: column "grade" is'):
        judged.evaluate(relation("('q1', 'a', INTERVAL 3 DAYS)", "query, item, grade"), {"q1": []})


def test_an_engine_that_fails_says_so() -> None:
    table = relation().project("query, item, CAST(error('lost') AS DOUBLE) AS score")
    with pytest.raises(EngineError, match=r"^a DuckDB relation: its engine failed \(.*lost.*\)\.$"):
        judged.evaluate(JUDGEMENTS, table)


def test_without_narwhals_tables_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judged.engines.tables.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "narwhals", None)
    assert judged.Rankings.from_run(JUDGEMENTS, relation()).hit_rank.tolist() == [2, 3]


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    """The same table in a DuckDB file and in an SQLite file."""
    con = duckdb.connect(tmp_path / "runs.duckdb")
    con.execute(f"CREATE TABLE bm25 AS SELECT * FROM (VALUES {ROWS}) AS run({NAMES})")
    con.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as other, other:
        other.execute("CREATE TABLE bm25 (query TEXT, item TEXT, score REAL)")
        other.execute(f"INSERT INTO bm25 VALUES {ROWS}")
    return tmp_path


@pytest.mark.parametrize("library", ["duckdb", "sqlite"])
def test_addresses(databases: Path, library: str) -> None:
    address = f"{library}://{databases}/runs.{library}#bm25"
    found = judged.Rankings.from_run(JUDGEMENTS, address)
    assert found.hit_rank.tolist() == [2, 3]


def test_the_command_line_takes_addresses(databases: Path) -> None:
    qrels = databases / "qrels.txt"
    qrels.write_text("q1 0 a 1\nq1 0 c 2\nq2 0 a 1\n", encoding="utf-8")
    address = f"duckdb://{databases}/runs.duckdb"
    asked = ["evaluate", str(qrels), f"{address}#bm25", f"again={address}#bm25", "-m", "RR"]
    found = CliRunner().invoke(cli, [*asked, "--format", "csv"])
    assert found.stdout.splitlines()[:3] == ["run,RR", "bm25,0.25", "again,0.25"]


def test_wrong_addresses(databases: Path) -> None:
    lost = databases / "lost.duckdb"
    for address, message in {
        f"duckdb://{lost}#bm25": f"{lost}: no such file.",
        f"sqlite://{lost}#bm25": f"{lost}: no such file.",
        f"duckdb://{databases}/runs.duckdb#other": f"duckdb://{databases}/runs.duckdb: there is no "
        "table 'other' (",
    }.items():
        with pytest.raises(InputError, match="^" + re.escape(message)):
            judged.evaluate(JUDGEMENTS, address)
    assert not lost.exists()


def test_secrets_of_an_address_are_not_said() -> None:
    with pytest.raises(EngineError) as raised:
        judged.evaluate(JUDGEMENTS, "nowhere://me:secret@host/db?key=secret#t")
    assert "secret" not in str(raised.value).partition("(")[0]


def test_numbers_too_large_for_a_list_are_warned_of() -> None:
    big = float(2**53)
    table = relation(f"('q1', 'a', {big}), ('q1', 'b', {big})")
    with pytest.warns(judged.errors.JudgedWarning, match="tied scores from 2"):
        found = judged.evaluate(JUDGEMENTS, table, "RR")
    assert np.isfinite(found.value())
