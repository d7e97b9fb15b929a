"""Numbers that others published, computed again: `python -m replications`, or one of them by name.

A replication is data (the lists, as they were published), the numbers that were printed, and the
definition in our notation, or under a convention, that gives each of them.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from replications.replication import Printed, Replication


def replications() -> dict[str, Replication]:
    """All of them, by name: every module of this folder that has one."""
    found = {}
    for module in iter_modules(__path__):
        loaded = import_module(f"{__name__}.{module.name}")
        if isinstance(each := getattr(loaded, "REPLICATION", None), Replication):
            found[module.name] = each
    return found


__all__ = ["Printed", "Replication", "replications"]
