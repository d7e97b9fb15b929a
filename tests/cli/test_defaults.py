"""What help says of defaults and formats is what the library does without being told."""

import inspect

import click
import pytest

from judged import (
    Embeddings,
    Policy,
    agreement,
    evaluate,
    evaluate_retriever,
    fuse,
    merge_judgements,
    overlap,
    plan,
    queue,
)
from judged.charts.kinds.distributions import rank_histogram
from judged.cli import COMMANDS, cli
from judged.cli.embeddings import TOP
from judged.cli.learn import learn
from judged.cli.temperature import temperature
from judged.conventions.disagreement import DEFAULT
from judged.embeddings.relevance import revisited
from judged.learning.learn import KINDS, TrainingSettings, fit
from judged.learning.temperature import TEMPERATURES, study, sweep
from judged.options import STUDIED_TEMPERATURES as STUDIED
from judged.web.settings import ServerSettings

VECTORS = (Embeddings, revisited)
CALLED = {
    "evaluate": (Policy,),
    "retriever": (Policy, evaluate_retriever),
    "embeddings": (*VECTORS, Embeddings.evaluate),
    "learn": (*VECTORS, TrainingSettings, fit),
    "temperature": (*VECTORS, TrainingSettings, study, sweep),
    "fuse": (fuse,),
    "queue": (queue,),
    "plan": (evaluate, plan),
    "agreement": (evaluate, agreement),
    "merge": (merge_judgements,),
    "overlap": (overlap,),
    "plot": (rank_histogram,),
    "serve": (ServerSettings.of,),
}
"""The functions that a command calls; the last one counts."""


def command_of(name):
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


@pytest.mark.parametrize("name", CALLED)
def test_defaults_are_those_of_the_library(name):
    known = {
        each.name: each.default
        for function in CALLED[name]
        for each in inspect.signature(function).parameters.values()
    }
    command = command_of(name)
    options = {
        each.name: each.get_default(click.Context(command))
        for each in command.params
        if isinstance(each, click.Option)
    }
    shared = {
        name
        for name, value in options.items()
        if name in known and type(value) in (int, float, str)
    }
    assert shared
    assert {name: options[name] for name in shared} == {name: known[name] for name in shared}


def help_of(command, name):
    [option] = [each for each in command.params if each.name == name]
    return option.help


def test_lists_in_help_are_those_of_the_library():
    assert f"{len(TEMPERATURES)} from {TEMPERATURES[0]:g} to {TEMPERATURES[-1]:g}" in help_of(
        temperature, "temperatures"
    )
    *most, last = [f"{each:g}" for each in STUDIED]
    assert f"--train {', '.join(most)} and {last}." in help_of(temperature, "temperatures")
    assert all(kind in help_of(learn, "kind") for kind in KINDS)
    said = " ".join(command_of("conventions").help.split())
    assert f"The measures are {', '.join(DEFAULT[:-1])} and {DEFAULT[-1]} unless" in said


def test_as_many_first_items_as_in_the_library():
    for method in (Embeddings.evaluate_index, Embeddings.evaluate_and_top_k):
        assert inspect.signature(method).parameters["k"].default == TOP


NO_RESULT = {"plot", "demo", "trec-eval", "measures", "report", "serve", "fuse", "merge", "mcp"}
"""Commands that print no result, or write a run or judgements in its place."""


@pytest.mark.parametrize("name", sorted({*COMMANDS} - NO_RESULT))
def test_every_result_can_be_printed_in_the_same_formats(name):
    [option] = [each for each in command_of(name).params if each.name == "form"]
    assert {"text", "json", "csv", "markdown", "html"} <= set(option.type.choices)
