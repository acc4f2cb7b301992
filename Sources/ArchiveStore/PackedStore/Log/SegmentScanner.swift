/// Reads the records of a segment in order, and finds the next sound one after a damaged one.
struct SegmentScanner {
    enum Step {
        case record(Record, RecordPlace)
        /// So many bytes that are not a record. The next step is a record.
        case damage(RecordPlace, byteCount: Int)
    }

    let segment: Segment
    /// Where the next record begins. After the last step, the bytes from here to `end` are the start of a record, or
    /// damaged.
    private(set) var offset: Int
    private(set) var end: Int

    /// Whether entries with damaged payloads are passed over.
    var verifiesPayloads = false

    private static let chunk = 1 << 18
    /// How many bytes that only look like records are checked before the rest counts as damaged.
    private var patience = 1 << 28
    private var window: [UInt8] = []
    private var windowStart = 0

    /// - Parameters:
    ///   - offset: where a record begins; `nil`: the first one does.
    ///   - end: how much of the file is read.
    init(_ segment: Segment, from offset: Int? = nil, to end: Int) {
        self.segment = segment
        self.offset = offset ?? segment.headerByteCount ?? 0
        // Offsets have 32 bits.
        self.end = min(end, Int(UInt32.max))
    }

    /// The next record, or the damaged bytes before it; `nil` if there is no record any longer.
    mutating func next() throws(SystemError) -> Step? {
        while offset < end, let record = try record(at: offset) {
            guard offset + record.byteCount <= end else { return nil }
            let start = place(offset)
            offset += record.byteCount
            if verifiesPayloads, try !hasSoundPayload(record, at: start) { continue }
            return .record(record, start)
        }
        guard offset < end else { return nil }
        let start = place(offset)
        guard let found = try nextRecord(after: offset) else { return nil }
        defer { offset = found }
        return .damage(start, byteCount: found - offset)
    }

    /// Whether the payload of an entry is the one that was written, as far as that is known here.
    private mutating func hasSoundPayload(_ record: Record, at place: RecordPlace) throws(SystemError) -> Bool {
        guard record.kind == .entry else { return true }
        if segment.form.sealing != nil { return try !bytes(of: record, at: place).isEmpty }
        var checksum: UInt32 = 0
        if record.isBare {
            guard let dictionary = segment.dictionary else { return true }
            checksum = withUnsafeBytes(of: dictionary.identifier.bigEndian) { Zlib.crc32($0) }
        }
        var start = Int(place.offset) + record.headByteCount
        let end = Int(place.offset) + record.byteCount
        while start < end {
            try load(start, min(end - start, Self.chunk))
            let piece = start - windowStart..<min(end - windowStart, window.count)
            // The file was made shorter.
            if piece.isEmpty { return false }
            checksum = window.withUnsafeBytes {
                Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0[piece]), continuing: checksum)
            }
            start += piece.count
        }
        return checksum == record.payloadChecksum
    }

    /// All bytes of an entry's record that was just given, its payload decrypted; none if it is encrypted, and not the one
    /// that was written.
    mutating func bytes(of record: Record, at place: RecordPlace) throws(SystemError) -> [UInt8] {
        let start = Int(place.offset) - windowStart
        var bytes: [UInt8]
        if start >= 0, start + record.byteCount <= window.count {
            bytes = Array(window[start..<(start + record.byteCount)])
        } else {
            bytes = try segment.file.read(record.byteCount, at: Int(place.offset))
        }
        if segment.form.sealing == nil { return bytes }
        return bytes.count == record.byteCount && record.openPayload(in: &bytes, segment.form) ? bytes : []
    }

    func place(_ offset: Int) -> RecordPlace {
        RecordPlace(segment: segment.number, offset: UInt32(truncatingIfNeeded: offset))
    }

    private mutating func record(at offset: Int) throws(SystemError) -> Record? {
        try load(offset, Record.largestHeadByteCount)
        return window.withUnsafeBytes { window in
            let rest = UnsafeRawBufferPointer(rebasing: window[(offset - windowStart)...])
            return try? Record(rest, at: place(offset), in: segment.form)
        }
    }

    private mutating func nextRecord(after start: Int) throws(SystemError) -> Int? {
        var position = start + 1
        while let candidate = try nextCandidate(from: position) {
            patience -= window.withUnsafeBytes {
                Record.checkedByteCount(in: $0, at: candidate - windowStart, segment.form)
            }
            guard patience > 0 else { return nil }
            if let record = try record(at: candidate), candidate + record.byteCount <= end { return candidate }
            position = candidate + 1
        }
        return nil
    }

    /// Where a record may begin next, by its first bytes; `nil` if nowhere.
    mutating func nextCandidate(from start: Int) throws(SystemError) -> Int? {
        var position = start
        while position < end {
            try load(position, Record.largestHeadByteCount)
            let candidate = window.withUnsafeBytes { Record.candidate(in: $0, from: position - windowStart) }
            if let candidate { return windowStart + candidate }
            // The last bytes may be the start of a magic.
            position = max(position + 1, windowStart + window.count - 3)
            // No record begins in a hole, and a hole may seem to be endless.
            position = try segment.file.nextData(from: position) ?? end
        }
        return nil
    }

    /// The bytes from a place on, at most as many as a head has.
    mutating func head(at offset: Int) throws(SystemError) -> [UInt8] {
        guard offset < end else { return [] }
        try load(offset, Record.largestHeadByteCount)
        return Array(window[(offset - windowStart)...].prefix(Record.largestHeadByteCount))
    }

    /// Has the window hold at least `count` bytes from `offset`, or all there are.
    private mutating func load(_ offset: Int, _ count: Int) throws(SystemError) {
        let needed = min(offset + count, end)
        if offset >= windowStart, needed <= windowStart + window.count { return }
        var wanted = min(max(Self.chunk, count), end - offset)
        do throws(SystemError) {
            window = try segment.file.read(wanted, at: offset)
        } catch {
            // A place that cannot be read keeps no record before it from being read.
            wanted = needed - offset
            window = try segment.file.read(wanted, at: offset)
        }
        windowStart = offset
        // The file was made shorter.
        if window.count < wanted { end = offset + window.count }
    }
}
