"""What the columns of values of queries are called, and what is the name of a measure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from judged.errors import InputError
from judged.inputs.columns import candidates, plain
from judged.text import quote

NAMES = {
    "run": (
        *("run", "run_id", "run_name", "system", "system_id", "system_name", "model"),
        *("model_name", "retriever", "engine", "pipeline", "variant", "method"),
    ),
    "measure": ("measure", "metric", "measure_name", "metric_name"),
    "value": ("value", "score", "measure_value", "metric_value", "result"),
}
_LAST = {"run": ("name", "tag")}
"""What a run may be called where no other column is one."""
RANGES = ("worst", "expected", "best", "low", "high", "unjudged irrelevant", "unjudged relevant")
"""What judged writes beside a value, in columns of their own."""

_STEMS = (
    *("m?ap", "gm?_?map", "alpha[-_]?n?dcg", "n?dcg", "s?dcg", "n?dcg_cut", "map_cut", "ndcg_rel"),
    *("rndcg", "m?rr", "recip_rank", "reciprocal_rank", "r-?prec", "rprec_mult", "bpref", "infap"),
    *("n?err", "n?err-ia", "rbp", "bpm", "inst", "success", "hits?", "hit_?rate", "accuracy"),
    *("recall", "precision", "set_[a-z_]+", "relative_p", "f1", "judged", "unj", "auroc", "auc"),
    *("11pt_avg", "iprec(_at_recall)?", "bing", "num_[a-z_]+", "num(rel|ret|q|relret)", "runid"),
    *("relstring", "utility", "rank", "[prfg](?=[@(])", "(?-i:[PRFG](?=_))"),
)
_MEASURE = re.compile(
    rf"(?:{'|'.join(_STEMS)})(?:\(.*\))?(?:[@_]\d+(?:\.\d+)?)?(?:\(.*\))?", re.IGNORECASE
)


def is_measure(name: str) -> bool:
    """Whether a name is one that measures have.

    >>> [is_measure(name) for name in ("nDCG@10", "P_5", "AP(rel=2)", "ndcg_cut_10", "bm25", "p_5")]
    [True, True, True, True, False, False]
    """
    return _MEASURE.fullmatch(name.strip()) is not None


def all_measures(names: Iterable[str]) -> bool:
    """Whether all of some names, of which there is at least one, are those of measures."""
    found = map(is_measure, names)
    return next(found, False) and all(found)


def column(role: str, header: Sequence[str], source: str) -> str | None:
    """The column of a role; two that may be it are refused."""
    if role == "query":
        found = [header[at] for at in candidates("query", header)[:1]]
    else:
        found = _called(NAMES[role], header) or _called(_LAST.get(role, ()), header)
    if len(found) > 1:
        two = " and ".join(quote(name, 30) for name in found[:2])
        raise InputError(f"{source}: the columns {two} may both be the {role}; leave one out.")
    return found[0] if found else None


def _called(names: Sequence[str], header: Sequence[str]) -> list[str]:
    known = set(map(plain, names))
    return [name for name in header if plain(name) in known]


def is_range(name: str, header: Sequence[str]) -> bool:
    """Whether a column is an end of the range of another, as "AP worst" of "AP"."""
    return any(name.removesuffix(f" {end}") in header for end in RANGES if name.endswith(f" {end}"))
