import Foundation
import PythonServer

/// The server of the example, as a process of its own.
@MainActor
struct Server {
    private let process: PythonServer
    var base: URL { process.base }

    init() throws { process = try PythonServer() }

    func stop() throws { try process.stop() }

    /// Whether it takes changes.
    func takeChanges(_ takes: Bool) async throws {
        try await process.send("POST", "/switch/\(takes ? "on" : "off")")
    }

    func rename(article: Int, to title: String) async throws {
        try await process.send("PATCH", "/articles/\(article)", body: try JSONEncoder().encode(["title": title]))
    }

    /// How many answers were whole, and how many said that nothing had changed.
    func log() async throws -> [String: Int] {
        try JSONDecoder().decode([String: Int].self, from: try await process.send("GET", "/log"))
    }
}
