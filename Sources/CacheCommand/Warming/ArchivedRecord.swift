import Foundation
import KeyedArchive

/// Archives a record as an object of a class that this process does not have.
///
/// The archive is the one that the class itself, or a Codable type of its name, would write: numbers and
/// Booleans inline, all else as objects. Nulls are kept: nil under the key of a field, `NSNull` in dictionaries and
/// arrays, both of which an optional reads as nil.
final class ArchivedRecord: NSObject, ArchiveNamed {
    private let record: Record
    /// The class that the record has in its archive; `nil` makes it a dictionary.
    private let type: ArchivedClass?

    private init(_ record: Record, as type: ArchivedClass?) {
        self.record = record
        self.type = type
    }

    /// Records are looked at as trees, never unarchived as records: always `nil`.
    required init?(coder: NSCoder) { nil }

    /// The archive of a record, with the checks that a cache makes before it saves one.
    static func archive(_ record: SourceRecord, as type: ArchivedClass?) throws(ArchiveError) -> [UInt8] {
        let archived =
            switch record {
            case .fields(let record): try KeyedArchiver.archive(ArchivedRecord(record, as: type))
            case .parsed(let parsed): try KeyedArchiver.archive(parsed.values, as: type)
            }
        if archived.mayBeRefused { try check(archived.bytes) }
        return archived.bytes
    }

    /// Reads the archive as any program can, with the record's class unknown. The unarchiver refuses field names that
    /// were made to share a hash.
    private static func check(_ archive: [UInt8]) throws(ArchiveError) {
        let unarchiver = try KeyedUnarchiver(forReadingFrom: Data(archive))
        unarchiver.keepsUnknownClasses = true
        _ = unarchiver.decodeObject(forKey: KeyedArchiver.rootKey)
        try unarchiver.finishDecoding()
    }

    var archivedForm: ArchivedForm {
        if let type { return .object(type) }
        return .dictionary(keys: record.fields.map(\.name)) { [record] members in
            for field in record.fields { Self.add(field.value, to: &members) }
        }
    }

    func encode(with coder: NSCoder) {
        for field in record.fields {
            switch field.value {
            case .null: coder.encode(nil as Any?, forKey: field.name)
            case .bool(let value): coder.encode(value, forKey: field.name)
            case .int(let value): coder.encode(value, forKey: field.name)
            case .double(let value): coder.encode(value, forKey: field.name)
            case .string(let value): coder.encode(value, forKey: field.name)
            default: coder.encode(Self.object(field.value), forKey: field.name)
            }
        }
    }

    private static func add(_ value: RecordValue, to members: inout ArchivedMembers) {
        switch value {
        case .bool(let value): members.add(value)
        case .int(let value): members.add(value)
        case .uint(let value): members.add(value)
        case .double(let value): members.add(value)
        case .string(let value): members.add(value)
        default: members.add(other: object(value))
        }
    }

    private static func object(_ value: RecordValue) -> Any {
        switch value {
        case .null: NSNull()
        case .bool(let value): value
        case .int(let value): value
        case .uint(let value): value
        case .double(let value): value
        case .string(let value): value
        case .array(let values): values.map(object)
        case .object(let record): ArchivedRecord(record, as: nil)
        case .date(let value): value
        case .data(let value): value
        case .url(let value): value
        case .uuid(let value): value
        }
    }
}
