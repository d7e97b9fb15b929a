"""Where each measure is declared, so that a family is loaded when one of its measures is asked for.

A test holds this index to the declarations.
"""

from __future__ import annotations

from importlib import import_module

FAMILIES: dict[str, dict[str, tuple[str, ...]]] = {
    "precision": {
        "P": ("Precision", "SetP"),
        "Rprec": ("R-precision", "RPrecision"),
        "Success": ("Hit", "HitRate", "HR", "TopKAccuracy", "CMC"),
    },
    "recall": {
        "R": ("Recall", "SetR", "SetRelP", "RelP"),
        "F": ("F1", "F1Score", "F-measure", "SetF"),
    },
    "average": {
        "AP": ("MAP", "AveP", "AveragePrecision", "MeanAveragePrecision", "GMAP"),
        "IPrec": ("InterpolatedPrecision",),
        "IAP": ("AP11", "InterpolatedAP"),
        "YAAP": (),
    },
    "curve": {
        "PrecAtRecall": ("PrecisionAtFixedRecall",),
        "RecallAtPrec": ("RecallAtFixedPrecision",),
        "RankAUC": ("AUC", "ROCAUC"),
    },
    "rank": {
        "RR": ("MRR", "ReciprocalRank", "MeanReciprocalRank", "RecipRank"),
        "Rank": ("MeanRank", "MeanR", "MnR", "MedianRank", "MedianR", "MedR", "MdR"),
        "INP": ("mINP", "InverseNegativePenalty"),
    },
    "gain": {
        "DCG": (),
        "nDCG": ("NormalisedDCG", "NormalizedDCG", "NormalizedDiscountedCumulativeGain"),
        "IdealDCG": ("IDCG",),
    },
    "graded": {
        "G": (),
        "binG": (),
        "nDCGRel": ("ndcg_rel",),
        "RnDCG": (),
        "Q": ("Qmeasure", "Q-measure"),
    },
    "user_models": {"RBP": (), "ERR": ()},
    "cwl": {
        "SDCG": (),
        "INSQ": (),
        "INST": (),
        "BPM": (),
        "NERR8": (),
        "NERR9": (),
        "NERR10": (),
        "NERR11": (),
    },
    "compat": {"Compat": ("Compatibility",)},
    "sets": {"SetAP": ("set_map",), "Utility": (), "FallOut": ("FPR",)},
    "confusion": {
        "TP": ("TruePositives",),
        "FP": ("FalsePositives",),
        "FN": ("FalseNegatives",),
        "TN": ("TrueNegatives",),
        "Accuracy": (),
        "Specificity": ("TNR",),
    },
    "incomplete": {
        "Bpref": ("GMBpref",),
        "infAP": ("InferredAP",),
        "Judged": (),
        "Unjudged": ("unj",),
        "RBPResidual": ("RBP_resid",),
    },
    "counts": {"NumRet": (), "NumRel": (), "NumRelRet": (), "NumNonrelRet": (), "NumQ": ()},
    "diversity": {
        "alpha_DCG": ("alpha-DCG",),
        "alpha_nDCG": ("alpha-nDCG",),
        "ERR_IA": ("ERR-IA",),
        "nERR_IA": ("nERR-IA",),
        "NRBP": (),
        "nNRBP": (),
        "AP_IA": ("MAP_IA", "MAP-IA"),
        "P_IA": ("P-IA",),
        "StRecall": ("strec", "S-recall"),
    },
}
"""{family: {measure: its other names}}, in the order in which they are shown; a family is the
module of this package of the same name."""

HOMES = {name: family for family, measures in FAMILIES.items() for name in measures}
"""The family of each measure."""


def load(measure: str) -> None:
    """Declare a measure, and the others of its family."""
    import_module(f"judged.measures.{HOMES[measure]}")
