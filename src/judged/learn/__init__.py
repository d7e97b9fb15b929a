"""Learned similarity: trained on a user's own vectors, with the temperature-scaled contrastive
loss."""

from __future__ import annotations

from judged.learn.training import fit
from judged.similarity.learned import Learned, load
from judged.similarity.maps import KINDS
from judged.similarity.record import Training

__all__ = ["KINDS", "Learned", "Training", "fit", "load"]
