"""The data of conventions: complete, consistent, and each held against something."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from judged.conventions import Convention, ConventionError, Name, conventions, find
from judged.measures import PRESETS, parse_measure
from judged.measures.conventions import named_all
from judged.policy import CHOICES
from support.loops import for_each

ROOT = Path(__file__).resolve().parents[2]
ORACLES = ROOT / "tests" / "oracle" / "conventions"
ALL = list(conventions().values())
PAIRS = [
    pytest.param(each, name, id=f"{each.name}-{name.theirs}") for each in ALL for name in each.names
]
NUMBERS = {"k": 10, "rel": 2, "p": 0.8, "b": 2, "m": 4, "T": 2.5, "x": 0.5}


def filled(convention: Convention, name: Name, spelling: str | None = None) -> tuple[str, str]:
    numbers = {**NUMBERS, "p": 80} if convention.name == "ranx" else NUMBERS
    return Name(spelling or name.theirs, name.ours).filled(numbers)


def test_the_libraries_that_people_use_are_here() -> None:
    used = """
        trec_eval pytrec_eval ir_measures ranx torchmetrics scikit-learn evidently rectools
        replay recommenders spark trectools cwl-eval beir mteb sentence-transformers msmarco
        pytorch-metric-learning elasticsearch quepid opensearch revisitop gldv2 clip clap reid
        llama-index haystack ragas recbole lightfm
    """
    assert set(used.split()) <= set(conventions())


def test_the_changelog_counts_them() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"{len(ALL)} libraries' definitions" in changes


@for_each("convention", ALL, ids=lambda each: each.name)
def test_a_convention_says_everything(convention: Convention) -> None:
    assert convention.title
    assert convention.version
    assert convention.names
    assert convention.differences
    for sentence in (convention.verified, *convention.differences, *convention.wrong):
        assert sentence.strip() == sentence
        assert sentence.endswith("."), sentence
    assert all(option.theirs and option.says.endswith(".") for option in convention.options)
    policies = [
        convention.policy,
        *(name.policy for name in convention.names),
        *(option.policy for option in convention.options),
    ]
    for policy in policies:
        assert all(value in CHOICES[choice] for choice, value in policy.items())


@for_each(("convention", "name"), PAIRS)
def test_a_name_is_read_as_it_is_written(convention: Convention, name: Name) -> None:
    for spelling in (name.theirs, *name.aliases):
        assert set(Name(spelling, "").places) == set(name.places)
        theirs, ours = filled(convention, name, spelling)
        [(_, as_ours, as_name)] = convention.read(theirs.upper())
        assert (as_name, as_ours) == (name, ours)


@for_each(("convention", "name"), PAIRS)
def test_what_differs_from_our_measure_has_a_sentence(convention: Convention, name: Name) -> None:
    assert not name.note or name.note.endswith(".")
    if not name.ours:
        assert name.note
        return
    measure = parse_measure(filled(convention, name)[1])
    usual = {param.name: param.default for param in measure.spec.params}
    said = {
        "k",
        measure.spec.at,
        *name.places,
        "log" if "log_base" in name.theirs else "",
        "beta" if "beta=" in name.theirs else "",
    }
    # A share in hundredths, a level and the grade that has to be said are in the name itself.
    variant = (
        {key for key, value in measure.items if value != usual[key]}
        - said
        - {"p", "max_grade", "rel", "mult", "recall"}
    )
    assert name.note or not variant


def test_every_convention_is_compared_with_its_library() -> None:
    oracles = "".join(path.read_text(encoding="utf-8") for path in ORACLES.glob("test_*.py"))
    assert [each.name for each in ALL if f'"{each.name}"' not in oracles] == []


@for_each("convention", [each for each in ALL if each.package], ids=lambda each: each.name)
def test_installed_libraries_are_not_older(convention: Convention) -> None:
    try:
        texts = version(convention.package), convention.version
    except PackageNotFoundError:
        pytest.skip(f"{convention.package} is not installed")
    installed, described = (list(map(int, re.findall(r"\d+", text))) for text in texts)
    assert installed >= described


def test_every_name_of_a_library_is_its_own() -> None:
    found = [
        {re.sub(r"[-_ .]", "", text.lower()) for text in (each.name, *each.aliases)} for each in ALL
    ]
    assert sum(map(len, found)) == len(set().union(*found))
    for text in ("scikit-learn", "sklearn", "Scikit_Learn", "scikit learn"):
        assert find(text).name == "scikit-learn"


def test_an_unknown_convention() -> None:
    with pytest.raises(ConventionError) as error:
        find("torchmetric")
    assert str(error.value) == (
        "There is no convention 'torchmetric'; did you mean 'torchmetrics'? The conventions are "
        f"{', '.join(conventions())}."
    )


@pytest.mark.parametrize("preset", ["beir", "mteb", "msmarco", "trec"])
def test_presets_are_understood_where_the_library_has_all_of_them(preset: str) -> None:
    convention = find("pytrec_eval" if preset in ("trec", "msmarco") else preset)
    wanted = [
        text for text in PRESETS[preset] if not (preset == "msmarco" and text.startswith("RR@"))
    ]
    assert [str(named.measure) for named in named_all(convention, list(wanted))] == wanted
