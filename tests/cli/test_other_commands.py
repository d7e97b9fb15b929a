"""`judged measures`, `judged demo`, `judged --version`, completion."""

import json
import os
import re
import subprocess
import sys

import judged as library
from judged.measures import REGISTRY


def test_version(judged):
    assert judged("--version").out == f"judged, version {library.__version__}\n"


def test_help_names_every_command(judged):
    from judged.cli import COMMANDS

    text = judged("--help").out
    assert all(f"\n  {command} " in text for command in COMMANDS)


def test_help_cuts_no_sentence_and_what_it_says_to_try_is_there(judged):
    from judged.cli import COMMANDS

    text = judged("--help").out
    commands = text.partition("Commands:\n")[2].splitlines()
    assert len(commands) == len(COMMANDS)  # a line each
    assert [line for line in commands if not line.endswith(".") or line.endswith("...")] == []
    tried = [
        line.split()[0]
        for line in text.partition("Try:")[2]
        .partition("Options:")[0]
        .replace("judged ", "")
        .splitlines()
        if line
    ]
    assert {"demo", "evaluate", "compare"} <= set(tried) <= set(COMMANDS)


def test_the_catalogue_lists_every_measure_and_alias(judged):
    text = judged("measures").out
    for spec in REGISTRY.values():
        assert f"  {spec.name} " in text
        assert spec.title in text
        assert all(alias in text for alias in spec.aliases)


def test_one_measure_is_explained(judged):
    text = judged("measures", "p").out
    assert text.splitlines()[0] == "P: Precision (also Precision, SetP)"
    assert "formula    1/k Σ_(i≤k) [g_i ≥ rel]\n" in text
    assert "example    P@5 = 0.4, with relevance in rank order 0 1 0 0 1\n" in text
    assert "      shrink: a list shorter than k is divided by its own length\n" in text


def test_a_measure_with_parameters_is_explained_with_them(judged):
    text = judged("measures", "nDCG(gain=exp)@7").out
    assert "only the first 7 results count; an item of grade g gains 2^g - 1" in text


def test_the_catalogue_as_json(judged):
    entries = json.loads(judged("measures", "--format", "json").out)["measures"]
    assert set(entries) == set(REGISTRY)
    assert entries["P"]["example"] == {
        "measure": "P@5",
        "ranking": "0 1 0 0 1",
        "value": 0.4,
        "relevant": None,
        "collection": None,
    }


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


def test_the_demo_shows_tables_of_comparisons_where_all_is_asked_for(judged, tmp_path, monkeypatch):
    monkeypatch.setattr("judged.cli.demo_data.write_gallery", lambda files: None)
    monkeypatch.setattr(
        "judged.cli.demo_data.write_report", lambda files: files.folder / "report.html"
    )
    quiet, whole = (judged("demo", tmp_path, option).out for option in ("-q", "-v"))
    assert "significantly better than" not in quiet
    assert "verdict" not in quiet
    assert "significantly better than" in whole
    assert "verdict" in whole
    assert "gallery.html" not in whole


def test_a_demo_writes_nothing_where_its_text_search_has_no_place(judged, tmp_path):
    mine = tmp_path / "text" / "judgements.txt"
    mine.parent.mkdir()
    mine.write_text("mine\n", encoding="utf-8")
    result = judged("demo", tmp_path)
    assert result.code == 2
    assert f"{mine}: is there, and is no part of a demo; name another folder." in result.err
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


def test_comment_lines_are_skipped_and_counted(files):
    def results():
        return [
            library.overlap(["a.run", "b.run"]),
            library.agreement("qrels", "other"),
            library.agreement("qrels", "other", ["a.run", "b.run"], policy={"missing": "zero"}),
            library.merge_judgements(["qrels", "other"]),
            library.fuse(["a.run", "b.run"]),
        ]

    (files / "other").write_text("q1 0 x 0\nq1 0 z 0\nq2 0 u 2\nq2 0 v 1\nq3 0 w 1\n")
    plain = results()
    for name in ("qrels", "a.run"):
        (files / name).write_text("# first\n# second\n" + (files / name).read_text())
    for result, before in zip(results(), plain, strict=True):
        kind, text = type(result).__name__, json.dumps(result.to_dict())
        note = f"{'a' if kind in ('Overlap', 'Fusion') else 'qrels'}: 2 comment lines were skipped."
        assert note in result.notes, kind
        text = text.replace(f', "{note}"', "").replace(f'"{note}"', "")
        assert text == json.dumps(before.to_dict()), kind
