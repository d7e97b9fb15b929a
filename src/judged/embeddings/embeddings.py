"""Vectors of queries and items and how they are compared: from them to exact ranks and numbers."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from judged.embeddings.basis import explained
from judged.embeddings.diagnosis import SAMPLE
from judged.embeddings.evaluated import evaluate_search
from judged.embeddings.indexed import Indexed
from judged.embeddings.normalisation_kinds import as_normalisation
from judged.embeddings.product import MEMORY
from judged.embeddings.relations import as_relation
from judged.embeddings.scoring import ONE_DIRECTION, Numbers, request_of
from judged.embeddings.search import (
    NAME,
    counted_both,
    counted_one,
    reversed_search,
    scores_of,
)
from judged.embeddings.similarity.choice import as_similarity
from judged.embeddings.top_k import TopK, search
from judged.errors import InputError
from judged.inputs.vectors import as_vectors
from judged.options import checked, checked_methods, choice, size_in_bytes
from judged.policy import PRECISIONS, Policy
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judged.embeddings.diagnosis import Diagnosis
    from judged.evaluation.evaluation import Evaluation
    from judged.options import (
        CategoriesLike,
        ConventionLike,
        EncoderLike,
        GroupsLike,
        Ids,
        InputsLike,
        Labels,
        MeasuresLike,
        Memory,
        NormalisationLike,
        Path,
        PolicyLike,
        Precision,
        Progress,
        RelevanceLike,
        SimilarityLike,
        VectorsLike,
        WeightsLike,
    )


@checked_methods
class Embeddings(Indexed):
    """Queries and items, and how they are compared: ranked exactly, without a sort.

    Parameters
    ----------
    queries, items : VectorsLike
        A matrix with one row per vector, or a file of vectors.
    similarity : SimilarityLike, optional
        "cosine" (the default), "dot", "euclidean", "manhattan", "hamming" or "hamming-packed"
        (eight bits in each number); a matrix W for q W x; a learned similarity or its file; or a
        function of two blocks of vectors.
    exclude : RelevanceLike or list of them, optional
        What is not ranked for a query, as `judged.relevance.same_row()` for the query itself.
    memory : str or int, optional
        A cap on what scores and items made ready take, as "2GB"; results are the same under any.
    query_ids, item_ids : sequence, optional
        One id per vector; by default those of the file, or else row numbers from 0.
    dims : int, optional
        Use only the first dimensions of the vectors, as with Matryoshka embeddings.
    normalise : NormalisationLike, optional
        Change scores before items are ranked, as "csls(k=10)".
    unique : CategoriesLike or Labels, optional
        The items' categories: one label per item, or a table or file from item to category. The
        best item of each category stands for it, and categories are ranked.
    precision : {"double", "single"}, optional
        Of the scores that ranks are by. With "double" (the default) they are the real scores of the
        numbers as given, each rounded once to double precision: the same on every machine. With
        "single" they are what single precision makes of them, somewhat faster.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.2]], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> both
    <Embeddings: 1 query and 3 items of 2 dimensions, by cosine>
    >>> both.evaluate(judged.relevance.same_label(["a"], ["a", "a", "b"]), "AP").value()
    1.0
    """

    def __init__(
        self,
        queries: VectorsLike,
        items: VectorsLike,
        *,
        similarity: SimilarityLike = "cosine",
        exclude: RelevanceLike | Sequence[RelevanceLike] | None = None,
        memory: Memory = MEMORY,
        query_ids: Ids | None = None,
        item_ids: Ids | None = None,
        dims: int | None = None,
        normalise: NormalisationLike | None = None,
        unique: CategoriesLike | Labels | None = None,
        precision: Precision = "double",
    ) -> None:
        size_in_bytes(memory)
        choice("precision", precision, PRECISIONS)
        sides = (
            as_vectors(queries, ids=query_ids, dims=dims, source="the queries"),
            as_vectors(items, ids=item_ids, dims=dims, source="the items"),
        )
        super().__init__(
            queries=sides[0],
            items=sides[1],
            similarity=as_similarity(similarity),
            exclude=None if exclude is None else as_relation(exclude, what="exclude"),
            memory=memory,
            dims=dims,
            normalisation=None if normalise is None else as_normalisation(normalise),
            categories=unique,
            precision=precision,
        )

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

        Returns
        -------
        Embeddings

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
        task = EncodingTask.of(
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
        relevance: RelevanceLike,
        measures: MeasuresLike | None = None,
        *,
        policy: PolicyLike | None = None,
        convention: ConventionLike | None = None,
        both: bool = False,
        tie_range: bool = False,
        weights: WeightsLike | None = None,
        unanswerable: bool = False,
        answer_threshold: float | None = None,
        interval: bool = False,
        level: float = 0.95,
        groups: GroupsLike | None = None,
        name: str = NAME,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Score the search by the exact rank of every relevant item in the ranking of all items.

        Parameters
        ----------
        relevance : RelevanceLike
            One of `judged.relevance`, judgements, or a function (first, end) -> grades of these
            queries with all items. With judgements, queries without any are ignored, and judged
            queries without a vector are missing.
        measures : MeasuresLike, optional
            As "nDCG@10" or ["AP", "RR"]; the usual ones by default.
        policy, convention
            As for `judged.evaluate`: what is done about ties, missing queries and those with
            nothing relevant; the library whose numbers are wanted.
        both : bool, optional
            Whether the items' search for queries is a second row.
        tie_range, weights, unanswerable, answer_threshold, interval, level, groups
            As for `judged.evaluate`: ranges and intervals of the numbers, how much queries count,
            and whether those with nothing relevant are looked at apart.
        name : str, optional
            What the row is called.
        progress : callable, optional
            Called with the number of queries done since the last call.

        Returns
        -------
        Evaluation

        >>> from judged import Embeddings, relevance
        >>> clips = Embeddings([[1.0, 0.1], [0.0, 1.0]], [[0.9, 0.2], [0.1, 0.8]])
        >>> clips.evaluate(relevance.pairs(), "RR", both=True).summary["RR"].to_list()
        [1.0, 1.0]
        """
        request = request_of(measures, policy, convention)
        queries = weights, unanswerable, answer_threshold
        numbers = Numbers(request, tie_range, *queries, interval, level, groups)
        if not both:
            relation, top = as_relation(relevance, what="relevance"), 1 if unanswerable else None
            options: Any = {"name": name, "top": top, "progress": progress}
            return evaluate_search(self, relation, numbers, **options)[0]
        if weights is not None or groups is not None or unanswerable:
            raise InputError(ONE_DIRECTION)
        return numbers.of(
            self.rank_both(relevance, policy=request.policy, name=name, progress=progress)
        )

    def rank(
        self,
        relevance: RelevanceLike,
        *,
        policy: PolicyLike | None = None,
        name: str = NAME,
        progress: Progress | None = None,
    ) -> Rankings:
        """The exact ranks of all relevant items, for measures that are chosen later.

        They are held whole: 72 bytes for each relevant pair, and some 200 while they are made,
        beside what `memory` allows. `evaluate` holds none where they are very many.

        Parameters
        ----------
        relevance, policy, name, progress
            As for `evaluate`.

        Returns
        -------
        Rankings

        >>> from judged import Embeddings, relevance
        >>> both = Embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0], [2.0, 0.1]])
        >>> both.rank(relevance.same_label(["a"], ["a", "a", "b"])).hit_rank.tolist()
        [2, 3]
        """
        relation, chosen = as_relation(relevance, what="relevance"), Policy.of(policy)
        ranked, _ = counted_one(self, relation, chosen, name=name, top=None, progress=progress)
        return explained(ranked, self, relation)

    def evaluate_and_top_k(
        self,
        relevance: RelevanceLike,
        measures: MeasuresLike | None = None,
        *,
        k: int = 100,
        policy: PolicyLike | None = None,
        convention: ConventionLike | None = None,
        tie_range: bool = False,
        weights: WeightsLike | None = None,
        unanswerable: bool = False,
        answer_threshold: float | None = None,
        interval: bool = False,
        level: float = 0.95,
        groups: GroupsLike | None = None,
        name: str = NAME,
        progress: Progress | None = None,
    ) -> tuple[Evaluation, TopK]:
        """`evaluate` and `top_k` in one pass.

        Parameters
        ----------
        relevance, measures, policy, convention, tie_range, weights, unanswerable, \
answer_threshold, interval, level, groups, name, progress
            As for `evaluate`; the first k are ordered by id unless ties are those of the input.
        k : int, optional
            How many items of each query.

        Returns
        -------
        tuple of Evaluation and TopK

        >>> from judged import Embeddings
        >>> both = Embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.1]])
        >>> both.evaluate_and_top_k({"0": {"0": 1}}, k=1)[1].items.tolist()
        [[1]]
        """
        request = request_of(measures, policy, convention)
        queries = weights, unanswerable, answer_threshold
        numbers = Numbers(request, tie_range, *queries, interval, level, groups)
        relation = as_relation(relevance, what="relevance")
        options: Any = {"name": name, "top": k, "progress": progress}
        evaluation, found = evaluate_search(self, relation, numbers, **options)
        assert found is not None
        return evaluation, found

    def rank_both(
        self,
        relevance: RelevanceLike,
        *,
        policy: PolicyLike | None = None,
        name: str = NAME,
        progress: Progress | None = None,
    ) -> tuple[Rankings, Rankings]:
        """The queries' search for items and the items' search for queries.

        Parameters
        ----------
        relevance, policy, name, progress
            As for `evaluate`.

        Returns
        -------
        tuple of Rankings

        >>> from judged import Embeddings, relevance
        >>> clips = Embeddings([[1.0, 0.1], [0.0, 1.0]], [[0.9, 0.2], [0.1, 0.8]])
        >>> [each.name for each in clips.rank_both(relevance.pairs(), name="clips")]
        ['clips: queries to items', 'clips: items to queries']
        """
        relation = as_relation(relevance, what="relevance")
        there, back = counted_both(self, relation, Policy.of(policy), name=name, progress=progress)
        other = explained(back, reversed_search(self), relation, back=True)
        return explained(there, self, relation), other

    def top_k(
        self, k: int, *, ties: Literal["id", "input"] = "id", progress: Progress | None = None
    ) -> TopK:
        """The k items with the highest scores for each query: exact, whatever the memory cap.

        Parameters
        ----------
        k : int
            How many items; a query for which fewer are left by `exclude` has a shorter list.
        ties : {"id", "input"}, optional
            Tied items are ordered by id, descending on bytes, or as the items came, also where the
            tie reaches beyond the k-th place.
        progress : callable, optional
            Called with the number of queries done since the last call.

        Returns
        -------
        TopK

        >>> from judged import Embeddings
        >>> both = Embeddings([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]], item_ids=["a", "b"])
        >>> both.top_k(2).to_frame()["item"].to_list()
        ['b', 'a']
        """
        scores, fitted = scores_of(self)
        return search(scores, k, ties=ties, fitted=fitted, progress=progress)

    def diagnose(
        self,
        relevance: RelevanceLike | None = None,
        *,
        k: int | None = None,
        sample: int | None = SAMPLE,
        seed: int = 0,
    ) -> Diagnosis:
        """Look for what spoils a ranking: bad vectors, duplicates, hubs, collapse.

        Parameters
        ----------
        relevance : RelevanceLike, optional
            As for `evaluate`; without it nothing is said of relevant pairs.
        k : int, optional
            A hub is an item among the k best of many queries; 10 by default.
        sample : int or None, optional
            How many vectors of a side are looked at for what takes all pairs; None for all.
        seed : int, optional
            Of what is sampled.

        Returns
        -------
        Diagnosis

        >>> from judged import Embeddings
        >>> Embeddings([[1.0, 0.0]], [[1.0, 0.1], [1.0, 0.1], [0.0, 2.0]]).diagnose().sentences()[0]
        'the items: 1 vector equal to an earlier one (0 = 1).'
        """
        from judged.embeddings.diagnostics import diagnose

        relation = None if relevance is None else as_relation(relevance, what="relevance")
        return diagnose(self, relation, k=k, sample=sample, seed=seed)
