"""`judged evaluate --convention`."""

from __future__ import annotations

import json


def test_its_names_and_its_policy(judged, files):
    done = judged("evaluate qrels a.run --convention pytrec_eval -m map -m P_5 -v")
    assert "AP" in done.out
    assert "policy: ties=id, missing=skip" in done.out
    assert (
        "convention: pytrec_eval (pytrec_eval-terrier) 0.5.11, where AP is map; P@5 is P_5"
        in done.out
    )


def test_a_given_policy_wins(judged, files):
    done = judged(
        "evaluate qrels a.run --convention pytrec_eval -m map --missing zero --format json"
    )
    assert json.loads(done.out)["policy"]["missing"] == "zero"


def test_the_default_of_an_option_may_be_said_too(judged, files):
    done = judged("evaluate qrels a.run --convention gldv2 -m mAP@10 --ties id --format json")
    assert json.loads(done.out)["policy"] == {
        "ties": "id",
        "missing": "zero",
        "empty": "skip",
        "unjudged": "nonrelevant",
    }


def test_an_unknown_convention(judged, files):
    done = judged("evaluate qrels a.run --convention ranks")
    assert done.code == 2
    assert done.err.startswith(
        "judged: There is no convention 'ranks'; did you mean 'ranx'? The conventions are beir, "
    )


def test_completion():
    from click import Context

    from judged.cli._options import complete_convention
    from judged.cli.evaluate import evaluate

    found = complete_convention(Context(evaluate), evaluate.params[0], "tor")
    assert [(item.value, item.help) for item in found] == [
        ("torchmetrics", "torchmetrics (retrieval)")
    ]
