"""`judged measures`: the catalogue of measures and presets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from judged.cli._command import command, option
from judged.cli._options import complete_measure
from judged.text import to_json

if TYPE_CHECKING:
    from judged.measures import Measure, Spec
    from judged.measures.reference import Preset


@command(example="judged measures nDCG@10")
@click.argument("name", required=False, shell_complete=complete_measure)
@option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Print in this format.",
)
def measures(name: str | None, form: str) -> None:
    """List all measures and presets, or explain some with formula, reference and example.

    NAME is a measure, with parameters or without, such as "nDCG(gain=exp)@10"; a preset, such as
    rag; or several of them, such as "P@5,10" or "rag,AP". Full names and related words work too,
    such as "hit rate" or "confusion matrix".
    """
    from judged.cli._terminal import hand_over, say
    from judged.measures import bind, catalogue
    from judged.measures.measure import entries, presets_in, read_all
    from judged.measures.reference import ABOUT, find_topic

    if topic := find_topic(name or ""):
        says, page = topic
        if form == "json":
            hand_over(to_json({"says": says, "page": page}))
        else:
            say(f"{says} The page '{page}' of the documentation explains more.")
        return
    presets = dict(ABOUT)
    labels = {bind(spec, {}): spec.name for spec in catalogue()}
    if name is not None:
        presets, rest = presets_in(name)
        labels = read_all(rest) if rest else {}
    if form == "json":
        hand_over(to_json(entries(labels, presets, chosen=name is not None)))
    elif name is not None:
        pages = ["\n".join(_preset(*each)) for each in presets.items()]
        specs = {measure.spec.name: measure.spec for measure in labels}
        pages += ["\n".join(_page(spec, labels)) for spec in specs.values()]
        say("\n\n\n".join(pages))
    else:
        say("\n".join(_list([measure.spec for measure in labels], presets)))


def _list(specs: list[Spec], presets: Mapping[str, Preset]) -> Iterator[str]:
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
    yield "\npresets"
    width = max(map(len, presets))
    for name, preset in presets.items():
        yield f"  {name.ljust(width)}  {preset.title}"
        yield f"  {''.ljust(width)}  {', '.join(preset.measures)}"
    yield (
        "\n'judged measures NAME' explains one of them; '-m NAME,NAME' asks for several, and "
        "'-m P@5,10' for several cutoffs."
    )


def _preset(name: str, preset: Preset) -> Iterator[str]:
    from judged.measures import parse_measure

    yield f"{name}: {preset.title}"
    yield f"\n{preset.says}\n\nmeasures"
    for text in preset.measures:
        measure = parse_measure(text)
        yield f"  {text}  {measure.spec.title}"
        yield f"      {measure.describe()}"
    yield f"\n'-m {name}' asks for all of them."


def _words(measure: Measure, label: str, *, alone: bool) -> str:
    """Return the definition with the parameters in force, after the name if that adds something."""
    if label != str(measure):
        return f"{label} is {measure}. {measure.describe()}"
    return measure.describe() if alone else f"{label}: {measure.describe()}"


def _certainty(measures: list[Measure]) -> dict[str, str]:
    """Return how sure means over ties, tie ranges and unjudged ranges are."""
    from judged.measures.tie_orders import LIMIT

    few = f"up to {LIMIT} orders of a query's ties"
    spec = measures[0].spec
    closed = "in closed form; a variant without one is " if spec.expected else ""
    ends = "exact, unless a warning says" if spec.worth else f"exact {few}, beyond them"
    monotone = all(measure.monotone for measure in measures)
    bounds = "bounds, where empty=zero" if monotone else "two scenarios, not bounds"
    return {
        "ties": f"expected: {closed}exact {few}, and estimated beyond them",
        "tie range": f"{ends} at least this far",
        "unjudged": f"the two values of an unjudged range are {bounds}",
    }


def _page(spec: Spec, labels: Mapping[Measure, str]) -> Iterator[str]:
    """Yield everything that is declared of a measure, with the requested parameters."""
    from judged.measures.reference import BIBLIOGRAPHY, readable
    from judged.measures.registry import show

    asked = {measure: label for measure, label in labels.items() if measure.spec is spec}
    example = spec.example
    given = [f"relevance in rank order {example.ranking}"]
    given += [f"{example.relevant} relevant in all"] if example.relevant is not None else []
    given += (
        [f"{example.collection} items in the collection"] if example.collection is not None else []
    )
    better = "higher" if spec.higher_is_better else "lower"
    low, high = (show(float(bound)) for bound in spec.range)
    yield from [
        f"{spec.name}: {spec.title}"
        + (f" (also {', '.join(spec.aliases)})" if spec.aliases else ""),
        "",
        *(_words(measure, label, alone=len(asked) == 1) for measure, label in asked.items()),
        "",
        f"formula    {readable(spec.formula)}",
        f"LaTeX      {spec.formula}",
        *(f"{variant.ljust(10)} {readable(own)}" for variant, own in spec.formulas.items()),
        f"range      {low} to {high}" + (f", {better} is better" if spec.rates_relevance else ""),
        f"undefined  {spec.undefined.text}",
        *(f"{name.ljust(10)} {text}" for name, text in _certainty(list(asked)).items()),
        f"reference  {BIBLIOGRAPHY[spec.reference]}",
        f"example    {example.measure} = {example.value:.6g}, with {', '.join(given)}",
        "",
        "parameters",
    ]
    for param in spec.params:
        default = "none" if param.default is None else show(param.default)
        at = f", also written {spec.name}@{param.name}" if param.name == spec.at else ""
        yield f"  {param.name}={default}  {param.says}; {param.allowed}{at}"
        for choice, sentence in getattr(param, "options", {}).items():
            yield f"      {choice}: {sentence}"
