"""Revisited Oxford and Paris: landmarks, with images that are neither right nor wrong."""

from __future__ import annotations

from judged.conventions.spec import Convention, Name

CONVENTION = Convention(
    name="revisitop",
    title="Revisited Oxford and Paris",
    aliases=("roxford", "rparis", "oxford5k", "paris6k"),
    version="2018",
    held="reading",
    verified=(
        "The source was read and written again by hand, and that was compared on generated data."
    ),
    names=(
        Name(
            "mAP",
            "AP(area=trapezoid)",
            "The area under the precision-recall curve by trapezoids: higher than the usual AP.",
        ),
        Name(
            "mP@{k}",
            "",
            "Precision at k or at the rank of the last relevant item, whichever comes first.",
        ),
    ),
    policy={"ties": "input", "empty": "skip", "unjudged": "removed"},
    differences=(
        "Junk images are taken out of the lists. Judge every other image, 0 or 1, and leave the "
        "junk unjudged.",
        "Queries without a positive image are left out.",
        "Easy, medium and hard are three sets of judgements: which images are positive and which "
        "are junk.",
    ),
)
