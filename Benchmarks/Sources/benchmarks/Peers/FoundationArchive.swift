import Foundation

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
