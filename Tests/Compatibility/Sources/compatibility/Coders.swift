import Foundation
import KeyedArchive

/// One implementation of keyed archives, as much of it as both have.
protocol Coders {
    /// Lets `body` encode in the outermost scope of an archive.
    static func archive(_ body: (NSCoder) -> Void) throws -> Data
    /// Reads from the outermost scope; an error that was recorded in the meantime is thrown.
    static func read<T>(_ data: Data, _ body: (NSCoder) -> T) throws -> T
    /// Archives one object that must support secure coding.
    static func archiveSecurely(_ object: Any) throws -> Data
}

extension Coders {
    static func copy(_ object: Any) throws -> Any? {
        try read(archive { $0.encode(object, forKey: "root") }) { $0.decodeObject(forKey: "root") }
    }
}

enum Here: Coders {
    static let classes: [AnyClass] = [Node.self, Holder.self, Outer.Nested.self, Box<Int>.self]

    static func archive(_ body: (NSCoder) -> Void) throws -> Data {
        let archiver = KeyedArchiver()
        body(archiver)
        return try archiver.encodedData
    }

    static func read<T>(_ data: Data, _ body: (NSCoder) -> T) throws -> T {
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: classes)
        let value = body(unarchiver)
        try unarchiver.finishDecoding()
        return value
    }

    static func archiveSecurely(_ object: Any) throws -> Data {
        try KeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }
}

/// With the policy of errors, without which still more ends the process.
enum Foundations: Coders {
    static func archive(_ body: (NSCoder) -> Void) throws -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        body(archiver)
        archiver.finishEncoding()
        if let error = archiver.error { throw error }
        return archiver.encodedData
    }

    static func read<T>(_ data: Data, _ body: (NSCoder) -> T) throws -> T {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let value = body(unarchiver)
        if let error = unarchiver.error { throw error }
        return value
    }

    static func archiveSecurely(_ object: Any) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }
}
