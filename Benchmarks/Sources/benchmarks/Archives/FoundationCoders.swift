import BenchmarkKit
import Foundation

/// Foundation's coders for Codable values.
enum FoundationCoders {
    static func encoding(_ value: some Encodable) throws -> [Subject] {
        let json = JSONEncoder()
        let list = PropertyListEncoder()
        list.outputFormat = .binary
        return [
            Subject("JSONEncoder", bytes: try json.encode(value).count) { _ in try json.encode(value) },
            Subject("PropertyListEncoder", bytes: try list.encode(value).count) { _ in try list.encode(value) },
        ]
    }

    /// - Parameter value: encoded first, to be decoded again as a `T`.
    static func decoding<T: Decodable>(_ type: T.Type, from value: some Encodable) throws -> [Subject] {
        let json = JSONDecoder()
        let text = try JSONEncoder().encode(value)
        let listEncoder = PropertyListEncoder()
        listEncoder.outputFormat = .binary
        let list = PropertyListDecoder()
        let bytes = try listEncoder.encode(value)
        return [
            Subject("JSONDecoder") { _ in try json.decode(type, from: text) },
            Subject("PropertyListDecoder") { _ in try list.decode(type, from: bytes) },
        ]
    }
}

/// Foundation's own archiver, for all it can do.
enum FoundationArchive {
    static func write(_ object: Any) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }

    static func read<T>(_ type: T.Type, from data: Data) throws -> T {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        guard let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? T else {
            throw unarchiver.error ?? CocoaError(.coderReadCorrupt)
        }
        return object
    }
}
