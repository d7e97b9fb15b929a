"""Frozen dataclasses that are made many times as fast as by Python's own decorator, which writes
and compiles six functions for each: they were half of what it took to load judged.

Only `__init__` is written for the class, when the first object is made; what compares, hashes and
shows is shared by all. Fields are found by Python's own decorator where an annotation is anything
but a plain type.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from copy import copy
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        *, frozen: bool, eq: bool = True, repr: bool = True, kw_only: bool = False
    ) -> Callable[[type], type]:
        """As `dataclasses.dataclass`, of what is frozen.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     '''A place.'''
        ...     x: float
        ...     y: float = 0.0
        >>> Point(1.0), Point(1.0) == Point(1.0, 0.0)
        (Point(x=1.0, y=0.0), True)
        """
        if not frozen:
            raise TypeError("judged.frozen makes frozen dataclasses; take dataclasses.dataclass.")

        def made(cls: type) -> type:
            own = set(vars(cls)) - ({"__hash__"} if cls.__hash__ is None else set())
            if not _is_plain(cls):
                cls = _by_python(cls, kw_only)
            else:
                _describe(cls, _fields(cls, kw_only), own)
            cls.__dataclass_params__.frozen = True
            given: dict[str, Any] = {"__init__": _Init(cls), **_refusing(cls)}
            given |= {"__repr__": _repr} if repr else {}
            given |= {"__eq__": _eq, "__hash__": _hash} if eq else {}
            for name in given.keys() - own:
                setattr(cls, name, given[name])
            return cls

        return made


@dataclasses.dataclass
class _Pattern:
    """What Python's own decorator makes of a field and of a class, for others to be like it."""

    field: int


_ORDINARY: Any = dataclasses.fields(_Pattern)[0]._field_type  # type: ignore[attr-defined]
"""What marks a field that is no ClassVar and no InitVar."""
_NOT_PLAIN = ("ClassVar", "InitVar", "KW_ONLY")


def _is_plain(cls: type) -> bool:
    """Whether every annotation is that of an ordinary field, and nothing else is to be done."""
    return bool(cls.__doc__) and all(
        isinstance(each, str) and not any(word in each for word in _NOT_PLAIN)
        for each in cls.__annotations__.values()
    )


def _by_python(cls: Any, kw_only: bool) -> Any:
    """The class with its fields, by Python's own decorator."""
    above = any(
        vars(each)["__dataclass_params__"].frozen
        for each in cls.__mro__[1:]
        if "__dataclass_params__" in vars(each)
    )
    return dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, frozen=above)(
        cls
    )


def _fields(cls: Any, kw_only: bool) -> dict[str, Any]:
    """The fields of a class and of those above it, as Python's own decorator finds them."""
    found: dict[str, Any] = {}
    for above in cls.__mro__[-1:0:-1]:
        found |= vars(above).get("__dataclass_fields__", {})
    for name, kind in cls.__annotations__.items():
        given = vars(cls).get(name, dataclasses.MISSING)
        each: Any = (
            given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
        )
        if each.default.__class__.__hash__ is None:
            raise ValueError(f"mutable default of field {name}: use default_factory")
        if each is given and each.default is dataclasses.MISSING:
            delattr(cls, name)
        elif each is given:
            setattr(cls, name, each.default)
        each.name, each.type, each._field_type = name, kind, _ORDINARY
        if each.kw_only is dataclasses.MISSING:
            each.kw_only = kw_only
        found[name] = each
    return found


def _describe(cls: Any, fields: dict[str, Any], own: set[str]) -> None:
    """Make a dataclass of a class, to all that ask."""
    cls.__dataclass_fields__ = fields
    cls.__dataclass_params__ = copy(_Pattern.__dataclass_params__)  # type: ignore[attr-defined]
    if "__match_args__" not in own:
        names = tuple(each.name for each in fields.values() if each.init and not each.kw_only)
        setattr(cls, "__match_args__", names)  # noqa: B010  (mypy takes it for a constant)


class _Init:
    """Stands for the function that sets the fields until somebody asks for it."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get__(self, thing: Any, kind: Any = None) -> Any:
        made: Any = _init(self._cls)
        self._cls.__init__ = made
        return made.__get__(thing, kind)


def _init(cls: Any) -> Callable[..., None]:
    """The function that sets the fields."""
    known: dict[str, Any] = {"set_field": object.__setattr__, "MADE": _MADE}
    fields = [each for each in dataclasses.fields(cls) if each.init]
    arguments: list[str] = []
    lines: list[str] = []
    for each in sorted(fields, key=lambda each: bool(each.kw_only)):
        if each.kw_only and "*" not in arguments:
            arguments.append("*")
        value = each.name
        argument = each.name
        if each.default is not dataclasses.MISSING:
            known[f"default_{each.name}"] = each.default
            argument = f"{each.name}=default_{each.name}"
        elif each.default_factory is not dataclasses.MISSING:
            known[f"make_{each.name}"] = each.default_factory
            argument = f"{each.name}=MADE"
            value = f"make_{each.name}() if {each.name} is MADE else {each.name}"
        arguments.append(argument)
        lines.append(f"    set_field(self, {each.name!r}, {value})\n")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()\n")
    exec(f"def __init__(self, {', '.join(arguments)}):\n{''.join(lines) or '    pass'}", known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    made.__annotations__ = {each.name: each.type for each in fields} | {"return": None}
    return made


class _Made:
    """Stands for what is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


def _refusing(cls: Any) -> dict[str, Callable[..., None]]:
    """What keeps objects as they are; those of a class below may have attributes of its own."""
    names = frozenset(each.name for each in dataclasses.fields(cls))

    def assign(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": delete}


@recursive_repr()
def _repr(self: Any) -> str:
    fields = (each.name for each in dataclasses.fields(self) if each.repr)
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields)
    return f"{type(self).__qualname__}({shown})"


def _values(self: Any, *, to_hash: bool = False) -> tuple[Any, ...]:
    return tuple(
        getattr(self, each.name)
        for each in dataclasses.fields(self)
        if (each.hash if to_hash and each.hash is not None else each.compare)
    )


def _eq(self: Any, other: Any) -> bool:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self, to_hash=True))
