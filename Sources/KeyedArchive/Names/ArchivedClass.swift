import Foundation
import Synchronization

/// What an archive says of a class: its name, and the names of the classes above it.
package final class ArchivedClass: Sendable {
    package let name: String
    /// From the class itself up to the root class.
    package let chain: [String]

    package init(name: String, chain: [String]) {
        self.name = name
        self.chain = chain
    }

    /// A class, or a Codable value type, of this name directly under `NSObject`.
    package convenience init(name: String) {
        self.init(name: name, chain: [name, "NSObject"])
    }

    /// Whether a name belongs to a class that archives store in a form of its own, such as `NSArray`.
    package static func isIntrinsic(_ name: String) -> Bool { UnarchivedIntrinsic.named[name] != nil }

    private static let known = Mutex<[ObjectIdentifier: ArchivedClass]>([:])

    /// The entry for a class or value type. Looked up once per type and process.
    package static func of(_ type: Any.Type) -> ArchivedClass {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        let made: ArchivedClass
        if let cls = type as? AnyClass, type is any NSCoding.Type || type is NSObject.Type {
            var chain: [String] = []
            var next: AnyClass? = cls
            while let current = next {
                chain.append(ClassNames.name(of: current))
                next = _getSuperclass(current)
            }
            made = ArchivedClass(name: chain[0], chain: chain)
        } else {
            made = ArchivedClass(name: ClassNames.name(of: type))
        }
        return known.withLock { table in
            if let found = table[ObjectIdentifier(type)] { return found }
            table[ObjectIdentifier(type)] = made
            return made
        }
    }
}
