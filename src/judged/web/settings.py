"""The settings that a server is started with."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe

from judged.errors import InputError
from judged.judgements import OVERLAP
from judged.judgements.annotators import check_name
from judged.judgements.worklist import Scale
from judged.options import number, size_in_bytes, whole

HOST, PORT = "127.0.0.1", 8686
RESULT_MEMORY = "1GB"
UPLOAD_LIMIT = "500MB"
KEY_BYTES = 18


@dataclass(frozen=True)
class ServerSettings:
    """The files, the address, the key and the limits of a server, and settings of judging.

    >>> settings = ServerSettings.of([], key="k", grades="0 no, 1 yes")
    >>> settings.address, settings.grades.top
    ('http://127.0.0.1:8686/?key=k', 1)
    """

    paths: tuple[Path, ...] = ()  # files, or one folder
    host: str = HOST
    port: int = PORT
    key: str | None = field(default=None, repr=False)
    """The key in the first address; None if no key is needed."""
    memory: int = 10**9  # bytes that results may take; the least recently used are dropped first
    upload_limit: int = 5 * 10**8  # bytes of all uploads of a session, and of an unpacked file
    demo: Callable[[Path], object] | None = field(default=None, repr=False)
    """Writes the files of the demo into a folder; None without a demo."""
    annotator: str = ""  # empty if the judging page asks for the name
    grades: Scale | None = None  # None for the grades of the collection's judgements
    overlap: float = OVERLAP  # the share of items that every annotator gets
    queue: Path | None = None  # the file of items to judge; None to derive them from the runs

    @classmethod
    def of(
        cls,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        host: str = HOST,
        port: int = PORT,
        key: bool | str = True,
        memory: str | int = RESULT_MEMORY,
        upload_limit: str | int = UPLOAD_LIMIT,
        demo: Callable[[Path], object] | None = None,
        annotator: str | None = None,
        grades: str | None = None,
        overlap: float = OVERLAP,
        queue: str | os.PathLike[str] | None = None,
    ) -> ServerSettings:
        files = tuple(Path(path) for path in paths)
        for path in (*files, *([Path(queue)] if queue is not None else [])):
            if not path.exists():
                raise InputError(f"{path}: no such file.")
        if len(files) > 1 and any(path.is_dir() for path in files):
            raise InputError("give one folder, or files; not a folder and something else.")
        if not key and not is_loopback(host):
            raise InputError(
                f"key=False (--no-key) works on this machine only: {host} can be reached from "
                "elsewhere, and anyone who reaches it could read everything. Leave out key=False "
                "(--no-key), or host (--host)."
            )
        return cls(
            files,
            host,
            whole("port", port, at_least=0, at_most=65_535),
            (key if isinstance(key, str) else token_urlsafe(KEY_BYTES)) if key else None,
            size_in_bytes(memory),
            size_in_bytes(upload_limit),
            demo,
            "" if annotator is None else check_name(annotator),
            None if grades is None else Scale.read(grades),
            number("overlap", overlap, at_least=0, at_most=1),
            None if queue is None else Path(queue),
        )

    @property
    def shown_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def address(self) -> str:
        return self.page("/")

    def page(self, path: str) -> str:
        key = f"?key={self.key}" if self.key else ""
        return f"http://{self.shown_host}:{self.port}{path}{key}"

    @property
    def cookie(self) -> str:
        """The name of the cookie; it has the port because browsers ignore ports."""
        return f"judged-{self.port}"


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
