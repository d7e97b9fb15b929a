"""A message names keywords in Python and options in the shell; it is written once, with both."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import judged as library
from judged import errors

SOURCE = Path(library.__file__).parent
OPTION = re.compile(r"(?:^|[ (])--[a-z]")
KEYWORD = re.compile(r"(?:^| \(?)(?!ties|missing|empty)[a-z]\w*=")
"""A keyword; tables and policies write some choices like one."""
COMMAND = re.compile(r"['`]judged [^'`]*['`]")
"""A command that is named as a whole has options on both sides."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield the texts in the source with options, without docstrings, and their places."""
    for path in sorted(SOURCE.rglob("*.py")):
        if {"cli", "web"} & {*path.relative_to(SOURCE).parts}:
            continue
        passed: set[ast.AST] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Expr | ast.JoinedStr):
                passed |= {*ast.walk(node)} if isinstance(node, ast.JoinedStr) else {node.value}
            if isinstance(node, ast.JoinedStr):
                parts = (
                    part.value if isinstance(part, ast.Constant) else "X" for part in node.values
                )
                text = "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and node not in passed:
                text = str(node.value)
            else:
                continue
            if OPTION.search(text := COMMAND.sub("", text)):
                yield f"{path.name}:{node.lineno}", text


def test_every_message_has_both_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = []
    found = list(texts())
    for place, text in found:
        if OPTION.search(said := errors.for_caller(text)):
            wrong.append(f"{place}, in Python: {said}")
    monkeypatch.setattr(errors, "in_shell", True)
    for place, text in found:
        if KEYWORD.search(re.sub(r"--[\w-]+ \S+", "", said := errors.for_caller(text))):
            wrong.append(f"{place}, in the shell: {said}")
    assert len(found) > 80
    assert not wrong, "\n".join(wrong)
