import ArchiveStore
import Foundation

// The index of an export: a file of one JSON object per line. The first line names the format and its version:
//
//     {"format":"typed-cache export","version":3}
//
// the last one tells that the export came to its end, and how many lines of entries are before it:
//
//     {"end":34006}
//
// and each other one stands for an entry:
//
//     file, key                           strings
//     storedAt                            a date, ISO 8601
//     expiresAt                           likewise; missing means never
//     idleTime                            seconds; missing means that reading moves nothing
//     staleWhileRevalidate, staleIfError  seconds; missing means none
//     loadTime                            seconds; missing means that it was not loaded
//     tags                                strings; missing means none
//
// Versions 1 and 2 have no last line of that kind. A date that has no exact text, before the year 0000 say, is a number of
// seconds since 2001 in UTC; in version 1 every date is. Infinite times are the strings "Infinity" and "-Infinity".
// Unknown fields are ignored.
enum ExportIndex {
    static let fileName = "index.ndjson"
    static let header: Record = ["format": .string(format), "version": .int(version)]
    private static let format = "typed-cache export"
    private static let version: Int64 = 3
    /// The first version with a line for the end.
    private static let versionWithEnd: Int64 = 3
    private static let endField = "end"

    /// The last line of an index with so many entries.
    static func end(after count: Int) -> Record { [endField: .count(count)] }

    /// The number of entries that a line gives as the last one; `nil` for the line of an entry.
    static func end(_ record: Record) -> Int? {
        guard record.fields.count == 1, case .int(let count)? = record[endField] else { return nil }
        return Int(exactly: count)
    }

    /// Enough for the longest key, file name and tags, all of it escaped, and some more.
    static let limits = RecordLimits(bytes: 64 << 10, depth: 8, values: 4_096)

    /// Why an index cannot be read.
    enum Fault: Error, Sendable, Equatable {
        case file(FileFault)
        /// Its first line is not that of an index.
        case noHeader
        case unknownVersion

        /// To follow the index's path.
        var phrase: String {
            switch self {
            case .file(let fault): fault.phrase
            case .noHeader: "is not an index that export wrote; remove it to import by the names of the files"
            case .unknownVersion: "was written by a later version of typed-cache; use that one"
            }
        }
    }

    static func line(_ record: Record) -> [UInt8] {
        Array((JSONWriter.text(.object(record), isIndented: false) + "\n").utf8)
    }

    /// - Returns: whether the index has a line for its end.
    static func check(header: Record) throws(Fault) -> Bool {
        guard header["format"] == .string(format), case .int(let number)? = header["version"], number > 0 else {
            throw .noHeader
        }
        guard number <= version else { throw .unknownVersion }
        return number >= versionWithEnd
    }
}

/// Reads the index of an export, a line at a time.
struct ExportIndexReader {
    private var source: NDJSONSource
    let byteCount: Int
    /// Whether the last line is that of an index's end.
    private let hasEnd: Bool
    private var count = 0
    /// The number of entries by the line of the end; `nil` until that was read.
    private var end: Int?

    /// - Returns: `nil` if there is none.
    /// - Throws: `.unreadableIndex`; ``SourceError`` if the file cannot be read any further.
    init?(_ folder: ExchangeFolder, interruption: any Interruption) throws {
        let path = folder.path(of: ExportIndex.fileName)
        let descriptor: Int32
        do throws(FileFault) {
            (descriptor, byteCount) = try folder.openFile(ExportIndex.fileName)
        } catch {
            guard !folder.contains(ExportIndex.fileName) else {
                throw CommandFailure.unreadableIndex(path: path, .file(error))
            }
            return nil
        }
        let input = FileInput(descriptor, isOwned: true, interruption: interruption)
        source = NDJSONSource(ByteWindow(input), limits: ExportIndex.limits)
        guard case .record(let header, _)? = try source.next() else {
            throw CommandFailure.unreadableIndex(path: path, .noHeader)
        }
        do throws(ExportIndex.Fault) {
            hasEnd = try ExportIndex.check(header: header.record)
        } catch {
            throw CommandFailure.unreadableIndex(path: path, error)
        }
    }

    /// How many bytes the lines given so far take.
    var bytesConsumed: Int { source.bytesConsumed }

    /// Why the index is not that of a whole export, once ``next()`` has given the last entry; `nil` for a whole export, and
    /// for versions of the index that do not tell.
    var shortfall: ExportShortfall? {
        guard hasEnd else { return nil }
        guard let end else { return .interrupted(count: count) }
        return end == count ? nil : .miscounted(found: count, said: end)
    }

    /// The next entry, or why its line says none; `nil` at the end.
    mutating func next() throws(SourceError) -> (line: Int, Result<ExportedEntry, BadRecord>)? {
        switch try source.next() {
        case nil: return nil
        case .bad(let bad)?: return (bad.line, .failure(bad))
        case .record(let record, let line)?:
            if hasEnd, end == nil, let end = ExportIndex.end(record.record) {
                self.end = end
                return try next()
            }
            count += 1
            do throws(RejectedRecord) {
                return (line, .success(try ExportedEntry(record.record)))
            } catch {
                return (line, .failure(BadRecord(line: line, reason: .rejected(error.reason))))
            }
        }
    }
}

/// Why an index is not that of a whole export.
enum ExportShortfall: Sendable, Equatable {
    /// The line of the end is missing: the export, or a copy of its index, was cut off.
    case interrupted(count: Int)
    case miscounted(found: Int, said: Int)

    /// To follow the index's path.
    var phrase: String {
        switch self {
        case .interrupted(let count):
            "ends too early: the export was interrupted after \(CountText(count, "entry", plural: "entries"))"
        case .miscounted(let found, let said):
            "has \(CountText(found, "entry", plural: "entries")), and its last line says \(CountText(said))"
        }
    }
}

/// One entry, as the index of an export describes it.
struct ExportedEntry: Sendable, Equatable {
    let file: String
    let key: String
    /// Without a serial, which is the store's own.
    let attributes: EntryAttributes

    init(file: String, key: String, attributes: EntryAttributes) {
        self.file = file
        self.key = key
        var attributes = attributes
        attributes.serial = nil
        self.attributes = attributes
    }

    var record: Record {
        var record: Record = ["file": .string(file), "key": .string(key)]
        func add(_ name: String, _ seconds: Double?) {
            if let seconds { record.fields.append(RecordField(name: name, value: .double(seconds))) }
        }
        func addTime(_ name: String, _ seconds: Double) { if seconds != 0 { add(name, seconds) } }
        func add(_ name: String, _ date: Date) {
            // The date must be the entry's own: one that has no exact text is written as a number.
            let text = InstantText.exactText(date).map(RecordValue.string)
            let value = text ?? .double(date.timeIntervalSinceReferenceDate)
            record.fields.append(RecordField(name: name, value: value))
        }
        add("storedAt", attributes.storedAt)
        if let date = attributes.expiresAt { add("expiresAt", date) }
        add("idleTime", attributes.idleTime)
        addTime("staleWhileRevalidate", attributes.staleWhileRevalidate)
        addTime("staleIfError", attributes.staleIfError)
        addTime("loadTime", attributes.loadTime)
        if !attributes.tags.isEmpty {
            let tags = attributes.tags.map(RecordValue.string)
            record.fields.append(RecordField(name: "tags", value: .array(tags)))
        }
        return record
    }

    /// Reads a line of an index, which anyone may have written.
    init(_ record: Record) throws(RejectedRecord) {
        file = try Self.string("file", record)
        guard Self.isPlain(file) else {
            throw RejectedRecord(reason: "its file must be the name of one in the directory, not a path")
        }
        key = try Self.string("key", record)
        guard let storedAt = try Self.date("storedAt", record) else {
            throw RejectedRecord(reason: "storedAt is missing")
        }
        var attributes = EntryAttributes(storedAt: storedAt, expiresAt: try Self.date("expiresAt", record))
        attributes.idleTime = try Self.time("idleTime", record)
        attributes.staleWhileRevalidate = try Self.time("staleWhileRevalidate", record) ?? 0
        attributes.staleIfError = try Self.time("staleIfError", record) ?? 0
        attributes.loadTime = try Self.time("loadTime", record) ?? 0
        attributes.tags = try Self.tags(record)
        self.attributes = attributes
    }

    /// Whether a name is one component that is no hidden file.
    private static func isPlain(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    private static func string(_ name: String, _ record: Record) throws(RejectedRecord) -> String {
        guard case .string(let text)? = record[name] else {
            throw RejectedRecord(reason: "\(name) must be a string")
        }
        return text
    }

    private static func date(_ name: String, _ record: Record) throws(RejectedRecord) -> Date? {
        if case .string(let text)? = record[name], let date = InstantText.date(from: text) { return date }
        do throws(RejectedRecord) {
            return try seconds(name, record).map { Date(timeIntervalSinceReferenceDate: $0) }
        } catch {
            throw RejectedRecord(reason: "\(name) must be a date such as 2024-05-01T12:30:00Z")
        }
    }

    private static func seconds(_ name: String, _ record: Record) throws(RejectedRecord) -> Double? {
        switch record[name] {
        case nil, .null: nil
        case .int(let number): Double(number)
        case .uint(let number): Double(number)
        case .double(let number): number
        case .string("Infinity"): .infinity
        case .string("-Infinity"): -.infinity
        default: throw RejectedRecord(reason: "\(name) must be a number of seconds")
        }
    }

    private static func time(_ name: String, _ record: Record) throws(RejectedRecord) -> Double? {
        guard let seconds = try seconds(name, record) else { return nil }
        guard seconds >= 0 else { throw RejectedRecord(reason: "\(name) is negative") }
        return seconds
    }

    private static func tags(_ record: Record) throws(RejectedRecord) -> [String] {
        guard let value = record["tags"], value != .null else { return [] }
        guard case .array(let values) = value else { throw RejectedRecord(reason: "tags must be an array") }
        var tags: [String] = []
        for value in values {
            guard case .string(let tag) = value else { throw RejectedRecord(reason: "a tag must be a string") }
            tags.append(tag)
        }
        return tags
    }
}
