"""Agreement of assessors, their strictness, and the effect on runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from judged import __version__
from judged.errors import InputError
from judged.inputs import as_runs, read_runs
from judged.inputs.agreement import agreement as would_agree
from judged.inputs.columns import as_columns
from judged.judgements import MEASURE
from judged.judgements.assessors import (
    JUDGEMENTS_FIRST,
    NEGATIVE_GRADES,
    AssessorGrades,
    grades_of,
    named_assessors,
    read_assessors,
)
from judged.judgements.leaderboards import Leaderboards, leaderboards_of
from judged.judgements.pairs import (
    MIN_QUERIES,
    AssessorPair,
    alphas_of_all,
    bounds_in_words,
    compare_pair,
)
from judged.options import (
    LEVEL,
    MOST,
    RESAMPLES,
    JudgementsLike,
    MeasuresLike,
    Path,
    RunsLike,
    Scoring,
    checked,
    checked_methods,
    formats_of,
    takes_scoring,
)
from judged.policy import CHOICES, Policy
from judged.results import Display, Document, Frame, Result, Table, find_pair, plain_value
from judged.statistics.intervals import Interval
from judged.text import Left, Warned, counted, listed, percent, plain, shown

if TYPE_CHECKING:
    import polars as pl

MAX_GRADES = 101  # more different grades are measurements, not a scale such as 0 to 100
MAX_SHARE_ALONE = 0.1
"""If more of the items were judged by one assessor only, values of runs get a warning."""
MAX_TABLE_GRADES = 12  # a larger table of grades does not fit a screen; JSON has it
DEFINITIONS = (
    "kappa: Cohen's, 1 - observed / expected distance of the two grades; plain: 0 or 1, linear: "
    "their difference, quadratic: its square. Differences are of grades as numbers, not of their "
    "places among the grades that occur",
    "alpha: Krippendorff's, 1 - observed / expected distance of any two grades of an item; "
    "nominal: 0 or 1, ordinal: by mean ranks, interval: the square of their difference",
    "overlap of the relevant: items that both found relevant, divided by items that at least one "
    "found relevant; over all items, not a mean over queries",
)


@takes_scoring
@checked
def agreement(
    first: JudgementsLike | Mapping[str, JudgementsLike] | Sequence[Path],
    second: JudgementsLike | None = None,
    runs: RunsLike | None = None,
    measures: MeasuresLike = MEASURE,
    *,
    rel: float = 1,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **scoring: Unpack[Scoring],
) -> Agreement:
    """Compute how far assessors agree on the items they share, and how that affects runs.

    Parameters
    ----------
    first : JudgementsLike, or dict or list of several
        The judgements of one assessor, with those of another as `second`. Or those of two or more
        assessors, as {name: judgements} or a list of files.
    second : JudgementsLike, optional
        The judgements of the other assessor.
    runs : RunsLike, optional
        Runs to evaluate under each assessor's own judgements, on the queries that all judged.
    measures : MeasuresLike, optional
        Measures of the runs.
    rel : float, optional
        Lowest grade that counts as relevant.
    level : float, optional
        Confidence level of intervals and of verdicts on runs.
    resamples : int, optional
        Number of bootstrap resamples of the queries.
    seed : int, optional
        Seed of the resamples.
    **scoring

    >>> ann = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 2, "d": 0}}
    >>> bob = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0}}
    >>> result = agreement(ann, bob)
    >>> result.agreement.estimate, round(result.kappa.estimate, 4)
    (0.6, 0.375)
    """
    resampling = {"level": level, "resamples": resamples, "seed": seed}
    options: dict[str, Any] = dict(scoring)
    columns, policy = options.pop("columns", None), options.get("policy")
    judgements_format, run_format = formats_of(options.pop("format", None))
    duplicates = Policy.of(policy).duplicates
    named_columns = as_columns(columns, alone=False)
    _check_no_documents(named_columns, options.get("item_to"))
    if runs is None:
        if Policy.of(policy) == Policy(duplicates=duplicates):
            options["policy"] = None
        _check_no_options({"measures": measures, **options})
    else:  # some columns may be those of runs only
        columns = named_columns
    assessors = read_assessors(
        named_assessors(first, second), columns=columns, format=judgements_format
    )
    grades = grades_of(assessors, duplicates=duplicates)
    _check_overlap(grades)
    _check_scale(grades)
    pairs = [
        compare_pair(grades, one, other, rel=rel, **resampling)
        for one, other in combinations(range(len(grades.assessors)), 2)
    ]
    boards = None
    if runs is not None:
        named = as_runs(runs)
        read = read_runs(named, JUDGEMENTS_FIRST, columns=columns, format=run_format)
        boards = leaderboards_of(
            assessors,
            grades.shared_queries(),
            dict(zip([name or "run" for name in named], read, strict=True)),
            measures,
            level=level,
            seed=seed,
            **options,
        )
    alphas = pairs[0].alphas if len(pairs) == 1 else alphas_of_all(grades, **resampling)
    return Agreement(
        grades, tuple(pairs), alphas, rel, level, resamples, seed, boards, grades.notes
    )


def _check_no_documents(columns: Mapping[str, Any], item_to: Any) -> None:
    if "document" in columns or (isinstance(item_to, str) and item_to.startswith("column:")):
        raise InputError(
            "agreement takes no column of documents; give the document of an item by item_to "
            "(--item-to) as doc:SEPARATOR, pattern:REGEX or table:FILE."
        )


def _check_no_options(options: Mapping[str, Any]) -> None:
    """Raise an error if options of runs are given without runs."""
    for name, value in options.items():
        if isinstance(value, (str, Mapping)) and value in (MEASURE, {}):
            continue
        if value is None or value is False:
            continue
        policy = ", --".join((*CHOICES, "depth"))
        option = {"measures": "measure", "policy": policy}.get(name, name.replace("_", "-"))
        raise InputError(
            f"{name} (--{option}) applies to runs, but none were given; give runs, or leave it out."
        )


def _check_overlap(grades: AssessorGrades) -> None:
    """Raise an error if no item was judged by two assessors."""
    if (grades.times > 1).any():
        return
    judged = []
    for column, name in enumerate(grades.assessors):
        rows = np.flatnonzero(grades.there[:, column])
        if len(rows):
            query, item = grades.frame.row(int(rows[0]))[:2]
            count = grades.counted(len(rows))
            judged.append(f"{name} judged {count}, such as {item!r} for query {query!r}")
        else:
            negative = bool((~np.isnan(grades.negative[:, column])).any())
            judged.append(f"{name} judged nothing" + (f" ({NEGATIVE_GRADES})" if negative else ""))
    raise InputError(
        f"no item was judged by two of {listed(grades.assessors)}: {'; '.join(judged)}."
        + _spelling_hint(grades)
    )


def _spelling_hint(grades: AssessorGrades) -> str:
    """Return what would make the ids of two assessors match."""
    if len(grades.assessors) > 2 or not grades.there.any(axis=0).all():
        return ""
    for name in ("query", "item"):
        ours, theirs = (
            grades.frame[name].filter(grades.there[:, column]).unique(maintain_order=True).to_list()
            for column in (0, 1)
        )
        if set(ours).isdisjoint(theirs):
            whose = [f"the {name} ids of {assessor}" for assessor in grades.assessors]
            hint = would_agree(ours[:1000], theirs, (whose[0], whose[1]))
            return f" {hint}" if hint else f" They have no {name} in common."
    return ""


def _check_scale(grades: AssessorGrades) -> None:
    """Raise an error if grades are measurements."""
    shared = grades.values[grades.times > 1]
    scale = np.unique(shared[~np.isnan(shared)])
    names = listed(grades.assessors)
    if len(scale) > MAX_GRADES:
        raise InputError(
            f"{names} gave {len(scale):,} different grades, but a scale has at most {MAX_GRADES}. "
            "Round them first, for example to whole numbers."
        )
    if scale[-1] > MOST:
        raise InputError(f"{names} gave a grade of {scale[-1]:g}; grades may be at most {MOST:,}.")


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Agreement of assessors, as returned by `agreement`.

    >>> import judged
    >>> ann = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 2, "d": 0}}
    >>> bob = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0}}
    >>> judged.agreement({"ann": ann, "bob": bob}).pair("ann", "bob").items
    5
    """

    grades: AssessorGrades
    """All grades, side by side."""
    pairs: tuple[AssessorPair, ...]
    """Every pair of assessors."""
    alphas: Mapping[str, Interval]
    """Krippendorff's alpha of all assessors: nominal, ordinal and interval."""
    rel: float
    """Lowest grade that counts as relevant."""
    level: float
    """Confidence level."""
    resamples: int
    """Number of bootstrap resamples of the queries."""
    seed: int
    """Seed of the resamples."""
    boards: Leaderboards | None = None
    """The runs under each assessor, if there are runs."""
    notes: tuple[str, ...] = ()
    """Notes and warnings of reading."""

    @property
    def assessors(self) -> tuple[str, ...]:
        """Names of the assessors."""
        return self.grades.assessors

    def pair(self, first: str | None = None, second: str | None = None) -> AssessorPair:
        """Return the agreement of two assessors.

        Parameters
        ----------
        first, second : str, optional
            Their names, in any order; needed only with more than two assessors.

        >>> import judged
        >>> judged.agreement({"q": {"a": 1}}, {"q": {"a": 0}}).pair().items
        1
        """
        pairs = {(pair.first, pair.second): pair for pair in self.pairs}
        return find_pair(pairs, "assessor", first, second)

    @property
    def agreement(self) -> Interval:
        """Share of items with the same grade from both of two assessors."""
        return self.pair().agreement

    @property
    def kappa(self) -> Interval:
        """Cohen's kappa of two assessors, without weights."""
        return self.pair().kappa

    @property
    def alpha(self) -> Interval:
        """Krippendorff's alpha of all assessors, nominal."""
        return self.alphas["nominal"]

    @cached_property
    def differences(self) -> pl.DataFrame:
        """Items with different grades, the largest difference first."""
        import polars as pl

        values = self.grades.values
        most = np.where(self.grades.there, values, -np.inf).max(axis=1, initial=-np.inf)
        least = np.where(self.grades.there, values, np.inf).min(axis=1, initial=np.inf)
        rows = np.flatnonzero(most > least)
        rows = rows[np.argsort(-(most - least)[rows], kind="stable")]
        columns = [
            pl.Series(f"grade of {name}", column, nan_to_null=True)
            for name, column in zip(self.assessors, values[rows].T, strict=True)
        ]
        return self.grades.frame[rows].with_columns(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        >>> import judged
        >>> result = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> result.to_dict()["pairs"][0]["kappa"]["plain"]["estimate"]
        0.0
        """
        grades, ids = self.grades, self.grades.frame.columns
        return {
            "assessors": [
                {
                    "name": name,
                    "judged": int(grades.there[:, column].sum()),
                    "queries": int(grades.judged[:, column].sum()),
                    "alone": int((grades.there[:, column] & (grades.times == 1)).sum()),
                    "negative": int((~np.isnan(grades.negative[:, column])).sum()),
                }
                for column, name in enumerate(self.assessors)
            ],
            "alpha": plain_value(self.alphas),
            "pairs": plain_value(self.pairs),
            "differences": [
                {
                    **dict(zip(ids, row, strict=False)),
                    "grades": {
                        name: grade
                        for name, grade in zip(self.assessors, row[len(ids) :], strict=True)
                        if grade is not None
                    },
                }
                for row in self.differences.iter_rows()
            ],
            "runs": plain_value(self.boards),
            "rel": plain(self.rel),
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "findings": list(self._findings()),
            "warnings": [str(text) for text in self._warnings()],
            "definitions": list(DEFINITIONS),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return the numbers of every pair as a polars table; alpha of all has no names.

        >>> import judged
        >>> result = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 0}})
        >>> result.to_frame()["number"].to_list()[:2]
        ['agreement', 'kappa_plain']
        """
        import polars as pl

        groups: list[tuple[str | None, str | None, Mapping[str, Interval]]] = [
            (pair.first, pair.second, pair.numbers()) for pair in self.pairs
        ]
        if len(self.pairs) > 1:
            alphas = {f"alpha_{name}": alpha for name, alpha in self.alphas.items()}
            groups.append((None, None, alphas))
        rows = [
            (first, second, name, number.estimate, number.low, number.high, number.note or None)
            for first, second, numbers in groups
            for name, number in numbers.items()
        ]
        types = [pl.String] * 3 + [pl.Float64] * 3 + [pl.String]
        names = ("first", "second", "number", "value", "low", "high", "note")
        schema = dict(zip(names, types, strict=True))
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)

    def document(self, display: Display) -> Document:
        alone, judged = int((self.grades.times == 1).sum()), int((self.grades.times > 0).sum())
        left_out = (
            f"{alone:,} of {self.grades.counted(judged)} were graded by one assessor only and are "
            "left out."
        )
        return Document(
            answer=list(self._findings()),
            tables=[self._numbers_table(), *self._pair_tables(), *self._run_tables()],
            warnings=list(self._warnings()),
            notes=[*([left_out] if alone else []), *self._undefined()],
            details=list(self._details()),
        )

    def _findings(self) -> Iterator[str]:
        if len(self.pairs) == 1:
            yield from self.pairs[0].sentences(self.rel, self.grades)
        else:
            yield from self._findings_on_all()
        if self.boards is not None:
            yield from self.boards.sentences()

    def _findings_on_all(self) -> Iterator[str]:
        shared = self.grades.counted(int((self.grades.times > 1).sum()))
        alphas = [
            f"{name} {alpha.estimate:.3f}{bounds_in_words(alpha)}"
            for name, alpha in self.alphas.items()
            if not math.isnan(alpha.estimate)
        ]
        value = listed(alphas) or f"undefined: {self.alphas['nominal'].note}"
        yield (
            f"{len(self.assessors)} assessors, {shared} judged by two or more: Krippendorff's "
            f"alpha is {value}."
        )
        known = [pair for pair in self.pairs if not math.isnan(pair.kappa.estimate)]
        if len(known) > 1:
            least, *_, most = sorted(known, key=lambda pair: pair.kappa.estimate)
            yield (
                f"{most.first} and {most.second} agree best (kappa {most.kappa.estimate:.3f}), "
                f"{least.first} and {least.second} least ({least.kappa.estimate:.3f})."
            )
        yield from (pair.strictness() for pair in self.pairs if pair.stricter is not None)

    def _undefined(self) -> Iterator[str]:
        """Yield why numbers or intervals are missing, where the findings do not tell."""
        if len(self.pairs) > 1:
            for pair in self.pairs:
                if pair.items and math.isnan(pair.kappa.estimate):
                    yield f"Cohen's kappa is undefined: {pair.kappa.note}."
            return
        (pair,) = self.pairs
        if math.isnan(pair.overlap.estimate):
            yield f"The overlap of the relevant is undefined: {pair.overlap.note}."
        labels: dict[str, list[str]] = {}
        for label, interval in zip(pair.labels(), pair.numbers().values(), strict=True):
            if interval.note and not math.isnan(interval.estimate) and pair.queries > 1:
                labels.setdefault(interval.note, []).append(label)
        for note, named in labels.items():
            which = "any number" if len(named) == len(pair.labels()) else listed(named)
            yield f"No confidence interval of {which}: {note}."

    def _details(self) -> Iterator[str]:
        yield (
            f"{self.level * 100:g} % confidence intervals: percentile bootstrap with "
            f"{self.resamples:,} resamples of the queries (seed {self.seed})."
        )
        yield from (f"{text}." for text in DEFINITIONS)
        yield from (note for note in self.notes if not isinstance(note, Warned))
        if self.boards is not None:
            yield (
                "Values under an assessor use that assessor's judgements, on the "
                f"{counted(self.boards.queries, 'query', 'queries')} that all judged."
            )

    def _warnings(self) -> Iterator[str]:
        yield from (note for note in self.notes if isinstance(note, Warned))
        for least, beyond, text in (
            (0, 1, "No item was judged by both"),
            (1, 2, "Only one query has items judged by both, so there is no confidence interval"),
            (
                *(2, MIN_QUERIES),
                f"Fewer than {MIN_QUERIES} queries have items judged by both, so confidence "
                "intervals are too narrow",
            ),
        ):
            if few := [pair for pair in self.pairs if least <= pair.queries < beyond]:
                yield f"{text}: {', '.join(f'{pair.first} and {pair.second}' for pair in few)}."
        yield from filter(None, (pair.scale_warning() for pair in self.pairs))
        grades, rel = self.grades, self.rel
        lowest = np.where(grades.there, grades.values, np.inf).min(axis=0)
        if all_relevant := [grades.assessors[at] for at in np.flatnonzero(lowest >= rel)]:
            yield (
                f"{listed(all_relevant)} found everything relevant. If the judgements list only "
                "relevant items, agreement on the shared items says little."
            )
        if self.boards is None:
            return
        alone = float((grades.times == 1).mean())
        if alone > MAX_SHARE_ALONE:
            yield (
                f"{percent(alone, 0)} % of the items were judged by one assessor only. This adds "
                "to the differences between values under different assessors."
            )
        other = {name: low for name, low in self.boards.relevant_from.items() if low != rel}
        if other:
            measures = [f"from grade {low:g} in {name}" for name, low in other.items()]
            yield (
                f"Items are relevant from grade {rel:g} here, but {listed(measures)}. Set the "
                f"grade of a measure as in P(rel={rel:g})@10."
            )
        yield from self.boards.notes

    def _numbers_table(self) -> Table:
        numbers = {f"{name} alpha": interval for name, interval in self.alphas.items()}
        if len(self.pairs) == 1:
            (pair,) = self.pairs
            numbers = dict(zip(pair.labels(), pair.numbers().values(), strict=True))
        rows = []
        for label, number in numbers.items():
            bounds = f"{shown(number.low)} … {shown(number.high)}" if number.known else "–"
            cells = (shown(number.estimate), bounds)
            rows.append([label, *(text.replace("-", "−") for text in cells)])
        header = ["number", "value", f"{self.level * 100:g} % confidence interval"]
        return Table(header, rows, {"number"})

    def _pair_tables(self) -> list[Table]:
        """Return grades against grades of two assessors, or a row per pair of several."""
        if len(self.pairs) > 1:
            rows = [
                [
                    f"{pair.first}, {pair.second}",
                    f"{pair.items:,}",
                    shown(pair.agreement.estimate),
                    *(shown(kappa.estimate) for kappa in pair.kappas.values()),
                    pair.stricter or "–",
                ]
                for pair in self.pairs
            ]
            numbers = ["items", "agreement", "kappa", "linear", "quadratic"]
            return [Table(["assessors", *numbers, "stricter"], rows, {"assessors", "stricter"})]
        (pair,) = self.pairs
        if len(pair.grades) > MAX_TABLE_GRADES:
            return []
        names = [repr(grade).removesuffix(".0") for grade in pair.grades]
        rows = [
            [name, *(f"{count:,}" for count in row)]
            for name, row in zip(names, pair.counts, strict=True)
        ]
        return [Table([Left(f"{pair.first} \\ {pair.second}"), *names], rows)]

    def _run_tables(self) -> list[Table]:
        if self.boards is None:
            return []
        rows = [
            [measure, run, *(shown(under[name][run]) for name in self.assessors)]
            for measure, under in self.boards.values.items()
            for run in self.boards.runs
        ]
        tables = [Table(["measure", "run", *self.assessors], rows, {"measure", "run"})]
        if self.boards.verdicts:
            verdicts = [
                [row["measure"], row["run"], row["against"], *row["verdicts"].values()]
                for row in self.boards.verdicts
            ]
            heads = [Left(f"under {name}") for name in self.assessors]
            header = ["measure", "run", "against", *heads]
            tables.append(Table(header, verdicts, {"measure", "run", "against"}))
        return tables
