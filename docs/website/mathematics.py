r"""Formulas as MathML, which browsers draw without a script, a font or a network.

>>> set_words(r"\frac{DCG@k}{\max_i gain_i}")
'\\frac{\\text{DCG@}k}{\\max_i \\text{gain}_i}'
"""

from __future__ import annotations

import re
from typing import Any

_KEPT = re.compile(r"\\(?:text|mathrm|operatorname)\{[^{}]*\}|\\[A-Za-z]+|\\.")
_NEXT = re.compile(r",\s*\\quad\s*")
_WORD = re.compile(r"[A-Za-z]{2,}@?|(?<=[A-Za-z])@")


def set_words(latex: str) -> str:
    """Return a formula whose words are words: LaTeX sets each letter as a variable.

    The formulas of the registry are written for terminals and code hosts.
    """
    parts, end = [], 0
    for kept in _KEPT.finditer(latex):
        parts += [_marked(latex[end : kept.start()]), kept[0].replace(r"\mathrm", r"\text")]
        end = kept.end()
    return "".join([*parts, _marked(latex[end:])])


def _marked(part: str) -> str:
    return _WORD.sub(lambda word: rf"\text{{{word[0]}}}", part)


def lines_of(latex: str) -> list[str]:
    r"""Return the lines of a formula: each definition on its own.

    >>> lines_of(r"\frac{1}{s}, \quad s = 2")
    ['\\frac{1}{s},', 's = 2']
    """
    return [f"{line}," for line in _NEXT.split(latex)[:-1]] + _NEXT.split(latex)[-1:]


def mathml(latex: str, *, block: bool) -> str:
    """Return a formula as an element of a page."""
    from latex2mathml.converter import convert

    return convert(set_words(latex), display="block" if block else "inline")


def visit_inline(writer: Any, node: Any) -> None:
    """Write a formula in a line, for Sphinx."""
    from docutils.nodes import SkipNode

    writer.body.append(mathml(node.astext(), block=False))
    raise SkipNode


def visit_block(writer: Any, node: Any) -> None:
    """Write a formula on lines of its own, for Sphinx; a wide one scrolls in its own box."""
    from docutils.nodes import SkipNode

    lines = "".join(mathml(line, block=True) for line in lines_of(node.astext()))
    writer.body.append(f'<div class="formula" tabindex="0">{lines}</div>\n')
    raise SkipNode
