"""The benchmark starts: all its cases can be made."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_case_of_the_benchmark_is_named_in_its_usage() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "nothing"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    for name in ("files", "dicts", "startup", "large", "embeddings", "spark_embeddings"):
        assert f"'{name}'" in done.stderr
