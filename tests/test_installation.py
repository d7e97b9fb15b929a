"""What `judged doctor` finds: packages held against what is declared, and what each fault says."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import judged
from judged.cli import NO
from judged.cli import doctor as installation
from judged.cli.doctor import UNLISTED, Package, doctor
from support.loops import for_each

DECLARED = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def found() -> installation.Installation:
    return doctor()


def test_every_declared_package_of_judged_and_its_extras_is_listed(found) -> None:
    listed = {(each.part, each.name, each.needs) for each in found.packages}
    wanted = {("judged", *each.split(">=")) for each in DECLARED["dependencies"]}
    assert wanted <= listed
    extras = DECLARED["optional-dependencies"]
    own = {name: [e for e in extras[name] if "judged[" not in e] for name in {*extras} - UNLISTED}
    assert {(part, *each.split(">=")) for part, all_ in own.items() for each in all_} <= listed
    assert {each.part for each in found.packages} == {"judged", "faster", *own}


def test_versions_are_those_that_are_installed(found) -> None:
    versions = {each.name: each.version for each in found.packages}
    assert versions["numpy"] == metadata.version("numpy")
    assert found.facts["judged"] == judged.__version__
    assert found.well


@for_each(
    ("version", "needs", "state"),
    [
        ("1.38.1", "1.38.1", "ok"),
        ("1.38", "1.38.0", "ok"),
        ("1.9", "1.38.1", "too old"),
        ("2.0rc1", "2.0", "ok"),
        ("26.0.1", "15", "ok"),
        ("1.9.0.post1", "1.9", "ok"),
        ("0.5", None, "ok"),
        (None, "1.0", "missing"),
    ],
)
def test_state_of_a_version(version: str | None, needs: str | None, state: str) -> None:
    assert Package("charts", "x", needs, version, None).state == state


def test_requirements_as_packages_declare_them() -> None:
    texts = [
        "numpy>=1.26",
        "pillow>=10.1; extra == 'charts'",
        'judged[charts]; extra == "web"',
        "duckdb>=1.3.2; extra == 'dev'",
        "pandas!=2.1,>=2.2; python_version < '4' and extra == 'spark'",
    ]
    assert [*installation._requirements(texts)] == [
        ("judged", "numpy", "1.26"),
        ("charts", "pillow", "10.1"),
        ("spark", "pandas", "2.2"),
    ]


def test_each_fault_says_what_to_do() -> None:
    packages = [
        Package("judged", "polars", "1.38.1", None, None),
        Package("judged", "numpy", "1.26", "1.20", None),
        Package("charts", "altair", "5.3", None, None),
        Package("charts", "pillow", "10.1", None, None),
        Package("vectors", "h5py", "3.8", "3.9", "ImportError: no libhdf5"),
        Package("faster", "isal", None, None, None),
    ]
    assert [str(each) for each in installation._notes(packages)] == [
        "polars is missing, and judged needs it: pip install polars",
        "numpy is 1.20, needed is 1.26: pip install --upgrade numpy",
        "h5py 3.9 does not import: ImportError: no libhdf5",
        "isal unpacks gz faster, but is not installed: pip install isal",
        'charts needs altair and pillow: pip install "judged[charts]"',
    ]
    assert not installation.Installation({}, tuple(packages), ()).well
    assert installation.Installation({}, tuple(packages[2:]), ()).well


def test_a_package_that_does_not_import_is_broken() -> None:
    # The distribution is there, but the module that stands for it is not.
    found = installation._package("judged", "numpy", "1.26", "no_such_module_of_numpy")
    assert found.state == "broken"
    assert found.trouble is not None
    assert found.trouble.startswith("ModuleNotFoundError")


def test_the_command_prints_both_tables_and_its_code_says_whether_it_is_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from judged.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    assert out.startswith("what")
    assert f"numpy              1.26    {metadata.version('numpy')}" in out
    faulty = installation.Installation({}, (Package("judged", "polars", "1.38.1", None, None),), ())
    monkeypatch.setattr(installation, "doctor", lambda: faulty)
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--format", "json"])
    assert ended.value.code == NO
    assert '"well": false' in capsys.readouterr().out
