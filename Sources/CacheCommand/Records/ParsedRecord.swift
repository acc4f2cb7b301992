import KeyedArchive

/// A record as a parser of JSON leaves it: plain values, of which the first is an object. It is archived without a tree
/// of values in between.
struct ParsedRecord: Sendable {
    let values: PlainValues

    /// The record as named values.
    var record: Record {
        guard case .object(let record) = RecordValue(values) else { preconditionFailure("it is an object") }
        return record
    }

    /// The value of the field with a name, or `nil` if there is none.
    ///
    /// - Parameter isASCII: whether the name is.
    func value(named name: String, isASCII: Bool) -> PlainValues.Item? {
        let count = name.utf8.count
        var index = 1
        for _ in 0..<values.items[0].count {
            let item = values.items[index]
            // Only strings beyond ASCII can be equal with different bytes.
            let mayBeEqual = Int(item.count) == count || !isASCII || !item.isASCII
            if mayBeEqual, values.string(at: index) == name { return values.items[index + 1] }
            index = values.end(of: index + 1)
        }
        return nil
    }

    /// The text of a string of this record.
    func string(_ item: PlainValues.Item) -> String { String(decoding: values.text[item.range], as: UTF8.self) }
}

extension ParsedRecord: Equatable {
    static func == (one: ParsedRecord, other: ParsedRecord) -> Bool { one.record == other.record }
}

/// A record as its source gives it.
enum SourceRecord: Sendable, Equatable {
    case fields(Record)
    case parsed(ParsedRecord)

    /// The record as named values.
    var record: Record {
        switch self {
        case .fields(let record): record
        case .parsed(let parsed): parsed.record
        }
    }
}
