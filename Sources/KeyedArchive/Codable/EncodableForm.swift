import Foundation

/// The way in which a Codable type is archived.
struct EncodableForm {
    enum Kind {
        case string
        case integer
        case double
        case bool
        case date
        case data
        case url
        case uuid
        case decimal
        /// A dictionary, which is an `NSDictionary` if its keys allow it.
        case dictionary
        /// By the type's own `encode(to:)`.
        case own
    }

    let kind: Kind
    /// The class that the type's objects have, if they are objects of their own.
    let info: ArchivedClass

    init(_ type: Any.Type) {
        kind =
            switch type {
            case is String.Type: .string
            case is Int.Type: .integer
            case is Double.Type: .double
            case is Bool.Type: .bool
            case is Date.Type: .date
            case is Data.Type: .data
            case is URL.Type: .url
            case is UUID.Type: .uuid
            case is Decimal.Type: .decimal
            case is any ArchivableDictionary.Type: .dictionary
            default: .own
            }
        info = .of(type)
    }
}

/// The forms of the types that were archived last: to find one out takes several look-ups of the runtime.
///
/// A table by the types' addresses, in which a type takes the place of another one. A type never goes away.
struct EncodableForms {
    private var entries = [(type: ObjectIdentifier, form: EncodableForm)?](repeating: nil, count: 64)

    subscript(type: Any.Type) -> EncodableForm {
        mutating get {
            let identity = ObjectIdentifier(type)
            // Addresses are multiples of 8, and most types' far apart.
            let address = UInt(bitPattern: identity)
            let slot = Int(truncatingIfNeeded: (address &>> 3) ^ (address &>> 9)) & 63
            if let entry = entries[slot], entry.type == identity { return entry.form }
            let form = EncodableForm(type)
            entries[slot] = (identity, form)
            return form
        }
    }
}
