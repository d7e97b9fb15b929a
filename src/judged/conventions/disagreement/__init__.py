"""Why numbers differ: a measure as every known library defines it, side by side on one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judged.conventions.disagreement.compare import Rows, compare
from judged.conventions.disagreement.definitions import family
from judged.conventions.disagreement.result import Disagreement
from judged.errors import InputError
from judged.evaluation.settings import unprepared
from judged.inputs.blocks import MEMORY, Room
from judged.inputs.data import Data, holds_rows
from judged.matching import match_variants
from judged.matching.items import with_items
from judged.matching.variants import list_variants
from judged.measures import Measure, parse_all
from judged.options import checked
from judged.policy import Policy
from judged.rankings.findings import audit_of
from judged.rankings.relevance import NO_DEPTH, NO_IDS, listed_rankings, may_be_list

if TYPE_CHECKING:
    from judged.options import (
        ColumnsLike,
        Duplicates,
        FileFormat,
        ItemToLike,
        JudgementsLike,
        MeasuresLike,
        Memory,
        Path,
        RunLike,
    )

__all__ = ["DEFAULT", "Disagreement", "compare_conventions"]

DEFAULT = ("AP@10", "nDCG@10", "P@10", "R@10", "RR@10")
"""Names that stand for different numbers in many libraries."""


@checked
def compare_conventions(
    judgements: JudgementsLike | Sequence[float | None],
    run: RunLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    relevant: int | None = None,
    pool: Sequence[Any] | str | None = None,
    collection: int | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    memory: Memory = MEMORY,
    temporary: Path | None = None,
) -> Disagreement:
    """Every definition that a known library has for some measures, on one run: what each gives.

    The first row of each measure is the measure as it was asked for, with judged's default policy;
    every difference is one from that row, in words, with the number of queries that it touches.

    Parameters
    ----------
    judgements : JudgementsLike, or a relevance list
        A file, a dict {query: {item: grade}}, or a table. Without a run: rows that hold relevant
        and retrieved ids, or the grades of one list in rank order, as a list or a text ("0 1 0 0
        1"; None or - for an item that nobody judged; brackets in a text around results that share
        a score).
    run : RunLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table.
    measures : MeasuresLike, optional
        Such as "AP@10", or a list; by default AP@10, nDCG@10, P@10, R@10 and RR@10.
    relevant : int, optional
        Of a relevance list: how many items are relevant in all.
    pool : sequence or str, optional
        Of a relevance list: the grades of all judged items, in any order.
    collection : int, optional
        Of a relevance list: how many items there were to retrieve; few measures need it.
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
    memory : str or int, optional
        What a run may take while it is read: large ones are read in blocks, and one that is not
        grouped by query is put on disk by query first.
    temporary : str or PathLike, optional
        The folder for what is put on disk meanwhile; by default that of the system.

    Returns
    -------
    Disagreement

    >>> judgements = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> found = compare_conventions(judgements, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, "AP@2")
    >>> used = [row for row in found.rows() if row.used_by("replay", "torchmetrics")]
    >>> [(str(row.measure), row.value) for row in used]
    [('AP(norm=capped)@2', 0.5), ('AP(norm=retrieved)@2', 1.0)]
    """
    wanted = parse_all(DEFAULT if measures is None else measures)
    if run is None and may_be_list(judgements) and not holds_rows(judgements):
        if item_to is not None or exclude_same_id:
            raise InputError(NO_IDS)
        if depth is not None:
            raise InputError(NO_DEPTH)
        r = listed_rankings(judgements, relevant=relevant, pool=pool, collection=collection)
        return _disagreement(Rows(list_variants(r)), wanted)
    if relevant is not None or pool is not None or collection is not None:
        raise InputError("relevant, pool and collection are about a relevance list.")
    data = with_items(
        Data.of(
            judgements,
            run,
            columns=columns,
            judgements_format=judgements_format,
            run_format=run_format,
            room=Room.of(memory, temporary),
        ),
        item_to=item_to,
        exclude_same_id=exclude_same_id,
        duplicates=duplicates,
    )
    listed = data.run("compare_conventions takes one run; compare several one at a time.")
    # What is wrong with the data is wrong with all definitions: it is found here.
    rows = Rows(
        match_variants(data.judgements(), listed, Policy(depth=depth, duplicates=duplicates))
    )
    families = map(family, wanted)
    users = (user for each in families for known in each for user in known.users)
    libraries = {user.convention.name: user.convention for user in users}
    return _disagreement(rows, wanted, unprepared(listed, libraries.values()))


def _disagreement(
    rows: Rows, wanted: Sequence[Measure], warned: Sequence[str] = ()
) -> Disagreement:
    return Disagreement(
        rows.rankings.name,
        tuple(compare(rows, measure, family(measure)) for measure in wanted),
        (*audit_of(rows.rankings).warnings, *warned),
    )
