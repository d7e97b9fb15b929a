"""Google Landmarks v2 retrieval, and Kaggle's MAP@k."""

from __future__ import annotations

from judged.conventions.spec import Caution, Convention, Name

CONVENTION = Convention(
    name="gldv2",
    title="Google Landmarks v2 and Kaggle's MAP@k",
    aliases=("kaggle", "google-landmarks"),
    version="2019",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
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
    cautions=(
        Caution(
            "nothing relevant",
            "Kaggle's function counts a query without a relevant item as 0; it is left out here, "
            "as for landmarks.",
        ),
        Caution(
            "repeated",
            "A repeated item keeps its place in the list there, and counts nothing; here it is "
            "taken out, and what follows moves up.",
        ),
    ),
    differences=(
        "Lists come in order, so there are no ties.",
        "Queries without a relevant image are left out for landmarks; Kaggle's own function "
        "counts them as 0.",
        "An item counts once, at its first place, and keeps its other places; judged refuses it, "
        "or takes the others out with duplicates=first.",
    ),
)
