"""Draw the pictures of the documentation: `python docs/pictures.py [NAME ...]`.

Each is drawn from the bundled digits or from a small example. `docs/pictures/sketches.json`
holds what each was drawn from, so that a test can tell, without comparing pixels, when one is out
of date.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

import judged
from judged import Rankings, charts
from judged.cli import demo_data

FOLDER = Path(__file__).resolve().parent / "pictures"
STUDY = FOLDER.parent / "temperature-study.json"
"""An HNSW index of 20,000 vectors; times differ between machines, so they are recorded."""
SKETCHES = FOLDER / "sketches.json"

EIGHT = Rankings.from_relevance([[1, 0, 1, 1, 0, 1, 0, 0]], collection=8, queries=["eight results"])
TEN = Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1, 0, 0]], queries=["ten images"])


SWEPT = [float(f"{power}e{step}") for step in range(-3, 1) for power in (1, 1.5, 2, 3, 5, 7)] + [
    10.0
]


@dataclass(frozen=True)
class Digits:
    """The demo's three systems: their files, and the rankings of the whole collection."""

    files: demo_data.DemoFiles

    @property
    def judgements(self) -> Path:
        return self.files.judgements

    @property
    def rankings(self) -> dict[str, Rankings]:
        return {each.name: each for each in self.files.rankings}

    @property
    def pair(self) -> list[Rankings]:
        return [self.rankings["cosine-pca8"], self.rankings["euclidean-pixels"]]

    def run(self, name: str) -> Path:
        return self.files.folder / f"{name}.run"

    @cached_property
    def evaluation(self) -> judged.Evaluation:
        return judged.evaluate(self.judgements, list(self.files.runs), "AP")

    @cached_property
    def comparison(self) -> judged.Comparison:
        return judged.compare(
            self.judgements,
            list(self.files.runs),
            ["nDCG@10", "AP", "RR"],
            baseline="cosine-pixels",
            margin={"nDCG@10": 0.01},
        )

    @cached_property
    def texts(self) -> demo_data.DemoFiles:
        """Write the demo's text search."""
        return demo_data.write_text_demo(self.files.folder / "text")

    def text_runs(self, *names: str) -> judged.Comparison:
        """Compare some systems of the text search, the first as the baseline."""
        runs = [path for name in names for path in self.texts.runs if path.stem == name]
        return judged.compare(self.texts.judgements, runs, "nDCG@10", baseline=names[0])

    @property
    def plan(self) -> judged.results.Plan:
        runs = [self.run("cosine-pixels"), self.run("cosine-pca8")]
        pilot = judged.compare(self.judgements, runs, "nDCG@10")
        return judged.plan(difference=0.02, pilot=pilot)

    @property
    def same(self) -> Any:
        return judged.relevance.same_label(
            *(path.read_text(encoding="utf-8").split() for path in self.files.about)
        )

    def diagnosis(self) -> Any:
        return judged.Embeddings(*self.files.vectors).diagnose(self.same)

    @cached_property
    def sweep(self) -> Any:
        return judged.temperature.sweep(
            judged.Embeddings(*self.files.vectors), self.same, SWEPT, batch_size=50
        )

    def funnel(self) -> Any:
        frames = {path.stem: judged.read_run(path).frame for path in self.texts.runs}
        found = frames["bm25"].select("query", "item")
        reranked = frames["dense"].join(found, on=["query", "item"], how="semi")
        stages = {"bm25": frames["bm25"], "reranked": reranked}
        return judged.funnel(self.texts.judgements, stages, k=5)

    def cosines(self) -> Any:
        """Return a run whose scores are cosines instead of whole millionths."""
        frame = judged.read_run(self.run("cosine-pixels")).frame
        return frame.with_columns(score=(frame["score"] / 1_000_000).clip(0, 1))


def recorded_study() -> dict[str, Any]:
    """Return the recorded study of the digits.

    Learning takes long and differs a little between machines. A test learns it again and compares.
    """
    return json.loads(STUDY.read_text(encoding="utf-8"))


def record_study(digits: Digits) -> None:
    vectors = judged.Embeddings(*digits.files.vectors)
    found = judged.temperature.sweep(vectors, digits.same, train=True)
    STUDY.write_text(
        json.dumps(_short(found.to_dict()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def _short(value: Any) -> Any:
    """Return a value with six digits of every number."""
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_short(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


PICTURES: dict[str, Callable[[Digits], Any]] = {
    "precision-recall": lambda digits: charts.precision_recall(TEN),
    "precision-recall-mean": lambda digits: charts.precision_recall(digits.rankings["cosine-pca8"]),
    "eleven-point": lambda digits: charts.eleven_point(digits.files.rankings),
    "measure-at-k": lambda digits: charts.measure_at_k(
        digits.files.rankings, measures=["P"], k=150
    ),
    "precision-recall-at-k": lambda digits: charts.precision_recall_at_k(EIGHT),
    "confusion": lambda digits: charts.confusion(EIGHT, k=4),
    "confusion-at-k": lambda digits: charts.confusion_at_k(EIGHT),
    "rank-histogram": lambda digits: charts.rank_histogram(digits.rankings["euclidean-pixels"]),
    "cmc": lambda digits: charts.cmc(digits.files.rankings, k=30),
    "differences": lambda digits: charts.differences(digits.pair),
    "scatter": lambda digits: charts.scatter(digits.pair, measure="AP"),
    "forest": lambda digits: charts.forest(digits.comparison),
    "systems": lambda digits: charts.systems(digits.comparison),
    "power": lambda digits: charts.power(digits.plan),
    "text-forest": lambda digits: charts.forest(digits.text_runs("bm25", "dense", "fused")),
    "text-differences": lambda digits: charts.differences(digits.text_runs("bm25", "dense")),
    "text-change": lambda digits: charts.differences(digits.text_runs("fused", "bm25")),
    "text-measure-at-k": lambda digits: charts.measure_at_k(
        digits.text_runs("bm25", "dense", "fused").evaluation, measures="nDCG", k=20
    ),
    "scores": lambda digits: charts.scores(digits.judgements, digits.run("euclidean-pixels")),
    "embedding-scores": lambda digits: charts.embedding_scores(digits.diagnosis()),
    "ranges": lambda digits: charts.ranges(digits.evaluation, measures=["AP", "P@10"]),
    "roc": lambda digits: charts.roc(digits.files.rankings),
    "risk-coverage": lambda digits: charts.risk_coverage(
        judged.evaluate(digits.texts.judgements, digits.texts.runs[1], "RR")
    ),
    "funnel": lambda digits: charts.funnel(digits.funnel()),
    "reliability": lambda digits: charts.reliability(digits.judgements, digits.cosines(), bins=25),
    "gallery": lambda digits: charts.gallery(
        digits.judgements,
        digits.run("cosine-pca8"),
        pictures=demo_data.pictures(demo_data.load_digits()),
        k=8,
    ),
    "temperature": lambda digits: charts.temperature(digits.sweep),
    "temperature-probabilities": lambda digits: charts.temperature_probabilities(digits.sweep),
    "temperature-reliability": lambda digits: charts.temperature_reliability(digits.sweep),
    "temperature-study": lambda digits: charts.temperature_study(recorded_study()),
    "dark": lambda digits: charts.eleven_point(digits.files.rankings, theme="dark"),
}
"""Every picture by its name; those of a kind of chart have the kind's name."""


PIXELS = ("gallery", "differences", "scatter", "temperature-reliability", "temperature-study")
"""Pictures with hundreds of marks: a file of pixels is smaller than one of shapes."""


def path_of(name: str) -> Path:
    return FOLDER / f"{name}{'.png' if name in PIXELS else '.svg'}"


def sketch(picture: Any) -> dict[str, Any]:
    """Return what a picture is drawn from, in short.

    That is a fingerprint of its words and their nesting, and for the numbers under each name their
    count and three sums: the plain one, one in which later numbers weigh more, and one of absolute
    values, which the tolerance of the others is relative to. Last digits differ between machines.
    """
    drawn = (
        picture.spec
        if isinstance(picture, charts.Chart)
        else [picture.title, picture.notes, picture.data.to_dicts()]
    )
    numbers: dict[str, list[float]] = {}
    words = json.dumps(_without_numbers(drawn, "", numbers), ensure_ascii=False)
    return {
        "words": hashlib.sha256(words.encode()).hexdigest()[:16],
        "numbers": {name: _sums(values) for name, values in sorted(numbers.items())},
    }


def _without_numbers(drawn: Any, name: str, numbers: dict[str, list[float]]) -> Any:
    """Return data with a sign instead of each number.

    The numbers are collected under the nearest name.
    """
    if isinstance(drawn, dict):
        return {name: _without_numbers(drawn[name], name, numbers) for name in sorted(drawn)}
    if isinstance(drawn, list | tuple):
        return [_without_numbers(value, name, numbers) for value in drawn]
    if isinstance(drawn, int | float) and not isinstance(drawn, bool):
        numbers.setdefault(name, []).append(drawn)
        return "#"
    return drawn


def _sums(values: list[float]) -> list[float]:
    weighted = (value * place for place, value in enumerate(values, 1))
    return [len(values), fsum(values), fsum(weighted) / len(values), fsum(map(abs, values))]


def _save(name: str, picture: Any) -> None:
    """Write a picture as shapes, or as pixels of few colours."""
    if name in PIXELS:
        Image.open(BytesIO(picture.to_png())).convert("RGB").quantize(64).save(
            path_of(name), optimize=True
        )
    else:
        picture.save(path_of(name))


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all of them."""
    with TemporaryDirectory() as folder:
        digits = Digits(demo_data.write_demo(Path(folder)))
        if not names:
            record_study(digits)
        pictures = {name: PICTURES[name](digits) for name in names or PICTURES}
        FOLDER.mkdir(exist_ok=True)
        for name, picture in pictures.items():
            _save(name, picture)
    kept = json.loads(SKETCHES.read_text(encoding="utf-8")) if names else {}
    kept |= {name: _short(sketch(each)) for name, each in pictures.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in PICTURES if name in kept]
    SKETCHES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
