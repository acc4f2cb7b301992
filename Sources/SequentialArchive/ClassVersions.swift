import Foundation
import KeyedArchive
import Synchronization

/// The versions that classes have in archives.
enum ClassVersions {
    private static let given = Mutex<[ObjectIdentifier: Int]>([:])

    static func set(_ version: Int, for cls: AnyClass) { given.withLock { $0[ObjectIdentifier(cls)] = version } }

    static func version(of cls: AnyClass) -> Int {
        if let given = given.withLock({ $0[ObjectIdentifier(cls)] }) { return given }
        return cls == NSString.self || cls == NSMutableString.self ? 1 : 0
    }
}
