"""Why numbers differ: a measure as every known library defines it, side by side on one run."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

from judged.checks import checked
from judged.disagreement.compare import Rows, compare
from judged.disagreement.definitions import family
from judged.disagreement.result import Disagreement
from judged.evaluation.preparation import unprepared
from judged.inputs.data import Data
from judged.judging.items import with_items
from judged.measures import parse_all
from judged.rankings.audit import audit_of

if TYPE_CHECKING:
    from judged.types import (
        ColumnsLike,
        Duplicates,
        FileFormat,
        ItemToLike,
        JudgementsLike,
        MeasuresLike,
        RunLike,
    )

__all__ = ["DEFAULT", "Disagreement", "compare_conventions"]

DEFAULT = ("AP@10", "nDCG@10", "P@10", "R@10", "RR@10")
"""Names that stand for different numbers in many libraries."""


@checked
def compare_conventions(
    judgements: JudgementsLike,
    run: RunLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
) -> Disagreement:
    """Every definition that a known library has for some measures, on one run: what each gives.

    The first row of each measure is the measure as it was asked for, with judged's default policy;
    every difference is one from that row, in words, with the number of queries that it touches.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table; None
        where `judgements` are rows that hold relevant and retrieved ids.
    measures : MeasuresLike, optional
        Such as "AP@10", or a list; by default AP@10, nDCG@10, P@10, R@10 and RR@10.
    depth : int, optional
        Cut every list at this rank first; by default lists count whole.
    duplicates : {"error", "first"}, optional
        What is done about an item that occurs twice for a query.
    item_to : ItemToLike, optional
        Which document an item belongs to: "doc:#" (what stands before the last # of its id),
        "pattern:REGEX" (its first group), "column:NAME", "table:FILE", a dict {item: document}, a
        table or a function. The best result of each document stands for it.
    exclude_same_id : bool, optional
        Take out results that have the id of their query, and judgements of a query for itself.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    judgements_format, run_format : FileFormat, optional
        The format of the files, such as "trec" or "csv", where it is not recognised.

    Returns
    -------
    Disagreement

    >>> judgements = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> found = compare_conventions(judgements, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, "AP@2")
    >>> used = [row for row in found.rows() if row.used_by("replay", "torchmetrics")]
    >>> [(str(row.measure), row.value) for row in used]
    [('AP(norm=capped)@2', 0.5), ('AP(norm=retrieved)@2', 1.0)]
    """
    data = with_items(
        Data.of(
            judgements,
            run,
            columns=columns,
            judgements_format=judgements_format,
            run_format=run_format,
        ),
        item_to=item_to,
        exclude_same_id=exclude_same_id,
        duplicates=duplicates,
    )
    wanted = parse_all(DEFAULT if measures is None else measures)
    listed = data.run("compare_conventions takes one run; compare several one at a time.")
    rows = Rows(data.judgements(), listed, depth=depth, duplicates=duplicates)
    families = [family(measure) for measure in wanted]
    users = (user for each in families for known in each for user in known.users)
    libraries = {user.convention.name: user.convention for user in users}
    warned = [text for library in libraries.values() for text in unprepared(listed, library)]
    return Disagreement(
        rows.rankings.name,
        tuple(map(compare, repeat(rows), wanted, families)),
        (*audit_of(rows.rankings).warnings, *warned),
    )
