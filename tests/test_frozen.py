"""Frozen dataclasses are what Python's own decorator makes, in all that can be seen of them."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest

from judged import frozen


class Parts:
    """A thing."""

    name: str
    size: int = 3
    names: list[str] = field(default_factory=list)
    hidden: float = field(default=0.5, repr=False, compare=False)
    last: str = field(default="z", kw_only=True)
    every: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("size")

    @cached_property
    def double(self) -> int:
        return 2 * self.size


class Simple:
    """A thing of plain types only."""

    name: str
    size: int | None = None
    names: list[str] = field(default_factory=list)
    hidden: float = field(default=0.5, repr=False, compare=False)
    last: str = field(default="z", kw_only=True)


class Own:
    """A thing with its own equality."""

    name: str

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "own"


def made(like: type, how: Any, **options: Any) -> Any:
    own = {k: v for k, v in vars(like).items() if k not in ("__dict__", "__weakref__")}
    return how(frozen=True, **options)(type(like.__name__, (), own))


OPTIONS: list[dict[str, bool]] = [{}, {"eq": False}, {"repr": False}, {"kw_only": True}]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("like", [Parts, Simple, Own])
def test_both_decorators_make_the_same(like, options):
    ours, theirs = made(like, frozen.dataclass, **options), made(like, dataclass, **options)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert repr(fields(ours)) == repr(fields(theirs))
    assert {name: getattr(ours, name, None) for name in vars(like) if name[0] != "_"} == {
        name: getattr(theirs, name, None) for name in vars(like) if name[0] != "_"
    }
    assert ours.__match_args__ == theirs.__match_args__
    one, other = ours(name="a"), theirs(name="a")
    assert vars(one) == vars(other)
    assert (repr(one) == repr(other)) is (options.get("repr", True) or like is Own)
    for changed in ({}, {"name": "b"}):
        same, alike = replace(one, **changed), replace(other, **changed)
        assert (one == same, one != same) == (other == alike, other != alike)
    assert (one == "a") == (other == "a")
    for each in (one, other):
        with pytest.raises(FrozenInstanceError, match=r"^cannot assign to field 'name'$"):
            each.name = "c"
        with pytest.raises(FrozenInstanceError, match=r"^cannot delete field 'name'$"):
            del each.name
        with pytest.raises(FrozenInstanceError, match=r"^cannot assign to field 'new'$"):
            each.new = 1


def test_hashes_defaults_and_what_is_done_after():
    ours = made(Own, frozen.dataclass)
    assert hash(ours(name="a")) == 7
    thing = made(Parts, frozen.dataclass)
    assert thing("a").names is not thing("a").names
    assert thing("a", hidden=1.0) == thing("a", hidden=2.0)
    assert thing("a").double == 6
    with pytest.raises(ValueError, match=r"^size$"):
        thing("a", -1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        thing()
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        hash(thing("a"))


@frozen.dataclass(frozen=True)
class Upper:
    """Above."""

    first: int
    second: tuple[int, ...] = ()


@frozen.dataclass(frozen=True)
class Lower(Upper):
    """Below."""

    third: str = "c"


@dataclass(frozen=True)
class Theirs(Upper):
    """Below, made by Python."""

    third: str = "c"


class Plain(Upper):
    """Below, and no dataclass."""


@pytest.mark.parametrize("kind", [Lower, Theirs])
def test_classes_below(kind):
    thing = kind(1, third="d")
    assert repr(thing) == f"{kind.__name__}(first=1, second=(), third='d')"
    assert pickle.loads(pickle.dumps(thing)) == thing
    assert hash(thing) == hash(kind(1, (), "d"))
    assert thing != Upper(1)
    assert dataclasses.asdict(thing) == {"first": 1, "second": (), "third": "d"}
    with pytest.raises(FrozenInstanceError, match="first"):
        thing.first = 2


def test_a_class_below_that_is_no_dataclass_may_have_attributes_of_its_own():
    thing = Plain(1)
    thing.own = 2
    assert thing.own == 2
    del thing.own
    with pytest.raises(FrozenInstanceError, match="first"):
        thing.first = 2


def test_what_holds_itself_is_shown():
    @frozen.dataclass(frozen=True)
    class Loop:
        """Round."""

        inside: list[Any]

    loop = Loop([])
    loop.inside.append(loop)
    assert repr(loop).endswith("Loop(inside=[...])")


def test_a_default_that_can_change_is_refused():
    with pytest.raises(ValueError, match="mutable default"):

        @frozen.dataclass(frozen=True)
        class Shared:
            """One list for all."""

            names: list[str] = []  # noqa: RUF012


def test_only_what_is_frozen():
    with pytest.raises(TypeError, match=r"^judged\.frozen makes frozen dataclasses"):
        made_thawed()


def made_thawed() -> None:
    frozen.dataclass(frozen=False)
