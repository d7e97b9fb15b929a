"""The frame of all pages."""

from __future__ import annotations

from pathlib import Path

from support.served import Serve


def test_files_are_listed_with_what_they_are(server: Serve, data: Path) -> None:
    answer = server(data).ask("/files")
    assert answer.status == 200
    assert "bm25.run" in answer.text
    assert "judgements: which items are relevant" in answer.text


def test_a_part_of_a_page_comes_alone(server: Serve, data: Path) -> None:
    answer = server(data).ask("/files", x_fragment="main")
    assert answer.status == 200
    assert answer.text.strip().startswith('<main id="main"')


def test_no_such_page(server: Serve, data: Path) -> None:
    answer = server(data).ask("/nothing")
    assert answer.status == 404
    assert "There is no such page." in answer.text


def test_terms_that_refuse_the_files_can_be_left(server: Serve, data: Path) -> None:
    run = data / "bm25.run"
    first = run.read_text().splitlines()[0].split()
    run.write_text(run.read_text() + " ".join([*first[:3], "99", "-9", "again"]) + "\n")
    served = server(data)
    refused = served.ask("/?missing=zero")
    assert refused.status == 400
    assert "more than once" in refused.text
    assert 'name="duplicates"' in refused.text  # the bar is there to choose another
    left = served.ask("/?missing=zero&duplicates=first&was=missing%3Dzero")
    assert left.status == 200
    assert "numbers moved" not in left.text
