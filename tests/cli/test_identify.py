"""`judged identify`: from a number to the definitions that give it."""

from __future__ import annotations

# AP of a.run: q1 finds x at rank 2, q2 finds u and v at ranks 1 and 3, q3 is missing: (1/2 + 5/6) /
# 3 and (1/2 + 5/6) / 2.


def test_the_table(judged, files):
    done = judged("identify 0.6667 qrels a.run -m AP -v")
    assert (done.code, done.err) == (0, "")
    row = next(line for line in done.out.splitlines() if "0.666667" in line)
    assert row.split()[:3] == ["0.666667", "AP,", "missing=skip"]
    assert "pytrec_eval" in row
    assert "No effect here: ties (no judged results are tied)." in done.out
