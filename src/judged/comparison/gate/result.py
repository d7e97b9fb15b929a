"""Gate: whether a run passes, rule by rule, and what could be detected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from xml.sax.saxutils import escape, quoteattr

from judged import __version__
from judged.comparison.gate.baseline import JudgementChanges
from judged.comparison.gate.rules import GOALS, Requirement, RuleResult
from judged.comparison.settings import GATE_SAVED_AS, RULES
from judged.comparison.wording import percent_of, shown_p, with_sign
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.wording import about_trusted
from judged.results import Display, Document, Frame, Result, ResultPart, Table, plain_value
from judged.text import Best, Warned, counted, listed, readable, shown

TRUSTED_COLUMNS = (
    "trusted_difference",
    "trusted_low",
    "trusted_high",
    "cheap_difference",
    "weight",
)
WORDS = frozenset({"measure", "verdict", "query"})


@dataclass(frozen=True)
class QueryLoss(ResultPart):
    """A query that lost, with both values and their difference."""

    query: str
    baseline: float
    value: float
    difference: float


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """Result of `gate`: whether the run passes, the verdict on each measure, and the sensitivity.

    >>> from judged import gate
    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> run = {"q1": ["a"], "q2": ["c", "b"]}
    >>> gate(judgements, run, "RR", baseline=run).passed
    True
    """

    SAVED_AS: ClassVar[dict[str, str]] = GATE_SAVED_AS

    evaluation: Evaluation
    """Evaluation of today's run, and of the baseline if that is a run."""
    rule: str
    """loss, safe or point."""
    level: float
    run: str
    """Name of the run."""
    repeats: int
    """Number of runs of the system."""
    source: str
    """Name of the baseline in messages."""
    against: str | None
    """Name of the run that the baseline was made from; None if nothing was compared."""
    kind: str
    """Kind of baseline: file, run or none."""
    rows: tuple[RuleResult, ...]
    """Verdict of the rule on each measure."""
    minima: tuple[Requirement, ...] = ()
    """True if measures reach their minima."""
    golden: tuple[Requirement, ...] = ()
    """True if golden queries reach their values."""
    worst: Mapping[str, tuple[QueryLoss, ...]] = field(default_factory=dict)
    """The ten queries that lost most on each measure."""
    changes: JudgementChanges = JudgementChanges()  # noqa: RUF009
    """Queries that were left out because their judgements are not those of the baseline."""
    notes: tuple[str, ...] = ()
    unlike: str = ""
    """Why nothing could be compared with a baseline that was replaced."""
    updated: bool = False
    """True if the baseline file was written."""
    to_update: bool = False
    """True if an update was requested."""

    @property
    def checks(self) -> tuple[RuleResult | Requirement, ...]:
        """Everything that must pass."""
        return (*self.rows, *self.minima, *self.golden)

    @property
    def passed(self) -> bool:
        """True if everything passes."""
        return all(check.holds for check in self.checks)

    @property
    def decided(self) -> bool:
        """True if the gate passed or failed.

        It does neither if nothing fails and there are too few queries for the rule.
        """
        return self.passed or any(check.fails for check in self.checks)

    @property
    def interval_level(self) -> float:
        """Confidence level of an interval each end of which holds at the gate's level."""
        return round(2 * self.level - 1, 15)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.to_dict()["measures"][0]["verdict"]
        'identical'
        """
        return {
            "passed": self.passed,
            "decided": self.decided,
            "rule": self.rule,
            "level": self.level,
            "run": self.run,
            "repeats": self.repeats,
            "baseline": {"source": self.source, "kind": self.kind, "run": self.against},
            "updated": self.updated,
            **({"trusted": trusted.to_dict()} if (trusted := self.evaluation.trusted) else {}),
            "measures": plain_value(self.rows),
            "minimum": plain_value(self.minima),
            "golden": plain_value(self.golden),
            "worst": plain_value(self.worst),
            "left_out": self.changes.to_dict(),
            "says": self.says(),
            "notes": [str(note) for note in self.notes],
            "definitions": {
                self.evaluation.label(m): m.definition() for m in self.evaluation.measures
            },
            "policy": self.evaluation.policy.to_dict(),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return the verdict on each measure as a polars table.

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.to_frame()["verdict"].to_list()
        ['identical']
        """
        import polars as pl

        numbers = ("baseline", "value", "difference", "drop", "low", "high", "allowed_drop")
        schema: dict[str, Any] = {
            **{
                "measure": pl.String,
                "holds": pl.Boolean,
                "verdict": pl.String,
                "queries": pl.Int64,
            },
            **dict.fromkeys((*numbers, "p", "corrected_p", "sees"), pl.Float64),
            "says": pl.String,
            **(dict.fromkeys(TRUSTED_COLUMNS, pl.Float64) if self.evaluation.trusted else {}),
        }
        rows = []
        for row in self.rows:
            cells = vars(row) | {"holds": row.holds, "verdict": row.word, "sees": row.sight.drop}
            cells["allowed_drop"] = row.allowed
            if (fix := row.trusted) is not None:
                alone = (fix.trusted.estimate, fix.trusted.low, fix.trusted.high)
                cells |= zip(TRUSTED_COLUMNS, (*alone, fix.cheap, fix.weight), strict=True)
            rows.append([cells[name] for name in schema])
        return pl.DataFrame(rows, schema=schema, orient="row")

    def says(self) -> str:
        """Return the result in one line.

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run).says()
        'PASSED: no significant drop in RR.'
        """
        failures = [check.failure for check in self.checks if check.fails]
        if failures:
            return f"FAILED: {'. '.join(failures)}."
        if not self.passed:
            names = listed([row.measure for row in self.rows if not row.holds])
            return f"UNDECIDED: too few queries for {GOALS[self.rule]} in {names}."
        reached = [
            f"{counted(len(checks), word)} reached"
            for checks, word in ((self.minima, "minimum value"), (self.golden, "golden value"))
            if checks
        ]
        if self.rows:
            names = listed([row.measure for row in self.rows])
            passed = {
                "loss": f"no significant drop in {names}",
                "safe": f"the drop in {names} is significantly smaller than allowed",
                "point": f"no drop in {names} beyond what is allowed",
            }
            if self.rule == "loss" and any(row.word == "allowed" for row in self.rows):
                passed["loss"] = f"no significant drop in {names} beyond what is allowed"
            reached.insert(0, passed[self.rule])
        elif self.kind != "none":
            why = f"the baseline is not comparable ({self.unlike})"
            why = why if self.unlike else "there was no baseline"
            reached.insert(0, f"nothing was compared, because {why}")
        return f"PASSED: {'; '.join(reached)}."

    def document(self, display: Display) -> Document:
        return Document(
            answer=[self.says()],
            tables=self._tables(),
            warnings=[note for note in self.notes if isinstance(note, Warned)],
            notes=[
                *(row.says for row in sorted(self.rows, key=lambda row: row.holds)),
                *(
                    f"{row.measure}: the change is {row.trusted.says()}."
                    for row in self.rows
                    if row.trusted is not None
                ),
                *(check.says for check in (*self.minima, *self.golden) if check.fails),
                *(row.sees for row in self.rows),
                *self._method(),
                *(note for note in self.notes if not isinstance(note, Warned)),
            ],
        )

    def _method(self) -> list[str]:
        sentences = []
        if self.changes:
            sentences.append(f"Left out because of other judgements: {self.changes}.")
        if self.rows:
            where = f" ({self.source})" if self.kind == "file" else ""
            test = "" if self.rule == "point" else f"; one-sided test at {percent_of(self.level)}"
            if self.rule == "loss":
                test += f", Holm over {counted(len(self.rows), 'measure')}"
            elif self.rule == "safe":
                test += ", uncorrected because every measure must pass"
            sentences.append(
                f"Rule {self.rule}: {RULES[self.rule]}; {self.run} against {self.against}{where}"
                f"{test}."
            )
            if self.evaluation.trusted is not None:
                queries = len(self.evaluation.runs[0].rankings)
                sentences.append(
                    f"{about_trusted(self.evaluation.trusted, queries)}: they correct values and "
                    "changes (PPI++), baseline and now with the λ of their change. Single queries "
                    "are not corrected."
                )
        if self.updated:
            sentences.append(f"Wrote the baseline {self.source}.")
        elif self.to_update:
            sentences.append(f"The baseline {self.source} was not updated: the gate did not pass.")
        return sentences

    def _tables(self) -> list[Table]:
        made = [self._rule_table()] if self.rows else []
        if any(row.trusted is not None for row in self.rows):
            made.append(self._trusted_table())
        for checks in (self.minima, self.golden):
            if checks:
                made.append(_requirement_table(checks))
        rows = [
            [loss.query, name, shown(loss.baseline), shown(loss.value), _signed(loss.difference)]
            for name, losses in self.worst.items()
            for loss in losses
        ]
        if rows:
            header = ["query", "measure", "baseline", "now", "change"]
            made.append(Table(header, rows, WORDS, title="Queries that lost most", folded=True))
        return made

    def _rule_table(self) -> Table:
        ends = [] if self.rule == "point" else [f"{percent_of(self.interval_level)} CI"]
        p = ["p"] if self.rule == "loss" else []
        rows = [
            [
                *(row.measure, row.word if row.holds else Best(row.word)),
                *(shown(row.baseline), shown(row.value), _signed(row.difference)),
                *([_between(row.low, row.high)] if ends else []),
                f"{row.allowed:g}",
                *([shown_p(row.corrected_p)] if p else []),
                shown(row.sight.drop),
            ]
            for row in self.rows
        ]
        before = ["measure", "verdict", "baseline", "now", "change"]
        return Table([*before, *ends, "allowed", *p, "detectable"], rows, WORDS)

    def _trusted_table(self) -> Table:
        ends = f"{percent_of(self.interval_level)} CI"
        rows = [
            [
                *(row.measure, _signed(fix.corrected.estimate)),
                _between(fix.corrected.low, fix.corrected.high),
                *(_signed(fix.trusted.estimate), _between(fix.trusted.low, fix.trusted.high)),
                *(_signed(fix.cheap), f"{fix.weight:.2f}"),
            ]
            for row in self.rows
            if (fix := row.trusted) is not None
        ]
        header = ["measure", "corrected change", ends, "trusted", ends, "cheap", "λ"]
        return Table(header, rows, WORDS)

    def to_junit(self) -> str:
        """Return a JUnit XML report for continuous integration, with a test case per check.

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.to_junit().splitlines()[1]
        '<testsuites name="judged gate" tests="1" failures="0" errors="0">'
        """
        failures = sum(check.fails for check in self.checks)
        errors = sum(not check.holds and not check.fails for check in self.checks)
        counts = f'tests="{len(self.checks)}" failures="{failures}" errors="{errors}"'
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="judged gate" {counts}>',
            f"  <testsuite name={_attribute(f'judged gate {self.run}')} {counts}>",
        ]
        for check in self.checks:
            lines += self._junit_case(check)
        text = "\n".join(readable(line) for line in self.sentences())
        lines += [
            f"    <system-out>{escape(text)}</system-out>",
            "  </testsuite>",
            "</testsuites>",
        ]
        return "\n".join(lines) + "\n"

    def _junit_case(self, check: RuleResult | Requirement) -> list[str]:
        text = [check.says]
        if isinstance(check, RuleResult):
            kind, name, word = self.rule, check.measure, check.word
            text += [
                f"{readable(loss.query)}: {loss.baseline:.4f} to {loss.value:.4f}"
                for loss in self.worst.get(check.measure, ())
            ]
        else:
            kind, word = check.kind, "not reached"
            name = check.measure if check.query is None else f"{check.query} {check.measure}"
        classname = _attribute(f"judged.gate.{kind}")
        case = f"    <testcase classname={classname} name={_attribute(name)}"
        if check.holds:
            return [f"{case}/>"]
        body = escape("\n".join(readable(line) for part in text for line in part.split("\n")))
        tag = "failure" if check.fails else "error"
        message = _attribute(check.says)
        return [
            f"{case}>",
            f"      <{tag} type={_attribute(word)} message={message}>{body}</{tag}>",
            "    </testcase>",
        ]


def _attribute(text: str) -> str:
    return quoteattr(readable(text))


def _requirement_table(checks: Sequence[Requirement]) -> Table:
    is_golden = checks[0].query is not None
    rows = []
    for check in checks:
        reached = "reached" if check.holds else Best("not reached")
        values = [check.value, *([] if is_golden else [check.bound]), check.needed]
        names = [check.query] if check.query is not None else []
        rows.append([*names, check.measure, reached, *map(shown, values)])
    header = ["measure", "verdict", "value", *([] if is_golden else ["bound"]), "needed"]
    return Table(["query", *header] if is_golden else header, rows, WORDS)


def _between(low: float, high: float) -> str:
    return "–" if math.isnan(low) or math.isnan(high) else f"{_signed(low)} … {_signed(high)}"


def _signed(value: float) -> str:
    return with_sign(shown(value).replace("-", "−"), value)
