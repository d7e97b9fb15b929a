"""Reports: an evaluation in one HTML file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from judged.errors import InputError, quoted
from judged.options import (
    LEVEL,
    OPTIONS,
    SCORING,
    GroupsLike,
    JudgementsLike,
    MeasuresLike,
    RunsLike,
    SlicesLike,
    TextsLike,
    checked,
    formats_of,
    later,
    unknown_option,
)
from judged.outputs import check_target, checked_ending, write_text
from judged.results import Display, DisplayOptions, Document, Frame, Result
from judged.web.report.layout import board_of, render_report

if TYPE_CHECKING:
    from judged.charts.pictures import PicturesLike
    from judged.comparison.comparison import Comparison
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.web.report.contents import ReportContents
else:  # loaded by `typing.get_type_hints` only
    PicturesLike = later("judged.charts.pictures:PicturesLike")

DEFAULT_MEASURE = "nDCG@10"
"""The measure that systems are ranked by if no measures are named."""


@checked
def report(
    judgements: JudgementsLike | None = None,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    baseline: str | None = None,
    slices: SlicesLike | None = None,
    groups: GroupsLike | None = None,
    level: float = LEVEL,
    title: str | None = None,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    pictures: PicturesLike | None = None,
    **scoring: Any,
) -> Report:
    """Evaluate runs, compare them, and return everything about them as one HTML file.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunsLike, optional
        One run, or several as {name: run} or a list of files. None if `judgements` are rows that
        hold relevant and retrieved ids.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; systems are ranked by the first. By default nDCG@10, AP, RR,
        P@10 and R@100.
    path : str or os.PathLike, optional
        Where to write the report.
    baseline : str, optional
        The run that all others are compared with; by default all pairs are compared.
    slices : SlicesLike, optional
        Attributes of the queries; runs are also compared in each slice.
    groups : GroupsLike, optional
        The group of each query, if queries of a group are not independent.
    level : float, optional
        The confidence level.
    title : str, optional
        The title.
    texts, queries : TextsLike, optional
        Titles and texts of items, and texts of queries: {id: text}, a table or a file.
    pictures : PicturesLike, optional
        Pictures of items and queries: {id: picture}, or a table with the columns id and picture.
    **scoring
        Options of `evaluate`, and `unanswerable` and `answer_threshold`.

    >>> judgements = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> runs = {"one": {"q1": ["a"], "q2": ["b", "c"]}, "two": {"q1": ["b", "a"], "q2": ["b", "c"]}}
    >>> report(judgements, runs, "RR").sentences()[0]
    'one is first on RR, not significantly better than two'
    """
    from judged.comparison.dependence import names_missing
    from judged.web.report.contents import why_lacking
    from judged.web.report.provenance import commands_of, input_files

    known = ("judgements", "measures", *SCORING, "unanswerable", "answer_threshold")
    for name, value in scoring.items():
        if name not in known:
            raise InputError(unknown_option("report", name, known))
        if name in OPTIONS and value is not None:
            OPTIONS[name](name, value)
    if judgements is None:
        raise InputError("report needs judgements, such as report('qrels.txt', 'bm25.run').")
    policy, convention = scoring.get("policy"), scoring.get("convention")
    beside: dict[str, Any] = {"texts": texts, "queries": queries, "pictures": pictures}
    comparing: dict[str, Any] = {"baseline": baseline, "slices": slices, "groups": groups}
    evaluation, results = _evaluate(judgements, run, measures, level, groups, **scoring)
    shown = {**comparing, "title": title, **beside, "level": None if level == LEVEL else level}
    names = tuple(scored.name for scored in evaluation.runs)
    judgements_format, run_format = formats_of(scoring.get("format"))
    formats = {"judgements_format": judgements_format, "run_format": run_format}
    options = {**shown, **scoring, **formats, "format": None, "progress": None}
    again, explains = commands_of(judgements, run, measures, options, names)
    files = {
        **{"judgements": judgements, "run": run, **beside, "slices": slices},
        **{"weights": scoring.get("weights"), "groups": groups},
        **{"categories": scoring.get("unique"), "documents": scoring.get("item_to")},
    }
    made = report_of(
        evaluation,
        measure=DEFAULT_MEASURE if measures is None and convention is None else None,
        **comparing,
        level=level,
        title=title,
        **beside,
        refused="" if names_missing(policy) else why_lacking(list(evaluation.rankings.values())),
        **results,
        files=input_files(files),
        explains=explains if results else None,  # explanations need ids
        again=again,
    )
    if path is not None:
        made.save(path)
    return made


def _evaluate(
    judgements: Any,
    run: Any,
    measures: Any,
    level: float,
    groups: Any,
    *,
    policy: Any = None,
    convention: Any = None,
    columns: Any = None,
    format: Any = None,
    unanswerable: bool = False,
    answer_threshold: float | None = None,
    **matching: Any,
) -> tuple[Evaluation, dict[str, Any]]:
    """Return the evaluation, and its runs with ids; nothing for rankings files without ids."""
    from judged.evaluation.evaluate import evaluate, evaluate_and_match
    from judged.evaluation.warnings import announce_warnings
    from judged.inputs.formats import is_rankings_file

    shown: dict[str, Any] = {
        **{"intervals": True, "level": level, "groups": groups},
        **{"unanswerable": unanswerable, "threshold": answer_threshold},
    }
    if is_rankings_file(judgements):
        scoring = {"policy": policy, "convention": convention, "columns": columns, **matching}
        evaluation = evaluate(judgements, run, measures, format=format, **scoring)
        return evaluation.showing(**shown), {}
    if matching.pop("trusted", None) is not None:
        raise InputError("reports do not support trusted judgements; use evaluate or compare.")
    scoring = {"policy": policy, "convention": convention, "columns": columns, "format": format}
    evaluation, matched = evaluate_and_match(
        judgements, run, measures, keep=True, **scoring, **matching
    )
    evaluation = announce_warnings(evaluation.showing(**shown))
    names = [scored.name for scored in evaluation.runs]
    results = {
        "judgements": matched.judgements,
        "tables": dict(zip(names, matched.tables, strict=True)),
        "collection": matching.get("collection"),
    }
    return evaluation, results


@checked
def report_of(
    source: Evaluation | Comparison,
    *,
    title: str | None = None,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    pictures: PicturesLike | None = None,
    top_k: TopK | Mapping[str, TopK] | None = None,
    **options: Any,
) -> Report:
    """Return the report of an evaluation or a comparison; `options` are those of its contents."""
    from judged.charts.pictures import read_pictures
    from judged.comparison.comparison import Comparison
    from judged.embeddings.top_k import TopK
    from judged.evaluation.trusted import refuse_corrected
    from judged.inputs.texts import read_texts
    from judged.web.report.contents import contents_of_comparison, contents_of_evaluation, items_of

    compared = isinstance(source, Comparison)
    evaluation = source.evaluation if isinstance(source, Comparison) else source
    if evaluation is not None:
        refuse_corrected(evaluation, "reports")
    build: Any = contents_of_comparison if compared else contents_of_evaluation
    contents: ReportContents = build(source, **options)
    if top_k is not None:
        names = [run.name for run in contents.evaluation.runs]
        first = dict(top_k) if isinstance(top_k, Mapping) else {names[0]: top_k}
        for result in first.values():
            if not isinstance(result, TopK):
                raise InputError(
                    "top_k must be what Embeddings.top_k returns, or {run: that} for several "
                    f"runs; got {quoted(result)}."
                )
        items = {run: result.to_dict() for run, result in first.items()}
        contents = replace(contents, first=items)
    if texts is not None:
        only = items_of([query for part in contents.listed for query in part])
        contents = replace(contents, texts=read_texts(texts, only=only))
    if queries is not None:
        ids = {query for run in contents.evaluation.runs for query in run.rankings.queries}
        contents = replace(contents, queries=read_texts(queries, of="queries", only=ids))
    if pictures is not None:
        contents = replace(contents, pictures=read_pictures(pictures))
    return Report(contents, title)


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """One HTML file that needs no network; `judged.report` and `Evaluation.report` return it.

    >>> from judged import evaluate
    >>> report = evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, "RR").report()
    >>> report.to_html().startswith("<!DOCTYPE html>")
    True
    """

    SAVED_AS: ClassVar[dict[str, str]] = {".html": "to_html"}

    contents: ReportContents
    title: str | None = None
    date: str | None = None
    """A date to show; without it the same input gives the same bytes."""

    def to_html(self, **display: Unpack[DisplayOptions]) -> str:
        """Return the whole file.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has an effect.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").report().to_html()[:15]
        '<!DOCTYPE html>'
        """
        return render_report(self.contents, self.title, self.date)

    def sentences(self, **display: Unpack[DisplayOptions]) -> list[str]:
        heading = board_of(self.contents)["heading"]
        sentences = (heading.title, heading.line, self.contents.refused)
        return [sentence for sentence in sentences if sentence]

    def document(self, display: Display) -> Document:
        evaluation = self.contents.evaluation
        return Document(self.sentences(), evaluation.tables(), evaluation.warnings())

    def to_frame(self) -> Frame:
        return self.contents.evaluation.to_frame()

    def to_dict(self) -> dict[str, Any]:
        contents = self.contents
        compared = contents.comparison
        return {
            "title": self.title,
            "sentences": self.sentences(),
            "evaluation": contents.evaluation.to_dict(),
            "comparison": None if compared is None else compared.to_dict(),
            "files": list(contents.files),
            "command": contents.again,
        }

    def _save(self, path: str | os.PathLike[str], **display: Any) -> None:
        check_target(path)
        checked_ending(path, [*self.SAVED_AS])
        write_text(path, self.to_html(**display))

    def __repr__(self) -> str:
        return f"<Report: {self.sentences()[0]}>"

    def _repr_html_(self) -> str:
        return self.contents.evaluation.to_html()
