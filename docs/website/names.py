"""The pages of the Python library, made from the docstrings of public names."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, is_typeddict

import judged
from judged.measures import catalogue
from judged.results import Result

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
BACK = "[Python API](../api.md)"


def public() -> dict[str, Any]:
    """Return the public names of `judged` without measures, and their values."""
    return {name: getattr(judged, name) for name in judged._HOMES}


def members(space: ModuleType) -> dict[str, Any]:
    """Return the public names of a namespace: its list, or what it defines itself."""
    names = getattr(space, "__all__", None)
    if names is None:
        taken = {"TYPE_CHECKING", "annotations"}
        tree = ast.parse(Path(str(space.__file__)).read_text(encoding="utf-8"))
        names = [name for node in tree.body for name in _defined(node) if name not in taken | {"_"}]
    return {name: getattr(space, name) for name in names if not name.startswith("_")}


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Assign):
        yield from (each.id for each in node.targets if isinstance(each, ast.Name))
    elif isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield node.name


def name_pages() -> dict[str, str]:
    """Return the text of each page by its place on the site.

    There is a list of all names, a page per name, and one about all results.
    """
    pages = {"api.md": _index(), "api/result.md": _results()}
    for name, value in public().items():
        full = f"judged.{name}"
        body = _namespace(full, value) if inspect.ismodule(value) else _entry(full, value, 1)
        pages[f"api/{name}.md"] = "\n\n".join([BACK, *body]) + "\n"
    return pages


def _index() -> str:
    groups: dict[str, list[str]] = {
        "Functions": [],
        "Results and other classes": [],
        "Namespaces": [],
        "Errors and warnings": [],
    }
    for name, value in public().items():
        group = (
            "Namespaces"
            if inspect.ismodule(value)
            else "Functions"
            if inspect.isfunction(value)
            else "Errors and warnings"
            if issubclass(value, Exception)
            else "Results and other classes"
        )
        groups[group].append(f"| [`judged.{name}`](api/{name}.md) | {_first(value)} |")
    parts = [
        "# Python API",
        "Every public name, with its parameters, from the docstrings; [Python](python.md) tells "
        "the same by example. What all results can do (tables, files, sentences) is on [a page of "
        "its own](api/result.md).",
    ]
    for title, rows in groups.items():
        parts += [f"## {title}", "\n".join(["| name | what it is |", "|---|---|", *rows])]
    links = ", ".join(f"[`judged.{spec.name}`](measures/{spec.name}.md)" for spec in catalogue())
    parts += ["## Measures", f"Every measure is a name too: {links}."]
    return "\n\n".join(parts) + "\n"


def _results() -> str:
    parts = [
        BACK,
        "# Every result",
        "What `judged` returns, from an evaluation to a chart, has these methods. A class that "
        "does more in one of them says so on its own page.",
    ]
    for attribute, value in _methods(Result):
        parts += _entry(f"Result.{attribute}", value, 2)
    return "\n\n".join(parts) + "\n"


def _first(value: Any) -> str:
    """Return the first paragraph of a docstring."""
    return prose(" ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split()))


def _namespace(name: str, space: ModuleType) -> Iterator[str]:
    yield f"# {name}"
    yield from document(inspect.getdoc(space) or "")
    own = members(space)
    for short, value in own.items():
        if inspect.isfunction(value) or inspect.isclass(value):
            yield from _entry(f"{name}.{short}", value, 2)
        elif inspect.ismodule(value):
            yield from _module(f"{name}.{short}", value)
        else:
            yield f"## {name}.{short}"
            yield from _value(space, short, value)


def _module(name: str, space: ModuleType) -> Iterator[str]:
    """Yield a namespace in a namespace, such as `judged.engines.spark`."""
    yield f"## {name}"
    yield from document(inspect.getdoc(space) or "")
    for short, value in members(space).items():
        if inspect.isfunction(value) or inspect.isclass(value):
            yield from _entry(f"{name}.{short}", value, 3)


def _value(space: ModuleType, name: str, value: Any) -> Iterator[str]:
    """Yield a value or a type with its definition and description."""
    shown = _source(space).get(name)
    if shown is None:
        yield f"```\n{textwrap.shorten(repr(value), 400, placeholder=' …')}\n```"
        return
    code, said = shown
    if len(code) <= 800:
        yield f"```python\n{code}\n```"
    if said:
        yield from document(inspect.cleandoc(said))


@cache
def _source(space: ModuleType) -> dict[str, tuple[str, str]]:
    """Return the assignments of a module: their code, and the text under each."""
    text = Path(str(space.__file__)).read_text(encoding="utf-8")
    found = {}
    body = ast.parse(text).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for name in _defined(node):
                code = ast.get_source_segment(text, node) or ""
                found[name] = code, _text_of(after)
    return found


def _text_of(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else ""
    return ""


RETURNS = r"^(Returns|Yields)\n-+\n"
"""The heading under which a docstring describes the result."""


def _entry(name: str, value: Any, level: int) -> Iterator[str]:
    """Yield a function or class under a heading."""
    yield f"{'#' * level} {name.replace('_', chr(92) + '_')}"
    if call := signature(name, value):
        yield f"```python\n{call}\n```"
    doc = inspect.getdoc(value) or ""
    yield from document(doc)
    returned = getattr(value, "__annotations__", {}).get("return")
    if isinstance(returned, str) and returned != "None" and not re.search(RETURNS, doc, re.M):
        yield f"**Returns** {linked(returned)}"
    if inspect.isclass(value):
        yield from _class(name, value, level)


def signature(name: str, value: Any) -> str:
    """Return the signature, over several lines if it has many parameters."""
    if inspect.isclass(value) and (is_typeddict(value) or not _is_made(value)):
        return ""
    shown, star = [], False
    for each in inspect.signature(value).parameters.values():
        if each.name in ("self", "cls"):
            continue
        if each.kind is each.KEYWORD_ONLY and not star:
            star = True
            shown.append("*")
        star = star or each.kind is each.VAR_POSITIONAL
        lead = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else f"={_default(each.default)}"
        shown.append(f"{lead}{each.name}{default}")
    line = f"{name}({', '.join(shown)})"
    if len(line) <= 80:
        return line
    return f"{name}(\n{''.join(f'    {each},{chr(10)}' for each in shown)})"


def _default(value: Any) -> str:
    text = repr(value)
    return "..." if text.startswith("<") or len(text) > 60 else text


def _is_made(value: type) -> bool:
    """Return whether users create instances: then the docstring has parameters."""
    return bool(re.search(r"^Parameters\n-+\n", inspect.getdoc(value) or "", re.MULTILINE))


def _class(name: str, value: type, level: int) -> Iterator[str]:
    """Yield fields, properties and methods, without those that all results have."""
    fields = [] if _is_made(value) else list(_fields(value))
    rows = [*fields, *_properties(value)]
    if rows:
        yield "**Attributes**"
        yield "\n\n".join(_term(f"`{term}`", said) for term, said in rows)
    common = []
    for attribute, method in _methods(value):
        if value is not Result and _inherited(value, attribute):
            common.append(f"`{attribute}`")
        else:
            yield from _entry(f"{name.rpartition('.')[2]}.{attribute}", method, level + 1)
    if common:
        yield f"As [every result](result.md), it also has {', '.join(common)}."


def _methods(value: type) -> Iterator[tuple[str, Any]]:
    if issubclass(value, BaseException):
        return
    for attribute, found in inspect.getmembers(value):
        static = inspect.getattr_static(value, attribute)
        ours = str(getattr(found, "__module__", "")).startswith("judged")
        method = inspect.isfunction(static) or isinstance(static, classmethod | staticmethod)
        if ours and method and not attribute.startswith("_"):
            yield attribute, found


def _inherited(value: type, attribute: str) -> bool:
    """Return whether a method is that of all results, or documented alike."""
    if not issubclass(value, Result) or not hasattr(Result, attribute):
        return False
    own = next(base for base in value.__mro__ if attribute in vars(base))
    said = inspect.getdoc(getattr(own, attribute))
    return own is Result or said == inspect.getdoc(getattr(Result, attribute))


def _fields(value: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a dataclass or tuple, with the text under each."""
    for base in reversed(value.__mro__):
        if not (is_dataclass(base) or issubclass(base, tuple)):
            continue
        if not base.__module__.startswith("judged"):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(tree, ast.ClassDef)
        for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
            if isinstance(node, ast.AnnAssign) and "ClassVar" not in ast.unparse(node.annotation):
                [name] = _defined(node)
                if not name.startswith("_"):
                    yield name, inspect.cleandoc(_text_of(after))


def _properties(value: type) -> Iterator[tuple[str, str]]:
    for attribute, found in inspect.getmembers(
        value, lambda member: isinstance(member, property | cached_property)
    ):
        if not attribute.startswith("_"):
            yield attribute, inspect.getdoc(found) or ""


# -- docstrings in the style of numpydoc, as Markdown


@dataclass(frozen=True)
class Part:
    """A section of a docstring; the text before all headings has no title."""

    title: str
    text: str


def parts(doc: str) -> list[Part]:
    """Return the sections of a docstring; examples end a section.

    >>> [part.title for part in parts("Does.\\n\\nReturns\\n-------\\nint\\n\\n>>> 1\\n1")]
    ['', 'Returns', '']
    """
    found = []
    texts = SECTION.split(doc)
    for title, text in zip(["", *texts[1::2]], texts[::2], strict=True):
        before, sign, example = text.partition("\n>>>") if title else (text, "", "")
        found.append(Part(title, before.strip("\n")))
        if sign:
            found.append(Part("", f">>>{example}".strip("\n")))
    return [part for part in found if part.text]


def document(doc: str) -> Iterator[str]:
    """Yield a docstring as paragraphs of Markdown."""
    for part in parts(doc):
        if part.title in ("", "Notes", "Examples"):
            yield from _text(part.text)
        else:
            yield f"**{part.title}**"
            yield "\n\n".join(_terms(part.text, part.title))


def _text(text: str) -> Iterator[str]:
    """Yield prose, and examples as code."""
    code: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.split("\n")
        starts = next((at for at, line in enumerate(lines) if line.startswith(">>>")), None)
        before, example = (lines, []) if starts is None else (lines[:starts], lines[starts:])
        if before:
            if code:
                yield "```python\n" + "\n\n".join(code) + "\n```"
                code = []
            yield _paragraph(before)
        if example:
            code.append("\n".join(example))
    if code:
        yield "```python\n" + "\n\n".join(code) + "\n```"


def _paragraph(lines: list[str]) -> str:
    if all(line.startswith("    ") for line in lines):
        return "```\n" + textwrap.dedent("\n".join(lines)) + "\n```"
    return prose("\n".join(lines))


def _terms(text: str, title: str) -> Iterator[str]:
    """Yield parameters or return values, each with its type and description."""
    for head, said in _entries(text):
        name, sign, kind = head.partition(" : ")
        names = ", ".join(f"`{each.strip()}`" for each in name.split(","))
        if not sign and not re.fullmatch(r"\*{0,2}\w+(, \w+)*", head):
            names = linked(head)  # a type, or words
        elif not sign and title in ("Returns", "Yields"):
            names = linked(head)
        yield _term(f"{names}{f' ({linked(kind)})' if sign else ''}", said)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    head, said = "", []
    for line in text.split("\n"):
        if line and not line.startswith(" "):
            if head:
                yield head, "\n".join(said)
            head, said = line, []
        else:
            said.append(line)
    if head:
        yield head, "\n".join(said)


def _term(head: str, said: str) -> str:
    """Return an entry of a list of definitions, or a paragraph without a description."""
    body = "\n\n".join(_text(inspect.cleandoc(said))) if said.strip() else ""
    return f"{head}\n: {textwrap.indent(body, '  ').lstrip()}" if body else head


def prose(text: str) -> str:
    """Return text in which only `code` and lists are Markdown.

    >>> prose("of {query: [item]}, *args and `a_b`")
    'of {query: \\\\[item\\\\]}, \\\\*args and `a_b`'
    """
    pieces = re.split(r"(`[^`]+`)", text)
    escaped = (
        piece if at % 2 else re.sub(r"(?<!^)([*_<\[\]$#|~])", r"\\\1", piece)
        for at, piece in enumerate(pieces)
    )
    return "".join(escaped)


def linked(text: str) -> str:
    """Return a type in words, with links to the pages of names.

    >>> linked("RunLike, optional")
    '[RunLike](options.md#judgedoptionsrunlike), optional'
    """
    types = members(judged.options)

    def link(word: re.Match[str]) -> str:
        name = word[0]
        if name in types:
            return f"[{name}](options.md#judgedoptions{name.lower()})"
        return f"[{name}]({name}.md)" if name in judged._HOMES and name[0].isupper() else name

    return re.sub(r"(?<![\w.])[A-Z]\w+", link, prose(text))
