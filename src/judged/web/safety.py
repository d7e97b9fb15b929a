"""Safety checks before every request, and the headers of every answer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from secrets import token_urlsafe
from socket import gethostname
from typing import Any
from urllib.parse import urlencode

from judged.web.errors import RefusedError
from judged.web.settings import ServerSettings, is_loopback
from judged.web.uploads import remove_all
from judged.web.visit import Params
from judged.web.workspace import Session

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)
"""Headers of every answer, errors included."""
KEY_HEADER = "x-judged-key"
"""The header in which programs send the key that browsers have in a cookie."""
BY_KEY = "by key"  # the session of programs that send the key in a header
OPEN = "/assets/"  # files that need no key, because they are the same in every installation
READS = ("GET", "HEAD")
MAX_SESSIONS = 1_000
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(eq=False)
class Safety:
    """Checks every request before anything else sees it."""

    app: Asgi
    settings: ServerSettings
    refuse: Callable[[Scope, RefusedError], Asgi]  # answers a refused request
    _sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        cookies: list[str] = []

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), value.encode()) for name, value in HEADERS]
                ours += [(b"set-cookie", cookie.encode()) for cookie in cookies]
                names = {name for name, _ in ours}
                kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in names]
                if not scope["path"].startswith(OPEN):
                    kept = [pair for pair in kept if pair[0].lower() != b"cache-control"]
                    ours.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*kept, *ours]}
            await send(message)

        try:
            answer = self._checked(scope, cookies)
        except RefusedError as error:
            answer = self.refuse(scope, error)
        await answer(scope, receive, guarded)

    def _checked(self, scope: Scope, cookies: list[str]) -> Asgi:
        headers = _headers(scope)
        self._check_host(headers)
        self._check_site(scope, headers)
        if scope["path"].startswith(OPEN):
            return self.app
        params = Params.read(scope.get("query_string", b"").decode("latin-1"))
        if self.settings.key is not None and scope["method"] in READS and params.all("key"):
            if not any(self._is_key(key) for key in params.all("key")):
                raise RefusedError(_OTHER_KEY, "key", status=403)
            session = self._known_session(headers) or self.begin_session()
            cookies.append(self._cookie(session))
            return _redirect(scope["path"], params.without("key"))
        scope["session"] = self._session(headers, cookies)
        return self.app

    def _session(self, headers: dict[str, str], cookies: list[str]) -> Session:
        if (known := self._known_session(headers)) is not None:
            return known
        if self._is_key(headers.get(KEY_HEADER, "")):
            return self.begin_session(BY_KEY)
        if self.settings.key is not None:
            raise RefusedError(_NO_KEY, "key", status=403)
        session = self.begin_session()
        cookies.append(self._cookie(session))
        return session

    def _known_session(self, headers: dict[str, str]) -> Session | None:
        session = self._sessions.get(_cookie(headers.get("cookie", ""), self.settings.cookie) or "")
        if session is not None:
            self._sessions.move_to_end(session.id)
        return session

    def begin_session(self, name: str | None = None) -> Session:
        """Return a new or named session; evict the least recently used."""
        name = name or token_urlsafe(18)
        session = self._sessions.setdefault(name, Session(name))
        while len(self._sessions) > MAX_SESSIONS:
            remove_all(self._sessions.popitem(last=False)[1])
        return session

    def _is_key(self, text: str) -> bool:
        key = self.settings.key
        return key is not None and compare_digest(text.encode(), key.encode())

    def _cookie(self, session: Session) -> str:
        return f"{self.settings.cookie}={session.id}; HttpOnly; SameSite=Strict; Path=/"

    def _check_host(self, headers: dict[str, str]) -> None:
        """Refuse other host names that lead here: DNS rebinding lets foreign pages read ours."""
        if not self.is_ours(headers.get("host", "")):
            raise RefusedError(
                "This address is not the one that the server listens at. Open the address that "
                "the terminal shows.",
                "Host",
                status=403,
            )

    def is_ours(self, host: str) -> bool:
        """Return whether a host with its port is this server."""
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name or not port:
            name, port = host, "80"
        if port != str(self.settings.port):
            return False
        name = name.lower()
        if name in LOOPBACK or name == self.settings.shown_host.lower():
            return True
        if is_loopback(self.settings.host):
            return False
        # Whoever listens on all addresses is called by any of them; a number cannot be rebound.
        return name == gethostname().lower() or _is_number(name)

    def _check_site(self, scope: Scope, headers: dict[str, str]) -> None:
        """Allow writes from our own pages only, and no embedding elsewhere."""
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if scope["method"] in READS:
            foreign = site in ("cross-site", "same-site")
            if foreign and headers.get("sec-fetch-mode") != "navigate":
                raise RefusedError("Other sites may not read this.", "Sec-Fetch-Site", status=403)
            return
        if site is not None:
            allowed = site == "same-origin"
        else:
            ours = origin is not None and self.is_ours(origin.removeprefix("http://"))
            allowed = ours or (origin is None and self._is_key(headers.get(KEY_HEADER, "")))
        if not allowed:
            raise RefusedError(
                "Only pages of this server may change anything here; a program sends the key in "
                f"the header {KEY_HEADER}.",
                "Origin" if site is None else "Sec-Fetch-Site",
                status=403,
            )


_NO_KEY = (
    "This needs the key: open the address that the terminal shows. A program sends the key in the "
    f"header {KEY_HEADER}."
)
_OTHER_KEY = (
    "This is not the key of the server that runs now. Open the address that the terminal shows."
)


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _cookie(header: str, name: str) -> str | None:
    try:
        cookie = SimpleCookie(header).get(name)
    except CookieError:
        return None
    return None if cookie is None else cookie.value


def _is_number(host: str) -> bool:
    try:
        return bool(ip_address(host.strip("[]")))
    except ValueError:
        return False


def _redirect(path: str, params: Params) -> Asgi:
    from starlette.responses import RedirectResponse

    # Two slashes at the beginning would be the name of another host.
    target = "/" + path.lstrip("/\\")
    text = urlencode(params.pairs)
    return RedirectResponse(target + (f"?{text}" if text else ""), 303)
