"""Statistics: confidence intervals, tests, power, and agreement of orders or assessors.

Each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judged.statistics.agreement import cohen_kappa, krippendorff_alpha
    from judged.statistics.orders import OrderAgreement, order_agreement

__all__ = ["OrderAgreement", "cohen_kappa", "krippendorff_alpha", "order_agreement"]

_HOMES = {
    "OrderAgreement": "orders",
    "cohen_kappa": "agreement",
    "krippendorff_alpha": "agreement",
    "order_agreement": "orders",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
