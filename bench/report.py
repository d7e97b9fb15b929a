"""Results as a table on the terminal and as a block of the README; both are made from the same
rows."""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.case import Case, Claim
from bench.measure import ROOT, Result

README = Path(__file__).with_name("README.md")
TOLERANCE = 1e-6
PEERS = {
    "judged": "judged",
    "pytrec_eval": "pytrec_eval-terrier",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
    "faiss": "faiss-cpu",
    "pytorch-metric-learning": "pytorch-metric-learning",
    "torchmetrics": "torchmetrics",
}
LIBRARIES = ("numpy", "polars")


def header(case: Case) -> list[str]:
    lines = ["µs/line"] if case.one_job and _has_lines(case) else []
    ratio = ["wall ÷ first"] if case.one_job else []
    return ["contender", "wall, s", "fastest to slowest", "CPU, s", "peak, MB", *lines, *ratio]


def _has_lines(case: Case) -> bool:
    return all(contender.lines for contender in case.contenders)


def rows(case: Case, results: Sequence[Result]) -> list[list[str]]:
    """One row per contender, all as text; a crashed one says so."""
    return [_row(case, result, results[0].value("wall")) for result in results]


def _row(case: Case, result: Result, first: float) -> list[str]:
    columns = len(header(case))
    if not result.samples:
        state = "not there" if result.absent else "crashed"
        return [result.contender.name, state, *[""] * (columns - 2)]
    fastest, slowest = result.spread()
    lines = [f"{result.value('per line') * 1e6:.3f}"] if case.one_job and _has_lines(case) else []
    ratio = [_ratio(result.value("wall"), first)] if case.one_job else []
    return [
        result.contender.name,
        f"{result.value('wall'):.3f}",
        f"{fastest:.3f} to {slowest:.3f}",
        f"{result.value('cpu'):.3f}",
        f"{result.value('memory') / 1e6:,.0f}",
        *lines,
        *ratio,
    ]


def _ratio(value: float, first: float) -> str:
    return "" if math.isnan(first) else f"{value / first:.2f}"


def verdicts(case: Case, results: Sequence[Result]) -> list[tuple[str, str]]:
    """Per claim "holds", "fails" or "unknown", and the sentence with its number."""
    return [
        _verdict(claim, {result.contender.name: result for result in results})
        for claim in case.claims
    ]


def _verdict(claim: Claim, by_name: dict[str, Result]) -> tuple[str, str]:
    names = [claim.left, *([claim.right] if claim.right else [])]
    sides = [by_name[name].value(claim.quantity) if name in by_name else math.nan for name in names]
    sides += [0.0] if not claim.right else []
    value = sides[0] / sides[1] if claim.op == "/" else sides[0] - sides[1]
    bound = f"{claim.relation} {claim.bound:g}"
    between = " ÷ " if claim.op == "/" else " minus "
    formula = f"{claim.quantity}: {between.join(names)}"
    if math.isnan(value):
        return "unknown", f"{claim.text} ({formula}, {bound}): not measured"
    return "holds" if claim.holds(
        value
    ) else "fails", f"{claim.text}: {value:.3f}, {bound} ({formula})"


def disagreements(case: Case, results: Sequence[Result]) -> list[str]:
    """A line per contender whose means are not the reference's; contenders of another size are not
    compared."""
    reference = next(
        (result for result in results if result.contender.name == case.reference and result.scores),
        None,
    )
    if reference is None:
        return []
    same_data = [
        result
        for result in results
        if result.scores and result.contender.size == reference.contender.size
    ]
    return [line for result in same_data if (line := _difference(result, reference))]


def _difference(result: Result, reference: Result) -> str | None:
    names = (result.contender.name, reference.contender.name)
    if not set(result.scores) <= set(reference.scores):
        return f"{names[0]} computed {sorted(result.scores)}, {names[1]} {sorted(reference.scores)}"
    worst = max(
        result.scores, key=lambda measure: abs(result.scores[measure] - reference.scores[measure])
    )
    if abs(result.scores[worst] - reference.scores[worst]) <= TOLERANCE:
        return None
    return (
        f"{names[0]} differs from {names[1]}: {worst} {result.scores[worst]!r}, not "
        f"{reference.scores[worst]!r}"
    )


def absences(results: Sequence[Result]) -> list[str]:
    """A line per contender that was not there."""
    return [
        f"{result.contender.name} was not there; {result.absent} says where it is"
        for result in results
        if result.absent
    ]


def answers(results: Sequence[Result]) -> list[list[str]]:
    """What each contender says of small inputs that are not as usual: a header and rows."""
    answered = [result for result in results if result.answers]
    if not answered:
        return []
    names = list(answered[0].answers)
    return [
        ["contender", *names],
        *([each.contender.name, *(each.answers[name] for name in names)] for each in answered),
    ]


def agreement(case: Case, results: Sequence[Result]) -> str | None:
    """Who was compared, in a sentence; None where nobody computes anything comparable."""
    names = [result.contender.name for result in results if result.scores]
    if case.reference not in names:
        return None
    return f"Means compared, to {TOLERANCE:.6f}: {'; '.join(names)}." if len(names) > 1 else None


def show(console: Console, case: Case, results: Sequence[Result]) -> None:
    table = Table(title=case.title, title_justify="left")
    for position, name in enumerate(header(case)):
        table.add_column(name, justify="left" if position == 0 else "right", no_wrap=True)
    for row in rows(case, results):
        table.add_row(*row)
    console.print(table)
    for result in results:
        if result.crash:
            console.print(
                f"[red]crashed[/] {result.contender.name}: {escape(result.crash)}", highlight=False
            )
    colours = {"holds": "green", "fails": "red", "unknown": "yellow"}
    for verdict, sentence in verdicts(case, results):
        console.print(f"[{colours[verdict]}]{verdict:8}[/]{sentence}", highlight=False)
    for line in absences(results):
        console.print(f"[yellow]absent  [/]{escape(line)}", highlight=False)
    for line in disagreements(case, results):
        console.print(f"[red]numbers [/]{escape(line)}", highlight=False)
    if (compared := agreement(case, results)) and not disagreements(case, results):
        console.print(f"[green]numbers [/]{compared} They agree.", highlight=False)
    if answered := answers(results):
        odd = Table(*answered[0])
        for row in answered[1:]:
            odd.add_row(*row)
        console.print(odd)
    console.print()


def block(case: Case, results: Sequence[Result], repeat: int) -> str:
    """The case's part of the README."""
    lines = [
        f"### {case.title}",
        "",
        _markdown(header(case)),
        _markdown(["---", *["---:"] * (len(header(case)) - 1)]),
    ]
    lines += [_markdown(row) for row in rows(case, results)]
    lines += [
        "",
        *(f"- **{verdict}** — {sentence}" for verdict, sentence in verdicts(case, results)),
    ]
    lines += [f"- **absent** — {line}" for line in absences(results)]
    lines += [f"- **numbers** — {line}" for line in disagreements(case, results)]
    if (compared := agreement(case, results)) and not disagreements(case, results):
        lines.append(f"- **numbers** — {compared} They agree.")
    if answered := answers(results):
        rule = ["---"] * len(answered[0])
        lines += ["", *map(_markdown, (answered[0], rule, *answered[1:]))]
    return "\n".join([*lines, "", f"{repeat} rounds; {_environment()}."])


def _markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _environment() -> str:
    """Versions and cores, nothing that names the machine."""
    names = {**PEERS, **{name: name for name in LIBRARIES}}
    versions = [f"{name} {_version(package)}" for name, package in names.items()]
    return f"Python {platform.python_version()}, {', '.join(versions)}, {os.cpu_count()} cores"


def _version(package: str) -> str:
    if package == "judged":  # it is taken from src, whatever is installed
        text = (ROOT / "src" / "judged" / "__init__.py").read_text(encoding="utf-8")
        return re.findall(r'^__version__ = "(.+)"', text, re.MULTILINE)[0]
    try:
        return version(package)
    except PackageNotFoundError:
        return "(missing)"


def write(case: Case, results: Sequence[Result], repeat: int) -> None:
    """Put the block between the case's two marks in the README; text outside of them stays."""
    start, end = f"<!-- bench:{case.name} -->", f"<!-- /bench:{case.name} -->"
    text = README.read_text(encoding="utf-8")
    fresh = f"{start}\n{block(case, results, repeat)}\n{end}"
    replaced, count = re.subn(
        f"{re.escape(start)}.*?{re.escape(end)}", lambda _: fresh, text, flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(
            f"{README.name} must hold {start} and {end} once; found them {count} times."
        )
    README.write_text(replaced, encoding="utf-8")
