import Synchronization

/// Where a log ends, and which log it is. A log whose position is the same as before has not changed since: all changes
/// append records, or end the first segment.
struct LogPosition: Equatable, Sendable {
    private let segmentIdentity: UInt64
    private let end: RecordPlace
    private let firstLiveSegment: UInt32

    /// `nil` if the last segment's header cannot be read, or there is no segment.
    init?(of tail: LogTail, _ chain: SegmentChain) {
        guard let header = tail.current?.segment.header else { return nil }
        segmentIdentity = header.identity
        end = tail.end
        firstLiveSegment = chain.firstLiveSegment
    }
}

/// The position of a log that was suspended, for the next one.
final class SuspendedPosition: Sendable {
    private let position = Mutex<LogPosition?>(nil)

    /// Notes where a log is that is about to be suspended.
    @Sendable func set(_ log: PackedLog) {
        let new = log.toldPosition
        position.withLock { $0 = new }
    }

    /// The position, once: later logs are opened for other reasons.
    func take() -> LogPosition? { position.withLock { $0.take() } }
}
