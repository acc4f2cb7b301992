/// A number as an archive holds it.
enum ArchivedNumber {
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case float(Float)
    case double(Double)

    /// The kind of number, in words.
    var kind: String {
        switch self {
        case .bool: "a Boolean"
        case .integer, .unsigned: "an integer"
        case .float, .double: "a real number"
        }
    }

    /// The number in an integer type, or `nil` if it does not fit.
    ///
    /// A real number is an integer where nothing is lost, for many programs store whole numbers as reals.
    func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): T(exactly: value)
        case .unsigned(let value): T(exactly: value)
        case .float(let value): T(exactly: value)
        case .double(let value): T(exactly: value)
        }
    }

    /// The number as a `Double`, or `nil` if that would lose information.
    var double: Double? {
        switch self {
        case .bool: nil
        case .integer(let value): Double(exactly: value)
        case .unsigned(let value): Double(exactly: value)
        case .float(let value): Double(value)
        case .double(let value): value
        }
    }

    /// The number as a `Float`, rounded; `nil` if it is beyond the range of `Float`.
    var float: Float? {
        switch self {
        case .bool: return nil
        case .integer(let value): return Float(exactly: value)
        case .unsigned(let value): return Float(exactly: value)
        case .float(let value): return value
        case .double(let value):
            let narrowed = Float(value)
            return narrowed.isFinite || !value.isFinite ? narrowed : nil
        }
    }

    /// The number as a Boolean; `nil` if it is neither 0 nor 1.
    var bool: Bool? {
        switch self {
        case .bool(let value): value
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }
}
