"""JSON under /api: what commands print, described by OpenAPI, and never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judged
from judged.web.api import openapi, routes
from judged.web.app import Explorer
from judged.web.settings import ServerSettings
from support.served import Serve, Server


def plain(found: object) -> object:
    return json.loads(json.dumps(found))


def paths(data: Path) -> tuple[str, list[str]]:
    return str(data / "qrels.txt"), [str(path) for path in sorted(data.glob("*.run"))]


def test_files_and_systems(served: Server) -> None:
    found = served.ask("/api/files").json
    assert found["judgements"] == "qrels.txt"
    assert [(file["name"], file["kind"]) for file in found["files"]] == [
        ("bm25.run", "run"),
        ("dense.run", "run"),
        ("hybrid.run", "run"),
        ("qrels.txt", "judgements"),
        ("short.run", "run"),
    ]
    systems = served.ask("/api/systems").json["systems"]
    assert systems[1] == {"name": "dense", "file": "dense.run", "place": 1}


def test_what_commands_print(served: Server, data: Path) -> None:
    judgements, runs = paths(data)
    policy = {"policy": {"ties": "best", "depth": 7}}
    query = "measure=AP&measure=P@5&ties=best&depth=7"
    found = served.ask(f"/api/evaluate?{query}&interval=1&per_query=1").json
    expected = judged.evaluate(judgements, runs, ["AP", "P@5"], **policy).showing(intervals=True)
    assert found == plain(expected.to_dict(per_query=True))
    found = served.ask(f"/api/evaluate?{query}&tie_range=1").json
    expected = judged.evaluate(judgements, runs, ["AP", "P@5"], **policy).showing(
        tie_range=True, unjudged_range=True
    )
    assert found == plain(expected.to_dict())
    found = served.ask(f"/api/compare?{query}&system=dense&system=bm25&test=sign").json
    expected = judged.compare(judgements, [runs[1], runs[0]], ["AP", "P@5"], test="sign", **policy)
    assert found == plain(expected.to_dict())
    found = served.ask("/api/explain?measure=AP&ties=best&depth=7&system=dense&query=q2").json
    assert found == plain(
        judged.explain(
            judgements, runs[1], "AP", query="q2", policy={"ties": "best", "depth": 7}
        ).to_dict()
    )


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
        ("evaluate?tie=best", 400, "Unknown parameter 'tie'; did you mean 'ties'?", "tie"),
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
            "Unknown system 'bm52'; did you mean 'bm25'? The systems are bm25, dense, hybrid, "
            "short.",
            "system",
        ),
        (
            "explain?system=bm25&query=q99",
            404,
            "Query 'q99' is not one of the 20 judged queries; did you mean 'q9'?",
            "query",
        ),
        ("explain?system=bm25", 400, "query is missing; say which.", "query"),
        ("nothing", 404, "This page does not exist.", "path"),
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
    with pytest.raises(judged.errors.InputError) as said:
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
