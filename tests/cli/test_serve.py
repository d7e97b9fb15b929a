"""`judged serve`: what it says, and what it refuses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judged.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command whose server ends at once, and no browser opens."""
    uvicorn = pytest.importorskip("uvicorn")
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: sockets[0].close())
    opened: list[str] = []
    monkeypatch.setattr("judged.web._open", opened.append)

    def command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["serve", *arguments])
        said = capsys.readouterr()
        code: Any = ended.value.code
        return code, said.out + "".join(f"opened {each}\n" for each in opened), said.err

    return command


def test_the_address_carries_a_key_and_is_opened(run: Run, tmp_path: Path) -> None:
    code, said, _ = run(str(tmp_path), "--port", "0")
    assert code == 0
    first, last, opened = said.splitlines()
    assert first.startswith("The explorer is at http://127.0.0.1:")
    address = first.removeprefix("The explorer is at ")
    assert len(address.partition("?key=")[2]) == 24
    assert last == "Files stay on this machine. Press Ctrl-C to stop."
    assert opened == f"opened {address}"


def test_two_servers_have_two_keys(run: Run, tmp_path: Path) -> None:
    keys = {run("--port", "0", "--no-open")[1].splitlines()[0][-24:] for _ in range(2)}
    assert len(keys) == 2


def test_no_key_and_no_browser(run: Run, tmp_path: Path) -> None:
    code, said, _ = run(str(tmp_path), "--port", "0", "--no-open", "--no-key")
    assert code == 0
    assert "key=" not in said
    assert "opened" not in said


def test_another_host_says_what_that_means(run: Run) -> None:
    code, said, _ = run("--port", "0", "--no-open", "--host", "0.0.0.0")
    assert code == 0
    assert said.splitlines()[1] == (
        "It listens on 0.0.0.0: anyone who can reach this machine and has the address with its key "
        "can read these files. The connection is not encrypted."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.here"], "judged: nothing.here: no such file.\n"),
        (
            ["--host", "0.0.0.0", "--no-key"],
            "judged: --no-key works on this machine only: 0.0.0.0 can be reached from elsewhere, "
            "and anyone who reaches it could read everything. Leave out --no-key, or --host.\n",
        ),
        (
            ["--port", "99999"],
            "judged: --port must be a whole number from 0 to 65,535; got 99999.\n",
        ),
        (["--host", "not a host"], "judged: unknown host 'not a host'; give an address.\n"),
    ],
)
def test_what_is_refused(run: Run, arguments: list[str], message: str) -> None:
    assert run(*arguments) == (2, "", message)


def test_a_missing_extra_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run("--port", "0") == (
        2,
        "",
        'judged: The explorer needs uvicorn: pip install "judged[web]".\n',
    )


def test_who_judges_is_led_to_the_page(run: Run, tmp_path: Path) -> None:
    code, said, _ = run(str(tmp_path), "--port", "0", "--annotator", "ar")
    assert code == 0
    first, judges, _, opened = said.splitlines()
    assert opened == f"opened {judges.removeprefix('ar judges at ')}"
    key = first.partition("?key=")[2]
    assert judges.startswith("ar judges at http://127.0.0.1:")
    assert judges.endswith(f"/judge?key={key}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--annotator", "a b"], "an annotator's name has letters, digits, - and _, begins with"),
        (["--grades", "good"], 'grades are written as "0 not relevant, 1 relevant": numbers from'),
        (["--overlap", "2"], "--overlap must be a finite number from 0 to 1; got 2.0."),
        (["--queue", "nothing.csv"], "nothing.csv: no such file."),
    ],
)
def test_how_judging_cannot_begin(run: Run, tmp_path: Path, options: list[str], says: str) -> None:
    code, _, said = run(str(tmp_path), "--port", "0", "--no-open", *options)
    assert code == 2
    assert said.startswith(f"judged: {says}")
