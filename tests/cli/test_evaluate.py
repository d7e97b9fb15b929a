"""`judged evaluate`: what it prints, in every format, and what it writes."""

import gzip
import io
import json
import math
import re
import sys

import polars as pl
import pytest


def test_the_table_with_policy_and_findings(judged, files):
    result = judged("evaluate", "qrels", "a.run", "b.run", "-m", "RR", "-m", "P@2")
    # RR of a: (1/2 + 1 + 0) / 3 = 0.5; P@2 of a: (1/2 + 1/2 + 0) / 3 = 1/3. b: RR 1, P@2 (1/2 + 1 +
    # 1/2) / 3 = 2/3.
    lines = [line.split() for line in result.out.splitlines() if line.strip() and "─" not in line]
    assert lines[:3] == [["run", "RR", "P@2"], ["a", "0.5000", "0.3333"], ["b", "1.0000", "0.6667"]]
    assert (result.code, len(lines)) == (0, 3)
    assert result.err == (
        "warning: a: The run has no results for 1 of 3 judged queries (q3), which "
        "count as empty lists. Use missing=skip to leave them out.\n"
        "warning: Only 50.0 % (a) to 100.0 % (b) of the top-2 results are judged. Unjudged results "
        "count as not relevant (see unjudged_range, --unjudged-range).\n"
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
    lines = judged(
        "evaluate", "qrels", "a.run", "-m", "RR", "--per-query", "--missing", "skip"
    ).out.splitlines()
    rows = [line.split() for line in lines if line.strip() and "─" not in line]
    assert rows[0] == ["run", "query", "RR"]
    assert rows[1:5] == [
        ["a", "q1", "0.5000"],
        ["a", "q2", "1.0000"],
        ["a", "q3", "–"],
        ["a", "all", "0.7500"],
    ]


def test_json(judged, files):
    result = json.loads(
        judged("evaluate", "qrels", "a.run", "-m", "RR", "--format", "json", "--per-query").out
    )
    assert list(result) == [
        "runs",
        "warnings",
        "measures",
        "policy",
        "convention",
        "definition",
        "judged",
    ]
    [run] = result["runs"]
    assert list(run) == ["name", "scores", "per_query", "audit"]
    assert (run["name"], run["scores"]) == ("a", {"RR": 0.5})
    assert run["per_query"] == {"q1": {"RR": 0.5}, "q2": {"RR": 1.0}, "q3": {"RR": 0.0}}
    assert (run["audit"]["missing_queries"], run["audit"]["missing_query_ids"]) == (1, ["q3"])
    assert result["measures"]["RR"]["parameters"] == {"k": None, "rel": 1, "aggregate": "mean"}
    assert result["policy"] == {
        "ties": "id",
        "missing": "zero",
        "empty": "zero",
        "unjudged": "nonrelevant",
    }


def test_json_without_per_query_has_none(judged, files):
    [run] = json.loads(judged("evaluate", "qrels", "a.run", "--format", "json").out)["runs"]
    assert "per_query" not in run
    assert list(run["scores"]) == ["AP", "nDCG@10", "RR", "P@10", "R@100"]


def test_an_infinite_rank_is_valid_json(judged, files):
    text = judged("evaluate", "qrels", "a.run", "-m", "MeanRank", "--format", "json").out

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    [run] = json.loads(text, parse_constant=refuse)["runs"]
    assert run["scores"] == {"MeanRank": "Infinity"}


def test_csv(judged, files):
    text = judged("evaluate", "qrels", "a.run", "b.run", "-m", "RR,P@2", "--format", "csv").out
    assert text.splitlines()[3:] == [
        "# warning: a: The run has no results for 1 of 3 judged queries (q3); which "
        "count as empty lists. Use missing=skip to leave them out."
    ]
    frame = pl.read_csv(io.StringIO(text), comment_prefix="#")
    assert frame.columns == ["run", "RR", "P@2"]
    assert frame.rows() == [("a", 0.5, 1 / 3), ("b", 1.0, 2 / 3)]
    # Who knows no comments gets a line more, and the same numbers.
    assert pl.read_csv(io.StringIO(text)).head(2).equals(frame)
    assert pl.read_csv(io.StringIO(text)).row(2)[1:] == (None, None)
    quiet = ("evaluate", "qrels", "a.run", "b.run", "-m", "RR,P@2", "--format", "csv", "-q")
    assert pl.read_csv(io.StringIO(judged(*quiet).out)).equals(frame)


METHODS = (
    "Rankings were evaluated with judged 0.2.0. RR (Reciprocal rank): 1 divided by the rank of the "
    "first relevant item; 0 "
    "where there is none down to k. Here, an item is relevant from grade 1 on; the summary is the "
    "mean over the queries. Tied "
    "results are ordered by item id, descending on bytes (trec_eval's rule). A judged query that "
    "the run lacks counts as an "
    "empty list. A query with nothing relevant gets the worst value. Unjudged items count as not "
    "relevant. Summaries are over "
    "all 3 judged queries. References: E. M. Voorhees. The TREC-8 question answering track report. "
    "TREC-8, 1999, 77-82."
)


def test_markdown(judged, files):
    assert judged("evaluate", "qrels", "a.run", "-m", "RR", "--format", "markdown").out == (
        "| run | RR |\n| --- | ---: |\n| a | 0.5000 |\n\n"
        "**Warning: The run has no results for 1 of 3 judged queries (q3), which "
        "count as empty lists. Use missing=skip to leave them out.**\n\n"
        "<details><summary>Definitions and notes</summary>\n\n"
        "- policy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant\n"
        "- note: 1 query of the run without judgements ignored.\n"
        "- measure: RR is Reciprocal rank with k=none, rel=1, aggregate=mean\n"
        f"- {METHODS}\n\n</details>\n"
    )


def test_latex(judged, files):
    (files / "a.run").rename(files / "a_b&c.run")
    lines = judged(
        "evaluate", "qrels", "a_b&c.run", "-m", "RR", "--format", "latex"
    ).out.splitlines(keepends=True)
    comments = [line for line in lines if line.startswith("% ")]
    assert " ".join(line.removeprefix("% ").strip() for line in comments).endswith(METHODS)
    assert max(map(len, comments)) <= 121
    warning = (
        "The run has no results for 1 of 3 judged queries (q3), which count as empty lists. Use "
        "missing=skip to leave them out."
    )
    assert "".join([*comments[:3], *lines[len(comments) :]]).replace(
        "leave\n% them", "leave them"
    ) == (
        f"% warning: {warning}\n"
        "% policy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant\n"
        "\\begin{tabular}{lr}\n\\toprule\nrun & RR \\\\\n\\midrule\na\\_b\\&c & 0.5000 "
        "\\\\\n\\bottomrule\n\\end{tabular}\n"
        f"\\par\\smallskip\\parbox{{\\linewidth}}{{\\footnotesize Warning: {warning}}}\n"
    )


def test_trec(judged, files):
    warned = (
        "warning\tall\tThe run has no results for 1 of 3 judged queries (q3), which "
        "count as empty lists. Use missing=skip to leave them out.\n"
    )
    found = judged("evaluate", "qrels", "a.run", "-m", "RR", "--format", "trec").out
    assert found == f"RR\tall\t0.5\n{warned}"
    several = judged(
        "evaluate", "qrels", "a.run", "b.run", "-m", "P@2", "--format", "trec", "--per-query", "-q"
    ).out
    assert several.splitlines() == [
        "runid\tall\ta", "P@2\tq1\t0.5", "P@2\tq2\t0.5", "P@2\tq3\t0.0", f"P@2\tall\t{1 / 3!r}",
        "runid\tall\tb", "P@2\tq1\t0.5", "P@2\tq2\t1.0", "P@2\tq3\t0.5", f"P@2\tall\t{2 / 3!r}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ([], (1 / 2 + 1 + 0) / 3),
        (["--missing", "skip"], (1 / 2 + 1) / 2),
        (["--depth", "1"], (0 + 1 + 0) / 3),
        (["--unjudged", "removed"], (1 + 1 + 0) / 3),
    ],
)
def test_policy_options_change_the_number(judged, files, options, value):
    result = json.loads(
        judged("evaluate", "qrels", "a.run", "-m", "RR", "--format", "json", *options).out
    )
    assert result["runs"][0]["scores"]["RR"] == pytest.approx(value, abs=1e-15)


def test_ties_and_duplicates_options(judged, files):
    (files / "c.run").write_text("q1 Q0 x 1 1.0 c\nq1 Q0 z 2 1.0 c\nq1 Q0 z 3 0.5 c\n")

    def score(*options: str) -> float:
        arguments = (
            "evaluate",
            "qrels",
            "c.run",
            "-m",
            "RR",
            "--missing",
            "skip",
            "--duplicates",
            "first",
            *options,
        )
        return json.loads(judged(*arguments, "--format", "json").out)["runs"][0]["scores"]["RR"]

    # x is relevant, z is not, both score 1: z stands first by id, x by input.
    assert [score("--ties", rule) for rule in ("id", "input", "best", "worst")] == [
        0.5,
        1.0,
        1.0,
        0.5,
    ]


def test_expected_ties(judged, files):
    (files / "c.run").write_text("q1 Q0 x 1 1.0 c\nq1 Q0 z 2 1.0 c\n")
    result = judged(
        "evaluate",
        "qrels",
        "c.run",
        "-m",
        "RR",
        "--missing",
        "skip",
        "--ties",
        "expected",
        "--format",
        "trec",
        "-q",
    )
    assert result.out == "RR\tall\t0.75\n"


def test_ranges(judged, files):
    (files / "c.run").write_text("q1 Q0 x 1 1.0 c\nq1 Q0 y 2 1.0 c\n")
    arguments = (
        "evaluate",
        "qrels",
        "c.run",
        "a.run",
        "-m",
        "RR",
        "--missing",
        "skip",
        "--tie-range",
        "--unjudged-range",
    )
    # x and y tie at ranks 1 and 2, y first by id. In a, y stands above x, and n below u.
    names = [
        "RR",
        "RR worst",
        "RR expected",
        "RR best",
        "RR unjudged irrelevant",
        "RR unjudged relevant",
    ]
    table = pl.read_csv(io.StringIO(judged(*arguments, "--format", "csv", "-q").out))
    assert table.columns == ["run", *names]
    assert table.rows() == [
        ("c", 0.5, 0.5, 0.75, 1.0, 0.5, 1.0),
        ("a", 0.75, 0.75, 0.75, 0.75, 0.75, 1.0),
    ]
    rows = [line.split() for line in judged(*arguments).out.splitlines()]
    assert ["c", "RR", "0.5000", "0.5000", "0.7500", "1.0000", "0.5000", "1.0000"] in rows
    assert "where the measures look, judged is" in judged(*arguments, "-v").out
    queries = [line.split() for line in judged(*arguments, "--per-query").out.splitlines()]
    assert ["a", "q2", "RR", *["1.0000"] * 6] in queries
    assert ["a", "all", "RR", *["0.7500"] * 5, "1.0000"] in queries


def test_collection_size_allows_true_negatives(judged, files):
    result = judged(
        "evaluate", "qrels", "a.run", "-m", "TN@1", "--collection", "10", "--format", "trec", "-q"
    )
    # q1: 10 - 1 shown - 1 lost = 8; q2: 10 - 1 - 1 = 8; q3: 10 - 0 - 1 = 9.
    assert result.out == "TN@1\tall\t25.0\n"


def test_output_file_takes_its_format_from_its_name(judged, files):
    result = judged("evaluate", "qrels", "a.run", "-m", "RR", "-o", "scores.json")
    warning = (
        "warning: The run has no results for 1 of 3 judged queries (q3), which "
        "count as empty lists. Use missing=skip to leave them out."
    )
    wrote = f"wrote scores.json ({(files / 'scores.json').stat().st_size:,} bytes)"
    assert (result.code, result.out, result.err) == (0, "", f"{warning}\n{wrote}\n")
    assert json.loads((files / "scores.json").read_text())["runs"][0]["scores"] == {"RR": 0.5}
    judged("evaluate", "qrels", "a.run", "-m", "RR", "-o", "table.txt")
    assert (files / "table.txt").read_text().splitlines() == [
        "run      RR",
        "a    0.5000",
        "",
        warning,
        "definitions and notes: verbose (-v)",
    ]


def test_compressed_input_and_other_formats(judged, files):
    (files / "a.run.gz").write_bytes(gzip.compress((files / "a.run").read_bytes()))
    (files / "rows").write_text("query,item,grade\nq1,x,1\nq2,u,2\nq2,v,1\nq3,w,1\n")
    result = judged(
        "evaluate",
        "rows",
        "a.run.gz",
        "-m",
        "RR",
        "--format",
        "trec",
        "--qrels-format",
        "csv",
        "--run-format",
        "trec",
        "-q",
    )
    assert result.out == "RR\tall\t0.5\n"


def test_standard_input(judged, files, monkeypatch):
    text = (files / "a.run").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    found = judged("evaluate", "qrels", "-", "-m", "RR", "--format", "trec", "-q")
    assert found.out == "RR\tall\t0.5\n"


def test_two_runs_of_one_name_keep_their_paths(judged, files):
    (files / "other").mkdir()
    (files / "other" / "a.run").write_text((files / "b.run").read_text())
    result = json.loads(
        judged("evaluate", "qrels", "a.run", "other/a.run", "-m", "RR", "--format", "json").out
    )
    assert [run["name"] for run in result["runs"]] == ["a.run", "other/a.run"]


def test_the_best_run_is_bold_only_on_a_terminal(judged, files, monkeypatch):
    from rich.console import Console

    from judged.cli import _terminal

    assert "\x1b[" not in judged("evaluate", "qrels", "a.run", "b.run").out
    monkeypatch.setattr(
        _terminal, "console", lambda: Console(force_terminal=True, color_system="standard")
    )
    shown = judged("evaluate", "qrels", "a.run", "b.run", "-m", "RR").out
    # Versions of rich differ in where they put the blanks of a cell.
    assert re.search(r"\x1b\[1m *1\.0000", shown)
    assert not re.search(r"\x1b\[1m *0\.5000", shown)


def test_a_measure_with_spaces_and_a_list_in_one_option(judged, files):
    result = json.loads(
        judged("evaluate", "qrels", "a.run", "-m", "P( rel = 2 ) @ 1, AP", "--format", "json").out
    )
    scores = result["runs"][0]["scores"]
    assert list(scores) == ["P(rel=2)@1", "AP"]
    assert math.isclose(scores["P(rel=2)@1"], 1 / 3)


def test_brackets_in_names_are_shown_as_they_are(judged, files):
    (files / "bm25[b=0.4].run").write_text("q[/1] Q0 x 1 3.0 t\n")
    (files / "own").write_text("q[/1] 0 x 1\n")
    result = judged("evaluate", "own", "bm25[b=0.4].run", "-m", "P@1", "--per-query")
    assert (result.code, result.err) == (0, "")
    rows = [line.split() for line in result.out.splitlines()]
    assert ["bm25[b=0.4]", "q[/1]", "1.0000"] in rows
    compared = judged("conventions", "own", "bm25[b=0.4].run", "-m", "P@1")
    assert (compared.code, compared.err) == (0, "")


def test_names_are_not_taken_for_pictures(judged, files):
    (files / "x:cat:y.run").write_text((files / "a.run").read_text())
    result = judged("evaluate", "qrels", "x:cat:y.run", "b.run", "-m", "P@1")
    assert "warning: x:cat:y: " in result.err


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


@pytest.mark.parametrize("width", [40, 80])
def test_numbers_stay_whole_on_a_narrow_terminal(judged, files, monkeypatch, width):
    from rich.console import Console

    from judged.cli import _terminal

    monkeypatch.setattr(_terminal, "console", lambda: Console(width=width, highlight=False))
    named = "a-run-whose-name-is-longer-than-half-of-a-narrow-terminal"
    (files / f"{named}.run").write_text((files / "a.run").read_text())
    wanted = [f"{name}@{k}" for name in ("P", "R", "nDCG", "Success") for k in (5, 10, 20)]
    options = [word for measure in wanted for word in ("-m", measure)]
    shown = judged("evaluate", "qrels", f"{named}.run", *options).out
    values = (
        judged("evaluate", "qrels", f"{named}.run", *options, "--format", "csv")
        .out.splitlines()[1]
        .split(",")[1:]
    )
    assert max(len(line) for line in shown.splitlines() if named not in line) <= width
    table = shown.partition("warning:")[0].split()
    assert [word for word in table if "@" in word] == wanted
    assert [word for word in table if word.startswith(("0.", "1."))] == [
        f"{float(value):.4f}" for value in values
    ]


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--decimals", "2", "--format", "csv"),
            "--decimals is for text, markdown, html or latex; csv has no use for it.",
        ),
        (
            ("--percent", "-o", "x.parquet"),
            "--percent is for text, markdown, html or latex; parquet has no use for it.",
        ),
        (("--caption", "Runs"), "--caption is for latex; text has no use for it."),
    ],
)
def test_a_look_that_a_format_does_not_have(judged, files, options, message):
    result = judged("evaluate", "qrels", "a.run", *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert not (files / "x.parquet").exists()


def test_an_order_by_what_was_not_evaluated(judged, files):
    result = judged("evaluate", "qrels", "a.run", "-m", "RR", "--sort", "AP")
    assert (result.code, result.out) == (2, "")
    assert result.err == "judged: AP was not evaluated; there is RR.\n"


def names(result) -> list[str]:
    return [row["name"] for row in json.loads(result.out)["runs"]]


def test_runs_are_named_by_their_files_or_by_whoever_gives_them(judged, files):
    (files / "sub").mkdir()
    for name in ("bm25.run.txt", "bm25.v2.trec", "x=y.run", "sub/bm25.run"):
        (files / name).write_bytes((files / "a.run").read_bytes())
    ask = ("-m", "RR", "--format", "json")
    assert names(judged("evaluate", "qrels", "bm25.run.txt", *ask)) == ["bm25"]
    assert names(judged("evaluate", "qrels", "bm25.v2.trec", *ask)) == ["bm25.v2"]
    assert names(judged("evaluate", "qrels", "x=y.run", *ask)) == ["x=y"]
    named = judged("evaluate", "qrels", "first stage=a.run", "b.run", *ask)
    assert names(named) == ["first stage", "b"]
    twice = judged("evaluate", "qrels", "bm25.run.txt", "sub/bm25.run", "mine=a.run", *ask)
    assert names(twice) == ["bm25.run.txt", "sub/bm25.run", "mine"]
    assert names(judged("evaluate", "qrels", "mine=x=y.run", *ask)) == ["mine"]


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (["=a.run"], "=a.run: no such file; a run with a name is NAME=FILE."),
        (["mine="], "mine=: no such file; a run with a name is NAME=FILE."),
        (["mine=nix.run"], "nix.run: no such file."),
        (["x=a.run", "x=b.run"], "two runs are called 'x'; give each a name of its own."),
    ],
)
def test_names_that_cannot_be(judged, files, runs, message):
    refused = judged("evaluate", "qrels", *runs)
    assert (refused.code, refused.out, refused.err) == (2, "", f"judged: {message}\n")


def test_a_named_run_is_not_written_over(judged, files):
    before = (files / "a.run").read_bytes()
    refused = judged("evaluate", "qrels", "mine=a.run", "-o", "a.run", "--format", "text")
    assert refused.code == 2
    assert (files / "a.run").read_bytes() == before


def test_no_decimals_are_a_number_of_decimals(judged, files):
    percent = judged(
        "evaluate", "qrels", "a.run", "-m", "P@3", "--percent", "--decimals", "0", "-q"
    )
    assert percent.out == "run  P@3 %\na       33\n"
