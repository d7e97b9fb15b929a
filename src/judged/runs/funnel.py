"""The funnel of a pipeline: the stage that kept each relevant item out of the final top K."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged import __version__
from judged.arrays import Ints
from judged.errors import InputError
from judged.evaluation.warnings import announce_warnings
from judged.inputs.data import Data
from judged.matching.checks import refuse_swapped
from judged.matching.join import match, refuse_apart
from judged.matching.pool import pool_of
from judged.matching.ties import place
from judged.options import (
    ColumnsLike,
    JudgementsLike,
    PolicyLike,
    RunsLike,
    checked,
    choice,
    number,
)
from judged.results import Display, Document, Frame, Result, Table
from judged.runs.fusion import check_policy
from judged.text import counted, listed, percent, shown

if TYPE_CHECKING:
    import polars as pl

REASONS = {
    "not retrieved": "the first stage did not retrieve it",
    "dropped": "the stage left it out of its list",
    "demoted": "the stage moved it from the top K to below",
    "not promoted": "it was never in the top K, and the last stage still lists it below",
}
"""Reasons why a relevant item is not in the final top K; each lost item has one stage and one."""
WORST_QUERIES = 10
"""Queries in the table of those to look at."""
NOWHERE = np.iinfo(np.int64).max
"""The rank of an item that a stage does not list."""


@checked
def funnel(
    judgements: JudgementsLike,
    runs: RunsLike,
    *,
    k: int = 10,
    rel: float = 1,
    max_loss: Mapping[str, float] | float | None = None,
    policy: PolicyLike | None = None,
    columns: ColumnsLike | None = None,
) -> Funnel:
    """Find the stage of a pipeline that kept each relevant item out of the final top K.

    An item that a stage had in its top K was lost by the stage after the last such one: dropped
    from the list, or demoted. Of an item that never was in a top K, the first stage that lists it
    no more dropped it, or the first stage did not retrieve it. If the last stage still lists it,
    that stage did not promote it. So each lost item counts once, and losses add up.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    runs : RunsLike
        At least two stages in their order, as {name: run} or a list of files.
    k : int, optional
        The number of results that count.
    rel : float, optional
        The least grade of a relevant item.
    max_loss : mapping or float, optional
        The largest share of relevant items that a stage may lose, {stage: share}; or one share for
        all stages after the first. Then the result has passed or failed.
    policy : PolicyLike, optional
        `ties` (id or input) and `duplicates`; other choices have no meaning here.
    columns : ColumnsLike, optional
        Meaning of columns, such as {"query": "question_id", "item": "chunk_id"}.

    >>> judgements = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> stages = {"first": {"q": ["a", "b", "x"]}, "reranked": {"q": ["b", "x", "a"]}}
    >>> result = funnel(judgements, stages, k=2)
    >>> result.kept, result.losses["first"], result.losses["reranked"]
    (1, {'not retrieved': 1}, {'demoted': 1})
    """
    data = Data.of(judgements, runs, columns=columns)
    return announce_warnings(funnel_of(data, k=k, rel=rel, max_loss=max_loss, policy=policy))


def funnel_of(
    data: Data,
    *,
    k: int = 10,
    rel: float = 1,
    max_loss: Mapping[str, float] | float | None = None,
    policy: PolicyLike | None = None,
) -> Funnel:
    """Find the stage that kept each relevant item out of the top K; the runs are the stages."""
    chosen = check_policy(policy, "funnel", "ties", "duplicates")
    least = float(rel)
    if chosen.ties not in ("id", "input"):
        raise InputError(f"funnel breaks ties by id or by input; got ties={chosen.ties}.")
    pool = pool_of(data.judgements(), duplicates=chosen.duplicates)
    relevant = np.flatnonzero(pool.grades >= least)
    if not len(relevant):
        raise InputError(f"{pool.name}: no item has grade {least:g} or above, so none can be lost.")
    names, columns_of_ranks, absent = [], [], []
    for run in data.runs():
        matches = match(pool, run, duplicates=chosen.duplicates)
        refuse_apart(pool, run, matches)
        refuse_swapped(pool, run, matches.scores, matches.lengths)
        ranks = np.full(len(pool.grades), NOWHERE)
        ranks[matches.hit_judgement] = place(pool, matches, chosen.ties).rank
        columns_of_ranks.append(ranks[relevant])
        absent.append(int((matches.list_of < 0).sum()))
        names.append(run.name)
    if len(names) < 2:
        raise InputError("a funnel has at least two stages, such as a first stage and a reranker.")
    if len(set(names)) < len(names):
        raise InputError(f"stages need different names; got {listed(names)}. Use NAME=FILE.")
    ranks = np.stack(columns_of_ranks, axis=1)
    stage, reason = _lost_at(ranks, k)
    return Funnel(
        stages=tuple(names),
        k=k,
        rel=least,
        queries=tuple(pool.queries),
        query=pool.query[relevant],
        items=tuple(pool.items_at(relevant)),
        ranks=ranks,
        stage=stage,
        reason=reason,
        limits=_limits(max_loss, names),
        absent=tuple(absent),
    )


def _lost_at(ranks: Ints, k: int) -> tuple[Ints, Ints]:
    """Return the stage that lost each item (-1 if none did), and the number of the reason."""
    stages = ranks.shape[1]
    last_top = _last(ranks <= k)
    last_listed = _last(ranks < NOWHERE)
    # Lost by the stage after the last one that had it in the top K, or else in its list.
    stage = np.where(last_top >= 0, last_top, last_listed) + 1
    listed_there = ranks[np.arange(len(ranks)), np.minimum(stage, stages - 1)] < NOWHERE
    reason = np.where(listed_there, 2, 1)
    reason[last_listed < 0] = 0
    unpromoted = (last_top < 0) & (last_listed == stages - 1)
    stage[unpromoted], reason[unpromoted] = stages - 1, 3
    stage[last_top == stages - 1] = -1
    return stage, reason


def _last(true: NDArray[np.bool_]) -> Ints:
    """Return the last true column of each row, or -1."""
    last = true.shape[1] - 1 - np.argmax(true[:, ::-1], axis=1)
    return np.where(true.any(axis=1), last, -1)


def _limits(given: Mapping[str, float] | float | None, stages: Sequence[str]) -> dict[str, float]:
    if given is None:
        return {}
    limits = given if isinstance(given, Mapping) else dict.fromkeys(stages[1:], given)
    return {
        choice("the stage of max_loss", name, stages): number(
            "max_loss", share, at_least=0, at_most=1
        )
        for name, share in limits.items()
    }


@dataclass(frozen=True, eq=False, repr=False)
class Funnel(Result):
    """Relevant items, their rank at each stage of a pipeline, and the stage that lost them.

    >>> import judged
    >>> stages = {"first": {"q": ["a", "b"]}, "last": {"q": ["b", "a"]}}
    >>> judged.funnel({"q": {"a": 1}}, stages, k=1).losses
    {'first': {}, 'last': {'demoted': 1}}
    """

    DISPLAY: ClassVar[frozenset[str]] = frozenset({"per_query"})

    stages: tuple[str, ...]
    """The names of the stages, in their order."""
    k: int
    """The number of results that count."""
    rel: float
    """The least grade of a relevant item."""
    queries: tuple[str, ...]
    """The judged queries."""
    query: Ints
    """Index into `queries` of each relevant item."""
    items: tuple[str, ...]
    """The id of each relevant item."""
    ranks: Ints
    """The rank of each relevant item at each stage; `NOWHERE` if it is not listed."""
    stage: Ints
    """The stage that lost each relevant item; -1 if it is in the final top K."""
    reason: Ints
    """Index into `REASONS` for each lost item."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """The largest share of relevant items that each stage may lose."""
    absent: tuple[int, ...] = ()
    """The number of judged queries that each stage lacks."""

    @property
    def relevant(self) -> int:
        """The number of relevant items."""
        return len(self.items)

    @property
    def kept(self) -> int:
        """The number of relevant items in the final top K."""
        return int((self.stage < 0).sum())

    @property
    def losses(self) -> dict[str, dict[str, int]]:
        """For each stage, the number of relevant items that it lost, by reason."""
        counts = {}
        for at, name in enumerate(self.stages):
            by_reason = np.bincount(self.reason[self.stage == at], minlength=len(REASONS))
            pairs = zip(REASONS, by_reason.tolist(), strict=True)
            counts[name] = {reason: count for reason, count in pairs if count}
        return counts

    @property
    def passed(self) -> bool:
        """True if no stage lost a larger share than allowed."""
        return not self._failures()

    def _failures(self) -> list[str]:
        lost = {name: sum(reasons.values()) for name, reasons in self.losses.items()}
        return [
            f"{name} lost {lost[name]:,} of {self.relevant:,} relevant items "
            f"({percent(lost[name] / self.relevant, 1)} %; allowed: {100 * limit:g} %)"
            for name, limit in self.limits.items()
            if lost[name] / self.relevant > limit
        ]

    def recall(self) -> dict[str, float]:
        """Return the mean recall of each stage in its top K, over queries with relevant items.

        >>> import judged
        >>> stages = {"first": {"q": ["a", "b"]}, "last": {"q": ["b", "a"]}}
        >>> judged.funnel({"q": {"a": 1}}, stages, k=1).recall()
        {'first': 1.0, 'last': 0.0}
        """
        return dict(zip(self.stages, self._by_query(self.ranks <= self.k), strict=True))

    def _by_query(self, true: NDArray[np.bool_]) -> list[float]:
        """Return the mean over queries of the share of relevant items, for each column."""
        size = np.bincount(self.query, minlength=len(self.queries)).astype(np.float64)
        rows = [np.bincount(self.query, column, len(size)) for column in true.T]
        return [float((row[size > 0] / size[size > 0]).mean()) for row in rows]

    def says(self) -> list[str]:
        """Return the result in sentences."""
        of = counted(self.relevant, "relevant item")
        lines = [
            f"{self.kept:,} of {of} ({percent(self.kept / self.relevant, 1)} %) "
            f"{'is' if self.kept == 1 else 'are'} in the top {self.k} of {self.stages[-1]}."
        ]
        for name, lost in self.losses.items():
            if lost:
                parts = [f"{count:,} {reason}" for reason, count in lost.items()]
                share = percent(sum(lost.values()) / self.relevant, 1)
                lines.append(f"{name} lost {sum(lost.values()):,} ({share} %): {listed(parts)}.")
        if not self.limits:
            return lines
        failures = self._failures()
        verdict = f"FAILED: {'; '.join(failures)}."
        return [verdict if failures else "PASSED: no stage lost more than allowed.", *lines]

    def _find_warnings(self) -> list[str]:
        found = [
            f"{name} has no results for {count:,} of {len(self.queries):,} judged queries. Their "
            "relevant items count as lost there. Give the lists of all queries."
            for name, count in zip(self.stages, self.absent, strict=True)
            if count
        ]
        for before, (name, ranks) in enumerate(zip(self.stages[1:], self.ranks.T[1:], strict=True)):
            new = int(((ranks < NOWHERE) & (self.ranks.T[before] == NOWHERE)).sum())
            if new:
                found.append(
                    f"{name} lists {counted(new, 'relevant item')} that {self.stages[before]} does "
                    "not list. If it only reranks, check the order of the stages."
                )
        return found

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return plain values for JSON.

        Parameters
        ----------
        per_query : bool, optional
            Whether to add the losses of each query.
        """
        recall = self.recall()
        values: dict[str, Any] = {
            "k": self.k,
            "rel": self.rel,
            "relevant": self.relevant,
            "kept": self.kept,
            "passed": self.passed,
            "stages": [
                {"stage": name, "recall": recall[name], "lost": dict(lost)}
                for name, lost in self.losses.items()
            ],
            "says": self.says(),
            "warnings": self.warnings(),
            "judged": __version__,
        }
        if per_query:
            values["queries"] = self._queries().to_dicts()
        return values

    def to_frame(self, *, per_query: bool = False) -> Frame:
        """Return a row per relevant item: its rank at each stage, the stage that lost it, and why.

        Parameters
        ----------
        per_query : bool, optional
            Return the losses of each query instead.
        """
        import polars as pl

        if per_query:
            return self._queries()
        ranks = {
            f"rank in {name}": pl.Series(column).replace(NOWHERE, None)
            for name, column in zip(self.stages, self.ranks.T, strict=True)
        }
        reasons = [*REASONS, None]
        return pl.DataFrame(
            {
                "query": [self.queries[at] for at in self.query],
                "item": self.items,
                **ranks,
                "lost by": [(*self.stages, None)[at] for at in self.stage],
                "reason": [reasons[at] for at in np.where(self.stage < 0, -1, self.reason)],
            }
        )

    def _queries(self) -> pl.DataFrame:
        """Return the losses of each query with relevant items, the most by later stages first."""
        import polars as pl

        size = np.bincount(self.query, minlength=len(self.queries))
        stages = range(len(self.stages))
        lost = [np.bincount(self.query[self.stage == at], minlength=len(size)) for at in stages]
        chosen = np.flatnonzero(size)
        order = chosen[np.lexsort((chosen, -lost[0][chosen], -np.sum(lost[1:], axis=0)[chosen]))]
        return pl.DataFrame(
            {
                "query": [self.queries[at] for at in order],
                "relevant": size[order],
                f"in top {self.k}": (size - np.sum(lost, axis=0))[order],
                **{f"lost by {name}": n[order] for name, n in zip(self.stages, lost, strict=True)},
            }
        )

    def document(self, display: Display) -> Document:
        recall = self.recall()
        losses = self.losses
        found = [reason for reason in REASONS if any(reason in lost for lost in losses.values())]
        rows = [
            [
                name,
                *(f"{(ranks <= last).sum():,}" for last in (NOWHERE - 1, self.k)),
                shown(recall[name]),
                *(f"{lost.get(reason, 0):,}" for reason in found),
            ]
            for (name, lost), ranks in zip(losses.items(), self.ranks.T, strict=True)
        ]
        header = ["stage", "listed", f"in top {self.k}", f"R@{self.k}", *found]
        queries = self._queries()
        worst = queries.filter(sum(queries[name] for name in queries.columns[3:]) > 0)
        if not display.per_query:
            worst = worst.head(WORST_QUERIES)
        cells = [[str(row[0]), *(f"{value:,}" for value in row[1:])] for row in worst.rows()]
        tables = [Table(header, rows, {"stage"})]
        if cells:
            title = "Queries to look at: most losses after the first stage"
            tables.append(Table(worst.columns, cells, {"query"}, title=title))
        return Document(
            answer=self.says(),
            tables=tables,
            warnings=self._find_warnings(),
            details=[
                *(f"{name}: {meaning}." for name, meaning in REASONS.items()),
                f"Relevant: grade {self.rel:g} or above. R@{self.k} is the mean over queries with "
                "relevant items; the other columns count items.",
            ],
        )
