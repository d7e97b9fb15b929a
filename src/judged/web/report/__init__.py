"""Everything about an evaluation in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, quoted
from judged.options import LEVEL, checked, size_in_bytes
from judged.policy import add_choices

if TYPE_CHECKING:
    from judged.charts.pictures import PicturesLike
    from judged.comparison.comparison import Comparison
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.options import (
        CategoriesLike,
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        FileFormat,
        GroupsLike,
        ItemToLike,
        JudgementsLike,
        MeasuresLike,
        PolicyLike,
        Progress,
        RunsLike,
        SlicesLike,
        TextsLike,
        WeightsLike,
    )
    from judged.web.report.contents import ReportContents
    from judged.web.report.report import Report

__all__ = ["make_report", "report_of"]

MEASURE = "nDCG@10"
"""What systems are ranked by where no measures are named."""


@checked
def make_report(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    baseline: str | None = None,
    slices: SlicesLike | None = None,
    title: str | None = None,
    date: str | None = None,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    pictures: PicturesLike | None = None,
    max_size: str | int | None = None,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    unique: CategoriesLike | None = None,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    convention: ConventionLike | None = None,
    weights: WeightsLike | None = None,
    unanswerable: bool = False,
    answer_threshold: float | None = None,
    level: float = LEVEL,
    groups: GroupsLike | None = None,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    progress: Progress | None = None,
) -> Report:
    """Evaluate runs, compare them, and put everything about them into one HTML file.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunsLike, optional
        One run, or several as {name: run} or as a list of files. None where `judgements` are rows
        that hold relevant and retrieved ids.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list: systems are ranked by the first. By default nDCG@10, AP, RR,
        P@10 and R@100.
    baseline : str, optional
        The run that all others are compared with; by default all pairs are compared.
    slices : SlicesLike, optional
        Attributes of the queries, to compare the runs in each slice too; as for `compare`.
    title : str, optional
        What stands above what came out.
    date : str, optional
        When it was made, in any form. Nothing by default: the same input gives the same bytes.
    texts, queries : TextsLike, optional
        The titles and texts of items, and the texts of queries: {id: text}, a table or a file.
    pictures : PicturesLike, optional
        Pictures of items and queries: {id: picture}, or a table with the columns id and picture.
    max_size : str or int, optional
        How large the file may be, as "2MB". What does not fit is left out, and the file says so:
        pictures first, then texts, values of further measures, lists, charts, strips, and the
        table of every query.
    policy, depth, duplicates, collection, unique, item_to, exclude_same_id, convention, weights, \
unanswerable, answer_threshold, level, groups, columns, judgements_format, run_format, progress
        As for `evaluate`.

    Returns
    -------
    Report

    >>> judgements = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> runs = {"one": {"q1": ["a"], "q2": ["b", "c"]}, "two": {"q1": ["b", "a"], "q2": ["b", "c"]}}
    >>> make_report(judgements, runs, "RR").sentences()[0]
    'one is first on RR, not significantly better than two'
    """
    from judged.comparison.dependence import names_missing
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.evaluation.runs import match_runs
    from judged.evaluation.settings import EvaluationSettings
    from judged.evaluation.warnings import announce_warnings
    from judged.inputs.data import Data
    from judged.web.report.contents import QueryResults, why_lacking
    from judged.web.report.provenance import call_of, input_files

    data = Data.of(
        judgements,
        run,
        columns=columns,
        judgements_format=judgements_format,
        run_format=run_format,
    )
    with data.reading_ahead() as read:
        chosen = add_choices(policy, depth=depth, duplicates=duplicates)
        request = EvaluationSettings.of(measures, chosen, convention, prepares=True)
        judged = match_runs(
            read,
            request,
            collection=collection,
            weights=weights,
            progress=progress,
            keep=True,
            item_to=item_to,
            unique=unique,
            exclude_same_id=exclude_same_id,
        )
    evaluation = announce_warnings(
        evaluate_rankings(judged.rankings, request, weights=weights).showing(
            intervals=True,
            level=level,
            groups=groups,
            unanswerable=unanswerable,
            threshold=answer_threshold,
        )
    )
    names = tuple(each.name for each in evaluation.runs)
    results = QueryResults(
        evaluation,
        judged.judgements,
        dict(zip(names, judged.tables, strict=True)),
        judging={"depth": depth, "duplicates": duplicates, "collection": collection},
    )
    read_as = {
        **{"judgements": judgements, "run": run, "texts": texts, "queries": queries},
        **{"pictures": pictures, "slices": slices, "weights": weights, "groups": groups},
        **{"categories": unique, "documents": item_to},
    }
    options = {
        **{"baseline": baseline, "slices": slices, "title": title, "date": date},
        **{"texts": texts, "queries": queries, "pictures": pictures, "max_size": max_size},
        **{"policy": policy, "convention": convention, "depth": depth},
        **{"duplicates": None if duplicates == "error" else duplicates},
        **{"collection": collection, "unique": unique, "item_to": item_to},
        **{"exclude_same_id": exclude_same_id, "weights": weights, "unanswerable": unanswerable},
        **{"answer_threshold": answer_threshold, "level": None if level == LEVEL else level},
        **{"groups": groups, "columns": columns},
        **{"judgements_format": judgements_format, "run_format": run_format},
    }
    call = call_of(judgements, run, measures, options, names)
    return report_of(
        evaluation,
        measure=MEASURE if measures is None and convention is None else None,
        baseline=baseline,
        refused="" if names_missing(policy) else why_lacking(judged.rankings),
        slices=slices,
        level=level,
        groups=groups,
        title=title,
        date=date,
        texts=texts,
        queries=queries,
        pictures=pictures,
        max_size=max_size,
        results=results,
        files=input_files(read_as),
        call=call,
        again=None if call is None else call.report,
    )


@checked
def report_of(
    source: Evaluation | Comparison,
    *,
    title: str | None = None,
    date: str | None = None,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    pictures: PicturesLike | None = None,
    max_size: str | int | None = None,
    top_k: TopK | Mapping[str, TopK] | None = None,
    **more: Any,
) -> Report:
    """The report of an evaluation or of a comparison; `more` is what `contents` takes."""
    from dataclasses import replace

    from judged.charts.pictures import read_pictures
    from judged.comparison.comparison import Comparison
    from judged.embeddings.top_k import TopK
    from judged.evaluation.trusted import refuse_corrected
    from judged.inputs.texts import read_texts
    from judged.web.report.contents import contents_of_comparison, contents_of_evaluation, items_of
    from judged.web.report.report import Report

    limit = None if max_size is None else size_in_bytes(max_size, "max_size", at_least=10_000)
    about: Any = (
        contents_of_comparison if isinstance(source, Comparison) else contents_of_evaluation
    )
    evaluation = source.evaluation if isinstance(source, Comparison) else source
    if evaluation is not None:
        refuse_corrected(evaluation, "reports")
    found: ReportContents = about(source, **more)
    if top_k is not None:
        names = [run.name for run in found.evaluation.runs]
        first = dict(top_k) if isinstance(top_k, Mapping) else {names[0]: top_k}
        for own in first.values():
            if not isinstance(own, TopK):
                raise InputError(
                    "top_k must be what Embeddings.top_k gives, or {run: that} of several runs; "
                    f"got {quoted(own)}."
                )
        listed = {run: own.to_dict() for run, own in first.items()}
        found = replace(found, results=replace(found.results, first=listed))
    if texts is not None:
        items = items_of([each for part in found.listed for each in part])
        found = replace(found, texts=read_texts(texts, only=items))
    if queries is not None:
        query_ids = {query for run in found.evaluation.runs for query in run.rankings.queries}
        found = replace(found, queries=read_texts(queries, of="queries", only=query_ids))
    if pictures is not None:
        found = replace(found, pictures=read_pictures(pictures))
    return Report(found, title, date, limit)
