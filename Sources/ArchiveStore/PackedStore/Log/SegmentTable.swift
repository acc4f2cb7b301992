import Foundation
import Sealing

/// The segments of a store, opened when they are first needed.
final class SegmentTable: Sendable {
    private struct State {
        var open: [UInt32: Segment] = [:]
        /// The identifier of the dictionary of each segment whose header was found sound; `nil` if it has none.
        var identifiers: [UInt32: UInt32?] = [:]
        /// The segments whose headers were found damaged: each may need any dictionary.
        var unsound: Set<UInt32> = []
        var dictionaries: [UInt32: PresetDictionary] = [:]
        /// The inflated dictionaries.
        var inflated: [(stored: StoredDictionary, dictionary: PresetDictionary)] = []
        /// Copies from the index that were not needed yet.
        var spares: [StoredDictionary] = []
        /// Identifiers of copies from the index that were inflated.
        var copies: Set<UInt32> = []
        /// The log's identity, by the first sound header.
        var log: LogIdentity?

        /// Drops the dictionaries of segments that are gone.
        mutating func dropDictionaries() {
            guard unsound.isEmpty else { return }
            let needed = copies.union(identifiers.values.compactMap { $0 })
            guard dictionaries.contains(where: { !needed.contains($0.key) }) else { return }
            dictionaries = dictionaries.filter { needed.contains($0.key) }
            inflated.removeAll { !needed.contains($0.dictionary.identifier) }
        }
    }

    let root: Directory
    let directoryPath: String
    /// The keys that the segments are encrypted with; `nil`: they are not encrypted.
    let keys: SealingKeys?
    private let state = RankedMutex(State(), rank: PackedLocks.segments)

    init(root: Directory, path: String, keys: SealingKeys?) {
        self.root = root
        self.keys = keys
        directoryPath = path
    }

    func path(_ number: UInt32) -> String { directoryPath + "/" + Segment.fileName(number) }

    /// The segment with this number; `nil` if there is none, or something else than a file has its name.
    func segment(_ number: UInt32) throws(StoreError) -> Segment? {
        if let segment = state.withLock({ $0.open[number] }) { return segment }
        do throws(OpenFault) {
            let reservation = DescriptorReservation.make(root.layer)
            let segment = try open(number, reservation)
            guard reservation != nil else { return segment }
            return state.withLock { state in
                if let other = state.open[number] { return other }
                state.open[number] = segment
                return segment
            }
        } catch {
            switch error {
            case .system(let error):
                if error.isMissing || error.isSymbolicLink || error.isNotRegular { return nil }
                throw StoreError(error, path: path(number), action: "opening a segment")
            case .unsupported:
                let reason = "the segment has a format that this version of the package does not read"
                throw StoreError(.unsupportedVersion, path: path(number), action: "opening a store", reason: reason)
            case .locked(let reason): throw .locked(path(number), reason)
            }
        }
    }

    /// Why a segment is not opened, or its header not read.
    private enum OpenFault: Error {
        case system(SystemError)
        /// It has a format that this version of the package does not read.
        case unsupported
        case locked(String)
    }

    /// Opens a segment, and notes its dictionary.
    private func open(_ number: UInt32, _ reservation: DescriptorReservation?) throws(OpenFault) -> Segment {
        let file = try file(of: number)
        var header = try header(of: file, number)
        var dictionary: PresetDictionary?
        if let stored = header?.dictionary {
            dictionary = self.dictionary(stored)
            // No store has written a header whose dictionary cannot be inflated.
            if dictionary == nil { header = nil }
        }
        if header != nil {
            note(dictionary, of: number)
        } else {
            state.withLock { _ = $0.unsound.insert(number) }
        }
        return Segment(
            number: number,
            file: file,
            header: header,
            form: try form(of: number, header),
            dictionary: dictionary,
            reservation: reservation
        )
    }

    private func file(of number: UInt32) throws(OpenFault) -> OpenFile {
        do throws(SystemError) {
            let file = try root.fileForUpdate(Segment.fileName(number))
            guard try file.status().isRegular else { throw SystemError(number: ENXIO) }
            return file
        } catch {
            throw .system(error)
        }
    }

    /// The header of a segment; `nil` if it is damaged.
    private func header(of file: borrowing OpenFile, _ number: UInt32) throws(OpenFault) -> SegmentHeader? {
        let start: [UInt8]
        do throws(SystemError) {
            start = try file.read(SegmentHeader.largestByteCount, at: 0)
        } catch {
            throw .system(error)
        }
        do throws(SegmentHeader.Fault) {
            return try SegmentHeader(start, number: number, keys: keys)
        } catch {
            switch error {
            case .damaged: return nil
            case .unsupported: throw .unsupported
            case .locked(let reason): throw .locked(reason)
            }
        }
    }

    /// How the records of a segment are written and read.
    private func form(of number: UInt32, _ header: SegmentHeader?) throws(OpenFault) -> RecordForm {
        let log: LogIdentity?
        do throws(SystemError) {
            log = try identity(by: header)
        } catch {
            throw .system(error)
        }
        let form = RecordForm(seed: log?.seed ?? 0)
        guard let keys else { return form }
        // The records of another log do not open, nor those of which no header tells the log.
        var ciphers: [AuthenticatedCipher] = []
        if let header {
            if let cipher = header.cipher, header.fields.log == log { ciphers = [cipher] }
        } else if let log {
            ciphers = log.segmentCiphers(number, of: keys)
        }
        return RecordForm(seed: form.seed, sealing: RecordSealing(ciphers))
    }

    /// The log's identity: by the header of a segment; where that is damaged, by another one's, or by records that are not
    /// encrypted; `nil` if all are damaged.
    private func identity(by header: SegmentHeader?) throws(SystemError) -> LogIdentity? {
        if let known = state.withLock({ $0.log }) { return known }
        var log = header?.fields.log
        func look(_ find: (borrowing OpenFile, UInt32) -> LogIdentity?) throws(SystemError) {
            if log != nil { return }
            try root.forEachName { name in
                guard let number = Segment.number(name), let file = try? root.file(name) else { return true }
                log = find(file, number)
                return log == nil
            }
        }
        try look { file, number in (try? self.header(of: file, number))?.fields.log }
        if keys == nil {
            try look { file, number in
                (try? SeedFinder.seed(of: file, number: number)).map { LogIdentity(seed: $0, salt: 0) }
            }
        }
        guard let log else { return nil }
        return state.withLock { state in
            let known = state.log ?? log
            state.log = known
            return known
        }
    }

    /// Whether the last segment can be read with these keys.
    ///
    /// - Throws: `.locked` if not.
    func checkKeys() throws(StoreError) {
        if let last = try numbers().last { _ = try segment(last) }
    }

    /// The identity of a log that has segments; `nil` if it has none yet.
    var log: LogIdentity? { state.withLock { $0.log } }

    /// The length of a segment's file.
    func byteCount(of segment: Segment) throws(StoreError) -> Int {
        try attempt("following a segment", path(segment.number)) { () throws(SystemError) in
            try segment.file.byteCount()
        }
    }

    /// The names and bytes of a segment's file: no name if it was removed.
    func extent(of segment: Segment) throws(StoreError) -> (linkCount: Int, byteCount: Int) {
        try attempt("looking for a segment", path(segment.number)) { () throws(SystemError) in
            try segment.file.extent()
        }
    }

    /// Drops segments that are gone with their dictionaries, and returns them; each is closed with its last reference.
    func close(where isGone: (UInt32) -> Bool) -> [Segment] {
        state.withLock { state -> [Segment] in
            let closed = state.open.values.filter { isGone($0.number) }
            for segment in closed { state.open[segment.number] = nil }
            state.identifiers = state.identifiers.filter { !isGone($0.key) }
            state.unsound = state.unsound.filter { !isGone($0) }
            state.dropDictionaries()
            return closed
        }
    }

    /// The numbers of the segments there are, in ascending order.
    func numbers() throws(StoreError) -> [UInt32] {
        var numbers: [UInt32] = []
        try attempt("listing segments", directoryPath) { () throws(SystemError) in
            try root.forEachName { name in
                if let number = Segment.number(name) { numbers.append(number) }
                return true
            }
            // The last segment tells where the log ends, so it must be a file.
            numbers.sort()
            while let last = numbers.last, try root.status(Segment.fileName(last))?.isRegular != true {
                numbers.removeLast()
            }
        }
        return numbers
    }

    /// The segments of a log.
    struct LatestNumbers {
        /// The first and the last one, with none missing between them.
        fileprivate(set) var first: UInt32
        let last: UInt32
        /// The segments before a missing one, which may have changed their entries.
        fileprivate(set) var orphans: [UInt32] = []
        /// The bytes of the segments before the last one.
        fileprivate(set) var byteCounts: [UInt32: Int] = [:]
    }

    /// The last segments without a hole between them; `nil` if there is none.
    func latestNumbers() throws(StoreError) -> LatestNumbers? {
        let numbers = try numbers()
        guard let last = numbers.last else { return nil }
        var latest = LatestNumbers(first: last, last: last)
        try attempt("looking for a segment", directoryPath) { () throws(SystemError) in
            // Looked up by name: a listing may lack files that were made while it went on.
            while latest.first > 1, let status = try root.status(Segment.fileName(latest.first - 1)),
                status.isRegular
            {
                latest.first -= 1
                latest.byteCounts[latest.first] = status.byteCount
            }
        }
        latest.orphans = numbers.filter { $0 < latest.first }
        return latest
    }

    // MARK: Dictionaries

    /// Keeps the dictionary of a segment until that is gone.
    private func note(_ dictionary: PresetDictionary?, of number: UInt32) {
        state.withLock { state in
            _ = state.identifiers.updateValue(dictionary?.identifier, forKey: number)
            // It may have been dropped since it was inflated.
            guard let dictionary, state.dictionaries[dictionary.identifier] == nil else { return }
            state.dictionaries[dictionary.identifier] = dictionary
        }
    }

    /// The dictionary that is stored so; `nil` if its bytes are invalid.
    private func dictionary(_ stored: StoredDictionary) -> PresetDictionary? {
        let known = state.withLock { state in state.inflated.first { $0.stored == stored }?.dictionary }
        if let known { return known }
        guard let bytes = stored.inflated(), let dictionary = dictionary(bytes) else { return nil }
        state.withLock { state in
            if state.inflated.contains(where: { $0.stored == stored }) { return }
            state.inflated.append((stored, dictionary))
        }
        return dictionary
    }

    /// Adds copies of dictionaries, for records of segments whose headers are damaged.
    func addSpares(_ spares: [StoredDictionary]) { state.withLock { $0.spares += spares } }

    /// Inflates the copies, where no dictionary that is known is the one that is looked for. A copy that cannot be inflated
    /// is left out.
    private func inflateSpares() {
        let copies = state.withLock { $0.spares }.compactMap { dictionary($0)?.identifier }
        state.withLock { state in
            state.copies.formUnion(copies)
            state.spares = []
        }
    }

    /// One and the same dictionary for the same bytes; `nil` for none.
    func dictionary(_ bytes: [UInt8]) -> PresetDictionary? {
        guard !bytes.isEmpty else { return nil }
        // To make one takes longer than to look for it.
        let identifier = bytes.withUnsafeBytes { Zlib.adler32($0) }
        if let known = state.withLock({ $0.dictionaries[identifier] }), known.bytes == bytes { return known }
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
        inflateSpares()
        if let known = state.withLock({ $0.dictionaries[identifier] }) { return known }
        // Its own segment's header may be damaged, but others have the same.
        for number in try numbers() {
            if let found = try segment(number)?.dictionary, found.identifier == identifier { return found }
        }
        return nil
    }

    /// The dictionaries for the index, those of later segments first: of all segments from one on, and where a header cannot
    /// be read, all that are known. Otherwise no segment needs these any longer.
    func dictionaries(from first: UInt32) throws(StoreError) -> [PresetDictionary] {
        let numbers = try numbers().filter { $0 >= first }
        for number in numbers where state.withLock({ $0.identifiers[number] == nil }) {
            // Not kept open: there may be more segments than files can be.
            bestEffort("the copies stay then") { () throws(OpenFault) in _ = try open(number, nil) }
        }
        let areKnown = state.withLock { state in numbers.allSatisfy { state.identifiers[$0] != nil } }
        if !areKnown { inflateSpares() }
        return state.withLock { state in
            if areKnown { (state.spares, state.copies) = ([], []) }
            let named = numbers.reversed().compactMap { state.identifiers[$0] ?? nil }
            let identifiers = areKnown ? named : named + state.dictionaries.keys.sorted()
            var seen: Set<UInt32> = []
            return identifiers.filter { seen.insert($0).inserted }.compactMap { state.dictionaries[$0] }
        }
    }

    /// The first dictionary of which `isChosen` returns true; `nil` if there is none in any segment.
    func dictionary(where isChosen: (PresetDictionary) -> Bool) throws(StoreError) -> PresetDictionary? {
        if let known = dictionaries.first(where: isChosen) { return known }
        for number in try numbers() {
            if let found = try segment(number)?.dictionary, isChosen(found) { return found }
        }
        return nil
    }

    /// All dictionaries that are known.
    var dictionaries: [PresetDictionary] {
        inflateSpares()
        return state.withLock { state in state.dictionaries.values.sorted { $0.identifier < $1.identifier } }
    }
}
