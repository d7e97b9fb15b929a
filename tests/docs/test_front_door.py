"""`import judged`: exactly the names it promises, and nothing heavy before it is needed."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import judged
from judged.measures import REGISTRY, Measure
from support.loops import for_each


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has after running some code."""
    script = f"{code}\nimport sys\nsys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


HEAVY = {"numpy", "polars", "scipy", "rich", "pandas"}


def test_import_judged_is_light() -> None:
    assert loaded_by("import judged") & {*HEAVY, "click"} == set()


def test_help_is_light() -> None:
    """The help of all these commands together loads nothing heavy."""
    commands = "evaluate embeddings temperature learn identify overlap plan agreement merge"
    calls = [["--help"], ["--version"], ["measures", "--help"], ["plot", "--help"]]
    calls += [[command, "--help"] for command in (*commands.split(), "demo")]
    code = (
        f"from judged.cli import main\nfor call in {calls!r}:\n    try:\n        main(call)\n"
        "    except SystemExit as end:\n        assert end.code == 0"
    )
    loaded = loaded_by(code)
    assert "click" in loaded
    assert loaded & HEAVY == set()


def test_a_small_evaluation_needs_neither_scipy_nor_pandas() -> None:
    loaded = loaded_by(
        "import judged\njudged.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}).value('AP')"
    )
    assert loaded & {"scipy", "pandas", "pyarrow", "rich", "click"} == set()


@for_each("name", judged.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(judged, name) is not None
    assert name in dir(judged)


def test_a_name_is_the_same_whatever_was_imported_before() -> None:
    loaded_by("import judged.explanation.explanation, judged\nassert callable(judged.explain)")


def test_type_checkers_see_the_same_names(reference: ModuleType) -> None:
    """The stub is a second list of the public names, so it is derived from the first."""
    assert reference.STUB.read_text(encoding="utf-8") == reference.stub()


def test_what_is_relevant_is_said_without_the_rest_of_the_library() -> None:
    later = {"judged.evaluation.evaluate", "judged.measures", "judged.learning.learn"}
    loaded = loaded_by("import judged; judged.relevance.same_label")
    assert loaded & {*later, "judged.charts", "scipy"} == set()


def test_all_is_sorted_and_without_repetition() -> None:
    assert judged.__all__ == ["__version__", *sorted(set(judged.__all__) - {"__version__"})]


@for_each("name", REGISTRY)
def test_every_measure_is_a_name(name: str) -> None:
    measure = getattr(judged, name)
    assert isinstance(measure, Measure)
    assert str(measure) == name
    assert name in dir(judged)


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in judged.__all__:
        thing = getattr(judged, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_"):
                    yield f"{name}.{method}", function


@for_each("name, function", public_functions)
def test_type_hints_can_be_read(name: str, function: Callable[..., Any]) -> None:
    """Tools that make forms, schemas or documentation of functions evaluate their annotations."""
    assert get_type_hints(function).keys() >= inspect.get_annotations(function).keys(), name


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="module 'judged' has no attribute 'nope'"):
        judged.nope  # noqa: B018
