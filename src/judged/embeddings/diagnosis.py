"""What a look at embeddings found: numbers for programs, sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any, ClassVar

from judged.options import checked
from judged.results import Part, Result, Table
from judged.text import counted, few

if TYPE_CHECKING:
    import polars as pl

SAMPLE = 5_000
"""Of a side of more vectors than these, so many are looked at for what takes all pairs."""
NEAR = 0.999
"""Vectors of a higher cosine than this are near duplicates."""


@dataclass(frozen=True)
class Rows:
    """How many vectors, and what the first of them are called."""

    count: int = 0
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{', '.join(self.names[:3])}{', …' if self.count > 3 else ''}"


@dataclass(frozen=True)
class Duplicates:
    """Vectors equal to an earlier one of their side, number for number in single precision."""

    count: int = 0
    groups: tuple[tuple[str, ...], ...] = ()
    """The first groups of equal vectors, the first members of each."""


@dataclass(frozen=True)
class NearDuplicates:
    """Vectors with another of their side at a cosine above 0.999 that is not the same vector."""

    count: int = 0
    """Vectors that have one, of those looked at."""
    looked_at: int = 0
    sampled: bool = False
    """Only some vectors were looked at, each of them beside all."""
    pairs: tuple[tuple[str, str, float], ...] = ()
    """The first pairs, with their cosine."""


@dataclass(frozen=True)
class Norms:
    """The lengths of the vectors."""

    min: float = nan
    median: float = nan
    max: float = nan
    variation: float = nan
    """The coefficient of variation: the standard deviation over the mean."""


@dataclass(frozen=True)
class Side:
    """What was found in the queries, or in the items."""

    source: str
    count: int
    dims: int
    not_finite: Rows
    """Vectors with a NaN or an infinite number."""
    zero: Rows
    duplicates: Duplicates
    near_duplicates: NearDuplicates
    norms: Norms
    uniformity: float
    """log of the mean of e^(-2·|x - y|²) over pairs at length 1 (Wang & Isola 2020): the lower, the
    more spread out."""


@dataclass(frozen=True)
class Hubness:
    """How unevenly items occur among the k best of the queries."""

    k: int
    skewness: float
    """Of the number of queries that have an item among their k best; NaN where all items have the
    same number."""
    robin_hood: float
    """The share of all places that would have to change hands for every item to have as many
    (Hoover's index)."""
    antihubs: float
    """The share of items that are among the k best of no query."""
    hubs: int
    """Items among the k best of at least 2k queries."""
    biggest: tuple[tuple[str, int], ...]
    """The items that occur most, with their number."""


@dataclass(frozen=True)
class Histogram:
    """How the scores of relevant and of other items are spread; counts of all pairs, exact."""

    edges: tuple[float, ...]
    """One more than there are bins, which are as wide as each other; a score on an edge is in the
    bin above."""
    others: tuple[int, ...]
    others_mean: float
    relevant: tuple[int, ...] | None = None
    """None where no relevance was given: then all items are others."""
    relevant_mean: float = nan


@dataclass(frozen=True)
class Collapse:
    """How many dimensions the items really use: the singular values of their centred matrix."""

    effective_rank: float
    """e to the entropy of the singular values' shares (Roy & Vetterli 2007)."""
    top_1: float
    """The share of the variance in the strongest direction."""
    top_10: float
    dead: tuple[int, ...]
    """Dimensions (from 0) in which all items have the same number."""
    singular_values: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """What may spoil a ranking by embeddings: numbers for programs, sentences for people.

    >>> import judged
    >>> found = judged.Embeddings([[1.0, 0.0]], [[1.0, 0.1], [1.0, 0.1], [0.0, 2.0]]).diagnose()
    >>> found.items.duplicates.count
    1
    """

    queries: Side
    """What was found in the queries."""
    items: Side
    """What was found in the items."""
    similarity: str
    """The name of the similarity that they were compared by."""
    collapse: Collapse
    """How many dimensions the items really use."""
    hubness: Hubness | None = None
    """How unevenly items are found; None, as the scores, where one side has no vector that can be
    compared."""
    scores: Histogram | None = None
    """How the scores of relevant and of other items are spread."""
    alignment: float | None = None
    """Mean of |x - y|² over relevant pairs at length 1 (Wang & Isola 2020): the lower, the closer;
    None without relevance."""
    alignment_pairs: int = 0
    """How many relevant pairs that is the mean of."""
    alignment_sampled: bool = False
    """Whether these are a sample."""
    queries_among_items: Rows = field(default_factory=Rows)
    """Queries that are, number for number, some item that is not excluded for them."""

    WORDS: ClassVar[frozenset[str]] = frozenset(("number",))
    FOLDED: ClassVar[str] = "all numbers"

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values; what is undefined is None.

        Returns
        -------
        dict

        >>> import judged
        >>> both = judged.Embeddings([[1.0, 0.0]], [[1.0, 0.1], [0.0, 2.0]])
        >>> both.diagnose().to_dict()["similarity"]
        'cosine'
        """
        return _plain(self)

    def to_frame(self) -> pl.DataFrame:
        """Every single number with its name, as in `to_dict`; no lists.

        Returns
        -------
        polars.DataFrame

        >>> import judged
        >>> judged.Embeddings([[1.0, 0.0]], [[1.0, 0.1], [0.0, 2.0]]).diagnose().to_frame().columns
        ['number', 'value']
        """
        import polars as pl

        found = dict(_numbers(self.to_dict()))
        return pl.DataFrame(
            {"number": list(found), "value": list(found.values())},
            schema={"number": pl.String, "value": pl.Float64},
        )

    def sentences(self) -> list[str]:
        """What is worth a look, one sentence each, the gravest first.

        Returns
        -------
        list of str

        >>> import judged
        >>> judged.Embeddings([[1.0, 0.0]], [[1.0, 0.1], [1.0, 0.1]]).diagnose().sentences()[0]
        'the items: 1 vector equal to an earlier one (0 = 1).'
        """
        return [sentence for found, sentence in _findings(self) if found]

    def tables(self) -> list[Table]:
        """One table of every single number with its name.

        Returns
        -------
        list of (header, rows)

        >>> import judged
        >>> judged.Embeddings([[1.0, 0.0]], [[1.0, 0.1], [0.0, 2.0]]).diagnose().tables()[0][0]
        ['number', 'value']
        """
        frame = self.to_frame()
        return [(frame.columns, [(name, f"{value:.6g}") for name, value in frame.rows()])]

    @checked
    def parts(self, *, verbose: bool = False, quiet: bool = False) -> list[Part]:
        """What was found, side by side with what is worth a look.

        Parameters
        ----------
        verbose : bool, optional
            Changes nothing: everything stands there anyway.
        quiet : bool, optional
            Whether there is only the table of all numbers.

        Returns
        -------
        list of str

        >>> import judged
        >>> both = judged.Embeddings([[1.0, 0.0]], [[1.0, 0.1], [0.0, 2.0]])
        >>> print(both.diagnose().to_text().splitlines()[0])
        Diagnosis by cosine
        """
        return super().parts(verbose=verbose, quiet=quiet) if quiet else [*_described(self)]


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and isnan(value) else value


def _numbers(found: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{above}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield f"{above}{name}", float(value)


def _findings(found: Diagnosis) -> Iterator[tuple[Any, str]]:
    for side in (found.queries, found.items):
        yield from _vector_findings(side, found.similarity)
    among = found.queries_among_items
    yield (
        among.count,
        f"{counted(among.count, 'query is', 'queries are')} also found among the items, number for "
        f"number ({among}); if these are the same things, exclude them with same_row() or "
        "same_id().",
    )
    if found.scores is not None:
        relevant, others = found.scores.relevant_mean, found.scores.others_mean
        yield (
            relevant <= others,
            f"relevant items score no higher than others: {relevant:.4g} on average, others "
            f"{others:.4g}.",
        )
    collapse, items = found.collapse, found.items
    yield (
        items.count > 1 and collapse.dead,
        f"{len(collapse.dead):,} of {counted(items.dims, 'dimension')} the same number in all "
        f"items ({few([*map(str, collapse.dead)])}).",
    )
    yield (
        collapse.effective_rank < _FEW * min(items.dims, items.count - 1),
        f"the items use few of their {items.dims} dimensions: their effective rank is "
        f"{collapse.effective_rank:.1f}, with {collapse.top_1:.0%} of the variance in one "
        "direction.",
    )
    if found.hubness is not None:
        yield _is_hubby(found.hubness, found), _hub_sentence(found.hubness)


_FEW = 0.25
"""An effective rank below this share of the possible is worth a word."""
_SKEWED = 1.4
"""Skewness that is usual without hubs, beside what small counts have of themselves."""


def _vector_findings(side: Side, similarity: str) -> Iterator[tuple[Any, str]]:
    source = side.source
    yield (
        side.not_finite.count,
        f"{source}: {counted(side.not_finite.count, 'vector')} with NaN or infinite numbers "
        f"({side.not_finite}); left out of everything else.",
    )
    left_out = "; without direction, so left out of the scores" if similarity == "cosine" else ""
    yield (
        side.zero.count,
        f"{source}: {counted(side.zero.count, 'vector')} all zeros ({side.zero}){left_out}.",
    )
    same = side.duplicates
    groups = "; ".join(
        " = ".join(group[:3]) + (" = …" if len(group) > 3 else "") for group in same.groups[:3]
    )
    more = "; …" if len(same.groups) > 3 else ""
    yield (
        same.count,
        f"{source}: {counted(same.count, 'vector')} equal to an earlier one ({groups}{more}).",
    )
    near = side.near_duplicates
    some = (
        f"{near.count:,} of {near.looked_at:,} sampled vectors"
        if near.sampled
        else counted(near.count, "vector")
    )
    such = f", such as {near.pairs[0][0]} and {near.pairs[0][1]}" if near.pairs else ""
    yield near.count, f"{source}: {some} with a near duplicate (cosine above {NEAR}){such}."
    yield (
        similarity == "dot" and side.norms.variation > 0.1,
        f"{source}: lengths vary by {side.norms.variation:.0%} (from {side.norms.min:.4g} to "
        f"{side.norms.max:.4g}), and a dot product grows with them.",
    )


def _is_hubby(hubness: Hubness, found: Diagnosis) -> bool:
    usual = hubness.k * found.queries.count / found.items.count
    return hubness.skewness > _SKEWED + usual**-0.5


def _hub_sentence(hubness: Hubness) -> str:
    item, times = hubness.biggest[0] if hubness.biggest else ("none", 0)
    return (
        f"hubs: item {item} is among the {hubness.k} best of {counted(times, 'query', 'queries')}, "
        f"{hubness.antihubs:.0%} of items of none (skewness {hubness.skewness:.2f}, Robin Hood "
        f"index {hubness.robin_hood:.2f})."
    )


def _described(found: Diagnosis) -> Iterator[str]:
    yield f"Diagnosis by {found.similarity}"
    for side in (found.queries, found.items):
        norms = side.norms
        dims = counted(side.dims, "dimension")
        yield f"  {side.source}: {counted(side.count, 'vector')} of {dims}"
        yield (
            f"    lengths {norms.min:.4g} to {norms.max:.4g}, median {norms.median:.4g}, "
            f"variation {norms.variation:.1%}"
        )
        near = side.near_duplicates
        sampled = f" (from a sample of {near.looked_at:,})" if near.sampled else ""
        yield f"    uniformity {side.uniformity:.3f}{sampled}"
    if found.alignment is not None:
        sampled = "a sample of " if found.alignment_sampled else ""
        yield (
            f"  alignment {found.alignment:.3f} over "
            f"{sampled}{counted(found.alignment_pairs, 'relevant pair')}"
        )
    if found.hubness is not None:
        hubness = found.hubness
        yield (
            f"  hubness at {hubness.k}: skewness {hubness.skewness:.2f}, Robin Hood index "
            f"{hubness.robin_hood:.2f}, {hubness.antihubs:.1%} of items never found, "
            f"{counted(hubness.hubs, 'hub')}"
        )
    if found.scores is not None:
        scores = found.scores
        relevant = (
            ""
            if scores.relevant is None
            else f", relevant items {scores.relevant_mean:.4g} on average"
        )
        yield (
            f"  scores within {scores.edges[0]:.4g} and {scores.edges[-1]:.4g}{relevant}, "
            f"others {scores.others_mean:.4g}"
        )
    collapse = found.collapse
    yield (
        f"  effective rank {collapse.effective_rank:.1f} of {found.items.dims}; "
        f"{collapse.top_1:.1%} of the variance in 1 direction, {collapse.top_10:.1%} in 10"
    )
    for sentence in found.sentences() or ["nothing stands out."]:
        yield f"  - {sentence}"
