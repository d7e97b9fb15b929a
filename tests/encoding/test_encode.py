"""`Embeddings.encode`: from texts to ranks; batches, what is kept, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged.errors import InputError, OutputError
from judged.inputs.encode import as_encoder
from support.errors import error_of
from support.loops import for_each

QUERIES = {"q1": "cab", "q2": "abba"}
ITEMS = {"d1": "a cab", "d2": "ab", "d3": "ccc", "d4": "ab"}
LETTERS = {"cab": [1, 1, 1], "abba": [2, 2, 0], "a cab": [2, 1, 1], "ab": [1, 1, 0]}
LETTERS |= {"ccc": [0, 0, 3], "": [0, 0, 1]}


class Counting:
    """An encoder that remembers what it was given; its vectors are kept under a name."""

    def __init__(self, change: float = 0.0) -> None:
        self.given: list[list[str]] = []
        self.change = change

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.given.append(texts)
        return [[letter + self.change for letter in LETTERS[text]] for text in texts]

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.given for text in batch]


def encode(encoder: Any, queries: Any = QUERIES, items: Any = ITEMS, **options: Any) -> Any:
    options = {"encoder_name": "letters"} | options
    return judged.Embeddings.encode(queries, items, encoder, **options)


def test_from_texts_to_numbers_by_id() -> None:
    found = encode(Counting())
    assert found.queries.ids == ("q1", "q2")
    assert found.items.ids == ("d1", "d2", "d3", "d4")
    assert found.items.values.tolist() == [[2, 1, 1], [1, 1, 0], [0, 0, 3], [1, 1, 0]]
    # q1 (1, 1, 1): d1 has 4/√18 = 0.94, d2 and d4 2/√6 = 0.82, d3 0.58; q2 (2, 2, 0): d2 and d4
    # have 1, d1 6/√48 = 0.87, d3 0. Tied items go by id, descending: d4 before d2.
    evaluation = found.evaluate({"q1": {"d1": 1}, "q2": {"d2": 1, "d1": 1}}, "RR")
    assert evaluation.to_frame(per_query=True)["RR"].to_list() == [1.0, 0.5]
    assert "queries and items are encoded by letters" in "; ".join(evaluation.sentences())
    assert "cosine; queries and items are encoded by letters" in " ".join(str(evaluation).split())


def test_each_text_is_encoded_once_in_batches_in_the_order_given() -> None:
    encoder = Counting()
    counted: list[int] = []
    encode(encoder, ["abba", "cab"], ["ab", "cab", "ccc", "ab", "a cab"], batch_size=2,
           progress=counted.append)  # fmt: skip
    assert encoder.given == [["abba", "cab"], ["ab", "ccc"], ["a cab"]]
    assert counted == [2, 2, 1]


def test_two_towers_are_asked_for_their_own_side() -> None:
    queries, items = Counting(), Counting(1.0)
    found = judged.Embeddings.encode(QUERIES, ITEMS, (queries, items))
    assert queries.texts == ["cab", "abba"]
    assert items.texts == ["a cab", "ab", "ccc"]
    assert found.items.values[0].tolist() == [3.0, 2.0, 2.0]


def _shifted(texts: list[str]) -> Any:
    return np.array([LETTERS[text] for text in texts]) + 1


def test_prompts_are_put_before_texts_and_said() -> None:
    given: list[str] = []

    def lengths(texts: list[str]) -> list[list[int]]:
        given.extend(texts)
        return [[len(text), 1] for text in texts]

    found = encode(lengths, ["ab"], ["ab", "b"], prompts=("query: ", "passage: "))
    assert given == ["query: ab", "passage: ab", "passage: b"]
    said = "; ".join(found.rank(judged.relevance.same_row()).basis)
    assert "queries are encoded by letters with the prompt 'query: '" in said
    assert "items are encoded by letters with the prompt 'passage: '" in said


# What is kept


def test_the_second_call_encodes_one_text_alone_to_compare(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    before = encode(first, cache=tmp_path / "kept")
    after = encode(second, cache=tmp_path / "kept")
    assert sorted(first.texts) == ["a cab", "ab", "abba", "cab", "ccc"]
    assert second.given == [["cab"]]
    assert before.items.values.tolist() == after.items.values.tolist()
    assert after.queries.notes == (
        f"5 of 5 vectors by letters were read from {tmp_path}/kept. One was encoded again and is "
        "the same.",
    )


def test_only_what_changed_is_encoded_again(tmp_path: Path) -> None:
    encode(Counting(), QUERIES, {"d1": "a cab", "d2": "ab"}, cache=tmp_path)
    second = Counting()
    found = encode(second, QUERIES, {"d2": "ccc", "d9": "a cab"}, cache=tmp_path)
    assert second.given == [["cab"], ["ccc"]]
    assert found.items.values.tolist() == [[0, 0, 3], [2, 1, 1]]


def test_an_encoder_that_changed_under_its_name_is_refused(tmp_path: Path) -> None:
    encode(Counting(), cache=tmp_path)
    with pytest.raises(InputError) as refused:
        encode(Counting(5.0), cache=tmp_path)
    # (6, 6, 6) now, (1, 1, 1) before: 5√3 of 6√3 away.
    [folder] = tmp_path.iterdir()
    assert str(refused.value) == (
        "the queries, 'q1': the encoder letters does not return the cached vector (a difference "
        f"of 83% of its length). It has changed, or is random. Delete {folder}, give another "
        "encoder_name, or leave out the cache."
    )


def test_two_towers_under_one_name_are_told_apart(tmp_path: Path) -> None:
    options: Any = {"encoder_name": "towers", "cache": tmp_path}
    for _ in range(2):
        found = judged.Embeddings.encode(["ab"], ["ab"], (Counting(), Counting(1.0)), **options)
        assert found.queries.values.tolist() == [[1, 1, 0]]
        assert found.items.values.tolist() == [[2, 2, 1]]


def test_a_lambda_has_no_name_to_keep_vectors_under(tmp_path: Path) -> None:
    def local(texts: list[str]) -> Any:
        return [LETTERS[text] for text in texts]

    for encoder, name in ((lambda texts: [[1.0]], "a lambda"), (local, "local")):
        assert error_of(
            judged.Embeddings.encode, ["ab"], ["cab"], encoder, cache=tmp_path / "kept"
        ) == (
            f"cache: {name} has no name to keep its vectors under; give encoder_name, "
            "such as the model and its version."
        )
    assert not (tmp_path / "kept").exists()


class Setting:
    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def encode(self, texts: list[str]) -> Any:
        return [[1.0] for _ in texts]


def test_names_of_encoders() -> None:
    names = {
        as_encoder(_shifted, "items").name: f"{__name__}:_shifted",
        as_encoder(Setting(), "items").name: f"{__name__}:Setting",
        as_encoder(Setting(model_name="org/m"), "items").name: "Setting org/m",
        as_encoder(Setting(model="/a/b/pkg/model"), "items").name: "Setting pkg/model",
        as_encoder(Setting(model="m").encode, "items").name: "Setting m",
        as_encoder(partial(_shifted), "items").name: f"{__name__}:_shifted",
        as_encoder(_shifted, "items", name="mine").name: "mine",
        as_encoder(len, "items").name: "len",
    }
    assert list(names) == list(names.values())


def test_what_was_done_is_kept_when_a_batch_fails(tmp_path: Path) -> None:
    def fails(texts: list[str]) -> Any:
        if "ccc" in texts:
            raise RuntimeError("no more credit")
        return [LETTERS[text] for text in texts]

    with pytest.raises(InputError, match="no more credit"):
        encode(fails, cache=tmp_path, batch_size=1)
    second = Counting()
    encode(second, cache=tmp_path)
    assert second.given == [["cab"], ["ccc"]]


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file: cannot be used as a cache \(File exists\)"):
        encode(Counting(), cache=tmp_path / "file")


# Bad encoders


def returning(what: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
    """An encoder that is right for queries, and wrong for items."""
    return lambda texts: [LETTERS[text] for text in texts] if "abba" in texts else what(texts)


WHERE = 'the items, batch 2 of 2 ("d3"): '
SECOND = 'the items, batch 1 of 2 ("d1" to "d2"): '
WRONG = {
    "another number of rows": (
        lambda texts: np.ones((3, 3)),
        f"{SECOND}the encoder returned 3 vectors for 2 inputs; it must return one for each.",
    ),
    "one vector": (
        lambda texts: np.ones(3),
        f"{SECOND}vectors must be a matrix with one row each; got an array of shape (3,). For a "
        "single vector give a matrix of one row, such as x[None, :].",
    ),
    "a matrix for each": (
        lambda texts: np.ones((len(texts), 5, 3)),
        f"{SECOND}vectors must be a matrix with one row each; got an array of shape (2, 5, 3).",
    ),
    "nothing": (
        lambda texts: None,
        f"{SECOND}cannot be read as a matrix of numbers; got NoneType.",
    ),
    "texts": (lambda texts: [["a"], ["b"]], f"{SECOND}vectors must be real numbers; got <U1."),
    "a dict": (
        lambda texts: {"dense": 1},
        f"{SECOND}cannot be read as a matrix of numbers; got dict.",
    ),
    "other lengths": (
        lambda texts: [[1.0, 2.0, 3.0], [1.0]],
        f"{SECOND}cannot be read as a matrix of numbers; give rows of equal length.",
    ),
    "no dimensions": (lambda texts: np.ones((2, 0)), f"{SECOND}the vectors have no dimensions."),
    "another dimension": (
        lambda texts: np.ones((len(texts), 2 if "ccc" in texts else 3)),
        f"{WHERE}the encoder returned vectors of 2 dimensions, but of 3 before.",
    ),
    "NaN": (
        lambda texts: [[np.nan, 1, 1] if text == "ccc" else [1, 1, 1] for text in texts],
        f'{WHERE}the encoder returned NaN or infinite numbers in 1 vector, first for "d3".',
    ),
    "infinity": (
        lambda texts: [[np.inf, 1, 1] for _ in texts],
        f'{SECOND}the encoder returned NaN or infinite numbers in 2 vectors, first for "d1".',
    ),
}


@for_each("name", WRONG)
def test_what_an_encoder_must_not_return(name: str, tmp_path: Path) -> None:
    what, message = WRONG[name]
    cache = tmp_path / name
    assert error_of(encode, returning(what), batch_size=2, cache=cache) == message
    second = Counting()
    encode(second, cache=cache)  # only the right vectors are kept
    encoded = ["a cab", "ab"] if message.startswith(WHERE) else []
    assert second.texts == [
        "cab",
        *(text for text in ("a cab", "ab", "ccc") if text not in encoded),
    ]


def test_an_error_of_the_encoder_names_the_batch() -> None:
    def failing(message: str) -> Any:
        def fails(texts: list[str]) -> Any:
            raise ValueError(message)

        return fails

    start = 'the queries, batch 1 of 2 ("q1"): the encoder letters failed'
    assert (
        error_of(encode, failing("no\nmodel"), batch_size=1) == f"{start} (ValueError: no model)."
    )
    assert error_of(encode, failing("CUDA out of memory"), batch_size=1) == (
        f"{start} (ValueError: CUDA out of memory). Use a smaller batch_size."
    )


def test_arrays_are_copied_and_generators_read() -> None:
    buffer = np.zeros((1, 3))

    def refilled(texts: list[str]) -> Any:
        buffer[:] = [LETTERS[text] for text in texts]
        return buffer

    def generated(texts: list[str]) -> Any:
        return (np.array(LETTERS[text]) for text in texts)

    for encoder in (refilled, generated):
        embeddings = encode(encoder, batch_size=1)
        assert embeddings.items.values.tolist() == [LETTERS[text] for text in ITEMS.values()]


@for_each("dtype", ["float16", "float32", "float64", "int8", "uint8", "bool"])
def test_numbers_stay_what_they_are_also_when_kept(dtype: str, tmp_path: Path) -> None:
    def typed(texts: list[str]) -> Any:
        return np.array([LETTERS[text] for text in texts]).astype(dtype)

    for _ in range(2):
        found = encode(typed, cache=tmp_path / dtype)
        assert found.items.values.dtype == dtype
        assert found.items.values.tolist() == typed(list(ITEMS.values())).tolist()


def test_bad_options() -> None:
    given = Counting()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"batch_size": 0}, "batch_size must be a whole number from 1"),
        ({"cache": 3}, "cache must be a folder; got 3."),
        ({"paths": "all"}, "paths must be one of queries, items, both; got 'all'."),
        ({"encoder_name": " "}, "encoder_name is empty; give a name, or leave it out."),
        ({"prompts": (1, None)}, "prompts must be a text; got 1."),
        ({"prompts": "query: "}, "prompts must be a pair: the one of queries and"),
        ({"similarity": "cosin"}, "did you mean 'cosine'"),
        ({"progress": 1}, "progress must be a function of one number; got 1."),
    ]
    for options, message in cases:
        assert message in error_of(encode, given, **options)
    assert given.given == []  # all of it before anything is encoded


def test_unknown_options_are_an_error_before_anything_is_encoded() -> None:
    encoder = Counting()
    with pytest.raises(TypeError, match="similarly"):
        encode(encoder, similarly="dot")
    with pytest.raises(InputError, match="encoder must be one encoder, or a pair"):
        encode((encoder, encoder, encoder))
    assert encoder.given == []
