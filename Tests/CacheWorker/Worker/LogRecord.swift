/// A line of a worker's log: an operation begins, or is done.
///
///     81234567890 begin 17 save k3
///     81234599120 done 17 save k3 done
///     81234700001 damage the reason why an entry was taken out of the way
///
/// The time is taken before an operation begins and after it is done, so that it ran wholly within the two. The
/// line “begin” is in the log before the operation starts: a value that is fetched but was never begun is not a value
/// of this worker.
struct LogRecord: Hashable, CustomStringConvertible {
    enum Event: Hashable {
        case begin(Int, Operation)
        case end(Int, Operation, Answer)
        case damage(String)
    }

    let time: MonotonicTime
    let event: Event

    var description: String {
        switch event {
        case .begin(let number, let operation): "\(time.nanoseconds) begin \(number) \(operation)"
        case .end(let number, let operation, let answer):
            "\(time.nanoseconds) done \(number) \(operation) \(answer)"
        case .damage(let reason): "\(time.nanoseconds) damage \(reason)"
        }
    }

    init(time: MonotonicTime, event: Event) {
        self.time = time
        self.event = event
    }

    init?(_ line: some StringProtocol) {
        var words = line.split(separator: " ").map { Substring($0) }[...]
        guard let nanoseconds = words.popFirst().flatMap({ UInt64($0) }), let phase = words.popFirst() else {
            return nil
        }
        time = MonotonicTime(nanoseconds: nanoseconds)
        if phase == "damage" {
            event = .damage(words.joined(separator: " "))
            return
        }
        guard let number = words.popFirst().flatMap({ Int($0) }), let operation = Operation(takingFrom: &words)
        else {
            return nil
        }
        switch phase {
        case "begin" where words.isEmpty: event = .begin(number, operation)
        case "done":
            guard let answer = Answer(words) else { return nil }
            event = .end(number, operation, answer)
        default: return nil
        }
    }

    /// The records of a log. A last line that was cut by the end of its process is as if it had not been written.
    ///
    /// - Throws: ``TortureError`` for any other line that is not a record.
    static func records(_ text: String) throws -> [LogRecord] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        lines.removeLast()
        return try lines.map { line in
            guard let record = LogRecord(line) else { throw TortureError("no line of a log: \(line)") }
            return record
        }
    }
}
