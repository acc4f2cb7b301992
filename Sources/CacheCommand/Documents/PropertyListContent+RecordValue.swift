import Foundation
import KeyedArchive

extension PropertyListContent {
    /// A value of JSON, or of a record.
    init(_ value: RecordValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .int(let value): .integer(value)
            case .uint(let value): .unsigned(value)
            case .double(let value): .real(value)
            case .string(let value): .string(value)
            case .array(let values): .array(values.map { Self($0) })
            case .object(let record):
                .dictionary(record.fields.map { Field(key: $0.name, value: Self($0.value)) })
            case .date(let value): .date(value)
            case .data(let value): .data(value)
            case .url(let value): .string(value.absoluteString)
            case .uuid(let value): .string(value.uuidString)
            }
    }
}
