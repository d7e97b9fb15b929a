"""What a server is started with."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe

from judged.checks import size_in_bytes, whole
from judged.errors import InputError

HOST, PORT = "127.0.0.1", 8686
"""Where the explorer listens unless it is told otherwise: on this machine alone."""
MEMORY = "1GB"
UPLOAD_LIMIT = "500MB"
KEY_BYTES = 18


@dataclass(frozen=True)
class Settings:
    """Where a server listens, who may look, and how much it may hold.

    >>> Settings.of([], key="k").address
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

    @classmethod
    def of(
        cls,
        paths: list[str | os.PathLike[str]] | tuple[str | os.PathLike[str], ...] = (),
        *,
        host: str = HOST,
        port: int = PORT,
        key: bool | str = True,
        memory: str | int = MEMORY,
        upload_limit: str | int = UPLOAD_LIMIT,
        demo: Callable[[Path], object] | None = None,
    ) -> Settings:
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
        )

    @property
    def shown_host(self) -> str:
        """The host as it stands in an address."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def address(self) -> str:
        """What the browser opens."""
        return f"http://{self.shown_host}:{self.port}/" + (f"?key={self.key}" if self.key else "")

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
