import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The server of the example, as a process of its own.
@MainActor
final class Server {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let base: URL
    private let process = Process()
    // It ends when this one is closed, however this process ends.
    private let input = Pipe()

    init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "server.py")
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let base = URL(string: "http://127.0.0.1:" + port.trimmingCharacters(in: .whitespacesAndNewlines)),
            base.port != nil
        else { throw Failure(description: "the server did not start") }
        self.base = base
    }

    func stop() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Whether it takes changes.
    func takeChanges(_ takes: Bool) async throws {
        try await send("POST", "/switch/\(takes ? "on" : "off")")
    }

    func rename(article: Int, to title: String) async throws {
        try await send("PATCH", "/articles/\(article)", body: try JSONEncoder().encode(["title": title]))
    }

    /// How many answers were whole, and how many said that nothing had changed.
    func log() async throws -> [String: Int] {
        try JSONDecoder().decode([String: Int].self, from: try await send("GET", "/log"))
    }

    @discardableResult
    private func send(_ method: String, _ path: String, body: Data? = nil) async throws -> Data {
        var request = URLRequest(url: base.appending(path: path))
        request.httpMethod = method
        request.httpBody = body
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode, status < 300 else {
            throw Failure(description: "the server refused the change")
        }
        return data
    }
}
