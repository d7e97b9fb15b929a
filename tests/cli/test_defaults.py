"""What help says of defaults is what the library does without being told."""

import inspect

import click
import pytest

from judged.checks import STUDIED_TEMPERATURES as STUDIED
from judged.cli.learn import learn
from judged.cli.temperature import temperature
from judged.cli.temperature_study import temperature_study
from judged.learn import KINDS, fit
from judged.learn.training import MEASURES
from judged.temperature import TEMPERATURES, study, sweep


@pytest.mark.parametrize(
    ("command", "function"), [(learn, fit), (temperature, sweep), (temperature_study, study)]
)
def test_defaults_are_those_of_the_library(command, function):
    known = {name: each.default for name, each in inspect.signature(function).parameters.items()}
    if function is study:  # its other options are those of fit
        known = {
            name: each.default for name, each in inspect.signature(fit).parameters.items()
        } | known
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
    assert len(shared) >= 5
    assert {name: options[name] for name in shared} == {name: known[name] for name in shared}


def help_of(command, name):
    [option] = [each for each in command.params if each.name == name]
    return option.help


def test_lists_in_help_are_those_of_the_library():
    assert f"{len(TEMPERATURES)} from {TEMPERATURES[0]:g} to {TEMPERATURES[-1]:g}" in help_of(
        temperature, "temperatures"
    )
    *most, last = [f"{each:g}" for each in STUDIED]
    assert f"{', '.join(most)} and {last} if none is given" in help_of(
        temperature_study, "temperatures"
    )
    assert f"{', '.join(MEASURES[:-1])} and {MEASURES[-1]} if none is given" in help_of(
        temperature_study, "reported"
    )
    assert all(kind in help_of(learn, "kind") for kind in KINDS)
