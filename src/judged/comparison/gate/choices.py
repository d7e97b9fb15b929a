"""What may be chosen of a gate, in words; nothing heavy is imported for it."""

from __future__ import annotations

from judged.results import Result

RULES = {
    "loss": "fails where a loss is shown, and the drop is larger than the allowed one",
    "safe": "fails unless the drop is shown to be smaller than the allowed one",
    "point": "fails where the drop is larger than the allowed one, which is no statistics",
}
"""The rules by name, in words."""
CHANGED = {
    "error": "changed judgements are refused",
    "drop": "queries that are changed, new or removed are left out",
}
"""What is done where judgements are not those of the baseline."""
SAVED_AS = {**Result.SAVED_AS, ".xml": "to_junit"}
"""The endings that a gate can be saved under, and the method that makes each."""
