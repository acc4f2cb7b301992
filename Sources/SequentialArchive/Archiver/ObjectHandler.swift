import Foundation
import KeyedArchive
import Synchronization

/// How values of one type are archived, found once per type and process.
///
/// Unchecked: the closure captures metatypes only, which never change.
final class ObjectHandler: @unchecked Sendable {
    let encode: (Any, SequentialArchiver) -> Void

    private init(_ encode: @escaping (Any, SequentialArchiver) -> Void) { self.encode = encode }

    private static let known = Mutex<[ObjectIdentifier: ObjectHandler]>([:])

    static func `for`(_ type: Any.Type) -> ObjectHandler {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        let made = make(type)
        known.withLock { $0[ObjectIdentifier(type)] = made }
        return made
    }

    private static func make(_ type: Any.Type) -> ObjectHandler {
        if let intrinsic = type as? any SequentialIntrinsic.Type { return make(intrinsic: intrinsic) }
        if type is AnyClass, !FoundationClasses.areCodedHere(type) {
            if let object = type as? any (NSObject & NSCoding).Type { return make(object: object) }
            if let coding = type as? any NSCoding.Type { return make(coding: coding) }
        }
        return ObjectHandler { _, archiver in unsupported(type, archiver) }
    }

    private static func unsupported(_ type: Any.Type, _ archiver: SequentialArchiver) {
        archiver.record(
            ArchiveError(
                .unsupportedType,
                "\(ClassNames.name(of: type)) has no form in archives without keys; KeyedArchiver may have one"
            )
        )
    }

    private static func make<T: SequentialIntrinsic>(intrinsic type: T.Type) -> ObjectHandler {
        ObjectHandler { value, archiver in
            guard let value = value as? T else { return unsupported(T.self, archiver) }
            value.write(to: archiver)
        }
    }

    private static func make<T: NSObject & NSCoding>(object type: T.Type) -> ObjectHandler {
        ObjectHandler { value, archiver in
            guard let value = exactly(value, T.self) ?? value as? T else { return unsupported(T.self, archiver) }
            archiver.write(value.classForCoder, identity: value) { archiver.encodeFields(of: value) }
        }
    }

    private static func make<T: NSCoding>(coding type: T.Type) -> ObjectHandler {
        ObjectHandler { value, archiver in
            guard let value = value as? T, let cls = anyClass(T.self) else {
                return unsupported(T.self, archiver)
            }
            archiver.write(cls, identity: value as AnyObject) { archiver.encodeFields(of: value) }
        }
    }
}
