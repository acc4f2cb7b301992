import Foundation

/// A server of its own, on a free port of this machine, that keeps nothing on disk.
final class RedisServerProcess {
    /// Where programs of Redis or Valkey are; `nil` if there are none.
    static func program(_ names: String...) -> String? {
        names.lazy.flatMap { name in
            ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
        }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    let port: Int
    private let process: LineProcess

    /// - Parameters:
    ///   - folder: a folder of the server's own.
    ///   - ports: below those that the system gives to clients.
    /// - Throws: if it cannot be started.
    init(_ program: String, folder: URL, ports: Range<Int> = 20_000..<30_000, _ options: [String] = []) throws {
        for _ in 0..<20 {
            let port = Int.random(in: ports)
            let process = try LineProcess(
                program,
                ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
                    + ["--dir", folder.path, "--daemonize", "no"] + options
            )
            // It ends if the port is taken.
            while let line = process.readLine() {
                guard line.contains("Ready to accept connections") else { continue }
                self.port = port
                self.process = process
                return
            }
            process.end()
        }
        throw BenchmarkError("\(program) does not start")
    }

    func url(_ parameters: String = "") -> String { "redis://127.0.0.1:\(port)/\(parameters)" }

    func end() { process.end() }

    /// As SIGKILL ends it.
    func kill() { process.kill() }
}
