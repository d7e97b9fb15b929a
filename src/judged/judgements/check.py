"""Check a collection for problems, and compute how they affect values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from judged.errors import InputError, for_caller, quoted
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.scores import about_runs
from judged.evaluation.settings import EvaluationSettings
from judged.evaluation.warnings import announce_warnings
from judged.inputs.data import Data
from judged.judgements import FINDING_KINDS, MEASURE, NEAR, NEAR_VECTORS
from judged.judgements.assessors import refuse_options
from judged.judgements.collection import CheckedCollection, SideData, ValueChange, with_sign
from judged.judgements.findings import FINDERS, CollectionFinding, TrainingSet
from judged.options import (
    JudgementsLike,
    MeasuresLike,
    RunsLike,
    Scoring,
    TextsLike,
    VectorsLike,
    checked,
    checked_methods,
    choice,
    formats_of,
    takes_scoring,
)
from judged.results import Display, Document, Frame, Result, Table
from judged.text import Warned, counted, shown


@takes_scoring
@checked
def check(
    judgements: JudgementsLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    queries: TextsLike | VectorsLike | None = None,
    items: TextsLike | VectorsLike | None = None,
    query_vectors: VectorsLike | None = None,
    item_vectors: VectorsLike | None = None,
    training: JudgementsLike | TextsLike | None = None,
    near: float = NEAR,
    near_vectors: float = NEAR_VECTORS,
    rel: float | None = None,
    ignore: str | Sequence[str] = (),
    **scoring: Unpack[Scoring],
) -> CollectionCheck:
    """Check a collection for problems, and compute how each affects the values of runs.

    With `item_to`, everything is about documents, texts and vectors included.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table. Duplicates are not an error here, but a
        finding if their grades differ.
    runs : RunsLike, optional
        A run, several as {name: run}, or a list of files. They are evaluated with and without each
        finding.
    measures : MeasuresLike, optional
        Measures of the effects; by default nDCG@10, or the usual ones of a convention.
    queries, items : TextsLike or VectorsLike, optional
        Texts of the queries, and the items of the collection: {id: text}, a table, a file, or
        vectors.
    query_vectors, item_vectors : VectorsLike, optional
        Their vectors, if texts are given too. `judged.Vectors` gives ids to a matrix.
    training : JudgementsLike or TextsLike, optional
        A training set: judgements, or a table of queries with their texts.
    near : float, optional
        Texts are nearly identical with at least this share of common words and the same numbers; 1
        for the same words in any order.
    near_vectors : float, optional
        Vectors are nearly identical with at least this cosine.
    rel : float, optional
        Lowest relevant grade; by default any above 0.
    ignore : str or list of str, optional
        Kinds of findings to leave out, such as "unreachable".
    **scoring

    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "b": 0}}
    >>> run = {"q1": ["a", "b"], "q2": ["a", "c"]}
    >>> result = check(judgements, run, "RR", queries={"q1": "Cold war", "q2": "cold  WAR?"})
    >>> print(result.findings[0].says)
    1 pair of identical or nearly identical queries with different relevant items (2 of 2 queries).
    >>> check(judgements, run, items={"a": "Ice", "b": "Snow", "c": "Rain"}).sound
    True
    """
    refuse_options("check", scoring, "trusted", "unique", "skip_bad")
    convention = scoring.get("convention")
    if measures is None and convention is None:
        measures = MEASURE
    settings = EvaluationSettings.of(measures, scoring.get("policy"), convention, prepares=True)
    settings = replace(settings, policy=replace(settings.policy, duplicates="first"))
    judgements_format, run_format = formats_of(scoring.get("format"))
    ranked = {
        "item_to": scoring.get("item_to"),
        "exclude_same_id": scoring.get("exclude_same_id", False),
    }
    collection = CheckedCollection.of(
        Data.of(
            judgements,
            runs,
            columns=scoring.get("columns"),
            judgements_format=judgements_format,
            run_format=run_format,
            alone=True,
        ),
        ranked,
        queries=SideData.of("queries", queries, query_vectors, near, near_vectors),
        items=SideData.of("items", items, item_vectors, near, near_vectors),
        rel=rel,
        settings=settings,
        options={"collection": scoring.get("collection"), "weights": scoring.get("weights")},
        training=None if training is None else TrainingSet.of(training, rel),
    )
    return announce_warnings(_search(collection, _ignored_kinds(ignore)))


def _ignored_kinds(ignore: Any) -> tuple[str, ...]:
    """Return the names of ignored findings in the order of the report."""
    if isinstance(ignore, str):
        ignore = [name.strip() for name in ignore.split(",")]
    if not isinstance(ignore, (list, tuple, set, frozenset)):
        raise InputError(f"ignore must be a list of names of findings; got {quoted(ignore)}.")
    names = {choice("ignore", name, FINDING_KINDS) for name in ignore}
    return tuple(name for name in FINDING_KINDS if name in names)


def _search(collection: CheckedCollection, ignored: tuple[str, ...]) -> CollectionCheck:
    """Search for every kind of finding that can be found with the given data."""
    as_is = collection.as_is  # errors in the runs come first
    results = [
        result
        for name in FINDING_KINDS
        if name not in ignored
        for result in FINDERS[name](collection)
    ]
    return CollectionCheck(
        findings=tuple(result for result in results if isinstance(result, CollectionFinding)),
        unchecked=(
            *_unchecked(collection),
            *(f"{name}: ignored on request." for name in ignored),
            *(result for result in results if isinstance(result, str)),
        ),
        looked_at=collection.sizes(),
        how=tuple(_method(collection)),
        notes=tuple(map(Warned, dict.fromkeys(_warnings(collection, as_is)))),
        ignored=ignored,
    )


def _unchecked(collection: CheckedCollection) -> Iterator[str]:
    """Yield what cannot be checked, because data are missing."""
    training = collection.training
    if not collection.queries.given:
        yield "(nearly) identical queries: no texts or vectors of queries were given."
    if not collection.items.given:
        yield (
            "unjudged twins of relevant items, and judged items that occur nowhere: no texts "
            "or vectors of items were given."
        )
    if not collection.runs:
        yield "queries and items that runs lack, and effects on values: no runs were given."
    if training is None:
        yield "overlap with a training set: none was given."
    elif training.pairs is None:
        yield "relevant items that are in the training set: it has only queries."
    elif collection.queries.texts is not None:
        yield "queries that are in the training set by their texts: it has only judgements."
    elif known := training.known_users(collection):
        yield (
            f"queries that are in the training set: {known:,} of {len(collection.names):,} "
            "are, like users of a recommender. Shared relevant items were checked."
        )
    if collection.graded["relevant"].all():
        yield (
            "queries with only relevant judgements: all judgements are relevant, as in lists "
            "of relevant items."
        )


def _method(collection: CheckedCollection) -> Iterator[str]:
    yield "Relevant: " + (
        "any grade above 0." if collection.rel is None else f"grade {collection.rel:g} or more."
    )
    sides = collection.queries, collection.items
    if any(side.texts is not None for side in sides):
        yield (
            "Texts are compared without case, Unicode form, punctuation and white space. They "
            f"are nearly identical with {collection.queries.near:.0%} of their words in common, "
            "in any order, and the same numbers."
        )
    if any(side.vectors is not None for side in sides):
        least = collection.queries.near_vectors
        yield f"Vectors are nearly identical with a cosine of at least {least:g}."
    source = {"texts": "they are in the order of the texts", "rows": "row numbers are used"}
    for side in sides:
        if side.order:
            yield f"The vectors of the {side.name} have no ids; {source[side.order]}."
    if (training := collection.training) is not None:
        kind = "a table of queries" if training.pairs is None else "judgements"
        size = counted(len(training.ids), "query", "queries")
        yield f"The training set was read as {kind} ({size})."
    if isinstance(collection.as_is, Evaluation):
        yield (
            "As it is: the value of 'judged evaluate' for all judgements. Corrected: the same "
            f"run, measure and policy ({collection.settings.policy}), with only the finding "
            "corrected."
        )


def _warnings(collection: CheckedCollection, as_is: Evaluation | str | None) -> Iterator[str]:
    if collection.repeats:
        rows = counted(collection.repeats, "judgement repeats", "judgements repeat")
        yield (
            f"{rows} another. The first of each counts here, while evaluate fails without "
            + for_caller("duplicates='first' (--duplicates first).")
        )
    if isinstance(as_is, str):
        yield f"The runs cannot be evaluated as they are: {as_is}"
    elif as_is is not None:
        yield from about_runs(as_is, [list(run.audit.warnings) for run in as_is.runs])
        dropped = (run.audit.said().get("duplicates_dropped") for run in as_is.runs)
        yield from about_runs(as_is, [[text] if text else [] for text in dropped])
    else:
        yield from (note for note in collection.judgements.notes if isinstance(note, Warned))


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class CollectionCheck(Result):
    """Findings on a collection with examples and effects, as returned by `check`.

    >>> from judged import check
    >>> result = check({"q": {"a": 1, "b": 0}, "p": {"a": 0}}, {"q": ["b", "a"], "p": ["a"]})
    >>> result.sound, [(finding.name, finding.count) for finding in result.findings]
    (False, [('nothing-relevant', 1)])
    """

    findings: tuple[CollectionFinding, ...]
    """The findings, each kind once; empty if the collection is sound."""
    unchecked: tuple[str, ...]
    """Checks that were skipped, and why, a sentence each."""
    looked_at: Mapping[str, int]
    """Numbers of queries, judgements, runs, texts and vectors."""
    how: tuple[str, ...] = ()
    """Method, a sentence each."""
    notes: tuple[str, ...] = ()
    """Warnings about the data."""
    ignored: tuple[str, ...] = ()
    """Kinds of findings that were left out on request."""

    @property
    def sound(self) -> bool:
        """True without findings."""
        return not self.findings

    def finding(self, name: str) -> CollectionFinding | None:
        """Return the finding of a kind, or None.

        Parameters
        ----------
        name : str
            The kind, such as "query-twins".

        >>> from judged import check
        >>> check({"q": {"a": 1, "b": 0}}).finding("two-grades") is None
        True
        """
        choice("name", name, FINDING_KINDS)
        return next((finding for finding in self.findings if finding.name == name), None)

    def document(self, display: Display) -> Document:
        rows = [
            [
                *(finding.name, change.run, change.measure),
                *(shown(change.as_is), shown(change.otherwise), with_sign(change.difference)),
            ]
            for finding in self.findings
            for change in finding.effect.changes
        ]
        words = ("finding", "run", "measure")
        table = Table([*words, "as it is", "corrected", "difference"], rows, frozenset(words))
        return Document(
            answer=[
                self._verdict(),
                *(line for finding in self.findings for line in finding.sentences()),
            ],
            tables=[table] if rows else [],
            warnings=self.notes,
            notes=[f"Not checked: {text}" for text in self.unchecked],
            details=self.how,
        )

    def _verdict(self) -> str:
        sizes = ", ".join(
            counted(self.looked_at[name], one, many)
            for name, one, many in (
                ("queries", "query", "queries"),
                ("judgements", "judgement", "judgements"),
                ("runs", "run", "runs"),
            )
            if self.looked_at.get(name)
        )
        if self.sound:
            return f"No problems found ({sizes} checked)."
        problems = counted(len(self.findings), "kind of problem", "kinds of problems")
        return f"{problems} found ({sizes} checked)."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        >>> from judged import check
        >>> check({"q": {"a": 1, "b": 0}}).to_dict()["sound"]
        True
        """
        return {
            "sound": self.sound,
            "looked_at": dict(self.looked_at),
            "findings": [
                {
                    "finding": finding.name,
                    "count": finding.count,
                    "says": finding.says,
                    "examples": [dict(example) for example in finding.about],
                    "otherwise": finding.effect.otherwise,
                    "no_numbers": finding.effect.reason or None,
                    "numbers": [change.to_dict() for change in finding.effect.changes],
                }
                for finding in self.findings
            ],
            "unchecked": list(self.unchecked),
            "ignored": list(self.ignored),
            "how": list(self.how),
            "warnings": list(self.notes),
        }

    def to_frame(self) -> Frame:
        """Return one row per finding, run and measure; without values, one row per finding.

        >>> from judged import check
        >>> check({"q": {"a": 0}, "p": {"a": 1, "b": 0}}).to_frame().row(0)[:2]
        ('nothing-relevant', 1)
        """
        import polars as pl

        none = ValueChange("", "", math.nan, math.nan)
        rows = [
            (
                *(finding.name, finding.count, change.run or None, change.measure or None),
                *(change.as_is, change.otherwise, change.difference),
            )
            for finding in self.findings
            for change in finding.effect.changes or (none,)
        ]
        schema = {
            "finding": pl.String,
            "count": pl.Int64,
            **dict.fromkeys(("run", "measure"), pl.String),
            **dict.fromkeys(("as_is", "otherwise", "difference"), pl.Float64),
        }
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)
