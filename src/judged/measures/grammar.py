"""Text to measures: `P@10`, `AP(rel=2)@100`, `nDCG(gain=exp, gains={1:3,2:9})@R`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from judged.conventions.trec_eval import understood
from judged.errors import MeasureError, quoted
from judged.measures.measure import Measure, bind
from judged.measures.presets import PRESETS
from judged.measures.spec import is_name, lookup

_WHOLE = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][\w.\-]*?)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<at>[^\s@()]+))?\s*"
)
_OPEN, _CLOSE = "{[(", "}])"


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
    found = _WHOLE.fullmatch(measure)
    if not found:
        raise MeasureError(
            f"cannot read the measure {measure!r}; write it as NAME, NAME@k or "
            "NAME(parameter=value)@k."
        )
    spec, preset = lookup(found["name"])
    given: dict[str, Any] = {}
    for part in _split(found["inside"] or "", ","):
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals:
            raise MeasureError(f"cannot read {name!r} in {measure!r}; write parameter=value.")
        if name in given:
            raise MeasureError(f"{name} is given twice in {measure!r}; write it once.")
        given[name] = _value(value, measure)
    if found["at"] and spec.at in given:
        raise MeasureError(
            f"{spec.at} is given twice in {measure!r}; write it once, as {spec.name}@{found['at']}."
        )
    bound = bind(spec, {**preset, **given})
    return bound @ _value(found["at"], measure) if found["at"] else bound


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
    tight = re.sub(r"\s*([@(])\s*", r"\1", re.sub(r"\s", " ", text))
    parts = [
        part.strip() for piece in _split(tight, ",") for part in _split(piece, " ") if part.strip()
    ]
    if not parts:
        raise MeasureError(
            f"cannot read the measure {text!r}; write it as NAME, NAME@k or "
            "NAME(parameter=value)@k."
        )
    return parts


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


def _value(text: str, measure: str) -> Any:
    """A number, a word, a {table} or a [list]."""
    if text[:1] == "{" and text[-1:] == "}":
        pairs = [pair.partition(":") for pair in _split(text[1:-1], ",")]
        return {
            _value(key.strip(), measure): _value(gain.strip(), measure) for key, _, gain in pairs
        }
    if text[:1] == "[" and text[-1:] == "]":
        return [_value(part.strip(), measure) for part in _split(text[1:-1], ",")]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if not text:
        raise MeasureError(f"a value is missing in {measure!r}; write parameter=value.")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
