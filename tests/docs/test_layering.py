"""Imports go one way: the table of rooms in docs/architecture.md, held against the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

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
        "comparison": {"compare", "showing"},
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


class Import(NamedTuple):
    home: str
    """The module that imports."""
    module: str
    """The module that is imported, or the one of the name that is."""
    place: str
    function: str | None
    for_types: bool


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(("judged", *parts)).removesuffix(".__init__")


MODULES = {module_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def room(module: str) -> str:
    """Return the row of a module: the longest that is a part of its name."""
    parts = module.split(".")[1:]
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((name for name in names if name in LAYERS), "__init__")


def imported(node: ast.Import | ast.ImportFrom, place: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    assert node.level == 0, f"{place}: write imports in full"
    if node.module == "judged":  # everything else has a home to be imported from
        names = {f"judged.{alias.name}" for alias in node.names} - set(MODULES)
        assert names <= {"judged.__version__"}, f"{place}: import from where it is defined"
    for alias in node.names:
        name = f"{node.module}.{alias.name}"
        yield name if name in MODULES else str(node.module)


def statements(
    node: ast.AST, function: str | None = None, for_types: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, str | None, bool]]:
    """Yield import statements, also those inside functions, with the outermost function."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                yield child, function, for_types
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                yield from statements(child, function, True)
            elif isinstance(child, ast.FunctionDef) and function is None:
                yield from statements(child, child.name, for_types)
            else:
                yield from statements(child, function, for_types)


@cache
def all_imports() -> list[Import]:
    found = []
    for home, path in MODULES.items():
        for node, function, for_types in statements(ast.parse(path.read_text(encoding="utf-8"))):
            place = f"{path.relative_to(SOURCE)}, line {node.lineno}"
            found += [
                Import(home, module, place, function, for_types)
                for module in imported(node, place)
                if module.partition(".")[0] == "judged"
            ]
    return found


def test_the_table_has_every_package_and_goes_down_layer_by_layer() -> None:
    assert {room(module) for module in MODULES} == set(LAYERS)
    assert list(LAYERS.values()) == sorted(LAYERS.values())


def test_packages_import_only_from_layers_above_them() -> None:
    wrong = []
    for found in all_imports():
        one, other = room(found.home), room(found.module)
        allowed = HANDS_OVER.get(one, {}).get(other, set())
        if one == other or found.for_types or LAYERS[other] < LAYERS[one]:
            continue
        if found.function not in allowed:
            wrong.append(
                f"{found.place}: {one} (layer {LAYERS[one]}) may not import {other} (layer "
                f"{LAYERS[other]})"
            )
    assert wrong == []


@for_each("package", [room for room in LAYERS if (SOURCE / room.replace(".", "/")).is_dir()])
def test_files_of_a_package_do_not_import_each_other_in_a_circle(package: str) -> None:
    """Imports inside functions count too; methods that hand over do not."""
    prefix = f"judged.{package}"
    files = {name for name in MODULES if f"{name}.".startswith(f"{prefix}.")}
    graph: dict[str, set[str]] = {name: set() for name in sorted(files)}
    for found in all_imports():
        own = room(found.home)
        over = set().union(*HANDS_OVER.get(own, {}).values(), METHODS_OF_LATER_FILES.get(own, ()))
        if found.home in files and not found.for_types and found.function not in over:
            graph[found.home] |= {found.module} & files - {found.home}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_what_hands_over_does() -> None:
    found = {(room(each.home), room(each.module), each.function) for each in all_imports()}
    listed = {
        (home, to, name)
        for home, over in HANDS_OVER.items()
        for to, names in over.items()
        for name in names
    }
    assert listed <= found
