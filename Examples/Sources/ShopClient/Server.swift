import Foundation
import PythonServer

/// The shop's server, as a process of its own.
@MainActor
package struct Server {
    private let process: PythonServer
    package var base: URL { process.base }

    package init() throws { process = try PythonServer() }

    package func stop() throws { try process.stop() }

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
        let log = try JSONDecoder().decode([String].self, from: try await process.send("GET", "log"))
        try await control(Order(do: "forget"))
        return log
    }

    private func control(_ order: Order) async throws {
        try await process.send("POST", "control", body: try JSONEncoder().encode(order))
    }
}
