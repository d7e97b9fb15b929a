"""How one number of one query comes about: what `judged.explain` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isnan
from typing import TYPE_CHECKING, Any, ClassVar

from judged.checks import checked
from judged.errors import ConventionError, MeasureError
from judged.evaluation.evaluation import evaluate_rankings
from judged.evaluation.request import Request
from judged.explanation import html, latex, text
from judged.explanation.animation import Animation, animation
from judged.explanation.gif import to_gif
from judged.explanation.improvement import Change, best_change
from judged.explanation.listing import Listing, Row, Steps, shown_ranks, threshold
from judged.explanation.source import Read, policy_of_a_list, read, refuse_unbroken_ties
from judged.explanation.steps import steps_of
from judged.explanation.variants import Variant, variants
from judged.measures import Measure
from judged.policy import Policy
from judged.rankings.audit import audit_of
from judged.rankings.rankings import Rankings
from judged.results import Part, Result, Table

if TYPE_CHECKING:
    import polars as pl

    from judged.types import (
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        FileFormat,
        ItemToLike,
        JudgementsLike,
        PolicyLike,
        RunLike,
    )

ROWS = 30
"""So many ranks are shown, where nobody says how many."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """How one number of one query comes about; what `judged.explain` returns.

    >>> explanation = explain("0 1 0 0 1 0 1 0 1 0", measure="AP", relevant=6)
    >>> round(explanation.value, 6)
    0.295503
    >>> explanation.arithmetic
    'AP = (1/2 + 2/5 + 3/7 + 4/9) / 6 = (0.5 + 0.4 + 0.4286 + 0.4444) / 6 = 1.773 / 6 = 0.2955'
    """

    SAVED_AS: ClassVar[dict[str, str]] = {
        **Result.SAVED_AS,
        ".tex": "to_latex",
        ".gif": "to_gif",
    }
    WORDS: ClassVar[frozenset[str]] = text.WORDS

    measure: Measure
    """What is explained."""
    rankings: Rankings
    """Of the one query."""
    policy: Policy
    """What was assumed."""
    value: float
    """What the measure says; NaN where it has no value."""
    settled: float
    """What the policy makes of that: the value itself where there is one, NaN where the query does
    not count."""
    steps: Steps | None
    """The arithmetic; None where the measure has no value."""
    rows: tuple[Row, ...]
    """The ranks that are shown."""
    lost: Mapping[str, float] = field(default_factory=dict)
    """Ids and grades of items with a grade above 0 that were not retrieved, as far as ids are
    known."""
    items: Mapping[int, str] = field(default_factory=dict)
    """Ids of all results by rank, those that are not shown too."""

    @property
    def query(self) -> str:
        """The id of the query."""
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
        """The move of one item that would make the number best; None where none makes it better."""
        return best_change(self.measure, self.value, self.rankings)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Other definitions of the same measure under which this list has another value, those of
        libraries first."""
        return variants(self.measure, self.value, self.rankings)

    @cached_property
    def animation(self) -> Animation:
        """The walk down the ranking, frame by frame: what the page and the GIF draw."""
        return animation(self)

    # -- formats: what each looks like is decided in its own module

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold; numbers are exact.

        Returns
        -------
        dict

        >>> explain("0 1", measure="RR").to_dict()["arithmetic"]
        'RR = 1/2 = 0.5'
        """
        return text.to_dict(self)

    def to_frame(self) -> pl.DataFrame:
        """The ranks that are shown, as a polars table with what the measure looks at in each.

        Returns
        -------
        polars.DataFrame

        >>> explain("0 1", measure="RR").to_frame().columns
        ['rank', 'grade', 'judged', 'relevant', 'counts', 'mark', 'adds']
        """
        import polars as pl

        return pl.DataFrame(text.values(self), infer_schema_length=None)

    def warnings(self) -> list[str]:
        """What could mislead about the data.

        Returns
        -------
        list of str

        >>> explain("0 1", measure="RR").warnings()
        []
        """
        return list(audit_of(self.rankings).warnings)

    def sentences(self) -> list[str]:
        """What the arithmetic does not say: what was left out or lost, and what would help most.

        Returns
        -------
        list of str

        >>> explain("0 1", measure="RR").sentences()[0]
        'The first relevant item stands at rank 2.'
        """
        return list(text.sentences(self))

    def tables(self) -> list[Table]:
        """The ranking rank by rank, and the value under other definitions, where there are any.

        Returns
        -------
        list of tuple
            Header and rows of text each.

        >>> explain("0 1", measure="RR").tables()[0][0]
        ['rank', 'grade', '', 'adds']
        """
        told = text.others(self)
        ranking: Table = (text.header(self), text.cells(self))
        return [ranking, (text.OTHERS, told)] if told else [ranking]

    @checked
    def parts(self, *, verbose: bool = False, quiet: bool = False) -> list[Part]:
        """The whole explanation, as `judged explain` prints it.

        Parameters
        ----------
        verbose : bool, optional
            Changes nothing: everything stands there anyway.
        quiet : bool, optional
            Whether only the ranking and the arithmetic stand there.

        Returns
        -------
        list of str

        >>> print(explain("0 1", measure="RR").to_text().splitlines()[0])
        RR (Reciprocal rank): 0.5000
        """
        lines = [line for line, _ in text.marked_lines(self, quiet=quiet)]
        return self._parts(lines, [], verbose=verbose, quiet=quiet)

    def _said(self) -> list[str]:
        return []

    def to_markdown(self) -> str:
        """The whole explanation in Markdown.

        Returns
        -------
        str

        >>> explain("0 1", measure="RR").to_markdown().splitlines()[0]
        '## RR (Reciprocal rank): 0.5000'
        """
        return text.to_markdown(self)

    def to_latex(self) -> str:
        """The formula, and the formula with this list's numbers: an align environment of amsmath.

        Returns
        -------
        str

        >>> explain("0 1", measure="P").to_latex().splitlines()[-2]
        'P &= \\\\frac{1}{2} = 0.5'
        """
        return latex.to_latex(self)

    def to_html(self) -> str:
        """One page that needs nothing else: the animation, the table and the arithmetic.

        Returns
        -------
        str

        >>> explain("0 1", measure="RR").to_html().splitlines()[0]
        '<!doctype html>'
        """
        return html.to_html(self)

    def to_gif(self) -> bytes:
        """The walk down the ranking as a picture, for slides and READMEs.

        Needs Pillow, of the extra `charts`.

        Returns
        -------
        bytes

        >>> explain("0 1", measure="RR").to_gif()[:3]
        b'GIF'
        """
        return to_gif(self)

    def _repr_html_(self) -> str:
        return html.body(self)


@checked
def explain(
    judgements: JudgementsLike | Rankings | Sequence[float | None],
    run: RunLike | None = None,
    measure: str | Measure = "AP",
    *,
    query: str | None = None,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    convention: ConventionLike | None = None,
    rows: int | None = ROWS,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
) -> Explanation:
    """How one measure comes to its value for one query, step by step.

    Parameters
    ----------
    judgements : JudgementsLike, Rankings, or a relevance list
        As `judged.evaluate` takes them. Without a run: `Rankings`, rows that hold relevant and
        retrieved ids, or the grades of one list in
        rank order, as a list or a text ("0 1 0 0 1"; None or - for an item that nobody judged;
        brackets in a text around results that share a score).
    run : RunLike, optional
        A file, {query: {item: score}}, or a table.
    measure : str or Measure, optional
        One measure; AP by default.
    query : str, optional
        Which query; may be left out where only one was judged.
    relevant : int, optional
        Of a relevance list: how many items are relevant in all.
    pool : sequence or str, optional
        Of a relevance list: the grades of all judged items, in any order.
    policy : PolicyLike, optional
        Ties, missing queries, queries with nothing relevant, unjudged items. Ties must be broken:
        not "expected".
    depth : int, optional
        Cut the list at this rank first; by default it counts whole.
    duplicates : {"error", "first"}, optional
        What to do about an item that occurs twice.
    collection : int or Mapping, optional
        How many items there were to retrieve; few measures need it.
    convention : str or Convention, optional
        Measure and policy as another library means them.
    rows : int or None, optional
        How many ranks are shown, those of relevant items first; None shows all.
    item_to : ItemToLike, optional
        Which document an item belongs to, as in `judged.evaluate`.
    exclude_same_id : bool, optional
        Take out results that have the id of their query, and judgements of a query for itself.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    judgements_format, run_format : FileFormat, optional
        The format of the files, such as "trec" or "csv", where it is not recognised.

    Returns
    -------
    Explanation

    >>> print(explain({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", query="q").arithmetic)
    RR = 1/2 = 0.5
    >>> explain([0, 1, 0, 0, 1], measure="P@5").value
    0.4
    """
    known: dict[str, Any] = (
        {"ties": judgements.ties, "unjudged": judgements.unjudged}
        if isinstance(judgements, Rankings)
        else {}
    )
    given: Any = policy
    if run is None and not known:
        given = policy_of_a_list(policy, judgements)
    request = Request.of(
        [measure] if isinstance(measure, Measure) else measure,
        given,
        convention,
        prepares=True,
        **known,
    )
    if len(request.measures) > 1:
        raise MeasureError(
            f"explain takes one measure; got {', '.join(map(str, request.measures))}."
        )
    if request.convention and request.convention.threshold(request.measures[0]):
        raise ConventionError(
            f"{request.convention.convention.title} finds out for each query which grades are "
            f"relevant; say it for this one, as in P(rel=2)@10, and it can be explained."
        )
    refuse_unbroken_ties(request.policy)
    found = read(
        judgements,
        run,
        query,
        relevant=relevant,
        pool=pool,
        policy=request.policy,
        prepare=request.prepare,
        depth=depth,
        duplicates=duplicates,
        collection=collection,
        item_to=item_to,
        exclude_same_id=exclude_same_id,
        columns=columns,
        judgements_format=judgements_format,
        run_format=run_format,
    )
    return _explained(request.measures[0], found, request.policy, rows)


def _explained(measure: Measure, found: Read, policy: Policy, rows: int | None) -> Explanation:
    scored = evaluate_rankings([found.rankings], [measure], policy=policy).runs[0]
    r, settled = scored.rankings, float(scored.values[measure][0])
    value = _before_policy(measure, r, policy, settled)
    rel = threshold(measure)
    end = float(r.cutoff(measure.params.get("k"), rel)[0])
    ranks = shown_ranks(r, rel, end, rows)
    try:
        steps = None if isnan(value) else steps_of(Listing(r, measure, ranks))
    except OverflowError:
        raise MeasureError(
            f"{measure} is {value:.6g} here, but its steps cannot be written out: gains of these "
            "grades are beyond what a computer's numbers can hold (1.8e308)."
        ) from None
    grades = dict(zip(r.hit_rank.tolist(), r.hit_grade.tolist(), strict=True))
    listed = tuple(
        Row(
            rank,
            found.items.get(rank),
            grades.get(rank),
            grades.get(rank, -inf) >= rel,
            rank <= (steps.end if steps else end),
        )
        for rank in ranks
    )
    return Explanation(measure, r, policy, value, settled, steps, listed, found.lost, found.items)


def _before_policy(measure: Measure, r: Rankings, policy: Policy, settled: float) -> float:
    """The measure's own value; it is worked out again only where the policy may have changed it."""
    if measure.undefined(r)[0]:
        return float("nan")
    if isnan(settled) or policy.empty == "one":
        return float(measure.compute_as_ranked(r)[0])
    return settled
