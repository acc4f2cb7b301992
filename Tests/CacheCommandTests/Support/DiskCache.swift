import ArchiveStore
import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// A cache on disk, in a folder of a test's own, and the command that works on it.
struct DiskCache {
    let workspace: Workspace
    let name: String

    static let backend = TypedCacheBackend()

    var options: [String] { ["--cache", name, "--root", workspace.root] }
    var selection: CacheSelection { CacheSelection(name: name, location: .root(workspace.root)) }

    init(_ workspace: Workspace, _ name: String = "c") {
        self.workspace = workspace
        self.name = name
    }

    func run(
        _ words: String...,
        interruption: TestInterruption = TestInterruption(),
        columns: Int? = nil
    ) -> ToolRun {
        ToolRun(words + options, on: Self.backend, interruption: interruption, columns: columns)
    }

    func save(_ archive: [UInt8], _ key: String, with attributes: EntryAttributes = Self.attributes()) throws {
        let cache = try Self.backend.openOrCreate(selection, disk: DiskSettings())
        _ = try cache.save(archive, forKey: key, attributes: attributes, replaces: true)
    }

    /// Every entry by its key's bytes.
    func contents() throws -> [[UInt8]: Content] {
        let cache = try Self.backend.open(selection)
        var contents: [[UInt8]: Content] = [:]
        for part in 0..<cache.partCount {
            for entry in try cache.entries(inPart: part) {
                var archive: [UInt8] = []
                let found = try cache.peek(entry.get().key) { piece in
                    archive += piece
                    return true
                }
                guard let found else { continue }
                contents[Array(found.key.utf8)] = Content(archive: archive, attributes: found.attributes)
            }
        }
        return contents
    }

    struct Content: Equatable {
        let archive: [UInt8]
        let attributes: EntryAttributes
    }

    /// Changes a byte in the archive of the entry that was saved first, or of some entry where each has a file.
    func damageFirst() throws {
        let file = try #require(files().min())
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        // After the heads of a segment and its first record; in a file of its own, in the middle.
        bytes[file.hasSuffix(".segment") ? 130 : bytes.count / 2] ^= 0xFF
        try bytes.write(to: URL(fileURLWithPath: file))
    }

    /// Has a program use the cache, and keep a profile of that.
    func profileUses(fetches: Int = 3_000) throws {
        let root = URL(filePath: workspace.root, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let memory = MemorySettings(byteLimit: .kibibytes(16), profilesUse: true)
        let program = try Cache<String>(name: name, directory: root, settings: CacheSettings(memory: memory))
        var random = SeededGenerator(seed: 1)
        for _ in 0..<fetches {
            let key = Int(pow(Double.random(in: 0..<1, using: &random), 3) * 300)
            if try program.fetch(forKey: key) == nil { try program.save("value \(key)", forKey: key) }
        }
        try program.close()
    }

    /// The files that have entries in them.
    func files() -> [String] {
        let folder = workspace.root + "/" + name
        let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let entries = /[0-9a-f]{2}\/[0-9a-f]{30}\.\d+|[0-9a-f]{8}\.segment/
        return paths.filter { $0.wholeMatch(of: entries) != nil }.map { folder + "/" + $0 }
    }

    static func archive(_ text: String) throws -> [UInt8] {
        try [UInt8](KeyedArchiver.archivedData(withRootObject: text, requiringSecureCoding: false))
    }

    static func attributes(expiresAt: Date? = nil) -> EntryAttributes {
        EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: 7e8), expiresAt: expiresAt)
    }
}

extension SeededGenerator {
    /// Attributes of every kind that is still of use.
    mutating func attributes() -> EntryAttributes {
        func time(_ generator: inout SeededGenerator) -> Double {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: 0
            case 1: .infinity
            default: .random(in: 0...1e6, using: &generator)
            }
        }
        let far = Date.now.timeIntervalSinceReferenceDate + 1e6
        var attributes = EntryAttributes(
            storedAt: Date(timeIntervalSinceReferenceDate: .random(in: -1e10...1e10, using: &self)),
            expiresAt: Bool.random(using: &self)
                ? nil : Date(timeIntervalSinceReferenceDate: .random(in: far...1e12, using: &self))
        )
        if Bool.random(using: &self) { attributes.idleTime = time(&self) }
        attributes.staleWhileRevalidate = time(&self)
        attributes.staleIfError = time(&self)
        attributes.loadTime = time(&self)
        let tags = ["a", "Ä", "A\u{308}", "tag \"x\"\n", "🦁", String(repeating: "\u{1}", count: 256)]
        attributes.tags = tags.shuffled(using: &self).prefix(Int.random(in: 0...6, using: &self))
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return attributes
    }
}
