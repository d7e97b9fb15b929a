"""The frame of all pages."""

from __future__ import annotations

from pathlib import Path

from support.served import Serve


def test_a_part_of_a_page_comes_alone(server: Serve, data: Path) -> None:
    answer = server(data).ask("/files", x_fragment="main")
    assert answer.status == 200
    assert answer.text.strip().startswith('<main id="main"')


def test_no_such_page(server: Serve, data: Path) -> None:
    answer = server(data).ask("/nothing")
    assert answer.status == 404
    assert "This page does not exist." in answer.text


def test_a_run_that_the_terms_refuse_is_left_out_and_comes_back(server: Serve, data: Path) -> None:
    run = data / "bm25.run"
    first = run.read_text().splitlines()[0].split()
    run.write_text(run.read_text() + " ".join([*first[:3], "99", "-9", "again"]) + "\n")
    served = server(data)
    left_out = served.ask("/?missing=zero")
    assert left_out.status == 200
    assert "more than once" in left_out.text
    assert 'name="duplicates"' in left_out.text  # the bar is there to choose another
    kept = served.ask("/?missing=zero&duplicates=first&was=missing%3Dzero")
    assert kept.status == 200
    assert "more than once" not in kept.text
