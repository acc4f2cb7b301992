import Foundation
import Testing

@testable import KeyedArchive

extension KeyedUnarchiver {
    /// The root of an archive in which it is not nil.
    static func unarchivedRoot<T>(
        ofClass type: T.Type,
        allowing classes: [AnyClass] = [],
        from data: Data
    ) throws -> T {
        try #require(try unarchivedObject(ofClass: type, allowing: classes, from: data))
    }
}
