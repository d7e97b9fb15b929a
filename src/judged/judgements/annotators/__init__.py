"""Annotators: what each judged, key by key, in plain files that nothing can be lost from."""

from __future__ import annotations

from judged.judgements.annotators.annotator import Annotator, annotators_in, settled_in
from judged.judgements.annotators.log import Entry, Log, Standing, read_log
from judged.judgements.annotators.scale import Grade, Scale
from judged.judgements.annotators.sitting import Sitting
from judged.judgements.annotators.worklist import Worklist, worklist

__all__ = [
    "Annotator",
    "Entry",
    "Grade",
    "Log",
    "Scale",
    "Sitting",
    "Standing",
    "Worklist",
    "annotators_in",
    "read_log",
    "settled_in",
    "worklist",
]
