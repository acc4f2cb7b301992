import BenchmarkKit
import Foundation
import TypedCache

/// What is on disk. Nothing is kept in memory but what the system itself keeps of files.
struct DiskSuite: Suite {
    static let name = "disk"
    static let summary = "saving, fetching, removing and opening on disk, beside files, SQLite and LMDB"

    private static let sizes = [("256 B", 256), ("1 KiB", 1 << 10), ("10 KiB", 10 << 10), ("100 KiB", 100 << 10)]
    /// More than any subject uses up.
    private static let keys = (0..<100_000).map { "article-\(1_000_000 + $0)" }
    private static let usualEntryCount = 1_000

    func run(_ context: Context) throws {
        let kinds = DiskKind.wholeJobs + DiskKind.bytesOnly
        for (name, byteCount) in Self.sizes {
            let items = try DiskItem.make(textByteCount: byteCount)
            try compareChanges(context, kinds, items, ["text": name], limit: byteCount > 50_000 ? 100 : 500)
            try compareReads(context, kinds, items, ["text": name])
        }
        let items = try DiskItem.make(textByteCount: 1 << 10)
        for entryCount in context.isQuick ? [1_000] : [1_000, 10_000, 100_000] {
            try compareOpening(context, kinds, items, entryCount: entryCount)
        }
        context.unavailable(work: "trim", subject: "Cache", reason: "the cache has no such call yet")
    }

    private func compareChanges(
        _ context: Context,
        _ kinds: [DiskKind],
        _ items: [DiskItem],
        _ parameters: [String: String],
        limit: Int
    ) throws {
        func subjects(
            _ purpose: String,
            prepare: ((any DiskContestant, Range<Int>) throws -> Void)? = nil,
            _ operation: @escaping (any DiskContestant, Int) throws -> Void
        ) throws -> [Subject] {
            try kinds.map { kind in
                let contestant = try kind.open(context.makeFolder(purpose))
                return Subject(
                    kind.name,
                    isOurs: kind.isOurs,
                    limit: limit,
                    prepare: prepare.map { prepare in { try prepare(contestant, $0) } },
                    operation: { try operation(contestant, $0) }
                )
            }
        }
        func save(_ contestant: any DiskContestant, _ index: Int, under key: Int) throws {
            try contestant.save(items[index % items.count], forKey: Self.keys[key])
        }

        try compare(context, "save a new entry", parameters, subjects("new") { try save($0, $1, under: $1) })
        let overwriting = try subjects("overwrite") { contestant, index in
            try save(contestant, index + index / Self.usualEntryCount, under: index % Self.usualEntryCount)
        }
        try compare(context, "save over an entry", parameters, overwriting)
        let removing = try subjects("remove") { contestant, indices in
            try contestant.together { for index in indices { try save(contestant, index, under: index) } }
        } _: { contestant, index in
            try contestant.remove(forKey: Self.keys[index])
        }
        try compare(context, "remove an entry", parameters, removing)
    }

    private func compareReads(
        _ context: Context,
        _ kinds: [DiskKind],
        _ items: [DiskItem],
        _ parameters: [String: String]
    ) throws {
        let subjects = try kinds.filter { !$0.readsAsAnother }.map { kind in
            let entryCount = Self.usualEntryCount
            let contestant = try filled(kind, context.makeFolder("fetch"), items, entryCount)
            return Subject(kind.name, isOurs: kind.isOurs) { try Self.fetch(contestant, $0, of: entryCount) }
        }
        try compare(context, "fetch one of 1,000 entries", parameters, subjects)
    }

    private func compareOpening(
        _ context: Context,
        _ kinds: [DiskKind],
        _ items: [DiskItem],
        entryCount: Int
    ) throws {
        var opening: [Subject] = []
        var fetching: [Subject] = []
        for kind in kinds where !kind.readsAsAnother {
            context.progress("\(entryCount) entries: \(kind.name)")
            let folder = try context.makeFolder("open")
            _ = try filled(kind, folder, items, entryCount)
            opening.append(
                Subject(kind.name, isOurs: kind.isOurs) { index in
                    try Self.fetch(kind.open(folder), index, of: entryCount)
                }
            )
            // Opened when it is first used, for not all stores may be open twice.
            var contestant: (any DiskContestant)?
            fetching.append(
                Subject(kind.name, isOurs: kind.isOurs) { index in
                    let open = try contestant ?? kind.open(folder)
                    contestant = open
                    try Self.fetch(open, index, of: entryCount)
                }
            )
        }
        let parameters = ["entries": "\(entryCount)"]
        try compare(context, "open and fetch an entry of 1 KiB", parameters, opening)
        try compare(context, "fetch an entry of 1 KiB", parameters, fetching)
    }

    private func compare(
        _ context: Context,
        _ work: String,
        _ parameters: [String: String],
        _ subjects: [Subject]
    ) throws {
        try context.compare(work: work, parameters: parameters, subjects: subjects)
        for (name, reason) in DiskKind.missing {
            context.unavailable(work: work, parameters: parameters, subject: name, reason: reason)
        }
    }

    private func filled(
        _ kind: DiskKind,
        _ folder: URL,
        _ items: [DiskItem],
        _ entryCount: Int
    ) throws -> any DiskContestant {
        let contestant = try kind.open(folder)
        try contestant.together {
            for index in 0..<entryCount {
                try contestant.save(items[index % items.count], forKey: Self.keys[index])
            }
        }
        return contestant
    }

    /// - Throws: if there is nothing, for then something else would be measured.
    private static func fetch(_ contestant: any DiskContestant, _ index: Int, of entryCount: Int) throws {
        // A prime step, so that neighbours on disk are not asked for one after the other.
        let key = keys[index * 7_919 % entryCount]
        guard try contestant.fetch(forKey: key) else { throw BenchmarkError("\(key) is not there") }
    }
}
