"""The calculation of one value of one query, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import isnan
from typing import Any, ClassVar, Unpack

from judged import __version__
from judged.explanation.animation import Animation, animation
from judged.explanation.arithmetic import Expression, Number, figure, symbol_latex
from judged.explanation.gif import to_gif
from judged.explanation.improvement import Change, Variant, best_change, variants
from judged.explanation.listing import Equation, RankRow, Steps, cell_text, threshold
from judged.measures import Measure
from judged.measures.reference import readable
from judged.policy import Policy
from judged.rankings.audit import audit_of
from judged.rankings.rankings import Rankings
from judged.rankings.relevance import A_LIST
from judged.results import Display, DisplayOptions, Document, Frame, Result, Table, render_html
from judged.text import Bold, Formula, plain, shown

MAX_VARIANTS = 8  # other definitions in tables; JSON has all
WORDS = frozenset({"item", "serves", ""})  # columns of words
OTHERS = ["under another definition", "value", ""]
STYLES = ("tokens", "base", "parts", "query", "explanation", "print")


def grade_text(grade: float | None) -> str:
    return "unjudged" if grade is None else f"{grade:g}"


def rows_to_the_end(
    rows: Sequence[RankRow], cells: Sequence[list[str]], retrieved: int
) -> list[list[str]]:
    """Return the cells down to the last rank that counts, with the numbers of ranks left out."""
    lines: list[list[str]] = []
    last, end = 0, max((row.rank for row in rows if row.counts), default=0)
    for row, texts in zip(rows, cells, strict=True):
        if row.rank > end:
            break
        if row.rank > last + 1:
            lines.append(["…", f"{row.rank - last - 1:,} more", *[""] * (len(texts) - 2)])
        bold = row.relevant and row.counts
        lines.append([Bold(text) if bold and text else text for text in texts])
        last = row.rank
    if retrieved > last and cells:
        lines.append(["…", f"{retrieved - last:,} more", *[""] * (len(cells[0]) - 2)])
    return lines


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """The calculation of one value of one query, as returned by `explain`.

    >>> from judged import explain
    >>> explanation = explain("0 1 0 0 1 0 1 0 1 0", measure="AP", relevant=6)
    >>> round(explanation.value, 6)
    0.295503
    >>> explanation.arithmetic
    'AP = (1/2 + 2/5 + 3/7 + 4/9) / 6 = (0.5 + 0.4 + 0.4286 + 0.4444) / 6 = 1.773 / 6 = 0.2955'
    """

    SAVED_AS: ClassVar[dict[str, str]] = {**Result.SAVED_AS, ".tex": "to_latex", ".gif": "to_gif"}

    measure: Measure
    rankings: Rankings
    """Rankings of the one query."""
    policy: Policy
    value: float
    """Value of the measure; NaN if it is undefined."""
    settled: float
    """Value under the policy; NaN if the query does not count."""
    steps: Steps | None
    """The arithmetic; None if the measure is undefined."""
    rows: tuple[RankRow, ...]
    """The ranks that are shown."""
    lost: Mapping[str, float] = field(default_factory=dict)
    """Ids and grades of items with a grade above 0 that were not retrieved, if ids are known."""
    items: Mapping[int, str] = field(default_factory=dict)
    """Ids of all results by rank."""

    @property
    def query(self) -> str:
        """The id of the query."""
        return self.rankings.queries[0]

    @property
    def heading(self) -> str:
        """The measure, the query, the run and the value."""
        of = "" if self.is_a_list else f" for query {self.query} of {self.rankings.name}"
        return f"{self.measure} ({self.measure.spec.title}){of}: {shown(self.settled)}"

    @property
    def is_a_list(self) -> bool:
        """True for a relevance list, which has neither name nor query."""
        return self.rankings.name == A_LIST

    @property
    def arithmetic(self) -> str:
        """The formula with the numbers of this list, worked out step by step on one line."""
        if self.steps is None and self.measure.spec.family == "own":
            return f"{self.measure} = {self.value:.6g}, returned by the function that defines it"
        if self.steps is None:
            return f"{self.measure} is undefined: {self.measure.spec.undefined.text}"
        return self.lines[-1].text

    @property
    def lines(self) -> list[Equation]:
        """The arithmetic line by line, and why each line is so; empty if the value is undefined.

        >>> from judged import explain
        >>> [(line.text, line.says) for line in explain("0 1", measure="P@2").lines]
        [('k = 2', 'the divisor: k, however long the list is'), ('P@2 = 1/2 = 0.5', '')]
        """
        steps = self.steps
        if steps is None:
            return []
        divisor = steps.divisor
        return [
            *steps.before,
            *([replace(divisor, says=f"the divisor: {divisor.says}")] if divisor else []),
            Equation(str(self.measure), steps.value),
        ]

    @property
    def left_out(self) -> int:
        """The number of ranks that are not shown."""
        return int(self.rankings.retrieved[0]) - len(self.rows)

    @property
    def skipped(self) -> list[int]:
        """The number of ranks that are left out before each rank that is shown."""
        ranks = [0, *(row.rank for row in self.rows)]
        return [after - before - 1 for before, after in pairwise(ranks)]

    @property
    def relevant(self) -> int:
        """The number of items that the measure counts as relevant."""
        return int(self.rankings.relevant(threshold(self.measure))[0])

    @cached_property
    def best_change(self) -> Change | None:
        """The move of one item that would improve the value most; None if no move does."""
        return best_change(self.measure, self.value, self.rankings)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Other definitions of the measure with another value, those of libraries first."""
        return variants(self.measure, self.value, self.rankings)

    @cached_property
    def animation(self) -> Animation:
        """The walk down the ranking, frame by frame."""
        return animation(self)

    @property
    def improvement(self) -> str:
        """The move of one item that would help most, in a sentence; empty if no move helps.

        >>> from judged import explain
        >>> explain("0 1", measure="RR").improvement.partition(", ")[0]
        'What would help most: the item at rank 2 (grade 1)'
        """
        change = self.best_change
        if change is None:
            return ""
        if change.rank is None:
            lost = (item for item, grade in self.lost.items() if grade == change.grade)
            move = (
                f"{next(lost, 'an item')} (grade {change.grade:g}), which was not retrieved, at "
                f"rank {change.to} instead of the result there"
            )
        else:
            move = (
                f"{self.items.get(change.rank, 'the item')} at rank {change.rank} (grade "
                f"{change.grade:g}), swapped with the result at rank {change.to},"
            )
        return f"What would help most: {move} would make {self.measure} {shown(change.value)}."

    # -- what people read

    def warnings(self, **display: Unpack[DisplayOptions]) -> list[str]:
        return list(audit_of(self.rankings).warnings)

    def document(self, display: Display) -> Document:
        calculation = []
        for line in self.lines:
            calculation.append(f"  {line.text}")
            calculation += [f"  ({line.says})"] if line.says else []
        latex = self.measure.formula
        formula = Formula(f"  {self.measure.spec.name} = {readable(latex)}", latex)
        return Document(
            [self.heading, self.measure.spec.says, formula, *calculation],
            self._tables(display),
            self.warnings(),
            [] if display.quiet else [*self.notes(), f"policy: {self.policy}"],
        )

    def _tables(self, display: Display) -> list[Table]:
        tables = []
        if self.rows:
            rows = rows_to_the_end(self.rows, self._cells(), int(self.rankings.retrieved[0]))
            tables.append(Table(self._header(), rows, words=WORDS))
        if not display.quiet and self.variants:
            tables.append(Table(OTHERS, self.other_values(), words=frozenset(OTHERS) - {"value"}))
        return tables

    def _header(self) -> list[str]:
        header = ["rank", "item", "grade"] if self._has_ids else ["rank", "grade"]
        if self.steps:
            header += [name for name, _ in self.steps.columns]
            header += ["adds"] if self.steps.adds is not None else []
        return header

    @property
    def _has_ids(self) -> bool:
        return any(row.item is not None for row in self.rows)

    def _cells(self) -> list[list[str]]:
        rows = []
        for at, row in enumerate(self.rows):
            cells = [str(row.rank), row.item or ""] if self._has_ids else [str(row.rank)]
            cells.append(grade_text(row.grade))
            if self.steps:
                cells += [cell_text(column[at]) for _, column in self.steps.columns]
                if self.steps.adds is not None:
                    added = self.steps.adds.get(row.rank)
                    cells.append("" if added is None else figure(added.value))
            rows.append(cells)
        return rows

    def notes(self) -> list[str]:
        """Return what the arithmetic does not show, and what would help most."""
        notes = []
        if self.steps is None:
            outcome = f"which the policy makes {shown(self.settled)}"
            outcome = "and the query does not count" if isnan(self.settled) else outcome
            why = self.measure.spec.undefined.text
            notes.append(f"{self.measure} has no value here ({why}), {outcome}: {self.policy}.")
        elif self.steps.says:
            notes.append(self.steps.says)
        r = self.rankings
        if r.missing[0]:
            notes.append(f"The run lacks the query: {self.policy.sentences()['missing']}.")
        relevant = int((r.hit_grade >= threshold(self.measure)).sum())
        unseen = relevant - sum(row.relevant for row in self.rows)
        # Beyond a cutoff it does not matter what is left out, and the table ends there.
        if self.left_out and (unseen or all(row.counts for row in self.rows)):
            notes.append(
                f"{self.left_out:,} of {int(r.retrieved[0]):,} ranks are not shown, "
                f"{f'{unseen:,}' if unseen else 'none'} of them relevant."
            )
        if self.lost:
            names = ", ".join(list(self.lost)[:5]) + (", …" if len(self.lost) > 5 else "")
            notes.append(
                f"Not retrieved, though of a grade above 0: {names} ({len(self.lost):,} in all)."
            )
        return [*notes, self.improvement] if self.improvement else notes

    def other_values(self) -> list[tuple[str, str, str]]:
        """Return some other definitions: notation, value, and what differs or who has it.

        >>> from judged import explain
        >>> [row[:2] for row in explain("0 1", measure="P@3").other_values()]
        [('P(short=shrink)@3', '0.5000')]
        """
        rows = []
        for variant in self.variants[:MAX_VARIANTS]:
            users = ", ".join(f"{title} ({theirs})" for title, theirs in variant.libraries[:3])
            more = len(variant.libraries) - 3
            users += f" and {more} more" if more > 0 else ""
            says = f"{variant.says}: {users}" if users else variant.says
            rows.append((str(variant.measure), shown(variant.value), says))
        return rows

    # -- what programs read

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold; numbers are exact.

        Returns
        -------
        dict
            - `heading`, `value` (the measure's own), `settled` (under the policy), `measure` (its
              definition), `query`, `run`, `policy`, `says`, `formula` (`text`, `latex`);
            - `retrieved`, `relevant`, `not_retrieved` (ids and grades), `ranks_left_out`;
            - `ranks`: the values of each rank that is shown, by column, and what it `adds`.
              `table` has the same as texts: `header`, `rows`, `right` (the right-aligned columns)
              and `skipped` (ranks left out before each row);
            - `lines`: the whole arithmetic, each line with `symbol`, `text`, `stages`, `value`,
              `says` and `latex`; `arithmetic`: its last line; `align`: all of `to_latex`;
            - `warnings`, `sentences`, `best_change` (its sentence in `says`), `variants`;
            - `walk`: the animation, see `Animation.to_dict`.

        >>> from judged import explain
        >>> explain("0 1", measure="RR").to_dict()["arithmetic"]
        'RR = 1/2 = 0.5'
        """
        change, spec = self.best_change, self.measure.spec
        header, warnings = self._header(), self.warnings()
        return {
            "heading": self.heading,
            "measure": self.measure.definition(),
            "query": self.query,
            "run": self.rankings.name,
            "value": plain(self.value),
            "settled": plain(self.settled),
            "says": spec.says,
            "formula": {
                "text": f"{spec.name} = {readable(self.measure.formula)}",
                "latex": self.measure.formula,
            },
            "policy": self.policy.to_dict(),
            "retrieved": int(self.rankings.retrieved[0]),
            "relevant": self.relevant,
            "ranks_left_out": self.left_out,
            "not_retrieved": dict(self.lost),
            "ranks": [
                {key: plain(value) if isinstance(value, float) else value for key, value in row}
                for row in map(dict.items, self._values())
            ],
            "table": {
                "header": header,
                "right": Table(header, [], words=WORDS).right,
                "rows": self._cells(),
                "skipped": self.skipped,
            },
            "lines": [line.to_dict() for line in self.lines],
            "arithmetic": self.arithmetic,
            "align": self.to_latex(),
            "warnings": warnings,
            "sentences": [*(f"warning: {text}" for text in warnings), *self.notes()],
            "best_change": change
            and {
                **asdict(change),
                "value": plain(change.value),
                "gain": plain(change.gain),
                "says": self.improvement,
            },
            "variants": [
                {
                    "measure": str(variant.measure),
                    "value": plain(variant.value),
                    "says": variant.says,
                    "libraries": dict(variant.libraries),
                }
                for variant in self.variants
            ],
            "walk": self.animation.to_dict(),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return the ranks that are shown as a polars table.

        >>> from judged import explain
        >>> explain("0 1", measure="RR").to_frame().columns
        ['rank', 'grade', 'judged', 'relevant', 'counts', 'mark', 'adds']
        """
        import polars as pl

        return pl.DataFrame(self._values(), infer_schema_length=None)

    def _values(self) -> list[dict[str, Any]]:
        """Return what is known of each rank that is shown, by column."""
        ranks = []
        for at, row in enumerate(self.rows):
            values: dict[str, Any] = {"rank": row.rank}
            values |= {} if row.item is None else {"item": row.item}
            judged = row.grade is not None and row.grade >= 0
            values |= {"grade": row.grade, "judged": judged}
            values |= {"relevant": row.relevant, "counts": row.counts}
            for name, cells in self.steps.columns if self.steps else ():
                cell = cells[at]
                values[name or "mark"] = cell.value if isinstance(cell, Expression) else cell
            if self.steps and self.steps.adds is not None:
                added = self.steps.adds.get(row.rank)
                values["adds"] = 0.0 if added is None else added.value
            ranks.append(values)
        return ranks

    def to_latex(self, **display: Unpack[DisplayOptions]) -> str:
        """Return the formula and its calculation as an align environment of amsmath.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has an effect.

        >>> from judged import explain
        >>> explain("0 1", measure="P").to_latex().splitlines()[-2]
        'P &= \\\\frac{1}{2} = 0.5'
        """
        rows = [rf"{symbol_latex(self.measure.spec.name)} &= {self.measure.formula}"]
        if self.steps is None:
            undefined = rf"\text{{is undefined: {self.measure.spec.undefined.text}}}"
            rows.append(rf"{symbol_latex(str(self.measure))} &\ {undefined}")
        for line in self.lines:
            row = f"{symbol_latex(line.symbol)} &= {line.value.latex()}"
            known = isinstance(line.value, Number)
            rows.append(row if known else f"{row} = {Number(line.value.value).latex()}")
        return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}\n"

    def to_html(self, **display: Unpack[DisplayOptions]) -> str:
        from judged.web.pages.calculations import calculation_of, walk_of
        from judged.web.pages.templating import document

        record = self.to_dict()
        top = float(self.rankings.pool_grade.max(initial=0.0))
        walk = walk_of(record["walk"], top=top if top > 0 else 1.0)
        page = document(
            "explanation.html",
            title=self.heading,
            styles=STYLES,
            scripts=("theme", "walk"),
            data={"frames": walk["frames"]},
            view=calculation_of(self),
            walk=walk,
            query="" if self.is_a_list else self.query,
            says=record["says"],
            formula=record["formula"]["text"],
            terms=str(self.policy),
            version=record["judged"],
        )
        return f"{page}\n"

    def to_gif(self) -> bytes:
        """Return the walk down the ranking as a GIF. Needs Pillow, of the extra `charts`.

        >>> from judged import explain
        >>> explain("0 1", measure="RR").to_gif()[:3]
        b'GIF'
        """
        return to_gif(self)

    def _repr_html_(self) -> str:
        return render_html(self.document(Display()), Display())


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Result):
    """Calculations of several measures of one query, as returned by `explain`."""

    explanations: tuple[Explanation, ...]
    """The explanation of each measure."""

    @property
    def rows(self) -> list[RankRow]:
        """The ranks that are shown."""
        every = [row for each in self.explanations for row in each.rows]
        rows = {row.rank: row for row in sorted(every, key=lambda row: row.counts)}
        return [rows[rank] for rank in sorted(rows)]

    def document(self, display: Display) -> Document:
        answer = [
            text
            for each in self.explanations
            for text in (each.heading, *(f"  {line.text}" for line in each.lines))
        ]
        first, notes = self.explanations[0], [*map(Explanation.notes, self.explanations)]
        return Document(
            answer,
            [self._table()],
            first.warnings(),
            [*dict.fromkeys(note for texts in notes for note in texts), f"policy: {first.policy}"],
        )

    def _table(self) -> Table:
        """Return what each rank adds to each measure, down to the last rank that counts."""
        has_ids, cells = any(row.item for row in self.rows), []
        for row in self.rows:
            added = [
                each.steps.adds.get(row.rank) if each.steps and each.steps.adds else None
                for each in self.explanations
            ]
            texts = ["" if term is None else figure(term.value) for term in added]
            item = [row.item or ""] if has_ids else []
            cells.append([str(row.rank), *item, grade_text(row.grade), *texts])
        retrieved = int(self.explanations[0].rankings.retrieved[0])
        rows = rows_to_the_end(self.rows, cells, retrieved)
        values = [shown(each.settled) for each in self.explanations]
        rows.append(["value", *[""] * (1 + has_ids), *values])
        header = ["rank", *["item"] * has_ids, "grade"]
        header += [str(each.measure) for each in self.explanations]
        return Table(header, rows, WORDS, "What each rank adds")

    def to_dict(self) -> dict[str, Any]:
        """Return all explanations as plain Python values that JSON can hold."""
        return {"explanations": [each.to_dict() for each in self.explanations]}

    def to_frame(self) -> Frame:
        """Return the ranks that are shown, with what each adds to each measure.

        >>> from judged import explain
        >>> explain("0 1", measure=["RR", "P@2"]).to_frame().rows()
        [(1, None, 0.0, 0.0, 0.0), (2, None, 1.0, 0.5, 0.5)]
        """
        import polars as pl

        columns: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in self.rows] for name in ("rank", "item", "grade")
        }
        for each in self.explanations:
            adds = each.steps.adds if each.steps else None
            added = [adds.get(row.rank) if adds is not None else None for row in self.rows]
            empty = None if adds is None else 0.0
            columns[str(each.measure)] = [empty if term is None else term.value for term in added]
        return pl.DataFrame(columns, infer_schema_length=None)
