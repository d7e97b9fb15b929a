"""The explorer's contenders: `python -m bench.explorer NAME QRELS RUN...` prints one line of JSON.

A real server runs in the process, and is asked over its address; its CPU time is that of the
process. Files are read before, unless the contender is about that.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle
from typing import Any

from bench.contenders import clocked

MEASURES = (
    *("nDCG@10", "AP", "RR", "P@10", "R@100", "nDCG(gain=exp)@20"),
    *("RBP(p=0.8)", "ERR@20", "Success@10", "Rprec"),
)
Report = dict[str, Any]
AT_ONCE = 200


class Server:
    """The explorer of some files, and questions to it."""

    def __init__(self, qrels: str, runs: Sequence[str]) -> None:
        import uvicorn

        from judged.web import ServerSettings, application, bound

        settings = ServerSettings.of([qrels, *runs], port=0, key=False)
        listening = bound(settings, print)
        self.port = listening.getsockname()[1]
        app = application(replace(settings, port=self.port))
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        own = uvicorn.Server(config)
        threading.Thread(target=own.run, kwargs={"sockets": [listening]}, daemon=True).start()
        while not own.started:
            time.sleep(0.005)

    def ask(self, path: str, part: str | None = None) -> bytes:
        """A page, or one part of it; asked again until it is there."""
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
            connection.request("GET", path, headers={"X-Fragment": part} if part else {})
            answer = connection.getresponse()
            found, working = answer.read(), answer.getheader("x-working")
            connection.close()
            if answer.status >= 400:
                raise SystemExit(f"{path}: {answer.status}: {found[-500:]!r}")
            if not working:
                return found
            time.sleep(0.05)


def _asked(**terms: str) -> str:
    words = [f"measure={measure}" for measure in MEASURES]
    return "&".join([*words, *(f"{name}={value}" for name, value in terms.items())])


def rankings(qrels: str, runs: Sequence[str]) -> Report:
    """What a change of terms cannot do without: all measures on rankings that are there."""
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.inputs.data import Data
    from judged.matching.matcher import match_with
    from judged.policy import Policy

    data = Data.of(qrels, list(runs))
    judge = match_with(data.judgements(), policy=Policy())
    judged = [judge(run) for run in data.runs()]
    policies = cycle([{"empty": "skip"}, {"missing": "skip"}, {"empty": "one"}, {}])
    return {
        "calls": clocked(lambda: evaluate_rankings(judged, list(MEASURES), policy=next(policies)))
    }


def terms(qrels: str, runs: Sequence[str]) -> Report:
    """The leaderboard under other terms each time."""
    server = Server(qrels, runs)
    server.ask(f"/?{_asked()}")
    changes = cycle([{"empty": "skip"}, {"missing": "skip"}, {"empty": "one"}])
    return {"calls": clocked(lambda: server.ask(f"/?{_asked(**next(changes))}", "main"))}


def again(qrels: str, runs: Sequence[str]) -> Report:
    """The same leaderboard once more."""
    server = Server(qrels, runs)
    return _after(server, f"/?{_asked()}", "main")


def sort(qrels: str, runs: Sequence[str]) -> Report:
    """The table of all queries, sorted or filtered in another way each time."""
    server = Server(qrels, runs)
    server.ask("/queries")
    names = server.ask("/api/systems")
    first = json.loads(names)["systems"][0]["name"]
    ways = cycle(["sort=query", "find=00", f"sort=system:{first}", "sort=relevant", "find=12"])
    server.ask(f"/queries?sort=system:{first}", "main")
    return {"calls": clocked(lambda: server.ask(f"/queries?{next(ways)}", "main"), 5)}


def playground(qrels: str, runs: Sequence[str]) -> Report:
    """A list of ten with one result moved each time."""
    server = Server(qrels, runs)
    server.ask("/playground")
    lists = cycle(["1+0+0+1+0+1+0+0+1+0", "0+1+0+1+0+1+0+0+1+0", "0+0+1+1+0+1+0+0+1+0"])
    return {"calls": clocked(lambda: server.ask(f"/playground?list={next(lists)}&k=10", "main"), 6)}


def chart(qrels: str, runs: Sequence[str]) -> Report:
    """A chart, another width each time, after the first one."""
    server = Server(qrels, runs)
    server.ask("/")
    server.ask("/chart?kind=measure-at-k&width=400")
    widths = cycle(range(401, 420))
    return {
        "calls": clocked(lambda: server.ask(f"/chart?kind=eleven-point&width={next(widths)}"), 6)
    }


def first(qrels: str, runs: Sequence[str]) -> Report:
    """From nothing to the first page."""
    Server(qrels, runs).ask("/")
    return {}


def at_once(qrels: str, runs: Sequence[str]) -> Report:
    """Two hundred requests at once, of twenty different views."""
    server = Server(qrels, runs)
    server.ask("/")
    paths = [f"/?{_asked(depth=str(5 + each % 20))}" for each in range(AT_ONCE)]

    def everybody() -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(server.ask, paths))

    return {"calls": clocked(everybody, 1)}


CONTENDERS: dict[str, Callable[[str, Sequence[str]], Report]] = {
    "rankings": rankings,
    "terms": terms,
    "again": again,
    "sort": sort,
    "playground": playground,
    "chart": chart,
    "first": first,
    "at-once": at_once,
}


def _after(server: Server, path: str, part: str) -> Report:
    """A view that was asked for before."""
    server.ask(path, part)
    return {"calls": clocked(lambda: server.ask(path, part), 6)}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](sys.argv[2], sys.argv[3:])))
