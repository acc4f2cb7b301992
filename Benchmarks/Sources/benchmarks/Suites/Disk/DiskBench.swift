import BenchmarkKit
import Foundation

/// Compares kinds of stores at articles of one size.
struct DiskBench {
    private static let entryCount = 1_000

    private let context: Context
    private let kinds: [DiskKind]
    private let items: [DiskItem]
    private let parameters: [String: String]
    /// How often a sample at most repeats work that takes up space: in stores of a file per entry, and in others.
    private let limits: (files: Int, others: Int)
    private let what: String
    private let suffix: String

    /// - Parameters:
    ///   - kinds: either all wait for the disk, or none; likewise, all take bytes, or none.
    ///   - textSize: the size for people.
    init(_ context: Context, _ kinds: [DiskKind], textSize: String, textByteCount: Int) throws {
        self.context = context
        self.kinds = kinds
        items = try DiskItem.make(textByteCount: textByteCount)
        parameters = ["text": textSize]
        limits = textByteCount > 50_000 ? (100, 100) : (500, 5_000)
        what = kinds.contains(where: \.isBytesOnly) ? "an entry's bytes" : "an entry"
        suffix = kinds.contains(where: \.waitsForDisk) ? ", and wait for the disk" : ""
    }

    func compareSaves() throws {
        try compare("save \(what)\(suffix)", subjects { try save($0, $1, under: $1) })
    }

    func compareOverwrites() throws {
        let subjects = try subjects { contestant, index in
            // Each time another article than before.
            try save(contestant, index + index / Self.entryCount, under: index % Self.entryCount)
        }
        try compare("save over \(what)\(suffix)", subjects)
    }

    func compareRemovals() throws {
        let subjects = try subjects { contestant, indices in
            try contestant.together { for index in indices { try save(contestant, index, under: index) } }
        } operation: { contestant, index in
            try contestant.remove(forKey: DiskKeys.all[index])
        }
        try compare("remove \(what)\(suffix)", subjects)
    }

    func compareFetches() throws {
        let subjects = try kinds.map { kind in
            let contestant = try kind.open(context.makeFolder("fetch"))
            try contestant.fill(Self.entryCount, with: items)
            return Subject(kind.name, isOurs: kind.isOurs) {
                try contestant.fetchExisting($0, of: Self.entryCount)
            }
        }
        try compare("fetch \(what), of 1,000", subjects)
    }

    private func subjects(
        prepare: ((any DiskContestant, Range<Int>) throws -> Void)? = nil,
        operation: @escaping (any DiskContestant, Int) throws -> Void
    ) throws -> [Subject] {
        try kinds.map { kind in
            let contestant = try kind.open(context.makeFolder("disk"))
            return Subject(
                kind.name,
                isOurs: kind.isOurs,
                limit: kind.isFiles ? limits.files : limits.others,
                prepare: prepare.map { prepare in { try prepare(contestant, $0) } },
                operation: { try operation(contestant, $0) }
            )
        }
    }

    private func save(_ contestant: any DiskContestant, _ index: Int, under key: Int) throws {
        try contestant.save(items[index % items.count], forKey: DiskKeys.all[key])
    }

    private func compare(_ work: String, _ subjects: [Subject]) throws {
        try context.compare(work: work, parameters: parameters, subjects: subjects)
        guard kinds.contains(where: \.isBytesOnly) else { return }
        DiskKind.recordMissing(work: work, parameters: parameters, in: context)
    }
}
