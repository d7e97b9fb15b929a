"""Which encoder it is: a name for people, and a key under which its vectors are kept.

The key holds all of the encoder that can be seen: the code of a function and of the functions of
its own module that it uses, constants, settings, weights. What cannot be seen (what a server does)
is why one of the kept vectors is compared before others are used.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from dis import get_instructions
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

MODELS = ("model_name", "model", "model_id", "deployment_name", "deployment", "name_or_path")
"""What attributes with the name of a model are called."""
SECRET = re.compile(r"key|token|secret|password|timeout|retries", re.IGNORECASE)
"""Settings that change and leave the vectors as they are."""
DEPTH = 6
"""How far attributes of attributes are looked at."""
SETTINGS = ("max_seq_length", "prompts", "default_prompt_name", "truncate_dim")
"""What models of sentence-transformers hold beside their weights."""
SAMPLED = 4096
"""So many numbers of each matrix of weights are looked at, from all over it."""


@dataclass(frozen=True)
class Identity:
    """An encoder's name, and what its vectors are kept under."""

    name: str
    key: str | None
    """None where nothing tells it from others in the next program."""
    why: str = ""
    """Why there is no key."""
    given: bool = False
    """Whether the name was given; then nothing else counts."""


def identity_of(encoder: Any, name: str | None = None) -> Identity:
    """The identity of an encoder; where a name is given, it alone is the key."""
    if name is not None:
        return Identity(name, f"named {name}", given=True)
    own = _name(encoder)
    if "<lambda>" in own:
        return Identity("a lambda", None, "a lambda has no name")
    if "<locals>" in own:
        local = own.rpartition("<locals>.")[2]
        return Identity(local, None, f"{local} was made inside a function and has no lasting name")
    return Identity(_shown(encoder, own), _digest(encoder))


def _name(given: Any) -> str:
    """Module and name of a function, or of the class of an object."""
    while isinstance(given, (partial, MethodType)):
        given = given.func if isinstance(given, partial) else given.__self__
    if not isinstance(given, (FunctionType, type)) and not hasattr(given, "__qualname__"):
        given = type(given)
    module, name = getattr(given, "__module__", None), given.__qualname__
    return name if module in (None, "__main__", "builtins") else f"{module}:{name}"


def _shown(encoder: Any, own: str) -> str:
    """The name for people: that of the model, where it can be found."""
    while isinstance(encoder, (partial, MethodType)):
        encoder = encoder.func if isinstance(encoder, partial) else encoder.__self__
    if isinstance(encoder, FunctionType):
        return own
    for model in _models(encoder):
        plain = model.replace(os.sep, "/").rstrip("/")
        if os.path.isabs(model):
            plain = "/".join(plain.split("/")[-2:])
        return f"{type(encoder).__name__} {plain}"
    return own


def _models(encoder: Any) -> Iterator[str]:
    """Names of the model that an object holds, the surest first."""
    holders = [encoder]
    with suppress(Exception):  # the first part of a model of sentence-transformers
        holders.append(encoder[0])
    for holder in holders:
        for path in ((), ("model_card_data",), ("auto_model",), ("auto_model", "config")):
            found = holder
            for name in path:
                found = getattr(found, name, None)
            for name in (*MODELS, "_name_or_path"):
                given = getattr(found, name, None)
                if isinstance(given, str) and given:
                    yield given


def _digest(encoder: Any) -> str:
    seen = hashlib.sha256()

    def see(what: str) -> None:
        data = what.encode("utf-8", "surrogatepass")
        seen.update(len(data).to_bytes(8, "little") + data)

    _Look(see).at(encoder, DEPTH)
    return seen.hexdigest()


class _Look:
    """Sees all of an object that can be seen, always in the same order."""

    def __init__(self, see: Callable[[str], None]) -> None:
        self.see = see
        self.met: dict[int, Any] = {}
        """What was seen already, by its id, and held so that no other gets the same id."""

    def at(self, given: Any, depth: int) -> None:
        see = self.see
        if given is None or isinstance(given, (bool, int, float, complex, str, bytes)):
            see(f"{type(given).__name__} {given!r}")
            return
        if given is Ellipsis or id(given) in self.met or depth < 0:
            see(f"again {_name(given)}")
            return
        self.met[id(given)] = given
        if isinstance(given, (list, tuple)):
            see(f"{type(given).__name__} of {len(given)}")
            for each in given:
                self.at(each, depth - 1)
        elif isinstance(given, (set, frozenset)):
            see(f"set {sorted(map(repr, given))}")
        elif isinstance(given, Mapping):
            see(f"mapping of {len(given)}")
            for name in given:
                self.named(name, given[name], depth - 1)
        elif isinstance(given, np.ndarray) and not given.dtype.hasobject:
            see(f"array {given.dtype} {given.shape}")
            see(hashlib.sha256(np.ascontiguousarray(given).tobytes()).hexdigest())
        elif isinstance(given, partial):
            see("partial")
            for part in (given.func, given.args, given.keywords):
                self.at(part, depth)
        elif isinstance(given, MethodType):
            see(f"method {given.__name__}")
            self.at(given.__func__, depth)
            self.at(given.__self__, depth)
        elif isinstance(given, FunctionType):
            self.function(given, depth)
        elif isinstance(given, ModuleType):
            see(f"module {given.__name__}")
            file = getattr(given, "__file__", None)
            if file is not None and not is_library_file(file):
                with suppress(OSError), open(file, "rb") as handle:
                    see(hashlib.file_digest(handle, "sha256").hexdigest())
        elif isinstance(given, type):
            self.kind(given, depth)
        elif hasattr(given, "__wrapped__"):  # a function with a cache
            see(f"wrapped by {_name(type(given))}")
            self.at(given.__wrapped__, depth)
        else:
            self.thing(given, depth)

    def named(self, name: Any, value: Any, depth: int) -> None:
        self.see(repr(name))
        self.at(value, depth)

    def function(self, given: FunctionType, depth: int) -> None:
        """A function's name, and where it is no library's also its code and what that uses."""
        self.see(f"function {_name(given)}")
        if is_library_file(given.__code__.co_filename):
            return
        self.at((given.__defaults__, given.__kwdefaults__), depth - 1)
        for cell in given.__closure__ or ():
            try:
                self.at(cell.cell_contents, depth - 1)
            except ValueError:  # empty
                self.see("empty")
        for name in sorted(self.code(given.__code__)):
            if name in given.__globals__:
                self.named(name, given.__globals__[name], depth - 1)

    def code(self, code: CodeType) -> set[str]:
        """Code without its place in a file; gives the names of the module that it uses."""
        self.see(code.co_code.hex())
        loads = get_instructions(code)
        names = {str(each.argval) for each in loads if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        for each in code.co_consts:
            if isinstance(each, CodeType):
                names |= self.code(each)
            else:
                self.at(each, 1)
        self.see(repr(code.co_names))
        return names

    def thing(self, given: Any, depth: int) -> None:
        """Any other object: its class, settings and weights, and what its own code is.

        Of a library's object only plain settings are seen: others, as connections, differ from
        one program to the next.
        """
        own = [kind for kind in type(given).__mro__ if not _is_library(kind)]
        self.see(f"object {_name(type(given))}")
        weights = _weights(given)
        if weights is not None:
            self.see(re.sub(r" at 0x[0-9a-f]+", "", repr(given)))
            for name in SETTINGS:
                self.named(name, getattr(given, name, None), depth - 1)
            for name, tensor in weights.items():
                self.weights(str(name), tensor)
        for name, value in sorted(_attributes(given).items()):
            if SECRET.search(name) or name == "training":
                continue
            if own or _is_plain(value):
                self.named(name, value, depth - 1)
        for kind in own:
            self.at(kind, depth)

    def kind(self, given: type, depth: int) -> None:
        """A class, and where it is no library's also its methods."""
        self.see(f"class {_name(given)}")
        for name, value in () if _is_library(given) else sorted(vars(given).items()):
            function = getattr(value, "__func__", value)
            if isinstance(function, FunctionType):
                self.named(name, function, depth - 1)
            elif _is_plain(value) and not name.startswith("__"):
                self.named(name, value, depth - 1)

    def weights(self, name: str, tensor: Any) -> None:
        self.see(f"{name} {getattr(tensor, 'dtype', '')} {tuple(getattr(tensor, 'shape', ()))}")
        try:
            flat = tensor.detach().reshape(-1)
            some = flat[:: max(1, len(flat) // SAMPLED)].double().cpu().numpy()
        except Exception:  # weights that are packed, or no tensors
            return
        self.see(hashlib.sha256(some.tobytes()).hexdigest())


def _weights(given: Any) -> Mapping[Any, Any] | None:
    """The weights of a module of torch."""
    with suppress(Exception):
        found = given.state_dict()
        return found if isinstance(found, Mapping) else None
    return None


def _attributes(given: Any) -> dict[str, Any]:
    """What an object holds by name; what belongs to it alone starts with an underscore where a
    library made it."""
    found = getattr(given, "__dict__", {})
    own = not _is_library(type(given))
    return {str(name): found[name] for name in found if own or not str(name).startswith("_")}


def _is_plain(value: Any) -> bool:
    """Whether a value is a text or number, or a list or dict of such."""
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _is_library(kind: type) -> bool:
    """Whether a class is Python's own or an installed package's."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    # What was typed in has no file, what is built in neither.
    return kind.__module__ != "__main__" if file is None else is_library_file(file)


_PLACES = tuple(
    os.path.realpath(path)
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_path(name))
)


def is_library_file(file: str) -> bool:
    """Whether code is Python's own or an installed package's."""
    if file.startswith("<frozen"):
        return True
    place = os.path.realpath(file)
    inside = any(place.startswith(each + os.sep) for each in _PLACES)
    return inside or "site-packages" in place or "dist-packages" in place or _is_own(place)


def _is_own(place: str) -> bool:
    """Whether code is judged's."""
    here = getattr(sys.modules.get("judged"), "__path__", ())
    return any(place.startswith(os.path.realpath(each) + os.sep) for each in here)
