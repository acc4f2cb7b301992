import Foundation
import Synchronization

/// An archive's description of a class: its name, and the names of the classes above it.
package final class ArchivedClass: Sendable {
    package let name: String
    /// From the class itself up to the root class; empty for a class that was given another name.
    package let chain: [String]
    /// The names of classes that may stand in for it where it is not known.
    package let hints: [String]
    /// Whether Foundation declares it.
    let isFoundations: Bool
    /// The type that this describes; `nil` if the class is known by name only.
    let type: ObjectIdentifier?
    /// Whether the chain begins with the name.
    let isFirstOfChain: Bool

    init(
        name: String,
        chain: [String],
        hints: [String] = [],
        isFoundations: Bool = false,
        type: ObjectIdentifier? = nil
    ) {
        self.name = name
        self.chain = chain
        isFirstOfChain = chain.first?.utf8.elementsEqual(name.utf8) ?? false
        self.hints = hints
        self.isFoundations = isFoundations
        self.type = type
    }

    /// A class, or a Codable value type, of this name directly under `NSObject`.
    package convenience init(name: String) {
        self.init(name: name, chain: [name, "NSObject"])
    }

    /// A class of Foundation's that only archives name.
    convenience init(_ name: String, under superclass: AnyClass) {
        self.init(name: name, chain: [name] + ArchivedClass.of(superclass).chain, isFoundations: true)
    }

    /// Whether a name belongs to a class that archives store in a form of its own, such as `NSArray`.
    package static func isIntrinsic(_ name: String) -> Bool { UnarchivedIntrinsic.named(name) != nil }

    private static let known = Mutex<[ObjectIdentifier: ArchivedClass]>([:])

    /// The entry for a class or value type. Looked up once per type and process.
    package static func of(_ type: Any.Type) -> ArchivedClass {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        let made: ArchivedClass
        let isFoundations = ClassNames.isFoundations(type)
        if let cls = type as? AnyClass, type is any NSCoding.Type || type is NSObject.Type {
            var chain: [String] = []
            var next: AnyClass? = cls
            while let current = next {
                chain.append(ClassNames.name(of: current))
                next = _getSuperclass(current)
            }
            made = ArchivedClass(
                name: chain[0],
                chain: chain,
                hints: (cls as? NSObject.Type)?.classFallbacksForKeyedArchiver() ?? [],
                isFoundations: isFoundations,
                type: ObjectIdentifier(type)
            )
        } else {
            let name = ClassNames.name(of: type)
            made = ArchivedClass(
                name: name,
                chain: [name, "NSObject"],
                isFoundations: isFoundations,
                type: ObjectIdentifier(type)
            )
        }
        return known.withLock { table in
            if let found = table[ObjectIdentifier(type)] { return found }
            table[ObjectIdentifier(type)] = made
            return made
        }
    }
}

extension ArchivedClass {
    // Found once: the table of all classes is guarded by a lock.
    static let date = ArchivedClass.of(NSDate.self)
    static let uuid = ArchivedClass.of(NSUUID.self)
    static let url = ArchivedClass.of(NSURL.self)
    static let array = ArchivedClass.of(NSArray.self)
}
