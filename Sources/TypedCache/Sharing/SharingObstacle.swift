import Foundation
import Synchronization

#if !canImport(Darwin)
    @_spi(Reflection) import Swift
#endif

/// Why memory cannot hand out one value of a type to several callers.
struct SharingObstacle: CustomStringConvertible {
    let type: Any.Type
    /// The property that is in the way, such as `.owner.address`; empty if it is the type itself.
    let property: String
    let propertyType: Any.Type
    let kind: String

    /// `nil` if there is none.
    init?<Value>(to type: Value.Type) {
        var search = Search()
        guard let found = search.obstacle(in: type) else { return nil }
        self.type = type
        property = found.path
        propertyType = found.type
        kind = found.kind
    }

    var description: String {
        let place =
            property.isEmpty ? "it is \(kind)" : "its property \(property.dropFirst()) is \(kind), \(propertyType)"
        return """
            typed-cache: Cache<\(type)> decodes a value for each fetch from memory, which takes 50 times as long as \
            sharing one: \(type) is not known to be Sendable here, and \(place). Declare it Sendable and open the cache \
            where that is known, or say valueSharing: .shared if no fetched value is ever changed, .decodedEachTime if it is.

            """
    }

    private static let told = Mutex<Set<ObjectIdentifier>>([])

    /// Whether this was called for the first time for this type.
    func isNews() -> Bool { Self.told.withLock { $0.insert(ObjectIdentifier(type)).inserted } }

    func tellOnce() {
        if isNews() { FileHandle.standardError.write(Data(description.utf8)) }
    }
}

/// Looks through a type's stored properties for one that could be changed through a copy.
private struct Search {
    typealias Finding = (path: String, type: Any.Type, kind: String)

    /// Types that were looked at, or are being looked at: a structure may hold an array of itself.
    private var seen: Set<ObjectIdentifier> = []

    mutating func obstacle<T>(in type: T.Type) -> Finding? {
        guard seen.insert(ObjectIdentifier(type)).inserted else { return nil }
        if SendableTypes.contain(type) { return nil }
        if let container = type as? any ValueContainer.Type {
            return firstObstacle(in: container.contentTypes.map { ("", $0) })
        }
        #if canImport(Darwin)
            // The interface of Apple's standard library leaves out the calls that look into a type.
            return _isPOD(type) ? nil : ("", type, "not known to be a plain value")
        #else
            return propertyObstacle(in: type)
        #endif
    }

    #if !canImport(Darwin)
        private mutating func propertyObstacle<T>(in type: T.Type) -> Finding? {
            // The standard library tells a property's kind, so the type is looked at as one.
            var kind = _MetadataKind.unknown
            _forEachField(of: Holder<T>.self) { _, _, _, found in
                kind = found
                return false
            }
            switch kind {
            case .struct, .tuple:
                var properties: [(String, Any.Type)] = []
                _forEachField(of: type) { name, _, type, _ in
                    properties.append(("." + String(cString: name), type))
                    return true
                }
                // Without reflection metadata there are bytes, but no properties to see.
                if properties.isEmpty, MemoryLayout<T>.size > 0 {
                    return ("", type, "a structure that cannot be looked into")
                }
                return firstObstacle(in: properties)
            // Payloads cannot be seen; an enumeration without references is plain bytes.
            case .enum: return _isPOD(type) ? nil : ("", type, "an enumeration with payloads")
            case .class: return ("", type, "a class")
            default: return ("", type, "of a kind that cannot be looked into")
            }
        }
    #endif

    private mutating func firstObstacle(in properties: [(path: String, type: Any.Type)]) -> Finding? {
        for (path, type) in properties {
            func look<T>(_ type: T.Type) -> Finding? { obstacle(in: type) }
            if let found = _openExistential(type, do: look) {
                return (path + found.path, found.type, found.kind)
            }
        }
        return nil
    }
}

#if !canImport(Darwin)
    private struct Holder<Content> { let content: Content }
#endif

/// A type with values that are as shareable as their contents.
private protocol ValueContainer {
    static var contentTypes: [Any.Type] { get }
}

extension Optional: ValueContainer {
    fileprivate static var contentTypes: [Any.Type] { [Wrapped.self] }
}

extension Array: ValueContainer {
    fileprivate static var contentTypes: [Any.Type] { [Element.self] }
}

extension Set: ValueContainer {
    fileprivate static var contentTypes: [Any.Type] { [Element.self] }
}

extension Dictionary: ValueContainer {
    fileprivate static var contentTypes: [Any.Type] { [Key.self, Value.self] }
}

/// Types that are known to be Sendable: no type says so at run time.
private enum SendableTypes {
    static func contain(_ type: Any.Type) -> Bool { all.contains(ObjectIdentifier(type)) }

    private static let all: Set<ObjectIdentifier> = [
        identifier(String.self), identifier(Bool.self), identifier(Character.self),
        identifier(Int.self), identifier(Int8.self), identifier(Int16.self), identifier(Int32.self),
        identifier(Int64.self), identifier(Int128.self),
        identifier(UInt.self), identifier(UInt8.self), identifier(UInt16.self), identifier(UInt32.self),
        identifier(UInt64.self), identifier(UInt128.self),
        identifier(Float.self), identifier(Double.self), identifier(Decimal.self), identifier(Duration.self),
        identifier(Data.self), identifier(Date.self), identifier(URL.self), identifier(UUID.self),
        identifier(Calendar.self), identifier(CharacterSet.self), identifier(DateComponents.self),
        identifier(DateInterval.self), identifier(IndexPath.self), identifier(IndexSet.self),
        identifier(Locale.self), identifier(PersonNameComponents.self), identifier(TimeZone.self),
        identifier(URLComponents.self),
    ]

    private static func identifier<T: Sendable>(_ type: T.Type) -> ObjectIdentifier { ObjectIdentifier(type) }
}
