"""JSON under /api: what commands print, described by OpenAPI, and never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote, urlencode

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import judged
from judged.web.api import ENDPOINTS, openapi, routes
from judged.web.app import Explorer
from judged.web.settings import ServerSettings
from support.served import Serve, Server


def plain(found: object) -> object:
    return json.loads(json.dumps(found))


def paths(data: Path) -> tuple[str, list[str]]:
    return str(data / "qrels.txt"), [str(path) for path in sorted(data.glob("*.run"))]


def test_files_and_systems(server: Serve, data: Path) -> None:
    running = server(data)
    found = running.ask("/api/files").json
    assert found["judgements"] == "qrels.txt"
    assert [(file["name"], file["kind"]) for file in found["files"]] == [
        ("bm25.run", "run"),
        ("dense.run", "run"),
        ("hybrid.run", "run"),
        ("qrels.txt", "judgements"),
        ("short.run", "run"),
    ]
    systems = running.ask("/api/systems").json["systems"]
    assert systems[1] == {"name": "dense", "file": "dense.run", "place": 1}


def test_what_commands_print(server: Serve, data: Path) -> None:
    running = server(data)
    judgements, runs = paths(data)
    policy = {"policy": {"ties": "best", "depth": 7}}
    query = "measure=AP&measure=P@5&ties=best&depth=7"
    found = running.ask(f"/api/evaluate?{query}&interval=1&per_query=1").json
    expected = judged.evaluate(judgements, runs, ["AP", "P@5"], **policy).showing(intervals=True)
    assert found == plain(expected.to_dict(per_query=True))
    found = running.ask(f"/api/evaluate?{query}&tie_range=1&unjudged_range=1").json
    expected = judged.evaluate(judgements, runs, ["AP", "P@5"], **policy).showing(
        tie_range=True, unjudged_range=True
    )
    assert found == plain(expected.to_dict())
    found = running.ask(f"/api/compare?{query}&system=dense&system=bm25&test=sign").json
    expected = judged.compare(judgements, [runs[1], runs[0]], ["AP", "P@5"], test="sign", **policy)
    assert found == plain(expected.to_dict())
    found = running.ask("/api/explain?measure=AP&ties=best&depth=7&system=dense&query=q2").json
    assert found == plain(
        judged.explain(
            judgements, runs[1], "AP", query="q2", policy={"ties": "best", "depth": 7}
        ).to_dict()
    )


def test_other_results(server: Serve, data: Path) -> None:
    running = server(data)
    judgements, runs = paths(data)
    value = judged.evaluate(judgements, runs[0], "AP@10").value()
    found = running.ask(f"/api/identify?value={value:.4f}&system=bm25&measure=AP").json
    assert found == plain(judged.identify(f"{value:.4f}", judgements, runs[0], "AP").to_dict())
    found = running.ask("/api/conventions?system=bm25&measure=AP@10").json
    assert found == plain(judged.compare_conventions(judgements, runs[0], "AP@10").to_dict())
    assert running.ask("/api/conventions?name=ranx").json["name"] == "ranx"
    assert "beir" in running.ask("/api/conventions").json
    assert "nDCG" in running.ask("/api/measures").json["measures"]
    assert list(running.ask("/api/measures?name=nDCG@5").json["measures"]) == ["nDCG@5"]
    found = running.ask(f"/api/playground?list={quote('0 1 0 1')}&relevant=3").json
    values = {each["measure"]: each["value"] for each in found["measures"]}
    assert values["AP@10"] == judged.explain("0 1 0 1", measure="AP@10", relevant=3).value


def test_charts(server: Serve, data: Path) -> None:
    running = server(data)
    begins = {"svg": b"<svg", "png": b"\x89PNG", "csv": b"", "json": b"{"}
    kinds = {
        "svg": "image/svg+xml",
        "png": "image/png",
        "csv": "text/csv",
        "json": "application/json",
    }
    for form, begin in begins.items():
        answer = running.ask(f"/api/charts?kind=systems&measure=AP&format={form}")
        assert answer.status == 200, answer.text
        assert answer.headers["content-type"].startswith(kinds[form])
        assert answer.body.startswith(begin)
    refused = running.ask("/api/charts?kind=system")
    assert refused.status == 400
    assert "did you mean 'systems'?" in refused.json["error"]


def test_temperatures(server: Serve, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    np.save(tmp_path / "queries.npy", draw.normal(size=(6, 4)))
    np.save(tmp_path / "items.npy", draw.normal(size=(12, 4)))
    (tmp_path / "query-labels.txt").write_text("a\nb\n" * 3)
    (tmp_path / "item-labels.txt").write_text("a\nb\n" * 6)
    answer = server(tmp_path).ask("/api/sweep")
    assert answer.status == 200, answer.text
    assert len(answer.json["temperatures"]) >= 49


def test_queries_and_one_of_them(server: Serve, data: Path) -> None:
    running = server(data)
    judgements, runs = paths(data)
    evaluation = judged.evaluate(judgements, runs, "AP")
    found = running.ask("/api/queries?measure=AP&from=18&size=50").json
    assert (found["count"], [each["query"] for each in found["queries"]]) == (20, ["q18", "q19"])
    assert found["queries"][0]["values"]["bm25"]["AP"] == float(
        evaluation.runs[0].values[judged.AP][18]
    )
    found = running.ask("/api/query?measure=AP&query=q2").json
    explained = judged.explain(judgements, runs[0], "AP", query="q2")
    results = [(each["rank"], each["item"]) for each in found["lists"][0]["results"]]
    assert results == list(explained.items.items())
    assert found["lists"][0]["values"]["AP"] == explained.settled


@pytest.mark.parametrize(
    ("address", "status", "error", "where"),
    [
        (
            "evaluate?measure=nDCH",
            400,
            "There is no measure 'nDCH'; did you mean 'nDCG'? 'judged measures' lists them all.",
            "measure",
        ),
        ("evaluate?ties=bset", 400, None, None),
        ("evaluate?tie=best", 400, "There is no parameter 'tie' here; did you mean 'ties'?", "tie"),
        ("evaluate?depth=0", 400, "depth must be a whole number from 1; got 0.", None),
        ("evaluate?depth=x", 400, "depth must be a whole number from 1; got 'x'.", None),
        ("evaluate?level=2", 400, None, None),
        ("evaluate?interval=yes", 400, "interval must be 0 or 1; got 'yes'.", None),
        ("evaluate?depth=1&depth=2", 400, "depth occurs 2 times; give it once.", "depth"),
        ("evaluate?convention=rnx", 400, None, None),
        ("evaluate?judgements=qrel.txt", 404, None, "judgements"),
        (
            "explain?system=bm52&query=q1",
            404,
            "There is no system 'bm52'; did you mean 'bm25'? There is bm25, dense, hybrid, short.",
            "system",
        ),
        (
            "explain?system=bm25&query=q99",
            404,
            "There is no judged query 'q99' among 20; did you mean 'q9'?",
            "query",
        ),
        ("explain?system=bm25", 400, "query is missing; say which.", "query"),
        ("identify?value=x&system=bm25", 400, None, None),
        ("playground?list=a", 400, None, None),
        ("nothing", 404, "There is no such page.", "path"),
    ],
)
def test_errors(
    server: Serve, data: Path, address: str, status: int, error: str | None, where: str | None
) -> None:
    answer = server(data).ask(f"/api/{address}")
    assert answer.status == status
    assert list(answer.json) == ["error", "where"]
    assert answer.json["where"] == where
    if error is not None:
        assert answer.json["error"] == error


def test_a_file_that_cannot_be_read(server: Serve, data: Path) -> None:
    (data / "bm25.run").write_text("q1 Q0 d1 1 2.0 x\n" * 3 + "q1 Q0 d2\n")
    answer = server(data).ask("/api/evaluate")
    with pytest.raises(judged.InputError) as said:
        judged.evaluate(*paths(data))
    assert (answer.status, answer.json["error"]) == (422, str(said.value))


def test_nothing_to_evaluate(server: Serve, tmp_path: Path) -> None:
    answer = server(tmp_path).ask("/api/evaluate")
    assert (answer.status, answer.json) == (
        409,
        {"error": "There is nothing here yet that could be evaluated.", "where": None},
    )


def test_the_description_is_that_of_the_addresses(server: Serve, data: Path) -> None:
    explorer = Explorer.of(ServerSettings.of([]))
    served = {
        (route.path, next(iter((route.methods or set()) - {"HEAD"}))) for route in routes(explorer)
    }
    described = {
        (path, method.upper()) for path, each in openapi()["paths"].items() for method in each
    }
    assert served == described | {("/api/openapi.json", "GET")}
    assert server(data).ask("/api/openapi.json").json == plain(openapi())
    for each in ENDPOINTS.values():
        names = [
            param["name"]
            for param in openapi()["paths"][each.path][each.method.lower()]["parameters"]
        ]
        assert names == list(each.names)
        assert len(set(names)) == len(names)


NONSENSE = st.text(max_size=30) | st.sampled_from(
    ["-1", "0", "1e400", "NaN", "q1", "bm25", "AP", "../..", "\x00", "__proto__", "'", "9" * 30]
)


def test_nonsense_in_every_parameter(server: Serve, data: Path) -> None:
    running: Server = server(data)

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def asked(draw: st.DataObject) -> None:
        for endpoint in (known for known in ENDPOINTS.values() if known.method == "GET"):
            chosen = draw.draw(
                st.lists(
                    st.tuples(st.sampled_from([*endpoint.names, "other"]), NONSENSE), max_size=4
                )
            )
            answer = running.ask(f"{endpoint.path}?{urlencode(chosen, errors='replace')}")
            assert answer.status in (200, 400, 403, 404, 409, 422), (answer.text, chosen)
            if answer.status != 200:
                assert list(answer.json) == ["error", "where"]
                assert answer.json["error"].strip()

    asked()
