"""The output of the commands that pages show, made by running them."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from judged.cli import main as main_of_judged

TERMINAL = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""Environment variables of terminals, removed so that output is the same everywhere."""
EXAMPLE = re.compile(
    r"^```console\n\$ (?P<command>(?:judged|python) .*|mkdir .*(?:\n\$ .*)*)\n"
    r"(?P<output>(?:(?!```).*\n)*)```$",
    re.MULTILINE,
)


FILE = re.compile(r"^```\w+ (?P<name>[\w.-]+)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)


def write_files(text: str, folder: Path) -> None:
    """Write the files that a page shows, and run the programs among them."""
    for found in FILE.finditer(text):
        path = folder / found["name"]
        path.write_text(found["content"], encoding="utf-8")
        if path.suffix == ".py":
            subprocess.run([sys.executable, path.name], cwd=folder, check=True)


def with_outputs(text: str, folder: Path) -> str:
    """Return a page's text with the real output under each command.

    Commands run in the folder, which holds `judged-demo` and the files that the page shows.
    """
    write_files(text, folder)

    def example(found: re.Match[str]) -> str:
        shown = output(found["command"].replace("\n$ ", "\n"), folder)
        return f"```console\n$ {found['command']}\n{shown}```"

    return EXAMPLE.sub(example, text)


def output(command: str, folder: Path) -> str:
    """Return a command's standard output as a terminal of 80 columns shows it.

    Colours, blanks at the ends of lines and empty lines around the output are removed.
    """
    plain = {name: value for name, value in os.environ.items() if name not in TERMINAL}
    size = {"COLUMNS": "80", "LINES": "25", "TERM": "dumb", "NO_COLOR": "1"}
    run = _here if ALONE.fullmatch(command) else _in_a_shell
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(1) as reader:
        shown = reader.submit(lambda: b"".join(iter(lambda: _read(ours), b"")))
        try:
            code = run(command, folder, plain | size, theirs)
        finally:
            os.close(theirs)
    os.close(ours)
    if code:
        raise RuntimeError(f"{command} ended with {code}")
    lines = [line.rstrip() for line in shown.result().decode().splitlines()]
    return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""


ALONE = re.compile(r"judged (?!retriever |.*encoder )[^|&;<>`$\n]*")
"""One command of ours and nothing else, which this process can run as well as a new one, a second
faster. A retriever or an encoder is in a module, which would stay loaded."""


def _here(command: str, folder: Path, environment: dict[str, str], terminal: int) -> int:
    """Run one of our commands in this process, with its words split as a shell does."""
    words = subprocess.run(
        ["sh", "-c", f"printf '%s\\0' {command}"], cwd=folder, capture_output=True, check=True
    ).stdout.decode()
    with (
        open(terminal, "w", encoding="utf-8", closefd=False) as screen,
        open(os.devnull, "w") as nowhere,
        mock.patch.dict(os.environ, environment, clear=True),
        chdir(folder),
        redirect_stdout(screen),
        redirect_stderr(nowhere),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            main_of_judged(words.split("\0")[1:-1])
        except SystemExit as ended:
            return int(ended.code or 0)


def _in_a_shell(command: str, folder: Path, environment: dict[str, str], terminal: int) -> int:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**environment, "PATH": path, "PYTHONUTF8": "1"},
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    ).returncode


def _read(terminal: int) -> bytes:
    """Return the next output of a terminal; nothing once the command has ended."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux has no end of file for a terminal whose other side is closed
        return b""
