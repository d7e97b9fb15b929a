"""An Evaluation as text, table and file. Numbers meant for programs are exact; those meant for
people have four decimals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.errors import MissingExtraError
from judged.outputs import replacing
from judged.text import aligned, plain, shown

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from judged.evaluation.evaluation import Evaluation, Scored
    from judged.measures import Measure
    from judged.segments import Floats


WORDS = ("run", "query", "measure")
"""Columns of a table that hold no numbers."""


def cells(evaluation: Evaluation, *, per_query: bool) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the table that people see; with the queries' values, the summary comes
    last, as `all`.

    With ranges there is a row for each measure, and a column for its value and each of the others.
    """
    import polars as pl

    frame = evaluation.summary
    if per_query:
        summary = frame.select("run", pl.lit("all").alias("query"), pl.exclude("run"))
        frame = pl.concat([evaluation.per_query, summary])
    words = 2 if per_query else 1
    rows = [[*row[:words], *map(shown, row[words:])] for row in frame.rows()]
    if not evaluation.others:
        return frame.columns, rows
    width = 1 + len(evaluation.others)
    split = [
        [*row[:words], str(measure), *row[words + at * width :][:width]]
        for row in rows
        for at, measure in enumerate(evaluation.measures)
    ]
    return [*frame.columns[:words], "measure", "value", *evaluation.others], split


def table(evaluation: Evaluation, *, per_query: bool) -> pl.DataFrame:
    return evaluation.per_query if per_query else evaluation.summary


def findings(evaluation: Evaluation) -> list[str]:
    """The audits' findings, each once, with the runs it is about where it is not about all."""
    said = _about(evaluation, [run.audit.findings() for run in evaluation.runs])
    return said + [
        text for measure in evaluation.measures for text in estimates(evaluation, measure)
    ]


def remarks(evaluation: Evaluation) -> list[str]:
    """What stands under a table: what was assumed, what was ranked, what was found, and what each
    measure is."""
    ranked = _about(
        evaluation,
        [["; ".join(run.rankings.basis)] if run.rankings.basis else [] for run in evaluation.runs],
    )
    return [
        *assumptions(evaluation),
        *(f"ranking: {text}" for text in ranked),
        *(f"note: {text}" for text in findings(evaluation)),
        *(f"measure: {measure.describe(brief=True)}" for measure in evaluation.measures),
    ]


def _about(evaluation: Evaluation, sentences: list[list[str]]) -> list[str]:
    """Sentences of each run, each once, with the runs it is about where it is not about all."""
    about: dict[str, list[str]] = {}
    for run, said in zip(evaluation.runs, sentences, strict=True):
        for sentence in said:
            about.setdefault(sentence, []).append(run.name)
    everyone = len(evaluation.runs)
    return [
        text if len(names) == everyone else f"{', '.join(names)}: {text}"
        for text, names in about.items()
    ]


def assumptions(evaluation: Evaluation) -> list[str]:
    """The policy, and the convention where there is one: a line each."""
    lines = [f"policy: {evaluation.policy}"]
    if evaluation.convention:
        names = "; ".join(
            f"{each.measure} is {each.theirs}" for each in evaluation.convention.named
        )
        lines.append(f"convention: {evaluation.convention}, where {names}")
    return lines


def estimates(evaluation: Evaluation, measure: Measure) -> list[str]:
    """A sentence about a mean over orders of ties, where that mean is an estimate."""
    from judged.evaluation.definition import expected_runs, standard_errors
    from judged.measures.expected import DRAWS

    if not any(measure in run.errors for run in expected_runs(evaluation)):
        return []
    error = standard_errors(evaluation, measure)
    return [
        f"the expected {measure} is estimated from {DRAWS} random orders of the tied "
        f"results{f'; {error}' if error else ''}."
    ]


def to_dict(evaluation: Evaluation, *, per_query: bool) -> dict[str, Any]:
    from judged.evaluation.ranges import TIE_ORDERS, UNJUDGED_ENDS

    runs = []
    for run in evaluation.runs:
        entry: dict[str, Any] = {
            "name": run.name,
            **_numbers(run, evaluation.measures, per_query=per_query),
        }
        for range_, names in {"tie_range": TIE_ORDERS, "unjudged_range": UNJUDGED_ENDS}.items():
            if set(names) <= set(run.others):
                entry[range_] = {
                    name.removeprefix("unjudged "): _numbers(
                        run.others[name], evaluation.measures, per_query=per_query
                    )
                    for name in names
                }
        if run.rankings.basis:
            entry["basis"] = list(run.rankings.basis)
        runs.append({**entry, "audit": run.audit.to_dict()})
    return {
        "runs": runs,
        "measures": {str(m): m.definition() for m in evaluation.measures},
        "policy": evaluation.policy.to_dict(),
        "convention": evaluation.convention.to_dict() if evaluation.convention else None,
        "definition": evaluation.methods(),
        "judged": __version__,
    }


def _numbers(run: Scored, measures: Sequence[Measure], *, per_query: bool) -> dict[str, Any]:
    """The scores of a run, those of its queries, and the standard errors of what is an estimate."""
    entry: dict[str, Any] = {"scores": {str(m): plain(run.summary[m]) for m in measures}}
    if run.errors:
        entry["standard_errors"] = {str(m): plain(run.summary_errors.get(m)) for m in run.errors}
    if per_query:
        entry["per_query"] = _by_query(run, {str(m): run.values[m] for m in measures})
        if run.errors:
            entry["standard_errors_per_query"] = _by_query(
                run, {str(m): errors for m, errors in run.errors.items()}
            )
    return entry


def _by_query(run: Scored, columns: dict[str, Floats]) -> dict[str, dict[str, Any]]:
    lists = [column.tolist() for column in columns.values()]
    return {
        query: dict(zip(columns, map(plain, values), strict=True))
        for query, *values in zip(run.rankings.queries, *lists, strict=True)
    }


def to_json(evaluation: Evaluation, *, per_query: bool) -> str:
    return (
        json.dumps(
            to_dict(evaluation, per_query=per_query), indent=2, ensure_ascii=False, allow_nan=False
        )
        + "\n"
    )


def to_csv(evaluation: Evaluation, *, per_query: bool) -> str:
    return table(evaluation, per_query=per_query).write_csv()


def to_trec(evaluation: Evaluation, *, per_query: bool) -> str:
    """`measure⇥query⇥value` at full precision, the summary under `all`; where there are several
    runs, a line names each."""
    lines: list[str] = []
    for run in evaluation.runs:
        if len(evaluation.runs) > 1:
            lines.append(f"runid\tall\t{run.name}")
        if per_query:
            columns = [run.values[m].tolist() for m in evaluation.measures]
            for query, *values in zip(run.rankings.queries, *columns, strict=True):
                pairs = zip(evaluation.measures, values, strict=True)
                lines += [
                    f"{measure}\t{query}\t{value!r}"
                    for measure, value in pairs
                    if not math.isnan(value)
                ]
        lines += [f"{measure}\tall\t{run.summary[measure]!r}" for measure in evaluation.measures]
    return "\n".join(lines) + "\n"


def to_markdown(evaluation: Evaluation, *, per_query: bool) -> str:
    header, rows = cells(evaluation, per_query=per_query)
    marks = ["---" if name in WORDS else "---:" for name in header]
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        for row in [header, marks, *rows]
    ]
    said = [f"{line[0].upper()}{line[1:]}." for line in assumptions(evaluation)]
    return "\n".join([*lines, "", "\n\n".join([*said, evaluation.methods()])]) + "\n"


_LATEX = {"\\": r"\textbackslash{}", "–": "--", "∞": r"$\infty$"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}


def _comment(text: str) -> list[str]:
    return [f"% {line}" for line in wrap(text, 118, break_long_words=False, break_on_hyphens=False)]


def to_latex(evaluation: Evaluation, *, per_query: bool) -> str:
    """A booktabs tabular."""
    header, rows = cells(evaluation, per_query=per_query)
    aligned = "".join("l" if name in WORDS else "r" for name in header)

    def line(row: list[str]) -> str:
        return (
            " & ".join("".join(_LATEX.get(letter, letter) for letter in cell) for cell in row)
            + r" \\"
        )

    body = [r"\toprule", line(header), r"\midrule", *map(line, rows), r"\bottomrule"]
    above = [*(f"% {line}" for line in assumptions(evaluation)), *_comment(evaluation.methods())]
    return "\n".join([*above, rf"\begin{{tabular}}{{{aligned}}}", *body, r"\end{tabular}"]) + "\n"


def to_text(evaluation: Evaluation, *, per_query: bool = False) -> str:
    """An aligned table with the policy and the findings under it."""
    header, rows = cells(evaluation, per_query=per_query)
    words = sum(name in WORDS for name in header)
    return "\n".join(
        [*aligned([header, *rows], right=range(words, len(header))), *remarks(evaluation)]
    )


def to_html(evaluation: Evaluation) -> str:
    """The summary as an HTML table, each measure with its definition as a tooltip."""
    from html import escape

    header, rows = cells(evaluation, per_query=False)
    said = {str(m): m.describe() for m in evaluation.measures}
    head = "".join(
        f'<th title="{escape(said.get(name, ""))}">{escape(name)}</th>' for name in header
    )

    def cell_of(name: str, cell: str) -> str:
        title = f' title="{escape(said[cell])}"' if name == "measure" else ""
        return f"<td{title}>{escape(cell)}</td>"

    body = "".join("<tr>" + "".join(map(cell_of, header, row)) + "</tr>" for row in rows)
    notes = "".join(f"<li>{escape(text)}</li>" for text in findings(evaluation))
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + "".join(f"<p><small>{escape(line)}</small></p>" for line in assumptions(evaluation))
        + (f"<ul><small>{notes}</small></ul>" if notes else "")
        + f"<details><summary><small>definition</small></summary><p><small>{escape(evaluation.methods())}</small></p></details>"
    )


def to_pandas(evaluation: Evaluation, *, per_query: bool) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("to_pandas needs pandas: pip install pandas.") from error
    frame = pd.DataFrame(table(evaluation, per_query=per_query).to_dict(as_series=False))
    frame.attrs["definition"] = evaluation.methods()
    return frame


def to_parquet(evaluation: Evaluation, path: Any, *, per_query: bool) -> None:
    with replacing(path) as temporary:
        table(evaluation, per_query=per_query).write_parquet(
            temporary, metadata={"definition": evaluation.methods()}
        )


FORMATS: dict[str, Callable[..., str]] = {
    "table": to_text,
    "json": to_json,
    "csv": to_csv,
    "markdown": to_markdown,
    "latex": to_latex,
    "trec": to_trec,
}
"""What the command line can print."""
