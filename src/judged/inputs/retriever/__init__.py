"""A retriever in, numbers out: it is asked every judged query, and what it returns is evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.options import checked

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.options import (
        ItemLike,
        JudgementsLike,
        MeasuresLike,
        Path,
        Progress,
        QueriesLike,
        RetrieverLike,
    )

__all__ = ["evaluate_retriever"]


@checked
def evaluate_retriever(
    retriever: RetrieverLike,
    queries: QueriesLike | None,
    judgements: JudgementsLike,
    measures: MeasuresLike | None = None,
    *,
    k: int = 100,
    item: ItemLike | None = None,
    workers: int = 1,
    retries: int = 0,
    wait: float = 1.0,
    save: Path | None = None,
    all_queries: bool = False,
    name: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Evaluation:
    """Ask a retriever the judged queries, and score what it returns.

    Parameters
    ----------
    retriever : RetrieverLike
        A function of a query, or an object with `invoke` (LangChain), `retrieve` (LlamaIndex) or
        `run` (Haystack, called as `run(query=…)`, or with a mapping's keys); asynchronous ones,
        too. It returns ids, the best first, (id, score), mappings or objects.
    queries : QueriesLike or None
        {id: what is asked}, a list of texts that are their own ids, rows with an id and a text, a
        table, or a file; None where the ids of the judgements are what is asked.
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    k : int, optional
        How many results of each query are kept; how many it returns is up to the retriever.
    item : ItemLike, optional
        Where the id of a result is, as "metadata.doc_id", or a function from a result to its id,
        or to (id, score). By default ids are found where that is clear.
    workers : int, optional
        How many queries are asked at once: in threads, or in an event loop.
    retries : int, optional
        How often a query that failed is asked again.
    wait : float, optional
        Seconds before a query is asked again; twice as long each further time.
    save : str or os.PathLike, optional
        A file (.jsonl) that the results are written to as they come, and that a later call with
        the same file resumes from. It can be read as a run.
    all_queries : bool, optional
        Whether queries without judgements are asked, too.
    name : str, optional
        What tables call the run; by default what the retriever calls itself.
    progress : Progress, optional
        Called with 1 after each query.
    **options
        Other options of `evaluate`: policy, convention, depth, duplicates, tie_range, ….

    Returns
    -------
    Evaluation
        With the `latency` of the queries. Queries that failed are missing, and a warning names
        them.

    >>> texts = {"q1": "red apple", "q2": "blue sky"}
    >>> def search(text):
    ...     return ["a", "b"] if "apple" in text else ["b", "c"]
    >>> evaluate_retriever(search, texts, {"q1": {"a": 1}, "q2": {"c": 1}}, "RR").value()
    0.75
    """
    from judged.inputs.retriever.task import Task

    task = Task.of(
        retriever,
        queries,
        judgements,
        measures,
        k=k,
        item=item,
        workers=workers,
        retries=retries,
        wait=wait,
        save=save,
        all_queries=all_queries,
        name=name,
        options=options,
    )
    return task.evaluate(progress)
