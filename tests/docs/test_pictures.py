"""Pictures of charts in the documentation: one of every kind, up to date, small, and with their
words in them."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import vl_convert
from PIL import Image

from judged import charts
from judged.charts.chart import SCALE
from judged.charts.kinds import KINDS
from judged.cli import demo_data
from support.loops import for_each

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 80_000
APART = 1e-4
"""How far a picture's numbers may be from those it was drawn from, of their size: exponentials in
single precision, and counts in bins that end at a score, are not the same on all machines."""
RERUN = "out of date: run `python docs/pictures.py`"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_pictures", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pytestmark = [pytest.mark.full, pytest.mark.slow]
pictures = load()
every_picture = for_each("name", pictures.PICTURES)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    digits = pictures.Digits(demo_data.write_demo(tmp_path_factory.mktemp("pictures")))
    return {name: make(digits) for name, make in pictures.PICTURES.items()}


@pytest.fixture(scope="module")
def svg_of(drawn: dict[str, Any]) -> Callable[[str], str]:
    """A chart as shapes, by its name: made once, which is what takes the time."""
    return cache(lambda name: drawn[name].to_svg())


@pytest.fixture(scope="module")
def sketches() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(pictures.SKETCHES.read_text(encoding="utf-8"))
    return found


def test_there_is_a_picture_of_every_kind_and_no_other_file() -> None:
    assert set(KINDS) <= set(pictures.PICTURES)
    drawn_ones = {path for path in pictures.FOLDER.iterdir() if not path.match("page-*.png")}
    assert drawn_ones == {
        *map(pictures.path_of, pictures.PICTURES),
        pictures.SKETCHES,
    }


@every_picture
def test_a_picture_is_up_to_date_and_small(
    name: str, drawn: dict[str, Any], sketches: dict[str, dict[str, Any]]
) -> None:
    kept, found = sketches[name], pictures.sketch(drawn[name])
    assert found["words"] == kept["words"], RERUN
    assert found["numbers"].keys() == kept["numbers"].keys(), RERUN
    for which, (count, *sums) in kept["numbers"].items():
        now, *totals = found["numbers"][which]
        assert now == count, (which, RERUN)
        assert totals == pytest.approx(sums, abs=APART * sums[-1]), (which, RERUN)
    assert 2_000 < pictures.path_of(name).stat().st_size < LARGEST


@every_picture
def test_a_picture_is_of_its_own_kind_and_shown_somewhere(name: str, drawn: dict[str, Any]) -> None:
    assert name not in KINDS or drawn[name].kind == name
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    shown = f"pictures/{pictures.path_of(name).name})"
    assert any(shown in page.read_text(encoding="utf-8") for page in pages)


@every_picture
def test_a_picture_is_not_empty(
    name: str, drawn: dict[str, Any], svg_of: Callable[[str], str]
) -> None:
    is_chart = isinstance(drawn[name], charts.Chart)
    png = vl_convert.svg_to_png(svg_of(name), scale=SCALE) if is_chart else drawn[name].to_png()
    image = Image.open(BytesIO(png)).convert("RGB")
    assert image.width >= 500
    assert image.height >= 300
    colours = image.getcolors(1 << 24)
    assert len(colours) > 20
    # Something is drawn: the background is not all there is.
    assert max(count for count, _ in colours) < 0.98 * image.width * image.height


@every_picture
def test_a_picture_has_its_words(
    name: str, drawn: dict[str, Any], svg_of: Callable[[str], str]
) -> None:
    picture = drawn[name]
    assert picture.notes or picture.kind in ("precision-recall-at-k", "confusion-at-k")
    if not isinstance(picture, charts.Chart):
        return
    svg = svg_of(name)
    assert f">{picture.title}<" in svg
    for axis in _axis_titles(picture.spec):
        assert f">{axis}<" in svg
    assert all(name in svg for name in _names(picture))
    assert picture.to_altair().to_dict(validate=True)


def _axis_titles(spec: Any) -> set[str]:
    """All titles of axes anywhere in a specification."""
    if isinstance(spec, list):
        return set().union(*map(_axis_titles, spec)) if spec else set()
    if not isinstance(spec, dict):
        return set()
    own = {spec["title"]} if "field" in spec and isinstance(spec.get("title"), str) else set()
    return own | _axis_titles([value for name, value in spec.items() if name != "datasets"])


def _names(picture: charts.Chart) -> list[str]:
    """The systems that a chart shows side by side."""
    return (
        picture.data["run"].unique().to_list()
        if picture.kind in ("eleven-point", "measure-at-k", "cmc", "roc")
        else []
    )
