import Foundation
import Sealing
import TestSupport
import Testing

@testable import ArchiveStore

/// Files of an encrypted store, and attempts to open them.
enum SealedFolder {
    static func settings(_ keys: KeyProvider? = .of(TrialKeys.one)) -> StoreSettings {
        var settings = StoreSettings()
        settings.keys = keys
        return settings
    }

    static func open(
        _ path: String,
        _ keys: KeyProvider? = .of(TrialKeys.one),
        create: Bool = true
    ) throws -> PackedStore {
        try PackedStore(directory: path, create: create, settings: settings(keys))
    }

    static func openFiles(
        _ path: String,
        _ keys: KeyProvider? = .of(TrialKeys.one),
        create: Bool = true,
        _ change: (inout StoreSettings) -> Void = { _ in }
    ) throws -> FileStore {
        var settings = settings(keys)
        change(&settings)
        return try FileStore(directory: path, create: create, settings: settings)
    }

    /// The bytes of every file below a folder, by its path there.
    static func files(_ path: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isFolder) else {
                continue
            }
            if !isFolder.boolValue { files[name] = try readFile(path + "/" + name) }
        }
        return files
    }

    /// Makes a folder that has these files alone.
    static func write(_ files: [String: [UInt8]], to path: String) throws {
        if FileManager.default.fileExists(atPath: path) { try removeDirectory(path) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, bytes) in files {
            let file = URL(filePath: path + "/" + name)
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try writeFile(bytes, file.path)
        }
    }

    /// The result for a key.
    enum Answer: Equatable {
        case value([UInt8])
        case nothing
        case damaged
        case locked
        /// A later version.
        case later
    }

    static func answer(_ store: any ArchiveStore, _ key: String) throws -> Answer {
        do throws(StoreError) {
            guard let found = try store.fetch(forKey: key) else { return .nothing }
            return .value(found.archive)
        } catch {
            switch error.code {
            case .corrupted: return .damaged
            case .locked: return .locked
            case .unsupportedVersion: return .later
            default: throw error
            }
        }
    }

    /// The answers for some keys; `nil` if the store is not opened.
    static func answers(_ path: String, _ keys: [String], ofFiles: Bool = false) throws -> [String: Answer]? {
        let store: any ArchiveStore
        do throws(StoreError) {
            store =
                ofFiles
                ? try FileStore(directory: path, create: false, settings: settings())
                : try PackedStore(directory: path, create: false, settings: settings())
        } catch {
            guard [.locked, .unsupportedVersion, .invalidDirectory].contains(error.code) else { throw error }
            return nil
        }
        defer { try? store.close() }
        var answers: [String: Answer] = [:]
        for key in keys { answers[key] = try answer(store, key) }
        return answers
    }

    /// The place of a key's record in the file of its segment.
    static func range(of key: String, in store: PackedStore) throws -> (file: String, bytes: Range<Int>) {
        let digest = try store.key(key).1
        let slot = try #require(store.current.index.slot(digest))
        let start = Int(slot.place.offset)
        return (Segment.fileName(slot.place.segment), start..<start + Int(slot.byteCount))
    }
}
