import Foundation
import KeyedArchive

// How Foundation's own classes are shown: as the values that they stand for.

extension ArchiveTree.Value {
    /// A value that holds no others; `nil` for all else.
    var scalar: RecordValue? {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .int(value)
        case .unsigned(let value): .uint(value)
        case .real(let value): .double(value)
        case .string(let value): .string(value)
        case .data(let value): .data(value)
        case .date(let value): .date(value)
        case .array, .dictionary, .reference: nil
        }
    }
}

extension ArchiveTree {
    /// The value of an object that is a string, date, … with a class of its own; `nil` for all others.
    func scalar(_ className: String, _ fields: [Field]) -> RecordValue? {
        switch className {
        case "NSNull": .null
        case "NSString", "NSMutableString": value("NS.string", fields)
        case "NSData", "NSMutableData": value("NS.data", fields)
        case "NSDate":
            if case .double(let seconds) = value("NS.time", fields) {
                .date(Date(timeIntervalSinceReferenceDate: seconds))
            } else {
                nil
            }
        case "NSUUID":
            if case .data(let data) = value("NS.uuidbytes", fields), data.count == 16 {
                .uuid(data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
            } else {
                nil
            }
        case "NSURL":
            if case .null = value("NS.base", fields) ?? .null, case .string(let text) = value("NS.relative", fields)
            {
                .string(text)
            } else {
                nil
            }
        default: nil
        }
    }

    /// The members of an array or set; `nil` for all else.
    func members(_ className: String, _ fields: [Field]) -> [Value]? {
        switch className {
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet": list("NS.objects", fields)
        default: nil
        }
    }

    /// The entries of a dictionary whose keys are strings or numbers; `nil` for all else.
    func entries(_ className: String, _ fields: [Field]) -> [Field]? {
        guard className == "NSDictionary" || className == "NSMutableDictionary",
            let keys = list("NS.keys", fields), let values = list("NS.objects", fields), keys.count == values.count
        else { return nil }
        var entries: [Field] = []
        for (key, value) in zip(keys, values) {
            guard let name = text(key) else { return nil }
            entries.append(Field(key: name, value: value))
        }
        return entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    private func list(_ key: String, _ fields: [Field]) -> [Value]? {
        guard case .array(let members) = fields.first(where: { $0.key == key })?.value else { return nil }
        return members
    }

    private func value(_ key: String, _ fields: [Field]) -> RecordValue? {
        guard let value = fields.first(where: { $0.key == key })?.value else { return nil }
        return scalar(value)
    }

    private func scalar(_ value: Value) -> RecordValue? {
        guard case .reference(let place) = value else { return value.scalar }
        switch objects[place] {
        case .value(let value): return value.scalar
        // One step only: strings and data with classes of their own hold theirs inline.
        case .instance("NSMutableString", let fields), .instance("NSString", let fields):
            return fields.first { $0.key == "NS.string" }?.value.scalar
        case .instance("NSMutableData", let fields), .instance("NSData", let fields):
            return fields.first { $0.key == "NS.data" }?.value.scalar
        default: return nil
        }
    }

    private func text(_ value: Value) -> String? {
        switch scalar(value) {
        case .string(let text): text
        case .int(let number): String(number)
        default: nil
        }
    }
}
