import BenchmarkKit
import Foundation

/// Compares kinds of stores of many entries: how long until the first article is there, and how long each then.
struct DiskOpeningBench {
    private let context: Context
    private let kinds: [DiskKind]
    private let items: [DiskItem]

    init(_ context: Context, _ kinds: [DiskKind], textByteCount: Int) throws {
        self.context = context
        self.kinds = kinds
        items = try DiskItem.make(textByteCount: textByteCount)
    }

    func compare(entryCount: Int) throws {
        var opening: [Subject] = []
        var fetching: [Subject] = []
        var saving: [Subject] = []
        for kind in kinds {
            context.progress("\(entryCount) entries: \(kind.name)")
            let folder = try context.makeFolder("open")
            try kind.open(folder).fill(entryCount, with: items)
            opening.append(
                Subject(kind.name, isOurs: kind.isOurs) { index in
                    try kind.open(folder).fetchExisting(index, of: entryCount)
                }
            )
            // Opened when it is first used, for not all stores may be open twice.
            var contestant: (any DiskContestant)?
            func opened() throws -> any DiskContestant {
                let open = try contestant ?? kind.open(folder)
                contestant = open
                return open
            }
            fetching.append(
                Subject(kind.name, isOurs: kind.isOurs) { try opened().fetchExisting($0, of: entryCount) }
            )
            saving.append(
                Subject(kind.name, isOurs: kind.isOurs, limit: kind.isFiles ? 500 : 5_000) { index in
                    try opened().saveOver(index, of: entryCount, with: items)
                }
            )
        }
        let what = kinds.contains(where: \.isBytesOnly) ? "an entry's bytes, 1 KiB" : "an entry of 1 KiB"
        try compare("open and fetch \(what)", entryCount, opening)
        try compare("fetch \(what)", entryCount, fetching)
        try compare("save over \(what)", entryCount, saving)
    }

    private func compare(_ work: String, _ entryCount: Int, _ subjects: [Subject]) throws {
        let parameters = ["entries": "\(entryCount)"]
        try context.compare(work: work, parameters: parameters, subjects: subjects)
        guard kinds.contains(where: \.isBytesOnly) else { return }
        DiskKind.recordMissing(work: work, parameters: parameters, in: context)
    }
}
