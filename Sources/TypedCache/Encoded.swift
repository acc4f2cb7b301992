import Foundation
import KeyedArchive

/// A type whose values can be cached.
///
/// A Codable type needs one word:
///
/// ```swift
/// struct City: Codable, Encoded { var name: String; var population: Int }
/// ```
///
/// Any other type names a wrapper class that adopts `NSCoding` for it; see ``WrapperEncoder``.
///
/// Values are archived and decoded on any thread, so the conformance must not belong to an actor.
///
/// A Codable type that was renamed, or moved to another module, gives its `formerNames`, and entries that were saved
/// before are read as before: see <doc:CodableValues>.
public protocol Encoded: SendableMetatype {
    /// The class that is archived in the value's place.
    associatedtype Wrapper: WrapperEncoder
    /// The value, wrapped. Called once per save, on the caller's thread.
    var encoder: Wrapper { get }
    /// The names that a Codable type had before, with their modules: `Player.Album`. None by default.
    ///
    /// Read only if an entry has another name than the present one.
    static var formerNames: [String] { get }
}

extension Encoded {
    public static var formerNames: [String] { [] }

    /// All names that archives have for the type, the present one first: for the former names of generic types, which
    /// contain the names of their arguments.
    public static var archivedNames: [String] { [ArchivedClass.of(Self.self).name] + formerNames }
}

// For classes that are their own wrappers, which have all of this twice.
extension Encoded where Self: FormerlyNamed {
    /// None, unless the class says otherwise.
    public static var formerNames: [String] { [] }
    /// All names that archives have for the class, the present one first.
    public static var archivedNames: [String] { [ArchivedClass.of(Self.self).name] + formerNames }
}

/// A class that archives a value: of another type, or itself.
///
/// ```swift
/// final class EncodableCoordinate: NSObject, NSCoding { … }
/// extension EncodableCoordinate: WrapperEncoder { var value: Coordinate? { coordinate } }
/// extension Coordinate: Encoded { var encoder: EncodableCoordinate { .init(coordinate: self) } }
/// ```
///
/// A wrapper that was renamed, or moved to another module, gives its `formerNames`; so does a class among
/// ``allowedClasses``, if it adopts `FormerlyNamed`.
public protocol WrapperEncoder: NSCoding, FormerlyNamed, SendableMetatype {
    /// The type of the value that is archived.
    associatedtype Value
    /// The value that was wrapped or unarchived; `nil` if the archive had no value.
    var value: Value? { get }
    /// The classes that objects inside the archive may have, besides the wrapper's own, with their subclasses.
    ///
    /// Strings, numbers, dates and collections need not be named. None by default.
    static var allowedClasses: [AnyClass] { get }
    /// The value in an archive. For the wrapper of Codable values, which are read without it; a requirement, because a cast
    /// to a protocol of that wrapper's alone has the runtime look through all conformances of the process.
    static func _unarchive(
        _ archive: [UInt8],
        for cached: any Encoded.Type
    ) throws(ArchiveError) -> Value
}

extension WrapperEncoder {
    public static var allowedClasses: [AnyClass] { [] }

    public static func _unarchive(
        _ archive: [UInt8],
        for cached: any Encoded.Type
    ) throws(ArchiveError) -> Value {
        if let value = try KeyedUnarchiver.unarchive(Self.self, allowing: allowedClasses, from: archive).value {
            return value
        }
        throw ArchiveError(.decodingFailed, "the archived \(Self.self) holds no value")
    }
}

extension Encoded where Self: Codable {
    /// The value in the wrapper of all Codable types.
    public var encoder: CodableWrapper<Self> { CodableWrapper(self) }
}

/// Archives a Codable value as an object of the value's own name and coding keys.
public final class CodableWrapper<Value: Codable>: NSObject, WrapperEncoder {
    private let wrapped: Value

    /// Wraps a value.
    public init(_ value: Value) { wrapped = value }

    /// The wrapped value, never `nil`.
    public var value: Value? { wrapped }

    /// A Codable value is read without its wrapper, so there is nothing to unarchive: always `nil`.
    public required init?(coder: NSCoder) { nil }

    /// A Codable value is written without its wrapper; asked for by another coder, it is refused.
    public func encode(with coder: NSCoder) {
        coder.failWithError(CocoaError(.coderInvalidValue))
    }

    public static func _unarchive(
        _ archive: [UInt8],
        for cached: any Encoded.Type
    ) throws(ArchiveError) -> Value {
        // `Encoded` cannot refine `FormerlyNamed`: conditional conformances, of `Array` say, would have to repeat it.
        let names = FormerRootNames(of: cached) { ($0 as? any Encoded.Type)?.formerNames ?? [] }
        return try KeyedUnarchiver.unarchive(decoding: Value.self, formerNames: names, from: archive)
    }
}

extension CodableWrapper: CodableRepresenting {
    package var represented: Value { wrapped }
    package convenience init(represented: Value) { self.init(represented) }
}

extension WrapperEncoder {
    /// The value in an archive, however the wrapper stands in it.
    static func unarchive<Cached: Encoded>(
        _ archive: [UInt8],
        for cached: Cached.Type
    ) throws(ArchiveError) -> Value {
        try _unarchive(archive, for: cached)
    }

    /// Sees whether an archive can be unarchived: not every cycle can, say.
    static func check<Cached: Encoded>(_ archive: [UInt8], for cached: Cached.Type) throws(ArchiveError) {
        if Self.self is any CodableRepresenting.Type {
            _ = try unarchive(archive, for: cached)
        } else {
            try KeyedUnarchiver.check(Self.self, allowing: allowedClasses, archive)
        }
    }
}
