"""Declare every kind of chart once, for `judged plot --help`, the documentation and the tests.

A kind has a public function of its name, which prepares a table, and `draw_NAME`, which makes the
chart from the table alone. `takes_design` writes the parameters of the public function into its
docstring. Files of kinds are imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import getdoc
from textwrap import fill
from typing import Any, ParamSpec, TypeVar

from judged.errors import InputError, did_you_mean, quoted
from judged.options import checked

Call = ParamSpec("Call")
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Needs:
    """The source of a kind of chart, in Python and on the command line."""

    says: str  # in words
    usage: str  # arguments of `judged plot KIND`
    python: str  # arguments of the function
    files: tuple[int, int | None]  # the fewest and the most files
    parameters: dict[str, str]  # of the function, for its docstring
    made_by: tuple[str, ...] = ()  # options of `judged plot` that make it from files


COMPARING = ("baseline", "level")
"""Options of comparisons, by the names of `judged compare`."""
NEEDS = {
    "system": Needs(
        "judgements and one run",
        "QRELS RUN",
        "evaluation",
        (2, 2),
        {"source": "An evaluation or `Rankings` of one system."},
    ),
    "systems": Needs(
        "judgements and one or more runs",
        "QRELS RUN...",
        "evaluation",
        (2, None),
        {"source": "An evaluation, one `Rankings` or a list of them."},
    ),
    "pair": Needs(
        "judgements and two runs",
        "QRELS RUN RUN",
        "evaluation or comparison",
        (3, 3),
        {
            "source": "An evaluation of two runs or two `Rankings`: the second is compared "
            "with the first. Or a `Comparison` of two runs, by its own test and level."
        },
        COMPARING,
    ),
    "results": Needs(
        "judgements and one run with its items and scores",
        "QRELS RUN",
        "judgements, run",
        (2, 2),
        {
            "judgements": "Judgements; or one grade per result (y_true), where `run` has one score "
            "per result.",
            "run": "A run with scores; or one score per result (y_score).",
        },
    ),
    "comparison": Needs(
        "judgements and two or more runs",
        "QRELS RUN RUN...",
        "comparison",
        (3, None),
        {"comparison": "The result of `judged.compare` or `judged.compare_values`."},
        ("measures", *COMPARING),
    ),
    "values": Needs(
        "judgements and one or more runs",
        "QRELS RUN...",
        "comparison or evaluation",
        (2, None),
        {"source": "The result of `judged.compare`, with open ranks, or of `judged.evaluate`."},
        ("measures", *COMPARING),
    ),
    "stages": Needs(
        "judgements and two or more runs, the stages of a pipeline in their order",
        "QRELS RUN RUN...",
        "funnel",
        (3, None),
        {"funnel": "The result of `judged.funnel`."},
        ("k", "rel"),
    ),
    "diagnosis": Needs(
        "a diagnosis of embeddings: `judged embeddings … --diagnose -o FILE.json`",
        "DIAGNOSIS",
        "diagnosis",
        (1, 1),
        {"diagnosis": "The result of `judged.Embeddings.diagnose`, or its JSON."},
    ),
    "sweep": Needs(
        "a sweep of temperatures: `judged temperature … -o FILE.json`",
        "SWEEP",
        "sweep",
        (1, 1),
        {"sweep": "The result of `judged.temperature.sweep`, or its JSON."},
    ),
    "study": Needs(
        "a study of training temperatures: `judged temperature --train … -o FILE.json`",
        "STUDY",
        "study",
        (1, 1),
        {"study": "The result of `judged.temperature.sweep(train=True)`, or its JSON."},
    ),
    "plan": Needs(
        "a plan: `judged plan … -o FILE.json`",
        "PLAN",
        "plan",
        (1, 1),
        {"plan": "The result of `judged.plan`, or its JSON."},
    ),
}
"""Sources of charts."""
OF_RANKINGS = ("system", "systems", "pair", "comparison", "values")
"""Needs that are rankings, made under a policy."""
OF_JSON = ("diagnosis", "sweep", "study", "plan")
"""Needs that are results of another command, in one file."""

OPTIONS = {
    "query": "Show one query instead of all.",
    "k": "Show the first k results, or draw curves down to rank k.",
    "measure": "Compare by this measure, by default nDCG@10.",
    "measures": "Draw this measure, such as nDCG@10; may be given more than once.",
    "rel": "Count grades from this one as relevant, by default 1.",
    "of": "Show all relevant items, or the first of each query.",
    "bins": "Put scores into this many bins.",
    "unjudged": "Count unjudged results as not relevant, or leave them out.",
    "pictures": "Read pictures from a CSV or TSV file with the columns id and picture.",
    "queries": "Show this many queries, by default 8.",
}
"""The options of kinds; the design is for all of them."""


FILES = {
    "curves": "precision-recall eleven-point measure-at-k precision-recall-at-k confusion-at-k "
    "cmc roc risk-coverage",
    "distributions": "confusion rank-histogram scores embedding-scores reliability funnel",
    "pairs": "differences scatter",
    "intervals": "forest systems power ranges",
    "gallery": "gallery",
    "temperatures": "temperature temperature-probabilities temperature-reliability "
    "temperature-study",
}
"""Names of kinds by the file of this package that holds their functions."""
FORMATS = (".png", ".svg", ".pdf", ".html", ".json", ".csv", ".parquet")
GALLERY_FORMATS = (".html", ".png", ".json", ".csv", ".parquet")


class ChartKind:
    """One kind of chart."""

    def __init__(self, name: str, title: str, needs: str, options: str = "") -> None:
        self.name = name  # as `judged plot` takes it
        self.title = title  # what it shows, in a few words
        self.needs = needs  # a key of NEEDS
        self.options = tuple(options.split())  # keys of OPTIONS
        self.formats = GALLERY_FORMATS if name == "gallery" else FORMATS
        """Extensions of files that it can be written to."""
        self.file = next(file for file, names in FILES.items() if name in names.split())
        self.function_name = name.replace("-", "_")
        """The name of its function in `judged.charts`."""

    @property
    def function(self) -> Callable[..., Any]:
        """The public function, such as `judged.charts.precision_recall`."""
        return getattr(import_module(f"judged.charts.kinds.{self.file}"), self.function_name)

    @property
    def summary(self) -> str:
        """The docstring of the function down to its parameters."""
        head = (getdoc(self.function) or "").partition("Parameters\n")[0]
        return " ".join(head.split())

    @property
    def draw(self) -> Callable[..., Any]:
        """The function of a table, a canvas and sentences that makes the chart."""
        return getattr(import_module(self.function.__module__), f"draw_{self.function_name}")


_DECLARED = (
    ChartKind("precision-recall", "Precision against recall", "systems", "query rel"),
    ChartKind("eleven-point", "Interpolated precision at eleven recall points", "systems", "rel"),
    ChartKind("measure-at-k", "A measure as k grows", "systems", "measures k"),
    ChartKind(
        "precision-recall-at-k", "Precision, recall and F1 as k grows", "system", "query k rel"
    ),
    ChartKind("confusion", "Confusion counts at k", "system", "query k rel"),
    ChartKind("confusion-at-k", "Confusion counts as k grows", "system", "query k rel"),
    ChartKind("rank-histogram", "Ranks of relevant items", "system", "of rel"),
    ChartKind("cmc", "Cumulative match characteristic", "systems", "k rel"),
    ChartKind("differences", "Differences of two systems, query by query", "pair", "measure"),
    ChartKind("scatter", "One system against another", "pair", "measure"),
    ChartKind("forest", "Differences with their intervals, by verdict", "comparison"),
    ChartKind("systems", "Values of systems with their intervals", "values"),
    ChartKind("power", "How often a difference is shown as queries grow", "plan"),
    ChartKind("scores", "Scores of relevant results and of others", "results", "bins rel unjudged"),
    ChartKind("embedding-scores", "Scores of relevant pairs and of others", "diagnosis"),
    ChartKind(
        "ranges", "How far ties and unjudged results could move a number", "systems", "measures"
    ),
    ChartKind("roc", "ROC curve", "systems", "query rel"),
    ChartKind("risk-coverage", "Wrong answers as more queries are answered", "system", "measure"),
    ChartKind("funnel", "Relevant items lost by each stage of a pipeline", "stages"),
    ChartKind("reliability", "Reliability diagram", "results", "bins rel unjudged"),
    ChartKind(
        "gallery",
        "Pictures of queries and their first results",
        "results",
        "pictures query k queries rel",
    ),
    ChartKind(
        "temperature", "Loss, entropy, confidence and calibration along temperature", "sweep"
    ),
    ChartKind("temperature-probabilities", "Probabilities by rank at three temperatures", "sweep"),
    ChartKind("temperature-reliability", "Reliability diagrams at three temperatures", "sweep"),
    ChartKind("temperature-study", "What the temperature of training does", "study"),
)
KINDS = {kind.name: kind for kind in _DECLARED}


def kind_named(name: str) -> ChartKind:
    """Return a kind by its name, with hyphens or underscores."""
    known = name.replace("_", "-") if isinstance(name, str) else ""
    if known in KINDS:
        return KINDS[known]
    raise InputError(
        f"unknown chart {quoted(name)}{did_you_mean(known, KINDS)} The charts are "
        f"{', '.join(KINDS)}."
    )


DESCRIPTIONS = {
    **OPTIONS,
    "k": "Last rank of the curves; by default that of the longest list, at most 100.",
    "design": "How it is drawn: `theme`, `width`, `height`, `title`, `notes`, `looks`.",
    "returns": "The data, the drawing and the notes; `save` writes it to a file.",
}
"""Descriptions of parameters, unless a kind has another one."""


def takes_design(**others: str) -> Callable[[Callable[Call, Drawn]], Callable[Call, Drawn]]:
    """Check a function's options and document them; `others` are unusual descriptions."""

    def decorate(function: Callable[Call, Drawn]) -> Callable[Call, Drawn]:
        plain: Any = function
        kind = KINDS[plain.__name__.replace("_", "-")]
        texts = {**DESCRIPTIONS, **NEEDS[kind.needs].parameters, **others}
        optional = plain.__kwdefaults__ or {}
        code, types = plain.__code__, plain.__annotations__
        lines = ["Parameters", "----------"]
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            described = types[name].removesuffix(" | None").replace(" | ", " or ")
            lines += [f"{name} : {described}{', optional' if name in optional else ''}"]
            lines += [_indented(texts[name])]
        lines += ["**design : Design", _indented(texts["design"]), ""]
        lines += ["Returns", "-------", types["return"], _indented(texts["returns"]), "", ""]
        section = "\n".join(f"    {line}" if line else "" for line in lines)
        if plain.__doc__ is not None:
            head, example, rest = plain.__doc__.partition("    >>>")
            plain.__doc__ = head + section + example + rest
        return checked(function)

    return decorate


def _indented(text: str) -> str:
    return fill(text, 92, initial_indent="    ", subsequent_indent="        ")
