"""The runs compared in slices of the queries."""

import json
import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from judged import compare, compare_values, evaluate, repeats
from judged.comparison.slices import cut, cut_into_thirds
from judged.errors import InputError

QUERIES = [f"q{number:02}" for number in range(36)]
LANGUAGES = {query: {"language": "de" if at % 3 else "en"} for at, query in enumerate(QUERIES)}


def values(runs: int = 3, seed: int = 0) -> dict[str, dict[str, float]]:
    """The second run is worse in English, and better in German."""
    random = np.random.default_rng(seed)
    table = 0.1 * random.normal(size=(36, runs))
    table[:, 1] += [-0.3 if LANGUAGES[query]["language"] == "en" else 0.2 for query in QUERIES]
    return {f"r{run}": column(table[:, run]) for run in range(runs)}


def column(numbers) -> dict[str, float]:
    return dict(zip(QUERIES, numbers.tolist(), strict=True))


def only(given, queries):
    return {run: {query: own[query] for query in queries} for run, own in given.items()}


def in_slices(comparison) -> pl.DataFrame:
    return comparison.to_frame().filter(pl.col("attribute").is_not_null())


def same_row(row, other) -> bool:
    left, right = (
        {**each.to_dict(), "says": "", "attribute": "", "slice": ""} for each in (row, other)
    )
    return left == right


@pytest.mark.parametrize("test", ["auto", "randomisation", "bootstrap"])
def test_one_slice_of_all_queries_is_the_comparison(test):
    found = compare_values(values(), slices={query: {"all": "yes"} for query in QUERIES}, test=test)
    [part] = found.slices
    assert (part.attribute, part.name, part.queries) == ("all", "yes", 36)
    assert all(map(same_row, part.rows, found.rows))
    assert {run: part.intervals["value", run] for run in found.runs} == {
        run: found.interval(run=run) for run in found.runs
    }
    assert found.slices.differences == ()


def test_a_slice_is_the_comparison_of_its_queries():
    found = compare_values(values(), slices=LANGUAGES)
    assert [part.name for part in found.slices] == ["de", "en"]
    p = []
    for part in found.slices:
        queries = [query for query in QUERIES if LANGUAGES[query]["language"] == part.name]
        alone = compare_values(only(values(), queries))
        assert part.queries == len(queries)
        for row, other in zip(part.rows, alone.rows, strict=True):
            assert row.p == other.p
            assert row.interval == other.interval
            # Six comparisons in both slices are one family, and three of a slice alone another.
            assert row.detectable > other.detectable
            assert row.value == other.value
        for run in found.runs:
            assert part.intervals["value", run] == alone.interval(run=run)
        p += [row.p for row in part.rows]
    # All pairs and slices of an attribute are one family.
    corrected = [row.corrected_p for part in found.slices for row in part.rows]
    np.testing.assert_allclose(corrected, multipletests(p, method="holm")[1], rtol=1e-9)


def test_attributes_are_families_of_their_own_and_so_are_measures():
    both = {q: {**own, "half": at % 2} for at, (q, own) in enumerate(LANGUAGES.items())}
    one = in_slices(compare_values(values(), slices=LANGUAGES))
    two = in_slices(compare_values(values(), slices=both))
    assert two.filter(pl.col("attribute") == "language").equals(one)
    given = {run: {"AP": own, "RR": own} for run, own in values().items()}
    measures = in_slices(compare_values(given, slices=LANGUAGES))
    for name in ("AP", "RR"):
        own = measures.filter(pl.col("measure") == name)
        assert own["corrected_p"].to_list() == one["corrected_p"].to_list()


def test_whether_the_difference_differs():
    found = compare_values(values(2), slices=LANGUAGES)
    [between] = found.slices.differences
    d = {query: values(2)["r1"][query] - values(2)["r0"][query] for query in QUERIES}
    parts = [
        [d[query] for query in QUERIES if LANGUAGES[query]["language"] == name]
        for name in ("de", "en")
    ]
    welch = stats.ttest_ind(*parts, equal_var=False)
    assert between.statistic == pytest.approx(welch.statistic**2)
    assert between.p == between.corrected_p == pytest.approx(welch.pvalue)
    assert between.queries == 36
    assert between.says == (
        "value: the difference between r1 and r0 differs significantly between "
        "slices of language (p < .0001)."
    )
    three = compare_values(values(), slices=LANGUAGES).slices.differences
    np.testing.assert_allclose(
        [each.corrected_p for each in three],
        multipletests([each.p for each in three], method="holm")[1],
    )
    other = next(each for each in three if {each.run, each.against} == {"r0", "r2"})
    assert "does not differ significantly between slices of language (p 0." in other.says
    assert "(corrected p " in min(three, key=lambda test: test.p).says


def test_small_slices_are_not_in_the_test_between_slices():
    kinds = {
        query: {"kind": "rare" if at < 3 else "a" if at < 20 else "b"}
        for at, query in enumerate(QUERIES)
    }
    found = compare_values(values(2), slices=kinds)
    without = {query: own for query, own in kinds.items() if own["kind"] != "rare"}
    alone = compare_values(only(values(2), list(without)), slices=without)
    assert found.slices.differences[0].p == pytest.approx(alone.slices.differences[0].p)
    note = "Attribute kind: rare has fewer than 6 queries, too few for the test between slices."
    assert (note in found.slices.notes, alone.slices.notes) == (True, ())
    groups = {query: at // 9 for at, query in enumerate(QUERIES)}
    few = compare_values(values(2), slices=LANGUAGES, groups=groups).slices
    assert few.differences == ()
    assert "language: de and en have fewer than 6 groups (by weight)" in few.notes[0]


def test_losses_come_first():
    found = compare_values(values(2), slices=LANGUAGES)
    assert [part.name for part in found.slices] == ["en", "de"]
    assert [part.shows_worse for part in found.slices] == [True, False]
    header, rows = found.tables()[1]
    assert header[:3] == ["value, language", "run", "queries"]
    assert [row[:3] for row in rows] == [
        ["en", "r0", "12"],
        ["en", "r1", "12"],
        ["de", "r0", "24"],
        ["de", "r1", "24"],
    ]
    said = found.slices.sentences()
    assert said[0].startswith("value, language en: r1 is significantly worse than r0 by 0.")
    assert said[1].startswith("value, language de: r1 is significantly better than r0 by 0.")
    assert said[2].startswith("value: the difference between r1 and r0 differs")
    # An attribute with a loss stands before one without.
    more = {query: {"all": "yes", **own} for query, own in LANGUAGES.items()}
    parts = compare_values(values(2), slices=more).slices
    assert [part.name for part in parts] == ["en", "de", "yes"]


def test_every_output_has_them(tmp_path):
    found = compare_values(values(2), slices=LANGUAGES)
    told = found.to_dict()
    assert [each["slice"] for each in told["slices"]] == ["en", "de"]
    assert told["slices"][0]["runs"][1]["intervals"]["value"]["method"] == "t"
    assert told["slices"][0]["pairs"][0]["verdict"] == "worse"
    assert told["between_slices"][0]["attribute"] == "language"
    frame = found.to_frame()
    assert frame["slice"].to_list() == [None, "en", "de"]
    assert frame.columns[:2] == ["attribute", "slice"]
    assert found.pairs.columns == frame.columns[2:]
    for text in (found.to_text(), found.to_markdown(), found.to_html(), found.to_csv()):
        assert "language" in text
    assert "in slices: Holm over all of an attribute" in found.to_text()
    assert "slices of the queries by language" in found.methods()
    for ending in ("json", "csv", "md", "html", "txt", "tex", "parquet"):
        found.save(tmp_path / f"x.{ending}")
    plain = compare_values(values(2))
    assert "slices" not in plain.to_dict()
    assert "slice" not in plain.to_frame().columns


def judged_data():
    random = np.random.default_rng(2)
    items = np.array([f"d{number}" for number in range(20)])
    judgements = {
        query: dict.fromkeys(items[: 1 + at % 12].tolist(), 1) | {"d19": 0}
        for at, query in enumerate(QUERIES)
    }
    runs = {
        name: {query: random.permutation(items).tolist() for query in QUERIES}
        for name in ("one", "other")
    }
    return judgements, runs


@pytest.mark.parametrize("given", [True, "relevant"])
def test_relevant_items_are_there_by_themselves(given):
    found = compare(*judged_data(), "AP", slices=given)
    # 1 to 12 relevant items, three queries of each: the thirds are 1 to 4, 5 to 8 and 9 to 12.
    assert [(part.attribute, part.name, part.queries) for part in found.slices] == [
        ("relevant", "1 to 4", 12),
        ("relevant", "5 to 8", 12),
        ("relevant", "9 to 12", 12),
    ]
    beside = compare(*judged_data(), "AP", slices=LANGUAGES)
    assert [part for part in beside.slices if part.attribute == "relevant"] == list(found.slices)
    assert {part.attribute for part in beside.slices} == {"language", "relevant"}
    evaluation = evaluate(*judged_data(), "AP")
    assert evaluation.compare(slices=given).slices == found.slices


def test_numbers_are_cut_into_thirds():
    eight = pl.Series([number % 8 for number in range(40)])
    names, labels, notes = cut("words", eight)
    assert (names, notes) == (tuple("01234567"), [])
    assert labels.tolist() == eight.to_list()
    nine = pl.Series([number % 9 for number in range(45)])
    names, labels, _ = cut("words", nine)
    assert names == ("0 to 2", "3 to 5", "6 to 8")
    assert labels.tolist() == [number // 3 for number in nine.to_list()]
    # Most queries have one value: equal ones stay together, and no third is empty.
    assert cut("words", pl.Series([1] * 80 + list(range(2, 22))))[0] == ("1", "2 to 11", "12 to 21")
    close, *_ = cut("score", pl.Series([1 + number * 1e-9 for number in range(9)]))
    assert (len(set(close)), close[0]) == (3, "1 to 1.000000002")
    signs = pl.Series([-2.5, math.inf, -math.inf, 0.5, 1e300, 3, 4, 5, 6])
    assert cut("score", signs)[0] == ("-inf to 0.5", "3 to 5", "6 to inf")


def test_thirds_are_as_even_as_they_can_be():
    random = np.random.default_rng(0)
    for _ in range(200):
        counts = random.integers(1, 9, random.integers(3, 12))
        first, second = cut_into_thirds(counts)
        assert 0 < first < second < len(counts)

        def squares(cuts, counts=counts):
            return sum(int(part.sum()) ** 2 for part in np.split(counts, cuts))

        every = combinations(range(1, len(counts)), 2)
        assert squares((first, second)) == min(map(squares, every))
    # Sixty of 1, and one each of 2 to 31.
    names, labels, _ = cut("words", pl.Series([1] * 60 + list(range(2, 32))))
    assert names == ("1", "2 to 16", "17 to 31")
    assert np.bincount(labels).tolist() == [60, 15, 15]


def test_queries_without_a_value_are_in_no_slice():
    some = {query: own for query, own in LANGUAGES.items() if query not in ("q00", "q01")}
    some["q02"] = {"language": None}
    found = compare_values(values(2), slices=some)
    assert sum(part.queries for part in found.slices) == 33
    assert "Attribute language: 3 queries without a value are in no slice." in found.remarks()
    assert found.slices.differences[0].queries == 33
    one = compare_values(values(2), slices={**LANGUAGES, "q00": {"language": ""}})
    assert "Attribute language: 1 query without a value is in no slice." in one.remarks()


def test_texts_that_are_all_different_are_no_slices():
    many = [f"{at}" + "x" for at in range(60)]
    given = {run: {text: float(at % 7) for at, text in enumerate(many)} for run in ("a", "b")}
    found = compare_values(given, slices={text: {"text": text, "kind": "x"} for text in many})
    assert [part.attribute for part in found.slices] == ["kind"]
    assert found.warnings() == ['Ignored attribute "text": 60 distinct values (maximum 50).']


def test_groups_and_repeats_in_slices():
    groups = {query: at // 3 for at, query in enumerate(QUERIES)}
    slices = {query: {"half": "a" if at < 18 else "b"} for at, query in enumerate(QUERIES)}
    given = {"r0": values(2)["r0"], "r1": repeats(values(2)["r1"], values(2, seed=1)["r1"])}
    found = compare_values(given, groups=groups, slices=slices)
    for part in found.slices:
        queries = [query for query in QUERIES if slices[query]["half"] == part.name]
        small = {
            "r0": only({"r": given["r0"]}, queries)["r"],
            "r1": repeats(*(only({"r": own}, queries)["r"] for own in given["r1"].runs)),
        }
        alone = compare_values(small, groups=groups)
        assert part.rows[0].groups == 6
        assert part.rows[0].p == pytest.approx(alone.pair().p)
        for here, there in (
            (part.rows[0].interval, alone.pair().interval),
            (part.intervals["value", "r1"], alone.interval(run="r1")),
        ):
            assert (here.low, here.high) == pytest.approx((there.low, there.high))


def test_a_measure_that_counts_nowhere_in_a_slice_has_no_row_there():
    judgements, runs = judged_data()
    judgements["q00"] = {"d0": 0}
    slices = {query: {"first": "yes" if query == "q00" else "no"} for query in QUERIES}
    found = compare(judgements, runs, "AP, P@5", slices=slices, policy={"empty": "skip"})
    assert [part.name for part in found.slices if part.attribute == "first"] == ["no"]


def test_a_number_that_is_no_mean_is_compared_and_has_no_test_between():
    found = compare(*judged_data(), "RR(aggregate=median)", slices=True)
    assert len(found.slices) == 3
    assert found.slices.differences == ()
    assert found.slices.notes == (
        "RR(aggregate=median) is not a mean over queries, so slices were not tested "
        "against each other.",
    )


def test_what_verdicts_in_slices_depend_on():
    judgements = {query: {"a": 1} for query in QUERIES}
    slices = {query: {"half": "a" if at < 18 else "b"} for at, query in enumerate(QUERIES)}
    last = {query: {"b": 2.0, "a": 1.0, "c": 0.0} for query in QUERIES}
    tied = {
        query: {"a": 1.0, "b": 1.0, "c": 1.0} if at < 18 else {"a": 2.0, "b": 1.0}
        for at, query in enumerate(QUERIES)
    }
    found = compare(judgements, {"last": last, "tied": tied}, "RR", slices=slices)
    depends = {part.name: part.rows[0].depends_on for part in found.slices if part.name in "ab"}
    assert depends == {"a": ("ties",), "b": ()}


REFUSED = {
    "the number of relevant items per query is known only if judged evaluates the "
    "runs; give slices as {query: {attribute: value}}, a table or a file.": {"slices": True},
    "Tukey (two-way) cannot correct over all slices of an attribute; use correction holm.": {
        "slices": LANGUAGES,
        "correction": "tukey",
    },
    "the attributes given: the attribute 'relevant' is reserved for the number of relevant items "
    "of each query; use another name.": {"slices": {query: {"relevant": 1} for query in QUERIES}},
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    with pytest.raises(InputError) as error:
        compare_values(values(), **REFUSED[message])
    assert str(error.value).replace('"', "'") == message


def test_none_and_false_are_no_slices():
    table = pl.DataFrame(
        {"query": QUERIES, "language": [*(LANGUAGES[q]["language"] for q in QUERIES)]}
    )
    with pytest.raises(InputError, match="cannot correct over all slices"):
        compare_values(values(), slices=table, correction="tukey")
    for given in (None, False):
        assert len(compare_values(values(2), slices=given).slices) == 0


def test_a_file_called_relevant_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{query},{own['language']}" for query, own in LANGUAGES.items()]
    (tmp_path / "relevant").write_text("\n".join(["query,language", *rows]))
    found = compare(*judged_data(), "AP", slices="relevant")
    assert {part.attribute for part in found.slices} == {"language", "relevant"}


GOLDEN = [
    {
        "id": query,
        "question": f"What is the meaning of {query}?",
        "relevant": ["a"],
        "difficulty": "hard" if at % 2 else "easy",
        "hops": at % 3,
        "multi": at % 4 == 0,
        "metadata": {"source": "faq"},
    }
    for at, query in enumerate(QUERIES)
]


@pytest.mark.parametrize("form", ["rows", "jsonl", "csv", "by question"])
def test_the_columns_of_a_golden_set_are_slices(form, tmp_path):
    golden, path = GOLDEN, tmp_path / f"golden.{form}"
    judgements = {query: {"a": 1} for query in QUERIES}
    if form == "by question":
        judgements = {row["question"]: {"a": 1} for row in GOLDEN}
    elif form == "jsonl":
        path.write_text("\n".join(map(json.dumps, GOLDEN)))
        golden = str(path)
    elif form == "csv":
        cells = [{name: str(value) for name, value in row.items()} for row in GOLDEN]
        pl.DataFrame(cells).write_csv(path)
        golden = str(path)
    runs = {
        "old": {query: ["b", "a"] if at % 2 else ["a"] for at, query in enumerate(judgements)},
        "new": {query: ["a"] for query in judgements},
    }
    found = compare(judgements, runs, "RR", slices=golden)
    parts = {part.attribute: 0 for part in found.slices}
    wanted = {"difficulty", "hops", "multi", "relevant"} | (
        {"id"} if form == "by question" else set()
    )
    assert set(parts) == wanted
    hard = next(part for part in found.slices if part.name == "hard")
    assert hard.rows[0].difference == 0.5
    notes = " ".join(found.slices.notes)
    assert 'lists and dicts are not attributes; ignored "relevant" and "metadata".' in notes
    if form != "by question":
        assert 'texts that differ for each query are not attributes; ignored "question".' in notes


def test_evaluate_shows_the_value_in_each_slice() -> None:
    judgements = {f"q{at}": {"a": 1} for at in range(6)}
    run = {f"q{at}": ["b"] * (at % 2) + ["a"] for at in range(6)}  # 1 or 1/2 by turns
    slices = {f"q{at}": {"part": "even" if at % 2 == 0 else "odd"} for at in range(5)}
    shown = evaluate(judgements, {"run": run}, ["RR", "P@1"]).showing(slices=slices)
    header, rows = shown.tables()[1]
    assert header == ["part", "queries", "run", "RR", "P@1"]
    assert rows == [
        ["even", "3", "run", "1.0000", "1.0000"],
        ["odd", "2", "run", "0.5000", "0.0000"],
    ]
    assert "Attribute part: 1 query without a value is in no slice." in shown.sentences()
    plain = shown.to_dict()
    assert [part["runs"][0]["intervals"]["RR"]["estimate"] for part in plain["slices"]] == [1, 0.5]
    compared = compare(judgements, {"run": run, "same": run}, "RR", slices=slices)
    by_slice = {part.name: part.intervals["RR", "run"].estimate for part in compared.slices}
    assert (by_slice["even"], by_slice["odd"]) == (1, 0.5)
