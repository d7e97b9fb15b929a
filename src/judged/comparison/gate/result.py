"""Gate: whether a run may pass, rule by rule, and what could be seen at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from xml.sax.saxutils import escape, quoteattr

from judged import __version__
from judged.comparison.gate.baseline import Changes
from judged.comparison.gate.golden import Reached
from judged.comparison.gate.rules import SHOWS, Ruled
from judged.comparison.wording import shown_level, shown_p
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.wording import about_trusted
from judged.options import checked_methods
from judged.results import Result, Table
from judged.text import Best, counted, listed, markdown, plain, readable, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.gate.golden import Reached
    from judged.comparison.gate.rules import Ruled
    from judged.results import Table

RULES = {
    "loss": "fails where a loss is shown, and the drop is larger than the allowed one",
    "safe": "fails unless the drop is shown to be smaller than the allowed one",
    "point": "fails where the drop is larger than the allowed one, which is no statistics",
}
"""The rules by name, in words."""
CHANGED = {
    "error": "changed judgements are refused",
    "drop": "queries that are changed, new or removed are left out",
}
"""What is done where judgements are not those of the baseline."""
SAVED_AS = {**Result.SAVED_AS, ".xml": "to_junit"}
"""The endings that a gate can be saved under, and the method that makes each."""


TRUSTED = ("trusted_difference", "trusted_low", "trusted_high", "cheap_difference", "weight")
"""Further columns of the table for programs, where trusted judgements correct the differences."""


def trusted_cells(row: Ruled) -> tuple[float, ...]:
    """What a row has in these columns."""
    known = row.trusted
    if known is None:
        return ()
    alone = known.trusted
    return alone.estimate, alone.low, alone.high, known.cheap, known.weight


def trusted_tables(rows: Sequence[Ruled], level: float) -> list[Table]:
    """The changes that trusted judgements correct, beside what either judgements say alone; no
    table where there are none."""
    ends = f"{shown_level(level)} interval"
    cells = [
        [
            *(row.measure, signed(each.corrected.estimate)),
            between(each.corrected.low, each.corrected.high),
            *(signed(each.trusted.estimate), between(each.trusted.low, each.trusted.high)),
            *(signed(each.cheap), f"{each.weight:.2f}"),
        ]
        for row in rows
        if (each := row.trusted) is not None
    ]
    header = ["measure", "corrected change", ends, "trusted", ends, "cheap", "λ"]
    return [(header, cells)] if cells else []


def between(low: float, high: float) -> str:
    """An interval, where there is one."""
    return "–" if math.isnan(low) or math.isnan(high) else f"{signed(low)} … {signed(high)}"


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.5), signed(-0.5)
    ('+0.5000', '−0.5000')
    """
    text = shown(value)
    return f"+{text}" if value > 0 and text not in ("–",) else text.replace("-", "−")


def junit(gate: Gate) -> str:
    """One test case for everything that has to hold; what could be seen is its output."""
    checks = gate.checks
    failures = sum(each.fails for each in checks)
    errors = sum(not each.holds and not each.fails for each in checks)
    counts = f'tests="{len(checks)}" failures="{failures}" errors="{errors}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="judged gate" {counts}>']
    lines.append(f"  <testsuite name={_attribute(f'judged gate {gate.run}')} {counts}>")
    for each in checks:
        lines += _case(each, gate)
    said = "\n".join(readable(text) for text in gate.sentences())
    lines += [f"    <system-out>{escape(said)}</system-out>", "  </testsuite>", "</testsuites>"]
    return "\n".join(lines) + "\n"


def _case(each: Ruled | Reached, gate: Gate) -> list[str]:
    if isinstance(each, Ruled):
        kind, name, word = gate.rule, each.measure, each.word
    else:
        kind, word = each.kind, "not reached"
        name = each.measure if each.query is None else f"{each.query} {each.measure}"
    case = f"    <testcase classname={_attribute(f'judged.gate.{kind}')} name={_attribute(name)}"
    if each.holds:
        return [f"{case}/>"]
    text = "\n".join([each.says, *_worst_lines(each, gate)])
    body = escape("\n".join(readable(line) for line in text.split("\n")))
    message = _attribute(each.says)
    tag = "failure" if each.fails else "error"
    return [
        f"{case}>",
        f"      <{tag} type={_attribute(word)} message={message}>{body}</{tag}>",
        "    </testcase>",
    ]


def _worst_lines(each: Ruled | Reached, gate: Gate) -> list[str]:
    """The queries that lost most, under the measure that fails."""
    if not isinstance(each, Ruled):
        return []
    return [
        f"{readable(worst.query)}: {worst.baseline:.4f} to {worst.value:.4f}"
        for worst in gate.worst.get(each.measure, ())
    ]


def _attribute(text: str) -> str:
    """Text between quotation marks; nothing that XML cannot hold is left in it."""
    return quoteattr(readable(text))


@dataclass(frozen=True)
class Worst:
    """A query that lost, with both values."""

    query: str
    baseline: float
    value: float

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "query": self.query,
            "baseline": plain(self.baseline),
            "value": plain(self.value),
            "difference": plain(self.value - self.baseline),
        }


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """What `gate` returns: whether every rule holds, what each says, and what could be seen.

    >>> from judged import gate
    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> run = {"q1": ["a"], "q2": ["c", "b"]}
    >>> gate(judgements, run, "RR", baseline=run).passed
    True
    """

    SAVED_AS: ClassVar[dict[str, str]] = SAVED_AS
    WORDS: ClassVar[frozenset[str]] = frozenset({"measure", "verdict", "query"})
    BETWEEN: ClassVar[str] = "\n\n"

    evaluation: Evaluation
    """Today's run, and the baseline where that is a run, as `evaluate` scores them."""
    rule: str
    """loss, safe or point."""
    level: float
    run: str
    """What the run is called."""
    repeats: int
    """How many runs of the system there are."""
    source: str
    """What messages call the baseline."""
    against: str | None
    """What the run is called that it was made of; None where nothing was compared."""
    kind: str
    """file, run or none: what the baseline is."""
    rows: tuple[Ruled, ...]
    """What the rule says of each measure."""
    minima: tuple[Reached, ...] = ()
    """Of each measure that has to reach a value, whether it does."""
    golden: tuple[Reached, ...] = ()
    """Of each golden query, whether it reaches what it has to."""
    worst: Mapping[str, tuple[Worst, ...]] = field(default_factory=dict)
    """Of each measure the ten queries that lost most."""
    changes: Changes = Changes()  # noqa: RUF009
    """The queries that were left out, as their judgements are not those of the baseline."""
    notes: tuple[str, ...] = ()
    """What was noticed on the way."""
    unlike: str = ""
    """Why nothing could be compared, where a baseline was replaced all the same."""
    updated: bool = False
    """Whether the baseline file was written."""
    to_update: bool = False
    """Whether it was to be."""

    @property
    def checks(self) -> tuple[Ruled | Reached, ...]:
        """Everything that has to hold."""
        return (*self.rows, *self.minima, *self.golden)

    @property
    def passed(self) -> bool:
        """Whether every rule holds."""
        return all(each.holds for each in self.checks)

    @property
    def decided(self) -> bool:
        """Whether the gate passed or failed. It does neither where nothing fails and a set of
        queries is too small to show what the rule asks for."""
        return self.passed or any(each.fails for each in self.checks)

    @property
    def interval_level(self) -> float:
        """The level of an interval each end of which holds at the gate's level."""
        return round(2 * self.level - 1, 15)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

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
            "measures": [row.to_dict() for row in self.rows],
            "minimum": [each.to_dict() for each in self.minima],
            "golden": [each.to_dict() for each in self.golden],
            "worst": {
                name: [each.to_dict() for each in queries] for name, queries in self.worst.items()
            },
            "left_out": self.changes.to_dict(),
            "says": self.says(),
            "notes": [str(note) for note in self.notes],
            "definitions": {
                self.evaluation.label(m): m.definition() for m in self.evaluation.measures
            },
            "policy": self.evaluation.policy.to_dict(),
            "judged": __version__,
        }

    def to_frame(self) -> pl.DataFrame:
        """What the rule says of each measure, as a polars table.

        Returns
        -------
        polars.DataFrame

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.to_frame()["verdict"].to_list()
        ['identical']
        """
        import polars as pl

        sizes = ("baseline", "value", "difference", "drop", "low", "high", "allowed_drop")
        schema: dict[str, Any] = {
            "measure": pl.String,
            "holds": pl.Boolean,
            "verdict": pl.String,
            "queries": pl.Int64,
            **dict.fromkeys(sizes, pl.Float64),
            "p": pl.Float64,
            "corrected_p": pl.Float64,
            "sees": pl.Float64,
            "says": pl.String,
            **(dict.fromkeys(TRUSTED, pl.Float64) if self.evaluation.trusted else {}),
        }
        rows = [
            (
                *(row.measure, row.holds, row.word, row.queries, row.baseline, row.value),
                *(row.difference, row.drop, row.low, row.high, row.allowed),
                *(row.p, row.corrected_p, row.sight.drop, row.says),
                *trusted_cells(row),
            )
            for row in self.rows
        ]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def says(self) -> str:
        """The verdict as one sentence.

        Returns
        -------
        str

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run).says()
        'passed: the rule loss holds on RR.'
        """
        failing = [_named(each) for each in self.checks if each.fails]
        if failing:
            return f"failed: {listed(failing)}."
        if not self.passed:
            small = listed([row.measure for row in self.rows if not row.holds])
            return f"cannot decide: too few queries to show {SHOWS[self.rule]} on {small}."
        reached = [
            f"{counted(len(each), word)} reached"
            for each, word in ((self.minima, "value"), (self.golden, "golden value"))
            if each
        ]
        if self.kind == "none":
            return f"passed: {'; '.join(reached)}."
        if self.rows:
            on = listed([row.measure for row in self.rows])
            return f"passed: {'; '.join([f'the rule {self.rule} holds on {on}', *reached])}."
        why = f"the baseline is another ({self.unlike})" if self.unlike else "there was no baseline"
        return f"{'; '.join([f'nothing was compared, as {why}', *reached])}."

    def sentences(self) -> list[str]:
        """The warnings, the verdict, what each rule says, what could be seen, and what was done.

        Returns
        -------
        list of str

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.sentences()[1]
        'RR: the same value on all 2 queries.'
        """
        return [
            *self.warnings(),
            self.says(),
            *(row.says for row in sorted(self.rows, key=lambda row: row.holds)),
            *(
                f"{row.measure}: the change is {row.trusted.says()}."
                for row in self.rows
                if row.trusted is not None
            ),
            *(each.says for each in (*self.minima, *self.golden) if each.fails),
            *(row.sees for row in self.rows),
            *self._done(),
            *(note for note in self.notes if note not in self.warnings()),
        ]

    def _done(self) -> list[str]:
        """What was compared, and how."""
        said = []
        if self.changes:
            said.append(f"left out, as their judgements are others: {self.changes}.")
        if self.rows:
            where = f" ({self.source})" if self.kind == "file" else ""
            of = f"{self.run} against {self.against}{where}"
            said.append(f"rule {self.rule}: {RULES[self.rule]}; {of}{self._how()}.")
            said += self._corrected()
        if self.updated:
            said.append(f"wrote the baseline {self.source}.")
        elif self.to_update:
            said.append(f"the baseline {self.source} stays as it was, as the gate did not pass.")
        return said

    def _corrected(self) -> list[str]:
        """Whose judgements correct the differences, and what stays as it is."""
        trusted = self.evaluation.trusted
        if trusted is None:
            return []
        return [
            f"{about_trusted(trusted, len(self.evaluation.runs[0].rankings))}: values and changes "
            "are "
            "corrected by them (PPI++), baseline and now with the λ of their change; single "
            "queries are as the cheap judgements have them."
        ]

    def _how(self) -> str:
        """The test in words."""
        if self.rule == "point":
            return ""
        level = f"one-sided at {shown_level(self.level)}"
        if self.rule == "safe":
            return f"; {level}, without correction, as every measure has to hold"
        many = counted(len(self.rows), "measure")
        return f"; {level}, Holm over {many}"

    def tables(self) -> list[Table]:
        """What each rule says, and the queries that lost most.

        Returns
        -------
        list of (header, rows)

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.tables()[0][1][0][:2]
        ['RR', 'identical']
        """
        found = [self._rules()] if self.rows else []
        found += trusted_tables(self.rows, self.interval_level)
        if self.minima:
            found.append(
                (
                    ["measure", "verdict", "value", "bound", "needed"],
                    [
                        [
                            *(each.measure, _verdict(each), shown(each.value)),
                            *(shown(each.bound), shown(each.needed)),
                        ]
                        for each in self.minima
                    ],
                )
            )
        if self.golden:
            found.append(
                (
                    ["query", "measure", "verdict", "value", "needed"],
                    [
                        [
                            *(str(each.query), each.measure, _verdict(each)),
                            *(shown(each.value), shown(each.needed)),
                        ]
                        for each in self.golden
                    ],
                )
            )
        return [*found, *self._worst()]

    def _rules(self) -> Table:
        ends = [] if self.rule == "point" else [f"{shown_level(self.interval_level)} interval"]
        p = ["p"] if self.rule == "loss" else []
        rows = [
            [
                *(row.measure, row.word if row.holds else Best(row.word)),
                *(shown(row.baseline), shown(row.value)),
                signed(row.difference),
                *([between(row.low, row.high)] if ends else []),
                f"{row.allowed:g}",
                *([shown_p(row.corrected_p)] if p else []),
                shown(row.sight.drop),
            ]
            for row in self.rows
        ]
        before = ["measure", "verdict", "baseline", "now", "change"]
        return [*before, *ends, "allowed", *p, "shows"], rows

    def _worst(self) -> list[Table]:
        rows = [
            [
                *(each.query, name, shown(each.baseline), shown(each.value)),
                signed(each.value - each.baseline),
            ]
            for name, queries in self.worst.items()
            for each in queries
        ]
        return [(["query", "measure", "baseline", "now", "change"], rows)] if rows else []

    def _answer(self) -> list[str]:
        return [self.says()]

    def _html_tables(self) -> str:
        """The queries that lost most are folded."""
        worst = self._worst()
        tables = self.tables()
        shown = "".join(self._html(*table) for table in tables[: len(tables) - len(worst)])
        folded = "".join(self._html(*table) for table in worst)
        summary = "<summary>queries that lost most</summary>"
        return f"{shown}<details>{summary}{folded}</details>" if folded else shown

    def to_markdown(self) -> str:
        """The verdict, the tables and all sentences in Markdown, as for a pull request.

        Returns
        -------
        str

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.to_markdown().splitlines()[0]
        'passed: the rule loss holds on RR.'
        """
        verdict = markdown(self.says())
        rest = super().to_markdown().replace(f"- {verdict}\n", "", 1)
        return f"{verdict}\n\n{rest}"

    def to_junit(self) -> str:
        """A report in JUnit's XML, a test case for everything that has to hold, as continuous
        integration shows it.

        Returns
        -------
        str

        >>> from judged import gate
        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.to_junit().splitlines()[1]
        '<testsuites name="judged gate" tests="1" failures="0" errors="0">'
        """

        return junit(self)


def _named(each: Ruled | Reached) -> str:
    """What fails, in a few words."""
    if isinstance(each, Ruled):
        return f"{each.measure} ({each.word})"
    if each.kind == "golden":
        return f"golden query {each.query} on {each.measure}"
    return f"the value of {each.measure}"


def _verdict(each: Reached) -> str:
    return "reached" if each.holds else Best("not reached")
