"""No command writes over what it reads, or twice into one file, whatever option names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest

from judged.cli import COMMANDS, cli
from judged.cli._files import Command, Reads, Writes
from support.loops import for_each

SPARK = ("master", "remote", "spark_conf")
ROOM = ("memory", "temporary")
TEXTS = {
    "agreement": {"columns", "convention", "measures"},
    "advise": {"columns", "measures"},
    "check": {"columns", "convention", "measures", "memory"},
    "compare": {
        *("baseline", "caption", "columns", "convention", "label", "lower_is_better", "margin"),
        *("measure_name", "measures", "sort", *SPARK, *ROOM),
    },
    "conventions": {"columns", "measures", "pool", *ROOM},
    "doctor": set(),
    "demo": {"folder"},  # it writes only under names of its own, and refuses other folders
    "embeddings": {
        *("caption", "columns", "convention", "label", "measures", "memory", "name", "sort"),
        *("encoder", "query_encoder", "item_encoder", "query_prompt", "item_prompt"),
        *("encoder_name", "cache"),  # a folder, in which only files under hashes are written
    },
    "evaluate": {
        *("caption", "columns", "convention", "label", "measures", "sort"),
        *(*SPARK, *ROOM),
    },
    "explain": {"columns", "convention", "measure", "pool", "query", *ROOM},
    "fuse": {"columns", "weights"},
    "gate": {"columns", "convention", "max_drop", "measures", "minimum", *SPARK, *ROOM},
    "identify": {"columns", "measures", "value", *ROOM},
    "learn": {"columns", "kind", "measure", "memory"},
    "measures": {"name"},
    "merge": {"columns"},
    "overlap": {"columns"},
    "plan": {"baseline", "columns", "convention", "measures"},
    "plot": {
        *("baseline", "columns", "kind", "margin", "measures", "query", "temperatures"),
        *("title", *ROOM),
    },
    "queue": {"columns", "convention", "measure"},
    "report": {"baseline", "columns", "convention", "date", "max_size", "measures", "title"},
    "retriever": {
        *("caption", "columns", "convention", "item", "label", "measures", "name", "retriever"),
        "sort",
    },
    "serve": {"annotator", "grades", "host", "memory", "upload_limit"},
    "temperature": {"columns", "kind", "measure", "memory", "query", "report"},
    "trec-eval": {"debug", "judgements_format", "measures", "run_format", *ROOM},
}
"""Parameters that take words and name no file. What is not here must say whether it is read or
written."""


def commands() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        found = cli.get_command(click.Context(cli), name)
        assert found is not None
        yield name, found


def type_of(param: click.Parameter) -> click.ParamType:
    return param.type.types[0] if isinstance(param.type, click.Tuple) else param.type


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_parameter_says_whether_it_is_a_file(name: str, command: click.Command) -> None:
    assert isinstance(command, Command)
    open_ended = {
        param.name
        for param in command.params
        if isinstance(type_of(param), (click.types.StringParamType, click.Path))
        and not isinstance(type_of(param), (Reads, Writes))
    }
    assert open_ended == TEXTS[name]
    for param in command.params:
        if "FILE" in (param.metavar or ""):
            assert isinstance(type_of(param), (Reads, Writes)), param.name


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("x").mkdir()
    for name in ("q.npy", "i.npy", "bank.npy", "model.npz"):
        np.save(tmp_path / name, np.eye(2)) if name.endswith("y") else np.savez(name, W=np.eye(2))
    for name in ("labels", "ids", "unique", "qrels", "a.run", "zscores", "pictures.csv", "s.json"):
        Path(name).write_text(f"{name} is read\n")
    return tmp_path


VECTORS = ("q.npy", "i.npy")
CALLS = [
    ("qrels", "evaluate qrels a.run -o {}"),
    ("a.run", "evaluate qrels a.run -o {} --format json"),
    ("unique", "evaluate qrels a.run --unique unique -o {}"),
    ("unique", "evaluate qrels a.run --weights unique -o {}"),
    ("unique", "evaluate qrels a.run --trusted unique -o {}"),
    ("unique", "evaluate qrels a.run --interval --groups unique -o {}"),
    ("unique", "evaluate qrels a.run --item-to table:unique -o {}"),
    ("qrels", "compare qrels a.run b.run -o {}"),
    ("a.run", "compare qrels b.run a.run -o {}"),
    ("a.run", "compare qrels b.run A=a.run -o {}"),
    ("unique", "compare qrels a.run b.run --weights unique -o {}"),
    ("unique", "compare qrels a.run b.run --trusted unique -o {}"),
    ("unique", "compare qrels a.run b.run --unique unique -o {}"),
    ("unique", "compare qrels a.run b.run --groups unique -o {}"),
    ("unique", "compare qrels a.run b.run --slices unique -o {}"),
    ("unique", "compare qrels a.run b.run --item-to table:unique -o {}"),
    ("unique", "compare --values unique -o {}"),
    ("unique", "compare --values a.run --values unique -o {}"),
    ("a.run", "compare qrels qrels dense=unique,a.run -o {}"),
    ("a.run", "overlap b.run a.run -o {}"),
    ("a.run", "overlap b.run A=a.run -o {}"),
    ("a.run", "fuse a.run b.run -o {}"),
    ("a.run", "fuse b.run A=a.run -o {}"),
    ("qrels", "gate qrels a.run --baseline s.json --json {}"),
    ("a.run", "gate qrels a.run --baseline s.json --junit {}"),
    ("s.json", "gate qrels a.run --baseline s.json --markdown {}"),
    ("unique", "gate qrels a.run --baseline s.json --golden unique --json {}"),
    ("unique", "gate qrels a.run --baseline s.json --groups unique --json {}"),
    ("unique", "gate qrels a.run --baseline s.json --unique unique --json {}"),
    ("unique", "gate qrels a.run --baseline s.json --weights unique --json {}"),
    ("unique", "gate qrels a.run --baseline s.json --trusted unique --json {}"),
    ("unique", "gate qrels a.run --baseline s.json --item-to table:unique --json {}"),
    ("qrels", "plan --difference 0.1 --pilot qrels a.run b.run -o {}"),
    ("a.run", "plan --difference 0.1 --pilot qrels b.run A=a.run -o {}"),
    ("unique", "plan --difference 0.1 --pilot qrels a.run b.run --groups unique -o {}"),
    ("unique", "plan --difference 0.1 --pilot qrels a.run b.run --weights unique -o {}"),
    ("unique", "plan --difference 0.1 --pilot qrels a.run b.run --unique unique -o {}"),
    ("unique", "plan --difference 0.1 --pilot qrels a.run b.run --item-to table:unique -o {}"),
    ("qrels", "agreement qrels labels -o {}"),
    ("labels", "agreement qrels bob=labels -o {}"),
    ("ids", "agreement qrels labels --judge ids -o {}"),
    ("a.run", "agreement qrels labels a.run -o {}"),
    ("unique", "agreement qrels labels a.run --unique unique -o {}"),
    ("unique", "agreement qrels labels a.run --weights unique -o {}"),
    ("unique", "agreement qrels labels a.run --item-to table:unique -o {}"),
    ("qrels", "merge qrels labels -o {}"),
    ("labels", "merge qrels bob=labels -o {}"),
    ("qrels", "queue qrels a.run -o {}"),
    ("a.run", "queue qrels b.run a.run -o {}"),
    ("unique", "queue qrels a.run --texts unique -o {}"),
    ("unique", "queue qrels a.run --queries unique -o {}"),
    ("unique", "queue qrels a.run --unique unique -o {}"),
    ("unique", "queue qrels a.run --item-to table:unique -o {}"),
    ("a.run", "check qrels a.run -o {}"),
    ("unique", "check qrels --queries unique -o {}"),
    ("unique", "check qrels --items unique -o {}"),
    ("q.npy", "check qrels --query-vectors q.npy -o {}"),
    ("i.npy", "check qrels --item-vectors i.npy -o {}"),
    ("ids", "check qrels --items i.npy --item-ids ids -o {}"),
    ("ids", "check qrels --queries q.npy --query-ids ids -o {}"),
    ("unique", "check qrels --training unique -o {}"),
    ("unique", "check qrels a.run --weights unique -o {}"),
    ("unique", "check qrels a.run --item-to table:unique -o {}"),
    ("q.npy", "embeddings q.npy i.npy --pairs --save-run {}"),
    ("i.npy", "embeddings q.npy i.npy::arr --pairs --save-run {}"),
    ("i.npy", "embeddings q.npy i.npy::arr --pairs -o {}"),
    ("model.npz", "embeddings q.npy i.npy --pairs --similarity model.npz --save-run {}"),
    ("bank.npy", "embeddings q.npy i.npy --pairs --normalise qb-norm(bank=bank.npy) -o {}"),
    ("bank.npy", "embeddings q.npy i.npy --pairs --normalise csls(k=1,bank=bank.npy) -o {}"),
    ("labels", "embeddings q.npy i.npy --labels labels ids -o {}"),
    ("ids", "embeddings q.npy i.npy --shared-labels labels ids -o {}"),
    ("ids", "embeddings q.npy i.npy --pairs --exclude-labels labels ids -o {}"),
    ("ids", "embeddings q.npy i.npy --pairs --query-ids ids -o {}"),
    ("ids", "embeddings q.npy i.npy --pairs --item-ids ids --save-run {}"),
    ("qrels", "embeddings q.npy i.npy --qrels qrels -o {}"),
    ("ids", "embeddings --encoder m:f --queries ids --items labels --pairs -o {}"),
    ("labels", "embeddings --encoder m:f --queries ids --items labels --pairs --report {}"),
    ("qrels", "embeddings q.npy i.npy --pairs --exclude-listed qrels -o {}"),
    ("s.json", "embeddings q.npy i.npy --revisited s.json -o {}"),
    ("unique", "embeddings q.npy i.npy --pairs --unique unique -o {}"),
    ("qrels", "embeddings q.npy i.npy --pairs --index qrels -o {}"),
    ("model.npz", "learn q.npy model.npz --pairs -o {}"),
    ("labels", "temperature q.npy i.npy --labels labels ids -o {}"),
    ("model.npz", "temperature q.npy i.npy --pairs --similarity model.npz -o {}"),
    ("ids", "temperature --train q.npy i.npy --labels labels ids -o {}"),
    ("qrels", "retriever qrels json:dumps --queries s.json -o {}"),
    ("s.json", "retriever qrels json:dumps --queries s.json -o {}"),
    ("unique", "retriever qrels json:dumps --unique unique -o {}"),
    ("unique", "retriever qrels json:dumps --weights unique --save {}"),
    ("unique", "retriever qrels json:dumps --trusted unique --save {}"),
    ("unique", "retriever qrels json:dumps --interval --groups unique -o {}"),
    ("unique", "retriever qrels json:dumps --item-to table:unique -o {}"),
    ("qrels", "report qrels a.run -o {}"),
    ("a.run", "report qrels a.run -o {}"),
    ("unique", "report qrels a.run --slices unique -o {}"),
    ("unique", "report qrels a.run --texts unique -o {}"),
    ("unique", "report qrels a.run --queries unique -o {}"),
    ("pictures.csv", "report qrels a.run --pictures pictures.csv -o {}"),
    ("unique", "report qrels a.run --groups unique -o {}"),
    ("unique", "report qrels a.run --weights unique -o {}"),
    ("unique", "report qrels a.run --unique unique -o {}"),
    ("unique", "report qrels a.run --item-to table:unique -o {}"),
    ("unique", "embeddings q.npy i.npy --pairs --weights unique --report {}"),
    ("a.run", "conventions qrels a.run -o {}"),
    ("unique", "conventions qrels a.run --item-to table:unique -o {}"),
    ("unique", "identify 0.5 qrels a.run --item-to table:unique -o {}"),
    ("unique", "explain qrels a.run --item-to table:unique -o {}"),
    ("unique", "plot cmc qrels a.run --item-to table:unique -o {}"),
    ("unique", "plot forest qrels a.run b.run --groups unique -o {}"),
    ("unique", "plot systems qrels a.run --groups unique -o {}"),
    ("a.run", "plot forest qrels a.run b.run -o {}"),
    ("labels", "embeddings q.npy i.npy --pairs --weights labels -o {}"),
    ("labels", "embeddings q.npy i.npy --pairs --interval --groups labels -o {}"),
    ("qrels", "identify 0.5 qrels a.run -o {}"),
    ("qrels", "explain qrels a.run -o {}"),
    ("a.run", "explain qrels a.run --html {}"),
    ("a.run", "explain qrels a.run --gif {}"),
    ("a.run", "plot cmc qrels a.run -o {}"),
    ("pictures.csv", "plot gallery qrels a.run --pictures pictures.csv -o {}"),
    ("s.json", "plot temperature s.json -o {}"),
]


def ways(file: str) -> list[str]:
    """The same file by another name, by a link and by a hard link."""
    ending = Path(file).suffix
    for link in (f"soft{ending}", f"hard{ending}"):
        Path(link).unlink(missing_ok=True)
    os.symlink(Path(file).resolve(), f"soft{ending}")
    os.link(file, f"hard{ending}")
    return [file, f"x/../{file}", str(Path(file).resolve()), f"soft{ending}", f"hard{ending}"]


@for_each(("file", "call"), CALLS)
def test_what_is_read_is_not_written_over(judged, inputs: Path, file: str, call: str) -> None:
    before = Path(file).read_bytes()
    for target in ways(file):
        found = judged(*(part.format(target) for part in call.split()))
        assert (found.code, found.err) == (
            2,
            f"judged: {target}: is read by this very command; write to another file.\n",
        )
    assert Path(file).read_bytes() == before


def test_every_file_that_is_read_beside_an_output_is_tried() -> None:
    tried = {(call.split()[0], part) for _, call in CALLS for part in call.split()}
    for name, command in commands():
        if any(isinstance(type_of(param), Writes) for param in command.params):
            for param in command.params:
                if isinstance(type_of(param), Reads) and isinstance(param, click.Option):
                    assert (name, param.opts[-1]) in tried or name.startswith(("learn", "temp"))


@pytest.mark.parametrize(
    ("call", "one", "other"),
    [
        ("embeddings q.npy i.npy --pairs -o new --save-run {}", "--save-run", "--output"),
        ("explain qrels a.run -o new --html {}", "--output", "--html"),
        ("explain qrels a.run --html new --gif {}", "--html", "--gif"),
    ],
)
@pytest.mark.parametrize("target", ["new", "./new", "x/../new", "NEW", "link"])
def test_two_outputs_are_two_files(judged, inputs, call, one, other, target) -> None:
    os.symlink("new", "link")
    found = judged(*(part.format(target) for part in call.split()))
    assert found.code == 2
    assert f"is what both {one} and {other} would write; give each a file of its own." in found.err
    assert not Path("new").exists()


def test_outputs_into_nothing_may_be_the_same(judged) -> None:
    assert judged("explain", "0 1", "--html", "/dev/null", "-o", "/dev/null").code == 0


def test_a_hyphen_is_no_file_to_write_to(judged, files: Path) -> None:
    done = judged("evaluate", "qrels", "a.run", "-m", "RR", "-o", "-")
    assert (done.code, done.err) == (
        2,
        "judged: --output - names no file; give one, or /dev/stdout for standard output.\n",
    )
    assert not Path("-").exists()


def test_standard_input_is_read_too(judged, files: Path) -> None:
    with Path("qrels").open("rb") as opened:
        saved = os.dup(0)
        os.dup2(opened.fileno(), 0)
        try:
            found = judged("evaluate", "-", "a.run", "-o", "qrels")
        finally:
            os.dup2(saved, 0)
            os.close(saved)
    assert "qrels: is read by this very command" in found.err


def test_a_picture_is_read_too(judged, files: Path) -> None:
    from PIL import Image

    Image.new("L", (2, 2)).save("one.png")
    ids = ("q1", "q2", "q3", "x", "y", "z", "u", "v", "n", "w")
    Path("pictures.csv").write_text("id,picture\n" + "".join(f"{each},one.png\n" for each in ids))
    before = Path("one.png").read_bytes()
    call = ("plot", "gallery", "qrels", "b.run", "--pictures", "pictures.csv", "-o")
    found = judged(*call, "one.png")
    assert "one.png: is read by this very command" in found.err
    assert Path("one.png").read_bytes() == before
    assert judged(*call, "two.png").code == 0
