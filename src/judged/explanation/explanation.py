"""How one number of one query comes about: what `judged.explain` returns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.checks import whole
from judged.conventions import Convention
from judged.errors import InputError, MeasureError
from judged.evaluation.evaluation import evaluate_rankings
from judged.evaluation.request import Request
from judged.explanation.improvement import Change, best_change
from judged.explanation.listing import ANY, Listing, Steps
from judged.explanation.source import (
    Read,
    read_list,
    read_query,
    read_rankings,
    refuse_unbroken_ties,
)
from judged.explanation.steps import steps_of
from judged.explanation.variants import Variant, variants
from judged.measures import Measure
from judged.policy import Policy
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.types import CollectionLike

ROWS = 30
"""So many ranks are shown, where nobody says how many."""


@dataclass(frozen=True)
class Row:
    """One rank of the list."""

    rank: int
    item: str | None
    """Its id; None where the input has none."""
    grade: float | None
    """None where nobody judged it."""
    relevant: bool
    """Whether the measure counts it as relevant, or gains something from it."""
    counts: bool
    """Whether it is at or above the cutoff."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """How one number of one query comes about; it prints as text and can be written in other
    formats.

    >>> explanation = explain("0 1 0 0 1 0 1 0 1 0", measure="AP", relevant=6)
    >>> round(explanation.value, 6)
    0.295503
    >>> explanation.arithmetic
    'AP = (1/2 + 2/5 + 3/7 + 4/9) / 6 = (0.5 + 0.4 + 0.4286 + 0.4444) / 6 = 1.773 / 6 = 0.2955'
    """

    measure: Measure
    rankings: Rankings
    """Of the one query."""
    policy: Policy
    value: float
    """What the measure says; NaN where it has no value."""
    settled: float
    """What the policy makes of that: the value itself where there is one, NaN where the query does
    not count."""
    steps: Steps | None
    """None where the measure has no value."""
    rows: tuple[Row, ...]
    lost: Mapping[str, float] = field(default_factory=dict)
    """Ids and grades of items with a grade above 0 that were not retrieved, as far as ids are
    known."""
    items: Mapping[int, str] = field(default_factory=dict)
    """Ids of all results by rank, those that are not shown too."""

    @property
    def query(self) -> str:
        return self.rankings.queries[0]

    @property
    def arithmetic(self) -> str:
        """The formula with this list's numbers, worked out step by step on one line."""
        if self.steps is None:
            return f"{self.measure} is undefined: {self.measure.spec.undefined.text}"
        return " = ".join([str(self.measure), *self.steps.value.stages()])

    @property
    def left_out(self) -> int:
        """How many ranks are not shown."""
        return int(self.rankings.retrieved[0]) - len(self.rows)

    @property
    def relevant(self) -> int:
        """How many items of the pool the measure counts as relevant."""
        return int(self.rankings.relevant(threshold(self.measure))[0])

    @cached_property
    def best_change(self) -> Change | None:
        """The move of one item that would make the number best; None where no move makes it better."""
        return best_change(self.measure, self.rankings)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Other definitions of the same measure under which this list has another value, those of
        libraries first."""
        return variants(self.measure, self.value, self.rankings)

    # -- formats: what each looks like is decided in its own module

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Explanation of {self.measure} for query {self.query!r}: {self.settled:g}>"

    def _repr_html_(self) -> str:
        from judged.explanation.html import body

        return body(self)

    def to_text(self) -> str:
        from judged.explanation.text import to_text

        return to_text(self)

    def to_markdown(self) -> str:
        from judged.explanation.text import to_markdown

        return to_markdown(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON: numbers are exact."""
        from judged.explanation.text import to_dict

        return to_dict(self)

    def to_json(self) -> str:
        from judged.explanation.text import to_json

        return to_json(self)

    def to_latex(self) -> str:
        """The formula and the formula with this list's numbers, as an align environment of amsmath."""
        from judged.explanation.latex import to_latex

        return to_latex(self)

    def to_html(self) -> str:
        """One page that needs nothing else: the animation, the table and the arithmetic."""
        from judged.explanation.html import to_html

        return to_html(self)

    def save_html(self, path: str | os.PathLike[str]) -> None:
        from judged.outputs import write_text

        write_text(path, self.to_html())

    def save_gif(self, path: str | os.PathLike[str]) -> None:
        """The animation as a picture for slides and READMEs; needs Pillow, of the extra `charts`."""
        from judged.explanation.gif import save_gif

        save_gif(self, path)


def explain(
    judgements: Any,
    run: Any = None,
    measure: str | Measure = "AP",
    *,
    query: str | None = None,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    policy: Policy | dict[str, Any] | None = None,
    depth: int | None = None,
    duplicates: str = "error",
    collection: CollectionLike | None = None,
    convention: str | Convention | None = None,
    rows: int | None = ROWS,
) -> Explanation:
    """How one measure comes to its value for one query, step by step.

    Give judgements and a run, as to `judged.evaluate`; or a relevance list, the grades in rank
    order as a list or a text; or `Rankings`. `relevant` and `pool` are about a relevance list, as
    in `Rankings.from_relevance`. `rows` is how many ranks are shown, those of relevant items first;
    None shows all.

    >>> print(explain({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", query="q").arithmetic)
    RR = 1/2 = 0.5
    >>> explain([0, 1, 0, 0, 1], measure="P@5").value
    0.4
    """
    if rows is not None:
        rows = whole("rows", rows, otherwise=", or None for all")
    known = (
        {"ties": judgements.ties, "unjudged": judgements.unjudged}
        if isinstance(judgements, Rankings)
        else {}
    )
    if run is None and not known:
        # A list in rank order has no ties, however they are broken.
        policy = (
            replace(policy, ties="input")
            if isinstance(policy, Policy)
            else {**(policy or {}), "ties": "input"}
        )
    request = Request.of(
        [measure] if isinstance(measure, Measure) else measure, policy, convention, **known
    )
    if len(request.measures) > 1:
        raise MeasureError(
            f"explain takes one measure; got {', '.join(map(str, request.measures))}."
        )
    refuse_unbroken_ties(request.policy)
    read = _read(
        judgements, run, query, relevant, pool, request.policy, depth, duplicates, collection
    )
    return _explained(request.measures[0], read, request.policy, rows)


def _read(
    judgements: Any,
    run: Any,
    query: str | None,
    relevant: int | None,
    pool: Sequence[Any] | str | None,
    policy: Policy,
    depth: int | None,
    duplicates: str,
    collection: CollectionLike | None,
) -> Read:
    if run is not None:
        if relevant is not None or pool is not None:
            raise InputError(
                "relevant and pool are about a relevance list; judgements say themselves what is "
                "relevant."
            )
        return read_query(
            judgements,
            run,
            query,
            policy=policy,
            depth=depth,
            duplicates=duplicates,
            collection=collection,
        )
    if isinstance(judgements, Rankings):
        return read_rankings(judgements, query)
    if isinstance(judgements, Mapping) or not isinstance(judgements, (str, Sequence, np.ndarray)):
        raise InputError(
            "judgements need a run beside them; a relevance list is a text or a list of grades in "
            "rank order."
        )
    if query is not None:
        raise InputError("a relevance list is one query's; query names one of several.")
    if depth is not None:
        raise InputError(
            "depth cuts the lists of a run; write a relevance list as long as it should be."
        )
    if isinstance(collection, Mapping):
        raise InputError("collection of a relevance list is one number.")
    return read_list(judgements, relevant=relevant, pool=pool, collection=collection)


def threshold(measure: Measure) -> float:
    """The lowest grade that a measure counts as relevant, or gains something from."""
    params = measure.params
    if "rel" in params:
        return float(params["rel"])
    return float(np.nextafter(params["min_rel"], inf)) if "min_rel" in params else ANY


def _explained(measure: Measure, read: Read, policy: Policy, rows: int | None) -> Explanation:
    r = read.rankings
    scored = evaluate_rankings([r], [measure], policy=policy).runs[0]
    r = scored.rankings
    value = float(measure.compute_as_ranked(r)[0])
    rel = threshold(measure)
    end = float(r.cutoff(measure.params.get("k"), rel)[0])
    ranks = _shown(r, rel, end, rows)
    steps = None if isnan(value) else steps_of(Listing(r, measure, ranks))
    grades = dict(zip(r.hit_rank.tolist(), r.hit_grade.tolist(), strict=True))
    listed = tuple(
        Row(
            rank,
            read.items.get(rank),
            grades.get(rank),
            grades.get(rank, -inf) >= rel,
            rank <= (steps.end if steps else end),
        )
        for rank in ranks
    )
    return Explanation(
        measure,
        r,
        policy,
        value,
        float(scored.values[measure][0]),
        steps,
        listed,
        read.lost,
        read.items,
    )


def _shown(r: Rankings, rel: float, end: float, rows: int | None) -> tuple[int, ...]:
    """The ranks that matter: those of relevant items that count, then the others from the top, as
    many as fit."""
    length = int(r.retrieved[0])
    if rows is None or length <= rows:
        return tuple(range(1, length + 1))
    chosen = r.hit_rank[(r.hit_grade >= rel) & (r.hit_rank <= end)].tolist()[:rows]
    taken = set(chosen)
    others = (rank for rank in range(1, length + 1) if rank not in taken)
    while len(chosen) < rows:
        chosen.append(next(others))
    return tuple(sorted(chosen))
