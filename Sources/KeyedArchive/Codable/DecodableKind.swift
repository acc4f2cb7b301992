import Foundation

/// The way in which a Codable type is decoded.
enum DecodableKind: UInt8 {
    case string
    case integer
    case double
    case bool
    /// A date, data, URL or UUID, which archives have in Foundation's form.
    case intrinsic
    case decimal
    case strings
    case integers
    case doubles
    case dictionary
    /// By the type's own `init(from:)`.
    case own

    init(_ type: Any.Type) {
        self =
            switch type {
            case is String.Type: .string
            case is Int.Type: .integer
            case is Double.Type: .double
            case is Bool.Type: .bool
            case is Date.Type, is Data.Type, is URL.Type, is UUID.Type: .intrinsic
            case is Decimal.Type: .decimal
            case is [String].Type: .strings
            case is [Int].Type: .integers
            case is [Double].Type: .doubles
            case is any UnarchivableDictionary.Type: .dictionary
            default: .own
            }
    }
}

/// The kinds of the types that were decoded last: to find one out takes several look-ups of the runtime.
///
/// A table by the types' addresses, in which a type takes the place of another one. A type never goes away.
struct DecodableKinds {
    private var entries = [(type: ObjectIdentifier?, kind: DecodableKind)](repeating: (nil, .own), count: 64)

    subscript(type: Any.Type) -> DecodableKind {
        mutating get {
            let identity = ObjectIdentifier(type)
            // Addresses are multiples of 8, and most types' far apart.
            let address = UInt(bitPattern: identity)
            let slot = Int(truncatingIfNeeded: (address &>> 3) ^ (address &>> 9)) & 63
            if entries[slot].type == identity { return entries[slot].kind }
            let kind = DecodableKind(type)
            entries[slot] = (identity, kind)
            return kind
        }
    }
}
