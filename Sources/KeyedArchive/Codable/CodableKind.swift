import Foundation

/// The way in which a Codable type is archived and decoded.
enum CodableKind: UInt8, TypeEntry {
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
    /// By Apple's form where an archive has that; by the type's own `encode(to:)` and `init(from:)` otherwise.
    case formed
    // Arrays that are archived and decoded without a container, in the form of their own `encode(to:)`.
    case strings
    case integers
    case doubles
    case dates
    case urls
    case uuids
    /// By the type's own `encode(to:)` and `init(from:)`.
    case own

    init(_ type: Any.Type) {
        self =
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
            case _ where !Self.isOfLibraries(type): .own
            case is [String].Type: .strings
            case is [Int].Type: .integers
            case is [Double].Type: .doubles
            case is [Date].Type: .dates
            case is [URL].Type: .urls
            case is [UUID].Type: .uuids
            case is any ArchivableDictionary.Type, is any UnarchivableDictionary.Type: .dictionary
            case is any FormedValue.Type: .formed
            default: .own
            }
    }

    /// Whether a type may be declared by the standard library or by Foundation, as arrays, dictionaries and formed values are.
    ///
    /// By its name: for the first cast of a type to a protocol, the runtime looks through all conformances of the process,
    /// which takes a quarter of a million instructions.
    private static func isOfLibraries(_ type: Any.Type) -> Bool {
        let name = _typeName(type, qualified: true)
        // On Apple platforms, structures from C are in no module of their own.
        return ["Swift.", "Foundation", "Core", "__C"].contains { name.hasPrefix($0) }
    }
}
