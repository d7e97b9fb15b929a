"""Declare every kind of chart once, for `judged plot --help`, the documentation and the tests.

The file of a kind has its name. It holds a public function of that name, which prepares a table,
and `draw`, which makes the chart from the table alone. `takes_design` writes the parameters of the
public function into its docstring. Files of kinds are imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from textwrap import fill
from typing import Any, ParamSpec, TypeVar

from judged.errors import InputError, did_you_mean, quoted
from judged.options import checked

Call = ParamSpec("Call")
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Needs:
    """What a kind of chart is made from, in Python and on the command line."""

    says: str  # in words
    usage: str  # arguments of `judged plot KIND`
    python: str  # arguments of the function
    files: tuple[int, int | None]  # the fewest and the most files
    parameters: dict[str, str]  # of the function, for its docstring
    made_by: tuple[str, ...] = ()  # options of `judged plot` that make it from files


COMPARING = (
    *("baseline", "test", "correction", "level", "margin", "groups", "unjudged_range", "seed"),
)
"""How `judged plot` compares runs, by the names of `judged compare`."""
NEEDS = {
    "system": Needs(
        "judgements and one run",
        "QRELS RUN",
        "evaluation",
        (2, 2),
        {"source": "An evaluation, `Rankings` or `Systems`, of one system."},
    ),
    "systems": Needs(
        "judgements and one or more runs",
        "QRELS RUN...",
        "evaluation",
        (2, None),
        {"source": "An evaluation, one `Rankings` or a list of them, or `Systems`."},
    ),
    "pair": Needs(
        "judgements and two runs",
        "QRELS RUN RUN",
        "evaluation or comparison",
        (3, 3),
        {
            "source": "An evaluation of two runs, two `Rankings`, or `Systems`: the second is "
            "compared with the first. Or a `Comparison` of two runs, by its own test and level."
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
    "results of a pair": Needs(
        "judgements and two runs with their items",
        "QRELS RUN RUN",
        "judgements, {name: run, name: run}",
        (3, 3),
        {
            "judgements": "A file, {query: {item: grade}}, or a table.",
            "runs": "Two runs, as {name: run, name: run} or two paths.",
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
"""What there is to make charts from. An evaluation may be rankings too (one `Rankings`, or a list
of them), or `Systems`; that of two systems a comparison too."""
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
    "ties": "Break ties of equal scores.",
    "pictures": "Read pictures from a CSV or TSV file with the columns id and picture.",
    "queries": "Show this many queries, by default 8.",
    "temperatures": "Show the swept temperatures nearest to three, by default around the best.",
}
"""The options of kinds; the design is for all of them."""


@dataclass(frozen=True)
class Kind:
    """One kind of chart."""

    name: str  # as `judged plot` takes it
    file: str  # the file of this package that holds its function
    title: str  # what it shows, in a few words
    says: str  # what it shows, in a sentence
    needs: str  # a key of NEEDS
    options: tuple[str, ...] = ()  # keys of OPTIONS
    formats: tuple[str, ...] = (".png", ".svg", ".pdf", ".html", ".json", ".csv", ".parquet")
    """Endings of files that it can be written to."""

    @property
    def function_name(self) -> str:
        """The name of its function in `judged.charts`."""
        return self.name.replace("-", "_")

    @property
    def function(self) -> Callable[..., Any]:
        """The public function, such as `judged.charts.precision_recall`."""
        return getattr(import_module(f"judged.charts.kinds.{self.file}"), self.function_name)

    @property
    def draw(self) -> Callable[..., Any]:
        """The function of a table, a canvas and sentences that makes the chart."""
        return getattr(import_module(self.function.__module__), f"draw_{self.function_name}")


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "precision-recall",
            "curves",
            "Precision against recall",
            "The precision-recall curve of one query, or the mean curve of all: as it is, a "
            "saw-tooth, with average precision "
            "as the area of its steps, and interpolated, whose area is not average precision; of "
            "several systems, one curve each.",
            "systems",
            ("query", "rel"),
        ),
        Kind(
            "eleven-point",
            "curves",
            "Interpolated precision at eleven recall points",
            "Mean interpolated precision at recall 0, 0.1, …, 1, one curve per system.",
            "systems",
            ("rel",),
        ),
        Kind(
            "measure-at-k",
            "curves",
            "A measure as k grows",
            "The value of one or more measures at every cutoff, one curve per system.",
            "systems",
            ("measures", "k"),
        ),
        Kind(
            "precision-recall-at-k",
            "curves",
            "Precision, recall and F1 as k grows",
            "P@k, R@k and F1@k of one system together, over all queries or for one.",
            "system",
            ("query", "k", "rel"),
        ),
        Kind(
            "confusion",
            "distributions",
            "Confusion counts at k",
            "How many items are relevant or not, and among the first k results or not, summed "
            "over queries.",
            "system",
            ("query", "k", "rel"),
        ),
        Kind(
            "confusion-at-k",
            "curves",
            "Confusion counts as k grows",
            "True positives, false positives and false negatives at every cutoff, summed over "
            "queries.",
            "system",
            ("query", "k", "rel"),
        ),
        Kind(
            "rank-histogram",
            "distributions",
            "Ranks of relevant items",
            "How many relevant items stand at which ranks, with their median; those that were not "
            "retrieved stand behind all.",
            "system",
            ("of", "rel"),
        ),
        Kind(
            "cmc",
            "curves",
            "Cumulative match characteristic",
            "The share of queries with a relevant item among the first k, as k grows, one curve "
            "per system.",
            "systems",
            ("k", "rel"),
        ),
        Kind(
            "differences",
            "pairs",
            "Differences of two systems, query by query",
            "A measure's value of the second system minus that of the first, for every query, the "
            "greatest first.",
            "pair",
            ("measure",),
        ),
        Kind(
            "scatter",
            "pairs",
            "One system against another",
            "A measure's value of every query in both systems: above the diagonal the second one "
            "is higher.",
            "pair",
            ("measure",),
        ),
        Kind(
            "forest",
            "intervals",
            "Differences with their intervals, by verdict",
            "The difference of each pair of systems on each measure, with its interval and its "
            "verdict: what was shown, and what was not.",
            "comparison",
        ),
        Kind(
            "systems",
            "intervals",
            "Values of systems with their intervals",
            "Every system's value on each measure with its interval, the best first, and the ranks "
            "that comparisons leave open.",
            "values",
        ),
        Kind(
            "power",
            "intervals",
            "How often a difference is shown as queries grow",
            "The power of a comparison against the number of queries, one curve per true "
            "difference, with the plan's own point and, from a pilot, the band that its standard "
            "deviation leaves.",
            "plan",
        ),
        Kind(
            "scores",
            "distributions",
            "Scores of relevant results and of others",
            "Two histograms of a run's scores: the less they overlap, the better a score tells "
            "relevant results from others.",
            "results",
            ("bins", "rel", "unjudged"),
        ),
        Kind(
            "embedding-scores",
            "distributions",
            "Scores of relevant pairs and of others",
            "The same for embeddings, over all pairs of queries and items.",
            "diagnosis",
        ),
        Kind(
            "ranges",
            "intervals",
            "How far ties and unjudged results could move a number",
            "Each measure's value with its range over the orders of tied results, and over what "
            "unjudged results may be.",
            "systems",
            ("measures",),
        ),
        Kind(
            "roc",
            "curves",
            "ROC curve",
            "The share of relevant items found against the share of irrelevant ones seen; it "
            "needs the size of the collection.",
            "systems",
            ("query", "rel"),
        ),
        Kind(
            "reliability",
            "distributions",
            "Reliability diagram",
            "Scores from 0 to 1 against the share of results that are relevant: whether a score "
            "can be read as a probability.",
            "results",
            ("bins", "rel", "unjudged"),
        ),
        Kind(
            "rank-flow",
            "pairs",
            "How judged items move between two systems",
            "Lines from the rank of each judged item in one run to its rank in the other, for one "
            "query.",
            "results of a pair",
            ("query", "rel", "ties"),
        ),
        Kind(
            "gallery",
            "gallery",
            "Pictures of queries and their first results",
            "For image search: queries and their first k results, with frames around right and "
            "wrong ones.",
            "results",
            ("pictures", "query", "k", "queries", "rel"),
            formats=(".html", ".png", ".json", ".csv", ".parquet"),
        ),
        Kind(
            "temperature",
            "temperatures",
            "Loss, entropy, confidence and calibration along temperature",
            "What a softmax of the scores is like at each temperature, with those of the lowest "
            "loss and of the best "
            "calibration; the ranking is the same at all of them.",
            "sweep",
        ),
        Kind(
            "temperature-probabilities",
            "temperatures",
            "Probabilities by rank at three temperatures",
            "The mean probability of the item at each of the first ranks, and of all others "
            "together: sharp, medium, smooth.",
            "sweep",
            ("temperatures",),
        ),
        Kind(
            "temperature-reliability",
            "temperatures",
            "Reliability diagrams at three temperatures",
            "The probability of the top item against how often it is relevant: at which "
            "temperature it can be believed.",
            "sweep",
            ("temperatures",),
        ),
        Kind(
            "temperature-study",
            "temperatures",
            "What the temperature of training does",
            "Measures on held-out queries with their intervals, loss, confidence and accuracy, "
            "alignment, uniformity and "
            "iterations, for a similarity trained at each of several temperatures.",
            "study",
        ),
    )
}


def kind_named(name: str) -> Kind:
    """Return a kind by its name, with hyphens or underscores."""
    known = name.replace("_", "-") if isinstance(name, str) else ""
    if known in KINDS:
        return KINDS[known]
    raise InputError(
        f"There is no chart {quoted(name)}{did_you_mean(known, KINDS)} There is {', '.join(KINDS)}."
    )


DESCRIPTIONS = {
    **OPTIONS,
    "k": "Last rank of the curves; by default that of the longest list, at most 100.",
    "temperatures": "Three temperatures, of which the nearest that were swept are shown; by "
    "default those nearest to the lowest loss, to a quarter and to four times of it.",
    "design": "How it is drawn: `theme`, `width`, `height`, `title`, `notes`, `looks`.",
    "returns": "The data, the drawing and the notes; `save` writes it to a file.",
}
"""Descriptions of parameters, unless a kind has another one."""


def takes_design(**others: str) -> Callable[[Callable[Call, Drawn]], Callable[Call, Drawn]]:
    """Check the options of a kind's function, and describe its parameters in its docstring.

    `others` are descriptions of parameters that differ from the usual ones.
    """

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
