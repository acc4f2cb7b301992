"""Runs the cases of http-cases.json through hishel and requests-cache, and writes the table of docs/http.md."""

import datetime
import io
import json
import pathlib
import sqlite3
import sys
import threading
from email.utils import format_datetime
from importlib.metadata import version

import hishel
import hishel.httpx
import httpx
import requests
import requests_cache
import time_machine
import urllib3

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "Tests/ModelCacheTests/http-cases.json"
PAGE = ROOT / "docs/http.md"
BEGIN, END = "<!-- cases -->", "<!-- end of cases -->"
START = datetime.datetime.fromtimestamp(1_780_000_000, datetime.timezone.utc)
URL = "http://leaf.test/leaf"


class Server:
    """Gives the answers of one step, and 304 where nothing has changed."""

    def begin(self, step, text):
        self.answers = list(step.get("answers", []))
        self.fails = step.get("fails", False)
        self.text = text
        self.query = step.get("query", "1")
        self.requests = []
        self.statuses = []

    def answer(self, headers):
        """Status, headers and body for a request's headers; None for a server that cannot be reached."""
        self.requests.append(headers)
        if self.fails:
            return None
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        status = answer.get("status", 200)
        given = [(name, self.value(value)) for name, value in answer.get("headers", [])]
        if 200 <= status < 300 and self.is_unchanged(given, headers):
            status = 304
        self.statuses.append(status)
        empty = answer.get("empty") or status == 304
        body = b"" if empty else json.dumps({"id": self.query, "text": self.text}).encode()
        return status, given, body

    @staticmethod
    def value(text):
        if not text.startswith("@"):
            return text
        now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        return format_datetime(now + datetime.timedelta(seconds=float(text[1:])), usegmt=True)

    @staticmethod
    def is_unchanged(answer, headers):
        answer = {name.lower(): value for name, value in answer}
        if "if-none-match" in headers:
            return headers["if-none-match"] == answer.get("etag")
        date = headers.get("if-modified-since")
        return date is not None and date == answer.get("last-modified")


class Hishel:
    name = "hishel"
    package = "hishel"

    def __init__(self, server):
        self.server = server
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        transport = hishel.httpx.CacheTransport(
            httpx.MockTransport(self.send),
            storage=hishel.SqliteStorage(connection=connection),
            rfc=hishel.CacheOptions(shared=False),
        )
        self.client = httpx.Client(transport=transport)

    def send(self, request):
        answer = self.server.answer({name.lower(): value for name, value in request.headers.items()})
        if answer is None:
            raise httpx.ConnectError("unreachable", request=request)
        status, headers, body = answer
        return httpx.Response(status, headers=headers, content=body)

    def fetch(self, query, headers):
        response = self.client.get(URL, params={"id": query}, headers=headers)
        return response.status_code, response.content

    def close(self):
        self.client.close()


class RequestsCache(requests.adapters.BaseAdapter):
    name = "requests-cache"
    package = "requests-cache"

    def __init__(self, server):
        super().__init__()
        self.server = server
        # Nothing is assumed where the answer says nothing, as in the other two.
        self.session = requests_cache.CachedSession(backend="memory", cache_control=True, expire_after=0)
        self.session.mount("http://", self)

    def send(self, request, **_):
        answer = self.server.answer({name.lower(): value for name, value in request.headers.items()})
        if answer is None:
            raise requests.ConnectionError("unreachable")
        status, headers, body = answer
        collected = urllib3.HTTPHeaderDict()
        for name, value in headers:
            collected.add(name, value)
        raw = urllib3.HTTPResponse(
            body=io.BytesIO(body), headers=collected, status=status, preload_content=False, request_method="GET"
        )
        return requests.adapters.HTTPAdapter().build_response(request, raw)

    def fetch(self, query, headers):
        joined = {}
        for name, value in headers:
            joined[name] = joined[name] + ", " + value if name in joined else value.strip()
        response = self.session.get(URL, params={"id": query}, headers=joined)
        return response.status_code, response.content

    def close(self):
        pass


def outcome(cache, server, step, former):
    """How a fetch has ended, in the words of HTTPOutcome, and the text that it gave."""
    try:
        status, body = cache.fetch(step.get("query", "1"), [tuple(pair) for pair in step.get("request", [])])
    except (httpx.TransportError, requests.ConnectionError):
        return "failed", former
    finally:
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
    if not server.requests:
        return "used", former
    if status >= 400:
        return "failed", former
    text = json.loads(body)["text"] if body else ""
    if not server.statuses or server.statuses[-1] >= 500:
        return "stale", text
    if server.statuses[-1] == 304:
        return ("validated" if text == former else "loaded"), text
    return ("loaded" if text in (server.text, "") else "behind"), text


def run(case, make):
    server = Server()
    cache = make(server)
    text = None
    with time_machine.travel(START, tick=False) as clock:
        try:
            for number, step in enumerate(case["steps"]):
                clock.shift(step.get("wait", 0))
                server.begin(step, f"step {number}")
                result, text = outcome(cache, server, step, text)
        except Exception as error:  # A cache that breaks is told of, too.
            return f"error: {type(error).__name__}"
        finally:
            cache.close()
    return result


def table(cases):
    peers = [Hishel, RequestsCache]
    results = {peer.name: [run(case, peer) for case in cases] for peer in peers}
    lines = []
    counts = {name: {"same": 0, "other": 0, "wrong": 0} for name in results}
    group = None
    for index, case in enumerate(cases):
        if case["group"] != group:
            group = case["group"]
            lines += ["", f"### {group}", "", "| case | ModelCache | hishel | requests-cache | checks |"]
            lines += ["|---|---|---|---|---|"]
        ours = case["steps"][-1]["expect"]
        cells = []
        for name, outcomes in results.items():
            theirs = outcomes[index]
            if theirs in case["wrong"] or theirs.startswith("error"):
                counts[name]["wrong"] += 1
                cells.append(f"**{theirs}**")
            else:
                counts[name]["same" if theirs == ours else "other"] += 1
                cells.append(theirs)
        lines.append(f"| `{case['id']}` | {ours} | {' | '.join(cells)} | {case['checks']} |")
    summary = [
        f"{len(cases)} cases of {len({case['group'] for case in cases})} groups.",
        "",
        "| | as ModelCache | otherwise, and allowed | forbidden |",
        "|---|---|---|---|",
        f"| ModelCache | {len(cases)} | 0 | 0 |",
    ]
    for peer in peers:
        count = counts[peer.name]
        name = f"{peer.name} {version(peer.package)}"
        summary.append(f"| {name} | {count['same']} | {count['other']} | {count['wrong']} |")
    return "\n".join(summary + lines)


def main():
    cases = json.loads(CASES.read_text())
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    written = f"{before}{BEGIN}\n{table(cases)}\n\n{END}{after}"
    if "--check" in sys.argv[1:]:
        if written != page:
            sys.exit("docs/http.md is not what the cases give: run Scripts/http-cases")
        print(f"{len(cases)} cases: the table is right")
        return
    PAGE.write_text(written)
    print(f"{len(cases)} cases: the table is written")


if __name__ == "__main__":
    main()
