"""`judged measures`: the catalogue, straight from the registry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from math import isinf
from typing import TYPE_CHECKING, Any

import click

from judged.cli._files import command
from judged.cli._options import complete_measure
from judged.text import to_json

if TYPE_CHECKING:
    from judged.measures import Measure, Spec


@command(short_help="List all measures, or explain one.")
@click.argument("name", required=False, shell_complete=complete_measure)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def measures(name: str | None, form: str) -> None:
    """List all measures, or explain one: parameters, formula, when it is undefined, reference, a
    worked example.

    NAME may be a measure with parameters, such as "nDCG(gain=exp)@10": then its definition is that
    of these parameters.
    """
    from judged.cli._terminal import hand_over, say
    from judged.measures import bind, catalogue, parse_measure

    chosen = [parse_measure(name)] if name else [bind(spec, {}) for spec in catalogue()]
    if form == "json":
        entries = {
            str(measure): {**measure.definition(), **_declared(measure.spec)} for measure in chosen
        }
        hand_over(to_json(entries))
    elif name:
        say(_page(chosen[0], chosen[0].describe()))
    else:
        say("\n".join(_list([measure.spec for measure in chosen])))


def _declared(spec: Spec) -> dict[str, Any]:
    options = {
        each.name: {"default": each.default, "allowed": each.allowed, "says": each.says}
        for each in spec.params
    }
    return {
        "aliases": list(spec.aliases),
        "range": [None if isinf(bound) else bound for bound in spec.range],
        "options": options,
        "example": asdict(spec.example),
    }


def _list(specs: list[Spec]) -> Iterator[str]:
    width = max(len(spec.name) for spec in specs)
    family = ""
    for spec in specs:
        if spec.family != family:
            family = spec.family
            yield f"\n{family}"
        params = ", ".join(
            param.name for param in spec.params if param.name not in ("aggregate", spec.at)
        )
        at = f"@{spec.at}" if spec.at else ""
        also = f"  (also {', '.join(spec.aliases)})" if spec.aliases else ""
        yield f"  {spec.name.ljust(width)}  {spec.title}{also}"
        yield f"  {''.ljust(width)}  {spec.name}{f'({params})' if params else ''}{at}"
    yield "\n'judged measures NAME' explains one of them."


def _certainty(measure: Measure) -> dict[str, str]:
    """How sure the mean over orders of ties, the ends of a tie range and those of an unjudged range
    are."""
    from judged.measures.orders import LIMIT

    few = f"up to {LIMIT} orders of a query's ties"
    closed = "in closed form; a variant without one is " if measure.spec.expected else ""
    ends = "exact, unless a warning says" if measure.spec.worth else f"exact {few}, beyond them"
    bounds = "bounds, where empty=zero" if measure.monotone else "two scenarios, not bounds"
    return {
        "ties": f"expected: {closed}exact {few}, and estimated beyond them",
        "tie range": f"{ends} at least this far",
        "unjudged": f"the two values of an unjudged range are {bounds}",
    }


def _page(measure: Measure, words: str) -> str:
    from judged.measures.bibliography import BIBLIOGRAPHY
    from judged.measures.formula import readable
    from judged.measures.params import show

    spec = measure.spec
    example = spec.example
    given = [f"relevance in rank order {example.ranking}"]
    given += [f"{example.relevant} relevant in all"] if example.relevant is not None else []
    given += (
        [f"{example.collection} items in the collection"] if example.collection is not None else []
    )
    better = "higher" if spec.higher_is_better else "lower"
    low, high = (show(float(bound)) for bound in spec.range)
    lines = [
        f"{spec.name}: {spec.title}"
        + (f" (also {', '.join(spec.aliases)})" if spec.aliases else ""),
        "",
        words,
        "",
        f"formula    {readable(spec.formula)}",
        f"LaTeX      {spec.formula}",
        f"range      {low} to {high}" + (f", {better} is better" if spec.rates_relevance else ""),
        f"undefined  {spec.undefined.text}",
        *(f"{name.ljust(10)} {text}" for name, text in _certainty(measure).items()),
        f"reference  {BIBLIOGRAPHY[spec.reference]}",
        f"example    {example.measure} = {example.value:.6g}, with {', '.join(given)}",
        "",
        "parameters",
    ]
    for param in spec.params:
        default = "none" if param.default is None else show(param.default)
        at = f", also written {spec.name}@{param.name}" if param.name == spec.at else ""
        lines.append(f"  {param.name}={default}  {param.says}; {param.allowed}{at}")
        lines += [
            f"      {choice}: {sentence}"
            for choice, sentence in getattr(param, "options", {}).items()
        ]
    return "\n".join(lines)
