"""The explorer: a local web app over the same objects, safe by default."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from errno import EADDRINUSE
from pathlib import Path
from typing import TYPE_CHECKING

from judged.errors import InputError, MissingExtraError
from judged.judgements.worklist import OVERLAP
from judged.web.settings import HOST, PORT, RESULT_MEMORY, UPLOAD_LIMIT, ServerSettings, is_loopback

if TYPE_CHECKING:
    from judged.web.safety import Safety

__all__ = ["ServerSettings", "application", "serve"]

TRIED = 20
"""So many ports are tried, each one above the last."""


def application(settings: ServerSettings) -> Safety:
    """The explorer as an ASGI application, with its checks around it.

    Parameters
    ----------
    settings : ServerSettings
        The files, the address and the bounds.

    Returns
    -------
    Safety

    >>> application(ServerSettings.of([])).settings.host
    '127.0.0.1'
    """
    try:
        from judged.web.app import application as made
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio"):
            raise
        raise MissingExtraError('The explorer needs starlette: pip install "judged[web]".') from (
            None
        )
    return made(settings)


def serve(
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    host: str = HOST,
    port: int = PORT,
    key: bool = True,
    open_browser: bool = True,
    memory: str | int = RESULT_MEMORY,
    upload_limit: str | int = UPLOAD_LIMIT,
    annotator: str | None = None,
    grades: str | None = None,
    overlap: float = OVERLAP,
    queue: str | os.PathLike[str] | None = None,
    seed: int = 0,
    demo: Callable[[Path], object] | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the explorer until it is interrupted.

    Parameters
    ----------
    paths : sequence of str or path, optional
        Files of judgements, runs, texts and vectors, or one folder of them.
    host : str, optional
        Where it listens; by default on this machine alone.
    port : int, optional
        The port; where it is in use, the next one that is free. 0 takes any.
    key : bool, optional
        Whether only those may look who have the address with its key; False only on this machine.
    open_browser : bool, optional
        Whether the browser is opened.
    memory : str or int, optional
        How much results may take, as "1GB".
    upload_limit : str or int, optional
        How much a browser may send, as "500MB".
    annotator : str, optional
        Who judges on the judging page; by default the page asks.
    grades : str, optional
        The grades of the judging page and what they mean, as "0 not relevant, 1 relevant"; by
        default those of the judgements.
    overlap : float, optional
        The share of items that every annotator judges, from 0 to 1; the others are for whoever
        grades them first.
    queue : str or path, optional
        A table of queries and items that are to be judged; by default they follow from the runs.
    seed : int, optional
        The seed of the order in which items are judged, and of which items everybody judges.
    demo : callable, optional
        What writes the files of a demo into a folder, for who has no files of their own.
    say : callable, optional
        What is told line by line: the address, and what it means.

    >>> serve(["nothing.here"])
    Traceback (most recent call last):
    judged.errors.InputError: nothing.here: no such file.
    """
    settings = ServerSettings.of(
        list(paths),
        host=host,
        port=port,
        key=key,
        memory=memory,
        upload_limit=upload_limit,
        demo=demo,
        annotator=annotator,
        grades=grades,
        overlap=overlap,
        queue=queue,
        seed=seed,
    )
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
            f"It listens on {settings.host}: whoever can reach this machine and has the address "
            "with its key can look at these files, and what is sent is not encrypted."
        )
    first = settings.address
    if settings.judging.annotator:
        first = settings.page("/judge")
        say(f"{settings.judging.annotator} judges at {first}")
    say("Files stay on this machine. Press Ctrl-C to stop.")
    if open_browser:
        _open(first)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])


def bound(settings: ServerSettings, say: Callable[[str], None]) -> socket.socket:
    """A socket on the first port that is free, from the one that is wanted on."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    last = min(settings.port + TRIED, 65_535)
    for port in range(settings.port, last + 1):
        found = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((settings.host, port))
        except OSError as error:
            found.close()
            if isinstance(error, socket.gaierror):
                raise InputError(f"there is no host {settings.host!r}; give an address.") from None
            if port < last and error.errno == EADDRINUSE:
                say(f"Port {port} is in use; trying {port + 1}.")
                continue
            raise InputError(
                f"cannot listen on {settings.host} port {port} ({error.strerror}); choose another "
                "with --port."
            ) from None
        return found
    raise AssertionError


def _open(address: str) -> None:
    import threading
    import webbrowser

    threading.Timer(0.5, lambda: webbrowser.open(address)).start()
