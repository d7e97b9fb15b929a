"""What normalisations say of themselves, how they are written, and what they refuse."""

import re

import pytest

from judged.embeddings.normalisation import (
    CSLS,
    LOOKS_AT,
    NORMALISATIONS,
    AlphaQueryExpansion,
    DualSoftmax,
    InvertedSoftmax,
    MinMax,
    QBNorm,
    Softmax,
    as_normalisation,
)
from judged.errors import InputError
from support.products import BANK, normalised, product_of


@pytest.mark.parametrize(
    ("normalisation", "kind", "note"),
    [
        (
            CSLS(),
            "transductive",
            "scores were normalised by csls(k=10), which looks at all test queries (transductive).",
        ),
        (
            CSLS(bank=BANK),
            "inductive",
            "scores were normalised by csls(bank=17 vectors, k=10), "
            "which looks at a bank of other queries, never at other test queries (inductive).",
        ),
        (
            InvertedSoftmax(),
            "transductive",
            "scores were normalised by inverted-softmax(beta=20.0), which looks at all test "
            "queries (transductive).",
        ),
        (
            QBNorm(bank="train.npy"),
            "inductive",
            "scores were normalised by qb-norm(bank=train.npy, beta=20.0, k=1), "
            "which looks at a bank of other queries, never at other test queries (inductive).",
        ),
        (
            DualSoftmax(),
            "transductive",
            "scores were normalised by dual-softmax(beta=20.0), which looks at all test queries "
            "(transductive).",
        ),
        (
            AlphaQueryExpansion(),
            "per query",
            "scores were normalised by alpha-query-expansion(alpha=3.0, k=10), which looks at one "
            "query at a time (per query).",
        ),
        (
            MinMax(),
            "per query",
            "scores were normalised by min-max, which looks at one query at a time (per query); "
            "it cannot change any ranking.",
        ),
    ],
)
def test_notes_say_what_was_looked_at(normalisation, kind, note):
    assert (normalisation.kind, normalisation.note) == (kind, note)


@pytest.mark.parametrize("name", NORMALISATIONS)
def test_every_normalisation_declares_itself(name):
    normalisation = NORMALISATIONS[name]()
    assert normalisation.name == name
    assert normalisation.says
    assert normalisation.kind in LOOKS_AT
    assert as_normalisation(str(normalisation)) == normalisation


def test_texts():
    assert as_normalisation("softmax(temperature=0.05)") == Softmax(temperature=0.05)
    assert as_normalisation(" CSLS ( k = 5 ) ") == CSLS(k=5)
    assert as_normalisation("inverted_softmax(beta=5, bank='a, b.npy')").bank == "a, b.npy"
    assert as_normalisation("qb-norm(bank=train.npy, k=2)").bank == "train.npy"
    given = CSLS(k=3)
    assert as_normalisation(given) is given


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: as_normalisation("cslss"),
            "There is no normalisation 'cslss'; did you mean 'csls'? There is min-max, z-score, "
            "softmax, csls, "
            "inverted-softmax, qb-norm, dual-softmax, mutual-proximity, alpha-query-expansion.",
        ),
        (
            lambda: as_normalisation("whitening"),
            "There is no normalisation 'whitening'. There is min-max, z-score, softmax, csls, "
            "inverted-softmax, qb-norm, dual-softmax, mutual-proximity, alpha-query-expansion.",
        ),
        (
            lambda: as_normalisation("softmax(temprature=2)"),
            "softmax takes no 'temprature'; did you mean 'temperature'? It takes temperature.",
        ),
        (lambda: as_normalisation("min-max(k=2)"), "min-max takes no 'k'. It takes no parameters."),
        (lambda: as_normalisation("csls(k=2, k=3)"), "k of csls is given twice: 'csls(k=2, k=3)'."),
        (
            lambda: as_normalisation("csls(5)"),
            "parameters are written name=value, with commas between; got 'csls(5)'.",
        ),
        (
            lambda: as_normalisation("csls(k=5"),
            "a normalisation is a text such as 'csls' or 'softmax(temperature=0.05)'; got "
            "'csls(k=5'.",
        ),
        (
            lambda: as_normalisation(5),
            "a normalisation is a text such as 'csls' or 'softmax(temperature=0.05)'; got 5.",
        ),
        (
            lambda: Softmax(temperature=0),
            "temperature of softmax must be a number above 0, from 1e-06 to 1e+06; got 0.",
        ),
        (
            lambda: as_normalisation("softmax(temperature=hot)"),
            "temperature of softmax must be a number above 0, from 1e-06 to 1e+06; got 'hot'.",
        ),
        (
            lambda: InvertedSoftmax(beta=-1),
            "beta of inverted-softmax must be a number above 0, from 1e-06 to 1e+06; got -1.",
        ),
        (
            lambda: DualSoftmax(beta=float("nan")),
            "beta of dual-softmax must be a number above 0, from 1e-06 to 1e+06; got nan.",
        ),
        (lambda: CSLS(k=0), "k of csls must be a whole number from 1; got 0."),
        (lambda: CSLS(k=True), "k of csls must be a whole number from 1; got True."),
        (
            lambda: CSLS(k=32).fit(product_of()),
            "k of csls must be at most the number of items, 31; got 32.",
        ),
        (
            lambda: CSLS(k=24).fit(product_of()),
            "k of csls must be at most the number of queries, 23; got 24.",
        ),
        (
            lambda: CSLS(k=18, bank=BANK).fit(product_of()),
            "k of csls must be at most the number of queries in the bank, 17; got 18.",
        ),
        (
            lambda: AlphaQueryExpansion(k=32).fit(product_of()),
            "k of alpha-query-expansion must be at most the number of items, 31; got 32.",
        ),
        (
            lambda: QBNorm(k=32, bank=BANK).fit(product_of()),
            "k of qb-norm must be at most the number of items, 31; got 32.",
        ),
        (
            lambda: QBNorm().fit(product_of()),
            "qb-norm needs a bank of queries, such as those of training; give bank=, vectors or "
            "their file.",
        ),
        (
            lambda: QBNorm(bank=BANK[:, :3]).fit(product_of()),
            "the bank of queries have 3 dimensions but the items have 8; the numbers must match. "
            "Do they come from the same model?",
        ),
        (
            lambda: AlphaQueryExpansion(k=3).fit(product_of(similarity="dot")),
            "alpha-query-expansion weighs items by their cosine; it needs similarity 'cosine', "
            "got 'dot'.",
        ),
        (
            lambda: normalised(
                "csls(k=1)", product_of([[1e154], [-1e154]], [[-1e154], [1e154]], "dot")
            ),
            "scores normalised by csls(k=1) overflow; divide all vectors by the same number.",
        ),
    ],
)
def test_errors_say_what_to_do(make, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        make()
