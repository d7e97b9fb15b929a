"""The grades of all annotators as one file of judgements, by a rule that has a name."""

from __future__ import annotations

from judged.judgements.annotators import qrels_of
from judged.web.asked import Asked, Raw
from judged.web.judging.judges import merged

PARAMS = ("rule", "settled", "collection")
PATIENCE = 600.0


def page(asked: Asked) -> Raw:
    """The judgements to save."""
    from judged.judgements.agreements.choices import RULES

    rule = asked.params.choice("rule", tuple(RULES), "majority")
    found = merged(
        asked,
        rule,
        settled=asked.params.flag("settled"),
        collection=asked.params.flag("collection"),
    )
    grades = found if isinstance(found, dict) else found.to_dict()
    return Raw(qrels_of(grades).encode(), "text/plain; charset=utf-8", f"merged-{rule}.qrels")
