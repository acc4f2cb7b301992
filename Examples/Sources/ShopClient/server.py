"""A shop as servers are, for the example "shop": answers of every form, and on demand every fault that a server has.

Prints its port, and ends when its standard input does. All but /login and /control want a valid token, else 401.

POST   /login                  a new token; the former ones are valid no longer
GET    /me                     the user of the token: the request has no identity
GET    /cart                   a resource without an identity
GET    /products?after=C       the catalogue, newest first: parts of products in an envelope, with the cursor, the total and
                               facets in "meta"; the last page has no cursor
GET    /products?ids=1,2       several whole products; unknown ones are left out
GET    /products/ID            a whole product in an envelope; "description" may be null; 404, or 410 once it was deleted
PATCH  /products/ID            needs If-Match: 428 without, 412 for another version, 409 for a price below the costs
DELETE /products/ID            204
GET    /products/ID/reviews    the authors are identities
POST   /products/ID/reviews    201 with the author as a whole object; 422 with a form of its own where the text is empty
PATCH  /reviews/ID
GET    /sellers/ID, /customers/ID
GET    /bestsellers?page=N     pages by number
GET    /imports?from=N         pages by a Link header; one element of the hundred is bad
GET    /highlights             products and sellers in one list
GET    /collections/ID         JSON:API: the products are in "included"
POST   /search                 hits in pages; an error has the status 200
GET    /orders, /orders/ID     identities are numbers in the list and strings in the order
GET    /chat?before=N          the latest messages, and earlier ones in front
GET    /greeting               in the language that was asked for (Vary)
GET    /delta?since=N          changed and deleted products since a version
GET    /log                    the requests, each with its status and the coding of its answer
POST   /control                {"do": …}: see `control`, and `FAULTS` for the faults
"""

import gzip
import hashlib
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = 4
SELLERS = {1: {"id": 1, "name": "Brick & Sons", "city": "Billund"}, 2: {"id": 2, "name": "Kite Co.", "city": None}}
USERS = {7: {"id": 7, "name": "Ada"}, 8: {"id": 8, "name": "Grace"}}


class Shop:
    """The state, which `lock` guards."""

    def __init__(self):
        self.lock = threading.RLock()
        self.version = 0
        self.products = {}
        self.deleted = {}
        for number in range(1, 11):
            self.put(
                number,
                {
                    "name": f"Product {number}",
                    "price": f"{number}.50",
                    "description": None if number % 5 == 0 else f"All about product {number}.",
                    "kind": "kite" if number % 3 == 0 else "toy",
                    "seller": 1 + number % 2,
                },
            )
        self.reviews = {1: {"id": 1, "product": 3, "text": "Flies well.", "author": 8}}
        self.messages = list(range(1, 10))
        self.token = "none"
        self.tokens = 0
        self.faults = {}
        self.held = threading.Event()
        # How many seconds its clock is ahead of this machine's.
        self.ahead = 0
        self.log = []

    def put(self, number, fields):
        self.version += 1
        former = self.products.get(number, {"id": number, "released_at": f"2026-01-{number:02}T08:00:00Z"})
        self.products[number] = former | fields | {"version": self.version}

    def delete(self, number):
        self.version += 1
        self.products.pop(number, None)
        self.deleted[number] = self.version


shop = Shop()


def whole(product):
    return {name: value for name, value in product.items() if name not in ("version", "kind")}


def part(product):
    """A product as lists give it: without its description, but with its seller as a whole object."""
    found = whole(product)
    del found["description"]
    return found | {"seller": SELLERS[product["seller"]]}


def tag(value):
    return '"' + hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16] + '"'


def control(order):
    """Does something that no client of the shop asks for."""
    match order["do"]:
        case "fault":
            shop.faults[order["path"]] = order["fault"]
            shop.held.clear()
        case "mend":
            shop.faults.clear()
            shop.held.set()
        case "wait":
            shop.ahead += order["seconds"]
        case "expire token":
            shop.token = "expired"
        case "add":
            number = max(shop.products) + 1
            shop.put(number, whole(shop.products[1]) | {"id": number, "kind": "toy", "name": f"Product {number}"})
        case "price":
            shop.put(order["id"], {"price": order["price"]})
        case "delete":
            shop.delete(order["id"])
        case "message":
            shop.messages.append(shop.messages[-1] + 1)
        case "forget":
            shop.log.clear()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    # Requests

    def do_GET(self):
        self.serve()

    do_POST = do_PATCH = do_DELETE = do_GET

    def serve(self):
        self.sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        self.query = {name: values[0] for name, values in parse_qs(address.query).items()}
        steps = address.path.strip("/").split("/")
        if steps == ["control"]:
            with shop.lock:
                control(self.json())
            return self.answer({}, logs=False)
        if steps == ["log"]:
            with shop.lock:
                log = list(shop.log)
            return self.answer(log, logs=False)
        if steps == ["login"]:
            with shop.lock:
                shop.tokens += 1
                shop.token = f"token-{shop.tokens}"
                return self.answer({"token": shop.token})
        if self.headers.get("Authorization") != f"Bearer {shop.token}":
            return self.answer({"title": "Who are you?"}, 401, {"WWW-Authenticate": "Bearer"})
        fault = shop.faults.get(address.path)
        if fault == "slow":
            shop.held.wait(60)
        elif fault is not None:
            return FAULTS[fault](self)
        with shop.lock:
            found = self.found(steps)
        self.answer(*found) if isinstance(found, tuple) else self.answer(found)

    def json(self):
        return json.loads(self.sent)

    # Resources

    def found(self, steps):
        """The answer: a value, or the value, its status and its headers."""
        match self.command, *steps:
            case "GET", "me":
                return USERS[7]
            case "GET", "cart":
                return {"items": [{"product": 3, "count": 2}], "total": "7.00"}
            case "GET", "products" if "ids" in self.query:
                wanted = [int(number) for number in self.query["ids"].split(",")]
                return [whole(shop.products[number]) for number in wanted if number in shop.products]
            case "GET", "products":
                return self.catalogue()
            case method, "products", number:
                return self.product(method, int(number))
            case "GET", "products", number, "reviews":
                return [review for review in shop.reviews.values() if review["product"] == int(number)]
            case "POST", "products", number, "reviews":
                text = self.json()["text"]
                if not text:
                    return {"title": "Not a review", "errors": {"text": "It is empty."}}, 422
                review = {"id": max(shop.reviews) + 1, "product": int(number), "text": text, "author": 7}
                shop.reviews[review["id"]] = review
                return review | {"author": USERS[7]}, 201
            case "PATCH", "reviews", number:
                shop.reviews[int(number)]["text"] = self.json()["text"]
                return shop.reviews[int(number)]
            case "GET", "sellers", number:
                return SELLERS[int(number)]
            case "GET", "customers", number:
                return USERS[int(number)]
            case "GET", "bestsellers":
                page = int(self.query["page"])
                products = sorted(shop.products.values(), key=lambda product: product["id"])[:6]
                return {"items": [part(product) for product in products[2 * page - 2 : 2 * page]], "pages": 3}
            case "GET", "imports":
                return self.imports(int(self.query.get("from", 0)))
            case "GET", "highlights":
                return [{"type": "product"} | part(shop.products[2]), {"type": "seller"} | SELLERS[2]]
            case "GET", "collections", number:
                products = [shop.products[1], shop.products[4]]
                return {
                    "data": {"id": int(number), "title": "For rainy days", "products": [1, 4]},
                    "included": [part(product) for product in products],
                }
            case "POST", "search":
                return self.search(self.json())
            case "GET", "orders":
                return [{"id": 17, "total": "7.00"}]
            case "GET", "orders", number:
                return {"id": number, "total": "7.00"}
            case "GET", "chat":
                before = int(self.query.get("before", 1_000_000))
                earlier = [number for number in shop.messages if number < before]
                page = earlier[-3:]
                messages = [{"id": number, "text": f"Message {number}", "author": 7 + number % 2} for number in page]
                return {"messages": messages, "older": page[0] if len(earlier) > len(page) else None}
            case "GET", "greeting":
                french = self.headers.get("Accept-Language") == "fr"
                greeting = {"id": "greeting", "text": "Bienvenue" if french else "Welcome"}
                return greeting, 200, {"Vary": "Accept-Language"}
            case "GET", "delta":
                since = int(self.query["since"])
                return {
                    "changed": [whole(product) for product in shop.products.values() if product["version"] > since],
                    "deleted": [number for number, version in shop.deleted.items() if version > since],
                    "until": str(shop.version),
                }
        return {"title": "Nothing here"}, 404

    def catalogue(self):
        products = sorted(shop.products.values(), key=lambda product: -product["id"])
        left = [product for product in products if product["id"] < int(self.query.get("after", 1_000_000))]
        page = left[:PAGE]
        kinds = [product["kind"] for product in products]
        facets = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
        meta = {"total_count": len(products), "facets": facets}
        if len(left) > len(page):
            meta["next_cursor"] = page[-1]["id"]
        return {"data": [part(product) for product in page], "meta": meta}

    def product(self, method, number):
        if number not in shop.products:
            return {"title": "There is no such product."}, 410 if number in shop.deleted else 404
        match method:
            case "DELETE":
                shop.delete(number)
                return None, 204
            case "PATCH":
                change = self.json()
                if "If-Match" not in self.headers:
                    return {"title": "Which version?"}, 428
                if self.headers["If-Match"] != tag({"data": whole(shop.products[number])}):
                    return {"title": "Somebody else was first."}, 412
                if float(change["price"]) < 1:
                    return {"title": "That is below the costs."}, 409
                shop.put(number, change)
        return {"data": whole(shop.products[number])}

    def imports(self, start):
        products = [
            {"id": 1_000 + place, "name": f"Import {place}", "price": "ask us" if place == 42 else "9.99"}
            | {"released_at": "2026-02-01T08:00:00Z", "seller": 2}
            for place in range(start, start + 50)
        ]
        host = self.headers["Host"]
        links = {"Link": f'<http://{host}/imports?from=50>; rel="next", <http://{host}/imports>; rel="first"'}
        return products, 200, links if start == 0 else {}

    def search(self, asked):
        if not asked["text"]:
            return {"data": None, "errors": [{"message": "Search for something."}]}
        names = [product for product in shop.products.values() if asked["text"] in product["name"]]
        start = int(asked.get("after") or 0)
        following = start + 2 if len(names) > start + 2 else None
        return {"data": {"hits": [part(product) for product in names[start : start + 2]], "next": following}}

    # Answers

    def answer(self, value, status=200, headers=None, logs=True):
        body = b"" if value is None else json.dumps(value).encode()
        headers = dict(headers or {})
        if status == 200 and self.command == "GET" and logs:
            headers = {"ETag": tag(value), "Cache-Control": "max-age=60"} | headers
            if self.headers.get("If-None-Match") == headers["ETag"]:
                status, body = 304, b""
        if status == 200 and self.command == "PATCH":
            headers["ETag"] = tag(value)
        if "gzip" in self.headers.get("Accept-Encoding", "") and len(body) > 200:
            body = gzip.compress(body)
            headers["Content-Encoding"] = "gzip"
        self.send(status, headers, body, logs=logs)

    def send(self, status, headers=None, body=b"", length=None, logs=True):
        """Sends an answer as it is said to be.

        length: what its head says of the body's length; its own by default, none for less than 0
        """
        headers = {"Content-Type": "application/json"} | (headers or {})
        if logs:
            coding = " " + headers["Content-Encoding"] if "Content-Encoding" in headers else ""
            with shop.lock:
                shop.log.append(f"{self.command} {self.path} {status}{coding}")
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if length is None:
            length = len(body)
        if length >= 0 and status not in (204, 304):
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def half_a_body(self):
        body = json.dumps({"data": whole(shop.products[1])}).encode()
        self.send(200, {}, body[: len(body) // 2], length=len(body))
        self.close_connection = True

    def half_a_chunk(self):
        self.send(200, {"Transfer-Encoding": "chunked"}, b'40\r\n{"data": {"id": 1,', length=-1)
        self.close_connection = True

    def no_answer(self):
        with shop.lock:
            shop.log.append(f"{self.command} {self.path} closed")
        self.close_connection = True

    def silence(self):
        with shop.lock:
            shop.log.append(f"{self.command} {self.path} silent")
        shop.held.wait(60)
        self.close_connection = True

    def date_time_string(self, timestamp=None):
        return super().date_time_string((timestamp or time.time()) + shop.ahead)

    def log_message(self, *_):
        pass


def changed(value, status=200, headers=None):
    """A fault that answers with another value."""
    return lambda handler: handler.send(status, headers or {}, json.dumps(value).encode())


KEPT = {"Cache-Control": "max-age=60"}
FAULTS = {
    "half a body": Handler.half_a_body,
    "half a chunk": Handler.half_a_chunk,
    "no answer": Handler.no_answer,
    "silence": Handler.silence,
    "a page of HTML": lambda handler: handler.send(
        200, {"Content-Type": "text/html", **KEPT}, b"<html><body>Log in to the hotel's network</body></html>"
    ),
    "an empty body": lambda handler: handler.send(200, KEPT),
    "status 204": lambda handler: handler.send(204, KEPT),
    "bad gzip": lambda handler: handler.send(200, {"Content-Encoding": "gzip", **KEPT}, b'{"data": "not packed"}'),
    "JSON that is cut off": lambda handler: handler.send(200, KEPT, b'{"data": {"id": 1, "name": "Pro'),
    "a wrong type": changed({"data": {"id": 1, "name": 5, "price": [], "seller": "?"}}, 200, KEPT),
    "another form": changed({"product": 1}, 200, KEPT),
    "status 500": changed({"title": "Out of order"}, 500),
    "status 503": changed({"title": "Out of order"}, 503),
    "redirects in a circle": lambda handler: handler.send(302, {"Location": handler.path}),
    "another identity": changed(
        {"data": {"id": 99, "name": "?", "price": "1", "released_at": "2026-01-01T08:00:00Z", "seller": 1}}, 200, KEPT
    ),
    "status 400": changed({"title": "That is not a cursor."}, 400),
    "status 403": changed({"title": "Not sold in your country", "code": 12}, 403),
    "too many requests": changed({"title": "Slow down"}, 429, {"Retry-After": "30"}),
    "closed for a moment": lambda handler: changed(
        {"title": "Back soon"}, 503, {"Retry-After": handler.date_time_string(time.time() + 30)}
    )(handler),
    "a secret": lambda handler: handler.send(
        200, {"Cache-Control": "no-store"}, json.dumps({"data": whole(shop.products[1])}).encode()
    ),
    "a value to confirm": lambda handler: handler.send(
        200, {"Cache-Control": "max-age=60, must-revalidate"}, json.dumps({"data": whole(shop.products[1])}).encode()
    ),
}


def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=end_with_parent, daemon=True).start()
server.serve_forever()
