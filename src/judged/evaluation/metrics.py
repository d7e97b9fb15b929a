"""An evaluation for trackers of experiments and model cards: one flat name for each number.

Trackers take letters, digits and ``_ - . /`` in names. `nDCG(gain=exp)@10` is
`nDCG.gain-exp_at_10` there, and `parse_metric` leads back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from judged.errors import InputError, did_you_mean, quoted
from judged.evaluation.records import Records
from judged.options import checked_methods
from judged.text import listed

if TYPE_CHECKING:
    from judged.measures import Measure

NAMES = {
    "judged": "as tables have them: nDCG(gain=exp)@10",
    "mlflow": "of letters, digits and _ - . / alone: nDCG.gain-exp_at_10",
}
"""How numbers can be called, and what that looks like."""
TASK = "information-retrieval"
UNKNOWN = "unknown"
_AT = "_at_"
_ENDS = ("low", "high")
_PARAMETER = re.compile(r"\.(?=[A-Za-z_]+-)")
_ESCAPED = re.compile(r"\.\.([0-9a-f]+)\.")
_INFINITE = {"Infinity": ".inf", "-Infinity": "-.inf"}
_KEPT = re.compile(r"[A-Za-z0-9_-]")


class Metric(NamedTuple):
    """What the name of a number stands for."""

    measure: Measure
    run: str | None
    """The run, where there were several."""
    end: str | None
    """low or high, where it is an end of the interval."""


@checked_methods
class Metrics(Records):
    """What trackers and model cards get of an evaluation."""

    def to_metrics(self, *, names: str = "judged") -> dict[str, float]:
        """One flat name for each number, as trackers of experiments take them.

        Of several runs the name of the run stands before that of the measure, as `bm25/AP`; ends of
        intervals, where these were asked for, have their own name behind it, as `AP low` or
        `AP_low`.

        Parameters
        ----------
        names : {"judged", "mlflow"}, optional
            How numbers are called: as in tables, or in the letters that MLflow and others allow,
            from which `judged.parse_metric` leads back.

        Returns
        -------
        dict of str to float
            Ends of an interval that there is none of are left out.

        Examples
        --------
        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 2}}, {"q": ["b", "a"]}, ["RR", "P(rel=2)@4"])
        >>> found.to_metrics(names="mlflow")
        {'RR': 0.5, 'P.rel-2_at_4': 0.25}
        """
        if not isinstance(names, str) or names not in NAMES:
            near = did_you_mean(names, NAMES)
            raise InputError(f"names must be {listed([*NAMES], 'or')}; got {quoted(names)}{near}")
        flat = names == "mlflow"
        found: dict[str, float] = {}
        for run in self.runs:
            shown = escaped(run.name) if flat else run.name
            before = f"{shown}/" if len(self.runs) > 1 else ""
            for measure in self.measures:
                name = before + (metric_name(measure) if flat else self.label(measure))
                found[name] = float(run.summary[measure])
                for end in self.ends:
                    value = float(getattr(run.intervals[measure], end))
                    if value == value:
                        found[f"{name}{'_' if flat else ' '}{end}"] = value
        return found

    def to_huggingface(
        self, *, dataset: str = UNKNOWN, dataset_name: str | None = None, task: str = TASK
    ) -> list[dict[str, Any]]:
        """The rows of a model card of Hugging Face, one model for each run.

        Parameters
        ----------
        dataset : str, optional
            The id of the data set.
        dataset_name : str, optional
            What people call it; by default its id.
        task : str, optional
            The kind of task.

        Returns
        -------
        list of dict
            What a card has under `model-index`; the metrics have the names of
            `to_metrics(names="mlflow")`, and what people read beside them.

        Examples
        --------
        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> [model] = found.to_huggingface(dataset="me/questions")
        >>> model["results"][0]["metrics"]
        [{'type': 'RR_at_10', 'value': 0.5, 'name': 'RR@10'}]
        """
        about = {
            "task": {"type": task, "name": task.replace("-", " ").capitalize()},
            "dataset": {"type": dataset, "name": dataset_name or dataset},
        }
        return [
            {
                "name": run.name,
                "results": [
                    {
                        **about,
                        "metrics": [
                            {
                                "type": metric_name(measure),
                                "value": float(run.summary[measure]),
                                "name": self.label(measure),
                            }
                            for measure in self.measures
                        ],
                    }
                ],
            }
            for run in self.runs
        ]

    def to_yaml(self, *, dataset: str | None = None) -> str:
        """The head of a model card of Hugging Face in YAML, ready to paste.

        Parameters
        ----------
        dataset : str, optional
            The id of the data set.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> print(evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_yaml()[:37])
        model-index:
        - name: "run"
          results:
        """
        rows = self.to_huggingface(dataset=dataset or UNKNOWN)
        return "\n".join(_yaml({"model-index": rows}, "")) + "\n"


def metric_name(measure: Measure) -> str:
    """A measure in letters, digits and ``_ - .`` alone.

    >>> from judged import parse_measure
    >>> metric_name(parse_measure("RBP(p=0.95)")), metric_name(parse_measure("AP(rel=2)@100"))
    ('RBP.p-0.95', 'AP.rel-2_at_100')
    """
    text, at, cutoff = str(measure).rpartition("@")
    name, _, inside = (text if at else cutoff).removesuffix(")").partition("(")
    pairs = (each.partition("=") for each in re.split(r", (?=[A-Za-z_]+=)", inside) if inside)
    shown = [f"{key}-{escaped(value)}" for key, _, value in pairs]
    return ".".join([name, *shown]) + (f"{_AT}{cutoff}" if at else "")


def parse_metric(name: str) -> Metric:
    """What a name of `Evaluation.to_metrics(names="mlflow")` stands for.

    Parameters
    ----------
    name : str
        The name of a number.

    Returns
    -------
    Metric
        The measure, the run (None where the name has none) and the end of the interval (None where
        it is the number itself).

    Examples
    --------
    >>> import judged
    >>> judged.parse_metric("bm25/nDCG.gain-exp_at_10_low")
    Metric(measure=nDCG(gain=exp)@10, run='bm25', end='low')
    """
    from judged.measures import parse_measure

    if not isinstance(name, str):
        raise InputError(f"the name of a metric is a text; got {quoted(name)}.")
    *before, last = name.split("/")
    end = next((end for end in _ENDS if last.endswith(f"_{end}")), None)
    last = last.removesuffix(f"_{end}")
    if len(before) > 1:
        raise InputError(f"{quoted(name)} is no name of a metric: it has more than one run.")
    stem, at, cutoff = last.rpartition(_AT)
    bare, *params = _PARAMETER.split(stem if at else last)
    pairs = (each.partition("-") for each in params)
    inside = ", ".join(f"{key}={_unescaped(value)}" for key, _, value in pairs)
    text = f"{bare}{f'({inside})' if inside else ''}{f'@{cutoff}' if at else ''}"
    return Metric(parse_measure(text), _unescaped(before[0]) if before else None, end)


def escaped(text: str) -> str:
    """Any text in letters, digits and ``_ - .``; `_unescaped` leads back.

    >>> escaped("my run/2"), escaped("v1.5")
    ('my..20.run..2f.2', 'v1.5')
    """

    def kept(at: int) -> bool:
        if text[at] != ".":
            return bool(_KEPT.match(text[at]))
        beside = text[max(at - 1, 0) : at] + text[at + 1 : at + 2]
        return len(beside) == 2 and all(map(_KEPT.match, beside))

    return "".join(each if kept(at) else f"..{ord(each):x}." for at, each in enumerate(text))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _yaml(value: Any, indent: str) -> Iterator[str]:
    """Dicts and lists of plain values as lines of YAML, texts between quotation marks."""
    import json

    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, (Mapping, list)):
                yield f"{indent}{key}:"
                yield from _yaml(inner, indent if isinstance(inner, list) else f"{indent}  ")
            else:
                shown = json.dumps(inner)
                yield f"{indent}{key}: {_INFINITE.get(shown, shown)}"
    else:
        for inner in value:
            first, *rest = _yaml(inner, f"{indent}  ")
            yield f"{indent}- {first.removeprefix(indent + '  ')}"
            yield from rest
