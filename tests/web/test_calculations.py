"""The numbers of the explorer are those of the library on the same files, bit for bit."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from dataclasses import asdict, is_dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import judged
from judged import errors
from judged.cli import main
from judged.errors import JudgedError
from judged.options import LEVEL
from judged.policy import CHOICES
from judged.web import commands
from judged.web.work import Cache
from judged.web.workspace import ServedFiles
from support.loops import for_each
from support.served import grades, lists, write_judgements, write_run
from support.served import visit_of as ask

MEASURES = ("nDCG@10", "AP", "RR", "P@5")


def files(folder: Path) -> tuple[str, list[str]]:
    return str(folder / "qrels.txt"), [str(path) for path in sorted(folder.glob("*.run"))]


def read(folder: Path) -> tuple[Any, dict[str, Any]]:
    """The same, read once."""
    judgements, runs = files(folder)
    return judged.read_judgements(judgements), {
        Path(run).stem: judged.read_run(run) for run in runs
    }


def everything(found: Any, **options: Any) -> str:
    """All that a result says, as text: numbers are written exactly."""
    tables = [asdict(table) if is_dataclass(table) else table for table in found.tables()]
    said = [found.warnings(), found.sentences(), tables]

    def plain(value: Any) -> Any:
        return value() if callable(value) else sorted(value)

    return json.dumps([found.to_dict(**options), said], default=plain)


def outcome(call: Any) -> str:
    try:
        return everything(call())
    except JudgedError as error:
        return f"{type(error).__name__}: {error}"


def agree(ours: str, theirs: str) -> bool:
    """Whether the explorer says what the library does, which names all runs that it refuses."""
    kind, _, reason = ours.partition(": ")
    several = theirs.startswith(f"{kind}: ") and " runs cannot be evaluated" in theirs
    return ours == theirs or (several and f": {reason}" in theirs)


@pytest.mark.parametrize("ties", CHOICES["ties"])
def test_evaluations_under_every_policy(data: Path, ties: str) -> None:
    cache, library = Cache(10**8), ServedFiles((data,))
    judgements, runs = read(data)
    others = product(*(CHOICES[name] for name in ("missing", "empty", "unjudged")))
    for (missing, empty, unjudged), depth in product(others, (None, 4)):
        chosen = {"ties": ties, "missing": missing, "empty": empty, "unjudged": unjudged}
        query = "&".join(f"{name}={value}" for name, value in chosen.items())
        query += f"&depth={depth or ''}" + "".join(f"&measure={each}" for each in MEASURES)
        asked = ask(data, query, cache=cache, library=library)
        policy = {**chosen, "depth": depth}
        ours = outcome(lambda asked=asked: asked.calculations.evaluation(asked.scoring))
        theirs = outcome(
            lambda policy=policy: judged.evaluate(
                judgements, runs, list(MEASURES), policy=policy
            ).showing(intervals=True)
        )
        assert agree(ours, theirs)


@for_each("convention", list(judged.conventions.conventions()))
def test_evaluations_under_every_convention(data: Path, convention: str) -> None:
    asked = ask(data, f"convention={convention}")
    judgements, runs = files(data)
    assert agree(
        outcome(lambda: asked.calculations.evaluation(asked.scoring, interval=False)),
        outcome(lambda: judged.evaluate(judgements, runs, convention=convention)),
    )


def test_conventions_that_change_the_runs_first(tmp_path: Path) -> None:
    """Results with the id of their query, which some libraries take out."""
    judgements = grades()
    run = lists()
    for query in list(run)[:5]:
        run[query][query] = 99.0
    write_judgements(tmp_path / "qrels.txt", judgements)
    write_run(tmp_path / "own.run", run)
    write_run(tmp_path / "plain.run", lists(seed=3))
    cache = Cache(10**8)
    for convention in ("", "beir", "mteb", "ranx", "beir"):
        asked = ask(tmp_path, f"convention={convention}", cache=cache)
        expected = judged.evaluate(*files(tmp_path), convention=convention or None)
        found = asked.calculations.evaluation(asked.scoring, interval=False)
        assert everything(found, per_query=True) == everything(expected, per_query=True)


@pytest.mark.parametrize("duplicates", ["error", "first"])
def test_rows_that_repeat_others(tmp_path: Path, duplicates: str) -> None:
    write_judgements(tmp_path / "qrels.txt", grades())
    path = write_run(tmp_path / "twice.run", lists())
    text = path.read_text()
    path.write_text(text + text.splitlines()[0].replace(" Q0 ", " Q0 ") + "\n")
    asked = ask(tmp_path, f"duplicates={duplicates}")
    ours = outcome(lambda: asked.calculations.evaluation(asked.scoring, interval=False))
    theirs = outcome(lambda: judged.evaluate(*files(tmp_path), policy={"duplicates": duplicates}))
    assert ours.replace("UnreadableError", "InputError") == theirs
    assert ("more than once" in ours) == (duplicates == "error")


def test_without_repetitions_the_first_of_them_is_no_other_evaluation(data: Path) -> None:
    cache = Cache(10**8)
    for duplicates in ("error", "first"):
        asked = ask(data, f"duplicates={duplicates}&ties=best", cache=cache)
        expected = judged.evaluate(
            *files(data), policy={"ties": "best", "duplicates": duplicates}
        ).showing(intervals=True)
        found = asked.calculations.evaluation(asked.scoring)
        assert everything(found, per_query=True) == everything(expected, per_query=True)


@pytest.mark.parametrize("query", ["", "ties=worst&depth=5", "missing=skip", "level=0.9"])
def test_comparisons(data: Path, query: str) -> None:
    asked = ask(data, query)
    judgements, runs = files(data)
    options = asked.scoring.scoring()
    if asked.scoring.level != LEVEL:
        options["level"] = asked.scoring.level
    expected = judged.compare(judgements, runs, baseline="bm25", **options)
    found = asked.calculations.comparison(asked.scoring, baseline="bm25")
    assert everything(found) == everything(expected)
    two = judged.compare(judgements, [runs[1], runs[0]], ["AP"], **options)
    found = asked.calculations.comparison(asked.scoring, systems=["dense", "bm25"], measures=["AP"])
    assert everything(found) == everything(two)


def test_a_run_that_lacks_many_queries_is_refused_as_on_the_command_line(tmp_path: Path) -> None:
    write_judgements(tmp_path / "qrels.txt", grades())
    write_run(tmp_path / "a.run", lists())
    write_run(tmp_path / "b.run", dict(list(lists(seed=2).items())[:9]))
    asked = ask(tmp_path)
    theirs = outcome(lambda: judged.compare(*files(tmp_path)))
    assert outcome(lambda: asked.calculations.comparison(asked.scoring)) == theirs
    assert "b has no results for 11 (q9, q10, q11, …) of the 20 judged queries that a has" in theirs
    chosen = ask(tmp_path, "missing=zero")
    found = chosen.calculations.comparison(chosen.scoring)
    expected = judged.compare(*files(tmp_path), policy={"missing": "zero"})
    assert everything(found) == everything(expected)


@pytest.mark.parametrize("query", ["", "ties=best&depth=5", "unjudged=removed", "convention=ranx"])
def test_explanations_and_listings(data: Path, query: str) -> None:
    asked = ask(data, query)
    judgements, runs = files(data)
    for measure in ("AP", "nDCG@5"):
        expected = judged.explain(
            judgements, runs[0], measure, query="q2", **asked.scoring.scoring()
        )
        found = asked.calculations.explanation(asked.scoring, "bm25", "q2", measure)
        assert everything(found) == everything(expected)
    listing = asked.calculations.listing(asked.scoring, "bm25", "q2")
    assert dict(listing.items) == dict(found.items)


def test_ranges(data: Path) -> None:
    asked = ask(data, "measure=AP&measure=P@5")
    expected = judged.evaluate(*files(data), ["AP", "P@5"]).showing(
        tie_range=True, unjudged_range=True
    )
    found = asked.calculations.ranges(asked.scoring)
    assert everything(found, per_query=True) == everything(expected, per_query=True)


def test_rows_with_everything_in_them(tmp_path: Path) -> None:
    rows = [
        {"query": f"q{at}", "relevant": ["a", "b"], "retrieved": ["c", "a", "b"][at % 3 :]}
        for at in range(6)
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    asked = ask(tmp_path)
    assert asked.workspace.judgements is not None
    assert asked.workspace.judgements.kind == "rows"
    expected = judged.evaluate(str(tmp_path / "rows.json"))
    found = asked.calculations.evaluation(asked.scoring, interval=False)
    assert everything(found, per_query=True) == everything(expected, per_query=True)


def run_command(shell: str) -> Any:
    """What a command prints as JSON."""
    words = shlex.split(shell.replace("\\\n", ""))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as ended:
        main([*words[1:], "--format", "json"])
    assert ended.value.code == 0
    return json.loads(printed.getvalue())


TERMS = [
    "",
    "measure=AP&measure=P(rel=2)@5&ties=expected&level=0.8",
    "convention=ranx&depth=7&missing=zero",
    "unjudged=removed&missing=skip&duplicates=first",
]


@pytest.mark.parametrize("query", TERMS)
def test_commands_give_the_same_numbers(
    data: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "in_shell", True)
    (data / "dense.run").rename(data / "it's dense.run")
    asked = ask(data, query)
    found = asked.calculations.evaluation(asked.scoring)
    expected = json.loads(json.dumps(found.to_dict()))
    command = commands.evaluate(asked)
    assert run_command(command) == expected
    pair = ["short", "it's dense"]
    monkeypatch.setattr(errors, "in_shell", True)  # a command sets it back when it ends
    compared = asked.calculations.comparison(asked.scoring, systems=pair, baseline="short")
    expected = json.loads(json.dumps(compared.to_dict()))
    command = commands.compare(asked, systems=pair, baseline="short")
    assert run_command(command) == expected
    if "expected" in query:
        return
    explained = asked.calculations.explanation(asked.scoring, "short", "q2", "AP")
    expected = json.loads(json.dumps(explained.to_dict()))
    command = commands.explain(asked, "short", "q2", "AP")
    printed = run_command(command)
    # What missing queries do is no option of an explanation, which is about one query.
    assert {**printed, "policy": {**printed["policy"], "missing": ""}} == {
        **expected,
        "policy": {**expected["policy"], "missing": ""},
    }


def test_the_same_is_computed_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judged.web import calculations

    counted: list[int] = []
    usual = calculations.evaluate_rankings

    def counting(*given: Any, **options: Any) -> Any:
        counted.append(1)
        return usual(*given, **options)

    monkeypatch.setattr(calculations, "evaluate_rankings", counting)
    cache = Cache(10**8)
    first, again = (ask(data, "ties=best", cache=cache) for _ in range(2))
    one = first.calculations.evaluation(first.scoring)
    assert again.calculations.evaluation(again.scoring) is one
    assert len(counted) == 1


def test_a_change_of_terms_reads_and_judges_nothing(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(10**8)
    first = ask(data, "", cache=cache)
    first.calculations.evaluation(first.scoring)
    monkeypatch.setattr("judged.web.calculations.Calculations._match", None)
    monkeypatch.setattr("judged.web.calculations.Calculations._data", None)
    for query in ("ties=best", "ties=expected", "unjudged=removed", "depth=3"):
        asked = ask(data, query, cache=cache)
        asked.calculations.evaluation(asked.scoring)
