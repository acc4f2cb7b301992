import Foundation
import TestSupport

/// A `SharedWorker`: a machine in a process of its own.
final class SharedProcess {
    private let process: Process
    private let input = Pipe.make()
    private let output = Pipe.make()

    convenience init(_ fleet: Fleet, interval: Int, deadline: Int) throws {
        let url = "redis://127.0.0.1:\(fleet.server.port)/?prefix=\(fleet.prefix)"
        try self.init(url, interval: interval, deadline: deadline)
    }

    /// - Parameters:
    ///   - interval: of heartbeats, in milliseconds.
    ///   - deadline: of heartbeats, in milliseconds.
    init(_ url: String, interval: Int, deadline: Int) throws {
        process = Process()
        process.executableURL = Self.executable
        process.arguments = [url, "\(interval)", "\(deadline)"]
        process.standardInput = input
        process.standardOutput = output
        try process.start()
    }

    /// Beside the tests.
    private static var executable: URL {
        #if canImport(Darwin)
            Bundle(for: SharedProcess.self).bundleURL.deletingLastPathComponent().appending(path: "SharedWorker")
        #else
            Bundle.main.bundleURL.appending(path: "SharedWorker")
        #endif
    }

    func send(_ line: String) { input.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    /// The next line, which this waits for.
    func answer() -> String {
        var bytes: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func ask(_ line: String) -> String {
        send(line)
        return answer()
    }

    /// Asks again and again until the answer is this one.
    func wait(for answer: String, to line: String) async throws {
        try await TestSupport.wait(until: ask(line) == answer)
    }

    func signal(_ number: Int32) { _ = kill(process.processIdentifier, number) }

    /// Stops the process, and waits until all of its threads stand still.
    func stop() {
        signal(SIGSTOP)
        var information = siginfo_t()
        while waitid(P_PID, id_t(process.processIdentifier), &information, WSTOPPED) != 0, errno == EINTR {}
    }

    func end() {
        signal(SIGKILL)
        process.waitUntilExit()
    }
}
