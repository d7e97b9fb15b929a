"""Which similarity a caller means: a name, a matrix, a file, a function."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from judged.embeddings.similarity.distances import Euclidean, Hamming, Manhattan, PackedHamming
from judged.embeddings.similarity.functions import Bilinear, Custom
from judged.embeddings.similarity.similarity import Cosine, Similarity
from judged.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from judged.options import SimilarityLike

SIMILARITIES: dict[str, Similarity] = {
    each.name: each
    for each in (Cosine(), Similarity(), Euclidean(), Manhattan(), Hamming(), PackedHamming())
}
"""Those that need nothing but their name."""


def as_similarity(given: SimilarityLike) -> Similarity:
    """A similarity from its name, a matrix or a file of one (bilinear), the file of a learned one,
    a function or itself."""
    if isinstance(given, Similarity):
        return given
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if isinstance(given, str):
        if given in SIMILARITIES:
            return SIMILARITIES[given]
        if "." in given or os.path.exists(given):
            from judged.embeddings.similarity.learned import read_learned
            from judged.inputs.vectors import read_vectors

            if (learned := read_learned(given)) is not None:
                return learned
            return as_similarity(np.asarray(read_vectors(given).values))
        raise InputError(
            f"There is no similarity {given!r}{did_you_mean(given, SIMILARITIES)} There is "
            f"{', '.join(SIMILARITIES)}."
        )
    if callable(given):
        return Custom(function=given)
    weights = np.asarray(given)
    if weights.ndim != 2:
        raise InputError(
            "a similarity is a name, a matrix, or a function of two blocks; got "
            f"{type(given).__name__}."
        )
    if weights.dtype.kind not in "biuf":
        raise InputError(
            f"the matrix of a bilinear similarity must hold numbers; got {weights.dtype}."
        )
    weights = weights.astype(np.float64)
    if not np.isfinite(weights).all():
        raise InputError(
            "the matrix of a bilinear similarity holds NaN or infinite numbers; fix it."
        )
    return Bilinear(weights=weights)
