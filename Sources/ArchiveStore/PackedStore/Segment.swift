import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An open segment: a file of records that is only appended to.
final class Segment: Sendable {
    let number: UInt32
    /// For reading, and for appending where that is allowed.
    let file: OpenFile
    /// Where records begin; `nil` if the header is damaged.
    let headerByteCount: Int?
    /// The dictionary in its header; `nil` if there is none.
    let dictionary: PresetDictionary?
    private let reservation: DescriptorReservation?

    fileprivate init(
        number: UInt32,
        file: consuming OpenFile,
        headerByteCount: Int?,
        dictionary: PresetDictionary?,
        reservation: DescriptorReservation?
    ) {
        self.number = number
        self.file = file
        self.headerByteCount = headerByteCount
        self.dictionary = dictionary
        self.reservation = reservation
    }

    static func fileName(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits + suffix
    }

    /// The number of the segment whose file has this name; `nil` if no store names a file like that.
    static func number(_ fileName: String) -> UInt32? {
        guard fileName.hasSuffix(suffix), fileName.utf8.count == 8 + suffix.utf8.count,
            let number = UInt32(fileName.dropLast(suffix.utf8.count), radix: 16),
            number > 0, number <= largestNumber, Self.fileName(number) == fileName
        else { return nil }
        return number
    }

    private static let suffix = ".segment"
    static let largestNumber: UInt32 = 1 << 28 - 1
}

/// The segments of a store, opened when they are first needed.
final class SegmentTable: Sendable {
    private struct State {
        var open: [UInt32: Segment] = [:]
        var dictionaries: [UInt32: PresetDictionary] = [:]
    }

    let root: Directory
    let path: String
    private let state = Mutex(State())

    init(root: Directory, path: String) {
        self.root = root
        self.path = path
    }

    func path(_ number: UInt32) -> String { path + "/" + Segment.fileName(number) }

    /// The segment with this number; `nil` if there is none, or something else than a file has its name.
    func segment(_ number: UInt32) throws(StoreError) -> Segment? {
        if let segment = state.withLock({ $0.open[number] }) { return segment }
        do throws(SystemError) {
            let file = try root.fileForUpdate(Segment.fileName(number))
            guard try file.status().isRegular else { throw SystemError(number: ENXIO) }
            let start = try file.read(SegmentHeader.largestByteCount, at: 0)
            let header = SegmentHeader(start, number: number)
            let reservation = DescriptorReservation.make()
            let segment = Segment(
                number: number,
                file: file,
                headerByteCount: header?.byteCount,
                dictionary: header.flatMap { self.dictionary($0.dictionary) },
                reservation: reservation
            )
            guard reservation != nil else { return segment }
            return state.withLock { state in
                if let other = state.open[number] { return other }
                state.open[number] = segment
                return segment
            }
        } catch {
            switch error.number {
            case ENOENT: return nil
            // No file has its name.
            case ELOOP, EMLINK, ENXIO, EOPNOTSUPP, EISDIR: return nil
            default: throw StoreError(error, path: path(number), action: "opening a segment")
            }
        }
    }

    /// Drops segments that are gone, and returns them; each is closed with its last reference.
    func close(where isGone: (UInt32) -> Bool) -> [Segment] {
        state.withLock { state -> [Segment] in
            let closed = state.open.values.filter { isGone($0.number) }
            for segment in closed { state.open[segment.number] = nil }
            return closed
        }
    }

    /// The numbers of the segments there are, in ascending order.
    func numbers() throws(StoreError) -> [UInt32] {
        var numbers: [UInt32] = []
        do {
            try root.forEachName { name in
                if let number = Segment.number(name) { numbers.append(number) }
                return true
            }
            // The last segment tells where the log ends, so it must be a file.
            numbers.sort()
            while let last = numbers.last, try root.status(Segment.fileName(last))?.isRegular != true {
                numbers.removeLast()
            }
        } catch {
            throw StoreError(error, path: path, action: "listing segments")
        }
        return numbers
    }

    /// The last segments without a hole between them, and the strays before that: missing segments may have changed
    /// their entries.
    func latestNumbers() throws(StoreError) -> (first: UInt32, last: UInt32, strays: [UInt32])? {
        let numbers = try numbers()
        guard let last = numbers.last else { return nil }
        var first = last
        do throws(SystemError) {
            // Looked up by name: a listing may lack files that were made while it went on.
            while first > 1, try root.status(Segment.fileName(first - 1))?.isRegular == true { first -= 1 }
        } catch {
            throw StoreError(error, path: path, action: "looking for a segment")
        }
        return (first, last, numbers.filter { $0 < first })
    }

    // MARK: Dictionaries

    /// One and the same dictionary for the same bytes; `nil` for none.
    func dictionary(_ bytes: [UInt8]) -> PresetDictionary? {
        guard !bytes.isEmpty else { return nil }
        let new = PresetDictionary(bytes)
        return state.withLock { state in
            if let known = state.dictionaries[new.identifier] { return known.bytes == bytes ? known : new }
            state.dictionaries[new.identifier] = new
            return new
        }
    }

    /// Whether this is the one that its identifier stands for.
    func isKnown(_ dictionary: PresetDictionary) -> Bool {
        state.withLock { $0.dictionaries[dictionary.identifier] === dictionary }
    }

    /// The dictionary that a zlib stream names; `nil` if no segment has it.
    func dictionary(named identifier: UInt32) throws(StoreError) -> PresetDictionary? {
        if let known = state.withLock({ $0.dictionaries[identifier] }) { return known }
        // Its own segment's header may be damaged, but others have the same.
        for number in try numbers() {
            if let found = try segment(number)?.dictionary, found.identifier == identifier { return found }
        }
        return nil
    }

    /// All dictionaries that are known.
    var dictionaries: [PresetDictionary] {
        state.withLock { state in state.dictionaries.values.sorted { $0.identifier < $1.identifier } }
    }
}
