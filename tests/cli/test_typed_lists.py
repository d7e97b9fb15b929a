"""Relevance lists in place of files: "0 1 0 0 1", one for each query."""

from __future__ import annotations

from pathlib import Path

TWO = ("1 1 0 0 1 0 0", "0 1 1 0 0 1 1")  # AP 13/15 and 47/84


def test_two_searches(judged):
    result = judged("evaluate", *TWO, "-m", "AP", "--per-query")
    assert (result.code, result.err) == (0, "")
    values = [line.split()[-1] for line in result.out.splitlines()[1:]]
    assert values == ["0.8667", "0.5595", "0.7131"]
    # P@2 + P@5 = 1/2 + 2/5, over 3 relevant items
    assert "0.3000" in judged("evaluate", "0 1 0 0 1", "-m", "AP", "--relevant", "3").out
    ranges = judged("evaluate", "0 (1 0) 1", "-m", "AP", "--tie-range", "--format", "csv").out
    assert str((1 / 3 + 2 / 4) / 2)[:10] in ranges


def test_every_question(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in ("plot precision-recall", "plot cmc", "plot measure-at-k"):
        result = judged(*command.split(), *TWO, "1 0", "--relevant", "4", "-o", "x.csv")
        assert result.code == 0, result.err
    result = judged("conventions", *TWO, "0 1", "-m", "AP", "--format", "json")
    assert str((13 / 15 + 47 / 84 + 1 / 2) / 3)[:12] in result.out
    assert ": 0.5595" in judged("explain", *TWO, "-m", "AP", "--query", "2").out


def test_a_file_wins(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(tmp_path / "1 0").write_text('{"query": "q", "relevant": ["a"], "retrieved": ["b", "a"]}')
    for command in ("evaluate", "explain", "conventions"):
        assert "0.5" in judged(command, "1 0", "-m", "RR").out


def test_errors(refuses, files):
    refuses("""
    evaluate '0 1' run
        judged: '0 1' is a relevance list, which replaces judgements and a run; 'run' is not.
        Give relevance lists alone, or judgements and runs.
    evaluate qrels run --relevant 3
        judged: --relevant is the number of relevant items of a relevance list. With judgements,
        write the lowest relevant grade into the measure, such as P(rel=4)@10.
    evaluate '0 1 -- 1'
        judged: '0 1 -- 1' is not a relevance list: '--' is neither a grade nor - (not judged).
        Write the grades in rank order, such as "0 1 0 0 1".
    evaluate '0 1' --depth 1
        judged: depth cuts the lists of a run; write a relevance list as long as it should be.
    plot scores '0 1' -o x.csv
        judged: scores cannot be drawn from relevance lists; it needs judgements and one run with
        its items and scores.
    explain '0 1' '1 0'
        judged: name the query to explain, such as --query 1; there are 2 judged queries: 1, 2.
    """)
