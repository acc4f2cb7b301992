import Foundation
import TestSupport

/// A worker in a process of its own.
final class ChildWorker {
    let settings: WorkerSettings
    private let process = Process()
    private let input = Pipe.make()
    private let output = Pipe.make()
    /// Foundation's own waiting looks only twenty times a second.
    private let ended = DispatchSemaphore(value: 0)
    private var hasEnded = false
    private var received: [UInt8] = []
    private let log: LogReader

    /// How long a worker may take for an answer before it counts as hanging. No bar for its speed.
    static let patience: Duration = .seconds(120 * slowness)

    /// A word to a process that has ended fails, and does not end this one.
    private static let survivesBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()

    /// Starts it. It says “opened” once it has opened the cache.
    init(executable: URL, _ settings: WorkerSettings) throws {
        _ = Self.survivesBrokenPipes
        self.settings = settings
        log = LogReader(path: settings.log)
        process.executableURL = executable
        process.arguments = settings.arguments
        process.standardInput = input
        process.standardOutput = output
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.start()
        // The ends that the child has; else the end of its output would never come.
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
    }

    /// Waits for its next line.
    ///
    /// - Throws: ``TortureError`` if it ends, or says nothing for ``patience``.
    func line() throws -> String {
        let limit = MonotonicTime.now.advanced(by: Self.patience)
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            let descriptor = output.fileHandleForReading.fileDescriptor
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&event, 1, 1_000) > 0 {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { throw TortureError("process \(settings.writer) ended by itself") }
                received += data
            } else if limit < .now {
                throw TortureError("process \(settings.writer) hangs")
            }
        }
    }

    /// Waits until it has opened the cache.
    func waitUntilOpened() throws {
        let line = try line()
        if line != "opened" { throw TortureError("process \(settings.writer) said “\(line)” and not “opened”") }
    }

    /// Has it do operations of its own until `end`; then it says “finished”.
    func run(until end: MonotonicTime) throws { try send("run \(end.nanoseconds)") }

    func waitUntilFinished() throws {
        let line = try line()
        if line != "finished" { throw TortureError("process \(settings.writer) said “\(line)” and not “finished”") }
    }

    /// Has it do one operation, and waits for the answer.
    func perform(_ operation: Operation) throws -> Answer {
        try begin(operation)
        return try answer()
    }

    /// Makes it begin one operation; its answer must be read before the next one.
    func begin(_ operation: Operation) throws { try send("\(operation)") }

    /// Waits for the answer to the operation that was begun.
    func answer() throws -> Answer {
        let line = try line()
        guard let answer = Answer(line.split(separator: " ")[...]) else { throw TortureError("no answer: \(line)") }
        return answer
    }

    private func send(_ line: String) throws {
        do {
            try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        } catch {
            throw TortureError("process \(settings.writer) ended by itself: \(error)")
        }
    }

    /// Kills it with SIGKILL, and returns when it is certainly dead.
    @discardableResult
    func killed() -> MonotonicTime {
        kill(process.processIdentifier, SIGKILL)
        waitUntilEnded()
        return .now
    }

    /// Has it stand still, wherever it is, and returns when it certainly does; `false` if it has ended.
    func stop() throws -> Bool {
        let number = process.processIdentifier
        let limit = MonotonicTime.now.advanced(by: Self.patience)
        kill(number, SIGSTOP)
        while process.isRunning {
            var information = siginfo_t()
            if waitid(P_PID, id_t(number), &information, WSTOPPED | WNOHANG) == 0, information.si_signo == SIGCHLD {
                return true
            }
            if limit < .now { throw TortureError("process \(settings.writer) does not stop") }
            usleep(50)
        }
        return false
    }

    /// Has it go on.
    func goOn() {
        if process.isRunning { kill(process.processIdentifier, SIGCONT) }
    }

    private func waitUntilEnded() {
        if !hasEnded { ended.wait() }
        hasEnded = true
    }

    var isRunning: Bool { process.isRunning }

    /// Whether a signal ended it.
    var wasKilled: Bool { process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL }

    /// Lets it end, and waits for that.
    func end() throws {
        try input.fileHandleForWriting.close()
        waitUntilEnded()
    }

    deinit {
        if !hasEnded { killed() }
        // Foundation may keep the pipes for as long as this process lives.
        try? input.fileHandleForWriting.close()
        try? output.fileHandleForReading.close()
    }

    /// The records that it has logged since the last call.
    func newRecords() throws -> [LogRecord] {
        try log.newRecords()
    }
}
