/// Makes a binary property list of an XML one.
///
/// Written by hand, not on top of Foundation's `XMLParser`: on Linux that is a module of its own, FoundationXML, which
/// would link libxml2 into every program that reads archives. Its limits are that library's, not an archive's, and its
/// errors have a line and a column where an archive's errors have the byte.
///
/// Goes through the document once, without recursion. The memory that it takes is a few times the document's size:
/// there are no entities that could stand for more than themselves.
struct XMLPropertyListParser: ~Copyable {
    typealias Reference = BinaryPropertyListWriter.Reference

    /// A container that is still open.
    private struct Frame {
        let isDictionary: Bool
        /// Where its tag begins.
        let place: Int
        /// Where its members begin on their stack.
        let base: Int
        /// The key of the value that comes next.
        var key: Reference?
        /// The integer of a dictionary that may turn out to be a UID.
        var number: Int128?
    }

    var scanner: XMLScanner
    var builder = PropertyListBuilder()
    var text: [UInt8] = []
    /// Where each object stands in the document.
    private var places: [Int] = []
    private var frames: [Frame] = []
    private var members = RawBuffer<Reference>(capacity: 64)
    private var pairs = RawBuffer<KeyedReference>(capacity: 64)
    private var root: Reference?
    /// The string `CF$UID`, the first object of all.
    private static let uidKey: Reference = 0

    init(_ text: XMLText) {
        scanner = XMLScanner(text)
        _ = builder.add("CF$UID", as: .name)
        places.append(text.start)
    }

    // MARK: The document

    /// Reads the whole document, once.
    ///
    /// - Returns: the binary property list, and where each of its objects stands in the document.
    mutating func parse() throws(ArchiveError) -> (binary: [UInt8], places: [Int]) {
        var isOpen = false
        var isClosed = false
        var place = 0
        while true {
            switch try scanner.nextTag(&place) {
            case .end:
                guard let root, frames.isEmpty, isOpen == isClosed else {
                    throw scanner.corrupted("truncated inside the property list")
                }
                return (builder.finish(top: root), places)
            case .open(.plist, let isEmpty):
                guard !isOpen, root == nil, !isEmpty else {
                    throw scanner.corrupted("a plist element without a value, or in the wrong place", at: place)
                }
                isOpen = true
            case .close(.plist):
                guard isOpen, !isClosed, root != nil, frames.isEmpty else {
                    throw scanner.corrupted("end of another element", at: place)
                }
                isClosed = true
            case .open(let element, let isEmpty):
                guard !isClosed, root == nil else {
                    throw scanner.corrupted("a second value at the root", at: place)
                }
                try open(element, isEmpty: isEmpty, at: place)
            case .close(let element):
                try close(element, place)
            }
        }
    }

    private mutating func open(_ element: XMLScanner.Element, isEmpty: Bool, at place: Int) throws(ArchiveError) {
        switch element {
        case .key:
            guard let frame = frames.last, frame.isDictionary, frame.key == nil else {
                throw scanner.corrupted("a key in the wrong place", at: place)
            }
            try readText(of: element, isEmpty)
            try settleNumber()
            frames[frames.count - 1].key = try string(place, as: .name)
        case .dict, .array:
            guard frames.count < XMLPropertyList.depthLimit else {
                throw ArchiveError(
                    .limitExceeded,
                    "containers nest more than \(XMLPropertyList.depthLimit) deep",
                    offset: place
                )
            }
            let isDictionary = element == .dict
            // A value without a key is noticed here already, so that the error is at its beginning.
            try checkKey(place)
            frames.append(
                Frame(isDictionary: isDictionary, place: place, base: isDictionary ? pairs.count : members.count)
            )
            if isEmpty { try close(element, place) }
        case .integer:
            try readText(of: element, isEmpty)
            let number = try integer(place)
            if let frame = frames.last, frame.key == Self.uidKey, pairs.count == frame.base {
                frames[frames.count - 1].number = number
                frames[frames.count - 1].key = nil
            } else {
                try add(add(number), place)
            }
        default:
            try readText(of: element, isEmpty)
            try add(scalar(element, place), place)
        }
    }

    private mutating func readText(of element: XMLScanner.Element, _ isEmpty: Bool) throws(ArchiveError) {
        if isEmpty { text.removeAll(keepingCapacity: true) } else { try scanner.readText(of: element, into: &text) }
    }

    private mutating func scalar(
        _ element: XMLScanner.Element,
        _ place: Int
    ) throws(ArchiveError) -> Reference {
        switch element {
        case .string: return try string(place, as: .value)
        case .real: return builder.list.add(try real(place))
        case .date: return builder.list.add(date: try date(place))
        case .data:
            try decodeBase64(place)
            return text.withUnsafeBytes { builder.list.add(data: $0) }
        default:
            guard text.allSatisfy(XMLText.isBlank) else { throw scanner.corrupted("text in a Boolean", at: place) }
            return builder.list.add(element == .yes)
        }
    }

    // MARK: Containers

    private func checkKey(_ place: Int) throws(ArchiveError) {
        if let frame = frames.last, frame.isDictionary, frame.key == nil {
            throw scanner.corrupted("a value without a key", at: place)
        }
    }

    /// Puts a value where it belongs.
    private mutating func add(_ value: Reference, _ place: Int) throws(ArchiveError) {
        note(value, place)
        guard let frame = frames.last else {
            root = value
            return
        }
        guard frame.isDictionary else {
            members.append(value)
            return
        }
        guard let key = frame.key else { throw scanner.corrupted("a value without a key", at: place) }
        pairs.append(KeyedReference(key: key, value: value))
        frames[frames.count - 1].key = nil
    }

    private mutating func note(_ object: Reference, _ place: Int) {
        // Strings that were met before have a place already.
        while places.count <= Int(object) { places.append(place) }
    }

    /// Makes the integer that was kept back an ordinary value: its dictionary has more entries than a UID's.
    private mutating func settleNumber() throws(ArchiveError) {
        guard let frame = frames.last, let number = frame.number else { return }
        frames[frames.count - 1].number = nil
        let value = add(number)
        note(value, frame.place)
        pairs.append(KeyedReference(key: Self.uidKey, value: value))
    }

    private mutating func close(_ element: XMLScanner.Element, _ place: Int) throws(ArchiveError) {
        guard let frame = frames.last, element == (frame.isDictionary ? .dict : .array) else {
            throw scanner.corrupted("end of another element", at: place)
        }
        if frame.key != nil { throw scanner.corrupted("a key without a value", at: place) }
        frames.removeLast()
        if let number = frame.number {
            guard let uid = UInt32(exactly: number) else {
                throw scanner.corrupted("UID above the format's range", at: frame.place)
            }
            return try add(builder.list.add(uid: uid), frame.place)
        }
        let container = builder.list.reserveContainer()
        if frame.isDictionary {
            dropRepeatedKeys(from: frame.base)
            builder.list.fillDictionary(container, pairs, from: frame.base)
            pairs.truncate(to: frame.base)
        } else {
            builder.list.fillArray(container, count: members.count - frame.base)
            for index in frame.base..<members.count { builder.list.addElement(members[index]) }
            members.truncate(to: frame.base)
        }
        try add(container, frame.place)
    }

    /// Of several entries with one key the last one counts, as in other readers.
    private mutating func dropRepeatedKeys(from base: Int) {
        let count = pairs.count - base
        guard count > 1 else { return }
        // Equal keys are one object, so their numbers tell.
        var last: [Reference: Int] = [:]
        last.reserveCapacity(count)
        for index in base..<pairs.count { last[pairs[index].key] = index }
        if last.count == count { return }
        var kept = base
        for index in base..<base + count where last[pairs[index].key] == index {
            pairs[kept] = pairs[index]
            kept += 1
        }
        pairs.truncate(to: kept)
    }

    // MARK: Strings

    private mutating func string(
        _ place: Int,
        as role: BinaryPropertyListWriter.TextRole
    ) throws(ArchiveError) -> Reference {
        let made = text.withUnsafeBufferPointer { builder.add(utf8: $0, as: role) }
        guard let made else { throw scanner.corrupted("text that is no valid UTF-8", at: place) }
        note(made, place)
        return made
    }
}
