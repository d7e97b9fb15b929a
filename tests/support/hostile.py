"""Names that try to be more than names, and every chart and page made with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import judged
from judged import charts
from judged.charts.kinds import KINDS
from judged.embeddings.relevance import same_label
from support.temperatures import made_study, made_sweep

FLAG = "__judged_was_fooled"
"""A page has a variable of this name where something in a name was run."""

SCRIPTS = (
    f"</script><script>window.{FLAG}=1</script>",
    f"<img src=x onerror=window.{FLAG}=1>",
    f"\"'`><svg onload=window.{FLAG}=1>",
    f"<!--<script>window.{FLAG}=1//-->",
    f"]]><script>window.{FLAG}=1</script>",
    f"javascript:window.{FLAG}=1",
    f"${{window.{FLAG}=1}}",
    f"');window.{FLAG}=1;//",
    f"datum.a['b\"].c[0] && (window.{FLAG}=1)",
    f"&lt;script&gt;window.{FLAG}=1&lt;/script&gt;",
    f"<a href=javascript:window.{FLAG}=1>a</a>",
)
"""What would be run in a page that did not escape it."""
ODD = (
    "a\\b", "a\\", "\\u0041", "\\x41", "a.b[c]", "&amp;", "%s {0} {run}", "<!--body-->", "|", "`a`",
    "$x$", "^^5cinput", "a~b_c#d%e", "[a](b)", "**", "=1+2", "-a", "@x", "'=1", "\u691c\u7d22",
    "\U0001f600",
)  # fmt: skip
"""Names that mean something elsewhere."""
HIDDEN = (
    "a\x00b", "a\x07b", "a\nb", "a\r\nb", "a\tb", "\x1b[31mred", "\x1b]0;title\x07", "\x9b2J",
    "a\x7fb", "a\x85b", "a\u2028b", "a\u2029b", "\u202eevil", "a\u200bb", "\ufeffa", "a\ufffeb",
    "\ufffe", "a\uffffb", "a\U000e0041b",
)  # fmt: skip
"""Names with characters that steer, break or hide."""
NAMES = (*SCRIPTS, *ODD, *HIDDEN)


def drawn(names: tuple[str, ...], **design: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every kind of chart, with names of runs, queries and items out of these; all but the gallery
    in the design that is asked for."""
    queries = [f"{name}?" for name in names]
    items = [f"{name}!" for name in names]
    first, second = names[0], names[-1] + "+"
    judgements = {query: {items[at]: 1, items[at - 1]: 0} for at, query in enumerate(queries)}
    runs = {
        first: {query: {item: float(-at) for at, item in enumerate(items)} for query in queries},
        second: {query: {item: float(at) for at, item in enumerate(items)} for query in queries},
    }
    shares = {
        query: dict(zip(items, np.linspace(0, 1, len(items)), strict=True)) for query in runs[first]
    }
    one = judged.evaluate(judgements, {first: runs[first]}, "AP", collection=1000)
    two = judged.evaluate(judgements, runs, "AP", collection=1000)
    dots = {name: np.zeros((4, 4), np.uint8) for name in (*queries, *items)}
    vectors = judged.Embeddings(np.eye(3), np.eye(3))
    diagnosis = vectors.diagnose(same_label(list("abc"), list("abc"))).to_dict()
    sweep = json.loads(json.dumps(made_sweep()))
    sweep["similarity"] = first
    study = json.loads(json.dumps(made_study(7, (0.01, 0.1, 1.0), measures=[first, "AP"])))
    differences = {query: 0.1 * at for at, query in enumerate(queries)}
    plan = judged.plan(difference=0.1, pilot=differences).to_dict()
    plan["pilot"]["measure"] = first
    sources: dict[str, Callable[[Any], Any]] = {
        "system": lambda function: function(one),
        "systems": lambda function: function(two),
        "pair": lambda function: function(two),
        "comparison": lambda function: function(two.compare()),
        "values": lambda function: function(two.compare()),
        "results": lambda function: function(judgements, shares),
        "diagnosis": lambda function: function(diagnosis),
        "sweep": lambda function: function(sweep),
        "study": lambda function: function(study),
        "plan": lambda function: function(plan),
        "stages": lambda function: function(judged.funnel(judgements, runs, k=1)),
    }
    for kind in KINDS.values():
        function = getattr(charts, kind.function_name)
        if kind.name != "gallery":
            function = partial(function, **design)
        if kind.name == "gallery":
            yield kind.name, lambda f=function: f(judgements, runs[first], pictures=dots)
        else:
            yield kind.name, lambda f=function, needs=kind.needs: sources[needs](f)
        if "query" in kind.options and kind.needs in ("system", "systems"):
            yield f"{kind.name} of a query", lambda f=function: f(one, query=queries[0])
