import Foundation

// Foundation's values that most models have, as objects of their classes, written without a scope: no other code runs
// before such an object is done, and its keys are known.

extension ArchiveWriter {
    /// The keys of these objects.
    enum UsualKey: Int, CaseIterable {
        case time
        case uuidBytes
        case base
        case relative
        case length
        case exponent
        case isNegative
        case isCompact
        case byteOrder
        case mantissa
        case objects

        fileprivate var name: StaticString {
            switch self {
            case .time: "NS.time"
            case .uuidBytes: "NS.uuidbytes"
            case .base: "NS.base"
            case .relative: "NS.relative"
            case .length: "NS.length"
            case .exponent: "NS.exponent"
            case .isNegative: "NS.negative"
            case .isCompact: "NS.compact"
            case .byteOrder: "NS.mantissa.bo"
            case .mantissa: "NS.mantissa"
            case .objects: "NS.objects"
            }
        }
    }

    /// Where the fields of an object that is written without a scope begin. ``end(_:class:from:)`` follows.
    var fieldStart: Int { pairs.count }

    /// Adds a field to the object that is written without a scope.
    func add(_ key: UsualKey, _ value: Reference) {
        pairs.append(KeyedReference(key: reference(toName: key), value: value))
    }

    /// Makes the fields from `start` on the dictionary of `uid`, with its class.
    func end(_ uid: UID, class info: ArchivedClass, from start: Int) {
        // The class dictionary comes after the contents and before `$class`, which refers to it.
        let classReference = reference(to: classUID(info))
        pairs.append(KeyedReference(key: Self.classKey, value: classReference))
        list.fillDictionary(objects[Int(uid)], pairs, from: start)
        pairs.truncate(to: start)
    }

    private func reference(toName key: UsualKey) -> Reference {
        key.name.withUTF8Buffer { string(named: $0, at: &usualNames[key.rawValue]) }
    }
}
