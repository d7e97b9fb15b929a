"""A gate in JUnit's XML, as continuous integration shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from judged.comparison.gate.rules import Ruled
from judged.text import readable

if TYPE_CHECKING:
    from judged.comparison.gate.result import Gate
    from judged.comparison.gate.values import Reached


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
