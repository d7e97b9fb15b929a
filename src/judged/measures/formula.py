"""LaTeX formulas as one line of plain text, for terminals."""

from __future__ import annotations

import re

_SIGNS = {
    r"\sum": "Σ", r"\prod": "Π", r"\max": "max", r"\min": "min", r"\log": "log",
    r"\le": "≤", r"\ge": "≥", r"\in": "∈", r"\bigcup": "⋃", r"\alpha": "α",
    r"\epsilon": "ε", r"\left": "", r"\right": "",
    r"\cap": "∩", r"\beta": "β", r"\{": "{", r"\}": "}", r"\,": " ", r"\quad": " ", r"\ ": " ",
    r"\cdot": "·", r"\infty": "∞",
}  # fmt: skip
_BRACES = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"


def readable(latex: str) -> str:
    r"""A formula without LaTeX.

    >>> readable(r"\frac{1}{k}\sum_{i\le k}[g_i \ge rel]")
    '1/k Σ_(i≤k) [g_i ≥ rel]'
    """
    text = latex.replace(r"\{", "⦃").replace(r"\}", "⦄")
    fraction = re.compile(r"\\frac" + _BRACES + _BRACES)
    while found := fraction.search(text):
        top, bottom = (_grouped(part) for part in found.groups())
        text = f"{text[: found.start()]}{top}/{bottom} {text[found.end() :]}"
    text = re.sub(r"([_^])" + _BRACES, lambda found: f"{found[1]}({found[2]}) ", text)
    for sign in sorted(_SIGNS, key=len, reverse=True):
        text = text.replace(sign, _SIGNS[sign])
    text = text.replace("⦃", "{").replace("⦄", "}")
    text = re.sub(r"\s+", " ", text)
    return re.sub(r" ([,)\]])", r"\1", re.sub(r"(?<=[(i])\s?([≤≥])\s(?=k\))", r"\1", text)).strip()


def _grouped(part: str) -> str:
    return part if re.fullmatch(r"[\w@]+", part) else f"({part})"
