import Foundation

/// Writes a record as a property list, which has no null.
enum RecordPropertyList {
    /// A value that a property list has no form for.
    struct NoValue: Error {
        /// The names of the fields that lead to it.
        let path: String
    }

    /// - Throws: for null, and for numbers above `Int64.max`, which not every reader takes.
    static func bytes(
        of value: RecordValue,
        format: PropertyListSerialization.PropertyListFormat
    ) throws(NoValue) -> [UInt8] {
        let object = try object(value, path: [])
        let data = Result {
            try PropertyListSerialization.data(fromPropertyList: object, format: format, options: 0)
        }
        guard case .success(let data) = data else { throw NoValue(path: "the record") }
        return [UInt8](data)
    }

    private static func object(_ value: RecordValue, path: [String]) throws(NoValue) -> Any {
        switch value {
        case .null, .uint: throw NoValue(path: path.isEmpty ? "the record" : path.joined(separator: "."))
        case .bool(let flag): return flag
        case .int(let number): return Int(number)
        case .double(let number): return number
        case .string(let text): return text
        case .date(let date): return date
        case .data(let data): return data
        case .url(let url): return url.absoluteString
        case .uuid(let identifier): return identifier.uuidString
        case .array(let elements):
            var objects: [Any] = []
            for (index, element) in elements.enumerated() {
                objects.append(try object(element, path: path + ["\(index)"]))
            }
            return objects
        case .object(let record):
            var objects: [String: Any] = [:]
            for field in record.fields { objects[field.name] = try object(field.value, path: path + [field.name]) }
            return objects
        }
    }
}
