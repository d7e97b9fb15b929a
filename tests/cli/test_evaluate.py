"""`judged evaluate`: what it prints, in every format, and what it writes."""

import io
import json
import sys

import polars as pl


def test_the_table_with_policy_and_findings(judged, files):
    result = judged("evaluate qrels a.run b.run -m RR -m P@2")
    # RR of a: (1/2 + 1 + 0) / 3 = 0.5; P@2 of a: (1/2 + 1/2 + 0) / 3 = 1/3. b: RR 1, P@2 (1/2 + 1 +
    # 1/2) / 3 = 2/3.
    lines = [line.split() for line in result.out.splitlines() if line.strip() and "─" not in line]
    assert lines[:3] == [["run", "RR", "P@2"], ["a", "0.5000", "0.3333"], ["b", "1.0000", "0.6667"]]
    assert (result.code, len(lines)) == (0, 3)
    assert result.err == (
        "warning: a: The run has no results for 1 of 3 judged queries (q3), which "
        "count as empty lists. Use --missing skip to leave them out.\n"
        "warning: Only 50.0 % (a) to 100.0 % (b) of the top-2 results are judged. Unjudged results "
        "count as not relevant (see --unjudged-range).\n"
    )


def test_verbose_says_everything_and_quiet_nothing(judged, files):
    arguments = ("evaluate", "qrels", "a.run", "b.run", "-m", "RR", "-m", "P@2")
    brief, verbose, quiet = (judged(*arguments, *more) for more in ((), ("-v",), ("--quiet",)))
    assert (quiet.code, quiet.out, quiet.err) == (0, brief.out, "")
    assert verbose.err == brief.err
    assert verbose.out == (
        f"{brief.out}\npolicy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant\n"
        "note: a: 1 query of the run without judgements ignored.\n"
        "measure: RR is Reciprocal rank with k=none, rel=1, aggregate=mean\n"
        "measure: P@2 is Precision with k=2, rel=1, short=pad, aggregate=mean\n"
    )
    both = judged(*arguments, "-v", "-q")
    assert (both.code, both.out) == (2, "")
    assert "--verbose and --quiet exclude each other; give one of them." in both.err


def test_per_query_table(judged, files):
    lines = judged("evaluate qrels a.run -m RR --per-query --missing skip").out.splitlines()
    rows = [line.split() for line in lines if line.strip() and "─" not in line]
    assert rows[0] == ["run", "query", "RR"]
    assert rows[1:5] == [
        ["a", "q1", "0.5000"],
        ["a", "q2", "1.0000"],
        ["a", "q3", "–"],
        ["a", "all", "0.7500"],
    ]


def test_csv(judged, files):
    text = judged("evaluate qrels a.run b.run -m RR,P@2 --format csv").out
    assert text.splitlines()[3:] == [
        "# warning: a: The run has no results for 1 of 3 judged queries (q3); which "
        "count as empty lists. Use --missing skip to leave them out."
    ]
    frame = pl.read_csv(io.StringIO(text), comment_prefix="#")
    assert frame.columns == ["run", "RR", "P@2"]
    assert frame.rows() == [("a", 0.5, 1 / 3), ("b", 1.0, 2 / 3)]
    # Who knows no comments gets a line more, and the same numbers.
    assert pl.read_csv(io.StringIO(text)).head(2).equals(frame)
    assert pl.read_csv(io.StringIO(text)).row(2)[1:] == (None, None)
    quiet = ("evaluate", "qrels", "a.run", "b.run", "-m", "RR,P@2", "--format", "csv", "-q")
    assert pl.read_csv(io.StringIO(judged(*quiet).out)).equals(frame)


def test_trec(judged, files):
    warned = (
        "warning\tall\tThe run has no results for 1 of 3 judged queries (q3), which "
        "count as empty lists. Use --missing skip to leave them out.\n"
    )
    found = judged("evaluate qrels a.run -m RR --format trec").out
    assert found == f"RR\tall\t0.5\n{warned}"
    several = judged("evaluate qrels a.run b.run -m P@2 --format trec --per-query -q").out
    assert several.splitlines() == [
        "runid\tall\ta", "P@2\tq1\t0.5", "P@2\tq2\t0.5", "P@2\tq3\t0.0", f"P@2\tall\t{1 / 3!r}",
        "runid\tall\tb", "P@2\tq1\t0.5", "P@2\tq2\t1.0", "P@2\tq3\t0.5", f"P@2\tall\t{2 / 3!r}",
    ]  # fmt: skip


def test_output_file_takes_its_format_from_its_name(judged, files):
    result = judged("evaluate qrels a.run -m RR -o scores.json")
    warning = (
        "warning: The run has no results for 1 of 3 judged queries (q3), which "
        "count as empty lists. Use --missing skip to leave them out."
    )
    wrote = f"wrote scores.json ({(files / 'scores.json').stat().st_size:,} bytes)"
    assert (result.code, result.out, result.err) == (0, "", f"{warning}\n{wrote}\n")
    assert json.loads((files / "scores.json").read_text())["runs"][0]["scores"] == {"RR": 0.5}
    judged("evaluate qrels a.run -m RR -o table.txt")
    assert (files / "table.txt").read_text().splitlines() == [
        "run      RR",
        "a    0.5000",
        "",
        warning,
        "3 queries; definitions and notes: -v",
    ]


def test_standard_input(judged, files, monkeypatch):
    text = (files / "a.run").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    found = judged("evaluate qrels - -m RR --format trec -q")
    assert found.out == "RR\tall\t0.5\n"


def test_a_spinner_shows_names_as_they_are(monkeypatch):
    import io

    from judged.cli import _terminal

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with _terminal.working("Reading a[/1].run"):
        pass
    assert "Reading a[/1].run" in screen.getvalue()


def test_order_digits_and_percent(judged, files):
    arguments = ("evaluate", "qrels", "a.run", "b.run", "-m", "RR", "-m", "P@2", "-q")
    found = judged(*arguments, "--sort", "RR", "--percent", "--decimals", "1")
    assert found.out == "run   RR %  P@2 %\nb    100.0   66.7\na     50.0   33.3\n"
    assert judged(*arguments, "--sort", "P@2", "--format", "csv").out.splitlines()[1] == (
        f"b,1.0,{2 / 3!r}"
    )
    latex = judged(
        *arguments, "--format", "latex", "--caption", "Runs", "--label", "tab:runs", "--decimals", 2
    ).out
    assert latex.splitlines()[2:4] == ["\\caption{Runs}", "\\label{tab:runs}"]
    assert "b & \\textbf{1.00} & \\textbf{0.67} \\\\" in latex


def names(result) -> list[str]:
    return [row["name"] for row in json.loads(result.out)["runs"]]


def test_runs_are_named_by_their_files_or_by_whoever_gives_them(judged, files):
    (files / "sub").mkdir()
    for name in ("bm25.run.txt", "bm25.v2.trec", "x=y.run", "sub/bm25.run"):
        (files / name).write_bytes((files / "a.run").read_bytes())
    ask = ("-m", "RR", "--format", "json")
    assert names(judged("evaluate qrels bm25.run.txt", *ask)) == ["bm25"]
    assert names(judged("evaluate qrels bm25.v2.trec", *ask)) == ["bm25.v2"]
    assert names(judged("evaluate qrels x=y.run", *ask)) == ["x=y"]
    named = judged("evaluate qrels 'first stage=a.run' b.run", *ask)
    assert names(named) == ["first stage", "b"]
    twice = judged("evaluate qrels bm25.run.txt sub/bm25.run mine=a.run", *ask)
    assert names(twice) == ["bm25.run.txt", "sub/bm25.run", "mine"]
    assert names(judged("evaluate qrels mine=x=y.run", *ask)) == ["mine"]


def test_what_is_refused(refuses, files):
    refuses("""
    evaluate qrels a.run --decimals 2 --format csv
        Error: --decimals is for text, markdown, html or latex; csv has no use for it.
    evaluate qrels a.run --percent -o x.parquet
        Error: --percent is for text, markdown, html or latex; parquet has no use for it.
    evaluate qrels a.run --caption Runs
        Error: --caption is for latex; text has no use for it.
    evaluate qrels =a.run
        judged: =a.run: no such file; a run with a name is NAME=FILE.
    evaluate qrels mine=
        judged: mine=: no such file; a run with a name is NAME=FILE.
    """)
