"""Run the notebooks and store what they show: `python scripts/run_notebooks.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
SHOWN = ("text/html", "text/plain")
"""Kinds of output to store, the first that a cell has. Drawings are in the HTML as SVG."""


def run(path: Path) -> Any:
    """Return the notebook with the outputs of a new kernel, in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        client.execute()
    return notebook


def store(path: Path) -> None:
    """Write the notebook with outputs, without what changes from run to run."""
    notebook = run(path)
    for cell in notebook.cells:
        cell.metadata = {}
        cell.outputs = [
            output for output in cell.get("outputs", []) if output.get("name") != "stderr"
        ]
        if cell.cell_type != "code":
            del cell["outputs"]
        for output in cell.get("outputs", []):
            if "data" in output:
                kind = next(kind for kind in SHOWN if kind in output.data)
                output.data, output.metadata = {kind: output.data[kind]}, {}
    notebook.metadata.language_info = {"name": "python"}
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:] or sorted(FOLDER.glob("*.ipynb"))):
        store(path)
