"""`judged conventions`: the list, one library, and all of them on a run."""

from __future__ import annotations

import json

import pytest

from judged.conventions import conventions, find
from support.loops import for_each


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Print tables without wrapping."""
    monkeypatch.setenv("COLUMNS", "1000")


QRELS = "q 0 a 1\nq 0 b 0\nq 0 c 1\nlost 0 a 1\n"
RUN = "q Q0 a 1 3.0 r\nq Q0 x 2 2.0 r\nq Q0 c 3 1.0 r\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


def test_the_list_names_every_convention_with_its_version(judged):
    result = judged("conventions")
    assert (result.code, result.err) == (0, "")
    for each in conventions().values():
        line = next(line for line in result.out.splitlines() if line.split()[:1] == [each.name])
        assert f"{each.title} {each.version}".rstrip() in line
    assert result.out.endswith(
        "'judged conventions NAME' explains one of them; 'judged conventions QRELS RUN' compares "
        "all of them on a run.\n"
    )


@for_each("name", conventions())
def test_a_page_tells_all_that_is_known(judged, name):
    known = find(name)
    text = judged("conventions", name).out
    marked = judged("conventions", name, "--format", "markdown").out.replace("\\", "")
    record = json.loads(judged("conventions", name, "--format", "json").out)
    assert text.startswith(f"{known.name}: {known.title}")
    for said in (
        *known.differences,
        *known.wrong,
        *(each.theirs for each in known.names),
        known.verified,
    ):
        assert said in text
        assert said.replace("\\", "") in marked
    assert [each["theirs"] for each in record["names"]] == [each.theirs for each in known.names]
    assert record["wrong"] == list(known.wrong)
    assert record["policy"] == dict(known.policy)


def test_the_comparison(judged, files):
    result = judged("conventions qrels run -m AP@2 -v")
    # q finds one of two relevant items at rank 1: 1/2 of 1, and lost counts as 0: 1/4 in the mean.
    # torchmetrics divides by the one that was found: 1/2 in the mean. pytrec_eval leaves lost out.
    rows = {line.strip().split("  ")[0]: line.split() for line in result.out.splitlines()}
    assert (result.code, result.err) == (0, "")
    assert "0.2500" in rows["AP@2"]
    assert "0.5000" in rows["AP(norm=retrieved)@2, ties=expected"]
    assert "0.5000" in rows["AP@2, missing=skip"]
    assert "stops" in rows["AP@2, missing=error"]
    assert "judged queries that the run lacks are left out" in result.out
    assert (
        "stops: run lacks 1 of 2 judged queries (lost), and missing=error says to stop;"
        in result.out
    )


def test_a_relevance_list(judged):
    # (1/2 + 2/3) / 3, as written; the mean over the orders of the tie is ((1 + 2/3) + (1/2 + 2/3))
    # / 2 / 2 where it is divided by the two that are in the list.
    result = judged("conventions '(0 1) 1 -' -m AP@10 --relevant 3 -v")
    rows = {line.strip().split("  ")[0]: line.split() for line in result.out.splitlines()}
    assert (result.code, result.err) == (0, "")
    assert "0.3889" in rows["AP@10"]
    assert "0.7083" in rows["AP(norm=retrieved)@10, ties=expected"]
    assert "0.5000" in judged("conventions '- 1' -m RR").out.splitlines()[2]


def test_what_is_refused(refuses, files):
    refuses("""
    conventions qrels
        judged: judgements and a run are needed, in this order. One table can hold both: with
        columns for the query, its relevant ids and its retrieved ids, or…
    conventions -m AP@10
        Error: to compare conventions give two files: QRELS RUN; or one that holds both; or a
        relevance list.
    conventions qrels run run
        Error: give one run: QRELS RUN; got 3 files.
    conventions ranks
        judged: There is no convention 'ranks'; did you mean 'ranx'? The conventions are beir,
        clap, clip, cwl-eval, elasticsearch, evidently, gldv2, haystack,…
    conventions qrels run -o nix/out.json
        judged: nix/out.json: there is no folder nix; make it first.
    conventions -o out.tex
        judged: out.tex: the ending says the format, and must be .json, .csv, .md, .html, .txt
        or .parquet.
    """)
