import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The shop's server, as a process of its own.
@MainActor
package final class Server {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let base: URL
    private let process = Process()
    // It ends when this one is closed, however this process ends.
    private let input = Pipe()

    package init() throws {
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

    package func stop() throws {
        if !process.isRunning { return }
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    // MARK: Events on the server's side

    private struct Order: Encodable {
        var `do`: String
        var path: String?
        var fault: String?
        var id: Int?
        var price: String?
        var seconds: Int?
    }

    /// Has all requests for a path end in a fault; the names are in the server's table.
    package func fault(_ fault: String, at path: String) async throws {
        try await control(Order(do: "fault", path: path, fault: fault))
    }

    /// Ends all faults, and lets slow answers go.
    package func mend() async throws { try await control(Order(do: "mend")) }

    package func wait(seconds: Int) async throws { try await control(Order(do: "wait", seconds: seconds)) }
    package func expireToken() async throws { try await control(Order(do: "expire token")) }
    package func addProduct() async throws { try await control(Order(do: "add")) }
    package func addMessage() async throws { try await control(Order(do: "message")) }
    package func delete(product id: Int) async throws { try await control(Order(do: "delete", id: id)) }
    package func set(priceOf id: Int, to price: String) async throws {
        try await control(Order(do: "price", id: id, price: price))
    }

    /// The requests since the last call, in the order of their answers: `GET /products/1 200 gzip`.
    package func requests() async throws -> [String] {
        let log = try JSONDecoder().decode([String].self, from: try await send("GET", "log"))
        try await control(Order(do: "forget"))
        return log
    }

    private func control(_ order: Order) async throws {
        try await send("POST", "control", body: try JSONEncoder().encode(order))
    }

    @discardableResult
    private func send(_ method: String, _ path: String, body: Data? = nil) async throws -> Data {
        var request = URLRequest(url: base.appending(path: path))
        request.httpMethod = method
        request.httpBody = body
        return try await URLSession.shared.data(for: request).0
    }
}
