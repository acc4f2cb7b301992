/// The kind of a value as its source wrote it, for messages: kinds may be shown, values may not.
enum RecordKind: Sendable, Equatable {
    case null
    case bool
    case number
    case string
    case array
    case object
    case other

    init(_ value: RecordValue) {
        self =
            switch value {
            case .null: .null
            case .bool: .bool
            case .int, .uint, .double: .number
            case .string: .string
            case .array: .array
            case .object: .object
            case .date, .data, .url, .uuid: .other
            }
    }

    /// With its article, to stand in a sentence.
    var phrase: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        case .other: "another value"
        }
    }
}
