import Foundation
import ModelCache
import ModelCacheHTTP
import Synchronization
import TestSupport
import Testing
import TypedCache

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The transport against a server of HTTP on this machine.
@Suite(.serialized) struct URLSessionTransportTests {
    @Test func aRequestReachesTheServerAsItIs() async throws {
        let server = try LocalServer()
        let transport = try URLSessionTransport(
            base: server.url.appending(path: "v1"),
            headers: ["Authorization": "Bearer t", "X-Both": "transport"]
        )
        let response = try await transport.send(
            ModelRequest(
                method: "PUT",
                path: "/echo/a b/ü%2Fx?y=1#z",
                query: [
                    URLQueryItem(name: "q&=", value: "a+b/c d&e=é"), URLQueryItem(name: "n", value: nil),
                ],
                headers: ["X-Both": "request", "Content-Type": "text/plain"],
                body: Data("body".utf8)
            )
        )
        let echo = try JSONDecoder().decode(Echo.self, from: response.body)
        #expect(response.status == 200)
        #expect(echo.method == "PUT")
        #expect(echo.path == "/v1/echo/a%20b/%C3%BC%2Fx?y=1%23z&q%26%3D=a%2Bb%2Fc%20d%26e%3D%C3%A9&n")
        #expect(echo.headers["authorization"] == "Bearer t")
        #expect(echo.headers["x-both"] == "request")
        #expect(echo.headers["content-type"] == "text/plain")
        #expect(echo.body == "body")
        // Two lines of one name are one list.
        #expect(response.headers["Cache-Control"]?.replacing(" ", with: "") == "max-age=60,private")
        #expect(response.headers["etag"] == "\"a\"")
    }

    @Test func everyStatusIsAnAnswer() async throws {
        let server = try LocalServer()
        let transport = try URLSessionTransport(base: server.url)
        for status in [204, 304, 404, 500] {
            #expect(try await transport.send(.get("/status/\(status)")).status == status)
        }
        // Nothing was kept: each request has reached the server.
        for _ in 0..<3 { _ = try await transport.send(.get("/count", headers: ["X": "1"])) }
        #expect(try await String(decoding: transport.send(.get("/count")).body, as: UTF8.self) == "4")
    }

    /// On Linux a URLSession waits for credentials until its time is over.
    @Test(
        .timeLimit(.minutes(1 * slowness)),
        arguments: [
            (401, "WWW-Authenticate", "Basic realm=\"r\""),
            (401, "WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\""),
            (401, "WWW-Authenticate", "Bearer"), (407, "Proxy-Authenticate", "Basic realm=\"r\""),
        ]
    )
    func aServerThatAsksForCredentialsIsAnswered(status: Int, name: String, scheme: String) async throws {
        let server = try LocalServer()
        let transport = try URLSessionTransport(base: server.url, timeout: .seconds(1_000))
        let request = ModelRequest.get(
            "/challenge",
            query: ["status": "\(status)", "name": name, "scheme": scheme]
        )
        for _ in 0..<2 {
            let response = try await transport.send(request)
            #expect(response.status == status)
            #expect(response.headers[name] == scheme)
        }
        #expect(try await transport.send(.get("/echo")).status == 200)
    }

    @Test func aWholeURLOfAnotherServerGetsNoSecret() async throws {
        let server = try LocalServer()
        let other = try LocalServer()
        let transport = try URLSessionTransport(
            base: server.url,
            headers: ["Authorization": "Bearer t", "Cookie": "c=d", "X-Plain": "p"]
        )
        let whole = other.url.appending(path: "echo").absoluteString
        var echo = try await Self.echo(transport, .get(whole, query: ["a": "b"]))
        #expect(echo.path == "/echo?a=b")
        #expect(echo.headers["authorization"] == nil)
        #expect(echo.headers["cookie"] == nil)
        #expect(echo.headers["x-plain"] == "p")
        // But one that the program gives with the request.
        echo = try await Self.echo(transport, .get(whole, headers: ["Authorization": "Bearer own"]))
        #expect(echo.headers["authorization"] == "Bearer own")
        echo = try await Self.echo(transport, .get(server.url.appending(path: "echo").absoluteString))
        #expect(echo.headers["authorization"] == "Bearer t")
    }

    @Test func aRedirectToAnotherServerTakesNoSecretAlong() async throws {
        let server = try LocalServer()
        let other = try LocalServer()
        let transport = try URLSessionTransport(
            base: server.url,
            headers: ["Authorization": "Bearer t", "X-Plain": "p"]
        )
        let away = other.url.appending(path: "echo").absoluteString
        var echo = try await Self.echo(transport, .get("/redirect", query: ["to": away]))
        #expect(echo.path == "/echo")
        #expect(echo.headers["authorization"] == nil)
        #expect(echo.headers["x-plain"] == "p")
        echo = try await Self.echo(transport, .get("/redirect", query: ["to": "/echo"]))
        #expect(echo.headers["authorization"] == "Bearer t")
        let error = await #expect(throws: URLError.self) { try await transport.send(.get("/loop")) }
        #expect(error?.code == .httpTooManyRedirects)
    }

    /// Never the answer to an empty request.
    @Test func aRedirectThatKeepsTheMethodKeepsTheBodyOrIsTheAnswer() async throws {
        let server = try LocalServer()
        // However long the time is.
        let transport = try URLSessionTransport(base: server.url, timeout: .seconds(Int64.max))
        let request = ModelRequest(method: "PUT", path: "/moved", body: Data("all of it".utf8))
        #if canImport(Darwin)
            let echo = try await Self.echo(transport, request)
            #expect(echo.method == "PUT")
            #expect(echo.path == "/echo")
            #expect(echo.body == "all of it")
        #else
            #expect(try await transport.send(request).status == 307)
        #endif
    }

    @Test func anAnswerAboveTheLimitIsNotRead() async throws {
        let server = try LocalServer()
        let transport = try URLSessionTransport(base: server.url, answerLimit: .kibibytes(64))
        #expect(try await transport.send(.get("/bytes/65536")).body.count == 65_536)
        for path in ["/bytes/65537", "/endless", "/zeros"] {
            let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(.get(path)) }
            #expect(error?.code == .tooLarge, "\(path)")
        }
    }

    @Test func cancellationEndsTheRequest() async throws {
        let server = try LocalServer()
        let transport = try URLSessionTransport(base: server.url)
        let task = Task { try await transport.send(.get("/silent")) }
        try await server.asked(for: "/silent")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // The server sees the connection go.
        try await server.asked(for: "/gone")
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.send(.get("/echo"))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
    }

    @Test func aSilentServerTimesOut() async throws {
        let server = try LocalServer()
        let transport = try URLSessionTransport(base: server.url, timeout: .seconds(1))
        let error = await #expect(throws: URLError.self) { try await transport.send(.get("/silent")) }
        #expect(error?.code == .timedOut)
        #expect(error?.localizedDescription == "the server was silent for 1.0 seconds")
    }

    /// Answers every request as a protocol without statuses and headers does.
    private final class PlainProtocol: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            guard let url = request.url else { return }
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func anAnswerThatIsNoneOfHTTPIsRefused() async throws {
        let transport = try URLSessionTransport(base: try #require(URL(string: "http://localhost/"))) {
            $0.protocolClasses = [PlainProtocol.self]
        }
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(.get("/plain")) }
        #expect(error?.code == .notHTTP)
    }

    @Test func whatIsNotHTTPIsRefused() async throws {
        for text in ["file:///etc/hosts", "ftp://x/", "/path", "http://"] {
            let url = try #require(URL(string: text))
            let error = #expect(throws: HTTPTransportError.self) { _ = try URLSessionTransport(base: url) }
            #expect(error?.code == .invalidURL)
        }
        let transport = try URLSessionTransport(base: try #require(URL(string: "http://127.0.0.1:9/a")))
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(.get("http://")) }
        #expect(error?.code == .invalidURL)
    }

    @Test func theSystemKeepsNothing() throws {
        let found = Mutex<URLSessionConfiguration?>(nil)
        _ = try URLSessionTransport(base: try #require(URL(string: "http://127.0.0.1"))) { configuration in
            #expect(configuration.httpCookieStorage == nil)
            #expect(!configuration.httpShouldSetCookies)
            configuration.urlCache = .shared
            configuration.requestCachePolicy = .returnCacheDataElseLoad
            found.withLock { $0 = configuration }
        }
        found.withLock { configuration in
            #expect(configuration != nil)
            #expect(configuration?.urlCache == nil)
            #expect(configuration?.requestCachePolicy == .reloadIgnoringLocalCacheData)
        }
    }

    /// Model cache, transport and a server that has seen its own entity tag.
    @Test func aModelIsConfirmedOverTheWire() async throws {
        let server = try LocalServer()
        let models = try await Models.inMemory(
            types: [Tagged.self],
            transport: try URLSessionTransport(base: server.url)
        )
        #expect(try await models.fetch(Tagged.self, id: 1).text == "tagged")
        #expect(try await models.fetch(Tagged.self, id: 1).text == "tagged")
        let echo = try await Self.echo(URLSessionTransport(base: server.url), .get("/statuses"))
        #expect(echo.body == "200 304")
    }

    private static func echo(_ transport: URLSessionTransport, _ request: ModelRequest) async throws -> Echo {
        try JSONDecoder().decode(Echo.self, from: await transport.send(request).body)
    }
}

private struct Tagged: CachedModel {
    static let modelName = "tagged"
    static let policy = ModelPolicy(freshness: .zero)
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/tagged/\(id)") }
}

/// A request as the server has seen it.
private struct Echo: Decodable {
    let method: String
    let path: String
    let headers: [String: String]
    let body: String
}

/// A server in a process of its own, on a free port of the loopback interface; it ends with the object.
private final class LocalServer: Sendable {
    let url: URL
    private let process: Process
    private let input = Pipe.make()
    private let output: Pipe

    init() throws {
        let process = Process()
        let output = Pipe.make()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-u", "-c", Self.program]
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        self.process = process
        self.output = output
        let port = try #require(Int(try Self.line(output)))
        url = try #require(URL(string: "http://127.0.0.1:\(port)"))
    }

    // By force: threads of Swift's tasks block signals, and a process that they start does so too.
    deinit { kill(process.processIdentifier, SIGKILL) }

    /// Waits until the server has printed a path.
    func asked(for path: String) async throws {
        let output = output
        let found = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.line(output) })
            }
        }
        #expect(found == path)
    }

    private static func line(_ pipe: Pipe) throws -> String {
        var line = Data()
        while let byte = try pipe.fileHandleForReading.read(upToCount: 1), byte != Data([10]) { line += byte }
        return String(decoding: line, as: UTF8.self)
    }

    private static let program = #"""
        import gzip, http.server, json, os, socket, sys, threading, urllib.parse
        statuses, counts = [], [0]
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def log_message(self, *_): pass
            def answer(self, body, status=200, headers=()):
                self.send_response(status)
                for name, value in headers: self.send_header(name, value)
                if status not in (204, 304): self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                if status not in (204, 304): self.wfile.write(body)
            def echo(self, body=''):
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = {'method': self.command, 'path': self.path, 'headers': headers, 'body': body}
                self.answer(json.dumps(seen).encode(), headers=[
                    ('Cache-Control', 'max-age=60'), ('Cache-Control', 'private'), ('ETag', '"a"')])
            def do_PUT(self):
                body = self.rfile.read(int(self.headers.get('Content-Length', 0))).decode()
                if self.path == '/moved': return self.answer(b'', 307, [('Location', '/echo')])
                self.echo(body)
            def do_GET(self):
                parts = urllib.parse.urlsplit(self.path)
                steps = parts.path.split('/')
                if steps[1] == 'echo': return self.echo()
                if steps[1] == 'statuses': return self.echo(' '.join(statuses))
                if steps[1] == 'status': return self.answer(b'', int(steps[2]), [('Cache-Control', 'max-age=60')])
                if steps[1] == 'challenge':
                    asked = urllib.parse.parse_qs(parts.query)
                    return self.answer(b'no', int(asked['status'][0]), [(asked['name'][0], asked['scheme'][0])])
                if steps[1] == 'loop': return self.answer(b'', 302, [('Location', '/loop')])
                if steps[1] == 'redirect':
                    return self.answer(b'', 302, [('Location', urllib.parse.parse_qs(parts.query)['to'][0])])
                if steps[1] == 'bytes': return self.answer(b'x' * int(steps[2]))
                if steps[1] == 'zeros':
                    return self.answer(gzip.compress(bytes(10_000_000)), headers=[('Content-Encoding', 'gzip')])
                if steps[1] == 'count':
                    counts[0] += 1
                    return self.answer(str(counts[0]).encode(), headers=[('Cache-Control', 'max-age=60')])
                if steps[1] == 'tagged':
                    status = 304 if self.headers.get('If-None-Match') == '"t"' else 200
                    statuses.append(str(status))
                    return self.answer(b'{"id": 1, "text": "tagged"}', status, [('ETag', '"t"')])
                if steps[1] == 'silent':
                    print('/silent')
                    self.connection.settimeout(20)
                    try:
                        if not self.connection.recv(1): print('/gone')
                    except OSError: print('/gone')
                    self.close_connection = True
                    return
                if steps[1] == 'endless':
                    self.send_response(200)
                    self.end_headers()
                    try:
                        for _ in range(100_000): self.wfile.write(b'x' * 4_096)
                    except OSError: pass
                    self.close_connection = True
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        print(server.server_address[1])
        # With the test's process the pipe ends, and with it the server.
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
        server.serve_forever()
        """#
}
