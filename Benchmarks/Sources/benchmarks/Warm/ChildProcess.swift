import Foundation

/// A program that is run to its end.
struct ChildProcess {
    private static let pollingMicroseconds: UInt32 = 3_000

    let status: Int32
    let duration: Duration
    /// The time that processors worked for it.
    let processorTime: Duration
    /// The most memory that it had in use at once, in bytes.
    ///
    /// On Linux as of a few milliseconds before its end: there `wait4` says no less than the memory that this process
    /// had in use when it started the other one.
    let peakMemory: Int
    /// The text that it wrote to both outputs.
    let output: String

    /// - Parameters:
    ///   - executable: a path, or a name that is looked up in `PATH`.
    ///   - log: a file for the program's output, which is made.
    /// - Throws: if it cannot be started.
    init(_ executable: String, _ arguments: [String], log: URL) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let process = try Self.spawn(executable, arguments, log: log)
        var waitStatus: Int32 = 0
        var usage = rusage()
        var peak = 0
        while true {
            let ended = wait4(process, &waitStatus, WNOHANG, &usage)
            if ended == process { break }
            guard ended == 0 || errno == EINTR else { throw BenchmarkError("\(executable) was lost: \(errno)") }
            peak = max(peak, Self.peakMemory(of: process) ?? 0)
            usleep(Self.pollingMicroseconds)
        }
        duration = clock.now - start
        processorTime = ProcessorTime.of(usage)
        // The exit code, or, as shells say it, 128 and the signal.
        status = waitStatus & 0x7F == 0 ? waitStatus >> 8 & 0xFF : 128 + waitStatus & 0x7F
        #if canImport(Darwin)
            peakMemory = usage.ru_maxrss
        #else
            peakMemory = peak
        #endif
        output = String(decoding: try Data(contentsOf: log), as: UTF8.self)
    }

    private static func peakMemory(of process: pid_t) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return nil }
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
    }

    private static func spawn(_ executable: String, _ arguments: [String], log: URL) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)

        var words = ([executable] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let failure = posix_spawnp(&process, executable, &actions, nil, &words, environ)
        guard failure == 0 else {
            throw BenchmarkError("\(executable) cannot be run: \(String(cString: strerror(failure)))")
        }
        return process
    }
}
