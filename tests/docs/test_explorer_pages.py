"""The guides to the explorer and the report: every page, address and option is in them, and every
screenshot is there, small, and shown."""

from __future__ import annotations

import importlib.util
import re
import sys
from io import BytesIO
from pathlib import Path
from types import ModuleType

import click
import pytest
from PIL import Image

from judged.cli import cli
from judged.web.api import ENDPOINTS
from judged.web.app import VIEWS, View
from judged.web.files import MAX_FILES, MAX_FOLDER_DEPTH
from judged.web.safety import POLICY
from support.loops import for_each

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 250_000
EXPLORER, REPORT, SAFETY = (
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("explorer", "report", "safety")
)


def load() -> ModuleType:
    path = ROOT / "docs" / "screenshots.py"
    spec = importlib.util.spec_from_file_location("docs_screenshots", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there for their names
    spec.loader.exec_module(module)
    return module


screenshots = load()


def options_of(name: str) -> list[str]:
    command = cli.get_command(click.Context(cli, info_name="judged"), name)
    assert command is not None
    return [
        option
        for param in command.params
        if isinstance(param, click.Option)
        for option in (*param.opts, *param.secondary_opts)
    ]


@pytest.mark.parametrize("name", screenshots.SHOTS)
def test_a_screenshot_is_there_and_shown(name: str) -> None:
    path = ROOT / "docs" / "pictures" / f"page-{name}.png"
    content = path.read_bytes()
    assert len(content) < LARGEST
    image = Image.open(BytesIO(content)).convert("RGB")
    assert image.width == screenshots.SHOTS[name].width
    assert len(image.getcolors(1 << 24) or ()) > 50
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    shown = f"pictures/{path.name})"
    assert any(shown in page.read_text(encoding="utf-8") for page in pages)


def test_there_is_no_screenshot_that_the_script_does_not_take() -> None:
    kept = {path.stem for path in (ROOT / "docs" / "pictures").glob("page-*")}
    assert kept == {f"page-{name}" for name in screenshots.SHOTS}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.path)
def test_every_view_is_in_the_guide(view: View) -> None:
    assert f"`{view.path}`" in EXPLORER
    if view.title:
        assert re.search(rf"^## {view.title}\b", EXPLORER, re.MULTILINE)


@pytest.mark.parametrize("endpoint", ENDPOINTS.values(), ids=lambda endpoint: endpoint.path)
def test_every_address_of_the_api_is_in_the_guide(endpoint: object) -> None:
    assert f"`{endpoint.path}`" in EXPLORER  # type: ignore[attr-defined]


@pytest.mark.parametrize("option", options_of("serve"))
def test_every_option_of_serve_is_in_the_guide(option: str) -> None:
    assert f"`{option}`" in EXPLORER.partition("## Options")[2]


@for_each("option", options_of("report"))
def test_every_option_of_report_is_in_the_guide(option: str) -> None:
    assert f"`{option}`" in REPORT.partition("## Options")[2]


def test_bounds_of_a_folder_are_those_of_the_code() -> None:
    assert MAX_FOLDER_DEPTH == 4
    assert f"four folders deep and up to {MAX_FILES:,} files" in EXPLORER


def test_the_policy_of_pages_is_the_one_of_the_code() -> None:
    assert POLICY in " ".join(SAFETY.split())
