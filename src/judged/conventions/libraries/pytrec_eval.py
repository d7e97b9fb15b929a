"""pytrec_eval: trec_eval 9 in Python, with trec_eval's names."""

from __future__ import annotations

from dataclasses import replace

from judged.conventions.libraries import trec_eval
from judged.conventions.spec import SINGLE, Caution, Convention, Name, Option

NOT_THERE = ("runid", "relstring", "dcg", "ideal_dcg", "yaap", "rbp", "rbp_resid", "unj")
"""Printed by trec_eval 10, not by version 9 or not as a number."""
OLDER = (
    "A recall point p asks for floor(p N + 0.9) relevant items, not for the least number that "
    "reaches it."
)


def _older(text: str) -> str:
    """Version 9 rounds recall points in another way."""
    return text.replace("rounding=trec_eval", "rounding=trec_eval9")


def _read(text: str) -> list[Name] | None:
    measures = None if text.partition(".")[0] in NOT_THERE else trec_eval.understood(text)
    return [Name(name, _older(measure)) for name, measure in measures or []] or None


CONVENTION = Convention(
    name="pytrec_eval",
    title="pytrec_eval (pytrec_eval-terrier)",
    aliases=("pytrec_eval-terrier", "pytrec-eval"),
    package="pytrec_eval-terrier",
    version="0.5.11",
    held="run",
    verified="Run side by side on generated data, query by query.",
    names=tuple(
        replace(name, ours=_older(name.ours), note=OLDER if "rounding" in name.ours else name.note)
        for name in trec_eval.CONVENTION.names
        if name.theirs.partition("_{")[0] not in NOT_THERE
    ),
    policy={"missing": "skip"},
    cautions=(Caution("tied in single precision", f"pytrec_eval holds scores in {SINGLE}."),),
    options=(
        Option(
            "relevance_level=N",
            "Items are relevant from grade N on; nDCG ignores it.",
            params={"rel": "N"},
        ),
        Option(
            "judged_docs_only_flag=True",
            "Unjudged items are removed from the lists.",
            {"unjudged": "removed"},
        ),
    ),
    differences=(
        "A judged query that the run lacks is left out of the result, and so of the mean.",
    ),
    wrong=(
        "Scores are held in single precision: scores that differ only beyond it are tied, and the "
        "item's id decides.",
        "A query whose grades are all negative makes it read memory that was never set.",
    ),
    reads=_read,
)
