"""How encoders are asked: functions, and objects that are known by their methods."""

from __future__ import annotations

from typing import Any

import pytest

import judged
from judged.inputs.encode import as_encoder
from support.errors import error_of


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
