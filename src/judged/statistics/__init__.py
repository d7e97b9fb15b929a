"""How sure a number is, and how far two orders agree."""

from __future__ import annotations

from judged.statistics.orders import OrderAgreement, order_agreement

__all__ = ["OrderAgreement", "order_agreement"]
