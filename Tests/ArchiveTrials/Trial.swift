import Foundation
import KeyedArchive

/// A fault that a trial found, other than the end of the process.
public struct TrialFailure: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Everything that reads archives, tried on any bytes: none may trap, hang, or take memory without bound.
///
/// A trial ends well with any bytes; a reader may throw any error that has a message.
public enum Trial {
    /// The classes that archives may hold here.
    public static let classes: [AnyClass] = [Branch.self, Scalars.self]

    private static let keys = ["root", "$0", "State", "a", ""]

    /// Reads bytes as objects, in all the ways in which an unarchiver can be asked for them.
    public static func unarchive(_ data: Data) throws(TrialFailure) {
        defer { Branch.dissolveAll() }
        try scopes(data)
        try expect(NSObject.self, data)
        try expect(Branch.self, data)
        try expect(Scalars.self, data)
        try expect(NSMutableArray.self, data)
        try expect(NSMutableDictionary.self, data)
        try expect(NSString.self, data)
        try expect([Any].self, data)
        try expect([String: Any].self, data)
        try expect(Set<Int>.self, data)
        try expect(Date.self, data)
        try expect(URL.self, data)
        try expect(Double.self, data)
        try expect(Bool.self, data)
    }

    /// Reads bytes as Codable values.
    public static func decode(_ data: Data) throws(TrialFailure) {
        try decode(Record.self, data)
        try decode([Record].self, data)
        try decode(Record.Form.self, data)
        try decode(Dog.self, data)
        try decode([String: [Int]].self, data)
        try decode([Int: String].self, data)
        try decode([Double?].self, data)
        try decode(Set<String>.self, data)
        try decode(Date.self, data)
        try decode(UInt8.self, data)
        try decode(Bool?.self, data)
    }

    private static func expect<T>(_ type: T.Type, _ data: Data) throws(TrialFailure) {
        do throws(ArchiveError) {
            _ = try KeyedUnarchiver.unarchivedObject(ofClass: type, allowing: classes, from: data)
        } catch {
            try check(error)
        }
    }

    private static func decode<T: Decodable>(_ type: T.Type, _ data: Data) throws(TrialFailure) {
        do throws(ArchiveError) {
            _ = try KeyedUnarchiver.unarchivedValue(of: type, from: data)
        } catch {
            try check(error)
        }
    }

    /// Reads the outermost scope itself, as a decoder of a program's own does.
    private static func scopes(_ data: Data) throws(TrialFailure) {
        do throws(ArchiveError) {
            for key in keys {
                let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: classes)
                if unarchiver.containsValue(forKey: key) {
                    _ = unarchiver.decodeObject(of: [Branch.self, NSArray.self, NSString.self], forKey: key)
                    _ = unarchiver.decodeObject(forKey: key)
                }
                try unarchiver.finishDecoding()
            }
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: classes)
            _ = Scalars(coder: unarchiver)
            _ = Branch(coder: unarchiver)
            try unarchiver.finishDecoding()
        } catch {
            try check(error)
        }
    }

    /// An error without a message is no help.
    static func check(_ error: ArchiveError) throws(TrialFailure) {
        if error.message.isEmpty { throw TrialFailure("an error \(error.code) without a message") }
    }
}
