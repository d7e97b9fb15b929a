"""The documentation says what the code does: generated parts, examples, completeness, links."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import click
import pytest

import judged
from judged.cli import cli
from judged.inputs.columns import NAMES
from judged.inputs.formats import COMPRESSION_SUFFIXES, FORMATS
from judged.measures import DEFAULT, REGISTRY
from judged.policy import CHOICES, Policy
from support.loops import for_each

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
    *sorted((ROOT / "docs").glob("*.md")),
]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
RERUN = "out of date: run `python docs/reference.py`"


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading, down to the next one of the same or a higher level."""
    level = len(heading) - len(heading.lstrip("#"))
    found = re.search(
        rf"^{re.escape(heading)}$(.*?)(?=^#{{1,{level}}} |\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, f"no heading {heading!r}"
    return found[1]


@for_each("page", PAGES, ids=lambda page: page.name)
def test_generated_parts_are_up_to_date(reference: ModuleType, page: Path) -> None:
    """And no line of prose is longer than a diff can show."""
    text = page.read_text(encoding="utf-8")
    assert reference.generated(page.name, text) == text, RERUN


@pytest.fixture(scope="module")
def demo_folder(pasted: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("docs")
    pasted.output("judged demo", folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=() if page.name == "README.md" else pytest.mark.full)
        for page in PAGES
    ],
)
def test_pasted_outputs_are_real(pasted: ModuleType, demo_folder: Path, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert pasted.with_outputs(text, demo_folder) == text, RERUN


def test_readme_has_two_commands_and_a_real_terminal(pasted: ModuleType) -> None:
    text = text_of("README.md")
    for command in ('pip install ".[all]" && judged demo', 'pip install -e ".[dev]" && pytest'):
        assert f"```\n{command}\n```" in text
    shown = pasted.EXAMPLE.findall(text)
    assert any(
        command.startswith("judged evaluate ") and "nDCG@10" in output for command, output in shown
    )


def test_the_default_measures_are_documented() -> None:
    *most, last = DEFAULT
    assert f"Without `-m` the measures are {', '.join(most)} and {last}." in text_of(
        "docs/commands.md"
    )


def test_completion_is_documented_for_every_shell() -> None:
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    text = section(text_of("docs/commands.md"), "## Shell completion")
    for shell in (BashComplete, ZshComplete, FishComplete):
        assert f"_JUDGED_COMPLETE={shell.name}_source judged" in text
        assert "_judged_completion" in shell(cli, {}, "judged", "_JUDGED_COMPLETE").source()


def test_the_changelog_names_every_measure() -> None:
    listed = text_of("CHANGELOG.md")
    assert [name for name in REGISTRY if not re.search(rf"\b{name}\b", listed)] == []


@for_each("name", judged.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert f"`judged.{name}`" in text_of("docs/python.md")
    value = getattr(judged, name)
    if not isinstance(value, str):
        assert (value.__doc__ or "").strip()
        # A dataclass without a docstring of its own gets its signature for one.
        assert not value.__doc__.startswith(f"{name}(")


def test_names_of_namespaces_and_evaluations_are_documented() -> None:
    text = text_of("docs/python.md")
    names = [f"learn.{name}" for name in judged.learn.__all__]
    names += [f"temperature.{name}" for name in judged.temperature.__all__]
    assert [name for name in names if f"`judged.{name}`" not in text] == []
    exports = [name for name in vars(judged.Evaluation) if name.startswith("to_")]
    shown = section(text, "## The evaluation")
    named = (*exports, "audit")
    assert [name for name in named if f"`.{name}" not in shown] == []


@for_each("kind", judged.learn.KINDS)
def test_every_kind_of_learned_similarity_is_documented(kind: str) -> None:
    assert f"| `{kind}` |" in section(text_of("docs/temperature.md"), "### Kinds")
    command = cli.get_command(click.Context(cli, info_name="judged"), "learn")
    assert command is not None
    (option,) = (param for param in command.params if param.name == "kind")
    assert isinstance(option, click.Option)
    assert kind in (option.help or "")


@for_each("choice", CHOICES)
def test_every_policy_is_documented(choice: str) -> None:
    values = ", ".join(f"`{value}`" for value in CHOICES[choice])
    row = f"| `{choice}` | {values} | `{getattr(Policy(), choice)}` | `--{choice}` |"
    assert row in text_of("docs/policy.md")


def test_every_count_of_the_audit_is_documented() -> None:
    text = section(text_of("docs/inputs.md"), "## The audit")
    assert [
        name for name in judged.results.Audit.__dataclass_fields__ if f"`{name}`" not in text
    ] == []


def test_every_input_format_and_column_name_is_documented() -> None:
    text = text_of("docs/inputs.md")
    for name, row in FORMATS.items():
        assert f"`{name}`" in text
        assert all(f"`{ending}`" in text for ending in row.suffixes)
    for role, names in NAMES.items():
        assert f"| {role} | {', '.join(f'`{name}`' for name in names)} |" in text
    spelled = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}
    assert all(spelled[suffix] in text for suffix in COMPRESSION_SUFFIXES)


def slug(heading: str) -> str:
    """The anchor that a heading gets."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {
        slug(found)
        for found in re.findall(
            r"^#+ (.+)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
        )
    }


@for_each("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), target


def test_the_index_links_every_page() -> None:
    text = text_of("docs/index.md")
    assert [
        page.name
        for page in (ROOT / "docs").glob("*.md")
        if page.name != "index.md" and f"]({page.name})" not in text
    ] == []


@for_each("page", PAGES, ids=lambda page: page.name)
def test_examples_leave_a_line_before_the_fence(page: Path) -> None:
    """Otherwise doctest takes the closing fence for output."""
    blocks = [
        block
        for block in FENCED.findall(page.read_text(encoding="utf-8"))
        if re.search(r"^>>> ", block, re.MULTILINE)
    ]
    assert [block for block in blocks if not block.endswith("\n\n```")] == []
