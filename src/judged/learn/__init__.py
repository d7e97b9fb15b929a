"""Learned similarity: trained on a user's own vectors, with the temperature-scaled contrastive loss."""

from __future__ import annotations

from judged.learn.fitting import fit
from judged.vectors.kinds import KINDS
from judged.vectors.learned import Learned
from judged.vectors.learned_files import load
from judged.vectors.training import Training

__all__ = ["KINDS", "Learned", "Training", "fit", "load"]
