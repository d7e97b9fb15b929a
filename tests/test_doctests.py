"""Doctests of a module leave one copy of it, so that the order of tests does not matter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COPIES = """
import sys, pytest
code = pytest.main(["-n", "0", "-q", "--collect-only", "-p", "no:cacheprovider", sys.argv[1]])
ours = {name: module for name, module in sys.modules.items() if name.startswith("judged")}
for module in ours.values():
    for each in list(vars(module).values()):
        home = ours.get(getattr(each, "__module__", None))
        if isinstance(each, type) and home is not None:
            assert getattr(home, each.__name__, each) is each, (module, each)
sys.exit(code)
"""


@pytest.mark.full
@pytest.mark.parametrize("name", ["measures/registry.py", "rankings/rankings.py"])
def test_a_module_that_its_package_loads_is_loaded_once(name: str) -> None:
    command = [sys.executable, "-c", COPIES, f"src/judged/{name}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
