"""Every public function, class and method says what it takes, what it gives, and shows it."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import judged
from judged import options, policy
from judged.embeddings.similarity import Similarity
from judged.results import DISPLAY_NAMES
from support.loops import for_each

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMESPACES = [name for name in judged._HOMES if inspect.ismodule(getattr(judged, name))]


def public() -> Iterator[tuple[str, Any]]:
    """Each public function and class with the name that people write."""
    for name in judged._HOMES:
        if name not in NAMESPACES:
            yield f"judged.{name}", getattr(judged, name)
    for namespace in NAMESPACES:
        module = getattr(judged, namespace)
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if inspect.isfunction(found) or inspect.isclass(found):
                yield f"judged.{namespace}.{name}", found


PUBLIC = dict(public())


INTERNAL = {
    "judged.Measure": "compute_as_ranked closed worth gives summarise made_of "
    "summarise_error undefined",
    "judged.Rankings": "weights_of total relevant cutoff shown within relevant_hits found counted "
    "chance first hits arranged",
}
"""Methods that measures and evaluations call, described in a line."""


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions, and public methods of public classes, but for those of similarities."""
    for name, found in PUBLIC.items():
        if inspect.isfunction(found):
            yield name, found
            continue
        for attribute, value in inspect.getmembers(found):
            static = inspect.getattr_static(found, attribute)
            ours = str(getattr(value, "__module__", "")).startswith("judged")
            method = inspect.isfunction(static) or isinstance(static, classmethod | staticmethod)
            internal = issubclass(found, Similarity) and hasattr(Similarity, attribute)
            internal = internal or attribute in INTERNAL.get(name, "").split()
            if ours and method and not attribute.startswith("_") and not internal:
                yield f"{name}.{attribute}", value


CALLABLES = dict(callables())


def described(doc: str) -> set[str]:
    """The parameters of a Parameters section in the style of numpydoc."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}|^>>>|\Z)", doc, re.M | re.S)
    lines = re.findall(r"^(\*{0,2}\w[^\n:]*?)(?: *:|$)", found[1], re.M) if found else []
    return {name.strip().lstrip("*") for line in lines for name in line.split(",")}


def parameters(function: Callable[..., Any]) -> set[str]:
    """The parameters; **scoring is one by one what `options.Scoring` holds, unless the docstring
    has an entry for all of them together. Options of `Display` are described there."""
    names = {name for name in inspect.signature(function).parameters if name not in ("self", "cls")}
    undescribed = names - described(inspect.getdoc(function) or "")
    if "scoring" in undescribed:
        names = names - {"scoring"} | set(options.SCORING)
    names -= {"display", *DISPLAY_NAMES} & undescribed
    return names


def is_made_or_result(found: type) -> bool:
    """Whether a class is a result or one that people make; the others are parts of results, and say
    what they hold field by field."""
    made = found.__name__ in ("Policy", "Vectors", "Measure", "Rankings", "Embeddings")
    return made or any(base.__name__ == "Result" for base in found.__mro__)


@for_each("name", CALLABLES)
def test_every_parameter_is_described(name: str) -> None:
    doc = inspect.getdoc(CALLABLES[name]) or ""
    assert doc, f"{name} has no docstring"
    assert parameters(CALLABLES[name]) - described(doc) == set()
    assert described(doc) - parameters(CALLABLES[name]) == set()


@for_each("name", PUBLIC)
def test_every_public_name_has_a_first_line_an_example_and_types(name: str) -> None:
    found = PUBLIC[name]
    doc = inspect.getdoc(found) or ""
    assert doc.partition("\n")[0].endswith(".")
    if inspect.isfunction(found) or is_made_or_result(found):
        assert ">>>" in doc
    if inspect.isfunction(found):
        assert "return" in inspect.unwrap(found).__annotations__
    elif found.__name__ in ("Policy", "Vectors", "Embeddings"):  # made by people
        assert parameters(found) - described(doc) == set()


def names_in(text: str) -> set[str]:
    """What a page calls judged.something, in code."""
    code = "\n".join(
        re.findall(r"```python\n(.*?)```", text, re.S) + re.findall(r"`([^`\n]+)`", text)
    )
    return set(re.findall(r"(?<![\w./-])judged((?:\.[A-Za-z_]\w*)+)", code))


@for_each("page", PAGES, ids=lambda page: page.name)
def test_every_name_on_a_page_exists(page: Path) -> None:
    for dotted in sorted(names_in(page.read_text(encoding="utf-8"))):
        found: Any = judged
        for part in dotted[1:].split("."):
            if not inspect.isclass(found) and not inspect.ismodule(found):
                break  # an attribute of a value, which the examples run
            try:
                found = getattr(found, part)
            except AttributeError:
                if inspect.ismodule(found) and find_spec(f"{found.__name__}.{part}"):
                    found = import_module(f"{found.__name__}.{part}")
                    continue
                fields = (
                    {each.name for each in dataclasses.fields(found)}
                    if dataclasses.is_dataclass(found)
                    else set()
                )
                assert part in fields, f"judged{dotted} does not exist"
                break


def test_literals_are_the_declared_choices() -> None:
    declared: dict[Any, dict[str, str]] = {
        **{getattr(options, name.title()): policy.CHOICES[name] for name in policy.CHOICES},
        options.Duplicates: policy.DUPLICATES,
        options.Positives: policy.POSITIVES,
    }
    for literal, choices in declared.items():
        assert list(get_args(literal)) == list(choices)


@for_each("namespace", NAMESPACES)
def test_every_namespace_says_what_it_offers(namespace: str) -> None:
    module: ModuleType = getattr(judged, namespace)
    if namespace != "options":
        assert module.__all__
        assert all(hasattr(module, name) for name in module.__all__)
    assert (module.__doc__ or "").strip()
