"""Learned similarity: trained on a user's own vectors, with the temperature-scaled contrastive
loss."""

from __future__ import annotations

from judged.embeddings.learned import KINDS, Learned, load
from judged.embeddings.training import Training
from judged.learning.learn.training import fit

__all__ = ["KINDS", "Learned", "Training", "fit", "load"]
