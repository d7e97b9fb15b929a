"""On a device: the ranks and lists of main memory, to the last bit. The device is torch's own
processor, so that everything but the hardware is there."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import judged
from judged.embeddings import device as devices
from judged.inputs.vectors import as_vectors, tensors
from judged.inputs.vectors.lazy import Lazy
from judged.inputs.vectors.vectors import Vectors
from support.loops import for_each

pytestmark = pytest.mark.full

torch = pytest.importorskip("torch")
PARTS = ("hit_query", "hit_rank", "hit_tie_first", "hit_tie_last", "retrieved")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def drawn(kind: str, rows: int, rng: np.random.Generator) -> Any:
    """Vectors with copies of some; whole numbers tie, and close ones must be settled."""
    if kind == "whole":
        found = rng.integers(1, 4, (rows, 4)).astype(np.float32)
    elif kind == "close":
        found = (1 + rng.integers(0, 3, (rows, 4)) * 2.0**-22).astype(np.float32)
    elif kind == "double":
        found = 1 + rng.integers(0, 3, (rows, 4)) * 2.0**-50
    else:
        found = rng.standard_normal((rows, 4)).astype(np.float32)
    found[rows // 2 : rows // 2 + rows // 6] = found[: rows // 6]
    return found


def same(left: judged.Rankings, right: judged.Rankings) -> None:
    for part in PARTS:
        assert getattr(left, part).tolist() == getattr(right, part).tolist()


def compare(queries: Any, items: Any, relevance: Any, **options: Any) -> None:
    """All that is asked of a search, in main memory and on the device."""
    here = judged.Embeddings(queries, items, **options)
    there = judged.Embeddings(queries, items, device="cpu", **options)
    assert here.device is None
    assert there.device is not None
    same(here.rank(relevance), there.rank(relevance))
    for left, right in zip(here.rank_both(relevance), there.rank_both(relevance), strict=True):
        same(left, right)
    for ties in ("id", "input"):
        first, again = (side.top_k(5, ties=ties) for side in (here, there))  # type: ignore[arg-type]
        assert first.items.tolist() == again.items.tolist()
        assert first.scores.tolist() == again.scores.tolist()


EXCLUDED = {
    "nothing": None,
    "itself": judged.relevance.same_row(),
    "most": judged.relevance.same_label([0] * 9, [int(item > 2) for item in range(60)]),
}


@for_each("kind", ["whole", "close", "double", "random"])
@for_each("similarity", ["cosine", "dot", "euclidean", "hamming", "matrix"])
@for_each("tile", [None, (4, 25)])
def test_ranks_and_lists_are_those_of_main_memory(
    kind: str, similarity: Any, tile: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    queries, items = drawn(kind, 9, rng), drawn(kind, 60, rng)
    relevance = judged.relevance.same_label([row % 4 for row in range(9)], [3, 2, 1, 0] * 15)
    if similarity == "matrix":
        similarity = rng.standard_normal((4, 4))
    if tile is not None:
        monkeypatch.setattr("judged.embeddings.ready._shape", lambda *_: tile)
    compare(queries, items, relevance, similarity=similarity)


@pytest.mark.parametrize("excluded", EXCLUDED)
@pytest.mark.parametrize("compared", [64, 0])
def test_what_is_excluded_and_how_rows_are_counted_change_nothing(
    excluded: str, compared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_COMPARED", compared)
    monkeypatch.setattr(devices, "_AT_A_TIME", 130)  # two rows
    monkeypatch.setattr(devices, "_SETTLED", 5)
    rng = np.random.default_rng(3)
    relevance = judged.relevance.same_label([row % 4 for row in range(9)], [3, 2, 1, 0] * 15)
    for kind in ("close", "random"):
        compare(drawn(kind, 9, rng), drawn(kind, 60, rng), relevance, exclude=EXCLUDED[excluded])


def test_long_rows_too() -> None:
    rng = np.random.default_rng(5)
    queries, items = drawn("close", 3, rng), drawn("close", 2100, rng)
    judgements = {"0": {"5": 1, "7": 2, "2000": 1}, "2": {str(item): 1 for item in range(90)}}
    here, there = (judged.Embeddings(queries, items, device=name) for name in (None, "cpu"))
    same(here.rank(judgements), there.rank(judgements))
    measures = ["AP", "nDCG@10"]
    found, first = there.evaluate_and_top_k(judgements, measures, k=4)
    expected, wanted = here.evaluate_and_top_k(judgements, measures, k=4)
    assert found.to_dict() == expected.to_dict()
    assert first.to_dict() == wanted.to_dict()
    index = [side.evaluate_index(_first_items, judgements, "RR", k=3) for side in (here, there)]
    assert index[0].to_dict() == index[1].to_dict()
    both = judged.evaluate_embeddings(queries, items, judgements, measures, device="cpu")
    assert both.to_dict() == expected.to_dict()


def _first_items(block: Any, k: int) -> Any:
    return np.tile(np.arange(k), (len(block), 1)), np.ones((len(block), k))


def test_items_that_are_not_held_are_sent_a_tile_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("judged.embeddings.ready.size_in_bytes", lambda _: 1)
    monkeypatch.setattr("judged.embeddings.ready._shape", lambda *_: (4, 25))
    rng = np.random.default_rng(3)
    compare(drawn("random", 9, rng), drawn("random", 60, rng), {"1": {"4": 1, "50": 1}})


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Tensors as if they lay on a device; and how many rows are fetched at a time."""
    fetched: list[int] = []
    numbers = tensors._fetched

    def watched(tensor: Any) -> Any:
        fetched.append(len(tensor))
        return numbers(tensor)

    monkeypatch.setattr(tensors, "in_main_memory", lambda _: False)
    monkeypatch.setattr(tensors, "_fetched", watched)
    return fetched


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int8"])
def test_tensors_are_counted_where_they_lie(dtype: str, elsewhere: list[int]) -> None:
    rng = np.random.default_rng(2)
    numbers = [rng.integers(-9, 9, (rows, 6)) + 0.5 * (dtype != "int8") for rows in (5, 40)]
    queries, items = (torch.from_numpy(each).to(getattr(torch, dtype)) for each in numbers)
    there = judged.Embeddings(queries, items, dims=4)
    assert there.device == devices.Device("cpu")
    here = judged.Embeddings(*(each.double().numpy() for each in (queries, items)), dims=4)
    judgements = {"0": {"1": 1, "2": 1}, "4": {"39": 1}}
    same(here.rank(judgements), there.rank(judgements))
    assert here.top_k(3).to_dict() == there.top_k(3).to_dict()


def test_what_is_sent_elsewhere_holds_the_numbers(elsewhere: list[int]) -> None:
    queries = torch.eye(2, dtype=torch.bfloat16)
    assert as_vectors(queries).device == "cpu"
    ready = judged.shards.prepare(queries, queries, judged.relevance.pairs())
    sent = pickle.loads(pickle.dumps(ready))
    assert sent.queries.device is None
    assert sent.count(["c"], [[1.0, 0.0]]).level.tolist() == [1, 0]


def test_a_part_of_the_rows_has_their_numbers(elsewhere: list[int]) -> None:
    held = as_vectors(torch.arange(12.0).reshape(6, 2), dims=1).values
    assert isinstance(held, Lazy)
    part = Vectors(held.part(2, 5))
    assert part.block(0, 3).tolist() == [[4.0], [6.0], [8.0]]
    assert part.rows(np.array([2, 0])).tolist() == [[8.0], [4.0]]


def test_settling_fetches_only_the_rows_that_it_needs(elsewhere: list[int]) -> None:
    items = torch.from_numpy(np.random.default_rng(0).standard_normal((500, 4)).astype(np.float32))
    items[499] = items[3]
    there = judged.Embeddings(items[3:4], items)
    elsewhere.clear()
    assert np.asarray(there.rank({"0": {"3": 1}}).hit_tie_last).tolist() == [2]
    assert elsewhere.count(500) == 2  # looked at once, after one row that says how wide they are
    assert sum(elsewhere) < 1020


@pytest.mark.parametrize(
    "option",
    [
        {"normalise": "csls(k=2)"},
        {"unique": ["a", "b", "a"]},
        {"precision": "single"},
        {"similarity": "manhattan"},
        {"similarity": lambda left, right: left @ right.T},
    ],
)
def test_what_a_device_cannot_do_is_refused_or_done_in_main_memory(
    option: dict[str, Any], elsewhere: list[int]
) -> None:
    vectors = np.array([[1, 2], [2, 1], [3, 3]], np.float32)
    with pytest.raises(judged.InputError) as caught:
        judged.Embeddings(vectors, vectors, device="cpu", **option)
    name, value = next(iter(option.items()))
    if name in ("similarity", "precision"):
        name = f"{name}={value}" if isinstance(value, str) else "a function as similarity"
    said = f"{name} is not there on a device; leave it out, or leave device out."
    assert str(caught.value) == said
    tensor = torch.from_numpy(vectors)
    there = judged.Embeddings(tensor, tensor, **option)
    assert there.device is None
    judgements = {"0": {"1": 1}}
    same(judged.Embeddings(vectors, vectors, **option).rank(judgements), there.rank(judgements))


@pytest.mark.parametrize("name", ["nowhere", "meta:1:2", "cuda:999"])
def test_a_device_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(judged.InputError) as caught:
        judged.Embeddings([[1.0]], [[1.0]], device=name)
    assert str(caught.value).startswith(
        f"there is no device '{name}' here; torch {torch.__version__} sees cpu"
    )
    assert str(caught.value).endswith(". Leave device out to count in main memory.")


def test_a_device_has_a_name() -> None:
    with pytest.raises(judged.InputError, match=r"^device must be a name, as \"cuda\"; got 3\.$"):
        judged.Embeddings([[1.0]], [[1.0]], device=3)  # type: ignore[arg-type]
    found = judged.Embeddings([[1.0]], [[1.0]], device=torch.device("cpu"))
    assert found.device == devices.Device("cpu")


def test_torch_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    message = "^device='cuda' needs torch: pip install torch, or leave device out.$"
    with pytest.raises(judged.MissingExtraError, match=message):
        judged.Embeddings([[1.0]], [[1.0]], device="cuda")


def test_products_have_full_precision_whatever_a_program_has_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, multiply = [], torch.matmul

    def watched(left: Any, right: Any, *, out: Any) -> Any:
        seen.append((torch.get_float32_matmul_precision(), torch.is_autocast_enabled("cpu")))
        return multiply(left, right, out=out)

    monkeypatch.setattr(torch, "matmul", watched)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            judged.Embeddings([[1.0, 2.0]], [[1.0, 3.0]], device="cpu").rank({"0": {"0": 1}})
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    assert len(seen) > 1
    assert set(seen) == {("highest", False)}


def test_a_device_that_rounds_more_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    multiply = torch.matmul

    def coarse(left: Any, right: Any, *, out: Any) -> Any:
        """As TF32 does: ten bits of each number."""
        return out.copy_(multiply(*(each.half().float() for each in (left, right))))

    monkeypatch.setattr(torch, "matmul", coarse)
    with pytest.raises(judged.InputError) as caught:
        judged.Embeddings([[1.0]], [[1.0]], device="cpu")
    assert str(caught.value) == (
        "device cpu multiplies with less than single precision (as TF32 does), which cannot be "
        "counted with; switch that off, or leave device out."
    )


def test_other_libraries_come_through_dlpack(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(3, 2)

    class Elsewhere:
        """An array on a device, as one of cupy."""

        ndim = 2

        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("not in main memory")

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return numbers

    assert as_vectors(Elsewhere()).device is None  # torch cannot see that device here
    monkeypatch.setattr(torch, "from_dlpack", lambda _: torch.from_numpy(numbers))
    found = as_vectors(Elsewhere())
    assert found.device == "cpu"
    assert found.rows(np.array([2, 0])).tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert as_vectors(numbers).device is None
