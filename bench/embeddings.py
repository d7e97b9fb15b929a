"""Contenders that start from vectors: `python -m bench.embeddings NAME FOLDER` prints one line of
JSON.

Only the call is timed, with the vectors in memory (or mapped into it); reading them and importing
libraries is not.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.contenders import clocked

Report = dict[str, Any]
MEASURES = ("P@1", "Rprec", "AP@R", "AP", "RR")
BLOCK = 1024
"""Queries at a time of the bare product: about as fast as this machine's BLAS gets."""
TOP = 100
TEMPERATURES = tuple(0.001 * 10 ** (6 * step / 19) for step in range(20))
"""From 0.001 to 1000."""


class Data:
    """Vectors and labels of both sides."""

    def __init__(self, folder: str, *, mapped: bool = False) -> None:
        import numpy as np

        def load(name: str) -> Any:
            return np.load(Path(folder) / f"{name}.npy", mmap_mode="r" if mapped else None)

        self.queries, self.items = load("queries"), load("items")
        self.query_labels, self.item_labels = load("query_labels"), load("item_labels")


def gemm(folder: str) -> Report:
    """The floor: every query with every item, a block of queries at a time, and nothing is done
    with the scores."""
    import numpy as np

    data = Data(folder)
    out = np.empty((BLOCK, len(data.items)), np.float32)

    def call() -> None:
        for begin in range(0, len(data.queries), BLOCK):
            block = data.queries[begin : begin + BLOCK]
            np.matmul(block, data.items.T, out=out[: len(block)])

    call()  # the buffer's pages are there from now on, as those of a peer that keeps them are
    return {"calls": clocked(call)}


def exponentials(folder: str) -> Report:
    """The floor of a sweep: the product, and for every temperature one exponential of every score,
    that nobody looks at."""
    import numpy as np

    data = Data(folder)
    out = np.empty((BLOCK, len(data.items)), np.float32)
    powers = np.empty_like(out)

    def call() -> None:
        for begin in range(0, len(data.queries), BLOCK):
            block = data.queries[begin : begin + BLOCK]
            scores, power = (each[: len(block)] for each in (out, powers))
            np.matmul(block, data.items.T, out=scores)
            for temperature in TEMPERATURES:
                # Shifted by the highest cosine, so that nothing overflows.
                np.subtract(scores, np.float32(1), out=power)
                np.exp(np.divide(power, np.float32(temperature), out=power), out=power)

    with np.errstate(under="ignore"):
        call()
        return {"calls": clocked(call)}


def judged_sweep(folder: str, *, search: bool = True) -> Report:
    import judged

    data = Data(folder)
    relevance = judged.relevance.same_label(data.query_labels, data.item_labels)
    few = judged.Embeddings([[1.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, 2.0]])
    judged.temperature.sweep(few, judged.relevance.pairs(), [1.0])  # loads modules

    def call() -> object:
        embeddings = judged.Embeddings(data.queries, data.items)
        return judged.temperature.sweep(embeddings, relevance, TEMPERATURES, search=search)

    return {"calls": clocked(call)}


def judged_sweep_only(folder: str) -> Report:
    return judged_sweep(folder, search=False)


def judged_ranks(
    folder: str,
    *,
    mapped: bool = False,
    shuffled: bool = False,
    memory: str = "1GB",
) -> Report:
    """With `shuffled` labels relevant items stand at random ranks, where most scores are close."""
    import numpy as np

    import judged

    data = Data(folder, mapped=mapped)
    labels = data.item_labels
    if shuffled:
        labels = np.random.default_rng(1).permutation(labels)
    relevance = judged.relevance.same_label(data.query_labels, labels)
    judged.evaluate_embeddings(
        [[1.0]], [[1.0]], judged.relevance.pairs(), measures=MEASURES
    )  # loads modules
    scores: list[dict[str, float]] = []

    def call() -> None:
        evaluation = judged.evaluate_embeddings(
            data.queries,
            data.items,
            relevance,
            measures=MEASURES,
            memory=memory,
        )
        scores.append(evaluation.to_dict()["runs"][0]["scores"])

    calls = clocked(call, 1 if mapped else 3)
    return {"calls": calls} if shuffled else {"scores": scores[-1], "calls": calls}


def judged_random(folder: str) -> Report:
    return judged_ranks(folder, shuffled=True)


def judged_mapped(folder: str) -> Report:
    return judged_ranks(folder, mapped=True)


def judged_capped(folder: str) -> Report:
    return judged_ranks(folder, mapped=True, memory="500MB")


def judged_top(folder: str) -> Report:
    import judged

    data = Data(folder)
    judged.Embeddings([[1.0]], [[1.0]]).top_k(1)
    return {"calls": clocked(lambda: judged.Embeddings(data.queries, data.items).top_k(TOP))}


def faiss_top(folder: str) -> Report:
    """The vectors have length 1, so that the inner product is the cosine."""
    data = Data(folder)
    _fastest_core()
    import faiss

    index = faiss.IndexFlatIP(data.items.shape[1])
    index.add(data.items)
    return {"calls": clocked(lambda: index.search(data.queries, TOP), 1)}


def metric_learning(folder: str) -> Report:
    """Its own evaluation, with the lists as long as its measures need: the largest number of
    relevant items."""
    data = Data(folder)
    _fastest_core()
    import torch
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    names = {"precision_at_1": "P@1", "r_precision": "Rprec", "mean_average_precision_at_r": "AP@R"}
    # The same five measures; those of whole rankings stop at the end of its lists, so only the
    # others are compared.
    include = (*names, "mean_average_precision", "mean_reciprocal_rank")
    calculator = AccuracyCalculator(include=include, k="max_bin_count", device=torch.device("cpu"))
    vectors = [
        torch.from_numpy(each)
        for each in (data.queries, data.query_labels, data.items, data.item_labels)
    ]
    found: list[dict[str, float]] = []
    calls = clocked(lambda: found.append(calculator.get_accuracy(*vectors)), 1)
    return {
        "scores": {ours: float(found[-1][theirs]) for theirs, ours in names.items()},
        "calls": calls,
    }


def torchmetrics_rows(folder: str) -> Report:
    """Its functions, a query at a time, on the rows of a blocked product: all pairs at once would
    not fit into memory."""
    data = Data(folder)
    import torch
    from torchmetrics.functional import retrieval

    functions = {
        "P@1": lambda scores, target: retrieval.retrieval_precision(scores, target, top_k=1),
        "Rprec": retrieval.retrieval_r_precision,
        "AP": retrieval.retrieval_average_precision,
        "RR": retrieval.retrieval_reciprocal_rank,
    }
    queries, items, query_labels, item_labels = (
        torch.from_numpy(each)
        for each in (data.queries, data.items, data.query_labels, data.item_labels)
    )
    total = dict.fromkeys(functions, 0.0)

    def call() -> None:
        for begin in range(0, len(queries), BLOCK):
            # Its functions take scores of 0 and below for items that were not retrieved; the order
            # stays the same.
            scores = queries[begin : begin + BLOCK] @ items.T + 2
            for row, label in zip(scores, query_labels[begin : begin + BLOCK], strict=True):
                target = item_labels == label
                for name, function in functions.items():
                    total[name] += float(function(row, target))

    calls = clocked(call, 1)
    return {"scores": {name: value / len(queries) for name, value in total.items()}, "calls": calls}


def _fastest_core() -> None:
    """A BLAS that a wheel brings along may not know this processor: it is told to use the kernels
    that numpy's chose."""
    from threadpoolctl import threadpool_info

    cores = [
        library["architecture"]
        for library in threadpool_info()
        if library.get("internal_api") == "openblas"
    ]
    if cores:
        os.environ["OPENBLAS_CORETYPE"] = cores[0]


CONTENDERS: dict[str, Callable[[str], Report]] = {
    "gemm": gemm,
    "exponentials": exponentials,
    "judged-sweep": judged_sweep,
    "judged-sweep-only": judged_sweep_only,
    "judged": judged_ranks,
    "judged-random": judged_random,
    "judged-mapped": judged_mapped,
    "judged-capped": judged_capped,
    "judged-top": judged_top,
    "faiss-top": faiss_top,
    "metric_learning": metric_learning,
    "torchmetrics": torchmetrics_rows,
}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](*sys.argv[2:])))
