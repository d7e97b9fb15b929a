"""Screenshots in the documentation are there, small and shown; the content policy is stated."""

from __future__ import annotations

import importlib.util
import sys
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

from judged.web.safety import POLICY
from support.loops import for_each

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 250_000
SAFETY = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")


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


@pytest.mark.full
@for_each("name", screenshots.SHOTS)
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


def test_the_policy_of_pages_is_the_one_of_the_code() -> None:
    assert POLICY in " ".join(SAFETY.split())
