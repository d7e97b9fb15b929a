"""Retrievers of LangChain, LlamaIndex and Haystack themselves, where these are installed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from judged import evaluate_retriever
from judged.errors import InputError
from support.errors import error_of
from support.parts import Needs

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

QUERIES = {"q1": "red apple", "q2": "blue sky"}
JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}


def value(retriever: Any, **options: Any) -> float:
    return evaluate_retriever(retriever, QUERIES, JUDGEMENTS, "RR", **options).value()


def test_langchain(has: Needs) -> None:
    has("langchain_core")
    from langchain_core import documents
    from langchain_core.retrievers import BaseRetriever

    class Retriever(BaseRetriever):  # type: ignore[misc]
        own: bool = False

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            return [
                documents.Document(
                    page_content=query,
                    id=f"u{item}" if self.own else None,
                    metadata={"source": item},
                )
                for item in "ab"
            ]

    # a is first of both lists, so that q1 has 1 and q2 has 1/2
    assert value(Retriever()) == value(Retriever().ainvoke, workers=2) == 0.75
    assert error_of(value, Retriever(own=True)) == (
        "query 'q1', result 1: its id could be id ('ua') or metadata.source ('a'); choose one, "
        "such as item='metadata.source'."
    )
    assert value(Retriever(own=True), item="metadata.source") == 0.75


def test_langchain_vector_store(has: Needs) -> None:
    has("langchain_core")
    from langchain_core import embeddings
    from langchain_core.documents import Document
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(embeddings.DeterministicFakeEmbedding(size=8))
    store.add_documents(
        [Document("red apple", id="a"), Document("blue sky", id="b"), Document("x", id="c")]
    )
    assert value(store.as_retriever()) == 1.0
    assert value(store.similarity_search_with_score) == 1.0
    with pytest.raises(InputError, match="an object of InMemoryVectorStore is not a retriever"):
        value(store)


def test_llama_index(has: Needs) -> None:
    has("llama_index")
    from llama_index.core import schema
    from llama_index.core.retrievers import BaseRetriever

    class Retriever(BaseRetriever):  # type: ignore[misc]
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            assert query_bundle.query_str in QUERIES.values()
            return [
                schema.NodeWithScore(
                    node=schema.TextNode(id_=item, text="", metadata={"file_name": "f"}),
                    score=score,
                )
                for item, score in (("b", 0.5), ("a", 0.25))
            ]

    assert value(Retriever()) == value(Retriever().aretrieve) == 0.75

    async def notebook() -> float:
        return value(Retriever().aretrieve, workers=2)

    assert asyncio.run(notebook()) == 0.75


def test_haystack(has: Needs) -> None:
    has("haystack")
    import haystack
    from haystack.components.retrievers.in_memory import (
        InMemoryBM25Retriever,
        InMemoryEmbeddingRetriever,
    )
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(
        [
            haystack.Document(id="a", content="red apple", embedding=[1.0, 0.0]),
            haystack.Document(id="b", content="blue sky", embedding=[0.0, 1.0]),
        ]
    )
    retriever = InMemoryBM25Retriever(store)
    assert value(retriever) == value(retriever.run_async) == 1.0
    pipeline = haystack.Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    assert value(lambda text: pipeline.run({"retriever": {"query": text}})) == 1.0
    combined = haystack.SuperComponent(
        pipeline,
        input_mapping={"query": ["retriever.query"]},
        output_mapping={"retriever.documents": "documents"},
    )
    assert value(combined) == 1.0
    queries = {"q1": {"query_embedding": [1.0, 0.1]}, "q2": {"query_embedding": [0.1, 1.0]}}
    dense = InMemoryEmbeddingRetriever(store)
    assert evaluate_retriever(dense, queries, JUDGEMENTS, "RR").value() == 1.0
    with pytest.raises(InputError, match="unexpected keyword argument 'query'"):
        value(dense)
