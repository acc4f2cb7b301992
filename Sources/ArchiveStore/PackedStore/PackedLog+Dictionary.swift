extension PackedLog {
    /// The fewest entries for which a dictionary is tried.
    static var fewEntries: Int { 64 }
    /// The fewest new records after which a better dictionary is tried.
    private static var fewRecords: Int { 1 << 13 }
    /// The most entries that a dictionary is made from.
    private static var sampleCount: Int { 128 }
    /// The least gain of a new dictionary over the current one, as a part of the bytes that samples take without one.
    private static var leastGain: Double { 0.1 }

    /// The most bytes of a dictionary in the header of every segment; 0 where these are short.
    func dictionaryLimit(_ writer: borrowing Writer) -> Int {
        let limit = min(PresetDictionary.largestByteCount, segmentByteCount(writer) / 16)
        return limit < 1 << 10 ? 0 : limit
    }

    /// Whether it is time to look for a dictionary, or for a better one; never where new entries are not compressed.
    var takesDictionary: Bool {
        guard settings.compression != .stored else { return false }
        guard index.loadedCount >= shared.nextTrial.load(ordering: .relaxed) else { return false }
        return dictionary == nil
    }

    /// Tries a dictionary made of entries that were saved lately, and begins a segment with it if it is worth it.
    ///
    /// Takes some milliseconds, and holds no lock but to begin the segment.
    ///
    /// - Returns: whether there is a new one.
    func renewDictionary(limit archiveLimit: Int) throws(StoreError) -> Bool {
        guard settings.compression != .stored else { return false }
        let current = dictionary
        let total = index.total.count
        let limit = try looking { writer -> Int? in
            // Not again before much has changed.
            if current != nil, writer.recordsSinceTrial < max(Self.fewRecords, total / 2) { return nil }
            writer.recordsSinceTrial = 0
            return dictionaryLimit(writer)
        }
        guard let limit, total >= Self.fewEntries else { return false }
        shared.nextTrial.store(total * 4, ordering: .relaxed)
        guard limit > 0 else { return false }
        let samples = try samples(limit: archiveLimit)
        guard let new = DictionaryTrainer.train(samples, byteLimit: limit) else { return false }
        if let current {
            let gain =
                DictionaryTrainer.saving(of: new, on: samples) - DictionaryTrainer.saving(of: current, on: samples)
            guard gain >= Self.leastGain else { return false }
        }
        // Two dictionaries with one identifier could not be told apart.
        guard let dictionary = segments.dictionary(new.bytes), segments.isKnown(dictionary) else { return false }
        try changing { writer throws(StoreError) in
            guard self.dictionary === current else { return }
            // The seal and the header take from the room that is kept for making room.
            guard self.byteCount(writer) + roomForUpkeep(writer) <= self.byteLimit(writer) else { return }
            try beginSegment(dictionary: dictionary, &writer)
        }
        return true
    }

    /// Archives of entries that were saved lately.
    private func samples(limit: Int) throws(StoreError) -> [[UInt8]] {
        let last = tail.withLock { $0?.segment.number ?? 0 }
        var latest: [IndexSlot] = []
        index.forEachPart { table in
            table.forEachSlot { slot in
                if slot.place.segment + 1 >= last, slot.byteCount <= UInt32(PresetDictionary.largestInput) {
                    latest.append(slot)
                }
            }
        }
        let step = max(1, latest.count / Self.sampleCount)
        let chosen = stride(from: 0, to: latest.count, by: step).prefix(Self.sampleCount).map { latest[$0] }
        var samples: [[UInt8]] = []
        for slot in chosen {
            // A fetch of an unreadable entry reports it.
            guard let found = try? read(slot, .whole) else { continue }
            if let archive = try? archive(of: found.record, found.bytes, limit: limit) { samples.append(archive) }
        }
        return samples
    }
}
