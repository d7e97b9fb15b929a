"""Which definition gave this number? Every measure, parameter and policy that is worth trying, and
those that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.conventions.identification.candidates import spaces
from judged.conventions.identification.grid import all_rankings, compute
from judged.conventions.identification.likelihood import Definition, Match, Ranker, chance
from judged.conventions.identification.printed import Asked
from judged.conventions.identification.result import SHOWN, Identification
from judged.inputs.blocks import MEMORY, Room
from judged.inputs.data import Data
from judged.matching import match_variants
from judged.matching.items import with_items
from judged.options import checked
from judged.policy import Policy
from judged.rankings.findings import audit_of

if TYPE_CHECKING:
    from judged.options import (
        CollectionLike,
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

__all__ = ["Definition", "Identification", "Match", "identify"]

NEAREST = 5
"""So many numbers are given where none fits."""


@checked
def identify(
    value: str | float,
    judgements: JudgementsLike,
    run: RunLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    limit: int | None = SHOWN,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    memory: Memory = MEMORY,
    temporary: Path | None = None,
) -> Identification:
    """Find the measures, parameters and policies that give a number, as far as it was printed.

    Parameters
    ----------
    value : str or float
        The number; a text keeps the digits that a number loses: "0.450" is not "0.45".
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table; None
        where `judgements` are rows that hold relevant and retrieved ids.
    measures : MeasuresLike, optional
        Only these are searched, for the parameters and cutoffs that they leave open; by default
        the common measures are.
    depth : int, optional
        Cut every list at this rank first; by default lists count whole.
    duplicates : {"error", "first"}, optional
        What is done about an item that occurs twice for a query.
    collection : CollectionLike, optional
        How many items there are to retrieve: one number, or {query: number}.
    limit : int or None, optional
        How many explanations text and tables show; None for all. All are among the matches.
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
    Identification

    >>> run = {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    >>> found = identify("0.833", {"q": {"a": 1, "b": 1}}, run, "AP")
    >>> found.matches[0].definition.measure
    AP
    """
    asked = Asked.of(value)
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
    variants = match_variants(
        data.judgements(),
        data.run("identify takes one run."),
        Policy(depth=depth, duplicates=duplicates),
        collection,
    )
    rankings = all_rankings(variants)
    tried = spaces(measures, variants.usual)
    grid = compute((each for space in tried for each in space.measures()), rankings)
    ranker = Ranker(grid, tried)
    matches, numbers, in_use = ranker.matches(asked), ranker.numbers, ranker.in_use()
    return Identification(
        asked=asked,
        matches=matches,
        tried=numbers.tried,
        distinct=len(numbers.centres),
        chance=chance(numbers.centres, asked),
        in_use=len(in_use),
        in_use_chance=chance(in_use, asked),
        nearest=() if matches else ranker.nearest(asked, NEAREST),
        idle=grid.idle,
        notes=audit_of(variants.usual).warnings,
        untried=grid.untried,
        limit=limit,
    )
