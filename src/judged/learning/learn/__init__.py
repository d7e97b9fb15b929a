"""Learned similarity: trained on a user's own vectors, with the temperature-scaled contrastive
loss."""

from __future__ import annotations

from judged.embeddings.similarity.learned import Learned, load
from judged.embeddings.similarity.maps import KINDS
from judged.embeddings.similarity.record import Training
from judged.learning.learn.training import fit

__all__ = ["KINDS", "Learned", "Training", "fit", "load"]
