import Foundation

/// A file to which each record is appended with one `write`, so that it outlives its process at once.
final class OperationLog: Sendable {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw TortureError("cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    func append(_ event: LogRecord.Event, at time: MonotonicTime = .now) {
        let line = Array("\(LogRecord(time: time, event: event))\n".utf8)
        // An operation that is not in the log cannot be judged, so the worker must end.
        guard write(descriptor, line, line.count) == line.count else {
            fatalError("the log cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}
