import ArchiveStore
import Foundation

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
