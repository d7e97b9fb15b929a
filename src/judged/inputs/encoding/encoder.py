"""How an encoder is asked: by its own method, where it has one that is known, or by calling it.

Libraries are known by the methods of their objects and never imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Signature, isclass, iscoroutinefunction, signature
from types import MethodType
from typing import Any

from judged.errors import InputError, quoted
from judged.inputs.encoding.identity import Identity, identity_of
from judged.inputs.texts import Of
from judged.text import listed


@dataclass(frozen=True)
class Method:
    """A method of an object that encodes."""

    name: str
    single: bool = False
    """Whether it takes one text, and not a list of them."""


FAMILIES: dict[str, dict[Of, tuple[Method, ...]]] = {
    "encode": {  # sentence-transformers
        "queries": (Method("encode_query"), Method("encode")),
        "items": (Method("encode_document"), Method("encode")),
    },
    "embed_documents": {  # LangChain
        "queries": (Method("embed_query", single=True), Method("embed_documents")),
        "items": (Method("embed_documents"),),
    },
    "get_text_embedding_batch": {  # LlamaIndex
        "queries": (
            Method("get_query_embedding", single=True),
            Method("get_text_embedding_batch"),
        ),
        "items": (Method("get_text_embedding_batch"),),
    },
}
"""By the method that tells whose object it is: what is called for each side, the first there is."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """How one side is encoded."""

    given: Any
    call: Callable[[list[str]], Any]
    asked: str
    """The method that is called; empty where the encoder itself is."""
    identity: Identity
    prompt: str | None = None
    """What the encoder itself puts before each text."""
    prefix: str = ""
    """What is put before each text before the encoder gets it."""

    @property
    def says(self) -> str:
        """The encoder, in words."""
        by = self.identity.name + (f" ({self.asked})" if self.asked else "")
        prompt = self.prompt if self.prompt is not None else self.prefix
        return by + (f" with the prompt {prompt!r}" if prompt else "")

    def does_as(self, other: Encoder) -> bool:
        """Whether the other gives the same vectors."""
        one, two = self.given, other.given
        same = one is two or (isinstance(one, MethodType) and bool(one == two))
        return same and (self.asked, self.prompt) == (other.asked, other.prompt)


def encoder_of(
    given: Any, of: Of, *, prompt: str | None = None, name: str | None = None
) -> Encoder:
    """How to ask an encoder for the vectors of a side; refused where that is not clear."""
    if isclass(given):
        raise InputError(
            f"the encoder is the class {given.__name__}; give an object of it, or a function."
        )
    found = [mark for mark in FAMILIES if _has(given, mark)]
    if isinstance(given, (str, bytes)) or not (found or callable(given)):
        known = listed([f".{mark}" for mark in FAMILIES], "or")
        raise InputError(
            f"an encoder is a function of a list of texts or paths, or an object with {known}; "
            f"got {quoted(given)}."
        )
    if len(found) > 1:
        raise InputError(
            f"the encoder has the methods {listed(found)}; give the one to be called, as "
            f"encoder.{found[0]}."
        )
    if not found:
        _check_called(given)
        identity = identity_of(given, name)
        return Encoder(given, given, "", identity, prefix=prompt or "")
    method = next(each for each in FAMILIES[found[0]][of] if _has(given, each.name))
    function = getattr(given, method.name)
    _check_called(function, f".{method.name} of ")
    identity = identity_of(given, name)
    if prompt is not None and isinstance(getattr(given, "prompts", None), Mapping):
        # sentence-transformers has prompts of its own, which this one stands for.
        asked = partial(function, prompt=prompt)
        return Encoder(given, asked, method.name, identity, prompt=prompt)
    call = partial(_one_by_one, function) if method.single else function
    return Encoder(given, call, method.name, identity, prefix=prompt or "")


def _has(given: Any, name: str) -> bool:
    return callable(getattr(given, name, None))


def _one_by_one(function: Callable[[str], Any], texts: list[str]) -> list[Any]:
    return [function(text) for text in texts]


def _check_called(function: Any, what: str = "") -> None:
    """Refuse what cannot be called with a list of texts."""
    called = getattr(function, "__call__", None)  # noqa: B004
    if iscoroutinefunction(function) or iscoroutinefunction(called):
        raise InputError(
            f"{what}the encoder has to be awaited; give a function that returns the vectors "
            "themselves."
        )
    takes = _signature(function)
    if takes is None:
        return
    try:
        takes.bind([])
    except TypeError:
        if not takes.parameters:
            raise InputError(
                f"{what}the encoder takes no argument, and it would be given a list of texts; if "
                "it makes the encoder, give what it returns, as encoder = make()."
            ) from None
        raise InputError(
            f"{what}the encoder takes {takes}, and it would be given one list of texts; give a "
            "function that needs nothing else."
        ) from None


def _signature(function: Any) -> Signature | None:
    try:
        return signature(function)
    except (TypeError, ValueError):  # built in
        return None
