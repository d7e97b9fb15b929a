"""Judges that cannot be compared, and grades that are no grades."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judged.errors import InputError
from judged.inputs.agreement import agreement as would_agree
from judged.judgements.agreements.choices import MEASURE
from judged.judgements.agreements.judges import NO_JUDGEMENT, Grades
from judged.options import MOST
from judged.statistics.aggregates import CLOSE
from judged.text import Warned, listed

MOST_GRADES = 101
"""So many different grades are a scale, as from 0 to 100; more are measurements."""
UNSAID: tuple[Any, ...] = (MEASURE, {})
"""What options are where nothing was said, besides None and False."""
OPTIONS = {"measures": "-m", "policy": "--ties, --missing, --empty, --unjudged"}
"""What the command calls options that it does not call the same."""


def refuse_nothing_shared(grades: Grades) -> None:
    """Refuse judges of whom no two judged the same."""
    if (grades.times > 1).any():
        return
    said = [f"{name} judged {_some(grades, at)}" for at, name in enumerate(grades.judges)]
    raise InputError(
        f"nothing was judged by two of {listed(grades.judges)}: {'; '.join(said)}." + _hint(grades)
    )


def refuse_without_runs(options: Mapping[str, Any]) -> None:
    """Refuse what says how runs are scored, where there are none."""
    for name, given in options.items():
        if (
            given is None
            or given is False
            or (isinstance(given, (str, Mapping)) and given in UNSAID)
        ):
            continue
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        raise InputError(
            f"{name} ({option}) says how runs are scored, and there are none; give runs, or leave "
            "it out."
        )


def refuse_columns_of_documents(columns: Mapping[str, Any], item_to: Any) -> None:
    """Refuse documents that a column says: files are read once, for all judges."""
    if "document" in columns or (isinstance(item_to, str) and item_to.startswith("column:")):
        raise InputError(
            "agreement takes no column of documents; say what document an item belongs to by "
            "item_to (--item-to) as doc:SEPARATOR, pattern:REGEX or table:FILE."
        )


def _some(grades: Grades, at: int) -> str:
    rows = np.flatnonzero(grades.there[:, at])
    if not len(rows):
        negative = bool((~np.isnan(grades.negative[:, at])).any())
        return f"nothing: {NO_JUDGEMENT}" if negative else "nothing"
    query, item = grades.frame.row(int(rows[0]))[:2]
    return f"{grades.counted(len(rows))}, such as {item!r} for query {query!r}"


def _hint(grades: Grades) -> str:
    """What would make the ids of two judges meet."""
    if len(grades.judges) > 2 or not grades.there.any(axis=0).all():
        return ""
    for name in ("query", "item"):
        ours, theirs = (
            grades.frame[name].filter(grades.there[:, at]).unique(maintain_order=True).to_list()
            for at in (0, 1)
        )
        if set(ours).isdisjoint(theirs):
            whose = [f"the {name} ids of {judge}" for judge in grades.judges]
            like = would_agree(ours[:1000], theirs, (whose[0], whose[1]))
            return f" {like}" if like else f" They have no {name} in common."
    return ""


def checked_scale(grades: Grades) -> list[str]:
    """Refuse grades that are measurements, hardly two of which are ever the same; and warn of
    those that differ by rounding alone."""
    known = grades.values[grades.times > 1]
    scale = np.unique(known[~np.isnan(known)])
    names = listed(grades.judges)
    if len(scale) > MOST_GRADES:
        raise InputError(
            f"{names} gave {len(scale):,} different grades; agreement is of grades on a scale of "
            f"at most {MOST_GRADES}. Round them first, as to whole numbers."
        )
    if scale[-1] > MOST:
        raise InputError(
            f"{names} gave a grade of {scale[-1]:g}; agreement is of grades on a scale, of at "
            f"most {MOST:,}."
        )
    close = np.flatnonzero(np.diff(scale) <= CLOSE * scale[1:])
    if not len(close):
        return []
    one, other = scale[close[0] : close[0] + 2].tolist()
    return [
        Warned(
            f"the grades {one!r} and {other!r} count as different, and differ by rounding alone; "
            "round grades first."
        )
    ]
