"""What vectors are kept under: the same in the next program, and another when the encoder is."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from judged.inputs.encoding.identity import identity_of

MODULE = """
import re
import numpy as np
from functools import lru_cache, partial

PREFIX = "query: "
TABLE = {"a": 1}
WEIGHTS = np.arange(6.0)

def helper(text):
    return len(PREFIX + text)

def encode(texts, scale=1.0):
    return [[helper(text) * scale, TABLE["a"], WEIGHTS[0]] for text in texts]

def unrelated():
    return 1

class Model:
    def __init__(self, name, api_key="1"):
        self.model_name, self.api_key, self.weights = name, api_key, np.ones(3)

    def tokens(self, text):
        return text.split()

    def encode(self, texts):
        return [[len(self.tokens(text))] for text in texts]

model = Model("small")
half = partial(encode, scale=0.5)

def by_model(texts):
    return model.encode(texts)

@lru_cache
def load():
    return Model("tiny")

def later(texts):
    return load().encode(texts)
"""
BY_MODEL = {"model", "by_model", "later"}
CHANGES = {
    "a comment": ("# a comment\n\n\n" + MODULE, set()),
    "unrelated": (MODULE.replace("return 1\n", "return 2\n"), set()),
    "a key": (MODULE.replace('api_key="1"', 'api_key="2"'), BY_MODEL),  # its code
    "a constant": (MODULE.replace("query: ", "passage: "), {"encode", "half"}),
    "a table": (MODULE.replace('{"a": 1}', '{"a": 2}'), {"encode", "half"}),
    "an array": (MODULE.replace("np.arange(6.0)", "np.arange(7.0)"), {"encode", "half"}),
    "a helper": (MODULE.replace("len(PREFIX + text)", "len(text)"), {"encode", "half"}),
    "a default": (MODULE.replace("scale=1.0", "scale=2.0"), {"encode", "half"}),
    "a given option": (MODULE.replace("scale=0.5", "scale=0.6"), {"half"}),
    "a setting": (MODULE.replace('Model("small")', 'Model("large")'), {"model", "by_model"}),
    "weights": (MODULE.replace("np.ones(3)", "np.zeros(3)"), BY_MODEL),
    "a method": (MODULE.replace("text.split()", "text.split(' ')"), BY_MODEL),
    "what is loaded later": (MODULE.replace('Model("tiny")', 'Model("huge")'), {"later"}),
}
NAMES = ("encode", "half", "model", "by_model", "later")


def module_of(source: str, path: Path) -> ModuleType:
    made = ModuleType("models")
    made.__file__ = str(path)
    sys.modules["models"] = made
    exec(compile(source, str(path), "exec"), made.__dict__)
    return made


def keys_of(source: str, path: Path) -> dict[str, str | None]:
    try:
        made = module_of(source, path)
        return {name: identity_of(getattr(made, name)).key for name in NAMES}
    finally:
        del sys.modules["models"]


def test_what_changes_the_key(tmp_path: Path) -> None:
    before = keys_of(MODULE, tmp_path / "models.py")
    assert len(set(before.values())) == len(NAMES)
    for name, (source, expected) in CHANGES.items():
        after = keys_of(source, tmp_path / "models.py")
        assert {each for each in NAMES if after[each] != before[each]} == expected, name


def test_the_key_is_the_same_in_another_program(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODULE)
    script = (
        "import models; from judged.inputs.encoding.identity import identity_of;"
        f"print(*(identity_of(getattr(models, name)).key for name in {NAMES}))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {" ".join(map(str, keys_of(MODULE, tmp_path / "models.py").values())) + "\n"}


def test_modules_of_ones_own_count(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    found = []
    for name in ("small", "large", "small"):
        (tmp_path / "settings_of_models.py").write_text(f"name = {name!r}\n")
        (tmp_path / "user_of_models.py").write_text(
            "import settings_of_models\ndef encode(texts): return settings_of_models.name\n"
        )
        for module in ("settings_of_models", "user_of_models"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        found.append(identity_of(import_module("user_of_models").encode).key)
    assert found[0] == found[2] != found[1]


class Setting:
    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def encode(self, texts: list[str]) -> Any:
        return [[1.0] for _ in texts]


def test_names_for_people(tmp_path: Path) -> None:
    here = __name__

    def local(texts: list[str]) -> Any:
        return texts

    names = {
        identity_of(test_names_for_people).name: f"{here}:test_names_for_people",
        identity_of(Setting()).name: f"{here}:Setting",
        identity_of(Setting(model_name="org/m")).name: "Setting org/m",
        identity_of(Setting(model="/a/b/pkg/model")).name: "Setting pkg/model",
        identity_of(Setting(model="m").encode).name: "Setting m",
        identity_of(local).name: "local",
        identity_of(lambda texts: texts).name: "a lambda",
        identity_of(partial(test_names_for_people)).name: f"{here}:test_names_for_people",
        identity_of(local, "mine").name: "mine",
        identity_of(len).name: "len",
    }
    assert list(names) == list(names.values())
    assert identity_of(local).key is None
    assert identity_of(local).why == "local was made inside a function and has no lasting name"
    assert identity_of(local, "mine").key == identity_of(len, "mine").key


def test_secrets_and_circles_are_left_out() -> None:
    one, two = Setting(model="m", api_key="1"), Setting(model="m", api_key="2")
    assert identity_of(one).key == identity_of(two).key
    one.itself = one
    two.itself = two
    assert identity_of(one).key == identity_of(two).key != identity_of(Setting(model="m")).key


class Tensors:
    """What a module of torch shows of its weights."""

    def __init__(self, value: float) -> None:
        self._value, self.training = value, value > 1

    def state_dict(self) -> dict[str, Any]:
        return {"layer.weight": _Tensor(np.array([1.0, self._value]))}


class _Tensor:
    def __init__(self, values: Any) -> None:
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def detach(self) -> _Tensor:
        return self

    def reshape(self, shape: int) -> _Tensor:
        return self

    def __getitem__(self, some: slice) -> _Tensor:
        return _Tensor(self.values[some])

    double = cpu = detach

    def numpy(self) -> Any:
        return self.values


def test_weights_count() -> None:
    keys = [identity_of(Tensors(value)).key for value in (1.0, 1.0, 2.0)]
    assert keys[0] == keys[1] != keys[2]
