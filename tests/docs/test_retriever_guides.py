"""The page about retrievers of LangChain, LlamaIndex and Haystack: its programs run with the
libraries themselves, where these are installed, and give numbers worked by hand."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import pytest

import judged

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide-retrievers.md"
BLOCK = re.compile(r"<!-- framework: ([\w.]+) -->\n```python\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"<!-- command: ([\w.]+) (\w+\.py) -->\n```\n(judged retriever .*)\n```")
SECTIONS = {"langchain_core": "LangChain", "llama_index.core": "LlamaIndex", "haystack": "Haystack"}

# The vectors count words, every word stands once in a text, and the similarity is the cosine: the
# number of words that a query of n words and a chunk of m words share, divided by √(n m).
#
# q1 (5 words): terms#1 2/√25 = .400 (the, warranty), manual#2 1/√25 = .200, manual#1 1/√40 = .158
# q2 (6 words): terms#2 3/√42 = .463 (days, opened, goods), faq#1 1/√24 = .204 (days),
#               manual#1 1/√48 = .144 (for)
# q3 (8 words): faq#1 2/√32 = .354 (two, days), faq#2 2/√40 = .316 (on, sundays),
#               terms#1 1/√40 = .158 (two), before terms#2 1/√56 = .134 (days)
# q4 (5 words): terms#1 2/√25 = .400 (the, two), faq#1 1/√20 = .224 (two),
#               manual#2 1/√25 = .200 (the), before manual#1 1/√40 = .158 (the)
LISTS = {
    "q1": ["terms#1", "manual#2", "manual#1"],
    "q2": ["terms#2", "faq#1", "manual#1"],
    "q3": ["faq#1", "faq#2", "terms#1"],
    "q4": ["terms#1", "faq#1", "manual#2"],
}
# Right are terms#1, terms#2, faq#2, and of q4 manual#1 and manual#2: at ranks 1, 1, 2 and 3, with
# manual#1 of q4 not found.
NUMBERS = {
    "Success@1": (1 + 1 + 0 + 0) / 4,
    "R@3": (1 + 1 + 1 + 1 / 2) / 4,
    "RR": (1 + 1 + 1 / 2 + 1 / 3) / 4,
}
SHORTER = (1 + 1 + 1 / 2 + 0) / 4
"""RR of the first two results."""
# Documents: terms, manual; terms, faq, manual; faq, terms; terms, faq, manual. Right are terms,
# terms, faq and manual.
OF_DOCUMENTS = (1 + 1 + 1 + 1 / 3) / 4
# BM25 counts rare words more: for q3, faq#2 with on and sundays, which no other chunk has, stands
# before faq#1 with two and days, which two chunks have each. For q4, terms#1 has two words of the
# query, faq#1 the rarer of them, and manual#2 and manual#1 the other; manual#2 is the shorter.
OF_BM25 = {"Success@1": (1 + 1 + 1 + 0) / 4, "R@3": NUMBERS["R@3"], "RR": OF_DOCUMENTS}

text = PAGE.read_text(encoding="utf-8")


def blocks(framework: str) -> list[str]:
    return [code for name, code in BLOCK.findall(text) if name == framework]


def lists(rows: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """The items of each query, by rank."""
    found: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: (row["query"], row["rank"])):
        found.setdefault(row["query"], []).append(row["item"])
    return found


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path: Path, pasted: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with the files that the page shows."""
    pasted.write_files(text, tmp_path)
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_has_a_section_for_each_library_whose_programs_compile() -> None:
    for framework, title in SECTIONS.items():
        section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        own = [code for name, code in BLOCK.findall(section) if name == framework]
        assert len(own) >= 2
        assert f"from {framework}" in own[0]
        assert "judged.evaluate_retriever(" in own[1]
        for code in blocks(framework):
            compile(code, framework, "exec")
    assert {name for name, _ in BLOCK.findall(text)} == {*SECTIONS}
    assert text.count("```python\n") == len(BLOCK.findall(text))
    assert [name for name, _, _ in COMMAND.findall(text)] == [*SECTIONS]


def test_the_lists_on_the_page_follow_from_its_texts(folder: Path) -> None:
    """By shared words alone, in fractions: squares of cosines, none of them tied."""
    chunks = {row["chunk_id"]: row["text"].split() for row in rows_of(folder / "chunks.jsonl")}
    queries = {row["id"]: row["text"].split() for row in rows_of(folder / "queries.jsonl")}
    words = {word for each in (*chunks.values(), *queries.values()) for word in each}
    assert len({crc32(word.encode()) % 4096 for word in words}) == len(words)
    for query, asked in queries.items():
        assert len(set(asked)) == len(asked)
        squares = {
            chunk: Fraction(len({*asked} & {*told}) ** 2, len(asked) * len(told))
            for chunk, told in chunks.items()
        }
        best = sorted(squares.values(), reverse=True)[:4]
        assert len({*best}) == 4
        assert sorted(squares, key=lambda chunk: -squares[chunk])[:3] == LISTS[query]
    assert lists(rows_of(folder / "kept.jsonl")) == LISTS
    found = judged.evaluate("judgements.csv", "kept.jsonl", list(NUMBERS))
    assert {name: found.value(name) for name in NUMBERS} == pytest.approx(NUMBERS)


def run_of(framework: str) -> dict[str, Any]:
    """All blocks of a library, one after the other; what they made."""
    pytest.importorskip(framework)
    names: dict[str, Any] = {"__name__": "guide"}
    for number, code in enumerate(blocks(framework), 1):
        exec(compile(code, f"{framework}, block {number}", "exec"), names)
    return names


def values(found: judged.Evaluation) -> dict[str, float]:
    return {label: found.value(label) for label in found.labels}


def check_lists(retriever: Any, id_of: Callable[[Any], str], own: Any, item: str) -> None:
    """What the library returns to whoever asks it is what was evaluated, and as by hand."""
    queries = {row["id"]: row["text"] for row in rows_of(Path("queries.jsonl"))}
    hits = {query: [id_of(each) for each in own(asked)] for query, asked in queries.items()}
    judged.evaluate_retriever(
        retriever, queries, "judgements.csv", "RR", item=item, save="again.jsonl"
    )
    assert lists(rows_of(Path("again.jsonl"))) == hits == LISTS


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_langchain(folder: Path) -> None:
    made = run_of("langchain_core")
    assert values(made["found"]) == pytest.approx(NUMBERS)
    assert made["scored"].value() == pytest.approx(NUMBERS["RR"])
    assert not any("no scores" in each for each in made["scored"].sentences())
    assert any("no scores" in each for each in made["found"].sentences())
    assert made["shorter"].value() == pytest.approx(SHORTER)
    assert made["awaited"].value() == pytest.approx(NUMBERS["RR"])
    of_chunks, of_documents = made["documents"].summary["RR"]
    assert (of_chunks, of_documents) == pytest.approx((NUMBERS["RR"], OF_DOCUMENTS))
    assert made["sources"].value() == pytest.approx(OF_DOCUMENTS)
    assert re.fullmatch(
        r"query 'q1', result 1: its id could be id \('[\w-]+'\), metadata\.chunk_id \('terms#1'\) "
        r"or metadata\.source \('terms'\); say which, as item='metadata\.source'\.",
        made["refused"],
    )
    retriever = made["retriever"]
    check_lists(
        retriever, lambda hit: hit.metadata["chunk_id"], retriever.invoke, "metadata.chunk_id"
    )


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_llama_index(folder: Path) -> None:
    made = run_of("llama_index.core")
    assert values(made["found"]) == pytest.approx(NUMBERS)
    # Of similarities from 0.3, the first of q1, q2 and q4 are left and the first two of q3.
    assert values(made["certain"]) == pytest.approx({"R@3": 3 / 4, "RR": SHORTER})
    assert made["by_order"].value() == pytest.approx(NUMBERS["RR"])
    assert any("no scores" in each for each in made["by_order"].sentences())
    assert made["awaited"].value() == pytest.approx(NUMBERS["RR"])
    retriever = made["retriever"]
    check_lists(
        retriever, lambda hit: hit.metadata["chunk_id"], retriever.retrieve, "metadata.chunk_id"
    )


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_query_engines_of_llama_index(folder: Path) -> None:
    """An engine is a retriever; a text is no QueryBundle to its rerankers, as the page says."""
    made = run_of("llama_index.core")
    from llama_index.core.llms import MockLLM
    from llama_index.core.postprocessor.types import BaseNodePostprocessor

    class Reranker(BaseNodePostprocessor):  # type: ignore[misc]
        def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
            assert query_bundle.query_str
            return nodes

    def engine(*after: Any) -> Any:
        return made["index"].as_query_engine(
            llm=MockLLM(), similarity_top_k=3, node_postprocessors=list(after)
        )

    def value(retriever: Any) -> float:
        return judged.evaluate_retriever(
            retriever, "queries.jsonl", "judgements.csv", "RR", item="metadata.chunk_id"
        ).value()

    assert value(engine()) == pytest.approx(NUMBERS["RR"])
    assert value(engine(made["cutoff"])) == pytest.approx(SHORTER)
    with pytest.raises(judged.errors.InputError, match="AttributeError: 'str' object"):
        value(engine(Reranker()))
    retrieve = made["retriever"].retrieve
    assert value(
        lambda asked: Reranker().postprocess_nodes(retrieve(asked), query_str=asked)
    ) == pytest.approx(NUMBERS["RR"])


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_haystack(folder: Path) -> None:
    made = run_of("haystack")
    assert values(made["found"]) == pytest.approx(NUMBERS)
    assert values(made["bm25"]) == pytest.approx(OF_BM25)
    assert made["awaited"].value() == pytest.approx(OF_BM25["RR"])
    assert made["dense"].value() == pytest.approx(NUMBERS["RR"])
    # Of q1 to q4 the first right chunk stands at ranks 1, 1, 2, 3, and by BM25 at 1, 1, 1, 3.
    shares = made["chart"].data.select("run", "k", "share").rows()
    assert shares == [
        *(("hashed words", k, share) for k, share in ((1, 0.5), (2, 0.75), (3, 1.0))),
        *(("BM25", k, share) for k, share in ((1, 0.75), (2, 0.75), (3, 1.0))),
    ]
    assert "hashed words" in Path("retrievers.svg").read_text(encoding="utf-8")
    assert made["both"].compare().pair(measure="RR").verdict == "too few"
    search = made["search"]
    check_lists(search, lambda hit: hit.meta["chunk_id"], search, "meta.chunk_id")


@pytest.mark.heavy
@pytest.mark.parametrize(("framework", "module", "command"), COMMAND.findall(text))
def test_the_command_gives_the_same(
    folder: Path, pasted: ModuleType, framework: str, module: str, command: str
) -> None:
    pytest.importorskip(framework)
    (folder / module).write_text(blocks(framework)[0], encoding="utf-8")
    shown = pasted.output(f"{command} --format csv", folder)
    [row] = csv.DictReader(shown.splitlines())
    assert {name: float(row[name]) for name in NUMBERS} == pytest.approx(NUMBERS)
    saved = rows_of(folder / command.partition("--save ")[2])
    assert lists(saved) == LISTS
