"""Write the generated parts of the documentation: `python docs/reference.py`.

Parts between `<!-- generated:NAME -->` and `<!-- /generated:NAME -->` come from the registry of
measures, the kinds of charts, the data of conventions and the declarations of the command line.
The output under `$ judged …` or `$ python …` in a `console` block is made by running the command
in a folder with the demo and the page's own files. These are blocks that name a file, such as
```` ```json rows.jsonl ````, files that the page's programs write, and what a block makes that
begins with `$ mkdir`. A test fails when any of it is out of date.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from pasted import output, with_outputs
from website.strip import FILE, strip_file

import judged
from judged.charts.kinds import KINDS, NEEDS, OPTIONS, ChartKind
from judged.cli import COMMANDS, cli
from judged.cli.conventions import LibraryDescription
from judged.cli.plot import option_of, plot
from judged.conventions import HELD, conventions
from judged.conventions.spec import Convention
from judged.measures import REGISTRY, Spec, catalogue
from judged.measures.reference import ABOUT, BIBLIOGRAPHY
from judged.measures.registry import Choice, aggregate_param, show
from judged.results import Display

DOCS = Path(__file__).resolve().parent
STUB = DOCS.parent / "src" / "judged" / "__init__.pyi"
PAGES = [
    *(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(DOCS.glob("*.md")),
]
AGGREGATE = aggregate_param("mean")
WIDTH = 120
PLOT_FLAGS = {flag for param in plot.params for flag in param.opts}
_LEFT_AS_IT_IS = re.compile(r"(^```.*?^```$|^(?:[|#<]|!\[).*?$)", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"( *)(?:[-*]|\d+\.) +")
_STARTS_A_LIST = re.compile(r" (?=(?:[-+*#>|]|\d+\.) )")


def wrapped(text: str) -> str:
    """Return a page with its paragraphs and lists at most WIDTH wide.

    Code, tables, headings and pictures stay as they are.
    """
    parts = _LEFT_AS_IT_IS.split(text)
    return "".join(part if number % 2 else _wrapped(part) for number, part in enumerate(parts))


def _wrapped(prose: str) -> str:
    blocks: list[list[str]] = []
    for line in prose.split("\n"):
        new = not line.strip() or not blocks or not blocks[-1][-1].strip() or _ITEM.match(line)
        if new:
            blocks.append([line])
        else:
            blocks[-1].append(line)
    return "\n".join(_paragraph(block) for block in blocks)


def _paragraph(lines: list[str]) -> str:
    """Return lines joined and broken again, but never inside backticks."""
    item = _ITEM.match(lines[0])
    lead = item[0] if item else re.match(" *", lines[0])[0]  # type: ignore[index]
    text = " ".join([lines[0][len(lead) :], *(line.strip() for line in lines[1:])])
    if not text.strip():
        return lines[0]
    whole = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)
    broken = textwrap.wrap(
        _STARTS_A_LIST.sub("\0", whole),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(broken).replace("\0", " ")


def stub() -> str:
    """Return the stub of public names, for type checkers and editors.

    They cannot follow names that are loaded when they are first used.
    """
    lines = [
        '"""Written by docs/reference.py from __init__.py and the registry of measures."""',
        "",
    ]
    for name, home in judged._HOMES.items():
        package, _, last = home.rpartition(".")
        is_module = last == name and inspect.ismodule(getattr(judged, name))
        module = f"judged.{package}".rstrip(".") if is_module else f"judged.{home}"
        lines.append(f"from {module} import {name} as {name}")
    return (
        "\n".join([*lines, "", "__version__: str", *(f"{name}: Measure" for name in REGISTRY)])
        + "\n"
    )


def measure_table() -> str:
    """Return one row per measure, with a link to its section."""
    rows = ["| measure | what it is | also called |", "|---|---|---|"]
    rows += [
        f"| [`{spec.name}`](#{spec.name.lower()}) | {spec.title} | {_names(spec.aliases)} |"
        for spec in catalogue()
    ]
    return "\n".join(rows)


def measure_sections() -> str:
    return "\n\n".join(_section(spec) for spec in catalogue())


def aggregations() -> str:
    return "\n".join(_choices(AGGREGATE, indent=""))


def _section(spec: Spec) -> str:
    also = [f"Also called {aliases(spec)}."] if spec.aliases else []
    parts = [
        f"### {spec.name}",
        f"**{spec.title}.** {spec.says}",
        *also,
        *formulas(spec),
        facts(spec),
        "\n".join(["Parameters:", "", *parameters(spec)]),
        f"```python\n{example(spec)}\n```",
    ]
    return "\n\n".join(parts)


def formulas(spec: Spec) -> Iterator[str]:
    """Yield the definition and those of variants, as code hosts show mathematics."""
    yield f"```math\n{spec.formula}\n```"
    for which, own in spec.formulas.items():
        yield f"With `{which}`:\n\n```math\n{own}\n```"


def facts(spec: Spec) -> str:
    """Return the range, the source, and the cases without a value of a measure."""
    low, high = (show(float(bound)).replace("inf", "∞") for bound in spec.range)
    better = (
        "; lower is better"
        if not spec.higher_is_better
        else "; higher is better"
        if spec.rates_relevance
        else ""
    )
    when = "" if spec.undefined.text == "never" else "when "
    return "\n".join(
        [
            f"- **Range**: {low} to {high}{better}.",
            f"- **Undefined**: {when}{spec.undefined.text}.",
            f"- **Reference**: {BIBLIOGRAPHY[spec.reference]}",
        ]
    )


def parameters(spec: Spec, *, page: str = "") -> Iterator[str]:
    """Yield each parameter as a list item; `page` has the section on aggregations."""
    for param in spec.params:
        default = "none" if param.default is None else f"`{show(param.default)}`"
        at = f" Also written `{spec.name}@{param.name}`." if param.name == spec.at else ""
        head = f"- `{param.name}`, default {default}:"
        if not isinstance(param, Choice):
            yield f"{head} {param.says}. It must be {param.allowed}.{at}"
        elif param.options == AGGREGATE.options:
            yield f"{head} [{param.says}]({page}#aggregations)."
        else:
            yield f"{head} {param.says}.{at}"
            yield from _choices(param, indent="  ")


def _choices(param: Choice, *, indent: str) -> Iterator[str]:
    yield from (f"{indent}- `{choice}`: {sentence}." for choice, sentence in param.options.items())


def example(spec: Spec) -> str:
    """Return the worked example of the declaration as a doctest."""
    example = spec.example
    ranking = ", ".join("None" if grade == "-" else grade for grade in example.ranking.split())
    given = {"relevant": example.relevant, "collection": example.collection}
    extra = "".join(f", {name}={value}" for name, value in given.items() if value is not None)
    made = f"judged.Rankings.from_relevance([[{ranking}]]{extra})"
    call = f'{made}.evaluate("{example.measure}").value()'
    return f">>> round({call}, 6)\n{round(float(example.value), 6)}\n"


def aliases(spec: Spec) -> str:
    """Return other names, with their meaning if they also set parameters."""
    said = [
        f"`{name}`"
        + (
            f" (with {', '.join(f'`{key}={show(value)}`' for key, value in preset.items())})"
            if preset
            else ""
        )
        for name, preset in spec.aliases.items()
    ]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def command(name: str) -> str:
    """Return the usage, the help and every option of a command."""
    context = click.Context(cli, info_name="judged")
    chosen = cli.get_command(context, name)
    assert chosen is not None
    with click.Context(
        chosen, info_name=name, parent=context, help_option_names=["-h", "--help"]
    ) as own:
        usage = f"judged {name} {' '.join(chosen.collect_usage_pieces(own))}"
        options = [param for param in chosen.get_params(own) if isinstance(param, click.Option)]
    return "\n\n".join([f"```\n{usage}\n```", _paragraphs(chosen.help or ""), _options(options)])


def top_level() -> str:
    """Return the options of `judged` itself, and its commands."""
    with click.Context(cli, info_name="judged", help_option_names=["-h", "--help"]) as context:
        options = [param for param in cli.get_params(context) if isinstance(param, click.Option)]
    commands = [f"- [`judged {name}`](#judged-{name})" for name in COMMANDS]
    return "\n".join([_options(options), *commands])


def _options(options: list[click.Option]) -> str:
    return "\n".join(_option(option) for option in options)


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in getattr(option, "names", option.opts))
    choices = getattr(option.type, "choices", None)
    value = "" if option.is_flag or choices else f" `{option.metavar or option.type.name.upper()}`"
    one_of = f", one of {', '.join(f'`{choice}`' for choice in choices)}" if choices else ""
    shown = option.show_default if isinstance(option.show_default, str) else option.default
    default = f", default `{shown}`" if option.show_default and not option.is_flag else ""
    said = " ".join((option.help or "").split())
    meanings = getattr(option, "meanings", {})
    head = f"- {names}{value}{one_of}{default}: {said}"
    return "\n".join([head, *(f"  - `{choice}`: {words}." for choice, words in meanings.items())])


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


def presets() -> str:
    """Return every preset with its measures."""
    rows = [
        f"| `{name}` | {preset.title} | {_names(preset.measures)} |"
        for name, preset in ABOUT.items()
    ]
    return "\n".join(["| preset | whose | measures |", "|---|---|---|", *rows])


VARIANTS = ("AP", "nDCG", "R", "P", "F", "RR")
"""Measures whose name stands for different numbers in different libraries."""


def convention_variants() -> str:
    """Return the variants of each measure with a cutoff, and the libraries of each."""
    rows = ["| measure | libraries |", "|---|---|"]
    for root in VARIANTS:
        users: dict[str, list[str]] = {}
        for each in conventions().values():
            for name in each.names:
                if re.fullmatch(
                    rf"{root}(\([^)]*\))?@\{{k\}}", name.ours
                ) and "{" not in name.ours.replace("{k}", ""):
                    users.setdefault(name.ours, [])
                    if each.name not in users[name.ours]:
                        users[name.ours].append(each.name)
        for ours, names in sorted(users.items(), key=lambda pair: (len(pair[0]), pair[0])):
            rows.append(f"| `{ours.replace('{k}', 'k')}` | {', '.join(names)} |")
    return "\n".join(rows)


def convention_table() -> str:
    """Return one row per convention, with a link to its section."""
    rows = [
        "| convention | library | version | held against it by | policy, where it differs |",
        "|---|---|---|---|---|",
    ]
    for each in conventions().values():
        policy = ", ".join(f"`{choice}={value}`" for choice, value in each.policy.items())
        rows.append(
            f"| [`{each.name}`](#{each.name.lower()}) | {each.title} | {each.version} | "
            f"{HELD[each.held]} | {policy} |"
        )
    return "\n".join(rows)


def convention_sections() -> str:
    return "\n\n".join(_library(each) for each in conventions().values())


def _library(convention: Convention) -> str:
    """Return the section of a library: its names of measures, and how it differs."""
    description = LibraryDescription(convention)
    document = description.document(Display())
    rows = ["| its name | judged | remark |", "| --- | --- | --- |"]
    for theirs, ours, remark in description.to_frame().rows():
        theirs, ours = (text.replace("|", "\\|") for text in (theirs, ours))
        rows.append(f"| `{theirs}` | {ours if ours == '–' else f'`{ours}`'} | {remark} |")
    notes = [f"- {note}" for note in document.notes]
    return "\n\n".join(
        [f"### {convention.name}", *document.answer, "\n".join(rows), "\n".join(notes)]
    )


def chart_table() -> str:
    """Return one row per kind of chart, with a link to its section."""
    rows = ["| chart | what it shows | made from |", "|---|---|---|"]
    rows += [
        f"| [`{kind.name}`](#{kind.name}) | {kind.title} | {NEEDS[kind.needs].says} |"
        for kind in KINDS.values()
    ]
    return "\n".join(rows)


def chart_sections() -> str:
    return "\n\n".join(_chart(kind) for kind in KINDS.values())


def _chart(kind: ChartKind) -> str:
    needs = NEEDS[kind.needs]
    options = " ".join(
        f"[{option_of(option)}]" for option in kind.options if option_of(option) in PLOT_FLAGS
    )
    picture = _picture_of(kind.name)
    given = [needs.python, *(f"{option}=…" for option in kind.options)]
    own = [
        f"- {', '.join(f'`{name}`' for name in names if name in {option, *PLOT_FLAGS})}: {says}"
        for option, says in OPTIONS.items()
        if option in kind.options and (names := (option_of(option), option))
    ]
    made_by = ", ".join(f"`{option_of(option)}`" for option in needs.made_by)
    command = "funnel" if kind.needs == "stages" else "compare"
    return "\n\n".join(
        [
            f"### {kind.name}",
            f"**{kind.title}.** {kind.summary}",
            f"![{kind.title}](pictures/{picture})",
            f"```\njudged plot {kind.name} {needs.usage} {options}{' ' if options else ''}-o "
            "FILE\n```",
            f"In Python: `judged.charts.{kind.function_name}({', '.join(given)})`.",
            *(["\n".join(own)] if own else []),
            *(
                [f"On the command line also, as for `judged {command}`: {made_by}."]
                if made_by
                else []
            ),
        ]
    )


def _picture_of(name: str) -> str:
    [path] = (DOCS / "pictures").glob(f"{name}.*")
    return path.name


def name_table() -> str:
    """Return every public name with the first sentence of its docstring."""
    groups: dict[str, list[str]] = {"Functions": [], "Classes": [], "Namespaces": []}
    for name in judged._HOMES:
        value = getattr(judged, name)
        if inspect.ismodule(value):
            members = [f"`judged.{name}.{member}`" for member in getattr(value, "__all__", ())]
            listed = f" ({', '.join(members)})" if name in ("learn", "temperature") else ""
            groups["Namespaces"].append(f"| `judged.{name}` | {_sentence(value)}{listed} |")
        else:
            group = "Functions" if inspect.isfunction(value) else "Classes"
            groups[group].append(f"| `judged.{name}` | {_sentence(value)} |")
    return "\n\n".join(
        "\n".join([f"### {title}", "", "| name | what it is |", "|---|---|", *rows])
        for title, rows in groups.items()
    )


def evaluation_table() -> str:
    """Return the attributes and methods of an evaluation, with the first sentence of each."""
    rows = ["| attribute | what it is |", "|---|---|"]
    for name, value in inspect.getmembers(judged.Evaluation):
        if name.startswith("_") or name.isupper() or not inspect.getdoc(value):
            continue
        if inspect.isfunction(value) or isinstance(value, property):
            call = "()" if inspect.isfunction(value) else ""
            rows.append(f"| `.{name}{call}` | {_sentence(value)} |")
    return "\n".join(rows)


def _sentence(value: object) -> str:
    first = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    return first.replace("|", "\\|")


GENERATED: dict[str, dict[str, Callable[[], str]]] = {
    "measures.md": {
        "table": measure_table,
        "aggregations": aggregations,
        "presets": presets,
        "measures": measure_sections,
    },
    "conventions.md": {
        "variants": convention_variants,
        "conventions": convention_table,
        "libraries": convention_sections,
    },
    "python.md": {"names": name_table, "evaluation": evaluation_table},
    "charts.md": {"kinds": chart_table, "charts": chart_sections},
    "commands.md": {"judged": top_level, **{name: partial(command, name) for name in COMMANDS}},
}


def generated(page: str, text: str) -> str:
    """Return a page's text with each generated part made again and prose wrapped."""
    for name, make in GENERATED.get(page, {}).items():
        begin, end = f"<!-- generated:{name} -->", f"<!-- /generated:{name} -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"docs/{page} has no part {begin} … {end}")
        text = f"{before}{begin}\n\n{make()}\n\n{end}{after}"
    return wrapped(text)


def main() -> None:
    STUB.write_text(stub(), encoding="utf-8")
    (DOCS / FILE).write_text(strip_file(), encoding="utf-8")
    with TemporaryDirectory() as folder:
        output("judged demo", Path(folder))
        for path in PAGES:
            text = path.read_text(encoding="utf-8")
            path.write_text(
                with_outputs(generated(path.name, text), Path(folder)), encoding="utf-8"
            )


if __name__ == "__main__":
    main()
