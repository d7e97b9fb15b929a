"""The explorer, a local web app over the same objects: safe by default."""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, MissingExtraError
from judged.web.settings import HOST, PORT, ServerSettings, is_loopback

if TYPE_CHECKING:
    from judged.web.safety import Safety

__all__ = ["ServerSettings", "application", "serve"]

PORTS_TRIED = 20


def application(settings: ServerSettings) -> Safety:
    """Return the explorer as an ASGI application, behind its safety checks.

    >>> application(ServerSettings.of([])).settings.host
    '127.0.0.1'
    """
    try:
        from judged.web.app import application as build
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio"):
            raise
        raise MissingExtraError('The explorer needs starlette: pip install "judged[web]".') from (
            None
        )
    return build(settings)


def serve(
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    host: str = HOST,
    port: int = PORT,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
    **options: Any,
) -> None:
    """Serve the explorer until it is interrupted.

    Parameters
    ----------
    paths : sequence of str or path, optional
        Files of judgements, runs, texts and vectors, or one folder of them.
    host : str, optional
        The address to listen on; by default this machine only.
    port : int, optional
        The port, or the next free one. 0 takes any free port.
    open_browser : bool, optional
        Whether to open the browser.
    say : callable, optional
        Receives each line of output.
    **options
        Of `ServerSettings`: `key`, `memory`, `upload_limit`, `demo`, `annotator`, `grades`,
        `overlap` and `queue`.

    >>> serve(["nothing.here"])
    Traceback (most recent call last):
    judged.errors.InputError: nothing.here: no such file.
    """
    settings = ServerSettings.of(paths, host=host, port=port, **options)
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise MissingExtraError('The explorer needs uvicorn: pip install "judged[web]".') from None
    listening = bound(settings, say)
    settings = replace(settings, port=listening.getsockname()[1])
    app = application(settings)
    say(f"The explorer is at {settings.address}")
    if not is_loopback(settings.host):
        say(
            f"It listens on {settings.host}: anyone who can reach this machine and has the address "
            "with its key can read these files. The connection is not encrypted."
        )
    first = settings.address
    if settings.annotator:
        first = settings.page("/judge")
        say(f"{settings.annotator} judges at {first}")
    say("Files stay on this machine. Press Ctrl-C to stop.")
    if open_browser:
        _open(first)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])


def bound(settings: ServerSettings, say: Callable[[str], None]) -> socket.socket:
    """Return a socket that listens on the first free port, from the chosen one up."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    last = min(settings.port + PORTS_TRIED, 65_535)
    for port in range(settings.port, last + 1):
        listening = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((settings.host, port))
            # Requests wait from here on, so that the address works as soon as it is printed.
            listening.listen(128)
        except (OSError, UnicodeError) as error:
            listening.close()
            if not isinstance(error, OSError) or isinstance(error, socket.gaierror):
                raise InputError(f"unknown host {settings.host!r}; give an address.") from None
            if port < last and error.errno == EADDRINUSE:
                say(f"Port {port} is in use; trying {port + 1}.")
                continue
            raise InputError(
                f"cannot listen on {settings.host} port {port} ({error.strerror}); choose another "
                "port (--port)."
            ) from None
        return listening
    raise AssertionError


def _open(address: str) -> None:
    threading.Timer(0.5, lambda: webbrowser.open(address)).start()
