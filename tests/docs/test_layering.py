"""Imports go one way: the table of rooms in docs/architecture.md, held against the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "judged"


@dataclass(frozen=True)
class Room:
    name: str
    may_import: frozenset[str]
    hands_over: frozenset[str]
    names: frozenset[str]


def rooms() -> list[Room]:
    """The rows of the table, in order."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("<!-- layering")[2]
    table = text.partition("\n\n")[2].partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table]
    header = ["room", "what it does", "may import", "hands over to", "names"]
    assert rows[0] == header
    lists = [[frozenset(re.findall(r"`(\w+)`", cell)) for cell in row] for row in rows[2:]]
    return [Room(next(iter(room)), may, over, named) for room, _, may, over, named in lists]


ROOMS = {room.name: room for room in rooms()}


@dataclass(frozen=True)
class Import:
    room: str
    target: str
    place: str
    in_function: bool
    for_types: bool


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def targets(node: ast.stmt, path: Path) -> Iterator[str]:
    """The rooms that an import statement reaches."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{path}, line {node.lineno}: write imports in full"
        # `from judged import errors` is the room errors, `from judged import __version__` the package itself.
        modules = [f"judged.{a.name}" if node.module == "judged" else str(node.module) for a in node.names]
    else:
        return
    for module in modules:
        package, _, rest = module.partition(".")
        if package == "judged":
            first = rest.partition(".")[0]
            yield first if first in ROOMS else "__init__"


def imports(path: Path) -> Iterator[Import]:
    def visit(node: ast.AST, in_function: bool, for_types: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                place = f"{path.relative_to(SOURCE)}, line {child.lineno}"
                yield from (Import(room_of(path), to, place, in_function, for_types) for to in targets(child, path))
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                yield from visit(child, in_function, True)
            else:
                inside = in_function or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                yield from visit(child, inside, for_types)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), False, False)


IMPORTS = [found for path in sorted(SOURCE.rglob("*.py")) for found in imports(path) if found.target != found.room]


def test_every_room_has_a_row_and_every_row_a_room() -> None:
    there = {room_of(path) for path in SOURCE.rglob("*.py")}
    assert there == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS.values(), ids=list(ROOMS))
def test_rooms_import_only_what_stands_above_them(room: Room) -> None:
    order = list(ROOMS)
    assert room.may_import <= set(order[: order.index(room.name)])


@pytest.mark.parametrize("room", ROOMS.values(), ids=list(ROOMS))
def test_the_code_imports_only_what_the_table_allows(room: Room) -> None:
    own = [found for found in IMPORTS if found.room == room.name]
    wrong = [
        f"{found.place}: {room.name} may not import {found.target}"
        for found in own
        if found.target not in room.may_import
        and not (found.for_types and found.target in room.names)
        and not (found.in_function and found.target in room.hands_over)
    ]
    assert wrong == []


@pytest.mark.parametrize("room", ROOMS.values(), ids=list(ROOMS))
def test_the_table_allows_no_more_than_the_code_needs(room: Room) -> None:
    own = [found for found in IMPORTS if found.room == room.name]
    needed = {found.target for found in own if not found.for_types}
    assert (room.may_import | room.hands_over) - needed == set()
    assert room.names == {found.target for found in own if found.for_types}


def test_hand_overs_are_few_and_those_of_rankings_are_two_methods() -> None:
    assert {room.name: room.hands_over for room in ROOMS.values() if room.hands_over} == {
        "__init__": {"measures"},
        "rankings": {"judging", "evaluation"},
        "vectors": {"evaluation", "exports"},
    }
    path = SOURCE / "rankings.py"
    methods = {
        function.name
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        and any(to in ROOMS["rankings"].hands_over for node in ast.walk(function) for to in targets(node, path))
    }
    assert methods == {"evaluate", "from_scores"}


def test_nothing_in_the_package_imports_a_public_name_from_the_front_door() -> None:
    """Only the version; everything else has a home to be imported from."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "judged":
                assert [alias.name for alias in node.names] == ["__version__"], path
