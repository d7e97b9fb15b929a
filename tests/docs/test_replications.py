"""Published numbers are computed again, and the page says what comes of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::judged.JudgedWarning")


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(ROOT))
    yield
    for name in [each for each in sys.modules if each.partition(".")[0] == "replications"]:
        del sys.modules[name]


def test_every_published_number_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    from replications.__main__ import main

    assert main([]) == 0
    assert " no " not in capsys.readouterr().out


def test_a_number_that_is_another_is_seen() -> None:
    from replications import Printed

    assert Printed("P", "0.33...", "P").fits(1 / 3)
    assert not Printed("P", "0.34...", "P").fits(1 / 3)
    assert Printed("P", "0.6667", "P").fits(2 / 3)
    assert not Printed("P", "0.6666", "P").fits(2 / 3)


def test_the_page_has_what_the_command_prints() -> None:
    from replications.__main__ import page

    text = (ROOT / "docs" / "replications.md").read_text(encoding="utf-8")
    shown = text.partition("<!-- replications -->\n\n")[2].partition("\n\n<!-- /replications -->")[
        0
    ]
    assert shown.split() == page().split()  # lines are broken at other places
