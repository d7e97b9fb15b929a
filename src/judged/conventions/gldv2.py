"""Google Landmarks v2 retrieval, and Kaggle's MAP@k."""

from __future__ import annotations

from judged.conventions.spec import Convention, Name

CONVENTION = Convention(
    name="gldv2",
    title="Google Landmarks v2 and Kaggle's MAP@k",
    aliases=("kaggle", "google-landmarks"),
    version="2019",
    verified="A twin by hand from the published formula, on generated data.",
    names=(
        Name(
            "mAP@{k}",
            "AP(norm=capped)@{k}",
            "Divided by min(N, k), the most that k results can hold.",
            aliases=("MAP@{k}",),
        ),
        Name(
            "GAP",
            "",
            "One list of all queries' answers in order of confidence: make one query of them, and "
            "take AP.",
        ),
    ),
    policy={"ties": "input", "empty": "skip"},
    differences=(
        "Lists come in order, so there are no ties.",
        "Queries without a relevant image are left out for landmarks; Kaggle's own function "
        "counts them as 0.",
        "Kaggle's function counts an item once, at its first place; judged does so with "
        "duplicates=first, and else refuses it.",
    ),
)
