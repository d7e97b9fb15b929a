"""Makes the site of the documentation: `python docs/build.py FOLDER`.

It needs the extra `docs` and no network. Warnings are errors: a link or an anchor that leads
nowhere, a page without a place, a formula that cannot be set.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from website.sources import write_sources

CONFIGURATION = Path(__file__).resolve().parent / "website"


def main(folder: str) -> int:
    from sphinx.cmd.build import main as sphinx

    with TemporaryDirectory() as sources, TemporaryDirectory() as doctrees:
        write_sources(Path(sources))
        return sphinx(
            ["-W", "--keep-going", "--quiet", "-c", str(CONFIGURATION), "-d", doctrees]
            + [sources, folder]
        )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say where to: python docs/build.py FOLDER")
    sys.exit(main(sys.argv[1]))
