"""Named lists of measures: what a community usually reports."""

from __future__ import annotations

from dataclasses import dataclass

_HIT_RATE = (
    "What the field calls {} is a hit rate, Success@k: whether any relevant item is among the "
    "first k, however many are relevant. R@k is another number wherever a query has several: the "
    "share of them that are found."
)


@dataclass(frozen=True)
class Preset:
    """What a community reports, and why these measures.

    >>> ABOUT["msmarco"].title, ABOUT["msmarco"].measures
    ('Passage search of MS MARCO', ('RR@10', 'R@50', 'R@1000', 'nDCG@10'))
    """

    title: str
    """Whose numbers these are."""
    says: str
    """Why these, and what their names mean there."""
    measures: tuple[str, ...]
    """In the order of reporting; columns are called so."""


ABOUT: dict[str, Preset] = {
    "trec": Preset(
        "Search at TREC: long lists, deep judgements",
        "Whole lists (AP, R-precision, Bpref), the top that a person sees (P, nDCG), and how much "
        "of all that is relevant a list of 100 or 1,000 holds (R@k).",
        (
            "AP",
            "Rprec",
            "Bpref",
            "RR",
            "nDCG",
            "nDCG@10",
            "nDCG@20",
            "P@5",
            "P@10",
            "P@20",
            "R@100",
            "R@1000",
        ),
    ),
    "beir": Preset(
        "Zero-shot text retrieval of BEIR",
        "nDCG@10 is the number of its tables. R(norm=capped)@100 is its R_cap@100, which can "
        "reach 1 where more than 100 items are relevant; R@k is the share of all relevant items.",
        (
            "nDCG@10",
            "AP@10",
            "R@10",
            "P@10",
            "nDCG@100",
            "AP@100",
            "R@100",
            "R(norm=capped)@100",
        ),
    ),
    "mteb": Preset(
        "Retrieval tasks of MTEB",
        "nDCG@10 is the main score of its retrieval tasks; R@k is the share of all relevant items.",
        ("nDCG@10", "AP@10", "R@10", "P@10", "RR@10", "R@100", "R@1000"),
    ),
    "msmarco": Preset(
        "Passage search of MS MARCO",
        "Most queries have one relevant passage: RR@10 says how high it stands, and R@k whether a "
        "first stage finds it for a second one to rank.",
        ("RR@10", "R@50", "R@1000", "nDCG@10"),
    ),
    "clip": Preset(
        "Image and text retrieval of CLIP and its followers",
        _HIT_RATE.format("Recall@k, or R@k,") + " MedR and MeanR are the median and the mean "
        "of the first relevant item's rank.",
        ("Success@1", "Success@5", "Success@10", "MedR", "MeanR"),
    ),
    "clap": Preset(
        "Audio and text retrieval of CLAP and its followers",
        _HIT_RATE.format("Recall@k, or R@k,") + " AP@10 is its mAP@10, and MedR and MeanR are the "
        "median and the mean of the first relevant item's rank.",
        ("Success@1", "Success@5", "Success@10", "AP@10", "MedR", "MeanR"),
    ),
    "reid": Preset(
        "Re-identification of people and vehicles",
        _HIT_RATE.format("Rank-k, or CMC,") + " AP is its mAP, and INP its mINP: how cheaply the "
        "last relevant item is found.",
        ("Success@1", "Success@5", "Success@10", "AP", "INP"),
    ),
    "metric-learning": Preset(
        "Deep metric learning (CUB, Cars, SOP)",
        _HIT_RATE.format("Recall@k") + " AP@R is its MAP@R.",
        (
            "Success@1",
            "Success@2",
            "Success@4",
            "Success@8",
            "Success@10",
            "Success@100",
            "Rprec",
            "AP@R",
            "RR",
        ),
    ),
    "rag": Preset(
        "Retrieval for generation (RAG): what is put before a language model",
        "Success@k is the hit rate: whether any relevant chunk is among the first k, enough where "
        "one chunk holds the answer. R@k is the share of all relevant chunks that are, which is "
        "what counts where an answer needs several. P@5 is how much of the context is of use, and "
        "AP(norm=retrieved)@5 what ragas calls context precision.",
        ("Success@1", "Success@5", "P@5", "R@5", "RR@10", "nDCG@10", "AP(norm=retrieved)@5"),
    ),
    "recsys": Preset(
        "Recommendation",
        "Success@10 is the hit rate (HR@10): whether any item that the user took is among the "
        "first 10; R@10 is the share of all of them. AP is divided by the most that 10 places can "
        "hold, and nDCG takes all that was taken as equal.",
        ("P@10", "R@10", "Success@10", "RR@10", "AP(norm=capped)@10", "nDCG(gain=binary)@10"),
    ),
}
"""Every preset by its name."""

PRESETS: dict[str, tuple[str, ...]] = {name: each.measures for name, each in ABOUT.items()}
"""The measures that each name stands for."""
