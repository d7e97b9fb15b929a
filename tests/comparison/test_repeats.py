"""Several runs of one system in place of a run."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from judged import compare, compare_values, evaluate, repeats
from judged.errors import MeasureError
from support.errors import error_of

QUERIES = [f"q{number:02}" for number in range(30)]


def values(seed: int, shift: float = 0.0) -> dict[str, float]:
    random = np.random.default_rng(seed)
    return dict(zip(QUERIES, (0.5 + shift + 0.1 * random.normal(size=30)).tolist(), strict=True))


def run_of(seed: int) -> dict[str, list[str]]:
    random = np.random.default_rng(seed)
    items = np.array(["a", "b", "c", "d", "e", "f"])
    return {query: random.permutation(items).tolist() for query in QUERIES}


JUDGEMENTS = {query: {"a": 1, "b": 2} for query in QUERIES}
MEASURES = ["AP", "nDCG@3", "RR(aggregate=geometric)", "RR(aggregate=sum)"]


def test_order_of_repeats_and_of_queries_changes_nothing():
    three = [values(seed, shift) for seed, shift in ((1, 0), (2, 0.1), (3, -0.1))]
    usual = compare_values({"a": repeats(*three), "b": values(4, 0.1)})
    turned = [dict(reversed(each.items())) for each in (three[2], three[0], three[1])]
    other = compare_values({"a": repeats(*turned), "b": values(4, 0.1)})
    for row, same in zip(usual.rows, other.rows, strict=True):
        assert row.p == pytest.approx(same.p)
        assert row.interval.low == pytest.approx(same.interval.low)
        assert (row.wins, row.ties, row.losses) == (same.wins, same.ties, same.losses)
        assert row.difference == pytest.approx(same.difference)


def test_the_formula_by_numpy():
    a = [values(seed, shift) for seed, shift in ((1, 0), (2, 0.1), (3, -0.1))]
    b = [values(seed, shift) for seed, shift in ((4, 0.3), (5, 0.2))]
    row = compare_values({"a": repeats(*a), "b": repeats(*b)}).pair("b", "a")
    tables = [np.array([list(each.values()) for each in own]) for own in (a, b)]
    d = tables[1].mean(axis=0) - tables[0].mean(axis=0)
    parts = [(d.var(ddof=1) / 30, 29.0)]
    for table in tables:
        repeat_count = len(table)
        left = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
        residual = (left**2).sum() / ((repeat_count - 1) * 29) / 30
        between = table.mean(axis=1).var(ddof=1)
        added = between - residual
        assert added > 0
        squares = between**2 / (repeat_count - 1) + residual**2 / ((repeat_count - 1) * 29)
        parts.append((added / repeat_count, added**2 / squares))
    variance = sum(v for v, _ in parts)
    freedom = variance**2 / sum(v**2 / f for v, f in parts)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert row.difference == pytest.approx(d.mean())
    assert (row.interval.low, row.interval.high) == pytest.approx(
        (d.mean() - half, d.mean() + half)
    )
    assert row.p == pytest.approx(2 * stats.t.sf(abs(d.mean()) / math.sqrt(variance), freedom))


def test_a_geometric_mean_averages_logarithms():
    a = [{"q1": 0.1, "q2": 0.4}, {"q1": 0.4, "q2": 0.4}]
    found = compare_values(
        {"a": repeats(*a), "b": {"q1": 0.2, "q2": 0.4}}, measure_name="AP(aggregate=geometric)"
    )
    # √(0.1·0.4) = 0.2: the same as b, query by query.
    assert found.value(run="a") == pytest.approx(math.sqrt(0.08))
    assert found.pair().verdict == "identical"


def test_noise_floor():
    a = [values(seed, shift) for seed, shift in ((1, 0), (2, 0.1), (3, -0.1))]
    found = compare_values({"a": repeats(*a), "b": values(4)})
    means = [float(np.mean(list(each.values()))) for each in a]
    [noise] = found.noise.values()
    assert noise["values"] == pytest.approx(means)
    assert noise["deviation"] == pytest.approx(np.std(means, ddof=1))
    assert (noise["low"], noise["high"]) == pytest.approx((min(means), max(means)))
    assert (
        f"value: the standard deviation of 3 repeats of a is {np.std(means, ddof=1):.3f} (values "
        f"from {min(means):.3f} to {max(means):.3f})."
    ) in found.remarks()
    entry = found.to_dict()["runs"][0]
    assert entry["repeats"] == {"number": 3, "noise": {"value": noise}}
    assert "repeats" not in found.to_dict()["runs"][1]
    assert "3 of a" in found.methods()


def test_own_interval_counts_repeats():
    wide = compare_values(
        {"a": repeats(values(1, 0.2), values(1), values(1, -0.2)), "b": values(4)}
    )
    alone = compare_values({"a": values(1), "b": values(4)})
    own, single = wide.interval(run="a"), alone.interval(run="a")
    assert own.estimate == pytest.approx(single.estimate)
    # The repeats' means are 0.2 apart: their variance is 0.04, and a third of it is added.
    table = np.array(list(values(1).values()))
    variances = np.array([table.var(ddof=1) / 30, 0.04 / 3])
    freedom = variances.sum() ** 2 / (variances**2 / [29, 2]).sum()
    half = stats.t.ppf(0.975, freedom) * math.sqrt(variances.sum())
    assert (own.low, own.high) == pytest.approx((own.estimate - half, own.estimate + half))


def test_a_share_on_which_all_repeats_agree_has_the_interval_of_a_share():
    share = {query: float(at % 3 == 0) for at, query in enumerate(QUERIES)}
    found = compare_values({"a": repeats(share, share), "b": values(4)})
    alone = compare_values({"a": share, "b": values(4)})
    assert found.interval(run="a") == alone.interval(run="a")
    assert found.interval(run="a").method == "wilson"


def test_repeats_that_shift_as_a_whole_are_no_certainty():
    """Every query differs by the same: what the repeats say is all that there is."""
    a = dict.fromkeys(QUERIES, 0.5)
    near = [dict.fromkeys(QUERIES, 0.5 + shift) for shift in (0.3, 0.1, -0.1)]
    row = compare_values({"a": a, "b": repeats(*near)}).pair()
    # mean 0.1, standard error √(0.04/3), two degrees of freedom
    assert row.p == pytest.approx(2 * stats.t.sf(0.1 / math.sqrt(0.04 / 3), 2))
    assert row.verdict == "not significant"
    assert math.isnan(row.interval.low)


def test_files_on_the_command_line_and_in_python(tmp_path, monkeypatch, capsys):
    from judged.cli import main

    monkeypatch.chdir(tmp_path)
    for seed in (1, 2, 3):
        with open(f"{seed}.run", "w") as file:
            for query, items in run_of(seed).items():
                for rank, item in enumerate(items, 1):
                    file.write(f"{query} Q0 {item} {rank} {10 - rank} x\n")
    with open("qrels", "w") as file:
        for query in QUERIES:
            file.write(f"{query} 0 a 1\n{query} 0 b 2\n")
    usual = compare(JUDGEMENTS, {"3": run_of(3), "dense": repeats(run_of(1), run_of(2))}, "AP")
    named = compare("qrels", ["3.run", "dense=1.run,2.run"], "AP")
    assert named.rows == usual.rows
    same = compare("qrels", {"3": "3.run", "dense": repeats("1.run", "2.run")}, "AP")
    assert same.rows == usual.rows
    with pytest.raises(SystemExit) as ended:
        main(["compare", "qrels", "3.run", "dense=1.run, 2.run", "-m", "AP"])
    assert not ended.value.code
    told = capsys.readouterr().out
    assert "repeats of dense is" in told
    assert usual.pair().says in told
    # A file of that very name is taken for a file.
    (tmp_path / "1.run,2.run").write_text((tmp_path / "2.run").read_text())
    one = compare("qrels", ["3.run", "dense=1.run,2.run"], "AP")
    assert one.numbers.repeated == {}
    assert one.value(run="dense") == evaluate("qrels", "2.run", "AP").value()
    (tmp_path / "dense=1.run,2.run").write_text((tmp_path / "1.run").read_text())
    whole = compare("qrels", ["3.run", "dense=1.run,2.run"], "AP")
    assert whole.value(run="dense=1.run,2") == evaluate("qrels", "1.run", "AP").value()


def test_repeats_of_an_evaluation():
    alone = compare(JUDGEMENTS, {"one": repeats(run_of(1)), "other": repeats(run_of(2))}, MEASURES)
    assert alone.noise == {}
    assert alone.remarks() == [
        "one and other have no repeats, so the variation between runs is unknown."
    ]
    runs = {"3": run_of(3), "seed 1": run_of(1), "seed 2": run_of(2)}
    found = evaluate(JUDGEMENTS, runs, "AP").compare(repeats={"dense": ["seed 1", "seed 2"]})
    usual = compare(JUDGEMENTS, {"3": run_of(3), "dense": repeats(run_of(1), run_of(2))}, "AP")
    assert found.rows == usual.rows


def test_ties_of_repeats_are_looked_into():
    judgements = {query: {"a": 1} for query in QUERIES[:8]}
    tied = {query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in QUERIES[:8]}
    last = {query: {"b": 2.0, "a": 1.0, "c": 0.0} for query in QUERIES[:8]}
    runs = {"last": last, "tied": repeats(tied, tied)}
    [row] = compare(judgements, runs, "RR").rows
    assert row.depends_on == ("ties",)
    [alone] = compare(judgements, {"last": last, "tied": tied}, "RR").rows
    assert alone.depends_on == ("ties",)


def test_missing_queries_of_one_repeat():
    some = {query: items for query, items in run_of(1).items() if query != "q07"}
    runs = {"3": run_of(3), "dense": repeats(run_of(2), some)}
    found = compare(JUDGEMENTS, runs, "AP", policy={"missing": "skip"})
    assert found.pair().queries == 29
    assert found.numbers.notes[0] == (
        "AP: the repeats of dense have values for different queries. The comparison "
        "uses the 29 common ones of up to 30."
    )
    assert found.numbers.notes[0] in found.warnings()


def refused_repeats(given):
    evaluate(JUDGEMENTS, {name: run_of(at) for at, name in enumerate("abc")}, "AP").compare(
        repeats=given
    )


REFUSED = {
    "repeats needs at least one run; got none.": lambda: repeats(),
    "repeats holds runs, not None and not other repeats.": lambda: repeats(
        repeats("a.run"), "b.run"
    ),
    "repeats have no name of their own; give them as {name: judged.repeats(…)}.": lambda: compare(
        JUDGEMENTS, repeats(run_of(1), run_of(2))
    ),
    "a comparison needs at least two runs; got one, a.": lambda: compare(
        JUDGEMENTS, {"a": repeats(run_of(1), run_of(2))}
    ),
    "repeats of a run are for judged.compare and judged.gate; here give each as a run of its own, "
    "{name: run}.": lambda: evaluate(JUDGEMENTS, {"a": repeats(run_of(1), run_of(2))}),
    "the repeats of a are called a (1) and so on, and another run is called a (2) too; call it "
    "something else.": lambda: compare(
        JUDGEMENTS, {"a (2)": run_of(1), "a": repeats(run_of(1), run_of(2))}
    ),
    "dense=1.run,: repeats are NAME=FILE,FILE,… with a file between all commas.": lambda: compare(
        JUDGEMENTS, ["dense=1.run,", "b.run"]
    ),
    "dense=1.run,1.run: 1.run occurs twice; a run cannot be a repeat of itself.": lambda: compare(
        JUDGEMENTS, ["dense=1.run,1.run", "b.run"]
    ),
    "only the test t takes repeats into account; paired randomisation does not. "
    "Leave out the test, or the repeats.": lambda: compare(
        JUDGEMENTS,
        {"a": repeats(run_of(1), run_of(2)), "b": run_of(3)},
        "AP",
        test="randomisation",
    ),
    "unjudged_range does not work with repeats, because it judges two runs at a "
    "time; leave one of them out.": (
        lambda: compare(
            JUDGEMENTS,
            {"a": repeats(run_of(1), run_of(2)), "b": run_of(3)},
            "AP",
            unjudged_range=True,
        )
    ),
    **{
        "repeats must name the runs of each system, as {'dense': ['seed 1', 'seed 2']}, and each "
        f"run once; got {given!r}. The runs are a, b, c.": partial(refused_repeats, given)
        for given in (
            "b",
            {"a": "b"},
            {"both": ["a", "x"]},
            {"both": ["a", "b"], "other": ["b", "c"]},
            {"both": ["a", "a"]},
            {"c": ["a", "b"]},
        )
    },
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    assert error_of(REFUSED[message]) == (message)


def test_a_summary_that_is_no_mean_is_refused():
    runs = {"a": repeats(run_of(1), run_of(2)), "b": run_of(3)}
    assert error_of(compare, JUDGEMENTS, runs, "RR(aggregate=median)", error=MeasureError) == (
        "RR(aggregate=median) is not a mean over queries, so repeats of a cannot be "
        "averaged; compare single runs, or use another measure."
    )
