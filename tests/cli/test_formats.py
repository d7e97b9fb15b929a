"""Every command writes its result in every format that the result has, and prints the same."""

import numpy as np
import polars as pl
import pytest

COMMANDS = {
    "evaluate": (("evaluate", "qrels", "a.run", "-m", "RR"), "0.5", "latex trec"),
    "embeddings": (("embeddings", "v.npy", "v.npy", "--pairs", "-m", "RR"), "1.0", "latex trec"),
    "compare": (("compare", "qrels", "b.run", "b.run", "-m", "RR"), "RR", "latex"),
    "overlap": (("overlap", "a.run", "b.run"), "RBO", ""),
    "agreement": (("agreement", "qrels", "qrels"), "kappa", ""),
    "diagnose": (("embeddings", "v.npy", "v.npy", "--pairs", "--diagnose"), "effective", ""),
    "conventions": (("conventions", "qrels", "a.run", "-m", "RR@10"), "RR@10", ""),
    "the list of conventions": (("conventions",), "ranx", ""),
    "one convention": (("conventions", "ranx"), "ndcg_burges", ""),
    "identify": (("identify", "0.5", "qrels", "a.run", "-m", "RR"), "RR", ""),
    "plan": (("plan", "--difference", "0.02", "--sd", "0.1"), "199", ""),
    "explain": (("explain", "0 1", "-m", "RR"), "0.5", "latex"),
    "temperature": (("temperature", "v.npy", "v.npy", "--pairs", "-t", "1"), "", ""),
    "temperature-study": (
        (*("temperature", "--train", "w.npy", "w.npy", "--labels", "labels", "labels", "-t", "1"),
         "--exclude-self",
         *("--iterations", "2", "--kind", "diagonal")), "untrained", "",
    ),
}  # fmt: skip
ENDINGS = {"json": "json", "csv": "csv", "markdown": "md", "html": "html", "text": "txt"}


@pytest.fixture
def vectors(files):
    random = np.random.default_rng(0)
    label = np.arange(40) % 4
    np.save("v.npy", np.eye(3))
    np.save("w.npy", np.eye(4)[label] + 0.3 * random.normal(size=(40, 4)))
    (files / "labels").write_text("".join(f"{each}\n" for each in label))
    return files


@pytest.mark.parametrize("name", COMMANDS)
def test_formats(judged, vectors, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "1000")  # a file is as wide as its tables
    arguments, said, more = COMMANDS[name]
    endings = ENDINGS | {form: {"latex": "tex"}.get(form, form) for form in more.split()}
    for form, ending in endings.items():
        printed = judged(*arguments, "--format", form)
        assert printed.code == 0, form
        assert said in printed.out or form in ("csv", "latex")
        written = judged(*arguments, "-o", f"out.{ending}")
        assert (written.code, written.out) == (0, ""), form
        size = (vectors / f"out.{ending}").stat().st_size
        assert written.err == f"{printed.err}wrote out.{ending} ({size:,} bytes)\n", form
        text = (vectors / f"out.{ending}").read_text()
        if form == "text":  # a file has the warnings too, which a pipe does not get
            said_both = {*printed.out.splitlines(), *printed.err.splitlines()}
            assert said_both <= {*text.splitlines()}
        elif form == "html":  # a file says its encoding and how it looks, beside the same tables
            assert text.lower().startswith("<!doctype html>")
            assert '<meta charset="utf-8">' in text
            assert printed.out in text
        else:
            assert text == printed.out
    assert judged(*arguments).out == judged(*arguments, "--format", "text").out
    assert judged(*arguments, "-o", "plain").out == ""
    assert (vectors / "plain").read_text() == (vectors / "out.txt").read_text()
    assert judged(*arguments, "-o", "json", "--format", "json").out == ""
    assert (vectors / "json").read_text() == (vectors / "out.json").read_text()
    assert judged(*arguments, "-o", "html", "--format", "html").out == ""
    assert (vectors / "html").read_text() == (vectors / "out.html").read_text()
    assert judged(*arguments, "-o", "out.parquet").code == 0
    assert pl.read_parquet("out.parquet").height


def test_an_explanation_is_a_picture_too(judged, files):
    assert judged("explain '0 1' -o walk.gif").out == ""
    assert (files / "walk.gif").read_bytes().startswith(b"GIF89a")


def test_the_record_of_learning(judged, vectors):
    arguments = ("learn", "w.npy", "w.npy", "--labels", "labels", "labels", "--iterations", "2")
    arguments += ("--exclude-self",)
    for form in ENDINGS:
        result = judged(*arguments, "-o", "model.npz", "--format", form)
        size = (vectors / "model.npz").stat().st_size
        assert (result.code, result.err) == (0, f"wrote model.npz ({size:,} bytes)\n")
        assert "nDCG@10" in result.out


@pytest.mark.parametrize("ending", [".xlsx", ".v2", ".png", ".jsonl"])
@pytest.mark.parametrize("format", [(), ("--format", "csv")])
def test_an_ending_that_nothing_has(judged, files, ending, format):
    refused = judged("evaluate qrels a.run -o", f"scores{ending}", *format)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        f"judged: scores{ending}: the ending says the format, and must be .json, .csv, .md, .html, "
        ".txt, .tex, .trec, .rankings or .parquet.\n"
    )
    assert not (files / f"scores{ending}").exists()


def test_an_ending_and_a_format_that_differ(judged, files):
    refused = judged("evaluate qrels a.run -o scores.md --format csv")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.endswith(
        "Error: scores.md and --format csv say different formats; give one of the two.\n"
    )
    same = judged("evaluate qrels a.run -o scores.csv --format csv")
    assert same.code == 0
    assert judged("evaluate qrels a.run -o x.txt --format csv").code == 0
    assert (files / "x.txt").read_text() == (files / "scores.csv").read_text()
