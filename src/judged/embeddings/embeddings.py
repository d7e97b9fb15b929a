"""`Embeddings`: vectors of queries and items, and how they are compared."""

from __future__ import annotations

from inspect import signature
from os.path import isfile
from typing import TYPE_CHECKING, Any, Literal, cast

from judged.embeddings.diagnosis import SAMPLE
from judged.embeddings.learned import as_similarity
from judged.embeddings.normalisation import as_normalisation
from judged.embeddings.product import MEMORY
from judged.embeddings.relations import (
    JudgementRelation,
    Relation,
    as_exclusion,
    as_relation,
    same_row,
)
from judged.embeddings.relevance import same_label, side_labels
from judged.embeddings.search import (
    NAME,
    Search,
    basis_of,
    rank_both_ways,
    rank_bound,
    same_vectors,
    scores_of,
)
from judged.embeddings.top_k import TopK, search, with_best_scores
from judged.errors import InputError, quoted
from judged.inputs.tables import is_spark
from judged.inputs.vectors import as_vectors
from judged.measures.registry import is_name
from judged.options import (
    CategoriesLike,
    ConventionLike,
    EncoderLike,
    Ids,
    IndexLike,
    InputsLike,
    Labels,
    MeasuresLike,
    Memory,
    NormalisationLike,
    Path,
    PolicyLike,
    Progress,
    RelevanceLike,
    SimilarityLike,
    VectorsLike,
    WeightsLike,
    checked,
    checked_methods,
    later,
    size_in_bytes,
)
from judged.policy import Policy
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judged.embeddings.diagnosis import Diagnosis
    from judged.embeddings.index import IndexEvaluation
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.settings import EvaluationSettings
else:  # loaded by `typing.get_type_hints` only
    Diagnosis = later("judged.results:Diagnosis")
    Evaluation = later("judged:Evaluation")
    IndexEvaluation = later("judged.results:IndexEvaluation")


@checked_methods
class Embeddings(Search):
    """Vectors of queries and items, which are ranked exactly, without an index.

    Each score is rounded once to double precision, so ranks are the same on every machine.

    Parameters
    ----------
    queries, items : VectorsLike
        A matrix with one row per vector, or a file of vectors.
    labels : Labels or pair of Labels, optional
        Labels of queries and items: items with the query's label are relevant. One sequence is for
        both sides. Where queries are the items, each query is left out of its own ranking, unless
        `exclude` is given.
    similarity : SimilarityLike, optional
        "cosine" (the default), "dot", "euclidean", "manhattan", "hamming" or "hamming-packed"
        (eight bits in each number); a matrix W for q W x; a learned similarity or its file; or a
        function of two blocks of vectors.
    exclude : RelevanceLike or list of them, optional
        Items that are not ranked for a query, such as `judged.relevance.same_row()`.
    query_ids, item_ids : sequence, optional
        One id per vector; by default those of the file, or row numbers from 0.
    dims : int, optional
        Use only the first dimensions of the vectors (Matryoshka embeddings).
    normalise : NormalisationLike, optional
        Normalise scores before items are ranked, such as "csls(k=10)".
    unique : CategoriesLike or Labels, optional
        Categories of items: one label per item, or a table or file from item to category.
        Categories are ranked, each by its best item.
    memory : str or int, optional
        The most memory that scores and prepared items take, such as "2GB". Results do not depend
        on it.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.2]], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> both
    <Embeddings: 1 query and 3 items of 2 dimensions, by cosine>
    >>> both.evaluate({"0": {"1": 1}}, "RR").value()
    1.0
    >>> vectors = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]]
    >>> judged.Embeddings(vectors, vectors, labels=["a", "a", "b", "b"]).evaluate("R@1").value()
    1.0
    """

    labels: Relation | None
    """Relevance by the labels that were given."""

    def __init__(
        self,
        queries: VectorsLike,
        items: VectorsLike,
        *,
        labels: Labels | tuple[Labels, Labels] | None = None,
        similarity: SimilarityLike = "cosine",
        exclude: RelevanceLike | Sequence[RelevanceLike] | None = None,
        query_ids: Ids | None = None,
        item_ids: Ids | None = None,
        dims: int | None = None,
        normalise: NormalisationLike | None = None,
        unique: CategoriesLike | Labels | None = None,
        memory: Memory = MEMORY,
    ) -> None:
        size_in_bytes(memory)
        query_vectors = as_vectors(queries, ids=query_ids, dims=dims, source="the queries")
        item_vectors = as_vectors(items, ids=item_ids, dims=dims, source="the items")
        excluded = as_exclusion(exclude)
        by_label = None
        if labels is not None:
            by_label = same_label(*side_labels(labels, query_vectors, item_vectors))
            if excluded is None and same_vectors(query_vectors, item_vectors):
                excluded = same_row()
        super().__init__(
            queries=query_vectors,
            items=item_vectors,
            similarity=as_similarity(similarity),
            exclude=excluded,
            memory=memory,
            dims=dims,
            normalisation=None if normalise is None else as_normalisation(normalise),
            categories=unique,
        )
        object.__setattr__(self, "labels", by_label)

    @classmethod
    @checked
    def encode(
        cls,
        queries: InputsLike,
        items: InputsLike,
        encoder: EncoderLike | tuple[EncoderLike, EncoderLike],
        *,
        prompts: tuple[str | None, str | None] = (None, None),
        paths: Literal["queries", "items", "both"] | None = None,
        batch_size: int = 64,
        cache: Path | None = None,
        encoder_name: str | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Embeddings:
        """Encode texts, pictures or sounds with your own encoder.

        Parameters
        ----------
        queries, items : InputsLike
            Texts: a list, {id: text}, {id: {"title": …, "text": …}}, rows, a table, or a file. Or
            files: a folder, or paths (`pathlib.Path`) in a list or by id.
        encoder : EncoderLike, or a pair
            A function from a list of texts or paths to a matrix, or an object of
            sentence-transformers, LangChain or LlamaIndex. A pair has an encoder for the queries
            and one for the items.
        prompts : pair of str, optional
            The prompts of queries and of items, put before each text. A model of
            sentence-transformers gets them as its prompts.
        paths : {"queries", "items", "both"}, optional
            The side whose texts are the paths of files.
        batch_size : int, optional
            The number of texts or files in one call of the encoder.
        cache : path, optional
            A folder to keep the vectors in and to read them from.
        encoder_name : str, optional
            The name that vectors are cached under; by default the name of the model, of the
            function or of the class.
        progress : callable, optional
            Called with the number of texts or files encoded since the last call.
        **options : Any
            Options of `Embeddings`. Without ids, the ids of the texts are used, or row numbers
            from 0.

        >>> import judged
        >>> def letters(texts):
        ...     return [[text.count(letter) for letter in "abc"] for text in texts]
        >>> items = {"d1": "a cab", "d2": "abba", "d3": "c"}
        >>> found = judged.Embeddings.encode({"q1": "cab"}, items, letters)
        >>> found
        <Embeddings: 1 query and 3 items of 3 dimensions, by cosine>
        >>> found.evaluate({"q1": {"d1": 1}}, "RR").value()
        1.0
        """
        from judged.inputs.encode import EncodingTask

        # Wrong options are an error before anything is encoded.
        signature(cls).bind(queries, items, **options)
        as_similarity(options.get("similarity", "cosine"))
        task = EncodingTask(
            queries,
            items,
            encoder,
            encoder_name=encoder_name,
            prompts=prompts,
            paths=paths,
            batch_size=batch_size,
            cache=cache,
        )
        return cls(*task.run(progress), **options)

    def evaluate(
        self,
        relevance: RelevanceLike | MeasuresLike | None = None,
        measures: MeasuresLike | None = None,
        *,
        policy: PolicyLike | None = None,
        convention: ConventionLike | None = None,
        weights: WeightsLike | None = None,
        both: bool = False,
        name: str = NAME,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Evaluate the search by the exact rank of every relevant item among all items.

        Parameters
        ----------
        relevance : RelevanceLike, optional
            One of `judged.relevance`, judgements, or a function (first, end) that returns the
            grades of these queries with all items. With judgements, queries without any are
            ignored, and judged queries without a vector are missing. Embeddings with labels need
            none: their first argument is `measures`.
        measures : MeasuresLike, optional
            Such as "nDCG@10" or ["AP", "RR"]; the usual ones by default.
        policy, convention, weights
            As for `judged.evaluate`.
        both : bool, optional
            Whether to evaluate the items' search for queries as a second run.
        name : str, optional
            The name of the run.
        progress : callable, optional
            Called with the number of queries done since the last call.

        >>> from judged import Embeddings, relevance
        >>> clips = Embeddings([[1.0, 0.1], [0.0, 1.0]], [[0.9, 0.2], [0.1, 0.8]])
        >>> clips.evaluate(relevance.pairs(), "RR", both=True)["RR"]
        {'queries to items': 1.0, 'items to queries': 1.0}
        """
        if self.labels is not None and relevance is not None and measures is None:
            relevance, measures = None, cast("MeasuresLike", relevance)
        relevance = cast("RelevanceLike | None", relevance)
        settings = _settings_of(measures, policy, convention)
        _refuse_weights(weights, both)
        ranked = self._rank_runs(relevance, settings.policy, both, name, progress)
        return _evaluate(ranked, settings, weights)

    def _rank_runs(
        self,
        relevance: RelevanceLike | None,
        policy: Policy,
        both: bool,
        name: str,
        progress: Progress | None,
    ) -> list[Rankings]:
        """Return the rankings of one direction, or of both."""
        if both:
            relation = self._relation(relevance)
            return [*rank_both_ways(self, relation, policy, name=name, progress=progress)]
        rankings, _ = self._rank(relevance, policy, name, None, progress)
        return [with_best_scores(rankings, lambda: self.top_k(1))]

    def rank(
        self,
        relevance: RelevanceLike | None = None,
        *,
        policy: PolicyLike | None = None,
        name: str = NAME,
        progress: Progress | None = None,
    ) -> Rankings:
        """Rank all relevant items, for measures that are chosen later.

        Parameters
        ----------
        relevance, policy, name, progress
            As for `evaluate`.

        >>> from judged import Embeddings, relevance
        >>> both = Embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0], [2.0, 0.1]])
        >>> both.rank(relevance.same_label(["a"], ["a", "a", "b"])).hit_rank.tolist()
        [2, 3]
        """
        return self._rank(relevance, Policy.of(policy), name, None, progress)[0]

    def _rank(
        self,
        relevance: Any,
        policy: Policy,
        name: str,
        top: int | None,
        progress: Progress | None,
    ) -> tuple[Rankings, TopK | None]:
        relation = self._relation(relevance)
        bound = relation.bind(self.queries, self.items)
        options: Any = {"name": name, "top": top, "progress": progress}
        rankings, best = rank_bound(self, bound, policy, **options)
        return basis_of(self, relation).describe(rankings, len(self.queries)), best

    def _relation(self, relevance: Any) -> Relation:
        if relevance is None or _names_measures(relevance):
            if self.labels is None:
                raise InputError(
                    "nothing says what is relevant. Give relevance, or labels to Embeddings."
                )
            return self.labels
        if self.labels is not None:
            raise InputError("the embeddings have labels; leave out relevance, or the labels.")
        return as_relation(relevance)

    def evaluate_and_top_k(
        self,
        relevance: RelevanceLike | None = None,
        measures: MeasuresLike | None = None,
        *,
        k: int = 100,
        policy: PolicyLike | None = None,
        convention: ConventionLike | None = None,
        weights: WeightsLike | None = None,
        name: str = NAME,
        progress: Progress | None = None,
    ) -> tuple[Evaluation, TopK]:
        """Run `evaluate` and `top_k` in one pass.

        Parameters
        ----------
        relevance, measures, policy, convention, weights, name, progress
            As for `evaluate`; the first k are ordered by id, unless the policy's ties are "input".
        k : int, optional
            How many items of each query.

        >>> from judged import Embeddings
        >>> both = Embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.1]])
        >>> both.evaluate_and_top_k({"0": {"0": 1}}, k=1)[1].items.tolist()
        [[1]]
        """
        settings = _settings_of(measures, policy, convention)
        rankings, best = self._rank(relevance, settings.policy, name, k, progress)
        assert best is not None
        ranked = [with_best_scores(rankings, lambda: best)]
        return _evaluate(ranked, settings, weights), best

    def top_k(
        self, k: int, *, ties: Literal["id", "input"] = "id", progress: Progress | None = None
    ) -> TopK:
        """Find the k items with the highest scores for each query, exactly.

        Parameters
        ----------
        k : int
            How many items. A query has fewer if `exclude` leaves fewer.
        ties : {"id", "input"}, optional
            Tied items are ordered by id, descending by bytes, or as in the input, also where the
            tie reaches beyond the k-th place.
        progress : callable, optional
            Called with the number of queries done since the last call.

        >>> from judged import Embeddings
        >>> both = Embeddings([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]], item_ids=["a", "b"])
        >>> both.top_k(2).to_frame()["item"].to_list()
        ['b', 'a']
        """
        scores, fitted = scores_of(self)
        return search(scores, k, ties=ties, fitted=fitted, progress=progress)

    def evaluate_index(
        self,
        index: IndexLike,
        relevance: RelevanceLike | None = None,
        measures: MeasuresLike | None = None,
        *,
        k: int = 100,
        policy: PolicyLike | None = None,
        convention: ConventionLike | None = None,
        keys: Ids | None = None,
        progress: Progress | None = None,
    ) -> IndexEvaluation:
        """Compare an approximate index with the exact search of the same vectors, cut at k.

        Parameters
        ----------
        index : IndexLike
            A faiss or usearch index or its file, any object with a similar `search(vectors, k)`,
            or a function (vectors, k) that returns (items, scores), one row per query, the best
            first. Where items are excluded, it is called with a larger k.
        relevance, measures, policy, convention, progress
            As for `evaluate`.
        k : int, optional
            How many items of each query are compared.
        keys : sequence, optional
            The index's name of each item, if that is neither a row number nor an id, or could be
            both.

        >>> from judged import Embeddings, relevance
        >>> def always_the_first(block, k):
        ...     return [[0]] * len(block), [[1.0]] * len(block)
        >>> both = Embeddings([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [0.1, 1.0]])
        >>> found = both.evaluate_index(always_the_first, relevance.pairs(), "RR", k=1)
        >>> found.recall, found.loss
        (0.5, {'RR': 0.5})
        """
        from judged.embeddings.index import compare_index

        settings = _settings_of(measures, policy, convention)
        options: Any = {"k": k, "keys": keys, "progress": progress}
        return compare_index(index, self, self._relation(relevance), settings, **options)

    def diagnose(
        self,
        relevance: RelevanceLike | None = None,
        *,
        k: int | None = None,
        sample: int | None = SAMPLE,
        seed: int = 0,
    ) -> Diagnosis:
        """Look for problems of the vectors: bad ones, duplicates, hubs, collapse.

        Parameters
        ----------
        relevance : RelevanceLike, optional
            As for `evaluate`; without it there are no numbers about relevant pairs.
        k : int, optional
            A hub is an item among the k best of many queries; 10 by default.
        sample : int or None, optional
            How many vectors of a side are compared with all others; None for all.
        seed : int, optional
            The seed of the samples.

        >>> from judged import Embeddings
        >>> Embeddings([[1.0, 0.0]], [[1.0, 0.1], [1.0, 0.1], [0.0, 2.0]]).diagnose().sentences()[0]
        'the items: 1 vector equal to an earlier one (0 = 1).'
        """
        from judged.embeddings.diagnosis import diagnose

        relation = self.labels if relevance is None else self._relation(relevance)
        return diagnose(self, relation, k=k, sample=sample, seed=seed)


def _names_measures(given: Any) -> bool:
    """Return whether measures were given where relevance is expected."""
    texts = given if isinstance(given, list) else [given]
    return bool(texts) and all(
        isinstance(text, str) and is_name(text.partition("@")[0]) and not isfile(text)
        for text in texts
    )


def _settings_of(measures: Any, policy: Any, convention: Any) -> EvaluationSettings:
    from judged.evaluation.settings import EvaluationSettings  # with what is below, it is heavy

    return EvaluationSettings.of(measures, policy, convention)


def _evaluate(
    rankings: list[Rankings], settings: EvaluationSettings, weights: WeightsLike | None
) -> Evaluation:
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.evaluation.warnings import announce_warnings

    return announce_warnings(evaluate_rankings(rankings, settings, weights=weights))


def _refuse_weights(weights: WeightsLike | None, both: bool) -> None:
    if both and weights is not None:
        raise InputError(
            "weights are about the queries, but with both=True the items are queries too. "
            "Evaluate one direction at a time."
        )


# -- several models


def evaluate_models(
    models: Mapping[str, Any],
    relevance: RelevanceLike | None,
    measures: MeasuresLike | None,
    compared: dict[str, Any],
    *,
    policy: PolicyLike | None = None,
    convention: ConventionLike | None = None,
    weights: WeightsLike | None = None,
    both: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate models {name: (queries, items)} of the same things; `compared` are options."""
    from judged.rankings.file import align

    settings = _settings_of(measures, policy, convention)
    _refuse_weights(weights, both)
    found = {name: _embeddings_of(name, pair, compared) for name, pair in models.items()}
    if not found:
        raise InputError("models are missing; give {name: (queries, items)}.")
    relation = None if relevance is None else as_relation(relevance)
    for name, embeddings in found.items():
        _check_same_sides(next(iter(found.items())), (name, embeddings), relation)
    rankings: list[Rankings] = []
    for name, embeddings in found.items():
        rankings += embeddings._rank_runs(relation, settings.policy, both, name, progress)
    ways = 2 if both else 1
    for way in range(ways):
        runs = rankings[way::ways]
        rankings[way::ways] = align(runs, [r.name for r in runs])
    return _evaluate(rankings, settings, weights)


def _embeddings_of(name: Any, pair: Any, compared: dict[str, Any]) -> Embeddings:
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a model must be a text; got {quoted(name)}.")
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InputError(
            f"model {name!r} must be a pair (queries, items); got {type(pair).__name__}."
        )
    if is_spark(pair[1]):
        raise InputError(
            f"model {name!r} has its items in Spark. Evaluate such models one at a time, and join "
            "the evaluations by Evaluation.beside."
        )
    sides = (
        as_vectors(vectors, source=f"the {side} of {name}")
        for vectors, side in zip(pair, ("queries", "items"), strict=True)
    )
    return Embeddings(*sides, **compared)


def _check_same_sides(
    first: tuple[str, Embeddings], other: tuple[str, Embeddings], relation: Relation | None
) -> None:
    """Raise an error for other queries or items, or for another order where it has a meaning."""
    for side in ("queries", "items"):
        one, two = (getattr(model, side) for _, model in (first, other))
        models = f"models {first[0]!r} and {other[0]!r} have different {side}"
        if len(one) != len(two):
            raise InputError(f"{models}: {len(one)} and {len(two)}.")
        names = one.names(), two.names()
        by_id = isinstance(relation, JudgementRelation)
        if names[0] == names[1] or (by_id and set(names[0]) == set(names[1])):
            continue
        row = next(row for row, pair in enumerate(zip(*names, strict=True)) if len({*pair}) > 1)
        raise InputError(
            f"{models}, or the same in another order: row {row} (from 0) is {names[0][row]!r} and "
            f"{names[1][row]!r}. Give both the same ids (query_ids and item_ids), in the same "
            "order unless judgements go by id."
        )
