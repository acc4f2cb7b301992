/// The type of a declared field.
package enum FieldType: String, CaseIterable, Sendable {
    case string
    case int
    case double
    case bool
    case date
    case data
    case url
    case uuid

    /// A description of valid values, to stand behind "expected".
    var phrase: String {
        switch self {
        case .string: "a string"
        case .int: "a whole number of at most 64 bits"
        case .double: "a number"
        case .bool: "true or false"
        case .date: "an ISO 8601 date with its zone, or seconds since 1970"
        case .data: "Base64"
        case .url: "an absolute URL"
        case .uuid: "a UUID"
        }
    }
}
