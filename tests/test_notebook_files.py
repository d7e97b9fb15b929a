"""The notebooks run from top to bottom in new kernels, and their stored outputs are current."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.parts import Later, Needs

pytestmark = pytest.mark.full

nbclient = Later("nbclient")
nbformat = Later("nbformat")

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PATIENCE = 600
"""Seconds that a cell may take on a machine that is very busy; all of a notebook takes a few."""

SHOWN = {
    "first-numbers": {
        "evaluate": "<table><thead><tr>",
        "policy": "missing=skip",
        "per-query": "how do bees find home",
        # (1 / 1 + 2 / 2) / (2 / 1 + 1 / 1.585)
        "explain": "of run: 0.7602</b>",
        "conventions": "<p><b>AP@5: ",
        "identify": "AP(norm=retrieved)@5",
        "systems": "<td><b>",
        "chart": "<figure><svg",
        "frame": "cosine-pca8",
    },
    "is-b-better": {
        "intervals": ">low</th>",
        "compare": "<b>worse</b></td>",
        "forest": "<figure><svg",
        "margin": ">equivalent</td>",
        "slices": "with a loop</td>",
        "plan": "<p><b>You need ",
        "gate": "<p><b>FAILED: nDCG@10 fell from ",
    },
    "embeddings": {
        "evaluate": ">MedR</th>",
        "both": "pixels: items to queries</td>",
        "top": "<table",
        "diagnose": "<li>Diagnosis by cosine</li>",
        "scores": "<figure><svg",
        "index": "index@10</td>",
        "temperature": ">temperature</th>",
        "temperature-chart": "<figure><svg",
    },
    "rag": {
        "rows-of-questions": ">0.5000</td>",  # (1 + 1/2 + 0) / 3
        "evaluate": ">fused</td>",
        "compare": "<b>worse</b></td>",
        "funnel": ">not promoted</th>",
        "abstain": ">upper bound</th>",
        "explain": "for query q03 of bm25",
        "strips": "<figure><svg",
    },
    "recommender": {
        "data": ">rating</th>",
        "evaluate": "low grades count as relevant",
        "liked": "missing=zero, empty=skip",
        "compare": "<b>better</b></td>",
        "differences": "<figure><svg",
        "slices": ">unusual</td>",
        "conventions": "recommenders",
    },
}
"""The cells of each notebook that end with a result, and a part of its HTML."""


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in NOTEBOOKS} == {*SHOWN}


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def cells(notebook: Path, needs: Needs, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the cells by their ids, after a kernel ran all of them in an empty folder.

    Nothing of the user's comes into it: no kernel of another Python, no start-up files.
    """
    needs("notebooks")
    folder = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp("jupyter")))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        read = nbformat.read(notebook, as_version=4)
        client = nbclient.NotebookClient(
            read,
            timeout=PATIENCE,
            startup_timeout=PATIENCE,
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
    assert [*folder.iterdir()] == [], "nothing is left behind"
    return {cell.id: cell for cell in read.cells}


@pytest.mark.slow
def test_no_cell_fails(cells: dict[str, Any]) -> None:
    failed = [
        f"{name}: {output.ename}: {output.evalue}"
        for name, cell in cells.items()
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    assert failed == []
    ran = [cell.execution_count for cell in cells.values() if cell.cell_type == "code"]
    assert ran == [*range(1, len(ran) + 1)]


@pytest.mark.slow
def test_results_are_shown_as_html(notebook: Path, cells: dict[str, Any]) -> None:
    bundles = {
        name: output.data
        for name, cell in cells.items()
        for output in cell.get("outputs", [])
        if output.output_type == "execute_result"
    }
    shown = {name: data["text/html"] for name, data in bundles.items() if "text/html" in data}
    assert shown.keys() == SHOWN[notebook.stem].keys()
    for name, part in SHOWN[notebook.stem].items():
        assert part in shown[name], name
    charts = [name for name, part in SHOWN[notebook.stem].items() if part.startswith("<figure>")]
    assert charts
    for name in charts:
        assert any(kind.startswith("application/vnd.vegalite.") for kind in bundles[name])


def _join(text: str | list[str]) -> str:
    return "".join(text)


def _words(outputs: list[Any]) -> list[str]:
    """Return the words of outputs, without drawings and numbers."""
    texts = [_join(output.get("text", "")) for output in outputs if output.get("name") != "stderr"]
    for output in outputs:
        data = output.get("data", {})
        texts.append(_join(data.get("text/html", data.get("text/plain", ""))))
    page = re.sub("(?s)<svg.*?</svg>|<style.*?</style>|<[^>]*>", " ", " ".join(texts))
    return re.findall(r"[^\W\d_]{2,}", page)


@pytest.mark.slow
def test_stored_outputs_are_current(notebook: Path, cells: dict[str, Any]) -> None:
    """If this fails, run scripts/run_notebooks.py."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert _words(cell["outputs"]) == _words(cells[cell["id"]].outputs), cell["id"]


def test_it_is_stored_without_what_changes_from_run_to_run(notebook: Path) -> None:
    stored = json.loads(notebook.read_text(encoding="utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    assert stored["metadata"] == {"kernelspec": kernel, "language_info": {"name": "python"}}
    for cell in stored["cells"]:
        assert cell["metadata"] == {}
        assert re.fullmatch("[a-z]+(-[a-z]+)*", cell["id"])
    ids = [cell["id"] for cell in stored["cells"]]
    assert len({*ids}) == len(ids)
    first, *rest = ("".join(cell["source"]) for cell in stored["cells"])
    assert first.startswith("# ")
    assert all(rest)


def test_it_holds_no_paths_of_a_machine_and_its_links_lead_somewhere(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w.])/(?:home|tmp|usr|opt|var|root|work|Users|mnt)\b", text) == []
    assert re.findall(r"\b[A-Z]:\\", text) == []
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    for link in links:
        assert (FOLDER / link.partition("#")[0]).is_file(), link
