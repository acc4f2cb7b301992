import Foundation

/// The data saved with an archive besides its key: when it was stored, until when it may be used, and its tags.
package struct EntryAttributes: Sendable, Hashable {
    package var storedAt: Date
    /// When the entry stops being fresh; `nil` means never.
    package var expiresAt: Date?
    /// For how many seconds after it was last read the entry stays fresh; `nil` where reading moves nothing.
    package var idleTime: Double?
    /// For how many seconds after `expiresAt` the entry may be served while it is loaded again.
    package var staleWhileRevalidate = 0.0
    /// For how many seconds after `expiresAt` the entry may be served if loading it again fails.
    package var staleIfError = 0.0
    /// How many seconds it took to load the value; 0 if it was not loaded.
    package var loadTime = 0.0
    /// In ascending order of their bytes, each once.
    package var tags: [String] = []
    /// Tells this save from every other one where that has to be known before it is written; `nil` otherwise.
    package var serial: UInt64?

    package init(storedAt: Date, expiresAt: Date? = nil) {
        self.storedAt = storedAt
        self.expiresAt = expiresAt
    }

    /// By which part of the idle time `expiresAt` may lag behind the last reading.
    package static let idleLag = 1.0 / 8

    /// Whether the entry has a tag; tags are compared byte by byte.
    package func has(tag: String) -> Bool { tags.contains { $0.utf8.elementsEqual(tag.utf8) } }

    /// When the entry is of no use any longer, not even as a stale one, or to a caller that has just read it; `nil` means
    /// never.
    package var usableUntil: Date? {
        let longest = max(staleWhileRevalidate, staleIfError, (idleTime ?? 0) * Self.idleLag)
        return expiresAt.map { $0.addingTimeInterval(longest) }
    }
}

// In an entry's file the times that most entries do not have, and the tags, stand between key and footer, one after
// another:
//
//     1  kind    1 idle time, 2 stale while revalidate, 3 stale if error, 4 load time, 5 tag, 6 serial
//     2  length  UInt16, bytes of the value: 8, or the tag's length
//     …  value   Float64, seconds, zero or more; for a tag UTF-8; for a serial UInt64
//
// Each kind but tags stands there once at most, and only with a value other than the default.
extension EntryAttributes {
    private enum Kind: UInt8 {
        case idleTime = 1
        case staleWhileRevalidate, staleIfError, loadTime, tag, serial
    }

    /// The most bytes of all of them together. With the longest key and a footer that makes 4,096.
    static let largestByteCount = 3_024

    /// - Throws: `.invalidArgument` if a number is not one, or the tags take too much room.
    func encoded() throws(StoreError) -> [UInt8] {
        func refuse(_ reason: String) -> StoreError {
            StoreError(.invalidArgument, action: "saving an archive", reason: reason)
        }
        let isDated =
            !storedAt.timeIntervalSinceReferenceDate.isNaN
            && expiresAt?.timeIntervalSinceReferenceDate.isNaN != true
        guard isDated else { throw refuse("a date is not a number") }
        var bytes: [UInt8] = []
        // Most entries have nothing else.
        if self == EntryAttributes(storedAt: storedAt, expiresAt: expiresAt) { return bytes }
        // As many as one of them takes, and most entries have no more.
        bytes.reserveCapacity(11)
        func addHead(of kind: Kind, byteCount: Int) {
            bytes.append(kind.rawValue)
            bytes.append(bigEndian: UInt16(byteCount))
        }
        func add(_ kind: Kind, _ word: UInt64) {
            addHead(of: kind, byteCount: 8)
            bytes.append(bigEndian: word)
        }
        func add(_ kind: Kind, seconds: Double) throws(StoreError) {
            guard seconds >= 0 else { throw refuse("a time is negative or not a number") }
            add(kind, seconds.bitPattern)
        }
        if let idleTime { try add(.idleTime, seconds: idleTime) }
        if staleWhileRevalidate != 0 { try add(.staleWhileRevalidate, seconds: staleWhileRevalidate) }
        if staleIfError != 0 { try add(.staleIfError, seconds: staleIfError) }
        if loadTime != 0 { try add(.loadTime, seconds: loadTime) }
        for tag in tags {
            guard (1...Self.largestByteCount).contains(tag.utf8.count) else {
                throw refuse("a tag is empty or too long")
            }
            addHead(of: .tag, byteCount: tag.utf8.count)
            bytes += tag.utf8
        }
        if let serial { add(.serial, serial) }
        guard bytes.count <= Self.largestByteCount else {
            throw refuse("the tags take \(bytes.count) bytes, more than \(Self.largestByteCount)")
        }
        return bytes
    }

    /// Decodes bytes that ``encoded()`` returned into this value.
    mutating func decode(_ bytes: ArraySlice<UInt8>) throws(EntryFault) {
        var fields = ByteReader(bytes)
        while !fields.isAtEnd {
            guard let number = fields.next(UInt8.self), let count = fields.next(UInt16.self),
                let kind = Kind(rawValue: number)
            else { throw .damaged("an attribute is unknown") }
            guard let value = fields.next(byteCount: Int(count)) else {
                throw .damaged("an attribute ends too early")
            }
            switch kind {
            case .idleTime: idleTime = try Self.seconds(value)
            case .staleWhileRevalidate: staleWhileRevalidate = try Self.seconds(value)
            case .staleIfError: staleIfError = try Self.seconds(value)
            case .loadTime: loadTime = try Self.seconds(value)
            case .serial: serial = try Self.word(value)
            case .tag:
                guard let tag = String(validating: value, as: UTF8.self) else {
                    throw .damaged("a tag is not UTF-8")
                }
                tags.append(tag)
            }
        }
    }

    /// The serial in the bytes of this one attribute; `nil` if they are another one's.
    static func serial(in bytes: ArraySlice<UInt8>) -> UInt64? {
        var fields = ByteReader(bytes)
        guard fields.next(UInt8.self) == Kind.serial.rawValue, fields.next(UInt16.self) == 8 else { return nil }
        return fields.next(UInt64.self)
    }

    private static func word(_ bytes: ArraySlice<UInt8>) throws(EntryFault) -> UInt64 {
        guard bytes.count == 8 else { throw .damaged("an attribute has another length than its own") }
        return ByteReader(bytes).number(at: 0)
    }

    private static func seconds(_ bytes: ArraySlice<UInt8>) throws(EntryFault) -> Double {
        let seconds = Double(bitPattern: try word(bytes))
        guard seconds >= 0 else { throw .damaged("a time is negative or not a number") }
        return seconds
    }
}
