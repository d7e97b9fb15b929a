"""Build the documentation site: `python docs/build.py FOLDER`.

It needs the extra `docs` and no network. Warnings are errors, such as a broken link or anchor, a
page without a place in the side bar, or a formula that cannot be set.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from website.sources import write_sources

CONFIGURATION = Path(__file__).resolve().parent / "website"


def main(folder: str) -> int:
    from sphinx.cmd.build import main as sphinx

    with TemporaryDirectory() as sources, TemporaryDirectory() as doctrees:
        write_sources(Path(sources))
        strictly = ["-W", "--keep-going", "--quiet"]
        return sphinx([*strictly, "-c", str(CONFIGURATION), "-d", doctrees, sources, folder])


def refuse(*_: Any, **__: Any) -> NoReturn:
    """Raise an error instead of connecting."""
    raise OSError("The site is made without network.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say where to: python docs/build.py FOLDER")
    socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
    sys.exit(main(sys.argv[1]))
