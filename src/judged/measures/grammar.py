"""The notation of measures: `P@10`, `nDCG(gain=exp, gains={1:3,2:9})@R`, `P@5,10, rag`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from math import isinf
from typing import TYPE_CHECKING, Any

from judged.errors import MeasureError, quoted
from judged.measures.measure import Measure, bind
from judged.measures.reference import ABOUT, PRESETS
from judged.measures.registry import is_name, lookup

if TYPE_CHECKING:
    from judged.measures.measure import Measure
    from judged.measures.reference import Preset
    from judged.measures.registry import Spec


_NAME = r"[A-Za-z0-9][\w.\-]*"
_AT = r"[^\s@()]+"
_WHOLE = r"[+-]?[0-9]+"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_CUT = r"(.*@)[^@()]+|([^@]*?[_.-])[0-9.]+"
"""A measure that ends with a cutoff, behind @ or as others write it: P_5, P.5, Rank-5."""
_UNDERSCORED = r"(?i:([a-z][\w-]*?)(_at_|_)([1-9][0-9]*))"
_OPEN, _CLOSE = "{[(", "}])"
_DEEPEST = 2
"""How many brackets a value may stand in: a table of numbers has one, and nothing has three."""


def parse_measure(measure: str | Measure) -> Measure:
    """Parse the text of a measure; case and white space do not matter.

    Parameters
    ----------
    measure : str or Measure
        `NAME`, `NAME@k` or `NAME(parameter=value, …)@k`, or one of trec_eval's names. A `Measure`
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
    meant = _stands_for(measure.strip())
    if len(meant) > 1:
        raise MeasureError(
            f"{measure!r} stands for {len(meant)} measures "
            f"({', '.join(ours for _, ours in meant[:3])}, …); name one of them."
        )
    if meant:
        measure = meant[0][1]
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
    """Split a text into the name, what is in brackets, and what follows @."""
    text = measure.strip()
    name = re.match(_NAME, text)
    end = name.end() if name else 0
    inside = at = ""
    rest = text[end:].lstrip()
    if name and rest[:1] == "(" and (close := rest.rfind(")")) > 0:
        inside, rest = rest[1:close], rest[close + 1 :].lstrip()
    if name and rest[:1] == "@" and (cutoff := re.fullmatch(_AT, rest[1:].strip())):
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
    """Parse several measures, each once, in order.

    Parameters
    ----------
    measures : str, Measure, or an iterable of both
        A text may hold several measures, separated by commas or white space. It may be a preset or
        one of trec_eval's names.

    Returns
    -------
    list of Measure

    >>> parse_all("P@5, AP(rel=2)@10 RR")
    [P@5, AP(rel=2)@10, RR]
    >>> parse_all(["msmarco", "ndcg_cut.5,10", "recip_rank"])
    [RR@10, R@50, R@1000, nDCG@10, nDCG@5, RR]
    """
    return list(read_all(measures))


def read_all(measures: Iterable[str | Measure] | str | Measure) -> dict[Measure, str]:
    """Parse several measures, each once, in order, with their labels.

    A label is the text as written, otherwise the name in a preset, otherwise our notation.

    >>> read_all(["MAP, map@5,10", "AP"])
    {AP: 'MAP', AP@5: 'map@5', AP@10: 'map@10'}
    >>> read_all("msmarco,MRR@10")[parse_measure("RR@10")]
    'MRR@10'
    """
    asked = [each for given in each_of(measures) for each in _asked(given)]
    said = {measure: label for measure, label, preset in reversed(asked) if not preset}
    return labelled((measure, said.get(measure, label)) for measure, label, _ in asked)


def labelled(asked: Iterable[tuple[Measure, str]]) -> dict[Measure, str]:
    """Label each measure once, by the first of its names; no two measures share a label."""
    labels: dict[Measure, str] = {}
    for measure, label in asked:
        if measure not in labels:
            unlike = (label, str(measure), f"{label} = {measure}")
            labels[measure] = next(each for each in unlike if each not in labels.values())
    return labels


def label_of(text: str, measure: Measure) -> str:
    """Return the label of a measure that was written like this."""
    ours = str(measure)
    return ours if "".join(text.split()) == "".join(ours.split()) else " ".join(text.split())


def each_of(measures: Any) -> list[Any]:
    """Return one measure, or several, as a list."""
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


def _asked(measure: str | Measure) -> Iterator[tuple[Measure, str, bool]]:
    """Yield the measures of a text or object, their labels, and whether a preset names them."""
    if not isinstance(measure, str):
        yield parse_measure(measure), str(measure), False
        return
    # trec_eval's P.5,10 has commas of its own.
    for piece in [measure] if _stands_for(measure.strip()) else pieces_of(measure):
        meant = _stands_for(piece.strip())
        for name, ours in meant if len(meant) > 1 else [(piece, piece)]:
            found = parse_measure(ours)
            yield found, label_of(name, found), piece.strip().lower() in PRESETS


def _stands_for(text: str) -> list[tuple[str, str]]:
    """Return the names and measures that a preset, or a name of other libraries, stands for."""
    if text.lower() in PRESETS:
        return [(each, each) for each in PRESETS[text.lower()]]
    name = text.partition("@")[0].partition("(")[0]
    if is_name(name):
        return []
    from judged.conventions.libraries.trec_eval import understood

    return [(text, ours) for ours in _underscored(text)] or understood(text) or []


def _underscored(text: str) -> Iterator[str]:
    """Yield a name with its cutoff after _at_ or _ in our notation: recall_at_10, R_100.

    F_2 is not a cutoff: some write it for beta.
    """
    if (found := re.fullmatch(_UNDERSCORED, text)) and is_name(found[1]):
        spec, _ = lookup(found[1])
        if spec.at == "k" and (len(found[2]) > 1 or "beta" not in {p.name for p in spec.params}):
            yield f"{found[1]}@{found[3]}"


def pieces_of(text: str) -> list[str]:
    """Split a text into measures at commas and white space.

    A number after a comma is another cutoff of the measure before it.

    >>> pieces_of("AP, nDCG(gain=exp)@5,10")
    ['AP', 'nDCG(gain=exp)@5', 'nDCG(gain=exp)@10']
    """
    parts: list[str] = []
    for piece in _split(_tight(text), ","):
        inside = [part.strip() for part in _split(piece, " ") if part.strip()]
        if parts and inside and re.fullmatch(_NUMBER, inside[0]):
            inside[0] = _recut(parts[-1], inside[0], text)
        parts += inside
    if not parts:
        raise MeasureError(
            f"cannot read the measure {quoted(text)}; write it as NAME, NAME@k or "
            "NAME(parameter=value)@k."
        )
    return parts


def _recut(measure: str, cutoff: str, text: str) -> str:
    """Replace the cutoff of a measure."""
    if not (cut := re.fullmatch(_CUT, measure)):
        raise MeasureError(
            f"cannot read {quoted(cutoff)} in {quoted(text)}: a number behind a comma is another "
            f"cutoff of the measure before it, as in P@5,10, and {measure} has none."
        )
    return (cut[1] or cut[2]) + cutoff


def _tight(text: str) -> str:
    """Reduce white space to single blanks, and to none beside @ and (."""
    plain = " ".join(text.split())
    for sign in "@(":
        plain = plain.replace(f" {sign}", sign).replace(f"{sign} ", sign)
    return plain


def _split(text: str, separator: str) -> list[str]:
    """Split a text at separators outside brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if letter == separator and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    return parts if text.strip() else []


def _value(text: str, measure: str, depth: int = 0) -> Any:
    """Parse a number, a word, a {table} or a [list]."""
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
    if not re.fullmatch(_NUMBER, text) or isinf(number := float(text)):
        return text
    return int(text) if re.fullmatch(_WHOLE, text) else number


def _table(inside: str, measure: str, depth: int) -> dict[Any, Any]:
    """Parse the key:value pairs of a table."""
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


def presets_in(text: str) -> tuple[dict[str, Preset], str | list[str]]:
    """Return the presets that a text names, and the rest of it."""
    pieces = pieces_of(text)
    presets = {each.lower(): ABOUT[each.lower()] for each in pieces if each.lower() in ABOUT}
    return presets, [each for each in pieces if each.lower() not in ABOUT] if presets else text


def entries(
    labels: Mapping[Measure, str], presets: Mapping[str, Preset], *, chosen: bool
) -> dict[str, Any]:
    """Describe measures and presets as plain values for JSON."""
    own = [text for preset in presets.values() for text in preset.measures] if chosen else []
    every = {**(read_all(own) if own else {}), **labels}
    return {
        "measures": {
            label: {**measure.definition(), **_declared(measure.spec)}
            for measure, label in every.items()
        },
        "presets": {name: asdict(preset) for name, preset in presets.items()},
    }


def _declared(spec: Spec) -> dict[str, Any]:
    options = {
        each.name: {"default": each.default, "allowed": each.allowed, "says": each.says}
        for each in spec.params
    }
    return {
        "aliases": list(spec.aliases),
        "range": [None if isinf(bound) else bound for bound in spec.range],
        "options": options,
        "example": asdict(spec.example),
    }
