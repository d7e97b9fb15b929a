"""`judged plot`: every kind from files, what it refuses, and its help."""

from __future__ import annotations

import json

import pytest

from judged.charts.kinds import KINDS, NEEDS
from support.temperatures import made_study


def test_a_chart_from_files(judged, files):
    result = judged(
        "plot", "precision-recall", "qrels", "a.run", "--query", "q1", "-o", "curve.json"
    )
    assert result.code == 0
    assert result.out == ""
    assert (
        result.err.splitlines()[0]
        == "<Chart precision-recall: Precision and recall of a, query q1: AP 0.5000>"
    )
    # y x z: the one relevant item stands at rank 2.
    rows = json.loads((files / "curve.json").read_text())["datasets"]["table"]
    assert [(row["rank"], row["precision"]) for row in rows] == [(1, 0.0), (2, 0.5), (3, 0.3333333)]


def test_options_and_policy_arrive(judged, files):
    arguments = (
        "measure-at-k",
        "qrels",
        "a.run",
        "b.run",
        "-m",
        "P",
        "-k",
        "2",
        "--missing",
        "skip",
        "-o",
        "p.json",
    )
    assert judged("plot", *arguments).code == 0
    rows = json.loads((files / "p.json").read_text())["datasets"]["table"]
    # a: q1 finds x at 2, q2 finds u at 1; q3 is missing and skipped. b: x, v and w at 1, u at 2.
    assert [(row["run"], row["k"], row["value"]) for row in rows] == [
        ("a", 1, 0.5),
        ("a", 2, 0.5),
        ("b", 1, 1.0),
        ("b", 2, 0.6666667),
    ]


def test_a_picture(judged, files):
    assert (
        judged(
            "plot", "confusion", "qrels", "a.run", "-k", 2, "--theme", "dark", "-o", "c.png"
        ).code
        == 0
    )
    assert (files / "c.png").read_bytes()[:4] == b"\x89PNG"


def test_size_title_and_notes_of_a_picture(judged, files):
    arguments = ("cmc", "qrels", "a.run", "b.run", "--theme", "page", "--width", 420)
    assert judged("plot", *arguments, "--height", 200, "-o", "c.svg").code == 0
    svg = (files / "c.svg").read_text()
    assert 'viewBox="0 0 420 ' in svg
    assert "var(--s1)" in svg
    titled = ("cmc", "qrels", "a.run", "--title", "Mine", "--no-notes", "-o", "c.json")
    assert judged("plot", *titled).code == 0
    assert json.loads((files / "c.json").read_text())["title"] == {"text": "Mine", "subtitle": []}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--width", 10, "-o", "c.svg"), "width must be a whole number from 160 to 4,000; got 10."),
        (
            ("--theme", "page", "-o", "c.png"),
            "the theme 'page' has names of colours, for an SVG inside a page; draw the chart with "
            "the theme light or dark.",
        ),
    ],
)
def test_a_design_that_is_refused(judged, files, options, message):
    result = judged("plot", "cmc", "qrels", "a.run", *options)
    assert result.code != 0
    assert message in " ".join(result.err.split())


def test_the_help_lists_every_kind(judged):
    text = judged("plot", "--help").out
    for kind in KINDS.values():
        assert f"  {kind.name} " in text
        assert kind.title in text
        assert NEEDS[kind.needs].usage in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("precision-recal", "qrels", "a.run", "-o", "x.png"),
            "judged: There is no chart 'precision-recal'; did you mean 'precision-recall'?",
        ),
        (
            ("confusion", "qrels", "a.run", "b.run", "-o", "x.png"),
            "confusion needs judgements and one run: judged plot confusion QRELS RUN -o FILE.",
        ),
        (
            ("eleven-point", "qrels", "a.run", "-k", "3", "-o", "x.png"),
            "-k has no meaning for eleven-point; its options: --rel.",
        ),
        (
            ("confusion", "qrels", "a.run", "-o", "x.gif"),
            "judged: x.gif: the ending says the format, and must be .png, .svg, .pdf, .html, "
            ".json, .csv or .parquet.",
        ),
        (
            ("confusion", "qrels", "a.run", "-o", "none/x.png"),
            "judged: none/x.png: there is no folder none; make it first.",
        ),
        (("confusion", "qrels", "none.run", "-o", "x.png"), "judged: none.run: no such file."),
    ],
)
def test_what_is_refused(judged, files, arguments, message):
    result = judged("plot", *arguments)
    assert result.code != 0
    assert message in result.err
    assert not list(files.glob("x.*"))


def test_charts_of_results_and_of_pairs(judged, files):
    (files / "p.run").write_text("q1 Q0 y 1 0.9 p\nq1 Q0 x 2 0.5 p\nq2 Q0 u 1 0.8 p\n")
    for arguments in (
        ("scores", "qrels", "p.run", "--bins", 4, "--unjudged", "removed"),
        ("reliability", "qrels", "p.run", "--bins", 2),
        ("rank-flow", "qrels", "a.run", "b.run", "--ties", "input"),
        ("differences", "qrels", "a.run", "b.run", "-m", "RR", "--missing", "zero"),
        ("scatter", "qrels", "a.run", "b.run", "-m", "RR", "--missing", "skip"),
        ("rank-histogram", "qrels", "a.run", "--of", "first"),
        ("ranges", "qrels", "a.run", "b.run", "-m", "RR", "-m", "AP"),
        ("roc", "qrels", "a.run", "--collection", 10),
        ("cmc", "qrels", "a.run", "b.run"),
    ):
        result = judged("plot", *arguments, "-o", f"{arguments[0]}.json")
        assert result.code == 0, result.err
        assert json.loads((files / f"{arguments[0]}.json").read_text())["datasets"]["table"]
    flow = json.loads((files / "rank-flow.json").read_text())
    # q1: 1/2 for x. q2: 1/2 for u and 2/3 for v. q3: 1 for w, which a lacks.
    assert flow["title"]["text"] == "From a to b, query q2"


@pytest.fixture
def runs(files):
    """Twelve queries with a relevant item x: at rank 1 in good, at 2 or 3 in bad, in middling at 1
    in some of them."""
    queries = [f"q{at:02}" for at in range(12)]
    (files / "q.txt").write_text("".join(f"{query} 0 x 1\n" for query in queries))
    lists = {
        "good": lambda at: "xyz",
        "bad": lambda at: "yxz" if at % 2 else "yzx",
        "middling": lambda at: "xyz" if at % 3 else "yxz",
    }
    for name, ranked in lists.items():
        lines = [
            f"{query} Q0 {item} {rank} {9 - rank} {name}\n"
            for at, query in enumerate(queries)
            for rank, item in enumerate(ranked(at), 1)
        ]
        (files / f"{name}.run").write_text("".join(lines))
    return files


ALL = ("q.txt", "good.run", "bad.run", "middling.run")


def rows_of(path):
    return json.loads(path.read_text())["datasets"]["table"]


def test_a_forest_is_the_comparison_of_the_same_options(judged, runs):
    how = ("-m", "RR", "-m", "P@1", "--baseline", "good", "--test", "randomisation", "--seed", "3")
    how = (*how, "--correction", "bonferroni", "--level", "0.9", "--margin", "RR=0.1")
    assert judged("compare", *ALL, *how, "-o", "c.json").code == 0
    result = judged("plot", "forest", *ALL, *how, "-o", "f.json")
    assert result.code == 0, result.err
    assert result.err.splitlines()[0] == "<Chart forest: Differences from good>"
    pairs = json.loads((runs / "c.json").read_text())["pairs"]
    drawn = rows_of(runs / "f.json")
    assert len(pairs) == len(drawn) == 4
    for pair, row in zip(pairs, drawn, strict=True):
        for name in ("measure", "run", "against", "verdict"):
            assert row[name] == pair[name]
        for name, number in (
            ("difference", pair["difference"]),
            ("low", pair["interval"]["low"]),
            ("high", pair["interval"]["high"]),
            ("corrected_p", pair["corrected_p"]),
        ):
            assert row[name] == (number if number is None else pytest.approx(number, rel=1e-6))
        assert row["margin"] == (0.1 if row["measure"] == "RR" else None)
        assert row["level"] == 0.9


def test_a_chart_of_systems_is_of_several_or_of_one(judged, runs):
    assert judged("plot", "systems", *ALL, "-m", "RR", "-o", "s.json").code == 0
    rows = rows_of(runs / "s.json")
    assert [row["run"] for row in rows] == ["good", "middling", "bad"]
    assert all(row["rank_low"] >= 1 for row in rows)
    one = judged(
        "plot", "systems", "q.txt", "bad.run", "-m", "RR", "--level", "0.8", "-o", "o.json"
    )
    assert one.code == 0, one.err
    assert judged(
        "evaluate", "q.txt", "bad.run", "-m", "RR", "--ci", "--level", "0.8", "-o", "e.csv"
    )
    [row] = rows_of(runs / "o.json")
    assert (row["run"], row["level"], row["rank_low"]) == ("bad", 0.8, None)
    _, said = (runs / "e.csv").read_text().splitlines()
    found = [float(cell) for cell in said.split(",")[1:]]
    assert [row["value"], row["low"], row["high"]] == pytest.approx(found, rel=1e-5)
    refused = judged("plot", "systems", "q.txt", "bad.run", "--test", "sign", "-o", "x.svg")
    assert refused.err == "judged: a comparison needs at least two runs; got one, bad.\n"


def test_charts_of_a_pair_take_the_options_of_a_comparison(judged, runs):
    for kind in ("differences", "scatter"):
        result = judged(
            "plot",
            kind,
            *ALL[:3],
            "-m",
            "RR",
            "--level",
            "0.9",
            "--baseline",
            "bad",
            "-o",
            "d.json",
        )
        assert result.code == 0, result.err
        assert "its 90 % interval" in result.err
        row = rows_of(runs / "d.json")[0]
        assert (row["run_a"], row["run_b"], row["verdict"]) == ("bad", "good", "better")


def test_repeats_are_one_system_in_charts(judged, runs):
    repeated = "new=good.run,middling.run"
    for kind in ("forest", "systems", "differences", "scatter"):
        options = ("q.txt", "bad.run", repeated, "-m", "RR", "-o", f"{kind}.svg")
        if kind not in ("forest", "systems"):
            options = (*options, "--theme", "dark")
        result = judged("plot", kind, *options)
        assert result.code == 0, result.err
        assert "new" in (runs / f"{kind}.svg").read_text()


def test_a_system_that_did_not_run_is_not_drawn_as_one_that_scored_zero(judged, files):
    for kind in ("forest", "systems", "differences", "scatter"):
        result = judged("plot", kind, "qrels", "a.run", "b.run", "-o", "x.svg")
        assert result.err == (
            "judged: a has no results for 1 (q3) of the 3 judged queries that b has. Did it run "
            "on all of them? To compare anyway, use policy={'missing': 'zero'} (--missing zero) to "
            "score these queries 0, or missing=skip to leave them out.\n"
        )
        assert not (files / "x.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("forest", "q.txt"), "forest needs judgements and two or more runs: judged plot forest "),
        (
            ("forest", "q.txt", "bad.run"),
            "judged: a comparison needs at least two runs; got one, bad.\n",
        ),
        (
            ("forest", *ALL, "--baseline", "god"),
            "judged: the baseline 'god' is not one of the runs: good, bad, middling.\n",
        ),
        (
            ("forest", *ALL, "-m", "RR", "--margin", "AP=1"),
            "judged: margin names 'AP', which is not one of the measures: RR.\n",
        ),
        (("cmc", *ALL, "--baseline", "good"), "--baseline has no meaning for cmc; its options: "),
        (
            ("differences", *ALL[:3], "-m", "RR", "-k", "3"),
            "-k has no meaning for differences; its options: -m, --baseline, --test, --correction, "
            "--level, --margin, --groups, --unjudged-range, --seed.\n",
        ),
        (
            ("forest", *ALL, "--level", "95"),
            "judged: --level must be a number between 0 and 1, as 0.95; got 95.0.\n",
        ),
    ],
)
def test_what_is_refused_of_a_comparison(judged, runs, arguments, message):
    result = judged("plot", *arguments, "-o", "x.svg")
    assert result.code != 0
    assert message in result.err
    assert not (runs / "x.svg").exists()


def test_a_chart_of_a_diagnosis(judged, files):
    (files / "q.csv").write_text("1,0\n0,1\n")
    made = judged("embeddings", "q.csv", "q.csv", "--pairs", "--diagnose", "-o", "found.json")
    assert made.code == 0, made.err
    assert judged("plot", "embedding-scores", "found.json", "-o", "x.svg").code == 0
    assert "relevant: 2" in (files / "x.svg").read_text()
    assert (
        judged("plot", "embedding-scores", "none.json", "-o", "x.svg").err
        == "judged: none.json: no such file.\n"
    )
    assert judged("plot", "embedding-scores", "qrels", "-o", "x.svg").err == (
        "judged: qrels: cannot be read as JSON (Expecting value: line 1 column 1 (char 0)); "
        "embedding-scores needs "
        "a diagnosis of embeddings: `judged embeddings … --diagnose -o FILE.json`.\n"
    )


@pytest.fixture
def sweep(judged, files):
    """`sweep.json`: four queries and items, two of them near each other."""
    (files / "q.csv").write_text("1,0,0\n0,1,0\n0,0.9,0.5\n0.2,0,1\n")
    (files / "i.csv").write_text("1,0.1,0\n0,1,0.2\n0,1,0.4\n0,0.1,1\n")
    made = judged("temperature", "q.csv", "i.csv", "--pairs", "-o", "sweep.json")
    assert made.code == 0, made.err
    return files


def test_charts_of_a_temperature_sweep(judged, sweep):
    for kind in ("temperature", "temperature-probabilities", "temperature-reliability"):
        result = judged("plot", kind, "sweep.json", "-o", f"{kind}.svg")
        assert result.code == 0, result.err
        assert f"<Chart {kind}: " in result.err
        assert (
            "Full-corpus softmax: each query against all 4 items. 4 queries, similarity cosine."
            in result.err
        )


def test_temperatures_are_numbers_with_commas(judged, sweep):
    result = judged(
        "plot",
        "temperature-probabilities",
        "sweep.json",
        "--temperatures",
        "0.01,0.1,1",
        "-o",
        "x.json",
    )
    assert result.code == 0, result.err
    rows = json.loads((sweep / "x.json").read_text())["datasets"]["table"]
    assert {(row["name"], row["temperature"]) for row in rows} == {
        ("sharp", 0.01),
        ("medium", 0.1),
        ("smooth", 1),
    }


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            "temperature-probabilities",
            ("--temperatures", "0.01;1"),
            "Invalid value for '--temperatures': '0.01;1' is no list of numbers, such as 2,1.",
        ),
        (
            "temperature-reliability",
            ("--temperatures", "0.01,1"),
            "temperatures must be three numbers, as in 0.01, 0.1, 1; got 2.",
        ),
        (
            "temperature",
            ("--temperatures", "1,2,3"),
            "--temperatures has no meaning for temperature; its options: none of its own.",
        ),
        (
            "temperature",
            ("--run-format", "trec"),
            "--run-format has no meaning for temperature; its options: none of its own.",
        ),
        (
            "temperature-study",
            (),
            "judged: sweep.json: this is a temperature sweep, not a temperature study; make one "
            "with judged.temperature.sweep(train=True) or `judged temperature --train … -o "
            "FILE.json`.\n",
        ),
        (
            "embedding-scores",
            (),
            "judged: sweep.json: this is no diagnosis of embeddings; make one with "
            "Embeddings.diagnose or `judged embeddings … --diagnose`.\n",
        ),
    ],
)
def test_what_is_refused_of_a_sweep(judged, sweep, kind, options, message):
    result = judged("plot", kind, "sweep.json", *options, "-o", "x.svg")
    assert result.code != 0
    assert message in result.err
    assert not list(sweep.glob("x.*"))


def test_a_chart_of_a_study(judged, files):
    (files / "study.json").write_text(json.dumps(made_study()))
    assert judged("plot", "temperature-study", "study.json", "-o", "x.svg").code == 0
    assert ">untrained<" in (files / "x.svg").read_text()
    wrong = judged("plot", "temperature", "study.json", "-o", "y.svg")
    assert wrong.err == (
        "judged: study.json: this is a temperature study, not a temperature sweep; "
        "make one with judged.temperature.sweep or `judged temperature … -o FILE.json`.\n"
    )


def test_a_file_that_is_no_json_is_called_what_the_chart_needs(judged, files):
    (files / "model.npz").write_bytes(b"PK\x03\x04" + bytes(40))
    result = judged("plot", "temperature", "model.npz", "-o", "x.svg")
    assert result.err == "judged: model.npz: this is a zip archive, not a sweep.\n"


def test_one_measure_where_two_systems_are_compared(judged, files):
    result = judged(
        "plot", "scatter", "qrels", "a.run", "b.run", "-m", "RR", "-m", "AP", "-o", "x.png"
    )
    assert "scatter compares by one measure; got RR, AP." in result.err


def test_the_command_offers_every_option_and_choice_of_the_kinds():
    from judged.charts.kinds.distributions import OF
    from judged.cli.plot import option_of, plot

    options = {name: param for param in plot.params for name in param.opts}
    assert {option_of(option) for kind in KINDS.values() for option in kind.options} <= set(options)
    assert {option_of(option) for needs in NEEDS.values() for option in needs.made_by} <= set(
        options
    )
    assert list(options["--of"].type.choices) == list(OF)
