"""A small server of articles, for the example "feed". Prints its port, and ends when its standard input does.

GET    /articles?topic=T&after=N   a page of three, {"items": […], "next": N}; authors are whole objects in it
GET    /articles/ID                one article with its text
GET    /users/ID, /comments?article=ID
PATCH  /articles/ID                changes the title; 503 while it is switched off
POST   /switch/on, /switch/off     whether it takes changes
GET    /log                        how many answers were whole, and how many "not modified"
"""

import hashlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

USERS = {7: {"id": 7, "name": "Ada"}, 8: {"id": 8, "name": "Grace"}}
ARTICLES = [
    {"id": number, "topic": "swift", "title": f"Article {number}", "author": 7 + number % 2}
    for number in range(1, 6)
]
COMMENTS = [
    {"id": "c1", "article": 1, "text": "First!", "author": 7},
    {"id": "c2", "article": 1, "text": "Well said.", "author": 8},
]
PAGE = 3
log = {"whole": 0, "unchanged": 0}
takes_changes = True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        match address.path.strip("/").split("/"):
            case ["log"]:
                self.answer(log, cached=False)
            case ["articles"]:
                found = [article for article in ARTICLES if article["topic"] == query["topic"]]
                start = int(query.get("after", 0))
                items = [article | {"author": USERS[article["author"]]} for article in found[start : start + PAGE]]
                end = start + len(items)
                self.answer({"items": items, "next": end if end < len(found) else None})
            case ["articles", number]:
                article = next(article for article in ARTICLES if article["id"] == int(number))
                self.answer(article | {"text": f"The text of {article['title']}."})
            case ["users", number]:
                self.answer(USERS[int(number)])
            case ["comments"]:
                self.answer([comment for comment in COMMENTS if comment["article"] == int(query["article"])])
            case _:
                self.answer({}, status=404, cached=False)

    def do_PATCH(self):
        change = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not takes_changes:
            return self.answer({}, status=503, cached=False)
        number = int(self.path.rsplit("/", 1)[1])
        for article in ARTICLES:
            if article["id"] == number:
                article["title"] = change["title"]
        self.answer({}, cached=False)

    def do_POST(self):
        global takes_changes
        takes_changes = self.path == "/switch/on"
        self.answer({}, cached=False)

    def answer(self, value, status=200, cached=True):
        body = json.dumps(value).encode()
        tag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
        if cached and self.headers.get("If-None-Match") == tag:
            status, body = 304, b""
        if cached:
            log["unchanged" if status == 304 else "whole"] += 1
        self.send_response(status)
        if cached:
            self.send_header("ETag", tag)
            self.send_header("Cache-Control", "max-age=60")
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=end_with_parent, daemon=True).start()
server.serve_forever()
