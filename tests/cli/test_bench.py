"""`judged bench`."""

import json
from pathlib import Path

QRELS, RUN = "q1 0 a 1\nq2 0 b 1\n", "q1 Q0 a 1 2 r\nq2 Q0 c 1 2 r\nq2 Q0 b 2 1 r\n"


def test_folder(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, system in (("x", "bm25"), ("x", "dense"), ("y", "bm25")):
        Path(f"all/{name}").mkdir(parents=True, exist_ok=True)
        Path(f"all/{name}/qrels.txt").write_text(QRELS)
        Path(f"all/{name}/{system}.run").write_text(RUN)
    shown = judged("bench all -m RR")
    assert shown.code == 0
    assert shown.out.splitlines()[:4] == [
        "RR            bm25   dense",
        "x           0.7500  0.7500",
        "y           0.7500       –",
        "macro mean  0.7500       –",
    ]
    assert "dense has no value for y" in " ".join((shown.out + shown.err).split())
    found = json.loads(judged("bench all -m RR --common --format json").out)
    assert found["missing"] == {"RR": {"dense": ["y"]}}
    assert "shared mean & 0.7500 & 0.7500" in judged("bench all -m RR --common --format latex").out
    assert judged("bench all -o all/x/bm25.run").code == 2
    assert Path("all/x/bm25.run").read_text() == RUN
    assert judged("bench nowhere").code == 2
