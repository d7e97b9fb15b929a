"""Combine several assessors' judgements into one, by a named rule."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import InputError, OutputError, PolicyError
from judged.inputs.columns import as_columns
from judged.inputs.tables import Judgements
from judged.judgements import MERGE_RULES
from judged.judgements.assessors import AssessorGrades, grades_of, read_assessors, several_assessors
from judged.options import (
    ColumnsLike,
    FileFormat,
    JudgementsLike,
    PolicyLike,
    checked,
    checked_methods,
    choice,
)
from judged.policy import Policy
from judged.results import Display, Document, Frame, RunResult, Table
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    import polars as pl


@checked
def merge_judgements(
    judgements: Mapping[str, JudgementsLike] | Sequence[str | os.PathLike[str]],
    *,
    rule: str = "majority",
    policy: PolicyLike | None = None,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> MergedJudgements:
    """Combine several assessors' judgements: each item gets one grade, by a rule.

    Parameters
    ----------
    judgements : dict or list of files
        {name: judgements}, or files, which may have names: "NAME=FILE".
    rule : {"majority", "mean", "median", "highest", "lowest", "first"}, optional
        The grade of an item: the most frequent one, the lowest of several; the mean or the median;
        the highest; the lowest; or that of the first assessor, in the order given, who judged it.
    policy : PolicyLike, optional
        Only `duplicates` has a meaning here: what to do if an assessor has an item twice for a
        query, as in {"duplicates": "first"}.
    columns : ColumnsLike, optional
        Meaning of columns, such as {"query": "question_id", "item": "chunk_id"}; by default their
        names tell.
    format : FileFormat, optional
        Format of the files; by default their content tells.

    Returns
    -------
    MergedJudgements
        Judgements that every function of judged takes.

    >>> ann, bob = {"q": {"a": 2, "b": 0}}, {"q": {"a": 1, "b": 0, "c": 1}}
    >>> merge_judgements({"ann": ann, "bob": bob}, rule="mean").to_dict()
    {'q': {'a': 1.5, 'b': 0.0, 'c': 1.0}}
    """
    import polars as pl

    choice("rule", rule, MERGE_RULES)
    duplicates = Policy.of(policy).duplicates
    if Policy.of(policy) != Policy(duplicates=duplicates):
        raise PolicyError("merge_judgements uses only duplicates of a policy; leave out the rest.")
    for role in ("document", "weight"):
        if role in as_columns(columns):
            raise InputError(
                f"columns: merged judgements have no {role}; leave it out, and give it when they "
                "are evaluated."
            )
    assessors = read_assessors(
        several_assessors(judgements, "merge_judgements needs"),
        columns=columns,
        format=format,
        hint="Only judgements can be merged.",
    )
    grades = grades_of(assessors, duplicates=duplicates)
    # An item with only negative grades stays in the pool by the first of them.
    merged = one_grade(grades.values, rule)
    merged = np.where(np.isnan(merged), one_grade(grades.negative, "first"), merged)
    frame = grades.frame.with_columns(pl.Series("grade", merged, dtype=pl.Float64))
    has_empty_queries = len(np.unique(grades.query)) < len(grades.queries)
    return MergedJudgements(
        frame=frame.select("query", "item", "grade", *grades.frame.columns[2:]),
        source=f"{listed(grades.assessors)} merged",
        notes=(*_warnings(grades, merged, rule), *grades.notes),
        queries=grades.queries if has_empty_queries else (),
        rule=rule,
        merged={
            name: {
                "judged": int(there.sum()),
                "alone": int((there & (grades.times == 1)).sum()),
                "grade kept": int((values == merged).sum()),
            }
            for name, there, values in zip(
                grades.assessors, grades.there.T, grades.values.T, strict=True
            )
        },
        judged_by=tuple(np.bincount(grades.times, minlength=len(assessors) + 1).tolist()),
    )


def one_grade(grades: Floats, rule: str) -> Floats:
    """Return the grade of each row by a rule; NaN for a row without grades."""
    ordered = np.sort(grades, axis=1)  # ascending, NaN last
    count = (~np.isnan(grades)).sum(axis=1)
    rows, last = np.arange(len(grades)), np.maximum(count - 1, 0)
    if rule == "first":
        return grades[rows, np.argmax(~np.isnan(grades), axis=1)]
    if rule == "lowest":
        return ordered[:, 0]
    if rule == "highest":
        return ordered[rows, last]
    if rule == "majority":
        return ordered[rows, np.argmax(_frequencies(ordered), axis=1)]
    if rule == "median":
        middle = np.stack([ordered[rows, last // 2], ordered[rows, (last + 1) // 2]], axis=1)
        return _mean(middle, np.full(len(rows), 2))
    return _mean(ordered, count)


def _frequencies(ordered: Floats) -> Ints:
    """Return how often each grade occurs in its row; 0 for NaN."""
    return (ordered[:, :, None] == ordered[:, None, :]).sum(axis=2)


def tied(grades: Floats) -> NDArray[np.bool_]:
    """Return which rows have several most frequent grades."""
    frequencies = _frequencies(np.sort(grades, axis=1))
    most = frequencies.max(axis=1, initial=0)
    return (most > 0) & ((frequencies == most[:, None]).sum(axis=1) > most)


def _mean(ordered: Floats, count: Ints) -> Floats:
    """Return means of ascending grades; equal grades give exactly that grade."""
    rows = np.arange(len(ordered))
    low, high = ordered[:, 0], ordered[rows, np.maximum(count - 1, 0)]
    with np.errstate(all="ignore"):
        mean = np.nansum(ordered, axis=1) / count
        # Sums of grades near the largest float overflow.
        mean = np.where(np.isfinite(mean), mean, np.nansum(ordered / count[:, None], axis=1))
    return np.where(low == high, low, np.clip(mean, low, high))


def _warnings(grades: AssessorGrades, merged: Floats, rule: str) -> list[str]:
    texts = []
    if rule == "majority" and (split := int(tied(grades.values).sum())):
        verb = "has" if split == 1 else "have"
        text = f"{grades.counted(split)} {verb} no majority, because several grades are equally "
        text += "frequent. The lowest of them is used."
        if len(grades.assessors) == 2:
            text += " That is so wherever two assessors differ; a third would settle it."
        texts.append(text)
    is_new = ~(grades.values == merged[:, None]).any(axis=1)
    if fractions := int(((merged > 0) & (merged < 1) & is_new).sum()):
        has, they = ("has", "it counts") if fractions == 1 else ("have", "they count")
        texts.append(
            f"{grades.counted(fractions)} {has} a grade between 0 and 1 that no assessor gave, so "
            f"{they} as not relevant in most measures. Set the relevant grade, such as "
            "P(rel=0.5)@10; nDCG uses the grade as it is."
        )
    return [Warned(text) for text in texts]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class MergedJudgements(RunResult, Judgements):
    """Merged judgements, which every function of judged takes, as returned by `merge_judgements`.

    >>> import judged
    >>> both = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 1, "b": 1}}}
    >>> merged = judged.merge_judgements(both, rule="highest")
    >>> judged.evaluate(merged, {"q": ["c", "b", "a"]}, "RR").value("RR")
    0.5
    """

    rule: str = "majority"
    """Rule by which several grades became one."""
    merged: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each assessor, the number of judged items, of items that no other judged ("alone"), and
    of items that have this assessor's grade ("grade kept")."""
    judged_by: tuple[int, ...] = ()
    """Number of items judged by no assessor, by one, by two, and so on."""

    TREC: ClassVar[tuple[str, ...]] = ("", ".qrels", ".qrel", ".trec", ".txt")
    TREC_TEXT: ClassVar[str] = "a TREC file of judgements"

    def to_dict(self) -> dict[str, Any]:
        """Return {query: {item: grade}}, or {query: {item: {subtopic: grade}}}.

        >>> import judged
        >>> both = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 1}}}
        >>> judged.merge_judgements(both).to_dict()
        {'q': {'a': 1.0, 'b': 0.0}}
        """
        grades: dict[str, Any] = {query: {} for query in self.names()}
        for query, item, grade, *subtopic in self.frame.iter_rows():
            if subtopic:
                grade = {**grades[query].get(item, {}), subtopic[0]: grade}
            grades[query][item] = grade
        return grades

    def to_frame(self) -> Frame:
        """Return one row per judgement: query, item, grade, and the subtopic if there is one.

        >>> import judged
        >>> both = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 1}}}
        >>> judged.merge_judgements(both).to_frame()["item"].to_list()
        ['a', 'b']
        """
        return self.frame

    def document(self, display: Display) -> Document:
        rows = [[name, *map("{:,}".format, n.values())] for name, n in self.merged.items()]
        return Document(
            answer=[self._size()],
            tables=[Table(["assessor", "judged", "alone", "grade kept"], rows, {"assessor"})],
            warnings=[note for note in self.notes if isinstance(note, Warned)],
            notes=[f"Rule {self.rule}: {MERGE_RULES[self.rule]}."],
            details=[note for note in self.notes if not isinstance(note, Warned)],
        )

    def _size(self) -> str:
        by = [
            f"{items:,} by {counted(times, 'assessor')}"
            for times, items in enumerate(self.judged_by)
            if items
        ]
        kind = " by subtopic" if self.by_subtopic else ""
        items = counted(self.frame.height, f"item{kind}", f"items{kind}")
        size = f"{items} of {counted(len(self.names()), 'query', 'queries')}"
        return f"{size}, judged: {', '.join(by)}." if by else f"{size}."

    def save(self, path: str | os.PathLike[str], **display: Any) -> None:
        """Write the judgements to a file, whole or not at all; grades keep all their digits.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write. The file extension decides the format: TREC text (.qrels, .qrel, .trec,
            .txt or none), .parquet, .csv or .json can be read back as the same judgements; .md
            and .html hold the table and the sentences.
        **display
            Options of `Display`; none has a meaning here.

        >>> import judged
        >>> judged.merge_judgements({"a": {"q": {"d": 1}}, "b": {"q": {"d": 0}}}).save("/dev/null")
        """
        self._display("save", display)
        self._save_run(path, "")

    def _check_readable(self, format: str, target: Path, tag: str | None) -> None:
        """Raise an error if a format would not give back the same judgements."""
        from judged.inputs.trec import refuse_ids

        refuse_ids(self.frame, format, target)
        if self.by_subtopic and format == self.TREC_TEXT and self.frame["subtopic"].n_unique() == 1:
            raise OutputError(
                f"{target}: there is only one subtopic, which {format} cannot tell from none; "
                "write .json."
            )
        if self.queries and format != "JSON":
            judged = set(self.frame["query"].unique().to_list())
            empty = [query for query in self.queries if query not in judged]
            raise OutputError(
                f"{target}: {counted(len(empty), 'query has', 'queries have')} no judged item "
                f"({few(empty)}), which {format} cannot hold; write .json."
            )

    def _trec_lines(self, tag: str) -> pl.DataFrame:
        import polars as pl

        whole = pl.col("grade").cast(pl.Int64, strict=False)
        short = pl.when(whole.cast(pl.Float64) == pl.col("grade")).then(whole.cast(pl.String))
        return self.frame.select(
            "query",
            pl.col("subtopic") if self.by_subtopic else pl.lit("0").alias("iteration"),
            "item",
            grade=short.otherwise(pl.col("grade").cast(pl.String)),
        )
