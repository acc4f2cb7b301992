import Foundation
import TypedCache

/// A cache that is opened after its files were changed: it gives each entry as it was saved, or nothing, or an error;
/// and it takes new entries.
struct StoreTrial {
    struct Finding: Error { let rule: String }

    private let layout: DiskSettings.Layout
    /// The cache's files by their paths within its directory.
    private let files: [(path: String, content: [UInt8])]
    private let root: URL

    private static let keys = (0..<12).map { "key \($0)" }

    /// One short, one long, one that does not shrink, and so on in turn.
    private static func value(of key: String) -> String {
        let number = keys.firstIndex(of: key) ?? 0
        return String(repeating: key, count: [1, 40, 900][number % 3])
    }

    /// - Parameter leavesIndex: whether the cache was closed after so many changes that it left an index.
    init(_ layout: DiskSettings.Layout, leavesIndex: Bool = false) throws {
        self.layout = layout
        root = FileManager.default.temporaryDirectory.appending(path: "fuzz-store-\(UUID().uuidString)")
        let cache = try Self.open(layout, root)
        for round in 0..<(leavesIndex ? 400 : 1) {
            for key in Self.keys { try cache.save("former \(round)", forKey: key) }
        }
        for (number, key) in Self.keys.enumerated() {
            try cache.save(
                Self.value(of: key),
                forKey: key,
                expiration: number % 4 == 1 ? .after(.seconds(1 << 40)) : .never,
                tags: number % 4 == 2 ? ["even"] : []
            )
        }
        try cache.save("gone", forKey: "removed")
        try cache.remove(forKey: "removed")
        try cache.close()
        let folder = root.appending(path: "trial")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        files = try names.compactMap { name in
            let url = folder.appending(path: name)
            if try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true { return nil }
            return (name, try [UInt8](Data(contentsOf: url)))
        }
        if leavesIndex, !names.contains("index") { throw Finding(rule: "no index was left to be tried") }
        try FileManager.default.removeItem(at: root)
    }

    private static func open(_ layout: DiskSettings.Layout, _ root: URL) throws -> Cache<String> {
        try Cache(name: "trial", directory: root, settings: CacheSettings(disk: DiskSettings(layout: layout)))
    }

    func run(_ edits: inout Edits) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try write(&edits)
        // A marker that was changed: the directory is not taken for a cache's.
        guard let cache = try? Self.open(layout, root) else { return }
        try check(cache)
        try cache.save("new", forKey: "key 0")
        try cache.close()
        let again = try Self.open(layout, root)
        if try again.fetch(forKey: "key 0") != "new" { throw Finding(rule: "a save after damage is kept") }
        try check(again, except: "key 0")
        try again.close()
    }

    private func check(_ cache: Cache<String>, except changed: String? = nil) throws {
        // Together first, before a damaged entry is taken out of the way by itself.
        let keys = Self.keys.filter { $0 != changed }
        let together = Result(catching: { try cache.fetch(forKeys: keys) })
        if case .success(let values) = together {
            for (key, value) in values where value != Self.value(of: key) && !value.hasPrefix("former") {
                throw Finding(rule: "\(key) has a value that was never saved for it")
            }
        }
        for key in Self.keys where key != changed {
            // An error is an answer, too.
            guard case .success(let value?) = Result(catching: { try cache.fetch(forKey: key) }) else { continue }
            if value != Self.value(of: key), !value.hasPrefix("former") {
                throw Finding(rule: "\(key) has a value that was never saved for it")
            }
        }
        _ = try? cache.entries().all()
    }

    private func write(_ edits: inout Edits) throws {
        var contents = files
        while !edits.isAtEnd {
            let number = edits.number(below: contents.count)
            edits.change(&contents[number].content)
        }
        let folder = root.appending(path: "trial")
        for (path, content) in contents {
            let url = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(content).write(to: url)
        }
    }
}
