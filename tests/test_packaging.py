"""The built wheel, installed without extras in a clean environment."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import judged

pytestmark = [pytest.mark.full, pytest.mark.slow]

ROOT = Path(__file__).parents[1]


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=plain,
        capture_output=True,
        text=True,
        check=False,
    )


def pip(python: Path, *command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """This environment's pip, at work in another one."""
    return run(sys.executable, "-m", "pip", "--python", python, *command, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    built = run(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT, cwd=folder
    )
    assert built.returncode == 0, built.stderr
    [wheel] = folder.glob("judged-*.whl")
    return wheel


@pytest.fixture(scope="module")
def clean(wheel):
    """A virtual environment with the wheel and its core dependencies, nothing else."""
    folder = wheel.parent
    venv.create(folder / "env")
    python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    installed = pip(python, "install", "--quiet", "--no-compile", wheel, cwd=folder)
    if installed.returncode and not os.environ.get("CI"):
        pytest.skip(
            f"the core dependencies cannot be installed here: {installed.stderr.strip()[-200:]}"
        )
    assert installed.returncode == 0, installed.stderr
    return python, folder


def test_only_the_core_dependencies_came_along(clean):
    python, folder = clean
    names = pip(python, "list", "--format", "freeze", cwd=folder).stdout.lower()
    assert all(
        f"{name}==" in names for name in ("judged", "numpy", "polars", "scipy", "click", "rich")
    )
    assert not any(
        f"{name}==" in names
        for name in ("pandas", "pyarrow", "altair", "starlette", "pyspark", "torch")
    )


def test_help_evaluation_and_demo_work(clean):
    python, folder = clean
    judged = python.with_name("judged")
    assert run(judged, "--help", cwd=folder).stdout.startswith("Usage: judged")
    (folder / "qrels").write_text("1 0 a 1\n")
    (folder / "run").write_text("1 Q0 b 1 2.0 x\n1 Q0 a 2 1.0 x\n")
    done = run(judged, "evaluate", "qrels", "run", "-m", "RR", "--format", "trec", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "RR\tall\t0.5\n", "")
    demo = run(judged, "demo", cwd=folder)
    assert demo.returncode == 0, demo.stderr
    assert "cosine-pixels" in demo.stdout
    assert "nDCG@10: dense is significantly better than bm25 by " in demo.stdout


def test_a_missing_extra_is_one_line_of_advice(clean):
    python, folder = clean
    code = "import judged; judged.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}).to_pandas()"
    done = run(python, "-c", code, cwd=folder)
    assert (
        done.stderr.splitlines()[-1]
        == "judged.errors.MissingExtraError: to_pandas needs pandas: pip install pandas."
    )


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"judged", f"judged-{judged.__version__}.dist-info"}
    kinds = {Path(name).suffix for name in names if name.startswith("judged/")}
    assert kinds == {
        *(".py", ".pyi", ".typed", ".html", ".css", ".js", ".md", ".npz", ".txt", ".tsv", ".gz")
    }
    # Every template, style and script, the type marker, and the data.
    source = ROOT / "src"
    pages = {path for path in source.rglob("*") if path.suffix in (".html", ".css", ".js")}
    wanted = {path.relative_to(source).as_posix() for path in pages}
    texts = ("queries.tsv", "passages.tsv", "judgements.txt", "second-judge.txt", "vectors.npz")
    runs = ("bm25.run.gz", "dense.run.gz", "fused.run.gz")
    wanted |= {f"judged/data/text/{name}" for name in (*texts, *runs)}
    wanted |= {f"judged/{name}" for name in ("py.typed", "data/digits.npz", "data/README.md")}
    wanted |= {
        "judged/web/pages/assets/styles/tokens.css",
        "judged/web/pages/templates/layout.html",
    }
    assert wanted <= names


@pytest.fixture(scope="module")
def sdist(wheel):
    """The source as it is published."""
    folder = wheel.parent
    code = "import sys, hatchling.build as b; print(b.build_sdist(sys.argv[1]))"
    tools = folder / "tools"
    run(sys.executable, "-m", "pip", "install", "-q", "--target", tools, "hatchling", cwd=folder)
    built = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder / built.stdout.split()[-1]


def test_the_source_holds_what_a_contributor_needs_and_nothing_else(sdist):
    with tarfile.open(sdist) as packed:
        names = [name.partition("/")[2] for name in packed.getnames()]
    tops = {name.partition("/")[0] for name in names}
    assert tops == {
        *("src", "tests", "docs", "notebooks", "replications", "bench", "scripts"),
        *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE"),
        *("pyproject.toml", "PKG-INFO", ".gitignore"),
    }
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".log"))]


def test_the_citation_has_the_version_and_its_date():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {judged.__version__}\n" in text
    first = next(
        line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## [")
    )
    date = text.partition("date-released: ")[2].splitlines()[0]
    assert first == f"## [{judged.__version__}] - {date}"
