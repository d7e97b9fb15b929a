"""Several judges made one, by a rule that has a name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from judged.arrays import Floats
from judged.errors import InputError, OutputError
from judged.inputs.columns import as_columns
from judged.inputs.tables import Judgements
from judged.judgements.agreements.choices import RULES
from judged.judgements.agreements.judges import Grades, grades_of, read_judges, several_judges
from judged.judgements.agreements.rules import one_grade, tied
from judged.options import checked, checked_methods, choice
from judged.outputs import check_target, replacing
from judged.results import Result, Table
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    import polars as pl

    from judged.options import ColumnsLike, Duplicates, FileFormat, JudgementsLike

QRELS = "a TREC file of judgements"
TREC = ("", ".qrels", ".qrel", ".trec", ".txt")
"""The endings of TREC text."""


@checked
def merge_judgements(
    judgements: Mapping[str, JudgementsLike] | Sequence[str | os.PathLike[str]],
    *,
    rule: str = "majority",
    duplicates: Duplicates = "error",
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
) -> MergedJudgements:
    """Make one judge of several, by a rule; every item has the grades of those who judged it.

    Parameters
    ----------
    judgements : dict or list of files
        {name: judgements}, or files, which may be named: "NAME=FILE".
    rule : {"majority", "mean", "median", "highest", "lowest", "first"}, optional
        Which grade an item gets: the one that most judges gave, of several such the lowest; the
        mean or the median of all; the highest; the lowest; or that of the first judge, in the order
        in which they are given, who judged it.
    duplicates : {"error", "first"}, optional
        What is done about an item that a judge has twice for a query.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    judgements_format : FileFormat, optional
        The format of the files; by default their content tells.

    Returns
    -------
    MergedJudgements
        Judgements that every function here takes.

    >>> ann, bob = {"q": {"a": 2, "b": 0}}, {"q": {"a": 1, "b": 0, "c": 1}}
    >>> merge_judgements({"ann": ann, "bob": bob}, rule="mean").to_dict()
    {'q': {'a': 1.5, 'b': 0.0, 'c': 1.0}}
    """
    choice("rule", rule, RULES)
    for role in ("document", "weight"):
        if role in as_columns(columns):
            raise InputError(
                f"columns: merged judgements have no {role}; leave it out, and give it where they "
                "are evaluated."
            )
    judges = read_judges(
        several_judges(judgements, "a merger takes"),
        columns=columns,
        format=judgements_format,
        where="A merger takes judgements alone.",
    )
    grades = grades_of(judges, duplicates=duplicates)
    values = _merged(grades, rule)
    import polars as pl

    frame = grades.frame.with_columns(pl.Series("grade", values, dtype=pl.Float64))
    some = len(np.unique(grades.query)) < len(grades.queries)
    return MergedJudgements(
        frame=frame.select("query", "item", "grade", *grades.frame.columns[2:]),
        source=f"{listed(grades.judges)} merged",
        notes=(*_ties(grades, rule), *_between(grades, values), *grades.notes),
        queries=grades.queries if some else (),
        rule=rule,
        merged=tuple(
            JudgeShare(
                name,
                int(there.sum()),
                int((there & (grades.times == 1)).sum()),
                int((own == values).sum()),
            )
            for name, there, own in zip(grades.judges, grades.there.T, grades.values.T, strict=True)
        ),
        judged_by=tuple(np.bincount(grades.times, minlength=len(judges) + 1).tolist()),
    )


def _merged(grades: Grades, rule: str) -> Floats:
    """One grade of each row; where nobody judged, the item stays in the pool by the first negative
    grade."""
    found = one_grade(grades.values, rule)
    return np.where(np.isnan(found), one_grade(grades.negative, "first"), found)


def _ties(grades: Grades, rule: str) -> list[str]:
    """How often the majority was split."""
    split = int(tied(grades.values).sum()) if rule == "majority" else 0
    if not split:
        return []
    have = "has" if split == 1 else "have"
    said = (
        f"{grades.counted(split)} {have} no majority, as several grades were given equally often: "
        "the lowest is taken."
    )
    if len(grades.judges) == 2:
        said += (
            " Of two judges that is the lower grade wherever they differ; a third would settle it."
        )
    return [Warned(said)]


def _between(grades: Grades, values: Floats) -> list[str]:
    """How many items the rule itself made neither relevant nor not."""
    own = (grades.values == values[:, None]).any(axis=1)
    made = int(((values > 0) & (values < 1) & ~own).sum())
    if not made:
        return []
    has, it = ("has", "it") if made == 1 else ("have", "them")
    return [
        Warned(
            f"{grades.counted(made)} {has} a grade between 0 and 1, which nobody gave: measures of "
            f"relevant items take {it} for not relevant, unless told otherwise, as by "
            "P(rel=0.5)@10; nDCG takes the grade as it is."
        )
    ]


@dataclass(frozen=True)
class JudgeShare:
    """What one judge gave to merged judgements."""

    name: str
    judged: int
    """How many items the judge judged."""
    alone: int
    """How many of these nobody else did."""
    kept: int
    """How many of these have the judge's grade."""


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class MergedJudgements(Result, Judgements):
    """What `merge_judgements` returns: judgements that every function here takes.

    >>> import judged
    >>> both = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 1, "b": 1}}}
    >>> merged = judged.merge_judgements(both, rule="highest")
    >>> judged.evaluate(merged, {"q": ["c", "b", "a"]}, "RR").value("RR")
    0.5
    """

    rule: str = "majority"
    """How several grades became one."""
    merged: tuple[JudgeShare, ...] = ()
    """What each judge gave."""
    judged_by: tuple[int, ...] = ()
    """How many items nobody judged, one judge, two judges, and so on."""

    SAVED_AS: ClassVar[dict[str, str]] = {
        ending: method for ending, method in Result.SAVED_AS.items() if ending != ".txt"
    }
    WORDS: ClassVar[frozenset[str]] = frozenset(("judge",))

    def to_dict(self) -> dict[str, Any]:
        """{query: {item: grade}}, or {query: {item: {subtopic: grade}}}.

        Returns
        -------
        dict

        >>> import judged
        >>> both = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 1}}}
        >>> judged.merge_judgements(both).to_dict()
        {'q': {'a': 1.0, 'b': 0.0}}
        """
        found: dict[str, Any] = {query: {} for query in self.names()}
        for query, item, grade, *subtopic in self.frame.iter_rows():
            if subtopic:
                found[query].setdefault(item, {})[subtopic[0]] = grade
            else:
                found[query][item] = grade
        return found

    def to_frame(self) -> pl.DataFrame:
        """One row per judgement: query, item and grade, and the subtopic where there is one.

        Returns
        -------
        polars.DataFrame

        >>> import judged
        >>> both = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 1}}}
        >>> judged.merge_judgements(both).to_frame()["item"].to_list()
        ['a', 'b']
        """
        return self.frame

    def sentences(self) -> list[str]:
        """What could mislead, how many items how many judged, and which grade they got.

        Returns
        -------
        list of str

        >>> import judged
        >>> both = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 1}}}
        >>> judged.merge_judgements(both).sentences()[0]
        '2 items of 1 query, judged: 1 by one judge, 1 by two judges.'
        """
        return [
            *self._warned(),
            self._counted(),
            f"rule {self.rule}: an item has {RULES[self.rule]}.",
            *(note for note in self.notes if not isinstance(note, Warned)),
        ]

    def _counted(self) -> str:
        words = ("nobody", "one judge", "two judges", "three judges")
        by = [
            f"{items:,} by {words[times] if times < len(words) else f'{times} judges'}"
            for times, items in enumerate(self.judged_by)
            if items
        ]
        queries = counted(len(self.names()), "query", "queries")
        kind = " by subtopic" if self.by_subtopic else ""
        said = f"{counted(self.frame.height, f'item{kind}', f'items{kind}')} of {queries}"
        return f"{said}, judged: {', '.join(by)}." if by else f"{said}."

    def tables(self) -> list[Table]:
        """One table with a row per judge: how much was judged, by nobody else, and kept.

        Returns
        -------
        list of (header, rows)

        >>> import judged
        >>> both = {"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 2}}}
        >>> judged.merge_judgements(both, rule="highest").tables()[0][1]
        [['ann', '2', '1', '1'], ['bob', '1', '0', '1']]
        """
        rows = [
            [each.name, f"{each.judged:,}", f"{each.alone:,}", f"{each.kept:,}"]
            for each in self.merged
        ]
        return [(["judge", "judged", "alone", "grade kept"], rows)]

    def to_csv(self) -> str:
        """`to_frame` as CSV: judgements, so ids stay as they are, whatever a spreadsheet makes of
        them.

        Returns
        -------
        str

        >>> import judged
        >>> both = {"ann": {"q": {"=a": 1}}, "bob": {"q": {"=a": 1}}}
        >>> judged.merge_judgements(both).to_csv()
        'query,item,grade\\nq,=a,1.0\\n'
        """
        return self.frame.write_csv()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the judgements to a file, whole or not at all; grades keep all their digits.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: TREC text (.qrels, .qrel, .trec, .txt or
            none), .parquet, .csv or .json, which are read back as the same judgements; .md or .html
            has the table and the sentences.

        >>> import judged
        >>> judged.merge_judgements({"a": {"q": {"d": 1}}, "b": {"q": {"d": 0}}}).save("/dev/null")
        """
        check_merged_target(path)
        target = Path(path)
        ending = target.suffix.lower()
        if ending in _FORMATS:
            self._refuse_lost(target, _FORMATS[ending])
        if ending in TREC:
            self._save_trec(target)
        else:
            self._save(target)

    def _refuse_lost(self, target: Path, format: str) -> None:
        """Refuse a format that would not give back the same judgements."""
        from judged.inputs.trec import refuse_ids

        refuse_ids(self.frame, format, target)
        if self.by_subtopic and format == QRELS and self.frame["subtopic"].n_unique() == 1:
            raise OutputError(
                f"{target}: there is one subtopic alone, which {format} cannot tell from none; "
                "write .json."
            )
        if self.queries and format != "JSON":
            there = set(self.frame["query"].unique().to_list())
            lost = [query for query in self.queries if query not in there]
            raise OutputError(
                f"{target}: {counted(len(lost), 'query has', 'queries have')} no judged item "
                f"({few(lost)}), which {format} cannot hold; write .json."
            )

    def _save_trec(self, target: Path) -> None:
        import polars as pl

        whole = pl.col("grade").cast(pl.Int64, strict=False)
        short = pl.when(whole.cast(pl.Float64) == pl.col("grade")).then(whole.cast(pl.String))
        lines = self.frame.select(
            "query",
            pl.col("subtopic") if self.by_subtopic else pl.lit("0").alias("iteration"),
            "item",
            grade=short.otherwise(pl.col("grade").cast(pl.String)),
        )
        with replacing(target) as temporary:
            lines.write_csv(temporary, separator=" ", include_header=False, quote_style="never")


_FORMATS = dict.fromkeys(TREC, QRELS) | {
    ".csv": "CSV",
    ".parquet": "Parquet",
    ".json": "JSON",
}
"""What can be read back as judgements, and may not hold every id."""


def check_merged_target(path: str | os.PathLike[str]) -> None:
    """Refuse a place or an ending that judgements cannot be written to, before any work is done."""
    check_target(path)
    endings = [*TREC[1:], *MergedJudgements.SAVED_AS, ".parquet"]
    ending = Path(path).suffix.lower()
    if ending and ending not in endings:
        raise OutputError(
            f"{path}: the ending says the format, and must be {listed(endings, 'or')}."
        )
