import Synchronization

/// The last segment of a log, the one that is appended to, and the length of it that readers may use.
///
/// Changed under the writer's lock only; read by any thread.
final class LogTail: Sendable {
    struct Position: Sendable {
        let segment: Segment
        /// The length that the index covers.
        fileprivate(set) var end: Int
        /// The length that readers without the lock may use; `nil` while a writer in this process changes the log.
        /// Readers wait then: otherwise they might see a change before other readers can, or after they have.
        fileprivate(set) var shownEnd: Int?
        /// Whether it has its seal: it never grows again, and readers look for the next segment.
        fileprivate(set) var isSealed = false

        init(segment: Segment, end: Int) {
            self.segment = segment
            self.end = end
        }

        /// Whether there is no record in it.
        var isEmpty: Bool { end <= (segment.headerByteCount ?? 0) }
    }

    private let position: RankedMutex<Position?>

    init(_ position: Position?) { self.position = RankedMutex(position, rank: PackedLocks.tail) }

    /// `nil` if there is no segment.
    @inline(__always) var current: Position? { position.withLock { $0 } }

    var number: UInt32? { position.withLock { $0?.segment.number } }

    /// The dictionary that new entries are compressed with.
    var dictionary: PresetDictionary? { position.withLock { $0?.segment.dictionary } }

    /// Where the next record will be, unless it begins a segment.
    var end: RecordPlace {
        position.withLock { position in
            RecordPlace(
                segment: position?.segment.number ?? 0,
                offset: UInt32(clamping: position?.end ?? 0)
            )
        }
    }

    /// The length that the index covers; 0 if there is no segment.
    var byteCount: Int { position.withLock { $0?.end ?? 0 } }

    // MARK: Changes

    /// Makes readers wait until this change is complete. Appending does that by itself.
    func hide() { position.withLock { $0?.shownEnd = nil } }

    /// Lets readers use the index as it is.
    func show() {
        position.withLock { position in
            let end = position?.end
            position?.shownEnd = end
        }
    }

    /// Makes a segment the tail, or changes its length. Readers wait until ``show()``.
    func set(_ segment: Segment, end: Int) {
        let former = position.withLock { position in
            defer { position = Position(segment: segment, end: end) }
            return position
        }
        _ = consume former
    }

    /// Notes that records were appended up to `end`.
    func extend(to end: Int) { position.withLock { $0?.end = end } }

    func markSealed() { position.withLock { $0?.isSealed = true } }

    /// Releases the segment.
    func clear() {
        let former = position.withLock { $0.take() }
        _ = consume former
    }
}
