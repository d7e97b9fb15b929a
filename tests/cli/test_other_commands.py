"""`judged measures`, `judged demo`, `judged --version`, completion."""

import os
import re
import subprocess
import sys

import judged as library


def test_version(judged):
    assert judged("--version").out == f"judged, version {library.__version__}\n"


def test_demo(judged, tmp_path):
    result = judged("demo", tmp_path / "digits")
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()[2:5]] == [
        "cosine-pixels",
        "euclidean-pixels",
        "cosine-pca8",
    ]
    again = judged(
        "evaluate",
        tmp_path / "digits/judgements.txt",
        tmp_path / "digits/cosine-pixels.run",
        "-m",
        "P@10",
    )
    assert result.out.splitlines()[2].split()[1] == again.out.splitlines()[1].split()[1]
    text = tmp_path / "digits" / "text"
    texts = judged(
        "evaluate", text / "judgements.txt", *sorted(text.glob("*.run")), "-m", "nDCG@10"
    )
    for line in texts.out.splitlines()[1:]:
        name, value = line.split()
        assert re.search(rf"^{name} +{value} ", result.out, re.MULTILINE)
    for sentence in judged(
        "compare", text / "judgements.txt", *sorted(text.glob("*.run")), "-m", "nDCG@10"
    ).out.splitlines():
        if sentence.startswith("nDCG@10: "):
            assert sentence in result.out
    assert "verdict" not in result.out
    assert f"judged serve {text}" in result.out


def test_a_demo_writes_nothing_where_its_text_search_has_no_place(judged, tmp_path):
    mine = tmp_path / "text" / "judgements.txt"
    mine.parent.mkdir()
    mine.write_text("mine\n", encoding="utf-8")
    result = judged("demo", tmp_path)
    assert result.code == 2
    assert f"{mine}: exists and is not part of a demo; name another folder." in result.err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["judgements.txt", "text"]


def test_shell_completion():
    environment = {
        **os.environ,
        "_JUDGED_COMPLETE": "bash_complete",
        "COMP_WORDS": "judged evaluate -m nD",
        "COMP_CWORD": "3",
    }
    code = "import sys; sys.argv[0] = 'judged'; from judged.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "plain,nDCG\nplain,nDCGRel\nplain,ndcg_rel\n"
