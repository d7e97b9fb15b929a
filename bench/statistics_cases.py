"""The cases of resampling: intervals and tests, the call only."""

from __future__ import annotations

from bench.case import Case, Claim, Contender, faster
from bench.data import Drawn

MANY = 100
"""Measures or pairs at once; a peer takes one at a time, so it is measured on one of them, and
what it would take for all is a hundred times that."""


def statistics_cases(quick: bool) -> tuple[Case, ...]:
    return _bca(quick), _flips(quick), _exact(quick), _randomised_tukey(quick), _memory(quick)


def _bca(quick: bool) -> Case:
    one = Drawn(500, resamples=999) if quick else Drawn(10_000)
    many = Drawn(one.queries, MANY, resamples=one.resamples)
    return Case(
        name="bca",
        title=f"BCa intervals of means, the call only, {one}",
        contenders=(
            Contender("judged, 100 measures", _script("judged-bca"), many),
            Contender("judged, one measure", _script("judged-bca"), one),
            Contender("scipy, one measure", _script("scipy-bca"), one),
            Contender("nothing resampled", _script("nothing"), many),
        ),
        claims=(
            faster(
                "100 measures, 20 times faster than scipy for each",
                "scipy, one measure",
                "judged, 100 measures",
                20 / MANY,
            ),
            faster(
                "one measure, not slower than scipy", "scipy, one measure", "judged, one measure", 1
            ),
            _adds_little("judged, 100 measures"),
        ),
        repeat=1 if quick else 3,
        one_job=False,
    )


def _flips(quick: bool) -> Case:
    one = Drawn(500, resamples=999) if quick else Drawn(10_000)
    many = Drawn(one.queries, MANY, resamples=one.resamples)
    peers = {"scipy, one column": (10, 300), "ranx, one column": (5, 150)}
    return Case(
        name="flips",
        title=f"Randomisation test by sign flips, the call only, {one}",
        contenders=(
            Contender("judged, 100 columns", _script("judged-flips"), many),
            Contender("judged, one column", _script("judged-flips"), one),
            Contender("scipy, one column", _script("scipy-flips"), one),
            Contender("ranx, one column", _script("ranx-flips"), one),
            Contender("nothing resampled", _script("nothing"), many),
        ),
        claims=(
            *(
                faster(f"one column, {alone} times faster", peer, "judged, one column", alone)
                for peer, (alone, _) in peers.items()
            ),
            *(
                faster(
                    f"100 columns, {all_of_them} times faster than each of them alone",
                    peer,
                    "judged, 100 columns",
                    all_of_them / MANY,
                )
                for peer, (_, all_of_them) in peers.items()
            ),
            _adds_little("judged, 100 columns"),
        ),
        repeat=1 if quick else 3,
        one_job=False,
    )


def _exact(quick: bool) -> Case:
    number, size = (30, 14) if quick else (40, 20)
    ours = f"judged, {number} queries"

    peer = f"scipy, {size} queries"
    return Case(
        name="exact",
        title="Exact p of the randomisation test, the call only",
        contenders=(
            Contender(ours, _script("judged-exact"), Drawn(number)),
            Contender(peer, _script("scipy-flips"), Drawn(size, resamples=2**size)),
        ),
        claims=(faster("twice as many queries, 5 times faster", peer, ours, 5),),
        repeat=1 if quick else 3,
        one_job=False,
    )


def _randomised_tukey(quick: bool) -> Case:
    size = Drawn(20, 2, 5, 999) if quick else Drawn(100, 5, 17)
    return Case(
        name="randomised_tukey",
        title=f"All pairs at once, {size.columns} measures, the call only, {size}",
        contenders=(
            Contender("judged, randomised Tukey", _script("judged-tukey"), size),
            Contender("scipy, tukey_hsd", _script("scipy-tukey"), size),
        ),
        claims=(
            faster(
                "5 times faster than scipy without resampling",
                "scipy, tukey_hsd",
                "judged, randomised Tukey",
                5,
            ),
        ),
        repeat=1 if quick else 3,
    )


def _memory(quick: bool) -> Case:
    sizes = {
        "many queries": Drawn(20_000 if quick else 200_000, 5, resamples=999),
        "many columns": Drawn(50, 500 if quick else 20_000, resamples=999),
        "many resamples": Drawn(60, 20, resamples=20_000 if quick else 1_000_000),
    }
    tests = {"flips": "judged-flips", "BCa": "judged-bca"}
    contenders, claims = [], []
    for many, size in sizes.items():
        nothing = f"nothing resampled, {many}"
        contenders.append(Contender(nothing, _script("nothing"), size))
        for name, script in tests.items():
            contenders.append(Contender(f"{name}, {many}", _script(script), size))
            claims.append(_adds_little(f"{name}, {many}", nothing))
    return Case(
        name="memory",
        title="Memory of resampling sizes that are each large in another way",
        contenders=tuple(contenders),
        claims=tuple(claims),
        repeat=1,
        one_job=False,
    )


def _adds_little(name: str, nothing: str = "nothing resampled") -> Claim:
    text = "resampling adds little memory, GB"
    return Claim(text, "gigabytes", name, "-", nothing, "at most", 0.2)


def _script(name: str) -> tuple[str, ...]:
    return ("-m", "bench.statistics", name, "{queries}", "{columns}", "{systems}", "{resamples}")
