"""Every measure's name, and every alias, under every convention: what it means, and what it is
called there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from judged.conventions import Convention, conventions, find
from judged.errors import MeasureError
from judged.measures import Measure, catalogue, parse_measure
from judged.measures.conventions import named_all
from judged.measures.registry import lookup, names
from support.loops import for_each

catalogue()
ALL = list(conventions().values())

VARIANTS = {
    "clap": {"R@10": "Success@10", "AP@10": "RR@10"},
    "clip": {"R@10": "Success@10"},
    "cwl-eval": {"AP": "AP(norm=retrieved)@1000", "RR": "RR@1000", "RBP": "RBP(gain=graded)"},
    "elasticsearch": {
        "DCG@10": "DCG(gain=exp)@10",
        "nDCG@10": "nDCG(gain=exp, ideal=shown)@10",
        "P@10": "P(short=shrink)@10",
    },
    "evidently": {"P@10": "P(short=shrink)@10", "F@10": "F(short=shrink, average=means)@10"},
    "gldv2": {"AP@10": "AP(norm=capped)@10"},
    "ir_measures": {
        "IPrec": "IPrec(rounding=trec_eval9)",
        "IPrec@0.5": "IPrec(rounding=trec_eval9)@0.5",
    },
    "llama-index": {"P@10": "P(short=shrink)@10", "nDCG": "nDCG(gain=binary)"},
    "opensearch": {
        "DCG@10": "DCG(gain=exp)@10",
        "nDCG@10": "nDCG(gain=exp)@10",
        "P@10": "P(short=shrink)@10",
    },
    "pytrec_eval": {
        "IPrec": "IPrec(rounding=trec_eval9)",
        "IPrec@0.5": "IPrec(rounding=trec_eval9)@0.5",
        "IAP": "IAP(rounding=trec_eval9)",
    },
    "quepid": {
        "DCG@10": "DCG(gain=exp)@10",
        "nDCG@10": "nDCG(gain=exp)@10",
        "P@10": "P(short=shrink)@10",
        "ERR@10": "ERR(max_grade=3)@10",
    },
    "ranx": {
        "NumRelRet": "NumRelRet(aggregate=mean)",
        "NumRelRet@10": "NumRelRet(aggregate=mean)@10",
    },
    "ragas": {
        "P@10": "P(short=shrink)@10",
        "AP": "AP(norm=retrieved)",
        "AP@10": "AP(norm=retrieved)@10",
    },
    "recbole": {"AP@10": "AP(norm=capped)@10", "nDCG@10": "nDCG(gain=binary)@10"},
    "recommenders": {"nDCG@10": "nDCG(gain=binary)@10"},
    "rectools": {"nDCG@10": "nDCG(gain=binary, ideal=cutoff)@10"},
    "replay": {"AP@10": "AP(norm=capped)@10", "nDCG@10": "nDCG(gain=binary)@10"},
    "revisitop": {"AP": "AP(area=trapezoid)"},
    "sentence-transformers": {"AP@10": "AP(norm=capped)@10", "nDCG@10": "nDCG(gain=binary)@10"},
    "spark": {"AP@10": "AP(norm=capped)@10", "nDCG@10": "nDCG(gain=binary)@10"},
    "torchmetrics": {"AP": "AP(norm=retrieved)", "AP@10": "AP(norm=retrieved)@10"},
    "trec_eval": {
        "IPrec": "IPrec(rounding=trec_eval)",
        "IPrec@0.5": "IPrec(rounding=trec_eval)@0.5",
        "IAP": "IAP(rounding=trec_eval)",
        "RBP": "RBP(p=0.9)",
        "RBPResidual": "RBPResidual(p=0.9)",
    },
}
"""Where our plain name means another variant, as the page of the library says; everywhere else it
means itself, or is refused."""

THEIRS = {
    "beir": ("Accuracy",),
    "mteb": ("Accuracy",),
    "sentence-transformers": ("Accuracy",),
    "pytrec_eval": ("P",),
    "trec_eval": ("P", "unj"),
}
"""Names that a library has for something else than we do; there, its meaning holds."""


def _spellings() -> Iterator[tuple[str, Measure]]:
    for name in names():
        for cutoff in ("", "@10", "@R", "@0.5"):
            try:
                yield name + cutoff, parse_measure(name + cutoff)
            except MeasureError:
                continue


@cache
def spellings() -> list[tuple[str, Measure]]:
    """All our names, without a cutoff, with a number and with R, and what they are without a
    convention."""
    return list(_spellings())


def meaning(convention: Convention, text: str | Measure) -> tuple[Measure, str] | None:
    return _meaning(convention.name, text)


@cache
def _meaning(convention: str, text: str | Measure) -> tuple[Measure, str] | None:
    try:
        (named,) = named_all(find(convention), [text])
    except MeasureError:
        return None
    return named.measure, named.theirs


@pytest.fixture(autouse=True)
def _no_time_for_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of names are refused here; the nearest one to each is the matter of other tests."""
    monkeypatch.setattr("judged.measures.conventions.did_you_mean", lambda *_, **__: "")
    monkeypatch.setattr("judged.measures.registry.did_you_mean", lambda *_, **__: "")


def is_theirs(convention: Convention, text: str) -> bool:
    return text.partition("@")[0] in THEIRS.get(convention.name, ())


@for_each("convention", ALL, ids=lambda each: each.name)
def test_our_names_mean_what_the_page_says(convention: Convention) -> None:
    variants = {
        parse_measure(ours): parse_measure(its)
        for ours, its in VARIANTS.get(convention.name, {}).items()
    }
    seen = set()
    known: dict[Measure, tuple[Measure, str] | None] = {}
    for text, measure in spellings():
        if is_theirs(convention, text):
            continue
        found = meaning(convention, text)
        # All spellings of a measure mean the same.
        assert known.setdefault(measure, found) == found, text
        if not is_theirs(convention, str(measure)):
            assert meaning(convention, measure) == found, text
        if found is None:
            assert measure not in variants, text
            continue
        plain = measure(aggregate=measure.spec.param("aggregate").default)
        wanted = variants.get(plain, plain)
        if measure != plain:
            wanted = wanted(aggregate=measure.params["aggregate"])
        assert found[0] == wanted, text
        seen.add(plain)
        # It is called what the library reads as this measure.
        its, _, added = found[1].partition(" with ")
        [(_, ours, _)] = convention.read(its)
        changes = dict(each.split("=") for each in added.split(" and ") if each)
        assert parse_measure(ours)(**changes) == found[0], (text, found[1])
    assert set(variants) <= seen


@for_each("convention", ALL, ids=lambda each: each.name)
def test_parameters_that_are_written_hold(convention: Convention) -> None:
    """Each parameter of each measure, written out: as it is written, or refused."""
    for spec in catalogue():
        for param in spec.params:
            if param.name in ("k", spec.at):
                continue
            for cutoff in ("", "@10"):
                try:
                    measure = parse_measure(spec.name + cutoff)
                    text = f"{spec.name}({param.name}={param.default}){cutoff}"
                    parse_measure(text)
                except MeasureError:
                    continue
                found = meaning(convention, text)
                if found and found[0].spec is measure.spec:
                    assert found[0].params[param.name] == measure.params[param.name], text


def test_what_is_added_is_said() -> None:
    assert meaning(find("replay"), "AP(rel=2)@10") == (
        parse_measure("AP(rel=2, norm=capped)@10"),
        "MAP@10 with rel=2",
    )
    assert meaning(find("trec_eval"), "GMAP") == (
        parse_measure("AP(aggregate=geometric)"),
        "gm_map",
    )


def test_libraries_have_no_cutoff_at_the_number_of_relevant_items() -> None:
    have = {each.name for each in ALL if meaning(each, "AP@R")}
    assert have == {"pytorch-metric-learning"}


def test_a_parameter_that_the_library_does_not_have_is_refused_even_where_it_is_ours() -> None:
    with pytest.raises(MeasureError):
        named_all(find("replay"), ["AP(norm=relevant)@10"])
    with pytest.raises(MeasureError):
        named_all(find("trec_eval"), [f"RBP(p={lookup('RBP')[0].param('p').default})"])
