"""Named lists of measures: what a community usually reports."""

from __future__ import annotations

PRESETS: dict[str, tuple[str, ...]] = {
    "trec": (
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
    "beir": (
        "nDCG@10",
        "AP@10",
        "R@10",
        "P@10",
        "nDCG@100",
        "AP@100",
        "R@100",
        "R(norm=capped)@100",
    ),
    "mteb": ("nDCG@10", "AP@10", "R@10", "P@10", "RR@10", "R@100", "R@1000"),
    "msmarco": ("RR@10", "R@50", "R@1000", "nDCG@10"),
    "clip": ("Success@1", "Success@5", "Success@10", "Rank(aggregate=median)", "Rank"),
    "clap": ("Success@1", "Success@5", "Success@10", "AP@10", "Rank(aggregate=median)", "Rank"),
    "reid": ("Success@1", "Success@5", "Success@10", "AP", "INP"),
    "metric-learning": (
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
    "rag": ("Success@1", "Success@5", "P@5", "R@5", "RR@10", "nDCG@10", "AP(norm=retrieved)@5"),
    "recsys": ("P@10", "R@10", "Success@10", "RR@10", "AP(norm=capped)@10", "nDCG(gain=binary)@10"),
}
"""What the literature of CLIP, CLAP, re-identification and metric learning calls Recall@k, or
Rank-k, is a hit rate, `Success@k`, however many items are relevant; search, `rag` and `recsys` mean
the share of all relevant items, `R@k`."""
