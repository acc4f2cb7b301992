import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server in Python, as a process of its own: it prints its port, and ends when its standard input does.
@MainActor
package final class PythonServer {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }
    }

    package let base: URL
    private let process = Process()
    // It ends when this one is closed, however this process ends.
    private let input = Pipe()

    /// Starts `server.py` in the folder of the file that calls this.
    package init(caller: String = #filePath) throws {
        let script = URL(fileURLWithPath: caller).deletingLastPathComponent().appending(path: "server.py")
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let base = URL(string: "http://127.0.0.1:" + port.trimmingCharacters(in: .whitespacesAndNewlines)),
            base.port != nil
        else { throw Failure("the server did not start") }
        self.base = base
    }

    package func stop() throws {
        if !process.isRunning { return }
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Sends a request that no cache sees.
    @discardableResult
    package func send(_ method: String, _ path: String, body: Data? = nil) async throws -> Data {
        var request = URLRequest(url: base.appending(path: path))
        request.httpMethod = method
        request.httpBody = body
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode, status < 300 else {
            throw Failure("the server refused the change")
        }
        return data
    }
}
