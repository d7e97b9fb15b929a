"""Recipes for other tools: each block runs, with the real package where it is installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from judged.cli import main

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"<!-- recipe: (\w+) -->\n```python\n(.*?)```", TEXT, re.DOTALL))
DATABASES = ("qdrant_client", "chromadb", "lancedb", "duckdb")


def ran(*names: str) -> dict[str, Any]:
    """What is left after some of the blocks, one after the other."""
    left: dict[str, Any] = {}
    for name in names:
        exec(compile(BLOCKS[name], name, "exec"), left)
    return left


def exit_code(program: str, *arguments: str) -> int:
    """Run a command of the page in this process."""
    assert program == "judged"
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_every_recipe_is_tried() -> None:
    assert {*BLOCKS} == {"mlflow", "wandb", "pytest", "vectors", *DATABASES}


def test_the_function_for_pytest_passes_and_can_fail() -> None:
    left = ran("pytest")
    left["test_search_is_as_good_as_before"]()
    left["now"].update({f"q{n}": ["b", "a"] for n in range(30)})
    with pytest.raises(AssertionError, match="RR"):
        left["test_search_is_as_good_as_before"]()


def test_the_vectors_can_be_searched() -> None:
    left = ran("vectors")

    def exact(block: Any, k: int) -> Any:
        np = left["np"]
        items = left["items"] / np.linalg.norm(left["items"], axis=1, keepdims=True)
        return np.argsort(-(block @ items.T), axis=1, kind="stable")[:, :k], None

    found = left["search"].evaluate_index(exact, left["right"], "P@10", k=10)
    assert found.recall == 1.0
    assert found.loss["P@10"] == pytest.approx(0, abs=1e-12)


HEAVY = [
    name if name == "duckdb" else pytest.param(name, marks=pytest.mark.heavy) for name in DATABASES
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HEAVY)
def test_a_vector_database_finds_nearly_everything(name: str) -> None:
    pytest.importorskip(name)
    found = ran("vectors", name)["found"]
    assert found.recall > 0.95
    assert found.quantile(0.05) > 0.7
    assert abs(found.loss["P@10"]) < 0.05


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_mlflow_keeps_the_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (folder / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    left = ran("mlflow")
    import mlflow

    kept = mlflow.get_run(left["logged"].info.run_id).data.metrics
    assert kept == pytest.approx(left["found"].to_metrics(names="mlflow"))


def test_the_hook_of_pre_commit_calls_the_gate_as_it_is(folder: Path) -> None:
    entry = re.search(r"entry: (judged .*)", TEXT)
    assert entry is not None
    (folder / "eval").mkdir()
    queries = [f"q{n}" for n in range(12)]
    (folder / "eval/qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    good = "".join(f"{query} Q0 a 1 2 x\n{query} Q0 b 2 1 x\n" for query in queries)
    bad = "".join(f"{query} Q0 b 1 2 x\n{query} Q0 a 2 1 x\n" for query in queries)

    def called(*more: str) -> int:
        return exit_code(*entry[1].split(), *more)

    (folder / "eval/today.run").write_text(good)
    assert called("--update-baseline", "-m", "RR") == 0
    assert called() == 0
    (folder / "eval/today.run").write_text(bad)
    assert called() == 1


def test_the_workflow_of_github_actions_calls_the_gate_as_it_is(folder: Path) -> None:
    page = (ROOT / "docs" / "guide-ci.md").read_text(encoding="utf-8")
    found = re.search(r"- run: (judged gate .*)", page)
    assert found is not None
    words = found[1].split()
    (folder / "eval").mkdir()
    queries = [f"q{n}" for n in range(12)]
    (folder / "eval/qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    (folder / "today.run").write_text("".join(f"{query} Q0 a 1 2 x\n" for query in queries))
    (folder / "eval/golden.txt").write_text("q1\n")
    for more in (["--update-baseline", "-m", "nDCG@10"], []):
        assert exit_code(*words, *more) == 0
    assert (folder / "gate.md").read_text().startswith("PASSED")
    assert "<testsuite" in (folder / "gate.xml").read_text()
