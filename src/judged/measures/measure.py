"""Measures with their parameters set, and their notation: `P@10`, `nDCG(gain=exp)@R`, `rag`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isinf
from threading import Lock
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from judged.arrays import Floats
from judged.errors import MeasureError, quoted
from judged.measures.reference import ABOUT, BIBLIOGRAPHY, PRESETS, Preset, find_topic
from judged.measures.registry import (
    AGGREGATIONS,
    REGISTRY,
    Mask,
    Settled,
    Spec,
    accepted,
    as_given,
    is_name,
    lookup,
    show,
)
from judged.measures.tie_orders import Closed, Worth, expectations
from judged.rankings.rankings import Rankings
from judged.statistics.samples import QueryRows, Sample

_INTERNED: WeakValueDictionary[tuple[Spec, tuple[tuple[str, Any], ...]], Measure] = (
    WeakValueDictionary()
)
_INTERNING = Lock()


class Measure:
    """A measure with its parameters set, equivalent to its text.

    Get one by its name (`judged.nDCG`), change parameters by calling it, and set the cutoff with @.
    The same definition is always the same object, so that comparing and hashing cost nothing.

    >>> from judged import nDCG
    >>> nDCG(gain="exp") @ 10
    nDCG(gain=exp)@10
    >>> nDCG @ 10 is nDCG(k=10)
    True
    """

    spec: Spec
    """The declaration: title, formula, range, parameters."""
    items: tuple[tuple[str, Any], ...]
    """Every parameter with its value, in the order of declaration."""
    params: Mapping[str, Any]
    """All parameters as {parameter: value}, defaults included."""
    cutoff: Any
    """The parameter that `@` sets; None if it is not set, or there is none."""
    label: str
    """The measure in our notation, as `str` returns it."""

    def __new__(cls, spec: Spec, items: tuple[tuple[str, Any], ...]) -> Measure:
        with _INTERNING:
            measure = _INTERNED.get((spec, items))
            if measure is None:
                measure = _INTERNED[spec, items] = object.__new__(cls)
                params = MappingProxyType(dict(items))
                cutoff, label = params.get(spec.at or ""), _notation(spec, params)
                known = {"params": params, "cutoff": cutoff, "label": label}
                vars(measure).update(spec=spec, items=items, **known)
        return measure

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a measure cannot be changed; call it to get another.")

    def __call__(self, relevance: Any = None, /, *, relevant: Any = None, **params: Any) -> Any:
        """Return the same measure with some parameters changed, or its value for a list.

        Parameters
        ----------
        relevance : sequence or str, optional
            The grades of a list in rank order, or several lists, whose summary is returned.
        relevant : int or sequence of int, optional
            How many relevant items there are, if the list does not hold all.
        **params
            The parameters to change, such as `rel=2`; `judged measures NAME` lists them.

        >>> from judged import AP
        >>> AP(rel=2)(norm="capped")
        AP(rel=2, norm=capped)
        >>> AP([0, 1, 0]), AP([[1, 0], [0, 0, 0, 1]]), AP("0 1 0", relevant=2)
        (0.5, 0.625, 0.25)
        """
        changed = bind(self.spec, {**self.params, **params}) if params else self
        if relevance is None:
            if relevant is not None:
                raise MeasureError("relevant counts the relevant items of a list; give the list.")
            return changed
        from judged.rankings.relevance import rankings_of_lists

        return rankings_of_lists(relevance, relevant).evaluate([changed]).value()

    def __matmul__(self, cutoff: Any) -> Measure:
        """Return the same measure with another cutoff, or whatever else `@` sets.

        Parameters
        ----------
        cutoff : int or "R"
            How many results count; a recall point for `IPrec`.

        >>> from judged import P
        >>> P @ "R"
        P@R
        """
        if self.spec.at is None:
            raise MeasureError(f"{self.spec.name} takes no cutoff; got @{as_given(cutoff)}.")
        return self(**{self.spec.at: cutoff})

    def __str__(self) -> str:
        return self.label

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.spec.name, self.items)

    def compute(self, rankings: Rankings) -> Floats:
        """Compute one value per query before any policy: the mean over orders if ties are unbroken.

        The value is NaN where the measure is undefined.

        Parameters
        ----------
        rankings : Rankings
            From `Rankings.from_run`, `Rankings.from_relevance` or embeddings.

        >>> import judged
        >>> judged.RR.compute(judged.Rankings.from_relevance([[0, 1], [0, 0]])).tolist()
        [0.5, nan]
        """
        if rankings.ties == "expected":
            return expectations((self,), rankings)[self].values
        return self.compute_as_ranked(rankings)

    def compute_as_ranked(self, rankings: Rankings) -> Floats:
        """Compute one value per query for the order that the rankings have, ignoring ties."""
        return self._values(self.spec.compute, rankings)

    def closed(self, rankings: Rankings) -> Closed:
        """Compute means over all orders of ties in closed form, with a mask of the known ones."""
        form = self.spec.expected
        expected = None if form is None else self._values(form, rankings)
        if isinstance(expected, Closed):
            return expected
        if expected is None:
            return Closed(np.full(len(rankings), np.nan), np.zeros(len(rankings), bool))
        return Closed(expected, np.ones(len(rankings), bool))

    def _values(self, function: Callable[..., Any], rankings: Rankings) -> Any:
        """Call a function of this measure; raise an error if numbers overflow on the way."""
        lost = False
        try:
            with np.errstate(over="raise", invalid="ignore"):
                result = function(rankings, **accepted(function, self.params))
        except FloatingPointError:
            lost = True
        else:
            known = isinstance(result, Closed)
            values = np.where(result.known, result.values, 0.0) if known else result
            if values is not None and not np.isfinite(values).all():
                infinite = self.spec.higher_is_better and bool(np.isinf(values).any())
                lost = infinite or bool((np.isnan(values) & ~self.undefined(rankings)).any())
        if lost:
            raise MeasureError(
                f"{self}: the sums for these grades exceed the largest float (1.8e308); use "
                "smaller grades, or other parameters."
            )
        return result

    def worth(self, rankings: Rankings) -> Worth | None:
        """Return what tied results are worth; None if that does not determine their best order."""
        form = self.spec.worth
        return None if form is None else form(rankings, **accepted(form, self.params))

    def gives(self, rankings: Rankings) -> QueryRows | None:
        """Return what each query contributes to the summary; None if that is one value."""
        form = self.spec.gives
        return None if form is None else form(rankings, **accepted(form, self.params))

    def summarise(self, rows: QueryRows | None, settled: Settled) -> tuple[float, Sample | None]:
        """Compute the summary from what queries give; NaN if no query counts.

        The sample behind it comes with it; None if that is one value per query.
        """
        if not settled.counted.any():
            return float("nan"), None
        form = self.spec.made_of
        if form is not None and rows is not None:
            sample = form(rows, settled, **accepted(form, self.params))
            return sample.value(), sample
        return AGGREGATIONS[self.params["aggregate"]](settled.values, settled.weights), None

    def summarise_error(
        self, values: Floats, errors: Floats, weights: Floats | None = None
    ) -> float | None:
        """Compute the standard error of the summary from those of the values.

        None if the summary is not an aggregate of the queries' values.
        """
        if self.spec.made_of is not None or not len(values):
            return None
        return AGGREGATIONS[self.params["aggregate"]].standard_error(values, errors, weights)

    @property
    def formula(self) -> str:
        """The definition in LaTeX, for variants with a formula of their own that of the variant."""
        formulas = self.spec.formulas
        written = (f"{name}={show(value)}" for name, value in self.items)
        return next((formulas[text] for text in written if text in formulas), self.spec.formula)

    @property
    def monotone(self) -> bool:
        """True if the value moves in one direction only when retrieved items get better grades."""
        return self.spec.monotone is not None and self.spec.monotone(self.params)

    def undefined(self, rankings: Rankings) -> Mask:
        """Return a mask of the queries without a value."""
        return self.spec.undefined.where(rankings, self.params)

    def definition(self) -> dict[str, Any]:
        """Return the definition as plain values for JSON: words, formula, parameters, reference.

        >>> from judged import RR
        >>> RR.definition()["undefined_when"]
        'the query has no relevant item'
        """
        return {
            "name": str(self),
            "title": self.spec.title,
            "definition": self.describe(),
            "formula": self.formula,
            "parameters": {
                name: show(value) if isinstance(value, (Mapping, tuple)) else value
                for name, value in self.items
            },
            "undefined_when": self.spec.undefined.text,
            "higher_is_better": self.spec.higher_is_better,
            "reference": BIBLIOGRAPHY[self.spec.reference],
        }

    def describe(self, *, brief: bool = False) -> str:
        """Describe the definition with its parameters, in sentences or in one line.

        Parameters
        ----------
        brief : bool, optional
            Return one line: the name, its title and every parameter.

        >>> from judged import RR
        >>> (RR @ 10).describe(brief=True)
        'RR@10 is Reciprocal rank with k=10, rel=1, aggregate=mean'
        """
        if brief:
            inside = ", ".join(
                f"{name}={'none' if value is None else show(value)}" for name, value in self.items
            )
            return f"{self} is {self.spec.title} with {inside}"
        parts = [
            p.describe(value)
            for p, (_, value) in zip(self.spec.params, self.items, strict=True)
            if value is not None
        ]
        return f"{self.spec.says} Here, {'; '.join(parts)}."


def bind(spec: Spec, params: Mapping[str, Any]) -> Measure:
    """Set parameters of a declared measure, after checking them.

    Parameters
    ----------
    spec : Spec
        The measure, such as `REGISTRY["P"]`.
    params : Mapping
        {parameter: value}; the others keep their defaults.

    >>> from judged.measures import REGISTRY
    >>> bind(REGISTRY["P"], {"k": 5})
    P@5
    """
    return Measure(spec, spec.bound(params))


def has_default(measure: Measure, name: str) -> bool:
    """Return whether a measure takes a parameter, and has its default."""
    return name in measure.params and measure.params[name] == measure.spec.param(name).default


def _notation(spec: Spec, params: Mapping[str, Any]) -> str:
    """Return a measure as text: its name, the parameters that are not defaults, the cutoff."""
    changed = {p.name: params[p.name] for p in spec.params if params[p.name] != p.default}
    cutoff = f"@{show(changed.pop(spec.at))}" if spec.at in changed else ""
    inside = ", ".join(f"{name}={show(value)}" for name, value in changed.items())
    return f"{spec.name}{f'({inside})' if inside else ''}{cutoff}"


def _restore(name: str, items: tuple[tuple[str, Any], ...]) -> Measure:
    return Measure(REGISTRY[name], items)


_NAME = r"[A-Za-z0-9][\w.\-]*"
_AT = r"[^\s@()]+"
_WHOLE = r"[+-]?[0-9]+"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_CUT = r"(.*@)[^@()]+|([^@]*?[_.-])[0-9.]+"
"""A measure that ends with a cutoff, after @ or as others write it: P_5, P.5, Rank-5."""
_UNDERSCORED = r"(?i:([a-z][\w-]*?)(_at_|_)([1-9][0-9]*))"
_OPEN, _CLOSE = "{[(", "}])"
_DEEPEST = 2
"""The maximum nesting of brackets: a table of numbers has one."""


def parse_measure(measure: str | Measure) -> Measure:
    """Parse the text of a measure; case and white space do not matter.

    Parameters
    ----------
    measure : str or Measure
        `NAME`, `NAME@k` or `NAME(parameter=value, …)@k`, or one of trec_eval's names. A `Measure`
        is returned as it is.

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
    measure = _joined(measure) or measure
    meant = _stands_for(measure.strip())
    if len(meant) > 1:
        raise MeasureError(
            f"{measure!r} means {len(meant)} measures "
            f"({', '.join(ours for _, ours in meant[:3])}, …); name one of them."
        )
    if meant:
        measure = meant[0][1]
    called, inside, cutoff_text = _pieces(measure)
    spec, preset = lookup(called)
    params: dict[str, Any] = {}
    for part in _split(inside, ","):
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals:
            raise MeasureError(
                f"cannot read {quoted(name)} in {quoted(measure)}; write parameter=value."
            )
        if name in params:
            raise MeasureError(f"{name} is given twice in {quoted(measure)}; write it once.")
        params[name] = _value(value, measure)
    if cutoff_text and spec.at in params:
        raise MeasureError(
            f"{spec.at} is given twice in {quoted(measure)}; write it once, as "
            f"{spec.name}@{cutoff_text}."
        )
    if cutoff_text in ("k", "K") and spec.at == "k":
        raise MeasureError(
            f"{quoted(measure)} has no number for k; use a number, such as {called}@10."
        )
    bound = bind(spec, {**preset, **params})
    return bound @ _value(cutoff_text, measure) if cutoff_text else bound


def _pieces(measure: str) -> tuple[str, str, str]:
    """Split a text into the name, the part in brackets, and the part after @."""
    text = measure.strip()
    name = re.match(_NAME, text)
    end = name.end() if name else 0
    inside = at_text = ""
    rest = text[end:].lstrip()
    if name and rest[:1] == "(" and (close := rest.rfind(")")) > 0:
        inside, rest = rest[1:close], rest[close + 1 :].lstrip()
    if name and rest[:1] == "@" and (cutoff := re.fullmatch(_AT, rest[1:].strip())):
        at_text, rest = cutoff[0], ""
    if not name or rest:
        # Where reading stopped: behind the last thing that could be read.
        stopped = measure.find(text) + len(text) - len(rest) if text else 0
        there = f" at character {stopped + 1}, {quoted(rest)}" if name and rest else ""
        raise MeasureError(
            f"cannot read the measure {quoted(measure)}{there}; write it as NAME, NAME@k or "
            "NAME(parameter=value)@k."
        )
    return name[0], inside, at_text


def parse_all(measures: Iterable[str | Measure] | str | Measure) -> list[Measure]:
    """Parse several measures, each once, in order.

    Parameters
    ----------
    measures : str, Measure, or an iterable of both
        A text may hold several measures, separated by commas or white space. It may be a preset or
        one of trec_eval's names.

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
    entries_read = [entry for text in each_of(measures) for entry in _asked(text)]
    written = {measure: label for measure, label, preset in reversed(entries_read) if not preset}
    return labelled((measure, written.get(measure, label)) for measure, label, _ in entries_read)


def labelled(pairs: Iterable[tuple[Measure, str]]) -> dict[Measure, str]:
    """Label each measure once, by the first of its names; no two measures share a label."""
    labels: dict[Measure, str] = {}
    for measure, label in pairs:
        if measure not in labels:
            unlike = (label, str(measure), f"{label} = {measure}")
            labels[measure] = next(name for name in unlike if name not in labels.values())
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
    if not (several := list(measures)):
        raise MeasureError("no measure was given; name at least one, such as nDCG@10.")
    return several


def _asked(measure: str | Measure) -> Iterator[tuple[Measure, str, bool]]:
    """Yield the measures of a text or object, their labels, and whether a preset names them."""
    if not isinstance(measure, str):
        yield parse_measure(measure), str(measure), False
        return
    if not is_name(measure.partition("@")[0].partition("(")[0]) and find_topic(measure):
        lookup(measure)  # raises the error that says what to use instead
    # trec_eval's P.5,10 has commas of its own.
    for piece in [measure] if _stands_for(measure.strip()) else pieces_of(measure):
        meant = _stands_for(piece.strip())
        for name, ours in meant if len(meant) > 1 else [(piece, piece)]:
            parsed = parse_measure(ours)
            yield parsed, label_of(name, parsed), piece.strip().lower() in PRESETS


def _stands_for(text: str) -> list[tuple[str, str]]:
    """Return the names and measures that a preset, or a name of other libraries, means."""
    if text.lower() in PRESETS:
        return [(preset_measure, preset_measure) for preset_measure in PRESETS[text.lower()]]
    name = text.partition("@")[0].partition("(")[0]
    if is_name(name):
        return []
    from judged.conventions.libraries.trec_eval import understood

    return [(text, ours) for ours in _underscored(text)] or understood(text) or []


def _joined(text: str) -> str:
    """Return a measure whose name is written in several words with the name in one, or "".

    >>> _joined("top-k accuracy@5"), _joined("precision at 10"), _joined("P R")
    ('top-kaccuracy@5', 'precision@10', '')
    """
    cut = re.sub(r"\s+at\s+(?=(\d+|[kK])$)", "@", text.strip())
    name, rest = re.fullmatch(r"([^@(]*)(.*)", cut, re.DOTALL).groups()  # type: ignore[union-attr]
    words = name.split()
    one = "".join(words)
    spread = (len(words) > 1 and not all(map(is_name, words))) or cut != text.strip()
    return one + rest if spread and is_name(one) else ""


def _underscored(text: str) -> Iterator[str]:
    """Yield a name with its cutoff after _at_ or _ in our notation: recall_at_10, R_100."""
    # F_2 is not a cutoff: some write it for beta.
    if (match := re.fullmatch(_UNDERSCORED, text)) and is_name(match[1]):
        spec, _ = lookup(match[1])
        if spec.at == "k" and (len(match[2]) > 1 or "beta" not in {p.name for p in spec.params}):
            yield f"{match[1]}@{match[3]}"


def pieces_of(text: str) -> list[str]:
    """Split a text into measures at commas and white space.

    A number after a comma is another cutoff of the measure before it.

    >>> pieces_of("AP, nDCG(gain=exp)@5,10")
    ['AP', 'nDCG(gain=exp)@5', 'nDCG(gain=exp)@10']
    """
    parts: list[str] = []
    for piece in _split(_tight(text), ","):
        words = [piece] if _joined(piece) else _split(piece, " ")
        inside = [part.strip() for part in words if part.strip()]
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
    if not (cut := re.fullmatch(_CUT, measure)):
        raise MeasureError(
            f"cannot read {quoted(cutoff)} in {quoted(text)}: a number after a comma is another "
            f"cutoff of the measure before it, as in P@5,10, but {measure} has no cutoff."
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
    for place, letter in enumerate(text):
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if letter == separator and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    parts.append(text[begin:])
    return parts if text.strip() else []


def _value(text: str, measure: str, depth: int = 0) -> Any:
    """Parse a number, a word, a {table} or a [list]."""
    if text[:1] + text[-1:] in ("{}", "[]") and depth == _DEEPEST:
        raise MeasureError(f"nested brackets in {quoted(measure)}; write plain values.")
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
    table: dict[Any, Any] = {}
    for pair in _split(inside, ","):
        name, colon, value_text = (text.strip() for text in pair.partition(":"))
        if not colon:
            raise MeasureError(f"a value is missing in {quoted(measure)}; write {{key:value}}.")
        key = _value(name, measure, depth + 1)
        if isinstance(key, (dict, list)) or key in table:
            wrong = "is given twice" if isinstance(key, (int, float, str)) else "is no key"
            raise MeasureError(f"{quoted(name)} {wrong} in {quoted(measure)}; write a number once.")
        table[key] = _value(value_text, measure, depth + 1)
    return table


def presets_in(text: str) -> tuple[dict[str, Preset], str | list[str]]:
    """Return the presets that a text names, and the rest of it."""
    pieces = pieces_of(text)
    presets = {piece.lower(): ABOUT[piece.lower()] for piece in pieces if piece.lower() in ABOUT}
    return presets, [piece for piece in pieces if piece.lower() not in ABOUT] if presets else text


def entries(
    labels: Mapping[Measure, str], presets: Mapping[str, Preset], *, chosen: bool
) -> dict[str, Any]:
    """Describe measures and presets as plain values for JSON."""
    of_presets = [text for preset in presets.values() for text in preset.measures] if chosen else []
    every = {**(read_all(of_presets) if of_presets else {}), **labels}
    return {
        "measures": {
            label: {**measure.definition(), **_declared(measure.spec)}
            for measure, label in every.items()
        },
        "presets": {name: preset._asdict() for name, preset in presets.items()},
    }


def _declared(spec: Spec) -> dict[str, Any]:
    options = {
        param.name: {"default": param.default, "allowed": param.allowed, "says": param.says}
        for param in spec.params
    }
    return {
        "aliases": list(spec.aliases),
        "range": [None if isinf(bound) else bound for bound in spec.range],
        "options": options,
        "example": spec.example._asdict(),
    }
