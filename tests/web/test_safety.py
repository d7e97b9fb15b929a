"""Who may look and who may write, and what every answer carries."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path

import pytest

from judged.web import ServerSettings, bound
from judged.web.safety import HEADERS
from support.errors import error_of
from support.served import Serve, Server

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
NO_KEY = (
    "This needs the key: open the address that the terminal shows. A program sends the key in the "
    "header x-judged-key."
)
NOT_OURS = (
    "This address is not the one that the server listens at. Open the address that the terminal "
    "shows."
)
FOREIGN = (
    "Only pages of this server may change anything here; a program sends the key in the header "
    "x-judged-key."
)


def cookie_of(server: Server) -> str:
    """The cookie of a browser that opened the address with the key."""
    answer = server.ask(f"/?key={server.key}", key=False)
    assert answer.status == 303
    return answer.headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize(
    "path", ["/files", "/nothing", "/api/files", "/assets/style.css", "/api/x"]
)
def test_every_answer_has_the_headers(served: Server, path: str) -> None:
    for key in (True, False):
        found = served.ask(path, key=key).headers
        assert found["content-security-policy"] == POLICY
        for name, value in HEADERS:
            assert found[name] == value
        assert not [name for name in found if name.startswith("access-control")]


def test_without_the_key_nothing_is_shown(served: Server) -> None:
    page = served.ask("/files", key=False)
    assert page.status == 403
    assert NO_KEY in page.text
    assert "bm25" not in page.text
    answer = served.ask("/api/files", key=False)
    assert (answer.status, answer.json) == (403, {"error": NO_KEY, "where": "key"})
    assert served.ask("/api/files", key=False, x_judged_key="another").status == 403
    wrong = served.ask("/?key=another", key=False)
    assert wrong.status == 403
    assert "This is not the key of the server that runs now." in wrong.text
    assert "set-cookie" not in wrong.headers


def test_the_key_becomes_a_cookie_and_leaves_the_address(served: Server) -> None:
    answer = served.ask(f"/files?depth=3&key={served.key}", key=False)
    assert (answer.status, answer.headers["location"]) == (303, "/files?depth=3")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"judged-{served.port}=")
    assert cookie.endswith("; HttpOnly; SameSite=Strict; Path=/")
    assert served.key not in cookie
    shown = served.ask("/files", key=False, cookie=cookie.partition(";")[0])
    assert shown.status == 200
    other = served.ask("/files", key=False, cookie=f"judged-{served.port + 1}=x")
    assert other.status == 403


def test_the_printed_address_keeps_the_session(served: Server) -> None:
    cookie = cookie_of(served)
    headers = {"key": False, "cookie": cookie, "sec_fetch_site": "same-origin"}
    sent = served.ask("/api/upload?name=a.run", method="POST", body=b"q1 Q0 d1 1 2.0 x", **headers)
    assert sent.status == 200
    again = served.ask(f"/?key={served.key}", key=False, cookie=cookie)
    assert again.headers["set-cookie"].partition(";")[0] == cookie
    assert "a.run" in served.ask("/files", key=False, cookie=cookie).text


def test_it_listens_before_the_address_is_printed() -> None:
    with bound(ServerSettings.of([], port=0), print) as listening:
        socket.create_connection(listening.getsockname(), 1).close()


def test_the_way_without_the_key_leads_to_no_other_host(served: Server) -> None:
    answer = served.ask(f"//evil.example/?key={served.key}", key=False)
    assert answer.headers.get("location", "/").startswith("/evil.example") or answer.status == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "[::1"])
def test_another_name_of_this_machine_is_refused_for_reads_too(served: Server, host: str) -> None:
    answer = served.ask("/api/files", host=host.format(port=served.port))
    assert (answer.status, answer.json) == (403, {"error": NOT_OURS, "where": "Host"})


def test_the_names_of_this_machine(served: Server) -> None:
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert served.ask("/api/files", host=f"{host}:{served.port}").status == 200


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "same-site"}, False),
        ({"sec_fetch_site": "none"}, False),
        ({"origin": "http://127.0.0.1:{port}"}, True),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://127.0.0.1:{port}.evil.example"}, False),
        ({"origin": "https://127.0.0.1:{port}"}, False),
        ({"origin": "null"}, False),
        ({"sec_fetch_site": "cross-site", "origin": "http://127.0.0.1:{port}"}, False),
        ({}, False),
    ],
)
def test_writes_come_from_our_own_pages(
    served: Server, headers: dict[str, str], allowed: bool
) -> None:
    sent = {name: value.format(port=served.port) for name, value in headers.items()}
    answer = served.ask(
        "/api/upload?name=a.run",
        method="POST",
        body=b"q Q0 a 1 2.0 x\n",
        key=False,
        cookie=cookie_of(served),
        **sent,
    )
    if allowed:
        assert answer.status == 200
    else:
        where = "Sec-Fetch-Site" if "sec_fetch_site" in sent else "Origin"
        assert (answer.status, answer.json) == (403, {"error": FOREIGN, "where": where})


def test_a_program_writes_with_the_key(served: Server) -> None:
    upload = {"method": "POST", "body": b"q Q0 a 1 2.0 x\n"}
    assert served.ask("/api/upload?name=a.run", **upload).status == 200
    assert (
        served.ask("/api/upload?name=b.run", origin="http://evil.example", **upload).status == 403
    )


def test_other_sites_embed_nothing(served: Server) -> None:
    answer = served.ask("/api/files", sec_fetch_site="cross-site", sec_fetch_mode="no-cors")
    expected = {"error": "Other sites may not read this.", "where": "Sec-Fetch-Site"}
    assert (answer.status, answer.json) == (403, expected)
    followed = served.ask("/files", sec_fetch_site="cross-site", sec_fetch_mode="navigate")
    assert followed.status == 200


def test_without_a_key_browsers_do_not_mix_either(server: Serve, data: Path) -> None:
    running = server(data, key=False)
    first = running.ask("/files")
    assert first.status == 200
    assert first.headers["set-cookie"].startswith(f"judged-{running.port}=")


def test_what_others_can_reach_needs_the_key() -> None:
    assert error_of(ServerSettings.of, [], host="0.0.0.0", key=False) == (
        "key=False works on this machine only: 0.0.0.0 can be reached from elsewhere, and anyone "
        "who reaches it could read everything. Leave out key=False, or host."
    )


def test_methods_that_nobody_needs(served: Server) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = served.ask("/api/files", method=method)
        assert answer.status in (403, 405)
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/app.py",
        "/assets/..%2f..%2fpyproject.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
    ],
)
def test_paths_lead_nowhere_else(server: Serve, data: Path, path: str) -> None:
    answer = server(data).ask(path)
    assert answer.status == 404


def test_links_out_of_the_folder_are_not_followed(server: Serve, data: Path) -> None:
    outside = data.parent / "secret.run"
    outside.write_text("q1 Q0 d1 1 2.0 secret\n")
    (data / "link.run").symlink_to(outside)
    (data / "up").symlink_to(data.parent, target_is_directory=True)
    answer = server(data).ask("/api/files").json
    assert "link.run" not in [file["name"] for file in answer["files"]]
    assert not [file for file in answer["files"] if "secret" in file["name"]]
    assert "link.run is a link out of the folder, and is not read." in answer["problems"]


def test_a_port_in_use_is_named_and_the_next_is_tried() -> None:
    said: list[str] = []
    with bound(ServerSettings.of([], port=0), said.append) as first:
        port = first.getsockname()[1]
        with bound(ServerSettings.of([], port=port), said.append) as second:
            assert second.getsockname()[1] > port
    assert said[0] == f"Port {port} is in use; trying {port + 1}."


def test_long_and_broken_requests_end_no_other(served: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    connection.putrequest("GET", "/files", skip_host=True)
    connection.putheader("Host", f"127.0.0.1:{served.port}")
    connection.putheader("Cookie", "x" * 10_000)
    connection.endheaders()
    assert connection.getresponse().status in (400, 403)
    connection.close()
    assert served.ask("/files").status == 200
