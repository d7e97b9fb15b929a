"""trec_eval's names: our measure for each, with its parameters, order and way of printing.

Verified against the output of trec_eval 10.0 (tests/golden/trec_eval), and pytrec_eval for version
9.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from judged.conventions import spec

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TENTHS = tuple(f"{i / 10:.1f}" for i in range(11))


def as_long(text: str) -> int:
    """Read a whole number as trec_eval does with C's atol: the digits that a text begins with.

    A text without them is a ValueError, and 0 in trec_eval.

    >>> as_long("23.4"), as_long(" 7x")
    (23, 7)
    """
    found = re.match(r"\s*[+-]?[0-9]+", text)
    if found is None:
        raise ValueError(f"{text!r} does not begin with a whole number")
    return int(found[0])


def _plain(text: str) -> str:
    """Read a number as trec_eval does: ".50" is 0.5."""
    return f"{float(text):g}"


@dataclass(frozen=True)
class PrintedName:
    """One of trec_eval's names."""

    measure: str
    """Our measure; where it takes cutoffs or a parameter, {} is their place. Empty for what is no
    measure of ours."""
    cutoffs: tuple[str, ...] = ()
    """The values printed one by one where none are given."""
    written: str = "{}"
    """Notation of a cutoff after the name."""
    parameter: Callable[[str], str] | None = None
    """Conversion of a parameter's text to judged's, for a name with one parameter for all."""
    whole: bool = False
    """Printed as a whole number."""
    queries: bool = True
    """Printed for single queries."""
    summary: bool = True
    """Printed for all queries."""

    @property
    def takes_nothing(self) -> bool:
        """True if it has no parameters."""
        return not self.cutoffs and self.parameter is None


def _gains(text: str) -> str:
    if any(pair.count("=") != 1 for pair in text.split(",")):
        raise ValueError(f"{text!r} is not a table of grades and gains")
    return "gains={" + text.replace("=", ":") + "}"


def _weights(text: str) -> str:
    return ", ".join(
        f"{name}={_plain(value)}" for name, value in zip("abcd", text.split(","), strict=True)
    )


def _patience(text: str) -> str:
    return _plain(text.removeprefix("p="))


NAMES: dict[str, PrintedName] = {
    "runid": PrintedName("", queries=False),
    "num_q": PrintedName("NumQ", whole=True, queries=False),
    "num_ret": PrintedName("NumRet", whole=True),
    "num_rel": PrintedName("NumRel", whole=True),
    "num_rel_ret": PrintedName("NumRelRet", whole=True),
    "map": PrintedName("AP"),
    "gm_map": PrintedName("AP(aggregate=geometric)", queries=False),
    "Rprec": PrintedName("Rprec"),
    "bpref": PrintedName("Bpref"),
    "recip_rank": PrintedName("RR"),
    "iprec_at_recall": PrintedName("IPrec(rounding=trec_eval)@{}", TENTHS, "{:.2f}"),
    "P": PrintedName("P@{}", CUTOFFS),
    "relstring": PrintedName("", parameter=_plain, summary=False),
    "recall": PrintedName("R@{}", CUTOFFS),
    "infAP": PrintedName("infAP"),
    "gm_bpref": PrintedName("Bpref(aggregate=geometric)", queries=False),
    "Rprec_mult": PrintedName(
        "Rprec(mult={})", tuple(f"{i / 5:.1f}" for i in range(1, 11)), "{:.2f}"
    ),
    "utility": PrintedName("Utility({})", parameter=_weights),
    "11pt_avg": PrintedName(
        "IAP(rounding=trec_eval, {})", parameter=lambda text: f"points=[{text}]"
    ),
    "binG": PrintedName("binG"),
    "G": PrintedName("G({})", parameter=_gains),
    "dcg": PrintedName("DCG({})", parameter=_gains),
    "ideal_dcg": PrintedName("IdealDCG({})", parameter=_gains),
    "ndcg": PrintedName("nDCG({})", parameter=_gains),
    "ndcg_rel": PrintedName("nDCGRel({})", parameter=_gains),
    "Rndcg": PrintedName("RnDCG({})", parameter=_gains),
    "ndcg_cut": PrintedName("nDCG@{}", CUTOFFS),
    "map_cut": PrintedName("AP@{}", CUTOFFS),
    "relative_P": PrintedName("R(norm=capped)@{}", CUTOFFS),
    "success": PrintedName("Success@{}", ("1", "5", "10")),
    "set_P": PrintedName("P"),
    "set_relative_P": PrintedName("R(norm=capped)"),
    "set_recall": PrintedName("R"),
    "set_map": PrintedName("SetAP"),
    # trec_eval's parameter is the square of the usual beta.
    "set_F": PrintedName("F({})", parameter=lambda text: f"beta={math.sqrt(float(text))!r}"),
    "num_nonrel_judged_ret": PrintedName("NumNonrelRet", whole=True),
    "yaap": PrintedName("YAAP"),
    "rbp": PrintedName("RBP(p={})", parameter=_patience),
    "rbp_resid": PrintedName("RBPResidual(p={})", parameter=_patience),
    "unj": PrintedName("Unjudged@{}", ("5", "10", "20")),
}
"""In the order of printing."""

DEFAULT_PARAMETERS = {"rbp": "0.9", "rbp_resid": "0.9", "relstring": "10"}

_OFFICIAL = tuple(NAMES)[:10]  # runid to recip_rank
_SETS = ("utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F")
GROUPS: dict[str, tuple[str, ...]] = {
    "official": (*_OFFICIAL, "iprec_at_recall", "P"),
    "set": (*_OFFICIAL[:5], *_SETS),
    "all_trec": tuple(name for name in NAMES if name not in ("dcg", "ideal_dcg", "yaap")),
}
REFUSED = {
    "prefs": "preference judgements",
    "qrels_prefs": "preference judgements",
    "all_prefs": "preference judgements",
    "qrels_jg": "judgement groups",
    "map_avgjg": "judgement groups",
    "P_avgjg": "judgement groups",
    "Rprec_mult_avgjg": "judgement groups",
}
"""Formats and measures of trec_eval that judged does not have, and what they need."""


@dataclass(frozen=True)
class PrintedLine:
    """One value that trec_eval prints: its name there, and our measure."""

    name: str
    root: str
    measure: str


def lines(root: str, parameters: str | None = None) -> Iterator[PrintedLine]:
    """Yield what one of trec_eval's names prints, with its usual parameters or those given.

    Parameters that do not fit are a ValueError. A name that takes none ignores them.
    """
    known = NAMES[root]
    if known.cutoffs:
        whole = "." not in known.written
        given = parameters.split(",") if parameters else known.cutoffs
        cutoffs = sorted(as_long(text) if whole else float(text) for text in given)
        if len(set(cutoffs)) < len(cutoffs):
            raise ValueError(f"{root} has a cutoff twice")
        for cutoff in cutoffs:
            name = f"{root}_{known.written.format(cutoff)}"
            yield PrintedLine(name, root, known.measure.format(f"{cutoff:.17g}"))
    elif known.parameter is None:
        yield PrintedLine(root, root, known.measure)
    else:
        text = parameters or DEFAULT_PARAMETERS.get(root)
        inside = known.parameter(text) if text else ""
        measure = known.measure.format(inside).replace(", )", ")").replace("()", "")
        yield PrintedLine(f"{root}_{parameters}" if parameters else root, root, measure)


def understood(text: str) -> list[tuple[str, str]] | None:
    """Return our measures for one of trec_eval's names, each with its printed name.

    A name is as `-m` takes it (P.5,10) or as it is printed (P_5). None if it is unknown.
    """
    root, dot, parameters = text.partition(".")
    if root in NAMES and (dot or NAMES[root].measure):
        return _measures(root, parameters if dot else None)
    # What is printed: the longest name that the text begins with.
    for name in sorted(NAMES, key=len, reverse=True):
        if text.startswith(f"{name}_"):
            return _measures(name, text[len(name) + 1 :])
    return None


def _measures(root: str, parameters: str | None) -> list[tuple[str, str]] | None:
    # trec_eval ignores what a name does not take; here map_5 must not be read as map.
    if parameters is not None and NAMES[root].takes_nothing:
        return None
    try:
        found = lines(root, parameters)
        return [(line.name, line.measure) for line in found if line.measure] or None
    except ValueError:
        return None


def _names() -> Iterator[spec.Name]:
    """Yield the names as templates; `understood` reads those with parameters of their own."""
    for root, known in NAMES.items():
        if not known.measure:
            yield spec.Name(root, "", "No number.")
        elif known.cutoffs:
            place = "{k}" if known.written == "{}" else "{x}"
            ours = known.measure.format(place)
            yield spec.Name(
                f"{root}_{place}",
                ours,
                NOTES.get(root, ""),
                aliases=(f"{root}.{place}",),
                plain=root not in APART,
            )
        else:
            yield spec.Name(
                root, next(lines(root)).measure, NOTES.get(root, ""), plain=root not in APART
            )


APART = ("relative_P", "set_relative_P")
"""Names of their own for what is a variant of recall in our notation."""

NOTES = {
    "iprec_at_recall": (
        "A recall point p asks for floor(p N + 0.5) relevant items, not for the least number that "
        "reaches it."
    ),
    "11pt_avg": "Its recall points are rounded as in iprec_at_recall.",
    "relative_P": "Recall divided by the most that k results can hold.",
    "set_relative_P": "Recall of the whole list divided by the most that it can hold.",
    "gm_map": "The geometric mean over the queries, each value at least 0.00001.",
    "gm_bpref": "The geometric mean over the queries, each value at least 0.00001.",
    "set_F": "Its parameter is the square of the usual beta.",
    "rbp": "p is 0.9 unless given.",
    "rbp_resid": "p is 0.9 unless given.",
}
"""Differences from judged's measure with its default parameters."""

CONVENTION = spec.Convention(
    name="trec_eval",
    title="trec_eval",
    aliases=("trec",),
    version="10.0",
    held="output",
    verified=(
        "Its printed output, stored with the tests and compared byte for byte with `judged "
        "trec-eval`."
    ),
    names=tuple(_names()),
    policy={"missing": "error"},
    cautions=(
        spec.Caution(
            "fractional", "trec_eval reads grades as whole numbers: what follows the point is lost."
        ),
    ),
    options=(
        spec.Option(
            "-c", "A judged query that the run lacks counts as an empty list.", {"missing": "zero"}
        ),
        spec.Option(
            "-l N", "Items are relevant from grade N on; nDCG ignores it.", params={"rel": "N"}
        ),
        spec.Option("-J", "Unjudged items are removed from the lists.", {"unjudged": "removed"}),
        spec.Option("-M N", "Only the first N results of each list count: judged's depth."),
        spec.Option("-N N", "The number of items in the collection: judged's collection."),
    ),
    differences=(
        "Version 10 stops where the run lacks a judged query, unless -c is given; version 9 "
        "leaves such queries out.",
        "Values are printed with four decimals; judged keeps them all.",
    ),
    wrong=(
        "rbp reads memory that was never set where a list has unjudged items, and rbp_resid drops "
        "what comes after the list.",
        "Fractional gains are cut to whole numbers.",
    ),
    tolerance=0.5e-4,
    reads=lambda text: [spec.Name(*pair) for pair in understood(text) or []] or None,
)
