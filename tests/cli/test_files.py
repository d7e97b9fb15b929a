"""No command writes over what it reads, or twice into one file, whatever option names it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest

from judged.cli import COMMANDS, cli
from judged.cli._command import Command, Reads, Writes
from support.loops import for_each

TEXTS = {
    "agreement": {"columns", "measures"},
    "advise": {"columns", "measures"},
    "bench": {"convention", "measures"},
    "check": {"columns", "measures"},
    "compare": {
        *("baseline", "columns", "convention", "lower_is_better", "margin"),
        "measures",
    },
    "conventions": {"columns", "measures"},
    "doctor": set(),
    "demo": {"folder"},  # it writes only under names of its own, and refuses other folders
    "embeddings": {
        *("cache", "columns", "convention", "encoder", "item_prompt", "measures"),
        "query_prompt",
    },
    "evaluate": {
        *("caption", "columns", "convention", "label", "measures", "memory", "sort", "spark"),
        "spark_conf",
    },
    "abstain": {"columns", "measure"},
    "funnel": {"columns", "max_loss"},
    "spans": {"k"},
    "explain": {"columns", "convention", "measures", "pool", "query", "rows"},
    "fuse": {"columns", "weights"},
    "gate": {"columns", "convention", "max_drop", "measures", "minimum"},
    "identify": {"columns", "measures", "value"},
    "learn": {"kind", "measure"},
    "mcp": {"folder"},  # it only reads
    "measures": {"name"},
    "merge": {"columns"},
    "overlap": {"columns"},
    "plan": {"measures"},
    "plot": {"baseline", "columns", "kind", "measures", "query", "title"},
    "queue": {"columns", "measure"},
    "report": {"baseline", "columns", "convention", "measures", "title"},
    "retriever": {"columns", "item", "measures", "retriever"},
    "serve": {"annotator", "grades", "host", "memory", "upload_limit"},
    "temperature": {"kind", "query"},
    "trec-eval": {"measures"},
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


INPUTS = ("q.npy", "i.npy", "bank.npy", "model.npz", "labels", "unique", "qrels", "a.run")


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("x").mkdir()
    for name in INPUTS[:4]:
        np.save(tmp_path / name, np.eye(2)) if name.endswith("y") else np.savez(name, W=np.eye(2))
    for name in INPUTS[4:]:
        Path(name).write_text(f"{name} is read\n")
    return tmp_path


ARGUMENTS = {
    "evaluate": "qrels a.run",
    "compare": "qrels b.run A=a.run dense=b.run,unique",
    "fuse": "b.run A=a.run",
    "report": "qrels a.run",
    "gate": "qrels a.run",
    "plan": "b.run A=a.run",
    "queue": "qrels b.run a.run",
    "funnel": "qrels b.run a.run",
    "spans": "qrels b.run a.run",
    "abstain": "qrels a.run",
    "agreement": "qrels bob=labels a.run",
    "merge": "qrels bob=labels",
    "overlap": "b.run A=a.run",
    "bench": "x",
    "check": "qrels a.run",
    "advise": "qrels a.run",
    "retriever": "qrels json:dumps",
    "embeddings": "q.npy i.npy::arr",
    "learn": "q.npy model.npz",
    "temperature": "q.npy i.npy",
    "conventions": "qrels a.run",
    "identify": "0.5 qrels a.run",
    "explain": "qrels a.run",
    "plot": "cmc qrels a.run",
}
"""Arguments of each command that writes a file."""
VALUES = {
    "item_to": "table:unique",
    "models": "a=i.npy,unique::x",
    "normalise": "csls(k=1,bank=unique)",
}
"""Values of options that name a file in a text; of others the file alone."""


def calls() -> Iterator[tuple[str, str]]:
    """Every file that a command reads, as an argument or by an option, and a call to write it."""
    for name, command in commands():
        writes = [param.opts[-1] for param in command.params if isinstance(type_of(param), Writes)]
        if not writes:
            assert name not in ARGUMENTS
            continue
        call = f"{name} {ARGUMENTS[name]}"
        for file in re.findall(r"[\w.]+", ARGUMENTS[name]):
            if file in INPUTS:
                yield from ((file, f"{call} {option} {{}}") for option in writes)
        for number, param in enumerate(command.params):
            if isinstance(type_of(param), Reads) and isinstance(param, click.Option):
                value = VALUES.get(str(param.name), "unique")
                if isinstance(param.type, click.Tuple):
                    value = "labels unique"
                option = writes[number % len(writes)]
                yield "unique", f"{call} {param.opts[-1]} {value} {option} {{}}"


def ways(file: str) -> list[str]:
    """The same file by another name, by a link and by a hard link."""
    ending = Path(file).suffix
    for link in (f"soft{ending}", f"hard{ending}"):
        Path(link).unlink(missing_ok=True)
    os.symlink(Path(file).resolve(), f"soft{ending}")
    os.link(file, f"hard{ending}")
    return [file, f"x/../{file}", str(Path(file).resolve()), f"soft{ending}", f"hard{ending}"]


@for_each(("file", "call"), calls)
def test_what_is_read_is_not_written_over(judged, inputs: Path, file: str, call: str) -> None:
    before = Path(file).read_bytes()
    for target in ways(file):
        found = judged(*(part.format(target) for part in call.split()))
        assert (found.code, found.err) == (
            2,
            f"judged: {target}: is read by this very command; write to another file.\n",
        )
    assert Path(file).read_bytes() == before


@pytest.mark.parametrize(
    ("call", "one", "other"),
    [
        ("embeddings q.npy i.npy --pairs -o new --save-run {}", "--save-run", "--output"),
    ],
)
@pytest.mark.parametrize("target", ["new", "./new", "x/../new", "NEW", "link"])
def test_two_outputs_are_two_files(judged, inputs, call, one, other, target) -> None:
    os.symlink("new", "link")
    found = judged(*(part.format(target) for part in call.split()))
    assert found.code == 2
    assert f"is what both {one} and {other} would write; give each a file of its own." in found.err
    assert not Path("new").exists()


def test_a_hyphen_is_no_file_to_write_to(judged, files: Path) -> None:
    done = judged("evaluate qrels a.run -m RR -o -")
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
            found = judged("evaluate - a.run -o qrels")
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
