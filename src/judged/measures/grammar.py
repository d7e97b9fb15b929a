"""Text to measures: `P@10`, `AP(rel=2)@100`, `nDCG(gain=exp, gains={1:3,2:9})@R`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isinf
from typing import Any

from judged.conventions.trec_eval import understood
from judged.errors import MeasureError, quoted
from judged.measures.measure import Measure, bind
from judged.measures.presets import PRESETS
from judged.measures.spec import is_name, lookup

_NAME = re.compile(r"[A-Za-z0-9][\w.\-]*")
_AT = re.compile(r"[^\s@()]+")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_OPEN, _CLOSE = "{[(", "}])"
_DEEPEST = 2
"""How many brackets a value may stand in: a table of numbers has one, and nothing has three."""


def parse_measure(measure: str | Measure) -> Measure:
    """A measure from its text; upper and lower case and white space do not matter.

    Parameters
    ----------
    measure : str or Measure
        `NAME`, `NAME@k` or `NAME(parameter=value, …)@k`, or one of trec_eval's names; a `Measure`
        is returned as it is.

    Returns
    -------
    Measure

    >>> parse_measure("ndcg( gain = exp ) @ 10")
    nDCG(gain=exp)@10
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise MeasureError(
            "a measure is a text such as 'nDCG@10' or a judged.Measure; got "
            f"{type(measure).__name__}."
        )
    theirs = _of_trec_eval(measure.strip())
    if theirs:
        if len(theirs) > 1:
            raise MeasureError(
                f"{measure!r} stands for {len(theirs)} measures ({', '.join(theirs[:3])}, …); name "
                "one of them."
            )
        measure = theirs[0]
    called, inside, at = _pieces(measure)
    spec, preset = lookup(called)
    given: dict[str, Any] = {}
    for part in _split(inside, ","):
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals:
            raise MeasureError(
                f"cannot read {quoted(name)} in {quoted(measure)}; write parameter=value."
            )
        if name in given:
            raise MeasureError(f"{name} is given twice in {quoted(measure)}; write it once.")
        given[name] = _value(value, measure)
    if at and spec.at in given:
        raise MeasureError(
            f"{spec.at} is given twice in {quoted(measure)}; write it once, as {spec.name}@{at}."
        )
    bound = bind(spec, {**preset, **given})
    return bound @ _value(at, measure) if at else bound


def _pieces(measure: str) -> tuple[str, str, str]:
    """The name, what stands in brackets and what stands behind @; the latter two may be empty."""
    text = measure.strip()
    name = _NAME.match(text)
    end = name.end() if name else 0
    inside = at = ""
    rest = text[end:].lstrip()
    if name and rest[:1] == "(" and (close := rest.rfind(")")) > 0:
        inside, rest = rest[1:close], rest[close + 1 :].lstrip()
    if name and rest[:1] == "@" and (cutoff := _AT.fullmatch(rest[1:].strip())):
        at, rest = cutoff[0], ""
    if not name or rest:
        # Where reading stopped: behind the last thing that could be read.
        stopped = measure.find(text) + len(text) - len(rest) if text else 0
        there = f" at character {stopped + 1}, {quoted(rest)}" if name and rest else ""
        raise MeasureError(
            f"cannot read the measure {quoted(measure)}{there}; write it as NAME, NAME@k or "
            "NAME(parameter=value)@k."
        )
    return name[0], inside, at


def parse_all(measures: Iterable[str | Measure] | str | Measure) -> list[Measure]:
    """Several measures, each once, in order.

    Parameters
    ----------
    measures : str, Measure, or an iterable of both
        A text may hold several measures, separated by commas or white space, and it may be a preset
        or one of trec_eval's names.

    Returns
    -------
    list of Measure

    >>> parse_all("P@5, AP(rel=2)@10 RR")
    [P@5, AP(rel=2)@10, RR]
    >>> parse_all(["msmarco", "ndcg_cut.5,10", "recip_rank"])
    [RR@10, R@50, R@1000, nDCG@10, nDCG@5, RR]
    """
    texts: list[str | Measure] = []
    for each in each_of(measures):
        texts += _measures_in(each) if isinstance(each, str) else [each]
    return list(dict.fromkeys(parse_measure(text) for text in texts))


def each_of(measures: Any) -> list[Any]:
    """What was given for measures, one or several, as a list."""
    if isinstance(measures, (str, Measure)):
        return [measures]
    if not isinstance(measures, Iterable) or getattr(measures, "ndim", 1) == 0:
        raise MeasureError(
            "measures must be a text such as 'nDCG@10', a judged.Measure, or a list of them; got "
            f"{quoted(measures)}."
        )
    if not (given := list(measures)):
        raise MeasureError("no measure was given; name at least one, such as nDCG@10.")
    return given


def _measures_in(text: str) -> list[str]:
    if text.strip().lower() in PRESETS:
        return list(PRESETS[text.strip().lower()])
    # trec_eval's P.5,10 has commas of its own.
    return _of_trec_eval(text.strip()) or [
        part for piece in pieces_of(text) for part in _of_trec_eval(piece) or [piece]
    ]


def _of_trec_eval(text: str) -> list[str] | None:
    """Our measures for one of trec_eval's names that is no name of ours."""
    name = text.partition("@")[0].partition("(")[0]
    return None if is_name(name) else understood(text)


def pieces_of(text: str) -> list[str]:
    """The measures of a text, which commas or white space separate."""
    parts = [
        part.strip()
        for piece in _split(_tight(text), ",")
        for part in _split(piece, " ")
        if part.strip()
    ]
    if not parts:
        raise MeasureError(
            f"cannot read the measure {quoted(text)}; write it as NAME, NAME@k or "
            "NAME(parameter=value)@k."
        )
    return parts


def _tight(text: str) -> str:
    """The text with single blanks, and none beside @ and (."""
    plain = " ".join(text.split())
    for sign in "@(":
        plain = plain.replace(f" {sign}", sign).replace(f"{sign} ", sign)
    return plain


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that stand outside brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if letter == separator and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    return parts if text.strip() else []


def _value(text: str, measure: str, depth: int = 0) -> Any:
    """A number, a word, a {table} or a [list]."""
    if text[:1] + text[-1:] in ("{}", "[]") and depth == _DEEPEST:
        raise MeasureError(f"brackets stand in brackets in {quoted(measure)}; write plain values.")
    if text[:1] == "{" and text[-1:] == "}":
        return _table(text[1:-1], measure, depth)
    if text[:1] == "[" and text[-1:] == "]":
        return [_value(part.strip(), measure, depth + 1) for part in _split(text[1:-1], ",")]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if not text:
        raise MeasureError(f"a value is missing in {quoted(measure)}; write parameter=value.")
    if not _NUMBER.fullmatch(text) or isinf(number := float(text)):
        return text
    return int(text) if _WHOLE.fullmatch(text) else number


def _table(inside: str, measure: str, depth: int) -> dict[Any, Any]:
    """What stands between the braces of a table: key:value pairs."""
    table: dict[Any, Any] = {}
    for pair in _split(inside, ","):
        name, colon, given = (text.strip() for text in pair.partition(":"))
        if not colon:
            raise MeasureError(f"a value is missing in {quoted(measure)}; write {{key:value}}.")
        key = _value(name, measure, depth + 1)
        if isinstance(key, (dict, list)) or key in table:
            wrong = "is given twice" if isinstance(key, (int, float, str)) else "is no key"
            raise MeasureError(f"{quoted(name)} {wrong} in {quoted(measure)}; write a number once.")
        table[key] = _value(given, measure, depth + 1)
    return table
