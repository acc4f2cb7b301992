import Foundation
import Synchronization

/// How values of one type are archived, found once per type and process.
///
/// Unchecked: the closure captures metatypes and `ArchivedClass`es only, which never change.
final class ArchiveHandler: @unchecked Sendable {
    let type: ObjectIdentifier
    /// Writes a value and returns its place.
    let encode: (Any, KeyedArchiver) -> ArchiveWriter.UID
    /// Asks an object for the object to archive in its place; `nil` for types that cannot be asked.
    let replacement: ((Any, KeyedArchiver) -> Any?)?
    let isCollection: Bool

    private init(
        _ type: Any.Type,
        replacement: ((Any, KeyedArchiver) -> Any?)? = nil,
        _ encode: @escaping (Any, KeyedArchiver) -> ArchiveWriter.UID
    ) {
        self.type = ObjectIdentifier(type)
        self.encode = encode
        self.replacement = replacement
        isCollection = type is any ArchiveCollection.Type
    }

    private static let known = Mutex<[ObjectIdentifier: ArchiveHandler]>([:])

    static func `for`(_ type: Any.Type) -> ArchiveHandler {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        let made = make(type)
        known.withLock { $0[ObjectIdentifier(type)] = made }
        return made
    }

    private static func make(_ type: Any.Type) -> ArchiveHandler {
        if let intrinsic = type as? any ArchiveIntrinsic.Type { return make(intrinsic: intrinsic) }
        if let representing = type as? any CodableRepresenting.Type { return make(representing: representing) }
        if let named = type as? any ArchiveNamed.Type { return make(named: named) }
        if type is AnyClass, !FoundationClasses.areCodedHere(type) {
            if let object = type as? any (NSObject & NSCoding).Type { return make(object: object) }
            if let coding = type as? any NSCoding.Type { return make(coding: coding) }
        }
        return ArchiveHandler(type) { _, archiver in unsupported(type, archiver) }
    }

    private static func unsupported(_ type: Any.Type, _ archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.record(
            ArchiveError(.unsupportedType, "\(ClassNames.name(of: type)) cannot be archived: it needs NSCoding")
        )
        return 0
    }

    private static func make<T: ArchiveIntrinsic>(intrinsic type: T.Type) -> ArchiveHandler {
        ArchiveHandler(type) { value, archiver in
            guard let value = content(of: value, as: T.self) ?? value as? T else {
                return unsupported(T.self, archiver)
            }
            return value.archive(into: archiver)
        }
    }

    private static func make<T: CodableRepresenting>(representing type: T.Type) -> ArchiveHandler {
        let isClass = T.Represented.self is AnyClass
        return ArchiveHandler(type) { value, archiver in
            guard let value = value as? T else { return unsupported(T.self, archiver) }
            let represented = value.represented
            if isClass, Swift.type(of: represented) != T.Represented.self {
                return subclass(Swift.type(of: represented), of: T.Represented.self, archiver)
            }
            return archiver.object(codable: represented)
        }
    }

    /// A Codable value is decoded as the type that is asked for, so an object of a subclass would come back as another one.
    private static func subclass(_ type: Any.Type, of base: Any.Type, _ archiver: KeyedArchiver)
        -> ArchiveWriter.UID
    {
        let (name, baseName) = (ClassNames.name(of: type), ClassNames.name(of: base))
        archiver.record(
            ArchiveError(
                .unsupportedType,
                "the \(name) would be decoded as \(baseName), since Codable knows no subclasses: archive it by NSCoding"
            )
        )
        return 0
    }

    private static func make<T: ArchiveNamed>(named type: T.Type) -> ArchiveHandler {
        ArchiveHandler(type) { value, archiver in
            guard let value = value as? T else { return unsupported(T.self, archiver) }
            switch value.archivedForm {
            case .object(let info):
                return archiver.encode(instance: value, as: info) { archiver.encodeFields(of: value) }
            case .dictionary(let keys, let encode):
                return archiver.dictionary(of: keys, encode)
            }
        }
    }

    private static func make<T: NSObject & NSCoding>(object type: T.Type) -> ArchiveHandler {
        let info = ArchivedClass.of(type)
        let isSecure = isSecure(type)
        let replacement = { (value: Any, archiver: KeyedArchiver) in
            (value as? T)?.replacementObject(for: archiver)
        }
        return ArchiveHandler(type, replacement: replacement) { value, archiver in
            guard let value = instance(reference(of: value), of: T.self) else {
                return unsupported(T.self, archiver)
            }
            if !isSecure, archiver.requiresSecureCoding { return insecure(info, archiver) }
            return archiver.encode(object: value, as: info)
        }
    }

    private static func make<T: NSCoding>(coding type: T.Type) -> ArchiveHandler {
        let info = ArchivedClass.of(type)
        let isSecure = isSecure(type)
        return ArchiveHandler(type) { value, archiver in
            let object = reference(of: value)
            guard let value = instance(object, of: T.self) else { return unsupported(T.self, archiver) }
            if !isSecure, archiver.requiresSecureCoding { return insecure(info, archiver) }
            return archiver.encode(instance: object, as: info) { archiver.encodeFields(of: value) }
        }
    }

    private static func isSecure(_ type: Any.Type) -> Bool {
        (type as? any NSSecureCoding.Type)?.supportsSecureCoding ?? false
    }

    private static func insecure(_ info: ArchivedClass, _ archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.record(ArchiveError(.classNotAllowed, "\(info.name) does not support secure coding"))
        return 0
    }
}

/// The handlers that were asked for last: a few types make up nearly every archive, so that a scan without a lock
/// finds them. Handlers never change, so it is kept from archive to archive.
struct HandlerCache {
    private var handlers: [ArchiveHandler] = []
    private static let limit = 8

    mutating func find(_ type: Any.Type) -> ArchiveHandler {
        for index in handlers.indices where handlers[index].type == ObjectIdentifier(type) {
            return handlers[index]
        }
        let found = ArchiveHandler.for(type)
        if handlers.count == Self.limit { handlers.removeAll(keepingCapacity: true) }
        handlers.append(found)
        return found
    }
}

/// A wrapper that stands for a Codable value: the archive holds the value itself, not the wrapper.
package protocol CodableRepresenting: AnyObject {
    associatedtype Represented: Codable
    var represented: Represented { get }
    init(represented: Represented)
}

/// An object that chooses its own form in the archive, regardless of its Swift class.
package protocol ArchiveNamed: NSObject, NSCoding {
    var archivedForm: ArchivedForm { get }
}

package enum ArchivedForm {
    /// An object of this class, with the keys that it encodes.
    case object(ArchivedClass)
    /// A dictionary with these keys, no two of them the same text, in their order. The closure adds the value of each key
    /// to the archive, in the same order.
    case dictionary(keys: [String], values: (inout ArchivedMembers) -> Void)
}
