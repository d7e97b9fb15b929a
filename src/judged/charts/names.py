"""Names as charts can show them: everything visible, none too long, and different ones still
different."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from judged.text import visible

LONGEST = 100
"""Letters of a name; the middle of a longer one is left out, so that charts stay charts."""
LABEL = 34
"""Letters of a name that stands beside marks."""
_CODE = frozenset({"$schema", "calculate", "filter", "test", "expr", "font"})
"""Parts of a specification that nobody reads."""


def drawable(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification whose texts can be drawn, and are the same where they were the same.

    vl-convert ends the whole process where it meets a control character.

    >>> drawable({"title": "a\\x00", "values": [{"run": "a\\x00"}, {"run": "a\\\\x00"}]})
    {'title': 'a\\\\x00 (2)', 'values': [{'run': 'a\\\\x00 (2)'}, {'run': 'a\\\\x00'}]}
    """
    every = dict.fromkeys(_texts(spec))
    plain = {text for text in every if _shown(text) == text}
    names: dict[str, str] = {}
    for text in every:
        if text not in plain:
            names[text] = _distinct(_shown(text), plain)
            plain.add(names[text])
    return _renamed(spec, names)


def labels(names: Iterable[str], longest: int = LABEL) -> dict[str, str]:
    """Names as they stand beside marks: visible, short, and different where the names are.

    >>> labels(["bm25", "a" * 50 + "1", "a" * 50 + "2", "a" * 50 + "12"])["bm25"]
    'bm25'
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        found[name] = _distinct(_shown(name, longest), set(found.values()))
    return found


def _shown(text: str, longest: int = LONGEST) -> str:
    """A text in letters that can be drawn, shortened in its middle."""
    shown = visible(text if len(text) <= longest else _shortened(text, longest))
    return shown if len(shown) <= longest else _shortened(shown, longest)


def _shortened(text: str, longest: int) -> str:
    half = longest // 2
    return f"{text[: half - 1]}…{text[-half:]}"


def _distinct(name: str, taken: set[str]) -> str:
    """With a number behind it where another text is already shown so."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name} ({number})", number + 1
    return found


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, value in part.items():
            if not _is_code(name, value):
                yield from _texts(value)
    elif isinstance(part, (list, tuple)):
        for each in part:
            yield from _texts(each)


def _renamed(part: Any, names: dict[str, str]) -> Any:
    if isinstance(part, str):
        return names.get(part, part)
    if isinstance(part, dict):
        found = {
            name: value if _is_code(name, value) else _renamed(value, names)
            for name, value in part.items()
        }
        return _titled(found) if "field" in found else found
    return [_renamed(each, names) for each in part] if isinstance(part, (list, tuple)) else part


def _titled(channel: dict[str, Any]) -> dict[str, Any]:
    """A channel whose title is that of its axis where it has a backslash: Vega-Lite makes programs
    of the titles of channels, in which a backslash escapes."""
    title = channel.get("title")
    if not isinstance(title, str) or "\\" not in title:
        return channel
    return channel | {
        "title": title.replace("\\", "/"),
        "axis": {**(channel.get("axis") or {}), "title": title},
    }


def _is_code(name: str, value: Any) -> bool:
    return name in _CODE and isinstance(value, str)
