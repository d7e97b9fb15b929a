"""One page per measure, made from the registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from typing import Any
from urllib.parse import urlencode

import reference

from judged import explain
from judged.conventions import conventions
from judged.explanation.explanation import OTHERS, Explanation
from judged.measures import Spec, catalogue, lookup, parse_measure
from judged.rankings.strips import strips
from judged.text import markdown, markdown_table
from judged.web.settings import HOST, PORT
from judged.web.views.playground import link_of
from website.strip import figure, labelled


def measure_pages() -> dict[str, str]:
    """Return the text of each page by its place on the site."""
    return {f"measures/{spec.name}.md": measure_page(spec) for spec in catalogue()}


def measure_page(spec: Spec) -> str:
    explained = explanation(spec)
    users = _users(spec)
    parts = [
        "[All measures](../measures.md)",
        f"# {title(spec)}",
        markdown(f"{spec.title}. {spec.says}" if "(" in spec.title else spec.says),
        *([f"Also called {reference.aliases(spec)}."] if spec.aliases else []),
        *reference.formulas(spec),
        reference.facts(spec),
        "## Worked example",
        *_example(spec, explained),
        "## Step by step",
        *steps(explained),
        "## Try it",
        *_trial(spec),
        "## Parameters",
        "\n".join(reference.parameters(spec, page="../measures.md")),
    ]
    if users:
        parts += [
            "## Who defines it how",
            "Each variant in the notation of judged, the libraries that compute it, and what they "
            "call it. The library's section has its policy, and all else that it does otherwise.",
            "\n".join(
                line
                for ours, entries in users.items()
                for line in (f"- `{ours}`", *(f"  - {entry}" for entry in entries))
            ),
        ]
    return "\n\n".join(parts) + "\n"


def title(spec: Spec) -> str:
    """Return the full name of a measure with its notation, such as Recall (R@k)."""
    full = spec.title.partition(" (")[0]
    notation = f"{spec.name}@{spec.at}" if spec.at else spec.name
    return notation if full == spec.name else f"{full} ({notation.replace('_', chr(92) + '_')})"


def explanation(spec: Spec) -> Explanation:
    """Explain the worked example, as `judged explain` does."""
    example = spec.example
    return explain(example.ranking, measure=example.measure, **_given(spec))


def _given(spec: Spec) -> dict[str, Any]:
    given = {"relevant": spec.example.relevant, "collection": spec.example.collection}
    return {name: value for name, value in given.items() if value is not None}


def _example(spec: Spec, explained: Explanation) -> Iterator[str]:
    rankings = explained.rankings
    grades = spec.example.ranking.split()
    under = ["?" if grade == "-" else _short(grade) for grade in grades]
    yield figure(labelled(strips(rankings, len(grades)).cells(0), under, "The list"))
    extra = "".join(
        f" {value:,} items are {'relevant' if name == 'relevant' else 'in the collection'}."
        for name, value in _given(spec).items()
    )
    value = f"{explained.value:.6g}".replace("-", "−")
    yield f"`{spec.example.measure}` of this list is **{value}**.{extra}"


def _short(grade: str) -> str:
    """Return a grade, or the subtopics of a result."""
    return ",".join(re.findall(r'"([^"]+)":', grade)) or grade


def steps(explained: Explanation) -> Iterator[str]:
    """Yield what `judged explain` prints, with the arithmetic set as mathematics."""
    told = explained.to_dict()
    header, rows = told["table"]["header"], told["table"]["rows"]
    safe = [[markdown(text) for text in row] for row in rows]
    yield markdown_table(header, safe, right=told["table"]["right"])
    for line in told["lines"]:
        worked = [line["latex"], *([] if len(line["stages"]) == 1 else [line["stages"][-1]])]
        yield f"```math\n{_symbol(line['symbol'])} = {' = '.join(worked)}\n```"
        if line["says"]:
            yield f"{markdown(line['says'][:1].upper() + line['says'][1:])}."
    yield from map(markdown, told["sentences"])
    if different := explained.other_values():
        yield markdown_table(
            [*OTHERS[:2], "what differs, and who has it"],
            [[f"`{name}`", value, markdown(who)] for name, value, who in different],
            right=[1],
        )


def _symbol(name: str) -> str:
    """Return a variable, or a word that may contain _, in LaTeX."""
    return name if len(name) == 1 else rf"\text{{{name}}}"


def _trial(spec: Spec) -> Iterator[str]:
    """Yield the example as a command, in Python and as a link to the playground."""
    example = spec.example
    options = "".join(f" --{name} {value}" for name, value in _given(spec).items())
    asked = f"{quote(example.ranking)} -m {quote(example.measure)}{options}"
    yield f"```console\n$ judged explain {asked}\n$ judged conventions {asked}\n```"
    yield f"```python\n>>> import judged\n{reference.example(spec)}```"
    if address := playground(spec):
        yield (
            f"In the [playground](../guide-explorer.md#pages): start `judged serve`, then open "
            f"[this list there]({address}), move its tiles, and watch every library's number."
        )


def playground(spec: Spec) -> str | None:
    """Return the address of the example in the playground; None if it has none."""
    link = link_of(spec.example.rankings(), parse_measure(spec.example.measure))
    if link is None:
        return None
    if spec.example.collection is not None:
        link["collection"] = str(spec.example.collection)
    return f"http://{HOST}:{PORT}/playground?{urlencode(link)}"


def _users(spec: Spec) -> dict[str, list[str]]:
    """Return the libraries of each variant, and their names for it; plain ones first."""
    found: dict[str, list[str]] = {}
    for each in conventions().values():
        for name in each.names:
            root = re.match(r"\w+", name.ours)
            if root is None or lookup(root[0])[0].name != spec.name:
                continue
            own = [f"`{choice}={value}`." for choice, value in name.policy.items()]
            said = [
                markdown(text) for text in (name.note, *(c.says for c in name.cautions)) if text
            ]
            remark = " ".join([*said, *own])
            link = f"[{each.title}](../conventions.md#{each.name.lower()})"
            ours = name.ours.replace("{", "").replace("}", "")
            entry = f"{link}: `{name.theirs}`{f'. {remark}' if remark else ''}"
            found.setdefault(ours, []).append(entry)
    return dict(sorted(found.items(), key=lambda pair: (pair[0].count("("), pair[0].lower())))
