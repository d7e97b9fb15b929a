"""How sure a number is, and how far two orders or judges agree."""

from __future__ import annotations

from judged.statistics.agreement import cohen_kappa, krippendorff_alpha
from judged.statistics.orders import OrderAgreement, order_agreement

__all__ = ["OrderAgreement", "cohen_kappa", "krippendorff_alpha", "order_agreement"]
