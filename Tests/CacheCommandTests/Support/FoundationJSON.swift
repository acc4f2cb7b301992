import Foundation

@testable import CacheCommand

/// Compares a value parsed here with Foundation's value for the same text.
enum FoundationJSON {
    static func matches(_ value: RecordValue, _ other: Any) -> Bool {
        switch value {
        case .null: other is NSNull
        case .bool(let flag): (other as? NSNumber)?.boolValue == flag
        case .int(let number): (other as? NSNumber)?.int64Value == number
        case .uint(let number): (other as? NSNumber)?.uint64Value == number
        case .double(let number): matches(number, (other as? NSNumber)?.doubleValue)
        case .string(let text): (other as? String).map { Array($0.utf8) == Array(text.utf8) } ?? false
        case .array(let elements): matches(elements, other as? [Any])
        case .object(let record): matches(record, other as? [String: Any])
        case .date, .data, .url, .uuid: false
        }
    }

    /// Foundation reads some numbers by way of a decimal type and misses the nearest double by a little.
    private static func matches(_ number: Double, _ other: Double?) -> Bool {
        guard let other else { return false }
        return (number - other).magnitude <= number.magnitude * 1e-14
    }

    private static func matches(_ elements: [RecordValue], _ others: [Any]?) -> Bool {
        guard let others, others.count == elements.count else { return false }
        return zip(elements, others).allSatisfy(matches)
    }

    private static func matches(_ record: Record, _ others: [String: Any]?) -> Bool {
        guard let others, others.count == record.fields.count else { return false }
        return record.fields.allSatisfy { field in
            others[field.name].map { matches(field.value, $0) } ?? false
        }
    }
}
