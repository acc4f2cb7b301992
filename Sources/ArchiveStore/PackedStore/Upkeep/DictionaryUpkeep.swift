import Synchronization

/// Makes the dictionary that a log's new entries are compressed with, and a better one from time to time.
final class DictionaryUpkeep: Sendable {
    private let lock: LogLock
    private let reader: RecordReader
    private let tail: LogTail
    private let budget: SpaceBudget
    private let isEnabled: Bool
    private let archiveByteLimit: Int
    /// How many entries there must be for a dictionary to be tried.
    private let nextTrial = Atomic<Int>(DictionaryUpkeep.fewEntries)
    /// How many records this log had appended when a dictionary was last tried; changed under the writer's lock.
    private let appendedAtTrial = Atomic<Int>(0)

    /// The fewest entries for which a dictionary is tried.
    private static let fewEntries = 64
    /// The fewest new records after which a better dictionary is tried, and the part of all entries that they must be.
    private static let fewRecords = 512
    private static let newPart = 8
    /// The most entries that a dictionary is made from.
    private static let sampleCount = 128

    /// - Parameters:
    ///   - isEnabled: Whether new entries are compressed.
    ///   - archiveByteLimit: The longest archive that the store returns.
    init(
        lock: LogLock,
        reader: RecordReader,
        tail: LogTail,
        budget: SpaceBudget,
        isEnabled: Bool,
        archiveByteLimit: Int
    ) {
        self.lock = lock
        self.reader = reader
        self.tail = tail
        self.budget = budget
        self.isEnabled = isEnabled
        self.archiveByteLimit = archiveByteLimit
    }

    /// Whether it is time to look for a log's first dictionary.
    var isDue: Bool { recordsBeforeTrial == 0 }

    /// How many records are to be saved before a log's first dictionary is tried; `nil` where it has one, or gets none.
    var recordsBeforeTrial: Int? {
        guard isEnabled, tail.dictionary == nil else { return nil }
        return max(0, nextTrial.load(ordering: .relaxed) - reader.index.loadedCount)
    }

    /// Tries a dictionary made of entries that were saved lately, and begins a segment with it if it is worth it.
    ///
    /// Takes some milliseconds, and holds no lock but to begin the segment.
    ///
    /// - Returns: whether there is a new one.
    func renew() throws(StoreError) -> Bool {
        guard isEnabled else { return false }
        let current = tail.dictionary
        let total = reader.index.total.count
        let limit = try lock.withWriterLock { state -> Int? in
            let appended = state.log.counts.appendedRecordCount
            // Not again before much has changed.
            let records = appended - appendedAtTrial.load(ordering: .relaxed)
            if current != nil, records < max(Self.fewRecords, total / Self.newPart) { return nil }
            appendedAtTrial.store(appended, ordering: .relaxed)
            return budget.dictionaryByteLimit(of: state.log)
        }
        guard let limit, total >= Self.fewEntries else { return false }
        nextTrial.store(total * 4, ordering: .relaxed)
        guard limit > 0 else { return false }
        let samples = try samples()
        guard let new = DictionaryTrainer.train(samples, byteLimit: limit, replacing: current) else {
            return false
        }
        // Two dictionaries with one identifier could not be told apart.
        let segments = reader.segments
        guard let dictionary = segments.dictionary(new.bytes), segments.isKnown(dictionary) else { return false }
        try lock.withExclusiveLog { state throws(StoreError) in
            guard tail.dictionary === current else { return }
            // The seal and the header take from the room that is kept for making room.
            guard budget.upkeepByteCount(of: state.log) <= budget.freeByteCount(of: state.log) else { return }
            try state.log.beginSegment(dictionary: dictionary)
        }
        return true
    }

    /// Archives of entries: half of them were saved lately, the others are from all that there are.
    private func samples() throws(StoreError) -> [[UInt8]] {
        let last = tail.number ?? 0
        let step = max(1, reader.index.total.count / (Self.sampleCount / 2))
        var latest: [IndexSlot] = []
        var chosen: [IndexSlot] = []
        var position = 0
        reader.index.forEachPart { table in
            table.forEachSlot { slot in
                guard slot.byteCount <= UInt32(PresetDictionary.largestInput) else { return }
                // Entries that others save in the meantime are more than the step was made for.
                if position % step == 0, chosen.count < Self.sampleCount / 2 { chosen.append(slot) }
                position += 1
                if slot.place.segment + 1 >= last { latest.append(slot) }
            }
        }
        let places = Set(chosen.map(\.place))
        latest.removeAll { places.contains($0.place) }
        let latestStep = max(1, latest.count / (Self.sampleCount - chosen.count))
        chosen += stride(from: 0, to: latest.count, by: latestStep).map { latest[$0] }
        var samples: [[UInt8]] = []
        for slot in chosen {
            bestEffort("a fetch of an unreadable entry reports it") { () throws(StoreError) in
                guard let found = try reader.read(slot, .whole) else { return }
                samples.append(try reader.archive(of: found, limit: archiveByteLimit))
            }
        }
        return samples
    }
}
