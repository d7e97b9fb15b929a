"""Every kind of chart: declared once, tested, documented and drawn."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from judged import charts
from judged.charts.kinds import KINDS, NEEDS, OPTIONS, ChartKind, kind_named
from support.errors import error_of

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "src" / "judged" / "charts" / "kinds"

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))


def test_every_file_holds_kinds_and_every_kind_is_in_its_file() -> None:
    files = {path.stem for path in FILES.glob("*.py") if path.stem != "__init__"}
    assert files == {kind.file for kind in KINDS.values()}


def test_no_module_hides_a_function() -> None:
    """`judged.charts.scores` has to be a function, whatever was imported before."""
    assert not {path.stem for path in FILES.parent.glob("*.py")} & {
        kind.function_name for kind in KINDS.values()
    }


def test_all_is_what_there_is_and_what_type_checkers_see() -> None:
    tree = ast.parse(Path(charts.__file__).read_text(encoding="utf-8"))
    [guarded] = [node for node in tree.body if isinstance(node, ast.If)]
    assert {alias.name for node in guarded.body for alias in node.names} | {"KINDS", "plot"} == set(
        charts.__all__
    )
    assert set(dir(charts)) == set(charts.__all__)


@every_kind
def test_a_kind_is_a_function_of_the_library_with_the_options_it_declares(kind: ChartKind) -> None:
    function = getattr(charts, kind.function_name)
    assert function is kind.function
    assert ">>> " in (function.__doc__ or "")
    parameters = inspect.signature(function).parameters.values()
    own = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert own == set(kind.options)
    last = list(inspect.signature(function).parameters.values())[-1]
    assert (last.name, last.kind) == ("design", last.VAR_KEYWORD)
    made = charts.Gallery if kind.name == "gallery" else charts.Chart
    assert kind.formats == (*made.SAVED_AS, ".parquet")


@every_kind
def test_a_kind_needs_what_there_is_and_takes_options_that_are_explained(kind: ChartKind) -> None:
    assert kind.needs in NEEDS
    assert set(kind.options) <= set(OPTIONS)
    assert kind.summary.endswith(".")


@every_kind
def test_the_data_of_a_kind_have_tests(kind: ChartKind) -> None:
    path = ROOT / "tests" / "charts" / f"test_{kind.file}.py"
    text = path.read_text(encoding="utf-8")
    assert f"judged.charts.kinds.{kind.file} import" in text
    assert f"{kind.function_name}(" in text


def test_every_option_is_used() -> None:
    assert {option for kind in KINDS.values() for option in kind.options} == set(OPTIONS)
    assert {kind.needs for kind in KINDS.values()} == set(NEEDS)


def test_a_kind_that_does_not_exist() -> None:
    assert kind_named("rank_histogram") is KINDS["rank-histogram"]
    assert (
        error_of(kind_named, "rok")
        == f"unknown chart 'rok'; did you mean 'roc'? The charts are {', '.join(KINDS)}."
    )
    with pytest.raises(AttributeError, match=r"module 'judged.charts' has no attribute 'rok'"):
        charts.rok  # noqa: B018


@every_kind
def test_a_kind_is_documented_with_its_picture(kind: ChartKind) -> None:
    text = (ROOT / "docs" / "charts.md").read_text(encoding="utf-8")
    assert f"\n### {kind.name}\n" in text
    assert kind.summary in " ".join(text.split())
    assert f"](pictures/{kind.name}." in text
    assert f"judged.charts.{kind.function_name}(" in text
