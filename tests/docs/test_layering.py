"""Imports go one way: the table of rooms in docs/architecture.md, held against the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from support.loops import for_each

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "judged"


def layers() -> dict[str, int]:
    """The layer of each room, as the table has them."""
    text = (
        (ROOT / "docs" / "architecture.md")
        .read_text(encoding="utf-8")
        .partition("<!-- layering")[2]
    )
    header, _, *rows = text.partition("\n\n")[2].partition("\n\n")[0].splitlines()
    assert header == "| layer | package | what it does |"
    return {
        room: int(layer)
        for layer, room in (re.match(r"\| (\d+) \| `([\w.]+)` \| .", row).groups() for row in rows)
    }


LAYERS = layers()

HANDS_OVER = {
    "__init__": {"measures": {"_measure", "__dir__"}},
    "inputs": {"engines": {"_staying"}},
    "rankings": {"matching": {"from_run", "from_scores"}, "evaluation": {"evaluate"}},
    "evaluation": {
        "charts": {"plot"},
        "comparison": {"compare"},
        "comparison.gate": {"gate"},
        "conventions.disagreement": {"conventions"},
        "conventions.identification": {"identify"},
        "evaluation.advice": {"advise"},
        "explanation": {"explain"},
        "web.report": {"report"},
    },
    "embeddings": {"engines": {"evaluate_embeddings"}},
    "comparison": {"web.report": {"report"}},
}
"""What is imported from below when a function is called, and which functions these are."""
METHODS_OF_LATER_FILES = {"rankings": {"save"}}
"""Methods that are implemented in a file that builds on theirs, by package."""


@dataclass(frozen=True)
class Import:
    room: str
    target: str
    place: str
    function: str | None
    for_types: bool


def room_of(path: Path) -> str:
    return room(module_of(path).removeprefix("judged").lstrip("."))


def room(module: str) -> str:
    """Return the row of a module: the longest that is a part of its name."""
    parts = module.split(".")
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((name for name in names if name in LAYERS), "__init__")


def targets(node: ast.stmt, path: Path) -> Iterator[str]:
    """The rooms that an import statement reaches."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{path}, line {node.lineno}: write imports in full"
        # `from judged import errors` is the room errors, `from judged import __version__` the
        # package itself.
        modules = [f"{node.module}.{a.name}" for a in node.names]
    else:
        return
    for module in modules:
        package, _, rest = module.partition(".")
        if package == "judged":
            yield room(rest)


def module_of(path: Path) -> str:
    return ".".join(("judged", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )


def modules_of(path: Path) -> Iterator[str]:
    """The modules that a file imports, other than for type checkers; also those inside functions,
    for what must be put off to work is a circle all the same. Methods that hand over are exempt."""
    over = HANDS_OVER.get(room_of(path), {}).values()
    handing_over = {name for names in over for name in names}
    handing_over |= METHODS_OF_LATER_FILES.get(room_of(path), set())

    def visit(node: ast.AST) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef) and child.name in handing_over:
                continue
            if isinstance(child, ast.ImportFrom):
                yield from (
                    name
                    if (name := f"{child.module}.{each.name}") in MODULES
                    else str(child.module)
                    for each in child.names
                )
            elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
                yield from visit(child)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")))


MODULES = {module_of(path) for path in SOURCE.rglob("*.py")}


def imports(path: Path) -> Iterator[Import]:
    def visit(node: ast.AST, function: str | None, for_types: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                place = f"{path.relative_to(SOURCE)}, line {child.lineno}"
                yield from (
                    Import(room_of(path), to, place, function, for_types)
                    for to in targets(child, path)
                )
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                yield from visit(child, function, True)
            else:
                inside = (
                    child.name
                    if isinstance(child, ast.FunctionDef) and function is None
                    else function
                )
                yield from visit(child, inside, for_types)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), None, False)


@cache
def all_imports() -> list[Import]:
    return [
        found
        for path in sorted(SOURCE.rglob("*.py"))
        for found in imports(path)
        if found.target != found.room
    ]


def test_every_room_has_a_row_and_every_row_a_room() -> None:
    assert {room_of(path) for path in SOURCE.rglob("*.py")} == set(LAYERS)


def test_the_table_goes_down_layer_by_layer() -> None:
    assert list(LAYERS.values()) == sorted(LAYERS.values())


@for_each("room", LAYERS)
def test_rooms_import_only_what_stands_in_layers_above_them(room: str) -> None:
    wrong = [
        f"{found.place}: {room} (layer {LAYERS[room]}) may not import {found.target} (layer "
        f"{LAYERS[found.target]})"
        for found in all_imports()
        if found.room == room
        and not found.for_types
        and LAYERS[found.target] >= LAYERS[room]
        and found.function not in HANDS_OVER.get(room, {}).get(found.target, set())
    ]
    assert wrong == []


@for_each("room", [room for room in LAYERS if (SOURCE / room.replace(".", "/")).is_dir()])
def test_files_of_a_room_build_on_each_other_without_a_circle(room: str) -> None:
    files = {
        module_of(path): path for path in sorted((SOURCE / room.replace(".", "/")).rglob("*.py"))
    }
    graph = {
        name: {to for to in modules_of(path) if to in files and to != name}
        for name, path in files.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_what_hands_over_does() -> None:
    found = {
        (each.room, each.target, each.function)
        for each in all_imports()
        if each.target in HANDS_OVER.get(each.room, {})
    }
    listed = {
        (room, to, name)
        for room, over in HANDS_OVER.items()
        for to, names in over.items()
        for name in names
    }
    assert {each for each in found if each[2] is not None} == listed


def test_nothing_in_the_package_imports_a_public_name_from_the_front_door() -> None:
    """Only the version; everything else has a home to be imported from."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "judged":
                assert [alias.name for alias in node.names] == ["__version__"], path
