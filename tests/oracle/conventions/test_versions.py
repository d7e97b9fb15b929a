"""The versions of libraries that conventions describe are those that are installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

from judged.conventions import find
from support.loops import for_each

NEWER = [
    *("cwl-eval", "ir_measures", "pytorch-metric-learning", "pytrec_eval", "ranx", "scikit-learn"),
    *("sentence-transformers", "torchmetrics", "trectools"),
]
"""Libraries that every test run installs, which may be newer."""
EXACT = [
    *("beir", "evidently", "haystack", "lightfm", "llama-index", "mteb", "ragas", "recbole"),
    *("recommenders", "rectools", "replay", "spark"),
]


def versions(name: str) -> list[list[int]]:
    """Return the version that is installed and the one that is described."""
    try:
        texts = version(find(name).package), find(name).version
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    return [[int(part) for part in text.split(".") if part.isdigit()] for text in texts]


@for_each("name", NEWER)
def test_installed_libraries_are_not_older(name: str) -> None:
    installed, described = versions(name)
    assert installed >= described


@pytest.mark.heavy
@for_each("name", EXACT)
def test_heavy_libraries_are_the_same(name: str) -> None:
    installed, described = versions(name)
    assert installed == described
