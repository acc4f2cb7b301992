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
public protocol Encoded: SendableMetatype {
    /// The class that is archived in the value's place.
    associatedtype Wrapper: WrapperEncoder
    /// The value, wrapped. Called once per save, on the caller's thread.
    var encoder: Wrapper { get }
}

/// A class that archives a value of another type, or of its own.
///
/// ```swift
/// final class EncodableCoordinate: NSObject, NSCoding { … }
/// extension EncodableCoordinate: WrapperEncoder { var value: Coordinate? { coordinate } }
/// extension Coordinate: Encoded { var encoder: EncodableCoordinate { .init(coordinate: self) } }
/// ```
public protocol WrapperEncoder: NSCoding, SendableMetatype {
    associatedtype Value
    /// The value that was wrapped or unarchived; `nil` if the archive held none.
    var value: Value? { get }
    /// The classes that objects inside the archive may have, besides the wrapper's own, with their subclasses.
    ///
    /// Strings, numbers, dates and collections need not be named. None by default.
    static var allowedClasses: [AnyClass] { get }
}

extension WrapperEncoder {
    public static var allowedClasses: [AnyClass] { [] }
}

extension Encoded where Self: Codable {
    public var encoder: CodableWrapper<Self> { CodableWrapper(self) }
}

/// Archives a Codable value as an object of the value's own name and coding keys.
public final class CodableWrapper<Value: Codable>: NSObject, WrapperEncoder {
    private let wrapped: Value

    public init(_ value: Value) { wrapped = value }

    public var value: Value? { wrapped }

    /// A Codable value is read without its wrapper, so there is nothing to unarchive: always `nil`.
    public required init?(coder: NSCoder) { nil }

    /// A Codable value is written without its wrapper; asked for by another coder, it is refused.
    public func encode(with coder: NSCoder) {
        coder.failWithError(CocoaError(.coderInvalidValue))
    }
}

extension CodableWrapper: CodableRepresenting {
    package var represented: Value { wrapped }
    package convenience init(represented: Value) { self.init(represented) }
}

extension WrapperEncoder {
    /// Wrapper and value of an archive, however the wrapper stands in it.
    static func unarchive(_ archive: [UInt8]) throws(ArchiveError) -> Value {
        if let representing = Self.self as? any CodableRepresenting.Type {
            if let value = try decode(representing, archive) as? Value { return value }
        } else if let value = try KeyedUnarchiver.unarchive(Self.self, allowing: allowedClasses, from: archive)
            .value
        {
            return value
        }
        throw ArchiveError(.decodingFailed, "the archived \(Self.self) holds no value")
    }
}

extension WrapperEncoder {
    /// Sees whether an archive can be unarchived: not every cycle can, say.
    static func check(_ archive: [UInt8]) throws(ArchiveError) {
        if let checking = Self.self as? any ArchiveChecking.Type {
            try checking.check(archive: archive)
        } else if Self.self is any CodableRepresenting.Type {
            _ = try unarchive(archive)
        } else {
            try KeyedUnarchiver.check(Self.self, allowing: allowedClasses, archive)
        }
    }
}

/// A wrapper that is archived as an object of another class, so that it sees by itself whether that can be read.
package protocol ArchiveChecking {
    /// Sees whether a reader would refuse an archive of this wrapper.
    ///
    /// - Throws: as unarchiving.
    static func check(archive: [UInt8]) throws(ArchiveError)
}

private func decode<T: CodableRepresenting>(_ type: T.Type, _ archive: [UInt8]) throws(ArchiveError) -> Any {
    try KeyedUnarchiver.unarchive(decoding: T.Represented.self, from: archive)
}
