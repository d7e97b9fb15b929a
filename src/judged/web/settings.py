"""What a server is started with."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from judged.errors import InputError
from judged.judgements.annotators import check_name
from judged.judgements.worklist import OVERLAP, Scale
from judged.options import number, size_in_bytes, whole

HOST, PORT = "127.0.0.1", 8686
"""Where the explorer listens unless it is told otherwise: on this machine alone."""
RESULT_MEMORY = "1GB"
UPLOAD_LIMIT = "500MB"
KEY_BYTES = 18


@dataclass(frozen=True)
class JudgingSettings:
    """How the judging page begins.

    >>> JudgingSettings.of(grades="0 no, 1 yes").grades.top
    1
    """

    annotator: str = ""
    """Who judges; empty where it is asked for on the page."""
    grades: Scale | None = None
    """The grades that may be given; None for those of the collection's judgements."""
    overlap: float = OVERLAP
    """The share of items that every annotator gets."""
    queue: Path | None = None
    """The file of what is to be judged; None where it follows from the runs."""
    seed: int = 0

    @classmethod
    def of(
        cls,
        *,
        annotator: str | None = None,
        grades: str | None = None,
        overlap: float = OVERLAP,
        queue: str | os.PathLike[str] | None = None,
        seed: int = 0,
    ) -> JudgingSettings:
        """What a caller may pass, checked."""
        if queue is not None and not Path(queue).is_file():
            raise InputError(f"{queue}: no such file.")
        return cls(
            "" if annotator is None else check_name(annotator),
            None if grades is None else Scale.read(grades),
            number("overlap", overlap, at_least=0, at_most=1),
            None if queue is None else Path(queue),
            whole("seed", seed, at_least=0),
        )


@dataclass(frozen=True)
class ServerSettings:
    """Where a server listens, who may look, and how much it may hold.

    >>> ServerSettings.of([], key="k").address
    'http://127.0.0.1:8686/?key=k'
    """

    paths: tuple[Path, ...] = ()
    """Files, or one folder."""
    host: str = HOST
    port: int = PORT
    key: str | None = field(default=None, repr=False)
    """What the first address carries; None where nobody asks for it."""
    memory: int = 10**9
    """Bytes that results may take; what was used longest ago goes first."""
    upload_limit: int = 5 * 10**8
    """Bytes of all uploads of a browser together, and what a packed file may unpack to."""
    demo: Callable[[Path], object] | None = field(default=None, repr=False)
    """What writes the files of the demo into a folder; None where there is no demo to open."""
    judging: JudgingSettings = JudgingSettings()

    @classmethod
    def of(
        cls,
        paths: list[str | os.PathLike[str]] | tuple[str | os.PathLike[str], ...] = (),
        *,
        host: str = HOST,
        port: int = PORT,
        key: bool | str = True,
        memory: str | int = RESULT_MEMORY,
        upload_limit: str | int = UPLOAD_LIMIT,
        demo: Callable[[Path], object] | None = None,
        **judging: Any,
    ) -> ServerSettings:
        """Settings from what a caller may pass, checked."""
        given = tuple(Path(path) for path in paths)
        for path in given:
            if not path.exists():
                raise InputError(f"{path}: no such file.")
        if len(given) > 1 and any(path.is_dir() for path in given):
            raise InputError("give one folder, or files; not a folder and something else.")
        if not key and not is_loopback(host):
            raise InputError(
                f"--no-key is only for this machine: {host} can be reached from elsewhere, and "
                "whoever reaches it could look at everything. Leave out --no-key, or --host."
            )
        return cls(
            given,
            host,
            whole("port", port, at_least=0, at_most=65_535),
            (key if isinstance(key, str) else token_urlsafe(KEY_BYTES)) if key else None,
            size_in_bytes(memory),
            size_in_bytes(upload_limit),
            demo,
            JudgingSettings.of(**judging),
        )

    @property
    def shown_host(self) -> str:
        """The host as it stands in an address."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def address(self) -> str:
        """What the browser opens."""
        return self.page("/")

    def page(self, path: str) -> str:
        """The address of one page."""
        key = f"?key={self.key}" if self.key else ""
        return f"http://{self.shown_host}:{self.port}{path}{key}"

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers do not tell ports apart."""
        return f"judged-{self.port}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and nothing else.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
