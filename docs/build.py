"""Makes the site of the documentation: `python docs/build.py FOLDER`.

It needs the extra `docs`, and gets no network. Warnings are errors: a link or an anchor that leads
nowhere, a page without a place, a formula that cannot be set.
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
    """In place of every way to a network."""
    raise OSError("The site is made without network.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say where to: python docs/build.py FOLDER")
    socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
    sys.exit(main(sys.argv[1]))
