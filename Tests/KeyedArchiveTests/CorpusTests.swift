import Foundation
import Testing

@testable import KeyedArchive

/// Real archives and property lists, sound and broken, from the folder that `TYPED_CACHE_CORPUS` names.
@Suite(.enabled(if: Corpus.folder != nil, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
struct CorpusTests {
    @Test func binaryPropertyListsAreReadOrRefusedButNeverTrap() throws {
        var read = 0
        for file in try Corpus.files(in: "plist") + Corpus.files(in: "keyed") {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard bytes.starts(with: BinaryPropertyList.magic) else { continue }
            do {
                try BinaryPropertyList.reading(bytes) { list throws(ArchiveError) in
                    for reference in 0..<list.objectCount { _ = try list.object(reference) }
                }
                read += 1
            } catch {
                // Refused, with a reason.
                #expect(!error.message.isEmpty)
            }
        }
        #expect(read > 40)
    }

    @Test func keyedArchivesOpenAndValueTypesDecode() throws {
        var opened = 0
        for file in try Corpus.files(in: "keyed") {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard bytes.starts(with: BinaryPropertyList.magic) else { continue }
            let unarchiver: KeyedUnarchiver
            do { unarchiver = try KeyedUnarchiver(bytes, classes: []) } catch { continue }
            opened += 1
            _ = unarchiver.decodeObject(forKey: "root")
        }
        #expect(opened > 40)
    }

    @Test func brokenPropertyListsThrow() throws {
        // The faults of these are in strings, dates and keys, so only a full reading finds them.
        let deep = ["28", "29", "30", "33", "34", "35", "36", "37", "38", "39"]
        for file in try Corpus.files(in: "plist") where file.lastPathComponent.hasPrefix("cpython-invalid__") {
            let number = String(file.lastPathComponent.dropFirst("cpython-invalid__".count).prefix(2))
            if deep.contains(number) { continue }
            let bytes = [UInt8](try Data(contentsOf: file))
            #expect(throws: ArchiveError.self, "\(file.lastPathComponent)") {
                try BinaryPropertyList.reading(bytes) { list throws(ArchiveError) in
                    for reference in 0..<list.objectCount {
                        guard case .array(let run) = try list.object(reference) else { continue }
                        for index in 0..<run.count { _ = try list.object(list.element(run, index)) }
                    }
                }
            }
        }
    }

    @Test func applesCollectionsDecodeToTheirMembers() throws {
        func decoded<T>(_ name: String, as type: T.Type) throws -> T {
            let data = try Data(contentsOf: Corpus.file("keyed/\(name)"))
            return try KeyedUnarchiver.unarchivedRoot(ofClass: type, from: data)
        }
        #expect(try decoded("corelibs__NSSet-Numbers.archive", as: Set<Int>.self).count > 0)
        #expect(try decoded("corelibs__NSSet-Empty.archive", as: Set<Int>.self).isEmpty)
        #expect(try decoded("corelibs__NSMutableSet-Numbers.archive", as: NSMutableSet.self).count > 0)
    }
}

enum Corpus {
    static let folder = ProcessInfo.processInfo.environment["TYPED_CACHE_CORPUS"].map {
        URL(fileURLWithPath: $0)
    }

    static func file(_ path: String) throws -> URL { try #require(folder).appending(path: path) }

    static func files(in name: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: file(name), includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }
}
