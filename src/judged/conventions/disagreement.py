"""Why values differ: a measure as every known library defines it, side by side on one run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isnan
from typing import Any, Unpack

import numpy as np

from judged import __version__
from judged.arrays import Floats
from judged.configuration import config
from judged.conventions import THRESHOLDS, Convention, Name, conventions, find
from judged.errors import InputError, MeasureError, PolicyError
from judged.evaluation.evaluate import evaluation_of
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.settings import Conventional, EvaluationSettings, unprepared
from judged.inputs.blocks import Room
from judged.inputs.data import Data, holds_rows, typed_lists
from judged.inputs.formats import is_rankings_file
from judged.matching.documents import with_items
from judged.matching.matcher import match_variants
from judged.matching.ties import Variants, list_variants
from judged.measures import Measure, parse_all, parse_measure
from judged.measures.conventions import LibraryMeasure, relatives
from judged.measures.measure import has_default
from judged.measures.registry import Mask, show
from judged.options import (
    JudgementsLike,
    MeasuresLike,
    RunLike,
    Scoring,
    checked,
    formats_of,
    takes_scoring,
)
from judged.policy import Policy
from judged.rankings.audit import audit_of
from judged.rankings.rankings import Rankings
from judged.rankings.relevance import NO_DEPTH, NO_IDS, may_be_list, rankings_of_lists
from judged.results import Display, Document, Frame, Result, Table
from judged.text import Left, counted, listed, plain, shown

DEFAULT = ("AP@10", "nDCG@10", "P@10", "R@10", "RR@10")
"""Measures that have different definitions in many libraries."""
CLOSE = 1e-12  # values closer than this are equal; sums in another order differ by rounding
USED_OPTIONS = ("policy", "collection", "item_to", "exclude_same_id", "columns", "format")
"""Options of `Scoring` that apply to all definitions alike."""
KINDS = {name: name for name in ("tied", "short", "missing")}
KINDS["nothing_relevant"] = "without relevant items"
"""Kinds of queries that definitions treat differently, and their names in tables. A query may be of
several: a judged result ties, the list is shorter than the cutoff, the run lacks the query."""
KIND_OF_CHOICE = {
    "ties": "tied",
    "short": "short",
    "ideal": "short",
    "missing": "missing",
    "empty": "nothing_relevant",
}
"""The kind of queries that a choice treats differently."""


@takes_scoring
@checked
def compare_conventions(
    judgements: JudgementsLike | Evaluation | Sequence[float | None],
    run: RunLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    **scoring: Unpack[Scoring],
) -> Disagreement:
    """Compute measures on one run as each known library defines them.

    The first row of each measure is the measure as given, with judged's default policy. All
    differences are to that row, with the number of queries that they affect.

    Parameters
    ----------
    judgements : JudgementsLike, Evaluation, or a relevance list
        An evaluation of one run, a file, a dict {query: {item: grade}}, or a table. Without a run:
        rows that hold relevant and retrieved ids, or the grades of one list in rank order, as a
        list or a text ("0 1 0 0 1"; None or - for an unjudged item; in a text, brackets around
        tied results).
    run : RunLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table.
    measures : MeasuresLike, optional
        Such as "AP@10", or a list; by default AP@10, nDCG@10, P@10, R@10 and RR@10.
    relevant : int, optional
        For a relevance list: the total number of relevant items.
    pool : sequence or str, optional
        For a relevance list: the grades of all judged items, in any order.
    **scoring

    >>> judgements = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> result = compare_conventions(judgements, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, "AP@2")
    >>> rows = [row for row in result.rows() if row.used_by("replay", "torchmetrics")]
    >>> [(str(row.measure), row.value) for row in rows]
    [('AP(norm=capped)@2', 0.5), ('AP(norm=retrieved)@2', 1.0)]
    """
    parsed = parse_all(DEFAULT if measures is None else measures)
    if run is not None and (lists := typed_lists(judgements, run)):
        judgements, run = lists, None
    is_list = run is None and not isinstance(judgements, (Evaluation, Rankings))
    if is_list and may_be_list(judgements) and not holds_rows(judgements):
        rankings = read_lists(judgements, relevant, pool, scoring)
        return _disagreement(list_variants(rankings), parsed)
    if relevant is not None or pool is not None or scoring.get("collection") is not None:
        raise InputError("relevant, pool and collection apply to a relevance list only.")
    variants, matched = variants_of("compare_conventions", judgements, run, scoring)
    uses = [use for measure in parsed for _, users, _ in family(measure) for use in users]
    libraries = {convention.name: convention for convention, _ in uses}
    warnings = [] if matched is None else unprepared(matched, libraries.values())
    return _disagreement(variants, parsed, warnings)


def variants_of(function: str, judgements: Any, run: Any, scoring: Scoring) -> tuple[Variants, Any]:
    """Match one run with judgements under every policy; also return the run as read, or None."""
    if isinstance(judgements, Rankings) or is_rankings_file(judgements):
        judgements = evaluation_of(judgements, run, **scoring)
    if isinstance(judgements, Evaluation):
        return _variants_of_evaluation(function, judgements)
    for name, value in scoring.items():
        if name not in USED_OPTIONS and value is not None and value is not False:
            raise InputError(f"{function} does not use {name}; leave it out.")
    policy = Policy.of(scoring.get("policy"))
    same = Policy(depth=policy.depth, duplicates=policy.duplicates)
    if policy != same:
        raise InputError(
            f"{function} varies the policy itself; only depth and duplicates can be set."
        )
    data = read_data(judgements, run, scoring, policy)
    read = data.run(f"{function} takes one run; call it once for each run.")
    return match_variants(data.judgements(), read, policy, scoring.get("collection")), read


def read_lists(lists: Any, relevant: Any, pool: Any, scoring: Mapping[str, Any]) -> Rankings:
    """Read relevance lists, for which options about ids and runs are errors."""
    if scoring.get("item_to") is not None or scoring.get("exclude_same_id"):
        raise InputError(NO_IDS)
    if Policy.of(scoring.get("policy")).depth is not None:
        raise InputError(NO_DEPTH)
    collection = scoring.get("collection")
    if isinstance(collection, Mapping):
        raise InputError("collection of a relevance list is one number.")
    return rankings_of_lists(lists, relevant, pool=pool, collection=collection)


def read_data(judgements: Any, run: Any, scoring: Mapping[str, Any], policy: Policy) -> Data:
    """Read judgements and one run, with the changes of items that `scoring` names."""
    judgements_format, run_format = formats_of(scoring.get("format"))
    data = Data.of(
        judgements,
        run,
        columns=scoring.get("columns"),
        judgements_format=judgements_format,
        run_format=run_format,
        room=Room(config.current.memory, config.current.temporary),
    )
    return with_items(
        data,
        item_to=scoring.get("item_to"),
        exclude_same_id=bool(scoring.get("exclude_same_id")),
        duplicates=policy.duplicates,
    )


def _variants_of_evaluation(function: str, evaluation: Evaluation) -> tuple[Variants, Any]:
    """Match the run of an evaluation again, or rearrange its rankings if only these are known."""
    if len(evaluation.runs) > 1:
        raise InputError(f"{function} takes one run; evaluate one run at a time.")
    rankings = evaluation.runs[0].rankings
    if evaluation.sources is None:
        return Variants(rankings), None
    policy = Policy(depth=evaluation.policy.depth, duplicates=evaluation.policy.duplicates)
    sizes = rankings.collection
    collection = None if sizes is None else dict(zip(rankings.queries, sizes.tolist(), strict=True))
    read = evaluation.sources.run(f"{function} takes one run.")
    return match_variants(evaluation.sources.judgements(), read, policy, collection), read


def _disagreement(
    variants: Variants, measures: Sequence[Measure], warnings: Sequence[str] = ()
) -> Disagreement:
    return Disagreement(
        variants.usual.name,
        tuple(_compare(variants, measure) for measure in measures),
        (*audit_of(variants.usual).warnings, *warnings),
    )


# -- the definitions of a measure


LibraryUse = tuple[Convention, LibraryMeasure]
"""A library that uses a definition, and its name for it."""


@dataclass(frozen=True)
class Meaning:
    """Everything that determines a value on given data."""

    measure: Measure
    policy: Policy
    rule: str = ""
    """A key of `conventions.THRESHOLDS`, if the library decides itself what is relevant."""
    undefined: float | None = None
    """Value of queries for which the measure is undefined, if no policy sets it."""

    @property
    def name(self) -> str:
        """The measure, and the choices of the policy that are not the default.

        >>> from judged import AP
        >>> Meaning(AP @ 10, Policy(ties="input")).name
        'AP@10, ties=input'
        """
        return ", ".join([str(self.measure), *self.extras(), *self.policy_choices()])

    def extras(self) -> dict[str, str]:
        """Return what is neither a parameter nor policy, as {notation: words}."""
        extras = {}
        if self.rule:
            extras[f"rel={self.rule}"] = THRESHOLDS[self.rule]
        if self.undefined is not None:
            number = show(self.undefined)
            extras[f"undefined={number}"] = f"a query for which it is undefined counts {number}"
        return extras

    def policy_choices(self) -> dict[str, str]:
        """Return the choices of the policy that are not the default, as {notation: name}."""
        usual = Policy().to_dict()
        return {
            f"{name}={value}": name
            for name, value in self.policy.to_dict().items()
            if value != usual.get(name)
        }


Choice = tuple[str, str, Meaning]
"""One difference from the given measure: its notation, its words, and the measure with only it."""
Definition = tuple[Meaning, tuple[LibraryUse, ...], tuple[Choice, ...]]
"""A definition, the libraries that use it, and how it differs from the given measure."""


# Cached because all libraries are parsed for it.
@lru_cache(maxsize=256)
def family(measure: Measure) -> tuple[Definition, ...]:
    """Return all definitions of a measure, the given one first, then the most similar."""
    users: dict[Meaning, list[LibraryUse]] = {Meaning(measure, Policy()): []}
    for convention in conventions().values():
        for named in relatives(convention, measure):
            policy = Policy.of({**convention.policy, **named.name.policy})
            # The library's own rule for relevance applies if no grade is named.
            rule = named.name.threshold if has_default(named.measure, "rel") else ""
            meaning = Meaning(named.measure, policy, rule, named.name.undefined)
            users.setdefault(meaning, []).append((convention, named))

    def distance(meaning: Meaning) -> tuple[Any, ...]:
        other = meaning.measure
        is_other = other.spec.name != measure.spec.name
        other_cutoff = not is_other and other.params.get("k") != measure.params.get("k")
        extras = len(meaning.extras()) + len(meaning.policy_choices())
        return is_other, other_cutoff, other != measure, str(other), extras, meaning.name

    return tuple(
        (meaning, tuple(users[meaning]), tuple(_choices(measure, meaning)))
        for meaning in sorted(users, key=distance)
    )


def _choices(measure: Measure, meaning: Meaning) -> Iterator[Choice]:
    own, usual = meaning.measure, Policy()
    if own.spec.name != measure.spec.name:
        says = f"it is another measure, {own.spec.title}. {own.spec.says}".rstrip(".")
        yield str(own), says, Meaning(own, usual)
    else:
        for name, value in own.items:
            if value != measure.params[name]:
                text = f"{name}={'none' if value is None else show(value)}"
                says = own.spec.param(name).describe(value)
                yield text, says, Meaning(measure(**{name: value}), usual)
    for text, says in meaning.extras().items():
        yield text, says, Meaning(measure, usual, meaning.rule, meaning.undefined)
    words, values = meaning.policy.sentences(), meaning.policy.to_dict()
    for text, name in meaning.policy_choices().items():
        yield text, words[name], Meaning(measure, Policy.of({name: values[name]}))


# -- their values


@dataclass(frozen=True, eq=False)
class DefinitionScores:
    """Value and values per query of a definition (NaN if a query does not count), or an error."""

    value: float | None
    values: Floats | None
    stops: str | None = None  # error with which the library stops

    def unlike(self, other: DefinitionScores) -> Mask:
        """Return which queries have different values."""
        assert self.values is not None
        assert other.values is not None
        return ~np.isclose(self.values, other.values, rtol=0, atol=CLOSE, equal_nan=True)


def _score_all(variants: Variants, meanings: Iterable[Meaning]) -> dict[Meaning, DefinitionScores]:
    """Compute all definitions; the measures of one policy share the cost of ties."""
    together: dict[tuple[Any, ...], list[Meaning]] = {}
    for meaning in dict.fromkeys(meanings):
        policy = meaning.policy
        alone = "error" in (policy.missing, policy.empty) or meaning.extras()
        together.setdefault((policy, meaning if alone else None), []).append(meaning)
    scores: dict[Meaning, DefinitionScores] = {}
    for (policy, _), group in together.items():
        measures = tuple(meaning.measure for meaning in group)
        settings = EvaluationSettings(measures, policy, _as_convention(group[0]))
        try:
            rankings = variants.under(policy.ties, policy.unjudged)
            scored = evaluate_rankings([rankings], settings).scored()
        except PolicyError as error:
            scores |= {meaning: DefinitionScores(None, None, str(error)) for meaning in group}
            continue
        for meaning in group:
            value, values = scored.summary[meaning.measure], scored.values[meaning.measure]
            scores[meaning] = DefinitionScores(value, values)
    return scores


def _as_convention(meaning: Meaning) -> Conventional | None:
    """Return a convention with the extras of a meaning; None without extras."""
    if not meaning.extras():
        return None
    measure = str(meaning.measure)
    name = Name(measure, measure, threshold=meaning.rule, undefined=meaning.undefined)
    library = Convention(measure, measure, "", "", "", (name,))
    return Conventional(library, (LibraryMeasure(meaning.measure, measure, name),))


def _kind_counts(counts: Mapping[str, int], names: Iterable[str] = KINDS) -> str:
    return ", ".join(f"{counts[name]:,} {KINDS[name]}" for name in names if counts[name])


@dataclass(frozen=True)
class DefinitionRow:
    """One definition of a measure on the data."""

    meaning: Meaning  # the measure, the policy, and what else determines its value
    users: tuple[LibraryUse, ...]
    value: float | None  # the value; None if the library would stop with an error
    stops: str | None  # the error
    counted: int  # number of queries in the value
    touched: dict[str, int] | None
    """The number of `queries` whose value differs from the first row, or that count in only one of
    the two, and of those of each kind."""
    differences: tuple[dict[str, Any], ...]
    """Each difference as `choice` (its notation), `says` (in words), and `touched` (the number of
    queries that it changes alone)."""

    @property
    def measure(self) -> Measure:
        return self.meaning.measure

    @property
    def policy(self) -> Policy:
        return self.meaning.policy

    def used_by(self, *names: str) -> bool:
        """Return whether one of these libraries uses this definition.

        >>> from judged import compare_conventions
        >>> result = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> result.rows()[0].used_by("ir_measures")
        True
        """
        wanted = {find(name).name for name in names}
        return any(convention.name in wanted for convention, _ in self.users)

    def uses(self) -> list[tuple[str, str]]:
        """Return the libraries that use this definition, with their names for it."""
        return [
            (convention.name, re.sub(r"\s", "", named.theirs)) for convention, named in self.users
        ]

    def effective_name(self) -> str:
        """Return the measure and the choices beside its parameters that change a query here."""
        choices = {*self.meaning.extras(), *self.meaning.policy_choices()}
        effective = [each["choice"] for each in self.differences if each["touched"]]
        return ", ".join([str(self.measure), *(each for each in effective if each in choices)])

    def affected(self) -> str:
        """Return how many queries differ, with the kinds that its choices are about."""
        if self.touched is None or not self.differences:
            return ""
        about = {KIND_OF_CHOICE.get(each["choice"].partition("=")[0]) for each in self.differences}
        kinds = _kind_counts(self.touched, [kind for kind in KINDS if kind in about])
        return f"{self.touched['queries']:,}{f' ({kinds})' if kinds else ''}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "measure": str(self.measure),
            "policy": self.policy.to_dict(),
            "value": plain(self.value),
            "stops": self.stops,
            "counted": self.counted,
            "differ": self.touched,
            "differences": list(self.differences),
            "used_by": [
                {
                    "convention": convention.name,
                    "version": convention.version,
                    "name": named.theirs,
                    "note": named.name.note,
                }
                for convention, named in self.users
            ],
        }


@dataclass(frozen=True)
class ComparedMeasure:
    """All definitions of one measure, the given one first."""

    measure: Measure
    rows: tuple[DefinitionRow, ...]
    found: dict[str, int]  # the number of `queries`, and of those of each kind

    @property
    def by_value(self) -> tuple[tuple[DefinitionRow, ...], ...]:
        """The rows in groups of equal value, the highest first; those that stop last."""
        groups: list[list[DefinitionRow]] = []
        for row in sorted(self.rows, key=lambda row: -inf if row.value is None else row.value):
            if groups and _equal(groups[-1][0].value, row.value):
                groups[-1].append(row)
            else:
                groups.append([row])
        # Within a group, the given definition stays first.
        return tuple(tuple(sorted(group, key=self.rows.index)) for group in reversed(groups))

    def values(self) -> Table:
        """Return each distinct value with the libraries that compute it."""
        groups = [
            (rows, dict.fromkeys(use for row in rows for use in row.uses()))
            for rows in self.by_value
        ]
        times = Counter(name for _, uses in groups for name in {name for name, _ in uses})
        lines = []
        for rows, uses in groups:
            # A library with several values is listed with its own name of each.
            labels = [f"{name} {theirs}" if times[name] > 1 else name for name, theirs in uses]
            own = ["judged"] if self.rows[0] in rows else []
            value = "stops" if rows[0].stops else shown(rows[0].value)
            names = dict.fromkeys(row.effective_name() for row in rows)
            lines.append([value, "; ".join(names), ", ".join(dict.fromkeys([*own, *labels]))])
        title = f"{self.measure}: {counted(len(lines), 'value')} from judged"
        title += f" and {counted(len(times), 'library', 'libraries')}" if times else ""
        return Table(
            ["value", "definition", "libraries"],
            lines,
            {"definition", "libraries"},
            title,
        )

    def tables(self) -> list[Table]:
        """Return the definitions, and what makes them differ."""
        title = f"{self.measure}: {counted(len(self.rows), 'definition')}"
        rows: list[list[str]] = []
        for row in self.rows:
            users = [*([] if rows else ["judged"]), *map(" ".join, row.uses())]
            value = "stops" if row.stops else shown(row.value)
            rows.append([row.meaning.name, value, row.affected(), ", ".join(users)])
        words = {"definition", "queries that differ", "used by"}
        tables = [
            Table(["definition", "value", "queries that differ", "used by"], rows, words, title)
        ]
        choices = {each["choice"]: each for row in self.rows for each in row.differences}
        if choices:
            header = [Left("choice"), "meaning", "queries changed"]
            rows = [
                [each["choice"], each["says"], f"{each['touched']:,}"] for each in choices.values()
            ]
            tables.append(Table(header, rows, {"meaning"}))
        return tables

    @property
    def size(self) -> str:
        """The number of queries, and of those of each kind."""
        kinds = _kind_counts(self.found)
        queries = counted(self.found["queries"], "query", "queries")
        return f"{queries} ({kinds})" if kinds else queries


def _equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or abs(one - other) <= CLOSE or (isnan(one) and isnan(other))


def _compare(variants: Variants, measure: Measure) -> ComparedMeasure:
    definitions = family(measure)
    meanings = [meaning for meaning, _, _ in definitions]
    meanings += [alone for _, _, choices in definitions for _, _, alone in choices]
    scores = _score_all(variants, meanings)
    kinds = _kinds_of_queries(variants.usual, measure)
    rows = tuple(_row(scores, *definition, kinds) for definition in definitions)
    every = np.ones(len(variants.usual), bool)
    return ComparedMeasure(measure, rows, _counts(every, kinds))


def _row(
    scores: dict[Meaning, DefinitionScores],
    meaning: Meaning,
    users: tuple[LibraryUse, ...],
    choices: tuple[Choice, ...],
    kinds: dict[str, Mask],
) -> DefinitionRow:
    own, usual = scores[meaning], next(iter(scores.values()))  # the given measure comes first
    differences = []
    for choice, says, only in choices:
        alone = scores[only]
        if alone.values is None:  # it stops at these queries
            stops_at = "missing" if only.policy.missing == "error" else "nothing_relevant"
            touched = int(kinds[stops_at].sum())
        else:
            touched = int(alone.unlike(usual).sum())
        differences.append({"choice": choice, "says": says, "touched": touched})
    return DefinitionRow(
        meaning=meaning,
        users=users,
        value=own.value,
        stops=own.stops,
        counted=0 if own.values is None else int((~np.isnan(own.values)).sum()),
        touched=None if own.values is None else _counts(own.unlike(usual), kinds),
        differences=tuple(differences),
    )


def _kinds_of_queries(rankings: Rankings, measure: Measure) -> dict[str, Mask]:
    first, last = rankings.spans
    rel = measure.params.get("rel", float(np.nextafter(0, 1)))
    cutoff = rankings.cutoff(measure.params.get("k"), measure.params.get("rel", 1))
    tied = np.bincount(rankings.hit_query[last > first], minlength=len(rankings)) > 0
    return {
        "tied": tied,
        "short": ~rankings.missing & (rankings.retrieved < np.where(np.isinf(cutoff), 0, cutoff)),
        "missing": rankings.missing,
        "nothing_relevant": rankings.relevant(rel) == 0,
    }


def _counts(mask: Mask, kinds: dict[str, Mask]) -> dict[str, int]:
    counts = {kind: int((mask & of_kind).sum()) for kind, of_kind in kinds.items()}
    return {"queries": int(mask.sum()), **counts}


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement(Result):
    """Definitions of measures on one run, as returned by `compare_conventions`.

    >>> from judged import compare_conventions
    >>> result = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
    >>> result.rows()[0].value
    0.5
    """

    run: str
    """Name of the run."""
    measures: tuple[ComparedMeasure, ...]
    """The definitions of each measure."""
    notes: tuple[str, ...] = ()
    """Warnings about the data."""

    def rows(self, measure: str | Measure | None = None) -> tuple[DefinitionRow, ...]:
        """Return the definitions of one measure, the given one first.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure as given; needed only if there are several.

        >>> from judged import compare_conventions
        >>> result = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10, P@1")
        >>> str(result.rows("P@1")[0].measure)
        'P@1'
        """
        return self.compared(measure).rows

    def compared(self, measure: str | Measure | None = None) -> ComparedMeasure:
        """Return the comparison of one measure.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure, which may be left out if there is only one.
        """
        names = ", ".join(str(compared.measure) for compared in self.measures)
        if measure is None:
            if len(self.measures) > 1:
                raise MeasureError(f"name one measure: {names}.")
            return self.measures[0]
        wanted = parse_measure(measure)
        for compared in self.measures:
            if compared.measure == wanted:
                return compared
        raise MeasureError(f"{wanted} was not compared, only {names}.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        >>> from judged import compare_conventions
        >>> result = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> result.to_dict()["measures"][0]["definitions"][0]["value"]
        0.5
        """
        return {
            "run": self.run,
            "warnings": list(self.notes),
            "measures": [
                {
                    "measure": str(compared.measure),
                    "found": compared.found,
                    "definitions": [row.to_dict() for row in compared.rows],
                }
                for compared in self.measures
            ],
            "policy": Policy().to_dict(),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return one row per measure and definition: value, policy, and queries that differ.

        >>> from judged import compare_conventions
        >>> result = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> result.to_frame().row(0)[:4]
        ('RR@10', 'RR@10', 0.5, 0)
        """
        import polars as pl

        rows = [
            {
                "measure": str(compared.measure),
                "definition": str(row.measure),
                "value": row.value,
                "differ": None if row.touched is None else row.touched["queries"],
                **row.policy.to_dict(),
                "used_by": ", ".join(map(" ".join, row.uses())),
            }
            for compared in self.measures
            for row in compared.rows
        ]
        return pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "differ": pl.Int64})

    def document(self, display: Display) -> Document:
        tables = []
        for compared in self.measures:
            tables.append(compared.values())
            tables += compared.tables() if display.verbose else []
        sizes: dict[str, list[str]] = {}
        for compared in self.measures:
            sizes.setdefault(compared.size, []).append(str(compared.measure))
        stops = [row.stops for compared in self.measures for row in compared.rows if row.stops]
        notes = [f"{listed(names)}: {size}." for size, names in sizes.items()]
        notes += [f"stops: {reason}" for reason in dict.fromkeys(stops)]
        return Document(
            tables=tables,
            warnings=self.notes,
            notes=notes,
            details=[f"Default policy: {Policy()}."],
            hint="What the definitions mean and change: to_text(verbose=True).",
        )
