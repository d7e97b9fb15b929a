"""The table of queries: what is sorted and filtered is what a slow look at the library's own
numbers gives."""

from __future__ import annotations

import random
import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

import judged
from judged.evaluation.evaluation import Evaluation
from support.served import Serve, Server, grades, lists, write_judgements, write_run

TEXTS = {f"q{at}": f"what is number {at}" for at in range(0, 20, 2)}
SYSTEMS = ["bm25", "dense", "hybrid", "short"]


@pytest.fixture
def folder(data: Path) -> Path:
    rows = "".join(f"{query}\t{text}\n" for query, text in TEXTS.items())
    (data / "queries.tsv").write_text("query_id\ttext\n" + rows)
    attributes = "".join(f"q{at},{'even' if at % 2 == 0 else 'odd'},{at % 7}\n" for at in range(20))
    (data / "attributes.csv").write_text("query_id,side,words\n" + attributes)
    return data


def address(**params: object) -> str:
    return "/queries?" + urlencode(params, doseq=True)


def ids(text: str) -> list[str]:
    """The queries of a table, in its order."""
    links = re.findall(r'<a href="(/query\?[^"]*)"', text.partition("<tbody>")[2])
    return [re.search(r"[?&]query=([^&]*)", unescape(link))[1] for link in links]  # type: ignore[index]


def every(served: Server, **params: object) -> list[str]:
    """All queries of the table, piece by piece as a browser asks for them."""
    found = ids(served.ask(address(**params)).text)
    while True:
        more = served.ask(address(**params, **{"from": len(found)}), x_fragment="rows").text
        links = ids("<tbody>" + more)
        if not links:
            return found
        found += links


def evaluated(folder: Path, measure: str = "nDCG@10", **options: object) -> Evaluation:
    runs = [str(folder / f"{name}.run") for name in SYSTEMS]
    return judged.evaluate(str(folder / "qrels.txt"), runs, [measure], **options)  # type: ignore[arg-type]


def values(evaluation: Evaluation, system: str) -> dict[str, float]:
    run = evaluation.scored(system)
    measure = evaluation.measures[0]
    return dict(zip(run.rankings.queries, run.values[measure].tolist(), strict=True))


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("system", SYSTEMS)
def test_sorted_by_the_value_of_any_system(
    server: Serve, folder: Path, system: str, descending: bool
) -> None:
    order = "descending" if descending else "ascending"
    found = every(server(folder), measure="nDCG@10", sort=f"system:{system}", order=order)
    own = values(evaluated(folder), system)
    sign = -1 if descending else 1
    assert found == sorted(own, key=lambda query: sign * own[query])


def test_sorted_by_difference(server: Serve, folder: Path) -> None:
    pair = ["dense", "bm25"]
    found = every(server(folder), measure="nDCG@10", system=pair, sort="difference")
    theirs, ours = (values(evaluated(folder), name) for name in pair)
    assert found == sorted(ours, key=lambda query: -(ours[query] - theirs[query]))


def test_sorted_by_number_relevant_and_by_id(server: Serve, folder: Path) -> None:
    served = server(folder)
    relevant = {query: sum(g > 0 for g in each.values()) for query, each in grades().items()}
    found = every(served, sort="relevant", order="ascending")
    assert found == sorted(relevant, key=lambda query: relevant[query])
    assert every(served, sort="query", order="ascending") == [f"q{at}" for at in range(20)]
    assert every(served, sort="query", order="descending") == [f"q{at}" for at in range(19, -1, -1)]


def test_queries_without_a_value_come_last(server: Serve, folder: Path) -> None:
    params = {"measure": "AP", "empty": "skip", "missing": "skip", "sort": "system:short"}
    for order in ("ascending", "descending"):
        found = every(server(folder), **params, order=order)
        assert set(found[-2:]) == {"q3", "q5"}


@pytest.mark.parametrize("text", ["q1", "NUMBER 4", "number", "Q12"])
def test_found_by_id_and_by_text(server: Serve, folder: Path, text: str) -> None:
    found = every(server(folder), find=text, sort="query", order="ascending")
    said = {f"q{at}": TEXTS.get(f"q{at}", "") for at in range(20)}
    wanted = [q for q, words in said.items() if text.lower() in q or text.lower() in words]
    assert found == wanted
    assert f"{len(found)} of 20 queries" in server(folder).ask(address(find=text)).text


def test_only_some_values_of_an_attribute(server: Serve, folder: Path) -> None:
    served = server(folder)
    found = every(served, slice="side:odd", sort="query", order="ascending")
    assert found == [f"q{at}" for at in range(1, 20, 2)]
    found = every(served, range="attribute:words", low=5, sort="query", order="ascending")
    assert found == [f"q{at}" for at in range(20) if at % 7 >= 5]
    found = every(served, sort="attribute:words", order="ascending")
    assert found == sorted((f"q{at}" for at in range(20)), key=lambda q: int(q[1:]) % 7)


def test_a_range_of_values(server: Serve, folder: Path) -> None:
    own = values(evaluated(folder), "dense")
    params = {"measure": "nDCG@10", "range": "system:dense", "low": "0.3", "high": "0.6"}
    found = every(server(folder), **params)
    assert set(found) == {query for query, value in own.items() if 0.3 <= value <= 0.6}
    assert 0 < len(found) < 20


def test_unjudged_in_the_first_ranks(server: Serve, folder: Path) -> None:
    """By hand: the first k items by score, then by id, larger first."""
    judged_items = grades()
    for k in (1, 2):
        wanted = set()
        for seed in (0, 1):
            for query, scores in lists(seed=seed).items():
                first = sorted(scores, key=lambda item: (scores[item], item), reverse=True)[:k]
                if any(item not in judged_items[query] for item in first):
                    wanted.add(query)
        found = every(server(folder), has="unjudged", k=k, system=["bm25", "dense"])
        assert set(found) == wanted
        assert 0 < len(wanted) < 20


def test_tied(server: Serve, tmp_path: Path) -> None:
    judgements = {f"q{at}": {"a": 1, "b": 0} for at in range(4)}
    runs = {
        "q0": {"a": 2.0, "b": 1.0},
        "q1": {"a": 1.0, "b": 1.0},
        "q2": {"a": 3.0, "x": 1.0, "y": 1.0},
        "q3": {"x": 1.0, "b": 1.0},
    }
    write_judgements(tmp_path / "qrels.txt", judgements)
    write_run(tmp_path / "one.run", runs)
    assert set(every(server(tmp_path), has="tied")) == {"q1", "q3"}


def test_values_are_those_of_the_library(server: Serve, folder: Path) -> None:
    text = (
        server(folder).ask(address(measure="AP", ties="best", sort="query", order="ascending")).text
    )
    found = evaluated(folder, "AP", policy={"ties": "best"})
    rows = re.findall(r"<tr aria-rowindex.*?</tr>", text.partition("<tbody>")[2], re.DOTALL)
    assert len(rows) == 20
    for at, row in enumerate(rows):
        shown = re.findall(r"\b\d\.\d{4}\b", re.sub(r"<svg.*?</svg>", "", row, flags=re.DOTALL))
        expected = {f"{values(found, name)[f'q{at}']:.4f}" for name in SYSTEMS}
        assert expected <= set(shown)


def test_nothing_found(server: Serve, folder: Path) -> None:
    answer = server(folder).ask(address(find="abc"))
    assert answer.status == 200
    assert "No query contains &#39;abc&#39;." in answer.text
    assert "Clear the filter" in answer.text
    both = server(folder).ask(address(find="abc", has="tied", low="2")).text
    assert (
        "No query contains &#39;abc&#39;, has difference of nDCG@10 from 2 and has a judged result "
        "that is tied." in both
    )


@pytest.mark.parametrize(
    ("params", "status", "message"),
    [
        ({"sort": "system:bm26"}, 404, "Queries have no 'system:bm26' to go by; did you mean "),
        ({"system": "bm26"}, 404, "Unknown system 'bm26'; did you mean 'bm25'?"),
        ({"system": [*SYSTEMS, "a"]}, 400, "up to 4 systems can be looked at side by side; got 5."),
        ({"show": "nope"}, 400, "Unknown column 'nope'."),
        ({"low": "x"}, 400, "low must be a finite number; got 'x'."),
        ({"order": "up"}, 400, "order must be"),
        ({"k": "0"}, 400, "k must be"),
        ({"slice": "side:left"}, 404, "No query has 'side:left' among its attributes."),
        ({"has": "x"}, 400, "has must be"),
        ({"from": "-1"}, 400, "from must be"),
        ({"gibberish": "1"}, 400, "Unknown parameter 'gibberish'."),
    ],
)
def test_refused(
    server: Serve, folder: Path, params: dict[str, object], status: int, message: str
) -> None:
    answer = server(folder).ask(address(**params))
    assert answer.status == status
    assert message in unescape(answer.text)


def test_a_page_of_many_queries_is_small(server: Serve, tmp_path: Path) -> None:
    draw = random.Random(1)
    names = [f"q{at}" for at in range(3000)]
    write_judgements(tmp_path / "qrels.txt", {q: {"a": 1, "b": 0, "c": 2} for q in names})
    for system in range(10):
        run = {q: {item: draw.random() for item in "abcdefghijkl"} for q in names}
        write_run(tmp_path / f"s{system}.run", run)
    text = server(tmp_path).ask("/queries").text
    assert len(re.findall(r"<[a-z]", text)) < 1500
    assert "3,000 queries" in text
    assert 'aria-rowcount="3001"' in text


def test_one_system_has_no_difference(server: Serve, folder: Path) -> None:
    text = server(folder).ask(address(system=["bm25", "bm25"])).text
    assert "difference" not in text.partition("<thead>")[2].partition("</thead>")[0]


@pytest.mark.parametrize("path", ["/", "/queries", "/compare", "/query?query=q1"])
def test_what_strips_show_of_ties_that_are_not_broken(
    server: Serve, folder: Path, path: str
) -> None:
    served = server(folder)
    said = "tied results stand in the order of their ids; values are the mean over all orders"
    mark = "&" if "?" in path else "?"
    terms = f"{path}{mark}missing=zero"
    assert said in served.ask(f"{terms}&ties=expected").text
    assert said not in served.ask(terms).text
