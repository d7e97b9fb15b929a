"""`Embeddings.encode`: from texts to ranks; batches, what is kept, and what is refused."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.errors import InputError, OutputError
from judged.inputs.encode import (
    VECTORS_FILE,
    VectorCache,
    as_encoder,
    file_key,
    read_inputs,
    text_key,
)
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
    "a matrix for each": (
        lambda texts: np.ones((len(texts), 5, 3)),
        f"{SECOND}vectors must be a matrix with one row each; got an array of shape (2, 5, 3).",
    ),
    "a dict": (
        lambda texts: {"dense": 1},
        f"{SECOND}cannot be read as a matrix of numbers; got dict.",
    ),
    "other lengths": (
        lambda texts: [[1.0, 2.0, 3.0], [1.0]],
        f"{SECOND}cannot be read as a matrix of numbers; give rows of equal length.",
    ),
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


# How encoders are called: functions, and objects known by their methods


class Recording:
    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def note(self, name: str, given: Any) -> Any:
        self.calls.append((name, given))
        made = [[float(len(text)), 1.0] for text in ([given] if isinstance(given, str) else given)]
        return made[0] if isinstance(given, str) else made


class OldSentenceTransformer(Recording):
    def encode(self, inputs: Any, batch_size: int = 32) -> Any:
        return self.note("encode", inputs)


class SentenceTransformer(OldSentenceTransformer):
    prompts = {"query": "q: "}  # noqa: RUF012

    def encode_query(self, inputs: Any, prompt: str | None = None) -> Any:
        return self.note(f"encode_query {prompt}", inputs)

    def encode_document(self, inputs: Any, prompt: str | None = None) -> Any:
        return self.note(f"encode_document {prompt}", inputs)

    def __call__(self, features: Any, other: Any) -> Any:
        raise AssertionError("a model is not called itself")


class LangChain(Recording):
    def embed_documents(self, texts: list[str]) -> Any:
        return self.note("embed_documents", texts)

    def embed_query(self, text: str) -> Any:
        return self.note("embed_query", text)


class LlamaIndex(Recording):
    def get_text_embedding_batch(self, texts: list[str], show_progress: bool = False) -> Any:
        return self.note("get_text_embedding_batch", texts)

    def get_query_embedding(self, query: str) -> Any:
        return self.note("get_query_embedding", query)

    def __call__(self, nodes: Any) -> Any:
        raise AssertionError("it takes nodes")


ASKED: list[tuple[type[Recording], list[Any]]] = [
    (OldSentenceTransformer, [("encode", ["a", "bb"]), ("encode", ["ccc"])]),
    (
        SentenceTransformer,
        [("encode_query None", ["a", "bb"]), ("encode_document None", ["a", "ccc"])],
    ),
    (LangChain, [("embed_query", "a"), ("embed_query", "bb"), ("embed_documents", ["a", "ccc"])]),
    (
        LlamaIndex,
        [
            ("get_query_embedding", "a"),
            ("get_query_embedding", "bb"),
            ("get_text_embedding_batch", ["a", "ccc"]),
        ],
    ),
]


@pytest.mark.parametrize(("kind", "calls"), ASKED, ids=lambda given: getattr(given, "__name__", ""))
def test_each_side_is_asked_by_its_own_method(kind: type[Recording], calls: list[Any]) -> None:
    encoder = kind()
    found = judged.Embeddings.encode(["a", "bb"], ["a", "ccc"], encoder)
    assert encoder.calls == calls
    assert found.items.values.tolist() == [[1.0, 1.0], [3.0, 1.0]]
    said = "; ".join(found.rank(judged.relevance.pairs()).basis)
    for name, _ in calls:
        assert f"({name.partition(' ')[0]})" in said


def test_a_prompt_stands_for_those_of_the_model() -> None:
    encoder = SentenceTransformer()
    found = judged.Embeddings.encode(["a"], ["a"], encoder, prompts=("ask: ", None))
    assert encoder.calls == [("encode_query ask: ", ["a"]), ("encode_document None", ["a"])]
    assert found.queries.made_by == (
        f"{__name__}:SentenceTransformer (encode_query) with the prompt 'ask: '"
    )


def test_prompts_are_part_of_what_vectors_are_kept_under(tmp_path: Any) -> None:
    for prompt in ("ask: ", "find: ", "ask: "):
        encoder = SentenceTransformer()
        judged.Embeddings.encode(
            ["a"], ["b"], encoder, prompts=(prompt, None), encoder_name="m", cache=tmp_path
        )
    # Both are cached; one of each is encoded again, to detect a changed encoder.
    assert encoder.calls == [("encode_query ask: ", ["a"]), ("encode_document None", ["b"])]
    assert len(list(tmp_path.iterdir())) == 3  # two prompts of queries, and the items


class Both(LangChain, OldSentenceTransformer):
    pass


REFUSED = [
    (LangChain, "the encoder is the class LangChain; give an object of it, or a function."),
    (
        "models:encode",
        "an encoder is a function that takes a list of texts or paths, or an object with .encode, "
        ".embed_documents or .get_text_embedding_batch; got 'models:encode'.",
    ),
    (
        3,
        "an encoder is a function that takes a list of texts or paths, or an object with .encode, "
        ".embed_documents or .get_text_embedding_batch; got 3.",
    ),
    (
        Both(),
        "the encoder has the methods encode and embed_documents; give the one to call, such as "
        "encoder.encode.",
    ),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_encoder(given: Any, message: str) -> None:
    assert error_of(as_encoder, given, "queries") == message


@pytest.mark.full
def test_tensors_of_torch(needs: Any) -> None:
    needs("torch")
    import torch

    for dtype in (torch.float16, torch.bfloat16, torch.float32):

        def tensors(texts: list[str], dtype: Any = dtype) -> Any:
            return torch.tensor([[len(text), 0.5] for text in texts], requires_grad=True).to(dtype)

        found = judged.Embeddings.encode(["a"], ["a", "ccc"], tensors)
        assert found.items.values.tolist() == [[1.0, 0.5], [3.0, 0.5]]
        rows = judged.Embeddings.encode(["a"], ["a"], lambda t: list(tensors(t)))
        assert rows.items.values.tolist() == [[1.0, 0.5]]


# What can be encoded: texts and files, in every form


TEXTS = ("one", " two ")
IDS = ("a", "7")


def test_forms_of_texts(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tone\n7\t two \n")
    frame = pl.DataFrame({"id": IDS, "text": TEXTS})
    rows = [{"id": "a", "text": "one"}, {"id": 7, "text": " two "}]
    by_id: tuple[Any, ...] = ({"a": "one", 7: " two "}, rows, frame, tmp_path / "t.tsv")
    for form in by_id:
        found = read_inputs(form, "items")
        assert (found.ids, found.contents, found.files) == (IDS, TEXTS, False)
    for form in (list(TEXTS), TEXTS, np.array(TEXTS), frame["text"], frame.to_pandas()["text"]):
        found = read_inputs(form, "items")
        assert (found.ids, found.contents) == (None, TEXTS)
        assert found.name(1) == "1"


def test_titles_are_joined_and_that_is_said() -> None:
    given = {"a": {"title": "One", "text": "more"}, "b": {"title": "Two"}, "c": "three"}
    found = read_inputs(given, "items")
    assert found.contents == ("One more", "Two", "three")
    assert found.notes == ("Title and text of 1 item joined by a space.",)


def test_empty_texts_are_encoded_and_warned_of() -> None:
    found = judged.Embeddings.encode(
        ["a"], {"x": "", "y": "b", "z": None}, lambda texts: [[len(t), 1] for t in texts]
    )
    assert found.evaluate({"0": {"y": 1}}, "RR").warnings() == [
        "2 items have an empty text (x, z), which was encoded as it is."
    ]
    assert found.items.values.tolist() == [[0, 1], [1, 1], [0, 1]]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    (folder / "more").mkdir(parents=True)
    for name in ("b.png", "a.png", "more/c.png", ".hidden"):
        (folder / name).write_bytes(name.encode())
    (folder / "more" / "same.png").write_bytes(b"a.png")
    return folder


def test_a_folder_of_files(pictures: Path) -> None:
    found = read_inputs(pictures, "items")
    names = ("a.png", "b.png", "more/c.png", "more/same.png")
    assert found.ids == names
    assert found.contents == tuple(str(pictures / name) for name in names)
    assert found.files


def test_paths_by_id_in_a_list_and_in_a_file(pictures: Path, tmp_path: Path) -> None:
    path = str(pictures / "a.png")
    (tmp_path / "paths.tsv").write_text(f"x\t{path}\n")
    for given, ids, paths in (
        ({"x": Path(path)}, ("x",), False),
        ([Path(path)], None, False),
        ({"x": path}, ("x",), True),
        ([path], None, True),
        (tmp_path / "paths.tsv", ("x",), True),
    ):
        found = read_inputs(given, "items", paths=paths)
        assert (found.ids, found.contents, found.files) == (ids, (path,), True)


def test_files_are_known_by_their_bytes(pictures: Path, tmp_path: Path) -> None:
    given: list[str] = []

    def sizes(paths: list[str]) -> Any:
        given.extend(Path(path).name for path in paths)
        return [[Path(path).stat().st_size, 1] for path in paths]

    def encode() -> Any:
        return judged.Embeddings.encode(
            {"q": pictures / "b.png"}, pictures, sizes,
            encoder_name="sizes", cache=tmp_path / "kept",
        )  # fmt: skip

    encode()
    assert given == ["b.png", "a.png", "c.png"]  # b.png of the queries is that of the items
    given.clear()
    (pictures / "a.png").rename(pictures / "z.png")
    (pictures / "more" / "c.png").write_bytes(b"another picture")
    found = encode()
    assert given == ["b.png", "c.png"]  # b.png to compare it with the cached vector
    assert found.items.ids == ("b.png", "more/c.png", "more/same.png", "z.png")
    assert found.items.values[:, 0].tolist() == [5, 15, 5, 5]


NO_INPUTS: list[tuple[Any, str]] = [
    ([], "the items: there is nothing to encode; give at least one text."),
    ({}, "the texts given: holds no rows."),
    (
        ["a", None],
        "the items, row 2: None is not a text, but other rows are; give texts only, or {id: text}.",
    ),
    ({"a": Path("no.png")}, 'the items, item "a": there is no file "no.png".'),
    ([Path("no.png"), 3], "the items, row 2: 3 is not a path, but other rows are."),
    ("no.tsv", "no.tsv: no such file."),
]


@pytest.mark.parametrize(("given", "message"), NO_INPUTS, ids=range(len(NO_INPUTS)))
def test_what_cannot_be_encoded(given: Any, message: str) -> None:
    assert error_of(read_inputs, given, "items") == message


def test_an_empty_folder_and_prompts_of_files(pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert (
        error_of(read_inputs, tmp_path / "empty", "items")
        == f"{tmp_path}/empty: the folder is empty."
    )
    assert (
        error_of(judged.Embeddings.encode, ["a"], pictures, len_of, prompts=(None, "x"))
        == f"{pictures}: files take no prompt; leave it out."
    )


def len_of(texts: list[str]) -> Any:
    return [[len(text)] for text in texts]


# Vectors on disk, for their owner alone


def keys(number: int) -> list[bytes]:
    return [text_key(str(at)) for at in range(number)]


def test_only_the_owner_can_look(tmp_path: Path) -> None:
    kept = VectorCache(tmp_path / "new", "e")
    for folder in (kept.root, kept.folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_damage_is_detected(tmp_path: Path) -> None:
    kept = VectorCache(tmp_path, "e")
    kept.add(keys(2), np.ones((2, 3)))
    path = kept.folder / VECTORS_FILE
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE vectors SET data = ? WHERE key = ?", (bytes(24), keys(1)[0]))
    assert list(kept.read(set(keys(2)))) == keys(2)[1:]
    path.write_bytes(b"something else, which is long enough to be no empty database")
    with pytest.raises(OutputError, match=r"cannot be used as a cache \(file is not a database\)"):
        kept.read(set(keys(2)))


def test_the_last_vector_of_a_key_is_kept_in_its_type(tmp_path: Path) -> None:
    kept = VectorCache(tmp_path, "e")
    for number, dtype in enumerate((">f8", "f4", "i1", ">f8")):
        kept.add(keys(3)[number % 3 :][:1], np.full((1, 3), number, dtype))
    vectors = kept.read(set(keys(3)))
    assert [vectors[key].tolist() for key in keys(3)] == [[3] * 3, [1] * 3, [2] * 3]
    assert [vectors[key].dtype for key in keys(3)] == [np.float64, np.float32, np.int8]


def test_keys_tell_contents_apart(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("a")
    assert file_key(str(tmp_path / "a")) == file_key(str(tmp_path / "b")) != text_key("a")
    assert text_key("a") != text_key("a ")
    assert text_key("\ud800") != text_key("?")  # half a character, as JSON may have it
