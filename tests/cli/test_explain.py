"""`judged explain`: what it prints, what it writes, and what it refuses."""

import json
import sys

from judged import explain


def test_a_relevance_list(judged):
    result = judged("explain '0 1 0 0 1 0 1 0 1 0' -m AP --relevant 6")
    assert (result.code, result.err) == (0, "")
    # 1/2 + 2/5 + 3/7 + 4/9 = 1.773; six relevant items in all.
    assert result.out.startswith("AP (Average precision): 0.2955\n")
    assert (
        "  AP = (1/2 + 2/5 + 3/7 + 4/9) / 6 = (0.5 + 0.4 + 0.4286 + 0.4444) / 6 = 1.773 / 6 = "
        "0.2955\n" in result.out
    )
    assert "   5      1     2/5 = 0.4  2/6 = 0.3333     0.9  0.0667\n" in result.out


def test_a_list_that_begins_like_an_option(judged):
    # One relevant item, at rank 2: 1/2.
    for listed in ("- 1 0", "-1 1", "-,1", "-1.5 2"):
        for arguments in (("explain", listed), ("explain", "-m", "RR", listed)):
            result = judged(*arguments)
            assert (result.code, result.err) == (0, "")
            assert result.out.startswith(("RR (Reciprocal rank): 0.5000\n", "nDCG@10 ("))
    assert judged("explain '1 -1' --pool '-1 1' -m P").out.startswith("P (Precision)")
    wrong = judged("explain '1 0' --pol 1")
    assert (wrong.code, wrong.out) == (2, "")
    told = wrong.err.splitlines()[-1].replace("'", "").replace(":", "").replace(".", "")
    assert told == "Error No such option --pol Did you mean --pool?"


def test_a_pool_without_what_is_not_relevant(judged):
    # (1/2 + 2/5) / 3
    result = judged("explain '0 1 0 0 1' -m AP --pool '1 1 1'")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("AP (Average precision): 0.3000\n")


def test_a_query_of_a_run(judged, files):
    result = judged("explain qrels a.run --query q2 -m AP@10")
    # u at rank 1 and v at rank 3: (1 + 2/3) / 2
    assert result.out.startswith("AP@10 (Average precision) for query q2 of a: 0.8333\n")
    assert (
        "What would help most: v at rank 3 (grade 1), swapped with the result at rank 2, would "
        "make AP@10 1.0000." in result.out
    )
    assert result.code == 0


def test_the_policy_is_taken(judged, files):
    out = judged("explain qrels a.run --query q1 -m AP --unjudged removed").out
    # y was never judged; without it, x is first.
    assert out.startswith("AP (Average precision) for query q1 of a: 1.0000\n")
    assert out.endswith("policy: ties=id, missing=zero, empty=zero, unjudged=removed\n")


def test_several_measures_side_by_side(judged):
    # AP: (1/2 + 2/3) / 3. P@2: 1/2. RR: 1/2.
    out = judged("explain '0 1 1 0' -m RR,AP -m P@2 --relevant 3").out
    assert "\n  AP = (1/2 + 2/3) / 3 = (0.5 + 0.6667) / 3 = 1.1667 / 3 = 0.3889\n" in out
    assert (
        """
What each rank adds
 rank  grade      RR      AP     P@2
    1      0
    2      1     0.5  0.1667     0.5
    3      1          0.2222
    4      0
value         0.5000  0.3889  0.5000
"""
        in out
    )
    same = explain("0 1 1 0", measure=["RR", "AP", "P@2"], relevant=3)
    assert out.split() == same.to_text().split()  # wrapped elsewhere
    assert len(json.loads(judged("explain '0 1' -m AP,RR --format json").out)["explanations"]) == 2


def test_rows(judged):
    out = judged("explain", "0 " * 99 + "1", "-m", "AP", "--rows", "3").out
    assert "97 of 100 ranks are not shown, none of them relevant." in out
    assert "not shown" not in judged("explain", "0 " * 99 + "1", "-m", "AP", "--rows", "all").out


def test_html_and_gif(judged, files):
    for name in ("e.html", "e.gif"):
        assert judged("explain '0 1' -o", name).code == 0
    assert (files / "e.gif").read_bytes().startswith(b"GIF89a")
    page = (files / "e.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert judged("explain '0 1' --format html").out == page


def test_lines_are_broken_between_words_on_a_terminal(judged, monkeypatch):
    from judged.cli import _terminal

    plain = judged("explain '0 1 0 0 1' -m AP@5")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(_terminal, "_watched", lambda stream: stream is sys.stdout)
    shown = judged("explain '0 1 0 0 1' -m AP@5")
    assert shown.out.split() == plain.out.split()  # no word is cut
    assert max(map(len, shown.out.splitlines())) <= 80 < max(map(len, plain.out.splitlines()))


def test_refusals(refuses, files):
    refuses("""
    explain '0 1 0 1' -m P@4 --query a --query b
        Error: --query was given 2 times, but takes one value. Give it once, or run 'judged
        explain' once for each.
    evaluate qrels a.run --depth 5 --depth=3
        Error: --depth was given 2 times, but takes one value. Give it once, or run 'judged
        evaluate' once for each.
    """)
